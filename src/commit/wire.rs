//! The completion protocol on the wire: plain HTTP, a message is a path and its query, an answer a JSON object
//! (dossier 6).
//!
//! Nothing here decides anything. What a request lacks is a [`WireError`], for which upstream answers FAILED.

#[cfg(feature = "serde")]
pub mod reingest;

use core::fmt;

use super::completion::{Answer, Kind, Message, Reason};
use super::object::ServerId;

/// Upstream's name for a segment that a request does not name.
pub const UNKNOWN_SEGMENT: &str = "UNKNOWN_SEGMENT";
/// Upstream's name for a server that a request does not name.
pub const UNKNOWN_INSTANCE: &str = "UNKNOWN_INSTANCE";

/// Which message it is: its path. They have the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Path {
    /// `GET /segmentConsumed`
    Consumed,
    /// `GET /segmentCommitStart`
    CommitStart,
    /// `POST /segmentUpload`, to any controller; no message to the completion machine.
    Upload,
    /// `POST /segmentCommitEndWithMetadata`
    CommitEnd,
    /// `GET /extendBuildTime`
    Extend,
    /// `GET /segmentStoppedConsuming`
    Stopped,
    /// `GET /segmentBuildDeterministicFailure`
    BuildFailed,
}

impl Path {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Consumed,
        Self::CommitStart,
        Self::Upload,
        Self::CommitEnd,
        Self::Extend,
        Self::Stopped,
        Self::BuildFailed,
    ];

    /// As in the URL, with the slash.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Consumed => "/segmentConsumed",
            Self::CommitStart => "/segmentCommitStart",
            Self::Upload => "/segmentUpload",
            Self::CommitEnd => "/segmentCommitEndWithMetadata",
            Self::Extend => "/extendBuildTime",
            Self::Stopped => "/segmentStoppedConsuming",
            Self::BuildFailed => "/segmentBuildDeterministicFailure",
        }
    }
}

/// The parameters of a message. A number that is 0 is not sent, and is 0 if it does not come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Params {
    /// `name`: the segment.
    pub segment: Option<String>,
    /// `instance`: the sender.
    pub instance: Option<String>,
    /// `streamPartitionMsgOffset`, in the stream's own words.
    pub offset: Option<String>,
    /// `reason`: why the sender stopped.
    pub reason: Option<String>,
    /// `location`: where the object lies, or `peer:///<segment>`.
    pub location: Option<String>,
    /// `rowCount`: rows in the segment.
    pub row_count: u64,
    /// `memoryUsedBytes`: bytes of memory that the segment takes.
    pub memory_used_bytes: u64,
    /// `segmentSizeBytes`: bytes of the built segment.
    pub segment_size_bytes: u64,
    /// `buildTimeMillis`: how long the build took, ms.
    pub build_time_ms: u64,
    /// `waitTimeMillis`: how long the build waited, ms.
    pub wait_time_ms: u64,
    /// `extraTimeSec`: how much longer the sender needs, seconds.
    pub extra_time_s: u64,
}

/// Why a request is no message. Nothing has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireError {
    /// There is no such path.
    Path,
    /// A percent sign is not followed by two hexadecimal digits, or the bytes are no UTF-8.
    Encoding,
    /// A parameter comes twice.
    Twice(&'static str),
    /// A parameter is no number in range.
    Number(&'static str),
    /// A parameter is needed and does not come.
    Missing(&'static str),
    /// The path brings no message to the completion machine.
    NotForTheMachine,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("there is no such path"),
            Self::Encoding => f.write_str("the query cannot be decoded"),
            Self::Twice(name) => write!(f, "parameter {name} comes twice"),
            Self::Number(name) => write!(f, "parameter {name} is not a number in range"),
            Self::Missing(name) => write!(f, "parameter {name} is missing"),
            Self::NotForTheMachine => f.write_str("no message to the completion machine"),
        }
    }
}

impl std::error::Error for WireError {}

const SEGMENT: &str = "name";
const INSTANCE: &str = "instance";
const OFFSET: &str = "streamPartitionMsgOffset";
const REASON: &str = "reason";
const LOCATION: &str = "location";
const ROW_COUNT: &str = "rowCount";
const EXTRA_TIME: &str = "extraTimeSec";

impl Params {
    /// The path and query of a request.
    #[must_use]
    pub fn url(&self, path: Path) -> String {
        let segment = self.segment.as_deref().unwrap_or(UNKNOWN_SEGMENT);
        let instance = self.instance.as_deref().unwrap_or(UNKNOWN_INSTANCE);
        let mut url = format!("{}?{SEGMENT}={}", path.text(), Encoded(segment));
        url.push_str(&format!("&{INSTANCE}={}", Encoded(instance)));
        let texts = [(OFFSET, &self.offset), (REASON, &self.reason), (LOCATION, &self.location)];
        for (name, text) in texts {
            if let Some(text) = text {
                url.push_str(&format!("&{name}={}", Encoded(text)));
            }
        }
        for (name, number) in self.numbers() {
            if number > 0 {
                url.push_str(&format!("&{name}={number}"));
            }
        }
        url
    }

