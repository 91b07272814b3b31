//! The upstream variants against upstream's own test vectors (`data/`, facts of Cortex's unit tests).
//!
//! The machines are those that the models explore, over a bucket in memory whose clock stands still. What
//! upstream says by an error or a log line shows here in what the machine does next, or no longer does.
//!
//! A compactor here has one range. So each range of a grouper case has a compactor of its own, and the order
//! among ranges is not looked at. Upstream's test splits by series; as the rule is the same for both, series
//! are counted as bytes of the index here.

#[path = "../../tests/downstream/src/lib.rs"]
#[allow(dead_code)]
pub mod downstream;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use surehold::compaction::compactor::Limits;
use surehold::compaction::marker::{Finding, Marker, Owner, Status};
use surehold::compaction::object::{
    BlockId, Body, DeletionMark, GroupId, Key, MarkReason, Meta, PlanId, PlanKey, ProcessId,
    Provenance,
};
use surehold::compaction::plan::{Plan, Range};
use surehold::compaction::upstream::{Cleaner, Compactor, Pass, Release, Search};
use surehold::compaction::{Effect, Event, Input, Outcome, Task};

use downstream::{Bucket, Outside, Process};

const PLANNER: &str = "cortex-partition-planner.json";
const MARKERS: &str = "cortex-visit-marker.json";
const STATUS: &str = "cortex-partitioned-group-info.json";
const CLEANER: &str = "cortex-cleaner-and-meta.json";
const GROUPER: &str = "cortex-partition-grouper.json";

/// The cases that are not run, and why. All others are.
const NOT_YET: &[(&str, &[&str], &str)] = &[
    (
        PLANNER,
        &["plan-02", "plan-03", "plan-04"],
        "one range: a block outside of it is not synced, so no job has it as a member",
    ),
    (
        PLANNER,
        &["plan-05", "plan-06"],
        "the planner alone: with the marks that the sync saw, the grouper has left the partition out \
         before, see below",
    ),
    (MARKERS, &["marker-05"], "there is no cancelling: a process crashes and writes nothing"),
    (
        MARKERS,
        &["marker-09", "marker-11"],
        "only the cleaner's own marker is deleted on exit, and a cleaner's pass has one kind of end",
    ),
    (STATUS, &["roundtrip-01", "roundtrip-02"], "the file's format: a body here is a value"),
    (
        CLEANER,
        &[
            "retention-01",
            "retention-02",
            "retention-03",
            "retention-04",
            "retention-05",
            "retention-06",
            "retention-07",
            "retention-08",
            "retention-09",
            "retention-10",
        ],
        "there is no retention",
    ),
    (
        CLEANER,
        &["ext-01", "ext-02", "ext-03", "ext-04", "ext-05", "ext-06", "ext-07", "ext-08", "ext-09"],
        "meta.json is not parsed",
    ),
    (
        CLEANER,
        &[
            "config-01",
            "config-02",
            "config-03",
            "config-04",
            "config-05",
            "config-06",
            "config-07",
            "config-08",
            "config-09",
        ],
        "there is no configuration of a whole service",
    ),
    (
        GROUPER,
        &["grouper-43", "grouper-44"],
        "several ranges: whether a smaller one inside still has work",
    ),
    (GROUPER, &["grouper-49"], "the grace of two clean-up intervals (#7182) is left out"),
];

// ---------------------------------------------------------------------------------------------------
// Files and cases

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    defaults: Value,
    cases: Vec<Value>,
}

#[derive(Debug, PartialEq)]
struct Counts {
    run: usize,
    not_yet: usize,
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_else(|error| panic!("{error}: {value}"))
}

/// Runs each case of a file that is not listed above, and says how many there were of both.
fn run_all(file: &str, run: impl Fn(&Value, &Value, &mut Differences)) -> Counts {
    let text = std::fs::read_to_string(directory().join(file)).expect("the file is there");
    let File { defaults, cases } = serde_json::from_str(&text).expect("the file is well-formed");
    let mut listed: BTreeSet<&str> = NOT_YET
        .iter()
        .filter(|(of, ..)| *of == file)
        .flat_map(|(_, ids, _)| *ids)
        .copied()
        .collect();
    let mut seen = BTreeSet::new();
    let mut counts = Counts { run: 0, not_yet: 0 };
    let mut differences = Differences::default();
    for case in &cases {
        let id = case["id"].as_str().expect("a case has an id");
        assert!(seen.insert(id), "{file} has {id} twice");
        if listed.remove(id) {
            counts.not_yet += 1;
        } else {
            id.clone_into(&mut differences.case);
            run(&defaults, case, &mut differences);
            counts.run += 1;
        }
    }
    assert!(listed.is_empty(), "{file} has no {listed:?}");
    let found = differences.found.join("\n");
    assert!(found.is_empty(), "{file}:\n{found}");
    counts
}

