//! Sequences: commits, repairs, and what goes wrong between them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use surehold::commit::completion::{Answer, Kind, Mode};
use surehold::commit::controller::{Controller, Limits};
use surehold::commit::message::Ask;
use surehold::commit::object::{
    AutoReset, Location, ObjectId, PartitionId, Record, ReplicaState, Replicas, SegmentId, Status,
    TableConfig,
};
use surehold::commit::{Guard, Task};
use surehold::guard::Guards;

use crate::Differences;
use crate::commit_store::Stores;
use crate::manager::{Interference, Manager, Wish, plain};
use crate::rules;

/// Where a partition begins (`defaults.start_offset`).
pub(crate) const START: u64 = 1000;
/// How many rows a segment has (`defaults.rows_per_segment`).
pub(crate) const ROWS: u64 = 500;

/// What is set when a segment is done.
const FIELDS: [&str; 5] = ["crc", "data_crc", "index_version", "total_docs", "size_bytes"];

/// Younger than the completion limit, and older.
const YOUNG_MS: u64 = 0;
const OLD_MS: u64 = 300_001;

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

pub(crate) fn small(value: &Value) -> u16 {
    number(value).try_into().expect("a small number")
}

/// How the table is configured.
fn configured(setup: &Value) -> TableConfig {
    let stream = &setup["stream_config"];
    let reset = AutoReset {
        offsets: stream["offset_threshold"].as_u64(),
        seconds: stream.get("time_threshold_s").map(|seconds| small(seconds).into()),
    };
    let auto_reset = (stream["offset_auto_reset"] == true).then_some(reset);
    TableConfig { auto_reset, ..plain(Mode::Blocking, small(&setup["replicas"])) }
}

fn limits(setup: &Value) -> Limits {
    let repairs_offline = setup["controller_config"]["partial_offline_replica_repair"] == true;
    Limits { repairs_offline, ..Limits::default() }
}

/// The table as the case finds it: each partition of the stream has its first segment, which is consumed.
fn stores(setup: &Value) -> Stores {
    let mut stores = Stores {
        instances: small(&setup["instances"]),
        replicas: small(&setup["replicas"]),
        ..Stores::default()
    };
    for at in 0..small(&setup["stream_partitions"]) {
        let partition = PartitionId(at);
        stores.stream.insert(partition, START);
        let first = SegmentId { partition, sequence: 0, minute: 0 };
        stores.put(first, Record::starting_at(START, stores.replicas, ROWS));
        let servers = stores.assigned(partition);
        stores.list(first, &servers, ReplicaState::Consuming);
    }
    stores.ideal.is_paused = setup["pause_state"]["paused"] == true;
    if let Some(stream) = setup["stream"].as_object() {
        let then = number(&stream["offset_at_time_threshold"]);
        stores.latest = (number(&stream["latest_offset"]), Some(then));
    }
    stores
}

/// The segment of this place in the chain, by whatever minute it is named.
pub(crate) fn find(stores: &Stores, place: &Value) -> Option<SegmentId> {
    let (partition, sequence) = (small(&place["partition"]), number(&place["sequence"]));
    let mut all =
        stores.ideal.segments.iter().map(|(id, _)| *id).chain(stores.records.keys().copied());
    all.find(|id| id.partition.0 == partition && u64::from(id.sequence) == sequence)
}

pub(crate) fn state_name(state: ReplicaState) -> &'static str {
    match state {
        ReplicaState::Offline => "OFFLINE",
        ReplicaState::Consuming => "CONSUMING",
        ReplicaState::Online => "ONLINE",
        ReplicaState::Error => "ERROR",
        ReplicaState::Dropped => "DROPPED",
    }
}

pub(crate) fn state(name: &Value) -> ReplicaState {
    match name.as_str() {
        Some("OFFLINE") => ReplicaState::Offline,
        Some("CONSUMING") => ReplicaState::Consuming,
        Some("ONLINE") => ReplicaState::Online,
        other => panic!("{other:?} is no state"),
    }
}

pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::InProgress => "IN_PROGRESS",
        Status::Committing => "COMMITTING",
        Status::Done => "DONE",
        Status::Uploaded => "UPLOADED",
    }
}

/// How many replicas are to be in each state.
pub(crate) fn counts(stores: &Stores, id: SegmentId) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for state in stores.ideal.segments.get(&id).into_iter().flat_map(Replicas::values) {
        *counts.entry(state_name(*state)).or_default() += 1;
    }
    counts
}

/// Where a copy is, as the vectors write it: the segment's own place, or that of an attempt.
pub(crate) fn url(location: Option<Location>) -> Value {
    match location {
        None => Value::Null,
        Some(Location::Peers) => json!(""),
        Some(Location::Object(ObjectId { attempt: None, .. })) => {
            json!("http://vip/segments/<segment>")
        }
        Some(Location::Object(ObjectId { attempt: Some(attempt), .. })) => {
            json!(format!("http://vip/segments/<segment>.tmp.{attempt}"))
        }
    }
}

/// All that is listed or recorded, in the vectors' own form.
pub(crate) fn table(stores: &Stores) -> Vec<Value> {
    let listed = stores.ideal.segments.iter().map(|(id, _)| *id);
    let mut all: Vec<_> = listed.chain(stores.records.keys().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let row = |id: SegmentId| {
        let record = stores.records.get(&id).map(|(record, _)| record);
        json!({
            "partition": id.partition.0,
            "sequence": id.sequence,
            "ideal_state": counts(stores, id),
            "status": record.map(|record| status_name(record.status)),
            "start": record.map(|record| record.start),
            "end": record.and_then(|record| record.end),
        })
    };
    all.into_iter().map(row).collect()
}

/// The whole table at the end, a line a segment.
fn lines(stores: &Stores) -> Vec<String> {
    let line = |row: Value| {
        let id = find(stores, &row).expect("it was found");
        let record = stores.records.get(&id).map(|(record, _)| record);
        let place = match record.and_then(|record| record.location) {
            None => "nowhere",
            Some(Location::Peers) => "on peers",
            Some(Location::Object(_)) => "stored",
        };
        format!(
            "{}/{} {} {} {}..{} {place}",
            row["partition"],
            row["sequence"],
            row["ideal_state"],
            row["status"],
            row["start"],
            row["end"]
        )
        .replace('"', "")
    };
    table(stores).into_iter().map(line).collect()
}

pub(crate) struct Played {
    pub(crate) differences: Differences,
    pub(crate) lines: Vec<String>,
}

/// Plays a sequence. `idle`: the validator does nothing, to see that this is noticed.
pub(crate) fn play<V: Guards<Guard>>(role: Controller<V>, case: &Value, idle: bool) -> Played {
    let setup = &case["setup"];
    let role = role.within(limits(setup));
    let mut manager = Manager::elected(role, configured(setup), stores(setup));
    let mut differences = Differences::default();
    let mut ended = Vec::new();
    for (at, step) in case["steps"].as_array().expect("a case has steps").iter().enumerate() {
        let before = manager.stores.clone();
        // An idle validator has not made everything that is named later.
        if idle && step.get("segment").is_some_and(|place| find(&before, place).is_none()) {
            break;
        }
        manager.minute += 1;
        manager.has_failed = false;
        manager.deleted.clear();
        let error = do_step(&mut manager, step, idle, &mut ended);
        let place = format!("step {at}");
        let seen = Seen { manager: &manager, before: &before, error, rules: &case["rules"] };
        seen.check(&place, step, &mut differences);
    }
    if let Some(expected) = case.get("derived_final") {
        differences.check("final", &json!(table(&manager.stores)), expected);
    }
    Played { differences, lines: lines(&manager.stores) }
}

/// Whether it ended in an error.
fn do_step<V: Guards<Guard>>(
    manager: &mut Manager<V>,
    step: &Value,
    idle: bool,
    ended: &mut Vec<u16>,
) -> bool {
    let named = step.get("segment").map(|place| find(&manager.stores, place));
    let segment = || named.flatten().expect("there is such a segment");
    if manager.is_stopping() {
        return manager.refuses(wish(manager, &step["op"]));
    }
    match step["op"].as_str().expect("a step has an op") {
        "commit" => return commit(manager, segment(), step),
        "validate" => {
            let old = step["older_than_completion_limit"] == true;
            manager.stores.age_ms = if old { OLD_MS } else { YOUNG_MS };
            if !idle {
                manager.validate();
            }
            manager.stores.age_ms = YOUNG_MS;
            return manager.has_failed;
        }
        "set_all_replicas" | "set_one_replica" => {
            let listed = manager.stores.ideal.segments.get_mut(&segment()).expect("it is listed");
            let servers: Vec<_> = listed.iter().map(|(server, _)| *server).collect();
            let count = if step["op"] == "set_one_replica" { 1 } else { servers.len() };
            for server in &servers[..count] {
                listed.insert(*server, state(&step["state"]));
            }
        }
        "remove_from_ideal_state" => {
            manager.stores.ideal.segments.remove(&segment());
        }
        "remove_metadata" => {
            manager.stores.records.remove(&segment());
        }
        "stream_partition_ends" => {
            ended.push(small(&step["partition"]));
            manager.stores.stream.remove(&PartitionId(small(&step["partition"])));
        }
        "set_stream_partitions" => {
            let all = (0..small(&step["count"])).map(|at| (PartitionId(at), START));
            manager.stores.stream = all.collect();
        }
        "stop_manager" => manager.stop(),
        "set_instances" => manager.stores.instances = small(&step["count"]),
        other => panic!("{other} is not known"),
    }
    false
}

/// What is asked of a manager that stops: of the first segment, where it is of none.
fn wish<V: Guards<Guard>>(manager: &Manager<V>, op: &Value) -> Wish {
    let partition = PartitionId(0);
    let first = SegmentId { partition, sequence: 0, minute: 0 };
    let end = START + ROWS;
    let stored = Location::Object(ObjectId { segment: first, attempt: Some(1) });
    match op.as_str() {
        // A partition that nothing is known of.
        Some("set_up_table") => Wish::Begin(Task::Validate(PartitionId(99))),
        Some("validate") => Wish::Begin(Task::Validate(partition)),
        Some("commit_file") => {
            let copy = manager.copy(first, end);
            Wish::Say(first, Ask::CommitEnd { offset: end, copy, stored })
        }
        Some("commit") => Wish::Say(first, Ask::Say(end, Kind::CommitStart)),
        Some("segment_stopped_consuming") => Wish::Say(first, Ask::Say(end, Kind::Stopped)),
        Some("reduce_segment_size") => {
            Wish::Say(first, Ask::Say(end, Kind::BuildFailed { rows: ROWS }))
        }
        other => panic!("{other:?} is not known"),
    }
}

fn commit<V: Guards<Guard>>(manager: &mut Manager<V>, segment: SegmentId, step: &Value) -> bool {
    manager.interference = match step["inject"].as_str() {
        None => None,
        Some("other_writer_bumps_version") => Some(Interference::Rewrites),
        Some("other_writer_sets_DONE") => Some(Interference::SetsDone),
        Some(other) => panic!("{other} is not known"),
    };
    let is_peer = step["location"].as_str().is_some_and(|location| location.starts_with("peer:"));
    let stored = match is_peer {
        true => Location::Peers,
        false => Location::Object(ObjectId { segment, attempt: Some(1) }),
    };
    let answer = manager.commit(segment, number(&step["end_offset"]), stored);
    answer != Answer::CommitSuccess
}

/// What is there after a step.
struct Seen<'a, V: Guards<Guard>> {
    manager: &'a Manager<V>,
    before: &'a Stores,
    error: bool,
    rules: &'a Value,
}

