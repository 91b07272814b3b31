//! The roles of rebalance, event by event: a move from start to end, refusals, and nonsense from outside.

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

#[test]
fn a_move_from_start_to_end() {
    let mut leader = Leader::elected(&[A, B], 1);
    let mut a = Server::started(A, 8, &[SEGMENT]);
    let mut b = Server::started(B, 9, &[]);

    // Nothing is decided before a view has come that carried the fence.
    assert_eq!(leader.take(propose(A, B)), []);
    assert!(leader.state.has_due());
    for (server, at) in [(&mut a, A), (&mut b, B)] {
        assert_eq!(leader.take(go(Task::Poll(at))), [(at, ToServer::Poll(FENCE))]);
        let stamp = server.state.stamp();
        let segments = server.state.announced().collect();
        let seen = FromServer::View(View { fence: FENCE, stamp, segments });
        assert_eq!(server.reply(ToServer::Poll(FENCE)), seen);
        assert_eq!(leader.take(from(at, seen)), []);
    }

    assert_eq!(leader.take(propose(A, B)), []);
    let operation = Operation { kind: Kind::MoveTo, phase: Phase::Queued, from: Some(A) };
    let queued = Copy { has: false, stamp: stamp(9, 0), operation: Some(operation) };
    assert_eq!((leader.copy(B), leader.copy(B).class()), (queued, Class::Arriving));
    assert_eq!(leader.copy(A).class(), Class::Serving);
    assert_eq!(leader.used_bytes(B), 10);

    let load = request(Action::Load, 1, 9);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    // What is not answered is sent again unchanged.
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    let fetch = HistoricalEffect::Fetch(SEGMENT);
    assert_eq!(b.receive(ToServer::Request(load)), [(1, fetch)]);
    // While it is worked on, there is nothing to answer.
    assert_eq!(b.receive(ToServer::Request(load)), []);
    let loaded = answer(load, Answer::Done, true, stamp(9, 1));
    assert_eq!(b.end(1, Outcome::Done), [(0, HistoricalEffect::Send(loaded.clone()))]);

    // The answer settles the load, teaches the copy and creates the drop in one step.
    assert_eq!(leader.take(from(B, loaded)), []);
    let there = Copy { has: true, stamp: stamp(9, 1), operation: None };
    assert_eq!(leader.copy(B), there);
    let operation = Operation { kind: Kind::Drop, phase: Phase::Queued, from: None };
    let leaving = Copy { has: true, stamp: stamp(8, 0), operation: Some(operation) };
    assert_eq!((leader.copy(A), leader.copy(A).class()), (leaving, Class::Leaving));

    let drop = request(Action::Drop, 1, 8);
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(drop))]);
    let wait = HistoricalEffect::Wait { segment: SEGMENT, delay_ms: DELAY_MS };
    let dropped = answer(drop, Answer::Done, false, stamp(8, 1));
    let effects = [(1, wait), (0, HistoricalEffect::Send(dropped.clone()))];
    assert_eq!(a.receive(ToServer::Request(drop)), effects);

    assert_eq!(leader.take(from(A, dropped)), []);
    let gone = Copy { has: false, stamp: stamp(8, 1), operation: None };
    assert_eq!(leader.copy(A), gone);
    assert_eq!((leader.used_bytes(A), leader.used_bytes(B)), (0, 10));
    assert_eq!(leader.take(go(Task::Run)), []);
    assert!(!leader.state.has_due());
    leader.refuses(go(Task::Send(A)), Refusal::NotReady(Task::Send(A)));
    leader.refuses(go(Task::Send(B)), Refusal::NotReady(Task::Send(B)));

    assert_eq!(a.end(1, Outcome::Elapsed), [(1, HistoricalEffect::Delete(SEGMENT))]);
    assert_eq!(a.end(1, Outcome::Done), []);
    assert_ends_as_written(&leader, &a, &b);
}

/// The whole of each state, as it is written.
fn assert_ends_as_written(leader: &Leader, a: &Server, b: &Server) {
    #[cfg(feature = "serde")]
    {
        use serde_json::json;
        let value = |state: &historical::State| serde_json::to_value(state).expect("it is plain");
        let server = |name: u16, incarnation: u32, served: &[u32]| {
            json!({
                "durable": {
                    "server": name,
                    "incarnation": incarnation,
                    "term": 5,
                    "served": served,
                    "left_over": [],
                },
                "number": 1,
                "version": 1,
                "loading": [],
                "leaving": [],
                "outstanding": [],
                "recalled": false,
            })
        };
        assert_eq!(value(&a.state), server(1, 8, &[]));
        assert_eq!(value(&b.state), server(2, 9, &[7]));

        let known = |incarnation: u32, used_bytes: u64| {
            json!({
                "info": {
                    "tier": 0,
                    "capacity_bytes": 100,
                    "decommissioning": false,
                    "managed": true,
                },
                "incarnation": incarnation,
                "viewed": { "incarnation": incarnation, "version": 0 },
                "issued": 1,
                "fence_from": 0,
                "shown": true,
                "fenced": true,
                "used_bytes": used_bytes,
                // That A has it no longer is newer than its last view.
                "holds": [7],
                "queue": [],
                "late": [],
            })
        };
        let copy = |has: bool, incarnation: u32| {
            let stamp = json!({ "incarnation": incarnation, "version": 1 });
            json!({ "has": has, "stamp": stamp, "operation": null })
        };
        let segment = json!({
            "rule": { "size_bytes": 10, "required": [[0, 1]] },
            "copies": [[1, copy(false, 8)], [2, copy(true, 9)]],
        });
        let whole = json!({
            "durable": { "leader": 1, "incarnation": 3 },
            "newest": 5,
                "term": 5,
            "servers": [[1, known(8, 0)], [2, known(9, 10)]],
            "segments": [[7, segment]],
            "due": [],
            "picture": null,
            "asked": [],
            "beside": [],
        });
        assert_eq!(serde_json::to_value(&leader.state).expect("it is plain"), whole);
    }
    #[cfg(not(feature = "serde"))]
    let _ = (leader, a, b);
}

