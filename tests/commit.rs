//! The roles of commit, event by event: the three steps, reingestion with each of its answers, refusals.

use surehold::collections::Table;
use surehold::commit::completion::{Answer, Kind, Mode, Reason};
use surehold::commit::controller::{self, Controller};
use surehold::commit::effect::{Change, Expected};
use surehold::commit::event::{ControllerOutcome, Found, ServerOutcome};
use surehold::commit::invariant::online_too_soon;
use surehold::commit::message::{
    Ask, Caller, Order, RefillStatus, ReingestStatus, Report, Request, Tell,
};
use surehold::commit::object::{
    ControllerId, Crc, IdealState, Location, ObjectId, PartitionId, Range, Record, ReplicaState,
    Rows, Sealed, SegmentId, ServerId, Status, TableConfig, Version, View,
};
use surehold::commit::server::{self, Server};
use surehold::commit::{
    ControllerEffect, ControllerEvent, Input, Refusal, ServerEffect, ServerEvent, Task,
};
use surehold::{EffectId, Machine};

const S0: ServerId = ServerId(0);
const S1: ServerId = ServerId(1);
const C0: ControllerId = ControllerId(0);
const PARTITION: PartitionId = PartitionId(3);

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: PARTITION, sequence, minute: 7 }
}

fn table() -> TableConfig {
    TableConfig {
        mode: Mode::Pauseless,
        is_ordered: false,
        replicas: 2,
        row_limit: 10,
        may_refill: false,
        auto_reset: None,
    }
}

fn open() -> Record {
    Record::starting_at(100, 2, 10)
}

fn committing() -> Record {
    Record { status: Status::Committing, end: Some(110), ..open() }
}

fn found(record: Record) -> Found {
    Found { record, version: Version(4), age_ms: 0 }
}

fn copy(missing: Vec<Range>) -> Sealed {
    let range = Range { start: 100, end: 110 };
    Sealed { crc: Crc(9), rows: Rows { range, missing } }
}

fn listed(states: &[(u32, ReplicaState)]) -> IdealState {
    let mut ideal = IdealState::default();
    for (sequence, state) in states {
        let mut replicas = Table::new();
        replicas.insert(S0, *state);
        replicas.insert(S1, *state);
        ideal.segments.insert(segment(*sequence), replicas);
    }
    ideal
}

/// A controller, and what it asked for last.
struct Leader {
    role: Controller,
    state: controller::State,
    asked: EffectId,
}

impl Leader {
    fn elected() -> Self {
        let role = Controller::new(controller::Limits::default());
        let durable = controller::Durable { controller: C0, incarnation: 2, table: table() };
        let state = role.recover(durable);
        let asked = EffectId { incarnation: 0, number: 0 };
        let mut leader = Self { role, state, asked };
        assert_eq!(leader.take(ControllerEvent::Elected), Ok(vec![]));
        leader
    }

    fn take(&mut self, event: ControllerEvent) -> Result<Vec<ControllerEffect>, Refusal> {
        let step = self.role.step(&self.state, event)?;
        self.state = step.state;
        if let Some(issued) = step.effects.iter().find(|issued| issued.id.number > 0) {
            self.asked = issued.id;
        }
        Ok(step.effects.into_iter().map(|issued| issued.effect).collect())
    }

    fn end(&mut self, outcome: ControllerOutcome) -> Vec<ControllerEffect> {
        let id = self.asked;
        self.take(ControllerEvent::Outcome { id, outcome }).expect("it waits for this")
    }

    fn hear(&mut self, from: ServerId, body: Ask) -> Vec<ControllerEffect> {
        let request = Request { segment: segment(0), body };
        let event = ControllerEvent::Received { caller: caller(from), request, input: input() };
        self.take(event).expect("it is taken")
    }

    /// The three steps have begun: S0 has won and begins to commit.
    fn committing() -> Self {
        let mut leader = Self::elected();
        leader.hear(S0, Ask::Say(110, Kind::Consumed(Some(Reason::RowLimit))));
        leader.end(ControllerOutcome::Record(Some(found(open()))));
        let asks = leader.hear(S0, Ask::Say(110, Kind::CommitStart));
        assert_eq!(asks, [ControllerEffect::ReadRecord(segment(0))]);
        leader
    }
}

fn caller(process: ServerId) -> Caller<ServerId> {
    Caller { process, id: EffectId { incarnation: 5, number: 1 } }
}

fn input() -> Input {
    Input { now_ms: 0, minute: 7, pick: 0 }
}

