//! States that are taken for one, as actors that are alike have exchanged their names, are the same to every step,
//! judgement and property: over whole spaces of the verified protocol, and of every other documented run that finds
//! nothing, in which images are told apart. And every documented run finds the same with and without.
//!
//! By default in scopes that are small enough for every test run; with `SUREHOLD_ALL=1` in all of them.
#![cfg(feature = "checker")]

use std::fmt::Debug;

use surehold::Verified;
use surehold::commit::{Controller, Guard, Server};
use surehold::guard::{Guards, Weakened};
use surehold_models::explore::{Judged, Options, Same, same_to_all};
use surehold_models::runs::{Expected, Finished, Manner, Protocol, Run, Variant};
use surehold_models::tier::Tier;
use surehold_models::{commit, compaction, everything, rebalance};

/// So many states are few enough, by default and where everything is asked.
const OF_COMPACTION: [u64; 2] = [50_000, u64::MAX];
const OF_OTHERS: [u64; 2] = [20_000, u64::MAX];
const OF_ANY: [u64; 2] = [2_000, u64::MAX];

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

/// The verified protocol in every ci scope, and the documented runs of other variants that find nothing: their searches
/// end where the space does.
fn to_the_end<P: Protocol>(verified: Vec<Run<P>>) -> impl Iterator<Item = (String, Run<P>)> {
    let removals = P::mutants().into_iter().map(|mutant| mutant.run);
    let all = verified.into_iter().chain(P::upstream()).chain(removals);
    let whole = all.filter(|run| run.expected == Expected::Verified);
    whole.map(|run| (format!("{:?} in {}", run.variant, P::card(&run.scope).name), run))
}

fn count_compaction<F: compaction::fleet::Fleet>(
    tally: &mut Tally,
    fleet: &F,
    (name, run): &(String, compaction::runs::Run),
) {
    let model = compaction::runs::model(fleet, run, &Manner::default());
    tally.count(name, &model, OF_COMPACTION);
}

#[test]
fn processes_of_compaction_are_alike() {
    use compaction::fleet::{Cortex, Ours};
    let mut tally = Tally::default();
    for run in to_the_end(compaction::verdicts::verified(Tier::Ci)) {
        match &run.1.variant {
            Variant::Verified => count_compaction(&mut tally, &Ours(Verified), &run),
            Variant::Without(guards) => {
                let kept = Weakened::without(guards.iter().copied());
                count_compaction(&mut tally, &Ours(kept), &run);
            }
            Variant::Upstream(release) => count_compaction(&mut tally, &Cortex(*release), &run),
        }
    }
    tally.is_enough(2);
}

fn count_rebalance<F: rebalance::fleet::Fleet>(
    tally: &mut Tally,
    fleet: &F,
    (name, run): &(String, rebalance::runs::Run),
) {
    let model = rebalance::runs::model(fleet, run, &Manner::default());
    tally.count(name, &model, OF_OTHERS);
}

#[test]
fn servers_of_rebalance_are_alike() {
    use rebalance::fleet::{Druid, Ours};
    let mut tally = Tally::default();
    for run in to_the_end(rebalance::verdicts::verified(Tier::Ci)) {
        match &run.1.variant {
            Variant::Verified => count_rebalance(&mut tally, &Ours(Verified), &run),
            Variant::Without(guards) => {
                let kept = Weakened::without(guards.iter().copied());
                count_rebalance(&mut tally, &Ours(kept), &run);
            }
            Variant::Upstream(fix) => count_rebalance(&mut tally, &Druid(*fix), &run),
        }
    }
    tally.is_enough(8);
}

fn count_commit<V: Guards<Guard>>(
    tally: &mut Tally,
    controller: Controller<V>,
    server: Server<V>,
    (name, run): &(String, commit::runs::Run),
) {
    let model = commit::runs::model(controller, server, run, &Manner::default());
    tally.count(name, &model, OF_OTHERS);
}

#[test]
fn servers_of_commit_are_alike() {
    let mut tally = Tally::default();
    for run in to_the_end(commit::verdicts::verified(Tier::Ci)) {
        let scope = &run.1.scope;
        let (controllers, servers) = (scope.controller_limits(), scope.server_limits());
        match &run.1.variant {
            Variant::Verified => {
                let (controller, server) = (Controller::new(controllers), Server::new(servers));
                count_commit(&mut tally, controller, server, &run);
            }
            Variant::Without(guards) => {
                let kept = Weakened::without(guards.iter().copied());
                let controller = Controller::weakened(controllers, kept.clone());
                count_commit(&mut tally, controller, Server::weakened(servers, kept), &run);
            }
            Variant::Upstream(release) => {
                let controller = release.controller().within(controllers);
                count_commit(&mut tally, controller, release.server_within(servers), &run);
            }
        }
    }
    tally.is_enough(50);
}

/// Where a search ends before its space does, as something was found, the space is not looked at. There what was found
/// is a walk of real steps in any case; that it is as short as where all names are told apart is compared, and so is
/// every other verdict.
#[test]
fn what_is_found_is_the_same_where_names_are_told_apart() {
    let mut compared = 0;
    for run in everything::documented() {
        let told = |symmetry| {
            let max_states = Some(most(OF_ANY)).filter(|most| *most < u64::MAX);
            let options = Options { symmetry, max_states, ..Options::default() };
            run.execute(&Manner { options, ..Manner::default() })
        };
        let [apart, alike] = [told(false), told(true)];
        if apart.verdict == "incomplete" {
            continue;
        }
        let name = format!("{} {:?} in {}", run.variant(), run.removed(), run.scope().name);
        assert_eq!(what(&apart), what(&alike), "{name}");
        compared += u64::from(alike.unique_states < apart.unique_states);
    }
    assert!(compared > 40, "{compared} of the searches were smaller for it");
}

/// The verdict, and the length of the way to what is found.
fn what(finished: &Finished) -> (String, Option<usize>) {
    let way = finished.counterexample.as_ref();
    (finished.verdict_text(), way.and_then(|way| Some(way.last()?.step)))
}

/// Of runs that nobody has looked at all names are told apart.
#[test]
fn where_nobody_has_looked_actors_are_told_apart() {
    let scope = compaction::verdicts::scope("early").expect("a scope");
    let property = compaction::runs::Compaction::judged(&scope)[0];
    let removed = Variant::Without(vec![compaction::runs::Compaction::guards()[0]]);
    let run = Run::asked(removed, scope, property, Expected::Open);
    let images = |run: &compaction::runs::Run| {
        let ours = compaction::fleet::Ours(Verified);
        compaction::runs::model(&ours, run, &Manner::default()).images()
    };
    assert_eq!((images(&run), images(&run.clone().alike())), (1, 2));
}
