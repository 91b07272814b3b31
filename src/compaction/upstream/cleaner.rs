//! Upstream's clean-up (dossier 7), as each release has it: partitioned groups (C2) here, blocks in
//! [`super::deletion`].

use std::sync::Arc;

use super::super::compactor::Durable;
use super::super::effect::Effect;
use super::super::event::{Event, Input, Outcome, Outstanding, Refusal, Task};
use super::super::guard::Guard;
use super::super::marker::{CleanerMarker, Owner};
use super::super::object::{
    BlockId, Body, DeletionMark, Key, MarkReason, PlanKey, Prefix, ProcessId,
};
use super::super::plan::Plan;
use super::deletion::Deletion;
use super::status::{Inquiry, Progress, Rules, Status, begin};
use super::{Release, StaleMarkers};
use crate::machine::{Issued, Machine, Step, Stepped};

/// Upstream's cleaner at some release.
#[derive(Clone, Debug)]
pub struct Cleaner {
    release: Release,
    claim_timeout_ms: u64,
    pub(super) deletion_delay_ms: Option<u64>,
    own_marker: bool,
}

impl Cleaner {
    /// A cleaner of this release. `claim_timeout_ms` is after how long a claim counts as given up.
    #[must_use]
    pub fn new(release: Release, claim_timeout_ms: u64) -> Self {
        Self { release, claim_timeout_ms, deletion_delay_ms: None, own_marker: false }
    }

    /// One that deletes marked blocks as well, once their marks are this old, ms.
    #[must_use]
    pub fn deleting(self, deletion_delay_ms: Option<u64>) -> Self {
        Self { deletion_delay_ms, ..self }
    }

    /// One that keeps a visit marker of its own, to keep a second cleaner away (C0, C1, C10). It expires like
    /// a claim.
    #[must_use]
    pub fn with_own_marker(self, own_marker: bool) -> Self {
        Self { own_marker, ..self }
    }
}

/// What it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CleanerState {
    process: ProcessId,
    outstanding: Outstanding,
    pass: Pass,
}

impl CleanerState {
    /// Whether a heartbeat of its own marker may be sent now.
    #[must_use]
    pub fn can_beat(&self) -> bool {
        let works = !matches!(
            self.pass,
            Pass::Idle | Pass::Visited | Pass::LastBeat | Pass::Ending | Pass::Leaving
        );
        works && !self.outstanding.waits(BEAT)
    }

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

impl Pass {
    /// The check whose answer the pass waits for, in words: what may turn it away next.
    #[must_use]
    pub fn check(&self) -> Option<&'static str> {
        match self {
            Self::Status(..) => Some(
                "the group's status: is every partition completed, by no stale marker? (dossier 6)",
            ),
            Self::IsGone(_) => Some("the plan's absence (C2c, #7260)"),
            Self::Visited => Some("the cleaner's own marker (C0)"),
            Self::Idle
            | Self::Deletion(_)
            | Self::LastBeat
            | Self::Ending
            | Self::Leaving
            | Self::Plans
            | Self::Reading(..)
            | Self::Marking(..)
            | Self::Deleting(_)
            | Self::Listing(_)
            | Self::Clearing(..) => None,
        }
    }
}

/// One pass. All statuses are taken first, then acted upon by path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Pass {
    /// No pass is running.
    Idle,
    /// C0: reading the cleaner's marker.
    Visited,
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
    /// Deleting marked blocks, and what has no meta.
    Deletion(Deletion),
    /// C10: done, waiting for the heartbeat under way.
    LastBeat,
    /// C10: writing that the pass is over.
    Ending,
    /// C10: deleting the cleaner's marker.
    Leaving,
}

/// A group and its status as it was when the pass looked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
            Event::Continue { task: Task::Cycle, .. } if state.pass == Pass::Idle => turn.begin(),
            Event::Continue { task: BEAT, input } if self.own_marker && state.can_beat() => {
                turn.beat(input);
            }
            Event::Continue { task, .. } => return Err(Refusal::NotReady(task)),
            Event::Outcome { id, outcome, input } => {
                match turn.state.outstanding.settle(id, &outcome)? {
                    Some(BEAT) => turn.beat_sent(input),
                    Some(_) => turn.go_on(outcome, input),
                    None => {}
                }
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

/// The heartbeat of the cleaner's own marker.
const BEAT: Task = Task::Beat(0);

pub(super) struct Turn<'a> {
    pub(super) role: &'a Cleaner,
    state: CleanerState,
    effects: Vec<Issued<Effect>>,
}

