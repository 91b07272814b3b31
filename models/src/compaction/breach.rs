//! What a write breaks, judged as it takes effect.

use surehold::compaction::invariant::{Property, double_work, is_done_or_dead, unproven};
use surehold::compaction::object::{BlockId, Body, DeletionMark, Key, MarkReason};

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::scope::GROUP;
use super::world::{Broken, RoleState, Write};

impl<F: Fleet> Model<F> {
    pub(super) fn breaks(
        &self,
        world: &WorldOf<F>,
        process: Option<u8>,
        write: &Write,
    ) -> Option<Broken> {
        let broken = match (write.key, &write.body) {
            (Key::GlobalDeletionMark(id), Some(Body::DeletionMark(mark))) => {
                self.breaks_marking(world, process?, id, *mark)
            }
            (Key::Meta(id), Some(_)) => self.breaks_uploading(world, id),
            (Key::Plan(key), body) => {
                let there = world.store.plans.get(&key)?;
                let live = !is_done_or_dead(there, |id| world.store.was_stopped(id));
                match body {
                    None if live => Some(Broken::PlanDeleted(there.id)),
                    Some(Body::Plan(new)) if live && new.id != there.id => {
                        Some(Broken::PlanOverwritten(there.id, new.id))
                    }
                    _ => None,
                }
            }
            (Key::Marker(key, partition), None) => {
                let marker = world.store.markers.get(&(key, partition))?.marker;
                let plan = world.store.plan(marker.plan)?;
                let live = !is_done_or_dead(plan, |id| world.store.was_stopped(id));
                live.then_some(Broken::MarkerDeleted(plan.id, partition))
            }
            (_, _) => None,
        };
        let noted = |broken: &Broken| {
            self.judged.contains(&broken.property())
                || (self.lenient_dup && broken.property() == Property::NoDoubleWork)
        };
        broken.filter(noted)
    }

    pub(super) fn breaks_marking(
        &self,
        world: &WorldOf<F>,
        process: u8,
        id: BlockId,
        mark: DeletionMark,
    ) -> Option<Broken> {
        let actor = &world.processes[process as usize];
        let RoleState::Cleaner(state) = &actor.role else { return None };
        let no_compact = world.store.blocks.get(&id).is_some_and(|block| block.no_compact);
        if no_compact && actor.no_compact_at_start.contains(&id) {
            let broken = Broken::NoCompactMarked(id);
            return self.judged.contains(&broken.property()).then_some(broken);
        }
        let MarkReason::Compacted(plan) = mark.because else { return None };
        let plan = state.plan_in_hand().filter(|held| held.id == plan)?;
        let empty = |partition| {
            let all = world.store.samples(plan.members(partition));
            self.scope.in_partition(all, partition, plan.count()).is_empty()
        };
        let partition = unproven(plan, world.store.holdings(), empty)?;
        Some(Broken::Unproven(id, plan.id, partition))
    }

    pub(super) fn breaks_uploading(&self, world: &WorldOf<F>, id: BlockId) -> Option<Broken> {
        let block = world.store.blocks.get(&id)?;
        if !(block.chunks && block.index) {
            return Some(Broken::MetaBeforeData(id));
        }
        if (self.is_disturbed(world) && !self.lenient_dup) || block.meta.is_some() {
            return None;
        }
        let inputs: Vec<_> =
            block.inputs.iter().map(|input| (*input, world.store.samples(&[*input]))).collect();
        let results = world.store.holdings().filter(|other| other.meta.made_by.is_some());
        let others = results.filter(|other| other.meta.made_by.is_some_and(|m| m.group == GROUP));
        let others = others.map(|other| (other.block, other.samples));
        let twice = double_work(block.samples, &inputs, &block.ancestors, others)?;
        Some(Broken::DoubleWork(id, twice))
    }

    /// Whether anything happened after which work may be done twice.
    pub fn is_disturbed(&self, world: &WorldOf<F>) -> bool {
        world.faults_left < self.scope.faults.budget || world.operated > 0
    }
}
