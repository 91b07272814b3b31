//! Names of things, what metadata says of a segment, and what a copy of it holds.

use super::completion::Mode;
use crate::collections::{Map, Table};

/// A partition of the table's stream, by the table's own numbering (dossier 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PartitionId(pub u16);

/// A segment of one table, by what its name says besides the table. It is another segment if it was created in
/// another minute (dossier 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SegmentId {
    /// The partition.
    pub partition: PartitionId,
    /// Its place in the chain, from 0.
    pub sequence: u32,
    /// When it was created, in minutes since the epoch.
    pub minute: u32,
}

/// An offset of a stream, as its place in the stream's own order. The end of a range is exclusive.
pub type Offset = u64;

/// A server: one replica of a segment lives on it. Its name stays the same when it starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ServerId(pub u16);

/// A controller process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ControllerId(pub u16);

/// The checksum of a built segment. Two builds of the same rows may differ in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Crc(pub u32);

/// How often a record was written, as its store counts; for compare-and-set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Version(pub u32);

/// Offsets from `start` up to `end`, which is not one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Range {
    /// The first.
    pub start: Offset,
    /// The one after the last.
    pub end: Offset,
}

/// What a copy holds: the rows of a range, some of which may be missing because the stream had them no more.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Rows {
    /// From where to where it was read.
    pub range: Range,
    /// What the stream did not give, ascending.
    pub missing: Vec<Range>,
}

impl Rows {
    /// Nothing yet, from here on.
    #[must_use]
    pub fn from(start: Offset) -> Self {
        Self { range: Range { start, end: start }, missing: Vec::new() }
    }

    /// Notes that the row at this offset was read. Whatever lies between it and the end so far was not there; a row
    /// before that end is nothing new.
    pub fn read(&mut self, offset: Offset) {
        self.skip_to(offset);
        self.range.end = self.range.end.max(offset.saturating_add(1));
    }

    /// Notes that nothing was there up to this offset.
    pub fn skip_to(&mut self, offset: Offset) {
        if offset > self.range.end {
            self.missing.push(Range { start: self.range.end, end: offset });
            self.range.end = offset;
        }
    }

    /// What is left of it when it is cut at an offset.
    #[must_use]
    pub fn cut(&self, end: Offset) -> Self {
        let end = end.min(self.range.end);
        let kept = self.missing.iter().filter(|range| range.start < end);
        let missing = kept.map(|range| Range { end: range.end.min(end), ..*range }).collect();
        Self { range: Range { end, ..self.range }, missing }
    }

    /// What of a range is not here, ascending, no two of which touch.
    #[must_use]
    pub fn gaps(&self, range: Range) -> Vec<Range> {
        let before = Range { start: range.start, end: self.range.start };
        let behind = Range { start: self.range.end, end: range.end };
        let all = std::iter::once(before).chain(self.missing.iter().copied());
        let mut gaps: Vec<Range> = Vec::new();
        for gap in all.chain(std::iter::once(behind)) {
            let gap = Range { start: gap.start.max(range.start), end: gap.end.min(range.end) };
            match gaps.last_mut() {
                _ if gap.start >= gap.end => {}
                Some(last) if last.end >= gap.start => last.end = last.end.max(gap.end),
                Some(_) | None => gaps.push(gap),
            }
        }
        gaps
    }

    /// Whether more of a range could be put together of these rows, and of what a stream has from an offset on, than
    /// lies outside of these gaps: everything that is there, and some row besides.
    #[must_use]
    pub fn improves(&self, range: Range, gaps: &[Range], first: Offset) -> bool {
        let stream = Range { end: range.end.min(first), ..range };
        let own = self.gaps(stream);
        let inside = |gap: &Range| gaps.iter().any(|g| g.start <= gap.start && gap.end <= g.end);
        own.iter().all(inside) && own != gaps
    }

