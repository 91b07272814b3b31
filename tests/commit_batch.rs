//! Step 3 of several commits at once (R3): one read and one write, and what becomes of each.

use surehold::collections::Table;
use surehold::commit::completion::{Answer, Kind, Mode, Reason};
use surehold::commit::controller::{self, Controller};
use surehold::commit::effect::Change;
use surehold::commit::event::{ControllerOutcome as Outcome, Found};
use surehold::commit::message::{Ask, Caller, Request};
use surehold::commit::object::{
    ControllerId, IdealState, PartitionId, Record, ReplicaState, SegmentId, ServerId, Status,
    TableConfig, Version,
};
use surehold::commit::upstream::Release;
use surehold::commit::{ControllerEffect as Effect, ControllerEvent as Event, Guard, Input};
use surehold::guard::{Guards, Weakened};
use surehold::{EffectId, Machine};

const S0: ServerId = ServerId(0);
const LIMITS: fn() -> controller::Limits = controller::Limits::default;

fn segment(partition: u16, sequence: u32) -> SegmentId {
    SegmentId { partition: PartitionId(partition), sequence, minute: 0 }
}

fn open() -> Record {
    Record::starting_at(0, 1, 10)
}

fn committing() -> Record {
    Record { status: Status::Committing, end: Some(10), ..open() }
}

fn found(record: Record) -> Found {
    Found { record, version: Version(4), age_ms: 0 }
}

fn old() -> Outcome {
    let age_ms = LIMITS().age_limit_ms + 1;
    Outcome::Record(Some(Found { age_ms, ..found(committing()) }))
}

fn young() -> Outcome {
    Outcome::Record(Some(found(committing())))
}

/// The first segments of partitions 0 and 1 are in these states.
fn listed(states: [ReplicaState; 2]) -> Outcome {
    let mut ideal = IdealState::default();
    for (partition, state) in states.into_iter().enumerate() {
        let mut replicas = Table::new();
        replicas.insert(S0, state);
        ideal.segments.insert(segment(partition as u16, 0), replicas);
    }
    Outcome::Ideal(ideal, Version(8))
}

const CONSUMED: [ReplicaState; 2] = [ReplicaState::Consuming; 2];

/// What is to be changed for a partition.
fn changes(partition: u16) -> [Change; 2] {
    let set = Change::Set(segment(partition, 0), ReplicaState::Online);
    [set, Change::Add(segment(partition, 1), vec![S0])]
}

fn write(partitions: &[u16]) -> Effect {
    Effect::WriteIdeal(Version(8), partitions.iter().flat_map(|of| changes(*of)).collect())
}

fn caller(partition: u16) -> Caller<ServerId> {
    Caller { process: S0, id: EffectId { incarnation: 5, number: 1 + partition } }
}

fn goes_on(partition: u16) -> Effect {
    Effect::Answer(caller(partition), Answer::CommitContinue)
}

fn fails(partition: u16) -> Effect {
    Effect::Answer(caller(partition), Answer::Failed)
}

struct Leader<V: Guards<Guard>> {
    role: Controller<V>,
    state: controller::State,
    /// What it asked for last.
    asked: Vec<(EffectId, Effect)>,
    decided_by: Vec<Guard>,
}

impl<V: Guards<Guard>> Leader<V> {
    fn elected(role: Controller<V>) -> Self {
        let table = TableConfig {
            mode: Mode::Pauseless,
            is_ordered: false,
            replicas: 1,
            row_limit: 10,
            may_refill: false,
            auto_reset: None,
        };
        let controller = ControllerId(0);
        let state = role.recover(controller::Durable { controller, incarnation: 2, table });
        let mut leader = Self { role, state, asked: Vec::new(), decided_by: Vec::new() };
        assert_eq!(leader.take(Event::Elected), []);
        leader
    }

    fn take(&mut self, event: Event) -> Vec<Effect> {
        let step = self.role.step(&self.state, event).expect("it is taken");
        self.state = step.state;
        self.decided_by = step.decided_by;
        self.asked = step.effects.into_iter().map(|issued| (issued.id, issued.effect)).collect();
        self.asked.iter().map(|(_, effect)| effect.clone()).collect()
    }

    /// What is outstanding for a batch ends.
    fn end_batch(&mut self, outcome: Outcome) -> Vec<Effect> {
        let is_of_batch = |number: &u16| self.state.owes(*number) == Some(BATCH);
        let number = (1..100).find(is_of_batch).expect("a batch has something outstanding");
        self.take(Event::Outcome { id: EffectId { incarnation: 2, number }, outcome })
    }

