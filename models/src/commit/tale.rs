//! Telling what happened, in the protocol's own words.

use surehold::commit::completion::{Answer, Kind};
use surehold::commit::effect::{Change, Expected, Source};
use surehold::commit::message::{Ask, RefillStatus, Report, Request, Tell};
use surehold::commit::object::{Location, ObjectId, Record, ReplicaState, SegmentId, Status};
use surehold::commit::server::state::Work;
use surehold::commit::{ControllerEffect, Guard, Refusal, ServerEffect, Task};

use super::model::{Action, Fate, Who};
use super::scope::server_name;
use super::world::{Rewriting, World};
pub use crate::line::Line;

/// A story being told, or not: an untold one costs nothing.
#[derive(Debug, Default)]
pub struct Tale {
    lines: Option<Vec<Line>>,
    heard: Vec<(u8, &'static str)>,
}

impl Tale {
    /// A story nobody hears.
    #[must_use]
    pub fn untold() -> Self {
        Self::default()
    }

    /// A story.
    #[must_use]
    pub fn told() -> Self {
        Self { lines: Some(Vec::new()), heard: Vec::new() }
    }

    /// Its lines.
    #[must_use]
    pub fn into_lines(self) -> Vec<Line> {
        self.lines.unwrap_or_default()
    }

    /// The answers that were given to servers, each in a word, lost ones as well; of a story that is told.
    #[must_use]
    pub fn heard(&self) -> &[(u8, &'static str)] {
        &self.heard
    }

    fn add(&mut self, note: impl FnOnce() -> String) {
        let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) else { return };
        let note = note();
        if line.note.is_empty() {
            line.note = note;
        } else {
            line.note.push_str("; ");
            line.note.push_str(&note);
        }
    }

    pub(super) fn begins(&mut self, world: &World, action: Action) {
        if let Some(lines) = &mut self.lines {
            let (actor, action) = event(world, action);
            lines.push(Line { actor, action, note: String::new(), decided_by: Vec::new() });
        }
    }

    pub(super) fn decides(&mut self, guards: &[Guard]) {
        if let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) {
            line.decided_by.extend(guards.iter().map(|guard| guard.name()));
        }
    }

    pub(super) fn answers(&mut self, server: u8, answer: Answer, lost: bool) {
        if self.lines.is_some() {
            self.heard.push((server, word(answer)));
        }
        self.add(|| {
            let lost = if lost { " (lost)" } else { "" };
            format!("{} is answered {}{lost}", server_name(server.into()), answer_name(answer))
        });
    }

    pub(super) fn refills(&mut self, server: u8, status: RefillStatus, lost: bool) {
        if self.lines.is_some() {
            self.heard.push((server, status.name()));
        }
        self.add(|| {
            let lost = if lost { " (lost)" } else { "" };
            format!("{} is answered {}, {status}{lost}", server_name(server.into()), status.code())
        });
    }

    pub(super) fn reports(&mut self, report: &Report) {
        self.add(|| match report {
            Report::Reingest(status) => format!("answers {}", status.code()),
            Report::Uploaded { copy, .. } => format!("stored rows {}", rows(copy.crc.0 >> 3)),
            Report::NotUploaded => "has nothing to store".into(),
            Report::Supplies(true) => "has all rows".into(),
            Report::Supplies(false) => "has not all rows".into(),
        });
    }

    pub(super) fn shows(&mut self, server: u8, segment: SegmentId, state: ReplicaState) {
        self.add(|| {
            format!(
                "{} is {} with {}",
                server_name(server.into()),
                state_name(state),
                name(segment)
            )
        });
    }

    /// A read was followed by its write: that is what is told.
    pub(super) fn goes_on(&mut self, world: &World, controller: u8, number: u16) {
        let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) else { return };
        let mut pending = world.controllers[usize::from(controller)].pending.iter();
        let next = pending.find(|pending| pending.issued.id.number == number);
        if let Some(next) = next.filter(|next| !is_read(&next.issued.effect)) {
            let fate = line.action.find(" (").map_or(String::new(), |at| line.action[at..].into());
            line.action = format!("{}{fate}", of_controller(&next.issued.effect));
        }
    }

    pub(super) fn compares(&mut self, applied: bool) {
        if !applied {
            self.add(|| "refused: it is not as expected".into());
        }
    }

    pub(super) fn refuses(&mut self, refusal: Refusal) {
        self.add(|| format!("not taken: {refusal}"));
    }
}

