//! The upstream variants against upstream's own test vectors (`data/`, facts of Cortex's unit tests).
//!
//! The machines are those that the models explore, over a bucket in memory whose clock stands still. What
//! upstream says by an error or a log line shows here in what the machine does next, or no longer does.
//!
//! A compactor here has one range. So each range of a grouper case has a compactor of its own, and the order
//! among ranges is not looked at. Upstream's test splits by series; as the rule is the same for both, series
//! are counted as bytes of the index here.

#[path = "../../../tests/downstream/src/lib.rs"]
#[allow(dead_code)]
pub mod downstream;

mod grouper;
mod groups;
mod markers;
mod planner;

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
// Groups

const GROUP: GroupId = GroupId(1);

const MARKED: Key = Key::Marker(PlanKey { group: GROUP, plan: None }, 0);

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

fn cleaner(marker_timeout_s: u64) -> Process<Cleaner> {
    Process::start(Cleaner::new(Release::Main, marker_timeout_s * 1000), ProcessId(9), 1)
}

fn is_merge(effect: &Effect) -> bool {
    matches!(effect, Effect::Merge(_))
}

fn is_wait(effect: &Effect) -> bool {
    matches!(effect, Effect::Wait(_))
}
