//! What roles do with events that do not fit, and with outcomes that nobody knows.
//!
//! The bucket and the loop are those of the crate in `downstream`.

#[path = "downstream/src/lib.rs"]
#[allow(dead_code)]
pub mod downstream;

use std::collections::BTreeSet;
use std::sync::Arc;

use downstream::{Bucket, Fleet, Outside, Process, Sample};
use surehold::compaction::compactor::state::Search;
use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::marker::{Finding, Marker, Owner, Status};
use surehold::compaction::object::{
    BlockId, Body, DeletionMark, GroupId, Key, MarkReason, Meta, PlanId, PlanKey, ProcessId,
    Provenance,
};
use surehold::compaction::plan::{Plan, Range};
use surehold::compaction::{
    Cleaner, Compactor, Effect, Event, Input, Merged, Outcome, Refusal, Task, cleaner,
};
use surehold::{EffectId, Machine};

const RANGE: Range = Range { group: GroupId(1), start_ms: 0, end_ms: 100 };
const PARENTS: [BlockId; 2] = [BlockId(1), BlockId(2)];
const LEFT: [Sample; 2] = [(0, 10), (1, 20)];
const RIGHT: [Sample; 2] = [(0, 10), (3, 20)];
const COMPACTOR: Durable = Durable { process: ProcessId(0), incarnation: 1 };
const CLEANER: Durable = Durable { process: ProcessId(1), incarnation: 1 };
/// The time of the events that tests make up.
const NOW: Input = Input { now_ms: 777_000, fresh: 777, pick: 0 };

fn two_blocks() -> Bucket {
    let mut bucket = Bucket::default();
    bucket.upload(PARENTS[0], 2, &LEFT);
    bucket.upload(PARENTS[1], 2, &RIGHT);
    bucket
}

/// Two blocks of this size make two partitions.
fn limits() -> Limits {
    Limits { partition_index_size_bytes: 2, ..Limits::for_range(RANGE) }
}

fn compactor() -> Process<Compactor> {
    Process::start(Compactor::new(limits()), COMPACTOR.process, COMPACTOR.incarnation)
}

fn cleaner() -> Process<Cleaner> {
    // Plans are in question here; `tests/removal.rs` deletes blocks.
    let limits = cleaner::Limits { deletion_delay_ms: None };
    Process::start(Cleaner::new(limits), CLEANER.process, CLEANER.incarnation)
}

/// A role of either kind.
trait Role:
    Machine<Event = Event, Effect = Effect, Refusal = Refusal, Durable = Durable> + Clone
{
}
impl Role for Compactor {}
impl Role for Cleaner {}

/// Begins a cycle and carries out effects until the next one is as asked.
fn run_until<M: Role>(
    process: &mut Process<M>,
    bucket: &mut Bucket,
    is_next: impl Fn(&Effect) -> bool,
) {
    process.go_on(Task::Cycle, bucket).expect("it is idle");
    while !process.owed.front().is_some_and(|issued| is_next(&issued.effect)) {
        assert!(process.settle(bucket).expect("it fits"), "no such effect is asked for");
    }
}

/// Ends the next effect so, and returns the effects that follow.
fn end_next<M: Role>(process: &mut Process<M>, outcome: Outcome) -> Vec<Effect> {
    let issued = process.owed.pop_front().expect("an effect is outstanding");
    let before = process.owed.len();
    process.take(Event::Outcome { id: issued.id, outcome, input: NOW }).expect("it fits");
    process.owed.iter().skip(before).map(|issued| issued.effect.clone()).collect()
}

fn puts(key: impl Fn(&Key) -> bool) -> impl Fn(&Effect) -> bool {
    move |effect| matches!(effect, Effect::Put(put, _) if key(put))
}

fn puts_marker(status: impl Fn(Status) -> bool) -> impl Fn(&Effect) -> bool {
    move |effect| matches!(effect, Effect::Put(_, Body::Marker(marker)) if status(marker.status))
}