#[test]
fn a_commit_is_three_steps_of_one_operation_each() {
    let mut leader = Leader::committing();
    let asks = leader.end(ControllerOutcome::Record(Some(found(open()))));
    let write =
        ControllerEffect::WriteRecord(segment(0), committing(), Expected::Version(Version(4)));
    assert_eq!(asks, [write]);
    let asks = leader.end(ControllerOutcome::Applied);
    assert_eq!(asks, [ControllerEffect::ReadStream(PARTITION)]);
    let asks = leader.end(ControllerOutcome::Stream(Some(100)));
    assert_eq!(asks, [ControllerEffect::ListRecords(PARTITION)]);
    let asks = leader.end(ControllerOutcome::Records(vec![(segment(0), found(committing()))]));
    let next = Record::starting_at(110, 2, 10);
    assert_eq!(asks, [ControllerEffect::WriteRecord(segment(1), next, Expected::Absent)]);
    assert_eq!(leader.end(ControllerOutcome::Applied), [ControllerEffect::ReadIdeal]);
    let ideal = listed(&[(0, ReplicaState::Consuming)]);
    let asks = leader.end(ControllerOutcome::Ideal(ideal, Version(8)));
    let changes =
        vec![Change::Set(segment(0), ReplicaState::Online), Change::Add(segment(1), vec![S0, S1])];
    assert_eq!(asks, [ControllerEffect::WriteIdeal(Version(8), changes)]);
    let asks = leader.end(ControllerOutcome::Applied);
    assert_eq!(asks, [ControllerEffect::Answer(caller(S0), Answer::CommitContinue)]);
}

#[test]
fn a_lost_reply_is_resolved_by_reading() {
    let mut leader = Leader::committing();
    leader.end(ControllerOutcome::Record(Some(found(open()))));
    let asks = leader.end(ControllerOutcome::Unknown);
    assert_eq!(asks, [ControllerEffect::ReadRecord(segment(0))]);
    // It had been written: the second step follows.
    let asks = leader.end(ControllerOutcome::Record(Some(found(committing()))));
    assert_eq!(asks, [ControllerEffect::ReadStream(PARTITION)]);
}

/// A partition that has come to its end: its last segment is closed and no other begins.
#[test]
fn an_ended_partition_gets_no_next_segment() {
    let mut leader = Leader::committing();
    leader.end(ControllerOutcome::Record(Some(found(open()))));
    leader.end(ControllerOutcome::Applied);
    assert_eq!(leader.end(ControllerOutcome::Stream(None)), [ControllerEffect::ReadIdeal]);
    let ideal = listed(&[(0, ReplicaState::Consuming)]);
    let asks = leader.end(ControllerOutcome::Ideal(ideal, Version(8)));
    let changes = vec![Change::Set(segment(0), ReplicaState::Online)];
    assert_eq!(asks, [ControllerEffect::WriteIdeal(Version(8), changes)]);
    let asks = leader.end(ControllerOutcome::Applied);
    assert_eq!(asks, [ControllerEffect::Answer(caller(S0), Answer::CommitContinue)]);
}

/// The validator does not take a stream that does not answer for one that has ended.
#[test]
fn a_stream_that_does_not_answer_goes_on() {
    let asks = |outcome| {
        let mut leader = Leader::elected();
        let task = Task::Validate(PARTITION);
        let asks = leader.take(ControllerEvent::Continue { task, input: input() });
        assert_eq!(asks, Ok(vec![ControllerEffect::ReadStream(PARTITION)]));
        assert_eq!(leader.end(outcome), [ControllerEffect::ReadIdeal]);
        let ideal = listed(&[(0, ReplicaState::Online)]);
        leader.end(ControllerOutcome::Ideal(ideal, Version(1)));
        leader.end(ControllerOutcome::Records(vec![(segment(0), found(committing()))]))
    };
    let next = Record::starting_at(110, 2, 10);
    let create = ControllerEffect::WriteRecord(segment(1), next, Expected::Absent);
    assert_eq!(asks(ControllerOutcome::Failed), std::slice::from_ref(&create));
    assert_eq!(asks(ControllerOutcome::Stream(Some(105))), [create]);
    assert_eq!(asks(ControllerOutcome::Stream(None)), []);
}

#[test]
fn a_record_of_another_end_is_not_taken_over() {
    let mut leader = Leader::committing();
    let other = Record { end: Some(105), ..committing() };
    let asks = leader.end(ControllerOutcome::Record(Some(found(other))));
    assert_eq!(asks, [ControllerEffect::Answer(caller(S0), Answer::Failed)]);
}

