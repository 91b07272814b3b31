//! What is found wrong, as it happens: the library's invariants on the truth of the world.

use surehold::commit::Guard;
use surehold::commit::completion::Mode;
use surehold::commit::invariant::{
    Keeper, Property, begins_again, broken_link, dropper, expected_rows, failed_for_another,
    has_permits_of_builds, has_right_object, is_false_loss, is_filled_late, is_overwritten,
    online_too_soon, second_consumer, second_head, without_record,
};
use surehold::commit::object::{Range, Record, ReplicaState, SegmentId};
use surehold::guard::Guards;

use super::model::Model;
use super::world::{Broken, Store, World, mask, rows_in, was_read_again};

impl<V: Guards<Guard>> Model<V> {
    /// Notes what an event has broken. A crash takes what it takes.
    pub(super) fn judge(&self, before: &World, world: &mut World, is_crash: bool) {
        let mut found = Vec::new();
        let is_stored = before.store == world.store;
        if !is_stored || before.rewriting != world.rewriting {
            judge_store(&before.store, world, &mut found);
            self.judge_order(&before.store, world, &mut found);
            self.judge_online(world, &mut found);
            judge_losses(before, world, &mut found);
        }
        self.judge_failures(before, world, &mut found);
        judge_servers(before, world, &mut found);
        self.judge_consumers(world, &mut found);
        let is_as_before = is_stored && before.servers == world.servers;
        if !is_crash && !is_as_before {
            judge_drops(before, world, &mut found);
        }
        let judged = found.into_iter().find(|broken| self.judged.contains(&broken.property()));
        if world.broken.is_none() {
            world.broken = judged;
        }
    }

    /// What is judged of the order in which ranges are committed and filled.
    fn judge_order(&self, before: &Store, world: &World, found: &mut Vec<Broken>) {
        let store = &world.store;
        let record = |id: SegmentId| store.records.get(&id).map(|stored| &stored.record);
        let again = begins_again(&before.ideal, &store.ideal, record, |partition| {
            world.committed[usize::from(partition.0)]
        });
        found.extend(again.map(Broken::Link));
        if !self.scope.is_ordered {
            return;
        }
        for (id, stored) in store.records.iter() {
            let old = before.records.get(id).map(|old| &old.record);
            let late = |old| is_filled_late(*id, old, &stored.record, &store.ideal, was_read_again);
            if old.is_some_and(late) {
                found.push(Broken::FilledLate(*id));
            }
        }
    }

    /// What is to be online too soon. Where the operator may switch the mode, a commit of either may come to its end.
    fn judge_online(&self, world: &World, found: &mut Vec<Broken>) {
        let store = &world.store;
        let record = |id: SegmentId| store.records.get(&id).map(|stored| &stored.record);
        let once_done = world.mode == Mode::Blocking && self.scope.budget.toggles == 0;
        found.extend(online_too_soon(&store.ideal, record, once_done).map(Broken::Online));
    }

    /// Who consumes out of turn, where replicas take turns.
    fn judge_consumers(&self, world: &World, found: &mut Vec<Broken>) {
        let Some(policy) = self.scope.consumption else { return };
        for (at, node) in world.servers.iter().enumerate() {
            let second = node.role.as_ref().and_then(|role| second_consumer(role, policy));
            found.extend(second.map(|id| Broken::SecondConsumer(id, at as u16)));
        }
    }

    /// A commit fails for another's sake. One whose own operation had no effect, or could not read, fails for that.
    fn judge_failures(&self, before: &World, world: &World, found: &mut Vec<Broken>) {
        let (left, had) = (&world.left, &before.left);
        if left.misses < had.misses || left.reads < had.reads || left.adrift < had.adrift {
            return;
        }
        let is_young = |id| {
            let stored = world.store.records.get(&id);
            stored.is_some_and(|stored| self.scope.skew || !stored.is_old)
        };
        for (old, new) in before.controllers.iter().zip(&world.controllers) {
            let failed = failed_for_another(&old.role, &new.role, &world.store.ideal, is_young);
            found.extend(failed.map(Broken::FailedWithAnother));
        }
    }

    /// Whether a property is judged.
    pub fn judges(&self, property: Property) -> bool {
        self.judged.contains(&property)
    }
}

fn judge_store(before: &Store, world: &World, found: &mut Vec<Broken>) {
    let store = &world.store;
    let record = |id: SegmentId| store.records.get(&id).map(|stored| &stored.record);
    found.extend(second_head(&store.ideal).map(Broken::SecondHead));
    found.extend(broken_link(&store.ideal, record).map(Broken::Link));
    let missing = without_record(&store.ideal, |id| store.records.contains_key(&id));
    found.extend(missing.map(Broken::NoRecord));
    for (id, stored) in store.records.iter() {
        let record = &stored.record;
        // Whoever replaces an object is given the time to record it.
        let is_replaced = world.is_replaced(*id);
        if !is_replaced
            && !has_right_object(record, |at| store.objects.get(&at).map(|copy| copy.crc))
        {
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

fn expected(range: Range, record: &Record) -> u32 {
    expected_rows(range, &record.lost).fold(0, |rows, offset| rows | 1 << offset)
}

/// A loss that is recorded now, though the rows are somewhere.
fn judge_losses(before: &World, world: &World, found: &mut Vec<Broken>) {
    for (id, stored) in world.store.records.iter() {
        let old = before.store.records.get(id).map(|old| &old.record);
        let first = world.first_of(id.partition);
        if is_false_loss(*id, old, &stored.record, first, keepers(world)) {
            found.push(Broken::FalseLoss(*id));
        }
    }
}

/// What each server may have of a segment; nothing if it never comes back.
fn keepers(world: &World) -> impl Iterator<Item = Option<Keeper<'_>>> {
    world.servers.iter().map(|node| match &node.role {
        Some(role) => Some(Keeper::Running(role)),
        None if node.is_dead => None,
        None => Some(Keeper::Down(&node.durable)),
    })
}

/// What is online serves exactly the range. What has not changed was judged before.
fn judge_servers(before: &World, world: &World, found: &mut Vec<Broken>) {
    let is_stored = before.store == world.store;
    for (at, node) in world.servers.iter().enumerate() {
        let Some(role) = &node.role else { continue };
        if is_stored && before.servers[at] == *node {
            continue;
        }
        if !has_permits_of_builds(role) {
            found.push(Broken::Permits(at as u16));
        }
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
    let stored = |at| world.store.objects.contains_key(&at);
    let listed = |id| world.store.ideal.segments.contains_key(id);
    for (id, of) in world.store.records.iter().filter(|(id, _)| listed(id)) {
        let dropper = dropper(*id, &of.record, stored, keepers(before), keepers(world));
        found.extend(dropper.map(|at| Broken::Dropped(*id, at as u16)));
    }
}
