//! What can still be reached from a world without another fault, and on which way: the answer to "for ever".
//!
//! It is searched for with the model's reductions on: what holds of the checker's verdicts holds of this.

use std::collections::HashMap;

use surehold::commit::Guard;
use surehold::commit::invariant::{Property, expected_rows};
use surehold::commit::object::{ReplicaState, SegmentId};
use surehold::guard::Guards;

use super::model::{Action, Model};
use super::scope::Budget;
use super::tale::Tale;
use super::world::{World, mask};

/// More worlds than any scenario here comes to.
const MOST_WORLDS: usize = 250_000;

/// What a search from a world has found.
#[derive(Clone, Debug)]
pub enum Reach {
    /// The shortest way to a world where the aim holds.
    Way(Vec<Action>),
    /// There is none.
    Nowhere {
        /// The rows of each segment that somebody serves in one of the worlds that were visited.
        ever_served: HashMap<SegmentId, u32>,
    },
    /// There were too many worlds.
    TooFar,
}

/// Looks for a world where an aim holds: `served` or `recoverable`. What is broken on the way does not count, only
/// whether it comes to an end.
pub fn search<V: Guards<Guard>>(model: &Model<V>, from: &World, aim: Property) -> Reach {
    let model = Model { judged: vec![aim], reduce: true, coverage: None, ..model.clone() };
    let mut ever_served = HashMap::new();
    let mut places = HashMap::new();
    // Each world with the place of the one before it, and what led from there.
    let mut worlds = vec![(without_faults(from), 0, None)];
    places.insert(worlds[0].0.clone(), 0_usize);
    let mut at = 0;
    while at < worlds.len() {
        let world = worlds[at].0.clone();
        if model.goal_of(&world) == Some(true) {
            return Reach::Way(way(&worlds, at));
        }
        note_served(&world, &mut ever_served);
        for action in quiet_actions(&model, &world) {
            let Some(next) = model.apply(&world, action, &mut Tale::untold()) else { continue };
            if places.contains_key(&next) {
                continue;
            }
            if worlds.len() >= MOST_WORLDS {
                return Reach::TooFar;
            }
            places.insert(next.clone(), worlds.len());
            worlds.push((next, at, Some(action)));
        }
        at += 1;
    }
    Reach::Nowhere { ever_served }
}

/// The shortest way on, without a fault, to a world of which this holds; `None` if there is none, or none near.
pub fn nearest<V: Guards<Guard>>(
    model: &Model<V>,
    from: &World,
    is_there: impl Fn(&World) -> bool,
) -> Option<Vec<Action>> {
    let mut places = HashMap::from([(from.clone(), 0_usize)]);
    let mut worlds = vec![(from.clone(), 0, None)];
    let mut at = 0;
    while at < worlds.len() {
        let world = worlds[at].0.clone();
        if is_there(&world) {
            return Some(way(&worlds, at));
        }
        let actions = quiet_actions(model, &world);
        let next = |action| Some((model.apply(&world, action, &mut Tale::untold())?, action));
        for (next, action) in actions.into_iter().filter_map(next) {
            if worlds.len() < MOST_WORLDS && !places.contains_key(&next) {
                places.insert(next.clone(), worlds.len());
                worlds.push((next, at, Some(action)));
            }
        }
        at += 1;
    }
    None
}

/// The same world, in which nothing goes wrong any more.
#[must_use]
pub fn without_faults(world: &World) -> World {
    World { left: Budget::default(), broken: None, ..world.clone() }
}

fn quiet_actions<V: Guards<Guard>>(model: &Model<V>, world: &World) -> Vec<Action> {
    let mut actions = Vec::new();
    model.enabled(world, &mut actions);
    actions.retain(|action| !model.is_fault(world, action));
    actions
}

fn way(worlds: &[(World, usize, Option<Action>)], to: usize) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut at = to;
    while let (_, before, Some(action)) = worlds[at] {
        actions.push(action);
        at = before;
    }
    actions.reverse();
    actions
}

/// Which rows of a segment somebody serves, one bit for each offset.
#[must_use]
pub fn served(world: &World, segment: SegmentId) -> u32 {
    let roles = world.servers.iter().filter_map(|node| node.role.as_ref());
    let rows = roles.filter_map(|role| {
        let online = role.replica(segment)?.shows == ReplicaState::Online;
        role.serves(segment).filter(|_| online).map(|copy| mask(&copy.rows))
    });
    rows.fold(0, |all, rows| all | rows)
}

fn note_served(world: &World, ever: &mut HashMap<SegmentId, u32>) {
    for (id, _) in world.store.records.iter() {
        *ever.entry(*id).or_default() |= served(world, *id);
    }
}

/// The rows of a segment that are to be served: of its range, once that is fixed, but for those recorded as lost.
#[must_use]
pub fn owed(world: &World, segment: SegmentId) -> u32 {
    let record = world.store.records.get(&segment).map(|stored| &stored.record);
    let range = record.and_then(|record| record.range().map(|range| (range, &record.lost)));
    range.map_or(0, |(range, lost)| {
        expected_rows(range, lost).fold(0, |rows, offset| rows | 1 << offset)
    })
}
