//! Whether a state shows the combination that a scope was built for.

use surehold::compaction::marker::{Finding, Marker, Status};
use surehold::compaction::object::{BlockId, MarkReason, PlanId, Provenance};
use surehold::compaction::plan::Plan;

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::scope::{GROUP, Witness};
use super::world::{RoleState, Store};

impl<F: Fleet> Model<F> {
    pub(super) fn watches(&self, witness: Witness) -> bool {
        self.witnesses && self.scope.witnesses.contains(&witness)
    }

    /// Whether a state shows what a witness looks for.
    pub fn shows(&self, world: &WorldOf<F>, witness: Witness) -> bool {
        let store = &*world.store;
        match witness {
            Witness::ParentMarked => store.blocks.values().any(|block| block.global_mark.is_some()),
            Witness::SecondPlanDone => {
                store.blocks.iter().any(|(id, block)| block.global_mark.is_some() && id.0 >= 1000)
            }
            Witness::SupersededWhilePaused => self.late_plan(store).is_some_and(|plan| {
                compactors::<F>(world)
                    .any(|(state, paused)| paused && state.works_on_other_than(plan.id))
            }),
            Witness::SupersededWhilePicked => self.late_plan(store).is_some_and(|plan| {
                compactors::<F>(world)
                    .any(|(state, _)| state.has_picked().is_some_and(|id| id != plan.id))
            }),
            Witness::UnknownApplied => world.seen.unknown_applied,
            Witness::UnknownLanded => world.seen.unknown_landed,
            Witness::PlanUnread => world.seen.plan_unread,
            Witness::TakenOverWhileAlive => markers(store).any(|(partition, marker)| {
                !marker.is_completed() && self.is_worked_on_by_another(world, partition, marker)
            }),
            Witness::TwoCleanersOnePlan => {
                let mut held = plans_in_hand::<F>(world).map(|plan| plan.id);
                held.next().is_some_and(|first| held.any(|other| other == first))
            }
            Witness::TwinResults => {
                let made = || store.holdings().filter_map(|h| h.meta.made_by.map(|m| (h.block, m)));
                made().any(|(a, by)| made().any(|(b, other)| a < b && by == other))
            }
            Witness::EmptyCompleted => {
                markers(store).any(|(_, m)| m.status == Status::Completed(Finding::Empty))
            }
            Witness::NoCompactSetAndRemoved => {
                usize::from(world.operated) == self.scope.operator.len() && !store.plans.is_empty()
            }
            Witness::TwoJobs => compactors::<F>(world).any(|(state, _)| state.jobs_running() > 1),
            Witness::RivalPlans => store.plans.len() > 1,
            Witness::TwoWorkers => store.plans.values().any(|plan| self.is_shared(world, plan)),
            Witness::CompletedExpired => store.markers.values().any(|visit| {
                let marker = &visit.marker;
                visit.expired && marker.is_completed() && store.plan(marker.plan).is_some()
            }),
            Witness::CountChanged => store.plans.values().any(|plan| {
                let made = |id| store.blocks.get(id)?.meta.as_ref()?.made_by;
                let other =
                    |by: Provenance| by.group == GROUP && by.partition_count != plan.count();
                plan.parents().iter().filter_map(made).any(other)
            }),
            Witness::WrittenLate => {
                store.plans.values().any(|plan| results(store).any(|by| by.plan > plan.id))
            }
            Witness::OneSecondTwoListings => {
                let late = self.late_plan(store);
                late.is_some_and(|late| {
                    store
                        .plans
                        .values()
                        .any(|plan| plan.created_s == late.created_s && !self.lists_late(plan))
                })
            }
            Witness::ReversedIds => store.plans.values().any(|plan| {
                is_behind(plan.id) && store.plans.values().any(|other| other.id > plan.id)
            }),
            Witness::StaleCleaner => {
                !store.plans.is_empty()
                    && plans_in_hand::<F>(world).any(|plan| store.plan(plan.id).is_none())
            }
            Witness::EmptyProven => plans_in_hand::<F>(world).any(|plan| {
                let marked = |reason| reason == MarkReason::Compacted(plan.id);
                (0..plan.count()).any(|p| plan.members(p).is_empty())
                    && store.blocks.values().any(|block| {
                        block.global_mark.is_some_and(|mark| marked(mark.mark.because))
                    })
            }),
            Witness::CrashedAfterBlock => markers(store).any(|(partition, marker)| {
                !marker.is_completed()
                    && self.is_of_an_earlier_life(world, marker)
                    && results(store).any(|by| by.plan == marker.plan && by.partition == partition)
            }),
            Witness::MarkersLeft => {
                markers(store).any(|(_, marker)| store.plan(marker.plan).is_none())
            }
            Witness::CrashedWhileCleaning => {
                let restarted = world.processes.iter().any(|actor| {
                    matches!(&actor.role, RoleState::Cleaner(state) if state.incarnation() > 0)
                });
                restarted && markers(store).any(|(_, marker)| store.plan(marker.plan).is_none())
            }
            Witness::HalfDoneAfterFault => {
                world.faults_left == 0
                    && store.plans.values().any(|plan| {
                        let mut done = (0..plan.count()).map(|p| {
                            results(store).any(|by| by.plan == plan.id && by.partition == p)
                        });
                        done.next().is_some_and(|first| done.any(|other| other != first))
                    })
            }
            Witness::BarredUnderPlan => store.plans.values().any(|plan| {
                let barred = |id| store.blocks.get(id).is_some_and(|block| block.no_compact);
                plan.parents().iter().any(barred) && results(store).any(|by| by.plan == plan.id)
            }),
            Witness::CompletionOfGonePlan => {
                !store.plans.is_empty()
                    && markers(store).any(|(_, m)| m.is_completed() && store.plan(m.plan).is_none())
            }
            Witness::ClaimGivenUp => markers(store).any(|(partition, marker)| {
                marker.status == Status::Pending && self.is_given_up(world, partition, marker)
            }),
            Witness::TakenOverAfterCrash => {
                let restarted = |at: usize| self.incarnation(&world.processes[at]) > 0;
                let any = (0..usize::from(self.scope.compactors)).any(restarted);
                any && store.plans.values().any(|plan| self.is_shared(world, plan))
            }
            Witness::BornDead => store.plans.values().any(|plan| {
                let marked = |id| store.blocks.get(id).is_some_and(|block| block.is_marked());
                plan.parents().iter().any(marked) && !results(store).any(|by| by.plan == plan.id)
            }),
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

    /// A plan that lists a late block.
    fn late_plan<'a>(&self, store: &'a Store) -> Option<&'a Plan> {
        store.plans.values().map(|plan| &***plan).find(|plan| self.lists_late(plan))
    }

