//! Which roles a model drives: the verified ones, weakened ones, or an upstream variant.
//!
//! Nothing here decides anything: a fleet names two machines, and says what a world has to see of their
//! states to know which of its own events may happen, and what was decided.

use core::fmt::Debug;

use serde::Serialize;
use surehold::guard::{Guards as _, Weakened};
use surehold::rebalance::coordinator::state::{Class, Copy, Kind, Phase, Segment};
use surehold::rebalance::coordinator::{Durable, Limits, State};
use surehold::rebalance::historical::{self, Historical};
use surehold::rebalance::object::{SegmentId, ServerId, Term};
use surehold::rebalance::upstream::{self, Act, Fix, Run};
use surehold::rebalance::{
    Coordinator, CoordinatorEffect, CoordinatorEvent, Guard, HistoricalEffect, HistoricalEvent,
    Refusal,
};
use surehold::{Machine, Verified};

use super::window::{Pictured, Stage};

/// A coordinator.
pub trait Leader:
    Machine<
        State: Leads + Serialize + Send + Sync,
        Event = CoordinatorEvent,
        Effect = CoordinatorEffect,
        Guard = Guard,
        Refusal = Refusal,
        Durable = Durable,
    > + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl<M> Leader for M where
    M: Machine<
            State: Leads + Serialize + Send + Sync,
            Event = CoordinatorEvent,
            Effect = CoordinatorEffect,
            Guard = Guard,
            Refusal = Refusal,
            Durable = Durable,
        > + Clone
        + Debug
        + Send
        + Sync
        + 'static
{
}

/// A historical. Upstream's has the same state; what differs is what it does.
pub trait Server:
    Machine<
        State = historical::State,
        Event = HistoricalEvent,
        Effect = HistoricalEffect,
        Guard = Guard,
        Refusal = Refusal,
        Durable = historical::Durable,
    > + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl<M> Server for M where
    M: Machine<
            State = historical::State,
            Event = HistoricalEvent,
            Effect = HistoricalEffect,
            Guard = Guard,
            Refusal = Refusal,
            Durable = historical::Durable,
        > + Clone
        + Debug
        + Send
        + Sync
        + 'static
{
}

/// Two roles that talk to each other.
pub trait Fleet: Clone + Send + Sync + 'static {
    /// What leads.
    type Coordinator: Leader;
    /// What serves.
    type Historical: Server;

    /// Both roles.
    fn roles(&self) -> (Self::Coordinator, Self::Historical);

    /// How far a run is.
    fn reading(&self, state: &<Self::Coordinator as Machine>::State) -> Reading;

    /// What a run that decides now counts of a segment, by the protocol's own names.
    fn counts(
        &self,
        state: &<Self::Coordinator as Machine>::State,
        segment: SegmentId,
    ) -> Vec<(&'static str, i64)>;
}

/// How far a run is, in the order of its readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// It has not begun.
    Nothing,
    /// It has copied the inventory.
    Inventory,
    /// And the queues.
    Queues,
    /// And the marks: it decides next.
    Marks,
    /// It copies nothing: it decides on the state as it is.
    AtOnce,
}

/// What is decided and not settled, each in order.
#[derive(Debug, Default)]
pub struct Decided {
    /// Drops.
    pub drops: Vec<(ServerId, SegmentId)>,
    /// Loads, those of moves left out.
    pub loads: Vec<(ServerId, SegmentId)>,
    /// Loads of moves.
    pub moves: Vec<(ServerId, SegmentId)>,
}

impl Decided {
    fn sorted(mut self) -> Self {
        for all in [&mut self.drops, &mut self.loads, &mut self.moves] {
            all.sort_unstable();
        }
        self
    }
}

/// What has changed in a coordinator's mind by a step.
#[derive(Debug)]
pub struct Change {
    /// What was decided before.
    pub old: Decided,
    /// What is decided now.
    pub new: Decided,
    /// A server that is asked for two things of a segment at once.
    pub contradiction: Option<(ServerId, SegmentId)>,
    /// A server on which a load was decided without room.
    pub overfilled: Option<ServerId>,
}

impl Change {
    /// By a step between these states.
    pub fn between<L: Leads>(before: &L, after: &L) -> Self {
        Self {
            old: before.decided(),
            new: after.decided(),
            contradiction: after.contradiction(),
            overfilled: after.overfilled(before),
        }
    }
}

