//! Seeded 64-bit fingerprints of states.

use std::hash::{BuildHasher, Hasher as _};

use foldhash::quality::FixedState;

use super::Judged;
use super::options::Options;
use super::planted::Planted;

/// Computes fingerprints: deterministic, and another function for each seed.
///
/// The algorithm differs from stateright's, so that a weakness of one does not fool both checkers. Neither helps against a
/// `Hash` that feeds the same bytes for different states; only exact mode does.
pub(super) struct Fingerprinter {
    hasher: FixedState,
    /// How many images of a state are looked at; 1 if states are taken as they are.
    images: usize,
}

impl Fingerprinter {
    /// The function of this seed, for states of this model.
    pub(super) fn new<M: Judged>(model: &M, options: &Options) -> Self {
        let images = if options.takes_images() { model.images().max(1) } else { 1 };
        // A form that is canonical but for the last image, as one is that takes a tie for settled.
        let missed = usize::from(images > 1 && options.plants(Planted::TieMissed));
        Fingerprinter { hasher: FixedState::with_seed(options.seed), images: images - missed }
    }

    /// The fingerprint of a state, which is that of all of its images: the least hash of any.
    pub(super) fn of<M: Judged>(&self, model: &M, state: &M::State) -> u64 {
        if self.images == 1 {
            return self.hasher.hash_one(state);
        }
        let hash = |image| {
            let mut hasher = self.hasher.build_hasher();
            model.feed_image(state, image, &mut hasher);
            hasher.finish()
        };
        spread((0..self.images).map(hash).min().unwrap_or(0))
    }

    /// Expected number of states lost among `unique` ones because another state had the same 64-bit fingerprint: the number
    /// of pairs, `unique^2 / 2`, times the chance `2^-64` of each, which is greater for the least of several hashes.
    pub(super) fn expected_missed(&self, unique: u64) -> f64 {
        let images = self.images as f64;
        let crowded = images * images / (2.0 * images - 1.0);
        crowded * (unique as f64).powi(2) / 2_f64.powi(65)
    }
}

/// Spreads numbers that lie close to the least ones over all of them, each to a place of its own: the table wants that.
fn spread(number: u64) -> u64 {
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let number = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    number ^ number >> 32
}