    fn numbers(&self) -> [(&'static str, u64); 6] {
        [
            (ROW_COUNT, self.row_count),
            ("memoryUsedBytes", self.memory_used_bytes),
            ("segmentSizeBytes", self.segment_size_bytes),
            ("buildTimeMillis", self.build_time_ms),
            ("waitTimeMillis", self.wait_time_ms),
            (EXTRA_TIME, self.extra_time_s),
        ]
    }

    /// Reads the path and query of a request. Parameters that are not known are passed over.
    ///
    /// # Errors
    ///
    /// [`WireError::Path`], [`WireError::Encoding`], [`WireError::Twice`], [`WireError::Number`].
    pub fn from_url(url: &str) -> Result<(Path, Self), WireError> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let path = Path::ALL.into_iter().find(|known| known.text() == path);
        let path = path.ok_or(WireError::Path)?;
        let mut params = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            params.set(&decoded(name)?, decoded(value)?)?;
        }
        Ok((path, params))
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), WireError> {
        match name {
            "memoryUsedBytes" => number("memoryUsedBytes", &value, &mut self.memory_used_bytes),
            "segmentSizeBytes" => number("segmentSizeBytes", &value, &mut self.segment_size_bytes),
            "buildTimeMillis" => number("buildTimeMillis", &value, &mut self.build_time_ms),
            "waitTimeMillis" => number("waitTimeMillis", &value, &mut self.wait_time_ms),
            ROW_COUNT => number(ROW_COUNT, &value, &mut self.row_count),
            EXTRA_TIME => number(EXTRA_TIME, &value, &mut self.extra_time_s),
            SEGMENT => text(SEGMENT, value, &mut self.segment),
            INSTANCE => text(INSTANCE, value, &mut self.instance),
            OFFSET => text(OFFSET, value, &mut self.offset),
            REASON => text(REASON, value, &mut self.reason),
            LOCATION => text(LOCATION, value, &mut self.location),
            _ => Ok(()),
        }
    }

    /// The message that the machine of [`Params::segment`] takes; `from` is what [`Params::instance`] is called
    /// here, `at_ms` when it came, ms of the controller's clock. A reason that is not known is none.
    ///
    /// # Errors
    ///
    /// [`WireError::Missing`] if segment, sender or offset do not come, or the location at the end of a commit;
    /// [`WireError::Number`] if the offset is not decimal; [`WireError::NotForTheMachine`] for an upload.
    pub fn message(&self, path: Path, from: ServerId, at_ms: u64) -> Result<Message, WireError> {
        for (name, text) in [(SEGMENT, &self.segment), (INSTANCE, &self.instance)] {
            if text.is_none() {
                return Err(WireError::Missing(name));
            }
        }
        let offset = self.offset.as_deref().ok_or(WireError::Missing(OFFSET))?;
        let offset = decimal(offset).ok_or(WireError::Number(OFFSET))?;
        if path == Path::CommitEnd && self.location.is_none() {
            return Err(WireError::Missing(LOCATION));
        }
        Ok(Message { from, offset, kind: self.kind(path)?, at_ms })
    }

    fn kind(&self, path: Path) -> Result<Kind, WireError> {
        Ok(match path {
            Path::Consumed => Kind::Consumed(self.reason.as_deref().and_then(Reason::from_name)),
            Path::CommitStart => Kind::CommitStart,
            Path::Upload => return Err(WireError::NotForTheMachine),
            Path::CommitEnd => Kind::CommitEnd,
            Path::Extend => {
                Kind::Extend { extra_s: u32::try_from(self.extra_time_s).unwrap_or(u32::MAX) }
            }
            Path::Stopped => Kind::Stopped,
            Path::BuildFailed => Kind::BuildFailed { rows: self.row_count },
        })
    }
}

fn text(name: &'static str, value: String, into: &mut Option<String>) -> Result<(), WireError> {
    match into.replace(value) {
        None => Ok(()),
        Some(_) => Err(WireError::Twice(name)),
    }
}

/// A number, where one that is not positive says nothing.
fn number(name: &'static str, value: &str, into: &mut u64) -> Result<(), WireError> {
    if let Some(digits) = value.strip_prefix('-') {
        return decimal(digits).map(|_| ()).ok_or(WireError::Number(name));
    }
    let number = decimal(value).ok_or(WireError::Number(name))?;
    if *into != 0 {
        return Err(WireError::Twice(name));
    }
    *into = number;
    Ok(())
}

fn decimal(text: &str) -> Option<u64> {
    let all = text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// Percent-encoded, but for the characters that a URI reserves nothing for.
struct Encoded<'a>(&'a str);

impl fmt::Display for Encoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                write!(f, "{}", char::from(byte))?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}

