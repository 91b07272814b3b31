//! Upstream's coordinator: a view, a queue for each server, callbacks on a thread of their own, and the run.

use super::super::coordinator::Durable;
use super::super::effect::CoordinatorEffect as Effect;
use super::super::event::{CoordinatorEvent as Event, Input, Refusal, Rule, ServerInfo, Task};
use super::super::guard::Guard;
use super::super::message::{Action, Addressed, Answer, FromServer, Reply, Request, ToServer};
use super::super::object::{Fence, Incarnation, SegmentId, ServerId, Term};
use super::Fix;
use super::account::Counts;
use super::peon::{Act, Peon, Then};
use super::run::Run;
use crate::collections::Table;
use crate::machine::{EffectId, Issued, Machine, Step, Stepped};

/// The coordinator of a variant.
#[derive(Clone, Copy, Debug)]
pub struct Coordinator {
    pub(super) fix: Fix,
}

impl Coordinator {
    /// With the fixes up to this one.
    #[must_use]
    pub fn new(fix: Fix) -> Self {
        Self { fix }
    }
}

/// Its state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct State {
    pub(super) durable: Durable,
    pub(super) term: Option<Term>,
    /// What the view shows: the segments of each server, as last heard of.
    pub(super) views: Table<ServerId, Inventory>,
    pub(super) rules: Table<SegmentId, Rule>,
    pub(super) peons: Table<ServerId, Peon>,
    pub(super) peons_made: u32,
    pub(super) run: Run,
    pub(super) callbacks: Vec<Callback>,
}

/// A server as the view shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Inventory {
    /// What discovery and the operator say.
    pub info: ServerInfo,
    /// What it serves, ascending.
    pub segments: Vec<SegmentId>,
}

/// A callback that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Callback {
    /// A load in place of another copy is settled (dossier 3.6, 3).
    Moved {
        /// Which segment.
        segment: SegmentId,
        /// The source of the move.
        from: ServerId,
        /// Its queue.
        queue: u32,
        /// Whether the load succeeded.
        success: bool,
    },
    /// The second half of it: the mark is gone, the drop is not yet there (window 1).
    Drop {
        /// Which segment.
        segment: SegmentId,
        /// The source of the move.
        from: ServerId,
        /// Its queue.
        queue: u32,
    },
    /// The drop of a move's source is settled (dossier 3.6, 4).
    Left {
        /// Which segment.
        segment: SegmentId,
        /// Where.
        from: ServerId,
        /// Its queue.
        queue: u32,
    },
}

impl Callback {
    pub(super) fn due(
        then: Then,
        segment: SegmentId,
        at: ServerId,
        number: u32,
        success: bool,
    ) -> Self {
        match then {
            Then::Leave { from, queue } => Self::Moved { segment, from, queue, success },
            Then::Unmark => Self::Left { segment, from: at, queue: number },
        }
    }
}

impl State {
    /// The term it leads in.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        self.term
    }

    /// Where its run is.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What the run that is about to decide counts of a segment, in all tiers; `None` while its picture is
    /// not complete.
    #[must_use]
    pub fn counts(&self, segment: SegmentId) -> Option<Counts> {
        let Run::Ready(holders) = &self.run else { return None };
        let rule = self.rules.get(&segment)?;
        let required = rule.required.iter().map(|(_, count)| i64::from(*count)).sum();
        Some(Counts { required, ..Counts::of(holders, segment, None) })
    }

    /// Callbacks that are due.
    #[must_use]
    pub fn callbacks(&self) -> &[Callback] {
        &self.callbacks
    }

    /// The queue of a server.
    #[must_use]
    pub fn peon(&self, server: ServerId) -> Option<&Peon> {
        self.peons.get(&server)
    }

    /// What the view shows of a server.
    #[must_use]
    pub fn view(&self, server: ServerId) -> Option<&Inventory> {
        self.views.get(&server)
    }

    /// All queues.
    pub fn peons(&self) -> impl Iterator<Item = (ServerId, &Peon)> {
        self.peons.iter().map(|(id, peon)| (*id, peon))
    }

    pub(super) fn schedule(&mut self, due: Vec<Callback>) {
        self.callbacks.extend(due);
        // Callbacks run on a pool: their order tells nothing.
        self.callbacks.sort_unstable();
    }

    fn stop_all(&mut self) {
        let peons = std::mem::take(&mut self.peons);
        for (at, peon) in peons.iter() {
            self.schedule(peon.clone().stop(*at));
        }
        self.run = Run::Idle;
    }

    /// The queue that a callback was made for, if it still is one.
    fn queue_of(&mut self, at: ServerId, number: u32) -> Option<&mut Peon> {
        self.peons.get_mut(&at).filter(|peon| peon.number == number)
    }
}

