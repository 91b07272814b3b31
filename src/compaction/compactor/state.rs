//! What a compactor remembers. All of it is volatile: a crash loses it, the bucket has the rest.

use std::sync::Arc;

use super::super::event::Outstanding;
use super::super::marker::Owner;
use super::super::object::{BlockId, Meta, PlanKey, ProcessId};
use super::super::plan::Plan;
use crate::collections::Table;

/// The state of a compactor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(super) process: ProcessId,
    pub(super) outstanding: Outstanding,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "whole"))]
    pub(super) search: Search,
    pub(super) jobs: Table<u8, Job>,
}

/// A search that has something to go on with: a stored state is input from outside.
#[cfg(feature = "serde")]
fn whole<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Search, D::Error> {
    use serde::de::{Deserialize, Error};
    let search = Search::deserialize(source)?;
    if search.is_whole() {
        Ok(search)
    } else {
        Err(D::Error::custom("a search with nothing in hand"))
    }
}

impl State {
    /// A compactor that has just started.
    pub(crate) fn idle(process: ProcessId, incarnation: u32) -> Self {
        Self {
            process,
            outstanding: Outstanding::none(incarnation),
            search: Search::Idle,
            jobs: Table::new(),
        }
    }

    /// Who it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { process: self.process, incarnation: self.outstanding.incarnation() }
    }

    /// Where its search for work is.
    #[must_use]
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Its jobs by slot.
    pub fn jobs(&self) -> impl Iterator<Item = (u8, &Job)> {
        self.jobs.iter().map(|(slot, job)| (*slot, job))
    }

    /// Whether a heartbeat of this job may be sent now.
    #[must_use]
    pub fn can_beat(&self, slot: u8) -> bool {
        self.jobs.get(&slot).is_some_and(|job| job.phase.beats())
            && !self.outstanding.waits(super::super::event::Task::Beat(slot))
    }
}

/// The search for work: one cycle from the listing of blocks to a claim (dossier 3, S and G).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Search {
    /// No cycle is running.
    Idle,
    /// Listing plans.
    Plans,
    /// Listing marks, as there is no plan.
    Barred,
    /// Listing the blocks. These carry a mark, and are left out of a plan.
    Blocks(Vec<BlockId>),
    /// Reading their metas.
    Metas {
        /// Read.
        metas: Vec<Arc<Meta>>,
        /// Being read and still to read.
        unread: Vec<BlockId>,
    },
    /// Listing marks after the blocks: the order without `marks-before-blocks`.
    Marks {
        /// Blocks of the range.
        metas: Vec<Arc<Meta>>,
    },
    /// Writing a plan of its own.
    Planning,
    /// Reading the plan to work on.
    Reading(PlanKey),
    /// Looking for marks on the plan's blocks.
    Checking(Arc<Plan>),
    /// Reading a partition's marker.
    Looking(Choice),
    /// Writing a claim.
    Claiming(Choice),
}

#[cfg(feature = "serde")]
impl Search {
    /// Whether the block or partition that the phase is about is there.
    fn is_whole(&self) -> bool {
        match self {
            Self::Metas { unread, .. } => !unread.is_empty(),
            Self::Looking(choice) | Self::Claiming(choice) => {
                choice.partition < choice.plan.count()
            }
            Self::Idle
            | Self::Plans
            | Self::Barred
            | Self::Blocks(_)
            | Self::Marks { .. }
            | Self::Planning
            | Self::Reading(_)
            | Self::Checking(_) => true,
        }
    }
}

/// A partition under consideration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Choice {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The partition.
    pub partition: u32,
    /// How many more partitions to consider after this one, in cyclic order.
    pub left: u32,
}

/// Work on one partition, from the claim on (dossier 3, P and W).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Job {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The partition.
    pub partition: u32,
    /// How far it is.
    pub phase: Phase,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Phase {
    /// Waiting for rival claims and plans to land.
    Settling,
    /// Reading back the claim.
    Confirming,
    /// Listing plans, to see that the plan is there and the least.
    Rivals,
    /// Looking for marks on the plan's blocks once more.
    Checking,
    /// Merging.
    Merging,
    /// Uploading the result's chunks.
    Chunks(Arc<Meta>),
    /// Uploading its index.
    Index(Arc<Meta>),
    /// Uploading its meta, which makes it a block.
    Meta(Arc<Meta>),
    /// Reading the meta, as it is unknown whether it was written.
    Resolving(BlockId),
    /// Done, waiting for a heartbeat under way, so that it does not land on the completion.
    LastBeat(super::super::marker::Finding),
    /// Writing that the partition is completed.
    Completing,
}

impl Phase {
    /// Whether the job is at work, so that heartbeats are due.
    #[must_use]
    pub fn beats(&self) -> bool {
        match self {
            Self::Merging
            | Self::Chunks(_)
            | Self::Index(_)
            | Self::Meta(_)
            | Self::Resolving(_) => true,
            Self::Settling
            | Self::Confirming
            | Self::Rivals
            | Self::Checking
            | Self::LastBeat(_)
            | Self::Completing => false,
        }
    }
}
