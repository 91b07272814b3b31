//! The cleaner: marks what has been replaced, removes plans and markers, deletes what has been marked for
//! long enough. It alone marks and deletes blocks (dossier 1).
//!
//! Any number of cleaners may run at once: none relies on being alone, and what each does is right
//! whatever the others have done since it looked. So there is no marker of a cleaner's own, with which
//! upstream keeps a second one away (dossier 7, C0, C1 and C10): read and then written, it is no lock, and
//! all that it would save here is a second pass over a bucket that the first has cleaned.

mod proof;
mod removal;
pub mod state;

pub use state::State;

use super::compactor::Durable;
use super::effect::Effect;
use super::event::{Event, Input, Outcome, Refusal, Task, heard};
use super::guard::Guard;
use super::marker::{Finding, Marker, Status};
use super::object::{BlockId, Body, DeletionMark, Key, MarkReason, PlanKey, Prefix};
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{Issued, Machine, Step, Stepped};
use proof::Verdict;
use state::{Case, Evidence, Look, Pass};

/// Limits of a cleaner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How old its mark has to be before a block is deleted, ms; `None` if another hand deletes.
    ///
    /// A rule that is a time. Nothing is lost if it is too short: what is marked has been replaced. But
    /// whoever reads blocks by an older look at the bucket (an index, a cache) has to have looked again by
    /// then, or finds a block gone (dossier 9: upstream's readers let go of a marked block after 6 hours).
    /// The clocks of whoever marked and of whoever deletes are compared, so their difference is part of it,
    /// and so is how long the writing of a mark takes.
    pub deletion_delay_ms: Option<u64>,
}

impl Default for Limits {
    /// Upstream's: 12 hours (dossier 12).
    fn default() -> Self {
        Self { deletion_delay_ms: Some(12 * 60 * 60 * 1000) }
    }
}

/// The cleaner role.
#[derive(Clone, Debug, Default)]
pub struct Cleaner<V = Verified> {
    limits: Limits,
    guards: V,
}

impl Cleaner {
    /// A cleaner that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, guards: Verified }
    }
}

#[cfg(feature = "weaken")]
impl Cleaner<crate::guard::Weakened<Guard>> {
    /// A cleaner without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards }
    }
}

impl<V: Guards<Guard>> Machine for Cleaner<V> {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut turn = Turn {
            limits: &self.limits,
            judge: Judge::new(&self.guards),
            state: state.clone(),
            effects: Vec::new(),
        };
        match event {
            Event::Continue { task: Task::Cycle, .. } if state.is_ready() => {
                turn.go(Pass::AllMarkers, Effect::List(Prefix::AllMarkers));
            }
            Event::Continue { task, .. } => return Err(Refusal::NotReady(task)),
            Event::Outcome { id, outcome, input } => {
                let absence = turn.state.outstanding.absence(id);
                turn.state.outstanding.settle(id, &outcome)?;
                let heard = heard(outcome, absence, &mut turn.judge);
                turn.go_on(heard, input);
            }
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    fn recover(&self, durable: Durable) -> State {
        State::idle(durable.process, durable.incarnation)
    }
}

type Marks = Vec<(BlockId, MarkReason)>;

/// One step being taken.
struct Turn<'a, V> {
    limits: &'a Limits,
    judge: Judge<'a, V, Guard>,
    state: State,
    effects: Vec<Issued<Effect>>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    fn go(&mut self, pass: Pass, effect: Effect) {
        self.state.pass = pass;
        let issued = self.state.outstanding.issue(Task::Cycle, effect);
        self.effects.push(issued);
    }

