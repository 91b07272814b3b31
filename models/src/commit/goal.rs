//! What a run is to come to.

use surehold::commit::Guard;
use surehold::commit::invariant::{Property, expected_rows};
use surehold::commit::object::{Location, PartitionId, ReplicaState, SegmentId, Status};
use surehold::commit::server::state::Work;
use surehold::guard::Guards;

use super::model::Model;
use super::world::{Stored, World, mask};

impl<V: Guards<Guard>> Model<V> {
    /// The goal that is judged, if one is.
    pub fn goal_of(&self, world: &World) -> Option<bool> {
        if self.judges(Property::Recoverable) || self.judges(Property::NoEndlessRound) {
            Some(self.is_settled(world))
        } else if self.judges(Property::Served) {
            Some(is_served(world))
        } else {
            None
        }
    }

    /// Whether everything is done, stored and served by all who are there, and the last segment is consumed.
    pub(super) fn is_settled(&self, world: &World) -> bool {
        let store = &world.store;
        let quiet = world.controllers.iter().all(|process| process.role.is_quiet());
        let idle = |at: usize| {
            let role = world.servers[at].role.as_ref();
            role.is_some_and(|role| role.jobs().next().is_none())
        };
        let there = || (0..world.servers.len()).filter(|at| !world.servers[*at].is_dead);
        let settled = |partition: PartitionId| {
            let Some((last, _)) = store.ideal.of(partition).last() else { return false };
            let mut before = store.ideal.of(partition).map(|(id, _)| id).filter(|id| *id != last);
            let whole = |id| is_stored(world, id) && there().all(|at| serves(world, at, id));
            last.sequence + 1 >= self.scope.segments
                && before.all(|id| is_given_up(world, id) || whole(id))
                && there().all(|at| consumes(world, at, last))
        };
        quiet && there().all(idle) && self.scope.partitions().all(settled)
    }
}

/// Whether every row of every range whose end is fixed is served by somebody, or recorded as lost.
fn is_served(world: &World) -> bool {
    let listed = |id| world.store.ideal.segments.contains_key(id);
    let mut all = world.store.records.iter().filter(|(id, _)| listed(id));
    all.all(|(id, stored)| is_segment_served(world, *id, stored))
}

/// Whether every row of a range is, if its end is fixed.
pub(super) fn is_segment_served(world: &World, id: SegmentId, stored: &Stored) -> bool {
    let Some(range) = stored.record.range() else { return true };
    let online = |role: &surehold::commit::server::State| {
        let shows = role.replica(id).map(|replica| replica.shows);
        role.serves(id).filter(|_| shows == Some(ReplicaState::Online)).map(|c| mask(&c.rows))
    };
    let roles = world.servers.iter().filter_map(|node| node.role.as_deref());
    let served = roles.filter_map(online).fold(0, |all, rows| all | rows);
    expected_rows(range, &stored.record.lost).all(|offset| served >> offset & 1 == 1)
}

/// Whether a range is served by nobody, and each of its replicas that is there is in error.
#[cfg(feature = "checker")]
pub(super) fn is_lost_in_error(world: &World, id: SegmentId, stored: &Stored) -> bool {
    let there = || world.servers.iter().filter(|node| !node.is_dead);
    !is_segment_served(world, id, stored)
        && there().count() > 0
        && there().all(|node| {
            let replica = node.role.as_ref().and_then(|role| role.replica(id));
            replica.is_some_and(|replica| replica.shows == ReplicaState::Error)
        })
}

/// All its replicas were taken out before its end was fixed: another segment has begun in its place.
fn is_given_up(world: &World, segment: SegmentId) -> bool {
    let is_open = |status| status == Status::InProgress;
    let record = world.store.records.get(&segment).map(|stored| stored.record.status);
    let replicas = world.store.ideal.segments.get(&segment);
    record.is_some_and(is_open)
        && replicas.is_some_and(|all| all.values().all(|is| *is == ReplicaState::Offline))
}

fn is_stored(world: &World, segment: SegmentId) -> bool {
    let record = world.store.records.get(&segment).map(|stored| &stored.record);
    record.is_some_and(|record| {
        matches!(record.status, Status::Done | Status::Uploaded)
            && matches!(record.location, Some(Location::Object(_)))
    })
}

fn serves(world: &World, at: usize, segment: SegmentId) -> bool {
    let role = world.servers[at].role.as_ref();
    role.is_some_and(|role| {
        let shows = role.replica(segment).map(|replica| replica.shows);
        role.serves(segment).is_some() && shows == Some(ReplicaState::Online)
    })
}

fn consumes(world: &World, at: usize, segment: SegmentId) -> bool {
    let role = world.servers[at].role.as_ref();
    let replica = role.and_then(|role| role.replica(segment));
    let shown = replica.map(|replica| (replica.shows, replica.work));
    shown == Some((ReplicaState::Consuming, Work::Consuming(None)))
}
