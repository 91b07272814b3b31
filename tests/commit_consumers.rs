//! Permits to consume: one for each partition on a server (dossier 5 and 8, #14974).

use surehold::commit::completion::{Answer, Kind, Mode, Reason};
use surehold::commit::effect::Source;
use surehold::commit::event::ServerOutcome as Outcome;
use surehold::commit::invariant::second_consumer;
use surehold::commit::message::{Ask, Request};
use surehold::commit::object::{
    Crc, Location, ObjectId, PartitionId, Range, Record, ReplicaState, Rows, SegmentId, ServerId,
    Status,
};
use surehold::commit::server::ParallelSegmentConsumptionPolicy as Policy;
use surehold::commit::server::permit::Holder;
use surehold::commit::server::state::{Purpose, Replica, Work};
use surehold::commit::server::{self, Server};
use surehold::commit::upstream::Release;
use surehold::commit::{Guard, ServerEffect as Effect, ServerEvent as Event};
use surehold::guard::Guards;
use surehold::{EffectId, Machine};

const P: PartitionId = PartitionId(0);

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: P, sequence, minute: 0 }
}

fn limits(policy: Policy) -> server::Limits {
    server::Limits { consumption: Some(policy), ..server::Limits::default() }
}

/// Of two rows, from here.
fn open(start: u64) -> Record {
    Record::starting_at(start, 1, 2)
}

fn committing(start: u64) -> Record {
    Record { status: Status::Committing, end: Some(start + 2), ..open(start) }
}

fn object(sequence: u32) -> ObjectId {
    ObjectId { segment: segment(sequence), attempt: Some(5) }
}

fn done(sequence: u32) -> Record {
    let start = u64::from(sequence) * 2;
    open(start).done(start + 2, Crc(5), Location::Object(object(sequence)))
}

/// A server, and what it asked for last.
struct Host<V: Guards<Guard>> {
    role: Server<V>,
    state: server::State,
    asked: EffectId,
}

