//! The content of an object: JSON, with the version of its format.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::compaction::object::{Body, Key};

/// The format that is written, and the only one that is read.
pub const FORMAT: u32 = 1;

/// Why an object cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// It is no JSON of this kind.
    Json(serde_json::Error),
    /// It has another format.
    OtherFormat(u32),
    /// It is not of the kind that lies at such a path.
    OtherKind,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(f),
            Self::OtherFormat(format) => write!(f, "format {format}, and only {FORMAT} is read"),
            Self::OtherKind => f.write_str("its content is of another kind than its path says"),
        }
    }
}

#[derive(Serialize)]
struct Written<'a> {
    format: u32,
    body: &'a Body,
}

#[derive(Deserialize)]
struct Heading {
    format: u32,
}

#[derive(Deserialize)]
struct Read {
    body: Body,
}

pub(super) fn write(body: &Body) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(&Written { format: FORMAT, body }).map(Bytes::from)
}

pub(super) fn read(key: Key, bytes: &[u8]) -> Result<Body, Unreadable> {
    if matches!(key, Key::Chunks(_) | Key::Index(_)) {
        return Ok(Body::Data);
    }
    let heading: Heading = serde_json::from_slice(bytes).map_err(Unreadable::Json)?;
    if heading.format != FORMAT {
        return Err(Unreadable::OtherFormat(heading.format));
    }
    let Read { body } = serde_json::from_slice(bytes).map_err(Unreadable::Json)?;
    if lies_at(&body, key) { Ok(body) } else { Err(Unreadable::OtherKind) }
}

fn lies_at(body: &Body, key: Key) -> bool {
    match body {
        Body::Data => false,
        Body::Meta(meta) => key == Key::Meta(meta.id),
        Body::DeletionMark(_) => matches!(key, Key::DeletionMark(_) | Key::GlobalDeletionMark(_)),
        Body::NoCompactMark => matches!(key, Key::NoCompactMark(_) | Key::GlobalNoCompactMark(_)),
        Body::Plan(plan) => {
            matches!(key, Key::Plan(at) if at.group == plan.group && at.plan.is_none_or(|id| id == plan.id))
        }
        Body::Marker(marker) => {
            matches!(key, Key::Marker(at, partition)
                if partition == marker.partition && at.plan.is_none_or(|id| id == marker.plan))
        }
        Body::CleanerMarker(_) => key == Key::CleanerMarker,
    }
}
