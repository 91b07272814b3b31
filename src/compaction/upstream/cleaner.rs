//! Upstream's clean-up of partitioned groups (dossier 7, C2), as each release has it.

use std::sync::Arc;

use super::super::compactor::Durable;
use super::super::effect::Effect;
use super::super::event::{Event, Input, Outcome, Outstanding, Refusal, Task};
use super::super::guard::Guard;
use super::super::marker::Owner;
use super::super::object::{
    BlockId, Body, DeletionMark, Key, MarkReason, PlanKey, Prefix, ProcessId,
};
use super::super::plan::Plan;
use super::status::{Inquiry, Progress, Rules, Status, begin};
use super::{Release, StaleMarkers};
use crate::machine::{Issued, Machine, Step, Stepped};

/// Upstream's cleaner at some release.
#[derive(Clone, Debug)]
pub struct Cleaner {
    release: Release,
    claim_timeout_ms: u64,
}

impl Cleaner {
    /// A cleaner of this release. `claim_timeout_ms` is after how long a claim counts as given up.
    #[must_use]
    pub fn new(release: Release, claim_timeout_ms: u64) -> Self {
        Self { release, claim_timeout_ms }
    }
}

/// What it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CleanerState {
    process: ProcessId,
    outstanding: Outstanding,
    pass: Pass,
}

impl CleanerState {
    /// Who it is.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { process: self.process, incarnation: self.outstanding.incarnation() }
    }

    /// Where its pass is.
    #[must_use]
    pub fn pass(&self) -> &Pass {
        &self.pass
    }
}

/// One pass. All statuses are taken first, then acted upon by path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// No pass is running.
    Idle,
    /// Listing plans.
    Plans,
    /// Reading the first of these plans.
    Reading(Vec<Group>, Vec<PlanKey>),
    /// Its status.
    Status(Vec<Group>, Vec<PlanKey>, Arc<Plan>, Inquiry),
    /// Marking parents of the first group: the question or write for the first of these blocks.
    Marking(Vec<Group>, Vec<BlockId>, MarkStep, bool),
    /// Deleting the first group's plan.
    Deleting(Vec<Group>),
    /// Asking whether the plan is still there (#7260).
    IsGone(Vec<Group>),
    /// Listing the first group's markers.
    Listing(Vec<Group>),
    /// Deleting the first of these markers.
    Clearing(Vec<Group>, Vec<Key>),
}

/// A group and its status as it was when the pass looked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// Where the plan lies.
    pub key: PlanKey,
    /// The plan as read.
    pub plan: Arc<Plan>,
    /// Its status.
    pub status: Status,
}

/// Marking one parent, operation by operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkStep {
    /// Does it exist?
    Meta,
    /// Is it marked?
    Marked,
    /// Must it not be compacted?
    NoCompact,
    /// Is it marked, asked once more by the routine that marks.
    MarkedAgain,
    /// Writing the global copy.
    Global,
    /// Writing the block's own copy.
    Local,
}

impl Machine for Cleaner {
    type State = CleanerState;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &CleanerState, event: Event) -> Stepped<Self> {
        let mut turn = Turn { role: self, state: state.clone(), effects: Vec::new() };
        match event {
            Event::Continue { task: Task::Cycle, .. } if state.pass == Pass::Idle => {
                turn.go(Pass::Plans, Effect::List(Prefix::Plans));
            }
            Event::Continue { task, .. } => return Err(Refusal::NotReady(task)),
            Event::Outcome { id, outcome, input } => {
                turn.state.outstanding.settle(id, &outcome)?;
                turn.go_on(outcome, input);
            }
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: Vec::new() })
    }

    fn recover(&self, durable: Durable) -> CleanerState {
        CleanerState {
            process: durable.process,
            outstanding: Outstanding::none(durable.incarnation),
            pass: Pass::Idle,
        }
    }
}

struct Turn<'a> {
    role: &'a Cleaner,
    state: CleanerState,
    effects: Vec<Issued<Effect>>,
}

