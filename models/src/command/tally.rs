//! The sum of a check.

use super::exit::Exit;
use super::standing::Standing;
use crate::runs::Finished;

/// How many runs came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// All.
    pub(super) runs: usize,
    /// With the documented verdict.
    pub(super) as_documented: usize,
    /// With another one.
    pub(super) unexpected: usize,
    /// Without a verdict.
    pub(super) incomplete: usize,
    /// With a verdict where none is documented.
    pub(super) undocumented: usize,
    /// Different states, of all runs.
    pub(super) unique_states: u64,
    /// How to exit.
    pub(super) exit: Exit,
}

impl Tally {
    /// Counts a run. Where a variant was named, a violation is one even if it is documented.
    pub(super) fn count(&mut self, standing: Standing, finished: &Finished, is_named: bool) {
        self.runs += 1;
        self.unique_states += finished.unique_states;
        let (counter, exit) = match standing {
            Standing::AsDocumented => (&mut self.as_documented, Exit::AsExpected),
            Standing::Undocumented => (&mut self.undocumented, Exit::AsExpected),
            Standing::Unexpected => (&mut self.unexpected, Exit::Unexpected),
            Standing::Incomplete => (&mut self.incomplete, Exit::Incomplete),
        };
        *counter += 1;
        self.exit = self.exit.max(exit);
        if is_named && finished.verdict == "violated" {
            self.exit = self.exit.max(Exit::Unexpected);
        }
    }

    /// The summary line, without its end.
    pub(super) fn text(&self) -> String {
        let mut parts = vec![
            format!("{} as documented", self.as_documented),
            format!("{} unexpected", self.unexpected),
            format!("{} incomplete", self.incomplete),
        ];
        if self.undocumented > 0 {
            parts.push(format!("{} not documented", self.undocumented));
        }
        let runs = if self.runs == 1 { "run" } else { "runs" };
        format!("{} {runs}: {}", self.runs, parts.join(", "))
    }
}
