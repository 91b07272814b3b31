//! What the roles may do: one operation on the metadata store, the ideal state, the deep store, the stream or the
//! local disk, or one message.

use super::completion::Answer;
use super::message::{Caller, Order, RefillStatus, Report, Request};
use super::object::{
    ControllerId, Crc, ObjectId, Offset, PartitionId, Record, ReplicaState, Rows, SegmentId,
    ServerId, Version,
};

/// On what a write depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Expected {
    /// On nothing: whatever is there is written over.
    Anything,
    /// That there is no such record.
    Absent,
    /// That nobody has written it since.
    Version(Version),
}

/// What is to change in the ideal state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Change {
    /// All listed replicas of a segment are to be in this state.
    Set(SegmentId, ReplicaState),
    /// One replica of a segment is to be in this state.
    SetReplica(SegmentId, ServerId, ReplicaState),
    /// A segment is listed, to be consumed by these servers.
    Add(SegmentId, Vec<ServerId>),
    /// A segment is listed, to be consumed by the servers that the table's instance assignment gives it, as no segment
    /// before it says which. Whoever carries it out assigns them; where there are too few, the write fails.
    Begin(SegmentId),
    /// A segment is listed no more: its replicas are to vanish.
    Remove(SegmentId),
}

/// What a controller may do. An answer and a reset have no outcome and carry effect number 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ControllerEffect {
    /// Read a record.
    ReadRecord(SegmentId),
    /// Read all records of a partition.
    ListRecords(PartitionId),
    /// Write a record.
    WriteRecord(SegmentId, Record, Expected),
    /// Delete a record.
    DeleteRecord(SegmentId),
    /// Read the ideal state.
    ReadIdeal,
    /// Change the ideal state, if it is still of this version.
    WriteIdeal(Version, Vec<Change>),
    /// Read the external view.
    ReadView,
    /// Ask the stream for a partition: whether it has one, and where it begins.
    ReadStream(PartitionId),
    /// Ask the stream where a partition ends now and, if seconds are given, where it ended so long ago.
    ReadLatest(PartitionId, Option<u32>),
    /// Move an attempt's object onto the segment's own, whatever was there (dossier 6.4).
    Promote(ObjectId),
    /// Have Helix take a replica to OFFLINE, from where it follows the ideal state again. Refused by Helix where
    /// the server is dead or a transition is under way.
    Reset(SegmentId, ServerId),
    /// Ask a server.
    Call(Order),
    /// Answer a server.
    Answer(Caller<ServerId>, Answer),
    /// Answer a server whose segment was to be completed after it was read again.
    AnswerRefill(Caller<ServerId>, RefillStatus),
}

/// Where a copy is to be had from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Source {
    /// The deep store.
    Object(ObjectId),
    /// A server that serves it.
    Peer(ServerId),
}

/// What a server may do. An answer and a change of its view have no outcome and carry effect number 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ServerEffect {
    /// Read a record.
    ReadRecord(SegmentId),
    /// Read it again after a pause (30 s in upstream's waited download, dossier 8).
    PollRecord(SegmentId),
    /// Read the external view.
    ReadView,
    /// Read the next row of the stream for a segment: at this offset or, if it is there no more, say what is.
    Fetch(SegmentId, Offset),
    /// Build a copy of these rows on the local disk.
    Build(SegmentId, Rows),
    /// Store the copy with this checksum in the deep store.
    Upload(ObjectId, Crc),
    /// Bring a copy to the local disk.
    Download(SegmentId, Source),
    /// Delete the local copy.
    Delete(SegmentId),
    /// Ask the leader; a second time only after a pause (3 s upstream, dossier 5).
    Call(Request),
    /// Answer a controller.
    Report(Caller<ControllerId>, Report),
    /// Say what a replica is now.
    Show(SegmentId, ReplicaState),
}
