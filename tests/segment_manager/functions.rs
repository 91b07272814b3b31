//! What the library says without a role that runs: which partitions there are, whom a forced commit is for, how limits
//! change.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use surehold::collections::Table;
use surehold::commit::Guard;
use surehold::commit::completion::{Kind, Mode};
use surehold::commit::controller::{Controller, Limits, force, partitions};
use surehold::commit::message::Ask;
use surehold::commit::object::{
    IdealState, Location, ObjectId, PartitionId, Record, ReplicaState, SegmentId, ServerId, Status,
};
use surehold::guard::Guards;

use crate::Differences;
use crate::commit_store::Stores;
use crate::manager::{Manager, plain};
use crate::steps::{ROWS, START, number, small, state};

pub(crate) fn play(op: &str, case: &Value) -> Differences {
    let mut differences = Differences::default();
    let mut check = |key: &str, got: Value| differences.check(key, &got, &case[key]);
    match op {
        "partition_ids" => check("expected_count", json!(partition_ids(&case["setup"]).len())),
        "consuming_by_instance" => {
            let ideal = ideal(&case["ideal_state"]);
            let orders = force::by_server(&ideal, &force::consuming(&ideal, None));
            let names = |(server, segments): (ServerId, BTreeSet<SegmentId>)| {
                let segments = segments.into_iter().map(segment_name).collect::<Vec<_>>();
                (format!("i{}", server.0), segments)
            };
            let orders: BTreeMap<_, _> = orders.into_iter().map(names).collect();
            check("expected", json!(orders));
        }
        "force_commit_batches" => {
            let consuming = force::consuming(&ideal(&case["ideal_state"]), None);
            let size = NonZeroUsize::new(small(&case["batch_size"]).into());
            let batches = force::batches(&consuming, size).into_iter();
            let names = |batch: Vec<_>| batch.into_iter().map(segment_name).collect::<Vec<_>>();
            check("expected", json!(batches.map(names).collect::<Vec<_>>()));
        }
        "yet_to_be_committed" => {
            let all = case["status"].as_object().expect("each has a status").iter();
            let left = all.filter(|(_, is)| force::pending(status(is))).map(|(name, _)| name);
            check("expected", json!(left.collect::<Vec<_>>()));
        }
        "completion_time_config" => limits_change(case, &mut differences),
        other => panic!("{other} is not known"),
    }
    differences
}

fn partition_ids(setup: &Value) -> Vec<PartitionId> {
    let fails = setup["inject"] == "fetch_of_partition_ids_fails";
    let of_stream = if fails { 0 } else { small(&setup["stream_partitions"]) };
    let known = setup["known"].as_array().into_iter().flatten().map(|known| SegmentId {
        partition: PartitionId(small(&known["partition"])),
        sequence: small(&known["sequence"]).into(),
        minute: 0,
    });
    partitions((0..of_stream).map(PartitionId), known)
}

/// The number in a name such as `g3`.
fn index(name: &str) -> u16 {
    name[1..].parse().expect("a letter and a number")
}

fn segment_name(segment: SegmentId) -> String {
    format!("g{}", segment.partition.0)
}

fn ideal(given: &Value) -> IdealState {
    let mut ideal = IdealState::default();
    for (name, replicas) in given.as_object().expect("replicas by segment") {
        let id = SegmentId { partition: PartitionId(index(name)), sequence: 0, minute: 0 };
        let mut all = Table::new();
        for (server, is) in replicas.as_object().expect("states by instance") {
            all.insert(ServerId(index(server)), state(is));
        }
        ideal.segments.insert(id, all);
    }
    ideal
}

fn status(name: &Value) -> Option<Status> {
    Some(match name.as_str()? {
        "IN_PROGRESS" => Status::InProgress,
        "COMMITTING" => Status::Committing,
        "DONE" => Status::Done,
        "UPLOADED" => Status::Uploaded,
        other => panic!("{other} is no status"),
    })
}

