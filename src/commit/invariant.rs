//! What must hold of a table, over plain facts: for models, fuzzing, a running service, an audit (dossier 12).

use super::controller;
use super::controller::is_duplicate;
use super::object::{
    Crc, IdealState, Location, ObjectId, PartitionId, Range, Record, ReplicaState, Rows, SegmentId,
    Status,
};
use super::server;
use super::server::ParallelSegmentConsumptionPolicy;
use super::server::state::{Replica, Work};

/// The names of the properties, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// I1.
    OneHead,
    /// I2.
    Chain,
    /// I3, of the copy that counts.
    WholeRows,
    /// I3, of what is served.
    OneEnd,
    /// I4.
    EndBeforeOnline,
    /// I5.
    CopyKept,
    /// I6.
    RightObject,
    /// I7.
    OneConsumer,
    /// I9.
    ListedHasRecord,
    /// R7.
    NoLostUpdate,
    /// R9.
    TrueLoss,
    /// C15.
    FilledInOrder,
    /// R3.
    OwnFailure,
    /// C6.
    PermitsOfBuilds,
    /// I10, I11: nothing is gone for ever.
    Served,
    /// I10, I11: all can come to rest.
    Recoverable,
    /// I10, I11: all that is fair comes to rest.
    NoEndlessRound,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::OneHead,
        Self::Chain,
        Self::WholeRows,
        Self::OneEnd,
        Self::EndBeforeOnline,
        Self::CopyKept,
        Self::RightObject,
        Self::OneConsumer,
        Self::ListedHasRecord,
        Self::NoLostUpdate,
        Self::TrueLoss,
        Self::FilledInOrder,
        Self::OwnFailure,
        Self::PermitsOfBuilds,
        Self::Served,
        Self::Recoverable,
        Self::NoEndlessRound,
    ];

    /// Whether a single state tells that it is broken.
    #[must_use]
    pub fn is_safety(self) -> bool {
        !matches!(self, Self::Served | Self::Recoverable | Self::NoEndlessRound)
    }

    /// Kebab-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OneHead => "one-head",
            Self::Chain => "chain",
            Self::WholeRows => "whole-rows",
            Self::OneEnd => "one-end",
            Self::EndBeforeOnline => "end-before-online",
            Self::CopyKept => "copy-kept",
            Self::RightObject => "right-object",
            Self::OneConsumer => "one-consumer",
            Self::ListedHasRecord => "listed-has-record",
            Self::NoLostUpdate => "no-lost-update",
            Self::TrueLoss => "true-loss",
            Self::FilledInOrder => "filled-in-order",
            Self::OwnFailure => "own-failure",
            Self::PermitsOfBuilds => "permits-of-builds",
            Self::Served => "served",
            Self::Recoverable => "recoverable",
            Self::NoEndlessRound => "no-endless-round",
        }
    }

    /// What it says.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::OneHead => {
                "I1: at most one segment of a partition and sequence is listed in the ideal state."
            }
            Self::Chain => {
                "I2: a segment starts where the one before it ends: no row is passed over, none belongs to two."
            }
            Self::WholeRows => {
                "I3: the copy that counts has each row of its range, once; but for those recorded as lost."
            }
            Self::OneEnd => {
                "I3: whoever is online with a segment serves exactly its range; but for rows recorded as lost."
            }
            Self::EndBeforeOnline => {
                "I4: a segment is to be online only once its end is in its metadata; in blocking mode, once it is done."
            }
            Self::CopyKept => {
                "I5: nobody lets a whole copy of a committed range go of its own accord while there is no other."
            }
            Self::RightObject => {
                "I6: the object of a completed segment is there and has its checksum."
            }
            Self::OneConsumer => {
                "I7: where the replicas of a partition on a server take turns, one of them consumes at a time."
            }
            Self::ListedHasRecord => "I9: every listed segment has metadata.",
            Self::NoLostUpdate => {
                "R7: metadata of a completed segment is not replaced by something made from what was there before."
            }
            Self::TrueLoss => {
                "R9: rows are recorded as lost only if no more of the range could be put together of what the stream still has and what one server has."
            }
            Self::FilledInOrder => {
                "C15: a segment of an ordered table is not filled from the stream after a later one has begun, unless the operator says so."
            }
            Self::OwnFailure => {
                "R3: a commit that fails in step 3 fails for its own sake, not for another's that is written with it."
            }
            Self::PermitsOfBuilds => {
                "C6: on every server as many build permits are taken as builds run."
            }
            Self::Served => {
                "I10, I11: from every reachable state, without another fault, a state can be reached in which every committed row is served by somebody or recorded as lost."
            }
            Self::Recoverable => {
                "I10, I11: from every reachable state, without another fault, a state can be reached in which everything is done, stored and served by all, and the next segment is consumed."
            }
            Self::NoEndlessRound => {
                "I10, I11: no run without another fault, in which everybody who could go on all the time does so in the end, goes on for ever without coming to such a state."
            }
        }
    }
}

