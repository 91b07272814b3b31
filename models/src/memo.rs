//! Steps of roles, remembered: a role comes to the same state by many ways of the world, and what a step is does not
//! depend on the world.
//!
//! [`Machine::step`] is pure, so a step that was taken once need not be taken again. What is remembered is found by the very
//! state and an equal event, never by a fingerprint, so nothing is taken for another. And a state that was come to before
//! is shared, which keeps what lies in the frontier small.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::fast::FixedState;
use surehold::{Issued, Machine};

use crate::part::Part;

/// How many steps, and how many states, are remembered at most.
const MOST: usize = SHELVES << 10;

/// What is remembered lies on so many shelves, which are put up as they come to be used.
const SHELVES: usize = 1 << 8;

/// A step that was taken, and what a world makes of it beside.
pub(crate) struct Taken<M: Machine, X> {
    /// The next state.
    pub(crate) state: Part<M::State>,
    /// What is to be carried out.
    pub(crate) effects: Vec<Issued<M::Effect>>,
    /// The guards that decided it.
    pub(crate) decided_by: Vec<M::Guard>,
    /// What a world makes of the states before and after.
    pub(crate) change: X,
}

/// What comes of an event.
type Outcome<M, X> = Result<Arc<Taken<M, X>>, <M as Machine>::Refusal>;

/// The steps of one machine. Only an exploration comes to a state again and again, so nothing is remembered before
/// somebody says so.
pub(crate) struct Steps<M: Machine, X = ()>(OnceLock<Arc<Places<M, X>>>);

/// What is remembered.
struct Places<M: Machine, X> {
    steps: Shelves<Known<M, X>>,
    states: Parts<M::State>,
}

/// Steps, each in the place that its hash says; a later one takes the place of an earlier one.
struct Shelves<T>(Vec<OnceLock<Box<[Place<T>]>>>);

/// A place.
type Place<T> = Mutex<Option<Box<T>>>;

impl<T> Shelves<T> {
    #[cfg(any(feature = "checker", test))]
    fn new() -> Self {
        Self((0..SHELVES).map(|_| OnceLock::new()).collect())
    }

    /// The place that a hash says.
    fn at(&self, hash: u64) -> MutexGuard<'_, Option<Box<T>>> {
        let place = hash as usize % MOST;
        let shelf = self.0[place % SHELVES]
            .get_or_init(|| (0..MOST / SHELVES).map(|_| Mutex::new(None)).collect());
        shelf[place / SHELVES].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts that were come to, by their digests. They all stay until a shelf is full, which is then cleared: a part that gave
/// its place to another one would come again as a new one, and with it all of its steps.
struct Parts<T>(Vec<Mutex<HashMap<u64, Part<T>, FixedState>>>);

/// Parts of worlds that are shared with equal ones that were come to before. Nothing is before somebody says so, as with
/// steps.
pub(crate) struct Shared<T>(OnceLock<Arc<Parts<T>>>);

/// A step that was taken. It holds its state, so that no other one comes to lie at that address.
struct Known<M: Machine, X> {
    state: Part<M::State>,
    event: M::Event,
    outcome: Outcome<M, X>,
}

impl<M: Machine<Event: Eq + Hash>, X> Steps<M, X> {
    /// Nothing is remembered.
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// From now on steps are remembered.
    #[cfg(any(feature = "checker", test))]
    pub(crate) fn remember(&self) {
        let places = || Places { steps: Shelves::new(), states: Parts::new() };
        self.0.get_or_init(|| Arc::new(places()));
    }

    /// What comes of an event, and what `change` makes of the states before and after. Both must be functions of their
    /// arguments.
    pub(crate) fn take(
        &self,
        machine: &M,
        state: &Part<M::State>,
        event: M::Event,
        change: impl FnOnce(&M::State, &M::State) -> X,
    ) -> Outcome<M, X> {
        let step = |event, share: &dyn Fn(M::State) -> Part<M::State>| {
            let step = machine.step(state, event)?;
            let change = change(state, &step.state);
            let (state, effects, decided_by) = (share(step.state), step.effects, step.decided_by);
            Ok(Arc::new(Taken { state, effects, decided_by, change }))
        };
        match self.0.get() {
            Some(places) => places.take(state, event, |event| {
                step(event, &|state| places.states.share(Part::new(state)))
            }),
            None => step(event, &Part::new),
        }
    }
}

impl<M: Machine<Event: Eq + Hash>, X> Places<M, X> {
    fn take(
        &self,
        state: &Part<M::State>,
        event: M::Event,
        step: impl FnOnce(M::Event) -> Outcome<M, X>,
    ) -> Outcome<M, X> {
        let hash = FixedState::with_seed(0).hash_one((state.address(), &event));
        let is_it =
            |known: &&Known<M, X>| known.state.address() == state.address() && known.event == event;
        if let Some(known) = self.steps.at(hash).as_deref().filter(is_it) {
            return known.outcome.clone();
        }
        let outcome = step(event.clone());
        let known = Known { state: state.clone(), event, outcome: outcome.clone() };
        // Dropped when the place is free again.
        let _old = self.steps.at(hash).replace(Box::new(known));
        outcome
    }
}

impl<T: Clone + Hash + PartialEq> Parts<T> {
    #[cfg(any(feature = "checker", test))]
    fn new() -> Self {
        Self((0..SHELVES).map(|_| Mutex::default()).collect())
    }

