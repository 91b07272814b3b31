//! Endless rounds in compaction: a fair fleet always comes to its goal; one that is not need not.
#![cfg(feature = "checker")]

use stateright::Property;
use surehold::Verified;
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::model::{Action, Model, WorldOf};
use surehold_models::compaction::verdicts;
use surehold_models::explore::{
    Fairness, Judged, Kind, NO_ENDLESS_ROUND, Options, Verdict, explore,
};

/// Which classes a run is fair to.
type Fair = fn(u8) -> bool;

/// The model, with fairness to those classes alone that pass.
struct Unfair {
    model: Model<Ours<Verified>>,
    is_fair_to: Fair,
}

impl stateright::Model for Unfair {
    type State = WorldOf<Ours<Verified>>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        self.model.init_states()
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &Self::State, action: Action) -> Option<Self::State> {
        self.model.next_state(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Vec::new()
    }
}

impl Judged for Unfair {
    fn is_fault(&self, state: &Self::State, action: &Action) -> bool {
        self.model.is_fault(state, action)
    }

    fn goal(&self, state: &Self::State) -> Option<bool> {
        self.model.goal(state)
    }

    fn is_cut(&self, state: &Self::State) -> bool {
        self.model.is_cut(state)
    }

    fn may_stop(&self, state: &Self::State) -> bool {
        self.model.may_stop(state)
    }

    fn class(&self, state: &Self::State, action: &Action) -> Option<u8> {
        self.model.class(state, action).filter(|class| (self.is_fair_to)(*class))
    }

    fn fairness(&self, class: u8) -> Fairness {
        self.model.fairness(class)
    }
}

fn verdict(scope: &str, is_fair_to: Fair) -> (Verdict, usize) {
    let scope = verdicts::scope(scope).expect("a scope");
    let unfair = Unfair { model: Model::new(&Ours(Verified), &scope), is_fair_to };
    let report = explore(&unfair, &Options { rounds: true, ..Options::default() });
    let round = report.counterexample.as_ref().map_or(0, |path| {
        let from = path.round_from.expect("a round");
        assert_eq!(path.states.last(), path.states.get(from), "it ends where it begins");
        path.states.len() - from
    });
    (report.verdict, round)
}

/// A process and the classes of its operations, eight each: the only compactor, and the cleaner after two of them.
const CRUCIAL: [(&str, Fair); 2] =
    [("crash", |class| class >= 8), ("endless-clean-up", |class| !(16..24).contains(&class))];

#[test]
fn a_fair_fleet_comes_to_its_goal_and_one_that_starves_a_process_need_not() {
    for (scope, starves_one) in CRUCIAL {
        assert_eq!(verdict(scope, |_| true), (Verdict::Verified, 0), "{scope}");
        for is_fair_to in [starves_one, |_| false] {
            let (verdict, round) = verdict(scope, is_fair_to);
            let property = NO_ENDLESS_ROUND.into();
            assert_eq!(verdict, Verdict::Violated { property, kind: Kind::Endless }, "{scope}");
            assert!(round > 1, "{scope}");
        }
    }
}

/// The cleaner does what is left to do: nothing waits for a compactor.
#[test]
fn a_compactor_that_stands_still_hinders_no_clean_up() {
    assert_eq!(verdict("endless-clean-up", |class| class >= 8), (Verdict::Verified, 0));
}