/// I1: a segment that is listed beside another of the same place in the chain.
#[must_use]
pub fn second_head(ideal: &IdealState) -> Option<SegmentId> {
    let mut last: Option<SegmentId> = None;
    for (id, _) in ideal.segments.iter() {
        let same =
            |other: SegmentId| (other.partition, other.sequence) == (id.partition, id.sequence);
        if last.is_some_and(same) {
            return Some(*id);
        }
        last = Some(*id);
    }
    None
}

/// I9: a segment that is listed and has no record.
#[must_use]
pub fn without_record(
    ideal: &IdealState,
    has_record: impl Fn(SegmentId) -> bool,
) -> Option<SegmentId> {
    ideal.segments.iter().map(|(id, _)| *id).find(|id| !has_record(*id))
}

/// I4: a segment that is to be online, of which metadata does not say the end; or, if `once_done` (blocking commits), not
/// that it is completed. One without a record is not judged.
#[must_use]
pub fn online_too_soon<'a>(
    ideal: &IdealState,
    record: impl Fn(SegmentId) -> Option<&'a Record>,
    once_done: bool,
) -> Option<SegmentId> {
    let is_due = |record: &Record| match once_done {
        true => record.status.is_completed(),
        false => record.range().is_some(),
    };
    let is_early = |id: &SegmentId| record(*id).is_some_and(|record| !is_due(record));
    let mut online = ideal.segments.iter().map(|(id, _)| *id);
    online.find(|id| ideal.has(*id, ReplicaState::Online) && is_early(id))
}

/// I7: a segment that a server has in hand, beside another one of the partition of which this is to be over first: its
/// rows are read; or it is built, or a copy is brought in place of its rows, where the policy does not allow the next one
/// to be consumed meanwhile. Whoever has stopped, and asks what to do with what it has, takes in no more.
#[must_use]
pub fn second_consumer(
    server: &server::State,
    policy: ParallelSegmentConsumptionPolicy,
) -> Option<SegmentId> {
    let consumes = |replica: &Replica| match replica.work {
        Work::Consuming(_) | Work::Catching(_) => true,
        Work::Building { .. } => !policy.is_allowed_during_build(),
        Work::Looking(_) | Work::Fetching(_) => {
            replica.memory.is_some() && !policy.is_allowed_during_download()
        }
        _ => false,
    };
    let mut last: Option<PartitionId> = None;
    for (id, _) in server.replicas().filter(|(_, replica)| consumes(replica)) {
        if last == Some(id.partition) {
            return Some(id);
        }
        last = Some(id.partition);
    }
    None
}

/// I2: a listed segment that does not start where the one before it in the chain ends, nor at the end of a gap that is
/// recorded. One whose predecessor was
/// deleted is not judged.
#[must_use]
pub fn broken_link<'a>(
    ideal: &IdealState,
    record: impl Fn(SegmentId) -> Option<&'a Record>,
) -> Option<SegmentId> {
    let mut before: Option<(SegmentId, u64)> = None;
    for (id, _) in ideal.segments.iter() {
        let Some(record) = record(*id) else { continue };
        let linked = before.is_none_or(|(previous, end)| {
            let follows = previous.sequence.checked_add(1) == Some(id.sequence);
            previous.partition != id.partition || !follows || record.follows(end)
        });
        if !linked {
            return Some(*id);
        }
        before = record.end.map(|end| (*id, end));
    }
    None
}

/// I2: a segment that is listed now, was not listed before, and starts before an offset up to which the partition had
/// been committed by then.
#[must_use]
pub fn begins_again<'a>(
    before: &IdealState,
    after: &IdealState,
    record: impl Fn(SegmentId) -> Option<&'a Record>,
    committed: impl Fn(PartitionId) -> u64,
) -> Option<SegmentId> {
    let fresh = after.segments.iter().map(|(id, _)| *id);
    let mut fresh = fresh.filter(|id| !before.segments.contains_key(id));
    fresh.find(|id| record(*id).is_some_and(|record| record.start < committed(id.partition)))
}

/// C15: whether a copy that was read from the stream again has become the segment's, though a later segment has begun.
#[must_use]
pub fn is_filled_late(
    segment: SegmentId,
    old: &Record,
    new: &Record,
    ideal: &IdealState,
    was_read_again: impl Fn(Crc) -> bool,
) -> bool {
    let filled = old.status == Status::Committing && new.status.is_completed();
    let later = |(id, _): (SegmentId, _)| id.sequence > segment.sequence;
    filled && new.crc.is_some_and(was_read_again) && ideal.of(segment.partition).any(later)
}

/// R3: a commit that was in step 3 of this controller, is there no more and is not written, though the ideal state as
/// it is now would take it, and its record is young. If an operation on the ideal state has failed, that is a reason of
/// its own: this is not to be asked then.
#[must_use]
pub fn failed_for_another(
    before: &controller::State,
    after: &controller::State,
    ideal: &IdealState,
    is_young: impl Fn(SegmentId) -> bool,
) -> Option<SegmentId> {
    if before.incarnation() != after.incarnation() {
        return None;
    }
    let left = |id: SegmentId| after.in_step_3().all(|(other, _)| other != id);
    let is_taken = |(id, next): &(SegmentId, Option<SegmentId>)| {
        let fits = next.is_none_or(|next| !is_duplicate(ideal, next));
        left(*id) && ideal.has(*id, ReplicaState::Consuming) && is_young(*id) && fits
    };
    before.in_step_3().find(is_taken).map(|(id, _)| id)
}

