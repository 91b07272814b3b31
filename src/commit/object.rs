//! Names of things, and what metadata says of a segment.

/// A server: a replica consumes on it. Its name stays the same when it starts again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ServerId(pub u16);

/// Where a segment stands (dossier 3, `segment.realtime.status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "SCREAMING_SNAKE_CASE"))]
pub enum Status {
    /// Being consumed.
    InProgress,
    /// Its end is fixed and the next segment consumes; it is not yet surely stored. Pauseless mode only.
    Committing,
    /// Committed.
    Done,
    /// Committed, and since replaced by an upload of the same name.
    Uploaded,
}