impl<V: Guards<Guard>> Host<V> {
    fn started(role: Server<V>, mode: Mode) -> Self {
        let disk = surehold::collections::Table::new();
        let durable = server::Durable { server: ServerId(0), incarnation: 0, mode, disk };
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

    fn moves(&mut self, sequence: u32, to: ReplicaState, record: Option<Record>) -> Vec<Effect> {
        let asks = self.take(Event::Transition(segment(sequence), to));
        assert_eq!(asks, [Effect::ReadRecord(segment(sequence))]);
        self.end(Outcome::Record(record))
    }

    fn replica(&self, sequence: u32) -> &Replica {
        self.state.replica(segment(sequence)).expect("there is one")
    }

    fn holder(&self) -> Option<Holder> {
        self.state.consumer(P)
    }

    /// Segment 0 is consumed.
    fn consuming(role: Server<V>, mode: Mode) -> Self {
        let mut host = Self::started(role, mode);
        let asks = host.moves(0, ReplicaState::Consuming, Some(open(0)));
        let shows = Effect::Show(segment(0), ReplicaState::Consuming);
        assert_eq!(asks, [shows, Effect::Fetch(segment(0), 0)]);
        host
    }

    /// So, and segment 1 waits for its turn. What was asked for last is for segment 0.
    fn contended(role: Server<V>, mode: Mode) -> Self {
        let mut host = Self::consuming(role, mode);
        let asked = host.asked;
        let asks = host.moves(1, ReplicaState::Consuming, Some(open(2)));
        assert_eq!(asks, [Effect::PollRecord(segment(1))]);
        assert_eq!(host.replica(1), &waiting(mode));
        assert_eq!(host.holder(), Some(Holder::Replica(segment(0))));
        host.asked = asked;
        host
    }
}

/// Segment 1 on its way to be consumed.
fn waiting(mode: Mode) -> Replica {
    Replica {
        shows: ReplicaState::Offline,
        memory: Some(Rows::from(2)),
        mode,
        row_limit: 2,
        work: Work::Acquiring,
    }
}

fn begun() -> [Effect; 2] {
    [Effect::Show(segment(1), ReplicaState::Consuming), Effect::Fetch(segment(1), 2)]
}

fn consumed(end: u64, reason: Option<Reason>) -> Effect {
    let body = Ask::Say(end, Kind::Consumed(reason));
    Effect::Call(Request { segment: segment(0), body })
}

#[test]
fn policies_are_upstreams() {
    let told = Policy::ALL.map(|policy| {
        (policy.name(), policy.is_allowed_during_build(), policy.is_allowed_during_download())
    });
    let expected = [
        ("ALLOW_ALWAYS", true, true),
        ("ALLOW_DURING_BUILD_ONLY", true, false),
        ("ALLOW_DURING_DOWNLOAD_ONLY", false, true),
        ("DISALLOW_ALWAYS", false, false),
    ];
    assert_eq!(told, expected);
    let kinds = [Mode::Pauseless, Mode::Blocking]
        .map(|mode| [false, true].map(|is_ordered| Policy::of_table(mode, is_ordered)));
    let expected = [
        [Policy::AllowAlways, Policy::AllowDuringBuildOnly],
        [Policy::AllowAlways, Policy::DisallowAlways],
    ];
    assert_eq!(kinds, expected);
}

/// It reads its record until it need not consume; a segment that is committing it does, as nobody has stored it.
#[test]
fn a_replica_that_waits_reads_its_record_again() {
    let waits: [Outcome; 4] = [
        Outcome::Record(Some(open(2))),
        Outcome::Record(Some(committing(2))),
        Outcome::Failed,
        Outcome::Unknown,
    ];
    for mode in [Mode::Pauseless, Mode::Blocking] {
        let mut host = Host::contended(Server::new(limits(Policy::AllowAlways)), mode);
        host.asked.number = 2;
        for outcome in waits.clone() {
            assert_eq!(host.end(outcome), [Effect::PollRecord(segment(1))]);
            assert_eq!(host.replica(1), &waiting(mode));
        }
        let before = host.state.clone();
        let shows = Effect::Show(segment(1), ReplicaState::Consuming);
        assert_eq!(host.end(Outcome::Record(Some(done(1)))), [shows]);
        let discarded =
            Replica { shows: ReplicaState::Consuming, work: Work::Discarded, ..waiting(mode) };
        assert_eq!(host.replica(1), &discarded);
        host.state = before;
        let shows = Effect::Show(segment(1), ReplicaState::Error);
        assert_eq!(host.end(Outcome::Record(None)), [shows]);
        let failed = Replica { shows: ReplicaState::Error, work: Work::Idle, ..waiting(mode) };
        assert_eq!(host.replica(1), &failed);
        assert_eq!(host.holder(), Some(Holder::Replica(segment(0))));
    }
}

#[test]
fn a_replica_that_waits_is_in_transition() {
    let mut host = Host::contended(Server::new(limits(Policy::DisallowAlways)), Mode::Blocking);
    for to in [ReplicaState::Online, ReplicaState::Offline, ReplicaState::Dropped] {
        let refusal = host.role.step(&host.state, Event::Transition(segment(1), to));
        let expected = surehold::commit::Refusal::InTransition(segment(1));
        assert_eq!(refusal.expect_err("it is under way"), expected);
    }
    let asks = host.take(Event::Transition(segment(0), ReplicaState::Offline));
    assert_eq!(asks[1..], begun());
}

/// At the start of a build, before it has a permit to build.
#[test]
fn a_build_lets_the_next_one_in() {
    for policy in Policy::ALL {
        let mut host = Host::contended(Server::new(limits(policy)), Mode::Blocking);
        host.end(Outcome::Row(0));
        assert_eq!(host.end(Outcome::Row(1)), [consumed(2, Some(Reason::RowLimit))]);
        let asks = host.end(Outcome::Answered(Answer::Commit { offset: 2, build_s: 1 }));
        let rows = Rows { range: Range { start: 0, end: 2 }, missing: Vec::new() };
        let build = Effect::Build(segment(0), rows);
        let work = Work::Building { purpose: Purpose::Commit, end: 2, running: true };
        assert_eq!(host.replica(0).work, work);
        if policy.is_allowed_during_build() {
            let [shows, fetch] = begun();
            assert_eq!(asks, [shows, fetch, build], "{policy:?}");
            assert_eq!(host.holder(), Some(Holder::Replica(segment(1))));
        } else {
            assert_eq!(asks, [build], "{policy:?}");
            assert_eq!(host.holder(), Some(Holder::Replica(segment(0))));
            assert_eq!(host.replica(1), &waiting(Mode::Blocking));
        }
    }
}

/// One that was told to discard what it has brings a copy.
#[test]
fn a_download_lets_the_next_one_in() {
    for policy in Policy::ALL {
        let mut host = Host::contended(Server::new(limits(policy)), Mode::Blocking);
        host.take(Event::Stop(segment(0), Reason::TimeLimit));
        host.asked.number = 3;
        assert_eq!(host.end(Outcome::Answered(Answer::Discard)), []);
        assert_eq!(host.holder(), Some(Holder::Replica(segment(0))), "not yet");
        let asks = host.moves(0, ReplicaState::Online, Some(done(0)));
        let brings = Effect::Download(segment(0), Source::Object(object(0)));
        if policy.is_allowed_during_download() {
            let [shows, fetch] = begun();
            assert_eq!(asks, [brings, shows, fetch], "{policy:?}");
            assert_eq!(host.holder(), Some(Holder::Replica(segment(1))));
        } else {
            assert_eq!(asks, [brings], "{policy:?}");
            assert_eq!(host.holder(), Some(Holder::Replica(segment(0))));
        }
    }
}

/// Whatever the policy: a copy takes its place, or Helix takes it away.
#[test]
fn offload_lets_the_next_one_in() {
    let mut host = Host::contended(Server::new(limits(Policy::DisallowAlways)), Mode::Blocking);
    host.end(Outcome::Row(0));
    host.end(Outcome::Row(1));
    host.end(Outcome::Answered(Answer::Keep(2)));
    assert_eq!(host.end(Outcome::Built { crc: Crc(9), attempt: 9 }), begun());
    assert_eq!(host.replica(0).work, Work::Sealed);
    for to in [ReplicaState::Offline, ReplicaState::Dropped] {
        let mut host = Host::contended(Server::new(limits(Policy::DisallowAlways)), Mode::Blocking);
        let asks = host.take(Event::Transition(segment(0), to));
        let [shows, fetch] = begun();
        assert_eq!(asks, [Effect::Show(segment(0), to), shows, fetch]);
        assert_eq!(host.holder(), Some(Holder::Replica(segment(1))));
    }
}

/// One that has let the next one in brings a copy of what it is behind (dossier 8).
#[test]
fn only_the_holder_catches_up() {
    for policy in Policy::ALL {
        let mut host = Host::consuming(Server::new(limits(policy)), Mode::Blocking);
        host.end(Outcome::Row(0));
        host.take(Event::Stop(segment(0), Reason::TimeLimit));
        host.asked.number = 2;
        host.end(Outcome::Answered(Answer::Commit { offset: 1, build_s: 1 }));
        assert_eq!(host.end(Outcome::Failed), [consumed(1, None)]);
        let held = !policy.is_allowed_during_build();
        assert_eq!(host.holder(), held.then_some(Holder::Replica(segment(0))), "{policy:?}");
        let asks = host.moves(0, ReplicaState::Online, Some(done(0)));
        let brings = Effect::Download(segment(0), Source::Object(object(0)));
        let reads = Effect::Fetch(segment(0), 1);
        assert_eq!(asks, [if held { reads } else { brings }], "{policy:?}");
    }
}

/// A consumer that cannot be opened; one that breaks later is offloaded by Helix.
#[test]
fn a_consumer_that_cannot_be_opened_lets_the_next_one_in_14974() {
    let stopped = |end| {
        let body = Ask::Say(end, Kind::Stopped);
        [
            Effect::Show(segment(0), ReplicaState::Error),
            Effect::Call(Request { segment: segment(0), body }),
        ]
    };
    let all = limits(Policy::DisallowAlways);
    let mut host = Host::contended(Server::new(all), Mode::Blocking);
    let asks = host.take(Event::Break(segment(0)));
    assert_eq!(asks, [stopped(0), begun()].concat());
    assert_eq!(host.holder(), Some(Holder::Replica(segment(1))));

    let mut host = Host::contended(Server::new(all), Mode::Blocking);
    host.end(Outcome::Row(0));
    assert_eq!(host.take(Event::Break(segment(0))), stopped(1));
    assert_eq!(host.holder(), Some(Holder::Replica(segment(0))));
    let asks = host.take(Event::Transition(segment(0), ReplicaState::Offline));
    assert_eq!(asks[1..], begun());
}

/// It was lost for good, before.
#[test]
fn a_consumer_that_could_not_be_opened_kept_the_permit_before_14974() {
    for release in [Release::Blocking, Release::Pr14741] {
        let role = release.server_within(limits(Policy::DisallowAlways));
        let mut host = Host::contended(role, Mode::Blocking);
        host.take(Event::Break(segment(0)));
        assert_eq!(host.holder(), Some(Holder::Nobody));
        let asks = host.take(Event::Transition(segment(0), ReplicaState::Offline));
        assert_eq!(asks, [Effect::Show(segment(0), ReplicaState::Offline)]);
        assert_eq!(host.replica(1), &waiting(Mode::Blocking));
        let durable = host.state.durable().clone();
        host.state = host.role.recover(durable);
        assert_eq!(host.holder(), None);
    }
    for release in [Release::Pr14920, Release::Aug2026] {
        let role = release.server_within(limits(Policy::DisallowAlways));
        let mut host = Host::contended(role, Mode::Blocking);
        host.take(Event::Break(segment(0)));
        assert_eq!(host.holder(), Some(Holder::Replica(segment(1))));
    }
}

#[test]
fn partitions_do_not_wait_for_each_other_nor_does_anybody_without_permits() {
    let mut host = Host::consuming(Server::new(limits(Policy::DisallowAlways)), Mode::Blocking);
    let other = SegmentId { partition: PartitionId(1), ..segment(0) };
    host.take(Event::Transition(other, ReplicaState::Consuming));
    let asks = host.end(Outcome::Record(Some(open(0))));
    assert_eq!(asks, [Effect::Show(other, ReplicaState::Consuming), Effect::Fetch(other, 0)]);
    assert_eq!(host.state.consumer(PartitionId(1)), Some(Holder::Replica(other)));

    let mut host = Host::consuming(Server::new(server::Limits::default()), Mode::Blocking);
    assert_eq!(host.moves(1, ReplicaState::Consuming, Some(open(2))), begun());
    assert_eq!(host.holder(), None);
}

/// N8: a record that cannot be read says nothing; upstream's transition throws.
#[test]
fn a_record_that_cannot_be_read_is_read_again() {
    for to in [ReplicaState::Consuming, ReplicaState::Online] {
        for outcome in [Outcome::Failed, Outcome::Unknown] {
            let mut host = Host::started(Server::new(server::Limits::default()), Mode::Blocking);
            host.take(Event::Transition(segment(0), to));
            let before = host.replica(0).clone();
            assert_eq!(host.end(outcome.clone()), [Effect::PollRecord(segment(0))]);
            assert_eq!(host.replica(0), &before);
            for release in Release::ALL {
                let mut host = Host::started(release.server(), Mode::Blocking);
                host.take(Event::Transition(segment(0), to));
                let shows = Effect::Show(segment(0), ReplicaState::Error);
                assert_eq!(host.end(outcome.clone()), [shows]);
                assert_eq!(host.replica(0).work, Work::Idle);
            }
        }
    }
    let mut host = Host::started(Server::new(server::Limits::default()), Mode::Blocking);
    host.take(Event::Transition(segment(0), ReplicaState::Consuming));
    host.end(Outcome::Failed);
    let shows = Effect::Show(segment(0), ReplicaState::Consuming);
    assert_eq!(host.end(Outcome::Record(Some(open(0)))), [shows, Effect::Fetch(segment(0), 0)]);
}

/// I7: without a policy a server consumes two segments of a partition at once; with any of them the second waits.
#[test]
fn a_second_consumer_is_seen_where_nobody_takes_turns() {
    let both = |limits: server::Limits, policy| {
        let mut host = Host::started(Server::new(limits), Mode::Pauseless);
        host.moves(0, ReplicaState::Consuming, Some(open(0)));
        host.moves(1, ReplicaState::Consuming, Some(open(2)));
        second_consumer(&host.state, policy)
    };
    for policy in Policy::ALL {
        assert_eq!(both(server::Limits::default(), policy), Some(segment(1)), "{}", policy.name());
        assert_eq!(both(limits(policy), policy), None, "{}", policy.name());
    }
}
