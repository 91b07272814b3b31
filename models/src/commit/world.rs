//! The world: metadata store, ideal state and views (Helix), deep store, stream, controllers and servers.
//!
//! The world decides nothing about the protocol. It carries out effects, says what came of them, and takes replicas
//! from what they are to what the ideal state says.

use surehold::Issued;
use surehold::collections::Table;
use surehold::commit::completion::Mode;
use surehold::commit::invariant::Property;
use surehold::commit::object::{
    Crc, IdealState, ObjectId, PartitionId, Record, Rows, Sealed, SegmentId, Version, View,
};
use surehold::commit::{ControllerEffect, ServerEffect, controller, server};

use super::scope::Budget;
use crate::memo::Shared;
use crate::part::Part;

/// The whole state of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// Metadata, the ideal state, the view and the deep store.
    pub store: Part<Store>,
    /// Controllers.
    pub controllers: Vec<Part<Process>>,
    /// Servers.
    pub servers: Vec<Part<Node>>,
    /// Which controller leads.
    pub leader: u8,
    /// How the table is configured.
    pub mode: Mode,
    /// The first offset that each partition's stream still has.
    pub first: Vec<u64>,
    /// The highest offset of each partition that was ever committed; counted only where retention may delete the record
    /// that says it.
    pub committed: Vec<u64>,
    /// What a minion is about; most worlds have none, and a world is moved more often than it is looked into.
    pub rewriting: Option<Box<Rewriting>>,
    /// Writes that their writer has given up, and which may still land.
    pub adrift: Vec<ControllerEffect>,
    /// What may still happen.
    pub left: Budget,
    /// What went wrong, if anything did.
    pub broken: Option<Broken>,
}

impl World {
    /// The first offset that a partition's stream still has.
    #[must_use]
    pub fn first_of(&self, partition: PartitionId) -> u64 {
        self.first[usize::from(partition.0)]
    }
}

/// What many worlds have in common. There are few parts that differ, so that nearly all that come of a step were come to
/// before.
#[derive(Clone, Debug)]
pub(super) struct SharedParts {
    stores: Shared<Store>,
    controllers: Shared<Process>,
    nodes: Shared<Node>,
}

impl SharedParts {
    /// Nothing is shared.
    pub(super) fn new() -> Self {
        Self { stores: Shared::new(), controllers: Shared::new(), nodes: Shared::new() }
    }

    /// From now on parts are shared.
    #[cfg(feature = "checker")]
    pub(super) fn remember(&self) {
        self.stores.remember();
        self.controllers.remember();
        self.nodes.remember();
    }

    /// Equal parts that were come to before take the places of changed ones.
    pub(super) fn share(&self, world: &mut World) {
        self.stores.share(&mut world.store);
        world.controllers.iter_mut().for_each(|process| self.controllers.share(process));
        world.servers.iter_mut().for_each(|node| self.nodes.share(node));
    }
}

/// What is stored outside of all processes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// Metadata.
    pub records: Table<SegmentId, Stored>,
    /// The ideal state.
    pub ideal: IdealState,
    /// Its version; counted only while somebody holds an older one.
    pub ideal_version: Version,
    /// The external view.
    pub view: View,
    /// The deep store: what is in which object.
    pub objects: Table<ObjectId, Sealed>,
}

/// A record and what the store knows of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Its version; counted only while somebody holds an older one.
    pub version: Version,
    /// Whether it was written longer ago than the age limit.
    pub is_old: bool,
}

/// A minion's upload (dossier 3): it has read the record, puts its object, and then compares and writes the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rewriting {
    /// What it replaces.
    pub segment: SegmentId,
    /// Its copy.
    pub copy: Sealed,
    /// Where it is to be: over the segment's own object, if that has no attempt's name.
    pub object: ObjectId,
    /// What is to be recorded.
    pub record: Record,
    /// Over which version.
    pub version: Version,
    /// Whether the copy is put.
    pub is_put: bool,
}

impl World {
    /// Whether the segment's own object is being written over by an upload whose record comes next.
    #[must_use]
    pub fn is_replaced(&self, segment: SegmentId) -> bool {
        let own = |upload: &Rewriting| upload.segment == segment && upload.object.attempt.is_none();
        self.rewriting.as_ref().is_some_and(|upload| upload.is_put && own(upload))
    }
}

/// A controller process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its role's state.
    pub role: Part<controller::State>,
    /// Effects that have no outcome yet.
    pub pending: Vec<Pending<ControllerEffect>>,
}