#[test]
fn a_failed_third_step_deletes_nothing() {
    let mut leader = Leader::committing();
    leader.end(ControllerOutcome::Record(Some(found(open()))));
    leader.end(ControllerOutcome::Applied);
    leader.end(ControllerOutcome::Unknown);
    leader.end(ControllerOutcome::Records(Vec::new()));
    leader.end(ControllerOutcome::Applied);
    let asks = leader.end(ControllerOutcome::Failed);
    assert_eq!(asks, [ControllerEffect::Answer(caller(S0), Answer::Failed)]);
}

#[test]
fn whoever_does_not_lead_says_so_and_begins_no_task() {
    let mut leader = Leader::elected();
    assert_eq!(leader.take(ControllerEvent::Deposed), Ok(vec![]));
    let asks = leader.hear(S0, Ask::Say(110, Kind::Consumed(None)));
    assert_eq!(asks, [ControllerEffect::Answer(caller(S0), Answer::NotLeader)]);
    let event = ControllerEvent::Continue { task: Task::Validate(PARTITION), input: input() };
    assert_eq!(leader.take(event), Err(Refusal::NotLeading));
}

#[test]
fn a_message_waits_while_the_segment_is_worked_on() {
    let mut leader = Leader::committing();
    let request = Request { segment: segment(0), body: Ask::Say(110, Kind::Consumed(None)) };
    let event = ControllerEvent::Received { caller: caller(S1), request, input: input() };
    assert_eq!(leader.take(event), Err(Refusal::Busy(segment(0))));
}

#[test]
fn the_outcome_of_another_life_or_of_another_kind_is_refused() {
    let mut leader = Leader::committing();
    let before = leader.state.clone();
    let outcome = ControllerOutcome::Applied;
    let id = EffectId { incarnation: 1, ..leader.asked };
    let refused = leader.take(ControllerEvent::Outcome { id, outcome: outcome.clone() });
    assert_eq!(refused, Err(Refusal::OtherIncarnation { id, current: 2 }));
    let id = EffectId { number: 99, ..leader.asked };
    let refused = leader.take(ControllerEvent::Outcome { id, outcome: outcome.clone() });
    assert_eq!(refused, Err(Refusal::NotOutstanding(id)));
    let id = leader.asked;
    let refused = leader.take(ControllerEvent::Outcome { id, outcome });
    assert_eq!(refused, Err(Refusal::UnfitOutcome(id)));
    assert_eq!(leader.state, before);
}

fn stored() -> ObjectId {
    ObjectId { segment: segment(0), attempt: Some(77) }
}

#[test]
fn a_reingested_segment_is_completed_by_compare_and_set() {
    let mut leader = Leader::elected();
    let body = Ask::Reingested { copy: copy(Vec::new()), stored: stored() };
    assert_eq!(leader.hear(S0, body), [ControllerEffect::ReadRecord(segment(0))]);
    let asks = leader.end(ControllerOutcome::Record(Some(found(committing()))));
    let done = committing().done(110, Crc(9), Location::Object(stored()));
    let write = ControllerEffect::WriteRecord(segment(0), done, Expected::Version(Version(4)));
    assert_eq!(asks, [write]);
    assert_eq!(leader.end(ControllerOutcome::Applied), [ControllerEffect::ReadView]);
}

/// A reingested segment whose completion has come to the write of the record.
fn refilling() -> Leader {
    let mut leader = Leader::elected();
    leader.hear(S0, Ask::Reingested { copy: copy(Vec::new()), stored: stored() });
    leader.end(ControllerOutcome::Record(Some(found(committing()))));
    leader
}

fn refilled(status: RefillStatus) -> ControllerEffect {
    ControllerEffect::AnswerRefill(caller(S0), status)
}

#[test]
fn a_completion_tells_done_and_resets_replicas_in_error() {
    let mut leader = refilling();
    assert_eq!(leader.end(ControllerOutcome::Applied), [ControllerEffect::ReadView]);
    let segments = [(0, ReplicaState::Error), (1, ReplicaState::Error)];
    let view = View { segments: listed(&segments).segments };
    let asks = leader.end(ControllerOutcome::View(view));
    let reset = |server| ControllerEffect::Reset(segment(0), server);
    assert_eq!(asks, [reset(S0), reset(S1), refilled(RefillStatus::Done)]);
    assert_eq!(leader.state, Leader::elected().state);
}

