//! Telling what happened, in the protocol's own words.

use surehold::Issued;
use surehold::compaction::marker::{Finding, Marker, Status};
use surehold::compaction::object::{BlockId, Body, Key, MarkReason, PlanId, PlanKey, Prefix};
use surehold::compaction::plan::Plan;
use surehold::compaction::{Effect, Guard, Merged, Outcome};

use super::model::{Choice, Clock, Fate};
use super::scope::Scope;
use super::world::{Store, Write};
pub use crate::line::Line;

/// A story being told, or not: an untold one costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Tale {
    lines: Option<Vec<Line>>,
}

impl Tale {
    /// A story nobody hears.
    pub fn untold() -> Self {
        Self { lines: None }
    }

    /// A story.
    pub fn told() -> Self {
        Self { lines: Some(Vec::new()) }
    }

    /// Its lines.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines.unwrap_or_default()
    }

    fn tell(&mut self, line: impl FnOnce() -> (String, String, String)) {
        if let Some(lines) = &mut self.lines {
            let (actor, action, note) = line();
            lines.push(Line { actor, action, note, decided_by: Vec::new() });
        }
    }

    pub(super) fn begins(&mut self, scope: &Scope, process: u8) {
        self.tell(|| (actor(scope, process), "begins a cycle".into(), String::new()));
    }

    pub(super) fn beats(&mut self, scope: &Scope, process: u8) {
        self.tell(|| (actor(scope, process), "sends a heartbeat".into(), String::new()));
    }

    pub(super) fn lands(&mut self, scope: &Scope, write: &Write) {
        self.tell(|| {
            let what = match &write.body {
                Some(body) => format!("write of {}", written(scope, write.key, body)),
                None => format!("deletion of {}", object(scope, write.key)),
            };
            ("bucket".into(), format!("a late {what} lands"), String::new())
        });
    }

    pub(super) fn expires(&mut self, scope: &Scope, store: &Store, key: PlanKey, partition: u32) {
        self.tell(|| {
            let visit = store.markers.get(&(key, partition));
            let note = visit.map(|visit| marker(scope, &visit.marker)).unwrap_or_default();
            let action = format!("the marker of partition {partition} has expired");
            ("clock".into(), action, note)
        });
    }

    pub(super) fn cleaner_expires(&mut self) {
        self.tell(|| ("clock".into(), "the cleaner's marker has expired".into(), String::new()));
    }

    pub(super) fn ripens(&mut self, scope: &Scope, id: BlockId) {
        self.tell(|| {
            let action =
                format!("the mark of {} is older than the deletion delay", block_name(scope, id));
            ("clock".into(), action, String::new())
        });
    }

    pub(super) fn uploads(&mut self, scope: &Scope, place: usize) {
        self.tell(|| {
            let name = scope.upload(place).name;
            (
                "ingester".into(),
                format!("uploads block {name}"),
                "a late block of the same range".into(),
            )
        });
    }

    pub(super) fn bars(&mut self, name: char, set: bool) {
        self.tell(|| {
            let action = if set {
                format!("sets a no-compact mark on {name}")
            } else {
                format!("removes the no-compact mark from {name}")
            };
            ("operator".into(), action, String::new())
        });
    }

    pub(super) fn crashes(&mut self, scope: &Scope, process: u8) {
        self.tell(|| {
            let note = "what it was writing may land later, or never";
            (actor(scope, process), "crashes and starts again".into(), note.into())
        });
    }

    pub(super) fn pauses(&mut self, scope: &Scope, process: u8) {
        self.tell(|| {
            let note = "beyond every time-out, until its next operation";
            (actor(scope, process), "stands still".into(), note.into())
        });
    }

    pub(super) fn runs(
        &mut self,
        scope: &Scope,
        process: u8,
        effect: &Effect,
        outcome: &Outcome,
        fate: Fate,
        choice: Choice,
    ) {
        self.tell(|| {
            let mut note = result(scope, outcome);
            match fate {
                Fate::Done => {}
                Fate::Failed => note = "fails".into(),
                Fate::Lost => note = "takes effect, but the reply is lost".into(),
                Fate::Late => note = "the reply is lost; it may land later".into(),
            }
            match choice.clock {
                Clock::Later => {}
                Clock::Same => note.push_str("; the clock shows the last plan's second"),
                Clock::Behind => note.push_str("; the clock is behind"),
            }
            (actor(scope, process), doing(scope, effect), note)
        });
    }

    pub(super) fn decides(&mut self, guards: &[Guard], effects: &[Issued<Effect>], scope: &Scope) {
        let Some(line) = self.lines.as_mut().and_then(|lines| lines.last_mut()) else { return };
        line.decided_by.extend(guards.iter().map(|guard| guard.name()));
        for issued in effects {
            if let Effect::Put(Key::Plan(_), Body::Plan(made)) = &issued.effect {
                let text = format!("makes {}", plan(scope, made));
                line.note =
                    if line.note.is_empty() { text } else { format!("{}; {text}", line.note) };
            }
        }
    }
}

