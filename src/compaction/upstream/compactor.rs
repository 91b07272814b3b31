//! Upstream's compactor: sync, group, pick, plan, work (dossier 3).

use std::sync::Arc;

use super::super::compactor::search::blocks_in;
use super::super::compactor::{Durable, Limits};
use super::super::effect::{Effect, Merge, Wait};
use super::super::event::{Event, Input, Merged, Outcome, Outstanding, Refusal, Task};
use super::super::guard::Guard;
use super::super::marker::{Finding, Marker, Owner, Status};
use super::super::object::{
    BlockId, Body, Key, Meta, PlanId, PlanKey, Prefix, ProcessId, Provenance,
};
use super::super::plan::{Plan, partition_count};
use super::Release;
use super::status::{Inquiry, Progress, Rules, begin};
use crate::collections::Table;
use crate::machine::{Issued, Machine, Step, Stepped};

/// Upstream's compactor at some release.
#[derive(Clone, Debug)]
pub struct Compactor {
    limits: Limits,
    release: Release,
}

impl Compactor {
    /// A compactor of this release.
    #[must_use]
    pub fn new(limits: Limits, release: Release) -> Self {
        Self { limits, release }
    }
}

/// What it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CompactorState {
    process: ProcessId,
    outstanding: Outstanding,
    search: Search,
    jobs: Table<u8, Job>,
}

impl CompactorState {
    /// Who it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { process: self.process, incarnation: self.outstanding.incarnation() }
    }

    /// Where its search for work is.
    #[must_use]
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// Its jobs by slot.
    pub fn jobs(&self) -> impl Iterator<Item = (u8, &Job)> {
        self.jobs.iter().map(|(slot, job)| (*slot, job))
    }

    /// The check whose answer it waits for, in words: what may turn it away next.
    #[must_use]
    pub fn check(&self) -> Option<&'static str> {
        let job = self.jobs.iter().find_map(|(_, job)| job.phase.check());
        job.or(match &self.search {
            Search::Status(..) => Some("the group's status: is it completed? (dossier 6)"),
            Search::Picking(..) => Some("the partition's marker: is it visited? (G8)"),
            Search::PickingPlan(..) => Some("the plan's presence (G8, #7082)"),
            Search::Idle
            | Search::Blocks
            | Search::Sync { .. }
            | Search::Plans(_)
            | Search::Loading(_)
            | Search::Generating(_)
            | Search::Writing(..)
            | Search::Empty { .. }
            | Search::Claiming(..) => None,
        })
    }

    /// Whether a heartbeat of this job may be sent now.
    #[must_use]
    pub fn can_beat(&self, slot: u8) -> bool {
        self.jobs.get(&slot).is_some_and(|job| job.phase.beats())
            && !self.outstanding.waits(Task::Beat(slot))
    }
}

/// One cycle, from the listing of blocks to the claims.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Search {
    /// No cycle is running.
    Idle,
    /// S1: listing the blocks.
    Blocks,
    /// S2, S3: reading meta, deletion mark and no-compact mark of the first of these.
    Sync {
        /// Blocks kept so far.
        metas: Vec<Arc<Meta>>,
        /// Objects still to read; the first is being read.
        unread: Vec<Key>,
    },
    /// G3: listing plans.
    Plans(Vec<Arc<Meta>>),
    /// G3: reading the group's plan.
    Loading(Vec<Arc<Meta>>),
    /// G4: the loaded plan's status.
    Status(Vec<BlockId>, Arc<Plan>, Inquiry),
    /// G5: reading the plan once more, before one is written over it.
    Generating(Vec<Arc<Meta>>),
    /// G5: writing a plan.
    Writing(Vec<BlockId>, Arc<Plan>),
    /// G7: writing that the first of these partitions, which lists no block, is completed.
    Empty {
        /// The plan.
        plan: Arc<Plan>,
        /// Empty partitions.
        empty: Vec<u32>,
        /// Partitions to pick from.
        jobs: Vec<u32>,
    },
    /// G8: reading the marker of the first of these partitions.
    Picking(Arc<Plan>, Vec<u32>),
    /// G8, #7082: reading the plan.
    PickingPlan(Arc<Plan>, Vec<u32>),
    /// G8: writing the claim.
    Claiming(Arc<Plan>, Vec<u32>),
}