    fn go_on(&mut self, outcome: Outcome, input: Input) {
        match (std::mem::replace(&mut self.state.pass, Pass::Idle), outcome) {
            (Pass::AllMarkers, Outcome::Listed(keys)) => {
                self.go(Pass::Plans(keys), Effect::List(Prefix::Plans));
            }
            (Pass::Plans(markers), Outcome::Listed(keys)) => {
                let plans = plans_in(&keys);
                let orphans: Vec<_> =
                    markers.into_iter().filter(|key| is_orphan(key, &plans)).collect();
                if !orphans.is_empty() && !plans.is_empty() {
                    // Markers that would lie on the path of another plan's.
                    self.judge.applies(Guard::MarkerPathId);
                }
                self.sweep(orphans, plans);
            }
            (Pass::Sweeping(mut orphans, plans), Outcome::Applied) => {
                orphans.remove(0);
                self.sweep(orphans, plans);
            }
            (Pass::Reading(mut rest), outcome) => {
                let key = rest.remove(0);
                match outcome {
                    Outcome::Found(Body::Plan(plan)) => self.begin(Case { key, plan, rest }),
                    _ => self.next_plan(rest),
                }
            }
            (Pass::Marks(case, evidence), Outcome::Listed(keys)) => {
                self.looked(case, look_at(&keys), evidence, input);
            }
            (Pass::Blocks(case, mut look), Outcome::Listed(keys)) => {
                let parents = case.plan.parents();
                let mut others = super::compactor::search::blocks_in(&keys);
                self.note_gone(&mut look, &parents, &others);
                others.retain(|id| !parents.contains(id));
                self.read_metas(case, look, Evidence::default(), others, input);
            }
            (Pass::Metas(case, look, mut evidence, mut unread), outcome) => {
                match outcome {
                    Outcome::Found(Body::Meta(meta)) => evidence.take_meta(&case.plan, &meta),
                    Outcome::Absent => {}
                    _ => return self.next_plan(case.rest),
                }
                unread.remove(0);
                self.read_metas(case, look, evidence, unread, input);
            }
            (Pass::Markers(case, look, mut evidence, mut unread), outcome) => {
                let partition = unread.remove(0);
                let finding = match outcome {
                    Outcome::Found(Body::Marker(marker)) => {
                        self.finding(&marker, evidence.has_result(partition))
                    }
                    _ => None,
                };
                evidence.said.extend(finding.map(|finding| (partition, finding)));
                let proven = finding.is_some() || evidence.has_result(partition);
                if !proven && self.judge.keeps(Guard::AllPartitions) {
                    // One that is not proven is enough to know.
                    unread.clear();
                }
                self.read_markers(case, look, evidence, unread, input);
            }
            (Pass::Marking(case, marks), Outcome::Applied) => {
                let (id, because) = marks[0];
                let mark = DeletionMark { because, marked_ms: input.now_ms };
                let put = Effect::Put(Key::GlobalDeletionMark(id), Body::DeletionMark(mark));
                self.go(Pass::MarkingGlobal(case, marks), put);
            }
            (Pass::MarkingGlobal(case, mut marks), Outcome::Applied) => {
                marks.remove(0);
                self.mark(case, marks, input);
            }
            (Pass::Deleting(case, marks), Outcome::Applied) => {
                if self.judge.keeps(Guard::PlanBeforeMarkers) {
                    self.list_markers(case, marks);
                } else {
                    self.removed(case, marks, input);
                }
            }
            (Pass::Listing(case, marks), Outcome::Listed(keys)) => {
                self.clear(case, keys, marks, input);
            }
            (Pass::Clearing(case, mut keys, marks), Outcome::Applied) => {
                keys.remove(0);
                self.clear(case, keys, marks, input);
            }
            (Pass::Marked, Outcome::Listed(keys)) => self.remove_next(removal::marked_in(&keys)),
            (Pass::Removing(step, blocks), outcome) => {
                self.go_on_removing(step, blocks, outcome, input);
            }
            // An error, or a write of unknown effect: this plan is left as it is, and the next pass
            // reads what became of it.
            (
                Pass::Marks(case, _)
                | Pass::Blocks(case, _)
                | Pass::MarkingGlobal(case, _)
                | Pass::Marking(case, _)
                | Pass::Deleting(case, _)
                | Pass::Listing(case, _)
                | Pass::Clearing(case, ..),
                _,
            ) => self.next_plan(case.rest),
            (Pass::Sweeping(_, plans), _) => self.next_plan(plans),
            (Pass::Remains, Outcome::Listed(keys)) => {
                let remains = self.remains_among(&keys);
                self.tidy(remains);
            }
            (Pass::Tidying(mut objects), Outcome::Applied) => {
                objects.remove(0);
                self.tidy(objects);
            }
            (
                Pass::Idle
                | Pass::AllMarkers
                | Pass::Plans(_)
                | Pass::Marked
                | Pass::Remains
                | Pass::Tidying(_),
                _,
            ) => {}
        }
    }

