//! What a write breaks, judged as it takes effect.

use surehold::compaction::invariant::{Property, double_work, is_done_or_dead, unproven};
use surehold::compaction::object::{BlockId, Body, DeletionMark, Key, MarkReason, Provenance};
use surehold::compaction::plan::Plan;

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::scope::GROUP;
use super::world::{Block, Broken, RoleState, Write};

impl<F: Fleet> Model<F> {
    pub(super) fn breaks(
        &self,
        world: &WorldOf<F>,
        process: Option<u8>,
        write: &Write,
    ) -> Option<Broken> {
        let broken = match (write.key, &write.body) {
            // Either copy: whichever comes first takes the block away from somebody.
            (
                Key::GlobalDeletionMark(id) | Key::DeletionMark(id),
                Some(Body::DeletionMark(mark)),
            ) => self.breaks_marking(world, process, id, *mark),
            (Key::Meta(id), Some(_)) => self.breaks_uploading(world, id),
            (Key::Meta(id) | Key::Chunks(id) | Key::Index(id), None) => {
                breaks_deleting(world.store.blocks.get(&id)?, id, write.key)
            }
            (Key::Plan(key), body) => {
                let there = world.store.plans.get(&key)?;
                let live = self.is_live(world, there);
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
                let live = self.is_live(world, plan);
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

    /// Whether a plan is neither done nor dead. Once something has failed, or an operator has acted, a worker may
    /// prove the last partition of a plan that somebody saw dead: then what was proven since does not count.
    fn is_live(&self, world: &WorldOf<F>, plan: &Plan) -> bool {
        let is_calm = self.is_unharmed(world) && world.operated == 0;
        let proven = |partition| is_calm && self.is_proven(world, plan, partition);
        !is_done_or_dead(plan, |id| world.store.was_stopped(id), proven)
    }

    fn is_proven(&self, world: &WorldOf<F>, plan: &Plan, partition: u32) -> bool {
        let by_result = |by: Provenance| by.plan == plan.id && by.partition == partition;
        self.is_empty(world, plan, partition)
            || world.store.holdings().any(|h| h.meta.made_by.is_some_and(by_result))
    }

    /// Whether a partition of a plan holds no sample.
    fn is_empty(&self, world: &WorldOf<F>, plan: &Plan, partition: u32) -> bool {
        let all = world.store.samples(plan.members(partition));
        self.scope.in_partition(all, partition, plan.count()).is_empty()
    }

    /// A write that lands late has no process any more; its plan is then the one in the bucket, if any.
    pub(super) fn breaks_marking(
        &self,
        world: &WorldOf<F>,
        process: Option<u8>,
        id: BlockId,
        mark: DeletionMark,
    ) -> Option<Broken> {
        let actor = process.map(|process| &world.processes[process as usize]);
        let no_compact = world.store.blocks.get(&id).is_some_and(|block| block.no_compact);
        if no_compact && actor.is_some_and(|actor| actor.no_compact_seen.contains(&id)) {
            let broken = Broken::NoCompactMarked(id);
            return self.judged.contains(&broken.property()).then_some(broken);
        }
        let plan = match mark.because {
            MarkReason::Compacted(plan) => plan,
            MarkReason::Surplus(_) => return self.breaks_surplus(world, id),
        };
        let held = actor.and_then(|actor| match &actor.role {
            RoleState::Cleaner(state) => state.plan_in_hand().filter(|held| held.id == plan),
            RoleState::Compactor(_) => None,
        });
        let plan = held.or_else(|| world.store.plan(plan))?;
        let empty = |partition| self.is_empty(world, plan, partition);
        let partition = unproven(plan, world.store.ever_held(), empty)?;
        Some(Broken::Unproven(id, plan.id, partition))
    }

    /// A surplus result goes only because of a lesser one of the same partition.
    fn breaks_surplus(&self, world: &WorldOf<F>, id: BlockId) -> Option<Broken> {
        let made_by = |id: BlockId| world.store.ever_held().find(|h| h.block == id)?.meta.made_by;
        let mine = made_by(id)?;
        let lesser = world.store.ever_held().any(|h| h.block < id && h.meta.made_by == Some(mine));
        (!lesser).then_some(Broken::Unproven(id, mine.plan, mine.partition))
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

    /// Whether anything happened after which work may be done twice. That a claim was not surely written is
    /// no excuse.
    pub fn is_disturbed(&self, world: &WorldOf<F>) -> bool {
        if self.scope.faults.claims_only {
            return false;
        }
        !self.is_unharmed(world) || world.operated > 0
    }

    /// Whether it is known that no fault has happened. Where faults never run out, none are counted.
    fn is_unharmed(&self, world: &WorldOf<F>) -> bool {
        !self.scope.faults.endless && world.faults_left == self.scope.faults.budget
    }
}

/// A complete block goes only by an old mark, and its meta goes before the rest.
fn breaks_deleting(block: &Block, id: BlockId, key: Key) -> Option<Broken> {
    block.meta.as_ref()?;
    match key {
        Key::Meta(_) => (!block.aged).then_some(Broken::Unripe(id)),
        _ => Some(Broken::DataBeforeMeta(id)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use surehold::Verified;
    use surehold::compaction::object::Meta;

    use super::*;
    use crate::compaction::fleet::Ours;
    use crate::compaction::scopes;
    use crate::part::Part;

    /// No guard can be removed to show it: that a meta comes last is the order of the upload itself.
    #[test]
    fn a_meta_before_its_data_is_noticed() {
        let scope = scopes::all().into_iter().next().expect("there are scopes");
        let model = Model::new(&Ours(Verified), &scope);
        let mut world = model.start();
        let id = BlockId(10_002);
        let uploaded = (**world.store.blocks.get(&BlockId(1)).expect("an early block")).clone();
        let meta = Meta { id, ..(**uploaded.meta.as_ref().expect("it is complete")).clone() };
        let write = Write { key: Key::Meta(id), body: Some(Body::Meta(Arc::new(meta))) };
        for (chunks, index, broken) in [
            (true, false, Some(Broken::MetaBeforeData(id))),
            (false, true, Some(Broken::MetaBeforeData(id))),
            (true, true, None),
        ] {
            let samples = surehold::compaction::invariant::Samples::default();
            let block = Block { chunks, index, meta: None, samples, ..uploaded.clone() };
            world.store.change().blocks.insert(id, Part::new(block));
            assert_eq!(model.breaks(&world, Some(0), &write), broken);
        }
    }
}
