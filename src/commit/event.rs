//! What may happen to a controller or a server.

use core::fmt;

use super::completion::{Mode, Reason};
use super::message::{Caller, Order, RefillStatus, Report, Request};
use super::object::{
    ControllerId, Crc, IdealState, Offset, PartitionId, Record, ReplicaState, Sealed, SegmentId,
    ServerId, TableConfig, Version, View,
};
use crate::machine::EffectId;

/// What may happen to a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ControllerEvent {
    /// A periodic task begins. It goes on with the outcomes of its effects.
    Continue {
        /// Which.
        task: Task,
        /// What the outside brings.
        input: Input,
    },
    /// A server asks.
    Received {
        /// Who waits for the answer.
        caller: Caller<ServerId>,
        /// What it asks.
        request: Request,
        /// What the outside brings.
        input: Input,
    },
    /// An effect came to an end.
    Outcome {
        /// Which.
        id: EffectId,
        /// How.
        outcome: ControllerOutcome,
    },
    /// The table is configured like this from now on.
    Configured(TableConfig),
    /// This process leads the table from now on.
    Elected,
    /// It leads no longer.
    Deposed,
    /// The process is to end: nothing new begins. What is under way goes on with its outcomes, until
    /// [`super::controller::State::is_quiet`] or for as long as whoever ends it waits (30 s upstream, dossier 1).
    Stopping,
}

/// What a pure function cannot make up by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Input {
    /// The process's own clock, ms.
    pub now_ms: u64,
    /// The minute that a segment created now is named after, since the epoch.
    pub minute: u32,
    /// Where to begin among equals; for [`Task::Retain`] the first segment that is to stay; for [`Task::Validate`] the
    /// sequence that the first segment of a partition gets: 0, unless a table goes on where another ended (dossier 2).
    pub pick: u32,
}

/// A periodic line of work of a controller, one of each kind and partition at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Task {
    /// See to it that a partition is consumed (dossier 9.1).
    Validate(PartitionId),
    /// Repair replicas in error (dossier 9.3).
    Repair(PartitionId),
    /// Store what is only on servers (dossier 9.4).
    Retry(PartitionId),
    /// Delete what is out of retention (dossier 11). How old a segment's rows are is not in its record:
    /// [`Input::pick`] says the sequence of the first segment that is to stay.
    Retain(PartitionId),
}

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Found {
    /// The record.
    pub record: Record,
    /// Its version.
    pub version: Version,
    /// How long ago it was written, ms, by the reader's clock against the store's.
    pub age_ms: u64,
}

/// How an effect of a controller ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ControllerOutcome {
    /// The record, if there is one.
    Record(Option<Found>),
    /// The records of the partition, in the order of the chain.
    Records(Vec<(SegmentId, Found)>),
    /// The ideal state and its version.
    Ideal(IdealState, Version),
    /// The external view.
    View(View),
    /// The first offset that the stream has of the partition. `None` if there is no such partition (any more): it has
    /// come to its end.
    Stream(Option<Offset>),
    /// The offset of the row that comes next, and of the one that came next at the time asked for, if the stream knows.
    Latest(Offset, Option<Offset>),
    /// The write, move or reset took effect.
    Applied,
    /// The record or the ideal state is not of the version expected, or there is a record already. Helix refused
    /// a reset.
    Precondition,
    /// A server answered.
    Reported(Report),
    /// An error; a write had no effect and will have none.
    Failed,
    /// An error after which it may have taken effect, or may yet.
    Unknown,
}

/// What may happen to a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ServerEvent {
    /// Helix wants a replica in another state. One transition of a segment at a time; one that is refused as
    /// [`Refusal::Locked`] comes again.
    Transition(SegmentId, ReplicaState),
    /// A replica has consumed for as long, or as much, as it shall.
    Stop(SegmentId, Reason),
    /// A replica has waited long enough for a copy, or has caught up for long enough (dossier 8).
    GiveUp(SegmentId),
    /// The consumer of a replica cannot go on: an error that does not pass (dossier 5).
    Break(SegmentId),
    /// The transition of a replica to CONSUMING throws before it has done anything: the replica is in error, and nobody
    /// else is told (#16904).
    Throw(SegmentId),
    /// A controller asks.
    Received {
        /// Who waits for the answer.
        caller: Caller<ControllerId>,
        /// What it asks.
        order: Order,
        /// A name for an attempt that no attempt had before; taken if something is to be stored.
        attempt: u64,
    },
    /// An effect came to an end.
    Outcome {
        /// Which.
        id: EffectId,
        /// How.
        outcome: ServerOutcome,
    },
    /// The table commits like this from now on; segments that are consumed keep to what was when they began
    /// (dossier 11).
    Configured(Mode),
}

/// How an effect of a server ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ServerOutcome {
    /// The record, if there is one.
    Record(Option<Record>),
    /// The external view.
    View(View),
    /// The row at this offset is the next one: not before what was asked for, and less than 2^64 - 1. Another one does not
    /// fit.
    Row(Offset),
    /// The offset is there no more: the stream begins at `first` and ends before `end`.
    Expired {
        /// The first offset that it has.
        first: Offset,
        /// The offset of the row that comes next.
        end: Offset,
    },
    /// A copy was built.
    Built {
        /// Its checksum.
        crc: Crc,
        /// A name for this attempt that no attempt had before.
        attempt: u64,
    },
    /// A copy was brought.
    Fetched(Sealed),
    /// The leader answered.
    Answered(super::completion::Answer),
    /// A controller has completed a segment that was read again, or has not.
    Refilled(RefillStatus),
    /// It was done.
    Applied,
    /// An error; there was no effect and there will be none.
    Failed,
    /// An error after which it may have taken effect, or may yet; or no answer came.
    Unknown,
}

/// Why an event was not taken. The state stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Refusal {
    /// The controller does not lead.
    NotLeading,
    /// The controller is being stopped.
    Stopping,
    /// The task is under way.
    UnderWay(Task),
    /// The controller works on a message of this segment; the next one waits.
    Busy(SegmentId),
    /// The commit of this segment holds its lock; the transition waits.
    Locked(SegmentId),
    /// A transition of this segment is under way.
    InTransition(SegmentId),
    /// The event says nothing to what this replica does.
    Unfit(SegmentId),
    /// The outcome belongs to another life of this process.
    OtherIncarnation {
        /// The effect named.
        id: EffectId,
        /// This life.
        current: u32,
    },
    /// No such effect is outstanding.
    NotOutstanding(EffectId),
    /// The effect that is outstanding under this id cannot end so.
    UnfitOutcome(EffectId),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLeading => f.write_str("this controller does not lead"),
            Self::Stopping => f.write_str("this controller is being stopped"),
            Self::UnderWay(task) => write!(f, "task {task:?} is under way"),
            Self::Busy(id) => write!(f, "segment {} is being worked on", id.sequence),
            Self::Locked(id) => write!(f, "segment {} is being committed here", id.sequence),
            Self::InTransition(id) => write!(f, "segment {} is in transition", id.sequence),
            Self::Unfit(id) => write!(f, "segment {} has no use for that now", id.sequence),
            Self::OtherIncarnation { id, current } => write!(
                f,
                "effect {} is of incarnation {}, this is incarnation {current}",
                id.number, id.incarnation
            ),
            Self::NotOutstanding(id) => write!(f, "effect {} is not outstanding", id.number),
            Self::UnfitOutcome(id) => write!(f, "effect {} cannot end in this outcome", id.number),
        }
    }
}

impl std::error::Error for Refusal {}