/// C6: whether a server has as many build permits taken as builds run.
#[must_use]
pub fn has_permits_of_builds(server: &server::State) -> bool {
    server.permits() == server.builds()
}

/// I6: whether the object that a completed record names is there and has its checksum. A record that names none is
/// not judged.
#[must_use]
pub fn has_right_object(record: &Record, object: impl Fn(ObjectId) -> Option<Crc>) -> bool {
    match (record.location, record.crc) {
        (Some(Location::Object(at)), Some(crc)) => object(at) == Some(crc),
        _ => true,
    }
}

/// The offsets of a range that are not recorded as lost.
pub fn expected_rows(range: Range, lost: &[Range]) -> impl Iterator<Item = u64> + '_ {
    let is_lost = |offset: &u64| lost.iter().any(|l| l.start <= *offset && *offset < l.end);
    (range.start..range.end).filter(move |offset| !is_lost(offset))
}

/// R7: whether a write takes back what a completed record said. It may only get an object that it had not, or be
/// replaced by an upload from outside.
#[must_use]
pub fn is_overwritten(old: &Record, new: &Record) -> bool {
    match (old.status, new.status) {
        (Status::Done, Status::Done) => old.crc != new.crc && old.location != Some(Location::Peers),
        (Status::Done, Status::Uploaded) | (Status::Uploaded, Status::Uploaded) => false,
        (Status::Done | Status::Uploaded, _) => true,
        (Status::InProgress | Status::Committing, _) => false,
    }
}

/// Where a server keeps its rows, for what is asked of copies: what it knows while it runs, what is on its disk
/// while it does not.
#[derive(Clone, Copy, Debug)]
pub enum Keeper<'a> {
    /// It runs.
    Running(&'a server::State),
    /// It is down, and will start from this.
    Down(&'a server::Durable),
}

impl<'a> Keeper<'a> {
    /// Whether it has a whole copy of a record's range, in memory or on disk, but for rows recorded as lost. One
    /// that is not whole is no copy.
    #[must_use]
    pub fn holds(self, segment: SegmentId, record: &Record) -> bool {
        let Some(range) = record.range() else { return false };
        self.rows(segment, range).any(|rows| rows.covers(range, &record.lost))
    }

    /// The rows in memory, and those of a copy of this range on disk.
    fn rows(self, segment: SegmentId, range: Range) -> impl Iterator<Item = &'a Rows> {
        let (durable, memory) = match self {
            Self::Running(state) => {
                let replica = state.replica(segment);
                (state.durable(), replica.and_then(|replica| replica.memory.as_ref()))
            }
            Self::Down(durable) => (durable, None),
        };
        let disk = durable.disk.get(&segment).map(|local| &local.copy.rows);
        memory.into_iter().chain(disk.filter(|rows| rows.range == range))
    }
}

/// I5: the place among the keepers before of whoever had a whole copy of a committed range, if after nobody has one
/// and none is stored.
#[must_use]
pub fn dropper<'a>(
    segment: SegmentId,
    record: &Record,
    has_object: impl Fn(ObjectId) -> bool,
    before: impl IntoIterator<Item = Option<Keeper<'a>>>,
    after: impl IntoIterator<Item = Option<Keeper<'a>>>,
) -> Option<usize> {
    let is_stored = match record.location {
        Some(Location::Object(object)) => has_object(object),
        Some(Location::Peers) | None => false,
    };
    let holds = |keeper: Option<Keeper<'a>>| keeper.is_some_and(|it| it.holds(segment, record));
    if is_stored || after.into_iter().any(holds) {
        return None;
    }
    before.into_iter().position(holds)
}

/// R9: whether a loss is recorded that is none: more could be put together of what the stream still has, or of that
/// and what one server has. (What two servers have is not put together: of two choices neither of which has all that
/// the other has, either may be made.) `first` is the first offset that the stream has.
#[must_use]
pub fn is_false_loss<'a>(
    segment: SegmentId,
    old: Option<&Record>,
    new: &Record,
    first: u64,
    keepers: impl IntoIterator<Item = Option<Keeper<'a>>>,
) -> bool {
    let known = old.map_or(&[][..], |old| &old.lost);
    let Some(range) = new.range().filter(|_| new.lost.iter().any(|lost| !known.contains(lost)))
    else {
        return false;
    };
    let kept = Rows { range, missing: new.lost.clone() };
    let gaps = kept.gaps(range);
    let improves = |rows: &Rows| rows.improves(range, &gaps, first);
    improves(&Rows::from(range.start))
        || keepers.into_iter().flatten().any(|it| it.rows(segment, range).any(improves))
}
