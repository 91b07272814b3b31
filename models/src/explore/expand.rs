//! The part of the search that many threads share: expanding states against the states found so far.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Judged;
use super::fingerprint::Fingerprinter;
use super::options::Options;
use super::planted::Planted;
use super::properties::Always;
use super::rounds::{MAX_CLASSES, NO_CLASS};
use super::visited::{MAX_STATES, Visited};

/// What it takes to expand states.
pub(super) struct Expander<'a, M: Judged> {
    pub(super) model: &'a M,
    always: Always<M>,
    pub(super) fingerprinter: Fingerprinter,
    /// Read while states are expanded, written while what came of them is merged.
    visited: RwLock<Visited<M::State>>,
    /// Whether edges are told apart by whether they spend a fault.
    pub(super) judges_edges: AtomicBool,
    options: &'a Options,
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
    /// The class of the step, if it has one and somebody asks.
    pub(super) class: u8,
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

impl<'a, M: Judged> Expander<'a, M> {
    /// With nothing found yet.
    pub(super) fn new(model: &'a M, options: &'a Options) -> Self {
        let limit = options.max_states.unwrap_or(MAX_STATES);
        Expander {
            model,
            always: Always::of(model),
            fingerprinter: Fingerprinter::new(model, options),
            visited: RwLock::new(Visited::new(options.exact, limit)),
            judges_edges: AtomicBool::new(false),
            options,
        }
    }

    /// The states found.
    pub(super) fn found(&self) -> RwLockReadGuard<'_, Visited<M::State>> {
        self.visited.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states found, to add to.
    pub(super) fn find_more(&self) -> RwLockWriteGuard<'_, Visited<M::State>> {
        self.visited.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Expands the states, and drops them.
    pub(super) fn expand(&self, states: Vec<M::State>) -> Batch<M::State> {
        let visited = self.found();
        let judges_edges = self.judges_edges.load(Ordering::Relaxed);
        let mut batch = Batch {
            sources: Vec::with_capacity(states.len()),
            edges: Vec::with_capacity(4 * states.len()),
            fresh: Vec::with_capacity(states.len()),
        };
        let mut actions = Vec::new();
        // Each is dropped as soon as it is expanded: the next one's successors then take its place in the cache.
        for state in states {
            let before = batch.edges.len();
            self.model.actions(&state, &mut actions);
            for action in actions.drain(..) {
                let is_free = judges_edges && self.is_free(&state, &action);
                let class = self.class(&state, &action);
                let Some(next) = self.model.next_state(&state, action) else { continue };
                let target = self.target(next, &visited, &mut batch.fresh);
                batch.edges.push(Edge { target, is_free, class });
            }
            let edges = (batch.edges.len() - before) as u32;
            let is_deadlock = edges == 0 && !self.model.may_stop(&state);
            batch.sources.push(Source { edges, is_deadlock });
        }
        batch
    }

    fn is_free(&self, state: &M::State, action: &M::Action) -> bool {
        self.options.plants(Planted::FaultIsFree) || !self.model.is_fault(state, action)
    }

    fn class(&self, state: &M::State, action: &M::Action) -> u8 {
        if !self.options.rounds {
            return NO_CLASS;
        }
        let class = self.model.class(state, action);
        assert!(class.is_none_or(|class| class < MAX_CLASSES), "there are at most 64 classes");
        class.unwrap_or(NO_CLASS)
    }

    fn target(
        &self,
        state: M::State,
        visited: &Visited<M::State>,
        fresh: &mut Vec<Fresh<M::State>>,
    ) -> Target {
        let fingerprint = self.fingerprinter.of(self.model, &state);
        if let Some(index) = visited.find(fingerprint, &state) {
            return Target::Known(index);
        }
        fresh.push(self.judge(state, fingerprint));
        Target::Fresh
    }

    /// Judges a state by itself. It may be judged more than once until it is found.
    pub(super) fn judge(&self, state: M::State, fingerprint: u64) -> Fresh<M::State> {
        let is_within = self.model.within_boundary(&state);
        let is_judged = is_within || !self.options.plants(Planted::BoundaryUnjudged);
        Fresh {
            fingerprint,
            goal: self.model.goal(&state),
            is_cut: self.model.is_cut(&state),
            broken: is_judged.then(|| self.always.broken(self.model, &state)).flatten(),
            is_within,
            state,
        }
    }
}
