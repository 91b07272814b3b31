//! The server: consumes, builds, stores and serves replicas, and reads segments again (dossier 5, 8, 10).
//!
//! What it was told by Helix comes as transitions, one of a segment at a time; what the leader says comes as the
//! answers to its own messages. Copies on its disk are all that survives a crash.

mod job;
mod online;
pub mod permit;
mod replica;
pub mod state;

pub use permit::ParallelSegmentConsumptionPolicy;
pub use state::{Durable, State};

use self::state::{Owed, Work};
use super::completion::Mode;
use super::effect::ServerEffect as Effect;
use super::event::{Refusal, ServerEvent as Event, ServerOutcome as Outcome};
use super::guard::Guard;
use super::object::{ReplicaState, SegmentId};
#[cfg(feature = "weaken")]
use super::upstream::Ways;
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{EffectId, Issued, Machine, Step, Stepped};

/// Limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many builds may run at once, at least 1. Upstream's default is 4
    /// (`pinot.server.instance.realtime.max.parallel.segment.builds`); commits come before reingestion (C6).
    pub max_builds: usize,
    /// How many reingestions may run at once; one more is answered 429 (origin 2).
    pub max_jobs: usize,
    /// Whether replicas of a partition take turns to consume, and what gives the permit back. With `None`, the default,
    /// no replica waits: the segments before it are consumed on. Upstream asks for a permit under every policy.
    pub consumption: Option<ParallelSegmentConsumptionPolicy>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_builds: 4, max_jobs: 4, consumption: None }
    }
}

/// The server role.
#[derive(Clone, Debug)]
pub struct Server<V = Verified> {
    limits: Limits,
    guards: V,
    /// The only mode that it knows, whatever the table says.
    #[cfg(feature = "weaken")]
    only: Option<Mode>,
    /// What upstream does besides.
    #[cfg(feature = "weaken")]
    ways: Ways,
}

impl Server {
    /// A server that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            guards: Verified,
            #[cfg(feature = "weaken")]
            only: None,
            #[cfg(feature = "weaken")]
            ways: Ways::default(),
        }
    }
}

#[cfg(feature = "weaken")]
impl Server<crate::guard::Weakened<Guard>> {
    /// A server without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards, only: None, ways: Ways::default() }
    }

    /// The same, if it knows no mode but this.
    #[must_use]
    pub(super) fn with_only(self, only: Option<Mode>) -> Self {
        Self { only, ..self }
    }

    /// The same, with ways of upstream.
    #[must_use]
    pub(super) fn with_ways(self, ways: Ways) -> Self {
        Self { ways, ..self }
    }
}

impl<V> Server<V> {
    /// The mode as this server runs it.
    fn as_run(&self, mode: Mode) -> Mode {
        #[cfg(feature = "weaken")]
        let mode = self.only.unwrap_or(mode);
        mode
    }
}

impl<V: Guards<Guard>> Machine for Server<V> {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut turn = Turn {
            limits: self.limits,
            judge: Judge::new(&self.guards),
            #[cfg(feature = "weaken")]
            ways: self.ways,
            state: state.clone(),
            effects: Vec::new(),
        };
        match event {
            Event::Transition(segment, to) => {
                turn.transition(segment, to)?;
                turn.state.is_initialised = true;
            }
            Event::Stop(segment, reason) => turn.stop(segment, reason)?,
            Event::GiveUp(segment) => turn.give_up(segment)?,
            Event::Break(segment) => turn.break_down(segment)?,
            Event::Throw(segment) => turn.throw(segment)?,
            Event::Received { caller, order, attempt } => turn.received(caller, order, attempt),
            Event::Outcome { id, outcome } => turn.outcome(id, outcome)?,
            Event::Configured(mode) => turn.state.durable.mode = self.as_run(mode),
        }
        turn.admit();
        turn.start_builds();
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    /// It has what is on its disk, and knows of no transition and no job.
    fn recover(&self, durable: Durable) -> State {
        State::started(Durable { mode: self.as_run(durable.mode), ..durable })
    }
}

/// One step being taken.
struct Turn<'a, V> {
    limits: Limits,
    judge: Judge<'a, V, Guard>,
    #[cfg(feature = "weaken")]
    ways: Ways,
    state: State,
    effects: Vec<Issued<Effect>>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    fn outcome(&mut self, id: EffectId, outcome: Outcome) -> Result<(), Refusal> {
        let current = self.state.durable.incarnation;
        if id.incarnation != current {
            return Err(Refusal::OtherIncarnation { id, current });
        }
        let owed = *self.state.outstanding.get(&id.number).ok_or(Refusal::NotOutstanding(id))?;
        self.state.outstanding.remove(&id.number);
        let fit = match owed {
            Owed::Replica(segment) => self.replica_goes_on(segment, outcome),
            Owed::Job(segment) => self.job_goes_on(segment, outcome),
            Owed::Upload(segment) => self.upload_ended(segment, &outcome),
            Owed::Nothing => Some(()),
        };
        fit.ok_or(Refusal::UnfitOutcome(id))
    }

    /// Whether it drops what it has built for ONLINE if that is not the copy that counts (#18895).
    fn compares_checksums(&self) -> bool {
        #[cfg(feature = "weaken")]
        return self.ways.compares_checksums;
        #[cfg(not(feature = "weaken"))]
        false
    }

    /// The replica does this from now on, and waits for this effect.
    fn work(&mut self, segment: SegmentId, work: Work, effect: Effect) {
        self.rest(segment, work);
        self.issue(effect, Owed::Replica(segment));
    }

    /// The replica does this from now on, and waits for nothing.
    fn rest(&mut self, segment: SegmentId, work: Work) {
        let Some(replica) = self.state.replicas.get_mut(&segment) else { return };
        let was_building = replica.work.is_building();
        replica.work = work;
        if was_building && !work.is_building() {
            self.give_back();
        }
    }

    /// A build takes one of the permits.
    fn take_permit(&mut self) {
        self.state.permits = self.state.permits.saturating_add(1);
    }

    fn give_back(&mut self) {
        self.state.permits = self.state.permits.saturating_sub(1);
    }

    /// Tells Helix what a replica is.
    fn show(&mut self, segment: SegmentId, state: ReplicaState) {
        if let Some(replica) = self.state.replicas.get_mut(&segment) {
            replica.shows = state;
        }
        self.tell(Effect::Show(segment, state));
    }

    /// Whatever the replica waits for is waited for no more. Its number stays taken until it has ended, so that its
    /// end is not taken for another's.
    fn cancel(&mut self, segment: SegmentId) {
        let is_own = |owed: &Owed| *owed == Owed::Replica(segment);
        let own = self.state.outstanding.iter().find(|(_, owed)| is_own(owed));
        let number = own.map(|(number, _)| *number);
        if let Some(number) = number {
            self.state.outstanding.insert(number, Owed::Nothing);
        }
    }

    /// An effect without an outcome.
    fn tell(&mut self, effect: Effect) {
        let id = EffectId { incarnation: self.state.durable.incarnation, number: 0 };
        self.effects.push(Issued { id, effect });
    }

    /// Gives an effect the least free number from 1.
    fn issue(&mut self, effect: Effect, owed: Owed) {
        let outstanding = &mut self.state.outstanding;
        let number = (1..=u16::MAX).find(|n| !outstanding.contains_key(n)).unwrap_or(u16::MAX);
        outstanding.insert(number, owed);
        let id = EffectId { incarnation: self.state.durable.incarnation, number };
        self.effects.push(Issued { id, effect });
    }
}
