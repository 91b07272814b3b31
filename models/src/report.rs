//! The committed verdicts and the parts of the README that are made from them.

use std::fmt::Write as _;

use crate::commit::holes::HOLES;
use crate::commit::keys;
use crate::commit::runs::Commit;
use crate::everything::{AnyProtocol, protocols};
use crate::rebalance::runs::Rebalance;
use crate::rebalance::window::Window;
use crate::runs::{Finished, Protocol as _, SharedRun, Step, together};
use serde::{Deserialize, Serialize};

/// What is committed of a run: all that must not change unnoticed, and nothing that a machine decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Which protocol.
    pub protocol: String,
    /// Whose.
    pub variant: String,
    /// Guards removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guard_removed: Vec<String>,
    /// Where.
    pub scope: String,
    /// The scope's bounds.
    pub bounds: String,
    /// What was asked.
    pub asked: Vec<String>,
    /// `verified`, `violated` or `incomplete`.
    pub verdict: String,
    /// The property that breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Different states; until the violation, if there is one.
    pub unique_states: u64,
    /// Levels.
    pub depth: u32,
    /// States in which a bound stopped something.
    pub cut_states: u64,
    /// States whose recovery a bound leaves open.
    #[serde(default)]
    pub unsettled_states: u64,
    /// Steps of the shortest counterexample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Of an upstream release: what was done on the way, the reads left out, and how it ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<String>,
}

impl Row {
    /// The row of a run.
    #[must_use]
    pub fn of(finished: &Finished) -> Self {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let steps = finished.counterexample.as_ref().and_then(|steps| steps.last());
        Self {
            protocol: finished.protocol.into(),
            variant: finished.variant.into(),
            guard_removed: owned(&finished.guard_removed),
            scope: finished.scope.into(),
            bounds: finished.bounds.clone(),
            asked: owned(&finished.asked),
            verdict: finished.verdict.into(),
            property: finished.property.clone(),
            unique_states: finished.unique_states,
            depth: finished.depth,
            cut_states: finished.cut_states,
            unsettled_states: finished.unsettled_states,
            steps: steps.map(|step| step.step),
            timeline: timeline(finished),
        }
    }

    fn outcome(&self) -> String {
        match (&self.property, self.steps) {
            (Some(property), Some(1)) => format!("**{property}** breaks in 1 step"),
            (Some(property), Some(steps)) => format!("**{property}** breaks in {steps} steps"),
            (Some(property), None) => format!("**{property}** breaks"),
            (None, _) => self.verdict.clone(),
        }
    }
}

/// What was done on the way to a release's violation: reads and waits left out, plans as they were made.
fn timeline(finished: &Finished) -> Vec<String> {
    if finished.variant == "verified" {
        return Vec::new();
    }
    let quiet = ["lists ", "reads ", "asks ", "has waited", "writes chunks", "writes index"];
    let is_commit = finished.protocol == Commit::NAME;
    let mut told = Vec::new();
    for Step { step, line } in finished.counterexample.iter().flatten() {
        let makes = line.note.find("makes ").map(|at| &line.note[at..]);
        let loud = !quiet.iter().any(|word| line.action.starts_with(word));
        let text = match (loud, makes) {
            (_, Some(makes)) => makes.to_string(),
            (true, None) if is_commit && !line.note.is_empty() => {
                format!("{} [{}]", line.action, line.note)
            }
            (true, None) => line.action.clone(),
            (false, None) => continue,
        };
        let number = if *step == 0 { "before".into() } else { step.to_string() };
        told.push(format!("{number:>6}  {} {text}", line.actor));
    }
    told.extend(finished.ending.as_ref().map(|ending| format!("=> {ending}")));
    told
}

/// The timelines of the newest two releases, folded.
#[must_use]
pub fn timelines(rows: &[Row]) -> String {
    let mut text = String::new();
    let newest = |row: &&Row| matches!(row.variant.as_str(), "cortex-1.21" | "cortex-main");
    for row in rows.iter().filter(newest).filter(|row| !row.timeline.is_empty()) {
        fold(&mut text, row);
    }
    text
}

fn fold(text: &mut String, row: &Row) {
    let title = format!("{} in {}: {}", row.variant, row.scope, row.outcome().replace("**", ""));
    let _ = writeln!(text, "<details><summary>{title}</summary>\n\n```text");
    for line in &row.timeline {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "```\n\n</details>\n");
}

