//! What the six roles say of themselves to a driver.

use std::sync::Arc;

use surehold::commit::{self, ControllerEffect, ServerEffect};
use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::effect::{Merge, Wait};
use surehold::compaction::object::{Body, GroupId, Key, PlanId, PlanKey, Prefix, ProcessId};
use surehold::compaction::plan::{Plan, Range};
use surehold::compaction::{Cleaner, Compactor, Effect, Event, Input, Outcome, Task, cleaner};
use surehold::rebalance::object::SegmentId;
use surehold::rebalance::{Historical, HistoricalEffect};
use surehold::{Driven, EffectId, Issued, Machine as _};

const INPUT: Input = Input { now_ms: 1, fresh: 2, pick: 0 };
const ID: EffectId = EffectId { incarnation: 3, number: 1 };

/// An unknown end names the effect it is of.
fn names_its_effect<M: Driven<Input = I>, I: Copy>(effects: Vec<M::Effect>, input: I) {
    for effect in effects {
        let issued = Issued { id: ID, effect };
        let unknown = M::unknown(&issued, input);
        if let Some(event) = &unknown {
            assert!(M::awaits(&issued.effect), "{issued:?}");
            assert_eq!(M::settles(event), Some(ID), "{issued:?}");
        }
    }
}

#[test]
fn compaction_takes_an_unknown_end_of_each_of_its_effects() {
    let group = GroupId(1);
    let key = PlanKey { group, plan: None };
    let plan = Arc::new(Plan { id: PlanId(1), group, created_s: 0, partitions: Vec::new() });
    let effects = vec![
        Effect::List(Prefix::Plans),
        Effect::Get(Key::Plan(key)),
        Effect::Exists(Key::Plan(key)),
        Effect::Put(Key::Plan(key), Body::Data),
        Effect::Delete(Key::Plan(key)),
        Effect::Merge(Merge { plan, partition: 0, inputs: Vec::new() }),
        Effect::Wait(Wait { delay_ms: 1, after: Key::Plan(key) }),
    ];
    let ends: Vec<_> = effects
        .iter()
        .map(|effect| {
            let issued = Issued { id: ID, effect: effect.clone() };
            match <Compactor as Driven>::unknown(&issued, INPUT) {
                Some(Event::Outcome { outcome, .. }) => Some(outcome),
                Some(Event::Continue { .. }) | None => None,
            }
        })
        .collect();
    let (failed, unknown) = (Some(Outcome::Failed), Some(Outcome::Unknown));
    let [list, get, exists, put, delete, merge, wait] = &ends[..] else { panic!("{ends:?}") };
    assert!([list, get, exists, merge].iter().all(|end| **end == failed), "{ends:?}");
    assert!([put, delete].iter().all(|end| **end == unknown), "{ends:?}");
    assert_eq!(*wait, None, "that a wait is over is not said before it is");
    names_its_effect::<Compactor, _>(effects.clone(), INPUT);
    names_its_effect::<Cleaner, _>(effects, INPUT);
}

#[test]
fn compaction_keeps_its_name_and_its_life() {
    let range = Range { group: GroupId(1), start_ms: 0, end_ms: 1 };
    let compactor = Compactor::new(Limits::for_range(range));
    let durable = Durable { process: ProcessId(7), incarnation: 4 };
    let state = compactor.recover(durable);
    assert_eq!(compactor.durable(&state), durable);
    let step = compactor.step(&state, Event::Continue { task: Task::Cycle, input: INPUT }).unwrap();
    assert_eq!(compactor.durable(&step.state), durable);
    assert_eq!(<Compactor as Driven>::incarnation(&<Compactor as Driven>::reborn(durable, 9)), 9);
    assert_eq!(<Compactor as Driven>::name(&durable), 7);
    let cleaner = Cleaner::new(cleaner::Limits::default());
    assert_eq!(cleaner.durable(&cleaner.recover(durable)), durable);
}

#[test]
fn waits_and_messages_of_rebalance_are_not_unknown() {
    let segment = SegmentId(1);
    let unknown = |effect| <Historical as Driven>::unknown(&Issued { id: ID, effect }, ());
    assert!(unknown(HistoricalEffect::Fetch(segment)).is_some());
    assert!(unknown(HistoricalEffect::Delete(segment)).is_some());
    assert!(unknown(HistoricalEffect::Wait { segment, delay_ms: 1 }).is_none());
    names_its_effect::<Historical, _>(
        vec![HistoricalEffect::Fetch(segment), HistoricalEffect::Delete(segment)],
        (),
    );
}

#[test]
fn reads_of_commit_fail_and_writes_are_unknown() {
    let segment = commit::object::SegmentId {
        partition: commit::object::PartitionId(0),
        sequence: 0,
        minute: 0,
    };
    let controller = |effect| {
        <commit::Controller as Driven>::unknown(&Issued { id: ID, effect }, ()).map(|event| {
            let commit::ControllerEvent::Outcome { outcome, .. } = event else { panic!() };
            outcome
        })
    };
    use commit::event::{ControllerOutcome, ServerOutcome};
    assert_eq!(controller(ControllerEffect::ReadIdeal), Some(ControllerOutcome::Failed));
    let delete = ControllerEffect::DeleteRecord(segment);
    assert_eq!(controller(delete), Some(ControllerOutcome::Unknown));
    let server = |effect| {
        <commit::Server as Driven>::unknown(&Issued { id: ID, effect }, ()).map(|event| {
            let commit::ServerEvent::Outcome { outcome, .. } = event else { panic!() };
            outcome
        })
    };
    assert_eq!(server(ServerEffect::ReadView), Some(ServerOutcome::Failed));
    assert_eq!(server(ServerEffect::Delete(segment)), Some(ServerOutcome::Unknown));
}
