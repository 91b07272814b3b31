//! Looks at clock and memory often enough, and not more often.

use std::time::{Duration, Instant};

use super::memory::resident_bytes;
use super::options::Options;
use super::report::Reason;

/// Steps of work between two looks at clock and memory. A look costs tens of microseconds, a step about one.
pub(super) const STEPS_BETWEEN_LOOKS: u64 = 4096;

/// The limits of a run, and the work done since it began.
pub(super) struct Limits {
    started: Instant,
    time_limit: Option<Duration>,
    memory_limit_bytes: Option<u64>,
    steps: u64,
}

impl Limits {
    /// Starts the clock.
    pub(super) fn new(options: &Options) -> Self {
        Limits {
            started: Instant::now(),
            time_limit: options.time_limit,
            memory_limit_bytes: options.memory_limit_bytes,
            steps: 0,
        }
    }

    /// Seconds since the run began.
    pub(super) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Counts one step of work, and tells whether it is time for a [look](Self::look).
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS)
    }

    /// Fails if a limit is met.
    ///
    /// `own_bytes` is what the explorer knows to hold, used where the system does not tell; `growth_bytes` is what it
    /// may allocate before the next look, so that the growth of a table is refused before it happens.
    pub(super) fn look(&self, own_bytes: u64, growth_bytes: u64) -> Result<(), Reason> {
        if self.time_limit.is_some_and(|limit| self.started.elapsed() >= limit) {
            return Err(Reason::TimeLimit);
        }
        match self.memory_limit_bytes {
            Some(limit) if resident_bytes().unwrap_or(own_bytes) + growth_bytes > limit => {
                Err(Reason::MemoryLimit)
            }
            _ => Ok(()),
        }
    }
}