/// What became of the holes of commit in upstream's newest variant, with the shortest way to each.
#[must_use]
pub fn holes(rows: &[Row]) -> String {
    let mut text = String::from("| hole | | shown in | what happens |\n|---|---|---|---|\n");
    let mut told: Vec<&Row> = Vec::new();
    for hole in HOLES {
        let word = hole.finding.word();
        let Some((scope, property)) = hole.finding.shown() else {
            let place = hole.finding.place();
            let _ = writeln!(text, "| {} | {word} | {place} | {} |", hole.name, hole.says);
            continue;
        };
        let is_shown = |row: &&Row| {
            row.variant == "pinot-2026-08" && row.scope == scope && row.asked == [property]
        };
        let row = rows.iter().find(is_shown);
        let outcome = row.map_or_else(|| "not run".into(), Row::outcome);
        let _ = writeln!(
            text,
            "| {} | {word} | `{scope}`: {property} {} | {} |",
            hole.name,
            outcome.replace(&format!("**{property}** "), ""),
            hole.says
        );
        told.extend(row.filter(|row| !row.timeline.is_empty() && !told.contains(row)));
    }
    text.push('\n');
    told.into_iter().for_each(|row| fold(&mut text, row));
    text
}

/// What a verified protocol was shown to keep, scope by scope.
#[must_use]
pub fn verified_table(rows: &[Row], protocol: &str) -> String {
    let mut text = String::from("| scope | bounds | unique states | depth |\n|---|---|---|---|\n");
    let verified = |row: &&Row| row.variant == "verified" && row.guard_removed.is_empty();
    for row in rows.iter().filter(|row| row.protocol == protocol).filter(verified) {
        let cut = match (row.cut_states, row.unsettled_states) {
            (0, _) => String::new(),
            (cut, 0) => format!(
                " ({} states cut at a bound; each state reaches the goal within it)",
                thousands(cut)
            ),
            (cut, open) => format!(
                " ({} states cut at a bound; of {} states it is open whether they recover)",
                thousands(cut),
                thousands(open)
            ),
        };
        let states = thousands(row.unique_states);
        let _ =
            writeln!(text, "| `{}` | {}{cut} | {states} | {} |", row.scope, row.bounds, row.depth);
    }
    text
}

/// What became of upstream's variants. Windows have a table of their own.
#[must_use]
pub fn upstream_table(rows: &[Row], protocol: &str) -> String {
    let mut text = String::from("| variant | scope | asked | outcome |\n|---|---|---|---|\n");
    let upstream = rows.iter().filter(|row| row.protocol == protocol && row.variant != "verified");
    let has_own_table =
        |row: &&Row| ["window-", "unnamed-"].iter().any(|p| row.scope.starts_with(p));
    for row in upstream.filter(|row| !has_own_table(row)) {
        let asked = row.asked.join(", ");
        let cut = match (row.verdict.as_str(), row.cut_states) {
            ("verified", cut) if cut > 0 => format!(" ({} states cut at a bound)", thousands(cut)),
            _ => String::new(),
        };
        let (variant, scope, outcome) = (&row.variant, &row.scope, row.outcome());
        let _ = writeln!(text, "| `{variant}` | `{scope}` | {asked} | {outcome}{cut} |");
    }
    text
}

/// Whether every loss of upstream's variants has a name among the windows, where one kind of event may happen.
#[must_use]
pub fn unnamed_table(rows: &[Row]) -> String {
    let variants: Vec<_> = Rebalance.releases().into_iter().map(|(name, _)| name).collect();
    let mut text = format!("| may happen | replicas | views | `{}` |\n", variants.join("` | `"));
    let _ = writeln!(text, "|---|---|---|{}", "---|".repeat(variants.len()));
    for (kind, copies, views) in unnamed_scopes() {
        let suffix = if views == "fresh" { "-fresh" } else { "" };
        let scope = format!("unnamed-{kind}-{copies}{suffix}");
        let count = if copies == "one" { 1 } else { 2 };
        let _ = write!(text, "| {kind} | {count} | {views} |");
        for variant in &variants {
            let row = rows.iter().find(|row| row.variant == *variant && row.scope == scope);
            let cell = match row {
                None => "not run".into(),
                Some(row) if row.verdict == "verified" => {
                    format!("all have, {}", thousands(row.unique_states))
                }
                Some(Row { steps: Some(steps), .. }) => format!("**one has none**, {steps}"),
                Some(row) => format!("not exhausted, {}", thousands(row.unique_states)),
            };
            let _ = write!(text, " {cell} |");
        }
        let _ = writeln!(text);
    }
    text
}