/// The cleaner's own marker. It is read, and then written: two that read before either writes both go on.
impl Turn<'_> {
    fn begin(&mut self) {
        if self.role.own_marker {
            self.go(Pass::Visited, Effect::Get(Key::CleanerMarker));
        } else {
            self.clean();
        }
    }

    /// C0. An error ends the pass.
    fn visited(&mut self, outcome: &Outcome, input: Input) {
        let free = match outcome {
            Outcome::Absent => true,
            Outcome::Found(Body::CleanerMarker(marker)) => {
                !marker.is_live(input.now_ms, self.role.claim_timeout_ms)
            }
            _ => false,
        };
        if free {
            // C1: by the heartbeat, for which the clean-up does not wait.
            self.beat(input);
            self.clean();
        }
    }

    fn beat(&mut self, input: Input) {
        let put = Effect::Put(Key::CleanerMarker, self.marker(false, input));
        let issued = self.state.outstanding.issue(BEAT, put);
        self.effects.push(issued);
    }

    fn beat_sent(&mut self, input: Input) {
        if self.state.pass == Pass::LastBeat {
            self.end(input);
        }
    }

    /// C10.
    fn end(&mut self, input: Input) {
        if !self.role.own_marker {
            self.state.pass = Pass::Idle;
        } else if self.state.outstanding.waits(BEAT) {
            self.state.pass = Pass::LastBeat;
        } else {
            let put = Effect::Put(Key::CleanerMarker, self.marker(true, input));
            self.go(Pass::Ending, put);
        }
    }

    fn marker(&self, completed: bool, input: Input) -> Body {
        let (owner, visited_ms) = (self.state.owner(), input.now_ms);
        Body::CleanerMarker(CleanerMarker { owner, completed, visited_ms })
    }

    /// Blocks and groups, in the release's order.
    fn clean(&mut self) {
        if self.role.release.cleans_groups_last() && self.role.deletion_delay_ms.is_some() {
            self.begin_deleting();
        } else {
            self.list_plans();
        }
    }

    fn list_plans(&mut self) {
        self.go(Pass::Plans, Effect::List(Prefix::Plans));
    }

    /// The groups are done.
    fn groups_cleaned(&mut self, input: Input) {
        if self.role.release.cleans_groups_last() || self.role.deletion_delay_ms.is_none() {
            self.end(input);
        } else {
            self.begin_deleting();
        }
    }

    /// The blocks are done.
    pub(super) fn blocks_deleted(&mut self, input: Input) {
        if self.role.release.cleans_groups_last() {
            self.list_plans();
        } else {
            self.end(input);
        }
    }
}

