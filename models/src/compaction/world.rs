//! The world: a plain object store, processes that crash and stand still, late blocks, an operator.
//!
//! The world decides nothing about the protocol. It carries out effects, one operation each, and says what
//! came of them.

use std::sync::Arc;

use surehold::Issued;
use surehold::collections::Table;
use surehold::compaction::Effect;
use surehold::compaction::invariant::{DoubleWork, Holding, Property, Samples};
use surehold::compaction::marker::{CleanerMarker, Marker};
use surehold::compaction::object::{
    BlockId, Body, DeletionMark, GroupId, Key, Meta, PlanId, PlanKey, Prefix,
};
use surehold::compaction::plan::Plan;

use crate::part::Part;

/// The whole state of a model: the bucket, the processes, and what may still happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<W, C> {
    /// The bucket.
    pub store: Part<Store>,
    /// Compactors, then cleaners.
    pub processes: Vec<Part<Process<W, C>>>,
    /// Writes that may still land.
    pub late: Vec<Write>,
    /// How many late blocks have arrived.
    pub arrived: u8,
    /// How many of the operator's acts are done.
    pub operated: u8,
    /// How many faults may still happen.
    pub faults_left: u8,
    /// How many plans were made.
    pub plans_made: u8,
    /// What went wrong, if anything did.
    pub broken: Option<Broken>,
    /// What a scope's witness looks for and the rest of the state does not tell.
    pub seen: Seen,
}

/// Things that happened, noted only in scopes whose witnesses ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// A write of unknown effect was applied.
    pub unknown_applied: bool,
    /// A late write landed.
    pub unknown_landed: bool,
    /// A listing of plans failed while a plan was there.
    pub plan_unread: bool,
}

/// A process of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process<W, C> {
    /// Its role's state.
    pub role: RoleState<W, C>,
    /// Effects issued and not yet carried out, by number.
    pub pending: Vec<Issued<Effect>>,
    /// Of each wait among them: the processes, as bits, that had looked before it began and have not written
    /// yet. The wait lasts until they have; that is what its length is for.
    pub waits: Vec<(u16, u64)>,
    /// Whether it stands still beyond every time-out.
    pub paused: bool,
    /// Of a cleaner: blocks that carried a no-compact mark when it last listed marks, or began its pass.
    pub no_compact_seen: Vec<BlockId>,
    /// Whether its last read of a plan failed: what it writes then, upstream writes on purpose (D11).
    pub plan_read_failed: bool,
}

/// The state of one of two roles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RoleState<W, C> {
    /// A compactor.
    Compactor(Part<W>),
    /// A cleaner.
    Cleaner(Part<C>),
}

/// A write on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Where.
    pub key: Key,
    /// What; `None` deletes.
    pub body: Option<Body>,
}

/// A property that was found broken on the way, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A parent of the plan was marked though this partition has no result.
    Unproven(BlockId, PlanId, u32),
    /// A plan was deleted that was neither done nor dead.
    PlanDeleted(PlanId),
    /// A plan was written over one that was neither done nor dead.
    PlanOverwritten(PlanId, PlanId),
    /// A marker of a plan that was neither done nor dead was deleted.
    MarkerDeleted(PlanId, u32),
    /// Work was done twice.
    DoubleWork(BlockId, DoubleWork),
    /// A no-compact block was marked for deletion.
    NoCompactMarked(BlockId),
    /// A no-compact block was to be merged.
    NoCompactMerged(BlockId),
    /// A meta was written before the rest of its block.
    MetaBeforeData(BlockId),
    /// Data of a block were deleted before its meta.
    DataBeforeMeta(BlockId),
    /// A complete block was deleted without a mark that is old enough.
    Unripe(BlockId),
}

impl Broken {
    /// The property it breaks.
    pub fn property(&self) -> Property {
        match self {
            Self::Unproven(..) => Property::ReplacedBeforeMarking,
            Self::PlanDeleted(_) | Self::PlanOverwritten(..) | Self::MarkerDeleted(..) => {
                Property::OnlyDeadPlansDeleted
            }
            Self::DoubleWork(..) => Property::NoDoubleWork,
            Self::NoCompactMarked(_) | Self::NoCompactMerged(_) => Property::NoCompactRespected,
            Self::MetaBeforeData(_) | Self::DataBeforeMeta(_) => Property::MetaLast,
            Self::Unripe(_) => Property::DeletedAfterDelay,
        }
    }
}

/// The bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Store {
    /// Blocks and their marks, complete or not.
    pub blocks: Table<BlockId, Part<Block>>,
    /// Plans.
    pub plans: Table<PlanKey, Part<Arc<Plan>>>,
    /// Visit markers.
    pub markers: Table<(PlanKey, u32), Visit>,
    /// The visit marker of upstream's cleaner, and whether it has expired.
    pub cleaner_marker: Option<(CleanerMarker, bool)>,
}

