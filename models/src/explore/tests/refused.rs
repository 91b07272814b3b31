//! Models that no verdict can be given on.

use std::sync::atomic::{AtomicU32, Ordering};

use stateright::{Model, Property};

use super::toys::Graph;
use crate::explore::{Judged, Options, explore};

/// What is wrong with a model.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Flaw {
    Eventually,
    GoalForSomeStates,
    AnotherAnswerEachTime,
}

/// The model 0 -> 1 with a flaw.
struct Flawed {
    flaw: Flaw,
    answers: AtomicU32,
}

impl Flawed {
    fn explore(flaw: Flaw) {
        let model = Flawed { flaw, answers: AtomicU32::new(1) };
        explore(&model, &Options::default());
    }
}

impl Model for Flawed {
    type State = u32;
    type Action = ();

    fn init_states(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, state: &u32, actions: &mut Vec<()>) {
        if *state == 0 {
            actions.push(());
        }
    }

    fn next_state(&self, _state: &u32, (): ()) -> Option<u32> {
        let varies = self.flaw == Flaw::AnotherAnswerEachTime;
        Some(if varies { self.answers.fetch_add(1, Ordering::Relaxed) } else { 1 })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        match self.flaw {
            Flaw::Eventually => vec![Property::eventually("at last", |_, _| true)],
            _ => vec![Property::always("stays at 0", |_, state| *state == 0)],
        }
    }
}

impl Judged for Flawed {
    fn goal(&self, state: &u32) -> Option<bool> {
        (self.flaw != Flaw::GoalForSomeStates || *state == 0).then_some(*state == 1)
    }
}

#[test]
#[should_panic(expected = "property \"at last\" is an `eventually`")]
fn eventually_is_refused() {
    Flawed::explore(Flaw::Eventually);
}

#[test]
#[should_panic(expected = "set for some states and not for others")]
fn a_goal_for_some_states_only_is_refused() {
    Flawed::explore(Flaw::GoalForSomeStates);
}

#[test]
#[should_panic(expected = "answered differently the second time")]
fn a_model_that_changes_its_mind_gives_no_counterexample() {
    Flawed::explore(Flaw::AnotherAnswerEachTime);
}

#[test]
#[should_panic(expected = "no initial state")]
fn nothing_to_explore_is_no_success() {
    explore(&Graph::default(), &Options::default());
}