impl Turn<'_> {
    fn go(&mut self, pass: Pass, effect: Effect) {
        self.state.pass = pass;
        let issued = self.state.outstanding.issue(Task::Cycle, effect);
        self.effects.push(issued);
    }

    fn rules(&self) -> Rules {
        let timeout_ms = self.role.claim_timeout_ms;
        Rules { release: self.role.release, timeout_ms, parents: true }
    }

    fn go_on(&mut self, outcome: Outcome, input: Input) {
        match (std::mem::replace(&mut self.state.pass, Pass::Idle), outcome) {
            (Pass::Plans, Outcome::Listed(keys)) => {
                let plan = |key: &Key| if let Key::Plan(plan) = key { Some(*plan) } else { None };
                self.read_next(Vec::new(), keys.iter().filter_map(plan).collect());
            }
            (Pass::Plans | Pass::Idle, _) => {}
            (Pass::Reading(groups, rest), Outcome::Found(Body::Plan(plan))) => {
                let progress = begin(rest[0], &plan, self.rules());
                self.status(groups, rest, plan, progress);
            }
            // A file that cannot be read is left out.
            (Pass::Reading(groups, mut rest), _) => {
                rest.remove(0);
                self.read_next(groups, rest);
            }
            (Pass::Status(groups, rest, plan, inquiry), outcome) => {
                let progress = inquiry.go_on(rest[0], &plan, self.rules(), &outcome, input);
                self.status(groups, rest, plan, progress);
            }
            (Pass::Marking(groups, blocks, step, marked), outcome) => {
                self.go_on_marking(groups, blocks, step, marked, &outcome, input);
            }
            (Pass::Deleting(groups), outcome) => self.deleted(groups, &outcome),
            (Pass::IsGone(groups), Outcome::Absent) => self.list_markers(groups),
            (Pass::IsGone(groups), _) => self.clear_stale(groups),
            (Pass::Listing(groups), Outcome::Listed(keys)) => self.clear(groups, keys),
            (Pass::Listing(groups), _) => self.next_group(groups),
            (Pass::Clearing(groups, mut keys), Outcome::Applied) => {
                keys.remove(0);
                self.clear(groups, keys);
            }
            (Pass::Clearing(groups, _), _) => self.next_group(groups),
        }
    }

    fn read_next(&mut self, groups: Vec<Group>, rest: Vec<PlanKey>) {
        match rest.first() {
            Some(&key) => self.go(Pass::Reading(groups, rest), Effect::Get(Key::Plan(key))),
            None => self.act(groups),
        }
    }

    fn status(
        &mut self,
        mut groups: Vec<Group>,
        mut rest: Vec<PlanKey>,
        plan: Arc<Plan>,
        progress: Progress,
    ) {
        match progress {
            Progress::Ask(inquiry, effect) => {
                self.go(Pass::Status(groups, rest, plan, inquiry), effect);
            }
            Progress::Done(status) => {
                groups.push(Group { key: rest.remove(0), plan, status });
                self.read_next(groups, rest);
            }
        }
    }

    /// C2b for the first group.
    fn act(&mut self, groups: Vec<Group>) {
        let Some(group) = groups.first() else { return };
        let status = &group.status;
        if status.can_delete && status.completed {
            let parents = group.plan.parents();
            self.mark_next(groups, parents, false);
        } else if status.can_delete && self.role.release.deletes_unfinishable() {
            self.delete_plan(groups);
        } else if !status.can_delete {
            self.clear_stale(groups);
        } else {
            self.next_group(groups);
        }
    }

    fn next_group(&mut self, mut groups: Vec<Group>) {
        groups.remove(0);
        self.act(groups);
    }

    fn mark_next(&mut self, groups: Vec<Group>, blocks: Vec<BlockId>, marked: bool) {
        match blocks.first() {
            Some(&id) => {
                let ask = Effect::Exists(Key::Meta(id));
                self.go(Pass::Marking(groups, blocks, MarkStep::Meta, marked), ask);
            }
            None => self.all_marked(groups, marked),
        }
    }

    fn go_on_marking(
        &mut self,
        groups: Vec<Group>,
        mut blocks: Vec<BlockId>,
        step: MarkStep,
        marked: bool,
        outcome: &Outcome,
        input: Input,
    ) {
        let id = blocks[0];
        let because = MarkReason::Compacted(groups[0].plan.id);
        let body = Body::DeletionMark(DeletionMark { because, marked_ms: input.now_ms });
        let (next, effect) = match (step, outcome) {
            // Errors of the caller's own checks count as: go on.
            (MarkStep::Meta, Outcome::Absent)
            | (MarkStep::Marked | MarkStep::NoCompact, Outcome::Exists) => {
                blocks.remove(0);
                return self.mark_next(groups, blocks, marked);
            }
            (MarkStep::Meta, _) => (MarkStep::Marked, Effect::Exists(Key::DeletionMark(id))),
            (MarkStep::Marked, _) if self.role.release.spares_no_compact() => {
                (MarkStep::NoCompact, Effect::Exists(Key::NoCompactMark(id)))
            }
            (MarkStep::Marked | MarkStep::NoCompact, _) => {
                (MarkStep::MarkedAgain, Effect::Exists(Key::DeletionMark(id)))
            }
            (MarkStep::MarkedAgain, Outcome::Absent) => {
                (MarkStep::Global, Effect::Put(Key::GlobalDeletionMark(id), body))
            }
            (MarkStep::Global, Outcome::Applied) => {
                (MarkStep::Local, Effect::Put(Key::DeletionMark(id), body))
            }
            (MarkStep::MarkedAgain, Outcome::Exists) | (MarkStep::Local, Outcome::Applied) => {
                blocks.remove(0);
                return self.mark_next(groups, blocks, true);
            }
            // An error leaves the group for the next pass.
            (MarkStep::MarkedAgain | MarkStep::Global | MarkStep::Local, _) => {
                return self.next_group(groups);
            }
        };
        self.go(Pass::Marking(groups, blocks, next, marked), effect);
    }

    fn all_marked(&mut self, groups: Vec<Group>, marked: bool) {
        let release = self.role.release;
        if !(marked && release.deletes_in_next_pass()) {
            self.delete_plan(groups);
        } else if release.clears_markers_at_once() {
            self.list_markers(groups);
        } else if release.clears_markers_after_file() {
            self.ask_gone(groups);
        } else {
            self.next_group(groups);
        }
    }

    fn delete_plan(&mut self, groups: Vec<Group>) {
        let delete = Effect::Delete(Key::Plan(groups[0].key));
        self.go(Pass::Deleting(groups), delete);
    }

    /// C2c. Until #7130 and with #7209 the markers go even if the file could not be deleted.
    fn deleted(&mut self, groups: Vec<Group>, outcome: &Outcome) {
        let release = self.role.release;
        let regardless = !release.deletes_in_next_pass() || release.clears_markers_at_once();
        if *outcome == Outcome::Applied || regardless {
            self.list_markers(groups);
        } else if release.clears_markers_after_file() {
            self.ask_gone(groups);
        } else {
            self.next_group(groups);
        }
    }

    fn ask_gone(&mut self, groups: Vec<Group>) {
        let get = Effect::Get(Key::Plan(groups[0].key));
        self.go(Pass::IsGone(groups), get);
    }

    fn list_markers(&mut self, groups: Vec<Group>) {
        let list = Effect::List(Prefix::Markers(groups[0].key));
        self.go(Pass::Listing(groups), list);
    }

    fn clear_stale(&mut self, groups: Vec<Group>) {
        let group = &groups[0];
        match self.role.release.stale_markers() {
            StaleMarkers::WipeGroup if !group.status.stale.is_empty() => self.list_markers(groups),
            StaleMarkers::WipeGroup | StaleMarkers::Stay => self.next_group(groups),
            StaleMarkers::Go => {
                let keys = group.status.stale.iter().map(|p| Key::Marker(group.key, *p)).collect();
                self.clear(groups, keys);
            }
        }
    }

    fn clear(&mut self, groups: Vec<Group>, keys: Vec<Key>) {
        match keys.first() {
            Some(&key) => self.go(Pass::Clearing(groups, keys), Effect::Delete(key)),
            None => self.next_group(groups),
        }
    }
}
