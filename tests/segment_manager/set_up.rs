//! A new table: the validator finds partitions that nothing is known of, and begins each (dossier 9.1, rule 5).

use serde_json::{Value, json};
use surehold::commit::Guard;
use surehold::commit::completion::Mode;
use surehold::commit::controller::Controller;
use surehold::commit::object::{PartitionId, SegmentId};
use surehold::guard::Guards;

use crate::Differences;
use crate::commit_store::Stores;
use crate::manager::{Manager, plain};
use crate::steps::{START, counts, small, status_name};

pub(crate) fn play<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> Differences {
    let setup = &case["setup"];
    let first = |partition: PartitionId| {
        let said = setup["first_sequences"].get(partition.0.to_string());
        said.map_or(0, |sequence| small(sequence).into())
    };
    let partitions = match setup["first_sequences"].as_object() {
        Some(all) => all.len() as u16,
        None => small(&setup["stream_partitions"]),
    };
    let mut stores = Stores {
        instances: small(&setup["instances"]),
        replicas: small(&setup["replicas"]),
        ..Stores::default()
    };
    stores.stream = (0..partitions).map(|at| (PartitionId(at), START)).collect();
    let mut manager = Manager::elected(role, plain(Mode::Blocking, stores.replicas), stores);
    manager.validate_from(first);
    let mut differences = Differences::default();
    for (key, value) in case["expected"].as_object().expect("it has fields") {
        let got = seen(key, &manager.stores, manager.has_failed);
        // Of no segment nothing can be said.
        if let Some(got) = got {
            differences.check(key, &got, value);
        }
    }
    differences
}

fn seen(key: &str, stores: &Stores, has_failed: bool) -> Option<Value> {
    let listed: Vec<_> = stores.ideal.segments.iter().map(|(id, _)| *id).collect();
    Some(match key {
        "error" => json!(has_failed),
        "segment_count" => json!(listed.len()),
        "segments_per_partition" => {
            let count = |partition: &PartitionId| stores.ideal.of(*partition).count();
            same(stores.stream.keys().map(count).map(|count| json!(count)))?
        }
        "sequence" => same(listed.iter().map(|id| json!(id.sequence)))?,
        "sequences" => {
            let entry = |id: &SegmentId| (id.partition.0.to_string(), json!(id.sequence));
            Value::Object(listed.iter().map(entry).collect())
        }
        "ideal_state_per_segment" => same(listed.iter().map(|id| json!(counts(stores, *id))))?,
        "status" => same(listed.iter().map(|id| json!(status_name(stores.records[id].0.status))))?,
        "start" => same(listed.iter().map(|id| json!(stores.records[id].0.start)))?,
        other => panic!("{other} is not known"),
    })
}

/// What all of them are; text if they differ, nothing if there is none.
fn same(mut all: impl Iterator<Item = Value>) -> Option<Value> {
    let first = all.next()?;
    Some(if all.all(|other| other == first) { first } else { json!("they differ") })
}