impl Machine for Coordinator {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut state = state.clone();
        let mut effects = Vec::new();
        match event {
            Event::Continue { task, input } => {
                self.go_on(&mut state, task, input, &mut effects)?;
            }
            Event::Received(Addressed { server, message }) => {
                self.received(&mut state, server, message)?;
            }
            Event::Appeared(id, info) => appeared(&mut state, id, info),
            Event::Disappeared(id) => {
                state.views.remove(&id).ok_or(Refusal::UnknownServer(id))?;
            }
            Event::Require(segment, rule) => {
                state.rules.insert(segment, rule);
            }
            Event::Elected(term) => elected(&mut state, term)?,
            Event::Deposed => {
                state.stop_all();
                state.term = None;
            }
        }
        Ok(Step { state, effects, decided_by: Vec::new() })
    }

    fn recover(&self, durable: Durable) -> State {
        State {
            durable,
            term: None,
            views: Table::new(),
            rules: Table::new(),
            peons: Table::new(),
            peons_made: 0,
            run: Run::Idle,
            callbacks: Vec::new(),
        }
    }
}

fn appeared(state: &mut State, id: ServerId, info: ServerInfo) {
    if let Some(view) = state.views.get_mut(&id) {
        view.info = info;
    } else {
        state.views.insert(id, Inventory { info, segments: Vec::new() });
    }
}

fn elected(state: &mut State, term: Term) -> Result<(), Refusal> {
    if state.term.is_some_and(|current| term <= current) {
        return Err(Refusal::OldTerm(term));
    }
    state.stop_all();
    state.term = Some(term);
    Ok(())
}

impl Coordinator {
    fn go_on(
        &self,
        state: &mut State,
        task: Task,
        input: Input,
        effects: &mut Vec<Issued<Effect>>,
    ) -> Result<(), Refusal> {
        // A callback that is due still runs when leadership is lost; its queue is then stopped.
        if state.term.is_none() && !matches!(task, Task::Callback(_)) {
            return Err(Refusal::NotLeading);
        }
        match task {
            Task::Run => self.run(state, input),
            Task::Callback(at) => self.call_back(state, at)?,
            Task::Send(at) => send_queue(state, at, effects)?,
            Task::Poll(at) => {
                state.views.get(&at).ok_or(Refusal::UnknownServer(at))?;
                send(state, at, ToServer::Poll(Fence::default()), effects);
            }
            Task::Overdue(at, segment) => overdue(state, at, segment)?,
            Task::Unconfirmed(at, segment) => {
                let awaiting = state.peons.get_mut(&at).and_then(|p| p.awaiting.remove(&segment));
                awaiting.ok_or(Refusal::NotReady(task))?;
            }
        }
        Ok(())
    }

    fn received(
        &self,
        state: &mut State,
        at: ServerId,
        message: FromServer,
    ) -> Result<(), Refusal> {
        match message {
            FromServer::Reply(reply) => self.reply(state, at, reply),
            FromServer::View(view) => {
                let known = state.views.get_mut(&at).ok_or(Refusal::UnknownServer(at))?;
                known.segments = view.segments;
                Ok(())
            }
            // Upstream's servers know no terms.
            FromServer::Outdated(_) => Err(Refusal::Stale(at)),
        }
    }

