//! The protocol as Cortex had it, release by release, so that the checker can find what its users found.
//!
//! Read from the source of each release (cortexproject/cortex, `pkg/compactor`), not from the pull
//! requests' descriptions. Left out, as no scope here can tell: the bucket index (so #7156 changes
//! nothing: discovery is by listing), retention, the two-interval grace of #7182, concurrency within one
//! clean-up (#7246), and the existence checks of parents that the grouper makes and does not use.
//!
//! The cleaner's own visit marker, and the deletion of marked blocks, are there where a [`Cleaner`] is asked
//! for them: a world of two cleaners without such a marker stands for two that have passed each other by it.

mod cleaner;
mod compactor;
mod deletion;
mod status;

pub use cleaner::{Cleaner, CleanerState, Pass};
pub use compactor::{Compactor, CompactorState, Job, Phase, Search};
pub use deletion::{Deletion, Stage};
pub use status::Status;

/// A point in upstream's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Release {
    /// v1.19.0, as reported in #7075.
    V1_19,
    /// v1.20.0: with #7082, the short-term fix, and #6576.
    V1_20,
    /// Just after #7130 (2025-12-01): two-cycle clean-up.
    Pr7130,
    /// Just after #7209 (2026-01-14): with #7157, #7156 and #7182 too.
    Pr7209,
    /// v1.21.0: with #7217, #7246 and #7260 too.
    V1_21,
    /// Master of August 2026: with #7391 too.
    Main,
}

impl Release {
    /// All of them, oldest first.
    pub const ALL: [Self; 6] =
        [Self::V1_19, Self::V1_20, Self::Pr7130, Self::Pr7209, Self::V1_21, Self::Main];

    /// Name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1_19 => "cortex-1.19",
            Self::V1_20 => "cortex-1.20",
            Self::Pr7130 => "cortex-7130",
            Self::Pr7209 => "cortex-7209",
            Self::V1_21 => "cortex-1.21",
            Self::Main => "cortex-main",
        }
    }

    /// #7082: the picked plan must exist, and before the work it must have the creation second in memory.
    fn checks_version(self) -> bool {
        self >= Self::V1_20
    }

    /// #6576: the clean-up leaves blocks with a no-compact mark alone.
    fn spares_no_compact(self) -> bool {
        self >= Self::V1_20
    }

    /// #7130: parents are marked in one pass, the plan's file goes in the next.
    fn deletes_in_next_pass(self) -> bool {
        self >= Self::Pr7130
    }

    /// Until #7130 groups are cleaned after the blocks (#6742), since then before.
    fn cleans_groups_last(self) -> bool {
        self < Self::Pr7130
    }

    /// Until #7130, and again since #7157: a plan that cannot be finished is deleted.
    fn deletes_unfinishable(self) -> bool {
        self != Self::Pr7130
    }

    /// #7209, undone by #7260: a completed group's markers go even while its file stays.
    fn clears_markers_at_once(self) -> bool {
        self == Self::Pr7209
    }

    /// #7260: markers go only if the file is seen to be gone.
    fn clears_markers_after_file(self) -> bool {
        self >= Self::V1_21
    }

    /// #7217: a marker carries its plan's creation second, and an older one is stale.
    fn dates_markers(self) -> bool {
        self >= Self::V1_21
    }

    /// #7391: the planner reads the members' deletion marks.
    fn checks_members(self) -> bool {
        self >= Self::Main
    }

    /// What is done about stale markers of a plan that stays.
    fn stale_markers(self) -> StaleMarkers {
        match self {
            Self::V1_19 | Self::V1_20 => StaleMarkers::WipeGroup,
            Self::Pr7130 => StaleMarkers::Stay,
            Self::Pr7209 | Self::V1_21 | Self::Main => StaleMarkers::Go,
        }
    }
}

/// What a release does about stale markers of a plan that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StaleMarkers {
    /// One stale marker takes all of the group's with it, live claims included.
    WipeGroup,
    /// Nothing.
    Stay,
    /// They are deleted, by path.
    Go,
}