/// Work on one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Job {
    /// The plan in memory.
    pub plan: Arc<Plan>,
    /// The partition.
    pub partition: u32,
    /// How far it is.
    pub phase: Phase,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Phase {
    /// P1.
    Waiting,
    /// P2: reading the marker.
    Confirming,
    /// P3: reading the plan.
    Version,
    /// P5: reading deletion marks, the first of these.
    Members(Vec<BlockId>),
    /// P5: writing that the partition failed.
    Failing,
    /// W2.
    Merging,
    /// W4: chunks.
    Chunks(Arc<Meta>),
    /// W4: index.
    Index(Arc<Meta>),
    /// W4: meta.
    Meta(Arc<Meta>),
    /// W6, waiting for the heartbeat under way.
    LastBeat(Status),
    /// W6: writing the result of the work into the marker.
    Ending,
}

impl Phase {
    /// The check whose answer the job waits for, in words.
    fn check(&self) -> Option<&'static str> {
        match self {
            Self::Confirming => Some("the partition's marker: is it its own? (P2)"),
            Self::Version => Some("the plan's version: its creation second (P3, #7082)"),
            Self::Members(_) => Some("the members' deletion marks (P5, #7391)"),
            Self::Waiting
            | Self::Failing
            | Self::Merging
            | Self::Chunks(_)
            | Self::Index(_)
            | Self::Meta(_)
            | Self::LastBeat(_)
            | Self::Ending => None,
        }
    }

    fn beats(&self) -> bool {
        matches!(self, Self::Merging | Self::Chunks(_) | Self::Index(_) | Self::Meta(_))
    }
}

impl Machine for Compactor {
    type State = CompactorState;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &CompactorState, event: Event) -> Stepped<Self> {
        let mut turn = Turn { role: self, state: state.clone(), effects: Vec::new() };
        match event {
            Event::Continue { task: Task::Cycle, .. } => turn.begin_cycle()?,
            Event::Continue { task: Task::Beat(slot), input } => turn.beat(slot, input)?,
            Event::Continue { task: task @ Task::Job(_), .. } => {
                return Err(Refusal::NotReady(task));
            }
            Event::Outcome { id, outcome, input } => {
                match turn.state.outstanding.settle(id, &outcome)? {
                    Some(Task::Cycle) => turn.cycle(outcome, input),
                    Some(Task::Job(slot)) => turn.job(slot, &outcome, input),
                    Some(Task::Beat(slot)) => turn.beat_sent(slot, input),
                    None => {}
                }
            }
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: Vec::new() })
    }

    fn recover(&self, durable: Durable) -> CompactorState {
        CompactorState {
            process: durable.process,
            outstanding: Outstanding::none(durable.incarnation),
            search: Search::Idle,
            jobs: Table::new(),
        }
    }
}

struct Turn<'a> {
    role: &'a Compactor,
    state: CompactorState,
    effects: Vec<Issued<Effect>>,
}

