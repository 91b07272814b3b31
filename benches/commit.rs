//! What a message of the completion protocol and a metadata step cost a controller whose table has 1,000 partitions.
//!
//! A time says little on a machine that others use, so each is shown as a ratio to a plain counterpart measured in
//! the same run, and to the same in a table of one partition. What is replayed is the pauseless commit of a segment of
//! each partition, recorded through the public interface only: machines of all partitions are under way together,
//! while metadata steps of one partition come after another's, so that no compare-and-set is refused. Run as
//! `cargo bench -p surehold`: then the library is built without `weaken`.

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use surehold::collections::Table;
use surehold::commit::completion::{Answer, Kind, Mode, Reason};
use surehold::commit::controller::{Durable, Limits, State};
use surehold::commit::effect::{Change, Expected};
use surehold::commit::event::{ControllerOutcome as Outcome, Found};
use surehold::commit::message::{Ask, Caller, Request};
use surehold::commit::object::{
    ControllerId, Crc, IdealState, Location, ObjectId, PartitionId, Range, Record, ReplicaState,
    Rows, Sealed, SegmentId, ServerId, TableConfig, Version,
};
use surehold::commit::{Controller, ControllerEffect as Effect, ControllerEvent as Event, Input};
use surehold::{EffectId, Machine};

const PARTITIONS: u16 = 1_000;
const REPLICAS: u16 = 2;
const ROWS: u64 = 10;
const TABLE: TableConfig = TableConfig {
    mode: Mode::Pauseless,
    is_ordered: false,
    replicas: REPLICAS,
    row_limit: ROWS,
    may_refill: false,
    auto_reset: None,
};

/// Metadata and the ideal state.
#[derive(Default)]
struct Store {
    records: BTreeMap<SegmentId, (Record, Version)>,
    ideal: IdealState,
    version: Version,
}

impl Store {
    fn found(&self, id: SegmentId) -> Option<Found> {
        let stored = self.records.get(&id);
        stored.map(|(record, version)| Found {
            record: record.clone(),
            version: *version,
            age_ms: 0,
        })
    }

    fn write(&mut self, id: SegmentId, record: Record, expected: Expected) -> Outcome {
        let version = self.records.get(&id).map(|(_, version)| *version);
        let fits = match expected {
            Expected::Anything => true,
            Expected::Absent => version.is_none(),
            Expected::Version(expected) => version == Some(expected),
        };
        assert!(fits, "nobody else writes");
        self.records.insert(id, (record, Version(version.map_or(0, |version| version.0 + 1))));
        Outcome::Applied
    }

    fn carry_out(&mut self, effect: Effect) -> Outcome {
        match effect {
            Effect::ReadRecord(id) => Outcome::Record(self.found(id)),
            Effect::ListRecords(partition) => {
                let own = self.records.keys().filter(|id| id.partition == partition);
                Outcome::Records(own.filter_map(|id| Some((*id, self.found(*id)?))).collect())
            }
            Effect::WriteRecord(id, record, expected) => self.write(id, record, expected),
            Effect::ReadStream(_) => Outcome::Stream(Some(0)),
            Effect::ReadIdeal => Outcome::Ideal(self.ideal.clone(), self.version),
            Effect::WriteIdeal(version, changes) => {
                assert_eq!(version, self.version, "nobody else writes");
                self.version.0 += 1;
                changes.into_iter().for_each(|change| self.change(change));
                Outcome::Applied
            }
            other => panic!("no such step in a commit: {other:?}"),
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Set(id, state) => self.list(id, state),
            Change::Add(id, _) => self.list(id, ReplicaState::Consuming),
            Change::SetReplica(..) | Change::Begin(_) | Change::Remove(_) => {
                panic!("no commit does this: {change:?}")
            }
        }
    }

    fn list(&mut self, id: SegmentId, state: ReplicaState) {
        let mut replicas = Table::new();
        for server in 0..REPLICAS {
            replicas.insert(ServerId(server), state);
        }
        self.ideal.segments.insert(id, replicas);
    }
}

/// One event of the recording.
struct Taken {
    segment: SegmentId,
    /// Whether it is a message; otherwise the outcome of a metadata step.
    is_message: bool,
    event: Event,
}

/// A commit of each partition.
struct Recording {
    role: Controller,
    start: State,
    state: State,
    store: Store,
    taken: Vec<Taken>,
}

impl Recording {
    fn new(partitions: u16) -> Self {
        let role = Controller::new(Limits::default());
        let durable = Durable { controller: ControllerId(0), incarnation: 1, table: TABLE };
        let state = role.recover(durable);
        let state = role.step(&state, Event::Elected).expect("it fits").state;
        let mut store = Store::default();
        for partition in 0..partitions {
            store.list(first(partition), ReplicaState::Consuming);
            let record = Record::starting_at(0, REPLICAS, ROWS);
            store.records.insert(first(partition), (record, Version(0)));
        }
        let mut recording = Self { role, start: state.clone(), state, store, taken: Vec::new() };
        recording.commit(partitions);
        recording
    }

    /// Reports of both replicas until one is told to commit, then its commit; the other one asks in the midst of it.
    fn commit(&mut self, partitions: u16) {
        let mut winner = None;
        for turn in 0..2 * u64::from(REPLICAS) {
            if winner.is_some() {
                break;
            }
            let server = ServerId((turn % u64::from(REPLICAS)) as u16);
            let answers = self.all_say(partitions, server, 1_000 * turn, consumed());
            winner = matches!(answers, Answer::Commit { .. }).then_some(server);
        }
        let winner = winner.expect("somebody is told to commit");
        let other = ServerId(u16::from(winner == ServerId(0)));
        let say = Ask::Say(ROWS, Kind::CommitStart);
        assert_eq!(
            self.all_say(partitions, winner, 5_000, |_| say.clone()),
            Answer::CommitContinue
        );
        assert_eq!(self.all_say(partitions, other, 6_000, consumed()), Answer::Keep(ROWS));
        assert_eq!(self.all_say(partitions, winner, 7_000, ended), Answer::CommitSuccess);
    }

