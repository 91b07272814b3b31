//! A server has a controller complete a segment that it has read again: `POST /segments/reingested?tableName=<table>`,
//! a multipart body as of a segment's upload, without the refresh that follows one (origin 2; dossier 10, steps 5 and 6).
//!
//! The segment itself is in the part `segment` ([`Form::Text`]), or lies already where the header `DOWNLOAD_URI` says
//! ([`Form::Tree`]). Either way there is its metadata: `metadata.properties` and `creation.meta`, out of the archive in
//! the part `metadata`, or in whichever part upstream's tree sends. Taking the body and the archive apart is whoever
//! receives it: [`Posted`] is what comes of it.
//!
//! | status | it says | source |
//! |---|---|---|
//! | 200 | the record says DONE with this copy, and replicas in error were reset | origin 2 |
//! | 400 | the request is [`Malformed`], or the copy is of another range than the record's | dossier 10; our own |
//! | 404 | the table has no such segment | dossier 10 |
//! | 409 | the record is not COMMITTING; rows are missing that a listed server has; the same is under way | dossier 10; our own |
//! | 500 | a compare-and-set was refused, an operation failed, or the controller ends | dossier 10 |
//!
//! [`RefillStatus`] says which of them it is; ours is told in the body too, as `reason`.

use super::super::{Encoded, decoded};
use super::fields;
use super::{Form, MAX_NAME_BYTES, MAX_URI_BYTES, Malformed, Place, REALTIME, Refused, Why};
use super::{segment_name, short};
use crate::commit::event::Refusal;
use crate::commit::message::RefillStatus;
use crate::commit::name::SegmentName;
use crate::commit::object::{Crc, Offset, Range, Rows, Sealed};

const PATH: &str = "/segments/reingested";
const TABLE: &str = "tableName";
const UPLOAD_TYPE: &str = "UPLOAD_TYPE";
const DOWNLOAD_URI: &str = "DOWNLOAD_URI";
const COPY: &str = "COPY_SEGMENT_TO_DEEP_STORE";
const SEGMENT_PART: &str = "segment";
const METADATA_PART: &str = "metadata";
const NAME: &str = "segment.name";
const START: &str = "segment.realtime.startOffset";
const END: &str = "segment.realtime.endOffset";
/// Ours alone: which offsets the stream had no more, as `100-104,109-110`. Absent if none.
const MISSING: &str = "surehold.missing";
const CRC: &str = "crc";

/// A request as it came: its multipart body, and the archive of metadata in it, taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Posted<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The path and query.
    pub url: &'a str,
    /// Headers. Case does not matter in their names.
    pub headers: &'a [(&'a str, &'a str)],
    /// What the parts are called.
    pub parts: &'a [&'a str],
    /// `metadata.properties`, a `name = value` a line.
    pub properties: &'a str,
    /// `creation.meta`: the checksum as a big-endian number of eight bytes, then what is of no meaning here.
    pub creation: &'a [u8],
}

/// A segment that was read again is to be completed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Complete {
    /// The segment.
    pub segment: SegmentName,
    /// What the copy is.
    pub copy: Sealed,
    /// Where it lies, in [`Form::Tree`]; otherwise it comes with the request.
    pub stored: Option<String>,
}

impl Complete {
    /// How it is written.
    #[must_use]
    pub fn form(&self) -> Form {
        if self.stored.is_some() { Form::Tree } else { Form::Text }
    }

    /// The path and query, to be posted to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{PATH}?{TABLE}={}", Encoded(self.segment.table()))
    }

    /// The headers that say where the segment is.
    #[must_use]
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        let Some(uri) = self.stored.as_deref() else { return Vec::new() };
        vec![(UPLOAD_TYPE, "METADATA"), (DOWNLOAD_URI, uri), (COPY, "true")]
    }

    /// The parts of the body.
    #[must_use]
    pub fn parts(&self) -> &'static [&'static str] {
        match self.form() {
            Form::Text => &[SEGMENT_PART, METADATA_PART],
            Form::Tree => &[METADATA_PART],
        }
    }

    /// What `metadata.properties` has to say.
    #[must_use]
    pub fn properties(&self) -> String {
        let Rows { range, missing } = &self.copy.rows;
        let (start, end) = (range.start, range.end);
        let mut text = format!("{NAME} = {}\n{START} = {start}\n{END} = {end}\n", self.segment);
        if !missing.is_empty() {
            let gaps: Vec<_> = missing.iter().map(|g| format!("{}-{}", g.start, g.end)).collect();
            text.push_str(&format!("{MISSING} = {}\n", gaps.join(",")));
        }
        text
    }

    /// What `creation.meta` begins with.
    #[must_use]
    pub fn creation(&self) -> [u8; 8] {
        u64::from(self.copy.crc.0).to_be_bytes()
    }

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// [`Malformed`], the answer to which is made by [`Answer::from`].
    pub fn read(posted: &Posted<'_>) -> Result<Self, Malformed> {
        let (path, query) = posted.url.split_once('?').unwrap_or((posted.url, ""));
        if posted.method != "POST" || path != PATH {
            return Err(Malformed { place: Place::Path, name: "", why: Why::NoSuch });
        }
        let table = table(query)?;
        let stored = stored(posted)?;
        let properties = Properties::read(posted.properties)?;
        if properties.segment.table() != table {
            return Err(Malformed { place: Place::Query, name: TABLE, why: Why::OtherTable });
        }
        let copy = Sealed { crc: crc(posted.creation)?, rows: properties.rows };
        Ok(Self { segment: properties.segment, copy, stored })
    }
}