/// What the record is by now says why there is nothing to complete.
#[test]
fn a_completion_tells_what_the_record_is() {
    let uploaded = Record { status: Status::Uploaded, ..committing() };
    let records = [
        (None, RefillStatus::NotFound),
        (Some(open()), RefillStatus::NotCommitting),
        (Some(Record { end: None, ..committing() }), RefillStatus::NotCommitting),
        (Some(committing().done(110, Crc(1), Location::Peers)), RefillStatus::AlreadyDone),
        (Some(uploaded), RefillStatus::AlreadyDone),
        (Some(Record { end: Some(109), ..committing() }), RefillStatus::OtherRange),
        (Some(Record { start: 99, ..committing() }), RefillStatus::OtherRange),
    ];
    for (record, status) in records {
        let mut leader = Leader::elected();
        leader.hear(S0, Ask::Reingested { copy: copy(Vec::new()), stored: stored() });
        let asks = leader.end(ControllerOutcome::Record(record.map(found)));
        assert_eq!(asks, [refilled(status)]);
        assert_eq!(leader.state, Leader::elected().state, "{status:?}: nothing is left");
    }
}

/// An operation that does not end well, at each of them.
#[test]
fn a_completion_tells_which_operation_failed() {
    let beginning = || {
        let mut leader = Leader::elected();
        leader.hear(S0, Ask::Reingested { copy: copy(Vec::new()), stored: stored() });
        leader
    };
    let viewing = || {
        let mut leader = refilling();
        leader.end(ControllerOutcome::Applied);
        leader
    };
    let ends: [(&str, Leader, ControllerOutcome, RefillStatus); 7] = [
        ("read", beginning(), ControllerOutcome::Failed, RefillStatus::Failed),
        ("read", beginning(), ControllerOutcome::Unknown, RefillStatus::Failed),
        ("write", refilling(), ControllerOutcome::Failed, RefillStatus::Failed),
        ("write", refilling(), ControllerOutcome::Precondition, RefillStatus::Overtaken),
        ("view", viewing(), ControllerOutcome::Failed, RefillStatus::NotReset),
        ("view", viewing(), ControllerOutcome::Unknown, RefillStatus::NotReset),
        ("view", viewing(), ControllerOutcome::View(View::default()), RefillStatus::Done),
    ];
    for (operation, mut leader, outcome, status) in ends {
        assert_eq!(leader.end(outcome), [refilled(status)], "{operation}");
        assert_eq!(leader.state, Leader::elected().state, "{operation}: nothing is left");
    }
}

/// The reply of the write is lost: the record is read again, and says how it ended.
#[test]
fn a_completion_whose_write_is_not_known_reads_again() {
    let written = committing().done(110, Crc(9), Location::Object(stored()));
    let mut leader = refilling();
    let asks = leader.end(ControllerOutcome::Unknown);
    assert_eq!(asks, [ControllerEffect::ReadRecord(segment(0))]);
    let asks = leader.end(ControllerOutcome::Record(Some(found(written))));
    assert_eq!(asks, [refilled(RefillStatus::AlreadyDone)]);
}

/// Upstream takes an unknown end for a failure, and so does the move of the object fail.
#[cfg(feature = "weaken")]
#[test]
fn a_completion_upstream_does_not_read_again() {
    use surehold::commit::upstream::Release;
    let role = Release::Aug2026.controller();
    let durable = controller::Durable { controller: C0, incarnation: 2, table: table() };
    let body = || Ask::Reingested { copy: copy(Vec::new()), stored: stored() };
    let record = || ControllerOutcome::Record(Some(found(committing())));
    let moved = ControllerOutcome::Applied;
    let ways = [
        (vec![record(), ControllerOutcome::Failed], RefillStatus::Failed),
        (vec![record(), ControllerOutcome::Unknown], RefillStatus::Failed),
        (vec![record(), moved.clone(), ControllerOutcome::Unknown], RefillStatus::Unknown),
        (vec![record(), moved, ControllerOutcome::Precondition], RefillStatus::Overtaken),
    ];
    for (outcomes, status) in ways {
        let state = role.recover(durable);
        let request = Request { segment: segment(0), body: body() };
        let event = ControllerEvent::Received { caller: caller(S0), request, input: input() };
        let mut step = role.step(&state, event).expect("it is taken");
        for outcome in outcomes {
            let id = step.effects[0].id;
            let event = ControllerEvent::Outcome { id, outcome };
            step = role.step(&step.state, event).expect("it waits for this");
        }
        let effects: Vec<_> = step.effects.into_iter().map(|issued| issued.effect).collect();
        assert_eq!((effects, step.state), (vec![refilled(status)], state));
    }
}

