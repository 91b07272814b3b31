//! Reingestion from the request to the record: what a server answers, what it reads, and what becomes of a segment
//! whose rows the stream has no more (origin 2; dossier 10).

#[allow(dead_code)]
mod commit_store;

use commit_store::{Stores, replicas};
use surehold::collections::Table;
use surehold::commit::completion::Mode;
use surehold::commit::controller::{self, Controller};
use surehold::commit::event::{ControllerOutcome, ServerOutcome};
use surehold::commit::message::{
    Ask, Caller, Order, RefillStatus, ReingestStatus, Report, Request, Tell,
};
use surehold::commit::object::{
    ControllerId, Crc, Location, ObjectId, PartitionId, Range, Record, ReplicaState, SegmentId,
    ServerId, Status, TableConfig,
};
use surehold::commit::server::{self, Server};
use surehold::commit::{
    ControllerEffect, ControllerEvent, Guard, Input, Refusal, ServerEffect, ServerEvent,
};
use surehold::guard::{Guards, Verified};
use surehold::{EffectId, Issued, Machine};

use ReingestStatus::{Accepted, Conflict, NotFound, NotReady, TooMany};

const PARTITION: PartitionId = PartitionId(3);
const RANGE: Range = Range { start: 100, end: 110 };
const SERVERS: [ServerId; 2] = [ServerId(0), ServerId(1)];

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: PARTITION, sequence, minute: 7 }
}

fn open() -> Record {
    Record::starting_at(RANGE.start, 2, 10)
}

fn committing() -> Record {
    Record { status: Status::Committing, end: Some(RANGE.end), ..open() }
}

/// A server and what it has asked for.
struct Node<V: Guards<Guard>> {
    role: Server<V>,
    state: server::State,
    pending: Vec<Issued<ServerEffect>>,
    /// Which offsets it has read.
    read: Vec<u64>,
}

/// A table all of whose replicas are in error, its controller and its stream.
struct Cluster<V: Guards<Guard>> {
    stores: Stores,
    leader: Controller<V>,
    leading: controller::State,
    servers: Vec<Node<V>>,
    /// The stream has rows from here up to, not including, there; but for these.
    stream: Range,
    holes: Vec<u64>,
    resets: Vec<(SegmentId, ServerId)>,
    /// What servers answered to the last requests.
    answers: Vec<ReingestStatus>,
    /// What servers were answered whose job was to be completed.
    completions: Vec<RefillStatus>,
    attempts: u64,
}

impl Cluster<Verified> {
    fn new(max_jobs: usize) -> Self {
        Self::of(Controller::new(controller::Limits::default()), || {
            Server::new(server::Limits { max_builds: 1, max_jobs, ..server::Limits::default() })
        })
    }
}

impl<V: Guards<Guard>> Cluster<V> {
    /// Every segment is committing and in error on both servers.
    fn of(leader: Controller<V>, server: impl Fn() -> Server<V>) -> Self {
        let mut stores = Stores { instances: 2, replicas: 2, ..Stores::default() };
        for sequence in 0..3 {
            stores.put(segment(sequence), committing());
            stores.list(segment(sequence), &SERVERS, ReplicaState::Online);
            let shown = replicas(&SERVERS, ReplicaState::Error);
            stores.view.segments.insert(segment(sequence), shown);
        }
        let table = TableConfig {
            mode: Mode::Pauseless,
            is_ordered: false,
            replicas: 2,
            row_limit: 10,
            may_refill: false,
            auto_reset: None,
        };
        let durable = controller::Durable { controller: ControllerId(0), incarnation: 2, table };
        let leading = leader.recover(durable);
        let start = |at: ServerId| {
            let role = server();
            let state = role.recover(disk_of(at, 3));
            Node { role, state, pending: Vec::new(), read: Vec::new() }
        };
        let mut cluster = Self {
            stores,
            leader,
            leading,
            servers: SERVERS.into_iter().map(start).collect(),
            stream: Range { start: 0, end: 500 },
            holes: Vec::new(),
            resets: Vec::new(),
            answers: Vec::new(),
            completions: Vec::new(),
            attempts: 70,
        };
        for at in 0..SERVERS.len() {
            (0..3).for_each(|sequence| cluster.fail(at, sequence));
        }
        cluster
    }