    fn hear(&mut self, partition: u16, kind: Kind) {
        let request = Request { segment: segment(partition, 0), body: Ask::Say(10, kind) };
        let input = Input { now_ms: 0, minute: 0, pick: 0 };
        self.take(Event::Received { caller: caller(partition), request, input });
    }

    /// The commit of a partition's first segment comes to step 3: what is asked for then.
    fn comes_to_step_3(&mut self, partition: u16) -> Vec<Effect> {
        self.hear(partition, Kind::Consumed(Some(Reason::RowLimit)));
        self.goes(Outcome::Record(Some(found(open()))));
        self.hear(partition, Kind::CommitStart);
        let is_there = |id: SegmentId| id == segment(partition, 0);
        while !self.state.in_step_3().any(|(id, _)| is_there(id)) {
            let outcome = match &self.asked[0].1 {
                Effect::ReadRecord(_) => Outcome::Record(Some(found(open()))),
                Effect::ReadStream(_) => Outcome::Stream(Some(0)),
                Effect::ListRecords(_) => {
                    Outcome::Records(vec![(segment(partition, 0), found(committing()))])
                }
                Effect::ReadIdeal => listed(CONSUMED),
                _ => Outcome::Applied,
            };
            self.goes(outcome);
        }
        self.asked.iter().map(|(_, effect)| effect.clone()).collect()
    }

    fn goes(&mut self, outcome: Outcome) {
        let id = self.asked[0].0;
        self.take(Event::Outcome { id, outcome });
    }

    fn is_quiet(&self) -> bool {
        self.state.is_quiet() && self.state.errands().next().is_none()
    }
}

const BATCH: controller::state::Owed = controller::state::Owed::Batch;

/// Two commits have come to step 3 together.
fn two<V: Guards<Guard>>(role: Controller<V>) -> Leader<V> {
    let mut leader = Leader::elected(role);
    assert_eq!(leader.comes_to_step_3(0), [Effect::ReadIdeal]);
    assert_eq!(leader.comes_to_step_3(1), []);
    leader
}

fn verified() -> Controller {
    Controller::new(LIMITS())
}

fn without(guards: &[Guard]) -> Controller<Weakened<Guard>> {
    Controller::weakened(LIMITS(), Weakened::without(guards.iter().copied()))
}

#[test]
fn two_commits_are_read_once_and_written_once() {
    let mut leader = two(verified());
    assert_eq!(leader.end_batch(listed(CONSUMED)), [write(&[0, 1])]);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(0), goes_on(1)]);
    assert!(leader.is_quiet());
}

#[test]
fn who_comes_during_the_write_is_of_the_next_batch() {
    let mut leader = Leader::elected(verified());
    leader.comes_to_step_3(0);
    assert_eq!(leader.end_batch(listed(CONSUMED)), [write(&[0])]);
    assert_eq!(leader.comes_to_step_3(1), []);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(0), Effect::ReadIdeal]);
    let now = listed([ReplicaState::Online, ReplicaState::Consuming]);
    assert_eq!(leader.end_batch(now), [write(&[1])]);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(1)]);
    assert!(leader.is_quiet());
}

/// Somebody else has written: all is read once more, and who waits is of it.
#[test]
fn a_write_that_comes_second_is_tried_again_with_who_waits() {
    let mut leader = Leader::elected(verified());
    leader.comes_to_step_3(1);
    leader.end_batch(listed(CONSUMED));
    leader.comes_to_step_3(0);
    assert_eq!(leader.end_batch(Outcome::Precondition), [Effect::ReadIdeal]);
    assert_eq!(leader.end_batch(listed(CONSUMED)), [write(&[0, 1])]);
}

/// The reply is lost: what is read tells for each whether it was written.
#[test]
fn a_write_of_unknown_fate_is_read_back_for_each() {
    let mut leader = two(verified());
    leader.end_batch(listed(CONSUMED));
    assert_eq!(leader.end_batch(Outcome::Unknown), [Effect::ReadIdeal]);
    let written = listed([ReplicaState::Online; 2]);
    assert_eq!(leader.end_batch(written), [goes_on(0), goes_on(1)]);
    assert_eq!(leader.decided_by, [Guard::DoneAgain]);
    assert!(leader.is_quiet());
}

#[test]
fn who_was_repaired_meanwhile_is_done_and_the_other_is_written() {
    let mut leader = two(verified());
    let repaired = listed([ReplicaState::Online, ReplicaState::Consuming]);
    assert_eq!(leader.end_batch(repaired), [goes_on(0), write(&[1])]);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(1)]);
}