/// The same server asks again while it is under way; another server is another completion.
#[test]
fn a_completion_of_a_server_is_one_at_a_time() {
    let mut leader = refilling();
    let before = leader.state.clone();
    let body = || Ask::Reingested { copy: copy(Vec::new()), stored: stored() };
    let request = Request { segment: segment(0), body: body() };
    let event = ControllerEvent::Received { caller: caller(S0), request, input: input() };
    assert_eq!(leader.take(event), Err(Refusal::Busy(segment(0))));
    assert_eq!(leader.state, before);
    assert_eq!(leader.hear(S1, body()), [ControllerEffect::ReadRecord(segment(0))]);
}

/// An expired start: the gap is recorded, and only once every listed server has said that it cannot help.
#[test]
fn a_gap_is_recorded_after_everybody_was_asked() {
    let gap = Range { start: 100, end: 104 };
    let order = |server| {
        let body = Tell::Exceed(copy(vec![gap]).rows);
        ControllerEffect::Call(Order { server, segment: segment(0), body })
    };
    let mut leader = Leader::elected();
    leader.hear(S0, Ask::Reingested { copy: copy(vec![gap]), stored: stored() });
    let asks = leader.end(ControllerOutcome::Record(Some(found(committing()))));
    assert_eq!(asks, [ControllerEffect::ReadIdeal]);
    let ideal = listed(&[(0, ReplicaState::Online)]);
    // Who has sent the copy comes last.
    assert_eq!(leader.end(ControllerOutcome::Ideal(ideal, Version(1))), [order(S1)]);
    let no = || ControllerOutcome::Reported(Report::Supplies(false));
    assert_eq!(leader.end(no()), [order(S0)]);
    let before = (leader.state.clone(), leader.asked);
    let done = committing().done(110, Crc(9), Location::Object(stored()));
    let done = Record { lost: vec![gap], ..done };
    let write = ControllerEffect::WriteRecord(segment(0), done, Expected::Version(Version(4)));
    assert_eq!(leader.end(no()), [write]);
    // A server that has the rows, or does not answer, stops it.
    let ends = [
        (ControllerOutcome::Reported(Report::Supplies(true)), RefillStatus::Suppliable),
        (ControllerOutcome::Reported(Report::NotUploaded), RefillStatus::Failed),
        (ControllerOutcome::Failed, RefillStatus::Failed),
        (ControllerOutcome::Unknown, RefillStatus::Failed),
    ];
    for (outcome, status) in ends {
        (leader.state, leader.asked) = before.clone();
        assert_eq!(leader.end(outcome), [refilled(status)]);
        assert_eq!(leader.state, Leader::elected().state);
    }
}

#[test]
fn an_ordered_table_is_not_refilled_unless_the_operator_says_so() {
    let acts = |may_refill| {
        let mut leader = Leader::elected();
        let ordered = TableConfig { is_ordered: true, may_refill, ..table() };
        leader.take(ControllerEvent::Configured(ordered)).expect("it is taken");
        let task = Task::Repair(PARTITION);
        leader.take(ControllerEvent::Continue { task, input: input() }).expect("it begins");
        let ideal = listed(&[(0, ReplicaState::Online)]);
        leader.end(ControllerOutcome::Ideal(ideal, Version(1)));
        let shown = listed(&[(0, ReplicaState::Error)]).segments;
        let view = surehold::commit::object::View { segments: shown };
        leader.end(ControllerOutcome::View(view));
        let asks = leader.end(ControllerOutcome::Records(vec![(segment(0), found(committing()))]));
        // Whoever still has all rows may go on in any case.
        assert_eq!(asks, [supply(S0)]);
        assert_eq!(leader.end(ControllerOutcome::Reported(Report::Supplies(false))), [supply(S1)]);
        leader.end(ControllerOutcome::Reported(Report::Supplies(false)))
    };
    assert_eq!(acts(false), []);
    let order = Order { server: S0, segment: segment(0), body: Tell::Reingest };
    assert_eq!(acts(true), [ControllerEffect::Call(order)]);
}

fn supply(server: ServerId) -> ControllerEffect {
    let range = Range { start: 100, end: 110 };
    ControllerEffect::Call(Order { server, segment: segment(0), body: Tell::Supply(range) })
}

/// A server, and what it asked for last.
struct Replica {
    role: Server,
    state: server::State,
    asked: EffectId,
}

impl Replica {
    fn started(max_jobs: usize) -> Self {
        let role =
            Server::new(server::Limits { max_builds: 1, max_jobs, ..server::Limits::default() });
        let durable = server::Durable {
            server: S0,
            incarnation: 3,
            mode: Mode::Pauseless,
            disk: Table::new(),
        };
        let state = role.recover(durable);
        Self { role, state, asked: EffectId { incarnation: 0, number: 0 } }
    }

