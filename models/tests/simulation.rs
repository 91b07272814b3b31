//! The roles as the runtime's driver runs them, on a virtual clock.

use surehold::Verified;
use surehold::compaction::Guard;
use surehold::guard::Weakened;
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::sim::{Run, run};

fn verified(seed: u64) -> Run {
    run(&Ours(Verified), seed)
}

/// Whether one of some seeds loses samples without these guards.
fn loses(guards: &[Guard]) -> bool {
    let fleet = Ours(Weakened::without(guards.iter().copied()));
    let faults = (0..60).filter_map(|seed| run(&fleet, seed).fault);
    faults.into_iter().any(|fault| fault.starts_with("no-sample-lost"))
}

#[test]
fn nothing_is_lost_and_the_fleet_comes_to_its_end_under_any_seed() {
    let runs: Vec<_> = (0..60).map(|seed| (seed, verified(seed))).collect();
    for (seed, run) in &runs {
        assert_eq!(run.fault, None, "seed {seed}");
    }
    let sum = |of: fn(&Run) -> u32| runs.iter().map(|(_, run)| of(run)).sum::<u32>();
    assert!(sum(|run| run.crashes) > 1000);
    assert!(sum(|run| run.stale) > 100, "outcomes come to later lives");
    assert!(sum(|run| run.given_up) > 1000, "adapters panic");
    for call in ["Gather", "Persist", "HandOut"] {
        let crash = format!("crashes before {call}");
        assert!(runs.iter().any(|(_, run)| run.trace.contains(&crash)), "{crash}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..5 {
        assert_eq!(verified(seed).trace, verified(seed).trace, "seed {seed}");
    }
    assert_ne!(verified(0).trace, verified(1).trace);
}

#[test]
fn without_a_guard_some_seed_loses_samples() {
    assert!(loses(&[Guard::AllPartitions]));
    // The pair that #7075 needs.
    assert!(loses(&[Guard::ResultProof, Guard::MarkerPathId]));
    assert!(!loses(&[]));
}
