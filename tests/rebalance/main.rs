//! The roles of rebalance, event by event: a move from start to end, refusals, and nonsense from outside.

mod emptied;
mod late;
mod moves;
mod nonsense;
mod refusals;
#[cfg(feature = "weaken")]
mod upstream;

use surehold::collections::Set;
use surehold::rebalance::coordinator::state::{Class, Copy, Kind, Operation, Phase};
use surehold::rebalance::coordinator::{self, Coordinator};
use surehold::rebalance::event::{Move, Outcome, Rule, ServerInfo};
use surehold::rebalance::historical::{self, Historical};
use surehold::rebalance::message::{
    Action, Addressed, Answer, FromServer, Reply, Request, ToServer, View,
};
use surehold::rebalance::object::{
    Fence, Incarnation, LeaderId, SegmentId, ServerId, Stamp, Term, TierId,
};
use surehold::rebalance::{
    CoordinatorEffect, CoordinatorEvent, Guard, HistoricalEffect, HistoricalEvent, Input, Refusal,
    Task,
};
use surehold::{EffectId, Machine};

const SEGMENT: SegmentId = SegmentId(7);
const TIER: TierId = TierId(0);
const A: ServerId = ServerId(1);
const B: ServerId = ServerId(2);
const C: ServerId = ServerId(3);
const FENCE: Fence = Fence { term: Term(5), number: 0 };
const DELAY_MS: u64 = 30_000;

fn info() -> ServerInfo {
    ServerInfo { tier: TIER, capacity_bytes: 100, decommissioning: false, managed: true }
}

fn rule(required: u16) -> Rule {
    Rule { size_bytes: 10, required: vec![(TIER, required)] }
}

fn go(task: Task) -> CoordinatorEvent {
    CoordinatorEvent::Continue { task, input: Input::default() }
}

fn propose(from: ServerId, to: ServerId) -> CoordinatorEvent {
    let proposed = Some(Move { segment: SEGMENT, from, to });
    CoordinatorEvent::Continue { task: Task::Run, input: Input { pick: 0, proposed } }
}

fn from(server: ServerId, message: FromServer) -> CoordinatorEvent {
    CoordinatorEvent::Received(Addressed { server, message })
}

fn stamp(incarnation: u32, version: u32) -> Stamp {
    Stamp { incarnation: Incarnation(incarnation), version }
}

fn ticket(number: u32) -> Fence {
    Fence { number, ..FENCE }
}

fn view(incarnation: u32, version: u32, segments: &[SegmentId]) -> FromServer {
    let stamp = stamp(incarnation, version);
    FromServer::View(View { fence: FENCE, stamp, segments: segments.to_vec() })
}

/// A coordinator and what it has asked for since it was last looked at.
struct Leader {
    role: Coordinator,
    state: coordinator::State,
}

impl Leader {
    fn started() -> Self {
        let role = Coordinator::new(coordinator::Limits::default());
        let durable = coordinator::Durable { leader: LeaderId(1), incarnation: 3 };
        let state = role.recover(durable);
        Self { role, state }
    }

    /// Leads, with these servers shown, one replica required, and no view yet.
    fn elected(servers: &[ServerId], required: u16) -> Self {
        let mut leader = Self::started();
        for server in servers {
            assert_eq!(leader.take(CoordinatorEvent::Appeared(*server, info())), []);
        }
        assert_eq!(leader.take(CoordinatorEvent::Require(SEGMENT, rule(required))), []);
        assert_eq!(leader.take(CoordinatorEvent::Elected(FENCE.term)), []);
        leader
    }

    /// Leads, and has a view of each server; the first ones have the segment.
    fn informed(servers: &[ServerId], having: usize, required: u16) -> Self {
        let mut leader = Self::elected(servers, required);
        for (place, server) in servers.iter().enumerate() {
            let segments: &[_] = if place < having { &[SEGMENT] } else { &[] };
            assert_eq!(leader.take(from(*server, view(1, 0, segments))), []);
        }
        leader
    }

