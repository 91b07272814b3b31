//! What occurred while a model was explored: what controllers are told, answers, refusals, how operations ended, which
//! of them were interrupted, and guards that decided.
//!
//! Each write of a controller is counted by how it ended: applied; applied with the reply lost; failed, or without an
//! effect and unheard of; refused, as what it was to replace was another by now; and whether the controller crashed
//! before it came to it.
//!
//! What no scope can bring about is tested event by event: events that do not fit, metadata that a server cannot read,
//! a stream that has a partition no more. Rule 4 in full is upstream's; the verified validator uses an orphan again by
//! rule 1, and lists one for itself only where nothing of its partition is listed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;
use surehold::Issued;
use surehold::commit::completion::{self, Answer, Mode, Phase};
use surehold::commit::controller::state::{Chore, Errand, Owed, Retain, Retry, Stage, Validate};
use surehold::commit::effect::{Change, ControllerEffect, Expected, ServerEffect};
use surehold::commit::event::{ControllerEvent, ControllerOutcome};
use surehold::commit::message::{RefillStatus, ReingestStatus, Report};
use surehold::commit::object::{Record, ReplicaState, SegmentId, Status};
use surehold::commit::{Guard, Refusal, Task, controller};

use super::model::Action;
use super::scope::PARTITION;

/// Counters. Exploring a state counts each of its events once.
#[derive(Debug)]
pub struct Coverage {
    /// Of all rows but those of guards, which come after them.
    names: Vec<String>,
    places: HashMap<String, usize, FixedState>,
    counts: Vec<AtomicU64>,
}

/// Writes of a controller.
const STEPS: [&str; 13] = [
    "step 1",
    "step 1, blocking",
    "step 2",
    "step 3",
    "done",
    "done by the retry",
    "done by reingestion",
    "validator ends",
    "validator creates",
    "validator lists",
    "takes a replica out",
    "delists",
    "deletes",
];

/// How each of them may end, or not even begin.
const ENDS: [&str; 6] =
    ["applied", "reply lost", "fails", "no effect, unheard", "not as expected", "crash before"];

/// Whatever else is counted.
const OTHERS: [&str; 77] = [
    "answer: commit",
    "answer: hold",
    "answer: catch up",
    "answer: discard",
    "answer: keep",
    "answer: not leader",
    "answer: failed",
    "answer: commit success",
    "answer: commit continue",
    "answer: processed",
    "reingest: 200",
    "reingest: 404",
    "reingest: 409",
    "reingest: 429",
    "reingest: 500",
    "refill: done",
    "refill: already done",
    "refill: suppliable",
    "refill: overtaken",
    "refill: failed",
    "refill: not reset",
    "refused: busy",
    "supplies: yes",
    "supplies: no",
    "uploaded",
    "not uploaded",
    "event: stop",
    "event: give up",
    "event: consumer breaks",
    "event: opening fails",
    "event: crash",
    "event: death",
    "event: restart",
    "event: controller crash",
    "event: change of leader",
    "event: row expires",
    "event: records become old",
    "event: rewrite",
    "event: minion crash",
    "event: late write",
    "rewrite: recorded",
    "rewrite: not as expected",
    "read fails: a record",
    "read fails: all records",
    "read fails: the ideal state",
    "read fails: the view",
    "read fails: the stream",
    "read fails: a record, server",
    "read fails: the view, server",
    "read fails: a copy",
    "read fails: a row",
    "event: mode switch",
    "event: pause",
    "event: resume",
    "event: validate",
    "event: repair",
    "event: retry",
    "event: retain",
    "to OFFLINE",
    "to CONSUMING",
    "to ONLINE",
    "to DROPPED",
    "a loss is recorded",
    "step 3: crash after",
    "repair: crash within",
    "rule 1",
    "rule 1, with a record that is there (upstream: rule 4)",
    "rule 2",
    "rule 2, replicas are to consume again",
    "rule 3, all OFFLINE",
    "rule 3, all OFFLINE, committed",
    "rule 3, all ONLINE",
    "rule 4, nothing listed",
    "rule 5",
    "batch: two are written",
    "batch: one is left out",
    "batch: one is refused, another is written",
];