    /// A replica goes to ERROR: its record is not there.
    fn fail(&mut self, at: usize, sequence: u32) {
        self.serve(at, ServerEvent::Transition(segment(sequence), ReplicaState::Online));
        let outcome = ServerOutcome::Record(None);
        self.end(at, |effect| matches!(effect, ServerEffect::ReadRecord(_)), outcome);
    }

    fn serve(&mut self, at: usize, event: ServerEvent) {
        let node = &mut self.servers[at];
        let step = node.role.step(&node.state, event).expect("it is taken");
        node.state = step.state;
        for issued in step.effects {
            match issued.effect {
                ServerEffect::Report(_, Report::Reingest(status)) => self.answers.push(status),
                ServerEffect::Report(caller, report) => {
                    let outcome = ControllerOutcome::Reported(report);
                    self.lead(ControllerEvent::Outcome { id: caller.id, outcome });
                }
                ServerEffect::Show(..) => {}
                _ => self.servers[at].pending.push(issued),
            }
        }
    }

    fn lead(&mut self, event: ControllerEvent) {
        let step = self.leader.step(&self.leading, event).expect("it is taken");
        self.leading = step.state;
        for Issued { id, effect } in step.effects {
            match effect {
                ControllerEffect::AnswerRefill(caller, status) => {
                    self.completions.push(status);
                    let outcome = ServerOutcome::Refilled(status);
                    let at = usize::from(caller.process.0);
                    self.servers[at].pending.retain(|issued| issued.id != caller.id);
                    self.serve(at, ServerEvent::Outcome { id: caller.id, outcome });
                }
                ControllerEffect::Reset(segment, server) => self.resets.push((segment, server)),
                ControllerEffect::Call(order) => {
                    let caller = Caller { process: ControllerId(0), id };
                    let at = usize::from(order.server.0);
                    self.serve(at, ServerEvent::Received { caller, order, attempt: 0 });
                }
                _ => {
                    let outcome = self.stores.carry_out(&effect).expect("it is of a store");
                    self.lead(ControllerEvent::Outcome { id, outcome });
                }
            }
        }
    }

    /// Somebody asks a server to read a segment again: what it answers at once, if it does.
    fn ask(&mut self, at: usize, sequence: u32) -> Option<ReingestStatus> {
        let order = Order { server: SERVERS[at], segment: segment(sequence), body: Tell::Reingest };
        let id = EffectId { incarnation: 2, number: 900 };
        let caller = Caller { process: ControllerId(0), id };
        self.answers.clear();
        self.serve(at, ServerEvent::Received { caller, order, attempt: 0 });
        self.answers.pop()
    }

    /// Asks, and reads the record.
    fn request(&mut self, at: usize, sequence: u32) -> ReingestStatus {
        match self.ask(at, sequence) {
            Some(status) => status,
            None => {
                let record = self.stores.records.get(&segment(sequence));
                let outcome = ServerOutcome::Record(record.map(|(record, _)| record.clone()));
                self.end(
                    at,
                    |effect| *effect == ServerEffect::ReadRecord(segment(sequence)),
                    outcome,
                );
                self.answers.pop().expect("it is answered")
            }
        }
    }

    /// One effect that a server has asked for ends.
    fn end(&mut self, at: usize, is: impl Fn(&ServerEffect) -> bool, outcome: ServerOutcome) {
        let pending = &mut self.servers[at].pending;
        let place = pending.iter().position(|issued| is(&issued.effect)).expect("it has asked");
        let id = pending.remove(place).id;
        self.serve(at, ServerEvent::Outcome { id, outcome });
    }

