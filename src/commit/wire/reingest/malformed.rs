//! Why a request or an answer cannot be read.

use core::fmt;

use crate::commit::name::NameError;

/// What cannot be read, where it is, and why. Nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// Where.
    pub place: Place,
    /// What, by its name there; empty if it is the whole.
    pub name: &'static str,
    /// Why.
    pub why: Why,
}

/// A part of a request or an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The method and path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A part of a multipart body.
    Part,
    /// The JSON body.
    Body,
    /// `metadata.properties` of the segment.
    Properties,
    /// `creation.meta` of the segment.
    Creation,
    /// The HTTP status of an answer.
    Status,
}

/// Why it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// There is no such method and path.
    NoSuch,
    /// A percent sign is not followed by two hexadecimal digits, or the bytes are no UTF-8.
    Encoding,
    /// It is no JSON.
    Syntax,
    /// It is needed and does not come, or comes as `null`.
    Missing,
    /// It comes twice.
    Twice,
    /// It is empty.
    Empty,
    /// It is longer than may be.
    TooLong {
        /// How long, in bytes.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// It is something else than is asked for: this.
    Is(&'static str),
    /// It is no number in range.
    Number,
    /// It is no list of ranges, ascending and apart, within the segment's range; or this ends before it starts.
    Ranges,
    /// It is not what it has to be: this.
    HasToBe(&'static str),
    /// It is no name of a consumed segment.
    Name(NameError),
    /// It is no name of a realtime table with its type.
    Type,
    /// The segment is of another table.
    OtherTable,
}

impl Malformed {
    /// The HTTP status that a request is answered with: 404 if there is no such path, or no such segment in the table
    /// that is named; 400 otherwise.
    #[must_use]
    pub fn code(self) -> u16 {
        match self.why {
            Why::NoSuch | Why::OtherTable => 404,
            Why::Encoding
            | Why::Syntax
            | Why::Missing
            | Why::Twice
            | Why::Empty
            | Why::TooLong { .. }
            | Why::Is(_)
            | Why::Number
            | Why::Ranges
            | Why::HasToBe(_)
            | Why::Name(_)
            | Why::Type => 400,
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Part => "part",
            Place::Body => "body",
            Place::Properties => "metadata.properties",
            Place::Creation => "creation.meta",
            Place::Status => "status",
        };
        let blank = if self.name.is_empty() { "" } else { " " };
        write!(f, "{place}{blank}{}: {}", self.name, self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuch => f.write_str("there is no such method and path"),
            Self::Encoding => f.write_str("it cannot be decoded"),
            Self::Syntax => f.write_str("it is no JSON"),
            Self::Missing => f.write_str("it is missing"),
            Self::Twice => f.write_str("it comes twice"),
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong { bytes, most } => write!(f, "it has {bytes} bytes, more than {most}"),
            Self::Is(other) => write!(f, "it is {other}"),
            Self::Number => f.write_str("it is not a number in range"),
            Self::Ranges => f.write_str("it is no list of ranges within the segment's"),
            Self::HasToBe(value) => write!(f, "it has to be {value}"),
            Self::Name(error) => write!(f, "{error}"),
            Self::Type => f.write_str("it is no realtime table with its type"),
            Self::OtherTable => f.write_str("the segment is of another table"),
        }
    }
}

impl std::error::Error for Malformed {}
