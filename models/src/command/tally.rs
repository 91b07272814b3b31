//! The sum of a check.

use super::exit::Exit;
use super::standing::Standing;
use crate::runs::Finished;

/// How many runs came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// How many states fingerprints are expected to have missed, in all runs together.
    pub(super) expected_missed: f64,
    /// The largest frontier of a run, in states.
    pub(super) peak_frontier: u64,
    /// The greatest resident set of the process, in bytes, where the system tells.
    pub(super) peak_memory_bytes: Option<u64>,
    /// How to exit.
    pub(super) exit: Exit,
}

impl Tally {
    /// Counts a run. Where a variant was named, a violation is one even if it is documented.
    pub(super) fn count(&mut self, standing: Standing, finished: &Finished, is_named: bool) {
        self.runs += 1;
        self.unique_states += finished.unique_states;
        self.expected_missed += finished.expected_missed;
        self.peak_frontier = self.peak_frontier.max(finished.peak_frontier);
        self.peak_memory_bytes = self.peak_memory_bytes.max(finished.peak_memory_bytes);
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

    /// What the exploration took, and how far fingerprints can be trusted.
    pub(super) fn means(&self) -> String {
        let memory = self
            .peak_memory_bytes
            .map_or(String::new(), |bytes| format!(", {} MiB of memory at the most", bytes >> 20));
        let (missed, frontier) = (self.expected_missed, self.peak_frontier);
        format!("{missed:.1e} states expected to be missed; {frontier} waiting at the most{memory}")
    }
}