    /// An answer is matched by segment and action. If there is no such operation it is ignored.
    fn reply(&self, state: &mut State, at: ServerId, reply: Reply) -> Result<(), Refusal> {
        let Reply { segment, action, answer, .. } = reply;
        let success = answer == Answer::Done;
        let peon = state.peons.get_mut(&at).ok_or(Refusal::Stale(at))?;
        let side = if action == Action::Load { &peon.load } else { &peon.drop };
        let act = side.get(&segment).map(|entry| entry.act);
        let due = peon.settle(at, segment, action, success).ok_or(Refusal::Stale(at))?;
        if let (true, true, Some(act)) = (self.fix.retains(), success, act) {
            peon.awaiting.insert(segment, act);
        }
        state.schedule(due);
        Ok(())
    }

    fn call_back(&self, state: &mut State, at: u8) -> Result<(), Refusal> {
        if usize::from(at) >= state.callbacks.len() {
            return Err(Refusal::NotReady(Task::Callback(at)));
        }
        match state.callbacks.remove(usize::from(at)) {
            Callback::Moved { segment, from, queue, success } => {
                let Some(peon) = state.queue_of(from, queue) else { return Ok(()) };
                if !success || peon.drops(segment) {
                    peon.marked.remove(&segment);
                } else if self.fix.marks_become_drops() {
                    peon.marked.remove(&segment);
                    peon.enqueue(segment, Act::Drop, Some(Then::Unmark));
                } else {
                    peon.marked.remove(&segment);
                    state.schedule(vec![Callback::Drop { segment, from, queue }]);
                }
            }
            Callback::Drop { segment, from, queue } => {
                if let Some(peon) = state.queue_of(from, queue) {
                    peon.enqueue(segment, Act::Drop, Some(Then::Unmark));
                }
            }
            Callback::Left { segment, from, queue } => {
                if let Some(peon) = state.queue_of(from, queue) {
                    peon.marked.remove(&segment);
                }
            }
        }
        Ok(())
    }
}

fn send(state: &State, at: ServerId, message: ToServer, effects: &mut Vec<Issued<Effect>>) {
    let id = EffectId { incarnation: state.durable.incarnation, number: 0 };
    effects.push(Issued { id, effect: Effect::Send(Addressed { server: at, message }) });
}

/// All that is queued is sent, once or again (dossier 3.2).
fn send_queue(
    state: &mut State,
    at: ServerId,
    effects: &mut Vec<Issued<Effect>>,
) -> Result<(), Refusal> {
    let peon = state.peons.get_mut(&at).ok_or(Refusal::UnknownServer(at))?;
    let batch: Vec<_> = peon.entries().into_iter().map(|(id, entry)| (id, entry.act)).collect();
    if batch.is_empty() {
        return Err(Refusal::NotReady(Task::Send(at)));
    }
    peon.mark_sent();
    for (segment, act) in batch {
        let action = if act == Act::Drop { Action::Drop } else { Action::Load };
        let (ticket, incarnation) = (Fence::default(), Incarnation::default());
        let request = Request { ticket, incarnation, action, segment };
        send(state, at, ToServer::Request(request), effects);
    }
    Ok(())
}

/// A request that is not answered in time is forgotten. The server is not told (dossier 3.2).
fn overdue(state: &mut State, at: ServerId, segment: SegmentId) -> Result<(), Refusal> {
    let refusal = Refusal::NotReady(Task::Overdue(at, segment));
    let peon = state.peons.get_mut(&at).ok_or(refusal)?;
    let sent = |side: &Table<SegmentId, super::peon::Entry>| {
        side.get(&segment).is_some_and(|entry| entry.sent)
    };
    let action = match (sent(&peon.drop), sent(&peon.load)) {
        (true, _) => Action::Drop,
        (false, true) => Action::Load,
        (false, false) => return Err(refusal),
    };
    let due = peon.settle(at, segment, action, false).unwrap_or_default();
    state.schedule(due);
    Ok(())
}
