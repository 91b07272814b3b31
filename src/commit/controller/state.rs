//! What a controller remembers. Nothing of it survives a crash: all that counts is in the stores.

use super::super::completion;
use super::super::effect::Change;
use super::super::event::{Found, Input, Task};
use super::super::message::Caller;
use super::super::object::{
    ControllerId, IdealState, Location, ObjectId, Offset, Range, Record, Sealed, SegmentId,
    ServerId, TableConfig, Version, View,
};
use crate::collections::{Map, Table};

/// What survives a crash of a controller: its name, and a count of its lives that whoever starts it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Durable {
    /// Its name.
    pub controller: ControllerId,
    /// Its life, larger than all before.
    pub incarnation: u32,
    /// How the table is configured, as the store says when the process starts.
    pub table: TableConfig,
}

/// The state of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(crate) durable: Durable,
    pub(crate) leads: bool,
    pub(crate) stops: bool,
    /// The longest commit seen in the table, ms (dossier 6.1).
    pub(crate) longest_ms: u64,
    pub(crate) machines: Map<SegmentId, completion::State>,
    pub(crate) errands: Map<SegmentId, Errand>,
    /// What step 3 has read, while how old the records are is read as well; upstream alone.
    pub(crate) batch: Option<Batch>,
    pub(crate) refills: Table<(SegmentId, ServerId), Refill>,
    pub(crate) chores: Table<Task, Chore>,
    pub(crate) outstanding: Map<u16, Owed>,
}

impl State {
    pub(crate) fn started(durable: Durable) -> Self {
        Self {
            durable,
            leads: false,
            stops: false,
            longest_ms: 0,
            machines: Map::new(),
            errands: Map::new(),
            batch: None,
            refills: Table::new(),
            chores: Table::new(),
            outstanding: Map::new(),
        }
    }

    /// Whether it leads the table, as far as it knows.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Whether it is being stopped, and begins nothing.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.stops
    }

    /// How the table is configured, as far as it knows.
    #[must_use]
    pub fn table(&self) -> TableConfig {
        self.durable.table
    }

    /// Which life of the process this is.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.durable.incarnation
    }

    /// The completion machine of a segment, if there is one.
    #[must_use]
    pub fn machine(&self, segment: SegmentId) -> Option<&completion::State> {
        self.machines.get(&segment)
    }

    /// Whether a periodic task is under way.
    #[must_use]
    pub fn runs(&self, task: Task) -> bool {
        self.chores.contains_key(&task)
    }

    /// How far a periodic task is, if it is under way.
    #[must_use]
    pub fn chore(&self, task: Task) -> Option<&Chore> {
        self.chores.get(&task)
    }

    /// What it does for messages, and for whom.
    pub fn errands(&self) -> impl Iterator<Item = (SegmentId, &Errand)> {
        self.errands.iter().map(|(id, errand)| (*id, errand))
    }

    /// What it does for a message of this segment.
    #[must_use]
    pub fn errand(&self, segment: SegmentId) -> Option<&Errand> {
        self.errands.get(&segment)
    }

    /// Commits that have come to step 3, and the next segment of each, if there is to be one.
    pub fn in_step_3(&self) -> impl Iterator<Item = (SegmentId, Option<SegmentId>)> {
        self.errands().filter_map(|(id, errand)| Some((id, errand.stage.in_step_3()?)))
    }

    /// Which reingested segments it completes, and for whom.
    pub fn refills(&self) -> impl Iterator<Item = (SegmentId, ServerId)> {
        self.refills.iter().map(|(key, _)| *key)
    }

    /// Which segment an upload retry works on.
    #[must_use]
    pub fn retries(&self) -> Option<SegmentId> {
        self.chores.values().find_map(|chore| match chore {
            Chore::Retry(Retry::View(stale) | Retry::Uploading(stale)) => Some(stale.segment),
            Chore::Retry(Retry::Promoting(write) | Retry::Writing(write)) => Some(write.segment),
            Chore::Retry(Retry::Records(_))
            | Chore::Validate(_)
            | Chore::Repair(_)
            | Chore::Retain(_) => None,
        })
    }

    /// Whether an outstanding effect belongs to a periodic task.
    #[must_use]
    pub fn is_periodic(&self, number: u16) -> bool {
        matches!(self.outstanding.get(&number), Some(Owed::Chore(_)))
    }

    /// What an outstanding effect is for.
    #[must_use]
    pub fn owes(&self, number: u16) -> Option<Owed> {
        self.outstanding.get(&number).copied()
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Versions of the ideal state, and of records, that it holds for a later write.
    pub fn versions_held(&self) -> impl Iterator<Item = (Option<SegmentId>, Version)> {
        let of_refills = self.refills.iter().filter_map(|((id, _), refill)| match &refill.stage {
            RefillStage::Listing(found)
            | RefillStage::Asking(found, _)
            | RefillStage::Promoting(found) => Some((Some(*id), found.version)),
            RefillStage::Reading | RefillStage::Writing | RefillStage::Viewing => None,
        });
        let of_chores = self.chores.values().filter_map(|chore| match chore {
            Chore::Validate(Validate::Records(_, _, _, version))
            | Chore::Validate(Validate::Ending(version, ..) | Validate::Creating(version, _))
            | Chore::Retain(Retain::Records(_, _, version)) => Some((None, *version)),
            Chore::Retry(Retry::View(stale) | Retry::Uploading(stale)) => {
                Some((Some(stale.segment), stale.found.version))
            }
            Chore::Retry(Retry::Promoting(write)) => Some((Some(write.segment), write.version)),
            Chore::Retry(Retry::Records(_) | Retry::Writing(_))
            | Chore::Validate(Validate::Stream(_) | Validate::Ideal(..) | Validate::Writing)
            | Chore::Retain(Retain::Ideal(_) | Retain::Delisting(_) | Retain::Deleting(_))
            | Chore::Repair(_) => None,
        });
        let of_batch = self.batch.iter().map(|batch| (None, batch.version));
        of_refills.chain(of_chores).chain(of_batch)
    }
}