/// Kinds of events, how many replicas, and what views show: in the order of the table.
fn unnamed_scopes() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let kinds = ["calm", "takeover", "overdue", "flap", "repeat"].into_iter();
    kinds.flat_map(|kind| {
        ["one", "two"].into_iter().flat_map(move |copies| {
            ["lag", "fresh"].into_iter().map(move |views| (kind, copies, views))
        })
    })
}

/// Upstream's variants against the windows of the move race: how many steps the shortest loss through each
/// takes, or that there is none.
#[must_use]
pub fn window_table(rows: &[Row]) -> String {
    let variants: Vec<_> = Rebalance.releases().into_iter().map(|(name, _)| name).collect();
    let mut text = String::from("| window | replicas | views |");
    let _ = writeln!(text, " `{}` | `verified` |", variants.join("` | `"));
    let _ = writeln!(text, "|---|---|---|{}---|", "---|".repeat(variants.len()));
    for window in Window::ALL {
        for (copies, suffix, views) in [
            ("one", "", "lag"),
            ("one", "-fresh", "fresh"),
            ("two", "", "lag"),
            ("two", "-fresh", "fresh"),
        ] {
            if window == Window::ViewAhead && copies == "one" {
                continue;
            }
            let scope = format!("window-{}-{copies}{suffix}", window.number());
            let first = if window == Window::ViewAhead { "two" } else { "one" };
            let head = if (copies, suffix) == (first, "") {
                format!("{}: {}", window.number(), window.says())
            } else {
                String::new()
            };
            let count = if copies == "one" { 1 } else { 2 };
            let _ = write!(text, "| {head} | {count} | {views} |");
            for variant in &variants {
                let row = rows.iter().find(|row| row.variant == *variant && row.scope == scope);
                let cell = match row.map(|row| (&row.property, row.steps)) {
                    None if window == Window::Expired => "nothing expires".into(),
                    None => "not run".into(),
                    Some((Some(_), steps)) => format!("**open**, {}", steps.unwrap_or(0)),
                    Some((None, _)) if row.is_some_and(|row| row.verdict == "incomplete") => {
                        "not exhausted".into()
                    }
                    Some((None, _)) => "closed".into(),
                };
                let _ = write!(text, " {cell} |");
            }
            let ours = match window {
                Window::Expired => "nothing expires".into(),
                _ => closed_by(rows, window, count),
            };
            let _ = writeln!(text, " {ours} |");
        }
    }
    text
}

/// The verified protocol has no such windows to be asked for by name: it is asked for everything, in a scope
/// that has what the window needs. Views at any time hold all that fresh ones allow.
fn closed_by(rows: &[Row], window: Window, replicas: u32) -> String {
    let scope = match (window, replicas) {
        (Window::OtherLeader, 1) => "takeover-repeat",
        (Window::OtherLeader, _) => "takeover-two",
        (Window::Forgotten, 1) => "flap",
        (Window::Forgotten, _) => "flap-crash",
        (_, 1) => "move-one",
        (_, _) => "move-two",
    };
    let verified = |row: &&Row| row.variant == "verified" && row.guard_removed.is_empty();
    match rows.iter().filter(verified).find(|row| row.scope == scope) {
        Some(row) if row.verdict == "verified" => format!("closed (`{scope}`)"),
        Some(row) => row.outcome(),
        None => "not run".into(),
    }
}

/// The guards of a protocol, why each is there, and what it answers.
#[must_use]
pub fn guard_table(protocol: &dyn AnyProtocol) -> String {
    let mut text = String::from("| guard | says | answers | removed alone |\n|---|---|---|---|\n");
    let mutants = protocol.mutants();
    for guard in protocol.guards() {
        let alone = |run: &&SharedRun| run.removed() == [guard.name];
        let mut noticed =
            mutants.iter().map(|(_, run)| run).filter(|run| run.expected() != "verified");
        let unnoticed =
            mutants.iter().map(|(_, run)| run).find(alone).and_then(|run| run.unnoticed());
        let alone = if noticed.any(|run| alone(&run)) {
            "noticed".into()
        } else {
            format!("defence in depth, {}", unnoticed.unwrap_or_else(|| "unnoticed".into()))
        };
        let answers = guard.answers.join(", ");
        let _ = writeln!(text, "| `{}` | {} | {answers} | {alone} |", guard.name, guard.why);
    }
    text
}

