//! Work on one claimed partition: confirm the claim and the plan, merge, upload, complete.

use std::sync::Arc;

use super::super::effect::{Effect, Merge};
use super::super::event::{Input, Merged, Outcome, Refusal, Task};
use super::super::guard::Guard;
use super::super::marker::{Finding, Marker, Status};
use super::super::object::{BlockId, Body, Key, Meta, Prefix, Provenance};
use super::super::plan::Plan;
use super::Turn;
use super::state::{Job, Phase};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn go_on_working(&mut self, slot: u8, outcome: Outcome, input: Input) {
        let Some(job) = self.state.jobs.get(&slot).cloned() else { return };
        match (&job.phase, outcome) {
            (Phase::Settling, Outcome::Elapsed) => {
                let key = self.marker_key(&job.plan, job.partition);
                self.work(slot, job, Phase::Confirming, Effect::Get(key));
            }
            (Phase::Confirming, Outcome::Found(Body::Marker(marker))) => {
                let mine = self.is_mine(&marker);
                self.confirm(slot, job, mine);
            }
            (Phase::Confirming, Outcome::Absent) => self.confirm(slot, job, false),
            (Phase::Rivals, Outcome::Listed(keys)) => self.compare_rivals(slot, job, &keys),
            (Phase::Checking, Outcome::Listed(marks)) => self.check_again(slot, job, &marks),
            (Phase::Merging, Outcome::Merged(Merged::Block { id, index_size_bytes })) => {
                let meta = Arc::new(self.result(&job, id, index_size_bytes));
                let put = Effect::Put(Key::Chunks(id), Body::Data);
                self.work(slot, job, Phase::Chunks(meta), put);
            }
            (Phase::Merging, Outcome::Merged(Merged::Empty)) => {
                self.complete(slot, job, Finding::Empty, input);
            }
            (Phase::Chunks(meta), Outcome::Applied) => {
                let (meta, put) = (Arc::clone(meta), Effect::Put(Key::Index(meta.id), Body::Data));
                self.work(slot, job, Phase::Index(meta), put);
            }
            (Phase::Index(meta), Outcome::Applied) => {
                let meta = Arc::clone(meta);
                let put = Effect::Put(Key::Meta(meta.id), Body::Meta(Arc::clone(&meta)));
                self.work(slot, job, Phase::Meta(meta), put);
            }
            (Phase::Meta(meta), Outcome::Applied) => {
                let id = meta.id;
                self.complete(slot, job, Finding::Result(id), input);
            }
            (Phase::Meta(meta), Outcome::Unknown) => {
                let id = meta.id;
                self.work(slot, job, Phase::Resolving(id), Effect::Get(Key::Meta(id)));
            }
            (Phase::Resolving(id), Outcome::Found(_)) => {
                let id = *id;
                self.complete(slot, job, Finding::Result(id), input);
            }
            // An error, or the completion is written as well as it could be: the job is over. What it
            // left behind expires, and the partition is done again if it has no result.
            (_, _) => self.end(slot),
        }
    }

    fn work(&mut self, slot: u8, job: Job, phase: Phase, effect: Effect) {
        self.state.jobs.insert(slot, Job { phase, ..job });
        self.issue(Task::Job(slot), effect);
    }

    fn end(&mut self, slot: u8) {
        self.state.jobs.remove(&slot);
        self.state.outstanding.forget(Task::Beat(slot));
    }

    fn is_mine(&self, marker: &Marker) -> bool {
        marker.owner == self.state.owner() && marker.status == Status::Pending
    }

    fn confirm(&mut self, slot: u8, job: Job, mine: bool) {
        if self.judge.demands(Guard::OwnClaim, mine) {
            self.work(slot, job, Phase::Rivals, Effect::List(Prefix::Plans));
        } else {
            self.end(slot);
        }
    }

    /// Whoever saw no plan when this one was written has written another by now, and everybody goes by
    /// the least; a plan that is gone is done or void.
    fn compare_rivals(&mut self, slot: u8, job: Job, keys: &[Key]) {
        let mine = self.plan_key(&job.plan);
        if self.judge.demands(Guard::OnePlan, self.least_plan(keys) == Some(mine)) {
            self.work(slot, job, Phase::Checking, Effect::List(Prefix::Marks));
        } else {
            self.end(slot);
        }
    }

    /// The last look before the work.
    fn check_again(&mut self, slot: u8, job: Job, marks: &[Key]) {
        let Some(inputs) = self.inputs(&job.plan, job.partition, marks) else {
            return self.end(slot);
        };
        let plan = Arc::clone(&job.plan);
        let merge = Effect::Merge(Merge { plan, partition: job.partition, inputs });
        self.work(slot, job, Phase::Merging, merge);
    }

    /// What to merge, if the marks allow it. A plan with a marked block is done or void. A block that must
    /// not be compacted is never read; and a partition is merged whole or not at all, since its parents are
    /// let go on the strength of the result.
    pub(super) fn inputs(
        &mut self,
        plan: &Plan,
        partition: u32,
        marks: &[Key],
    ) -> Option<Vec<BlockId>> {
        let parents = plan.parents();
        let fresh = !parents.iter().any(|id| marks.contains(&Key::GlobalDeletionMark(*id)));
        let allowed = |id: &BlockId| !marks.contains(&Key::GlobalNoCompactMark(*id));
        let whole = parents.iter().all(allowed);
        let go_on = self.judge.demands(Guard::MembersFresh, fresh)
            && self.judge.demands(Guard::NoCompactRefused, whole);
        go_on.then(|| plan.members(partition).iter().copied().filter(allowed).collect())
    }

    fn result(&self, job: &Job, id: BlockId, index_size_bytes: u64) -> Meta {
        Meta {
            id,
            min_time_ms: self.limits.range.start_ms,
            max_time_ms: self.limits.range.end_ms,
            index_size_bytes,
            made_by: Some(Provenance {
                group: job.plan.group,
                plan: job.plan.id,
                partition_count: job.plan.count(),
                partition: job.partition,
            }),
        }
    }

    fn complete(&mut self, slot: u8, job: Job, finding: Finding, input: Input) {
        if self.state.outstanding.waits(Task::Beat(slot)) {
            self.state.jobs.insert(slot, Job { phase: Phase::LastBeat(finding), ..job });
            return;
        }
        let key = self.marker_key(&job.plan, job.partition);
        let body = self.marker(&job.plan, job.partition, Status::Completed(finding), input);
        self.work(slot, job, Phase::Completing, Effect::Put(key, body));
    }

    /// A heartbeat: written blindly, as upstream does (dossier 8). What it may overwrite proves nothing.
    pub(super) fn beat(&mut self, slot: u8, input: Input) -> Result<(), Refusal> {
        let ready = self.state.can_beat(slot) && self.state.outstanding.has_room();
        let job = self.state.jobs.get(&slot).filter(|_| ready).cloned();
        let job = job.ok_or(Refusal::NotReady(Task::Beat(slot)))?;
        let key = self.marker_key(&job.plan, job.partition);
        let body = self.marker(&job.plan, job.partition, Status::InProgress, input);
        self.issue(Task::Beat(slot), Effect::Put(key, body));
        Ok(())
    }

    /// However the heartbeat ended, the next one follows; a completion that waited for it is written now.
    pub(super) fn beat_sent(&mut self, slot: u8, input: Input) {
        let Some(job) = self.state.jobs.get(&slot).cloned() else { return };
        if let Phase::LastBeat(finding) = job.phase {
            self.complete(slot, job, finding, input);
        }
    }
}