/// How a process is called.
pub fn actor(scope: &Scope, process: u8) -> String {
    if process < scope.compactors {
        format!("compactor {}", char::from(b'A' + process))
    } else if scope.cleaners == 1 {
        "cleaner".into()
    } else {
        format!("cleaner {}", process - scope.compactors + 1)
    }
}

/// How a plan is called: by the order in which plans were made.
pub fn plan_name(id: PlanId) -> String {
    format!("v{}", id.0.div_ceil(10) + if id.0 % 10 == 5 { 1 } else { 0 })
}

/// How a block is called: an upload by its letter, a result by its plan and partition.
pub fn block_name(scope: &Scope, id: BlockId) -> String {
    if id.0 < 1000 {
        let place = id.0 as usize - 1;
        let known = place < scope.early.len() + scope.late.len();
        return if known { scope.upload(place).name.to_string() } else { format!("{id:?}") };
    }
    let (plan, rest) = (PlanId(id.0 / 1000), id.0 % 1000);
    let attempt = match rest % 10 {
        2 => "",
        3 => "b",
        _ => "a",
    };
    format!("{}.{}{attempt}", plan_name(plan), rest / 10)
}

/// Blocks by name.
pub fn block_names<'a>(scope: &Scope, ids: impl IntoIterator<Item = &'a BlockId>) -> String {
    let names: Vec<_> = ids.into_iter().map(|id| block_name(scope, *id)).collect();
    names.join(" ")
}

/// A plan with its partitions.
pub fn plan(scope: &Scope, plan: &Plan) -> String {
    let part = |(p, ids): (usize, &Vec<BlockId>)| format!("{p}: {}", block_names(scope, ids));
    let parts: Vec<_> = plan.partitions.iter().enumerate().map(part).collect();
    format!("{} (second {}) {{{}}}", plan_name(plan.id), plan.created_s, parts.join(", "))
}

fn path(key: PlanKey) -> String {
    key.plan.map_or_else(|| "the group".into(), plan_name)
}

fn object(scope: &Scope, key: Key) -> String {
    let block = |id| block_name(scope, id);
    match key {
        Key::Chunks(id) => format!("chunks of {}", block(id)),
        Key::Index(id) => format!("index of {}", block(id)),
        Key::Meta(id) => format!("meta of {}", block(id)),
        Key::GlobalDeletionMark(id) => format!("deletion mark of {} (global copy)", block(id)),
        Key::DeletionMark(id) => format!("deletion mark of {}", block(id)),
        Key::GlobalNoCompactMark(id) | Key::NoCompactMark(id) => {
            format!("no-compact mark of {}", block(id))
        }
        Key::VisitMark(id) => format!("visit mark of {}", block(id)),
        Key::CleanerMarker => "the cleaner's marker".into(),
        Key::Plan(key) => format!("plan of {}", path(key)),
        Key::Marker(key, partition) => format!("marker of {} partition {partition}", path(key)),
    }
}

