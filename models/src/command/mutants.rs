//! The table of holes: what breaks without each guard.

use std::io::{self, Write};

use super::output::{Output, Summary};
use super::paint::{Paint, Tone};
use super::selection::Chosen;
use super::standing::{Standing, tone};
use super::timeline;
use crate::everything::AnyProtocol;
use crate::runs::{Finished, together};

/// Guards that no mutant lacks, so that nothing shows that they are needed.
pub(super) fn never_removed(of: &[&dyn AnyProtocol]) -> Vec<&'static str> {
    let mut never = Vec::new();
    for protocol in of {
        let mutants = protocol.mutants();
        let is_removed = |name: &str| mutants.iter().any(|(_, run)| run.removed().contains(&name));
        let names = protocol.guards().into_iter().map(|guard| guard.name);
        never.extend(names.filter(|name| !is_removed(name)));
    }
    never
}

/// The table of holes.
#[derive(Debug)]
pub(super) struct Mutants {
    paint: Paint,
    widths: [usize; 4],
}

fn cells(chosen: &Chosen) -> [String; 4] {
    let run = &chosen.run;
    [
        chosen.holes.join(", "),
        removed(&run.removed()),
        run.scope().name.to_string(),
        run.judged().join(", "),
    ]
}

/// The guards removed, and that they cover each other if they are several.
fn removed(names: &[&str]) -> String {
    format!("{}{}", names.join(" + "), together(names.len()))
}

/// What comes of a removal, in words.
fn outcome(chosen: &Chosen, finished: &Finished) -> String {
    let nothing = || chosen.run.unnoticed().filter(|_| finished.verdict == "verified");
    match &finished.property {
        Some(property) => property.clone(),
        None => nothing().unwrap_or_else(|| finished.verdict_text()),
    }
}

impl Mutants {
    /// A table wide enough for these runs.
    pub(super) fn of(chosen: &[Chosen], paint: Paint) -> Self {
        let mut widths = HEADS.map(str::len);
        for chosen in chosen {
            for (width, cell) in widths.iter_mut().zip(cells(chosen)) {
                *width = cell.chars().count().max(*width);
            }
        }
        Self { paint, widths }
    }
}

const HEADS: [&str; 4] = ["hole", "guard removed", "scope", "what breaks"];

impl Output for Mutants {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let ([a, b, c, d], [hole, guard, scope, breaks]) = (self.widths, HEADS);
        let head = format!(
            "{hole:<a$}  {guard:<b$}  {scope:<c$}  {breaks:<d$}  {:>5}  {:>13}",
            "steps", "unique states"
        );
        writeln!(out, "{}", self.paint.tint(Tone::Quiet, &head))
    }

    fn finished(
        &mut self,
        out: &mut dyn Write,
        chosen: &Chosen,
        finished: &Finished,
        standing: Standing,
    ) -> io::Result<()> {
        let ([a, b, c, d], [hole, guard, scope, _]) = (self.widths, cells(chosen));
        let is_known = standing == Standing::AsDocumented;
        let outcome = outcome(chosen, finished);
        let breaks = self.paint.tint(tone(standing, finished), &format!("{outcome:<d$}"));
        let steps = finished.counterexample.as_ref().and_then(|steps| steps.last());
        let steps = steps.map_or_else(|| "-".to_string(), |step| step.step.to_string());
        let states = finished.unique_states;
        write!(out, "{hole:<a$}  {guard:<b$}  {scope:<c$}  {breaks}  {steps:>5}  {states:>13}")?;
        if is_known {
            return writeln!(out);
        }
        writeln!(out, "  {}", standing.text(self.paint, finished))?;
        timeline::of_run(out, self.paint, &*chosen.run, finished)
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        writeln!(out)?;
        for guard in &summary.never_removed {
            let line = format!("never removed: {guard}");
            writeln!(out, "{}", self.paint.tint(Tone::Bad, &line))?;
        }
        writeln!(out, "{}", summary.line())
    }
}
