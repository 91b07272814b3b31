//! One role at work: events in, effects out, and between them the one rule of order.
//!
//! # The rule
//!
//! **No effect of a step is handed out before what the step changed of the durable part is durable.** Nor is the
//! state shown to readers before.
//!
//! # The round
//!
//! ```text
//! offer, settle, give_up     events wait in queues that are bounded
//! gather                     steps as many as fit: nothing of it shows yet
//! persist                    one durable write for all of them; the state is shown, their effects are ready
//! hand_out                   one effect at a time, to whoever carries it out
//! ```
//!
//! A crash may come between any two of these calls. What follows is [`Driver::start`]: the role recovers from what is
//! durable, in a life larger than all before, and refuses the outcomes of the life before. Nothing that was
//! outstanding is carried out again unless the role asks for it anew.
//!
//! # Each outcome once
//!
//! An effect is handed out once, and while it is out the driver remembers it: an outcome for anything else is turned
//! down ([`Settled::NotOut`]). An effect whose end nobody knows, as its adapter panicked, is given up and
//! becomes the role's own `Unknown`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::durables::Durables;
use crate::driven::Driven;
use crate::machine::{EffectId, Issued};

/// What a driver holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events that wait to be stepped; at least 1. Outcomes are not counted: there are never more than effects.
    pub waiting: usize,
    /// Effects that are ready or out. From here on only outcomes are stepped. One step may go beyond it by what it
    /// asks for at once.
    pub effects: usize,
    /// Events that share a durable write; at least 1.
    pub batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { waiting: 1024, effects: 256, batch: 64 }
    }
}

/// Names an event that was offered, so that a refusal finds whoever offered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// Why an event was not taken into the queue. It is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOffered<E> {
    /// As many wait as may.
    Full(E),
    /// The driver is being stopped.
    Stopping(E),
    /// The driver has come to its end: a durable write failed.
    Ended(E),
    /// It is an outcome, and those go by [`Driver::settle`].
    Outcome(E),
}

/// Whether an outcome was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    /// It waits to be stepped.
    Taken,
    /// No such effect is out: it was settled before, or belongs to another life, or the event is not an outcome.
    NotOut,
    /// The driver has come to its end.
    Ended,
}

/// What became of an effect that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum GivenUp {
    /// The role will hear that nobody knows.
    Unknown,
    /// It does nothing to the world, a wait: it is ready to be handed out again, from its beginning.
    Again,
    /// No such effect is out, or the driver has come to its end.
    NotOut,
}

/// An event that the role refused. The state is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused<R> {
    /// One that was offered.
    Event(Ticket, R),
    /// An outcome that does not fit its effect. The effect counts as out again: whoever carries effects out gives it
    /// up, as it does not know how it ended.
    Outcome(EffectId, R),
    /// That nobody knows how an effect ended. A role that refuses this has a fault; the effect is out no more.
    Unknown(EffectId, R),
}

/// Why a driver did not start.
#[derive(Debug)]
pub enum NotStarted<E> {
    /// What is durable could not be read or written.
    Durables(E),
    /// What is durable was kept for another process.
    OtherName {
        /// The name of this one.
        own: u64,
        /// The name kept.
        kept: u64,
    },
    /// There is no larger life: 2^32 were lived.
    NoLifeLeft,
}

impl<E: fmt::Display> fmt::Display for NotStarted<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Durables(error) => write!(f, "what is durable: {error}"),
            Self::OtherName { own, kept } => {
                write!(f, "this is process {own}, and what is durable was kept for process {kept}")
            }
            Self::NoLifeLeft => f.write_str("no life is left under this name"),
        }
    }
}

impl<E: std::error::Error> std::error::Error for NotStarted<E> {}

/// The state of a role as of its last durable write, for any number of readers, who take no lock.
#[derive(Debug)]
pub struct Published<S>(Arc<ArcSwap<S>>);

impl<S> Clone for Published<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Published<S> {
    /// The state.
    #[must_use]
    pub fn load(&self) -> Arc<S> {
        self.0.load_full()
    }
}

/// Owns one role. See the [module](self).
pub struct Driver<M: Driven, D> {
    role: M,
    durables: D,
    limits: Limits,
    /// After all steps gathered.
    state: M::State,
    /// What is durable.
    kept: M::Durable,
    published: Published<M::State>,
    waiting: VecDeque<(Ticket, M::Event)>,
    outcomes: VecDeque<Outcome<M>>,
    /// Effects of steps that are not durable yet.
    gathered: Vec<Issued<M::Effect>>,
    /// Whether a step was taken that readers do not see yet.
    has_stepped: bool,
    ready: VecDeque<Issued<M::Effect>>,
    out: BTreeMap<EffectId, Issued<M::Effect>>,
    tickets: u64,
    phase: Phase,
}

