//! A scenario file of any protocol, read and replayed.

use std::path::Path;

use serde_json::Value;

use super::exit::Failure;
use crate::found::{Found, Shown};
use crate::line::Line;
use crate::{commit, compaction, rebalance};

/// A scenario and its replays.
#[derive(Debug)]
pub(super) struct Script {
    /// Its name.
    pub(super) name: String,
    /// What happened, in a few sentences.
    pub(super) story: Vec<String>,
    /// What each step says.
    pub(super) steps: Vec<String>,
    /// How it went against each variant that was asked for.
    pub(super) replays: Vec<Replayed>,
    /// The replays as data.
    pub(super) data: Value,
}

/// How a scenario went against one variant.
#[derive(Debug)]
pub(super) struct Replayed {
    /// The variant.
    pub(super) variant: String,
    /// Its steps.
    pub(super) steps: Vec<Played>,
    /// How it ended, line by line, and whether that is bad; `None` is neither.
    pub(super) ending: Vec<(Option<bool>, String)>,
    /// Where it differs from what the file expects.
    pub(super) differences: Vec<String>,
}

/// One step played.
#[derive(Debug)]
pub(super) struct Played {
    /// What happened.
    pub(super) lines: Vec<Line>,
    /// If it did not come to it: who or what refused.
    pub(super) refused: Option<String>,
}

/// The variants that scenarios can be replayed against.
pub(super) fn variants() -> Vec<&'static str> {
    let mut all = compaction::replay::variants();
    all.extend(rebalance::replay::variants());
    all.extend(commit::replay::variants());
    all.sort_unstable();
    all.dedup();
    all
}

/// Reads a file and replays it against a variant, or against each of its protocol's.
pub(super) fn play(path: &Path, variant: Option<&str>) -> Result<Script, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| at(&error))?;
    if value.get("walk").is_some() {
        return of_walk(&text, variant).map_err(|error| at(&error));
    }
    match value.get("protocol").and_then(Value::as_str) {
        Some("rebalance") => of_rebalance(&text, variant).map_err(|error| at(&error)),
        Some("commit") => of_commit(&text, variant).map_err(|error| at(&error)),
        Some("compaction") | None => of_compaction(&text, variant).map_err(|error| at(&error)),
        Some(other) => Err(at(&format!("there is no protocol {other}"))),
    }
}

/// What fuzzing found: a walk, which is told as one step.
fn of_walk(text: &str, variant: Option<&str>) -> Result<Script, String> {
    let found = Found::parse(text).map_err(|error| error.to_string())?;
    let mut shown = found.replay().map_err(|error| error.to_string())?;
    shown.retain(|shown| variant.is_none_or(|name| shown.subject.to_string() == name));
    let replays: Vec<_> = shown.iter().map(told_of_walk).collect();
    let told: Vec<_> = shown
        .iter()
        .map(|shown| serde_json::json!({ "variant": shown.subject.to_string(), "shows": shown.shows() }))
        .collect();
    let data = serde_json::json!({ "scenario": found.name, "replays": told });
    let name = format!("{}: {}", found.name, found.title);
    Ok(Script { name, story: found.story, steps: vec![found.walk.bytes], replays, data })
}

fn told_of_walk(shown: &Shown) -> Replayed {
    let lines = shown.finding.iter().flat_map(|found| found.timeline.iter().map(|(_, line)| line));
    let steps = vec![Played { lines: lines.cloned().collect(), refused: None }];
    let (shows, expected) = (shown.shows(), &shown.expected);
    let ending = match &shown.finding {
        Some(found) => (Some(true), format!("{shows}: {}", found.ending)),
        None => (Some(false), "nothing is broken".into()),
    };
    let differs = (shows != expected).then(|| format!("shows {shows}, expected {expected}"));
    let differences = differs.into_iter().collect();
    Replayed { variant: shown.subject.to_string(), steps, ending: vec![ending], differences }
}

