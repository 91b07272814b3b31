//! What the roles may do: send one message, work on one segment's files.

use super::message::{Addressed, FromServer, ToServer};
use super::object::SegmentId;

/// What a coordinator may do. Its messages have no outcome, so all carry effect number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum CoordinatorEffect {
    /// Send a message to a server.
    Send(Addressed<ToServer>),
}

/// What a historical may do. A message has no outcome and carries effect number 0; the rest is numbered
/// from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum HistoricalEffect {
    /// Answer whoever asked.
    Send(FromServer),
    /// Fetch a segment's files from deep storage and map them.
    Fetch(SegmentId),
    /// Wait before the files of a dropped segment are deleted (dossier 5).
    Wait {
        /// Which segment's.
        segment: SegmentId,
        /// How long, ms.
        delay_ms: u64,
    },
    /// Delete a segment's files.
    Delete(SegmentId),
}