    /// The next effect that a server has asked for, of any job, is carried out. Whether there was one.
    fn work(&mut self, at: usize) -> bool {
        if self.servers[at].pending.is_empty() {
            return false;
        }
        assert!(self.servers[at].read.len() < 100, "it reads without an end");
        let Issued { id, effect } = self.servers[at].pending.remove(0);
        let outcome = match effect {
            ServerEffect::Fetch(_, offset) => {
                self.servers[at].read.push(offset);
                self.row(offset)
            }
            ServerEffect::Build(..) => {
                self.attempts += 1;
                let crc = Crc(u32::try_from(self.attempts).expect("few attempts"));
                ServerOutcome::Built { crc, attempt: self.attempts }
            }
            ServerEffect::Upload(object, _) => {
                self.stores.objects.insert(object);
                ServerOutcome::Applied
            }
            ServerEffect::Call(request) => {
                let caller = Caller { process: SERVERS[at], id };
                let input = Input { now_ms: 0, minute: 8, pick: 0 };
                self.lead(ControllerEvent::Received { caller, request, input });
                return true;
            }
            other => panic!("no job asks for {other:?}"),
        };
        self.serve(at, ServerEvent::Outcome { id, outcome });
        true
    }

    fn row(&self, offset: u64) -> ServerOutcome {
        let Range { start: first, end } = self.stream;
        if offset < first {
            return ServerOutcome::Expired { first, end };
        }
        let there = (offset..end).find(|row| !self.holes.contains(row));
        there.map_or(ServerOutcome::Failed, ServerOutcome::Row)
    }

    fn finish(&mut self, at: usize) {
        while self.work(at) {}
    }

    fn jobs(&self, at: usize) -> Vec<SegmentId> {
        self.servers[at].state.jobs().map(|(id, _)| id).collect()
    }

    fn record(&self, sequence: u32) -> &Record {
        &self.stores.records[&segment(sequence)].0
    }
}

fn disk_of(server: ServerId, incarnation: u32) -> server::Durable {
    server::Durable { server, incarnation, mode: Mode::Pauseless, disk: Table::new() }
}

/// The record that an attempt has made done.
fn done(attempt: u64, lost: Vec<Range>) -> Record {
    let object = ObjectId { segment: segment(0), attempt: Some(attempt) };
    let crc = Crc(u32::try_from(attempt).expect("few attempts"));
    Record { lost, ..committing().done(RANGE.end, crc, Location::Object(object)) }
}

fn range(start: u64, end: u64) -> Range {
    Range { start, end }
}

// ---------------------------------------------------------------------------------------------------
// Answers

#[test]
fn status_200_it_runs() {
    let mut cluster = Cluster::new(4);
    assert_eq!(cluster.ask(0, 0), None, "metadata is read first");
    let record = ServerOutcome::Record(Some(committing()));
    cluster.end(0, |effect| *effect == ServerEffect::ReadRecord(segment(0)), record);
    assert_eq!(cluster.answers, [Accepted]);
    assert_eq!(cluster.jobs(0), [segment(0)]);
    assert_eq!(Accepted.code(), 200);
}

#[test]
fn status_404_no_such_segment_here_or_in_metadata() {
    let mut cluster = Cluster::new(4);
    assert_eq!(cluster.ask(0, 9), Some(NotFound));
    cluster.stores.records.remove(&segment(1));
    assert_eq!(cluster.request(0, 1), NotFound);
    assert_eq!(cluster.jobs(0), []);
    assert_eq!(NotFound.code(), 404);
}

