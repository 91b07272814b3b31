//! The set of states found: about 20 bytes for each, whatever the size of a state.

use super::memory::{push_gently, vec_bytes};

/// Greatest number of states that the indices can tell apart.
pub(super) const MAX_STATES: u64 = u32::MAX as u64;

/// The parent of an initial state.
const NO_PARENT: u32 = u32::MAX;

/// A slot that holds nothing.
const EMPTY: u64 = 0;

/// Number of slots that the table begins with.
const FIRST_SLOTS: usize = 1024;

/// What [`Visited::insert`] did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inserted {
    /// The state is new and has this index.
    New(u32),
    /// The state was there under this index.
    Known(u32),
    /// The state is new, and there is no room for it.
    Full,
}

/// The states found, numbered from 0 in the order in which they were found, each with its parent.
///
/// An open table with linear probing. A slot is 64 bits wide and holds the upper half of a fingerprint and the index plus
/// one; the lower half lies in an array by index. So a probe that ends in an empty slot touches one cache line, one that
/// finds the state two. The home of a fingerprint rises with its upper half, so the table grows by reading it once from
/// front to back, without hashing or looking anything up, and by a factor of 1.5.
pub(super) struct Visited<S> {
    slots: Vec<u64>,
    lower_halves: Vec<u32>,
    parents: Vec<u32>,
    /// The states themselves, by index, in exact mode.
    states: Option<Vec<S>>,
    collisions: u64,
    limit: u64,
}

/// Where a probe ended.
enum Probe {
    Found(u32),
    Vacant { at: usize, collided: bool },
}

impl<S: Clone + Eq> Visited<S> {
    /// An empty set for at most `limit` states, itself at most [`MAX_STATES`].
    pub(super) fn new(exact: bool, limit: u64) -> Self {
        Visited {
            slots: vec![EMPTY; FIRST_SLOTS],
            lower_halves: Vec::new(),
            parents: Vec::new(),
            states: exact.then(Vec::new),
            collisions: 0,
            limit: limit.min(MAX_STATES),
        }
    }

    /// Number of states in the set.
    pub(super) fn len(&self) -> u64 {
        self.parents.len() as u64
    }

    /// Number of states whose fingerprint an earlier, different state has; seen only in exact mode.
    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Whether states are compared themselves.
    pub(super) fn is_exact(&self) -> bool {
        self.states.is_some()
    }

    /// Bytes allocated, not counting what the states of exact mode own on the heap.
    pub(super) fn bytes(&self) -> u64 {
        let states = self.states.as_ref().map_or(0, vec_bytes);
        vec_bytes(&self.slots) + vec_bytes(&self.lower_halves) + vec_bytes(&self.parents) + states
    }

    /// Bytes that the table will ask for if `more` states are inserted. While it grows, the old table is there too.
    pub(super) fn growth_bytes(&self, more: u64) -> u64 {
        if is_crowded(self.len() + more, self.slots.len()) {
            (grown(self.slots.len()) * size_of::<u64>()) as u64
        } else {
            0
        }
    }

    /// Inserts a state unless it is there. `parent` is the index of the state it was generated from, [`None`] for an
    /// initial one.
    pub(super) fn insert(&mut self, fingerprint: u64, state: &S, parent: Option<u32>) -> Inserted {
        if is_crowded(self.len() + 1, self.slots.len()) {
            self.grow();
        }
        match self.probe(fingerprint, state) {
            Probe::Found(index) => Inserted::Known(index),
            Probe::Vacant { .. } if self.len() >= self.limit => Inserted::Full,
            Probe::Vacant { at, collided } => {
                self.collisions += u64::from(collided);
                Inserted::New(self.append(at, fingerprint, state, parent))
            }
        }
    }

    /// The index of a state, if it is there.
    pub(super) fn find(&self, fingerprint: u64, state: &S) -> Option<u32> {
        match self.probe(fingerprint, state) {
            Probe::Found(index) => Some(index),
            Probe::Vacant { .. } => None,
        }
    }

    /// Indices on the way from an initial state to this one, both included.
    pub(super) fn ancestry(&self, index: u32) -> Vec<u32> {
        let mut way = vec![index];
        let mut at = index;
        while self.parents[at as usize] != NO_PARENT {
            at = self.parents[at as usize];
            way.push(at);
        }
        way.reverse();
        way
    }

    fn append(&mut self, at: usize, fingerprint: u64, state: &S, parent: Option<u32>) -> u32 {
        let index = self.parents.len() as u32;
        self.slots[at] = u64::from(upper_half(fingerprint)) << 32 | u64::from(index + 1);
        push_gently(&mut self.lower_halves, fingerprint as u32);
        push_gently(&mut self.parents, parent.unwrap_or(NO_PARENT));
        if let Some(states) = &mut self.states {
            push_gently(states, state.clone());
        }
        index
    }