impl Turn<'_> {
    fn issue(&mut self, task: Task, effect: Effect) {
        let issued = self.state.outstanding.issue(task, effect);
        self.effects.push(issued);
    }

    fn search(&mut self, next: Search, effect: Effect) {
        self.state.search = next;
        self.issue(Task::Cycle, effect);
    }

    fn key(&self) -> PlanKey {
        PlanKey { group: self.role.limits.range.group, plan: None }
    }

    fn rules(&self) -> Rules {
        let timeout_ms = self.role.limits.claim_timeout_ms;
        Rules { release: self.role.release, timeout_ms, parents: false }
    }

    fn marker(
        &self,
        plan: &Plan,
        partition: u32,
        status: Status,
        dated: bool,
        input: Input,
    ) -> Body {
        Body::Marker(Marker {
            owner: self.state.owner(),
            status,
            plan: plan.id,
            plan_created_s: (dated && self.role.release.dates_markers()).then_some(plan.created_s),
            partition,
            visited_ms: input.now_ms,
        })
    }

    fn begin_cycle(&mut self) -> Result<(), Refusal> {
        let free = self.state.jobs.len() < usize::from(self.role.limits.concurrency);
        if self.state.search != Search::Idle || !free {
            return Err(Refusal::NotReady(Task::Cycle));
        }
        self.search(Search::Blocks, Effect::List(Prefix::Blocks));
        Ok(())
    }

    fn cycle(&mut self, outcome: Outcome, input: Input) {
        // Unless something below moves it on, the cycle ends here.
        match (std::mem::replace(&mut self.state.search, Search::Idle), outcome) {
            (Search::Blocks, Outcome::Listed(keys)) => {
                let of = |id| [Key::Meta(id), Key::DeletionMark(id), Key::NoCompactMark(id)];
                let unread = blocks_in(&keys).into_iter().flat_map(of).collect();
                self.sync(Vec::new(), unread);
            }
            (Search::Sync { metas, unread }, outcome) => self.synced(metas, unread, outcome),
            (Search::Plans(metas), Outcome::Listed(keys)) => {
                let key = Key::Plan(self.key());
                if keys.contains(&key) {
                    self.search(Search::Loading(metas), Effect::Get(key));
                } else {
                    self.generate(metas);
                }
            }
            (Search::Loading(metas), Outcome::Found(Body::Plan(plan))) => {
                let progress = begin(self.key(), &plan, self.rules());
                self.status(ids(&metas), plan, progress, input);
            }
            (Search::Status(synced, plan, inquiry), outcome) => {
                let progress = inquiry.go_on(self.key(), &plan, self.rules(), &outcome, input);
                self.status(synced, plan, progress, input);
            }
            (Search::Generating(metas), Outcome::Found(Body::Plan(plan))) => {
                self.make_jobs(&ids(&metas), plan, input);
            }
            // Any error is taken for an absence, on purpose (hole D11). The stamp is taken here.
            (Search::Generating(metas), _) => self.write_plan(&metas, input),
            (Search::Writing(synced, plan), Outcome::Applied) => {
                self.make_jobs(&synced, plan, input);
            }
            (Search::Empty { plan, mut empty, jobs }, _) => {
                empty.remove(0);
                self.write_empty(plan, empty, jobs, input);
            }
            (Search::Picking(plan, jobs), outcome) => self.pick(plan, jobs, &outcome, input),
            (Search::PickingPlan(plan, jobs), Outcome::Found(_)) => self.claim(plan, jobs, input),
            (Search::PickingPlan(plan, mut jobs), _) => {
                jobs.remove(0);
                self.look(plan, jobs);
            }
            // A failed claim is only logged (hole D5).
            (Search::Claiming(plan, jobs), _) => self.claimed(plan, jobs),
            (_, _) => {}
        }
    }

    fn sync(&mut self, metas: Vec<Arc<Meta>>, unread: Vec<Key>) {
        match unread.first() {
            Some(&key) => self.search(Search::Sync { metas, unread }, Effect::Get(key)),
            None => self.search(Search::Plans(metas), Effect::List(Prefix::Plans)),
        }
    }

    fn synced(&mut self, mut metas: Vec<Arc<Meta>>, mut unread: Vec<Key>, outcome: Outcome) {
        let key = unread.remove(0);
        match (key, outcome) {
            (_, Outcome::Failed) => return,
            (Key::Meta(_), Outcome::Found(Body::Meta(meta))) => {
                if self.role.limits.range.covers(&meta) {
                    metas.push(meta);
                }
            }
            (Key::DeletionMark(id) | Key::NoCompactMark(id), Outcome::Found(_)) => {
                metas.retain(|meta| meta.id != id);
            }
            (_, _) => {}
        }
        self.sync(metas, unread);
    }

    fn status(&mut self, synced: Vec<BlockId>, plan: Arc<Plan>, progress: Progress, input: Input) {
        match progress {
            Progress::Ask(inquiry, effect) => {
                self.search(Search::Status(synced, plan, inquiry), effect);
            }
            Progress::Done(status) if status.completed => {}
            Progress::Done(_) => self.make_jobs(&synced, plan, input),
        }
    }

    /// Rules 2, 5 and 6: at least two blocks, and one that is not a result of this group.
    fn generate(&mut self, metas: Vec<Arc<Meta>>) {
        let group = self.role.limits.range.group;
        let new = |m: &Arc<Meta>| m.made_by.is_none_or(|made_by| made_by.group != group);
        if metas.len() > 1 && metas.iter().any(new) {
            let key = Key::Plan(self.key());
            self.search(Search::Generating(metas), Effect::Get(key));
        }
    }

    fn write_plan(&mut self, metas: &[Arc<Meta>], input: Input) {
        let limits = &self.role.limits;
        let total = metas.iter().map(|meta| meta.index_size_bytes).fold(0, u64::saturating_add);
        let plan = Arc::new(Plan::split(
            PlanId(input.fresh),
            limits.range.group,
            input.now_ms / 1000,
            partition_count(total, limits.partition_index_size_bytes),
            metas.iter(),
        ));
        let put = Effect::Put(Key::Plan(self.key()), Body::Plan(Arc::clone(&plan)));
        self.search(Search::Writing(ids(metas), plan), put);
    }

    /// G7: partitions in some order; one that lists a block not known from the sync is skipped.
    fn make_jobs(&mut self, synced: &[BlockId], plan: Arc<Plan>, input: Input) {
        let count = plan.count();
        let order = (0..count).map(|i| (input.pick % count + i) % count);
        let (empty, full): (Vec<_>, Vec<_>) = order.partition(|p| plan.members(*p).is_empty());
        let known = |p: &u32| plan.members(*p).iter().all(|id| synced.contains(id));
        let jobs = full.into_iter().filter(known).collect();
        self.write_empty(plan, empty, jobs, input);
    }

    /// Blind, and without a creation second (hole D1).
    fn write_empty(&mut self, plan: Arc<Plan>, empty: Vec<u32>, jobs: Vec<u32>, input: Input) {
        let Some(&partition) = empty.first() else { return self.look(plan, jobs) };
        let done = Status::Completed(Finding::Empty);
        let body = self.marker(&plan, partition, done, false, input);
        let put = Effect::Put(Key::Marker(self.key(), partition), body);
        self.search(Search::Empty { plan, empty, jobs }, put);
    }

    fn look(&mut self, plan: Arc<Plan>, jobs: Vec<u32>) {
        if let Some(&partition) = jobs.first() {
            let key = Key::Marker(self.key(), partition);
            self.search(Search::Picking(plan, jobs), Effect::Get(key));
        }
    }

    fn pick(&mut self, plan: Arc<Plan>, mut jobs: Vec<u32>, outcome: &Outcome, input: Input) {
        let timeout_ms = self.role.limits.claim_timeout_ms;
        let free = match outcome {
            Outcome::Absent => true,
            Outcome::Found(Body::Marker(marker)) => {
                !marker.is_completed() && marker.is_expired(input.now_ms, timeout_ms)
            }
            _ => false,
        };
        if !free {
            jobs.remove(0);
            self.look(plan, jobs);
        } else if self.role.release.checks_version() {
            let key = Key::Plan(self.key());
            self.search(Search::PickingPlan(plan, jobs), Effect::Get(key));
        } else {
            self.claim(plan, jobs, input);
        }
    }

    fn claim(&mut self, plan: Arc<Plan>, jobs: Vec<u32>, input: Input) {
        let body = self.marker(&plan, jobs[0], Status::Pending, true, input);
        let put = Effect::Put(Key::Marker(self.key(), jobs[0]), body);
        self.search(Search::Claiming(plan, jobs), put);
    }

    fn claimed(&mut self, plan: Arc<Plan>, mut jobs: Vec<u32>) {
        let partition = jobs.remove(0);
        let slots = 0..self.role.limits.concurrency;
        let Some(slot) = slots.clone().find(|slot| !self.state.jobs.contains_key(slot)) else {
            return;
        };
        let wait = Wait {
            delay_ms: self.role.limits.settle_delay_ms,
            after: Key::Marker(self.key(), partition),
        };
        let job = Job { plan: Arc::clone(&plan), partition, phase: Phase::Waiting };
        self.work(slot, job, Phase::Waiting, Effect::Wait(wait));
        if self.state.jobs.len() < slots.len() {
            self.look(plan, jobs);
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

    fn job(&mut self, slot: u8, outcome: &Outcome, input: Input) {
        let Some(job) = self.state.jobs.get(&slot).cloned() else { return };
        match (job.phase.clone(), outcome) {
            (Phase::Waiting, Outcome::Elapsed) => {
                let key = Key::Marker(self.key(), job.partition);
                self.work(slot, job, Phase::Confirming, Effect::Get(key));
            }
            (Phase::Confirming, Outcome::Found(Body::Marker(marker))) => {
                if self.is_mine(marker, input) {
                    self.check_version(slot, job);
                } else {
                    self.end(slot);
                }
            }
            // A missing marker is accepted (hole D5).
            (Phase::Confirming, Outcome::Absent) => self.check_version(slot, job),
            (Phase::Version, Outcome::Found(Body::Plan(plan)))
                if plan.created_s == job.plan.created_s =>
            {
                self.check_members(slot, job);
            }
            (Phase::Members(mut unread), Outcome::Absent) => {
                unread.remove(0);
                self.read_member(slot, job, unread);
            }
            (Phase::Members(_), _) => {
                let body = self.marker(&job.plan, job.partition, Status::Failed, true, input);
                let put = Effect::Put(Key::Marker(self.key(), job.partition), body);
                self.work(slot, job, Phase::Failing, put);
            }
            (Phase::Merging, Outcome::Merged(Merged::Block { id, index_size_bytes })) => {
                let meta = Arc::new(self.result(&job, *id, *index_size_bytes));
                let put = Effect::Put(Key::Chunks(*id), Body::Data);
                self.work(slot, job, Phase::Chunks(meta), put);
            }
            (Phase::Merging, Outcome::Merged(Merged::Empty)) => {
                self.finish(slot, job, Status::Completed(Finding::Empty), input);
            }
            (Phase::Chunks(meta), Outcome::Applied) => {
                let put = Effect::Put(Key::Index(meta.id), Body::Data);
                self.work(slot, job, Phase::Index(meta), put);
            }
            (Phase::Index(meta), Outcome::Applied) => {
                let put = Effect::Put(Key::Meta(meta.id), Body::Meta(Arc::clone(&meta)));
                self.work(slot, job, Phase::Meta(meta), put);
            }
            (Phase::Meta(meta), Outcome::Applied) => {
                self.finish(slot, job, Status::Completed(Finding::Result(meta.id)), input);
            }
            // A merge that fails halts the partition, an upload that fails gives it back (W6).
            (Phase::Merging, _) => self.finish(slot, job, Status::Failed, input),
            (Phase::Chunks(_) | Phase::Index(_) | Phase::Meta(_), _) => {
                self.finish(slot, job, Status::Pending, input);
            }
            (_, _) => self.end(slot),
        }
    }

    fn is_mine(&self, marker: &Marker, input: Input) -> bool {
        marker.owner.process == self.state.process
            && marker.status == Status::Pending
            && !marker.is_expired(input.now_ms, self.role.limits.claim_timeout_ms)
    }

    fn check_version(&mut self, slot: u8, job: Job) {
        if self.role.release.checks_version() {
            let get = Effect::Get(Key::Plan(self.key()));
            self.work(slot, job, Phase::Version, get);
        } else {
            self.check_members(slot, job);
        }
    }

    fn check_members(&mut self, slot: u8, job: Job) {
        let members = if self.role.release.checks_members() {
            job.plan.members(job.partition).to_vec()
        } else {
            Vec::new()
        };
        self.read_member(slot, job, members);
    }

    fn read_member(&mut self, slot: u8, job: Job, unread: Vec<BlockId>) {
        if let Some(&id) = unread.first() {
            let get = Effect::Get(Key::DeletionMark(id));
            return self.work(slot, job, Phase::Members(unread), get);
        }
        let merge = Effect::Merge(Merge {
            plan: Arc::clone(&job.plan),
            partition: job.partition,
            inputs: job.plan.members(job.partition).to_vec(),
        });
        self.work(slot, job, Phase::Merging, merge);
    }

    fn result(&self, job: &Job, id: BlockId, index_size_bytes: u64) -> Meta {
        let range = &self.role.limits.range;
        Meta {
            id,
            min_time_ms: range.start_ms,
            max_time_ms: range.end_ms,
            index_size_bytes,
            made_by: Some(Provenance {
                group: job.plan.group,
                plan: job.plan.id,
                partition_count: job.plan.count(),
                partition: job.partition,
            }),
        }
    }

    /// W6: written by the heartbeat, so after the beat under way. It depends on nothing.
    fn finish(&mut self, slot: u8, job: Job, status: Status, input: Input) {
        if self.state.outstanding.waits(Task::Beat(slot)) {
            self.state.jobs.insert(slot, Job { phase: Phase::LastBeat(status), ..job });
            return;
        }
        let body = self.marker(&job.plan, job.partition, status, true, input);
        let put = Effect::Put(Key::Marker(self.key(), job.partition), body);
        self.work(slot, job, Phase::Ending, put);
    }

    fn beat(&mut self, slot: u8, input: Input) -> Result<(), Refusal> {
        let ready = self.state.can_beat(slot);
        let job = self.state.jobs.get(&slot).filter(|_| ready).cloned();
        let job = job.ok_or(Refusal::NotReady(Task::Beat(slot)))?;
        let body = self.marker(&job.plan, job.partition, Status::InProgress, true, input);
        self.issue(Task::Beat(slot), Effect::Put(Key::Marker(self.key(), job.partition), body));
        Ok(())
    }

    fn beat_sent(&mut self, slot: u8, input: Input) {
        let Some(job) = self.state.jobs.get(&slot).cloned() else { return };
        if let Phase::LastBeat(status) = job.phase {
            self.finish(slot, job, status, input);
        }
    }
}

fn ids(metas: &[Arc<Meta>]) -> Vec<BlockId> {
    metas.iter().map(|meta| meta.id).collect()
}