    fn take(&mut self, event: ServerEvent) -> Vec<ServerEffect> {
        let step = self.role.step(&self.state, event).expect("it is taken");
        self.state = step.state;
        if let Some(issued) = step.effects.iter().find(|issued| issued.id.number > 0) {
            self.asked = issued.id;
        }
        step.effects.into_iter().map(|issued| issued.effect).collect()
    }

    fn end(&mut self, outcome: ServerOutcome) -> Vec<ServerEffect> {
        let id = self.asked;
        self.take(ServerEvent::Outcome { id, outcome })
    }

    /// Its replicas of these segments are in error.
    fn in_error(sequences: &[u32], max_jobs: usize) -> Self {
        let mut replica = Self::started(max_jobs);
        for sequence in sequences {
            let id = segment(*sequence);
            replica.take(ServerEvent::Transition(id, ReplicaState::Online));
            let shown = replica.end(ServerOutcome::Record(None));
            assert_eq!(shown, [ServerEffect::Show(id, ReplicaState::Error)]);
        }
        replica
    }

    fn reingest(&mut self, sequence: u32) -> Vec<ServerEffect> {
        let order = Order { server: S0, segment: segment(sequence), body: Tell::Reingest };
        self.take(ServerEvent::Received { caller: controller(), order, attempt: 0 })
    }
}

fn controller() -> Caller<ControllerId> {
    Caller { process: C0, id: EffectId { incarnation: 2, number: 1 } }
}

fn answers(status: ReingestStatus) -> ServerEffect {
    ServerEffect::Report(controller(), Report::Reingest(status))
}

#[test]
fn each_answer_to_reingestion_has_its_code() {
    use ReingestStatus::{Accepted, Conflict, NotFound, NotReady, TooMany};
    let codes = [Accepted, NotFound, Conflict, TooMany, NotReady].map(ReingestStatus::code);
    assert_eq!(codes, [200, 404, 409, 429, 500]);
}

#[test]
fn reingestion_is_answered_by_what_is_there() {
    // No such segment here.
    let mut replica = Replica::in_error(&[0], 1);
    assert_eq!(replica.reingest(9), [answers(ReingestStatus::NotFound)]);
    // Metadata decides: absent, open, completed.
    let completed = committing().done(110, Crc(1), Location::Peers);
    for (record, status) in [
        (None, ReingestStatus::NotFound),
        (Some(open()), ReingestStatus::NotReady),
        (Some(completed), ReingestStatus::Conflict),
    ] {
        let mut replica = Replica::in_error(&[0], 1);
        assert_eq!(replica.reingest(0), [ServerEffect::ReadRecord(segment(0))]);
        assert_eq!(replica.end(ServerOutcome::Record(record)), [answers(status)]);
        assert_eq!(replica.state.jobs().count(), 0);
    }
}

#[test]
fn concurrent_reingestions_conflict_or_are_too_many() {
    let mut replica = Replica::in_error(&[0, 1, 2], 2);
    replica.reingest(0);
    let begins = replica.end(ServerOutcome::Record(Some(committing())));
    let accepted = answers(ReingestStatus::Accepted);
    assert_eq!(begins, [ServerEffect::Fetch(segment(0), 100), accepted]);
    assert_eq!(replica.reingest(0), [answers(ReingestStatus::Conflict)]);
    replica.reingest(1);
    assert_eq!(replica.reingest(2), [answers(ReingestStatus::TooMany)]);
    assert_eq!(
        replica.state.jobs().map(|(id, _)| id).collect::<Vec<_>>(),
        [segment(0), segment(1)]
    );
}

/// Reads exactly the range, and knows what was missing; the permit is given back whatever happens.
/// #16904: only the view tells of a transition that throws; elsewhere there is nothing to throw.
#[test]
fn a_transition_that_throws_is_in_error_and_tells_nobody() {
    let mut replica = Replica::started(1);
    let id = segment(0);
    let refused = |replica: &Replica| {
        replica
            .role
            .step(&replica.state, ServerEvent::Throw(id))
            .err()
            .map(|why| format!("{why:?}"))
    };
    assert!(refused(&replica).is_some());
    replica.take(ServerEvent::Transition(id, ReplicaState::Consuming));
    let asked = replica.asked;
    let shown = replica.take(ServerEvent::Throw(id));
    assert_eq!(shown, [ServerEffect::Show(id, ReplicaState::Error)]);
    // What was being read is of no use any more.
    replica.asked = asked;
    let before = replica.state.clone();
    assert_eq!(replica.end(ServerOutcome::Record(Some(open()))), []);
    assert_eq!(replica.state.replica(id), before.replica(id));
    assert!(refused(&replica).is_some());
}

