//! `surehold replay`: a reported race, step by step, against each variant.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::Format;
use super::exit::{Exit, Failure};
use super::paint::{Paint, Tone};
use crate::compaction::replay::{Played, Replayed, replay, variants};
use crate::compaction::scenario::Scenario;

/// What to replay.
#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    /// Scenario files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Replay against this variant only, and tell each operation
    #[arg(long)]
    variant: Option<String>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A scenario and how it went.
#[derive(Debug, Serialize)]
struct Told {
    scenario: String,
    replays: Vec<Replayed>,
}

impl Replay {
    /// Replays each file. Exits 1 if an outcome is not the one that the file expects.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        let chosen = match &self.variant {
            Some(name) if !variants().contains(&name.as_str()) => {
                let known = variants().join(", ");
                return Err(Failure::Usage(format!("no variant {name}; known: {known}")));
            }
            Some(name) => vec![name.as_str()],
            None => variants(),
        };
        let scenarios = self.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::new();
        for scenario in &scenarios {
            let replays = chosen.iter().filter_map(|name| replay(scenario, name));
            let replays = replays.collect::<Result<Vec<_>, _>>();
            let replays = replays.map_err(|error| Failure::Usage(error.to_string()))?;
            all.push((scenario, Told { scenario: scenario.name.clone(), replays }));
        }
        let mut out = BufWriter::new(io::stdout().lock());
        match self.format {
            Format::Text => {
                for (scenario, told) in &all {
                    self.tell(&mut out, scenario, told)?;
                }
            }
            Format::Json => {
                let told: Vec<_> = all.iter().map(|(_, told)| told).collect();
                serde_json::to_writer_pretty(&mut out, &told).map_err(io::Error::from)?;
                writeln!(out)?;
            }
        }
        out.flush()?;
        let differs = |replayed: &Replayed| {
            replayed.differences.as_ref().is_some_and(|differences| !differences.is_empty())
        };
        let unexpected = all.iter().flat_map(|(_, told)| &told.replays).any(differs);
        Ok(if unexpected { Exit::Unexpected } else { Exit::AsExpected })
    }

    fn tell(&self, out: &mut dyn Write, scenario: &Scenario, told: &Told) -> io::Result<()> {
        let paint = Paint::of_stdout();
        writeln!(out, "{}", paint.tint(Tone::Unsure, &scenario.name))?;
        for line in &scenario.story {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
        for (at, scene) in scenario.steps.iter().enumerate() {
            writeln!(out, "  step {}: {}", at + 1, scene.says)?;
        }
        for replayed in &told.replays {
            writeln!(out, "\n{}", paint.tint(Tone::Unsure, replayed.variant))?;
            for (at, step) in replayed.steps.iter().enumerate() {
                if self.variant.is_some() {
                    tell_step(out, paint, at, step)?;
                } else if !step.done {
                    writeln!(out, "  step {} is refused{}", at + 1, by(step))?;
                }
            }
            tell_outcome(out, paint, replayed)?;
        }
        writeln!(out)
    }
}

fn read(path: &PathBuf) -> Result<Scenario, Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
    Scenario::parse(&text).map_err(|error| at(&error))
}

fn by(step: &Played) -> String {
    match (step.refused_by.as_slice(), step.stopped_by) {
        ([], None) => ": it does not come to it".into(),
        ([], Some(check)) => format!(": stopped by {check}"),
        (guards, _) => format!(" by {}", guards.join(", ")),
    }
}

fn tell_step(out: &mut dyn Write, paint: Paint, at: usize, step: &Played) -> io::Result<()> {
    writeln!(out, "  step {}: {}", at + 1, step.says)?;
    for line in &step.lines {
        let guards = match line.decided_by.as_slice() {
            [] => String::new(),
            guards => format!("  [{}]", guards.join(", ")),
        };
        let text = format!("    {:<12} {:<66} {}{guards}", line.actor, line.action, line.note);
        writeln!(out, "{}", paint.tint(Tone::Quiet, text.trim_end()))?;
    }
    if !step.done {
        writeln!(out, "    {}", paint.tint(Tone::Good, &format!("refused{}", by(step))))?;
    }
    Ok(())
}

fn tell_outcome(out: &mut dyn Write, paint: Paint, replayed: &Replayed) -> io::Result<()> {
    let outcome = &replayed.outcome;
    match outcome.lost.as_deref().unwrap_or_default() {
        [] => writeln!(out, "  {}", paint.tint(Tone::Good, "nothing is lost"))?,
        lost => {
            writeln!(out, "  {}", paint.tint(Tone::Bad, &format!("lost: {}", lost.join(", "))))?;
        }
    }
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
        writeln!(out, "  {}", notes.join("; "))?;
    }
    for difference in replayed.differences.iter().flatten() {
        writeln!(out, "  {}", paint.tint(Tone::Bad, &format!("UNEXPECTED {difference}")))?;
    }
    Ok(())
}
