//! Each documented run begins where its scope says: every act of the prefix is reached. Each scope says what
//! must occur in it, and a scope in which that does not occur is not verified.
#![cfg(feature = "checker")]

use surehold::Verified;
use surehold::guard::Weakened;
use surehold_models::compaction::fleet::{Cortex, Fleet, Ours};
use surehold_models::compaction::runs::{Manner, Run, Variant, execute, model};
use surehold_models::compaction::scope::{Act, Tier, Witness};
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

/// So of commit, whose scopes begin with moves of a scenario.
#[test]
fn each_scope_of_commit_begins_where_it_says() {
    use surehold::commit::{Controller, Server};
    use surehold_models::commit::{model::Model, scopes};
    let begun: Vec<_> = scopes::all().into_iter().filter(|scope| !scope.begun.is_empty()).collect();
    assert!(!begun.is_empty());
    for scope in begun {
        let controller = Controller::new(scope.controller_limits());
        let server = Server::new(scope.server_limits());
        let beginning = Model::new(controller, server, &scope).beginning();
        assert_eq!(beginning.unreached, None, "{}", scope.name);
        assert_eq!(beginning.world.left, scope.budget, "{}", scope.name);
    }
}

/// That a parent is marked shows only that the model does not idle.
#[test]
fn each_scope_names_the_combination_that_it_is_for() {
    for tier in [Tier::Ci, Tier::Nightly, Tier::Deep] {
        for run in verdicts::verified(tier) {
            let own = |witness: &&Witness| **witness != Witness::ParentMarked;
            let count = run.scope.witnesses.iter().filter(own).count();
            assert!(count > 0, "{} has no witness of its own", run.scope.name);
        }
    }
}

#[test]
fn a_scope_whose_combination_does_not_occur_is_not_verified() {
    let mut run = Run::verified(verdicts::scope("parallel-jobs").expect("a scope"));
    assert_eq!(execute(&run, &Manner::default()).verdict_text(), "verified");
    run.scope.witnesses = &[Witness::TwoJobs, Witness::TwoCleanersOnePlan];
    let finished = execute(&run, &Manner::default());
    assert_eq!(finished.verdict, "violated");
    assert_eq!(finished.reason.as_deref(), Some("never seen: two cleaners have one plan in hand"));
}