#[test]
fn a_pair_is_of_one_class() {
    let phases = [Phase::Queued, Phase::Sent(1), Phase::Late(1)];
    for has in [false, true] {
        let at_rest = Copy { has, ..Copy::default() };
        assert_eq!(at_rest.class(), if has { Class::Serving } else { Class::Absent });
        for phase in phases {
            for kind in [Kind::Drop, Kind::Load, Kind::Replicate, Kind::MoveTo] {
                let operation = Some(Operation { kind, phase, from: None });
                let late = matches!(phase, Phase::Late(_));
                let expected = match (kind, has, late) {
                    (Kind::Drop, _, _) => Class::Leaving,
                    (_, true, _) => Class::Serving,
                    (_, false, true) => Class::Absent,
                    (_, false, false) => Class::Arriving,
                };
                let copy = Copy { operation, ..at_rest };
                assert_eq!(copy.class(), expected, "{copy:?}");
            }
        }
    }
}

#[test]
fn a_late_load_makes_room_for_another_try_and_keeps_its_bytes() {
    let mut leader = Leader::informed(&[A, B], 0, 1);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(A).class(), Class::Arriving);
    let load = request(Action::Load, 1, 1);
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(load))]);
    assert_eq!(leader.take(go(Task::Overdue(A, SEGMENT))), []);

    let operation = Operation { kind: Kind::Load, phase: Phase::Late(1), from: None };
    assert_eq!(leader.copy(A).operation, Some(operation));
    assert_eq!((leader.copy(A).class(), leader.used_bytes(A)), (Class::Absent, 10));
    leader.refuses(go(Task::Overdue(A, SEGMENT)), Refusal::NotReady(Task::Overdue(A, SEGMENT)));
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(B).class(), Class::Arriving);

    // It comes after all, and the other, which was not sent, is taken back.
    let loaded = answer(load, Answer::Done, true, stamp(1, 1));
    assert_eq!(leader.take(from(A, loaded)), []);
    assert_eq!(leader.copy(A), Copy { has: true, stamp: stamp(1, 1), operation: None });
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(B), Copy { has: false, stamp: stamp(1, 0), operation: None });
    // What a run changes, the next one looks at.
    assert_eq!(leader.take(go(Task::Run)), []);
    assert!(!leader.state.has_due());
}

#[test]
fn a_late_move_is_a_load_and_drops_nothing() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(propose(A, B)), []);
    let load = request(Action::Load, 1, 1);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    assert_eq!(leader.take(go(Task::Overdue(B, SEGMENT))), []);
    let operation = Operation { kind: Kind::Replicate, phase: Phase::Late(1), from: None };
    assert_eq!(leader.copy(B).operation, Some(operation));
    assert_eq!(leader.take(from(B, answer(load, Answer::Done, true, stamp(1, 1)))), []);
    assert_eq!(leader.copy(A).class(), Class::Serving);
    assert_eq!(leader.copy(B).class(), Class::Serving);
}

#[test]
fn the_last_firm_copy_stays() {
    // C has a copy too, and no view of it has come that carried the fence.
    let mut leader = Leader::informed(&[A, B], 2, 1);
    assert_eq!(leader.take(CoordinatorEvent::Appeared(C, info())), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    let classes = [A, B].map(|at| leader.copy(at).class());
    assert_eq!(classes, [Class::Leaving, Class::Serving]);
    // The answer of C makes it known, but not firm.
    let reply = answer(request(Action::Load, 9, 1), Answer::Failed, true, stamp(1, 1));
    assert_eq!(leader.take(from(C, reply)), []);
    assert_eq!(leader.copy(C).class(), Class::Serving);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(B).class(), Class::Serving);
    assert!(leader.copy(C).operation.is_none());
}

#[test]
fn an_old_number_is_refused_and_says_what_is_there() {
    let mut server = Server::started(A, 4, &[SEGMENT]);
    let newer = Fence { number: 3, ..FENCE };
    let seen = View { fence: newer, stamp: stamp(4, 0), segments: vec![SEGMENT] };
    assert_eq!(server.reply(ToServer::Poll(newer)), FromServer::View(seen));
    assert_eq!(server.state.fence(), newer);
    for number in [0, 1, 3] {
        let before = server.state.clone();
        let drop = request(Action::Drop, number, 4);
        let refused = answer(drop, Answer::RefusedNumber, true, stamp(4, 0));
        assert_eq!(server.reply(ToServer::Request(drop)), refused);
        assert_eq!(server.state, before);
    }
    let drop = request(Action::Drop, 4, 4);
    assert_eq!(server.receive(ToServer::Request(drop)).len(), 2);
    assert!(!server.state.announces(SEGMENT));
}