    /// A server says something of every partition, and is answered the same everywhere.
    fn all_say(
        &mut self,
        partitions: u16,
        server: ServerId,
        now_ms: u64,
        say: impl Fn(SegmentId) -> Ask,
    ) -> Answer {
        let say = |segment| Request { segment, body: say(segment) };
        let answers: Vec<_> = (0..partitions)
            .map(|partition| self.take_whole(server, now_ms, say(first(partition))))
            .collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        answers[0]
    }

    /// A message, and all metadata steps until it is answered.
    fn take_whole(&mut self, server: ServerId, now_ms: u64, request: Request) -> Answer {
        let segment = request.segment;
        let id = EffectId { incarnation: 1, number: segment.partition.0 + 1 };
        let caller = Caller { process: server, id };
        let input = Input { now_ms, minute: 0, pick: 0 };
        let mut events = VecDeque::from([Event::Received { caller, request, input }]);
        while let Some(event) = events.pop_front() {
            let is_message = matches!(event, Event::Received { .. });
            let step = self.role.step(&self.state, event.clone()).expect("it fits");
            self.taken.push(Taken { segment, is_message, event });
            self.state = step.state;
            for issued in step.effects {
                if let Effect::Answer(_, answer) = issued.effect {
                    return answer;
                }
                let outcome = self.store.carry_out(issued.effect);
                events.push_back(Event::Outcome { id: issued.id, outcome });
            }
        }
        panic!("{segment:?} is not answered");
    }

    fn count(&self, messages: bool) -> usize {
        self.taken.iter().filter(|taken| taken.is_message == messages).count()
    }

    /// Takes all events again; how long those of one kind took, for each.
    fn replay(&self, messages: bool) -> Duration {
        let mut state = self.start.clone();
        let mut took = Duration::ZERO;
        for taken in &self.taken {
            let event = taken.event.clone();
            let begun = Instant::now();
            let next = self.role.step(&state, event).expect("it fits").state;
            if taken.is_message == messages {
                took += begun.elapsed();
            }
            state = black_box(next);
        }
        assert_eq!(state, self.state);
        took / self.count(messages) as u32
    }

    /// The same events noted in std's maps, in place: reports of machines, and records by version.
    fn note(&self, messages: bool) -> Duration {
        let mut machines: BTreeMap<SegmentId, BTreeMap<ServerId, u64>> = BTreeMap::new();
        let mut records: BTreeMap<SegmentId, (Record, Version)> = BTreeMap::new();
        let mut took = Duration::ZERO;
        for taken in &self.taken {
            let begun = Instant::now();
            match &taken.event {
                Event::Received { caller, input, .. } => {
                    let reports = machines.entry(taken.segment).or_default();
                    reports.insert(caller.process, input.now_ms);
                }
                _ => {
                    let fresh = || (Record::starting_at(0, REPLICAS, ROWS), Version(0));
                    let stored = records.entry(taken.segment).or_insert_with(fresh);
                    *stored = (stored.0.successor(ROWS), Version(stored.1.0 + 1));
                }
            }
            if taken.is_message == messages {
                took += begun.elapsed();
            }
        }
        black_box((machines, records));
        took / self.count(messages) as u32
    }
}

fn first(partition: u16) -> SegmentId {
    SegmentId { partition: PartitionId(partition), sequence: 0, minute: 0 }
}

fn consumed() -> impl Fn(SegmentId) -> Ask {
    |_| Ask::Say(ROWS, Kind::Consumed(Some(Reason::TimeLimit)))
}

fn ended(segment: SegmentId) -> Ask {
    let rows = Rows { range: Range { start: 0, end: ROWS }, missing: Vec::new() };
    let copy = Sealed { crc: Crc(7), rows };
    let stored = Location::Object(ObjectId { segment, attempt: Some(7) });
    Ask::CommitEnd { offset: ROWS, copy, stored }
}

/// The median of nanoseconds for one event, over criterion's samples.
fn measure(criterion: &mut Criterion, name: &str, each: impl Fn() -> Duration) -> f64 {
    let mut samples = Vec::new();
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let took: Duration = (0..times).map(|_| each()).sum();
            samples.push(took.as_secs_f64() * 1e9 / times as f64);
            took
        });
    });
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    if cfg!(feature = "weaken") {
        println!(
            "not measured: this library is built with `weaken`; use `cargo bench -p surehold`"
        );
        return;
    }
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let (many, one) = (Recording::new(PARTITIONS), Recording::new(1));
    for (messages, what) in [(true, "message"), (false, "metadata step")] {
        println!("{} of {what}", many.count(messages));
        let large = measure(&mut criterion, &format!("a {what}, 1,000 partitions"), || {
            many.replay(messages)
        });
        let small =
            measure(&mut criterion, &format!("a {what}, 1 partition"), || one.replay(messages));
        let plain = measure(&mut criterion, &format!("a plain {what}"), || many.note(messages));
        println!(
            "a {what}: {:.0} a second; / plain: {:.1}; / with one partition: {:.1}\n",
            1e9 / large,
            large / plain,
            large / small
        );
    }
    criterion.final_summary();
}