#[test]
fn status_409_it_is_being_read_or_stored_already() {
    let mut cluster = Cluster::new(4);
    assert_eq!(cluster.request(0, 0), Accepted);
    assert_eq!(cluster.ask(0, 0), Some(Conflict));
    for location in
        [Location::Peers, Location::Object(ObjectId { segment: segment(1), attempt: None })]
    {
        cluster.stores.put(segment(1), committing().done(RANGE.end, Crc(1), location));
        assert_eq!(cluster.request(0, 1), Conflict);
    }
    assert_eq!(cluster.jobs(0), [segment(0)]);
    assert_eq!(Conflict.code(), 409);
}

#[test]
fn status_429_as_many_run_as_may() {
    for limit in 0..3 {
        let mut cluster = Cluster::new(limit);
        let answers: Vec<_> = (0..3).map(|sequence| cluster.request(0, sequence)).collect();
        let expected: Vec<_> =
            (0..3).map(|at| if at < limit { Accepted } else { TooMany }).collect();
        assert_eq!(answers, expected);
        assert_eq!(cluster.jobs(0).len(), limit);
    }
    assert_eq!(TooMany.code(), 429);
}

/// A server that Helix has not reached does not know yet what it has: that is no 404.
#[test]
fn status_500_the_server_is_not_initialised() {
    let mut cluster = Cluster::new(4);
    let node = &mut cluster.servers[0];
    node.state = node.role.recover(disk_of(SERVERS[0], 4));
    node.pending.clear();
    assert!(!node.state.is_initialised());
    for sequence in [0, 9] {
        assert_eq!(cluster.ask(0, sequence), Some(NotReady));
    }
    assert_eq!((cluster.jobs(0), cluster.servers[0].pending.len()), (vec![], 0));
    // Helix asks for one segment: from now on it is known which there are.
    cluster.fail(0, 1);
    assert!(cluster.servers[0].state.is_initialised());
    assert_eq!(cluster.ask(0, 0), Some(NotFound));
    assert_eq!(cluster.request(0, 1), Accepted);
    assert_eq!(NotReady.code(), 500);
}

/// A transition that is refused has not reached anything.
#[test]
fn a_refused_transition_does_not_initialise() {
    let role = Server::new(server::Limits::default());
    let state = role.recover(disk_of(SERVERS[0], 1));
    let event = ServerEvent::Transition(segment(0), ReplicaState::Error);
    assert!(role.step(&state, event).is_err());
    assert!(!state.is_initialised());
}

#[test]
fn status_500_metadata_cannot_be_read_or_has_no_end() {
    for outcome in
        [ServerOutcome::Failed, ServerOutcome::Unknown, ServerOutcome::Record(Some(open()))]
    {
        let mut cluster = Cluster::new(1);
        assert_eq!(cluster.ask(0, 0), None);
        cluster.end(0, |effect| *effect == ServerEffect::ReadRecord(segment(0)), outcome);
        assert_eq!(cluster.answers, [NotReady]);
        assert_eq!(cluster.jobs(0), []);
        // The place is free again.
        assert_eq!(cluster.request(0, 1), Accepted);
    }
}

// ---------------------------------------------------------------------------------------------------
// At the same time

/// Requests that come before the first one's record has been read: the segment is taken, and so is its place.
#[test]
fn a_request_counts_from_its_arrival() {
    let mut cluster = Cluster::new(2);
    assert_eq!(cluster.ask(0, 0), None);
    assert_eq!(cluster.ask(0, 0), Some(Conflict));
    assert_eq!(cluster.ask(0, 1), None);
    assert_eq!(cluster.ask(0, 2), Some(TooMany));
    // Who is at work is told so, though the limit is reached as well.
    assert_eq!(cluster.ask(0, 1), Some(Conflict));
    assert_eq!(cluster.jobs(0), [segment(0), segment(1)]);
}

