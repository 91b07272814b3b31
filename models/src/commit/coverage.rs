//! What occurred while a model was explored: what controllers are told, answers, refusals, how operations ended, which
//! of them were interrupted, and guards that decided.
//!
//! What no scope can bring about (too many reingestions at once, a server that has not started, events that do not fit)
//! is tested event by event. Steps 1 and 3 are read and written in one go here, so that neither finds something else than
//! expected; without the reduction they do.

use std::sync::atomic::{AtomicU64, Ordering};

use surehold::commit::completion::Answer;
use surehold::commit::controller::state::{Errand, Stage};
use surehold::commit::effect::{Change, ControllerEffect};
use surehold::commit::message::{ReingestStatus, Report};
use surehold::commit::object::{ReplicaState, SegmentId, Status};
use surehold::commit::{Guard, Refusal, Task, controller};

use super::model::Action;
use super::scope::PARTITION;

/// Counters. Exploring a state counts each of its events once.
#[derive(Debug)]
pub struct Coverage {
    counts: Vec<AtomicU64>,
}

const NAMES: [&str; 64] = [
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
    "refused: busy",
    "supplies: yes",
    "supplies: no",
    "uploaded",
    "not uploaded",
    "event: stop",
    "event: give up",
    "event: consumer breaks",
    "event: crash",
    "event: death",
    "event: restart",
    "event: controller crash",
    "event: change of leader",
    "event: row expires",
    "event: records become old",
    "event: rewrite",
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
    "step 1",
    "step 2",
    "step 3",
    "done",
    "validator creates",
    "validator lists after a commit (rule 1)",
    "validator lists the next one alone (rule 3)",
    "takes a replica out",
    "delists",
    "deletes",
    "lost: step 1",
    "lost: step 2",
    "lost: step 3",
    "lost: done",
    "lost: validator",
    "not as expected: done",
    "not as expected: validator",
    "interrupted: step 1",
    "interrupted: step 2",
    "interrupted: step 3",
    "interrupted: done",
    "interrupted: task",
    "batch: two are written",
    "batch: one is left out",
];

impl Default for Coverage {
    fn default() -> Self {
        let cells = NAMES.len() + Guard::ALL.len();
        Self { counts: (0..cells).map(|_| AtomicU64::new(0)).collect() }
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
            Answer::Processed | Answer::UploadSuccess => "answer: processed",
        });
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
            Action::Toggle => "event: mode switch",
            Action::Pause => "event: pause",
            Action::Resume => "event: resume",
        });
    }

    /// A replica is reset.
    pub fn reset(&self) {
        self.named("to OFFLINE");
    }

    /// An operation of a controller was carried out: whether it is one of a periodic task, whether it was as expected,
    /// and whether its reply is lost.
    pub fn wrote(&self, effect: &ControllerEffect, is_task: bool, fits: bool, is_lost: bool) {
        let step = step_of(effect, is_task);
        let Some(step) = step else { return };
        if fits {
            self.named(step);
        }
        let of_validator = step.starts_with("validator");
        let short = if of_validator { "validator" } else { step };
        if is_lost {
            self.named(&format!("lost: {short}"));
        }
        if !fits {
            self.named(&format!("not as expected: {short}"));
        }
    }

    /// A controller has taken a step: what became of those who had come to step 3 together.
    pub fn batched(&self, before: &controller::State, after: &controller::State) {
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
        }
    }

    /// A controller crashes in the middle of something.
    pub fn interrupted(&self, role: &controller::State) {
        for (_, errand) in role.errands() {
            if let Some(step) = step_under_way(errand) {
                self.named(&format!("interrupted: {step}"));
            }
        }
        let tasks = [
            Task::Validate(PARTITION),
            Task::Repair(PARTITION),
            Task::Retry(PARTITION),
            Task::Retain(PARTITION),
        ];
        if tasks.into_iter().any(|task| role.runs(task)) {
            self.named("interrupted: task");
        }
    }

    /// Guards decided a step.
    pub fn decided(&self, guards: &[Guard]) {
        for guard in guards {
            let at = Guard::ALL.iter().position(|other| other == guard);
            if let Some(at) = at {
                self.counts[NAMES.len() + at].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn named(&self, name: &str) {
        if let Some(at) = NAMES.iter().position(|other| *other == name) {
            self.counts[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Names and counts; guards that give each operation of a kind its form decide nothing one can count.
    pub fn table(&self) -> Vec<(String, u64)> {
        let names = NAMES.iter().map(|name| (*name).to_string());
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

/// Which metadata step an operation is.
fn step_of(effect: &ControllerEffect, is_task: bool) -> Option<&'static str> {
    let step = match effect {
        ControllerEffect::WriteRecord(_, record, _) => match (record.status, is_task) {
            (Status::Committing, _) => "step 1",
            (Status::InProgress, false) => "step 2",
            (Status::InProgress, true) => "validator creates",
            (Status::Done | Status::Uploaded, _) => "done",
        },
        ControllerEffect::WriteIdeal(_, changes) if is_task => match changes.as_slice() {
            [Change::Remove(_), ..] => "delists",
            [Change::Set(..), ..] => "validator lists after a commit (rule 1)",
            _ => "validator lists the next one alone (rule 3)",
        },
        ControllerEffect::WriteIdeal(_, changes) => match changes.as_slice() {
            [Change::SetReplica(..)] => "takes a replica out",
            _ => "step 3",
        },
        ControllerEffect::DeleteRecord(_) => "deletes",
        ControllerEffect::ReadRecord(_)
        | ControllerEffect::ListRecords(_)
        | ControllerEffect::ReadIdeal
        | ControllerEffect::ReadView
        | ControllerEffect::ReadStream(_)
        | ControllerEffect::Promote(_)
        | ControllerEffect::Reset(..)
        | ControllerEffect::Call(_)
        | ControllerEffect::Answer(..) => return None,
    };
    Some(step)
}

/// Which metadata step an errand is about to take.
fn step_under_way(errand: &Errand) -> Option<&'static str> {
    match errand.stage {
        Stage::Reading | Stage::Closing | Stage::Storing | Stage::Promoting => {
            Some(if errand.cargo.is_some() { "done" } else { "step 1" })
        }
        Stage::Streaming | Stage::Pausing | Stage::Finding | Stage::Creating(_) => Some("step 2"),
        Stage::Ageing(_) | Stage::Listing(_) | Stage::Switching { .. } => Some("step 3"),
        Stage::Making
        | Stage::CleaningUp { .. }
        | Stage::LookingUp
        | Stage::TakingOut
        | Stage::Weighing
        | Stage::Halving
        | Stage::Restarting => None,
    }
}
