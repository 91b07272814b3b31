//! `surehold check`.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::exit::{Exit, Failure, note};
use super::json::Json;
use super::mutants::{Mutants, never_removed};
use super::names::{self, Place};
use super::output::{Output, Summary};
use super::paint::Paint;
use super::progress::Progress;
use super::save::Shelf;
use super::selection::{self, Chosen, Question, VERIFIED};
use super::standing::Standing;
use super::table::Table;
use super::{Format, quantity, queue};
use crate::everything::{AnyProtocol, asks_only_recovery};
use crate::explore::Options;
use crate::runs::{AnyRun, Engine, Manner};

/// What is checked, how, and where the results go.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    /// Protocols to check [default: all]
    #[arg(value_name = "PROTOCOL", value_parser = names::protocol_parser())]
    protocols: Vec<String>,
    /// Check this variant only: `verified`, or one of upstream's
    #[arg(long, value_name = "V", value_parser = names::variant_parser())]
    #[arg(hide_possible_values = true, conflicts_with_all = ["without", "mutants"])]
    variant: Option<&'static str>,
    /// Check the verified protocol without these guards
    #[arg(long, value_name = "GUARD", value_delimiter = ',', value_parser = names::guard_parser())]
    #[arg(hide_possible_values = true, conflicts_with = "mutants")]
    without: Vec<&'static str>,
    /// Remove guards one after the other, and print what breaks
    #[arg(long)]
    mutants: bool,
    /// Check in one scope, or in those of a tier: ci, nightly or deep
    #[arg(long, value_name = "NAME", value_parser = names::place_parser())]
    #[arg(hide_possible_values = true)]
    scope: Option<Place>,
    /// Use this many threads: runs at the same time, or, if there are fewer runs, several for each [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Which checker explores; stateright is the second opinion, and judges no recoverability
    #[arg(long, value_parser = names::engine_parser(), default_value = "own")]
    engine: Engine,
    /// Give a run up after this time: 500ms, 90s, 5m, 1h
    #[arg(long, value_name = "D", value_parser = quantity::duration)]
    time_limit: Option<Duration>,
    /// Give runs up beyond this resident memory of the process: 500MiB, 2GB, a number of bytes
    #[arg(long, value_name = "B", value_parser = quantity::bytes)]
    memory_limit: Option<u64>,
    /// Keep every state and compare states themselves instead of fingerprints
    #[arg(long)]
    exact: bool,
    /// Seed of the fingerprints
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How results are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write each counterexample as a JSON file into this directory
    #[arg(long, value_name = "DIR")]
    save_counterexamples: Option<PathBuf>,
    /// Look for fair runs as well that go on for ever, without a fault, and never come to the goal
    #[arg(long)]
    rounds: bool,
    /// Explore the steps as well that nobody else can tell
    #[arg(long)]
    no_reduction: bool,
    /// Tell states apart that differ only in which of several equal actors is which
    #[arg(long)]
    no_symmetry: bool,
    /// Count what occurs, and print every row
    #[arg(long, conflicts_with = "mutants")]
    coverage: bool,
}

impl Check {
    /// Runs what is asked and prints it. Nothing at all is no success.
    pub(super) fn run(&self) -> Result<Exit, Failure> {
        self.refuse_unfit()?;
        let shelf = self.save_counterexamples.as_deref().map(Shelf::at).transpose()?;
        let question = self.question();
        let mut chosen = selection::of(&question, &self.protocols(), self.scope);
        if self.engine == Engine::Stateright {
            chosen.retain(is_known_to_stateright);
        }
        if chosen.is_empty() {
            return Err(Failure::Usage("there is nothing to run, so nothing is shown".into()));
        }
        self.explore(&question, &chosen, shelf.as_ref())
    }

    /// Refuses what stateright would silently ignore: a limit that is none is worse than no limit.
    fn refuse_unfit(&self) -> Result<(), Failure> {
        let asked = [
            ("--time-limit", self.time_limit.is_some()),
            ("--memory-limit", self.memory_limit.is_some()),
            ("--exact", self.exact),
            ("--seed", self.seed != 0),
            ("--save-counterexamples", self.save_counterexamples.is_some()),
            ("--coverage", self.coverage),
            ("--rounds", self.rounds),
        ];
        match asked.into_iter().find(|(_, is_asked)| *is_asked) {
            Some((name, _)) if self.engine == Engine::Stateright => {
                Err(Failure::Usage(format!("the engine stateright knows no {name}")))
            }
            _ => Ok(()),
        }
    }

