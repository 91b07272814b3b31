//! Steps that nobody else can tell are taken at once. With and without that, the verdicts are the same.
#![cfg(feature = "checker")]

use surehold_models::compaction::runs::{Manner, Run, execute};
use surehold_models::compaction::verdicts;

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
