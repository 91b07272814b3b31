//! The command `surehold`: what it can be asked, what it prints, and how it exits.
//!
//! Text goes to a person on standard output, formats go to machines there; progress and remarks go to
//! standard error. Exit codes: 0 all as expected, 1 a violation or an unexpected verdict, 2 usage or unreadable
//! input, 3 incomplete; where several apply, 2 beats 3 beats 1.

mod check;
mod coverage;
mod engines;
mod exit;
mod fuzz_replay;
mod json;
mod list;
mod mutants;
mod names;
mod output;
mod paint;
mod progress;
mod quantity;
mod queue;
mod replay;
mod save;
mod script;
mod selection;
mod standing;
mod table;
mod tally;
mod timeline;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Model checks the hand-over protocols of segment stores.
///
/// Exit codes: 0 all as expected; 1 a violation or an unexpected verdict; 2 usage or unreadable input;
/// 3 incomplete. Where several apply, 2 beats 3 beats 1.
#[derive(Debug, Parser)]
#[command(name = "surehold", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What it can be asked. Each subcommand is one file, with its arguments and a `run`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Explore every state of small worlds and compare the verdicts with the documented ones
    ///
    /// Without a choice of variant, everything that is documented is run: the verified protocol in every
    /// ci scope, upstream's releases, and the verified protocol without the guards that hold it up. An
    /// upstream release that fails as reported is then as expected. With a choice of variant, any violation
    /// is told step by step and exits 1.
    Check(check::Check),
    /// Compare this explorer with stateright's checker on the same states
    ///
    /// Each engine explores each scope in a process of its own, without recoverability, which stateright does not
    /// judge, and without reduction. Exits 1 if they do not find the same states.
    Engines(engines::Engines),
    /// Replay one input of a fuzz target, and tell what it shows
    ///
    /// Can make the input shorter, and keep it as a scenario. Exits 1 if it shows something.
    FuzzReplay(fuzz_replay::FuzzReplay),
    /// List protocols, variants, guards, scopes and properties
    List(list::List),
    /// Replay reported races, step by step, against each variant
    ///
    /// Says which steps a variant refuses and which guard refused, and who lost what. With a variant, tells
    /// each operation. Exits 1 if an outcome is not the one that the file expects.
    Replay(replay::Replay),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a person
    Text,
    /// For a machine
    Json,
}

/// Runs the command of this process's arguments. Usage errors end the process with code 2, as clap does.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Check(check) => check.run(),
        Command::Engines(engines) => engines.run(),
        Command::FuzzReplay(replay) => replay.run(),
        Command::List(list) => list.run(),
        Command::Replay(replay) => replay.run(),
    };
    let exit = result.unwrap_or_else(|failure| failure.report());
    ExitCode::from(exit.code())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