#[test]
fn a_request_for_another_life_is_refused_and_tells_of_this_one() {
    let mut server = Server::started(A, 4, &[SEGMENT]);
    for incarnation in [0, 3, 5] {
        let before = server.state.clone();
        let drop = request(Action::Drop, 1, incarnation);
        let refused = answer(drop, Answer::RefusedIncarnation, true, stamp(4, 0));
        assert_eq!(server.reply(ToServer::Request(drop)), refused);
        assert_eq!(server.state, before);
    }

    // The leader forgets what it has asked of the life before, and trusts the copy no more.
    let mut leader = Leader::informed(&[A, B], 2, 1);
    assert_eq!(leader.take(go(Task::Run)), []);
    let drop = request(Action::Drop, 1, 1);
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(drop))]);
    let refused = answer(drop, Answer::RefusedIncarnation, true, stamp(2, 0));
    assert_eq!(leader.take(from(A, refused)), []);
    assert_eq!(leader.copy(A), Copy { has: true, stamp: stamp(2, 0), operation: None });
    assert!(!leader.state.server(A).expect("it is shown").fenced);
    // The next poll cuts off what was sent.
    assert_eq!(leader.take(go(Task::Poll(A))), [(A, ToServer::Poll(ticket(1)))]);
}

#[test]
fn an_old_term_is_refused_and_its_leader_stops() {
    let mut server = Server::started(A, 1, &[SEGMENT]);
    let newer = Fence { term: Term(6), number: 0 };
    assert!(matches!(server.reply(ToServer::Poll(newer)), FromServer::View(_)));
    let before = server.state.clone();
    let drop = request(Action::Drop, 1, 1);
    let refused = answer(drop, Answer::RefusedTerm(newer), true, stamp(1, 0));
    assert_eq!(server.reply(ToServer::Request(drop)), refused);
    assert_eq!(server.reply(ToServer::Poll(FENCE)), FromServer::Outdated(newer));
    assert_eq!(server.state, before);

    for told in [refused, FromServer::Outdated(newer)] {
        let mut leader = Leader::informed(&[A, B], 2, 1);
        assert_eq!(leader.take(from(A, told)), []);
        assert_eq!(leader.state.term(), None);
        assert_eq!(leader.copy(A), Copy::default());
        leader.refuses(go(Task::Run), Refusal::NotLeading);
    }
    // The term survives a restart.
    let again = server.role.recover(server.state.durable().clone());
    assert_eq!(again.fence(), newer);
}

#[test]
fn a_coordinator_that_does_not_lead_refuses() {
    let mut leader = Leader::started();
    assert_eq!(leader.take(CoordinatorEvent::Appeared(A, info())), []);
    for task in [Task::Run, Task::Callback(0), Task::Send(A), Task::Poll(A)] {
        leader.refuses(go(task), Refusal::NotLeading);
    }
    for message in [view(1, 0, &[SEGMENT]), FromServer::Outdated(FENCE)] {
        leader.refuses(from(A, message), Refusal::NotLeading);
    }
    assert_eq!(leader.take(CoordinatorEvent::Elected(FENCE.term)), []);
    assert_eq!(leader.take(CoordinatorEvent::Deposed), []);
    leader.refuses(go(Task::Run), Refusal::NotLeading);
}

#[test]
fn a_term_that_is_not_newer_is_refused() {
    let leader = Leader::informed(&[A], 1, 1);
    for term in [0, 4, 5] {
        leader.refuses(CoordinatorEvent::Elected(Term(term)), Refusal::OldTerm(Term(term)));
    }
}

#[test]
fn an_answer_to_another_term_is_refused() {
    let leader = Leader::informed(&[A], 1, 1);
    for term in [Term(0), Term(4), Term(6)] {
        let other = Fence { term, number: 0 };
        let stamp = stamp(1, 9);
        let seen = View { fence: other, stamp, segments: Vec::new() };
        leader.refuses(from(A, FromServer::View(seen)), Refusal::OtherTerm(term));
        let asked = Request { ticket: other, ..request(Action::Drop, 1, 1) };
        let reply = answer(asked, Answer::Done, false, stamp);
        leader.refuses(from(A, reply), Refusal::OtherTerm(term));
    }
}

#[test]
fn a_server_that_is_not_shown_is_refused() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(CoordinatorEvent::Disappeared(B)), []);
    for server in [B, C, ServerId(u16::MAX)] {
        let refusal = Refusal::UnknownServer(server);
        leader.refuses(CoordinatorEvent::Disappeared(server), refusal);
        leader.refuses(go(Task::Poll(server)), refusal);
        leader.refuses(from(server, view(1, 0, &[SEGMENT])), refusal);
        let reply = answer(request(Action::Load, 1, 1), Answer::Done, true, stamp(1, 1));
        leader.refuses(from(server, reply), refusal);
    }
}