    /// Whether it holds the whole of a range, which may be a part of its own; losses that are recorded count as
    /// held.
    #[must_use]
    pub fn covers(&self, range: Range, lost: &[Range]) -> bool {
        let known = |gap: &&Range| lost.iter().any(|l| l.start <= gap.start && gap.end <= l.end);
        let inside = |gap: &&Range| gap.start < range.end && gap.end > range.start;
        self.range.start <= range.start
            && self.range.end >= range.end
            && self.missing.iter().filter(inside).all(|gap| known(&gap))
    }
}

/// A built copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Sealed {
    /// Its checksum.
    pub crc: Crc,
    /// What it holds.
    pub rows: Rows,
}

/// An object in the deep store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ObjectId {
    /// Of which segment.
    pub segment: SegmentId,
    /// The attempt that wrote it. `None` is the segment's own object, which upstream moves every attempt's onto
    /// (dossier 6.4).
    pub attempt: Option<u64>,
}

/// Where a completed segment is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Location {
    /// Only from servers that have it (an empty URL upstream).
    Peers,
    /// From the deep store.
    Object(ObjectId),
}

/// How far a segment is (dossier 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "SCREAMING_SNAKE_CASE"))]
pub enum Status {
    /// Being consumed.
    InProgress,
    /// Its end is fixed, its copy is not stored yet.
    Committing,
    /// Stored.
    Done,
    /// Stored, and replaced by an upload from outside.
    Uploaded,
}

impl Status {
    /// Whether it is stored. Committing is not (dossier 3).
    #[must_use]
    pub fn is_completed(self) -> bool {
        matches!(self, Self::Done | Self::Uploaded)
    }
}

/// What metadata says of a segment (dossier 3; what no transition looks at is left to the driver).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Record {
    /// How far it is.
    pub status: Status,
    /// Its first offset.
    pub start: Offset,
    /// Its end, once fixed.
    pub end: Option<Offset>,
    /// The checksum of the copy that counts, once completed.
    pub crc: Option<Crc>,
    /// Where that copy is, once completed.
    pub location: Option<Location>,
    /// Offsets that nobody could read any more: recorded, not passed over in silence.
    pub lost: Vec<Range>,
    /// How many replicas it began with (`segment.realtime.numReplicas`).
    pub replicas: u16,
    /// How many rows it may have (`segment.flush.threshold.size`).
    pub row_limit: u64,
    /// Where the segment before it ends, if this one begins later on purpose ([`AutoReset`]): the offsets from there up
    /// to `start` are of no segment, and that is recorded here.
    pub skips_from: Option<Offset>,
}

impl Record {
    /// A segment that begins to be consumed.
    #[must_use]
    pub fn starting_at(start: Offset, replicas: u16, row_limit: u64) -> Self {
        let (end, crc, location) = (None, None, None);
        let (lost, skips_from) = (Vec::new(), None);
        let status = Status::InProgress;
        Self { status, start, end, crc, location, lost, replicas, row_limit, skips_from }
    }

    /// The same, if the segment before it ends at `end`: a later start is a gap that is recorded.
    #[must_use]
    pub fn after(self, end: Offset) -> Self {
        let skips_from = (self.start > end).then_some(end);
        Self { skips_from, ..self }
    }

    /// Whether it begins where a segment before it ends, but for a gap that is recorded.
    #[must_use]
    pub fn follows(&self, end: Offset) -> bool {
        self.start == end || (self.start > end && self.skips_from == Some(end))
    }

    /// The same, if all its replicas gave it up: it ends where it begins. See [`Self::is_given_up`].
    #[must_use]
    pub fn given_up(&self) -> Self {
        Self { end: Some(self.start), ..self.clone() }
    }

    /// Whether all its replicas gave it up, and the next one begins where it does. Its status stays IN_PROGRESS, as
    /// upstream's does, where nothing says so: only such a record has an end.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.status == Status::InProgress && self.end.is_some()
    }

    /// The segment that follows it, once its end is fixed.
    #[must_use]
    pub fn successor(&self, start: Offset) -> Self {
        Self::starting_at(start, self.replicas, self.row_limit)
    }

    /// With this copy as the one that counts.
    #[must_use]
    pub fn done(&self, end: Offset, crc: Crc, location: Location) -> Self {
        let (end, crc, location) = (Some(end), Some(crc), Some(location));
        Self { status: Status::Done, end, crc, location, ..self.clone() }
    }

    /// Its whole range, once the end is fixed.
    #[must_use]
    pub fn range(&self) -> Option<Range> {
        self.end.map(|end| Range { start: self.start, end })
    }
}