impl Turn<'_> {
    pub(super) fn go(&mut self, pass: Pass, effect: Effect) {
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
                self.read_next(Vec::new(), keys.iter().filter_map(plan).collect(), input);
            }
            // An error ends the clean-up of groups.
            (Pass::Plans, _) => self.groups_cleaned(input),
            (Pass::Idle, _) => {}
            (Pass::Visited, outcome) => self.visited(&outcome, input),
            (Pass::Deletion(deletion), outcome) => self.go_on_deleting(deletion, outcome, input),
            (Pass::LastBeat, _) => self.state.pass = Pass::LastBeat,
            (Pass::Ending, _) => self.go(Pass::Leaving, Effect::Delete(Key::CleanerMarker)),
            (Pass::Leaving, _) => {}
            (Pass::Reading(groups, rest), Outcome::Found(Body::Plan(plan))) => {
                let progress = begin(rest[0], &plan, self.rules());
                self.status(groups, rest, plan, progress, input);
            }
            // A file that cannot be read is left out.
            (Pass::Reading(groups, mut rest), _) => {
                rest.remove(0);
                self.read_next(groups, rest, input);
            }
            (Pass::Status(groups, rest, plan, inquiry), outcome) => {
                let progress = inquiry.go_on(rest[0], &plan, self.rules(), &outcome, input);
                self.status(groups, rest, plan, progress, input);
            }
            (Pass::Marking(groups, blocks, step, marked), outcome) => {
                self.go_on_marking(groups, blocks, step, marked, &outcome, input);
            }
            (Pass::Deleting(groups), outcome) => self.deleted(groups, &outcome, input),
            (Pass::IsGone(groups), Outcome::Absent) => self.list_markers(groups),
            (Pass::IsGone(groups), _) => self.clear_stale(groups, input),
            (Pass::Listing(groups), Outcome::Listed(keys)) => self.clear(groups, keys, input),
            (Pass::Listing(groups), _) => self.next_group(groups, input),
            (Pass::Clearing(groups, mut keys), Outcome::Applied) => {
                keys.remove(0);
                self.clear(groups, keys, input);
            }
            (Pass::Clearing(groups, _), _) => self.next_group(groups, input),
        }
    }

    fn read_next(&mut self, groups: Vec<Group>, rest: Vec<PlanKey>, input: Input) {
        match rest.first() {
            Some(&key) => self.go(Pass::Reading(groups, rest), Effect::Get(Key::Plan(key))),
            None => self.act(groups, input),
        }
    }

    fn status(
        &mut self,
        mut groups: Vec<Group>,
        mut rest: Vec<PlanKey>,
        plan: Arc<Plan>,
        progress: Progress,
        input: Input,
    ) {
        match progress {
            Progress::Ask(inquiry, effect) => {
                self.go(Pass::Status(groups, rest, plan, inquiry), effect);
            }
            Progress::Done(status) => {
                groups.push(Group { key: rest.remove(0), plan, status });
                self.read_next(groups, rest, input);
            }
        }
    }

    /// C2b for the first group.
    fn act(&mut self, groups: Vec<Group>, input: Input) {
        let Some(group) = groups.first() else { return self.groups_cleaned(input) };
        let status = &group.status;
        if status.can_delete && status.completed {
            let parents = group.plan.parents();
            self.mark_next(groups, parents, false, input);
        } else if status.can_delete && self.role.release.deletes_unfinishable() {
            self.delete_plan(groups);
        } else if !status.can_delete {
            self.clear_stale(groups, input);
        } else {
            self.next_group(groups, input);
        }
    }

    fn next_group(&mut self, mut groups: Vec<Group>, input: Input) {
        groups.remove(0);
        self.act(groups, input);
    }

    fn mark_next(&mut self, groups: Vec<Group>, blocks: Vec<BlockId>, marked: bool, input: Input) {
        match blocks.first() {
            Some(&id) => {
                let ask = Effect::Exists(Key::Meta(id));
                self.go(Pass::Marking(groups, blocks, MarkStep::Meta, marked), ask);
            }
            None => self.all_marked(groups, marked, input),
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
                return self.mark_next(groups, blocks, marked, input);
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
                return self.mark_next(groups, blocks, true, input);
            }
            // An error leaves the group for the next pass.
            (MarkStep::MarkedAgain | MarkStep::Global | MarkStep::Local, _) => {
                return self.next_group(groups, input);
            }
        };
        self.go(Pass::Marking(groups, blocks, next, marked), effect);
    }

    fn all_marked(&mut self, groups: Vec<Group>, marked: bool, input: Input) {
        let release = self.role.release;
        if !(marked && release.deletes_in_next_pass()) {
            self.delete_plan(groups);
        } else if release.clears_markers_at_once() {
            self.list_markers(groups);
        } else if release.clears_markers_after_file() {
            self.ask_gone(groups);
        } else {
            self.next_group(groups, input);
        }
    }

    fn delete_plan(&mut self, groups: Vec<Group>) {
        let delete = Effect::Delete(Key::Plan(groups[0].key));
        self.go(Pass::Deleting(groups), delete);
    }

    /// C2c. Until #7130 and with #7209 the markers go even if the file could not be deleted.
    fn deleted(&mut self, groups: Vec<Group>, outcome: &Outcome, input: Input) {
        let release = self.role.release;
        let regardless = !release.deletes_in_next_pass() || release.clears_markers_at_once();
        if *outcome == Outcome::Applied || regardless {
            self.list_markers(groups);
        } else if release.clears_markers_after_file() {
            self.ask_gone(groups);
        } else {
            self.next_group(groups, input);
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

    fn clear_stale(&mut self, groups: Vec<Group>, input: Input) {
        let group = &groups[0];
        match self.role.release.stale_markers() {
            StaleMarkers::WipeGroup if !group.status.stale.is_empty() => self.list_markers(groups),
            StaleMarkers::WipeGroup | StaleMarkers::Stay => self.next_group(groups, input),
            StaleMarkers::Go => {
                let keys = group.status.stale.iter().map(|p| Key::Marker(group.key, *p)).collect();
                self.clear(groups, keys, input);
            }
        }
    }

    fn clear(&mut self, groups: Vec<Group>, keys: Vec<Key>, input: Input) {
        match keys.first() {
            Some(&key) => self.go(Pass::Clearing(groups, keys), Effect::Delete(key)),
            None => self.next_group(groups, input),
        }
    }
}
