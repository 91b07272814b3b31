//! Deleting marked blocks: which operations, in which order, and that a deletion broken off is taken up.

#[path = "downstream/src/lib.rs"]
#[allow(dead_code)]
pub mod downstream;

use surehold::compaction::object::{
    BlockId, Body, DeletionMark, Key, MarkReason, PlanId, Prefix, ProcessId,
};
use surehold::compaction::{Cleaner, Effect, Event, Input, Outcome, Task, cleaner};

use downstream::{Bucket, Process};

const DELAY_MS: u64 = 1000;
const OLD: BlockId = BlockId(1);
const YOUNG: BlockId = BlockId(2);
/// Chunks and an index that are being uploaded.
const UPLOAD: BlockId = BlockId(3);
/// What is left of a deletion that was broken off after its listed mark.
const REST: BlockId = BlockId(4);

fn bucket() -> Bucket {
    let mut bucket = Bucket { clock_ms: 10 * DELAY_MS, ..Bucket::default() };
    let mark = |marked_ms| {
        let because = MarkReason::Compacted(PlanId(9));
        Body::DeletionMark(DeletionMark { because, marked_ms })
    };
    for (id, marked_ms) in [(OLD, 9 * DELAY_MS), (YOUNG, 9 * DELAY_MS + 500)] {
        bucket.upload(id, 2, &[(0, 0)]);
        bucket.objects.insert(Key::GlobalDeletionMark(id), mark(marked_ms));
        bucket.objects.insert(Key::DeletionMark(id), mark(marked_ms));
    }
    for id in [UPLOAD, REST] {
        bucket.objects.insert(Key::Chunks(id), Body::Data);
        bucket.objects.insert(Key::Index(id), Body::Data);
    }
    bucket.objects.insert(Key::DeletionMark(REST), mark(0));
    bucket
}

fn cleaner() -> Process<Cleaner> {
    let limits = cleaner::Limits { deletion_delay_ms: Some(DELAY_MS) };
    Process::start(Cleaner::new(limits), ProcessId(1), 1)
}

fn pass(process: &mut Process<Cleaner>, bucket: &mut Bucket) {
    process.go_on(Task::Cycle, bucket).expect("it is idle");
    while process.settle(bucket).expect("it fits") {}
}

fn is_write(effect: &&Effect) -> bool {
    matches!(effect, Effect::Put(..) | Effect::Delete(_))
}

#[test]
fn the_meta_goes_first_and_the_marks_go_last() {
    let (mut process, mut bucket) = (cleaner(), bucket());
    pass(&mut process, &mut bucket);
    let age = |id| Effect::Get(Key::GlobalDeletionMark(id));
    let expected = [
        Effect::List(Prefix::AllMarkers),
        Effect::List(Prefix::Plans),
        Effect::List(Prefix::Marks),
        age(OLD),
        Effect::Delete(Key::Meta(OLD)),
        Effect::List(Prefix::Block(OLD)),
        Effect::Delete(Key::Chunks(OLD)),
        Effect::Delete(Key::Index(OLD)),
        Effect::Delete(Key::DeletionMark(OLD)),
        Effect::Delete(Key::GlobalDeletionMark(OLD)),
        age(YOUNG),
        Effect::List(Prefix::AllBlocks),
        Effect::Delete(Key::Chunks(REST)),
        Effect::Delete(Key::Index(REST)),
        Effect::Delete(Key::DeletionMark(REST)),
    ];
    assert_eq!(bucket.history, expected);
    for id in [OLD, REST] {
        assert!(!bucket.objects.keys().any(|key| *key == Key::Chunks(id) || *key == Key::Meta(id)));
    }
    assert!(bucket.objects.contains_key(&Key::Meta(YOUNG)));
    assert!(bucket.objects.contains_key(&Key::Chunks(UPLOAD)));

    // A mark is old enough at the very end of the delay, and not before: the second grows old meanwhile.
    bucket.clock_ms = 10 * DELAY_MS + 500;
    pass(&mut process, &mut bucket);
    assert!(!bucket.objects.contains_key(&Key::Meta(YOUNG)));
}

/// Whatever a deletion is broken off by, and wherever, the next pass ends it.
#[test]
fn a_deletion_broken_off_is_taken_up() {
    let whole = {
        let (mut process, mut bucket) = (cleaner(), bucket());
        pass(&mut process, &mut bucket);
        bucket
    };
    let writes: Vec<_> = whole.history.iter().filter(is_write).cloned().collect();
    assert_eq!(writes.len(), 8);
    for write in &writes {
        for (outcome, applied) in
            [(Outcome::Failed, false), (Outcome::Unknown, false), (Outcome::Unknown, true)]
        {
            let (mut process, mut bucket) = (cleaner(), bucket());
            process.go_on(Task::Cycle, &mut bucket).expect("it is idle");
            while process.owed.front().is_some_and(|issued| issued.effect != *write) {
                process.settle(&mut bucket).expect("it fits");
            }
            let issued = process.owed.pop_front().expect("it comes to this write");
            if let (Effect::Delete(key), true) = (write, applied) {
                bucket.objects.remove(key);
            }
            let input = Input { now_ms: bucket.clock_ms, fresh: 0, pick: 0 };
            let ended = Event::Outcome { id: issued.id, outcome: outcome.clone(), input };
            process.take(ended).expect("it fits");
            while process.settle(&mut bucket).expect("it fits") {}
            pass(&mut process, &mut bucket);
            assert_eq!(bucket.objects, whole.objects, "{write:?} {outcome:?} {applied}");
        }
    }
}

#[test]
fn without_a_delay_no_block_is_looked_at() {
    let limits = cleaner::Limits { deletion_delay_ms: None };
    let mut process = Process::start(Cleaner::new(limits), ProcessId(1), 1);
    let mut bucket = bucket();
    pass(&mut process, &mut bucket);
    assert_eq!(bucket.history, [Effect::List(Prefix::AllMarkers), Effect::List(Prefix::Plans)]);
}