/// Where the variant does otherwise than the vectors say.
#[derive(Default)]
struct Differences {
    case: String,
    found: Vec<String>,
}

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, what: &str, got: &T, expected: &T) {
        if got != expected {
            self.found.push(format!("{}: {what}: expected {expected:?}, got {got:?}", self.case));
        }
    }
}

#[test]
fn every_file_has_a_test_and_every_reason_a_file() {
    let entries = std::fs::read_dir(directory()).expect("there are vectors");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name());
    let names = names.map(|name| name.into_string().expect("plain"));
    let names: BTreeSet<_> = names.filter(|name| name.starts_with("cortex-")).collect();
    let tested = [PLANNER, MARKERS, STATUS, CLEANER, GROUPER];
    assert_eq!(names, tested.map(str::to_owned).into());
    assert!(NOT_YET.iter().all(|(file, ..)| tested.contains(file)));
}

// ---------------------------------------------------------------------------------------------------
// The world

/// A block by its name: `b7` is the ULID of the time 7 ms and no entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Block(BlockId);

impl TryFrom<String> for Block {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let number = name.strip_prefix('b').and_then(|n| n.parse::<u128>().ok());
        number.map(|n| Self(BlockId(n << 80))).ok_or_else(|| format!("{name} is no block"))
    }
}

fn ids(blocks: &[Block]) -> Vec<BlockId> {
    let mut ids: Vec<_> = blocks.iter().map(|block| block.0).collect();
    ids.sort_unstable();
    ids
}

/// A bucket whose clock stands still unless a case says otherwise.
struct World {
    bucket: Bucket,
    now_ms: u64,
}

impl Outside for World {
    fn now_ms(&mut self) -> u64 {
        self.now_ms
    }

    fn carry_out(&mut self, effect: &Effect) -> Outcome {
        self.bucket.carry_out(effect)
    }
}

impl World {
    fn at_s(now_s: u64) -> Self {
        Self { bucket: Bucket::default(), now_ms: now_s * 1000 }
    }

    fn put(&mut self, key: Key, body: Body) {
        self.bucket.objects.insert(key, body);
    }

    fn put_plan(&mut self, plan: &Plan) {
        self.put(Key::Plan(key(plan.group)), Body::Plan(Arc::new(plan.clone())));
    }

    fn put_marker(&mut self, group: GroupId, marker: Marker) {
        self.put(Key::Marker(key(group), marker.partition), Body::Marker(marker));
    }

    fn put_block(&mut self, meta: Meta) {
        // One sample: a merge of the block has a result.
        self.bucket.samples.insert(meta.id, [(0, meta.min_time_ms)].into());
        self.put(Key::Meta(meta.id), Body::Meta(Arc::new(meta)));
    }

    fn mark_for_deletion(&mut self, id: BlockId) {
        let because = MarkReason::Compacted(PlanId(0));
        self.put(Key::DeletionMark(id), Body::DeletionMark(DeletionMark { because, marked_ms: 0 }));
    }

    fn has(&self, key: Key) -> bool {
        self.bucket.objects.contains_key(&key)
    }

    /// The writes and deletes so far.
    fn changes(&self) -> Vec<Change> {
        let change = |effect: &Effect| match effect {
            Effect::Put(key, _) => Some(Change::Put(*key)),
            Effect::Delete(key) => Some(Change::Delete(*key)),
            _ => None,
        };
        self.bucket.history.iter().filter_map(change).collect()
    }
}

#[derive(Debug, PartialEq)]
enum Change {
    Put(Key),
    Delete(Key),
}

fn key(group: GroupId) -> PlanKey {
    PlanKey { group, plan: None }
}

fn owner(name: &str) -> Owner {
    let process = match name {
        "me" | "c1" => 0,
        "other" | "c2" => 1,
        _ => panic!("{name} is nobody"),
    };
    Owner { process: ProcessId(process), incarnation: 1 }
}

fn status(name: &str) -> Status {
    match name {
        "pending" => Status::Pending,
        "inProgress" => Status::InProgress,
        // Upstream's does not say what was found.
        "completed" => Status::Completed(Finding::Empty),
        "failed" => Status::Failed,
        _ => panic!("{name} is no status"),
    }
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::InProgress => "inProgress",
        Status::Completed(_) => "completed",
        Status::Failed => "failed",
    }
}

fn compactor(limits: Limits, owner: Owner) -> Process<Compactor> {
    let role = Compactor::new(limits, Release::Main);
    Process::start(role, owner.process, owner.incarnation)
}

