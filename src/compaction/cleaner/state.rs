//! What a cleaner remembers. All of it is volatile.

use std::sync::Arc;

use super::super::event::Outstanding;
use super::super::marker::{Finding, Owner};
use super::super::object::{BlockId, Key, MarkReason, PlanKey, ProcessId};
use super::super::plan::Plan;

/// The state of a cleaner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(super) process: ProcessId,
    pub(super) outstanding: Outstanding,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "whole"))]
    pub(super) pass: Pass,
}

/// A pass that has something to go on with: a stored state is input from outside.
#[cfg(feature = "serde")]
fn whole<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Pass, D::Error> {
    use serde::de::{Deserialize, Error};
    let pass = Pass::deserialize(source)?;
    if pass.is_whole() { Ok(pass) } else { Err(D::Error::custom("a pass with nothing in hand")) }
}

impl State {
    /// A cleaner that has just started.
    pub(crate) fn idle(process: ProcessId, incarnation: u32) -> Self {
        Self { process, outstanding: Outstanding::none(incarnation), pass: Pass::Idle }
    }

    /// Who it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { process: self.process, incarnation: self.outstanding.incarnation() }
    }

    /// Whether a pass may begin.
    pub(super) fn is_ready(&self) -> bool {
        self.pass == Pass::Idle && self.outstanding.has_room()
    }

    /// Where its pass is.
    #[must_use]
    pub fn pass(&self) -> &Pass {
        &self.pass
    }
}

/// One pass over the plans of the bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Pass {
    /// No pass is running.
    Idle,
    /// Listing all markers.
    AllMarkers,
    /// Listing plans, with the markers seen before.
    Plans(Vec<Key>),
    /// Deleting the first of these markers, which have no plan; then the plans.
    Sweeping(Vec<Key>, Vec<PlanKey>),
    /// Reading the first of these plans.
    Reading(Vec<PlanKey>),
    /// Listing marks.
    Marks(Case, Evidence),
    /// Listing blocks.
    Blocks(Case, Look),
    /// Reading metas, to find the plan's results.
    Metas(Case, Look, Evidence, Vec<BlockId>),
    /// Reading the marker of the first of these partitions, which have no result.
    Markers(Case, Look, Evidence, Vec<u32>),
    /// Writing the block's own copy of the first of these marks.
    Marking(Case, Vec<(BlockId, MarkReason)>),
    /// Writing the global copy of it.
    MarkingGlobal(Case, Vec<(BlockId, MarkReason)>),
    /// Deleting the plan; these marks are still to be written.
    Deleting(Case, Vec<(BlockId, MarkReason)>),
    /// Listing the deleted plan's markers.
    Listing(Case, Vec<(BlockId, MarkReason)>),
    /// Deleting the first of these markers.
    Clearing(Case, Vec<Key>, Vec<(BlockId, MarkReason)>),
    /// Listing marks, to find blocks to delete.
    Marked,
    /// Deleting the first of these marked blocks.
    Removing(Removal, Vec<Marked>),
    /// Listing everything beneath blocks, to find what is left of deleted ones.
    Remains,
    /// Deleting the first of these objects.
    Tidying(Vec<Key>),
}

/// A block that carries a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Marked {
    /// The block.
    pub id: BlockId,
    /// Whether it carries a no-compact mark too, which goes with it.
    pub no_compact: bool,
}

/// How far the deletion of a block is (dossier 7, C7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Removal {
    /// Reading its mark, to see how old it is.
    Age,
    /// Deleting its meta, which makes it no block any more.
    Meta,
    /// Listing what else is there of it.
    Directory,
    /// Deleting the first of these objects.
    Objects(Vec<Key>),
}

#[cfg(feature = "serde")]
impl Pass {
    /// Whether the work that the phase is about is there. Each phase takes the first of its list.
    fn is_whole(&self) -> bool {
        match self {
            Self::Sweeping(orphans, _) => !orphans.is_empty(),
            Self::Reading(plans) => !plans.is_empty(),
            Self::Metas(.., blocks) => !blocks.is_empty(),
            Self::Markers(.., partitions) => !partitions.is_empty(),
            Self::Marking(_, marks) | Self::MarkingGlobal(_, marks) => !marks.is_empty(),
            Self::Clearing(_, markers, _) => !markers.is_empty(),
            Self::Removing(Removal::Objects(objects), blocks) => {
                !objects.is_empty() && !blocks.is_empty()
            }
            Self::Removing(_, blocks) => !blocks.is_empty(),
            Self::Tidying(objects) => !objects.is_empty(),
            Self::Marked
            | Self::Remains
            | Self::Idle
            | Self::AllMarkers
            | Self::Plans(_)
            | Self::Marks(..)
            | Self::Blocks(..)
            | Self::Deleting(..)
            | Self::Listing(..) => true,
        }
    }
}

/// The plan in hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Case {
    /// Where it lies.
    pub key: PlanKey,
    /// Itself.
    pub plan: Arc<Plan>,
    /// Plans to look at after this one.
    pub rest: Vec<PlanKey>,
}

/// Which blocks carry a mark, when the cleaner looked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Look {
    /// Marked for deletion.
    pub deleted: Vec<BlockId>,
    /// Not to be compacted.
    pub no_compact: Vec<BlockId>,
}

/// What is known of the plan's partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Evidence {
    /// Complete blocks that name the plan and this partition, ascending.
    pub results: Vec<(u32, BlockId)>,
    /// What completed markers say of a partition.
    pub said: Vec<(u32, Finding)>,
}