/// Wherever a job is when it is asked for again: never two of a segment, never more than may; and a place is free once
/// its job is over, be it well or not.
#[test]
fn places_are_kept_through_every_stage_and_given_back() {
    let stages = {
        let mut cluster = Cluster::new(1);
        cluster.request(0, 0);
        (1..).take_while(|_| cluster.work(0)).count()
    };
    assert_eq!(stages, 13, "10 rows, a build, an upload, a call");
    for stage in 0..stages {
        let mut cluster = Cluster::new(1);
        assert_eq!(cluster.request(0, 0), Accepted);
        (0..stage).for_each(|_| assert!(cluster.work(0)));
        assert_eq!(cluster.ask(0, 0), Some(Conflict), "at {stage}");
        assert_eq!(cluster.ask(0, 1), Some(TooMany), "at {stage}");
        assert_eq!(cluster.jobs(0), [segment(0)]);
        // It fails here.
        cluster.end(0, |_| true, ServerOutcome::Failed);
        assert_eq!((cluster.jobs(0), cluster.servers[0].state.builds()), (vec![], 0), "at {stage}");
        assert_eq!(cluster.request(0, 1), Accepted);
        cluster.finish(0);
        assert_eq!(cluster.request(0, 2), Accepted);
    }
}

/// Jobs of several segments share the one permit to build, and each of them ends.
#[test]
fn jobs_share_the_build_permit() {
    let mut cluster = Cluster::new(3);
    for sequence in 0..3 {
        assert_eq!(cluster.request(0, sequence), Accepted);
    }
    let mut most = 0;
    while cluster.work(0) {
        most = most.max(cluster.servers[0].state.builds());
    }
    assert_eq!((most, cluster.jobs(0)), (1, vec![]));
    for sequence in 0..3 {
        assert_eq!(cluster.record(sequence).status, Status::Done);
        assert_eq!(cluster.record(sequence).lost, []);
    }
}

/// Two servers read the same segment, which nothing forbids: the record's compare-and-set decides, and the loser's object
/// is nobody's (R6). In every order of their steps that ends with either of them.
#[test]
fn of_two_servers_one_counts() {
    let steps = 13;
    for lead in 0..=steps {
        let mut cluster = Cluster::new(1);
        assert_eq!((cluster.request(0, 0), cluster.request(1, 0)), (Accepted, Accepted));
        (0..lead).for_each(|_| assert!(cluster.work(0)));
        cluster.finish(1);
        cluster.finish(0);
        let record = cluster.record(0);
        let Some(Location::Object(object)) = record.location else { panic!("it is stored") };
        assert_eq!(*record, done(object.attempt.expect("it has a name of its own"), vec![]));
        assert_eq!(record.crc.map(|crc| u64::from(crc.0)), object.attempt);
        assert_eq!(cluster.stores.records[&segment(0)].1.0, 1, "it was written once");
        assert_eq!((cluster.jobs(0), cluster.jobs(1)), (vec![], vec![]));
        assert_eq!(cluster.completions, [RefillStatus::Done, RefillStatus::AlreadyDone]);
    }
}

// ---------------------------------------------------------------------------------------------------
// What is read, and what becomes of it

#[test]
fn the_range_is_read_and_nothing_else() {
    let mut cluster = Cluster::new(1);
    assert_eq!(cluster.request(1, 0), Accepted);
    cluster.finish(1);
    assert_eq!(cluster.servers[1].read, (100..110).collect::<Vec<_>>());
    assert_eq!(*cluster.record(0), done(71, vec![]));
    // Whoever is in error brings the copy that counts now.
    assert_eq!(cluster.resets, SERVERS.map(|server| (segment(0), server)));
}

/// The start has expired: what is missing is recorded, whatever part of the range it is, and the copy is never whole.
#[test]
fn an_expired_start_is_a_recorded_gap() {
    for first in 101..115 {
        let mut cluster = Cluster::new(1);
        cluster.stream.start = first;
        assert_eq!(cluster.request(0, 0), Accepted);
        cluster.finish(0);
        let lost = range(100, first.min(RANGE.end));
        assert_eq!(*cluster.record(0), done(71, vec![lost]), "from {first}");
        let read: Vec<_> = std::iter::once(100).chain(first..RANGE.end).collect();
        assert_eq!(cluster.servers[0].read, read);
    }
}

