//! The roles reach their goal over a bucket, without the library's default features.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use surehold::Verified;
use surehold::compaction::compactor::Limits;
use surehold::compaction::object::{
    BlockId, Body, DeletionMark, GroupId, Key, MarkReason, Meta, PlanId, Provenance,
};
use surehold::compaction::plan::Range;
use surehold::compaction::{Cleaner, Compactor, Effect, Outcome, cleaner};
use surehold_downstream::{Bucket, Fleet, Outside, Sample};

const RANGE: Range = Range { group: GroupId(1), start_ms: 0, end_ms: 100 };
const LEFT: (BlockId, [Sample; 3]) = (BlockId(1), [(0, 10), (1, 10), (2, 20)]);
const RIGHT: (BlockId, [Sample; 3]) = (BlockId(2), [(1, 10), (2, 30), (3, 40)]);

/// A type that a service would write: nothing in it says that guards could be dropped.
struct Service {
    compactor: Compactor,
}

fn two_blocks() -> Bucket {
    let mut bucket = Bucket::default();
    for (id, samples) in [LEFT, RIGHT] {
        bucket.upload(id, 2, &samples);
    }
    bucket
}

fn limits() -> Limits {
    Limits { partition_index_size_bytes: 2, ..Limits::for_range(RANGE) }
}

/// A block that lies in the bucket with all its objects.
fn block(meta: Meta) -> [(Key, Body); 3] {
    let id = meta.id;
    [
        (Key::Chunks(id), Body::Data),
        (Key::Index(id), Body::Data),
        (Key::Meta(id), Body::Meta(Arc::new(meta))),
    ]
}

/// An ingester's block that has been replaced.
fn replaced(id: BlockId, min_time_ms: i64, max_time_ms: i64, plan: PlanId) -> Vec<(Key, Body)> {
    let meta = Meta { id, min_time_ms, max_time_ms, index_size_bytes: 2, made_by: None };
    let mark =
        Body::DeletionMark(DeletionMark { because: MarkReason::Compacted(plan), marked_ms: 0 });
    let marks =
        [(Key::GlobalDeletionMark(id), mark.clone()), (Key::DeletionMark(id), mark.clone())];
    block(meta).into_iter().chain(marks).collect()
}

fn result(id: BlockId, partition: u32, index_size_bytes: u64, plan: PlanId) -> Vec<(Key, Body)> {
    let made_by = Provenance { group: RANGE.group, plan, partition_count: 2, partition };
    block(Meta {
        id,
        min_time_ms: RANGE.start_ms,
        max_time_ms: RANGE.end_ms,
        index_size_bytes,
        made_by: Some(made_by),
    })
    .into()
}

/// The plan that was made, of which there must be one.
fn only_plan(bucket: &Bucket) -> PlanId {
    let plans: Vec<_> = bucket
        .history
        .iter()
        .filter_map(|effect| match effect {
            Effect::Put(Key::Plan(_), Body::Plan(plan)) => Some(plan.id),
            _ => None,
        })
        .collect();
    assert_eq!(plans.len(), 1, "{plans:?}");
    plans[0]
}

#[test]
fn two_overlapping_blocks_become_two_results_and_nothing_else_is_left() {
    let (mut bucket, mut fleet) = (two_blocks(), Fleet::start(limits()));
    let all: BTreeSet<Sample> = LEFT.1.into_iter().chain(RIGHT.1).collect();
    let parents = [LEFT.0, RIGHT.0];
    let mut rounds = 0;
    while !bucket.is_tidy(&parents) {
        rounds += 1;
        assert!(rounds <= 2, "one partition a round: {:?}", bucket.objects);
        fleet.round(&mut bucket).expect("each outcome is delivered once");
        assert_eq!(bucket.held(), all, "after round {rounds}");
    }
    assert_eq!(rounds, 2);

    let plan = only_plan(&bucket);
    let expected: BTreeMap<Key, Body> = [
        replaced(LEFT.0, 10, 21, plan),
        replaced(RIGHT.0, 10, 41, plan),
        result(BlockId(3), 0, 3, plan),
        result(BlockId(4), 1, 2, plan),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert_eq!(unstamped(&bucket), expected);
    assert_eq!(bucket.samples[&BlockId(3)], BTreeSet::from([(0, 10), (2, 20), (2, 30)]));
    assert_eq!(bucket.samples[&BlockId(4)], BTreeSet::from([(1, 10), (3, 40)]));

    // A fleet that has nothing left to do changes nothing.
    fleet.round(&mut bucket).expect("each outcome is delivered once");
    assert_eq!(unstamped(&bucket), expected);

    // Once the marks are old enough, what was replaced is deleted, marks and all.
    bucket.clock_ms += cleaner::Limits::default().deletion_delay_ms.expect("it deletes");
    fleet.round(&mut bucket).expect("each outcome is delivered once");
    let results = [result(BlockId(3), 0, 3, plan), result(BlockId(4), 1, 2, plan)];
    assert_eq!(bucket.objects, results.into_iter().flatten().collect());
    assert_eq!(bucket.held(), all);
}

/// The objects, as if each mark had been written at 0.
fn unstamped(bucket: &Bucket) -> BTreeMap<Key, Body> {
    let mut objects = bucket.objects.clone();
    for body in objects.values_mut() {
        if let Body::DeletionMark(mark) = body {
            mark.marked_ms = 0;
        }
    }
    objects
}

/// The loop carries out every variant of `Effect`; the roles of today ask for all of them but one.
#[test]
fn every_kind_of_effect_is_carried_out() {
    let (mut bucket, mut fleet) = (two_blocks(), Fleet::start(limits()));
    for _ in 0..2 {
        fleet.round(&mut bucket).expect("each outcome is delivered once");
    }
    let asked: BTreeSet<&str> = bucket.history.iter().map(kind).collect();
    let expected = ["delete", "get", "list", "merge", "put", "wait"];
    assert_eq!(asked.into_iter().collect::<Vec<_>>(), expected);

    let there = Effect::Exists(Key::Meta(LEFT.0));
    let gone = Effect::Exists(Key::NoCompactMark(LEFT.0));
    assert_eq!(bucket.carry_out(&there), Outcome::Exists);
    assert_eq!(bucket.carry_out(&gone), Outcome::Absent);
}

fn kind(effect: &Effect) -> &'static str {
    match effect {
        Effect::List(_) => "list",
        Effect::Get(_) => "get",
        Effect::Exists(_) => "exists",
        Effect::Put(..) => "put",
        Effect::Delete(_) => "delete",
        Effect::Merge(_) => "merge",
        Effect::Wait(_) => "wait",
    }
}

/// That no room is taken is what shows that there is nothing to configure.
#[test]
fn guards_take_no_room_in_a_service() {
    assert_eq!(size_of::<Verified>(), 0);
    assert_eq!(size_of::<Service>(), size_of::<Limits>());
    assert_eq!(size_of::<Cleaner>(), size_of::<cleaner::Limits>());
    let service = Service { compactor: Compactor::new(limits()) };
    assert_eq!(*service.compactor.limits(), limits());
}