#[test]
fn what_is_older_than_what_is_known_is_refused() {
    let mut leader = Leader::elected(&[A], 1);
    assert_eq!(leader.take(from(A, view(2, 3, &[SEGMENT]))), []);
    leader.refuses(from(A, view(2, 2, &[])), Refusal::Stale(A));
    // What an earlier life said changes nothing, and the guard says so.
    let reply = answer(request(Action::Drop, 1, 1), Answer::Done, false, stamp(1, 9));
    for old in [from(A, view(1, 9, &[])), from(A, view(0, 0, &[])), from(A, reply)] {
        let step = leader.role.step(&leader.state, old).expect("it is heard");
        assert_eq!((step.state, step.effects), (leader.state.clone(), Vec::new()));
        assert_eq!(step.decided_by, [Guard::LifeOrders]);
    }
    // An older answer of this life settles what it answers, and teaches nothing.
    let reply = answer(request(Action::Drop, 1, 1), Answer::Done, false, stamp(2, 2));
    assert_eq!(leader.take(from(A, reply)), []);
    assert!(leader.copy(A).has);
}

#[test]
fn a_task_with_nothing_to_go_on_with_is_refused() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    for task in [
        Task::Callback(0),
        Task::Callback(u8::MAX),
        Task::Send(A),
        Task::Send(C),
        Task::Overdue(A, SEGMENT),
        Task::Overdue(C, SegmentId(u32::MAX)),
        Task::Unconfirmed(A, SEGMENT),
    ] {
        leader.refuses(go(task), Refusal::NotReady(task));
    }
    // What was not sent is not overdue.
    assert_eq!(leader.take(propose(A, B)), []);
    let task = Task::Overdue(B, SEGMENT);
    leader.refuses(go(task), Refusal::NotReady(task));
}

#[test]
fn an_outcome_of_another_life_is_refused() {
    let mut server = Server::started(A, 2, &[]);
    let fetch = HistoricalEffect::Fetch(SEGMENT);
    assert_eq!(server.receive(ToServer::Request(request(Action::Load, 1, 2))), [(1, fetch)]);
    for incarnation in [0, 1, 3] {
        let id = EffectId { incarnation, number: 1 };
        let event = HistoricalEvent::Outcome { id, outcome: Outcome::Done };
        server.refuses(event, Refusal::OtherIncarnation { id, current: 2 });
    }
}

#[test]
fn an_outcome_of_nothing_is_refused() {
    let mut server = Server::started(A, 2, &[]);
    let fetch = HistoricalEffect::Fetch(SEGMENT);
    assert_eq!(server.receive(ToServer::Request(request(Action::Load, 1, 2))), [(1, fetch)]);
    for number in [0, 2, u16::MAX] {
        let id = EffectId { incarnation: 2, number };
        let event = HistoricalEvent::Outcome { id, outcome: Outcome::Done };
        server.refuses(event, Refusal::NotOutstanding(id));
    }
    // It has one outcome, and no second.
    assert_eq!(server.end(1, Outcome::Failed).len(), 1);
    let id = EffectId { incarnation: 2, number: 1 };
    let event = HistoricalEvent::Outcome { id, outcome: Outcome::Failed };
    server.refuses(event, Refusal::NotOutstanding(id));
}

#[test]
fn an_outcome_that_does_not_fit_is_refused() {
    let id = EffectId { incarnation: 2, number: 1 };
    let mut server = Server::started(A, 2, &[]);
    server.receive(ToServer::Request(request(Action::Load, 1, 2)));
    let event = HistoricalEvent::Outcome { id, outcome: Outcome::Elapsed };
    server.refuses(event, Refusal::UnfitOutcome(id));

    let mut server = Server::started(A, 2, &[SEGMENT]);
    server.receive(ToServer::Request(request(Action::Drop, 1, 2)));
    for outcome in [Outcome::Done, Outcome::Failed, Outcome::Unknown] {
        let event = HistoricalEvent::Outcome { id, outcome };
        server.refuses(event, Refusal::UnfitOutcome(id));
    }
}

#[test]
fn refusals_speak_to_people() {
    let id = EffectId { incarnation: 2, number: 1 };
    for (refusal, says) in [
        (Refusal::NotLeading, "this coordinator does not lead"),
        (Refusal::OldTerm(Term(4)), "term 4 is not newer"),
        (Refusal::OtherTerm(Term(4)), "the message answers term 4"),
        (Refusal::UnknownServer(A), "there is no server 1"),
        (Refusal::Stale(A), "what it tells of server 1 is old"),
        (Refusal::NotReady(Task::Run), "task Run has nothing to go on with"),
        (
            Refusal::OtherIncarnation { id, current: 3 },
            "effect 1 is of incarnation 2, this is incarnation 3",
        ),
        (Refusal::NotOutstanding(id), "effect 1 is not outstanding"),
        (Refusal::UnfitOutcome(id), "effect 1 cannot end in this outcome"),
    ] {
        assert_eq!(refusal.to_string(), says);
    }
}