/// A marker, and whether its owner's time has run out since it was written.
///
/// Time is relative: what is not renewed may expire at any moment, and whoever reads the marker then reads
/// it later than its time-out. That is all a role can tell from a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visit {
    /// The marker.
    pub marker: Marker,
    /// Whether it has expired.
    pub expired: bool,
}

/// A copy of a deletion mark, and whether the deletion delay has passed since it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark {
    /// The mark.
    pub mark: DeletionMark,
    /// Whether it is old enough. Time is relative, as for a [`Visit`].
    pub ripe: bool,
}

/// A block: what is uploaded of it, and, for the judge alone, what it holds and came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// What it holds.
    pub samples: Samples,
    /// What it was merged from.
    pub inputs: Vec<BlockId>,
    /// What those were merged from, and so on, inputs included.
    pub ancestors: Vec<BlockId>,
    /// Chunks are there.
    pub chunks: bool,
    /// The index is there.
    pub index: bool,
    /// The meta, once there.
    pub meta: Option<Arc<Meta>>,
    /// The meta it had, once that is deleted: for the judge, and so that its id is not used again.
    pub deleted: Option<Arc<Meta>>,
    /// The global copy of its deletion mark.
    pub global_mark: Option<Mark>,
    /// Its own copy.
    pub local_mark: Option<Mark>,
    /// Whether it has been marked for longer than the deletion delay. A mark that is written once more bears a
    /// later stamp and is not that old; the block has been marked all the while.
    pub aged: bool,
    /// Its no-compact mark, both copies.
    pub no_compact: bool,
    /// Whether it ever carried one: a plan that was dead when somebody looked may go.
    pub was_no_compact: bool,
}

impl Block {
    /// Whether either copy of the deletion mark is there.
    pub fn is_marked(&self) -> bool {
        self.global_mark.is_some() || self.local_mark.is_some()
    }

    /// Whether a copy of the mark has yet to grow old.
    pub fn ripens(&self) -> bool {
        self.global_mark.into_iter().chain(self.local_mark).any(|mark| !mark.ripe)
    }

    /// Whether it was complete and nothing is left of it.
    pub fn is_gone(&self) -> bool {
        self.deleted.is_some() && !self.is_marked() && !self.chunks && !self.index
    }
}

