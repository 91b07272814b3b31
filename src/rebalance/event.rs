//! What may happen to a coordinator or a historical.

use core::fmt;

use super::message::{Addressed, FromServer, ToServer};
use super::object::{SegmentId, ServerId, Term, TierId};
use crate::machine::EffectId;

/// What may happen to a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum CoordinatorEvent {
    /// A task may go on.
    Continue {
        /// Which.
        task: Task,
        /// What the outside brings.
        input: Input,
    },
    /// A message from a server.
    Received(Addressed<FromServer>),
    /// Discovery sees a server, or sees that it has changed.
    Appeared(ServerId, ServerInfo),
    /// Discovery sees a server no longer.
    Disappeared(ServerId),
    /// A rule: how many replicas of a segment are required in which tier.
    Require(SegmentId, Rule),
    /// The election was won, in a term newer than every term that anybody has led in, this process's lives
    /// before included: an election that gives a term again has to be wrapped in a counter.
    Elected(Term),
    /// Leadership is lost.
    Deposed,
}

/// What the outside brings into a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Input {
    /// Where to begin in the list of servers that may be taken, the best first: 0 takes the best. A balancer
    /// chooses by it.
    pub pick: u32,
    /// A move that the balancer proposes, taken if it is possible.
    pub proposed: Option<Move>,
}

/// A move of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Move {
    /// Which segment.
    pub segment: SegmentId,
    /// The server that serves it.
    pub from: ServerId,
    /// The server that shall serve it.
    pub to: ServerId,
}

/// What discovery and the operator say of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ServerInfo {
    /// Its tier.
    pub tier: TierId,
    /// How many bytes of segments it can hold.
    pub capacity_bytes: u64,
    /// Whether the operator wants it empty: it gets no load (dossier 9.1, I7), and what it serves is moved
    /// elsewhere as far as there is room (dossier 4.8).
    pub decommissioning: bool,
    /// Whether rules and balancing use it. The target of a clone is not managed (dossier 4.10).
    pub managed: bool,
}

/// What is required of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Rule {
    /// How large it is, bytes.
    pub size_bytes: u64,
    /// Replicas by tier; a tier that is not named requires none.
    pub required: Vec<(TierId, u16)>,
}

/// A line of work inside a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Task {
    /// The run that compares what is there with what is required.
    Run,
    /// A callback of a finished operation, by its place. The verified coordinator has none waiting.
    Callback(u8),
    /// Sending, once or again, what is queued for a server.
    Send(ServerId),
    /// Asking a server for what it serves.
    Poll(ServerId),
    /// A request that was sent has not been answered for too long (default 15 min, dossier 10).
    Overdue(ServerId, SegmentId),
    /// An acknowledged operation has waited for its confirmation for too long; upstream's #19889 alone has it.
    Unconfirmed(ServerId, SegmentId),
}

/// What may happen to a historical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum HistoricalEvent {
    /// A message from a coordinator.
    Received(ToServer),
    /// An effect came to an end.
    Outcome {
        /// Which.
        id: EffectId,
        /// How.
        outcome: Outcome,
    },
}

/// How an effect of a historical ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Outcome {
    /// The fetch or the deletion is done.
    Done,
    /// It failed and left nothing behind: no file that was not there, no file missing that was.
    Failed,
    /// It may have been done, in part too; and nothing of it is under way any more, so that it will not be done
    /// later. Whoever works on the local disk can wait for that.
    Unknown,
    /// The wait is over.
    Elapsed,
}

/// Why an event was not taken. The state stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Refusal {
    /// The coordinator does not lead.
    NotLeading,
    /// The term is not newer than the one it leads in.
    OldTerm(Term),
    /// The message answers another term's.
    OtherTerm(Term),
    /// Discovery shows no such server.
    UnknownServer(ServerId),
    /// What the message tells of this server is older than what is known.
    Stale(ServerId),
    /// The task has nothing to go on with.
    NotReady(Task),
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
            Self::NotLeading => f.write_str("this coordinator does not lead"),
            Self::OldTerm(term) => write!(f, "term {} is not newer", term.0),
            Self::OtherTerm(term) => write!(f, "the message answers term {}", term.0),
            Self::UnknownServer(server) => write!(f, "there is no server {}", server.0),
            Self::Stale(server) => write!(f, "what it tells of server {} is old", server.0),
            Self::NotReady(task) => write!(f, "task {task:?} has nothing to go on with"),
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