/// Marsaglia's xorshift64, and nonsense made from it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Mostly small; now and then the largest there is.
    fn number(&mut self, most: u64) -> u64 {
        if self.below(24) == 0 { most } else { self.below(4) }
    }

    fn server(&mut self) -> ServerId {
        ServerId(self.number(u64::from(u16::MAX)) as u16)
    }

    fn segment(&mut self) -> SegmentId {
        SegmentId(self.number(u64::from(u32::MAX)) as u32)
    }

    fn tier(&mut self) -> TierId {
        TierId(self.below(2) as u8)
    }

    fn fence(&mut self) -> Fence {
        let term = Term(self.number(u64::MAX));
        Fence { term, number: self.number(u64::from(u32::MAX)) as u32 }
    }

    fn stamp(&mut self) -> Stamp {
        let incarnation = Incarnation(self.number(u64::from(u32::MAX)) as u32);
        Stamp { incarnation, version: self.number(u64::from(u32::MAX)) as u32 }
    }

    fn action(&mut self) -> Action {
        if self.below(2) == 0 { Action::Drop } else { Action::Load }
    }

    fn effect_id(&mut self) -> EffectId {
        let incarnation = self.number(u64::from(u32::MAX)) as u32;
        EffectId { incarnation, number: self.number(u64::from(u16::MAX)) as u16 }
    }

    fn info(&mut self) -> ServerInfo {
        ServerInfo {
            tier: self.tier(),
            capacity_bytes: self.number(u64::MAX),
            decommissioning: self.below(4) == 0,
            managed: self.below(4) != 0,
        }
    }

    fn rule(&mut self) -> Rule {
        let count = self.below(4);
        let most = u64::from(u16::MAX);
        let required = (0..count).map(|_| (self.tier(), self.number(most) as u16)).collect();
        Rule { size_bytes: self.number(u64::MAX), required }
    }

    fn message(&mut self) -> FromServer {
        match self.below(8) {
            0 => FromServer::Outdated(self.fence()),
            1..4 => {
                let count = self.below(4);
                let segments = (0..count).map(|_| self.segment()).collect();
                FromServer::View(View { fence: self.fence(), stamp: self.stamp(), segments })
            }
            _ => {
                let answer = match self.below(5) {
                    0 => Answer::Done,
                    1 => Answer::Failed,
                    2 => Answer::RefusedNumber,
                    3 => Answer::RefusedIncarnation,
                    _ => Answer::RefusedTerm(self.fence()),
                };
                FromServer::Reply(Reply {
                    ticket: self.fence(),
                    action: self.action(),
                    segment: self.segment(),
                    answer,
                    has: self.below(2) == 0,
                    stamp: self.stamp(),
                })
            }
        }
    }

    fn task(&mut self) -> Task {
        match self.below(8) {
            0..3 => Task::Run,
            3 => Task::Callback(self.number(u64::from(u8::MAX)) as u8),
            4 => Task::Send(self.server()),
            5 => Task::Poll(self.server()),
            6 => Task::Overdue(self.server(), self.segment()),
            _ => Task::Unconfirmed(self.server(), self.segment()),
        }
    }

    fn coordinator_event(&mut self) -> CoordinatorEvent {
        match self.below(16) {
            0 => CoordinatorEvent::Elected(Term(self.number(u64::MAX))),
            1 => CoordinatorEvent::Deposed,
            2 => CoordinatorEvent::Disappeared(self.server()),
            3 | 4 => CoordinatorEvent::Appeared(self.server(), self.info()),
            5 | 6 => CoordinatorEvent::Require(self.segment(), self.rule()),
            7..11 => {
                let (segment, from, to) = (self.segment(), self.server(), self.server());
                let proposed = (self.below(2) == 0).then_some(Move { segment, from, to });
                let input = Input { pick: self.next() as u32, proposed };
                CoordinatorEvent::Continue { task: self.task(), input }
            }
            _ => {
                let (server, message) = (self.server(), self.message());
                CoordinatorEvent::Received(Addressed { server, message })
            }
        }
    }

    fn historical_event(&mut self) -> HistoricalEvent {
        match self.below(4) {
            0 => HistoricalEvent::Received(ToServer::Poll(self.fence())),
            1 => {
                let outcome = match self.below(4) {
                    0 => Outcome::Done,
                    1 => Outcome::Failed,
                    2 => Outcome::Unknown,
                    _ => Outcome::Elapsed,
                };
                HistoricalEvent::Outcome { id: self.effect_id(), outcome }
            }
            _ => {
                let request = Request {
                    ticket: self.fence(),
                    incarnation: Incarnation(self.number(u64::from(u32::MAX)) as u32),
                    action: self.action(),
                    segment: self.segment(),
                };
                HistoricalEvent::Received(ToServer::Request(request))
            }
        }
    }
}

const LIVES: u64 = 200;
const EVENTS_A_LIFE: usize = 200;

/// Any events, in any order: none panics, and the same twice gives the same.
fn live<M>(
    role: &M,
    durable: &M::Durable,
    random: &mut Random,
    event: impl Fn(&mut Random) -> M::Event,
    judge: impl Fn(&M::State),
) where
    M: Machine,
    M::Effect: PartialEq,
{
    let mut taken = 0;
    for _ in 0..LIVES {
        let mut state = role.recover(durable.clone());
        for _ in 0..EVENTS_A_LIFE {
            let event = event(random);
            let step = role.step(&state, event.clone());
            assert_eq!(step, role.step(&state, event));
            let Ok(step) = step else { continue };
            state = step.state;
            judge(&state);
            taken += 1;
        }
    }
    // If everything were refused, this would show nothing.
    assert!(taken > LIVES * 20, "{taken}");
}

const LEADER: coordinator::Durable = coordinator::Durable { leader: LeaderId(0), incarnation: 0 };

