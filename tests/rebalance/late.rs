//! What comes late, turns up or was left over: it is not taken for something else.

use super::*;

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
