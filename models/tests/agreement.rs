//! Our explorer, stateright, the exact mode and another hash seed agree.
//!
//! By default on the scopes that are small enough for every test run. With `SUREHOLD_ALL=1` stateright is asked
//! on every ci scope, and exact states and another seed on those of half a million states or fewer, as exact
//! states are kept whole. No states are taken for one here, as they are where nobody turns that off: stateright knows
//! nothing of the sort.
#![cfg(feature = "checker")]

use std::hash::Hash;

use surehold::Verified;
use surehold::commit::{Controller, Server};
use surehold_models::explore::{
    Judged, Options, Verdict, agree, agree_exact, explore, second_opinion,
};
use surehold_models::report::Row;
use surehold_models::runs::Manner;
use surehold_models::tier::Tier;
use surehold_models::{commit, compaction, rebalance};

/// What both checkers can explore.
trait Both:
    Judged<
        State: Clone + Hash + Eq + Send + Sync + 'static,
        Action: Clone + PartialEq + std::fmt::Debug,
    > + Clone
    + Send
    + Sync
    + 'static
{
}

impl<M> Both for M where
    M: Judged<
            State: Clone + Hash + Eq + Send + Sync + 'static,
            Action: Clone + PartialEq + std::fmt::Debug,
        > + Clone
        + Send
        + Sync
        + 'static
{
}

fn committed() -> Vec<Row> {
    serde_json::from_str(include_str!("../goldens/verdicts.json")).expect("goldens are JSON")
}

fn states(scope: &str) -> u64 {
    let rows = committed();
    let row = rows.iter().find(|row| {
        row.scope == scope && row.variant == "verified" && row.guard_removed.is_empty()
    });
    row.expect("each ci scope has a committed verdict").unique_states
}

fn is_chosen(scope: &str, at_most: u64) -> bool {
    let at_most = if std::env::var_os("SUREHOLD_ALL").is_some() { at_most } else { SMALL };
    states(scope) <= at_most
}

const SMALL: u64 = 50_000;
const EXACT: u64 = 500_000;

fn of_compaction(at_most: u64) -> Vec<(&'static str, impl Both)> {
    let runs = compaction::verdicts::verified(Tier::Ci).into_iter();
    let chosen = runs.filter(|run| is_chosen(run.scope.name, at_most));
    let ours = compaction::fleet::Ours(Verified);
    let model = |run: &_| compaction::runs::model(&ours, run, &Manner::default());
    chosen.map(|run| (run.scope.name, model(&run))).collect()
}

fn of_rebalance(at_most: u64) -> Vec<(&'static str, impl Both)> {
    let runs = rebalance::verdicts::verified(Tier::Ci).into_iter();
    let chosen = runs.filter(|run| is_chosen(run.scope.name, at_most));
    let ours = rebalance::fleet::Ours(Verified);
    let model = |run: &_| rebalance::runs::model(&ours, run, &Manner::default());
    chosen.map(|run| (run.scope.name, model(&run))).collect()
}

fn of_commit(at_most: u64) -> Vec<(&'static str, impl Both)> {
    let runs = commit::verdicts::verified(Tier::Ci).into_iter();
    let chosen = runs.filter(|run| is_chosen(run.scope.name, at_most));
    let model = |run: &commit::runs::Run| {
        let controller = Controller::new(run.scope.controller_limits());
        let server = Server::new(run.scope.server_limits());
        commit::runs::model(controller, server, run, &Manner::default())
    };
    chosen.map(|run| (run.scope.name, model(&run))).collect()
}

fn stateright_agrees_on(models: Vec<(&str, impl Both)>) {
    assert!(models.len() >= 4, "some scopes are small enough for every test run");
    for (name, model) in models {
        let opinion = second_opinion(&model);
        let apart = Options { recoverability: false, symmetry: false, ..Options::default() };
        let ours = explore(&model, &apart);
        assert_eq!(ours.verdict, Verdict::Verified, "{name}");
        agree(&ours, &opinion).unwrap_or_else(|differ| panic!("{name}: {differ:?}"));
        // The committed count takes states for one that differ in which of several equal actors is which.
        let (least, most) = (states(name), states(name) * model.images() as u64);
        assert!((least..=most).contains(&ours.unique), "{name}: {} states", ours.unique);
        assert_eq!((opinion.violated, opinion.is_done), (None, true), "{name}");
        assert!(opinion.unreached.is_empty(), "{name}: {:?}", opinion.unreached);
        println!("{name}: {} states, {least} as committed, stateright agrees", ours.unique);
    }
}

fn exact_states_and_another_seed_agree_on(models: Vec<(&str, impl Both)>) {
    for (name, model) in models {
        let as_committed = explore(&model, &Options::default());
        assert_eq!(as_committed.unique, states(name), "{name}: as committed");
        let apart = Options { symmetry: false, ..Options::default() };
        let ours = explore(&model, &apart);
        let seeded = explore(&model, &Options { seed: 0x5eed, ..apart });
        assert_eq!((ours.unique, &ours.verdict), (seeded.unique, &seeded.verdict), "{name}");
        let exact = explore(&model, &Options { exact: true, ..Options::default() });
        agree_exact(&ours, &exact).unwrap_or_else(|differ| panic!("{name}: {differ:?}"));
        println!("{name}: {} exact states", exact.unique);
    }
}

#[test]
fn stateright_agrees_on_compaction() {
    stateright_agrees_on(of_compaction(u64::MAX));
}

#[test]
fn stateright_agrees_on_rebalance() {
    stateright_agrees_on(of_rebalance(u64::MAX));
}

#[test]
fn stateright_agrees_on_commit() {
    stateright_agrees_on(of_commit(u64::MAX));
}

#[test]
fn exact_states_and_another_seed_agree_on_commit() {
    exact_states_and_another_seed_agree_on(of_commit(EXACT));
}

#[test]
fn exact_states_and_another_seed_agree_on_compaction() {
    exact_states_and_another_seed_agree_on(of_compaction(EXACT));
}

#[test]
fn exact_states_and_another_seed_agree_on_rebalance() {
    exact_states_and_another_seed_agree_on(of_rebalance(EXACT));
}