fn node() -> historical::Durable {
    let served = [SegmentId(0), SegmentId(2)].into_iter().collect();
    let left_over = [SegmentId(1)].into_iter().collect();
    historical::Durable { server: A, incarnation: Incarnation(0), term: Term(0), served, left_over }
}

#[test]
fn no_event_panics_a_coordinator() {
    let role = Coordinator::new(coordinator::Limits { batch_size: 0 });
    let judge = |state: &coordinator::State| assert_eq!(state.index_fault(), None, "{state:?}");
    live(&role, &LEADER, &mut Random(0x5eed_0001), Random::coordinator_event, judge);
}

#[test]
fn no_event_panics_a_historical() {
    let role = Historical::new(historical::Limits::default());
    live(&role, &node(), &mut Random(0x5eed_0002), Random::historical_event, |_| ());
}

#[cfg(feature = "weaken")]
#[test]
fn no_event_panics_an_upstream_coordinator() {
    use surehold::rebalance::upstream::{self, Fix};
    for fix in Fix::ALL {
        let role = upstream::Coordinator::new(fix);
        live(&role, &LEADER, &mut Random(0x5eed_0003), Random::coordinator_event, |_| ());
    }
}

#[cfg(feature = "weaken")]
#[test]
fn no_event_panics_an_upstream_historical() {
    let role = surehold::rebalance::upstream::Historical::new(historical::Limits::default());
    live(&role, &node(), &mut Random(0x5eed_0004), Random::historical_event, |_| ());
}

#[test]
fn a_load_that_a_drop_has_ended_leaves_nothing_to_be_taken_for_another() {
    let mut server = Server::started(B, 1, &[]);
    let load = ToServer::Request(request(Action::Load, 1, 1));
    assert_eq!(server.receive(load), [(1, HistoricalEffect::Fetch(SEGMENT))]);
    server.receive(ToServer::Request(request(Action::Drop, 2, 1)));
    // The fetch is still under way: the next load has to wait for its end, and for its files to go.
    assert_eq!(server.receive(ToServer::Request(request(Action::Load, 3, 1))), []);
    assert_eq!(server.end(1, Outcome::Done), [(1, HistoricalEffect::Delete(SEGMENT))]);
    assert!(!server.state.announces(SEGMENT));
    assert_eq!(server.end(1, Outcome::Done), [(1, HistoricalEffect::Fetch(SEGMENT))]);
    let done = answer(request(Action::Load, 3, 1), Answer::Done, true, stamp(1, 1));
    assert_eq!(server.end(1, Outcome::Done), [(0, HistoricalEffect::Send(done))]);
    assert!(server.state.announces(SEGMENT));
}

#[test]
fn no_term_is_led_in_twice() {
    let mut leader = Leader::elected(&[A], 1);
    assert_eq!(leader.take(CoordinatorEvent::Deposed), []);
    for old in [FENCE.term, Term(1)] {
        leader.refuses(CoordinatorEvent::Elected(old), Refusal::OldTerm(old));
    }
    assert_eq!(leader.take(CoordinatorEvent::Elected(Term(FENCE.term.0 + 1))), []);
}

fn to_be_emptied() -> CoordinatorEvent {
    CoordinatorEvent::Appeared(A, ServerInfo { decommissioning: true, ..info() })
}

#[test]
fn a_server_to_be_emptied_is_emptied() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(to_be_emptied()), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    let operation = Operation { kind: Kind::MoveTo, phase: Phase::Queued, from: Some(A) };
    let arriving = Copy { has: false, stamp: stamp(1, 0), operation: Some(operation) };
    assert_eq!(leader.copy(B), arriving);
    assert_eq!(leader.copy(A).class(), Class::Serving);
    // One move is enough.
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(B), arriving);

    let load = request(Action::Load, 1, 1);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    assert_eq!(leader.take(from(B, answer(load, Answer::Done, true, stamp(1, 1)))), []);
    assert_eq!(leader.copy(A).class(), Class::Leaving);
}

#[test]
fn where_there_is_no_room_a_server_to_be_emptied_keeps_its_copy() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(to_be_emptied()), []);
    let full = ServerInfo { capacity_bytes: 9, ..info() };
    assert_eq!(leader.take(CoordinatorEvent::Appeared(B, full)), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!([A, B].map(|at| leader.copy(at).operation), [None, None]);
    assert!(leader.state.has_due(), "there may be room later");
    assert_eq!(leader.take(CoordinatorEvent::Appeared(B, info())), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.copy(B).class(), Class::Arriving);
}

#[test]
fn a_load_that_was_not_sent_to_a_server_to_be_emptied_is_taken_back() {
    for sent in [false, true] {
        let mut leader = Leader::informed(&[A, B], 0, 1);
        assert_eq!(leader.take(go(Task::Run)), []);
        assert_eq!(leader.copy(A).class(), Class::Arriving);
        if sent {
            leader.take(go(Task::Send(A)));
        }
        assert_eq!(leader.take(to_be_emptied()), []);
        assert_eq!(leader.take(go(Task::Run)), []);
        let classes = [A, B].map(|at| leader.copy(at).class());
        let expected = match sent {
            false => [Class::Absent, Class::Arriving],
            true => [Class::Arriving, Class::Absent],
        };
        assert_eq!(classes, expected);
    }
}