/// The refusal, what it says to people, and that nothing has changed.
fn assert_refused<M: Role>(process: &mut Process<M>, event: Event, refusal: Refusal, says: &str) {
    let (state, owed) = (process.state.clone(), process.owed.len());
    assert_eq!(process.take(event), Err(refusal));
    assert_eq!((&process.state, process.owed.len()), (&state, owed));
    assert_eq!(refusal.to_string(), says);
}

fn assert_refuses_what_does_not_fit<M: Role>(mut process: Process<M>) {
    let mut bucket = two_blocks();
    process.go_on(Task::Cycle, &mut bucket).expect("it is idle");
    let undisturbed = process.state.clone();
    let settle = |id, outcome| Event::Outcome { id, outcome, input: NOW };
    let id = |incarnation, number| EffectId { incarnation, number };

    for (task, says) in [
        (Task::Cycle, "task Cycle is busy or does not exist"),
        (Task::Job(0), "task Job(0) is busy or does not exist"),
        (Task::Beat(0), "task Beat(0) is busy or does not exist"),
        (Task::Beat(255), "task Beat(255) is busy or does not exist"),
    ] {
        let event = Event::Continue { task, input: NOW };
        assert_refused(&mut process, event, Refusal::NotReady(task), says);
    }
    for other in [0, 2, u32::MAX] {
        let other = id(other, 0);
        let refusal = Refusal::OtherIncarnation { id: other, current: 1 };
        let says =
            format!("effect 0 is of incarnation {}, this is incarnation 1", other.incarnation);
        assert_refused(&mut process, settle(other, Outcome::Listed(Vec::new())), refusal, &says);
    }
    let none = id(1, 5);
    let refusal = Refusal::NotOutstanding(none);
    let event = settle(none, Outcome::Listed(Vec::new()));
    assert_refused(&mut process, event, refusal, "effect 5 is not outstanding");
    let refusal = Refusal::UnfitOutcome(id(1, 0));
    let event = settle(id(1, 0), Outcome::Applied);
    assert_refused(&mut process, event, refusal, "effect 0 cannot end in this outcome");

    // After all that the outcome that is owed is taken, once.
    assert_eq!(process.state, undisturbed);
    assert_eq!(end_next(&mut process, Outcome::Failed), []);
    let event = settle(id(1, 0), Outcome::Failed);
    let refusal = Refusal::NotOutstanding(id(1, 0));
    assert_refused(&mut process, event, refusal, "effect 0 is not outstanding");
}

#[test]
fn a_compactor_refuses_what_does_not_fit() {
    assert_refuses_what_does_not_fit(compactor());
}

#[test]
fn a_cleaner_refuses_what_does_not_fit() {
    assert_refuses_what_does_not_fit(cleaner());
}

#[test]
fn a_compactor_with_all_slots_taken_does_not_look_for_work() {
    let (mut process, mut bucket) = (compactor(), two_blocks());
    run_until(&mut process, &mut bucket, |effect| matches!(effect, Effect::Merge(_)));
    assert_eq!(process.state.search(), &Search::Idle);
    let event = Event::Continue { task: Task::Cycle, input: NOW };
    let says = "task Cycle is busy or does not exist";
    assert_refused(&mut process, event, Refusal::NotReady(Task::Cycle), says);
}