impl<V: Guards<Guard>> Seen<'_, V> {
    fn check(&self, place: &str, step: &Value, differences: &mut Differences) {
        let stores = &self.manager.stores;
        if let Some(expected) = step.get("derived_after") {
            // These give the first two partitions alone.
            let rows = table(stores).into_iter();
            let rows: Vec<_> =
                rows.filter(|row| row["partition"] == 0 || row["partition"] == 1).collect();
            differences.check(&format!("{place} derived_after"), &json!(rows), expected);
        }
        let Some(expected) = step["expect"].as_object() else { return };
        let listed =
            |id: &Value| find(stores, id).is_some_and(|id| stores.ideal.segments.contains_key(&id));
        let recorded =
            |id: &Value| find(stores, id).is_some_and(|id| stores.records.contains_key(&id));
        let present = |ids: &Value, is: &dyn Fn(&Value) -> bool| {
            let ids = ids.as_array().expect("a list").iter();
            json!(ids.filter(|id| !is(id)).collect::<Vec<_>>())
        };
        for (key, value) in expected {
            let got = match key.as_str() {
                "error" => json!(self.error),
                "segments" => {
                    self.check_segments(place, value, differences);
                    continue;
                }
                "absent" => present(value, &|id| listed(id) || recorded(id)),
                "absent_from_ideal_state" => present(value, &listed),
                "number_of_segments_unchanged" => {
                    let count = |stores: &Stores| stores.ideal.segments.iter().count();
                    json!(count(stores) == count(self.before))
                }
                "metadata_delete_attempted" => json!(!self.manager.deleted.is_empty()),
                "metadata_delete_attempted_for" => {
                    let place = |id: &SegmentId| json!({"partition": id.partition.0, "sequence": id.sequence});
                    json!(self.manager.deleted.iter().map(place).collect::<Vec<_>>())
                }
                "download_url" => {
                    let id = find(stores, &step["segment"]).expect("there is such a segment");
                    url(stores.records[&id].0.location)
                }
                "rule" => {
                    let text = self.rules[value.as_str().expect("a name")].as_str();
                    assert!(text.is_some(), "{value} is no rule of the case");
                    let broken = match value.as_str() {
                        Some("first_pass") => rules::first_pass(self.before, stores),
                        Some("second_pass") => {
                            rules::second_pass(stores, &expected["ended_partitions"])
                        }
                        Some("new_partitions") => rules::new_partitions(self.before, stores),
                        _ => panic!("{value} is not known"),
                    };
                    differences.check(&format!("{place} rule"), &json!(broken), &Value::Null);
                    continue;
                }
                // Part of the second rule.
                "ended_partitions" => continue,
                other => panic!("{other} is not known"),
            };
            differences.check(&format!("{place} {key}"), &got, value);
        }
    }

    fn check_segments(&self, place: &str, segments: &Value, differences: &mut Differences) {
        let stores = &self.manager.stores;
        for expected in segments.as_array().expect("a list") {
            let id = find(stores, expected);
            let record = id.and_then(|id| stores.records.get(&id)).map(|(record, _)| record);
            let counts = id.map(|id| counts(stores, id)).unwrap_or_default();
            let name = format!("{place} {}/{}", expected["partition"], expected["sequence"]);
            for (key, value) in expected.as_object().expect("a segment has fields") {
                let got = match key.as_str() {
                    "partition" | "sequence" => continue,
                    "ideal_state" => json!(counts),
                    "ideal_state_values" => json!(counts.keys().collect::<Vec<_>>()),
                    "status" => json!(record.map(|record| status_name(record.status))),
                    "start" => json!(record.map(|record| record.start)),
                    "end" => json!(record.and_then(|record| record.end)),
                    // Of these a record here has the checksum; no transition looks at the others.
                    "fields_set" => {
                        let set = record.is_some_and(|record| record.crc.is_some());
                        if set { json!(FIELDS) } else { json!([]) }
                    }
                    other => panic!("{other} is not known"),
                };
                differences.check(&format!("{name} {key}"), &got, value);
            }
        }
    }
}
