//! What a coordinator and a historical say to each other.
//!
//! The network may lose, delay and reorder any of it, and repeat requests. A message has no outcome of its own: what
//! comes back is another message, or nothing.

use super::object::{Fence, Incarnation, SegmentId, ServerId, Stamp};

/// What is asked of a server. On the wire there is only this (dossier 1.2): a move is a load and a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Action {
    /// Withdraw the segment at once, delete its files later.
    Drop,
    /// Fetch the segment and announce it.
    Load,
}

/// Towards a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ToServer {
    /// Load or drop a segment.
    Request(Request),
    /// Say what you serve, and take this fence.
    Poll(Fence),
}

/// A request. Sent again unchanged until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Request {
    /// The leader's term, and the request's number in it. Upstream sends neither (both 0).
    pub ticket: Fence,
    /// The life of the server that it is meant for. Upstream names none (0).
    pub incarnation: Incarnation,
    /// What to do.
    pub action: Action,
    /// With which segment.
    pub segment: SegmentId,
}

/// From a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum FromServer {
    /// The answer to a request.
    Reply(Reply),
    /// The answer to a poll.
    View(View),
    /// The answer to a poll of an older term.
    Outdated(Fence),
}

/// What became of a request, and what the server holds of that segment since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Reply {
    /// The request's ticket.
    pub ticket: Fence,
    /// What was asked.
    pub action: Action,
    /// Of which segment.
    pub segment: SegmentId,
    /// What became of it.
    pub answer: Answer,
    /// Whether the server announces the segment now.
    pub has: bool,
    /// When that was.
    pub stamp: Stamp,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Answer {
    /// Done: a loaded segment is announced, a dropped one withdrawn.
    Done,
    /// It could not be done; nothing is left of the attempt.
    Failed,
    /// It was not taken: the server has seen a request or a fence of this or a later number.
    RefusedNumber,
    /// It was not taken: it is meant for another life of this server.
    RefusedIncarnation,
    /// It was not taken: the server has seen this newer term.
    RefusedTerm(Fence),
}

/// All that a server announces, at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct View {
    /// The fence that the poll brought.
    pub fence: Fence,
    /// When the server looked.
    pub stamp: Stamp,
    /// What it announces, ascending.
    pub segments: Vec<SegmentId>,
}

/// An envelope: the server at one end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Addressed<M> {
    /// Which server it is to, or from.
    pub server: ServerId,
    /// The message.
    pub message: M,
}