/// The stream forgets while the job reads, and has holes of its own.
#[test]
fn gaps_in_the_middle_are_recorded_too() {
    for until in 1..10 {
        let mut cluster = Cluster::new(1);
        cluster.holes = vec![109];
        assert_eq!(cluster.request(0, 0), Accepted);
        (0..until).for_each(|_| assert!(cluster.work(0)));
        cluster.stream.start = 108;
        cluster.finish(0);
        let mut lost = vec![range(100 + until, 108), range(109, 110)];
        lost.retain(|gap| gap.start < gap.end);
        if until == 9 {
            lost = vec![range(109, 110)];
        }
        assert_eq!(*cluster.record(0), done(71, lost), "after {until} rows");
    }
}

/// What a copy says of itself, where the start has expired: it does not cover its range.
#[test]
fn a_copy_with_a_gap_does_not_pass_for_whole() {
    let mut cluster = Cluster::new(1);
    cluster.stream.start = 104;
    assert_eq!(cluster.request(0, 0), Accepted);
    let mut copies = Vec::new();
    loop {
        let pending = cluster.servers[0].pending.iter();
        copies.extend(pending.filter_map(|issued| match &issued.effect {
            ServerEffect::Call(Request { body: Ask::Reingested { copy, .. }, .. }) => {
                Some(copy.rows.clone())
            }
            _ => None,
        }));
        if !cluster.work(0) {
            break;
        }
    }
    let [rows] = &copies[..] else { panic!("it is sent once") };
    assert_eq!((rows.range, &rows.missing[..]), (RANGE, &[range(100, 104)][..]));
    assert!(!rows.covers(RANGE, &[]));
    assert!(rows.covers(RANGE, &[range(100, 104)]));
}

/// While any listed server has the rows, or does not say, no gap is recorded and the segment stays as it is.
#[test]
fn a_gap_that_somebody_can_fill_is_refused() {
    let mut cluster = Cluster::new(1);
    cluster.stream.start = 104;
    // The other server has consumed it, and still has what it read.
    let mut node = cluster.servers.remove(1);
    node.state = node.role.recover(disk_of(SERVERS[1], 4));
    node.pending.clear();
    cluster.servers.push(node);
    cluster.serve(1, ServerEvent::Transition(segment(0), ReplicaState::Consuming));
    cluster.end(1, |_| true, ServerOutcome::Record(Some(open())));
    for offset in 100..110 {
        cluster.end(
            1,
            |effect| matches!(effect, ServerEffect::Fetch(..)),
            ServerOutcome::Row(offset),
        );
    }
    assert_eq!(cluster.request(0, 0), Accepted);
    cluster.finish(0);
    assert_eq!(*cluster.record(0), committing());
    assert_eq!(cluster.completions, [RefillStatus::Suppliable]);
    assert_eq!((cluster.jobs(0), cluster.resets.len()), (vec![], 0));
}

/// The record was completed meanwhile, or has another end: what was read is not taken.
#[test]
fn what_was_read_counts_only_for_the_record_as_it_was() {
    let other = Record { end: Some(105), ..committing() };
    let stored = committing().done(RANGE.end, Crc(1), Location::Peers);
    let records = [
        (other, RefillStatus::OtherRange),
        (stored, RefillStatus::AlreadyDone),
        (open(), RefillStatus::NotCommitting),
    ];
    for (now, status) in records {
        let mut cluster = Cluster::new(1);
        assert_eq!(cluster.request(0, 0), Accepted);
        (0..11).for_each(|_| assert!(cluster.work(0)));
        cluster.stores.put(segment(0), now.clone());
        cluster.finish(0);
        assert_eq!((cluster.record(0), cluster.resets.len()), (&now, 0));
        assert_eq!(cluster.completions, [status]);
    }
}