/// Carries out effects until the next one is such; whether there was one.
fn until(
    process: &mut Process<Compactor>,
    world: &mut World,
    is_next: impl Fn(&Effect) -> bool,
) -> bool {
    loop {
        if process.owed.front().is_some_and(|issued| is_next(&issued.effect)) {
            return true;
        }
        if !process.settle(world).expect("it fits") {
            return false;
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// The planner

#[derive(Deserialize)]
struct PlannerCase {
    block_ranges_ms: Vec<i64>,
    no_compact: Vec<Block>,
    marker: PlannerMarker,
    group_file: GroupFile,
    planned_creation_time_s: u64,
    members: Vec<Member>,
    deletion_marked: Vec<Block>,
    marker_timeout_s: Option<u64>,
    expected: PlannerExpected,
}

#[derive(Deserialize)]
struct PlannerMarker {
    exists: bool,
    owner: Option<String>,
    status: Option<String>,
    visit_time_s: Option<u64>,
}

#[derive(Deserialize)]
struct GroupFile {
    exists: bool,
    creation_time_s: Option<u64>,
}

#[derive(Deserialize)]
struct Member {
    id: Block,
    min_time: i64,
    max_time: i64,
}

#[derive(Deserialize)]
struct PlannerExpected {
    members: Option<Vec<Block>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct PlannerDefaults {
    me: String,
    now_s: u64,
    marker_timeout_s: u64,
    partition_id: u32,
}

const GROUP: GroupId = GroupId(1);

impl PlannerCase {
    fn plan(&self, created_s: u64) -> Plan {
        let members = self.members.iter().map(|member| member.id.0).collect();
        Plan { id: PlanId(1), group: GROUP, created_s, partitions: vec![members] }
    }

    /// A bucket with the plan in it and nothing against it, and a compactor.
    fn start(&self, defaults: &PlannerDefaults) -> (World, Process<Compactor>) {
        let mut world = World::at_s(defaults.now_s);
        for member in &self.members {
            world.put_block(Meta {
                id: member.id.0,
                min_time_ms: member.min_time,
                max_time_ms: member.max_time,
                index_size_bytes: 0,
                made_by: None,
            });
        }
        world.put_plan(&self.plan(self.planned_creation_time_s));
        let largest = *self.block_ranges_ms.last().expect("there is a range");
        let start_ms = self.members[0].min_time.div_euclid(largest) * largest;
        let range = Range { group: GROUP, start_ms, end_ms: start_ms + largest };
        let timeout_s = self.marker_timeout_s.unwrap_or(defaults.marker_timeout_s);
        let limits = Limits { claim_timeout_ms: timeout_s * 1000, ..Limits::for_range(range) };
        (world, compactor(limits, owner(&defaults.me)))
    }

    /// What has become of the claim, the plan and the members by the time of the planner's checks.
    fn set_up(&self, world: &mut World, partition: u32) {
        world.bucket.objects.remove(&Key::Marker(key(GROUP), partition));
        let PlannerMarker { exists, owner: name, status: standing, visit_time_s } = &self.marker;
        if *exists {
            world.put_marker(
                GROUP,
                Marker {
                    owner: owner(name.as_ref().expect("a marker has an owner")),
                    status: status(standing.as_ref().expect("a marker has a status")),
                    plan: PlanId(1),
                    plan_created_s: Some(self.planned_creation_time_s),
                    partition,
                    visited_ms: visit_time_s.expect("a marker has a time") * 1000,
                },
            );
        }
        world.bucket.objects.remove(&Key::Plan(key(GROUP)));
        if self.group_file.exists {
            world.put_plan(&self.plan(self.group_file.creation_time_s.expect("it has a time")));
        }
        for block in &self.deletion_marked {
            world.mark_for_deletion(block.0);
        }
    }
}

fn is_merge(effect: &Effect) -> bool {
    matches!(effect, Effect::Merge(_))
}

fn is_wait(effect: &Effect) -> bool {
    matches!(effect, Effect::Wait(_))
}

/// The compactor finds the plan, claims the partition and waits; then the scene changes.
fn run_planner(defaults: &Value, case: &Value, differences: &mut Differences) {
    let (defaults, case): (PlannerDefaults, PlannerCase) = (read(defaults), read(case));
    assert!(case.no_compact.is_empty(), "not run");
    let partition = defaults.partition_id;
    let (mut world, mut process) = case.start(&defaults);
    process.go_on(Task::Cycle, &mut world).expect("it is idle");
    assert!(until(&mut process, &mut world, is_wait), "it claims the partition");
    case.set_up(&mut world, partition);
    world.bucket.history.clear();

    let goes_on = until(&mut process, &mut world, is_merge);
    let merges = goes_on.then(|| match &process.owed[0].effect {
        Effect::Merge(merge) => (merge.partition, merge.inputs.clone()),
        other => panic!("{other:?} is no merge"),
    });
    let expected = case.expected.members.as_deref().map(|members| (partition, ids(members)));
    differences.check("it merges", &merges, &expected);

    // Why it stopped: what it looked at last, and what it wrote.
    let marker = Key::Marker(key(GROUP), partition);
    let last = world.bucket.history.last().cloned().expect("it looked at its claim");
    let written = world.bucket.history.iter().filter_map(|effect| match effect {
        Effect::Put(key, Body::Marker(marker)) => Some((*key, marker.owner, marker.status)),
        Effect::Put(..) | Effect::Delete(_) => panic!("{effect:?} is not the planner's to do"),
        _ => None,
    });
    let written: Vec<_> = written.collect();
    match case.expected.error.as_deref() {
        None => differences.check("it writes", &written, &Vec::new()),
        Some("visited_by_other") => {
            differences.check("last", &last, &Effect::Get(marker));
            differences.check("it writes", &written, &Vec::new());
        }
        Some("partition_completed") => {
            differences.check("last", &last, &Effect::Get(Key::Plan(key(GROUP))));
            differences.check("it writes", &written, &Vec::new());
        }
        Some("contains_deleted_blocks") => {
            let failed = (marker, owner(&defaults.me), Status::Failed);
            differences.check("it writes", &written, &vec![failed]);
        }
        Some(error) => panic!("{error} is not run"),
    }
    differences.check("its jobs", &process.state.jobs().count(), &usize::from(goes_on));
}

#[test]
fn planner() {
    assert_eq!(run_all(PLANNER, run_planner), Counts { run: 9, not_yet: 5 });
}

/// Why `plan-05` and `plan-06` do not come up: upstream's planner knows the marks that the sync gathered,
/// and by then the same marks have taken the blocks from the grouper, which leaves out a partition with a
/// block that it does not know. A mark that comes later is known to neither.
#[test]
fn a_mark_that_the_planner_would_know_of_keeps_the_partition_from_being_picked() {
    let text = std::fs::read_to_string(directory().join(PLANNER)).expect("the file is there");
    let file: File = serde_json::from_str(&text).expect("the file is well-formed");
    let defaults: PlannerDefaults = read(&file.defaults);
    let mut seen = 0;
    for case in &file.cases {
        let case: PlannerCase = read(case);
        for block in &case.no_compact {
            let (mut world, mut process) = case.start(&defaults);
            world.put(Key::NoCompactMark(block.0), Body::NoCompactMark);
            process.go_on(Task::Cycle, &mut world).expect("it is idle");
            assert!(!until(&mut process, &mut world, is_wait));
            assert_eq!(world.changes(), []);
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
}

// ---------------------------------------------------------------------------------------------------
// Visit markers

#[derive(Deserialize)]
struct MarkerCase {
    steps: Vec<MarkerStep>,
    expected_file: MarkerFile,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum MarkerStep {
    Mark { owner: String, status: String },
    Heartbeat { owner: String, delete_on_exit: bool },
    Wait { s: u64 },
    Event { event: String },
}

#[derive(Deserialize)]
struct MarkerFile {
    exists: bool,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    status: String,
}

const MARKED: Key = Key::Marker(PlanKey { group: GROUP, plan: None }, 0);

/// Upstream's test writes the markers by themselves; here it is the work on a partition that writes them.
struct Workers {
    world: World,
    limits: Limits,
    processes: BTreeMap<String, Process<Compactor>>,
}

impl Workers {
    fn start() -> Self {
        let mut world = World::at_s(1_700_000_000);
        let range = Range { group: GROUP, start_ms: 0, end_ms: 100 };
        let id = BlockId(1);
        world.put_block(Meta {
            id,
            min_time_ms: 0,
            max_time_ms: 100,
            index_size_bytes: 0,
            made_by: None,
        });
        let created_s = 1_700_000_000;
        world.put_plan(&Plan {
            id: PlanId(1),
            group: GROUP,
            created_s,
            partitions: vec![vec![id]],
        });
        Self { world, limits: Limits::for_range(range), processes: BTreeMap::new() }
    }

    /// The worker works until this is its next effect.
    fn work(&mut self, name: &str, is_next: impl Fn(&Effect) -> bool) -> bool {
        let Self { world, limits, processes } = self;
        let process = processes.entry(name.to_owned()).or_insert_with(|| {
            let mut process = compactor(*limits, owner(name));
            process.go_on(Task::Cycle, world).expect("it is idle");
            process
        });
        until(process, world, is_next)
    }

    /// A heartbeat, if one may be sent, while the work goes on.
    fn beat(&mut self, name: &str) -> bool {
        let process = self.processes.get_mut(name).expect("it works");
        let beats = process.state.can_beat(0);
        if beats {
            process.go_on(Task::Beat(0), &mut self.world).expect("it may be sent");
            process.owed.rotate_right(1);
            process.settle(&mut self.world).expect("it fits");
        }
        beats
    }

    /// What the worker does next fails, and it goes on to the end.
    fn fail(&mut self, name: &str) {
        let input = Input { now_ms: self.world.now_ms, fresh: 0, pick: 0 };
        let process = self.processes.get_mut(name).expect("it works");
        let id = process.owed.pop_front().expect("it does something").id;
        process.take(Event::Outcome { id, outcome: Outcome::Failed, input }).expect("it fits");
        self.end(name);
    }

    fn end(&mut self, name: &str) {
        self.work(name, |_| false);
    }
}

/// Of those that have a marker, the cleaner alone deletes it on exit.
fn run_cleaner_marker(case: &MarkerCase, differences: &mut Differences) {
    let mut world = World::at_s(1_700_000_000);
    let role = Cleaner::new(Release::Main, 600_000).with_own_marker(true);
    let mut process = Process::start(role, ProcessId(0), 1);
    for step in &case.steps {
        match step {
            MarkerStep::Heartbeat { .. } => {
                process.go_on(Task::Cycle, &mut world).expect("it is idle");
                while !world.has(Key::CleanerMarker) {
                    assert!(process.settle(&mut world).expect("it fits"));
                }
            }
            MarkerStep::Wait { s } => {
                world.now_ms += s * 1000;
                if process.state.can_beat() {
                    process.go_on(Task::Beat(0), &mut world).expect("it is at its pass");
                    // The pass goes on meanwhile: the newest effect is the heartbeat.
                    let beat = process.owed.pop_back().expect("it was just sent");
                    process.owed.push_front(beat);
                    process.settle(&mut world).expect("it fits");
                }
            }
            MarkerStep::Event { event } => {
                assert_eq!(event, "result-ok");
                while process.settle(&mut world).expect("it fits") {}
            }
            MarkerStep::Mark { .. } => panic!("not run"),
        }
    }
    differences.check(
        "the file exists",
        &world.has(Key::CleanerMarker),
        &case.expected_file.exists,
    );
    let marker = [Change::Put(Key::CleanerMarker), Change::Delete(Key::CleanerMarker)];
    differences.check(
        "at last",
        &world.changes()[2..].iter().collect(),
        &marker.iter().collect::<Vec<_>>(),
    );
}

fn run_marker(_: &Value, case: &Value, differences: &mut Differences) {
    let case: MarkerCase = read(case);
    if case.steps.iter().any(|s| matches!(s, MarkerStep::Heartbeat { delete_on_exit: true, .. })) {
        return run_cleaner_marker(&case, differences);
    }
    let mut workers = Workers::start();
    let mut owners: Vec<&str> = Vec::new();
    for step in &case.steps {
        if let MarkerStep::Mark { owner, .. } | MarkerStep::Heartbeat { owner, .. } = step
            && !owners.contains(&owner.as_str())
        {
            owners.push(owner);
        }
    }
    // Whoever writes without having claimed after the first has claimed before, and was not heard of since.
    for late in owners.iter().skip(1).rev() {
        assert!(workers.work(late, is_merge), "{late} claims the partition");
        workers.world.now_ms += workers.limits.claim_timeout_ms;
    }
    let first = owners[0];
    for step in &case.steps {
        match step {
            MarkerStep::Mark { owner, status } => match status.as_str() {
                "pending" => assert!(workers.work(owner, is_wait)),
                "inProgress" => assert!(workers.work(owner, is_merge) && workers.beat(owner)),
                "completed" => workers.end(owner),
                other => panic!("{other} is not run"),
            },
            MarkerStep::Heartbeat { owner, delete_on_exit } => {
                assert!(!delete_on_exit, "not run");
                assert!(workers.work(owner, is_merge) && workers.beat(owner));
            }
            MarkerStep::Wait { s } => {
                workers.world.now_ms += s * 1000;
                workers.beat(first);
            }
            MarkerStep::Event { event } => match event.as_str() {
                "result-ok" => workers.end(first),
                // A merge that fails halts the partition, an upload that fails gives it back.
                "halt-error" => workers.fail(first),
                "other-error" => {
                    let uploads =
                        |effect: &Effect| matches!(effect, Effect::Put(Key::Chunks(_), _));
                    assert!(workers.work(first, uploads));
                    workers.fail(first);
                }
                other => panic!("{other} is not run"),
            },
        }
    }
    assert!(case.expected_file.exists, "not run");
    let got = match workers.world.bucket.objects.get(&MARKED) {
        Some(Body::Marker(marker)) => Some((marker.owner, status_name(marker.status))),
        _ => None,
    };
    let expected = (owner(&case.expected_file.owner), case.expected_file.status.as_str());
    differences.check("the file", &got, &Some(expected));
}

#[test]
fn visit_markers() {
    assert_eq!(run_all(MARKERS, run_marker), Counts { run: 8, not_yet: 3 });
}

// ---------------------------------------------------------------------------------------------------
// Status and clean-up of groups

#[derive(Deserialize)]
struct Group {
    partition_count: u32,
    partitions: Vec<Partition>,
    creation_time_s: Option<u64>,
}

#[derive(Deserialize)]
struct Partition {
    id: u32,
    blocks: Vec<Block>,
}

impl Group {
    fn plan(&self, group: GroupId) -> Plan {
        let created_s = self.creation_time_s.unwrap_or(0);
        let partitions: Vec<_> = self.partitions.iter().map(|p| ids(&p.blocks)).collect();
        assert!(self.partitions.iter().map(|p| p.id).eq(0..self.partition_count));
        Plan { id: PlanId(1), group, created_s, partitions }
    }
}

#[derive(Deserialize)]
struct GroupMarker {
    partition_id: u32,
    owner: Option<String>,
    status: String,
    visit_time_s: u64,
    partitioned_group_creation_time_s: u64,
}

impl GroupMarker {
    fn marker(&self) -> Marker {
        let created_s = self.partitioned_group_creation_time_s;
        Marker {
            owner: owner(self.owner.as_deref().unwrap_or("me")),
            status: status(&self.status),
            plan: PlanId(1),
            plan_created_s: (created_s > 0).then_some(created_s),
            partition: self.partition_id,
            visited_ms: self.visit_time_s * 1000,
        }
    }
}

#[derive(Deserialize)]
struct BlockState {
    meta_exists: bool,
    deletion_mark: bool,
    no_compact_mark: bool,
}

#[derive(Deserialize)]
struct GroupCase {
    group: Group,
    markers: Vec<GroupMarker>,
    blocks: BTreeMap<String, BlockState>,
}

impl GroupCase {
    fn plan(&self) -> Plan {
        self.group.plan(GROUP)
    }

    fn block_states(&self) -> impl Iterator<Item = (BlockId, &BlockState)> {
        let id = |name: &String| Block::try_from(name.clone()).expect("it is a block").0;
        self.blocks.iter().map(move |(name, state)| (id(name), state))
    }

    fn world(&self, now_s: u64) -> World {
        let mut world = World::at_s(now_s);
        world.put_plan(&self.plan());
        for marker in &self.markers {
            world.put_marker(GROUP, marker.marker());
        }
        for (id, state) in self.block_states() {
            if state.meta_exists {
                world.put_block(Meta {
                    id,
                    min_time_ms: 0,
                    max_time_ms: 100,
                    index_size_bytes: 0,
                    made_by: None,
                });
            }
            if state.deletion_mark {
                world.mark_for_deletion(id);
            }
            if state.no_compact_mark {
                world.put(Key::NoCompactMark(id), Body::NoCompactMark);
            }
        }
        world
    }
}

fn cleaner(marker_timeout_s: u64) -> Process<Cleaner> {
    Process::start(Cleaner::new(Release::Main, marker_timeout_s * 1000), ProcessId(9), 1)
}

/// One pass; returns the blocks that the status asked after, in order.
fn clean(process: &mut Process<Cleaner>, world: &mut World) -> Vec<BlockId> {
    let mut asked = Vec::new();
    process.go_on(Task::Cycle, world).expect("it is idle");
    while let Some(issued) = process.owed.front() {
        if let (Pass::Status(..), Effect::Exists(Key::Meta(id))) =
            (process.state.pass(), &issued.effect)
        {
            asked.push(*id);
        }
        process.settle(world).expect("it fits");
    }
    assert_eq!(process.state.pass(), &Pass::Idle);
    asked
}

#[derive(Deserialize)]
struct StatusDefaults {
    now_s: u64,
    marker_timeout_s: u64,
}

#[derive(Deserialize)]
struct StatusExpected {
    completed: bool,
    can_delete: bool,
    pending_or_failed_partitions: Vec<u32>,
    markers_to_delete: Vec<u32>,
}

fn run_group_info(defaults: &Value, case: &Value, differences: &mut Differences) {
    if case.get("block").is_some() {
        run_lookup(case, differences);
    } else {
        run_status(defaults, case, differences);
    }
}

fn run_lookup(case: &Value, differences: &mut Differences) {
    let plan = read::<Group>(&case["group"]).plan(GROUP);
    let Block(id) = read(&case["block"]);
    let listing = (0..plan.count()).filter(|p| plan.members(*p).contains(&id)).collect();
    let expected: Vec<u32> = read(&case["expected_partition_ids"]);
    differences.check("partitions", &listing, &expected);
}

/// The status decides what a pass does, so it is told by that.
fn run_status(defaults: &Value, case: &Value, differences: &mut Differences) {
    let expected: StatusExpected = read(&case["expected"]);
    let (defaults, case): (StatusDefaults, GroupCase) = (read(defaults), read(case));
    let plan = case.plan();
    let mut world = case.world(defaults.now_s);
    let asked = clean(&mut cleaner(defaults.marker_timeout_s), &mut world);

    // It asks after the parents of the unfinished partitions, up to the first that is a hindrance.
    let states: BTreeMap<_, _> = case.block_states().collect();
    let unfinished: BTreeSet<BlockId> = expected
        .pending_or_failed_partitions
        .iter()
        .flat_map(|p| plan.members(*p))
        .copied()
        .collect();
    let hinders = |id: &BlockId| {
        let state = states[id];
        !state.meta_exists || state.deletion_mark || state.no_compact_mark
    };
    let first = unfinished.iter().find(|id| hinders(id)).copied();
    let expected_asked: Vec<_> =
        unfinished.iter().filter(|id| first.is_none_or(|first| **id <= first)).copied().collect();
    differences.check("it asks after", &asked, &expected_asked);

    let marker = |p: u32| Change::Delete(Key::Marker(key(GROUP), p));
    let changes: Vec<Change> = match (expected.can_delete, expected.completed) {
        (false, completed) => {
            assert!(!completed);
            expected.markers_to_delete.iter().map(|p| marker(*p)).collect()
        }
        (true, false) => {
            let file = Change::Delete(Key::Plan(key(GROUP)));
            let markers = case.markers.iter().map(|m| marker(m.partition_id));
            std::iter::once(file).chain(markers).collect()
        }
        (true, true) => {
            let marks =
                |id| [Change::Put(Key::GlobalDeletionMark(id)), Change::Put(Key::DeletionMark(id))];
            let unmarked: Vec<_> = plan.parents().into_iter().filter(|id| !hinders(id)).collect();
            assert!(!unmarked.is_empty(), "this pass marks, the next deletes");
            unmarked.into_iter().flat_map(marks).collect()
        }
    };
    differences.check("it changes", &world.changes(), &changes);
}

#[test]
fn group_status() {
    assert_eq!(run_all(STATUS, run_group_info), Counts { run: 16, not_yet: 2 });
}

#[derive(Deserialize)]
struct CleanUp {
    now_s: u64,
    marker_timeout_s: u64,
    steps: Vec<CleanUpStep>,
}

#[derive(Deserialize)]
struct CleanUpStep {
    op: String,
    expect: CleanUpExpected,
}

#[derive(Deserialize)]
struct CleanUpExpected {
    index_deletion_marks: Option<Vec<Block>>,
    deletion_mark: Option<BTreeMap<String, bool>>,
    group_file_exists: bool,
    partition_marker_exists: bool,
}

#[derive(Deserialize)]
struct PartialBlock {
    objects_in_block_dir: Vec<String>,
    /// Nothing is known where there was nothing to see.
    expected_deleted: Option<bool>,
}

fn run_partial(case: &Value, differences: &mut Differences) {
    const HOUR_MS: u64 = 3_600_000;
    const ID: BlockId = BlockId(1 << 80);
    let case: PartialBlock = read(case);
    let mut world = World::at_s(1_700_000_000);
    for name in &case.objects_in_block_dir {
        let (key, body) = match name.as_str() {
            "visit-mark.json" => (Key::VisitMark(ID), Body::Data),
            "chunks/000001" => (Key::Chunks(ID), Body::Data),
            "deletion-mark.json" => {
                let (because, marked_ms) =
                    (MarkReason::Compacted(PlanId(0)), world.now_ms - HOUR_MS);
                (Key::DeletionMark(ID), Body::DeletionMark(DeletionMark { because, marked_ms }))
            }
            other => panic!("{other} is not known"),
        };
        world.put(key, body);
    }
    let role = Cleaner::new(Release::Main, 600_000).deleting(Some(12 * HOUR_MS));
    clean(&mut Process::start(role, ProcessId(9), 1), &mut world);
    if let Some(expected) = case.expected_deleted {
        differences.check("deleted", &world.bucket.objects.is_empty(), &expected);
    }
}

fn run_cleaner(defaults: &Value, case: &Value, differences: &mut Differences) {
    if case.get("objects_in_block_dir").is_some() {
        run_partial(case, differences);
    } else {
        run_clean_up(defaults, case, differences);
    }
}

fn run_clean_up(_: &Value, case: &Value, differences: &mut Differences) {
    let clean_up: CleanUp = read(case);
    let case: GroupCase = read(case);
    let mut world = case.world(clean_up.now_s);
    let mut process = cleaner(clean_up.marker_timeout_s);
    for (step, expect) in clean_up.steps.iter().map(|step| (&step.op, &step.expect)) {
        assert_eq!(step, "clean_cycle");
        clean(&mut process, &mut world);
        let marked = |id: &Key| if let Key::GlobalDeletionMark(id) = id { Some(*id) } else { None };
        // The index is made of the global marks.
        if let Some(blocks) = &expect.index_deletion_marks {
            let marked: Vec<_> = world.bucket.objects.keys().filter_map(marked).collect();
            differences.check("marks for the index", &marked, &ids(blocks));
        }
        for (name, is_marked) in expect.deletion_mark.iter().flatten() {
            let Block(id) = Block::try_from(name.clone()).expect("it is a block");
            differences.check(name, &world.has(Key::DeletionMark(id)), is_marked);
        }
        let file = world.has(Key::Plan(key(GROUP)));
        differences.check("group file", &file, &expect.group_file_exists);
        differences.check("marker", &world.has(MARKED), &expect.partition_marker_exists);
    }
}

#[test]
fn group_clean_up() {
    assert_eq!(run_all(CLEANER, run_cleaner), Counts { run: 5, not_yet: 28 });
}

// ---------------------------------------------------------------------------------------------------
// The grouper

#[derive(Deserialize)]
struct GrouperDefaults {
    now_ms: u64,
    partition_series_limit: u64,
    partition_index_size_limit_bytes: u64,
    marker_timeout_ms: u64,
}

#[derive(Deserialize)]
struct GrouperCase {
    block_ranges_ms: Vec<i64>,
    ingestion_replication_factor: u64,
    blocks: Vec<GrouperBlock>,
    existing_groups: Vec<Existing>,
    expected_jobs: Vec<ExpectedJob>,
}

#[derive(Deserialize)]
struct GrouperBlock {
    id: Block,
    min_time: i64,
    max_time: i64,
    num_series: u64,
    index_size_bytes: Option<u64>,
    partition_info: Option<PartitionInfo>,
}

#[derive(Deserialize)]
struct PartitionInfo {
    count: u32,
    id: u32,
    group_of_range: (i64, i64),
}

#[derive(Deserialize)]
struct Existing {
    range_start: i64,
    range_end: i64,
    #[serde(flatten)]
    group: Group,
    markers: Vec<GroupMarker>,
}

#[derive(Deserialize)]
struct ExpectedJob {
    range_start: i64,
    range_end: i64,
    partition_count: u32,
    partition_id: u32,
    blocks: Vec<Block>,
    filler_block_added: bool,
}

/// A group of its own for each range, as upstream's hash has it.
fn group_of(range: (i64, i64)) -> GroupId {
    let hour = |ms: i64| u32::try_from(ms / 3_600_000).expect("it fits");
    GroupId(hour(range.0) * 100 + hour(range.1 - range.0))
}

/// A partition of a plan as a job: the count of the plan, the partition, its blocks.
type Job = (u32, u32, Vec<BlockId>);

/// The compactor of one range goes through its cycle up to where it picks. Returns the jobs to pick from.
fn jobs_of(process: &mut Process<Compactor>, world: &mut World) -> Vec<Job> {
    process.go_on(Task::Cycle, world).expect("it is idle");
    loop {
        if let Search::Picking(plan, jobs) = process.state.search() {
            let job = |p: &u32| (plan.count(), *p, plan.members(*p).to_vec());
            return jobs.iter().map(job).collect();
        }
        if !process.settle(world).expect("it fits") {
            return Vec::new();
        }
    }
}

fn run_grouper(defaults: &Value, case: &Value, differences: &mut Differences) {
    let (defaults, case): (GrouperDefaults, GrouperCase) = (read(defaults), read(case));
    assert_eq!(defaults.partition_index_size_limit_bytes, 0, "by series alone");
    assert!(case.blocks.iter().all(|block| block.index_size_bytes.is_none_or(|size| size == 0)));
    // Upstream stops to add up where the size of an index is missing.
    assert!(case.blocks.iter().all(|b| b.index_size_bytes.is_some() || b.num_series == 0));
    let mut ranges: BTreeSet<(i64, i64)> =
        case.expected_jobs.iter().map(|job| (job.range_start, job.range_end)).collect();
    ranges.extend(case.existing_groups.iter().map(|of| (of.range_start, of.range_end)));
    assert!(!ranges.is_empty(), "there is nothing to run");

    for range in ranges {
        let mut world = World { bucket: Bucket::default(), now_ms: defaults.now_ms };
        for block in &case.blocks {
            world.put_block(Meta {
                id: block.id.0,
                min_time_ms: block.min_time,
                max_time_ms: block.max_time,
                index_size_bytes: block.num_series,
                made_by: block.partition_info.as_ref().map(|info| Provenance {
                    group: group_of(info.group_of_range),
                    plan: PlanId(0),
                    partition_count: info.count,
                    partition: info.id,
                }),
            });
        }
        let mut planned = false;
        for existing in &case.existing_groups {
            let of = (existing.range_start, existing.range_end);
            planned |= of == range;
            world.put_plan(&existing.group.plan(group_of(of)));
            for marker in &existing.markers {
                world.put_marker(group_of(of), marker.marker());
            }
        }
        // Up to the least range every sample is there once for each replica.
        let is_least = range.1 - range.0 <= case.block_ranges_ms[0];
        let factor = if is_least { case.ingestion_replication_factor } else { 1 };
        let (start_ms, end_ms) = range;
        let limits = Limits {
            claim_timeout_ms: defaults.marker_timeout_ms,
            partition_index_size_bytes: defaults.partition_series_limit * factor,
            ..Limits::for_range(Range { group: group_of(range), start_ms, end_ms })
        };
        let got = jobs_of(&mut compactor(limits, owner("me")), &mut world);
        let expected = case
            .expected_jobs
            .iter()
            .filter(|job| (job.range_start, job.range_end) == range)
            .map(|job| (job.partition_count, job.partition_id, ids(&job.blocks)))
            .collect();
        differences.check(&format!("jobs of {range:?}"), &got, &expected);
        let file = Change::Put(Key::Plan(key(group_of(range))));
        let written = if planned { Vec::new() } else { vec![file] };
        differences.check(&format!("changes for {range:?}"), &world.changes(), &written);
    }
    // Upstream adds a filler where there is one block alone, as Thanos passes over such a group. A merge
    // here takes any number of blocks.
    assert!(case.expected_jobs.iter().all(|j| j.filler_block_added == (j.blocks.len() == 1)));
}

#[test]
fn grouper() {
    assert_eq!(run_all(GROUPER, run_grouper), Counts { run: 46, not_yet: 3 });
}
