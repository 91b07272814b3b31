//! Cases that are no sequences: the moved object, the retry of uploads, the repair of ordered tables.

use serde_json::{Value, json};
use surehold::commit::completion::Mode;
use surehold::commit::controller::Controller;
use surehold::commit::message::Tell;
use surehold::commit::object::{
    Crc, Location, ObjectId, PartitionId, Record, ReplicaState, SegmentId, ServerId, Status,
    TableConfig,
};
use surehold::commit::{Guard, Task};
use surehold::guard::Guards;

use crate::Differences;
use crate::commit_store::{Stores, replicas};
use crate::manager::{Manager, plain};
use crate::steps::{ROWS, number, state, url};

const PARTITION: PartitionId = PartitionId(0);
const SERVERS: [ServerId; 2] = [ServerId(0), ServerId(1)];
const OLD_MS: u64 = 300_001;
/// What the attempt of an upload is called.
const ATTEMPT: u64 = 1;

fn segment(sequence: u32) -> SegmentId {
    SegmentId { partition: PARTITION, sequence, minute: 0 }
}

fn one_segment() -> Stores {
    let mut stores = Stores { instances: 2, replicas: 2, age_ms: OLD_MS, ..Stores::default() };
    stores.stream.insert(PARTITION, 0);
    stores.put(segment(0), Record::starting_at(0, 2, ROWS));
    stores.list(segment(0), &SERVERS, ReplicaState::Consuming);
    stores
}

/// A temporary object becomes the segment's.
pub(crate) fn commit_file<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let mut differences = Differences::default();
    let mut manager = Manager::elected(role, plain(Mode::Blocking, 2), one_segment());
    let temporary = ObjectId { segment: segment(0), attempt: Some(ATTEMPT) };
    manager.commit(segment(0), ROWS, Location::Object(temporary));
    let own = ObjectId { segment: segment(0), attempt: None };
    let expected = &case["expected"];
    let location = match manager.stores.records[&segment(0)].0.location {
        Some(Location::Object(at)) if at == own => "<table dir>/<segment 0/0>",
        Some(Location::Object(at)) if at == temporary => "<segment 0/0>.tmp.<uuid a>",
        other => panic!("it is nowhere: {other:?}"),
    };
    differences.check("location", &json!(location), &expected["location"]);
    let is_gone = !manager.stores.objects.contains(&temporary);
    let gone = if is_gone { json!(["<segment 0/0>.tmp.<uuid a>"]) } else { json!([]) };
    differences.check("gone", &gone, &expected["gone"]);
    differences
}

/// Completed segments without an object, one after the other; each run of the retry takes one of them.
pub(crate) fn deep_store_retry<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let mut differences = Differences::default();
    let given = case["setup"]["segments"].as_array().expect("there are segments");
    let mut stores = Stores { instances: 2, replicas: 2, age_ms: OLD_MS, ..Stores::default() };
    let mut uploads = Vec::new();
    for one in given {
        let id = segment(number(&one["n"]).try_into().expect("a small number"));
        let start = u64::from(id.sequence) * ROWS;
        let open = Record::starting_at(start, 2, ROWS);
        let location = match one["download_url"].as_str() {
            Some("") => Location::Peers,
            _ => Location::Object(ObjectId { segment: id, attempt: None }),
        };
        let is_done = one["status"] == "DONE";
        let record = if is_done { open.done(start + ROWS, Crc(5), location) } else { open };
        stores.put(id, record);
        if one["view_state"].is_string() {
            let shown = replicas(&SERVERS[..1], state(&one["view_state"]));
            stores.view.segments.insert(id, shown);
        }
        uploads.extend((one["server_upload"] == "ok").then_some((id, ATTEMPT)));
    }
    let mut manager = Manager::elected(role, plain(Mode::Blocking, 2), stores.clone());
    manager.uploads.extend(uploads);
    let unstored = given.iter().filter(|one| one["download_url"] == "").count() as u32;
    // From the last on, so that one that is stored does not move the others.
    for pick in (0..unstored).rev() {
        manager.begin(Task::Retry(PARTITION), pick);
    }
    for expected in case["expected"].as_array().expect("each is expected") {
        let id = segment(number(&expected["n"]).try_into().expect("a small number"));
        let stored = &manager.stores.records[&id].0;
        let name = format!("segment {}", expected["n"]);
        for (key, value) in expected.as_object().expect("it has fields") {
            let got = match key.as_str() {
                "n" => continue,
                "download_url" => given_url(stored.location, &stores.records[&id].0),
                "temp_file_gone" => {
                    let temporary = ObjectId { segment: id, attempt: Some(ATTEMPT) };
                    json!(!manager.stores.objects.contains(&temporary))
                }
                "upload_requests" => {
                    let asked = |o: &&surehold::commit::message::Order| {
                        o.segment == id && o.body == Tell::Upload
                    };
                    json!(manager.orders.iter().filter(asked).count())
                }
                other => panic!("{other} is not known"),
            };
            differences.check(&format!("{name} {key}"), &got, value);
        }
        // A record that is not stored anew stays as it was.
        let before = &stores.records[&id].0;
        let changed = stored != before;
        let stores_anew = expected["download_url"] == "<final location>";
        differences.check(&format!("{name} changed"), &json!(changed), &json!(stores_anew));
    }
    differences
}

/// As the case calls it: what it was, or where it is put.
fn given_url(location: Option<Location>, before: &Record) -> Value {
    if location == before.location {
        return match location {
            Some(Location::Object(_)) => json!("someUrl"),
            other => url(other),
        };
    }
    match location {
        Some(Location::Object(ObjectId { attempt: None, .. })) => json!("<final location>"),
        other => url(other),
    }
}

/// A segment of an ordered table that is committing and in error everywhere.
pub(crate) fn disaster_mode<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let mut differences = Differences::default();
    let mut stores = one_segment();
    let open = Record::starting_at(0, 2, ROWS);
    stores.put(segment(0), Record { status: Status::Committing, end: Some(ROWS), ..open });
    stores.list(segment(0), &SERVERS, ReplicaState::Online);
    stores.view.segments.insert(segment(0), replicas(&SERVERS, ReplicaState::Error));
    let may_refill = match case["mode"].as_str() {
        Some("ALWAYS") => true,
        Some("DEFAULT") => false,
        other => panic!("{other:?} is no mode"),
    };
    let table = TableConfig { is_ordered: true, may_refill, ..plain(Mode::Pauseless, 2) };
    let mut manager = Manager::elected(role, table, stores);
    manager.begin(Task::Repair(PARTITION), 0);
    let repairs = manager.orders.iter().any(|order| order.body == Tell::Reingest);
    let key = "expected_repair_dedup_or_partial_upsert";
    differences.check(key, &json!(repairs), &case[key]);
    differences
}