/// How a segment is called.
#[must_use]
pub fn name(segment: SegmentId) -> String {
    let second = if segment.minute > 0 { "'" } else { "" };
    let partition = match segment.partition.0 {
        0 => String::new(),
        other => format!("partition {other} "),
    };
    format!("{partition}seq {}{second}", segment.sequence)
}

/// The offsets that bits stand for.
#[must_use]
pub fn rows(mask: u32) -> String {
    let offsets: Vec<_> =
        (0..32).filter(|at| mask >> at & 1 == 1).map(|at| at.to_string()).collect();
    if offsets.is_empty() { "none".into() } else { offsets.join(" ") }
}

fn state_name(state: ReplicaState) -> &'static str {
    match state {
        ReplicaState::Offline => "OFFLINE",
        ReplicaState::Consuming => "CONSUMING",
        ReplicaState::Online => "ONLINE",
        ReplicaState::Error => "ERROR",
        ReplicaState::Dropped => "DROPPED",
    }
}

fn answer_name(answer: Answer) -> String {
    match answer {
        Answer::Commit { offset, .. } => format!("COMMIT at {offset}"),
        Answer::Hold(_) => "HOLD".into(),
        Answer::CatchUp(offset) => format!("CATCH_UP to {offset}"),
        Answer::Discard => "DISCARD".into(),
        Answer::Keep(offset) => format!("KEEP at {offset}"),
        Answer::NotLeader => "NOT_LEADER".into(),
        Answer::Failed => "FAILED".into(),
        Answer::CommitSuccess => "COMMIT_SUCCESS".into(),
        Answer::CommitContinue => "COMMIT_CONTINUE".into(),
        Answer::Processed => "PROCESSED".into(),
        Answer::UploadSuccess => "UPLOAD_SUCCESS".into(),
    }
}

/// An answer, in a word.
fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Commit { .. } => "COMMIT",
        Answer::Hold(_) => "HOLD",
        Answer::CatchUp(_) => "CATCH_UP",
        Answer::Discard => "DISCARD",
        Answer::Keep(_) => "KEEP",
        Answer::NotLeader => "NOT_LEADER",
        Answer::Failed => "FAILED",
        Answer::CommitSuccess => "COMMIT_SUCCESS",
        Answer::CommitContinue => "COMMIT_CONTINUE",
        Answer::Processed => "PROCESSED",
        Answer::UploadSuccess => "UPLOAD_SUCCESS",
    }
}

