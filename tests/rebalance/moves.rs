//! A move from start to end, and what becomes of one that ends otherwise.

use super::*;

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
