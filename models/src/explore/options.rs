//! What a run is allowed to use, and how it identifies states.

use std::time::Duration;

use super::planted::Planted;

/// What a run is allowed to use, and how it identifies states.
///
/// A run that meets a limit is [`Incomplete`](super::Verdict::Incomplete), never verified.
#[derive(Clone, Debug)]
pub struct Options {
    /// Wall time after which the run gives up; [`None`] is no limit. It is looked at every few thousand generated states.
    pub time_limit: Option<Duration>,
    /// Bytes of memory beyond which the run gives up; [`None`] is no limit. On Linux it bounds the resident set of the
    /// whole process, elsewhere what the explorer itself knows to hold, which leaves out what states own on the heap.
    pub memory_limit_bytes: Option<u64>,
    /// Keeps every state and compares states themselves, so that no fingerprint can merge two of them. It costs the
    /// memory of all states: for small scopes, to prove that fingerprints lose nothing.
    pub exact: bool,
    /// Seeds the fingerprints. Another seed merges other states, if any, so equal counts under two seeds are evidence
    /// that none were merged.
    pub seed: u64,
    /// Judges whether every state can recover, if the model sets a goal. It costs four bytes for each edge and each
    /// state more.
    pub recoverability: bool,
    /// Looks for endless rounds, if the model sets a goal: ways round for ever that spend no fault, treat every
    /// [class](super::Judged::class) of steps fairly, and pass neither a goal nor a state that a bound has cut. It costs
    /// five bytes for each edge between such states, 12 for each state, and 48 more while they are looked for.
    pub rounds: bool,
    /// Takes states for one that are [images](super::Judged::images) of each other. Not in exact mode, which compares states
    /// as they are, nor where endless rounds are looked for, as what is fair to one actor may starve another.
    pub symmetry: bool,
    /// Threads that expand states; 0 counts as 1. The report is the same for any number.
    pub threads: usize,
    /// Number of unique states that may be stored; a further one makes the run incomplete. [`None`] leaves the limit of
    /// the state indices, 2^32 - 1.
    pub max_states: Option<u64>,
    /// An error to make on purpose, so that a test can see it being caught. Only test builds have it.
    #[cfg(test)]
    pub(crate) planted: Option<Planted>,
}

impl Options {
    /// Whether images of a state are taken for it.
    pub(super) fn takes_images(&self) -> bool {
        self.symmetry && !self.exact && !self.rounds
    }

    /// Tells whether the explorer must make this error. Never in a build that is not a test.
    pub(super) fn plants(&self, error: Planted) -> bool {
        #[cfg(test)]
        return self.planted == Some(error);
        #[cfg(not(test))]
        {
            let _ = error;
            false
        }
    }
}

impl Default for Options {
    /// No limits, one thread, fingerprints with seed 0, images of a state taken for it, recoverability judged wherever the
    /// model sets a goal, and no look for endless rounds.
    fn default() -> Self {
        Options {
            time_limit: None,
            memory_limit_bytes: None,
            exact: false,
            seed: 0,
            recoverability: true,
            rounds: false,
            symmetry: true,
            threads: 1,
            max_states: None,
            #[cfg(test)]
            planted: None,
        }
    }
}
