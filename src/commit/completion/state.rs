//! What a machine remembers. Nothing on which no later answer depends: reports go when the winner is picked, times
//! when nobody asks for them any more, all but the end when the segment is committed.

use super::super::object::ServerId;
use super::answer::{Ask, Mode};
use super::message::Message;
use crate::collections::Table;

/// The state of the machine of one segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum State {
    /// There is no machine: the next message makes one, from metadata.
    #[default]
    Absent,
    /// It waits for a message.
    Idle(Phase),
    /// It waits for the end of what it has asked for. Messages have to wait, as upstream's do for its lock.
    Busy(Busy),
}

impl State {
    /// Whether the machine has nothing more to remember: whoever keeps machines drops it, and the next message
    /// makes another (dossier 6.1). [`State::Absent`] is over as well.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Idle(phase) => phase.is_over(),
            Self::Busy(_) => false,
        }
    }
}

/// A machine that waits for an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Busy {
    /// What it has asked for.
    pub ask: Ask,
    /// The message that it is about to answer.
    pub message: Message,
    /// Where it was; nothing if it is being made, or if that will not matter any more.
    pub phase: Option<Phase>,
}

/// How far a segment's completion is (dossier 6.2). Upstream's COMMITTING is [`Busy`] with [`Ask::Finish`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Phase {
    /// PARTIAL_CONSUMING: a replica has given up, none has reported.
    PartialConsuming(Gathering),
    /// HOLDING: replicas report, there is no winner.
    Holding(Gathering),
    /// COMMITTER_DECIDED: there is a winner, which does not know it.
    Decided(Commit),
    /// COMMITTER_NOTIFIED: the winner was told.
    Notified(Commit),
    /// COMMITTER_UPLOADING: the commit has started.
    Uploading(Upload),
    /// Made from metadata that says COMMITTING; the verified machine alone. It knows nothing that metadata does
    /// not, so it is over after each message.
    Resumed {
        /// Where the segment ends.
        end: u64,
    },
    /// COMMITTED: the segment is.
    Committed {
        /// Where the segment ends.
        end: u64,
    },
    /// ABORTED: all starts again with the next message.
    Aborted,
}

impl Phase {
    /// Whether nothing is left to be remembered.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Resumed { .. } | Self::Committed { .. } | Self::Aborted)
    }
}

/// While there is no winner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Gathering {
    /// How the table committed when the machine was made.
    pub mode: Mode,
    /// How many replicas there are.
    pub replicas: u16,
    /// When the machine was made, ms.
    pub started_ms: u64,
    /// How long after its start it may commit, ms.
    pub initial_ms: u64,
    /// Who has reported, with its last offset.
    pub reports: Table<ServerId, u64>,
    /// Who has given up and not reported since.
    pub excluded: Table<ServerId, ()>,
}

/// Between the choice of a winner and its commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Commit {
    /// How the table committed when the machine was made.
    pub mode: Mode,
    /// When the machine was made, ms.
    pub started_ms: u64,
    /// How long after its start it could commit at first, ms.
    pub initial_ms: u64,
    /// After this it is too late, ms.
    pub limit_ms: u64,
    /// Who commits.
    pub winner: ServerId,
    /// Where the segment ends.
    pub offset: u64,
    /// Who has given up and not reported since.
    pub excluded: Table<ServerId, ()>,
}

/// Since the commit has started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Upload {
    /// How the table committed when the machine was made.
    pub mode: Mode,
    /// The lease may be extended up to here, ms. None in blocking mode: not any more (dossier 6.3).
    pub ceiling_ms: Option<u64>,
    /// After this it is too late, ms.
    pub limit_ms: u64,
    /// Who commits.
    pub winner: ServerId,
    /// Where the segment ends.
    pub offset: u64,
    /// Who has given up and not reported since.
    pub excluded: Table<ServerId, ()>,
}