/// The age limit as the cluster's configuration changes it.
fn limits_change(case: &Value, differences: &mut Differences) {
    let default_ms = Limits::default().age_limit_ms;
    let mut limits = Limits::default();
    for (at, step) in case["steps"].as_array().expect("there are steps").iter().enumerate() {
        if step["remove"] == true {
            limits = limits.configured(None);
        } else if let Some(text) = step["set"].as_str() {
            limits = limits.configured(Some(text));
        }
        let limit_ms = limits.age_limit_ms;
        let got = if limit_ms == default_ms { json!("default") } else { json!(limit_ms) };
        differences.check(&format!("step {at}"), &got, &step["expect_ms"]);
    }
}

fn table(replicas: u16, instances: u16, partitions: u16) -> Stores {
    let mut stores = Stores { instances, replicas, ..Stores::default() };
    for partition in (0..partitions).map(PartitionId) {
        let first = SegmentId { partition, sequence: 0, minute: 0 };
        stores.stream.insert(partition, START);
        stores.put(first, Record::starting_at(START, replicas, ROWS));
        let servers = stores.assigned(partition);
        stores.list(first, &servers, ReplicaState::Consuming);
    }
    stores
}

/// An operator has segments committed: those that are asked for and consumed, batch after batch.
pub(crate) fn force_commit<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let setup = &case["setup"];
    let [replicas, instances, partitions] =
        ["replicas", "instances", "stream_partitions"].map(|key| small(&setup[key]));
    let stores = table(replicas, instances, partitions);
    let mut manager = Manager::elected(role, plain(Mode::Blocking, replicas), stores);
    // A name that says nothing is that of a segment that is not there.
    let named = case["segments"].as_array().map(|all| all.iter().map(named_segment).collect());
    let consuming = force::consuming(&manager.stores.ideal, named.as_ref());
    let size = case["batch"]["size"].as_u64().and_then(|size| NonZeroUsize::new(size as usize));
    let mut committed = Vec::new();
    for batch in force::batches(&consuming, size) {
        let orders = force::by_server(&manager.stores.ideal, &batch);
        let told: BTreeSet<_> = orders.into_values().flatten().collect();
        for segment in &told {
            let stored = Location::Object(ObjectId { segment: *segment, attempt: Some(1) });
            manager.commit(*segment, START + ROWS, stored);
        }
        let status = |id| manager.stores.records.get(id).map(|(record, _)| record.status);
        assert!(!batch.iter().any(|id| force::pending(status(id))), "the next batch is sent early");
        committed.extend(told);
    }
    let place = |id: &SegmentId| json!({"partition": id.partition.0, "sequence": id.sequence});
    let committed: Vec<_> = committed.iter().map(place).collect();
    let mut differences = Differences::default();
    for (key, value) in case.as_object().expect("a case has fields") {
        let got = match key.as_str() {
            "expected_committed" => json!(committed),
            "expected_committed_non_empty" => json!(!committed.is_empty()),
            "expected_committed_contains" => {
                let expected = value.as_array().expect("a list").iter();
                json!(expected.filter(|id| committed.contains(id)).collect::<Vec<_>>())
            }
            _ => continue,
        };
        differences.check(key, &got, value);
    }
    differences
}

fn named_segment(place: &Value) -> SegmentId {
    if place.is_string() {
        return SegmentId { partition: PartitionId(99), sequence: 99, minute: 0 };
    }
    let partition = PartitionId(small(&place["partition"]));
    SegmentId { partition, sequence: small(&place["sequence"]).into(), minute: 0 }
}

/// A segment that cannot be built is begun again with a smaller limit.
pub(crate) fn reduce_size<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let rows = number(&case["rows_at_failure"]);
    let holds = [ROWS, 2 * rows, rows, rows / 2 + 1, 1].into_iter().all(|limit| {
        let segment = SegmentId { partition: PartitionId(0), sequence: 0, minute: 0 };
        let mut stores = table(2, 2, 1);
        stores.put(segment, Record::starting_at(START, 2, limit));
        let mut manager = Manager::elected(role.clone(), plain(Mode::Blocking, 2), stores);
        manager.say(segment, Ask::Say(START + rows, Kind::BuildFailed { rows }));
        manager.stores.records[&segment].0.row_limit == 50.min(limit / 2)
    });
    let got = if holds { "min(50, B/2), integer division" } else { "another" };
    let mut differences = Differences::default();
    differences.check("expected_row_limit", &json!(got), &case["expected_row_limit"]);
    differences
}
