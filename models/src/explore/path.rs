//! Counterexamples, rebuilt from the parents of the visited set.

use super::Judged;
use super::fingerprint::Fingerprinter;
use super::visited::Visited;

/// A way from an initial state to the state that violates a property.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Counterexample<State, Action> {
    /// The states passed, one more than there are actions; the first is an initial state, the last the violating one.
    pub states: Vec<State>,
    /// The actions taken: the action at `i` leads from the state at `i` to the one at `i + 1`.
    pub actions: Vec<Action>,
}

/// The part of a search that paths are rebuilt from.
pub(super) struct Paths<'a, M: Judged> {
    pub(super) model: &'a M,
    pub(super) fingerprinter: &'a Fingerprinter,
    pub(super) visited: &'a Visited<M::State>,
}

impl<M: Judged> Paths<'_, M> {
    /// Runs the model again along the parents of the state of this index.
    ///
    /// Each state was stored when its parent's first action leading to it was taken, and the first match is taken here:
    /// it is the very same state, even if fingerprints collide.
    pub(super) fn to(&self, index: u32) -> Counterexample<M::State, M::Action> {
        let way = self.visited.ancestry(index);
        let mut states = vec![self.initial(way[0])];
        let mut actions = Vec::new();
        for &target in &way[1..] {
            let (action, state) = self.step(&states[states.len() - 1], target);
            actions.push(action);
            states.push(state);
        }
        Counterexample { states, actions }
    }

    fn initial(&self, target: u32) -> M::State {
        let mut states = self.model.init_states().into_iter();
        let found = states.find(|state| self.is(state, target));
        found.unwrap_or_else(|| impure("init_states"))
    }

    fn step(&self, state: &M::State, target: u32) -> (M::Action, M::State) {
        let mut actions = Vec::new();
        self.model.actions(state, &mut actions);
        let mut steps = actions.into_iter().filter_map(|action| {
            let next = self.model.next_state(state, action.clone())?;
            Some((action, next))
        });
        let found = steps.find(|(_, next)| self.is(next, target));
        found.unwrap_or_else(|| impure("actions and next_state"))
    }

    fn is(&self, state: &M::State, target: u32) -> bool {
        self.visited.find(self.fingerprinter.of(state), state) == Some(target)
    }
}

fn impure(functions: &str) -> ! {
    panic!(
        "the counterexample cannot be rebuilt: {functions} of the model answered differently the second time"
    )
}
