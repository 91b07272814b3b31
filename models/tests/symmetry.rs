//! States that are taken for one, as actors that are alike have exchanged their names, are the same to every step,
//! judgement and property: over whole spaces, of ours and of upstream's, in which images are told apart.
//!
//! By default in scopes that are small enough for every test run; with `SUREHOLD_ALL=1` in every ci scope of `verified`, and
//! in every documented one of upstream's that is not too large.
#![cfg(feature = "checker")]

use std::fmt::Debug;

use surehold::Verified;
use surehold::commit::{Controller, Server};
use surehold_models::compaction::runs::Variant as OfCompaction;
use surehold_models::explore::{Judged, Same, same_to_all};
use surehold_models::rebalance::runs::Variant as OfRebalance;
use surehold_models::runs::Manner;
use surehold_models::tier::Tier;
use surehold_models::{commit, compaction, rebalance};

/// So many states are few enough, by default and where everything is asked.
const OF_COMPACTION: [u64; 2] = [50_000, u64::MAX];
const OF_OTHERS: [u64; 2] = [20_000, u64::MAX];
const OF_UPSTREAM: [u64; 2] = [60_000, 500_000];

fn most([by_default, at_all]: [u64; 2]) -> u64 {
    if std::env::var_os("SUREHOLD_ALL").is_some() { at_all } else { by_default }
}

/// What was found in each space that is small enough.
#[derive(Default)]
struct Tally {
    spaces: u64,
    smaller: u64,
}

impl Tally {
    fn count<M>(&mut self, name: &str, model: &M, sizes: [u64; 2])
    where
        M: Judged<State: Debug, Action: Debug>,
    {
        let found = same_to_all(model, most(sizes));
        let found = found.unwrap_or_else(|differ| panic!("{name}: {differ}"));
        let Some(Same { states, classes }) = found else { return };
        assert!(classes <= states && states <= classes * model.images() as u64, "{name}");
        println!("{name}: {states} states, {classes} if images are taken for one");
        self.spaces += 1;
        self.smaller += u64::from(classes < states);
    }

    /// A test that looked at nothing, or at spaces without two images, has shown nothing.
    fn is_enough(&self, smaller: u64) {
        assert!(self.smaller >= smaller, "{} of {} spaces", self.smaller, self.spaces);
    }
}

#[test]
fn processes_of_compaction_are_alike() {
    let mut tally = Tally::default();
    let ours = compaction::fleet::Ours(Verified);
    for run in compaction::verdicts::verified(Tier::Ci) {
        let model = compaction::runs::model(&ours, &run, &Manner::default());
        tally.count(run.scope.name, &model, OF_COMPACTION);
    }
    tally.is_enough(2);
}

#[test]
fn servers_of_rebalance_are_alike() {
    let mut tally = Tally::default();
    let ours = rebalance::fleet::Ours(Verified);
    for run in rebalance::verdicts::verified(Tier::Ci) {
        let model = rebalance::runs::model(&ours, &run, &Manner::default());
        tally.count(run.scope.name, &model, OF_OTHERS);
    }
    tally.is_enough(6);
}

#[test]
fn servers_of_commit_are_alike() {
    let mut tally = Tally::default();
    for run in commit::verdicts::verified(Tier::Ci) {
        let controller = Controller::new(run.scope.controller_limits());
        let server = Server::new(run.scope.server_limits());
        let model = commit::runs::model(controller, server, &run, &Manner::default());
        tally.count(run.scope.name, &model, OF_OTHERS);
    }
    tally.is_enough(20);
}

#[test]
fn so_are_those_of_upstream() {
    let mut tally = Tally::default();
    for run in compaction::verdicts::upstream() {
        let OfCompaction::Upstream(release) = run.variant else { continue };
        let fleet = compaction::fleet::Cortex(release);
        let model = compaction::runs::model(&fleet, &run, &Manner::default());
        tally.count(&format!("{release:?} in {}", run.scope.name), &model, OF_UPSTREAM);
    }
    for run in rebalance::verdicts::upstream() {
        let OfRebalance::Upstream(release) = run.variant else { continue };
        let fleet = rebalance::fleet::Druid(release);
        let model = rebalance::runs::model(&fleet, &run, &Manner::default());
        tally.count(&format!("{release:?} in {}", run.scope.name), &model, OF_UPSTREAM);
    }
    tally.is_enough(4);
}

/// Of commit they are told apart, as one release was seen to do so.
#[test]
fn only_the_verified_servers_of_commit_are_taken_for_alike() {
    let runs = commit::verdicts::upstream().into_iter();
    let runs = runs.chain(commit::verdicts::mutants().into_iter().map(|mutant| mutant.run));
    for run in runs {
        let controller = Controller::new(run.scope.controller_limits());
        let server = Server::new(run.scope.server_limits());
        let model = commit::runs::model(controller, server, &run, &Manner::default());
        assert_eq!(model.images(), 1, "{:?} in {}", run.variant, run.scope.name);
    }
}
