//! stateright's own breadth-first checker as a second opinion.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use stateright::{Checker, Expectation, HasDiscoveries, Model, Property};

/// Name of the one property that stateright is given.
const ALL_HOLD: &str = "every `always` property holds";

/// What stateright found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SecondOpinion {
    /// States generated: the initial ones and one for each edge, with duplicates.
    pub generated: u64,
    /// Different states found. It is the size of the space only if nothing is violated.
    pub unique_states: u64,
    /// Greatest depth of a state that stateright expanded, counted as in [`Report::depth`](super::Report::depth).
    pub depth: u32,
    /// The `Always` property that is violated, the first in the model's order if there are several in that state.
    pub violated: Option<&'static str>,
    /// Number of actions on the way to the violation.
    pub steps: Option<u64>,
    /// Names of the `Sometimes` properties that no expanded state met.
    pub unreached: Vec<&'static str>,
    /// Whether stateright says that it is done. It says so after any end, a time-out too, which is why none is set here.
    pub is_done: bool,
}

/// Lets stateright's breadth-first checker explore the model on one thread, without any limit, until exhaustion or the
/// first violated `Always` property.
///
/// It knows nothing of deadlocks, goals and bounds: it confirms the states, their number and depth, and safety.
///
/// # Panics
///
/// If the model has an `Eventually` property, or panics itself.
pub fn second_opinion<M>(model: &M) -> SecondOpinion
where
    M: Model<State: Clone + Hash + Eq + Send + Sync + 'static, Action: Clone + PartialEq>,
    M: Clone + Send + Sync + 'static,
{
    let checker = Witness::new(model.clone()).checker().threads(1);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let path = checker.discovery(ALL_HOLD);
    SecondOpinion {
        generated: checker.state_count() as u64,
        unique_states: checker.unique_state_count() as u64,
        depth: checker.max_depth() as u32,
        violated: path.as_ref().and_then(|path| checker.model().broken(path.last_state())),
        steps: path.map(|path| path.into_actions().len() as u64),
        unreached: checker.model().unmet(),
        is_done: checker.is_done(),
    }
}

/// The model with its properties gathered into one `Always`.
///
/// Left to itself, stateright gives up a state's successors where nothing is left to find in that state: a model without
/// properties is one state to it, and one with only `Sometimes` properties loses what lies behind the states that meet
/// them all. An `Always` that is false only in violating states keeps it going.
struct Witness<M: Model> {
    model: M,
    always: Vec<Property<M>>,
    sometimes: Vec<(Property<M>, AtomicBool)>,
}

impl<M: Model> Witness<M> {
    fn new(model: M) -> Self {
        let (always, others): (Vec<_>, Vec<_>) = model
            .properties()
            .into_iter()
            .partition(|property| property.expectation == Expectation::Always);
        for property in &others {
            let name = property.name;
            assert!(
                property.expectation == Expectation::Sometimes,
                "property {name:?} is an `eventually`"
            );
        }
        let sometimes =
            others.into_iter().map(|property| (property, AtomicBool::new(false))).collect();
        Witness { model, always, sometimes }
    }

    fn broken(&self, state: &M::State) -> Option<&'static str> {
        let mut properties = self.always.iter();
        properties
            .find(|property| !(property.condition)(&self.model, state))
            .map(|property| property.name)
    }

    fn note(&self, state: &M::State) {
        for (property, is_met) in &self.sometimes {
            if !is_met.load(Ordering::Relaxed) && (property.condition)(&self.model, state) {
                is_met.store(true, Ordering::Relaxed);
            }
        }
    }

    fn unmet(&self) -> Vec<&'static str> {
        let unmet = self.sometimes.iter().filter(|(_, is_met)| !is_met.load(Ordering::Relaxed));
        unmet.map(|(property, _)| property.name).collect()
    }
}

impl<M: Model> Model for Witness<M> {
    type State = M::State;
    type Action = M::Action;

    /// Reversed, since stateright takes initial states from the back: so both checkers go in the same order.
    fn init_states(&self) -> Vec<Self::State> {
        let mut states = self.model.init_states();
        states.reverse();
        states
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        self.model.next_state(state, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(ALL_HOLD, |witness: &Self, state| {
            witness.note(state);
            witness.broken(state).is_none()
        })]
    }

    fn within_boundary(&self, state: &Self::State) -> bool {
        self.model.within_boundary(state)
    }
}