/// What a controller does for a message before it can answer it: what the completion machine has asked for. One
/// for a segment at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Errand {
    /// Who waits.
    pub caller: Caller<ServerId>,
    /// The minute that the next segment is named after.
    pub minute: u32,
    /// What the message brought.
    pub cargo: Option<Cargo>,
    /// Where the next segment begins, if that is not where this one ends.
    pub start: Option<Offset>,
    /// How far it is.
    pub stage: Stage,
}

/// A copy that is to count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Cargo {
    /// The copy.
    pub copy: Sealed,
    /// Where it is.
    pub stored: Location,
}

/// How far an errand is: which operation is outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Stage {
    /// It reads the record of which a machine is made.
    Making,
    /// It moves the attempt's object onto the segment's own.
    Promoting,
    /// It reads the record that is to be written.
    Reading,
    /// Step 1: it fixes the segment's end.
    Closing,
    /// It makes a committing segment done.
    Storing,
    /// Step 2: it asks whether the stream has more of the partition.
    Streaming,
    /// Step 2, where consumption may be reset: it asks how far behind the end is.
    Measuring,
    /// Step 2, upstream alone: it reads whether consumption is paused.
    Pausing,
    /// Step 2: it looks for a record of the next segment that is there already.
    Finding,
    /// Step 2: it creates the next segment's record.
    Creating(SegmentId),
    /// Step 3, upstream alone: with the others of its batch it waits to be judged by how old its segment's record is.
    Ageing(Option<SegmentId>),
    /// Step 3: it waits for the ideal state to be read, which may be for a batch after the one at work.
    Listing(Option<SegmentId>),
    /// Step 3: with the others of its batch it writes the ideal state.
    Switching {
        /// The next segment, if there is to be one.
        next: Option<SegmentId>,
        /// Whether it is among what is written: not while consumption is paused.
        begins: bool,
    },
    /// Upstream alone: it deletes the next segment's record.
    CleaningUp {
        /// Whether the commit went through without a next segment.
        done: bool,
    },
    /// It reads the ideal state to take a replica out.
    LookingUp,
    /// It takes a replica out.
    TakingOut,
    /// It reads the record whose row limit is to be halved.
    Weighing,
    /// It halves the row limit.
    Halving,
    /// It reads which replicas are to be reset.
    Restarting,
}

impl Stage {
    /// The next segment of a commit that has come to step 3, if there is to be one.
    pub(crate) fn in_step_3(self) -> Option<Option<SegmentId>> {
        match self {
            Self::Ageing(next) | Self::Listing(next) | Self::Switching { next, .. } => Some(next),
            Self::Making
            | Self::Promoting
            | Self::Reading
            | Self::Closing
            | Self::Storing
            | Self::Streaming
            | Self::Measuring
            | Self::Pausing
            | Self::Finding
            | Self::Creating(_)
            | Self::CleaningUp { .. }
            | Self::LookingUp
            | Self::TakingOut
            | Self::Weighing
            | Self::Halving
            | Self::Restarting => None,
        }
    }
}