fn event(world: &World, action: Action) -> (String, String) {
    let controller = |at: u8| format!("C{at}");
    let server = |at: u8| server_name(at.into());
    match action {
        Action::Run(Who::Controller(at), number, fate) => {
            let pending = world.controllers[usize::from(at)].pending.iter();
            let effect = pending.into_iter().find(|p| p.issued.id.number == number);
            let what = effect.map_or_else(String::new, |p| of_controller(&p.issued.effect));
            (controller(at), format!("{what}{}", fated(fate)))
        }
        Action::Run(Who::Server(at), number, fate) => {
            let pending = world.servers[usize::from(at)].pending.iter();
            let effect = pending.into_iter().find(|p| p.issued.id.number == number);
            let what = effect.map_or_else(String::new, |p| of_server(&p.issued.effect));
            (server(at), format!("{what}{}", fated(fate)))
        }
        Action::Begin(at, task, pick) => {
            let what = match task {
                Task::Validate(_) => "validates the partition",
                Task::Repair(_) => "repairs what is in error",
                Task::Retry(_) => "looks for what is not stored",
                Task::Retain(_) => "deletes what is out of retention",
            };
            let pick =
                if pick > 0 { format!(", from the {}. on", pick + 1) } else { String::new() };
            (controller(at), format!("{what}{pick}"))
        }
        Action::Transition(at, segment, to) => {
            (server(at), format!("is to be {} with {}", state_name(to), name(segment)))
        }
        Action::Stop(at, segment) => (server(at), format!("stops {} by its clock", name(segment))),
        Action::GiveUp(at, segment) => {
            let role = world.servers[usize::from(at)].role.as_ref();
            let replica = role.and_then(|role| role.replica(segment));
            let reads = replica.is_some_and(|replica| matches!(replica.work, Work::Catching(_)));
            let what = if reads { "to catch up with" } else { "for a copy of" };
            (server(at), format!("waits no longer {what} {}", name(segment)))
        }
        Action::Crash(at, true) => (server(at), "crashes and never returns".into()),
        Action::Crash(at, false) => (server(at), "crashes; its disk stays".into()),
        Action::Restart(at) => (server(at), "starts again".into()),
        Action::CrashController(at) => (controller(at), "crashes and starts again".into()),
        Action::Lead => (controller(world.leader + 1), "leads from now on".into()),
        Action::Expire(partition) => {
            let stream = match partition.0 {
                0 => "stream".into(),
                other => format!("stream {other}"),
            };
            (stream, format!("forgets offset {}", world.first_of(partition)))
        }
        Action::Age => ("time".into(), "passes: all records are old".into()),
        Action::Rewrite(segment) => {
            ("minion".into(), format!("begins to replace {}", name(segment)))
        }
        Action::Minion => {
            ("minion".into(), world.rewriting.as_deref().map_or_else(String::new, minion))
        }
        Action::CrashMinion => ("minion".into(), "crashes".into()),
        Action::Land(at) => {
            let late = world.adrift.get(usize::from(at));
            let what = late.map_or_else(String::new, of_controller);
            ("late".into(), format!("somebody {what}"))
        }
        Action::Toggle => ("operator".into(), "switches the table's mode".into()),
        Action::Break(at, segment) => {
            (server(at), format!("cannot go on consuming {}", name(segment)))
        }
        Action::Pause => ("operator".into(), "pauses consumption".into()),
        Action::Resume => ("operator".into(), "resumes consumption".into()),
    }
}

/// What a minion does next.
fn minion(upload: &Rewriting) -> String {
    let segment = name(upload.segment);
    if upload.is_put {
        return format!(
            "compares and writes the record of {segment}: {}",
            record_text(&upload.record)
        );
    }
    match upload.object.attempt {
        Some(_) => format!("stores its copy of {segment}"),
        None => format!("puts its copy onto the own object of {segment}"),
    }
}

fn fated(fate: Fate) -> &'static str {
    match fate {
        Fate::Well => "",
        Fate::Lost => " (the reply is lost)",
        Fate::Mute => " (the answer is lost)",
        Fate::Failed => " (it fails)",
        Fate::Missed => " (it has no effect, and nobody says so)",
        Fate::Late => " (the lease is over)",
        Fate::Astray => " (to the controller that led before)",
        Fate::Unread => " (the read fails)",
        Fate::Adrift => " (it lands later, and nobody says so)",
    }
}

pub(super) fn is_read(effect: &ControllerEffect) -> bool {
    matches!(
        effect,
        ControllerEffect::ReadRecord(_)
            | ControllerEffect::ListRecords(_)
            | ControllerEffect::ReadIdeal
            | ControllerEffect::ReadView
            | ControllerEffect::ReadStream(_)
            | ControllerEffect::ReadLatest(..)
    )
}

fn of_controller(effect: &ControllerEffect) -> String {
    match effect {
        ControllerEffect::ReadRecord(id) => {
            format!("reads the record of {}", name(*id))
        }
        ControllerEffect::ListRecords(_) => "reads all records".into(),
        ControllerEffect::WriteRecord(id, record, expected) => {
            let how = match expected {
                Expected::Anything => "writes",
                Expected::Absent => "creates",
                Expected::Version(_) => "compares and writes",
            };
            format!("{how} the record of {}: {}", name(*id), record_text(record))
        }
        ControllerEffect::DeleteRecord(id) => format!("deletes the record of {}", name(*id)),
        ControllerEffect::ReadIdeal => "reads the ideal state".into(),
        ControllerEffect::WriteIdeal(_, changes) => {
            let all: Vec<_> = changes.iter().map(change_text).collect();
            format!("writes the ideal state: {}", all.join(", "))
        }
        ControllerEffect::ReadView => "reads the view".into(),
        ControllerEffect::ReadStream(_) => "asks the stream where it begins".into(),
        ControllerEffect::ReadLatest(..) => "asks the stream where it ends".into(),
        ControllerEffect::Promote(object) => {
            format!("moves {} onto the segment's own", object_text(*object))
        }
        ControllerEffect::Reset(id, server) => {
            format!("resets {} on {}", name(*id), server_name(server.0))
        }
        ControllerEffect::Call(order) => {
            let what = match order.body {
                Tell::Reingest => "to read the segment again",
                Tell::Upload => "to store its copy",
                Tell::Supply(_) => "whether it has all rows",
                Tell::Exceed(_) => "whether it can put together more rows",
            };
            format!("asks {} {what} ({})", server_name(order.server.0), name(order.segment))
        }
        ControllerEffect::Answer(..) | ControllerEffect::AnswerRefill(..) => "answers".into(),
    }
}

