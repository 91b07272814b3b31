//! What a historical remembers, and what of it survives a crash.

use super::super::object::{Fence, Incarnation, SegmentId, ServerId, Stamp, Term};
use crate::collections::{Set, Table};

/// What survives a crash of a historical, kept on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Durable {
    /// Its name.
    pub server: ServerId,
    /// Its life. Whoever starts the process gives a larger one than ever before under this name, also when the
    /// disk is new: from a clock, or from the election's store. With a smaller one nobody would listen to it.
    pub incarnation: Incarnation,
    /// The newest term it was shown. Where the disk is new, it is read from the election before the start: a
    /// server that has forgotten it would take orders from a leader that was replaced.
    pub term: Term,
    /// Segments that it is to announce, whose files are there.
    pub served: Set<SegmentId>,
    /// Segments that it is not to announce and of which files are there, whole or in part: what a look at the
    /// disk finds at the start, after a crash before the end of a fetch, or of a drop's delay, or of a deletion.
    /// They are deleted. Empty from then on.
    pub left_over: Set<SegmentId>,
}

/// The state of a historical.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(crate) durable: Durable,
    /// The highest number it was shown in its term.
    pub(crate) number: u32,
    pub(crate) version: u32,
    /// Whether the newest term it was shown was shown to a life before this one.
    pub(crate) recalled: bool,
    /// Segments being fetched, and whom to tell.
    pub(crate) loading: Table<SegmentId, Loading>,
    /// Segments whose files are still there though they are announced no more.
    pub(crate) leaving: Table<SegmentId, Leaving>,
    pub(crate) outstanding: Table<u16, Owed>,
}

/// A load under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub(crate) struct Loading {
    /// The request to answer.
    pub(crate) ticket: Fence,
    /// Whether the fetch has begun; before it, the last files have to be gone.
    pub(crate) fetching: bool,
}

/// How far a segment's files are from being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub(crate) enum Leaving {
    /// Not before the wait of this number is over.
    Waiting(u16),
    /// They are being deleted.
    Deleting,
    /// They are still being fetched by a load that a drop has ended, and go when that has ended.
    Fetching,
    /// They are there from an earlier life, or from a deletion that did not succeed, and go with the next
    /// message.
    LeftOver,
}

/// What an outstanding effect works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub(crate) enum Owed {
    Fetch(SegmentId),
    Wait(SegmentId),
    Delete(SegmentId),
}

impl State {
    pub(crate) fn started(mut durable: Durable) -> Self {
        let recalled = durable.term > Term::default();
        let left_over = std::mem::take(&mut durable.left_over);
        let mut leaving = Table::new();
        for segment in left_over.iter().filter(|id| !durable.served.contains(id)) {
            leaving.insert(*segment, Leaving::LeftOver);
        }
        Self {
            durable,
            number: 0,
            version: 0,
            recalled,
            loading: Table::new(),
            leaving,
            outstanding: Table::new(),
        }
    }

    /// What has to be on disk before an effect of the step that made this state is carried out.
    #[must_use]
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    /// Whether it announces a segment.
    #[must_use]
    pub fn announces(&self, segment: SegmentId) -> bool {
        self.durable.served.contains(&segment)
    }

    /// All that it announces, ascending.
    pub fn announced(&self) -> impl Iterator<Item = SegmentId> {
        self.durable.served.iter().copied()
    }

    /// Whether it is fetching a segment.
    #[must_use]
    pub fn is_loading(&self, segment: SegmentId) -> bool {
        self.loading.contains_key(&segment)
    }

    /// Whether it is deleting the files of a segment.
    #[must_use]
    pub fn is_deleting(&self, segment: SegmentId) -> bool {
        self.leaving.get(&segment) == Some(&Leaving::Deleting)
    }

    /// Whether files of a segment are there that are to be deleted and are not being deleted yet.
    #[must_use]
    pub fn has_left_over(&self, segment: SegmentId) -> bool {
        self.leaving.get(&segment) == Some(&Leaving::LeftOver)
    }

    /// When its present state began.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp { incarnation: self.durable.incarnation, version: self.version }
    }

    /// Up to where requests are cut off.
    #[must_use]
    pub fn fence(&self) -> Fence {
        Fence { term: self.durable.term, number: self.number }
    }
}