/// What a world sees of a coordinator's state.
pub trait Leads {
    /// The term it leads in.
    fn term(&self) -> Option<Term>;
    /// What is decided and not settled.
    fn decided(&self) -> Decided;
    /// Drops that are decided and not settled.
    fn drops(&self) -> Vec<(ServerId, SegmentId)> {
        self.decided().drops
    }
    /// Loads that are decided and not settled, those of moves left out.
    fn loads(&self) -> Vec<(ServerId, SegmentId)> {
        self.decided().loads
    }
    /// Loads of moves that are decided and not settled.
    fn moves(&self) -> Vec<(ServerId, SegmentId)> {
        self.decided().moves
    }
    /// Whether something was never sent to a server.
    fn has_unsent(&self, server: ServerId) -> bool;
    /// What was sent to a server and has no answer.
    fn unanswered(&self, server: ServerId) -> Vec<SegmentId>;
    /// What was sent and may be found overdue.
    fn may_be_overdue(&self) -> Vec<(ServerId, SegmentId)>;
    /// What may have waited too long for a confirmation.
    fn unconfirmed(&self) -> Vec<(ServerId, SegmentId)>;
    /// How many callbacks are due.
    fn callbacks(&self) -> usize;
    /// Whether it believes that a server serves a segment.
    fn believes(&self, server: ServerId, segment: SegmentId) -> bool;
    /// Whether it decides nothing on a server before a view of it has come.
    fn awaits_view(&self, server: ServerId) -> bool;
    /// Whether a run has anything to go on with, a proposed move aside.
    fn may_run(&self) -> bool;
    /// Whether the next phase of the run decides, so that the outside's choices matter.
    fn decides_next(&self) -> bool;
    /// Whether the next phase of the run is its first.
    fn begins_next(&self) -> bool;
    /// How far a run is: 0 none, 1 the inventory is copied, 2 the queues too, 3 the marks too.
    fn phase(&self) -> u8;
    /// What the queue says of a server's copy.
    fn stage(&self, server: ServerId, segment: SegmentId) -> Stage;
    /// What the finished picture of a run says of a server.
    fn pictured(&self, server: ServerId, segment: SegmentId) -> Pictured;
    /// A server that is asked for two things of a segment at once.
    fn contradiction(&self) -> Option<(ServerId, SegmentId)>;
    /// A server on which a load was decided without room, as far as is known, in the step from `before`. Upstream's
    /// account of bytes is its servers' own.
    fn overfilled(&self, _before: &Self) -> Option<ServerId> {
        None
    }
    /// Whether nothing is queued, marked, waiting or due.
    fn is_quiet(&self) -> bool;
}

/// The verified protocol, with all guards or without some.
#[derive(Clone, Debug)]
pub struct Ours<V>(pub V);

impl Fleet for Ours<Verified> {
    type Coordinator = Coordinator;
    type Historical = Historical;

    fn roles(&self) -> (Coordinator, Historical) {
        (Coordinator::new(Limits::default()), Historical::new(historical::Limits::default()))
    }

    fn reading(&self, _: &State) -> Reading {
        Reading::AtOnce
    }

    fn counts(&self, state: &State, segment: SegmentId) -> Vec<(&'static str, i64)> {
        classes(state, segment)
    }
}

impl Fleet for Ours<Weakened<Guard>> {
    type Coordinator = Coordinator<Weakened<Guard>>;
    type Historical = Historical<Weakened<Guard>>;

    fn roles(&self) -> (Self::Coordinator, Self::Historical) {
        let coordinator = Coordinator::weakened(Limits::default(), self.0.clone());
        (coordinator, Historical::weakened(historical::Limits::default(), self.0.clone()))
    }

    fn reading(&self, state: &State) -> Reading {
        match (self.0.keeps(Guard::AskNow), state.has_picture()) {
            (true, _) => Reading::AtOnce,
            (false, false) => Reading::Nothing,
            (false, true) => Reading::Marks,
        }
    }

    fn counts(&self, state: &State, segment: SegmentId) -> Vec<(&'static str, i64)> {
        classes(state, segment)
    }
}

/// An upstream variant.
#[derive(Clone, Copy, Debug)]
pub struct Druid(pub Fix);

impl Fleet for Druid {
    type Coordinator = upstream::Coordinator;
    type Historical = upstream::Historical;

    fn roles(&self) -> (Self::Coordinator, Self::Historical) {
        let limits = historical::Limits::default();
        (upstream::Coordinator::new(self.0), upstream::Historical::new(limits))
    }

    fn reading(&self, state: &upstream::State) -> Reading {
        match state.run() {
            Run::Idle => Reading::Nothing,
            Run::Inventory(_) => Reading::Inventory,
            Run::Queues(_) => Reading::Queues,
            Run::Ready(_) => Reading::Marks,
        }
    }

    fn counts(&self, state: &upstream::State, segment: SegmentId) -> Vec<(&'static str, i64)> {
        let Some(counts) = state.counts(segment) else { return Vec::new() };
        vec![
            ("requiredAndLoadable", counts.required_and_loadable()),
            ("required", counts.required),
            ("loaded", counts.loaded),
            // No other kind of server serves here.
            ("loadedNonHistorical", 0),
            ("loading", counts.loading),
            ("dropping", counts.dropping),
            ("movingTo", counts.moving_to),
            ("movingFrom", counts.moving_from),
            ("projected", counts.projected(self.0)),
        ]
    }
}

