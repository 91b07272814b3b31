//! Servers that are to be emptied.

use super::*;

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
