//! What a role refuses, and what it says then.

use super::*;

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

#[test]
fn no_term_is_led_in_twice() {
    let mut leader = Leader::elected(&[A], 1);
    assert_eq!(leader.take(CoordinatorEvent::Deposed), []);
    for old in [FENCE.term, Term(1)] {
        leader.refuses(CoordinatorEvent::Elected(old), Refusal::OldTerm(old));
    }
    assert_eq!(leader.take(CoordinatorEvent::Elected(Term(FENCE.term.0 + 1))), []);
}