    /// Deletes the first of these markers, which have no plan; after the last, turns to the plans.
    fn sweep(&mut self, orphans: Vec<Key>, plans: Vec<PlanKey>) {
        if let Some(&key) = orphans.first()
            && self.judge.applies(Guard::SweepOrphans)
        {
            self.go(Pass::Sweeping(orphans, plans), Effect::Delete(key));
        } else {
            self.next_plan(plans);
        }
    }

    /// Reads the first of these plans; after the last, turns to the marked blocks.
    fn next_plan(&mut self, rest: Vec<PlanKey>) {
        if let Some(&key) = rest.first() {
            self.go(Pass::Reading(rest), Effect::Get(Key::Plan(key)));
        } else {
            self.begin_removing();
        }
    }

    /// What a marker proves, if it proves anything. That there is a result is proven by the result alone,
    /// and none was there when the blocks were listed.
    fn finding(&mut self, marker: &Marker, has_result: bool) -> Option<Finding> {
        let Status::Completed(finding) = marker.status else { return None };
        let proves = match finding {
            Finding::Empty => true,
            Finding::Result(_) => self.judge.demands(Guard::ResultProof, has_result),
        };
        proves.then_some(finding)
    }

    /// The order of looking: marks first, so that a mark seen was there before any result was looked for.
    fn begin(&mut self, case: Case) {
        // Here the order is decided; later steps follow what was decided here.
        if self.judge.applies(Guard::MarksBeforeResults) {
            self.go(Pass::Marks(case, Evidence::default()), Effect::List(Prefix::Marks));
        } else {
            self.go(Pass::Blocks(case, Look::default()), Effect::List(Prefix::Blocks));
        }
    }

    fn looked(&mut self, case: Case, look: Look, evidence: Evidence, input: Input) {
        if self.judge.keeps(Guard::MarksBeforeResults) {
            self.go(Pass::Blocks(case, look), Effect::List(Prefix::Blocks));
        } else {
            self.decide(case, &look, &evidence, input);
        }
    }

    /// A block that was in a plan was complete, and goes only by its mark.
    fn note_gone(&mut self, look: &mut Look, parents: &[BlockId], there: &[BlockId]) {
        let marked_or_there = |id: &&BlockId| look.deleted.contains(id) || there.contains(id);
        let gone: Vec<_> = parents.iter().filter(|id| !marked_or_there(id)).copied().collect();
        if !gone.is_empty() && self.judge.applies(Guard::GoneIsMarked) {
            look.deleted.extend(gone);
        }
    }

    fn read_metas(
        &mut self,
        case: Case,
        look: Look,
        evidence: Evidence,
        unread: Vec<BlockId>,
        input: Input,
    ) {
        if let Some(&id) = unread.first() {
            let pass = Pass::Metas(case, look, evidence, unread);
            return self.go(pass, Effect::Get(Key::Meta(id)));
        }
        let ask = self.partitions_to_ask(&case, &evidence);
        self.read_markers(case, look, evidence, ask, input);
    }

    fn read_markers(
        &mut self,
        case: Case,
        look: Look,
        evidence: Evidence,
        unread: Vec<u32>,
        input: Input,
    ) {
        if let Some(&partition) = unread.first() {
            let key = Key::Marker(self.marker_folder(&case), partition);
            let pass = Pass::Markers(case, look, evidence, unread);
            return self.go(pass, Effect::Get(key));
        }
        if self.judge.keeps(Guard::MarksBeforeResults) {
            self.decide(case, &look, &evidence, input);
        } else {
            self.go(Pass::Marks(case, evidence), Effect::List(Prefix::Marks));
        }
    }