    fn lists_late(&self, plan: &Plan) -> bool {
        let early = self.scope.early.len() as u128;
        let late = early + 1..=early + self.scope.late.len() as u128;
        plan.parents().iter().any(|id| late.contains(&id.0))
    }

    fn is_worked_on_by_another(&self, world: &WorldOf<F>, partition: u32, marker: &Marker) -> bool {
        world.processes.iter().enumerate().any(|(at, actor)| {
            let other = at != marker.owner.process.0 as usize;
            let RoleState::Compactor(state) = &actor.role else { return false };
            other && state.works_on(marker.plan, partition)
        })
    }

    /// Whether two compactors work on different partitions of a plan.
    fn is_shared(&self, world: &WorldOf<F>, plan: &Plan) -> bool {
        let worker = |partition| {
            compactors::<F>(world).position(|(state, _)| state.works_on(plan.id, partition))
        };
        let mut workers = (0..plan.count()).filter_map(worker);
        workers.next().is_some_and(|first| workers.any(|other| other != first))
    }

    fn is_of_an_earlier_life(&self, world: &WorldOf<F>, marker: &Marker) -> bool {
        let actor = world.processes.get(marker.owner.process.0 as usize);
        actor.is_some_and(|actor| self.incarnation(actor) > marker.owner.incarnation)
    }

    /// Whether the writer of a claim lives, and neither works on it nor is about to write it.
    fn is_given_up(&self, world: &WorldOf<F>, partition: u32, marker: &Marker) -> bool {
        let Some(actor) = world.processes.get(marker.owner.process.0 as usize) else {
            return false;
        };
        let RoleState::Compactor(state) = &actor.role else { return false };
        state.incarnation() == marker.owner.incarnation
            && !state.works_on(marker.plan, partition)
            && state.about_to_claim() != Some((marker.plan, partition))
    }
}

/// Whether a plan was stamped by a clock that is behind: see `fresh_plan`.
fn is_behind(plan: PlanId) -> bool {
    !plan.0.is_multiple_of(10)
}

fn compactors<F: Fleet>(
    world: &WorldOf<F>,
) -> impl Iterator<Item = (&<F::Compactor as surehold::Machine>::State, bool)> {
    world.processes.iter().filter_map(|actor| match &actor.role {
        RoleState::Compactor(state) => Some((&**state, actor.paused)),
        RoleState::Cleaner(_) => None,
    })
}

fn plans_in_hand<F: Fleet>(world: &WorldOf<F>) -> impl Iterator<Item = &Plan> {
    world.processes.iter().filter_map(|actor| match &actor.role {
        RoleState::Cleaner(state) => state.plan_in_hand().map(|plan| &**plan),
        RoleState::Compactor(_) => None,
    })
}

fn markers(store: &Store) -> impl Iterator<Item = (u32, &Marker)> {
    store.markers.iter().map(|((_, partition), visit)| (*partition, &visit.marker))
}

/// What made each complete result.
fn results(store: &Store) -> impl Iterator<Item = Provenance> + '_ {
    store.holdings().filter_map(|h| h.meta.made_by).filter(|by| by.group == GROUP)
}