    fn probe(&self, fingerprint: u64, state: &S) -> Probe {
        let mut collided = false;
        let mut at = home(upper_half(fingerprint), self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return Probe::Vacant { at, collided };
            }
            if self.holds(slot, fingerprint) {
                let index = slot as u32 - 1;
                if self.is_same(index, state) {
                    return Probe::Found(index);
                }
                collided = true;
            }
            at = next(at, self.slots.len());
        }
    }

    fn holds(&self, slot: u64, fingerprint: u64) -> bool {
        (slot >> 32) as u32 == upper_half(fingerprint)
            && self.lower_halves[(slot as u32 - 1) as usize] == fingerprint as u32
    }

    /// Outside exact mode, equal fingerprints are taken for equal states.
    fn is_same(&self, index: u32, state: &S) -> bool {
        self.states.as_ref().is_none_or(|states| states[index as usize] == *state)
    }

    fn grow(&mut self) {
        let mut larger = vec![EMPTY; grown(self.slots.len())];
        for &slot in self.slots.iter().filter(|&&slot| slot != EMPTY) {
            let mut at = home((slot >> 32) as u32, larger.len());
            while larger[at] != EMPTY {
                at = next(at, larger.len());
            }
            larger[at] = slot;
        }
        self.slots = larger;
    }
}

fn upper_half(fingerprint: u64) -> u32 {
    (fingerprint >> 32) as u32
}

/// The slot where the probe for a fingerprint begins: its upper half, read as a fraction, of the table.
fn home(upper_half: u32, slots: usize) -> usize {
    ((u64::from(upper_half) * slots as u64) >> 32) as usize
}

fn next(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

/// Three quarters full is enough: beyond, linear probing gets long.
fn is_crowded(states: u64, slots: usize) -> bool {
    states * 4 > slots as u64 * 3
}

fn grown(slots: usize) -> usize {
    slots + slots / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spreads consecutive numbers over all fingerprints.
    fn spread(number: u64) -> u64 {
        number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn finds_again_what_it_was_given_and_nothing_else() {
        let mut visited = Visited::new(false, MAX_STATES);
        for number in 0..50_000 {
            let parent = (number > 0).then(|| number as u32 - 1);
            assert_eq!(
                visited.insert(spread(number), &number, parent),
                Inserted::New(number as u32)
            );
        }
        for number in 0..50_000 {
            assert_eq!(
                visited.insert(spread(number), &number, None),
                Inserted::Known(number as u32)
            );
            assert_eq!(visited.find(spread(number), &number), Some(number as u32));
        }
        assert_eq!(visited.find(spread(50_000), &50_000), None);
        assert_eq!(visited.len(), 50_000);
        assert_eq!(visited.ancestry(49_999).len(), 50_000);
        assert_eq!(visited.ancestry(2), [0, 1, 2]);
    }

    #[test]
    fn both_halves_of_the_fingerprint_count() {
        let mut visited = Visited::new(false, MAX_STATES);
        assert_eq!(visited.insert(0x1_0000_0002, &0, None), Inserted::New(0));
        assert_eq!(visited.insert(0x1_0000_0003, &1, None), Inserted::New(1));
        assert_eq!(visited.insert(0x2_0000_0002, &2, None), Inserted::New(2));
        assert_eq!(visited.insert(0x1_0000_0002, &3, None), Inserted::Known(0));
    }

    #[test]
    fn probing_goes_round_the_end() {
        let mut visited = Visited::new(false, MAX_STATES);
        for number in 0..5 {
            assert_eq!(
                visited.insert(u64::MAX - number, &number, None),
                Inserted::New(number as u32)
            );
        }
        for number in 0..5 {
            assert_eq!(visited.find(u64::MAX - number, &number), Some(number as u32));
        }
    }

    #[test]
    fn only_exact_mode_tells_states_of_one_fingerprint_apart() {
        let mut by_fingerprint = Visited::new(false, MAX_STATES);
        assert_eq!(by_fingerprint.insert(7, &"a", None), Inserted::New(0));
        assert_eq!(by_fingerprint.insert(7, &"b", None), Inserted::Known(0));
        assert_eq!(by_fingerprint.collisions(), 0);

        let mut exact = Visited::new(true, MAX_STATES);
        assert_eq!(exact.insert(7, &"a", None), Inserted::New(0));
        assert_eq!(exact.insert(7, &"b", None), Inserted::New(1));
        assert_eq!(exact.insert(7, &"b", None), Inserted::Known(1));
        assert_eq!(exact.collisions(), 1);
    }

    #[test]
    fn a_full_set_still_knows_its_states() {
        let mut visited = Visited::new(false, 2);
        visited.insert(spread(0), &0, None);
        visited.insert(spread(1), &1, None);
        assert_eq!(visited.insert(spread(2), &2, None), Inserted::Full);
        assert_eq!(visited.insert(spread(1), &1, None), Inserted::Known(1));
        assert_eq!(visited.len(), 2);
    }

    #[test]
    fn a_state_takes_at_most_27_bytes() {
        let mut visited = Visited::new(false, MAX_STATES);
        for number in 0..300_000 {
            visited.insert(spread(number), &number, None);
            if number >= 10_000 {
                // At worst 16 bytes of slots and 4 + 4 of arrays with a quarter in reserve.
                assert!(
                    visited.bytes() <= visited.len() * 27,
                    "{} for {}",
                    visited.bytes(),
                    visited.len()
                );
            }
        }
    }

    #[test]
    fn growth_is_foretold() {
        let mut visited = Visited::new(false, MAX_STATES);
        assert_eq!(visited.growth_bytes(768), 0);
        assert_eq!(visited.growth_bytes(769), 1536 * 8);
        for number in 0..769 {
            visited.insert(spread(number), &number, None);
        }
        assert_eq!(visited.slots.len(), 1536);
    }
}