#[test]
fn a_view_ahead_of_the_answer_makes_no_surplus() {
    let mut leader = Leader::informed(&[A, B, C], 2, 2);
    assert_eq!(leader.take(propose(A, C)), []);
    let load = request(Action::Load, 1, 1);
    assert_eq!(leader.take(go(Task::Send(C))), [(C, ToServer::Request(load))]);
    assert_eq!(leader.take(from(C, view(1, 1, &[SEGMENT]))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!([A, B, C].map(|at| leader.copy(at).class()), [Class::Serving; 3]);
    assert_eq!(leader.take(from(C, answer(load, Answer::Done, true, stamp(1, 1)))), []);
    let classes = [A, B, C].map(|at| leader.copy(at).class());
    assert_eq!(classes, [Class::Leaving, Class::Serving, Class::Serving]);
}

/// The answer to the load was lost, and the request that was sent again is refused.
#[test]
fn a_refusal_that_shows_the_copy_ends_the_move() {
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(propose(A, B)), []);
    let load = request(Action::Load, 1, 1);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    let refused = answer(load, Answer::RefusedNumber, true, stamp(1, 1));
    assert_eq!(leader.take(from(B, refused)), []);
    assert_eq!(leader.copy(B), Copy { has: true, stamp: stamp(1, 1), operation: None });
    assert_eq!(leader.copy(A).class(), Class::Leaving);

    // One that does not show it ends only the operation.
    let mut leader = Leader::informed(&[A, B], 1, 1);
    assert_eq!(leader.take(propose(A, B)), []);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(load))]);
    let refused = answer(load, Answer::RefusedNumber, false, stamp(1, 0));
    assert_eq!(leader.take(from(B, refused)), []);
    assert_eq!([A, B].map(|at| leader.copy(at).class()), [Class::Serving, Class::Absent]);
}

#[test]
fn what_is_late_takes_no_place_from_others() {
    let mut leader = Leader::informed(&[A], 0, 1);
    leader.role = Coordinator::new(coordinator::Limits { batch_size: 1 });
    let newer = SegmentId(8);
    assert_eq!(leader.take(CoordinatorEvent::Require(newer, rule(1))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    let first = Request { segment: newer, ..request(Action::Load, 1, 1) };
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(first))]);
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(first))]);
    assert_eq!(leader.take(go(Task::Overdue(A, newer))), []);
    let second = request(Action::Load, 2, 1);
    let both = [(A, ToServer::Request(second)), (A, ToServer::Request(first))];
    assert_eq!(leader.take(go(Task::Send(A))), both);
    assert_eq!(leader.take(go(Task::Send(A))), both);
}