/// How many copies of a segment on managed servers are of which class.
fn classes(state: &State, segment: SegmentId) -> Vec<(&'static str, i64)> {
    let copies = state.segment(segment).map(|segment| &segment.copies);
    let of = |class: Class| {
        let copies = copies.iter().flat_map(|copies| copies.iter());
        let managed = |at| state.server(at).is_some_and(|server| server.info.managed);
        copies.filter(|(at, copy)| managed(**at) && copy.class() == class).count() as i64
    };
    let required = state.segment(segment).map_or(0, Segment::required_in_all);
    vec![
        ("required", required as i64),
        ("serving", of(Class::Serving)),
        ("arriving", of(Class::Arriving)),
        ("leaving", of(Class::Leaving)),
    ]
}

/// Every operation of a verified coordinator.
fn operations(state: &State) -> impl Iterator<Item = (ServerId, SegmentId, Kind, Phase)> {
    let first = state.segments().flat_map(|(id, segment)| {
        let copies = segment.copies.iter();
        copies.filter_map(move |(at, copy)| copy.operation.map(|op| (*at, id, op)))
    });
    let all = first.chain(state.second_operations());
    all.map(|(at, id, op)| (at, id, op.kind, op.phase))
}

impl Leads for State {
    fn term(&self) -> Option<Term> {
        State::term(self)
    }

    fn decided(&self) -> Decided {
        let mut decided = Decided::default();
        for (at, id, kind, phase) in operations(self) {
            match (kind, phase) {
                (Kind::Drop, _) => decided.drops.push((at, id)),
                (Kind::MoveTo, _) => decided.moves.push((at, id)),
                // A load that is late may have been one of a move.
                (Kind::Load | Kind::Replicate, Phase::Late(_)) => {}
                (Kind::Load | Kind::Replicate, _) => decided.loads.push((at, id)),
            }
        }
        decided.sorted()
    }

    fn has_unsent(&self, server: ServerId) -> bool {
        State::has_unsent(self, server)
    }

    fn unanswered(&self, server: ServerId) -> Vec<SegmentId> {
        let sent = self.operations_of(server).filter(|(_, op)| op.phase != Phase::Queued);
        sent.map(|(id, _)| id).collect()
    }

    fn may_be_overdue(&self) -> Vec<(ServerId, SegmentId)> {
        let sent = operations(self).filter(|(.., phase)| matches!(phase, Phase::Sent(_)));
        sent.map(|(at, id, ..)| (at, id)).collect()
    }

    fn unconfirmed(&self) -> Vec<(ServerId, SegmentId)> {
        Vec::new()
    }

    fn callbacks(&self) -> usize {
        usize::from(self.has_asked())
    }

    fn believes(&self, server: ServerId, segment: SegmentId) -> bool {
        self.copy(segment, server).has
    }

    fn awaits_view(&self, server: ServerId) -> bool {
        self.server(server).is_some_and(|server| !server.fenced)
    }

    fn may_run(&self) -> bool {
        self.has_due()
    }

    fn decides_next(&self) -> bool {
        true
    }

    fn begins_next(&self) -> bool {
        true
    }

    fn overfilled(&self, before: &Self) -> Option<ServerId> {
        let loads = |role: &Self, id: SegmentId, at: ServerId| {
            role.copy(id, at).operation.is_some_and(|op| op.kind != Kind::Drop)
        };
        let mut asked = operations(self).filter(|(.., kind, _)| *kind != Kind::Drop);
        if asked.all(|(at, id, ..)| loads(before, id, at)) {
            // Nothing was decided, as in most steps.
            return None;
        }
        let decided = |at: ServerId| {
            let mut asked = self.operations_of(at).map(|(id, _)| id);
            asked.any(|id| loads(self, id, at) && !loads(before, id, at))
        };
        // Counted from the copies themselves, so that a wrong account is found as well.
        let used = |at: ServerId| -> u64 {
            let of = self
                .segments()
                .filter(|(_, segment)| segment.copies.get(&at).is_some_and(Copy::takes_space));
            of.map(|(_, segment)| segment.size_bytes()).sum()
        };
        let mut full = self
            .servers()
            .filter(|(at, server)| decided(*at) && used(*at) > server.info.capacity_bytes);
        full.next().map(|(at, _)| at)
    }

    fn phase(&self) -> u8 {
        0
    }

    fn stage(&self, _server: ServerId, _segment: SegmentId) -> Stage {
        Stage::Plain
    }

    fn pictured(&self, _server: ServerId, _segment: SegmentId) -> Pictured {
        Pictured::default()
    }

