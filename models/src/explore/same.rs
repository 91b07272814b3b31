//! Whether states that are taken for one are the same to every step and every judgement.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fmt;
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use super::Judged;
use super::fingerprint::Fingerprinter;
use super::options::Options;
use super::properties::{Always, Unmet};

/// A whole space in which states that are taken for one are the same to all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Same {
    /// Different states.
    pub states: u64,
    /// Different ones if images are taken for one.
    pub classes: u64,
}

/// Two states are taken for one, and something tells them apart.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Different<State, Action> {
    /// The two.
    pub states: [State; 2],
    /// Of each, the actions that lead where no action of the other leads. If there are none, the two are judged otherwise.
    pub actions: [Vec<Action>; 2],
}

impl<State: fmt::Debug, Action: fmt::Debug> fmt::Display for Different<State, Action> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, other] = &self.states;
        if self.actions.iter().all(Vec::is_empty) {
            return write!(
                f,
                "two states are taken for one, and judged otherwise: {one:?}, {other:?}"
            );
        }
        let [of_one, of_other] = &self.actions;
        write!(
            f,
            "two states are taken for one, and lead elsewhere: by {of_one:?} and {of_other:?} from {one:?} and {other:?}"
        )
    }
}

impl<State: fmt::Debug, Action: fmt::Debug> Error for Different<State, Action> {}

/// What was found of a state.
struct Seen<S> {
    state: S,
    class: u64,
    /// What must be the same of states that are taken for one: how it is judged, and where it leads, as hashes.
    kind: [u64; 2],
}

/// Finds every reachable state, images told apart, and compares those that would be taken for one: they are judged alike,
/// and lead to the same states in the same manner, if images are taken for one there too. Then whatever the one can come
/// to, the other can, to the end: a search that takes them for one answers every question of the explorer as one that
/// does not, endless rounds aside.
///
/// It takes the time and memory of a search without symmetry. [`None`] if there are more than `most` states.
pub fn same_to_all<M: Judged>(model: &M, most: u64) -> Result<Option<Same>, Box<DifferentOf<M>>> {
    let sight = Sight::new(model);
    let mut kinds: HashMap<u64, [u64; 2]> = HashMap::new();
    let mut odd = None;
    let states = sight.look_at_all(most, |seen| {
        let is_same = *kinds.entry(seen.class).or_insert(seen.kind) == seen.kind;
        if !is_same {
            odd = Some(seen);
        }
        is_same
    });
    let Some(odd) = odd else {
        return Ok(states.map(|states| Same { states, classes: kinds.len() as u64 }));
    };
    // Only its kind was kept of the one before.
    let mut before = None;
    sight.look_at_all(most, |seen| {
        before = Some(seen.state).filter(|_| seen.class == odd.class);
        before.is_none()
    });
    let before = before.unwrap_or_else(|| odd.state.clone());
    Err(Box::new(sight.difference(before, odd.state)))
}

/// What [`same_to_all`] finds of the model `M`.
pub type DifferentOf<M> =
    Different<<M as stateright::Model>::State, <M as stateright::Model>::Action>;

/// How states are seen.
struct Sight<'a, M: Judged> {
    model: &'a M,
    always: Always<M>,
    own: Fingerprinter,
    class: Fingerprinter,
}

impl<'a, M: Judged> Sight<'a, M> {
    fn new(model: &'a M) -> Self {
        let options = Options::default();
        let as_they_are = Options { symmetry: false, ..Options::default() };
        Sight {
            model,
            always: Always::of(model),
            own: Fingerprinter::new(model, &as_they_are),
            class: Fingerprinter::new(model, &options),
        }
    }

    /// Looks at each state, in an order that is always the same, until somebody has seen enough, and tells how many there
    /// are; [`None`] if more than this.
    fn look_at_all(&self, most: u64, mut look: impl FnMut(Seen<M::State>) -> bool) -> Option<u64> {
        let mut found = HashSet::new();
        let mut waiting = self.model.init_states();
        waiting.retain(|state| found.insert(self.own.of(self.model, state)));
        while let Some(state) = waiting.pop() {
            if found.len() as u64 > most {
                return None;
            }
            let mut ends = Vec::new();
            for (_, next, end) in self.steps(&state) {
                ends.push(end);
                if found.insert(self.own.of(self.model, &next)) {
                    waiting.push(next);
                }
            }
            ends.sort_unstable();
            ends.dedup();
            let kind = [self.judgement(&state), FixedState::with_seed(0).hash_one(&ends)];
            let class = self.class.of(self.model, &state);
            if !look(Seen { state, class, kind }) {
                break;
            }
        }
        Some(found.len() as u64)
    }

    /// Each step with its end: the class of where it leads, and whether it spends a fault. Where a property is broken a
    /// search ends.
    fn steps<'s>(
        &'s self,
        state: &'s M::State,
    ) -> impl Iterator<Item = (M::Action, M::State, (u64, bool))> + 's {
        let mut actions = Vec::new();
        if self.always.broken(self.model, state).is_none() {
            self.model.actions(state, &mut actions);
        }
        actions.into_iter().filter_map(|action| {
            let is_fault = self.model.is_fault(state, &action);
            let next = self.model.next_state(state, action.clone())?;
            let class = self.class.of(self.model, &next);
            Some((action, next, (class, is_fault)))
        })
    }

    fn judgement(&self, state: &M::State) -> u64 {
        let model = self.model;
        let mut unmet = Unmet::of(model);
        unmet.note(model, state);
        FixedState::with_seed(1).hash_one((
            model.goal(state),
            model.is_cut(state),
            model.may_stop(state),
            model.within_boundary(state),
            self.always.broken(model, state),
            unmet.names(),
        ))
    }

    fn difference(&self, one: M::State, other: M::State) -> DifferentOf<M> {
        let only = |state: &M::State, other: &M::State| {
            let ends: HashSet<_> = self.steps(other).map(|(_, _, end)| end).collect();
            let steps = self.steps(state).filter(|(_, _, end)| !ends.contains(end));
            steps.map(|(action, ..)| action).collect()
        };
        let actions = [only(&one, &other), only(&other, &one)];
        Different { states: [one, other], actions }
    }
}