    /// The part itself, or an equal one that was come to before.
    fn share(&self, part: Part<T>) -> Part<T> {
        let digest = part.digest();
        let shelf = &self.0[(digest >> 32) as usize % SHELVES];
        let mut shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shelf.get(&digest).filter(|known| **known == part) {
            return known.clone();
        }
        let is_full = shelf.len() >= MOST / SHELVES;
        let old = if is_full { std::mem::take(&mut *shelf) } else { HashMap::default() };
        shelf.insert(digest, part.clone());
        // What was there is dropped when the shelf is free again.
        drop(shelf);
        drop(old);
        part
    }
}

impl<T: Clone + Hash + PartialEq> Shared<T> {
    /// Nothing is shared.
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// From now on parts are shared.
    #[cfg(any(feature = "checker", test))]
    pub(crate) fn remember(&self) {
        self.0.get_or_init(|| Arc::new(Parts::new()));
    }

    /// An equal one that was come to before takes the place of a part that may have changed.
    pub(crate) fn share(&self, part: &mut Part<T>) {
        if let Some(parts) = self.0.get()
            && part.is_new()
        {
            *part = parts.share(part.clone());
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("is_remembered", &self.0.get().is_some()).finish()
    }
}

impl<M: Machine, X> Clone for Steps<M, X> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Machine, X> fmt::Debug for Steps<M, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_remembered = self.0.get().is_some();
        f.debug_struct("Steps").field("is_remembered", &is_remembered).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use surehold::Step;

    use super::*;

    /// Appends, refuses 0, and counts how often it is asked.
    struct Appends(Cell<u32>);

    impl Machine for Appends {
        type State = Vec<u8>;
        type Event = u8;
        type Effect = u8;
        type Guard = ();
        type Refusal = ();
        type Durable = ();

        fn step(&self, state: &Vec<u8>, event: u8) -> Result<Step<Vec<u8>, u8, ()>, ()> {
            self.0.set(self.0.get() + 1);
            if event == 0 {
                return Err(());
            }
            let state = [&state[..], &[event]].concat();
            Ok(Step { state, effects: Vec::new(), decided_by: Vec::new() })
        }

        fn recover(&self, (): ()) -> Vec<u8> {
            Vec::new()
        }
    }

    #[test]
    fn a_step_is_taken_once_and_its_state_is_shared() {
        let (machine, steps) = (Appends(Cell::new(0)), Steps::new());
        steps.remember();
        let step = |state: &Part<Vec<u8>>, event| {
            let taken = steps.take(&machine, state, event, |old, new| new.len() - old.len());
            taken.map(|taken| (taken.state.clone(), taken.change))
        };
        let one = Part::new(vec![1]);
        let (first, again) = (step(&one, 2).expect("taken"), step(&one, 2).expect("taken"));
        assert_eq!((&*first.0, first.1, machine.0.get()), (&vec![1, 2], 1, 1));
        assert_eq!(first.0.address(), again.0.address());
        assert_eq!((step(&one, 0), step(&one, 0), machine.0.get()), (Err(()), Err(()), 2));
        assert_eq!(*step(&one, 3).expect("taken").0, [1, 3]);
        // An equal state elsewhere is another, and comes to the same.
        let elsewhere = step(&Part::new(vec![1]), 2).expect("taken");
        assert_eq!((elsewhere.0.address(), machine.0.get()), (first.0.address(), 4));
    }

    #[test]
    fn equal_parts_are_shared_once_that_is_asked_for() {
        let shared = Shared::new();
        let changed = |item: u8| {
            let mut part = Part::new(Vec::new());
            part.change().push(item);
            shared.share(&mut part);
            part
        };
        let unasked = (changed(1), changed(1));
        assert_ne!(unasked.0.address(), unasked.1.address());
        shared.remember();
        let (first, again, other) = (changed(1), changed(1), changed(2));
        assert_eq!((first.address(), &*first), (again.address(), &vec![1]));
        assert_eq!(*other, [2]);
        // One that was hashed before and not changed since stays where it is.
        let (mut kept, address) = (unasked.0.clone(), unasked.0.address());
        assert_eq!(kept.digest(), first.digest());
        shared.share(&mut kept);
        assert_eq!(kept.address(), address);
    }

    #[test]
    fn nothing_is_remembered_unasked() {
        let (machine, steps) = (Appends(Cell::new(0)), Steps::new());
        for _ in 0..2 {
            let taken = steps.take(&machine, &Part::new(vec![1]), 2, |_, _| ());
            assert_eq!(*taken.expect("taken").state, [1, 2]);
        }
        assert_eq!(machine.0.get(), 2);
    }
}