/// The table without its type, whichever way it is said.
fn table(query: &str) -> Result<String, Malformed> {
    let malformed = |why| Malformed { place: Place::Query, name: TABLE, why };
    let mut table = None;
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if name != TABLE {
            continue;
        }
        let value = decoded(value).map_err(|_| malformed(Why::Encoding))?;
        if table.replace(value).is_some() {
            return Err(malformed(Why::Twice));
        }
    }
    let table = table.ok_or(malformed(Why::Missing))?;
    short(Place::Query, TABLE, &table, MAX_NAME_BYTES)?;
    Ok(table.strip_suffix(REALTIME).unwrap_or(&table).to_owned())
}

/// Where the segment lies, unless it comes along.
fn stored(posted: &Posted<'_>) -> Result<Option<String>, Malformed> {
    let upload_type = header(posted.headers, UPLOAD_TYPE)?;
    let brings = |name| posted.parts.contains(&name);
    if upload_type.is_none() && brings(SEGMENT_PART) {
        let missing = Malformed { place: Place::Part, name: METADATA_PART, why: Why::Missing };
        return if brings(METADATA_PART) { Ok(None) } else { Err(missing) };
    }
    has_to_be(UPLOAD_TYPE, upload_type, "METADATA")?;
    has_to_be(COPY, header(posted.headers, COPY)?, "true")?;
    let missing = |place, name| Malformed { place, name, why: Why::Missing };
    let uri = header(posted.headers, DOWNLOAD_URI)?.map(str::trim);
    let uri = uri.ok_or(missing(Place::Header, DOWNLOAD_URI))?;
    short(Place::Header, DOWNLOAD_URI, uri, MAX_URI_BYTES)?;
    if posted.parts.is_empty() {
        return Err(missing(Place::Part, METADATA_PART));
    }
    Ok(Some(uri.to_owned()))
}

fn header<'a>(
    headers: &[(&str, &'a str)],
    name: &'static str,
) -> Result<Option<&'a str>, Malformed> {
    let mut values = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
    let value = values.next().map(|(_, value)| *value);
    match values.next() {
        None => Ok(value),
        Some(_) => Err(Malformed { place: Place::Header, name, why: Why::Twice }),
    }
}

fn has_to_be(
    name: &'static str,
    value: Option<&str>,
    wanted: &'static str,
) -> Result<(), Malformed> {
    let why = match value {
        None => Why::Missing,
        Some(value) if value.trim().eq_ignore_ascii_case(wanted) => return Ok(()),
        Some(_) => Why::HasToBe(wanted),
    };
    Err(Malformed { place: Place::Header, name, why })
}

/// What `metadata.properties` says, as far as it matters.
struct Properties {
    segment: SegmentName,
    rows: Rows,
}

impl Properties {
    fn read(text: &str) -> Result<Self, Malformed> {
        let names = [NAME, START, END, MISSING];
        let mut values = [None; 4];
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!'])) {
            let Some((name, value)) = line.split_once('=') else { continue };
            let Some(at) = names.iter().position(|known| *known == name.trim()) else { continue };
            if values[at].replace(value.trim()).is_some() {
                return Err(Malformed {
                    place: Place::Properties,
                    name: names[at],
                    why: Why::Twice,
                });
            }
        }
        let [segment, start, end, missing] = values;
        let segment = segment_name(Place::Properties, NAME, needed(NAME, segment)?)?;
        let start = offset(START, needed(START, start)?)?;
        let end = offset(END, needed(END, end)?)?;
        if start > end {
            return Err(Malformed { place: Place::Properties, name: END, why: Why::Ranges });
        }
        let range = Range { start, end };
        let missing = missing.map_or(Some(Vec::new()), |text| gaps(text, range));
        let missing = missing.ok_or(Malformed {
            place: Place::Properties,
            name: MISSING,
            why: Why::Ranges,
        })?;
        Ok(Self { segment, rows: Rows { range, missing } })
    }
}

