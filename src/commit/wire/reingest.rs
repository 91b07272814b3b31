//! Reingestion on the wire: a controller asks a server over HTTP, and the answer is a JSON object (dossier 10).
//!
//! Unlike the completion protocol it says by the HTTP status how the request was taken.

use super::super::message::ReingestStatus;
use super::{Encoded, WireError, decoded};

const PATH: &str = "/reingestSegment/";
const JOBS: &str = "/reingestSegment/jobs";

/// What is asked of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// `POST /reingestSegment/<segment>`, with `{}` as its body: read this segment again.
    Begin(String),
    /// `GET /reingestSegment/jobs`: which jobs run. Those that wait are not listed, upstream.
    Jobs,
}

impl Request {
    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Begin(_) => "POST",
            Self::Jobs => "GET",
        }
    }

    /// The path.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            Self::Begin(segment) => format!("{PATH}{}", Encoded(segment)),
            Self::Jobs => JOBS.into(),
        }
    }

    /// Reads a request. The method tells the list of jobs from a segment that is called `jobs`.
    ///
    /// # Errors
    ///
    /// [`WireError::Path`] if there is no such method or path, [`WireError::Encoding`].
    pub fn from_url(method: &str, url: &str) -> Result<Self, WireError> {
        let path = url.split('?').next().unwrap_or(url);
        match method {
            "GET" if path == JOBS => Ok(Self::Jobs),
            "POST" => {
                let segment = path.strip_prefix(PATH).filter(|segment| !segment.is_empty());
                let segment = segment.filter(|segment| !segment.contains('/'));
                // A plus stands for a blank in a query only.
                let segment = segment.ok_or(WireError::Path)?.replace('+', "%2B");
                Ok(Self::Begin(decoded(&segment)?))
            }
            _ => Err(WireError::Path),
        }
    }
}

/// A job: the body of the answer that one has begun, and an item of the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct Job {
    /// A name for the job, of no meaning to anybody else.
    pub job_id: String,
    /// Its segment.
    pub segment_name: String,
    /// When it began, ms since the epoch by the server's clock.
    pub start_time_ms: u64,
}

/// The body of an answer that refuses, as of any other request to Pinot over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Refused {
    /// The HTTP status once more.
    pub code: u16,
    /// For people.
    #[cfg_attr(feature = "serde", serde(default))]
    pub error: Option<String>,
}

/// How a server answers a request to read a segment again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Answer {
    /// 200: a job has begun.
    Begun(Job),
    /// Any other status.
    Refused(Refused),
}

impl Answer {
    /// The answer of a server that took the request so; `job` is told if it has begun.
    #[must_use]
    pub fn of(status: ReingestStatus, job: Job) -> Self {
        let says = match status {
            ReingestStatus::Accepted => return Self::Begun(job),
            ReingestStatus::NotFound => "this server has no such segment",
            ReingestStatus::Conflict => "the segment is being read again here, or is completed",
            ReingestStatus::TooMany => "as many jobs run as may",
            ReingestStatus::NotReady => "the server or the segment is not ready for it",
        };
        let error = Some(format!("{}: {says}", job.segment_name));
        Self::Refused(Refused { code: status.code(), error })
    }

    /// The HTTP status.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::Begun(_) => ReingestStatus::Accepted.code(),
            Self::Refused(refused) => refused.code,
        }
    }

    /// How the server took the request.
    ///
    /// # Errors
    ///
    /// See [`status`].
    pub fn status(&self) -> Result<ReingestStatus, WireError> {
        status(self.code())
    }

    /// The answer of this HTTP status and body.
    ///
    /// # Errors
    ///
    /// [`WireError::Encoding`] if the body is no such object; [`WireError::Number`] as [`status`].
    #[cfg(feature = "serde")]
    pub fn read<'de, D: serde::Deserializer<'de>>(code: u16, body: D) -> Result<Self, WireError> {
        use serde::Deserialize as _;
        let unreadable = |_| WireError::Encoding;
        match status(code)? {
            ReingestStatus::Accepted => Job::deserialize(body).map(Self::Begun).map_err(unreadable),
            _ => {
                let refused = Refused::deserialize(body).map_err(unreadable)?;
                Ok(Self::Refused(Refused { code, ..refused }))
            }
        }
    }
}

/// How a server of any version took the request, by the HTTP status of its answer. Upstream's tree says 400 of a segment
/// that has a place where it can be had already.
///
/// # Errors
///
/// [`WireError::Number`] for a status that no server answers with.
pub fn status(code: u16) -> Result<ReingestStatus, WireError> {
    match code {
        200 => Ok(ReingestStatus::Accepted),
        404 => Ok(ReingestStatus::NotFound),
        400 | 409 => Ok(ReingestStatus::Conflict),
        429 => Ok(ReingestStatus::TooMany),
        500..=599 => Ok(ReingestStatus::NotReady),
        _ => Err(WireError::Number("status")),
    }
}
