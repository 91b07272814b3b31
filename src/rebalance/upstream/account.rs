//! Upstream's sums (dossier 4.4): taken from two clocks, the view's and the queue's, and added up.

use super::super::object::{SegmentId, TierId};
use super::Fix;
use super::peon::Act;
use super::run::Holder;

/// Counts of one segment in one tier, or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Servers whose inventory lists it, also while they drop it or it moves away from them.
    pub loaded: i64,
    /// Loads and replicas in queues.
    pub loading: i64,
    /// Drops in queues.
    pub dropping: i64,
    /// Moves that are to arrive.
    pub moving_to: i64,
    /// Marks of moves that are to leave.
    pub moving_from: i64,
    /// Replicas that the rule requires.
    pub required: i64,
    /// Servers that rules and balancing use.
    pub servers: i64,
}

impl Counts {
    /// Counts a tier, or the cluster. Every historical counts, the target of a clone too (D9).
    pub(super) fn of(holders: &[Holder], segment: SegmentId, tier: Option<TierId>) -> Self {
        let mut counts = Self::default();
        for holder in holders.iter().filter(|h| tier.is_none_or(|tier| h.info.tier == tier)) {
            counts.servers += i64::from(holder.info.managed);
            counts.loaded += i64::from(holder.serves(segment));
            match holder.act(segment) {
                // Inside a run a replica is a load (dossier 1.2).
                Some(Act::Load | Act::Replicate) => counts.loading += 1,
                Some(Act::Drop) => counts.dropping += 1,
                Some(Act::MoveTo) => counts.moving_to += 1,
                Some(Act::MoveFrom) => counts.moving_from += 1,
                None => {}
            }
        }
        counts
    }

    pub(super) fn loaded_not_dropping(&self) -> i64 {
        self.loaded - self.dropping
    }

    /// Copies that there will be when all is done, as a variant has it.
    #[must_use]
    pub fn projected(&self, fix: Fix) -> i64 {
        let done_moves = self.moving_from - self.moving_to;
        let subtracted = if fix.subtracts_done_moves() { done_moves.max(0) } else { 0 };
        self.loaded_not_dropping() + self.loading - subtracted
    }

    /// What is required, as far as there are servers for it.
    #[must_use]
    pub fn required_and_loadable(&self) -> i64 {
        self.required.min(self.servers)
    }
}
