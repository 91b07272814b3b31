//! What a run is to come to, and which events are no way there: for every checker and for fuzzing.

use surehold::compaction::partition::overlap;

use super::fleet::Fleet;
use super::model::{Action, Clock, Fate, Model, WorldOf};
use super::scope::Goal;
use super::world::Store;

impl Action {
    /// Whether this event is a fault, or the late outcome of one. The goal must be in reach without.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Run { fate, choice, .. } => *fate != Fate::Done || choice.clock != Clock::Later,
            Self::Crash(_) | Self::Pause(_) => true,
            // The fault was spent when the write was lost. That it lands is no remedy to count on.
            Self::Land(_) => true,
            Self::Begin(_)
            | Self::Beat(..)
            | Self::Expire(..)
            | Self::ExpireCleaner
            | Self::Ripen(_)
            | Self::Upload
            | Self::Operate => false,
        }
    }
}

impl<F: Fleet> Model<F> {
    /// Whether a world is at the scope's goal; `None` if the scope has none.
    pub fn is_at_goal(&self, world: &WorldOf<F>) -> Option<bool> {
        Some(self.scope.goal?.is_reached(&world.store))
    }
}

impl Goal {
    /// Whether a bucket is what the goal says.
    #[must_use]
    pub fn is_reached(self, store: &Store) -> bool {
        match self {
            Self::NoPlan => store.plans.is_empty(),
            Self::NoOrphanMarker => {
                store.markers.iter().all(|(_, visit)| store.plan(visit.marker.plan).is_some())
            }
            Self::NoOrphanMark => {
                store.blocks.values().all(|b| b.deleted.is_none() || !b.is_marked())
            }
            Self::AllGone => {
                let gone = |block: &super::world::Block| {
                    !block.is_marked() && (block.deleted.is_none() || block.is_gone())
                };
                Self::AllDone.is_reached(store) && store.blocks.values().all(|block| gone(block))
            }
            Self::AllDone => {
                let live = || {
                    let unmarked = store.holdings().filter(|h| !h.marked);
                    let barred = |id| store.blocks.get(&id).is_some_and(|block| block.no_compact);
                    unmarked.filter(move |h| !barred(h.block))
                };
                store.plans.is_empty()
                    && store.markers.is_empty()
                    && !live().any(|a| live().any(|b| a.block < b.block && overlap(a.meta, b.meta)))
            }
        }
    }
}