/// How an effect that was out has ended.
struct Outcome<M: Driven> {
    issued: Issued<M::Effect>,
    event: M::Event,
    is_given_up: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Stopping,
    Ended,
}

impl<M: Driven, D> fmt::Debug for Driver<M, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("state", &self.state)
            .field("kept", &self.kept)
            .field("waiting", &self.waiting)
            .field("ready", &self.ready)
            .field("out", &self.out)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl<M: Driven, D: Durables<M::Durable>> Driver<M, D> {
    /// A new life begins: larger than the one that is durable, and not less than what `begin` says.
    ///
    /// `begin` is given what is durable, if anything is, and says what the role starts from: its name, what a look at
    /// the disk or at the election found, and a life that no earlier one can have reached should the disk be new, as
    /// from a clock. The new life is durable before this returns.
    ///
    /// # Errors
    ///
    /// [`NotStarted`]. Nothing was changed then, or no more than a life that nobody lived.
    pub fn start(
        role: M,
        mut durables: D,
        begin: impl FnOnce(Option<M::Durable>) -> M::Durable,
        limits: Limits,
    ) -> Result<Self, NotStarted<D::Error>> {
        let stored = durables.load().map_err(NotStarted::Durables)?;
        let before = stored.as_ref().map(|kept| (M::name(kept), M::incarnation(kept)));
        let durable = begin(stored);
        let own = M::name(&durable);
        let next = match before {
            Some((kept, _)) if kept != own => return Err(NotStarted::OtherName { own, kept }),
            Some((_, life)) => life.checked_add(1).ok_or(NotStarted::NoLifeLeft)?,
            None => 0,
        };
        let durable = M::reborn(durable.clone(), next.max(M::incarnation(&durable)));
        durables.save(&durable).map_err(NotStarted::Durables)?;
        let state = role.recover(durable.clone());
        let published = Published(Arc::new(ArcSwap::from_pointee(state.clone())));
        Ok(Self {
            role,
            durables,
            limits,
            state,
            kept: durable,
            published,
            waiting: VecDeque::new(),
            outcomes: VecDeque::new(),
            gathered: Vec::new(),
            has_stepped: false,
            ready: VecDeque::new(),
            out: BTreeMap::new(),
            tickets: 0,
            phase: Phase::Running,
        })
    }

    /// The role.
    pub fn role(&self) -> &M {
        &self.role
    }

    /// What readers see. It goes on to show the last state when the driver is gone.
    #[must_use]
    pub fn published(&self) -> Published<M::State> {
        self.published.clone()
    }

    /// An event that is not an outcome waits to be stepped.
    ///
    /// # Errors
    ///
    /// The event, and why not: above all that as many wait as may.
    pub fn offer(&mut self, event: M::Event) -> Result<Ticket, NotOffered<M::Event>> {
        match self.phase {
            Phase::Ended => Err(NotOffered::Ended(event)),
            Phase::Stopping => Err(NotOffered::Stopping(event)),
            Phase::Running if M::settles(&event).is_some() => Err(NotOffered::Outcome(event)),
            Phase::Running if !self.has_room() => Err(NotOffered::Full(event)),
            Phase::Running => {
                let ticket = Ticket(self.tickets);
                self.tickets += 1;
                self.waiting.push_back((ticket, event));
                Ok(ticket)
            }
        }
    }

    /// Whether another event may be offered.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.waiting.len() < self.limits.waiting.max(1)
    }

    /// An effect that was handed out has ended, and this is the outcome.
    pub fn settle(&mut self, outcome: M::Event) -> Settled {
        if self.phase == Phase::Ended {
            return Settled::Ended;
        }
        let issued = M::settles(&outcome).and_then(|id| self.out.remove(&id));
        let Some(issued) = issued else { return Settled::NotOut };
        self.outcomes.push_back(Outcome { issued, event: outcome, is_given_up: false });
        Settled::Taken
    }

    /// An effect that was handed out has ended, or will not be heard of, and nobody knows how.
    pub fn give_up(&mut self, id: EffectId, input: M::Input) -> GivenUp {
        let running = self.phase != Phase::Ended;
        let issued = if running { self.out.remove(&id) } else { None };
        let Some(issued) = issued else { return GivenUp::NotOut };
        if let Some(unknown) = M::unknown(&issued, input) {
            self.outcomes.push_back(Outcome { issued, event: unknown, is_given_up: true });
            GivenUp::Unknown
        } else {
            self.ready.push_back(issued);
            GivenUp::Again
        }
    }

    /// Steps what waits, outcomes first, up to a batch. What was refused is returned; whatever else comes of it shows
    /// after [`Driver::persist`].
    pub fn gather(&mut self) -> Vec<Refused<M::Refusal>> {
        let mut refused = Vec::new();
        if self.phase == Phase::Ended {
            return refused;
        }
        for _ in 0..self.limits.batch.max(1) {
            if let Some(outcome) = self.outcomes.pop_front() {
                refused.extend(self.step_outcome(outcome));
            } else if let Some((ticket, event)) = self.next_event() {
                if let Err(refusal) = self.step(event) {
                    refused.push(Refused::Event(ticket, refusal));
                }
            } else {
                break;
            }
        }
        refused
    }

    fn step_outcome(&mut self, outcome: Outcome<M>) -> Option<Refused<M::Refusal>> {
        let Outcome { issued, event, is_given_up } = outcome;
        let id = issued.id;
        let refusal = self.step(event).err()?;
        if is_given_up {
            return Some(Refused::Unknown(id, refusal));
        }
        self.out.insert(id, issued);
        Some(Refused::Outcome(id, refusal))
    }

    fn next_event(&mut self) -> Option<(Ticket, M::Event)> {
        if self.may_begin() { self.waiting.pop_front() } else { None }
    }

    fn may_begin(&self) -> bool {
        let effects = self.out.len() + self.ready.len() + self.gathered.len();
        self.phase == Phase::Running && effects < self.limits.effects.max(1)
    }

    fn step(&mut self, event: M::Event) -> Result<(), M::Refusal> {
        let step = self.role.step(&self.state, event)?;
        self.state = step.state;
        self.has_stepped = true;
        self.gathered.extend(step.effects);
        Ok(())
    }

    /// Whether [`Driver::persist`] has something to write.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.role.durable(&self.state) != self.kept
    }

    /// Makes what was gathered durable, with one write, or none if nothing durable has changed; then shows the state
    /// and makes the effects ready.
    ///
    /// # Errors
    ///
    /// The write failed, and may have been done or not. The driver has come to its end: whoever owns it starts
    /// another, as after a crash.
    pub fn persist(&mut self) -> Result<(), D::Error> {
        if self.phase == Phase::Ended {
            return Ok(());
        }
        let durable = self.role.durable(&self.state);
        if durable != self.kept {
            if let Err(error) = self.durables.save(&durable) {
                self.end();
                return Err(error);
            }
            self.kept = durable;
        }
        if std::mem::take(&mut self.has_stepped) {
            self.published.0.store(Arc::new(self.state.clone()));
        }
        self.ready.extend(self.gathered.drain(..));
        Ok(())
    }

    /// Nothing of it may be used any more; what waits is for nobody.
    fn end(&mut self) {
        self.phase = Phase::Ended;
        self.waiting.clear();
        self.outcomes.clear();
        self.gathered.clear();
        self.ready.clear();
    }

    /// The next effect to carry out. It is handed out once. While the driver is being stopped there is none.
    #[must_use]
    pub fn hand_out(&mut self) -> Option<Issued<M::Effect>> {
        if self.phase != Phase::Running {
            return None;
        }
        let issued = self.ready.pop_front()?;
        if M::awaits(&issued.effect) {
            self.out.insert(issued.id, issued.clone());
        }
        Some(issued)
    }

    /// Nothing new is begun from here on: events are turned down, those that wait are dropped, and effects that are
    /// ready stay where they are. Outcomes are still taken, until [`Driver::is_quiet`].
    pub fn stop(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Stopping;
            self.waiting.clear();
        }
    }

    /// Whether nothing is under way: no event waits that would be stepped, nothing is gathered, no effect is out.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let events = self.waiting.is_empty() && self.outcomes.is_empty();
        let effects = self.phase != Phase::Running || self.ready.is_empty();
        events && effects && self.gathered.is_empty() && self.out.is_empty()
    }

    /// Whether there is something to gather: an outcome, or an event where another effect may be begun.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.outcomes.is_empty() || (self.may_begin() && !self.waiting.is_empty())
    }

    /// Whether an event that was offered is still to be stepped.
    #[must_use]
    pub fn waits(&self, ticket: Ticket) -> bool {
        self.waiting.front().is_some_and(|(next, _)| *next <= ticket)
    }

    /// Whether a durable write failed, so that only another start helps.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Effects that are out, ascending by id.
    pub fn out(&self) -> impl Iterator<Item = &Issued<M::Effect>> {
        self.out.values()
    }

    /// How many effects are ready to be handed out.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Gives back where what is durable is kept; the driver is gone, as by a crash.
    #[must_use]
    pub fn into_durables(self) -> D {
        self.durables
    }
}