/// Every sort of outcome, each with every sort of content: a store may answer anything.
fn all_outcomes(bucket: &Bucket) -> Vec<Outcome> {
    let plan = Plan { id: PlanId(9), group: RANGE.group, created_s: 0, partitions: Vec::new() };
    let bodies = [
        Body::Data,
        Body::Meta(Arc::new(meta(BlockId(9), None))),
        Body::DeletionMark(DeletionMark { because: MarkReason::Surplus(PlanId(9)), marked_ms: 0 }),
        Body::NoCompactMark,
        Body::Plan(Arc::new(plan)),
        Body::Marker(marker(PlanId(9), 4, Status::Failed)),
    ];
    let keys: Vec<Key> = bucket.objects.keys().copied().collect();
    let merged = [Merged::Empty, Merged::Block { id: BlockId(9), index_size_bytes: u64::MAX }];
    let plain =
        [Outcome::Absent, Outcome::Exists, Outcome::Applied, Outcome::Failed, Outcome::Unknown];
    let listed = [Outcome::Listed(Vec::new()), Outcome::Listed(keys), Outcome::Elapsed];
    let found = bodies.into_iter().map(Outcome::Found);
    plain.into_iter().chain(listed).chain(found).chain(merged.map(Outcome::Merged)).collect()
}

/// How an effect may end.
fn fits(effect: &Effect, outcome: &Outcome) -> bool {
    match effect {
        Effect::List(_) => matches!(outcome, Outcome::Listed(_) | Outcome::Failed),
        Effect::Get(_) => matches!(outcome, Outcome::Found(_) | Outcome::Absent | Outcome::Failed),
        Effect::Exists(_) => {
            matches!(outcome, Outcome::Exists | Outcome::Absent | Outcome::Failed)
        }
        Effect::Put(..) | Effect::Delete(_) => {
            matches!(outcome, Outcome::Applied | Outcome::Failed | Outcome::Unknown)
        }
        Effect::Merge(_) => matches!(outcome, Outcome::Merged(_) | Outcome::Failed),
        Effect::Wait(_) => matches!(outcome, Outcome::Elapsed),
    }
}

/// Tries every outcome on the effect that is next: it is taken or refused as its sort says.
fn try_all_outcomes<M: Role>(process: &Process<M>, bucket: &Bucket) {
    let Some(issued) = process.owed.front() else {
        return;
    };
    for outcome in all_outcomes(bucket) {
        let event = Event::Outcome { id: issued.id, outcome: outcome.clone(), input: NOW };
        let refusal = process.role.step(&process.state, event).err();
        let fits = fits(&issued.effect, &outcome);
        let expected = (!fits).then_some(Refusal::UnfitOutcome(issued.id));
        assert_eq!(refusal, expected, "{:?} {outcome:?}", issued.effect);
    }
}

#[test]
fn at_every_step_each_outcome_is_taken_or_refused_and_none_panics() {
    let mut bucket = two_blocks();
    // Left behind by somebody: something to sweep.
    let orphan = Key::Marker(key(99), 0);
    bucket.objects.insert(orphan, Body::Marker(marker(PlanId(99), 0, Status::Pending)));
    let (mut compactor, mut cleaner) = (compactor(), cleaner());
    while !bucket.is_tidy(&PARENTS) {
        compactor.go_on(Task::Cycle, &mut bucket).expect("it is idle");
        try_all_outcomes(&compactor, &bucket);
        while compactor.settle(&mut bucket).expect("it fits") {
            if compactor.state.can_beat(0) {
                compactor.go_on(Task::Beat(0), &mut bucket).expect("it can");
            }
            try_all_outcomes(&compactor, &bucket);
        }
        cleaner.go_on(Task::Cycle, &mut bucket).expect("it is idle");
        try_all_outcomes(&cleaner, &bucket);
        while cleaner.settle(&mut bucket).expect("it fits") {
            try_all_outcomes(&cleaner, &bucket);
        }
    }
}

/// The new life of a process knows nothing of the old one and refuses what was owed to it.
fn crash<M: Role>(process: &mut Process<M>, durable: Durable) {
    let next = Durable { incarnation: durable.incarnation + 1, ..durable };
    let old = std::mem::replace(
        process,
        Process::start(process.role.clone(), next.process, next.incarnation),
    );
    assert_eq!(process.state, process.role.recover(next));
    assert!(process.owed.is_empty(), "no effect is issued again");
    for issued in old.owed {
        let refusal = Refusal::OtherIncarnation { id: issued.id, current: next.incarnation };
        let says =
            format!("effect {} is of incarnation 1, this is incarnation 2", issued.id.number);
        for outcome in [Outcome::Applied, Outcome::Failed, Outcome::Unknown] {
            let event = Event::Outcome { id: issued.id, outcome, input: NOW };
            assert_refused(process, event, refusal, &says);
        }
    }
}

