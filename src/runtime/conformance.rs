//! One suite for every bucket: random operations that a seed decides, and what a plain map answers to them.
//!
//! The models' bucket is put to the same operations as each store that the runtime runs on, so that the world that was
//! verified is the world that is run on.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compaction::marker::{CleanerMarker, Finding, Marker, Owner, Status};
use crate::compaction::object::{
    BlockId, Body, DeletionMark, GroupId, Key, MarkReason, Meta, PlanId, PlanKey, Prefix,
    ProcessId, Provenance,
};
use crate::compaction::plan::Plan;
use crate::compaction::{Effect, Outcome};

/// The blocks that are operated on. One id is the largest there is.
pub const BLOCKS: [BlockId; 3] = [BlockId(1), BlockId(1 << 70), BlockId(u128::MAX)];

const PLANS: [Option<PlanId>; 3] = [None, Some(PlanId(7)), Some(PlanId(u128::MAX - 1))];

/// So many operations, as the seed says: listings, reads, writes, deletions, in about equal parts.
#[must_use]
pub fn operations(seed: u64, count: usize) -> Vec<Effect> {
    let mut random = Random(seed);
    (0..count).map(|_| random.operation()).collect()
}

/// A bucket as plain as can be: what every other has to answer like.
#[derive(Clone, Debug, Default)]
pub struct Plain(BTreeMap<Key, Body>);

impl Plain {
    /// Its answer to an operation on one object, or to a listing. It knows nothing else, and that has failed.
    pub fn answer(&mut self, effect: &Effect) -> Outcome {
        match effect {
            Effect::Put(key, body) => {
                self.0.insert(*key, body.clone());
                Outcome::Applied
            }
            Effect::Delete(key) => {
                self.0.remove(key);
                Outcome::Applied
            }
            Effect::Get(key) => self.0.get(key).cloned().map_or(Outcome::Absent, Outcome::Found),
            Effect::Exists(key) => self.0.get(key).map_or(Outcome::Absent, |_| Outcome::Exists),
            Effect::List(prefix) => {
                let is_listed = |key: &&Key| prefixes(**key).contains(prefix);
                Outcome::Listed(self.0.keys().filter(is_listed).copied().collect())
            }
            Effect::Merge(_) | Effect::Wait(_) => Outcome::Failed,
        }
    }
}

/// The listings that a key is in.
fn prefixes(key: Key) -> Vec<Prefix> {
    match key {
        Key::Meta(id) => vec![Prefix::Blocks, Prefix::Block(id), Prefix::AllBlocks],
        Key::Chunks(id)
        | Key::Index(id)
        | Key::DeletionMark(id)
        | Key::NoCompactMark(id)
        | Key::VisitMark(id) => vec![Prefix::Block(id), Prefix::AllBlocks],
        Key::GlobalDeletionMark(_) | Key::GlobalNoCompactMark(_) => vec![Prefix::Marks],
        Key::Plan(_) => vec![Prefix::Plans],
        Key::Marker(plan, _) => vec![Prefix::AllMarkers, Prefix::Markers(plan)],
        Key::CleanerMarker => Vec::new(),
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % limit
    }

    fn of<T: Copy>(&mut self, all: &[T; 3]) -> T {
        all[self.below(3) as usize]
    }

    fn operation(&mut self) -> Effect {
        let key = self.key();
        match self.below(6) {
            0 => Effect::List(self.prefix()),
            1 => Effect::Get(key),
            2 => Effect::Exists(key),
            3 => Effect::Delete(key),
            _ => Effect::Put(key, self.body(key)),
        }
    }

    fn plan_key(&mut self) -> PlanKey {
        PlanKey { group: GroupId(self.below(2) * u32::MAX), plan: self.of(&PLANS) }
    }

    fn key(&mut self) -> Key {
        let block = self.of(&BLOCKS);
        match self.below(10) {
            0 => Key::Chunks(block),
            1 => Key::Index(block),
            2 => Key::Meta(block),
            3 => Key::GlobalDeletionMark(block),
            4 => Key::DeletionMark(block),
            5 => Key::GlobalNoCompactMark(block),
            6 => Key::NoCompactMark(block),
            7 => Key::Plan(self.plan_key()),
            8 => Key::Marker(self.plan_key(), self.below(2) * 11),
            _ => Key::CleanerMarker,
        }
    }

    fn prefix(&mut self) -> Prefix {
        match self.below(7) {
            0 => Prefix::Blocks,
            1 => Prefix::Marks,
            2 => Prefix::Plans,
            3 => Prefix::AllMarkers,
            4 => Prefix::Markers(self.plan_key()),
            5 => Prefix::Block(self.of(&BLOCKS)),
            _ => Prefix::AllBlocks,
        }
    }

    fn body(&mut self, key: Key) -> Body {
        let number = u64::from(self.below(1000)) << self.below(54);
        let owner = Owner { process: ProcessId(3), incarnation: u32::MAX };
        match key {
            Key::Chunks(_) | Key::Index(_) | Key::VisitMark(_) => Body::Data,
            Key::Meta(id) => Body::Meta(Arc::new(Meta {
                id,
                min_time_ms: i64::MIN,
                max_time_ms: i64::MAX,
                index_size_bytes: number,
                made_by: number.is_multiple_of(2).then_some(Provenance {
                    group: GroupId(1),
                    plan: PlanId(u128::MAX),
                    partition_count: 4,
                    partition: 3,
                }),
            })),
            Key::GlobalDeletionMark(_) | Key::DeletionMark(_) => {
                let because = MarkReason::Surplus(PlanId(u128::from(number)));
                Body::DeletionMark(DeletionMark { because, marked_ms: number })
            }
            Key::GlobalNoCompactMark(_) | Key::NoCompactMark(_) => Body::NoCompactMark,
            Key::Plan(at) => Body::Plan(Arc::new(Plan {
                id: at.plan.unwrap_or(PlanId(9)),
                group: at.group,
                created_s: number,
                partitions: vec![BLOCKS.to_vec(), Vec::new()],
            })),
            Key::Marker(at, partition) => Body::Marker(Marker {
                owner,
                status: Status::Completed(Finding::Result(self.of(&BLOCKS))),
                plan: at.plan.unwrap_or(PlanId(9)),
                plan_created_s: Some(number),
                partition,
                visited_ms: u64::MAX,
            }),
            Key::CleanerMarker => {
                Body::CleanerMarker(CleanerMarker { owner, completed: true, visited_ms: number })
            }
        }
    }
}