fn chosen(known: Vec<&'static str>, variant: Option<&str>) -> Result<Vec<&'static str>, String> {
    let Some(name) = variant else { return Ok(known) };
    match known.iter().find(|known| **known == name) {
        Some(known) => Ok(vec![known]),
        None => Err(format!("its protocol has no variant {name}; known: {}", known.join(", "))),
    }
}

fn of_compaction(text: &str, variant: Option<&str>) -> Result<Script, String> {
    use compaction::replay::{replay, variants};
    let scenario =
        compaction::scenario::Scenario::parse(text).map_err(|error| error.to_string())?;
    let names = chosen(variants(), variant)?;
    let replays = names.iter().filter_map(|name| replay(&scenario, name));
    let replays = replays.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let data = serde_json::json!({ "scenario": scenario.name, "replays": replays });
    Ok(Script {
        steps: scenario.steps.iter().map(|scene| scene.says.clone()).collect(),
        replays: replays.into_iter().map(told_of_compaction).collect(),
        name: scenario.name,
        story: scenario.story,
        data,
    })
}

fn told_of_compaction(replayed: compaction::replay::Replayed) -> Replayed {
    let refused = |step: &compaction::replay::Played| match (&*step.refused_by, step.stopped_by) {
        ([], None) => ": it does not come to it".into(),
        ([], Some(check)) => format!(": stopped by {check}"),
        (guards, _) => format!(" by {}", guards.join(", ")),
    };
    let steps = replayed
        .steps
        .into_iter()
        .map(|step| Played { refused: (!step.done).then(|| refused(&step)), lines: step.lines });
    Replayed {
        variant: replayed.variant.into(),
        steps: steps.collect(),
        ending: ending_of_compaction(&replayed.outcome),
        differences: replayed.differences.unwrap_or_default(),
    }
}

fn ending_of_compaction(outcome: &compaction::scenario::Outcome) -> Vec<(Option<bool>, String)> {
    let mut lines = vec![match outcome.lost.as_deref().unwrap_or_default() {
        [] => (Some(false), "nothing is lost".to_string()),
        lost => (Some(true), format!("lost: {}", lost.join(", "))),
    }];
    let mut notes = Vec::new();
    if outcome.double_work == Some(true) {
        notes.push("work is done twice".into());
    }
    if outcome.live_plan_harmed == Some(true) {
        notes.push("a live plan, or a marker of one, is deleted or overwritten".into());
    }
    if outcome.orphan_markers == Some(true) {
        notes.push("a marker is left without its plan".into());
    }
    if let Some(plans) = outcome.plans.as_ref().filter(|plans| !plans.is_empty()) {
        notes.push(format!("left in the bucket: {}", plans.join(", ")));
    }
    if !notes.is_empty() {
        lines.push((None, notes.join("; ")));
    }
    lines
}

fn of_rebalance(text: &str, variant: Option<&str>) -> Result<Script, String> {
    use rebalance::replay::{replay, variants};
    let scenario = rebalance::scenario::Scenario::parse(text).map_err(|error| error.to_string())?;
    let names = chosen(variants(), variant)?;
    let replays: Vec<_> = names.iter().filter_map(|name| replay(&scenario, name)).collect();
    let data = serde_json::json!({ "scenario": scenario.name, "replays": replays });
    Ok(Script {
        steps: scenario.steps.iter().map(|step| format!("{}: {}", step.label, step.says)).collect(),
        replays: replays.into_iter().map(told_of_rebalance).collect(),
        name: format!("{}: {}", scenario.name, scenario.title),
        story: scenario.story,
        data,
    })
}

fn told_of_rebalance(replayed: rebalance::replay::Replayed) -> Replayed {
    let refused = |step: &rebalance::replay::Played| match (&*step.refused_by, &step.reason) {
        ([], None) => ": it does not come to it".into(),
        ([], Some(reason)) => format!(": {reason}"),
        (guards, None) => format!(" by {}", guards.join(", ")),
        (guards, Some(reason)) => format!(" by {}: {reason}", guards.join(", ")),
    };
    let steps = replayed
        .steps
        .into_iter()
        .map(|step| Played { refused: (!step.done).then(|| refused(&step)), lines: step.lines });
    let ending = rebalance::ending::told(&replayed.outcome);
    Replayed {
        variant: replayed.variant.into(),
        steps: steps.collect(),
        ending: ending.into_iter().map(|(bad, line)| (bad.then_some(true), line)).collect(),
        differences: replayed.differences.unwrap_or_default(),
    }
}

fn of_commit(text: &str, variant: Option<&str>) -> Result<Script, String> {
    use commit::replay::replay;
    let scenario = commit::scenario::Scenario::parse(text).map_err(|error| error.to_string())?;
    let names = chosen(scenario.variants(), variant)?;
    let replays: Vec<_> = names.iter().filter_map(|name| replay(&scenario, name)).collect();
    let data = serde_json::json!({ "scenario": scenario.name, "replays": replays });
    Ok(Script {
        steps: scenario.steps.iter().map(|step| format!("{}: {}", step.label, step.says)).collect(),
        replays: replays.into_iter().map(told_of_commit).collect(),
        name: format!("{}: {}", scenario.name, scenario.title),
        story: scenario.story,
        data,
    })
}

fn told_of_commit(replayed: commit::replay::Replayed) -> Replayed {
    let refused = |step: &commit::replay::Played| {
        let reason = step.reason.as_deref().unwrap_or("it does not come to it");
        format!(" by {}: {reason}", step.refused_by.join(", "))
    };
    let steps = replayed
        .steps
        .into_iter()
        .map(|step| Played { refused: (!step.done).then(|| refused(&step)), lines: step.lines });
    Replayed {
        variant: replayed.variant.into(),
        steps: steps.collect(),
        ending: commit::ending::told(&replayed.outcome),
        differences: replayed.differences.unwrap_or_default(),
    }
}
