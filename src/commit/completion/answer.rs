//! What the machine says: an answer to the sender, or a demand on its caller, whose outcome it goes on with.

use super::super::object::{ServerId, Status};

/// The answer to a message (dossier 6). A server's own `NOT_SENT`, for no reply at all, is none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Answer {
    /// Build and commit the segment.
    Commit {
        /// It ends before this offset: the sender's own.
        offset: u64,
        /// How long the sender has from the machine's start, whole seconds.
        build_s: u64,
    },
    /// Wait ([`super::Limits::hold_ms`]) and report again. Carries the sender's own offset.
    Hold(u64),
    /// Consume up to this offset, then report again.
    CatchUp(u64),
    /// What the sender has is of no use: wait for ONLINE and download.
    Discard,
    /// What the sender has is the segment: build it locally. Carries the sender's own offset.
    Keep(u64),
    /// Another controller leads. Given by the caller, never by the machine.
    NotLeader,
    /// It did not work; the sender reports again.
    Failed,
    /// The segment is committed.
    CommitSuccess,
    /// Go on with the commit.
    CommitContinue,
    /// Done.
    Processed,
    /// The upload has arrived. Given by the caller, never by the machine.
    UploadSuccess,
}

/// What the machine has its caller do. Each is one or several operations on the world, of which the machine
/// waits for the end alone; how they are cut up, and which races lie between them, is the caller's matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Ask {
    /// Read the segment's metadata: [`Outcome::Found`], or [`Outcome::Failed`] if the read failed.
    Record,
    /// The three metadata steps of a pauseless commit, with this end (dossier 6.5).
    Start {
        /// Who commits. Upstream: whoever sent the message, winner or not (R4).
        committer: ServerId,
        /// The end to be written.
        offset: u64,
    },
    /// The end of a commit: the object, then metadata (dossier 6.4, 6.5).
    Finish {
        /// Who commits.
        committer: ServerId,
        /// Where the segment ends.
        offset: u64,
        /// Blocking: all three metadata steps; pauseless: DONE alone, as the others are behind it. The machine's
        /// mode, whatever the table's is by now.
        mode: Mode,
    },
    /// Set this replica OFFLINE in the ideal state if it is CONSUMING there (dossier 6.7).
    SetOffline(ServerId),
    /// Halve the row limit and reset the segment (dossier 6.8, [`super::row_limit`]).
    LowerRowLimit {
        /// How many rows could not be built.
        rows: u64,
    },
}

/// How what was asked ended. An effect of which the outcome is unknown is resolved by the caller first (the
/// verified protocol reads), or passed on as failed (upstream).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Outcome {
    /// Metadata was read.
    Found(Found),
    /// Done.
    Done,
    /// Not done.
    Failed,
}

/// What a machine starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Found {
    /// The segment's metadata, if there is any.
    pub record: Option<Record>,
    /// The mode of the table as it is configured now. A machine keeps the mode it was made with.
    pub mode: Mode,
    /// The longest commit seen in this table, ms, as [`super::Turn::longest_ms`] told it; 0 if none.
    pub longest_ms: u64,
}

/// What the machine wants to know of a segment's metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Record {
    /// Its status.
    pub status: Status,
    /// Where it ends, exclusive. Absent while IN_PROGRESS.
    pub end: Option<u64>,
    /// How many replicas there are (`segment.realtime.numReplicas`).
    pub replicas: u16,
}

/// How a table commits (dossier 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Mode {
    /// The next segment starts when this one is committed.
    Blocking,
    /// The next segment starts before this one is built.
    Pauseless,
}

impl Outcome {
    /// What a read found; `Some(None)` if it failed, `None` if this is no outcome of a read.
    pub(super) fn found(self) -> Option<Option<Found>> {
        match self {
            Self::Found(found) => Some(Some(found)),
            Self::Failed => Some(None),
            Self::Done => None,
        }
    }

    /// Whether it was done; nothing if this is the outcome of a read.
    pub(super) fn done(self) -> Option<bool> {
        match self {
            Self::Found(_) => None,
            Self::Done => Some(true),
            Self::Failed => Some(false),
        }
    }
}