fn needed<'a>(name: &'static str, value: Option<&'a str>) -> Result<&'a str, Malformed> {
    value.ok_or(Malformed { place: Place::Properties, name, why: Why::Missing })
}

fn offset(name: &'static str, text: &str) -> Result<Offset, Malformed> {
    short(Place::Properties, name, text, MAX_NAME_BYTES)?;
    super::super::decimal(text).ok_or(Malformed {
        place: Place::Properties,
        name,
        why: Why::Number,
    })
}

/// Ranges within another, ascending and apart, none of them empty.
fn gaps(text: &str, within: Range) -> Option<Vec<Range>> {
    let decimal = |text: &str| super::super::decimal(text).filter(|_| !text.is_empty());
    let mut gaps: Vec<Range> = Vec::new();
    for gap in text.split(',') {
        let (start, end) = gap.trim().split_once('-')?;
        let (start, end) = (decimal(start)?, decimal(end)?);
        let after = gaps.last().map_or(within.start, |last| last.end);
        if start < after || end <= start || end > within.end {
            return None;
        }
        gaps.push(Range { start, end });
    }
    Some(gaps)
}

fn crc(creation: &[u8]) -> Result<Crc, Malformed> {
    let malformed = |why| Malformed { place: Place::Creation, name: CRC, why };
    let bytes = creation.first_chunk().ok_or(malformed(Why::Missing))?;
    let crc = u32::try_from(u64::from_be_bytes(*bytes)).map_err(|_| malformed(Why::Number))?;
    Ok(Crc(crc))
}

/// How a controller answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// 200: [`RefillStatus::Done`].
    Done(Done),
    /// Any other status.
    Refused(Refused),
}

/// The body of an answer that it was done, as of any upload to Pinot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Done {
    /// For people.
    pub status: Option<String>,
}

impl From<Malformed> for Answer {
    fn from(malformed: Malformed) -> Self {
        Self::Refused(malformed.into())
    }
}

impl Answer {
    /// The answer of a controller that took the request so.
    #[must_use]
    pub fn of(status: RefillStatus, segment: &SegmentName) -> Self {
        if status == RefillStatus::Done {
            return Self::Done(Done { status: Some(format!("{segment}: {status}")) });
        }
        let refused = Refused::new(status.code(), format!("{segment}: {status}"));
        Self::Refused(Refused { reason: Some(status.name().into()), ..refused })
    }

    /// The answer of a controller whose transition has refused the request: 409 if the same server's completion of the
    /// same segment is under way, 500 otherwise.
    #[must_use]
    pub fn refused(refusal: Refusal, segment: &SegmentName) -> Self {
        let code = if matches!(refusal, Refusal::Busy(_)) { 409 } else { 500 };
        Self::Refused(Refused::new(code, format!("{segment}: {refusal}")))
    }

    /// The HTTP status.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::Done(_) => RefillStatus::Done.code(),
            Self::Refused(refused) => refused.code,
        }
    }

    /// How the controller took the request. One that gives no reason of ours is told from its status alone.
    ///
    /// # Errors
    ///
    /// [`Place::Status`] for a status that no controller answers with.
    pub fn status(&self) -> Result<RefillStatus, Malformed> {
        match self {
            Self::Done(_) => Ok(RefillStatus::Done),
            Self::Refused(refused) => {
                let reason = refused.reason.as_deref().and_then(RefillStatus::from_name);
                let reason = reason.filter(|status| status.code() == refused.code);
                reason.map_or_else(|| status(refused.code), Ok)
            }
        }
    }

    /// The answer of this HTTP status and body. It counts by its status, whatever the body is.
    ///
    /// # Errors
    ///
    /// [`Place::Status`] for a status that no controller answers with.
    pub fn read<'de, D: serde::Deserializer<'de>>(code: u16, body: D) -> Result<Self, Malformed> {
        const MAX_TEXT_BYTES: usize = 4_096;
        if status(code)? != RefillStatus::Done {
            return Ok(Self::Refused(Refused::read(code, body)));
        }
        let [status] = fields::read(body, [("status", MAX_TEXT_BYTES)]).unwrap_or_default();
        Ok(Self::Done(Done { status: status.into_text() }))
    }
}

/// How a controller of any version took the request, by the HTTP status alone. Of 500 it is not known whether the record
/// was written.
///
/// # Errors
///
/// [`Place::Status`] for a status that no controller answers with.
pub fn status(code: u16) -> Result<RefillStatus, Malformed> {
    match code {
        200 => Ok(RefillStatus::Done),
        400 => Ok(RefillStatus::OtherRange),
        404 => Ok(RefillStatus::NotFound),
        409 => Ok(RefillStatus::NotCommitting),
        500..=599 => Ok(RefillStatus::Unknown),
        _ => Err(Malformed { place: Place::Status, name: "", why: Why::Number }),
    }
}
