//! What a replica says to the controller about the end of its segment.

use core::fmt;

use super::super::object::ServerId;

/// A message about one segment. Which segment, the caller knows: there is one machine for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Message {
    /// Who sends it.
    pub from: ServerId,
    /// The offset that the sender would consume next; the segment would end before it.
    pub offset: u64,
    /// What it says.
    pub kind: Kind,
    /// When it came, ms of the controller's clock. A message that had to wait keeps the time at which it came
    /// (the clock is read before the machine is locked).
    pub at_ms: u64,
}

/// What a message says (dossier 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// `segmentConsumed`: the sender has stopped at the offset, and asks what to do. The reason is absent
    /// after catching up.
    Consumed(Option<Reason>),
    /// `segmentCommitStart`: the sender begins to commit.
    CommitStart,
    /// `segmentCommitEndWithMetadata`: the sender has built the segment, and uploaded it or kept it for its
    /// peers. Where it lies and what is in it is for whoever carries out [`super::Ask::Finish`].
    CommitEnd,
    /// `extendBuildTime`: the sender needs that much longer, seconds; 0 asks for the default
    /// ([`super::Limits::lease_s`]).
    Extend {
        /// How much longer, seconds from when the message comes.
        extra_s: u32,
    },
    /// `segmentStoppedConsuming`: the sender has given up.
    Stopped,
    /// `segmentBuildDeterministicFailure`: the segment of this many rows cannot be built (#15234).
    BuildFailed {
        /// How many rows; 0 is malformed.
        rows: u64,
    },
}

impl Kind {
    /// Whether only the leader answers it; others say [`super::Answer::NotLeader`]. Upstream tests leadership
    /// when a message comes, and for `segmentBuildDeterministicFailure` not at all (dossier 1).
    #[must_use]
    pub fn is_for_leader(self) -> bool {
        !matches!(self, Self::BuildFailed { .. })
    }
}

/// Why a replica stopped (dossier 5, in the order in which it tests them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum Reason {
    /// It has consumed for long enough.
    TimeLimit,
    /// It has enough rows: every replica stops at the same offset.
    RowLimit,
    /// The partition has ended: every replica stops at the same offset.
    EndOfPartitionGroup,
    /// The operator told it to.
    ForceCommitMessageReceived,
    /// An index is full.
    IndexCapacityThresholdBreached,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::TimeLimit,
        Self::RowLimit,
        Self::EndOfPartitionGroup,
        Self::ForceCommitMessageReceived,
        Self::IndexCapacityThresholdBreached,
    ];

    /// The reason of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Whether the others stop at the same offset, so that the first reporter may win at once. A forced commit
    /// lost that shortcut in #10479 (C11).
    #[must_use]
    pub fn is_equal_for_all(self) -> bool {
        matches!(self, Self::RowLimit | Self::EndOfPartitionGroup)
    }

    /// As on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeLimit => "timeLimit",
            Self::RowLimit => "rowLimit",
            Self::EndOfPartitionGroup => "endOfPartitionGroup",
            Self::ForceCommitMessageReceived => "forceCommitMessageReceived",
            Self::IndexCapacityThresholdBreached => "indexCapacityThresholdBreached",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
