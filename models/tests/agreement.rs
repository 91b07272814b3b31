//! Our explorer, stateright, the exact mode and another hash seed agree.
//!
//! By default on the scopes that are small enough for every test run. With `SUREHOLD_ALL=1` stateright is asked
//! on every ci scope, and exact states and another seed on those of half a million states or fewer, as exact
//! states are kept whole.
#![cfg(feature = "checker")]

use surehold::Verified;
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::model::Model;
use surehold_models::compaction::runs::{Manner, Run, model};
use surehold_models::compaction::scope::Tier;
use surehold_models::compaction::verdicts;
use surehold_models::explore::{Options, Verdict, agree, agree_exact, explore, second_opinion};
use surehold_models::report::Row;

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

fn models(at_most: u64) -> Vec<Model<Ours<Verified>>> {
    let at_most = if std::env::var_os("SUREHOLD_ALL").is_some() { at_most } else { SMALL };
    let runs: Vec<Run> = verdicts::verified(Tier::Ci);
    let chosen = runs.iter().filter(|run| states(run.scope.name) <= at_most);
    chosen.map(|run| model(&Ours(Verified), run, &Manner::default())).collect()
}

const SMALL: u64 = 50_000;
const EXACT: u64 = 500_000;

#[test]
fn stateright_agrees() {
    let models = models(u64::MAX);
    assert!(models.len() >= 4, "some scopes are small enough for every test run");
    for model in models {
        let name = model.scope.name;
        let ours = explore(&model, &Options { recoverability: false, ..Options::default() });
        assert_eq!(ours.verdict, Verdict::Verified, "{name}");
        assert_eq!(ours.unique, states(name), "{name}: as committed");
        agree(&ours, &second_opinion(&model)).unwrap_or_else(|differ| panic!("{name}: {differ:?}"));
        println!("{name}: {} states, stateright agrees", ours.unique);
    }
}

#[test]
fn exact_states_and_another_seed_agree() {
    for model in models(EXACT) {
        let name = model.scope.name;
        let ours = explore(&model, &Options::default());
        let seeded = explore(&model, &Options { seed: 0x5eed, ..Options::default() });
        assert_eq!((ours.unique, &ours.verdict), (seeded.unique, &seeded.verdict), "{name}");
        let exact = explore(&model, &Options { exact: true, ..Options::default() });
        agree_exact(&ours, &exact).unwrap_or_else(|differ| panic!("{name}: {differ:?}"));
        println!("{name}: {} exact states", exact.unique);
    }
}