fn decoded(text: &str) -> Result<String, WireError> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => 16 * hexadecimal(bytes.next())? + hexadecimal(bytes.next())?,
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(decoded).map_err(|_| WireError::Encoding)
}

fn hexadecimal(byte: Option<u8>) -> Result<u8, WireError> {
    match byte {
        Some(digit @ b'0'..=b'9') => Ok(digit - b'0'),
        Some(digit @ b'a'..=b'f') => Ok(digit - b'a' + 10),
        Some(digit @ b'A'..=b'F') => Ok(digit - b'A' + 10),
        Some(_) | None => Err(WireError::Encoding),
    }
}

/// The body of an answer. The HTTP status is 200 whatever the protocol's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct Body {
    /// What the answer is.
    pub status: Status,
    /// An offset, in the stream's own words.
    #[cfg_attr(feature = "serde", serde(default))]
    pub stream_partition_msg_offset: Option<String>,
    /// How long the sender has to build, seconds; -1 if the answer does not say.
    #[cfg_attr(feature = "serde", serde(default = "unsaid"))]
    pub build_time_sec: i64,
    /// Always true: a commit starts and ends by two messages.
    #[cfg_attr(feature = "serde", serde(default = "always"))]
    pub is_split_commit_type: bool,
    /// Where the segment goes, with COMMIT.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub controller_vip_url: Option<String>,
    /// Where the upload lies, with UPLOAD_SUCCESS.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub segment_location: Option<String>,
}

#[cfg(feature = "serde")]
fn unsaid() -> i64 {
    -1
}

#[cfg(feature = "serde")]
fn always() -> bool {
    true
}

/// What an answer is, in upstream's words (dossier 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "SCREAMING_SNAKE_CASE"))]
pub enum Status {
    /// [`Answer::Commit`]
    Commit,
    /// [`Answer::Hold`]
    Hold,
    /// [`Answer::CatchUp`]
    CatchUp,
    /// [`Answer::Discard`]
    Discard,
    /// [`Answer::Keep`]
    Keep,
    /// [`Answer::NotLeader`]
    NotLeader,
    /// [`Answer::Failed`]
    Failed,
    /// [`Answer::CommitSuccess`]
    CommitSuccess,
    /// [`Answer::CommitContinue`]
    CommitContinue,
    /// [`Answer::Processed`]
    Processed,
    /// [`Answer::UploadSuccess`]
    UploadSuccess,
}

impl From<Answer> for Body {
    fn from(answer: Answer) -> Self {
        let (status, offset, build_s) = match answer {
            Answer::Commit { offset, build_s } => (Status::Commit, Some(offset), Some(build_s)),
            Answer::Hold(offset) => (Status::Hold, Some(offset), None),
            Answer::CatchUp(offset) => (Status::CatchUp, Some(offset), None),
            Answer::Discard => (Status::Discard, None, None),
            Answer::Keep(offset) => (Status::Keep, Some(offset), None),
            Answer::NotLeader => (Status::NotLeader, None, None),
            Answer::Failed => (Status::Failed, None, None),
            Answer::CommitSuccess => (Status::CommitSuccess, None, None),
            Answer::CommitContinue => (Status::CommitContinue, None, None),
            Answer::Processed => (Status::Processed, None, None),
            Answer::UploadSuccess => (Status::UploadSuccess, None, None),
        };
        Self {
            status,
            stream_partition_msg_offset: offset.map(|offset| offset.to_string()),
            build_time_sec: build_s
                .map_or(-1, |seconds| i64::try_from(seconds).unwrap_or(i64::MAX)),
            is_split_commit_type: true,
            controller_vip_url: None,
            segment_location: None,
        }
    }
}

impl Body {
    /// The answer that a body is.
    ///
    /// # Errors
    ///
    /// [`WireError::Missing`] or [`WireError::Number`] if an answer that brings an offset or a time brings none.
    pub fn answer(&self) -> Result<Answer, WireError> {
        Ok(match self.status {
            Status::Commit => Answer::Commit {
                offset: self.offset()?,
                build_s: u64::try_from(self.build_time_sec)
                    .map_err(|_| WireError::Number("buildTimeSec"))?,
            },
            Status::Hold => Answer::Hold(self.offset()?),
            Status::CatchUp => Answer::CatchUp(self.offset()?),
            Status::Discard => Answer::Discard,
            Status::Keep => Answer::Keep(self.offset()?),
            Status::NotLeader => Answer::NotLeader,
            Status::Failed => Answer::Failed,
            Status::CommitSuccess => Answer::CommitSuccess,
            Status::CommitContinue => Answer::CommitContinue,
            Status::Processed => Answer::Processed,
            Status::UploadSuccess => Answer::UploadSuccess,
        })
    }

    fn offset(&self) -> Result<u64, WireError> {
        let text = self.stream_partition_msg_offset.as_deref();
        let text = text.ok_or(WireError::Missing(OFFSET))?;
        decimal(text).ok_or(WireError::Number(OFFSET))
    }
}
