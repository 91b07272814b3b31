//! States that are taken for one, as actors that are alike have exchanged their names, are the same to every step,
//! judgement and property: over whole spaces of the verified protocol, in which images are told apart.
//!
//! By default in scopes that are small enough for every test run; with `SUREHOLD_ALL=1` in every ci scope.
#![cfg(feature = "checker")]

use std::fmt::Debug;

use surehold::Verified;
use surehold::commit::{Controller, Server};
use surehold_models::explore::{Judged, Same, same_to_all};
use surehold_models::runs::Manner;
use surehold_models::tier::Tier;
use surehold_models::{commit, compaction, rebalance};

/// So many states are few enough, by default and where everything is asked.
const OF_COMPACTION: [u64; 2] = [50_000, u64::MAX];
const OF_OTHERS: [u64; 2] = [20_000, u64::MAX];

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

/// Of others they are told apart: releases of upstream's were seen to do so.
#[test]
fn only_in_the_verified_protocol_actors_are_taken_for_alike() {
    let ours = compaction::fleet::Ours(Verified);
    let removals = compaction::verdicts::mutants().into_iter().map(|mutant| mutant.run);
    for run in compaction::verdicts::upstream().into_iter().chain(removals) {
        assert_eq!(compaction::runs::model(&ours, &run, &Manner::default()).images(), 1);
    }
    let ours = rebalance::fleet::Ours(Verified);
    let removals = rebalance::verdicts::mutants().into_iter().map(|mutant| mutant.run);
    for run in rebalance::verdicts::upstream().into_iter().chain(removals) {
        assert_eq!(rebalance::runs::model(&ours, &run, &Manner::default()).images(), 1);
    }
    let removals = commit::verdicts::mutants().into_iter().map(|mutant| mutant.run);
    for run in commit::verdicts::upstream().into_iter().chain(removals) {
        let controller = Controller::new(run.scope.controller_limits());
        let server = Server::new(run.scope.server_limits());
        assert_eq!(commit::runs::model(controller, server, &run, &Manner::default()).images(), 1);
    }
}
