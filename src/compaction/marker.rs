//! Visit markers: who works on a partition, and what came of it.

use super::object::{BlockId, PlanId, ProcessId};

/// A partition's visit marker (dossier 2.4).
///
/// It saves work and carries one kind of proof, that of an empty partition. That a partition has a result
/// is proven by the result block alone: a second worker may overwrite a marker, nobody a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Marker {
    /// Who wrote it.
    pub owner: Owner,
    /// How far the owner is.
    pub status: Status,
    /// The plan the owner worked for.
    pub plan: PlanId,
    /// Creation second of that plan, if the writer says so; `None` is upstream's 0, "unknown", which
    /// upstream accepts (dossier 6).
    pub plan_created_s: Option<u64>,
    /// The partition.
    pub partition: u32,
    /// When it was written, ms of the writer's clock.
    pub visited_ms: u64,
}

/// A process in one of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Owner {
    /// The process.
    pub process: ProcessId,
    /// Its life: a claim of an earlier one is nobody's.
    pub incarnation: u32,
}

/// The state of the work on a partition (dossier 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Status {
    /// Claimed, not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done. Never expires.
    Completed(Finding),
    /// Given up: a member is marked for deletion (#7391).
    Failed,
}

/// What a completed partition held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Finding {
    /// A result was uploaded.
    Result(BlockId),
    /// Its members hold no sample of this partition.
    Empty,
}

/// The visit marker of upstream's cleaner (dossier 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct CleanerMarker {
    /// Who wrote it.
    pub owner: Owner,
    /// Whether its pass is over.
    pub completed: bool,
    /// When it was written, ms of the writer's clock.
    pub visited_ms: u64,
}

impl CleanerMarker {
    /// Whether its owner may still be at work: the pass is not over, and it was heard of within `timeout_ms`.
    #[must_use]
    pub fn is_live(&self, now_ms: u64, timeout_ms: u64) -> bool {
        !self.completed && now_ms < self.visited_ms.saturating_add(timeout_ms)
    }
}

impl Marker {
    /// Whether the work is done.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        matches!(self.status, Status::Completed(_))
    }

    /// Whether the owner has not been heard of for `timeout_ms`: `now_ms` is the reader's clock, the
    /// stamp the writer's (dossier 6).
    #[must_use]
    pub fn is_expired(&self, now_ms: u64, timeout_ms: u64) -> bool {
        now_ms >= self.visited_ms.saturating_add(timeout_ms)
    }
}
