//! `surehold engines`.

use std::env;
use std::io::{self, Write};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::Format;
use super::exit::{Exit, Failure};
use super::names::{self, Place};
use super::selection::{self, Question, VERIFIED};
use crate::explore::Options;
use crate::runs::{Engine, Finished, Manner, SharedRun};

/// The scopes measured if none is named: a small one, and one of more than a million states.
const SCOPES: [&str; 2] = ["one-partition", "late-block"];

/// Each engine, and on how many threads.
const ENTRANTS: [(Engine, usize); 3] =
    [(Engine::Stateright, 1), (Engine::Own, 1), (Engine::Own, 2)];

/// Which scopes the engines are compared in.
#[derive(Debug, clap::Args)]
pub(super) struct Engines {
    /// The protocol whose verified variant is explored
    #[arg(value_name = "PROTOCOL", value_parser = names::protocol_parser())]
    #[arg(default_value = "compaction")]
    protocol: String,
    /// Compare in one scope, or in those of a tier [default: one-partition and late-block]
    #[arg(long, value_name = "NAME", value_parser = names::place_parser())]
    #[arg(hide_possible_values = true)]
    scope: Option<Place>,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Do one run in this process, and print what it took
    #[arg(long, hide = true, value_name = "ENTRANT")]
    alone: Option<usize>,
}

/// What one engine took for one scope.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    scope: String,
    engine: String,
    threads: usize,
    verdict: String,
    states: u64,
    unique_states: u64,
    seconds: f64,
    states_per_second: f64,
    /// Greatest resident set of the process, for each unique state.
    bytes_per_unique_state: Option<f64>,
}

impl Engines {
    /// Runs each engine in a process of its own, so that memory is each one's own, and prints them side by side.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        if let Some(entrant) = self.alone {
            return self.run_alone(entrant);
        }
        let mut rows = Vec::new();
        let mut out = io::stdout().lock();
        if self.format == Format::Text {
            writeln!(out, "{}", head())?;
        }
        for run in self.runs()? {
            let scope = run.scope().name;
            let mut of_scope: Vec<Row> = Vec::new();
            for entrant in 0..ENTRANTS.len() {
                of_scope.push(self.row_of(scope, entrant)?);
                if self.format == Format::Text {
                    writeln!(out, "{}", line(&of_scope))?;
                    out.flush()?;
                }
            }
            rows.extend(of_scope);
        }
        if self.format == Format::Json {
            serde_json::to_writer_pretty(&mut out, &rows).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Ok(if is_agreed(&rows) { Exit::AsExpected } else { Exit::Unexpected })
    }

    fn runs(&self) -> Result<Vec<SharedRun>, Failure> {
        let protocols = selection::protocols_of(std::slice::from_ref(&self.protocol));
        let chosen = selection::of(&Question::Variant(VERIFIED), &protocols, self.scope);
        let mut runs: Vec<_> = chosen.into_iter().map(|chosen| chosen.run).collect();
        if self.scope.is_none() && runs.iter().any(|run| SCOPES.contains(&run.scope().name)) {
            runs.retain(|run| SCOPES.contains(&run.scope().name));
        }
        if runs.is_empty() {
            return Err(Failure::Usage("there is nothing to run, so nothing is compared".into()));
        }
        Ok(runs)
    }

    fn row_of(&self, scope: &str, entrant: usize) -> Result<Row, Failure> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["engines", &self.protocol, "--scope", scope]);
        let output = command.args(["--alone", &entrant.to_string()]).output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let told = String::from_utf8_lossy(&output.stderr);
            Failure::Usage(format!("{scope}, engine {entrant}: {error}: {told}"))
        })
    }

    fn run_alone(&self, entrant: usize) -> Result<Exit, Failure> {
        let Some((engine, threads)) = ENTRANTS.get(entrant).copied() else {
            return Err(Failure::Usage(format!("there is no engine {entrant}")));
        };
        let runs = self.runs()?;
        let [run] = runs.as_slice() else {
            return Err(Failure::Usage("one scope at a time".into()));
        };
        // stateright judges no recoverability and takes no states for one, so neither does ours here; every step is taken
        // by itself.
        let options =
            Options { recoverability: false, symmetry: false, threads, ..Options::default() };
        let manner = Manner { engine, options, reduce: false, coverage: false };
        let mut out = io::stdout().lock();
        serde_json::to_writer(&mut out, &Row::of(&run.execute(&manner), threads))
            .map_err(io::Error::from)?;
        Ok(Exit::AsExpected)
    }
}

impl Row {
    fn of(finished: &Finished, threads: usize) -> Self {
        let per_state = |bytes: u64| bytes as f64 / finished.unique_states.max(1) as f64;
        Self {
            scope: finished.scope.into(),
            engine: finished.engine.into(),
            threads,
            verdict: finished.verdict_text(),
            states: finished.states,
            unique_states: finished.unique_states,
            seconds: finished.seconds,
            states_per_second: finished.states as f64 / finished.seconds.max(1e-9),
            bytes_per_unique_state: finished.peak_memory_bytes.map(per_state),
        }
    }
}

/// Engines that do not tell the same story are not compared: that is an error.
fn is_agreed(rows: &[Row]) -> bool {
    let story = |row: &Row| (row.verdict.clone(), row.states, row.unique_states);
    rows.chunks(ENTRANTS.len()).all(|of_scope| {
        of_scope.iter().all(|row| row.verdict == "verified" && story(row) == story(&of_scope[0]))
    })
}

fn head() -> String {
    format!(
        "{:<24}  {:<10}  {:>7}  {:>12}  {:>12}  {:>8}  {:>9}  {:>7}  {:>11}",
        "scope",
        "engine",
        "threads",
        "states",
        "unique",
        "seconds",
        "states/s",
        "ratio",
        "bytes/unique"
    )
}

/// The last row, against the first one of the same scope.
fn line(of_scope: &[Row]) -> String {
    let (first, row) = (&of_scope[0], &of_scope[of_scope.len() - 1]);
    let bytes = row.bytes_per_unique_state.map_or("-".into(), |bytes| format!("{bytes:.0}"));
    format!(
        "{:<24}  {:<10}  {:>7}  {:>12}  {:>12}  {:>8.1}  {:>9.0}  {:>6.1}x  {:>12}",
        row.scope,
        row.engine,
        row.threads,
        row.states,
        row.unique_states,
        row.seconds,
        row.states_per_second,
        row.states_per_second / first.states_per_second,
        bytes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(states: u64, unique_states: u64, verdict: &str) -> Row {
        Row {
            scope: "crash".into(),
            engine: "own".into(),
            threads: 1,
            verdict: verdict.into(),
            states,
            unique_states,
            seconds: 2.0,
            states_per_second: states as f64 / 2.0,
            bytes_per_unique_state: None,
        }
    }

    #[test]
    fn only_engines_that_tell_the_same_story_are_compared() {
        let same = || row(10, 4, "verified");
        assert!(is_agreed(&[same(), same(), same()]));
        assert!(!is_agreed(&[same(), same(), row(10, 5, "verified")]));
        assert!(!is_agreed(&[same(), row(11, 4, "verified"), same()]));
        let broken = || row(10, 4, "violated: no-sample-lost");
        assert!(!is_agreed(&[broken(), broken(), broken()]));
    }

    #[test]
    fn ratios_are_those_to_the_first_engine() {
        let rows = [row(10, 4, "verified"), row(30, 4, "verified")];
        assert!(line(&rows[..1]).contains("1.0x"));
        assert!(line(&rows).contains("3.0x"));
    }
}
