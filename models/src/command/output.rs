//! How results are printed while they come in.

use std::io::{self, Write};

use super::coverage::Sum;
use super::selection::Chosen;
use super::standing::Standing;
use super::tally::Tally;
use crate::runs::Finished;

/// What is printed at the end.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The sum of the runs.
    pub(super) tally: Tally,
    /// Wall time of all of them together.
    pub(super) seconds: f64,
    /// What occurred, if it was counted.
    pub(super) coverage: Sum,
    /// Whether each row of the coverage was asked for.
    pub(super) is_coverage_wanted: bool,
    /// Guards that no mutant lacks, if that was asked.
    pub(super) never_removed: Vec<&'static str>,
}

impl Summary {
    /// The last lines.
    pub(super) fn line(&self) -> String {
        let (states, means) = (self.tally.unique_states, self.tally.means());
        format!("{means}\n{}; {states} unique states in {:.1} s", self.tally.text(), self.seconds)
    }
}

/// A way to print results.
pub(super) trait Output {
    /// What comes before the first result.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// A result, in the order of the runs.
    fn finished(
        &mut self,
        out: &mut dyn Write,
        chosen: &Chosen,
        finished: &Finished,
        standing: Standing,
    ) -> io::Result<()>;

    /// What comes after the last one.
    fn end(&mut self, out: &mut dyn Write, summary: &Summary) -> io::Result<()>;
}
