//! Seeded 64-bit fingerprints of states.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

/// Computes fingerprints: deterministic, and another function for each seed.
///
/// The algorithm differs from stateright's, so that a weakness of one does not fool both checkers. Neither helps against a
/// `Hash` that feeds the same bytes for different states; only exact mode does.
pub(super) struct Fingerprinter {
    hasher: FixedState,
}

impl Fingerprinter {
    /// Builds the function of this seed.
    pub(super) fn new(seed: u64) -> Self {
        Fingerprinter { hasher: FixedState::with_seed(seed) }
    }

    /// The fingerprint of a state.
    pub(super) fn of<S: Hash>(&self, state: &S) -> u64 {
        self.hasher.hash_one(state)
    }
}

/// Expected number of states lost among `unique` ones because a state before them had the same 64-bit fingerprint: the
/// number of pairs, `unique^2 / 2`, times the chance `2^-64` of each.
pub(super) fn expected_missed(unique: u64) -> f64 {
    (unique as f64).powi(2) / 2_f64.powi(65)
}
