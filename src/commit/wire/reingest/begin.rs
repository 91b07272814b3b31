//! A controller has a server read a segment again.
//!
//! | status | it says | source |
//! |---|---|---|
//! | 200 | it runs | origin 2 |
//! | 400 | the request is [`Malformed`]; upstream's tree also: the segment can be had already | dossier 10 |
//! | 404 | this server has no such segment, or metadata has none | origin 2 |
//! | 409 | the segment is being read again here, or can be had already | origin 2 |
//! | 429 | as many jobs run as may; upstream's tree has them wait instead | origin 2 |
//! | 500 | the server or the segment is not ready for it | origin 2, dossier 10 |

use super::super::Encoded;
use super::fields;
use super::{Form, Malformed, Place, REALTIME, Refused, Why};
use super::{path_decoded, segment_name};
use crate::commit::message::ReingestStatus;
use crate::commit::name::SegmentName;

const PATH: &str = "/reingestSegment";
const JOBS: &str = "/reingestSegment/jobs";
const TABLE: &str = "tableNameWithType";
const SEGMENT: &str = "segmentName";
const JOB: &str = "jobId";

/// What is asked of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Read this segment again.
    Begin(Begin),
    /// `GET /reingestSegment/jobs`: which jobs run. Those that wait are not listed, upstream.
    Jobs,
}

/// `POST /reingestSegment` with `{tableNameWithType, segmentName}` ([`Form::Text`]), or
/// `POST /reingestSegment/<segment>` with `{}` ([`Form::Tree`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Begin {
    /// How it is written, and answered.
    pub form: Form,
    /// The segment. Its name has the table's.
    pub segment: SegmentName,
}

impl Begin {
    /// The table with its type.
    #[must_use]
    pub fn table(&self) -> String {
        format!("{}{REALTIME}", self.segment.table())
    }
}

/// The body of [`Begin`]. Empty where the path says it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Body {
    /// The table with its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_name_with_type: Option<String>,
    /// The segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_name: Option<String>,
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
            Self::Begin(Begin { form: Form::Text, .. }) => PATH.into(),
            Self::Begin(Begin { form: Form::Tree, segment }) => {
                format!("{PATH}/{}", Encoded(&segment.to_string()))
            }
            Self::Jobs => JOBS.into(),
        }
    }

    /// The body, if it has one.
    #[must_use]
    pub fn body(&self) -> Option<Body> {
        let Self::Begin(begin) = self else { return None };
        let is_said = begin.form == Form::Text;
        Some(Body {
            table_name_with_type: is_said.then(|| begin.table()),
            segment_name: is_said.then(|| begin.segment.to_string()),
        })
    }

    /// Reads a request. The body is looked at only where the path does not name the segment. The method tells the list
    /// of jobs from a segment that is called `jobs`, which none is.
    ///
    /// # Errors
    ///
    /// [`Malformed`], the answer to which is made by [`Answer::from`].
    pub fn read<'de, D>(method: &str, url: &str, body: D) -> Result<Self, Malformed>
    where
        D: serde::Deserializer<'de>,
    {
        let path = url.split('?').next().unwrap_or(url);
        match (method, path, path.strip_prefix(PATH)) {
            ("GET", JOBS, _) => Ok(Self::Jobs),
            ("POST", PATH, _) => read_body(body).map(Self::Begin),
            ("POST", _, Some(rest)) => read_path(rest).map(Self::Begin),
            (_, _, _) => Err(no_such()),
        }
    }
}

fn no_such() -> Malformed {
    Malformed { place: Place::Path, name: "", why: Why::NoSuch }
}

fn read_path(rest: &str) -> Result<Begin, Malformed> {
    let segment = rest.strip_prefix('/').filter(|segment| !segment.is_empty());
    let segment = segment.filter(|segment| !segment.contains('/')).ok_or(no_such())?;
    let segment = segment_name(Place::Path, SEGMENT, &path_decoded(SEGMENT, segment)?)?;
    Ok(Begin { form: Form::Tree, segment })
}

fn read_body<'de, D: serde::Deserializer<'de>>(body: D) -> Result<Begin, Malformed> {
    let most = super::MAX_NAME_BYTES;
    let [table, segment] = fields::read(body, [(TABLE, most + REALTIME.len()), (SEGMENT, most)])?;
    let (table, segment) = (table.text(TABLE)?, segment.text(SEGMENT)?);
    let malformed = |why| Malformed { place: Place::Body, name: TABLE, why };
    let table = table.strip_suffix(REALTIME).filter(|table| !table.is_empty());
    let table = table.ok_or(malformed(Why::Type))?;
    let segment = segment_name(Place::Body, SEGMENT, &segment)?;
    if segment.table() != table {
        return Err(malformed(Why::OtherTable));
    }
    Ok(Begin { form: Form::Text, segment })
}