impl Store {
    /// Complete blocks, as invariants see them.
    pub fn holdings(&self) -> impl Iterator<Item = Holding<'_>> + Clone {
        self.blocks.iter().filter_map(|(id, block)| {
            let meta = block.meta.as_deref()?;
            Some(Holding { block: *id, samples: block.samples, marked: block.is_marked(), meta })
        })
    }

    /// Blocks that are or were complete, as invariants see them.
    pub fn ever_held(&self) -> impl Iterator<Item = Holding<'_>> + Clone {
        self.blocks.iter().filter_map(|(id, block)| {
            let meta = block.meta.as_deref().or(block.deleted.as_deref())?;
            Some(Holding { block: *id, samples: block.samples, marked: block.is_marked(), meta })
        })
    }

    /// Whether a block is marked, or was and is deleted, or must not be compacted, or once must not.
    pub fn was_stopped(&self, id: BlockId) -> bool {
        self.blocks.get(&id).is_some_and(|block| {
            block.is_marked() || block.deleted.is_some() || block.was_no_compact
        })
    }

    /// The samples of some blocks.
    pub fn samples(&self, ids: &[BlockId]) -> Samples {
        let of = |id| self.blocks.get(id).map_or_else(Samples::default, |block| block.samples);
        ids.iter().map(of).fold(Samples::default(), Samples::union)
    }

    /// The plan of this id, wherever it lies.
    pub fn plan(&self, id: PlanId) -> Option<&Arc<Plan>> {
        self.plans.iter().map(|(_, plan)| &**plan).find(|plan| plan.id == id)
    }

    /// Keys beneath a prefix, ascending.
    pub fn list(&self, prefix: Prefix) -> Vec<Key> {
        match prefix {
            Prefix::Blocks => self.holdings().map(|block| Key::Meta(block.block)).collect(),
            Prefix::Marks => {
                let deleted = self.blocks.iter().filter(|(_, block)| block.global_mark.is_some());
                let kept = self.blocks.iter().filter(|(_, block)| block.no_compact);
                let deleted = deleted.map(|(id, _)| Key::GlobalDeletionMark(*id));
                deleted.chain(kept.map(|(id, _)| Key::GlobalNoCompactMark(*id))).collect()
            }
            Prefix::Plans => self.plans.iter().map(|(key, _)| Key::Plan(*key)).collect(),
            Prefix::AllMarkers => {
                self.markers.iter().map(|((k, p), _)| Key::Marker(*k, *p)).collect()
            }
            Prefix::Markers(folder) => {
                let in_folder = self.markers.iter().filter(|((k, _), _)| *k == folder);
                in_folder.map(|((k, p), _)| Key::Marker(*k, *p)).collect()
            }
            Prefix::Block(id) => {
                let beneath = [
                    Key::Chunks(id),
                    Key::Index(id),
                    Key::Meta(id),
                    Key::DeletionMark(id),
                    Key::NoCompactMark(id),
                ];
                beneath.into_iter().filter(|key| self.get(*key).is_some()).collect()
            }
            Prefix::AllBlocks => {
                self.blocks.iter().flat_map(|(id, _)| self.list(Prefix::Block(*id))).collect()
            }
        }
    }

    /// An object.
    pub fn get(&self, key: Key) -> Option<Body> {
        let block = |id| self.blocks.get(&id);
        match key {
            Key::Chunks(id) => block(id).filter(|b| b.chunks).map(|_| Body::Data),
            Key::Index(id) => block(id).filter(|b| b.index).map(|_| Body::Data),
            Key::Meta(id) => block(id)?.meta.clone().map(Body::Meta),
            Key::GlobalDeletionMark(id) => {
                block(id)?.global_mark.map(|copy| Body::DeletionMark(copy.mark))
            }
            Key::DeletionMark(id) => {
                block(id)?.local_mark.map(|copy| Body::DeletionMark(copy.mark))
            }
            Key::GlobalNoCompactMark(id) | Key::NoCompactMark(id) => {
                block(id).filter(|b| b.no_compact).map(|_| Body::NoCompactMark)
            }
            // Nobody here writes one.
            Key::VisitMark(_) => None,
            Key::CleanerMarker => {
                self.cleaner_marker.map(|(marker, _)| Body::CleanerMarker(marker))
            }
            Key::Plan(key) => self.plans.get(&key).map(|plan| Body::Plan(Arc::clone(plan))),
            Key::Marker(key, p) => {
                self.markers.get(&(key, p)).map(|visit| Body::Marker(visit.marker))
            }
        }
    }

    /// Writes or deletes an object. What does not fit its key changes nothing.
    pub fn put(&mut self, write: &Write) {
        match (write.key, &write.body) {
            (Key::Plan(key), Some(Body::Plan(plan))) => {
                self.plans.insert(key, Part::new(Arc::clone(plan)));
            }
            (Key::Plan(key), None) => {
                self.plans.remove(&key);
            }
            (Key::Marker(key, p), Some(Body::Marker(marker))) => {
                self.markers.insert((key, p), Visit { marker: *marker, expired: false });
            }
            (Key::CleanerMarker, Some(Body::CleanerMarker(marker))) => {
                self.cleaner_marker = Some((*marker, false));
            }
            (Key::CleanerMarker, None) => self.cleaner_marker = None,
            (Key::Marker(key, p), None) => {
                self.markers.remove(&(key, p));
            }
            (
                Key::Chunks(id)
                | Key::Index(id)
                | Key::Meta(id)
                | Key::GlobalDeletionMark(id)
                | Key::DeletionMark(id),
                Some(body),
            ) => self.put_in_block(id, write.key, body),
            (
                Key::Chunks(id)
                | Key::Index(id)
                | Key::Meta(id)
                | Key::GlobalDeletionMark(id)
                | Key::DeletionMark(id)
                | Key::GlobalNoCompactMark(id)
                | Key::NoCompactMark(id),
                None,
            ) => self.delete_in_block(id, write.key),
            (_, _) => {}
        }
    }

    fn delete_in_block(&mut self, id: BlockId, key: Key) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        let block = block.change();
        match key {
            Key::Chunks(_) => block.chunks = false,
            Key::Index(_) => block.index = false,
            Key::Meta(_) => {
                if let Some(meta) = block.meta.take() {
                    block.deleted = Some(meta);
                }
            }
            Key::GlobalDeletionMark(_) => block.global_mark = None,
            Key::DeletionMark(_) => block.local_mark = None,
            // Both copies are one here.
            Key::GlobalNoCompactMark(_) | Key::NoCompactMark(_) => block.no_compact = false,
            Key::Plan(_) | Key::Marker(..) | Key::VisitMark(_) | Key::CleanerMarker => {}
        }
        block.aged &= block.is_marked();
    }

    fn put_in_block(&mut self, id: BlockId, key: Key, body: &Body) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        let block = block.change();
        match (key, body) {
            (Key::Chunks(_), Body::Data) => block.chunks = true,
            (Key::Index(_), Body::Data) => block.index = true,
            (Key::Meta(_), Body::Meta(meta)) => block.meta = Some(Arc::clone(meta)),
            (Key::GlobalDeletionMark(_), Body::DeletionMark(mark)) => {
                block.global_mark = Some(Mark { mark: *mark, ripe: false });
            }
            (Key::DeletionMark(_), Body::DeletionMark(mark)) => {
                block.local_mark = Some(Mark { mark: *mark, ripe: false });
            }
            (_, _) => {}
        }
    }
}

/// The path of a group's plan that carries no id.
pub fn group_path(group: GroupId) -> PlanKey {
    PlanKey { group, plan: None }
}
