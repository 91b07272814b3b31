//! Whether a state shows the combination that a scope was built for.

use surehold::compaction::marker::Status;
use surehold::compaction::object::BlockId;
use surehold::compaction::plan::Plan;

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::scope::Witness;
use super::world::RoleState;

impl<F: Fleet> Model<F> {
    pub(super) fn watches(&self, witness: Witness) -> bool {
        self.witnesses && self.scope.witnesses.contains(&witness)
    }

    /// Whether a state shows what a witness looks for.
    pub fn shows(&self, world: &WorldOf<F>, witness: Witness) -> bool {
        let late_plan = |at_least: usize| {
            let early = self.scope.early.len() as u128;
            world.store.plans.iter().find(|(_, plan)| {
                plan.parents().iter().any(|id| id.0 > early && id.0 <= early + at_least as u128)
            })
        };
        let compactors = || {
            world.processes.iter().filter_map(|actor| match &actor.role {
                RoleState::Compactor(state) => Some((state, actor.paused)),
                RoleState::Cleaner(_) => None,
            })
        };
        let markers = || world.store.markers.iter().map(|((_, p), visit)| (*p, visit));
        match witness {
            Witness::ParentMarked => {
                world.store.blocks.iter().any(|(_, block)| block.global_mark.is_some())
            }
            Witness::SecondPlanDone => world
                .store
                .blocks
                .iter()
                .any(|(id, block)| block.global_mark.is_some() && id.0 >= 1000),
            Witness::SupersededWhilePaused => late_plan(8).is_some_and(|(_, plan)| {
                compactors().any(|(state, paused)| paused && state.works_on_other_than(plan.id))
            }),
            Witness::SupersededWhilePicked => late_plan(8).is_some_and(|(_, plan)| {
                compactors().any(|(state, _)| state.has_picked().is_some_and(|id| id != plan.id))
            }),
            Witness::UnknownApplied => world.seen.unknown_applied,
            Witness::UnknownLanded => world.seen.unknown_landed,
            Witness::TakenOverWhileAlive => markers().any(|(partition, visit)| {
                let marker = &visit.marker;
                !marker.is_completed()
                    && world.processes.iter().enumerate().any(|(at, actor)| {
                        let other = at != marker.owner.process.0 as usize;
                        let RoleState::Compactor(state) = &actor.role else { return false };
                        other && state.works_on(marker.plan, partition)
                    })
            }),
            Witness::TwoCleanersOnePlan => {
                let mut held = world.processes.iter().filter_map(|actor| match &actor.role {
                    RoleState::Cleaner(state) => state.plan_in_hand().map(|plan| plan.id),
                    RoleState::Compactor(_) => None,
                });
                held.next().is_some_and(|first| held.any(|other| other == first))
            }
            Witness::TwinResults => {
                let made =
                    || world.store.holdings().filter_map(|h| h.meta.made_by.map(|m| (h.block, m)));
                made().any(|(a, by)| made().any(|(b, other)| a < b && by == other))
            }
            Witness::EmptyCompleted => markers().any(|(_, visit)| {
                visit.marker.status
                    == Status::Completed(surehold::compaction::marker::Finding::Empty)
            }),
            Witness::NoCompactSetAndRemoved => {
                usize::from(world.operated) == self.scope.operator.len()
                    && !world.store.plans.is_empty()
            }
            Witness::TwoJobs => compactors().any(|(state, _)| state.jobs_running() > 1),
            Witness::BlockDeleted => world.store.blocks.values().any(|block| block.is_gone()),
            Witness::DeletedInHand => {
                let gone = |id: &BlockId| world.store.blocks.get(id).is_some_and(|b| b.is_gone());
                let lists_one = |plan: &Plan| plan.parents().iter().any(gone);
                world.processes.iter().any(|actor| match &actor.role {
                    RoleState::Compactor(state) => state.has_in_hand(&lists_one),
                    RoleState::Cleaner(state) => state.has_in_hand(&lists_one),
                })
            }
        }
    }
}
