//! What controllers and servers say to each other.
//!
//! A request is answered once, or never: then it may have been carried out all the same. What is asked of the
//! completion protocol in names and JSON is in `wire`; this is what the transitions look at.

use core::fmt;

use super::completion::Kind;
use super::object::{Location, ObjectId, Offset, Range, Rows, Sealed, SegmentId, ServerId};
use crate::machine::EffectId;

/// Who waits for an answer: a process, and which of its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Caller<P> {
    /// The process.
    pub process: P,
    /// Its effect. The answer to another life's effect is refused there.
    pub id: EffectId,
}

/// A server asks the table's leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Request {
    /// Of which segment.
    pub segment: SegmentId,
    /// What.
    pub body: Ask,
}

/// What a server asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Ask {
    /// A message of the completion protocol that brings nothing along, at this offset.
    Say(Offset, Kind),
    /// `segmentCommitEndWithMetadata`: this copy is ready to count.
    CommitEnd {
        /// The end that it was built for.
        offset: Offset,
        /// The copy.
        copy: Sealed,
        /// Where it was stored.
        stored: Location,
    },
    /// A segment was read from the stream again, built and stored (dossier 10).
    Reingested {
        /// The copy.
        copy: Sealed,
        /// Where it was stored.
        stored: ObjectId,
    },
}

/// A controller asks a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Order {
    /// Whom.
    pub server: ServerId,
    /// Of which segment.
    pub segment: SegmentId,
    /// What.
    pub body: Tell,
}

/// What a controller asks of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Tell {
    /// Read the segment from the stream again.
    Reingest,
    /// Store your built copy, and say what it is (`uploadCommittedSegment`).
    Upload,
    /// Say whether you hold all rows of this range, in memory or on disk.
    Supply(Range),
    /// Say whether you could put together more than these rows, of what you hold and of what the stream has from the
    /// end of their last gap on.
    Exceed(Rows),
}

/// What a server answers a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Report {
    /// To [`Tell::Reingest`].
    Reingest(ReingestStatus),
    /// The copy was stored.
    Uploaded {
        /// What it is.
        copy: Sealed,
        /// Where it is.
        stored: ObjectId,
    },
    /// There is no copy to store, or storing it failed.
    NotUploaded,
    /// To [`Tell::Supply`] and [`Tell::Exceed`].
    Supplies(bool),
}

/// How a server takes the request to reingest (origin 2; dossier 10 where upstream differs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ReingestStatus {
    /// 200: it runs.
    Accepted,
    /// 404: this server has no such segment, or metadata has none.
    NotFound,
    /// 409: the segment is being reingested here already, or is completed.
    Conflict,
    /// 429: as many jobs run as may.
    TooMany,
    /// 500: the server has started and Helix has not reached it yet, metadata cannot be read, or it has no end yet.
    NotReady,
}

impl ReingestStatus {
    /// The HTTP status.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Accepted => 200,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooMany => 429,
            Self::NotReady => 500,
        }
    }
}

/// How a controller completes a segment that was read again (origin 2; dossier 10, step 6).
///
/// Upstream's tree has 200, 404, 409 and 500; the finer reasons are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum RefillStatus {
    /// 200: the record says DONE with this copy, and replicas in error were reset.
    Done,
    /// 400: the copy is of another range than the record's.
    OtherRange,
    /// 404: there is no record.
    NotFound,
    /// 409: the record says DONE or UPLOADED, be it by an earlier try of the same whose reply was lost.
    AlreadyDone,
    /// 409: the record is IN_PROGRESS, or has no end: nobody has begun to commit.
    NotCommitting,
    /// 409: rows are missing in the copy that a listed server has.
    Suppliable,
    /// 500: somebody else wrote the record between its read and its compare-and-set.
    Overtaken,
    /// 500: an operation failed, be it a read, a question to a server, the move of the object or the write. The record
    /// is as it was.
    Failed,
    /// 500: it is not known how the write of the record ended: it may have taken effect, or may yet.
    Unknown,
    /// 500: the record says DONE with this copy, but replicas in error were not reset. The repair does it.
    NotReset,
}

impl RefillStatus {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::OtherRange,
        Self::NotFound,
        Self::AlreadyDone,
        Self::NotCommitting,
        Self::Suppliable,
        Self::Overtaken,
        Self::Failed,
        Self::Unknown,
        Self::NotReset,
    ];

    /// The HTTP status.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Done => 200,
            Self::OtherRange => 400,
            Self::NotFound => 404,
            Self::AlreadyDone | Self::NotCommitting | Self::Suppliable => 409,
            Self::Overtaken | Self::Failed | Self::Unknown | Self::NotReset => 500,
        }
    }

    /// In kebab case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::OtherRange => "other-range",
            Self::NotFound => "not-found",
            Self::AlreadyDone => "already-done",
            Self::NotCommitting => "not-committing",
            Self::Suppliable => "suppliable",
            Self::Overtaken => "overtaken",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::NotReset => "not-reset",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl fmt::Display for RefillStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "it is done",
            Self::OtherRange => "the copy is of another range",
            Self::NotFound => "there is no record",
            Self::AlreadyDone => "the record is done already",
            Self::NotCommitting => "the record is not COMMITTING",
            Self::Suppliable => "a listed server has rows that are missing",
            Self::Overtaken => "somebody else wrote the record first",
            Self::Failed => "an operation failed, the record is as it was",
            Self::Unknown => "the record may have been written",
            Self::NotReset => "it is done, but replicas in error were not reset",
        })
    }
}