/// R9: upstream reads from the end of the stream where the start has expired, and calls what it has a whole segment.
#[cfg(feature = "weaken")]
#[test]
fn upstream_calls_a_segment_without_rows_whole() {
    use surehold::commit::upstream::Release;
    let release = Release::Aug2026;
    let mut cluster = Cluster::of(release.controller(), || release.server());
    cluster.stream.start = 104;
    assert_eq!(cluster.request(0, 0), Accepted);
    cluster.finish(0);
    assert_eq!(cluster.servers[0].read, [100]);
    let record = cluster.record(0);
    assert_eq!((record.status, &record.lost[..]), (Status::Done, &[][..]));
}

/// Every answer to a completed job is an end of it: it is asked for again if need be.
#[test]
fn a_job_ends_with_its_answer() {
    for status in RefillStatus::ALL {
        let mut cluster = Cluster::new(1);
        assert_eq!(cluster.request(0, 0), Accepted);
        (0..12).for_each(|_| assert!(cluster.work(0)));
        let is_call = |effect: &ServerEffect| matches!(effect, ServerEffect::Call(_));
        cluster.end(0, is_call, ServerOutcome::Refilled(status));
        assert_eq!((cluster.jobs(0), cluster.request(0, 0)), (vec![], Accepted), "{status}");
    }
}

// ---------------------------------------------------------------------------------------------------
// Over HTTP, from the request's text to the answer's

#[cfg(feature = "serde")]
mod http {
    use serde_json::{Value, json};
    use surehold::commit::name::SegmentName;
    use surehold::commit::wire::reingest::begin::{Answer, Begin, Request};
    use surehold::commit::wire::reingest::{Form, complete};

    use super::*;

    fn name(sequence: u32) -> SegmentName {
        SegmentName::new("orders", 3, sequence, 7 * 60_000).expect("it has a name")
    }

    /// Posts a request in one of the forms. What is asked of the server, or its answer at once.
    fn post(
        cluster: &mut Cluster<Verified>,
        form: Form,
        sequence: u32,
    ) -> Result<Begin, (u16, Value)> {
        let request = Request::Begin(Begin { form, segment: name(sequence) });
        let body = serde_json::to_value(request.body()).expect("it is JSON");
        let read = Request::read(request.method(), &request.url(), body);
        let Ok(Request::Begin(begin)) = read else { panic!("it is read: {read:?}") };
        let id = begin.segment.id().expect("of a small partition");
        assert_eq!(id, segment(sequence));
        match cluster.ask(0, sequence) {
            None => Ok(begin),
            Some(status) => Err(told(&begin, status)),
        }
    }

    fn told(begin: &Begin, status: ReingestStatus) -> (u16, Value) {
        let answer = Answer::of(status, begin, "6f1c", 9);
        (answer.code(), serde_json::to_value(&answer).expect("it is JSON"))
    }

    /// The record has been read for a request that was not answered at once.
    fn then(cluster: &mut Cluster<Verified>, begin: &Begin) -> (u16, Value) {
        let id = begin.segment.id().expect("of a small partition");
        let record = cluster.stores.records.get(&id).map(|(record, _)| record.clone());
        let is = |effect: &ServerEffect| *effect == ServerEffect::ReadRecord(id);
        cluster.answers.clear();
        cluster.end(0, is, ServerOutcome::Record(record));
        let [status] = cluster.answers[..] else { panic!("it is answered once") };
        told(begin, status)
    }

    fn pending(cluster: &Cluster<Verified>) -> Vec<ServerEffect> {
        cluster.servers[0].pending.iter().map(|issued| issued.effect.clone()).collect()
    }

    fn refused(code: u16, sequence: u32, says: &str) -> (u16, Value) {
        (code, json!({"code": code, "error": format!("{}: {says}", name(sequence))}))
    }

