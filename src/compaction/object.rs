//! The objects in the bucket: blocks, marks, plans, visit markers, and their keys.
//!
//! Dossier 2 lists what upstream keeps. Here a key is a value, not a path string; the adapters of the
//! runtime and `wire` turn it into one.

use std::sync::Arc;

use super::marker::{CleanerMarker, Marker};
use super::plan::Plan;

/// A block's ULID.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct BlockId(pub u128);

/// The unique id of a plan: a ULID, never used again.
///
/// Upstream has none: a plan there is known by its path and its creation second (dossier 2.3). The
/// upstream variants carry one as well, so that a story can say which plan is meant; no decision of
/// theirs reads it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PlanId(pub u128);

/// Identifies a partitioned group: one per tenant and time range (dossier 4, rule 3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct GroupId(pub u32);

/// One process of the fleet, under a name that outlives its restarts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ProcessId(pub u32);

macro_rules! debug_as {
    ($($name:ident => $prefix:literal),+) => {$(
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )+};
}
debug_as!(BlockId => "block", PlanId => "plan", GroupId => "group", ProcessId => "process");

/// Where a plan lies and, beneath it, its visit markers.
///
/// Upstream's path names the group alone, so the versions of a plan share it (dossier 2). The verified
/// protocol puts the plan's id into the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PlanKey {
    /// The group.
    pub group: GroupId,
    /// The plan, if the path names it.
    pub plan: Option<PlanId>,
}

/// The name of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Key {
    /// `<block>/chunks/..`; uploaded first.
    Chunks(BlockId),
    /// `<block>/index`; after the chunks.
    Index(BlockId),
    /// `<block>/meta.json`; last up: its presence makes the block complete (M1).
    Meta(BlockId),
    /// `markers/<block>-deletion-mark.json`: the copy that is listed.
    GlobalDeletionMark(BlockId),
    /// `<block>/deletion-mark.json`.
    DeletionMark(BlockId),
    /// `markers/<block>-no-compact-mark.json`.
    GlobalNoCompactMark(BlockId),
    /// `<block>/no-compact-mark.json`.
    NoCompactMark(BlockId),
    /// `<block>/visit-mark.json`: of upstream's older compactor, which does not partition (dossier 2). Nobody
    /// here writes one; upstream's cleaner asks for it (#5498).
    VisitMark(BlockId),
    /// `partitioned-groups/..`.
    Plan(PlanKey),
    /// `partitioned-groups/visit-marks/../partition-<p>-visit-mark.json`.
    Marker(PlanKey, u32),
    /// `markers/cleaner-visit-marker.json`: which of upstream's cleaners is at work.
    CleanerMarker,
}

impl Key {
    /// The block beneath whose folder the object lies. Global marks lie in no block's folder.
    #[must_use]
    pub fn block(self) -> Option<BlockId> {
        match self {
            Self::Chunks(id)
            | Self::Index(id)
            | Self::Meta(id)
            | Self::DeletionMark(id)
            | Self::NoCompactMark(id)
            | Self::VisitMark(id) => Some(id),
            Self::GlobalDeletionMark(_)
            | Self::GlobalNoCompactMark(_)
            | Self::Plan(_)
            | Self::Marker(..)
            | Self::CleanerMarker => None,
        }
    }
}

/// What a listing lists. One listing is one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Prefix {
    /// The whole bucket, for the `meta.json` of each block (dossier 3, S1).
    Blocks,
    /// `markers/`: global deletion and no-compact marks.
    Marks,
    /// `partitioned-groups/`.
    Plans,
    /// All visit markers.
    AllMarkers,
    /// The visit markers beneath one plan's path.
    Markers(PlanKey),
    /// `<block>/`: what is there of one block.
    Block(BlockId),
    /// The whole bucket, for every object beneath a block.
    AllBlocks,
}

/// The content of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Body {
    /// Chunks or an index: the protocol does not look inside.
    Data,
    /// A block's meta.
    Meta(Arc<Meta>),
    /// A deletion mark.
    DeletionMark(DeletionMark),
    /// A no-compact mark.
    NoCompactMark,
    /// A plan.
    Plan(Arc<Plan>),
    /// A visit marker.
    Marker(Marker),
    /// The visit marker of upstream's cleaner.
    CleanerMarker(CleanerMarker),
}

/// A block's `meta.json`, as far as the protocol reads it (dossier 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Meta {
    /// The block.
    pub id: BlockId,
    /// First instant, ms, inclusive.
    pub min_time_ms: i64,
    /// Last instant, ms, exclusive.
    pub max_time_ms: i64,
    /// Size of the index, bytes: decides the partition count (dossier 4, rule 7).
    pub index_size_bytes: u64,
    /// Which part of which plan made this block; `None` for an uploaded block, which belongs to every
    /// partition.
    pub made_by: Option<Provenance>,
}

/// The `partition_info` extension of a result (dossier 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Provenance {
    /// The group.
    pub group: GroupId,
    /// The plan. Upstream has its creation second instead, and no reader uses it.
    pub plan: PlanId,
    /// In how many partitions that plan split its blocks.
    pub partition_count: u32,
    /// Which of them this is.
    pub partition: u32,
}

/// A deletion mark (dossier 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct DeletionMark {
    /// Why: for whoever reads the mark later.
    pub because: MarkReason,
    /// When it was written, ms of the writer's clock. Upstream's `deletion_time` has whole seconds.
    pub marked_ms: u64,
}

impl DeletionMark {
    /// Whether the mark is `delay_ms` old: `now_ms` is the reader's clock, the stamp the writer's.
    #[must_use]
    pub fn is_ripe(&self, now_ms: u64, delay_ms: u64) -> bool {
        now_ms >= self.marked_ms.saturating_add(delay_ms)
    }
}

/// Why a block was marked for deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum MarkReason {
    /// It is a parent of this plan, and each partition of the plan is proven.
    Compacted(PlanId),
    /// It is a result of this plan, and another complete result of the same partition is kept.
    Surplus(PlanId),
}
