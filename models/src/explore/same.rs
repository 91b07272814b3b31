//! Whether states that are taken for one are the same to every step and every judgement.

use std::collections::HashMap;
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
pub struct Different<State> {
    /// A state.
    pub state: State,
    /// What a state before it, which is taken for it, has otherwise.
    pub what: What,
}

/// What tells two states apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// Whether it is a goal, cut or within the boundary, may stop, breaks or meets a property.
    Judgement,
    /// The states that it leads to, images taken for one, and whether that spends a fault.
    Successors,
}

impl<State: fmt::Debug> fmt::Display for Different<State> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Judgement => "judgement",
            What::Successors => "successors",
        };
        write!(f, "a state taken for another one has another {what}: {:?}", self.state)
    }
}

impl<State: fmt::Debug> Error for Different<State> {}

/// What must be the same of states that are taken for one, as hashes.
struct Kind {
    judgement: u64,
    successors: u64,
}

/// Finds every reachable state, images told apart, and compares those that would be taken for one: they are judged alike,
/// and lead to the same states in the same manner, if images are taken for one there too. Then whatever the one can come
/// to, the other can, to the end: a search that takes them for one answers every question of the explorer as one that
/// does not, endless rounds aside.
///
/// It takes the time and memory of a search without symmetry. [`None`] if there are more than `most` states.
pub fn same_to_all<M: Judged>(
    model: &M,
    most: u64,
) -> Result<Option<Same>, Box<Different<M::State>>> {
    let options = Options::default();
    let as_they_are = Options { symmetry: false, ..Options::default() };
    let sight = Sight {
        model,
        always: Always::of(model),
        own: Fingerprinter::new(model, &as_they_are),
        class: Fingerprinter::new(model, &options),
    };
    let mut states = std::collections::HashSet::new();
    let mut classes: HashMap<u64, Kind> = HashMap::new();
    let mut waiting: Vec<M::State> = Vec::new();
    let initial = model.init_states().into_iter();
    waiting.extend(initial.filter(|state| states.insert(sight.own.of(model, state))));
    while let Some(state) = waiting.pop() {
        if states.len() as u64 > most {
            return Ok(None);
        }
        let mut successors = Vec::new();
        sight.successors(&state, |next, class, is_fault| {
            successors.push((class, is_fault));
            if states.insert(sight.own.of(model, &next)) {
                waiting.push(next);
            }
        });
        successors.sort_unstable();
        successors.dedup();
        let hashes = FixedState::with_seed(0);
        let kind =
            Kind { judgement: sight.judgement(&state), successors: hashes.hash_one(&successors) };
        let known = classes.entry(sight.class.of(model, &state)).or_insert(Kind { ..kind });
        let what = match (known.judgement == kind.judgement, known.successors == kind.successors) {
            (true, true) => continue,
            (false, _) => What::Judgement,
            (true, false) => What::Successors,
        };
        return Err(Box::new(Different { state, what }));
    }
    Ok(Some(Same { states: states.len() as u64, classes: classes.len() as u64 }))
}

/// How states are seen.
struct Sight<'a, M: Judged> {
    model: &'a M,
    always: Always<M>,
    own: Fingerprinter,
    class: Fingerprinter,
}

impl<M: Judged> Sight<'_, M> {
    fn successors(&self, state: &M::State, mut each: impl FnMut(M::State, u64, bool)) {
        let mut actions = Vec::new();
        self.model.actions(state, &mut actions);
        for action in actions {
            let is_fault = self.model.is_fault(state, &action);
            if let Some(next) = self.model.next_state(state, action) {
                let class = self.class.of(self.model, &next);
                each(next, class, is_fault);
            }
        }
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
}
