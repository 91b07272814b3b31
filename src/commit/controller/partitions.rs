//! Which partitions a table has.

use super::super::object::{PartitionId, SegmentId};

/// The partitions that the periodic tasks are begun for, ascending: what the stream says that it has, and what segments
/// are known of.
///
/// A stream that does not answer says nothing: then what is known goes on (dossier 6.5). A partition that has come to its
/// end is known for as long as it has a segment, as its last one has still to be completed (dossier 9.1, rule 1).
#[must_use]
pub fn partitions(
    stream: impl IntoIterator<Item = PartitionId>,
    known: impl IntoIterator<Item = SegmentId>,
) -> Vec<PartitionId> {
    let known = known.into_iter().map(|segment| segment.partition);
    let mut all: Vec<_> = stream.into_iter().chain(known).collect();
    all.sort_unstable();
    all.dedup();
    all
}
