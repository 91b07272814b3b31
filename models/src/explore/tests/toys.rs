//! The models that the tests explore.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use stateright::{Model, Property};

use crate::explore::{Fairness, Judged, Options};

/// Options that store states themselves.
pub(super) fn exact() -> Options {
    Options { exact: true, ..Options::default() }
}

/// A graph given by its edges. State 0 is the only initial state unless others are set.
#[derive(Clone, Default)]
pub(super) struct Graph {
    pub initial: Vec<u8>,
    pub edges: Vec<(u8, u8)>,
    /// Edges that spend a fault.
    pub faults: Vec<(u8, u8)>,
    /// Actions that [`Model::next_state`] refuses.
    pub refused: Vec<(u8, u8)>,
    pub goals: Option<Vec<u8>>,
    pub cuts: Vec<u8>,
    pub outside: Vec<u8>,
    pub forbidden: Vec<u8>,
    /// States that a second property, "also allowed", forbids; no such property if none.
    pub also_forbidden: Vec<u8>,
    /// Classes of edges, and those among them that are strong.
    pub classes: Vec<((u8, u8), u8)>,
    pub strong: Vec<u8>,
    /// States that the property "met" asks for; no such property if none.
    pub wanted: Vec<u8>,
}

impl Graph {
    /// The graph of these edges.
    pub(super) fn of(edges: &[(u8, u8)]) -> Self {
        Graph { initial: vec![0], edges: edges.to_vec(), ..Graph::default() }
    }

    /// The graph of these edges with these goals.
    pub(super) fn with_goals(edges: &[(u8, u8)], goals: &[u8]) -> Self {
        Graph { goals: Some(goals.to_vec()), ..Graph::of(edges) }
    }
}

impl Model for Graph {
    type State = u8;
    type Action = (u8, u8);

    fn init_states(&self) -> Vec<u8> {
        self.initial.clone()
    }

    fn actions(&self, state: &u8, actions: &mut Vec<(u8, u8)>) {
        let edges = [&self.edges, &self.faults, &self.refused].into_iter().flatten();
        actions.extend(edges.filter(|(from, _)| from == state));
    }

    fn next_state(&self, _state: &u8, action: (u8, u8)) -> Option<u8> {
        (!self.refused.contains(&action)).then_some(action.1)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![Property::always("allowed", |graph: &Self, state| {
            !graph.forbidden.contains(state)
        })];
        if !self.also_forbidden.is_empty() {
            let condition = |graph: &Self, state: &u8| !graph.also_forbidden.contains(state);
            properties.push(Property::always("also allowed", condition));
        }
        if !self.wanted.is_empty() {
            properties.push(Property::sometimes("met", |graph: &Self, state| {
                graph.wanted.contains(state)
            }));
        }
        properties
    }

    fn within_boundary(&self, state: &u8) -> bool {
        !self.outside.contains(state)
    }
}

impl Judged for Graph {
    fn is_fault(&self, _state: &u8, action: &(u8, u8)) -> bool {
        self.faults.contains(action)
    }

    fn goal(&self, state: &u8) -> Option<bool> {
        self.goals.as_ref().map(|goals| goals.contains(state))
    }

    fn is_cut(&self, state: &u8) -> bool {
        self.cuts.contains(state)
    }

    fn class(&self, _state: &u8, action: &(u8, u8)) -> Option<u8> {
        self.classes.iter().find(|(edge, _)| edge == action).map(|(_, class)| *class)
    }

    fn fairness(&self, class: u8) -> Fairness {
        if self.strong.contains(&class) { Fairness::Strong } else { Fairness::Weak }
    }
}

/// Two counters that rise to a bound, each on its own: `(bound + 1)^2` states on `2 * bound + 1` levels.
#[derive(Clone)]
pub(super) struct Grid {
    pub bound: u32,
    /// The sum of the counters that "sum is small" forbids.
    pub forbidden_sum: Option<u32>,
    pub has_properties: bool,
}

impl Grid {
    /// A grid in which everything holds.
    pub(super) fn up_to(bound: u32) -> Self {
        Grid { bound, forbidden_sum: None, has_properties: true }
    }

    /// Number of states.
    pub(super) fn unique(&self) -> u64 {
        u64::from(self.bound + 1).pow(2)
    }
}

impl Model for Grid {
    type State = (u32, u32);
    type Action = bool;

    fn init_states(&self) -> Vec<(u32, u32)> {
        vec![(0, 0)]
    }

    fn actions(&self, &(left, right): &(u32, u32), actions: &mut Vec<bool>) {
        if left < self.bound {
            actions.push(true);
        }
        if right < self.bound {
            actions.push(false);
        }
    }

    fn next_state(&self, &(left, right): &(u32, u32), action: bool) -> Option<(u32, u32)> {
        Some(if action { (left + 1, right) } else { (left, right + 1) })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        if !self.has_properties {
            return Vec::new();
        }
        vec![
            Property::always("sum is small", |grid: &Self, state: &(u32, u32)| {
                Some(state.0 + state.1) != grid.forbidden_sum
            }),
            Property::sometimes("full", |grid: &Self, state| *state == (grid.bound, grid.bound)),
        ]
    }
}

impl Judged for Grid {
    fn goal(&self, state: &(u32, u32)) -> Option<bool> {
        Some(*state == (self.bound, self.bound))
    }
}

/// A set of numbers, with or without its length in its hash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Numbers<const PREFIXED: bool>(pub BTreeSet<u8>);

impl<const PREFIXED: bool> Hash for Numbers<PREFIXED> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        if PREFIXED {
            self.0.len().hash(hasher);
        }
        self.0.iter().for_each(|number| number.hash(hasher));
    }
}

/// Two sets; 7 moves from the first to the second, which must stay empty: three states, one of them violating.
#[derive(Clone)]
pub(super) struct HandOver<const PREFIXED: bool>;

/// The two sets.
pub(super) type Hands<const PREFIXED: bool> = (Numbers<PREFIXED>, Numbers<PREFIXED>);

impl<const PREFIXED: bool> Model for HandOver<PREFIXED> {
    type State = Hands<PREFIXED>;
    type Action = &'static str;

    fn init_states(&self) -> Vec<Self::State> {
        vec![(Numbers(BTreeSet::new()), Numbers(BTreeSet::new()))]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<&'static str>) {
        actions.push(if state.0.0.is_empty() { "put" } else { "move" });
    }

    fn next_state(&self, state: &Self::State, action: &'static str) -> Option<Self::State> {
        let (mut first, mut second) = state.clone();
        if action == "put" {
            first.0.insert(7);
        } else {
            first.0.remove(&7);
            second.0.insert(7);
        }
        Some((first, second))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("second stays empty", |_: &Self, state: &Self::State| {
            state.1.0.is_empty()
        })]
    }
}

impl<const PREFIXED: bool> Judged for HandOver<PREFIXED> {}
