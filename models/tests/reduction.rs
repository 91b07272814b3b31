//! Steps that nobody else can tell are taken at once. With and without that, the verdicts are the same.
#![cfg(feature = "checker")]

use surehold_models::compaction::runs::{Expected, Manner, Run, execute};
use surehold_models::compaction::scope::{Scope, Witness};
use surehold_models::compaction::verdicts::{self, Mutant};

fn both(run: &Run) -> [(String, u64); 2] {
    [true, false].map(|reduce| {
        let finished = execute(run, &Manner { reduce, ..Manner::default() });
        (finished.verdict_text(), finished.unique_states)
    })
}

#[test]
fn verified_scopes_stay_verified_without_the_reduction() {
    for name in ["thin-partition", "parallel-jobs", "no-compact-set", "deleted-two-cleaners"] {
        let run = Run::verified(verdicts::scope(name).expect("a scope"));
        let [reduced, whole] = both(&run);
        assert_eq!(reduced.0, "verified", "{name}");
        assert_eq!(whole.0, "verified", "{name}");
        assert!(reduced.1 < whole.1, "{name}: {} states against {}", reduced.1, whole.1);
    }
}

#[test]
fn violations_stay_violations_without_the_reduction() {
    let scopes = ["no-compact-set", "no-compact-set-removed", "twins"];
    let mutants = verdicts::mutants();
    let small = mutants.iter().filter(|mutant| scopes.contains(&mutant.run.scope.name));
    let mut count = 0;
    for mutant in small {
        let [reduced, whole] = both(&mutant.run);
        assert_eq!(reduced.0, mutant.run.expected.text(), "{:?}", mutant.guards);
        assert_eq!(whole.0, reduced.0, "{:?}", mutant.guards);
        count += 1;
    }
    assert!(count >= 3, "some mutants live in these scopes");
}

/// What a small scope must still contain: a crash in the midst of the work, and a late block that supersedes a
/// plan. One partition and one compactor keep the space without the reduction small enough for every test run.
#[test]
fn a_crash_and_a_late_block_come_out_the_same_without_the_reduction() {
    let one_partition = |scope: Scope| Scope { compactors: 1, split_above_bytes: 1000, ..scope };
    let known = |name: &str| verdicts::scope(name).expect("a scope");
    let crash = one_partition(Scope { beats: false, ..known("crash") });
    let crash = Scope { witnesses: &[Witness::CrashedAfterBlock], ..crash };
    let late = one_partition(known("late-block"));
    let late = Scope { witnesses: &[Witness::SecondPlanDone], ..late };
    for scope in [crash, late] {
        let name = scope.name;
        let [reduced, whole] = both(&Run::verified(scope));
        assert_eq!((reduced.0.as_str(), whole.0.as_str()), ("verified", "verified"), "{name}");
        assert!(reduced.1 < whole.1, "{name}: {} states against {}", reduced.1, whole.1);
        println!("{name}: {} states, {} without the reduction", reduced.1, whole.1);
    }
}

/// The same of violations that take a crash, and a block that came late.
#[test]
fn violations_by_a_crash_or_a_late_block_come_out_the_same_without_the_reduction() {
    let scopes = ["crash-at-the-end", "late-completion", "clock-behind"];
    let mutants = verdicts::mutants();
    for scope in scopes {
        let broken = |mutant: &&Mutant| {
            mutant.run.scope.name == scope && mutant.run.expected != Expected::Verified
        };
        let mutant = mutants.iter().find(broken).expect("a mutant lives in the scope");
        let [reduced, whole] = both(&mutant.run);
        assert_eq!(reduced.0, mutant.run.expected.text(), "{scope}");
        assert_eq!(whole.0, reduced.0, "{scope}");
    }
}

/// The same of upstream's releases, of those whose verdict a small space holds without the reduction.
#[test]
fn upstream_comes_out_the_same_without_the_reduction() {
    let scopes = ["cortex-cleaner-crash", "cortex-no-compact-set", "cortex-partial-block"];
    let runs = verdicts::upstream();
    let small: Vec<_> = runs.iter().filter(|run| scopes.contains(&run.scope.name)).collect();
    assert!(small.len() >= 4, "releases are asked in these scopes");
    for run in small {
        let [reduced, whole] = both(run);
        let name = (run.variant.name(), run.scope.name);
        assert_eq!(reduced.0, run.expected.text(), "{name:?}");
        assert_eq!(whole.0, reduced.0, "{name:?}");
        assert!(reduced.1 < whole.1, "{name:?}: {} states against {}", reduced.1, whole.1);
    }
}
