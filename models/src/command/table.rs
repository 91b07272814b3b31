//! Results for a person: a line for each run, and the story of those that went wrong.

use std::io::{self, Write};

use super::names;
use super::output::{Output, Summary};
use super::paint::{Paint, Tone};
use super::selection::Chosen;
use super::standing::{Standing, tone};
use super::timeline;
use crate::runs::{AnyRun, Finished};

/// A line for each run.
#[derive(Debug)]
pub(super) struct Table {
    paint: Paint,
    tells_all: bool,
    widths: [usize; 3],
    is_story_last: bool,
}

/// Characters of the longest verdict that a run can have, its scope's own properties aside.
fn widest_verdict(run: &dyn AnyRun) -> usize {
    let judged = run.judged();
    judged.iter().map(|property| format!("violated: {property}").len()).fold(0, usize::max)
}

impl Table {
    /// A table wide enough for these runs. Either every violation is told, or only unexpected ones.
    pub(super) fn of(chosen: &[Chosen], paint: Paint, tells_all: bool) -> Self {
        let widest = |text: &dyn Fn(&dyn AnyRun) -> usize, least: usize| {
            chosen.iter().map(|chosen| text(&*chosen.run)).fold(least, usize::max)
        };
        let widths = [
            widest(&|run| names::label(run).len(), "variant".len()),
            widest(&|run| run.scope().name.len(), "scope".len()),
            widest(&widest_verdict, "incomplete: time limit".len()),
        ];
        Self { paint, tells_all, widths, is_story_last: false }
    }
}

impl Output for Table {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let [variant, scope, verdict] = self.widths;
        let head = format!(
            "{:<variant$}  {:<scope$}  {:<verdict$}  {:>13}  {:>5}  {:>8}",
            "variant", "scope", "verdict", "unique states", "depth", "seconds"
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
        let [variant, scope, verdict] = self.widths;
        let verdict = format!("{:<verdict$}", finished.verdict_text());
        writeln!(
            out,
            "{:<variant$}  {:<scope$}  {}  {:>13}  {:>5}  {:>8.1}  {}",
            names::label(&*chosen.run),
            finished.scope,
            self.paint.tint(tone(standing, finished), &verdict),
            finished.unique_states,
            finished.depth,
            finished.seconds,
            standing.text(self.paint, finished)
        )?;
        let is_told = self.tells_all || standing == Standing::Unexpected;
        self.is_story_last = is_told && finished.property.is_some();
        if self.is_story_last {
            timeline::of_run(out, self.paint, &*chosen.run, finished)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        if !self.is_story_last {
            writeln!(out)?;
        }
        if !summary.coverage.is_empty() {
            if summary.is_coverage_wanted {
                summary.coverage.print_rows(out)?;
            }
            summary.coverage.print(out, self.paint)?;
        }
        writeln!(out, "{}", summary.line())
    }
}