    fn decide(&mut self, case: Case, look: &Look, evidence: &Evidence, input: Input) {
        match self.verdict(&case, look, evidence) {
            Verdict::Unfinished => self.next_plan(case.rest),
            Verdict::Dead => self.remove_plan(case, Vec::new()),
            Verdict::Complete(marks) if marks.is_empty() => self.remove_plan(case, marks),
            Verdict::Complete(marks) => {
                if self.judge.applies(Guard::MarkAllBeforeDelete) {
                    self.mark(case, marks, input);
                } else {
                    self.remove_plan(case, marks);
                }
            }
        }
    }

    /// Writes the first of these marks: the block's own copy, then the global one, which is what everybody
    /// lists. Whoever sees a mark then knows that both copies are there. Upstream writes them the other way
    /// round (dossier 2), and a crash in between leaves half a mark that looks whole.
    fn mark(&mut self, case: Case, marks: Marks, input: Input) {
        if let Some(&(id, because)) = marks.first() {
            let mark = DeletionMark { because, marked_ms: input.now_ms };
            let put = Effect::Put(Key::DeletionMark(id), Body::DeletionMark(mark));
            self.go(Pass::Marking(case, marks), put);
        } else if self.judge.keeps(Guard::MarkAllBeforeDelete) {
            self.remove_plan(case, marks);
        } else {
            self.next_plan(case.rest);
        }
    }

    /// The plan goes before its markers: a marker without a plan is swept, a plan without its markers
    /// would be worked on again (#7257).
    fn remove_plan(&mut self, case: Case, marks: Marks) {
        // Here the order is decided; later steps follow what was decided here.
        if self.judge.applies(Guard::PlanBeforeMarkers) {
            self.delete_plan(case, marks);
        } else {
            self.list_markers(case, marks);
        }
    }

    fn delete_plan(&mut self, case: Case, marks: Marks) {
        let delete = Effect::Delete(Key::Plan(case.key));
        self.go(Pass::Deleting(case, marks), delete);
    }

    fn clear(&mut self, case: Case, markers: Vec<Key>, marks: Marks, input: Input) {
        if let Some(&key) = markers.first() {
            self.go(Pass::Clearing(case, markers, marks), Effect::Delete(key));
        } else if self.judge.keeps(Guard::PlanBeforeMarkers) {
            self.removed(case, marks, input);
        } else {
            self.delete_plan(case, marks);
        }
    }

    /// Plan and markers are gone. Only where `mark-all-before-delete` is not kept are marks still to be written.
    fn removed(&mut self, case: Case, marks: Marks, input: Input) {
        if marks.is_empty() {
            self.next_plan(case.rest);
        } else {
            self.mark(case, marks, input);
        }
    }

    fn list_markers(&mut self, case: Case, marks: Marks) {
        let markers = self.marker_folder(&case);
        self.go(Pass::Listing(case, marks), Effect::List(Prefix::Markers(markers)));
    }

    fn marker_folder(&self, case: &Case) -> PlanKey {
        let named = self.judge.keeps(Guard::MarkerPathId);
        PlanKey { group: case.plan.group, plan: named.then_some(case.plan.id) }
    }
}

fn plans_in(keys: &[Key]) -> Vec<PlanKey> {
    let plan = |key: &Key| if let Key::Plan(plan) = key { Some(*plan) } else { None };
    keys.iter().filter_map(plan).collect()
}

fn look_at(keys: &[Key]) -> Look {
    let mut look = Look::default();
    for key in keys {
        match key {
            Key::GlobalDeletionMark(id) => look.deleted.push(*id),
            Key::GlobalNoCompactMark(id) => look.no_compact.push(*id),
            _ => {}
        }
    }
    look
}

/// Whether a marker's plan is not among these, which were listed after the markers. As no plan comes back,
/// and none is claimed before it is written, a marker seen then and a plan not seen now mean that it is gone.
fn is_orphan(marker: &Key, plans: &[PlanKey]) -> bool {
    let Key::Marker(folder, _) = marker else { return false };
    let same = |plan: &&PlanKey| match (folder.plan, plan.plan) {
        (Some(of), Some(is)) => of == is,
        _ => folder.group == plan.group,
    };
    plans.iter().find(same).is_none()
}