/// Each hole, the guards that close it, and what breaks without them.
#[must_use]
pub fn mutant_table(rows: &[Row], protocol: &dyn AnyProtocol) -> String {
    let head = "| hole | removed | scope | what breaks |\n|---|---|---|---|\n";
    let mut text = String::from(head);
    for (holes, run) in protocol.mutants() {
        let (removed, asked, scope) = (run.removed(), run.judged(), run.scope().name);
        let row = rows
            .iter()
            .find(|row| row.guard_removed == removed && row.scope == scope && row.asked == asked);
        let outcome = match row {
            None => "not run".into(),
            Some(row) if row.property.is_none() && row.verdict == "verified" => {
                run.unnoticed().unwrap_or_default()
            }
            Some(row) => row.outcome(),
        };
        let removed: Vec<_> = removed.iter().map(|name| format!("`{name}`")).collect();
        let together = together(removed.len());
        let (holes, removed) = (holes.join(", "), removed.join(" + "));
        let _ = writeln!(text, "| {holes} | {removed}{together} | `{scope}` | {outcome} |");
    }
    text
}

/// Each case and hole of commit, the guards that answer it, and the removal that shows that very failure.
#[must_use]
pub fn key_table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| case or hole | what went wrong, or would | answered by | removed | scope | what breaks |\n\
         |---|---|---|---|---|---|\n",
    );
    let quoted = |names: Vec<&str>, between: &str| {
        names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
    };
    for key in &keys::KEYS {
        let answering = keys::answering(key).map(surehold::commit::Guard::name).collect();
        let removed: Vec<_> = key.removed.iter().map(|guard| guard.name()).collect();
        let row = rows.iter().find(|row| {
            row.protocol == "commit"
                && row.guard_removed == removed
                && row.scope == key.scope
                && row.asked == [key.breaks.name()]
        });
        let outcome = row.map_or_else(|| "not run".into(), Row::outcome);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | `{}` | {outcome} |",
            key.name,
            key.says,
            quoted(answering, ", "),
            quoted(removed, " + "),
            key.scope
        );
    }
    text
}

/// The names of the generated parts, for compaction, rebalance and commit.
const PARTS: [[&str; 3]; 4] = [
    ["verified", "verified-rebalance", "verified-commit"],
    ["upstream", "upstream-rebalance", "upstream-commit"],
    ["guards", "guards-rebalance", "guards-commit"],
    ["mutants", "mutants-rebalance", "mutants-commit"],
];

/// The pages that have generated parts, from the root of the repository.
pub const PAGES: [&str; 4] =
    ["README.md", "docs/compaction.md", "docs/rebalance.md", "docs/commit.md"];

/// The pages with each generated part renewed, from the verdicts of every check and of what is beyond. A part lies
/// between `<!-- NAME -->` and `<!-- end NAME -->`, in exactly one of them.
///
/// # Errors
///
/// The name of a part that has no place in the pages, or more than one.
pub fn renew(pages: &[String], rows: &[Row], beyond: &[Row]) -> Result<Vec<String>, &'static str> {
    let mut pages = pages.to_vec();
    for (name, table) in parts(rows, beyond) {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->"));
        let places = pages.iter().map(|page| page.matches(&open).count()).sum::<usize>();
        let page = pages.iter_mut().find(|page| page.contains(&open)).ok_or(name)?;
        let from = page.find(&open).ok_or(name)? + open.len();
        let to = page[from..].find(&close).ok_or(name)? + from;
        if places > 1 {
            return Err(name);
        }
        page.replace_range(from..to, &table);
    }
    Ok(pages)
}

fn parts(rows: &[Row], beyond: &[Row]) -> Vec<(&'static str, String)> {
    let all = [rows, beyond].concat();
    let mut parts = vec![
        ("timelines", timelines(rows)),
        ("holes-commit", holes(rows)),
        ("keys-commit", key_table(rows)),
        ("windows", window_table(&all)),
        ("unnamed", unnamed_table(&all)),
    ];
    for protocol in protocols() {
        let name = protocol.name();
        let [verified, upstream, guards, mutants] = PARTS.map(|part| match name {
            "compaction" => part[0],
            "rebalance" => part[1],
            _ => part[2],
        });
        parts.push((verified, verified_table(rows, name)));
        parts.push((upstream, upstream_table(rows, name)));
        parts.push((guards, guard_table(protocol)));
        parts.push((mutants, mutant_table(rows, protocol)));
    }
    parts
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