/// A crash after each number of steps, with what is outstanding then never carried out: the next lives
/// take it to the goal, and no sample is gone on the way.
#[test]
fn after_a_crash_at_any_step_the_next_life_reaches_the_goal() {
    for lived in 0.. {
        let (mut bucket, mut fleet) = (two_blocks(), Fleet::start(limits()));
        let cycle = |fleet: &mut Fleet, bucket: &mut Bucket, steps: &mut usize| -> bool {
            let compactor = &mut fleet.compactor;
            compactor.go_on(Task::Cycle, bucket).expect("it is idle");
            while *steps > 0 && compactor.settle(bucket).expect("it fits") {
                *steps -= 1;
                if compactor.state.can_beat(0) {
                    compactor.go_on(Task::Beat(0), bucket).expect("it can");
                }
            }
            *steps == 0
        };
        let mut left = lived;
        // Both partitions, and a cycle that finds nothing.
        let crashed = (0..3).any(|_| cycle(&mut fleet, &mut bucket, &mut left));
        crash(&mut fleet.compactor, COMPACTOR);
        finish(&mut fleet, &mut bucket, &format!("crash after {lived} steps"));
        if !crashed {
            assert!(lived > 20, "the compactor takes more steps than {lived}");
            return;
        }
    }
}

/// The same for a cleaner that has everything to do.
#[test]
fn after_a_crash_of_the_cleaner_at_any_step_its_next_life_reaches_the_goal() {
    for lived in 0.. {
        let (mut bucket, mut fleet) = (two_blocks(), Fleet::start(limits()));
        for _ in 0..2 {
            fleet.compactor.go_on(Task::Cycle, &mut bucket).expect("it is idle");
            while fleet.compactor.settle(&mut bucket).expect("it fits") {}
        }
        fleet.cleaner.go_on(Task::Cycle, &mut bucket).expect("it is idle");
        let steps = (0..lived).take_while(|_| fleet.cleaner.settle(&mut bucket).expect("it fits"));
        let steps = steps.count();
        crash(&mut fleet.cleaner, CLEANER);
        finish(&mut fleet, &mut bucket, &format!("crash after {lived} steps"));
        if steps < lived {
            assert!(lived > 15, "the cleaner takes more steps than {lived}");
            return;
        }
    }
}

/// Rounds until everything is done, far enough apart for claims to expire.
fn finish(fleet: &mut Fleet, outside: &mut (impl Outside + AsMut<Bucket>), what: &str) {
    let all: BTreeSet<Sample> = LEFT.into_iter().chain(RIGHT).collect();
    for _ in 0..12 {
        fleet.round(outside).expect("each outcome is delivered once");
        let bucket = outside.as_mut();
        bucket.clock_ms += limits().claim_timeout_ms;
        assert_eq!(bucket.held(), all, "{what}");
        if bucket.is_tidy(&PARENTS) {
            return;
        }
    }
    panic!("{what}: not done: {:?}", outside.as_mut().objects);
}

impl AsMut<Bucket> for Bucket {
    fn as_mut(&mut self) -> &mut Bucket {
        self
    }
}

/// A store that ends one write in [`Outcome::Unknown`].
struct Lossy {
    bucket: Bucket,
    /// How many writes are still carried out before that one.
    writes_before: usize,
    /// After how many more effects that one lands; `None` is never.
    lag: Option<usize>,
    lost: Option<Effect>,
    had_it: bool,
}