fn marker(scope: &Scope, marker: &Marker) -> String {
    let status = match marker.status {
        Status::Pending => "claimed".into(),
        Status::InProgress => "in progress".into(),
        Status::Failed => "failed".into(),
        Status::Completed(Finding::Empty) => "completed, empty".into(),
        Status::Completed(Finding::Result(id)) => format!("completed, {}", block_name(scope, id)),
    };
    let owner = actor(scope, marker.owner.process.0 as u8);
    format!("{status} by {owner} for {}", plan_name(marker.plan))
}

fn written(scope: &Scope, key: Key, body: &Body) -> String {
    match body {
        Body::Plan(made) => format!("plan {}", plan_name(made.id)),
        Body::Marker(m) => format!("{}: {}", object(scope, key), marker(scope, m)),
        Body::DeletionMark(mark) => {
            let because = match mark.because {
                MarkReason::Compacted(id) => format!("a parent of {}", plan_name(id)),
                MarkReason::Surplus(id) => format!("a surplus result of {}", plan_name(id)),
            };
            format!("{}, {because}", object(scope, key))
        }
        Body::CleanerMarker(marker) => {
            let status = if marker.completed { "pass over" } else { "in progress" };
            let owner = actor(scope, marker.owner.process.0 as u8);
            format!("{}: {status}, {owner}", object(scope, key))
        }
        Body::Data | Body::Meta(_) | Body::NoCompactMark => object(scope, key),
    }
}

fn doing(scope: &Scope, effect: &Effect) -> String {
    match effect {
        Effect::List(Prefix::Blocks) => "lists blocks".into(),
        Effect::List(Prefix::Marks) => "lists marks".into(),
        Effect::List(Prefix::Plans) => "lists plans".into(),
        Effect::List(Prefix::AllMarkers) => "lists all markers".into(),
        Effect::List(Prefix::Markers(key)) => format!("lists markers of {}", path(*key)),
        Effect::List(Prefix::Block(id)) => {
            format!("lists what is left of {}", block_name(scope, *id))
        }
        Effect::List(Prefix::AllBlocks) => "lists what is left of blocks".into(),
        Effect::Get(key) => format!("reads {}", object(scope, *key)),
        Effect::Exists(key) => format!("asks for {}", object(scope, *key)),
        Effect::Put(key, body) => format!("writes {}", written(scope, *key, body)),
        Effect::Delete(key) => format!("deletes {}", object(scope, *key)),
        Effect::Merge(merge) => format!(
            "merges partition {} of {}: {}",
            merge.partition,
            plan_name(merge.plan.id),
            block_names(scope, &merge.inputs)
        ),
        Effect::Wait(_) => "has waited".into(),
    }
}

fn result(scope: &Scope, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Listed(keys) if keys.is_empty() => "none".into(),
        Outcome::Listed(keys) => {
            let brief = |key: &Key| match key {
                Key::Meta(id) => block_name(scope, *id),
                Key::GlobalDeletionMark(id) => format!("{} deleted", block_name(scope, *id)),
                Key::GlobalNoCompactMark(id) => format!("{} no-compact", block_name(scope, *id)),
                Key::Plan(key) => path(*key),
                key => object(scope, *key),
            };
            keys.iter().map(brief).collect::<Vec<_>>().join(", ")
        }
        Outcome::Found(Body::Marker(m)) => marker(scope, m),
        Outcome::Found(Body::Plan(found)) => plan(scope, found),
        Outcome::Found(_) | Outcome::Exists => "there".into(),
        Outcome::Absent => "not there".into(),
        Outcome::Applied | Outcome::Elapsed => String::new(),
        Outcome::Failed => "refused".into(),
        Outcome::Unknown => "unknown".into(),
        Outcome::Merged(Merged::Block { id, .. }) => {
            format!("{} on local disk", block_name(scope, *id))
        }
        Outcome::Merged(Merged::Empty) => "no sample".into(),
    }
}