fn record_text(record: &Record) -> String {
    let status = match record.status {
        Status::InProgress => "IN_PROGRESS",
        Status::Committing => "COMMITTING",
        Status::Done => "DONE",
        Status::Uploaded => "UPLOADED",
    };
    let end = record.end.map_or_else(|| "..".into(), |end| end.to_string());
    let rows = record.crc.map(|crc| format!(", rows {}", rows(crc.0 >> 3))).unwrap_or_default();
    let peers = if record.location == Some(Location::Peers) { ", on peers only" } else { "" };
    format!("{status} [{}, {end}){rows}{peers}", record.start)
}

fn change_text(change: &Change) -> String {
    match change {
        Change::Set(id, state) => format!("{} {}", name(*id), state_name(*state)),
        Change::SetReplica(id, server, state) => {
            format!("{} {} on {}", name(*id), state_name(*state), server_name(server.0))
        }
        Change::Add(id, _) | Change::Begin(id) => format!("{} CONSUMING", name(*id)),
        Change::Remove(id) => format!("{} no more", name(*id)),
    }
}

fn object_text(object: ObjectId) -> String {
    match object.attempt {
        Some(attempt) => format!("attempt {attempt} of {}", name(object.segment)),
        None => format!("the object of {}", name(object.segment)),
    }
}

fn of_server(effect: &ServerEffect) -> String {
    match effect {
        ServerEffect::ReadRecord(id) => format!("reads the record of {}", name(*id)),
        ServerEffect::PollRecord(id) => format!("reads the record of {} again", name(*id)),
        ServerEffect::ReadView => "reads the view".into(),
        ServerEffect::Fetch(id, offset) => format!("reads offset {offset} for {}", name(*id)),
        ServerEffect::Build(id, copy) => {
            format!("builds {} of rows {}", name(*id), rows(super::world::mask(copy)))
        }
        ServerEffect::Upload(object, _) => format!("stores {}", object_text(*object)),
        ServerEffect::Download(id, Source::Object(_)) => {
            format!("downloads {} from the deep store", name(*id))
        }
        ServerEffect::Download(id, Source::Peer(peer)) => {
            format!("downloads {} from {}", name(*id), server_name(peer.0))
        }
        ServerEffect::Delete(id) => format!("has deleted its copy of {}", name(*id)),
        ServerEffect::Call(request) => request_text(request),
        ServerEffect::Report(..) => "answers".into(),
        ServerEffect::Show(..) => "shows its state".into(),
    }
}

fn request_text(request: &Request) -> String {
    let of = name(request.segment);
    match &request.body {
        Ask::Say(offset, Kind::Consumed(_)) => {
            format!("says that it has consumed {of} to {offset}")
        }
        Ask::Say(offset, Kind::CommitStart) => format!("begins to commit {of} at {offset}"),
        Ask::Say(..) => format!("speaks of {of}"),
        Ask::CommitEnd { copy, stored, .. } => {
            let where_to = if *stored == Location::Peers { ", stored nowhere" } else { "" };
            format!("ends its commit of {of}: rows {}{where_to}", rows(copy.crc.0 >> 3))
        }
        Ask::Reingested { copy, .. } => {
            format!("has read {of} again: rows {}", rows(copy.crc.0 >> 3))
        }
    }
}