impl Lossy {
    fn land_if_due(&mut self) {
        if self.lag == Some(0)
            && let Some(lost) = self.lost.take()
        {
            self.bucket.carry_out(&lost);
        }
        if self.lost.is_some() {
            self.lag = self.lag.map(|lag| lag - 1);
        }
    }
}

impl Outside for Lossy {
    fn now_ms(&mut self) -> u64 {
        self.bucket.now_ms()
    }

    fn carry_out(&mut self, effect: &Effect) -> Outcome {
        self.land_if_due();
        if matches!(effect, Effect::Put(..) | Effect::Delete(_)) && !self.had_it {
            if self.writes_before == 0 {
                self.had_it = true;
                self.lost = Some(effect.clone());
                self.land_if_due();
                return Outcome::Unknown;
            }
            self.writes_before -= 1;
        }
        self.bucket.carry_out(effect)
    }
}

impl AsMut<Bucket> for Lossy {
    fn as_mut(&mut self) -> &mut Bucket {
        &mut self.bucket
    }
}

/// Whether a write of unknown effect took effect at once, a little later, much later or never: the goal is
/// reached, and no sample is gone on the way.
#[test]
fn an_unknown_outcome_of_any_write_keeps_nobody_from_the_goal() {
    for lag in [Some(0), Some(1), Some(3), Some(10), Some(40), None] {
        for writes_before in 0.. {
            let bucket = two_blocks();
            let mut lossy = Lossy { bucket, writes_before, lag, lost: None, had_it: false };
            let what = format!("write {writes_before} is unknown and lands after {lag:?}");
            finish(&mut Fleet::start(limits()), &mut lossy, &what);
            if !lossy.had_it {
                assert!(writes_before > 15, "there are more writes than {writes_before}");
                break;
            }
        }
    }
}

/// Picks one of the writes of a cycle.
type IsWrite = Box<dyn Fn(&Effect) -> bool>;

fn plan_of(effect: &Effect) -> Option<Arc<Plan>> {
    match effect {
        Effect::Put(_, Body::Plan(plan)) => Some(Arc::clone(plan)),
        _ => None,
    }
}

/// The completion of the first partition of the plan that this bucket has seen being written.
fn completion(bucket: &Bucket, finding: Finding) -> Effect {
    let plan = bucket.history.iter().find_map(plan_of).expect("a plan was written");
    let folder = PlanKey { group: plan.group, plan: Some(plan.id) };
    let marker = Marker {
        owner: Owner { process: COMPACTOR.process, incarnation: COMPACTOR.incarnation },
        status: Status::Completed(finding),
        plan: plan.id,
        plan_created_s: Some(plan.created_s),
        partition: 0,
        visited_ms: NOW.now_ms,
    };
    Effect::Put(Key::Marker(folder, 0), Body::Marker(marker))
}

/// A plan, chunks or an index that may be there, and a completion: the cycle or the job is over, nothing is
/// remembered, and the next cycle looks at the bucket afresh.
#[test]
fn a_compactor_drops_what_it_was_doing_where_a_write_is_unknown() {
    let writes: [(&str, IsWrite); 4] = [
        ("plan", Box::new(puts(|key| matches!(key, Key::Plan(_))))),
        ("chunks", Box::new(puts(|key| matches!(key, Key::Chunks(_))))),
        ("index", Box::new(puts(|key| matches!(key, Key::Index(_))))),
        ("completion", Box::new(puts_marker(|status| matches!(status, Status::Completed(_))))),
    ];
    for (write, is_it) in writes {
        let (mut process, mut bucket) = (compactor(), two_blocks());
        run_until(&mut process, &mut bucket, is_it);
        assert_eq!(end_next(&mut process, Outcome::Unknown), [], "{write}");
        assert_eq!(process.state, process.role.recover(COMPACTOR), "{write}");
        process.go_on(Task::Cycle, &mut bucket).expect("it is idle");
    }
}

