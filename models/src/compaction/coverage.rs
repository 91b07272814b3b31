//! What occurred while a model was explored: the world's events, effects and their outcomes, refusals, guards.

use std::sync::atomic::{AtomicU64, Ordering};

use surehold::compaction::object::{Key, Prefix};
use surehold::compaction::{Effect, Guard, Merged, Outcome, Refusal};

use super::model::Action;

/// Counters. Exploring a state counts each of its events once.
#[derive(Debug)]
pub struct Coverage {
    counts: Vec<AtomicU64>,
}

const EFFECTS: [&str; 34] = [
    "list-blocks",
    "list-marks",
    "list-plans",
    "list-all-markers",
    "list-markers",
    "list-block",
    "list-all-blocks",
    "get-meta",
    "get-mark",
    "get-global-mark",
    "get-plan",
    "get-marker",
    "get-cleaner-marker",
    "exists",
    "put-chunks",
    "put-index",
    "put-meta",
    "put-global-mark",
    "put-local-mark",
    "put-plan",
    "put-claim",
    "put-beat",
    "put-completed",
    "put-failed",
    "delete-plan",
    "delete-marker",
    "delete-meta",
    "delete-data",
    "delete-mark",
    "delete-cleaner-marker",
    "put-cleaner-marker",
    "delete-visit-mark",
    "merge",
    "wait",
];

const OUTCOMES: [&str; 10] = [
    "listed",
    "found",
    "absent",
    "exists",
    "applied",
    "failed",
    "unknown",
    "merged-block",
    "merged-empty",
    "elapsed",
];

const EVENTS: [&str; 9] = [
    "world: a cycle begins",
    "world: a heartbeat",
    "world: a late write lands",
    "world: a claim expires",
    "world: a mark grows old",
    "world: a late block",
    "world: an operator acts",
    "world: a crash",
    "world: a pause",
];

const REFUSALS: [&str; 4] = [
    "refused-other-incarnation",
    "refused-not-outstanding",
    "refused-unfit-outcome",
    "refused-not-ready",
];

const EVENTS_FROM: usize = EFFECTS.len() * OUTCOMES.len();
const REFUSALS_FROM: usize = EVENTS_FROM + EVENTS.len();
const GUARDS_FROM: usize = REFUSALS_FROM + REFUSALS.len();

