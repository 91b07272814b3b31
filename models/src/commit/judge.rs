//! What is found wrong, as it happens: the library's invariants on the truth of the world.

use surehold::commit::Guard;
use surehold::commit::invariant::{
    Property, broken_link, expected_rows, has_right_object, second_head, without_record,
};
use surehold::commit::object::{Location, Range, Record, ReplicaState, Rows, SegmentId};
use surehold::guard::Guards;

use super::model::Model;
use super::world::{Broken, Node, Store, World, mask, rows_in};

impl<V: Guards<Guard>> Model<V> {
    /// Notes what an event has broken. A crash takes what it takes.
    pub(super) fn judge(&self, before: &World, world: &mut World, is_crash: bool) {
        let mut found = Vec::new();
        if before.store != world.store {
            judge_store(&before.store, &world.store, &mut found);
            judge_losses(before, world, &mut found);
        }
        judge_servers(world, &mut found);
        if !is_crash {
            judge_drops(before, world, &mut found);
        }
        let judged = found.into_iter().find(|broken| self.judged.contains(&broken.property()));
        if world.broken.is_none() {
            world.broken = judged;
        }
    }

    /// Whether a property is judged.
    pub fn judges(&self, property: Property) -> bool {
        self.judged.contains(&property)
    }
}

fn judge_store(before: &Store, store: &Store, found: &mut Vec<Broken>) {
    let record = |id: SegmentId| store.records.get(&id).map(|stored| &stored.record);
    found.extend(second_head(&store.ideal).map(Broken::SecondHead));
    found.extend(broken_link(&store.ideal, record).map(Broken::Link));
    let missing = without_record(&store.ideal, |id| store.records.contains_key(&id));
    found.extend(missing.map(Broken::NoRecord));
    for (id, stored) in store.records.iter() {
        let record = &stored.record;
        if !has_right_object(record, |at| store.objects.get(&at).map(|copy| copy.crc)) {
            found.push(Broken::Object(*id));
        }
        if let (Some(crc), Some(range)) = (record.crc, record.range())
            && rows_in(crc) != expected(range, record)
        {
            found.push(Broken::Rows(*id));
        }
        let old = before.records.get(id).map(|stored| &stored.record);
        if old.is_some_and(|old| is_overwritten(old, record)) {
            found.push(Broken::Overwritten(*id));
        }
    }
}

/// A completed record may only get an object that it had not, or be replaced by a minion.
fn is_overwritten(old: &Record, new: &Record) -> bool {
    use surehold::commit::object::Status;
    match (old.status, new.status) {
        (Status::Done, Status::Done) => old.crc != new.crc && old.location != Some(Location::Peers),
        (Status::Done, Status::Uploaded) | (Status::Uploaded, Status::Uploaded) => false,
        (Status::Done | Status::Uploaded, _) => true,
        (Status::InProgress | Status::Committing, _) => false,
    }
}

fn expected(range: Range, record: &Record) -> u32 {
    expected_rows(range, &record.lost).fold(0, |rows, offset| rows | 1 << offset)
}

/// A loss that is recorded now, though the rows are somewhere.
fn judge_losses(before: &World, world: &World, found: &mut Vec<Broken>) {
    for (id, stored) in world.store.records.iter() {
        let old = before.store.records.get(id).map_or(&[][..], |old| &old.record.lost);
        let first = world.first_of(id.partition);
        let new = stored.record.lost.iter().filter(|lost| !old.contains(lost));
        let still = |lost: &&Range| lost.end > first || is_held(world, *id, &stored.record);
        if new.clone().any(|lost| still(&lost)) {
            found.push(Broken::FalseLoss(*id));
        }
    }
}

/// Whether somebody has the whole range.
fn is_held(world: &World, segment: SegmentId, record: &Record) -> bool {
    let Some(range) = record.range() else { return false };
    world.servers.iter().any(|node| holds(node, segment, range, &[]))
}

/// Whether a server has a whole copy of a range, in memory or on disk.
fn holds(node: &Node, segment: SegmentId, range: Range, lost: &[Range]) -> bool {
    if node.is_dead {
        return false;
    }
    let whole = |rows: &Rows| rows.covers(range, lost);
    let durable = node.role.as_ref().map_or(&node.durable, |role| role.durable());
    let disk = durable.disk.get(&segment).map(|local| &local.copy.rows);
    let memory = node.role.as_ref().and_then(|role| role.replica(segment));
    let memory = memory.and_then(|replica| replica.memory.as_ref());
    disk.is_some_and(|rows| rows.range == range && whole(rows)) || memory.is_some_and(whole)
}

/// What is online serves exactly the range.
fn judge_servers(world: &World, found: &mut Vec<Broken>) {
    for (at, node) in world.servers.iter().enumerate() {
        let Some(role) = &node.role else { continue };
        for (id, replica) in role.replicas() {
            let online = replica.shows == ReplicaState::Online;
            let Some(copy) = role.serves(id).filter(|_| online) else { continue };
            let record = world.store.records.get(&id).map(|stored| &stored.record);
            let range = record.and_then(|record| record.range().map(|range| (record, range)));
            let right = range.is_none_or(|(record, range)| {
                // A copy from before a loss was recorded may have more than the one that counts.
                let rows = mask(&copy.rows);
                let whole = expected_rows(range, &[]).fold(0, |rows, at| rows | 1 << at);
                rows & expected(range, record) == expected(range, record) && rows & !whole == 0
            });
            if !right {
                found.push(Broken::Served(id, at as u16));
            }
        }
    }
}

/// Nobody lets the only whole copy of a committed range go.
fn judge_drops(before: &World, world: &World, found: &mut Vec<Broken>) {
    for (id, stored) in world.store.records.iter() {
        let record = &stored.record;
        let Some(range) = record.range() else { continue };
        let in_store = match record.location {
            Some(Location::Object(object)) => world.store.objects.contains_key(&object),
            Some(Location::Peers) | None => false,
        };
        if in_store || world.servers.iter().any(|node| holds(node, *id, range, &record.lost)) {
            continue;
        }
        let had = |node: &Node| holds(node, *id, range, &record.lost);
        let dropper = before.servers.iter().position(|node| had(node));
        found.extend(dropper.map(|at| Broken::Dropped(*id, at as u16)));
    }
}
