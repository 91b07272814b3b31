//! The search for work: a plan, or else marks and blocks to make one; a free partition; a claim.
//!
//! Plans are listed first, so that a bucket with a plan is not listed for its blocks. What a planner
//! misses in between it meets again before it works: see `job`. A plan made from an old listing has a
//! block that is marked by then, or gone, and dies unworked.
//!
//! Marks are listed before blocks (as in upstream's index update, #5457). The other way round, a block
//! that is deleted in between is listed as a block and not as marked, since its mark goes with it, and a
//! plan is made over a block that is not there.
//!
//! An error is not an absence (hole D11, guard `error-is-not-absence`): it ends the cycle, or, of one
//! partition's marker, leaves that partition alone.

use std::sync::Arc;

use super::super::effect::Effect;
use super::super::event::{Input, Outcome, Refusal, Task};
use super::super::guard::Guard;
use super::super::marker::{Finding, Marker, Status};
use super::super::object::{BlockId, Body, Key, Meta, PlanKey, Prefix};
use super::super::plan::{Need, Plan, need, partition_count};
use super::Turn;
use super::state::{Choice, Job, Phase, Search};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn begin_search(&mut self) -> Result<(), Refusal> {
        let free = self.state.jobs.len() < usize::from(self.limits.concurrency);
        let ready = self.state.search == Search::Idle && self.state.outstanding.has_room();
        if !ready || !free {
            return Err(Refusal::NotReady(Task::Cycle));
        }
        self.search(Search::Plans, Effect::List(Prefix::Plans));
        Ok(())
    }

    /// Moves the search on, and issues what it waits for.
    fn search(&mut self, next: Search, effect: Effect) {
        self.state.search = next;
        self.issue(Task::Cycle, effect);
    }

    pub(super) fn go_on_searching(&mut self, outcome: Outcome, input: Input) {
        // Unless something below moves it on, the cycle ends here.
        match (std::mem::replace(&mut self.state.search, Search::Idle), outcome) {
            (Search::Plans, Outcome::Listed(keys)) => self.choose_plan(&keys),
            (Search::Barred, Outcome::Listed(marks)) => self.list_blocks(barred_by(&marks)),
            (Search::Blocks(barred), Outcome::Listed(keys)) => {
                let mut unread = blocks_in(&keys);
                unread.retain(|id| !barred.contains(id));
                self.read_metas(Vec::new(), unread, input);
            }
            (Search::Metas { mut metas, mut unread }, outcome) => {
                match outcome {
                    Outcome::Found(Body::Meta(meta)) if self.limits.range.covers(&meta) => {
                        metas.push(meta);
                    }
                    Outcome::Found(_) | Outcome::Absent => {}
                    _ => return,
                }
                unread.remove(0);
                self.read_metas(metas, unread, input);
            }
            (Search::Marks { metas }, Outcome::Listed(marks)) => {
                let barred = barred_by(&marks);
                let free = metas.into_iter().filter(|meta| !barred.contains(&meta.id)).collect();
                self.make_plan(free, input);
            }
            // Somebody else may have written one too: the least counts.
            (Search::Planning, Outcome::Applied) => {
                self.search(Search::Plans, Effect::List(Prefix::Plans));
            }
            (Search::Reading(_), Outcome::Found(Body::Plan(plan))) => {
                self.search(Search::Checking(plan), Effect::List(Prefix::Marks));
            }
            (Search::Checking(plan), Outcome::Listed(marks)) => self.check(plan, &marks, input),
            (Search::Looking(choice), Outcome::Absent) => self.claim(choice, input),
            (Search::Looking(choice), Outcome::Found(Body::Marker(marker))) => {
                if self.is_free(&marker, input) {
                    self.claim(choice, input);
                } else {
                    self.look_further(choice, input);
                }
            }
            (Search::Looking(choice), _) => self.look_further(choice, input),
            (Search::Claiming(choice), outcome) => self.claimed(choice, &outcome, input),
            // Errors, and a plan that is gone or a write of unknown effect: the next cycle looks again.
            (_, _) => {}
        }
    }

    fn choose_plan(&mut self, keys: &[Key]) {
        if keys.len() > 1 {
            // Plans that would lie on one path, one over the other.
            self.judge.applies(Guard::PlanPathId);
        }
        match self.least_plan(keys) {
            Some(least) => self.read_plan(least),
            None if self.judge.applies(Guard::MarksBeforeBlocks) => {
                self.search(Search::Barred, Effect::List(Prefix::Marks));
            }
            None => self.list_blocks(Vec::new()),
        }
    }

    fn list_blocks(&mut self, barred: Vec<BlockId>) {
        self.search(Search::Blocks(barred), Effect::List(Prefix::Blocks));
    }

    fn read_metas(&mut self, metas: Vec<Arc<Meta>>, unread: Vec<BlockId>, input: Input) {
        if let Some(&next) = unread.first() {
            self.search(Search::Metas { metas, unread }, Effect::Get(Key::Meta(next)));
        } else if self.judge.keeps(Guard::MarksBeforeBlocks) {
            self.make_plan(metas, input);
        } else {
            self.search(Search::Marks { metas }, Effect::List(Prefix::Marks));
        }
    }

    /// The least plan of this group.
    pub(super) fn least_plan(&self, keys: &[Key]) -> Option<PlanKey> {
        let group = self.limits.range.group;
        keys.iter().find_map(|key| match key {
            Key::Plan(plan) if plan.group == group => Some(*plan),
            _ => None,
        })
    }

    /// No plan exists: makes one, if there is something to merge.
    fn make_plan(&mut self, compactable: Vec<Arc<Meta>>, input: Input) {
        let wanted = match need(self.limits.range.group, &compactable) {
            Need::Nothing => false,
            Need::NewBlocks => true,
            Need::Twins => self.judge.applies(Guard::TwinsMerge),
        };
        if !wanted {
            return;
        }
        let total =
            compactable.iter().map(|meta| meta.index_size_bytes).fold(0, u64::saturating_add);
        let plan = Arc::new(Plan::split(
            super::super::object::PlanId(input.fresh),
            self.limits.range.group,
            input.now_ms / 1000,
            partition_count(total, self.limits.partition_index_size_bytes),
            compactable.iter(),
        ));
        let key = Key::Plan(self.plan_key(&plan));
        let body = Body::Plan(Arc::clone(&plan));
        self.search(Search::Planning, Effect::Put(key, body));
    }

    fn read_plan(&mut self, key: PlanKey) {
        self.search(Search::Reading(key), Effect::Get(Key::Plan(key)));
    }

    /// Saves a claim on a plan that is done or void: the same question as just before the work.
    fn check(&mut self, plan: Arc<Plan>, marks: &[Key], input: Input) {
        let count = plan.count();
        if count > 0 && self.inputs(&plan, 0, marks).is_some() {
            let partition = input.pick % count;
            self.look(Choice { plan, partition, left: count - 1 }, input);
        }
    }

    fn look(&mut self, choice: Choice, input: Input) {
        let empty = choice.plan.members(choice.partition).is_empty();
        if !empty {
            let key = self.marker_key(&choice.plan, choice.partition);
            self.search(Search::Looking(choice), Effect::Get(key));
        } else if self.judge.applies(Guard::EmptyDerived) {
            self.look_further(choice, input);
        } else {
            // Upstream's way (dossier 3, G7): written down, unread, by whoever comes across it.
            let key = self.marker_key(&choice.plan, choice.partition);
            let done = Status::Completed(Finding::Empty);
            let body = self.marker(&choice.plan, choice.partition, done, input);
            self.search(Search::Claiming(choice), Effect::Put(key, body));
        }
    }

    fn look_further(&mut self, choice: Choice, input: Input) {
        if choice.left > 0 {
            let partition = (choice.partition + 1) % choice.plan.count();
            self.look(Choice { partition, left: choice.left - 1, ..choice }, input);
        }
    }

    fn is_free(&mut self, marker: &Marker, input: Input) -> bool {
        if marker.is_completed() && self.judge.applies(Guard::CompletedFinal) {
            return false;
        }
        let expired = marker.is_expired(input.now_ms, self.limits.claim_timeout_ms);
        self.judge.demands(Guard::LookBeforeClaim, expired)
    }

    fn claim(&mut self, choice: Choice, input: Input) {
        let key = self.marker_key(&choice.plan, choice.partition);
        let body = self.marker(&choice.plan, choice.partition, Status::Pending, input);
        self.search(Search::Claiming(choice), Effect::Put(key, body));
    }

    /// Whether a claim was written is told by reading it back (hole D5); only one that surely was not needs no reading.
    fn claimed(&mut self, choice: Choice, outcome: &Outcome, input: Input) {
        if choice.plan.members(choice.partition).is_empty() {
            return self.look_further(choice, input);
        }
        if *outcome == Outcome::Failed {
            return;
        }
        let slots = 0..self.limits.concurrency;
        let Some(slot) = slots.clone().find(|slot| !self.state.jobs.contains_key(slot)) else {
            return;
        };
        let job = Job {
            plan: Arc::clone(&choice.plan),
            partition: choice.partition,
            phase: Phase::Settling,
        };
        let wait = self.wait_after(self.marker_key(&choice.plan, choice.partition));
        self.state.jobs.insert(slot, job);
        self.issue(Task::Job(slot), wait);
        if self.state.jobs.len() < slots.len() {
            self.look_further(choice, input);
        }
    }
}

/// The blocks that carry either mark.
fn barred_by(marks: &[Key]) -> Vec<BlockId> {
    let barred = |key: &Key| match key {
        Key::GlobalDeletionMark(id) | Key::GlobalNoCompactMark(id) => Some(*id),
        _ => None,
    };
    marks.iter().filter_map(barred).collect()
}

/// The blocks whose meta is listed.
pub(crate) fn blocks_in(keys: &[Key]) -> Vec<BlockId> {
    let meta = |key: &Key| if let Key::Meta(id) = key { Some(*id) } else { None };
    keys.iter().filter_map(meta).collect()
}