    fn contradiction(&self) -> Option<(ServerId, SegmentId)> {
        self.second_operations().next().map(|(at, id, _)| (at, id))
    }

    fn is_quiet(&self) -> bool {
        operations(self).next().is_none() && !self.has_asked()
    }
}

/// Every entry of an upstream coordinator's queues.
fn entries(state: &upstream::State) -> impl Iterator<Item = (ServerId, SegmentId, Act, bool)> {
    state.peons().flat_map(|(at, peon)| {
        peon.entries().into_iter().map(move |(id, entry)| (at, id, entry.act, entry.sent))
    })
}

impl Leads for upstream::State {
    fn term(&self) -> Option<Term> {
        upstream::State::term(self)
    }

    fn decided(&self) -> Decided {
        let mut decided = Decided::default();
        for (at, id, act, _) in entries(self) {
            match act {
                Act::Drop => decided.drops.push((at, id)),
                Act::Load | Act::Replicate => decided.loads.push((at, id)),
                Act::MoveTo => decided.moves.push((at, id)),
                Act::MoveFrom => {}
            }
        }
        decided.sorted()
    }

    fn has_unsent(&self, server: ServerId) -> bool {
        let entries = self.peon(server).map(|peon| peon.entries()).unwrap_or_default();
        entries.iter().any(|(_, entry)| !entry.sent)
    }

    fn unanswered(&self, server: ServerId) -> Vec<SegmentId> {
        let entries = self.peon(server).map(|peon| peon.entries()).unwrap_or_default();
        entries.iter().filter(|(_, entry)| entry.sent).map(|(id, _)| *id).collect()
    }

    fn may_be_overdue(&self) -> Vec<(ServerId, SegmentId)> {
        let sent = entries(self).filter(|(.., sent)| *sent);
        sent.map(|(at, id, ..)| (at, id)).collect()
    }

    fn unconfirmed(&self) -> Vec<(ServerId, SegmentId)> {
        let awaiting = |(at, peon): (ServerId, &upstream::Peon)| {
            peon.awaiting().map(move |(id, _)| (at, id)).collect::<Vec<_>>()
        };
        self.peons().flat_map(awaiting).collect()
    }

    fn callbacks(&self) -> usize {
        upstream::State::callbacks(self).len()
    }

    fn believes(&self, server: ServerId, segment: SegmentId) -> bool {
        self.view(server).is_some_and(|view| view.segments.contains(&segment))
    }

    fn awaits_view(&self, _server: ServerId) -> bool {
        false
    }

    fn may_run(&self) -> bool {
        self.term().is_some()
    }

    fn decides_next(&self) -> bool {
        matches!(self.run(), Run::Ready(_))
    }

    fn begins_next(&self) -> bool {
        *self.run() == Run::Idle
    }

    fn phase(&self) -> u8 {
        match self.run() {
            Run::Idle => 0,
            Run::Inventory(_) => 1,
            Run::Queues(_) => 2,
            Run::Ready(_) => 3,
        }
    }

    fn stage(&self, server: ServerId, segment: SegmentId) -> Stage {
        let half = upstream::State::callbacks(self).iter().any(|callback| {
            matches!(callback, upstream::Callback::Drop { segment: of, from, .. }
                if *of == segment && *from == server)
        });
        match self.peon(server) {
            Some(peon) if peon.drops(segment) => Stage::Queued,
            _ if half => Stage::Half,
            Some(peon) if peon.is_marked(segment) => Stage::Marked,
            Some(_) | None => Stage::Plain,
        }
    }

    fn pictured(&self, server: ServerId, segment: SegmentId) -> Pictured {
        let Run::Ready(holders) = self.run() else { return Pictured::default() };
        let holder = holders.iter().find(|holder| holder.server == server);
        let act = holder.and_then(|holder| holder.acts.get(&segment)).copied();
        Pictured {
            served: holder.is_some_and(|holder| holder.served.contains(&segment)),
            marked: act == Some(Act::MoveFrom),
            arriving: matches!(act, Some(Act::Load | Act::Replicate | Act::MoveTo)),
            dropping: act == Some(Act::Drop),
        }
    }

    fn contradiction(&self) -> Option<(ServerId, SegmentId)> {
        let mut drops = entries(self).filter(|(_, _, act, _)| *act == Act::Drop);
        let both = drops.find(|(at, id, ..)| self.peon(*at).is_some_and(|peon| peon.loads(*id)));
        both.map(|(at, id, ..)| (at, id))
    }

    fn is_quiet(&self) -> bool {
        let marked = |peon: &upstream::Peon| peon.marks() > 0 || peon.awaiting().next().is_some();
        upstream::State::callbacks(self).is_empty()
            && *self.run() == Run::Idle
            && self.peons().all(|(_, peon)| peon.entries().is_empty() && !marked(peon))
    }
}