/// Whether the one that cannot be is the first or the last.
#[test]
fn who_is_refused_is_left_out_by_itself() {
    for (out, stays) in [(0, 1), (1, 0)] {
        let mut states = CONSUMED;
        states[usize::from(out)] = ReplicaState::Offline;
        let mut leader = two(verified());
        assert_eq!(leader.end_batch(listed(states)), [fails(out), write(&[stays])]);
        assert_eq!(leader.decided_by, [Guard::BatchApart, Guard::NoCleanUp]);
        assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(stays)]);
        assert!(leader.is_quiet());
        let mut leader = two(without(&[Guard::BatchApart]));
        assert_eq!(leader.end_batch(listed(states)), [fails(0), fails(1)]);
        assert!(leader.is_quiet());
    }
}

/// A failed operation is everybody's, and who has come meanwhile begins another batch.
#[test]
fn an_operation_that_fails_fails_the_batch() {
    let mut leader = two(verified());
    assert_eq!(leader.end_batch(Outcome::Failed), [fails(0), fails(1)]);
    let mut leader = Leader::elected(verified());
    leader.comes_to_step_3(0);
    leader.end_batch(listed(CONSUMED));
    leader.comes_to_step_3(1);
    assert_eq!(leader.end_batch(Outcome::Failed), [fails(0), Effect::ReadIdeal]);
}

/// What is under way goes on after leadership is lost; after a crash nothing of it is known.
#[test]
fn a_batch_outlives_leadership_and_not_a_crash() {
    let mut leader = two(verified());
    leader.take(Event::Deposed);
    assert_eq!(leader.end_batch(listed(CONSUMED)), [write(&[0, 1])]);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(0), goes_on(1)]);
    let leader = two(verified());
    let table = leader.state.table();
    let durable = controller::Durable { controller: ControllerId(0), incarnation: 3, table };
    let again = verified().recover(durable);
    assert!(again.is_quiet() && again.in_step_3().next().is_none());
}

/// R3: upstream reads how old each record is, one after the other; one that is too old fails both, and each deletes the
/// record of its own next segment (#17707).
#[test]
fn an_old_record_fails_a_young_commit_of_2026() {
    for (first, second) in [(old(), None), (young(), Some(old()))] {
        let mut leader = two(Release::Aug2026.controller());
        let asks = leader.end_batch(listed(CONSUMED));
        assert_eq!(asks, [Effect::ReadRecord(segment(0, 0))]);
        let mut asks = leader.end_batch(first);
        if let Some(second) = second {
            assert_eq!(asks, [Effect::ReadRecord(segment(1, 0))]);
            asks = leader.end_batch(second);
        }
        let deletes = [0, 1].map(|partition| Effect::DeleteRecord(segment(partition, 1)));
        assert_eq!(asks, deletes);
        let ids: Vec<_> = leader.asked.iter().map(|(id, _)| *id).collect();
        for (partition, id) in [0, 1].into_iter().zip(ids) {
            let asks = leader.take(Event::Outcome { id, outcome: Outcome::Applied });
            assert_eq!(asks, [fails(partition)]);
        }
        assert!(leader.is_quiet());
    }
}

/// While all are young they are written at once; a try that comes second tests them once more.
#[test]
fn young_commits_of_2026_are_written_at_once() {
    let mut leader = two(Release::Aug2026.controller());
    leader.end_batch(listed(CONSUMED));
    leader.end_batch(young());
    assert_eq!(leader.end_batch(young()), [write(&[0, 1])]);
    assert_eq!(leader.end_batch(Outcome::Precondition), [Effect::ReadIdeal]);
    let asks = leader.end_batch(listed(CONSUMED));
    assert_eq!(asks, [Effect::ReadRecord(segment(0, 0))]);
    leader.end_batch(young());
    assert_eq!(leader.end_batch(young()), [write(&[0, 1])]);
    assert_eq!(leader.end_batch(Outcome::Applied), [goes_on(0), goes_on(1)]);
    assert!(leader.is_quiet());
}

#[test]
fn an_outcome_that_does_not_fit_is_refused() {
    let mut leader = two(verified());
    let id = EffectId { incarnation: 2, number: 1 };
    for outcome in [Outcome::Applied, young(), Outcome::Stream(None)] {
        let refused = leader.role.step(&leader.state, Event::Outcome { id, outcome });
        assert!(refused.is_err());
    }
    leader.end_batch(listed(CONSUMED));
    for outcome in [listed(CONSUMED), young()] {
        let refused = leader.role.step(&leader.state, Event::Outcome { id, outcome });
        assert!(refused.is_err());
    }
}