/// A job: an item of the list, and in [`Form::Tree`] the answer that it has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// A name for the job, of no meaning to anybody else.
    pub job_id: String,
    /// The table with its type. Upstream's tree does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_name_with_type: Option<String>,
    /// Its segment.
    pub segment_name: String,
    /// When it began, ms since the epoch by the server's clock.
    pub start_time_ms: u64,
}

/// That a job has begun, in [`Form::Text`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// A name for the job, of no meaning to anybody else.
    pub job_id: String,
    /// For people.
    pub message: Option<String>,
}

/// How a server answers a request to read a segment again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// 200: a job has begun; [`Form::Text`].
    Accepted(Accepted),
    /// 200: a job has begun; [`Form::Tree`].
    Begun(Job),
    /// Any other status.
    Refused(Refused),
}

impl From<Malformed> for Answer {
    fn from(malformed: Malformed) -> Self {
        Self::Refused(malformed.into())
    }
}

impl Answer {
    /// The answer of a server that took the request so. If it has begun, the job is called `job_id` and began at
    /// `start_time_ms`, ms since the epoch by the server's clock.
    #[must_use]
    pub fn of(status: ReingestStatus, to: &Begin, job_id: &str, start_time_ms: u64) -> Self {
        let says = match (status, to.form) {
            (ReingestStatus::Accepted, Form::Text) => {
                let message = Some(format!("{}: it is read again", to.segment));
                return Self::Accepted(Accepted { job_id: job_id.into(), message });
            }
            (ReingestStatus::Accepted, Form::Tree) => {
                let segment_name = to.segment.to_string();
                let (job_id, table_name_with_type) = (job_id.into(), None);
                return Self::Begun(Job {
                    job_id,
                    table_name_with_type,
                    segment_name,
                    start_time_ms,
                });
            }
            (ReingestStatus::NotFound, _) => "this server has no such segment",
            (ReingestStatus::Conflict, _) => {
                "the segment is being read again here, or is completed"
            }
            (ReingestStatus::TooMany, _) => "as many jobs run as may",
            (ReingestStatus::NotReady, _) => "the server or the segment is not ready for it",
        };
        Self::Refused(Refused::new(status.code(), format!("{}: {says}", to.segment)))
    }

    /// The HTTP status.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Self::Accepted(_) | Self::Begun(_) => ReingestStatus::Accepted.code(),
            Self::Refused(refused) => refused.code,
        }
    }

    /// How the server took the request.
    ///
    /// # Errors
    ///
    /// See [`status`].
    pub fn status(&self) -> Result<ReingestStatus, Malformed> {
        status(self.code())
    }

    /// The answer of this HTTP status and body, in whichever form. A refusal is one whatever its body.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the status is none of them, or the body of a job that has begun does not say it.
    pub fn read<'de, D: serde::Deserializer<'de>>(code: u16, body: D) -> Result<Self, Malformed> {
        match status(code)? {
            ReingestStatus::Accepted => read_begun(body),
            _ => Ok(Self::Refused(Refused::read(code, body))),
        }
    }
}

fn read_begun<'de, D: serde::Deserializer<'de>>(body: D) -> Result<Answer, Malformed> {
    const START: &str = "startTimeMs";
    const MAX_MESSAGE_BYTES: usize = 4_096;
    let most = super::MAX_NAME_BYTES;
    let names = [(JOB, most), (SEGMENT, most), (START, most), ("message", MAX_MESSAGE_BYTES)];
    let [job, segment, start, message] = fields::read(body, names)?;
    let job_id = job.text(JOB)?;
    if segment.is_absent() && start.is_absent() {
        return Ok(Answer::Accepted(Accepted { job_id, message: message.into_text() }));
    }
    let (segment_name, start_time_ms) = (segment.text(SEGMENT)?, start.number(START)?);
    Ok(Answer::Begun(Job { job_id, table_name_with_type: None, segment_name, start_time_ms }))
}

/// How a server of any version took the request, by the HTTP status of its answer. 400 is told of a segment that can be
/// had already (upstream's tree), and of a request that nobody should send twice: there is nothing to be read either way.
///
/// # Errors
///
/// [`Place::Status`] for a status that no server answers with.
pub fn status(code: u16) -> Result<ReingestStatus, Malformed> {
    match code {
        200 => Ok(ReingestStatus::Accepted),
        404 => Ok(ReingestStatus::NotFound),
        400 | 409 => Ok(ReingestStatus::Conflict),
        429 => Ok(ReingestStatus::TooMany),
        500..=599 => Ok(ReingestStatus::NotReady),
        _ => Err(Malformed { place: Place::Status, name: "", why: Why::Number }),
    }
}
