//! Each documented run begins where its scope says: every act of the prefix is reached.
#![cfg(feature = "checker")]

use surehold::Verified;
use surehold::guard::Weakened;
use surehold_models::compaction::fleet::{Cortex, Fleet, Ours};
use surehold_models::compaction::runs::{Manner, Run, Variant, model};
use surehold_models::compaction::scope::{Act, Tier};
use surehold_models::compaction::verdicts;

fn unreached(run: &Run) -> Option<Act> {
    fn of<F: Fleet>(fleet: &F, run: &Run) -> Option<Act> {
        model(fleet, run, &Manner::default()).unreached_act()
    }
    match &run.variant {
        Variant::Verified => of(&Ours(Verified), run),
        Variant::Without(guards) => of(&Ours(Weakened::without(guards.iter().copied())), run),
        Variant::Upstream(release) => of(&Cortex(*release), run),
    }
}

#[test]
fn each_run_begins_where_its_scope_says() {
    let mut runs = Vec::new();
    for tier in [Tier::Ci, Tier::Nightly, Tier::Deep] {
        runs.extend(verdicts::verified(tier));
    }
    runs.extend(verdicts::upstream());
    runs.extend(verdicts::mutants().into_iter().map(|mutant| mutant.run));
    let missed: Vec<_> = runs
        .iter()
        .filter_map(|run| {
            let act = unreached(run)?;
            Some((run.variant.name(), run.variant.removed(), run.scope.name, act))
        })
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
