//! Counterexamples, rebuilt from the parents of the visited set.

use super::Judged;
use super::fingerprint::Fingerprinter;
use super::rounds::{NO_CLASS, Round};
use super::visited::Visited;

/// A way from an initial state to the state that violates a property.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Counterexample<State, Action> {
    /// The states passed, one more than there are actions; the first is an initial state, the last the violating one.
    pub states: Vec<State>,
    /// The actions taken: the action at `i` leads from the state at `i` to the one at `i + 1`.
    pub actions: Vec<Action>,
    /// For an endless round, the place in [`states`](Self::states) where it begins. The last state is that state again.
    pub round_from: Option<usize>,
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
            let (action, state) = self.step(&states[states.len() - 1], target, |_, _| true);
            actions.push(action);
            states.push(state);
        }
        Counterexample { states, actions, round_from: None }
    }

    /// The way to the first state of a round, and once round it.
    pub(super) fn round(&self, round: &Round) -> Counterexample<M::State, M::Action> {
        let targets = round.0.iter().skip(1).chain(&round.0[..1]).map(|(state, _)| *state);
        let mut lasso = self.to(round.0[0].0);
        lasso.round_from = Some(lasso.actions.len());
        for ((_, class), target) in round.0.iter().zip(targets) {
            let is_free = |state: &M::State, action: &M::Action| {
                let own = self.model.class(state, action).unwrap_or(NO_CLASS);
                !self.model.is_fault(state, action) && own == *class
            };
            let (action, state) = self.step(&lasso.states[lasso.states.len() - 1], target, is_free);
            lasso.actions.push(action);
            lasso.states.push(state);
        }
        lasso
    }

    fn initial(&self, target: u32) -> M::State {
        let mut states = self.model.init_states().into_iter();
        let found = states.find(|state| self.is(state, target));
        found.unwrap_or_else(|| impure("init_states"))
    }

    /// The first action of this sort that leads to the target.
    fn step(
        &self,
        state: &M::State,
        target: u32,
        is_fit: impl Fn(&M::State, &M::Action) -> bool,
    ) -> (M::Action, M::State) {
        let mut actions = Vec::new();
        self.model.actions(state, &mut actions);
        let fit = actions.into_iter().filter(|action| is_fit(state, action));
        let mut steps = fit.filter_map(|action| {
            let next = self.model.next_state(state, action.clone())?;
            Some((action, next))
        });
        let found = steps.find(|(_, next)| self.is(next, target));
        found.unwrap_or_else(|| impure("actions and next_state"))
    }

    fn is(&self, state: &M::State, target: u32) -> bool {
        self.visited.find(self.fingerprinter.of(self.model, state), state) == Some(target)
    }
}

fn impure(functions: &str) -> ! {
    panic!(
        "the counterexample cannot be rebuilt: {functions} of the model answered differently the second time"
    )
}
