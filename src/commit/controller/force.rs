//! Forced commits: which segments an operator's order is for, whom it goes to, and what is still to be waited for
//! (dossier 11).
//!
//! The order itself is a message to servers, which take it as [`Reason::ForceCommitMessageReceived`]; how
//! long a batch is waited for is for whoever sends it.
//!
//! [`Reason::ForceCommitMessageReceived`]: super::super::completion::Reason::ForceCommitMessageReceived

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use super::super::object::{IdealState, ReplicaState, Replicas, SegmentId, ServerId, Status};

/// The segments that have a replica which is to consume, in order; of these only the ones named, if any are. A name of
/// any other segment is passed over.
#[must_use]
pub fn consuming(ideal: &IdealState, named: Option<&BTreeSet<SegmentId>>) -> Vec<SegmentId> {
    let is_named = |id: &SegmentId| named.is_none_or(|named| named.contains(id));
    let all = ideal.segments.iter().map(|(id, _)| *id).filter(is_named);
    all.filter(|id| ideal.has(*id, ReplicaState::Consuming)).collect()
}

/// Which of these segments each server is to commit: those that it is to consume.
#[must_use]
pub fn by_server(
    ideal: &IdealState,
    segments: &[SegmentId],
) -> BTreeMap<ServerId, BTreeSet<SegmentId>> {
    let mut orders: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for id in segments {
        let replicas = ideal.segments.get(id).into_iter().flat_map(Replicas::iter);
        for (server, _) in replicas.filter(|(_, is)| **is == ReplicaState::Consuming) {
            orders.entry(*server).or_default().insert(*id);
        }
    }
    orders
}

/// The segments in batches, in order; all at once where no size is given. One batch is sent when nothing of the one
/// before it is [`pending`].
#[must_use]
pub fn batches(segments: &[SegmentId], size: Option<NonZeroUsize>) -> Vec<Vec<SegmentId>> {
    let size = size.map_or(segments.len().max(1), NonZeroUsize::get);
    segments.chunks(size).map(<[SegmentId]>::to_vec).collect()
}

/// Whether a forced commit of this segment is still to be waited for. Only DONE is done: a committing segment is not
/// (#14828), nor, upstream as here, one that was replaced by an upload. One that has no record is not waited for.
#[must_use]
pub fn pending(status: Option<Status>) -> bool {
    status.is_some_and(|status| status != Status::Done)
}