#[test]
fn copies_that_turn_up_go_when_nothing_is_required() {
    let mut leader = Leader::informed(&[A, B], 2, 2);
    assert_eq!(leader.take(CoordinatorEvent::Disappeared(B)), []);
    assert_eq!(leader.take(CoordinatorEvent::Require(SEGMENT, rule(0))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    let drop = request(Action::Drop, 1, 1);
    assert_eq!(leader.take(go(Task::Send(A))), [(A, ToServer::Request(drop))]);
    assert_eq!(leader.take(from(A, answer(drop, Answer::Done, false, stamp(1, 1)))), []);
    assert_eq!(leader.take(from(A, view(1, 1, &[]))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    // B was lost from sight with a copy, which has to go when it comes back.
    assert!(!leader.state.has_due());

    assert_eq!(leader.take(CoordinatorEvent::Appeared(B, info())), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.take(from(B, view(1, 0, &[SEGMENT]))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert_eq!(leader.take(go(Task::Send(B))), [(B, ToServer::Request(drop))]);
    assert_eq!(leader.take(from(B, answer(drop, Answer::Done, false, stamp(1, 1)))), []);
    assert_eq!(leader.take(from(B, view(1, 1, &[]))), []);
    assert_eq!(leader.take(go(Task::Run)), []);
    assert!(!leader.state.has_due());
    let left = leader.state.segment(SEGMENT).expect("a rule stays");
    assert_eq!((&left.rule, left.copies.len()), (&Some(rule(0)), 0));
}

#[test]
fn what_servers_say_of_unknown_segments_does_not_pile_up() {
    let mut leader = Leader::informed(&[A], 1, 1);
    let other = SegmentId(99);
    let known = leader.state.segments().count();
    let of_other = Request { segment: other, ..request(Action::Load, 9, 1) };
    assert_eq!(leader.take(from(A, answer(of_other, Answer::Failed, false, stamp(1, 0)))), []);
    assert_eq!(leader.state.segments().count(), known);
    // What is newer than the last view is kept until the next one.
    assert_eq!(leader.take(from(A, answer(of_other, Answer::Failed, false, stamp(1, 1)))), []);
    assert_eq!(leader.state.segments().count(), known + 1);
    assert_eq!(leader.take(from(A, view(1, 1, &[SEGMENT]))), []);
    assert_eq!(leader.state.segments().count(), known);
    assert_eq!(leader.take(from(A, view(1, 2, &[SEGMENT, other]))), []);
    assert_eq!(leader.state.segments().count(), known + 1);
    assert_eq!(leader.take(from(A, view(1, 3, &[SEGMENT]))), []);
    assert_eq!(leader.state.segments().count(), known);
    assert_eq!(leader.take(from(A, view(1, 4, &[SEGMENT, other]))), []);
    assert_eq!(leader.take(CoordinatorEvent::Disappeared(A)), []);
    assert_eq!(leader.state.segments().count(), known);
}

#[test]
fn files_that_an_earlier_life_left_are_deleted_before_they_are_fetched() {
    let mut server = Server::recovered(historical::Durable {
        server: A,
        incarnation: Incarnation(2),
        term: Term(0),
        served: Set::new(),
        left_over: [SEGMENT].into_iter().collect(),
    });
    let seen = FromServer::View(View { fence: FENCE, stamp: stamp(2, 0), segments: vec![] });
    let effects = [(1, HistoricalEffect::Delete(SEGMENT)), (0, HistoricalEffect::Send(seen))];
    assert_eq!(server.receive(ToServer::Poll(FENCE)), effects);
    // A load waits for the deletion, and fails with it.
    let load = request(Action::Load, 1, 2);
    assert_eq!(server.receive(ToServer::Request(load)), []);
    let failed = answer(load, Answer::Failed, false, stamp(2, 0));
    assert_eq!(server.end(1, Outcome::Unknown), [(0, HistoricalEffect::Send(failed))]);
    // It is tried again with the next message.
    let load = request(Action::Load, 2, 2);
    let delete = [(1, HistoricalEffect::Delete(SEGMENT))];
    assert_eq!(server.receive(ToServer::Request(load)), delete);
    assert_eq!(server.end(1, Outcome::Done), [(1, HistoricalEffect::Fetch(SEGMENT))]);
    let done = answer(load, Answer::Done, true, stamp(2, 1));
    assert_eq!(server.end(1, Outcome::Done), [(0, HistoricalEffect::Send(done))]);
}

#[test]
fn what_a_fetch_may_have_left_is_deleted() {
    let mut server = Server::started(A, 2, &[]);
    let load = request(Action::Load, 1, 2);
    let fetch = [(1, HistoricalEffect::Fetch(SEGMENT))];
    assert_eq!(server.receive(ToServer::Request(load)), fetch);
    let failed = answer(load, Answer::Failed, false, stamp(2, 0));
    let effects = [(0, HistoricalEffect::Send(failed)), (1, HistoricalEffect::Delete(SEGMENT))];
    assert_eq!(server.end(1, Outcome::Unknown), effects);
    let load = request(Action::Load, 2, 2);
    assert_eq!(server.receive(ToServer::Request(load)), []);
    assert_eq!(server.end(1, Outcome::Done), fetch);
}

#[cfg(feature = "weaken")]
mod upstream {
    use surehold::rebalance::upstream::{self, Fix};

    use super::*;

    /// Leads, with a view of each server and a queue for it.
    struct Druid {
        role: upstream::Coordinator,
        state: upstream::State,
    }

    impl Druid {
        fn informed(servers: &[(ServerId, &[SegmentId])], required: u16, capacity: u64) -> Self {
            let role = upstream::Coordinator::new(Fix::Retain);
            let state = role.recover(LEADER);
            let mut druid = Self { role, state };
            druid.take(CoordinatorEvent::Elected(Term(1)));
            for (at, segments) in servers {
                let info = ServerInfo { capacity_bytes: capacity, ..info() };
                druid.take(CoordinatorEvent::Appeared(*at, info));
                druid.take(from(*at, view(0, 0, segments)));
            }
            druid.take(CoordinatorEvent::Require(SEGMENT, rule(required)));
            druid
        }

        fn take(&mut self, event: CoordinatorEvent) {
            let step = self.role.step(&self.state, event);
            self.state = step.expect("it is taken").state;
        }

        /// A run from its first phase to its last.
        fn run(&mut self) {
            for _ in 0..3 {
                self.take(go(Task::Run));
            }
        }

        fn queued(&self, server: ServerId) -> Vec<(SegmentId, upstream::Act)> {
            let entries = self.state.peon(server).expect("it has a queue").entries();
            entries.into_iter().map(|(id, entry)| (id, entry.act)).collect()
        }
    }

    #[test]
    fn loads_that_were_not_sent_to_a_server_to_be_emptied_are_cancelled() {
        for sent in [false, true] {
            let mut druid = Druid::informed(&[(A, &[]), (B, &[])], 1, 100);
            druid.run();
            assert_eq!(druid.queued(A), [(SEGMENT, upstream::Act::Load)]);
            if sent {
                druid.take(go(Task::Send(A)));
            }
            druid.take(to_be_emptied());
            druid.run();
            let queued = [A, B].map(|at| druid.queued(at));
            let load = vec![(SEGMENT, upstream::Act::Load)];
            let expected = if sent { [load, vec![]] } else { [vec![], load] };
            assert_eq!(queued, expected);
        }
    }

    #[test]
    fn a_queued_drop_frees_its_bytes() {
        let other = SegmentId(8);
        let mut druid = Druid::informed(&[(A, &[other])], 1, 10);
        druid.take(CoordinatorEvent::Require(other, rule(1)));
        druid.run();
        assert_eq!(druid.queued(A), []);
        // Of the newer one nothing is required any more, and it is decided on first.
        druid.take(CoordinatorEvent::Require(other, rule(0)));
        druid.run();
        let both = [(other, upstream::Act::Drop), (SEGMENT, upstream::Act::Load)];
        assert_eq!(druid.queued(A), both);
    }
}
