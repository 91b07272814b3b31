//! Runs the compaction fleet, each role owned by the runtime's driver, on a virtual clock.
//!
//! `simulate SEEDS [FIRST] [GUARD..]` runs so many seeds, without the guards named. `simulate trace SEED [GUARD..]`
//! prints what happens under one. Exits 1 if anything is wrong.

use std::process::ExitCode;

use surehold::Verified;
use surehold::compaction::Guard;
use surehold::guard::Weakened;
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::sim::{Run, run};

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let (numbers, words): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|word| word.parse::<u64>().is_ok());
    let mut numbers = numbers.iter().filter_map(|number| number.parse::<u64>().ok());
    let (traces, names): (Vec<_>, Vec<_>) = words.iter().partition(|word| *word == "trace");
    let guard = |name: &&String| Guard::ALL.into_iter().find(|guard| guard.name() == **name);
    if let Some(unknown) = names.iter().find(|name| guard(name).is_none()) {
        eprintln!("there is no guard {unknown}");
        return ExitCode::from(2);
    }
    let guards: Vec<_> = names.iter().filter_map(guard).collect();
    let simulate = |seed| {
        if guards.is_empty() {
            run(&Ours(Verified), seed)
        } else {
            run(&Ours(Weakened::without(guards.iter().copied())), seed)
        }
    };
    let first = numbers.next().unwrap_or(100);
    if !traces.is_empty() {
        let run = simulate(first);
        print!("{}", run.trace);
        return judge(first, &run);
    }
    many(numbers.next().unwrap_or(0), first, simulate)
}

fn many(first: u64, count: u64, simulate: impl Fn(u64) -> Run + Sync) -> ExitCode {
    let half = |odd: u64| {
        let seeds = (first..first + count).filter(move |seed| seed % 2 == odd);
        seeds.map(|seed| (seed, simulate(seed))).map(summary).collect::<Vec<_>>()
    };
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| half(0));
        (half(1), one.join().unwrap_or_default())
    });
    let all: Vec<_> = one.into_iter().chain(two).collect();
    let sum = |of: fn(&Summary) -> u64| all.iter().map(of).sum::<u64>();
    println!(
        "{} seeds, {} wrong; {} effects, {} crashes, {} stale outcomes, {} unknown ends",
        all.len(),
        sum(|s| u64::from(s.is_wrong)),
        sum(|s| s.effects),
        sum(|s| s.crashes),
        sum(|s| s.stale),
        sum(|s| s.given_up),
    );
    if all.iter().any(|s| s.is_wrong) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Summary {
    is_wrong: bool,
    effects: u64,
    crashes: u64,
    stale: u64,
    given_up: u64,
}

fn summary((seed, run): (u64, Run)) -> Summary {
    let is_wrong = judge(seed, &run) != ExitCode::SUCCESS;
    Summary {
        is_wrong,
        effects: run.effects.into(),
        crashes: run.crashes.into(),
        stale: run.stale.into(),
        given_up: run.given_up.into(),
    }
}

fn judge(seed: u64, run: &Run) -> ExitCode {
    match &run.fault {
        Some(fault) => {
            println!("seed {seed}: {fault}");
            ExitCode::FAILURE
        }
        None => ExitCode::SUCCESS,
    }
}