    const CONFLICT: &str = "the segment is being read again here, or is completed";
    const TOO_MANY: &str = "as many jobs run as may";

    /// Two requests for one segment, in either form, and one beyond the limit, before anything has been read: one job
    /// each, and nothing is done for those that are refused.
    #[test]
    fn of_requests_at_the_same_time_one_a_segment_runs_and_no_more_than_may() {
        let mut cluster = Cluster::new(2);
        let first = post(&mut cluster, Form::Text, 0).expect("metadata is read first");
        let state = cluster.servers[0].state.clone();
        assert_eq!(post(&mut cluster, Form::Text, 0), Err(refused(409, 0, CONFLICT)));
        assert_eq!(post(&mut cluster, Form::Tree, 0), Err(refused(409, 0, CONFLICT)));
        assert_eq!(cluster.servers[0].state, state);
        let second = post(&mut cluster, Form::Tree, 1).expect("metadata is read first");
        let state = cluster.servers[0].state.clone();
        assert_eq!(post(&mut cluster, Form::Text, 2), Err(refused(429, 2, TOO_MANY)));
        assert_eq!(cluster.servers[0].state, state);
        let read = |sequence| ServerEffect::ReadRecord(segment(sequence));
        assert_eq!(pending(&cluster), [read(0), read(1)]);

        let message = format!("{}: it is read again", name(0));
        let begun = (200, json!({"jobId": "6f1c", "message": message}));
        assert_eq!(then(&mut cluster, &first), begun);
        let begun = json!({"jobId": "6f1c", "segmentName": name(1).to_string(), "startTimeMs": 9});
        assert_eq!(then(&mut cluster, &second), (200, begun));
        assert_eq!(cluster.jobs(0), [segment(0), segment(1)]);
        let fetch = |sequence| ServerEffect::Fetch(segment(sequence), RANGE.start);
        assert_eq!(pending(&cluster), [fetch(0), fetch(1)]);

        // A place is free once its job is over.
        cluster.finish(0);
        assert_eq!(cluster.completions, [RefillStatus::Done, RefillStatus::Done]);
        assert!(post(&mut cluster, Form::Text, 2).is_ok());
        assert_eq!(pending(&cluster), [read(2)]);
    }

    #[test]
    fn what_metadata_says_is_the_answer() {
        let stored = committing().done(RANGE.end, Crc(1), Location::Peers);
        let not_ready = "the server or the segment is not ready for it";
        let cases = [
            (None, refused(404, 0, "this server has no such segment")),
            (Some(stored), refused(409, 0, CONFLICT)),
            (Some(open()), refused(500, 0, not_ready)),
        ];
        for (record, answer) in cases {
            let mut cluster = Cluster::new(1);
            cluster.stores.records.remove(&segment(0));
            record.into_iter().for_each(|record| cluster.stores.put(segment(0), record));
            let begin = post(&mut cluster, Form::Text, 0).expect("metadata is read first");
            assert_eq!(then(&mut cluster, &begin), answer);
            assert_eq!((cluster.jobs(0), pending(&cluster)), (vec![], vec![]));
        }
        let mut cluster = Cluster::new(1);
        let answer = refused(404, 9, "this server has no such segment");
        assert_eq!(post(&mut cluster, Form::Tree, 9), Err(answer));
    }

    /// A second completion by the same server while one is under way, and a controller that ends.
    #[test]
    fn a_completion_that_is_not_taken_is_told_so() {
        let refusals = [
            (Refusal::Busy(segment(0)), 409, "segment 0 is being worked on"),
            (Refusal::Stopping, 500, "this controller is being stopped"),
        ];
        for (refusal, code, says) in refusals {
            let answer = complete::Answer::refused(refusal, &name(0));
            let body = serde_json::to_value(&answer).expect("it is JSON");
            assert_eq!((answer.code(), body), refused(code, 0, says));
        }
    }
}