impl Default for Coverage {
    fn default() -> Self {
        let cells = GUARDS_FROM + Guard::ALL.len();
        Self { counts: (0..cells).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Coverage {
    /// A cycle begins, be it as an event or at once with another.
    pub fn begun(&self) {
        self.count(EVENTS_FROM);
    }

    /// Something happened that is no operation's end.
    pub fn happened(&self, action: Action) {
        let at = match action {
            Action::Run { .. } | Action::Begin(_) | Action::ExpireCleaner => return,
            Action::Beat(..) => 1,
            Action::Land(_) => 2,
            Action::Expire(..) => 3,
            Action::Ripen(_) => 4,
            Action::Upload => 5,
            Action::Operate => 6,
            Action::Crash(_) => 7,
            Action::Pause(_) => 8,
        };
        self.count(EVENTS_FROM + at);
    }

    /// An effect ended.
    pub fn ran(&self, effect: &Effect, outcome: &Outcome) {
        self.count(effect_index(effect) * OUTCOMES.len() + outcome_index(outcome));
    }

    /// An event was refused.
    pub fn refused(&self, refusal: Refusal) {
        let at = match refusal {
            Refusal::OtherIncarnation { .. } => 0,
            Refusal::NotOutstanding(_) => 1,
            Refusal::UnfitOutcome(_) => 2,
            Refusal::NotReady(_) => 3,
        };
        self.count(REFUSALS_FROM + at);
    }

    /// Guards decided a step.
    pub fn decided(&self, guards: &[Guard]) {
        for guard in guards {
            let at = Guard::ALL.iter().position(|other| other == guard).unwrap_or(0);
            self.count(GUARDS_FROM + at);
        }
    }

    fn count(&self, at: usize) {
        self.counts[at].fetch_add(1, Ordering::Relaxed);
    }

    /// Names and counts, for what can occur in the verified protocol.
    pub fn table(&self) -> Vec<(String, u64)> {
        let mut rows = Vec::new();
        for (e, effect) in EFFECTS.iter().enumerate() {
            for (o, outcome) in OUTCOMES.iter().enumerate() {
                if can_end(effect, outcome) {
                    let count = self.counts[e * OUTCOMES.len() + o].load(Ordering::Relaxed);
                    rows.push((format!("{effect}: {outcome}"), count));
                }
            }
        }
        let events = EVENTS.iter().map(|name| (*name).to_string());
        let refusals = REFUSALS.iter().map(|name| (*name).to_string());
        let guards = Guard::ALL.iter().map(|guard| guard_row(*guard));
        for (at, name) in events.chain(refusals).chain(guards).enumerate() {
            rows.push((name, self.counts[EVENTS_FROM + at].load(Ordering::Relaxed)));
        }
        rows
    }
}

/// An order of operations and the form of a path refuse nothing. What is counted is that a role came to where
/// the order or the form makes a difference.
fn guard_row(guard: Guard) -> String {
    let kind = if guard.is_form() { "form" } else { "guard" };
    format!("{kind} {}", guard.name())
}

fn can_end(effect: &str, outcome: &str) -> bool {
    match effect {
        // Upstream alone reads marks one by one, asks whether an object is there, and gives a partition up; it
        // alone has a marker for the cleaner, and looks for visit marks of blocks.
        "get-mark"
        | "exists"
        | "put-failed"
        | "get-cleaner-marker"
        | "put-cleaner-marker"
        | "delete-cleaner-marker"
        | "delete-visit-mark" => false,
        "wait" => outcome == "elapsed",
        "merge" => matches!(outcome, "merged-block" | "merged-empty" | "failed"),
        _ if effect.starts_with("list") => matches!(outcome, "listed" | "failed"),
        _ if effect.starts_with("get") => matches!(outcome, "found" | "absent" | "failed"),
        _ => matches!(outcome, "applied" | "failed" | "unknown"),
    }
}

fn effect_index(effect: &Effect) -> usize {
    let name = effect_name(effect);
    EFFECTS.iter().position(|other| *other == name).unwrap_or(0)
}

/// The kind of an effect, by name.
pub fn effect_name(effect: &Effect) -> &'static str {
    use surehold::compaction::marker::Status;
    use surehold::compaction::object::Body;
    match effect {
        Effect::List(Prefix::Blocks) => "list-blocks",
        Effect::List(Prefix::Marks) => "list-marks",
        Effect::List(Prefix::Plans) => "list-plans",
        Effect::List(Prefix::AllMarkers) => "list-all-markers",
        Effect::List(Prefix::Markers(_)) => "list-markers",
        Effect::List(Prefix::Block(_)) => "list-block",
        Effect::List(Prefix::AllBlocks) => "list-all-blocks",
        Effect::Get(Key::Meta(_)) => "get-meta",
        Effect::Get(Key::Plan(_)) => "get-plan",
        Effect::Get(Key::Marker(..)) => "get-marker",
        Effect::Get(Key::CleanerMarker) => "get-cleaner-marker",
        Effect::Get(Key::GlobalDeletionMark(_)) => "get-global-mark",
        Effect::Get(_) => "get-mark",
        Effect::Exists(_) => "exists",
        Effect::Put(Key::Chunks(_), _) => "put-chunks",
        Effect::Put(Key::Index(_), _) => "put-index",
        Effect::Put(Key::Meta(_), _) => "put-meta",
        Effect::Put(Key::GlobalDeletionMark(_) | Key::GlobalNoCompactMark(_), _) => {
            "put-global-mark"
        }
        Effect::Put(Key::DeletionMark(_) | Key::NoCompactMark(_), _) => "put-local-mark",
        Effect::Put(Key::Plan(_), _) => "put-plan",
        Effect::Put(Key::Marker(..), Body::Marker(marker)) => match marker.status {
            Status::Pending => "put-claim",
            Status::InProgress => "put-beat",
            Status::Completed(_) => "put-completed",
            Status::Failed => "put-failed",
        },
        Effect::Put(Key::CleanerMarker, _) => "put-cleaner-marker",
        Effect::Put(Key::Marker(..) | Key::VisitMark(_), _) => "put-failed",
        Effect::Delete(Key::Plan(_)) => "delete-plan",
        Effect::Delete(Key::Marker(..)) => "delete-marker",
        Effect::Delete(Key::CleanerMarker) => "delete-cleaner-marker",
        Effect::Delete(Key::VisitMark(_)) => "delete-visit-mark",
        Effect::Delete(Key::Meta(_)) => "delete-meta",
        Effect::Delete(Key::Chunks(_) | Key::Index(_)) => "delete-data",
        Effect::Delete(_) => "delete-mark",
        Effect::Merge(_) => "merge",
        Effect::Wait(_) => "wait",
    }
}

fn outcome_index(outcome: &Outcome) -> usize {
    let name = match outcome {
        Outcome::Listed(_) => "listed",
        Outcome::Found(_) => "found",
        Outcome::Absent => "absent",
        Outcome::Exists => "exists",
        Outcome::Applied => "applied",
        Outcome::Failed => "failed",
        Outcome::Unknown => "unknown",
        Outcome::Merged(Merged::Block { .. }) => "merged-block",
        Outcome::Merged(Merged::Empty) => "merged-empty",
        Outcome::Elapsed => "elapsed",
    };
    OUTCOMES.iter().position(|other| *other == name).unwrap_or(0)
}