/// A claim is read back after a wait, whatever its writing came to; only one that surely failed is not.
#[test]
fn a_compactor_reads_back_a_claim_that_may_be_written() {
    for (outcome, waits) in
        [(Outcome::Applied, true), (Outcome::Unknown, true), (Outcome::Failed, false)]
    {
        let (mut process, mut bucket) = (compactor(), two_blocks());
        run_until(&mut process, &mut bucket, puts_marker(|status| status == Status::Pending));
        let Effect::Put(claim, _) = process.owed[0].effect.clone() else { panic!("a claim") };
        let follows = end_next(&mut process, outcome);
        if !waits {
            assert_eq!(follows, []);
            assert_eq!(process.state, process.role.recover(COMPACTOR));
            continue;
        }
        assert!(matches!(follows[..], [Effect::Wait(_)]), "{follows:?}");
        assert_eq!(end_next(&mut process, Outcome::Elapsed), [Effect::Get(claim)]);
        assert_eq!(end_next(&mut process, Outcome::Absent), []);
        assert_eq!(process.state, process.role.recover(COMPACTOR));
    }
}

/// Only of the meta is it asked what became of it, since a block that is there is work that is done.
#[test]
fn a_compactor_reads_a_meta_that_may_be_written() {
    let result = BlockId(3);
    let written = Outcome::Found(Body::Meta(Arc::new(meta(result, None))));
    for (answer, expected) in [(written, true), (Outcome::Absent, false), (Outcome::Failed, false)]
    {
        let (mut process, mut bucket) = (compactor(), two_blocks());
        run_until(&mut process, &mut bucket, puts(|key| matches!(key, Key::Meta(_))));
        let read = Effect::Get(Key::Meta(result));
        assert_eq!(end_next(&mut process, Outcome::Unknown), [read]);

        let completion = completion(&bucket, Finding::Result(result));
        let follows = end_next(&mut process, answer);
        assert_eq!(follows, Vec::from_iter(expected.then_some(completion)));
        if !expected {
            assert_eq!(process.state, process.role.recover(COMPACTOR));
        }
    }
}

#[test]
fn a_heartbeat_of_unknown_effect_is_followed_by_the_next_one() {
    let (mut process, mut bucket) = (compactor(), two_blocks());
    run_until(&mut process, &mut bucket, |effect| matches!(effect, Effect::Merge(_)));
    let at_work = process.state.clone();
    let merge = process.owed.pop_front().expect("the merge");
    process.go_on(Task::Beat(0), &mut bucket).expect("it can");
    let event = Event::Continue { task: Task::Beat(0), input: NOW };
    let says = "task Beat(0) is busy or does not exist";
    assert_refused(&mut process, event, Refusal::NotReady(Task::Beat(0)), says);
    assert_eq!(end_next(&mut process, Outcome::Unknown), []);
    assert_eq!(process.state, at_work);

    // A completion waits for the heartbeat under way, and is written however that one ends.
    process.go_on(Task::Beat(0), &mut bucket).expect("it can");
    process.owed.push_front(merge);
    assert_eq!(end_next(&mut process, Outcome::Merged(Merged::Empty)), []);
    let follows = end_next(&mut process, Outcome::Unknown);
    assert_eq!(follows, [completion(&bucket, Finding::Empty)]);
    assert_eq!(end_next(&mut process, Outcome::Unknown), []);
    assert_eq!(process.state, process.role.recover(COMPACTOR));
}

fn meta(id: BlockId, made_by: Option<Provenance>) -> Meta {
    Meta { id, min_time_ms: 0, max_time_ms: 100, index_size_bytes: 1, made_by }
}

fn marker(plan: PlanId, partition: u32, status: Status) -> Marker {
    let owner = Owner { process: ProcessId(7), incarnation: 1 };
    Marker { owner, status, plan, plan_created_s: None, partition, visited_ms: 0 }
}

fn key(plan: u128) -> PlanKey {
    PlanKey { group: RANGE.group, plan: Some(PlanId(plan)) }
}