/// What step 3 has read for a batch, and what of it is to be written so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Batch {
    /// The ideal state.
    pub ideal: IdealState,
    /// Its version.
    pub version: Version,
    /// What those who are judged change in it.
    pub changes: Vec<Change>,
}

/// The completion of a segment that was read from the stream again (dossier 10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Refill {
    /// Who waits.
    pub caller: Caller<ServerId>,
    /// The copy.
    pub copy: Sealed,
    /// Where it is.
    pub stored: ObjectId,
    /// How far it is.
    pub stage: RefillStage,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum RefillStage {
    /// It reads the record.
    Reading,
    /// It reads which servers are listed that might have what is missing.
    Listing(Found),
    /// It asks these, the last one next.
    Asking(Found, Vec<ServerId>),
    /// It moves the object.
    Promoting(Found),
    /// It writes the record.
    Writing,
    /// It reads which replicas are to be reset.
    Viewing,
}

/// A periodic task under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Chore {
    /// See [`Task::Validate`].
    Validate(Validate),
    /// See [`Task::Repair`].
    Repair(Repair),
    /// See [`Task::Retry`].
    Retry(Retry),
    /// See [`Task::Retain`].
    Retain(Retain),
}

/// What the stream said of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Begins {
    /// It begins here.
    At(Offset),
    /// There is none, or none any more.
    Nowhere,
    /// Where does not matter, as something of it is listed; or it did not answer, and then what metadata knows of goes on
    /// (dossier 6.5).
    Somewhere,
}

/// How far the validator is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Validate {
    /// It asks where the stream begins, and whether it has the partition at all.
    Stream(Input),
    /// It reads the ideal state.
    Ideal(Input, Begins),
    /// It reads the records.
    Records(Input, Begins, IdealState, Version),
    /// It ends a segment that all replicas gave up; then it creates the next record, if there is none yet.
    Ending(Version, Option<(SegmentId, Record)>, Vec<Change>),
    /// It creates a record.
    Creating(Version, Vec<Change>),
    /// It writes the ideal state.
    Writing,
}

/// How far the repair is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Repair {
    /// It reads the ideal state.
    Ideal(u32),
    /// It reads the view.
    View(u32, IdealState),
    /// It reads the records.
    Records(u32, IdealState, View),
    /// It does one thing after the other, the last one next.
    Acting(Vec<Act>),
}

/// One thing that a repair does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Act {
    /// Ask whether a replica in error has all rows. If so it is reset, and the rest of what concerns this segment
    /// is left out.
    Ask(SegmentId, ServerId, Range),
    /// Have a segment read again.
    Reingest(SegmentId, ServerId),
    /// Reset a replica.
    Reset(SegmentId, ServerId),
}

impl Act {
    /// The segment.
    #[must_use]
    pub fn segment(self) -> SegmentId {
        match self {
            Self::Ask(segment, ..) | Self::Reingest(segment, _) | Self::Reset(segment, _) => {
                segment
            }
        }
    }
}

/// How far retention is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Retain {
    /// It reads the ideal state.
    Ideal(u32),
    /// It reads the records.
    Records(u32, IdealState, Version),
    /// It takes these segments out of the ideal state.
    Delisting(Vec<SegmentId>),
    /// It deletes the records of these, the last one next.
    Deleting(Vec<SegmentId>),
}

/// How far the upload retry is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Retry {
    /// It reads the records.
    Records(Input),
    /// It looks for a server that serves the segment.
    View(Stale),
    /// Such a server stores its copy.
    Uploading(Stale),
    /// It moves the object.
    Promoting(Write),
    /// It writes the record.
    Writing(Write),
}

/// A record as the retry has read it, some time ago.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Stale {
    /// Of which segment.
    pub segment: SegmentId,
    /// The record.
    pub found: Found,
    /// Where to begin among servers that serve it; 0 once one of them is asked.
    pub pick: u32,
}

/// A record that is to be written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Write {
    /// Of which segment.
    pub segment: SegmentId,
    /// What.
    pub record: Record,
    /// What it was made from.
    pub version: Version,
}

/// What an outstanding effect is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Owed {
    /// An errand.
    Errand(SegmentId),
    /// Step 3 of all errands that have come to it.
    Batch,
    /// The completion of a reingested segment.
    Refill(SegmentId, ServerId),
    /// A periodic task.
    Chore(Task),
}
