//! Permits of the build semaphore: shared by commits and reingestion, and given back however a build ends (C6, #15097).

use surehold::commit::completion::{Answer, Mode};
use surehold::commit::event::ServerOutcome as Outcome;
use surehold::commit::invariant::has_permits_of_builds;
use surehold::commit::message::{Caller, Order, Tell};
use surehold::commit::object::{
    ControllerId, Crc, PartitionId, Record, ReplicaState, SegmentId, ServerId, Status,
};
use surehold::commit::server::{self, Server};
use surehold::commit::upstream::Release;
use surehold::commit::{Guard, ServerEffect as Effect, ServerEvent as Event};
use surehold::guard::Guards;
use surehold::{EffectId, Machine};

const ONE: server::Limits = server::Limits { max_builds: 1, max_jobs: 4, consumption: None };

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: PartitionId(0), sequence, minute: 0 }
}

fn open() -> Record {
    Record::starting_at(0, 1, 1)
}

fn committing() -> Record {
    Record { status: Status::Committing, end: Some(1), ..open() }
}

/// A server with one permit, and what it asked for last.
struct Replica<V: Guards<Guard>> {
    role: Server<V>,
    state: server::State,
    asked: EffectId,
}

impl<V: Guards<Guard>> Replica<V> {
    fn started(role: Server<V>) -> Self {
        let disk = surehold::collections::Table::new();
        let durable =
            server::Durable { server: ServerId(0), incarnation: 0, mode: Mode::Pauseless, disk };
        let state = role.recover(durable);
        Self { role, state, asked: EffectId { incarnation: 0, number: 0 } }
    }

    fn take(&mut self, event: Event) -> Vec<Effect> {
        let step = self.role.step(&self.state, event).expect("it is taken");
        self.state = step.state;
        let asked = step.effects.iter().rfind(|issued| issued.id.number > 0);
        self.asked = asked.map_or(self.asked, |issued| issued.id);
        step.effects.into_iter().map(|issued| issued.effect).collect()
    }

    fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.take(Event::Outcome { id: self.asked, outcome })
    }

    /// Segment 0 is in error, and is read again: its build runs.
    fn rebuilds(role: Server<V>) -> Self {
        let mut replica = Self::started(role);
        replica.take(Event::Transition(segment(0), ReplicaState::Online));
        replica.end(Outcome::Record(None));
        let (process, id) = (ControllerId(0), EffectId { incarnation: 1, number: 1 });
        let order = Order { server: ServerId(0), segment: segment(0), body: Tell::Reingest };
        replica.take(Event::Received { caller: Caller { process, id }, order, attempt: 9 });
        replica.end(Outcome::Record(Some(committing())));
        let asks = replica.end(Outcome::Row(0));
        assert!(matches!(asks[..], [Effect::Build(..)]), "{asks:?}");
        assert_eq!((replica.state.permits(), replica.state.builds()), (1, 1));
        replica
    }

    /// Segment 1 is consumed, and it is to be committed: what is asked for when its build is due.
    fn commits(&mut self) -> Vec<Effect> {
        self.take(Event::Transition(segment(1), ReplicaState::Consuming));
        self.end(Outcome::Record(Some(open())));
        self.end(Outcome::Row(0));
        let answer = Answer::Commit { offset: 1, build_s: 1 };
        self.end(Outcome::Answered(answer));
        self.end(Outcome::Answered(Answer::CommitContinue))
    }
}

fn endings() -> [Outcome; 3] {
    [Outcome::Built { crc: Crc(4), attempt: 7 }, Outcome::Failed, Outcome::Unknown]
}

/// However the job's build ends, a commit builds after it.
#[test]
fn a_permit_comes_back_from_a_reingestion() {
    for ending in endings() {
        let mut replica = Replica::rebuilds(Server::new(ONE));
        replica.end(ending);
        assert_eq!((replica.state.permits(), replica.state.builds()), (0, 0));
        let asks = replica.commits();
        assert!(matches!(asks[..], [Effect::Build(..)]), "{asks:?}");
        assert!(has_permits_of_builds(&replica.state));
    }
}

#[test]
fn a_reingestion_of_14920_keeps_its_permit() {
    for ending in endings() {
        let mut replica = Replica::rebuilds(Release::Pr14920.server_within(ONE));
        replica.end(ending.clone());
        assert_eq!((replica.state.permits(), replica.state.builds()), (1, 0));
        assert!(!has_permits_of_builds(&replica.state));
        assert_eq!(replica.commits(), []);
        let mut replica = Replica::rebuilds(Release::Aug2026.server_within(ONE));
        replica.end(ending);
        assert!(matches!(replica.commits()[..], [Effect::Build(..)]));
    }
}

/// A crash takes what is kept.
#[test]
fn a_server_that_starts_again_has_all_its_permits() {
    let mut replica = Replica::rebuilds(Release::Pr14920.server_within(ONE));
    replica.end(Outcome::Failed);
    replica.state = replica.role.recover(replica.state.durable().clone());
    assert_eq!(replica.state.permits(), 0);
}

/// A build that is broken off by a transition runs no more, and its permit is free.
#[test]
fn a_build_that_is_broken_off_gives_its_permit_back() {
    for to in [ReplicaState::Offline, ReplicaState::Dropped] {
        let mut replica = Replica::started(Server::new(ONE));
        replica.take(Event::Transition(segment(1), ReplicaState::Consuming));
        replica.end(Outcome::Record(Some(open())));
        replica.end(Outcome::Row(0));
        replica.end(Outcome::Answered(Answer::Keep(1)));
        assert_eq!((replica.state.permits(), replica.state.builds()), (1, 1));
        replica.take(Event::Transition(segment(1), to));
        assert_eq!((replica.state.permits(), replica.state.builds()), (0, 0), "{to:?}");
    }
}
