//! The world: servers with disks, a network, discovery, coordinators, an operator.
//!
//! The world decides nothing about the protocol. It carries messages and effects, and says what came of them.

use surehold::Issued;
use surehold::rebalance::HistoricalEffect;
use surehold::rebalance::historical;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::message::{FromServer, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};

use super::scope::Budget;
use super::window::Watch;
use crate::part::Part;

/// The whole state of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World<C> {
    /// Coordinators; those that have not started yet lead nothing.
    pub leaders: Vec<Part<Leader<C>>>,
    /// Servers, in the order of their names.
    pub servers: Vec<Part<Node>>,
    /// Messages on their way, in no order: kept sorted.
    pub wire: Vec<Letter>,
    /// Drops that are decided and not settled, and what they were decided on; sorted.
    pub decisions: Vec<Decision>,
    /// What may still happen.
    pub left: Budget,
    /// How many of the operator's acts are done.
    pub operated: u8,
    /// Needless loads so far.
    pub needless: u8,
    /// Moves so far that nobody has proposed.
    pub own_moves: u8,
    /// What went wrong, if anything did.
    pub broken: Option<Broken>,
    /// What a scope's witness looks for and the rest of the state does not tell.
    pub seen: Seen,
    /// What is noted to name the window of a loss.
    pub watch: Watch,
}

/// Things that happened, noted only in scopes whose witnesses ask for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// A drop was carried out that its coordinator has given up waiting for.
    pub zombie_drop: bool,
    /// So was a load.
    pub zombie_load: bool,
    /// A segment was asked for while its old files were being deleted.
    pub loaded_while_deleting: bool,
    /// A drop came while a load was under way.
    pub drop_during_load: bool,
}

/// A coordinator process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leader<C> {
    /// Its role's state.
    pub role: Part<C>,
    /// Servers that discovery shows it, as bits.
    pub sees: u16,
}

impl<C> Leader<C> {
    /// Whether discovery shows it a server.
    pub fn sees(&self, server: ServerId) -> bool {
        self.sees >> server.0 & 1 == 1
    }

    /// Discovery shows a server, or does no longer.
    pub fn show(&mut self, server: ServerId, shown: bool) {
        let bit = 1 << server.0;
        if shown {
            self.sees |= bit;
        } else {
            self.sees &= !bit;
        }
    }
}

/// A server process, its disk, and its name's history.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its role's state; `None` while it is down.
    pub role: Option<Part<historical::State>>,
    /// What it will start from while it is down.
    pub durable: historical::Durable,
    /// Effects issued and not yet carried out, oldest first.
    pub pending: Vec<Issued<HistoricalEffect>>,
    /// Segments whose files are on disk, whole, ascending.
    pub disk: Vec<SegmentId>,
    /// Segments of which files are on disk in part, ascending.
    pub parts: Vec<SegmentId>,
    /// Who waits for the end of a load.
    pub askers: Vec<(SegmentId, u8)>,
    /// Segments that it served and only a crash has taken: nobody has dropped them here since.
    pub crashed_away: Vec<SegmentId>,
}

impl Node {
    /// Segments of which any files are there.
    pub fn files(&self) -> impl Iterator<Item = SegmentId> {
        self.disk.iter().chain(&self.parts).copied()
    }

    /// Files are there now whole, in part, or not at all.
    pub fn leave_files(&mut self, segment: SegmentId, left: Left) {
        let places = [(Left::Whole, &mut self.disk), (Left::Part, &mut self.parts)];
        for (what, place) in places {
            place.retain(|id| *id != segment);
            if left == what {
                let at = place.partition_point(|id| *id < segment);
                place.insert(at, segment);
            }
        }
    }

    /// Whether it serves a segment, or will as soon as it is up again.
    #[must_use]
    pub fn serves(&self, segment: SegmentId) -> bool {
        match &self.role {
            Some(role) => role.announces(segment),
            None => self.durable.served.contains(&segment),
        }
    }

    /// Whether it is up and serves a segment.
    #[must_use]
    pub fn is_serving(&self, segment: SegmentId) -> bool {
        self.role.as_ref().is_some_and(|role| role.announces(segment))
    }
}

/// What there is of a segment's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// All.
    Whole,
    /// Some.
    Part,
    /// None.
    Nothing,
}

/// A message on its way between a coordinator and a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Letter {
    /// The coordinator.
    pub leader: u8,
    /// The server.
    pub server: ServerId,
    /// What.
    pub mail: Mail,
}

/// A message, by direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mail {
    /// To the server. A drop carries what it was decided on, for the judge; no role sees that.
    Asked(ToServer, Basis),
    /// To the coordinator.
    Told(FromServer),
}

/// On what a drop was decided, in truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Basis {
    /// How many replicas were required then, or the least that were since.
    pub required: u16,
    /// How many served then, the one to be dropped included.
    pub served: u8,
    /// The others that served then, as bits; and those that had, until a crash that the coordinator could
    /// not know of.
    pub others: u16,
}

/// A drop that is decided and not settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Decision {
    /// By whom.
    pub leader: u8,
    /// Where.
    pub server: ServerId,
    /// Of which segment.
    pub segment: SegmentId,
    /// On what.
    pub basis: Basis,
}

/// A property that was found broken on the way, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A drop took the last copy.
    LastDropped(SegmentId, ServerId),
    /// A drop left this many, though so many more were required or there.
    TooFew {
        /// Of which segment.
        segment: SegmentId,
        /// Where it was dropped.
        server: ServerId,
        /// How many are left.
        left: u8,
        /// How many were there at the decision.
        served: u8,
        /// How many are required.
        required: u16,
    },
    /// A drop was decided though no other copy is sure to stay.
    Unjustified(SegmentId, ServerId),
    /// A server is asked for two things of a segment at once.
    TwoActions(SegmentId, ServerId),
    /// A server announces a segment without files.
    Ghost(SegmentId, ServerId),
    /// Files are deleted though the delay of a later drop is not over.
    Early(SegmentId, ServerId),
    /// A load was decided though enough copies serve and stay.
    NeedlessLoad(SegmentId, ServerId),
    /// A load was decided on a server without room.
    Overfilled(ServerId),
    /// A request of a term that is over changed something.
    OldTerm(SegmentId, ServerId),
    /// A move was decided that nobody has proposed, and once too often.
    PingPong(SegmentId, ServerId),
}

impl Broken {
    /// Which property.
    #[must_use]
    pub fn property(self) -> Property {
        match self {
            Self::LastDropped(..) => Property::LastCopyKept,
            Self::TooFew { .. } => Property::RequiredKept,
            Self::Unjustified(..) => Property::DropJustified,
            Self::TwoActions(..) => Property::OneAction,
            Self::Overfilled(_) => Property::NoOverfill,
            Self::OldTerm(..) => Property::OldTermMoot,
            Self::Ghost(..) => Property::NoGhost,
            Self::Early(..) => Property::FullDelay,
            Self::NeedlessLoad(..) => Property::NoNeedlessLoad,
            Self::PingPong(..) => Property::NoPingPong,
        }
    }
}
