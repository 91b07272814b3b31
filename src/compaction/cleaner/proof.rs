//! The question that matters: may the parents of this plan be let go?

use super::super::guard::Guard;
use super::super::marker::Finding;
use super::super::object::{BlockId, MarkReason, Meta};
use super::super::plan::Plan;
use super::state::{Case, Evidence, Look};
use super::{Marks, Turn};
use crate::guard::Guards;

/// What to do with a plan.
pub(super) enum Verdict {
    /// Some partition is not proven yet.
    Unfinished,
    /// It cannot be finished.
    Dead,
    /// Every partition is proven: these are still to be marked.
    Complete(Marks),
}

impl Evidence {
    /// Notes a block if it is a result of this plan.
    pub(super) fn take_meta(&mut self, plan: &Plan, meta: &Meta) {
        let made_by = meta.made_by.filter(|made_by| made_by.plan == plan.id);
        if let Some(made_by) = made_by {
            self.results.push((made_by.partition, meta.id));
            self.results.sort_unstable();
        }
    }

    fn results_of(&self, partition: u32) -> impl Iterator<Item = BlockId> {
        self.results.iter().filter(move |(p, _)| *p == partition).map(|(_, id)| *id)
    }

    pub(super) fn has_result(&self, partition: u32) -> bool {
        self.results_of(partition).next().is_some()
    }

    fn said_of(&self, partition: u32) -> Option<Finding> {
        self.said.iter().find(|(p, _)| *p == partition).map(|(_, finding)| *finding)
    }
}

impl<V: Guards<Guard>> Turn<'_, V> {
    /// Partitions of which a marker has to be read: those that no block proves.
    pub(super) fn partitions_to_ask(&self, case: &Case, evidence: &Evidence) -> Vec<u32> {
        let by_marker = !self.judge.keeps(Guard::LeastSurvives);
        let derived = self.judge.keeps(Guard::EmptyDerived);
        let ask = |partition: &u32| match evidence.results_of(*partition).count() {
            0 => !(derived && case.plan.members(*partition).is_empty()),
            1 => false,
            _ => by_marker,
        };
        (0..case.plan.count()).filter(ask).collect()
    }

    pub(super) fn verdict(&mut self, case: &Case, look: &Look, evidence: &Evidence) -> Verdict {
        let parents = case.plan.parents();
        let proven = (0..case.plan.count()).filter(|p| self.is_proven(case, *p, evidence)).count();
        let all = proven == case.plan.partitions.len();
        let enough = all || (proven > 0 && self.judge.demands(Guard::AllPartitions, false));
        if enough {
            return Verdict::Complete(self.marks_due(case, &parents, look, evidence));
        }
        let stopped = |id| look.deleted.contains(id) || look.no_compact.contains(id);
        if parents.iter().any(stopped) && self.judge.applies(Guard::DeadPlansGo) {
            return Verdict::Dead;
        }
        Verdict::Unfinished
    }

    fn is_proven(&mut self, case: &Case, partition: u32, evidence: &Evidence) -> bool {
        evidence.has_result(partition)
            || evidence.said_of(partition).is_some()
            || (case.plan.members(partition).is_empty() && self.judge.applies(Guard::EmptyDerived))
    }

    /// Parents, and results beside the one that is kept, that carry no mark yet.
    fn marks_due(
        &mut self,
        case: &Case,
        parents: &[BlockId],
        look: &Look,
        evidence: &Evidence,
    ) -> Marks {
        let plan = case.plan.id;
        let mut marks: Marks =
            parents.iter().map(|id| (*id, MarkReason::Compacted(plan))).collect();
        for partition in 0..case.plan.count() {
            let kept = self.kept(partition, evidence);
            let surplus = evidence.results_of(partition).filter(|id| Some(*id) != kept);
            marks.extend(surplus.map(|id| (id, MarkReason::Surplus(plan))));
        }
        marks.retain(|(id, _)| {
            !look.deleted.contains(id)
                && self.judge.demands(Guard::NoCompactUnmarked, !look.no_compact.contains(id))
        });
        marks
    }

    /// Which result of a partition stays: the least. A marker could name one result to one cleaner and
    /// another to the next, and both would go.
    fn kept(&mut self, partition: u32, evidence: &Evidence) -> Option<BlockId> {
        let least = evidence.results_of(partition).next();
        if evidence.results_of(partition).count() < 2 || self.judge.applies(Guard::LeastSurvives) {
            return least;
        }
        match evidence.said_of(partition) {
            Some(Finding::Result(named)) => Some(named),
            Some(Finding::Empty) | None => least,
        }
    }
}
