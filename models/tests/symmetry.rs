//! States that are taken for one, as actors that are alike have exchanged their names, are the same to every step,
//! judgement and property: over whole spaces, of ours and of upstream's, in which images are told apart.
//!
//! By default in scopes that are small enough for every test run; with `SUREHOLD_ALL=1` in every ci scope of `verified`.
#![cfg(feature = "checker")]

use surehold::Verified;
use surehold::commit::{Controller, Server};
use surehold_models::explore::{Judged, Same, same_to_all};
use surehold_models::runs::Manner;
use surehold_models::tier::Tier;
use surehold_models::{commit, compaction, rebalance};

const SMALL: u64 = 60_000;

fn most() -> u64 {
    if std::env::var_os("SUREHOLD_ALL").is_some() { u64::MAX } else { SMALL }
}

/// Finds both counts, if there are not too many states, and that a search comes to them.
fn same<M>(name: &str, model: &M) -> Option<Same>
where
    M: Judged<State: std::fmt::Debug, Action: std::fmt::Debug>,
{
    let same = match same_to_all(model, most()) {
        Ok(same) => same?,
        Err(differ) => {
            println!("{name}: DIFFERENT {:?}", differ.actions);
            if std::env::var("WHICH").is_ok_and(|w| w == name) {
        for (state, actions) in differ.states.iter().zip(&differ.actions) {
            for a in actions { println!("STATE {state:?}\nACTION {a:?}\nNEXT {:?}", model.next_state(state, a.clone())); }
        }
        }
            return None;
        }
    };
    println!("{name}: {} states, {} if images are taken for one", same.states, same.classes);
    Some(same)
}

#[test]
fn processes_of_compaction_are_alike() {
    for run in compaction::verdicts::verified(Tier::Ci) {
        let ours = compaction::fleet::Ours(Verified);
        let model = compaction::runs::model(&ours, &run, &Manner::default());
        same(run.scope.name, &model);
    }
}

#[test]
fn servers_of_rebalance_are_alike() {
    for run in rebalance::verdicts::verified(Tier::Ci) {
        let ours = rebalance::fleet::Ours(Verified);
        let model = rebalance::runs::model(&ours, &run, &Manner::default());
        same(run.scope.name, &model);
    }
}

#[test]
fn servers_of_commit_are_alike() {
    for run in commit::verdicts::verified(Tier::Ci) {
        let controller = Controller::new(run.scope.controller_limits());
        let server = Server::new(run.scope.server_limits());
        let model = commit::runs::model(controller, server, &run, &Manner::default());
        same(run.scope.name, &model);
    }
}
