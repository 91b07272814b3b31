//! What occurred while a model was explored: answers, and guards that decided. What no scope can bring about (a server
//! that asks a controller which does not lead, too many reingestions at once, events that do not fit) is tested event by event.

use std::sync::atomic::{AtomicU64, Ordering};

use surehold::commit::completion::Answer;
use surehold::commit::message::{ReingestStatus, Report};
use surehold::commit::{Guard, Refusal};

/// Counters. Exploring a state counts each of its events once.
#[derive(Debug)]
pub struct Coverage {
    counts: Vec<AtomicU64>,
}

const NAMES: [&str; 18] = [
    "answer: commit",
    "answer: hold",
    "answer: catch up",
    "answer: discard",
    "answer: keep",
    "answer: failed",
    "answer: commit success",
    "answer: commit continue",
    "answer: processed",
    "reingest: 200",
    "reingest: 404",
    "reingest: 409",
    "reingest: 500",
    "refused: busy",
    "supplies: yes",
    "supplies: no",
    "uploaded",
    "not uploaded",
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
