//! Steps of roles, remembered: a role comes to the same state by many ways of the world, and what a step is does not
//! depend on the world.
//!
//! [`surehold::Machine::step`] is pure, so a step that was taken once need not be taken again. What is remembered is found
//! by the very state and an equal event, never by a fingerprint, so nothing is taken for another. And a state that was come
//! to before is shared, which keeps what lies in the frontier small.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;

use crate::part::Part;

/// How many steps, and how many states, are remembered. A later one takes the place of an earlier one.
const PLACES: usize = 1 << 14;

/// The steps of one role: of states `S` told events `E`, with what came of them.
pub(crate) struct Memo<S, E, T> {
    steps: Vec<Mutex<Option<Known<S, E, T>>>>,
    states: Vec<Mutex<Option<Part<S>>>>,
}

/// A step that was taken. It holds its state, so that no other one comes to lie at that address.
struct Known<S, E, T> {
    state: Part<S>,
    event: E,
    taken: T,
}

impl<S: Clone + Eq + Hash, E: Eq + Hash + Clone, T: Clone> Memo<S, E, T> {
    /// Nothing is remembered.
    pub(crate) fn new() -> Self {
        Self { steps: places(), states: places() }
    }

    /// What comes of an event: as remembered, or as `step` says.
    pub(crate) fn take(&self, state: &Part<S>, event: &E, step: impl FnOnce() -> T) -> T {
        let hash = FixedState::with_seed(0).hash_one((state.address(), event));
        let place = &self.steps[hash as usize % PLACES];
        {
            let known = place.lock().unwrap_or_else(PoisonError::into_inner);
            let is_it = |known: &&Known<S, E, T>| {
                known.state.address() == state.address() && known.event == *event
            };
            if let Some(known) = known.as_ref().filter(is_it) {
                return known.taken.clone();
            }
        }
        let taken = step();
        let known = Known { state: state.clone(), event: event.clone(), taken: taken.clone() };
        let old = place.lock().unwrap_or_else(PoisonError::into_inner).replace(known);
        drop(old);
        taken
    }

    /// The state itself, or an equal one that was come to before.
    pub(crate) fn share(&self, state: S) -> Part<S> {
        let state = Part::new(state);
        let place = &self.states[state.digest() as usize % PLACES];
        let mut known = place.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|known| **known == state) {
            Some(known) => known.clone(),
            None => known.insert(state).clone(),
        }
    }
}

fn places<T>() -> Vec<Mutex<Option<T>>> {
    (0..PLACES).map(|_| Mutex::new(None)).collect()
}

impl<S, E, T> fmt::Debug for Memo<S, E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_step_is_taken_once_and_its_state_is_shared() {
        let memo = Memo::new();
        let taken = Cell::new(0);
        let state = memo.share(vec![1_u8]);
        let step = |state: &Part<Vec<u8>>, event: u8| {
            memo.take(state, &event, || {
                taken.set(taken.get() + 1);
                memo.share([&state[..], &[event]].concat())
            })
        };
        let (first, again) = (step(&state, 2), step(&state, 2));
        assert_eq!((taken.get(), &*first), (1, &vec![1, 2]));
        assert_eq!(first.address(), again.address());
        assert_eq!((&*step(&state, 3), taken.get()), (&vec![1, 3], 2));
        // An equal state elsewhere is another, and comes to the same.
        let elsewhere = step(&Part::new(vec![1]), 2);
        assert_eq!((elsewhere.address(), taken.get()), (first.address(), 3));
    }
}