/// All rows but those of guards.
fn names() -> Vec<String> {
    let ends = STEPS.iter().flat_map(|step| ENDS.iter().map(move |end| (*step, *end)));
    // A deletion asks for no version.
    let ends = ends.filter(|name| *name != ("deletes", "not as expected"));
    let of_steps = ends.map(|(step, end)| format!("{step}: {end}"));
    OTHERS.iter().map(|name| (*name).to_string()).chain(of_steps).collect()
}

impl Default for Coverage {
    fn default() -> Self {
        let names = names();
        let places = names.iter().cloned().zip(0..).collect();
        let cells = names.len() + Guard::ALL.len();
        Self { names, places, counts: (0..cells).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Coverage {
    /// A server is answered.
    pub fn answered(&self, answer: Answer) {
        self.named(match answer {
            Answer::Commit { .. } => "answer: commit",
            Answer::Hold(_) => "answer: hold",
            Answer::CatchUp(_) => "answer: catch up",
            Answer::Discard => "answer: discard",
            Answer::Keep(_) => "answer: keep",
            Answer::NotLeader => "answer: not leader",
            Answer::Failed => "answer: failed",
            Answer::CommitSuccess => "answer: commit success",
            Answer::CommitContinue => "answer: commit continue",
            Answer::Processed => "answer: processed",
            // It answers an upload by way of the controller; servers here go to the deep store themselves.
            Answer::UploadSuccess => return,
        });
    }

    /// A server is answered that has read a segment again. The others would need a record whose range changes or that
    /// vanishes while it is read, or upstream's controller: they are tested one by one.
    pub fn refilled(&self, status: RefillStatus) {
        match status {
            RefillStatus::Done => self.named("refill: done"),
            RefillStatus::AlreadyDone => self.named("refill: already done"),
            RefillStatus::Suppliable => self.named("refill: suppliable"),
            RefillStatus::Overtaken => self.named("refill: overtaken"),
            RefillStatus::Failed => self.named("refill: failed"),
            RefillStatus::NotReset => self.named("refill: not reset"),
            RefillStatus::OtherRange
            | RefillStatus::NotFound
            | RefillStatus::NotCommitting
            | RefillStatus::Unknown => {}
        }
    }

    /// A controller is answered.
    pub fn reported(&self, report: &Report) {
        self.named(match report {
            Report::Reingest(ReingestStatus::Accepted) => "reingest: 200",
            Report::Reingest(ReingestStatus::NotFound) => "reingest: 404",
            Report::Reingest(ReingestStatus::Conflict) => "reingest: 409",
            Report::Reingest(ReingestStatus::TooMany) => "reingest: 429",
            Report::Reingest(ReingestStatus::NotReady) => "reingest: 500",
            Report::Supplies(true) => "supplies: yes",
            Report::Supplies(false) => "supplies: no",
            Report::Uploaded { .. } => "uploaded",
            Report::NotUploaded => "not uploaded",
        });
    }

    /// An event was refused.
    pub fn refused(&self, refusal: Refusal) {
        if matches!(refusal, Refusal::Busy(_)) {
            self.named("refused: busy");
        }
    }

    /// An event of the world happened.
    pub fn happened(&self, action: &Action) {
        self.named(match action {
            Action::Run(..) => return,
            Action::Begin(_, Task::Validate(_), _) => "event: validate",
            Action::Begin(_, Task::Repair(_), _) => "event: repair",
            Action::Begin(_, Task::Retry(_), _) => "event: retry",
            Action::Begin(_, Task::Retain(_), _) => "event: retain",
            Action::Transition(_, _, ReplicaState::Offline | ReplicaState::Error) => "to OFFLINE",
            Action::Transition(_, _, ReplicaState::Consuming) => "to CONSUMING",
            Action::Transition(_, _, ReplicaState::Online) => "to ONLINE",
            Action::Transition(_, _, ReplicaState::Dropped) => "to DROPPED",
            Action::Stop(..) => "event: stop",
            Action::GiveUp(..) => "event: give up",
            Action::Break(..) => "event: consumer breaks",
            Action::Crash(_, false) => "event: crash",
            Action::Crash(_, true) => "event: death",
            Action::Restart(_) => "event: restart",
            Action::CrashController(_) => "event: controller crash",
            Action::Lead => "event: change of leader",
            Action::Expire(_) => "event: row expires",
            Action::Age => "event: records become old",
            Action::Rewrite(_) => "event: rewrite",
            Action::Minion => return,
            Action::CrashMinion => "event: minion crash",
            Action::Land(_) => "event: late write",
            Action::Toggle => "event: mode switch",
            Action::Pause => "event: pause",
            Action::Resume => "event: resume",
        });
    }

    /// A minion writes the record of what it has put.
    pub fn rewritten(&self, is_applied: bool) {
        self.named(if is_applied { "rewrite: recorded" } else { "rewrite: not as expected" });
    }

    /// A controller's read fails.
    pub fn unread(&self, effect: &ControllerEffect) {
        self.named(match effect {
            ControllerEffect::ReadRecord(_) => "read fails: a record",
            ControllerEffect::ListRecords(_) => "read fails: all records",
            ControllerEffect::ReadIdeal => "read fails: the ideal state",
            ControllerEffect::ReadView => "read fails: the view",
            _ => "read fails: the stream",
        });
    }

    /// A server's read fails.
    pub fn unread_by_server(&self, effect: &ServerEffect) {
        self.named(match effect {
            ServerEffect::ReadView => "read fails: the view, server",
            ServerEffect::Download(..) => "read fails: a copy",
            ServerEffect::Fetch(..) => "read fails: a row",
            _ => "read fails: a record, server",
        });
    }

    /// A replica fails to open.
    pub fn failed_to_open(&self) {
        self.named("event: opening fails");
    }

    /// A replica is reset.
    pub fn reset(&self) {
        self.named("to OFFLINE");
    }

    /// A controller writes, and this comes of it. `before` is the record that is written, as it was.
    pub fn wrote(
        &self,
        effect: &ControllerEffect,
        owed: Owed,
        before: Option<&Record>,
        end: &'static str,
    ) {
        if let Some(step) = step_of(effect, owed, before) {
            self.named(&format!("{step}: {end}"));
        }
        if let ControllerEffect::WriteRecord(_, record, _) = effect
            && before.is_some_and(|before| before.lost != record.lost)
            && end == "applied"
        {
            self.named("a loss is recorded");
        }
    }

    /// A controller has taken a step: what became of those who had come to step 3 together. Of those only one that is
    /// refused is answered FAILED while others are written.
    pub fn batched(
        &self,
        before: &controller::State,
        after: &controller::State,
        asked: &[Issued<ControllerEffect>],
    ) {
        let is_written = |segment| {
            let mut all = after.errands();
            all.any(|(id, of)| id == segment && matches!(of.stage, Stage::Switching { .. }))
        };
        let waits = |errand: &Errand| matches!(errand.stage, Stage::Listing(_) | Stage::Ageing(_));
        let waited: Vec<_> =
            before.errands().filter(|(_, errand)| waits(errand)).map(|(id, _)| id).collect();
        let written = waited.iter().filter(|id| is_written(**id)).count();
        let left = |id: &&SegmentId| after.in_step_3().all(|(other, _)| other != **id);
        if written > 1 {
            self.named("batch: two are written");
        }
        if written > 0 && waited.iter().any(|id| left(&id)) {
            self.named("batch: one is left out");
            let fails = |effect: &ControllerEffect| {
                matches!(effect, ControllerEffect::Answer(_, Answer::Failed))
            };
            if asked.iter().any(|issued| fails(&issued.effect)) {
                self.named("batch: one is refused, another is written");
            }
        }
    }

    /// A controller crashes in the middle of something. `segments` are those that there are, with their status.
    pub fn interrupted(
        &self,
        role: &controller::State,
        segments: impl Iterator<Item = (SegmentId, Status)>,
    ) {
        if role.refills().next().is_some() {
            self.named("done by reingestion: crash before");
        }
        for (segment, status) in segments {
            let step = role.errand(segment).and_then(|errand| step_under_way(errand, status));
            if let Some(step) = step {
                self.named(&format!("{step}: crash before"));
            }
            if role.errand(segment).is_none() && is_started(role.machine(segment)) {
                self.named("step 3: crash after");
            }
        }
        let tasks = [Task::Validate, Task::Repair, Task::Retry, Task::Retain];
        for chore in tasks.into_iter().filter_map(|task| role.chore(task(PARTITION))) {
            if let Some(name) = chore_under_way(chore) {
                self.named(name);
            }
        }
    }

    /// The validator has read all that it looks at. `role` is its state before, `after` the one that comes of it, and
    /// `asked` what it does.
    pub fn validated(
        &self,
        role: &controller::State,
        event: &ControllerEvent,
        after: &controller::State,
        asked: &[Issued<ControllerEffect>],
    ) {
        let ControllerEvent::Outcome { id, outcome: ControllerOutcome::Records(records) } = event
        else {
            return;
        };
        let Some(Owed::Chore(task @ Task::Validate(partition))) = role.owes(id.number) else {
            return;
        };
        let Some(Chore::Validate(Validate::Records(_, _, ideal, _))) = role.chore(task) else {
            return;
        };
        let last = records.iter().rfind(|(id, _)| ideal.segments.contains_key(id));
        let created = match after.chore(task) {
            Some(Chore::Validate(
                Validate::Ending(_, Some(_), changes) | Validate::Creating(_, changes),
            )) => Some(changes),
            _ => None,
        };
        let with_one_left = match after.chore(task) {
            Some(Chore::Validate(Validate::Ending(_, None, changes))) => Some(changes),
            _ => None,
        };
        let listed = asked.iter().find_map(|issued| match &issued.effect {
            ControllerEffect::WriteIdeal(_, changes) => Some(changes),
            _ => None,
        });
        let all = |state| {
            let replicas = last.and_then(|(id, _)| ideal.segments.get(id));
            replicas.is_some_and(|replicas| replicas.values().all(|is| *is == state))
        };
        let changes = created.or(with_one_left).or(listed);
        let rule = match (created, changes.map(Vec::as_slice)) {
            (_, Some([Change::Set(..), ..])) if all(ReplicaState::Offline) => {
                "rule 3, all OFFLINE, committed"
            }
            (Some(_), Some([Change::Set(..), ..])) => "rule 1",
            (None, Some([Change::Set(..), ..])) => {
                "rule 1, with a record that is there (upstream: rule 4)"
            }
            (_, Some([Change::Add(..)])) if all(ReplicaState::Offline) => "rule 3, all OFFLINE",
            (_, Some([Change::Add(..)])) => "rule 3, all ONLINE",
            (Some(_), Some([Change::Begin(_)])) => "rule 5",
            (None, Some([Change::Begin(_)])) => "rule 4, nothing listed",
            (_, Some([Change::SetReplica(..), ..])) => "rule 2, replicas are to consume again",
            (_, Some(_)) => return,
            (_, None) => {
                let consumed = ideal.of(partition).any(|(id, _)| {
                    let is_last = last.is_some_and(|(last, _)| *last == id);
                    is_last && ideal.has(id, ReplicaState::Consuming)
                });
                let open = last.is_some_and(|(_, of)| of.record.status == Status::InProgress);
                if !(consumed && open) {
                    return;
                }
                "rule 2"
            }
        };
        self.named(rule);
    }

    /// Guards decided a step.
    pub fn decided(&self, guards: &[Guard]) {
        for guard in guards {
            let at = Guard::ALL.iter().position(|other| other == guard);
            if let Some(at) = at {
                self.counts[self.names.len() + at].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn named(&self, name: &str) {
        if let Some(at) = self.places.get(name) {
            self.counts[*at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Names and counts; guards that give each operation of a kind its form decide nothing one can count.
    pub fn table(&self) -> Vec<(String, u64)> {
        let names = self.names.iter().cloned();
        let guards = Guard::ALL.iter().map(|guard| format!("guard {}", guard.name()));
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let mut rows: Vec<_> = names.chain(guards).zip(counts).collect();
        let silent =
            Guard::ALL.into_iter().filter(|guard| guard.is_form() || guard.is_second_line());
        let silent: Vec<_> = silent.map(|guard| format!("guard {}", guard.name())).collect();
        rows.retain(|(name, _)| !silent.contains(name));
        rows
    }
}

/// Which write an operation is.
fn step_of(effect: &ControllerEffect, owed: Owed, before: Option<&Record>) -> Option<&'static str> {
    let step = match (effect, owed) {
        (ControllerEffect::WriteRecord(_, record, _), Owed::Errand(_) | Owed::Batch) => {
            match record.status {
                Status::Committing => "step 1",
                Status::InProgress => "step 2",
                Status::Done | Status::Uploaded => {
                    let open = before.is_some_and(|before| before.status == Status::InProgress);
                    if open { "step 1, blocking" } else { "done" }
                }
            }
        }
        (ControllerEffect::WriteRecord(..), Owed::Refill(..)) => "done by reingestion",
        (
            ControllerEffect::WriteRecord(_, _, Expected::Version(_)),
            Owed::Chore(Task::Validate(_)),
        ) => "validator ends",
        (ControllerEffect::WriteRecord(..), Owed::Chore(Task::Validate(_))) => "validator creates",
        (ControllerEffect::WriteRecord(..), Owed::Chore(_)) => "done by the retry",
        (ControllerEffect::WriteIdeal(..), Owed::Errand(_)) => "takes a replica out",
        (ControllerEffect::WriteIdeal(..), Owed::Batch) => "step 3",
        (ControllerEffect::WriteIdeal(..), Owed::Chore(Task::Validate(_))) => "validator lists",
        (ControllerEffect::WriteIdeal(..), _) => "delists",
        (ControllerEffect::DeleteRecord(_), _) => "deletes",
        (
            ControllerEffect::ReadRecord(_)
            | ControllerEffect::ListRecords(_)
            | ControllerEffect::ReadIdeal
            | ControllerEffect::ReadView
            | ControllerEffect::ReadStream(_)
            | ControllerEffect::ReadLatest(..)
            | ControllerEffect::Promote(_)
            | ControllerEffect::Reset(..)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..)
            | ControllerEffect::AnswerRefill(..),
            _,
        ) => return None,
    };
    Some(step)
}

/// Which write an errand is about to make.
fn step_under_way(errand: &Errand, status: Status) -> Option<&'static str> {
    match errand.stage {
        Stage::Reading | Stage::Closing | Stage::Storing | Stage::Promoting => {
            Some(match errand.cargo {
                None => "step 1",
                Some(_) if status == Status::InProgress => "step 1, blocking",
                Some(_) => "done",
            })
        }
        Stage::Streaming
        | Stage::Measuring
        | Stage::Pausing
        | Stage::Finding
        | Stage::Creating(_) => Some("step 2"),
        Stage::Ageing(_) | Stage::Listing(_) | Stage::Switching { .. } => Some("step 3"),
        Stage::LookingUp | Stage::TakingOut => Some("takes a replica out"),
        Stage::Making
        | Stage::CleaningUp { .. }
        | Stage::Weighing
        | Stage::Halving
        | Stage::Restarting => None,
    }
}

/// What a crash does to a task.
fn chore_under_way(chore: &Chore) -> Option<&'static str> {
    match chore {
        Chore::Validate(Validate::Ending(..)) => Some("validator ends: crash before"),
        Chore::Validate(Validate::Creating(..)) => Some("validator creates: crash before"),
        Chore::Validate(_) => Some("validator lists: crash before"),
        Chore::Repair(_) => Some("repair: crash within"),
        Chore::Retry(Retry::Writing(_)) => Some("done by the retry: crash before"),
        Chore::Retry(_) => None,
        Chore::Retain(Retain::Deleting(_)) => Some("deletes: crash before"),
        Chore::Retain(_) => Some("delists: crash before"),
    }
}

/// Whether all three steps are taken, and the machine waits for the end of the commit.
fn is_started(machine: Option<&completion::State>) -> bool {
    let Some(completion::State::Idle(Phase::Uploading(upload))) = machine else { return false };
    upload.mode == Mode::Pauseless
}