    fn protocols(&self) -> Vec<&'static dyn AnyProtocol> {
        selection::protocols_of(&self.protocols)
    }

    fn question(&self) -> Question {
        match &self.variant {
            _ if self.mutants => Question::Mutants,
            _ if !self.without.is_empty() => Question::Without(self.without.clone()),
            Some(variant) => Question::Variant(variant),
            None => Question::Documented,
        }
    }

    /// Does the runs, prints each as soon as it can be, and sums up.
    fn explore(
        &self,
        question: &Question,
        chosen: &[Chosen],
        shelf: Option<&Shelf>,
    ) -> Result<Exit, Failure> {
        let begun = Instant::now();
        let is_named = matches!(question, Question::Variant(_) | Question::Without(_));
        let mut output = self.output(question, chosen);
        let mut out = BufWriter::new(io::stdout().lock());
        let mut summary = Summary::default();
        output.begin(&mut out)?;
        out.flush()?;
        let runs = chosen.len();
        let jobs =
            chosen.iter().map(|one| (one.run.clone(), self.manner(question, &*one.run, runs)));
        let mut progress = Progress::of(chosen.iter().map(place_of).collect());
        queue::work(jobs.collect(), self.threads(), &mut progress, |at, finished| {
            let standing = Standing::of(&*chosen[at].run, &finished);
            summary.tally.count(standing, &finished, is_named);
            if self.sums_coverage(question, &*chosen[at].run) {
                summary.coverage.add(finished.protocol, &finished.coverage);
            }
            output.finished(&mut out, &chosen[at], &finished, standing)?;
            out.flush()?;
            shelf.map_or(Ok(()), |shelf| shelf.put(&finished))
        })?;
        self.judge_whole(question, &mut summary);
        summary.seconds = begun.elapsed().as_secs_f64();
        output.end(&mut out, &summary)?;
        out.flush()?;
        Ok(summary.tally.exit)
    }

    /// Judges what no single run can show: that everything occurred in some run, and that each guard was
    /// removed in one. A part of the scopes is not asked to show everything.
    fn judge_whole(&self, question: &Question, summary: &mut Summary) {
        summary.is_coverage_wanted = self.coverage;
        if *question == Question::Mutants {
            summary.never_removed = never_removed(&self.protocols());
        }
        let is_whole = *question == Question::Documented && self.scope.is_none();
        let is_missed = is_whole && !summary.coverage.never().is_empty();
        if is_missed || !summary.never_removed.is_empty() {
            summary.tally.exit = summary.tally.exit.max(Exit::Unexpected);
        }
    }

    fn output(&self, question: &Question, chosen: &[Chosen]) -> Box<dyn Output> {
        let paint = Paint::of_stdout();
        match (self.format, question) {
            (Format::Json, _) => Box::new(Json::default()),
            (Format::Text, Question::Mutants) => Box::new(Mutants::of(chosen, paint)),
            (Format::Text, Question::Documented) => Box::new(Table::of(chosen, paint, false)),
            (Format::Text, _) => Box::new(Table::of(chosen, paint, true)),
        }
    }

    /// Whether a run's occurrences are part of the sum. Where everything documented is run, those of the
    /// verified protocol alone are: what a broken one meets proves nothing about how well the verified one
    /// was tried.
    fn sums_coverage(&self, question: &Question, run: &dyn AnyRun) -> bool {
        match question {
            Question::Documented if self.coverage || self.scope.is_none() => {
                run.variant() == VERIFIED && run.removed().is_empty()
            }
            Question::Documented => false,
            Question::Variant(_) | Question::Without(_) | Question::Mutants => self.coverage,
        }
    }

    /// How a run is done. A machine that reads the results is given each run's occurrences; stateright counts
    /// none.
    fn manner(&self, question: &Question, run: &dyn AnyRun, runs: usize) -> Manner {
        let is_wanted = self.format == Format::Json || self.sums_coverage(question, run);
        let coverage = is_wanted && self.engine == Engine::Own;
        let options = Options {
            time_limit: self.time_limit,
            memory_limit_bytes: self.memory_limit,
            exact: self.exact,
            seed: self.seed,
            rounds: self.rounds,
            symmetry: !self.no_symmetry,
            threads: self.threads_for_each(runs),
            ..Options::default()
        };
        Manner { engine: self.engine, options, reduce: !self.no_reduction, coverage }
    }

    /// A run gets more than one thread only where there are fewer runs than threads.
    fn threads_for_each(&self, runs: usize) -> usize {
        (self.threads().get() / runs.max(1)).max(1)
    }

    fn threads(&self) -> NonZeroUsize {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores)
    }
}

/// How a run is called among others.
fn place_of(chosen: &Chosen) -> String {
    format!("{} in {}", names::label(&*chosen.run), chosen.run.scope().name)
}

/// Whether stateright has anything to say; if not, that is noted, so that nobody takes silence for a verdict.
fn is_known_to_stateright(chosen: &Chosen) -> bool {
    let is_known = !asks_only_recovery(&*chosen.run);
    if !is_known {
        let place = place_of(chosen);
        note(&format!("skipped, as stateright judges no recoverability: {place}"));
    }
    is_known
}
