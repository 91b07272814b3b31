//! What is going on, for a person who waits.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// Columns of a terminal that does not tell how many it has.
const COLUMNS: usize = 80;

/// A line on standard error that is drawn over and over. There is none unless that is a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    is_on: bool,
    is_drawn: bool,
    begun: Instant,
    labels: Vec<String>,
    running: BTreeMap<usize, Instant>,
    ended: usize,
}

impl Progress {
    /// The progress of runs called by these labels.
    pub(super) fn of(labels: Vec<String>) -> Self {
        Self {
            is_on: io::stderr().is_terminal(),
            is_drawn: false,
            begun: Instant::now(),
            labels,
            running: BTreeMap::new(),
            ended: 0,
        }
    }

    /// A run begins.
    pub(super) fn begun(&mut self, at: usize) {
        self.running.insert(at, Instant::now());
    }

    /// A run ended.
    pub(super) fn ended(&mut self, at: usize) {
        self.running.remove(&at);
        self.ended += 1;
    }

    /// Draws the line.
    pub(super) fn draw(&mut self) {
        if self.is_on {
            let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
            let line = self.line();
            let cut: String =
                line.chars().take(columns.unwrap_or(COLUMNS).saturating_sub(1)).collect();
            let _ = write!(io::stderr(), "\r\x1b[K{cut}");
            self.is_drawn = true;
        }
    }

    /// Takes the line away, so that something else can be printed.
    pub(super) fn clear(&mut self) {
        if self.is_drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
            self.is_drawn = false;
        }
    }

    fn line(&self) -> String {
        let (done, all) = (self.ended, self.labels.len());
        let head = format!("[{done}/{all}, {} s]", self.begun.elapsed().as_secs());
        let names = self.running.iter().filter_map(|(at, since)| {
            let label = self.labels.get(*at)?;
            Some(format!(" {label} ({} s)", since.elapsed().as_secs()))
        });
        names.fold(head, |line, name| line + &name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_running() {
        let mut progress = Progress::of(vec!["verified in early".into(), "other".into()]);
        progress.begun(0);
        progress.begun(1);
        progress.ended(1);
        assert_eq!(progress.line(), "[1/2, 0 s] verified in early (0 s)");
    }
}
