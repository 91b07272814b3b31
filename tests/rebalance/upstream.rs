//! Upstream's coordinator, where its tests above have no like.

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
