//! What a server remembers, and what of it survives a crash.

use super::super::completion::{Mode, Reason};
use super::super::message::Caller;
use super::super::object::{
    ControllerId, ObjectId, Offset, PartitionId, Range, ReplicaState, Rows, Sealed, SegmentId,
    ServerId,
};
use super::permit::Holder;
use crate::collections::Table;

/// What survives a crash of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Durable {
    /// Its name.
    pub server: ServerId,
    /// Its life, larger than all before.
    pub incarnation: u32,
    /// How the table commits, as the store says when the process starts.
    pub mode: Mode,
    /// Built copies on its disk. A copy is there whole or not at all.
    pub disk: Table<SegmentId, Local>,
}

/// A built copy on the local disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Local {
    /// What it is.
    pub copy: Sealed,
    /// The attempt that an upload of it is named after.
    pub attempt: u64,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct State {
    pub(crate) durable: Durable,
    /// Whether Helix has asked for a transition since it started.
    pub(crate) is_initialised: bool,
    pub(crate) replicas: Table<SegmentId, Replica>,
    pub(crate) jobs: Table<SegmentId, Job>,
    /// Copies that are being stored for a controller.
    pub(crate) uploads: Table<SegmentId, Upload>,
    /// Permits of the build semaphore that are taken.
    pub(crate) permits: usize,
    /// Permits to consume that are taken.
    pub(crate) consumers: Table<PartitionId, Holder>,
    pub(crate) outstanding: Table<u16, Owed>,
}

impl State {
    pub(crate) fn started(durable: Durable) -> Self {
        Self {
            durable,
            is_initialised: false,
            replicas: Table::new(),
            jobs: Table::new(),
            uploads: Table::new(),
            permits: 0,
            consumers: Table::new(),
            outstanding: Table::new(),
        }
    }

    /// What survives a crash now.
    #[must_use]
    pub fn durable(&self) -> &Durable {
        &self.durable
    }

    /// Whether it has started in full: it is known to Helix, which has asked it for a transition. Before that it
    /// cannot tell which segments it shall have, and answers 500 to a request to reingest (origin 2).
    #[must_use]
    pub fn is_initialised(&self) -> bool {
        self.is_initialised
    }

    /// A replica.
    #[must_use]
    pub fn replica(&self, segment: SegmentId) -> Option<&Replica> {
        self.replicas.get(&segment)
    }

    /// All replicas.
    pub fn replicas(&self) -> impl Iterator<Item = (SegmentId, &Replica)> {
        self.replicas.iter().map(|(id, replica)| (*id, replica))
    }

    /// The copy that a replica serves, if it serves one.
    #[must_use]
    pub fn serves(&self, segment: SegmentId) -> Option<&Sealed> {
        let sealed = self.replicas.get(&segment).is_some_and(|r| r.work == Work::Sealed);
        self.durable.disk.get(&segment).filter(|_| sealed).map(|local| &local.copy)
    }

    /// Whether the end of an effect is of interest. What is not may be broken off, and ends as failed.
    #[must_use]
    pub fn awaits(&self, number: u16) -> bool {
        self.outstanding.get(&number).is_some_and(|owed| *owed != Owed::Nothing)
    }

    /// What an outstanding effect is for.
    #[must_use]
    pub fn owes(&self, number: u16) -> Option<Owed> {
        self.outstanding.get(&number).copied()
    }

    /// Whether an outstanding effect belongs to a reingestion.
    #[must_use]
    pub fn is_of_job(&self, number: u16) -> bool {
        matches!(self.outstanding.get(&number), Some(Owed::Job(_)))
    }

    /// Reingestion jobs that run (`GET /reingestSegment/jobs`), ascending.
    pub fn jobs(&self) -> impl Iterator<Item = (SegmentId, &Job)> {
        self.jobs.iter().map(|(id, job)| (*id, job))
    }

    /// How many permits of the build semaphore are taken, by replicas and by reingestion.
    #[must_use]
    pub fn permits(&self) -> usize {
        self.permits
    }

    /// Who has the permit to consume a partition, if it is taken.
    #[must_use]
    pub fn consumer(&self, partition: PartitionId) -> Option<Holder> {
        self.consumers.get(&partition).copied()
    }

    /// How many builds run: each holds a permit.
    #[must_use]
    pub fn builds(&self) -> usize {
        let of_replicas = self.replicas.values().filter(|replica| replica.work.is_building());
        let of_jobs = self.jobs.values().filter(|job| job.stage == JobStage::Building);
        of_replicas.count() + of_jobs.count()
    }
}

/// One replica of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Replica {
    /// What Helix was told last.
    pub shows: ReplicaState,
    /// Rows in memory.
    pub memory: Option<Rows>,
    /// How the table committed when consumption began.
    pub mode: Mode,
    /// How many rows it may have.
    pub row_limit: u64,
    /// What it does.
    pub work: Work,
}

impl Replica {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { shows: ReplicaState::Offline, memory: None, mode, row_limit: 0, work: Work::Idle }
    }
}

