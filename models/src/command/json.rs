//! Results as one JSON array, an element a line.

use std::io::{self, Write};

use super::exit::note;
use super::output::{Output, Summary};
use super::selection::Chosen;
use super::standing::Standing;
use crate::runs::Finished;

/// Results as one JSON array. What is not a result, but decides how to exit, goes to standard error.
#[derive(Debug, Default)]
pub(super) struct Json {
    is_begun: bool,
}

impl Output for Json {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "[")
    }

    fn finished(
        &mut self,
        out: &mut dyn Write,
        _chosen: &Chosen,
        finished: &Finished,
        _standing: Standing,
    ) -> io::Result<()> {
        let before = if self.is_begun { ",\n" } else { "\n" };
        self.is_begun = true;
        write!(out, "{before}{}", serde_json::to_string(finished)?)
    }

    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
        for name in summary.coverage.never() {
            note(&format!("coverage: never: {name}"));
        }
        for guard in &summary.never_removed {
            note(&format!("never removed: {}", guard));
        }
        writeln!(out, "\n]")
    }
}