/// Plan 10 is done, plan 20 is not begun, and of plan 5 two markers are left.
fn much_to_clean(unbegun: bool) -> Bucket {
    let mut bucket = two_blocks();
    let mut plan = |id: u128| {
        let partitions = vec![PARENTS.to_vec()];
        let plan = Plan { id: PlanId(id), group: RANGE.group, created_s: 0, partitions };
        bucket.objects.insert(Key::Plan(key(id)), Body::Plan(Arc::new(plan)));
    };
    plan(10);
    if unbegun {
        plan(20);
    }
    for (plan, partition, status) in [
        (5, 0, Status::Pending),
        (5, 1, Status::Failed),
        (10, 0, Status::Completed(Finding::Result(BlockId(3)))),
    ] {
        let marker = Body::Marker(marker(PlanId(plan), partition, status));
        bucket.objects.insert(Key::Marker(key(plan), partition), marker);
    }
    let made_by =
        Provenance { group: RANGE.group, plan: PlanId(10), partition_count: 1, partition: 0 };
    let result = meta(BlockId(3), Some(made_by));
    bucket.objects.insert(Key::Meta(BlockId(3)), Body::Meta(Arc::new(result)));
    bucket.samples.insert(BlockId(3), LEFT.into_iter().chain(RIGHT).collect());
    bucket
}

/// The same as of a clock that stands still at 0.
fn unstamped(effect: &Effect) -> Effect {
    match effect {
        Effect::Put(key, Body::DeletionMark(mark)) => {
            Effect::Put(*key, Body::DeletionMark(DeletionMark { marked_ms: 0, ..*mark }))
        }
        other => other.clone(),
    }
}

/// Markers to sweep are left to the next pass and the plans are looked at; a plan is left as it is, and
/// the next one is looked at. Without a next one the pass is over.
#[test]
fn a_cleaner_leaves_a_plan_where_a_write_is_unknown() {
    let mark = DeletionMark { because: MarkReason::Compacted(PlanId(10)), marked_ms: 0 };
    let put = |key| Effect::Put(key, Body::DeletionMark(mark));
    let writes = [
        (Effect::Delete(Key::Marker(key(5), 0)), 10),
        (Effect::Delete(Key::Marker(key(5), 1)), 10),
        (put(Key::DeletionMark(PARENTS[0])), 20),
        (put(Key::GlobalDeletionMark(PARENTS[0])), 20),
        (put(Key::DeletionMark(PARENTS[1])), 20),
        (put(Key::GlobalDeletionMark(PARENTS[1])), 20),
        (Effect::Delete(Key::Plan(key(10))), 20),
        (Effect::Delete(Key::Marker(key(10), 0)), 20),
    ];

    // These are all of its writes, in this order.
    let (mut process, mut bucket) = (cleaner(), much_to_clean(false));
    process.go_on(Task::Cycle, &mut bucket).expect("it is idle");
    while process.settle(&mut bucket).expect("it fits") {}
    let is_write = |effect: &&Effect| matches!(effect, Effect::Put(..) | Effect::Delete(_));
    let written = bucket.history.iter().filter(is_write).map(unstamped);
    assert!(written.eq(writes.iter().map(|(write, _)| write.clone())));
    assert!(bucket.is_tidy(&PARENTS));

    for (write, next_plan) in &writes {
        let (mut process, mut bucket) = (cleaner(), much_to_clean(true));
        run_until(&mut process, &mut bucket, |effect| unstamped(effect) == *write);
        let read = Effect::Get(Key::Plan(key(*next_plan)));
        assert_eq!(end_next(&mut process, Outcome::Unknown), [read], "{write:?}");

        let (mut process, mut bucket) = (cleaner(), much_to_clean(false));
        run_until(&mut process, &mut bucket, |effect| unstamped(effect) == *write);
        let follows = end_next(&mut process, Outcome::Unknown);
        if *next_plan == 20 {
            assert_eq!(follows, [], "{write:?}");
            assert_eq!(process.state, process.role.recover(CLEANER), "{write:?}");
        }
    }
}