/// What a replica does (dossier 5, 8). Everything but the resting states waits for one effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Work {
    /// Nothing: it is offline, or in error.
    Idle,
    /// It reads the record to see what a transition means.
    Opening {
        /// Where it is to go.
        to: ReplicaState,
        /// What it was before.
        was: Stance,
    },
    /// It is to be consuming and waits for the permit to; it reads the record again and again.
    Acquiring,
    /// It reads rows; up to this offset, if it was told one.
    Consuming(Option<Offset>),
    /// HOLDING: it asks the leader what to do. No reason is given after a catch-up.
    Reporting(Option<Reason>),
    /// It tells the leader that it begins to commit.
    Starting(Offset),
    /// Upstream before #17885 alone: it asks again after a start of which it heard nothing, and is still COMMITTING.
    Retrying,
    /// It builds a copy up to this offset, or waits for a permit to.
    Building {
        /// What for.
        purpose: Purpose,
        /// Up to where.
        end: Offset,
        /// Whether it has its permit.
        running: bool,
    },
    /// It stores its copy.
    Uploading(Offset),
    /// It tells the leader that its copy is ready.
    Ending(Offset),
    /// DISCARDED or ERROR: it waits for ONLINE, with its rows in memory.
    Discarded,
    /// It is to be online and reads what is missing up to the end.
    Catching(Offset),
    /// It is to be online and waits for a copy that it can bring: it reads the record again and again.
    Waiting,
    /// So, and it reads which peers serve the segment, whose range this is.
    Looking(Range),
    /// So, and it brings a copy of this range.
    Fetching(Range),
    /// Upstream since #18895 alone: it is to be online, has built a copy, and reads whether it is the one that counts.
    Comparing,
    /// Its consumer cannot go on, and it tells the leader so, again and again (`segmentStoppedConsuming`).
    Stopping,
    /// It has a built copy and serves it: RETAINED, COMMITTED, ONLINE.
    Sealed,
}

impl Work {
    /// Whether the commit holds the segment's lock (dossier 5): from COMMIT to its end.
    #[must_use]
    pub fn is_locked(self) -> bool {
        match self {
            Self::Starting(_) | Self::Uploading(_) | Self::Ending(_) => true,
            Self::Building { purpose, .. } => purpose == Purpose::Commit,
            Self::Idle
            | Self::Opening { .. }
            | Self::Acquiring
            | Self::Consuming(_)
            | Self::Reporting(_)
            | Self::Discarded
            | Self::Stopping
            | Self::Catching(_)
            | Self::Waiting
            | Self::Looking(_)
            | Self::Fetching(_)
            | Self::Retrying
            | Self::Comparing
            | Self::Sealed => false,
        }
    }

    /// Whether a transition is under way.
    #[must_use]
    pub fn is_in_transition(self) -> bool {
        match self {
            Self::Opening { .. }
            | Self::Acquiring
            | Self::Catching(_)
            | Self::Waiting
            | Self::Looking(_)
            | Self::Fetching(_)
            | Self::Comparing => true,
            Self::Building { purpose, .. } => purpose == Purpose::Online,
            Self::Idle
            | Self::Consuming(_)
            | Self::Reporting(_)
            | Self::Starting(_)
            | Self::Retrying
            | Self::Uploading(_)
            | Self::Ending(_)
            | Self::Discarded
            | Self::Stopping
            | Self::Sealed => false,
        }
    }

    /// Whether a build runs for it.
    #[must_use]
    pub fn is_building(self) -> bool {
        matches!(self, Self::Building { running: true, .. })
    }
}

/// What a replica was when a transition came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Stance {
    /// It had nothing open.
    Closed,
    /// It was consuming, or asking what to do.
    Reading,
    /// It was waiting to download.
    Discarded,
    /// It was asking again, and still COMMITTING (C3).
    Committing,
    /// It had a built copy.
    Sealed,
}

/// What a build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Purpose {
    /// To commit the segment.
    Commit,
    /// The leader said KEEP.
    Keep,
    /// To be online.
    Online,
}

/// A reingestion under way (dossier 10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Job {
    /// What was read so far.
    pub rows: Rows,
    /// Up to where it is to be read.
    pub end: Offset,
    /// How far it is.
    pub stage: JobStage,
}

/// How far a reingestion is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum JobStage {
    /// It reads the record; then this controller is answered.
    Opening(Caller<ControllerId>),
    /// It reads rows.
    Reading,
    /// It waits for a permit to build.
    Queued,
    /// It builds.
    Building,
    /// It stores the copy.
    Uploading(Sealed, ObjectId),
    /// It tells the controller.
    Completing,
}

/// A copy that is being stored for a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Upload {
    /// Who waits.
    pub caller: Caller<ControllerId>,
    /// What.
    pub copy: Sealed,
    /// Where to.
    pub object: ObjectId,
}

/// What an outstanding effect is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Owed {
    /// A replica.
    Replica(SegmentId),
    /// A reingestion.
    Job(SegmentId),
    /// An upload for a controller.
    Upload(SegmentId),
    /// Nobody waits for its end any more; its number is free once it has come.
    Nothing,
}
