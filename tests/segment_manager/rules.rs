//! What the vectors say in words of a run of the validator, each rule as what breaks it first.

use serde_json::Value;
use surehold::commit::object::{PartitionId, Record, ReplicaState, Replicas, SegmentId, Status};

use crate::commit_store::Stores;
use crate::steps::{ROWS, START};

/// While records are young nothing that is listed changes.
pub(crate) fn first_pass(before: &Stores, after: &Stores) -> Option<String> {
    let same =
        |(id, replicas): &(&SegmentId, &Replicas)| after.ideal.segments.get(id) == Some(replicas);
    let changed = before.ideal.segments.iter().find(|entry| !same(entry));
    changed.map(|(id, _)| format!("{}/{} has changed", id.partition.0, id.sequence))
}

/// Afterwards all is listed and recorded, and each partition is one chain that is consumed or has ended.
pub(crate) fn second_pass(after: &Stores, ended: &Value) -> Option<String> {
    let listed: Vec<_> = after.ideal.segments.iter().map(|(id, _)| *id).collect();
    if listed != after.records.keys().copied().collect::<Vec<_>>() {
        return Some("the ideal state and metadata hold other segments".into());
    }
    let ended: Vec<u64> =
        ended.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let mut partitions: Vec<_> = listed.iter().map(|id| id.partition).collect();
    partitions.dedup();
    partitions.into_iter().find_map(|partition| {
        let has_ended = ended.contains(&u64::from(partition.0));
        broken_chain(after, partition, has_ended)
            .map(|why| format!("partition {}: {why}", partition.0))
    })
}

fn broken_chain(after: &Stores, partition: PartitionId, has_ended: bool) -> Option<String> {
    let open = |replicas: &Replicas| replicas.values().any(|is| *is != ReplicaState::Offline);
    let all = after.ideal.of(partition).filter(|(_, replicas)| open(replicas));
    let chain: Vec<(&Record, &Replicas)> = all.map(|(id, r)| (&after.records[&id].0, r)).collect();
    let mut closed = &chain[..];
    if !has_ended {
        let Some(((record, replicas), before)) = chain.split_last() else {
            return Some("nothing is consumed".into());
        };
        closed = before;
        let has = |state| replicas.values().any(|is| *is == state);
        let is_head = has(ReplicaState::Consuming) && !has(ReplicaState::Online);
        if !is_head || record.status != Status::InProgress {
            return Some("its head is not consumed".into());
        }
        if record.start != START + before.len() as u64 * ROWS {
            return Some("its head does not start where the one before ends".into());
        }
    }
    for (at, (record, replicas)) in closed.iter().enumerate() {
        let start = START + at as u64 * ROWS;
        let online = replicas.values().all(|is| *is == ReplicaState::Online);
        if !online || record.status != Status::Done {
            return Some(format!("its segment {at} is not done"));
        }
        if (record.start, record.end) != (start, Some(start + ROWS)) {
            return Some(format!("its segment {at} has another range"));
        }
    }
    None
}

/// What was there stays, and each partition that had nothing gets one segment, from its beginning.
pub(crate) fn new_partitions(before: &Stores, after: &Stores) -> Option<String> {
    if let Some(changed) = first_pass(before, after) {
        return Some(changed);
    }
    let listed = |id: &SegmentId| before.ideal.segments.contains_key(id);
    if before.records.iter().any(|(id, stored)| listed(id) && after.records.get(id) != Some(stored))
    {
        return Some("a record has changed".into());
    }
    after.stream.keys().find_map(|partition| {
        let was_there = before.ideal.of(*partition).next().is_some();
        let mut new = after.ideal.of(*partition).filter(|(id, _)| !listed(id));
        match (was_there, new.next(), new.next()) {
            (true, None, None) => None,
            (false, Some((id, replicas)), None) => {
                let consumed = replicas.values().all(|is| *is == ReplicaState::Consuming);
                let record = after.records.get(&id).map(|(record, _)| record);
                let fresh = record.is_some_and(|record| {
                    record.status == Status::InProgress && record.start == START
                });
                let fits =
                    consumed && fresh && replicas.values().count() == usize::from(after.replicas);
                (!fits).then(|| format!("partition {} begins otherwise", partition.0))
            }
            _ => Some(format!("partition {} has not one new segment", partition.0)),
        }
    })
}
