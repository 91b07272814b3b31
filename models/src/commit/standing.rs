//! How the segments stand, in words.

use std::collections::BTreeMap;

use surehold::commit::object::{Crc, Location, Range, Record, ReplicaState, SegmentId, Status};

use super::reach::served;
use super::scope::{SERVERS, server_name};
use super::tale::{name, rows};
use super::world::{World, builder, mask, rows_in};

/// Each segment that has a record or is listed, and how it stands.
#[must_use]
pub fn segments(world: &World) -> BTreeMap<String, String> {
    let store = &world.store;
    let recorded = store.records.iter().map(|(id, _)| *id);
    let listed = store.ideal.segments.iter().map(|(id, _)| *id);
    recorded.chain(listed).map(|id| (name(id), segment(world, id))).collect()
}

fn segment(world: &World, id: SegmentId) -> String {
    let store = &world.store;
    let record = store.records.get(&id).map(|stored| record_text(&stored.record));
    let mut parts = vec![record.unwrap_or_else(|| "no record".into())];
    if !store.ideal.segments.contains_key(&id) {
        parts.push("not listed".into());
    }
    let shown = (0..SERVERS as u16).filter_map(|at| {
        let of = store.view.segments.get(&id)?.iter().find(|(server, _)| server.0 == at)?;
        Some(format!("{} {}", server_name(at), state_text(*of.1)))
    });
    let shown: Vec<_> = shown.collect();
    if !shown.is_empty() {
        parts.push(shown.join(", "));
    }
    parts.join("; ")
}

fn record_text(record: &Record) -> String {
    let status = match record.status {
        Status::InProgress => "IN_PROGRESS",
        Status::Committing => "COMMITTING",
        Status::Done => "DONE",
        Status::Uploaded => "UPLOADED",
    };
    let end = record.end.map_or_else(|| "..".into(), |end| end.to_string());
    let copy = record.crc.map(|crc| format!(", {}", copy_text(crc))).unwrap_or_default();
    let peers = if record.location == Some(Location::Peers) { ", with peers only" } else { "" };
    let lost: Vec<_> = record.lost.iter().map(|lost| range_text(*lost)).collect();
    let lost = match lost.as_slice() {
        [] => String::new(),
        lost => format!(", {} recorded as lost", lost.join(" ")),
    };
    format!("{status} [{}, {end}){copy}{peers}{lost}", record.start)
}

fn range_text(range: Range) -> String {
    format!("[{}, {})", range.start, range.end)
}

/// Which rows a copy has, and who built it.
fn copy_text(crc: Crc) -> String {
    let by = crc.0 & 7;
    let who = match by {
        builder::MINION => "a minion".into(),
        builder::REINGESTION.. => {
            format!("{}, read again", server_name((by - builder::REINGESTION) as u16))
        }
        _ => server_name(by.saturating_sub(builder::REPLICA) as u16),
    };
    format!("rows {} by {who}", rows(rows_in(crc)))
}

fn state_text(state: ReplicaState) -> &'static str {
    match state {
        ReplicaState::Offline => "OFFLINE",
        ReplicaState::Consuming => "CONSUMING",
        ReplicaState::Online => "ONLINE",
        ReplicaState::Error => "ERROR",
        ReplicaState::Dropped => "DROPPED",
    }
}

/// Rows that are served as rows of two segments.
#[must_use]
pub fn twice(world: &World) -> Vec<String> {
    let ids: Vec<_> = world.store.ideal.segments.iter().map(|(id, _)| *id).collect();
    let mut all = Vec::new();
    for (at, first) in ids.iter().enumerate() {
        for second in ids[at + 1..].iter().filter(|id| id.partition == first.partition) {
            let both = served(world, *first) & served(world, *second);
            if both != 0 {
                all.push(format!("{} of {} and {}", rows(both), name(*first), name(*second)));
            }
        }
    }
    all
}

/// Which rows of a segment are in any object, or in the memory or on the disk of a server that may come back: one
/// bit for each offset.
#[must_use]
pub fn held(world: &World, segment: SegmentId) -> u32 {
    let stored = world.store.objects.iter().filter(|(object, _)| object.segment == segment);
    let mut all = stored.fold(0, |all, (_, copy)| all | mask(&copy.rows));
    for node in world.servers.iter().filter(|node| !node.is_dead) {
        let durable = node.role.as_ref().map_or(&*node.durable, |role| role.durable());
        let disk = durable.disk.get(&segment).map(|local| &local.copy.rows);
        let replica = node.role.as_ref().and_then(|role| role.replica(segment));
        let memory = replica.and_then(|replica| replica.memory.as_ref());
        all |= disk.into_iter().chain(memory).fold(0, |rows, held| rows | mask(held));
    }
    all
}
