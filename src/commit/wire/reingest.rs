//! Reingestion on the wire (origin 2; dossier 10): a controller has a server read a segment again ([`begin`]), and the
//! server has a controller complete it ([`complete`]).
//!
//! Unlike the completion protocol it says by the HTTP status how a request was taken. There are two forms, and both are
//! read and written: that of the text of #14920 ([`Form::Text`]), and that of upstream's tree ([`Form::Tree`]). An answer
//! has the form of its request.
//!
//! Nothing here decides anything. What cannot be read is [`Malformed`], which says where, what and why; what is not known
//! is passed over. Whoever reads from the network limits how long a request may be.

pub mod begin;
pub mod complete;
mod fields;
mod malformed;

use super::decoded;
use crate::commit::name::SegmentName;
pub use malformed::{Malformed, Place, Why};

/// The longest name of a segment, a table or a job, in bytes: a segment is a directory on a server's disk.
pub const MAX_NAME_BYTES: usize = 255;
/// The longest URI of an object, in bytes.
pub const MAX_URI_BYTES: usize = 2_048;

/// What a realtime table's name ends in, where it is named with its type.
const REALTIME: &str = "_REALTIME";

/// How a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// As the text of #14920 has it.
    Text,
    /// As upstream's tree has it.
    Tree,
}

/// The body of an answer that refuses, as of any other request to Pinot over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Refused {
    /// The HTTP status once more.
    pub code: u16,
    /// For people.
    pub error: Option<String>,
    /// Ours alone: which of the outcomes with this status it is. Stock peers pass it over, and say none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Refused {
    fn new(code: u16, error: String) -> Self {
        Self { code, error: Some(error), reason: None }
    }

    /// The status counts, whatever the body is: a gateway in between writes none of ours.
    fn read<'de, D: serde::Deserializer<'de>>(code: u16, body: D) -> Self {
        const MAX_TEXT_BYTES: usize = 4_096;
        let names = [("error", MAX_TEXT_BYTES), ("reason", MAX_NAME_BYTES)];
        let [error, reason] = fields::read(body, names).unwrap_or_default();
        Self { code, error: error.into_text(), reason: reason.into_text() }
    }
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Self {
        Self::new(malformed.code(), malformed.to_string())
    }
}

/// The segment of this name.
fn segment_name(place: Place, name: &'static str, text: &str) -> Result<SegmentName, Malformed> {
    short(place, name, text, MAX_NAME_BYTES)?;
    text.parse().map_err(|error| Malformed { place, name, why: Why::Name(error) })
}

fn short(place: Place, name: &'static str, text: &str, most: usize) -> Result<(), Malformed> {
    let why = match text.len() {
        0 => Why::Empty,
        bytes if bytes > most => Why::TooLong { bytes, most },
        _ => return Ok(()),
    };
    Err(Malformed { place, name, why })
}

/// A part of a path. A plus stands for a blank in a query only.
fn path_decoded(name: &'static str, text: &str) -> Result<String, Malformed> {
    let malformed = Malformed { place: Place::Path, name, why: Why::Encoding };
    decoded(&text.replace('+', "%2B")).map_err(|_| malformed)
}