/// What a replica is to be, or is (dossier 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ReplicaState {
    /// Nothing is open; files may be there.
    Offline,
    /// Rows are read from the stream.
    Consuming,
    /// It serves a built copy.
    Online,
    /// A transition failed. Only a view holds it, never the ideal state.
    Error,
    /// It is to vanish, with its files.
    Dropped,
}

/// The replicas of one segment.
pub type Replicas = Table<ServerId, ReplicaState>;

/// The ideal state of a table: which segments there are, and what their replicas are to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct IdealState {
    /// Replicas by segment.
    pub segments: Map<SegmentId, Replicas>,
    /// Whether consumption is paused: commits begin no next segment.
    pub is_paused: bool,
}

impl IdealState {
    /// Segments of a partition, in the order of the chain.
    pub fn of(&self, partition: PartitionId) -> impl Iterator<Item = (SegmentId, &Replicas)> {
        let first = SegmentId { partition, sequence: 0, minute: 0 };
        let all = self.segments.starting_at(first).map(|(id, replicas)| (*id, replicas));
        all.take_while(move |(id, _)| id.partition == partition)
    }

    /// Whether a segment has a replica that is to be in this state.
    #[must_use]
    pub fn has(&self, segment: SegmentId, state: ReplicaState) -> bool {
        let replicas = self.segments.get(&segment);
        replicas.is_some_and(|replicas| replicas.values().any(|is| *is == state))
    }
}

/// What servers say that their replicas are. Servers that are down are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct View {
    /// Replicas by segment.
    pub segments: Map<SegmentId, Replicas>,
}

impl View {
    /// Servers on which a segment is in this state, ascending.
    pub fn servers(
        &self,
        segment: SegmentId,
        state: ReplicaState,
    ) -> impl Iterator<Item = ServerId> {
        let replicas = self.segments.get(&segment).into_iter();
        let all = replicas.flat_map(Replicas::iter);
        all.filter(move |(_, is)| **is == state).map(|(server, _)| *server)
    }
}

/// How a table is run, as its configuration says now (dossier 14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct TableConfig {
    /// How its segments are committed.
    pub mode: Mode,
    /// Whether rows depend on the order in which segments are filled: dedup and partial upsert.
    pub is_ordered: bool,
    /// How many replicas a segment has.
    pub replicas: u16,
    /// How many rows a segment may have.
    pub row_limit: u64,
    /// Whether the operator accepts that an ordered table is refilled out of order (#15987, #16071).
    pub may_refill: bool,
    /// When a commit's next segment begins at the latest offset; never, if there is none
    /// (`realtime.segment.offsetAutoReset.enable`, off by default).
    pub auto_reset: Option<AutoReset>,
}

/// How far consumption may lag before the rows between are passed over, for the sake of those that come now (#14815,
/// #16492). Either is enough; where neither is said nothing is passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct AutoReset {
    /// More offsets than this between the end of a segment and the latest (`offsetThreshold`).
    pub offsets: Option<u64>,
    /// An end before the offset that was the latest so long ago, seconds (`timeThresholdSeconds`).
    pub seconds: Option<u32>,
}

impl AutoReset {
    /// Where the segment after one that ends at `end` begins. An offset that is not known decides nothing.
    #[must_use]
    pub fn start(self, end: Offset, latest: Offset, latest_then: Option<Offset>) -> Offset {
        let behind = self.offsets.is_some_and(|most| latest.saturating_sub(end) > most);
        let old = self.seconds.is_some() && latest_then.is_some_and(|then| then > end);
        if behind || old { latest.max(end) } else { end }
    }
}