/// R9: the stream may have forgotten what a replica in error still has in memory.
#[test]
fn a_job_begins_with_the_rows_in_memory() {
    let mut replica = Replica::started(1);
    let id = segment(0);
    replica.take(ServerEvent::Transition(id, ReplicaState::Consuming));
    replica.end(ServerOutcome::Record(Some(open())));
    for offset in 100..104 {
        assert_eq!(replica.end(ServerOutcome::Row(offset)), [ServerEffect::Fetch(id, offset + 1)]);
    }
    let shown = replica.take(ServerEvent::Break(id));
    assert_eq!(shown[0], ServerEffect::Show(id, ReplicaState::Error));
    let exceeds = |replica: &mut Replica, missing: &[Range]| {
        let rows = Rows { range: Range { start: 100, end: 110 }, missing: missing.to_vec() };
        let order = Order { server: S0, segment: id, body: Tell::Exceed(rows) };
        let event = ServerEvent::Received { caller: controller(), order, attempt: 0 };
        match replica.take(event).as_slice() {
            [ServerEffect::Report(to, Report::Supplies(supplies))] if *to == controller() => {
                *supplies
            }
            other => panic!("{other:?}"),
        }
    };
    let gap = |start, end| Range { start, end };
    // It has 100 to 103, and the stream whatever comes behind the last gap.
    assert!(exceeds(&mut replica, &[gap(100, 104)]));
    assert!(exceeds(&mut replica, &[gap(102, 105)]));
    assert!(!exceeds(&mut replica, &[gap(104, 106)]));
    // Each has what the other has not.
    assert!(!exceeds(&mut replica, &[gap(100, 101), gap(105, 106)]));
    assert!(!exceeds(&mut replica, &[]));
    assert_eq!(replica.reingest(0), [ServerEffect::ReadRecord(id)]);
    let asks = replica.end(ServerOutcome::Record(Some(committing())));
    assert_eq!(asks, [ServerEffect::Fetch(id, 104), answers(ReingestStatus::Accepted)]);
}

/// Against sets of offsets, for all rows of up to four offsets.
#[test]
fn rows_improve_on_a_copy_if_they_have_all_of_it_and_more() {
    use std::collections::BTreeSet;
    let range = Range { start: 10, end: 14 };
    let rows_of = |bits: u32, len: u64| {
        let mut rows = Rows::from(range.start);
        for at in (0..len).filter(|at| bits & (1 << at) != 0) {
            rows.read(range.start + at);
        }
        rows.skip_to(range.start + len);
        rows
    };
    let set = |rows: &Rows| -> BTreeSet<u64> {
        let gaps = rows.gaps(range);
        let is_missing = |at: &u64| gaps.iter().any(|gap| gap.start <= *at && *at < gap.end);
        (range.start..range.end).filter(|at| !is_missing(at)).collect()
    };
    let mut improved = 0;
    for (copy, own, len) in (0..16)
        .flat_map(|copy| (0..16).map(move |own| (copy, own)))
        .flat_map(|(copy, own)| (0..=4).map(move |len| (copy, own, len)))
    {
        let (copy, own) = (rows_of(copy, 4), rows_of(own, len));
        for first in 9..=15 {
            let both: BTreeSet<u64> = set(&own).into_iter().chain(first.max(10)..14).collect();
            let more = both.is_superset(&set(&copy)) && both != set(&copy);
            assert_eq!(
                own.improves(range, &copy.gaps(range), first),
                more,
                "{copy:?} {own:?} {first}"
            );
            improved += u32::from(more);
        }
    }
    assert!(improved > 100, "{improved}");
}

#[test]
fn a_job_reads_the_range_and_reports_its_gap() {
    let record = Record { end: Some(103), ..committing() };
    let mut replica = Replica::in_error(&[0], 1);
    replica.reingest(0);
    replica.end(ServerOutcome::Record(Some(record)));
    let asks = replica.end(ServerOutcome::Expired { first: 101, end: 500 });
    assert_eq!(asks, [ServerEffect::Fetch(segment(0), 101)]);
    replica.end(ServerOutcome::Row(101));
    let asks = replica.end(ServerOutcome::Row(107));
    let range = Range { start: 100, end: 103 };
    let missing = vec![Range { start: 100, end: 101 }, Range { start: 102, end: 103 }];
    let rows = Rows { range, missing };
    assert_eq!(asks, [ServerEffect::Build(segment(0), rows.clone())]);
    assert_eq!(replica.state.builds(), 1);
    let asks = replica.end(ServerOutcome::Built { crc: Crc(4), attempt: 77 });
    assert_eq!(asks, [ServerEffect::Upload(stored(), Crc(4))]);
    assert_eq!(replica.state.builds(), 0);
    let asks = replica.end(ServerOutcome::Applied);
    let body = Ask::Reingested { copy: Sealed { crc: Crc(4), rows }, stored: stored() };
    assert_eq!(asks, [ServerEffect::Call(Request { segment: segment(0), body })]);
    assert_eq!(replica.end(ServerOutcome::Refilled(RefillStatus::Failed)), []);
    assert_eq!(replica.state.jobs().count(), 0);
}