/// A server process and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its role's state; `None` while it is down.
    pub role: Option<Part<server::State>>,
    /// What it will start from while it is down.
    pub durable: Part<server::Durable>,
    /// Whether it never comes back.
    pub is_dead: bool,
    /// Effects that have no outcome yet.
    pub pending: Vec<Pending<ServerEffect>>,
}

/// An effect that has no outcome yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending<E> {
    /// The effect.
    pub issued: Issued<E>,
    /// The process that works on it, if it is a request that has arrived.
    pub at: Option<u8>,
}

/// A property that was found broken, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A second segment of the same place is listed.
    SecondHead(SegmentId),
    /// It does not start where the one before ends.
    Link(SegmentId),
    /// The copy that counts has not the rows of its range.
    Rows(SegmentId),
    /// This server serves something else than the range.
    Served(SegmentId, u16),
    /// It is to be online, and its end is not in its record.
    Online(SegmentId),
    /// This server consumes it beside another one of its partition.
    SecondConsumer(SegmentId, u16),
    /// This server let the only whole copy go.
    Dropped(SegmentId, u16),
    /// The object is not there, or another.
    Object(SegmentId),
    /// It is listed without a record.
    NoRecord(SegmentId),
    /// The record of a completed segment was written over.
    Overwritten(SegmentId),
    /// Rows are recorded as lost though somebody has them.
    FalseLoss(SegmentId),
    /// It was filled from the stream after a later one had begun.
    FilledLate(SegmentId),
    /// Its commit failed with another one.
    FailedWithAnother(SegmentId),
    /// This server has other permits taken than builds run.
    Permits(u16),
}

impl Broken {
    /// Which property.
    #[must_use]
    pub fn property(self) -> Property {
        match self {
            Self::SecondHead(_) => Property::OneHead,
            Self::Link(_) => Property::Chain,
            Self::Rows(_) => Property::WholeRows,
            Self::Served(..) => Property::OneEnd,
            Self::Online(_) => Property::EndBeforeOnline,
            Self::SecondConsumer(..) => Property::OneConsumer,
            Self::Dropped(..) => Property::CopyKept,
            Self::Object(_) => Property::RightObject,
            Self::NoRecord(_) => Property::ListedHasRecord,
            Self::Overwritten(_) => Property::NoLostUpdate,
            Self::FalseLoss(_) => Property::TrueLoss,
            Self::FilledLate(_) => Property::FilledInOrder,
            Self::FailedWithAnother(_) => Property::OwnFailure,
            Self::Permits(_) => Property::PermitsOfBuilds,
        }
    }
}

/// Who builds copies, in checksums.
pub mod builder {
    /// A replica, from its memory: 1 and up.
    pub const REPLICA: u32 = 1;
    /// A server that reads a segment again: 4 and up.
    pub const REINGESTION: u32 = 4;
    /// A minion.
    pub const MINION: u32 = 7;

    /// What a checksum is when servers exchange their names.
    #[cfg(feature = "checker")]
    pub(in super::super) fn renamed(renaming: &crate::symmetry::Renaming, crc: u64) -> u64 {
        let (rows, by) = (crc & !7, crc & 7);
        let of = |first: u32| first as u64 + renaming.of(by - u64::from(first));
        match by as u32 {
            0 | MINION.. => crc,
            REPLICA..REINGESTION => rows | of(REPLICA),
            REINGESTION..MINION => rows | of(REINGESTION),
        }
    }
}

/// The checksum of a copy of these rows, by who built it.
#[must_use]
pub fn crc_of(rows: &Rows, builder: u32) -> Crc {
    Crc(mask(rows) << 3 | builder)
}

/// The rows of a copy, one bit for each offset.
#[must_use]
pub fn mask(rows: &Rows) -> u32 {
    let is_missing = |offset: u64| rows.missing.iter().any(|m| m.start <= offset && offset < m.end);
    let there = (rows.range.start..rows.range.end).filter(|offset| !is_missing(*offset));
    there.fold(0, |mask, offset| mask | 1 << offset)
}

/// Whether a copy was read from the stream again.
#[must_use]
pub fn was_read_again(crc: Crc) -> bool {
    (builder::REINGESTION..builder::MINION).contains(&(crc.0 & 7))
}

/// The rows that a checksum stands for, one bit for each offset.
#[must_use]
pub fn rows_in(crc: Crc) -> u32 {
    crc.0 >> 3
}
