//! What walks that are read from bytes have in common: choosing, and looking at states closely.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// With how many of the states before each one is compared.
const COMPARED: usize = 4;

/// Some bits of a byte; of one that is missing, zero.
pub(crate) fn bits(data: &[u8], at: usize, from: u32, count: u32) -> u8 {
    let byte = u32::from(data.get(at).copied().unwrap_or(0));
    ((byte >> from) & ((1 << count) - 1)) as u8
}

/// What an effect does, without whatever it names by number.
pub(crate) fn kind_of<E: Debug>(effect: &E) -> String {
    format!("{effect:?}").chars().take_while(|c| !c.is_ascii_digit() && *c != '{').collect()
}

pub(crate) fn is_set(data: &[u8], at: usize, bit: u32) -> bool {
    bits(data, at, bit, 1) == 1
}

/// Whether a state is the same after it was written and read.
pub(crate) fn is_read_as_written<T: Serialize + DeserializeOwned + Eq>(state: &T) -> bool {
    let written = serde_json::to_string(state);
    written.ok().and_then(|text| serde_json::from_str(&text).ok()).as_ref() == Some(state)
}

/// The last states of a role, each with its hash.
pub(crate) struct Visited<S>(VecDeque<(u64, S)>);

impl<S> Default for Visited<S> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<S: Hash + Eq + Clone> Visited<S> {
    /// Whether a state and each of the last ones hash equal only if they are equal, and then too.
    pub(crate) fn fits(&mut self, state: &S) -> bool {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(state);
        let fits = self.0.iter().all(|(other, visited)| (hash == *other) == (state == visited));
        self.0.push_front((hash, state.clone()));
        self.0.truncate(COMPARED);
        fits
    }
}