#[test]
fn a_failed_build_gives_the_permit_back() {
    let record = Record { end: Some(101), ..committing() };
    let mut replica = Replica::in_error(&[0], 1);
    replica.reingest(0);
    replica.end(ServerOutcome::Record(Some(record)));
    replica.end(ServerOutcome::Row(100));
    assert_eq!(replica.state.builds(), 1);
    assert_eq!(replica.end(ServerOutcome::Failed), []);
    assert_eq!((replica.state.builds(), replica.state.jobs().count()), (0, 0));
}

/// A commit holds the segment's lock from COMMIT to its end.
#[test]
fn a_transition_waits_for_the_commit() {
    let mut replica = Replica::started(1);
    replica.take(ServerEvent::Transition(segment(0), ReplicaState::Consuming));
    let record = Record { row_limit: 1, ..open() };
    replica.end(ServerOutcome::Record(Some(record)));
    replica.end(ServerOutcome::Row(100));
    let answer = Answer::Commit { offset: 101, build_s: 126 };
    let asks = replica.end(ServerOutcome::Answered(answer));
    let body = Ask::Say(101, Kind::CommitStart);
    assert_eq!(asks, [ServerEffect::Call(Request { segment: segment(0), body })]);
    let event = ServerEvent::Transition(segment(0), ReplicaState::Online);
    let refused = replica.role.step(&replica.state, event);
    assert_eq!(refused.map(|step| step.effects), Err(Refusal::Locked(segment(0))));
}

/// I4: ONLINE only once the end is in the record; with blocking commits, once it is done.
#[test]
fn what_is_online_before_its_end_is_written_is_seen() {
    let mut ideal = IdealState::default();
    for (sequence, state) in [(0, ReplicaState::Online), (1, ReplicaState::Consuming)] {
        let mut replicas = Table::new();
        replicas.insert(S0, state);
        ideal.segments.insert(segment(sequence), replicas);
    }
    let done = committing().done(110, Crc(5), Location::Peers);
    let too_soon = |record: Option<Record>, once_done| {
        let open = open();
        let of = |id| if id == segment(0) { record.as_ref() } else { Some(&open) };
        online_too_soon(&ideal, of, once_done)
    };
    assert_eq!(too_soon(Some(open()), false), Some(segment(0)));
    assert_eq!(too_soon(Some(committing()), false), None);
    assert_eq!(too_soon(Some(committing()), true), Some(segment(0)));
    assert_eq!(too_soon(Some(done), true), None);
    assert_eq!(too_soon(None, true), None, "that is I9");
}

/// A stream never goes back: a row that was read already is no answer, and nothing is lost or read twice by it.
#[test]
fn a_row_that_cannot_be_the_next_is_refused() {
    let server = Server::new(server::Limits::default());
    let durable =
        server::Durable { server: S0, incarnation: 0, mode: Mode::Pauseless, disk: Table::new() };
    let mut state = server.recover(durable);
    let mut ask = |event: ServerEvent| {
        let step = server.step(&state, event)?;
        state = step.state;
        Ok(step.effects.last().map(|issued| issued.id).expect("it asks for more"))
    };
    let read = ask(ServerEvent::Transition(segment(0), ReplicaState::Consuming)).expect("taken");
    let outcome = |id, outcome| ServerEvent::Outcome { id, outcome };
    let fetch = ask(outcome(read, ServerOutcome::Record(Some(open())))).expect("taken");
    for offset in [99, 0, u64::MAX] {
        let refused = ask(outcome(fetch, ServerOutcome::Row(offset)));
        assert_eq!(refused, Err(Refusal::UnfitOutcome(fetch)), "{offset}");
    }
    let next = ask(outcome(fetch, ServerOutcome::Row(103))).expect("rows 100 to 102 are missing");
    assert!(ask(outcome(next, ServerOutcome::Row(103))).is_err());
    let memory = state.replica(segment(0)).and_then(|replica| replica.memory.clone());
    let missing = vec![Range { start: 100, end: 103 }];
    assert_eq!(memory, Some(Rows { range: Range { start: 100, end: 104 }, missing }));
}