    /// The messages that an event leads to.
    fn take(&mut self, event: CoordinatorEvent) -> Vec<(ServerId, ToServer)> {
        let step = self.role.step(&self.state, event.clone());
        assert_eq!(step, self.role.step(&self.state, event.clone()), "steps are pure");
        let step = step.unwrap_or_else(|refusal| panic!("{event:?}: {refusal}"));
        self.state = step.state;
        assert_eq!(self.state.index_fault(), None);
        let id = EffectId { incarnation: 3, number: 0 };
        let message = |issued: surehold::Issued<CoordinatorEffect>| {
            let CoordinatorEffect::Send(Addressed { server, message }) = issued.effect;
            assert_eq!(issued.id, id);
            (server, message)
        };
        step.effects.into_iter().map(message).collect()
    }

    fn refuses(&self, event: CoordinatorEvent, refusal: Refusal) {
        let before = self.state.clone();
        assert_eq!(self.role.step(&self.state, event), Err(refusal));
        assert_eq!(self.state, before);
    }

    fn copy(&self, server: ServerId) -> Copy {
        self.state.copy(SEGMENT, server)
    }

    fn used_bytes(&self, server: ServerId) -> u128 {
        self.state.server(server).expect("it is shown").used_bytes
    }
}

/// A historical.
struct Server {
    role: Historical,
    state: historical::State,
}

impl Server {
    fn started(server: ServerId, incarnation: u32, served: &[SegmentId]) -> Self {
        let incarnation = Incarnation(incarnation);
        let served = served.iter().copied().collect();
        Self::recovered(historical::Durable {
            server,
            incarnation,
            term: Term(0),
            served,
            left_over: Set::new(),
        })
    }

    fn recovered(durable: historical::Durable) -> Self {
        let role = Historical::new(historical::Limits { drop_delay_ms: DELAY_MS });
        let state = role.recover(durable);
        Self { role, state }
    }

    /// The effects that an event leads to, each with its number.
    fn take(&mut self, event: HistoricalEvent) -> Vec<(u16, HistoricalEffect)> {
        let step = self.role.step(&self.state, event);
        assert_eq!(step, self.role.step(&self.state, event), "steps are pure");
        let step = step.unwrap_or_else(|refusal| panic!("{event:?}: {refusal}"));
        self.state = step.state;
        step.effects.into_iter().map(|issued| (issued.id.number, issued.effect)).collect()
    }

    fn receive(&mut self, message: ToServer) -> Vec<(u16, HistoricalEffect)> {
        self.take(HistoricalEvent::Received(message))
    }

    fn end(&mut self, number: u16, outcome: Outcome) -> Vec<(u16, HistoricalEffect)> {
        let id = EffectId { incarnation: self.state.stamp().incarnation.0, number };
        self.take(HistoricalEvent::Outcome { id, outcome })
    }

    /// The one message that an event leads to.
    fn reply(&mut self, message: ToServer) -> FromServer {
        match self.receive(message).as_slice() {
            [(0, HistoricalEffect::Send(answer))] => answer.clone(),
            other => panic!("{message:?} leads to {other:?}"),
        }
    }

    fn refuses(&self, event: HistoricalEvent, refusal: Refusal) {
        let before = self.state.clone();
        assert_eq!(self.role.step(&self.state, event), Err(refusal));
        assert_eq!(self.state, before);
    }
}

fn request(action: Action, number: u32, incarnation: u32) -> Request {
    let incarnation = Incarnation(incarnation);
    Request { ticket: ticket(number), incarnation, action, segment: SEGMENT }
}

fn answer(request: Request, answer: Answer, has: bool, stamp: Stamp) -> FromServer {
    let Request { ticket, action, segment, .. } = request;
    FromServer::Reply(Reply { ticket, action, segment, answer, has, stamp })
}

const LEADER: coordinator::Durable = coordinator::Durable { leader: LeaderId(0), incarnation: 0 };

fn to_be_emptied() -> CoordinatorEvent {
    CoordinatorEvent::Appeared(A, ServerInfo { decommissioning: true, ..info() })
}
