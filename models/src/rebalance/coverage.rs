//! What occurred while a model was explored: events, outcomes, answers, refusals, guards that decided.

use std::sync::atomic::{AtomicU64, Ordering};

use surehold::rebalance::event::Outcome;
use surehold::rebalance::message::{Answer, FromServer};
use surehold::rebalance::{CoordinatorEvent, Guard, HistoricalEffect, Refusal, Task};

/// Counters. Exploring a state counts each of its events once.
#[derive(Debug)]
pub struct Coverage {
    counts: Vec<AtomicU64>,
}

const EVENTS: [&str; 18] = [
    "run",
    "run with a proposed move",
    "send",
    "poll",
    "overdue",
    "view arrives",
    "answer: done",
    "answer: failed",
    "answer: number refused",
    "answer: incarnation refused",
    "answer: term refused",
    "poll of an old term refused",
    "appeared",
    "disappeared",
    "require",
    "elected",
    "deposed",
    "callback",
];

const ENDS: [&str; 7] = [
    "fetch: done",
    "fetch: failed",
    "fetch: unknown",
    "wait: elapsed",
    "delete: done",
    "delete: failed",
    "delete: unknown",
];

const REFUSALS: [&str; 9] = [
    "refused: not leading",
    "refused: old term",
    "refused: other term",
    "refused: unknown server",
    "refused: stale",
    "refused: not ready",
    "refused: other incarnation",
    "refused: not outstanding",
    "refused: unfit outcome",
];

impl Default for Coverage {
    fn default() -> Self {
        let cells = EVENTS.len() + ENDS.len() + REFUSALS.len() + Guard::ALL.len();
        Self { counts: (0..cells).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Coverage {
    /// A coordinator is told something.
    pub fn told(&self, event: &CoordinatorEvent) {
        let name = match event {
            CoordinatorEvent::Continue { task: Task::Run, input } => match input.proposed {
                None => "run",
                Some(_) => "run with a proposed move",
            },
            CoordinatorEvent::Continue { task: Task::Send(_), .. } => "send",
            CoordinatorEvent::Continue { task: Task::Poll(_), .. } => "poll",
            CoordinatorEvent::Continue { task: Task::Callback(_), .. } => "callback",
            CoordinatorEvent::Continue {
                task: Task::Overdue(..) | Task::Unconfirmed(..), ..
            } => "overdue",
            CoordinatorEvent::Received(addressed) => match &addressed.message {
                FromServer::View(_) => "view arrives",
                FromServer::Outdated(_) => "poll of an old term refused",
                FromServer::Reply(reply) => match reply.answer {
                    Answer::Done => "answer: done",
                    Answer::Failed => "answer: failed",
                    Answer::RefusedNumber => "answer: number refused",
                    Answer::RefusedIncarnation => "answer: incarnation refused",
                    Answer::RefusedTerm(_) => "answer: term refused",
                },
            },
            CoordinatorEvent::Appeared(..) => "appeared",
            CoordinatorEvent::Disappeared(_) => "disappeared",
            CoordinatorEvent::Require(..) => "require",
            CoordinatorEvent::Elected(_) => "elected",
            CoordinatorEvent::Deposed => "deposed",
        };
        self.count(place(&EVENTS, name));
    }

    /// A server's effect ended.
    pub fn ended(&self, effect: &HistoricalEffect, outcome: Outcome) {
        let name = match (effect, outcome) {
            (HistoricalEffect::Fetch(_), Outcome::Done) => "fetch: done",
            (HistoricalEffect::Fetch(_), Outcome::Unknown) => "fetch: unknown",
            (HistoricalEffect::Fetch(_), _) => "fetch: failed",
            (HistoricalEffect::Delete(_), Outcome::Done) => "delete: done",
            (HistoricalEffect::Delete(_), Outcome::Unknown) => "delete: unknown",
            (HistoricalEffect::Delete(_), _) => "delete: failed",
            (HistoricalEffect::Wait { .. } | HistoricalEffect::Send(_), _) => "wait: elapsed",
        };
        self.count(EVENTS.len() + place(&ENDS, name));
    }

    /// An event was refused.
    pub fn refused(&self, refusal: Refusal) {
        let at = match refusal {
            Refusal::NotLeading => 0,
            Refusal::OldTerm(_) => 1,
            Refusal::OtherTerm(_) => 2,
            Refusal::UnknownServer(_) => 3,
            Refusal::Stale(_) => 4,
            Refusal::NotReady(_) => 5,
            Refusal::OtherIncarnation { .. } => 6,
            Refusal::NotOutstanding(_) => 7,
            Refusal::UnfitOutcome(_) => 8,
        };
        self.count(EVENTS.len() + ENDS.len() + at);
    }

    /// Guards decided a step.
    pub fn decided(&self, guards: &[Guard]) {
        let from = EVENTS.len() + ENDS.len() + REFUSALS.len();
        for guard in guards {
            let at = Guard::ALL.iter().position(|other| other == guard).unwrap_or(0);
            self.count(from + at);
        }
    }

    fn count(&self, at: usize) {
        self.counts[at].fetch_add(1, Ordering::Relaxed);
    }

    /// Names and counts, for what can occur in the verified protocol: it has no callbacks of its own.
    pub fn table(&self) -> Vec<(String, u64)> {
        let names = EVENTS.iter().chain(&ENDS).chain(&REFUSALS).map(|name| (*name).to_string());
        let guards = Guard::ALL.iter().map(|guard| guard_row(*guard));
        let mut rows: Vec<_> = names
            .chain(guards)
            .zip(&self.counts)
            .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
            .collect();
        let second = Guard::ALL.iter().filter(|guard| guard.is_second_line());
        let second: Vec<_> = second.map(|guard| guard_row(*guard)).collect();
        rows.retain(|(name, _)| name != "callback" && !second.contains(name));
        rows
    }
}

/// A guard that gives every step of some kind its form refuses nothing. What is counted is that such a step came.
fn guard_row(guard: Guard) -> String {
    let kind = if guard.is_form() { "form" } else { "guard" };
    format!("{kind} {}", guard.name())
}

fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|other| *other == name).unwrap_or(0)
}