/// A stored state is input from outside: one whose phase has nothing to go on with is no state.
#[cfg(feature = "serde")]
mod stored {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn stored(state: &impl Serialize) -> Value {
        serde_json::to_value(state).expect("a state can be stored")
    }

    fn restored<S: DeserializeOwned>(value: Value) -> Result<S, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Empties every list of the value, one at a time.
    fn emptied(value: &Value) -> Vec<Value> {
        match value {
            Value::Array(items) => {
                let inside = items.iter().enumerate().flat_map(|(at, item)| {
                    emptied(item).into_iter().map(move |less| {
                        let mut items = items.clone();
                        items[at] = less;
                        Value::Array(items)
                    })
                });
                std::iter::once(json!([])).chain(inside).collect()
            }
            Value::Object(fields) => fields
                .iter()
                .flat_map(|(name, field)| {
                    emptied(field).into_iter().map(move |less| {
                        let mut fields = fields.clone();
                        fields.insert(name.clone(), less);
                        Value::Object(fields)
                    })
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// At every step of a life: the state comes back as it was; and with any of its lists emptied it is refused,
    /// or takes every outcome without a panic.
    fn lives_through<M: Role>(mut process: Process<M>, mut bucket: Bucket) -> usize
    where
        M::State: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let mut refused = 0;
        process.go_on(Task::Cycle, &mut bucket).expect("it is idle");
        loop {
            let value = stored(&process.state);
            assert_eq!(restored(value.clone()).as_ref(), Ok(&process.state));
            for less in emptied(&value) {
                let Ok(state) = restored::<M::State>(less) else {
                    refused += 1;
                    continue;
                };
                let Some(issued) = process.owed.front() else { continue };
                for outcome in all_outcomes(&bucket) {
                    let event = Event::Outcome { id: issued.id, outcome, input: NOW };
                    let _ = process.role.step(&state, event);
                }
            }
            if !process.settle(&mut bucket).expect("it fits") {
                return refused;
            }
        }
    }

    #[test]
    fn a_state_with_nothing_in_hand_is_refused_or_harmless() {
        assert!(lives_through(compactor(), two_blocks()) > 0);
        assert!(lives_through(cleaner(), much_to_clean(true)) > 0);
    }

    /// A state with this many effects outstanding, none of which a task waits for.
    fn with_outstanding(state: &impl Serialize, count: usize) -> Value {
        let mut value = stored(state);
        let owed = json!({ "task": null, "form": "Write" });
        let tasks: Vec<_> = (0..count).map(|number| json!([number, owed])).collect();
        value["outstanding"]["tasks"] = Value::Array(tasks);
        value
    }

    #[test]
    fn effects_do_not_run_out_of_numbers() {
        use surehold::compaction::event::Outstanding;
        let begin = Event::Continue { task: Task::Cycle, input: NOW };
        let busy = Refusal::NotReady(Task::Cycle);
        for (count, begins) in [(Outstanding::LIMIT - 1, true), (Outstanding::LIMIT, false)] {
            let compactor = compactor();
            let state = restored(with_outstanding(&compactor.state, count)).expect("not too many");
            let step = compactor.role.step(&state, begin.clone()).map(|step| step.effects[0].id);
            assert_eq!(step.is_ok(), begins);
            assert!(step.is_ok_and(|id| usize::from(id.number) == count) || !begins);

            let cleaner = cleaner();
            let state = restored(with_outstanding(&cleaner.state, count)).expect("not too many");
            let step = cleaner.role.step(&state, begin.clone());
            assert_eq!(step.map(|_| ()).err(), (!begins).then_some(busy));
        }
        let all = with_outstanding(&cleaner().state, 1 << 16);
        let refused = restored::<surehold::compaction::cleaner::State>(all);
        assert_eq!(refused, Err("too many effects are outstanding".into()));
    }
}
