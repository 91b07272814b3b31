//! The part of the search that many threads share: expanding states against the states found so far.

use super::Judged;
use super::fingerprint::Fingerprinter;
use super::properties::Properties;
use super::visited::Visited;

/// What it takes to expand states. Nothing of it changes meanwhile.
pub(super) struct Expander<'a, M: Judged> {
    pub(super) model: &'a M,
    pub(super) properties: &'a Properties<M>,
    pub(super) fingerprinter: &'a Fingerprinter,
    pub(super) visited: &'a Visited<M::State>,
    /// Whether edges are told apart by whether they spend a fault.
    pub(super) judges_edges: bool,
}

/// What came of the states of one piece of the frontier, in their order.
pub(super) struct Batch<S> {
    /// One for each state.
    pub(super) sources: Vec<Source>,
    /// The edges of all of them, one state after the other.
    pub(super) edges: Vec<Edge>,
    /// The targets of [`Target::Fresh`] edges, in the order of the edges.
    pub(super) fresh: Vec<Fresh<S>>,
}

/// A state that was expanded.
pub(super) struct Source {
    /// How many edges leave it.
    pub(super) edges: u32,
    /// Whether it has no successor, and may not stop.
    pub(super) is_deadlock: bool,
}

/// An edge.
pub(super) struct Edge {
    pub(super) target: Target,
    /// Whether it spends no fault; false where nobody asks.
    pub(super) is_free: bool,
}

/// Where an edge leads.
pub(super) enum Target {
    /// To a state found before, of this index.
    Known(u32),
    /// To a state that was not found when the edge was generated. By now it may have been.
    Fresh,
}

/// A state that was generated, and judged by itself.
pub(super) struct Fresh<S> {
    pub(super) state: S,
    pub(super) fingerprint: u64,
    pub(super) goal: Option<bool>,
    pub(super) is_cut: bool,
    /// The first `Always` property that is false in it.
    pub(super) broken: Option<&'static str>,
    pub(super) is_within: bool,
}

impl<M: Judged> Expander<'_, M> {
    /// Expands the states, and drops them.
    pub(super) fn expand(&self, states: Vec<M::State>) -> Batch<M::State> {
        let mut batch = Batch {
            sources: Vec::with_capacity(states.len()),
            edges: Vec::with_capacity(4 * states.len()),
            fresh: Vec::with_capacity(states.len()),
        };
        let mut actions = Vec::new();
        for state in &states {
            let before = batch.edges.len();
            self.model.actions(state, &mut actions);
            for action in actions.drain(..) {
                self.follow(state, action, &mut batch);
            }
            let edges = (batch.edges.len() - before) as u32;
            let is_deadlock = edges == 0 && !self.model.may_stop(state);
            batch.sources.push(Source { edges, is_deadlock });
        }
        batch
    }

    fn follow(&self, state: &M::State, action: M::Action, batch: &mut Batch<M::State>) {
        let is_free = self.judges_edges && !self.model.is_fault(state, &action);
        let Some(next) = self.model.next_state(state, action) else { return };
        let fingerprint = self.fingerprinter.of(&next);
        let target = match self.visited.find(fingerprint, &next) {
            Some(index) => Target::Known(index),
            None => {
                batch.fresh.push(self.judge(next, fingerprint));
                Target::Fresh
            }
        };
        batch.edges.push(Edge { target, is_free });
    }

    /// Judges a state by itself. It may be judged more than once until it is found.
    pub(super) fn judge(&self, state: M::State, fingerprint: u64) -> Fresh<M::State> {
        Fresh {
            fingerprint,
            goal: self.model.goal(&state),
            is_cut: self.model.is_cut(&state),
            broken: self.properties.broken(self.model, &state),
            is_within: self.model.within_boundary(&state),
            state,
        }
    }
}
