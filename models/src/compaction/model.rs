//! The model: picks an event of the world, calls `step`, turns effects into the world's state.

use std::sync::Arc;

use surehold::compaction::cleaner;
use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::effect::Merge;
use surehold::compaction::event::Merged;
use surehold::compaction::invariant::{Property, Samples};
use surehold::compaction::object::{
    BlockId, Body, Key, Meta, PlanId, PlanKey, Prefix, ProcessId, Provenance,
};
use surehold::compaction::plan::Range;
use surehold::compaction::{Effect, Event, Guard, Input, Outcome, Refusal, Task};
use surehold::{EffectId, Issued, Machine};

use super::coverage::Coverage;
use super::fleet::{Fleet, Seen as _};
use super::scope::{GROUP, Operation, Scope, Witness};
use super::tale::Tale;
use super::world::{Block, Broken, Process, RoleState, Seen, Store, World, Write};
use crate::memo::Steps;
use crate::part::Part;
#[cfg(feature = "checker")]
use crate::symmetry::{Renaming, names_kept};

/// After how long a claim expires, ms. Only its being longer than anything else here matters.
pub const TIMEOUT_MS: u64 = 1_000_000_000;

/// How old a deletion mark has to be, ms. Only its being longer than anything else here matters.
pub const DELETION_DELAY_MS: u64 = 1000 * TIMEOUT_MS;

/// The world of a fleet.
pub type WorldOf<F> =
    World<<<F as Fleet>::Compactor as Machine>::State, <<F as Fleet>::Cleaner as Machine>::State>;

pub(super) type ProcessOf<F> =
    Process<<<F as Fleet>::Compactor as Machine>::State, <<F as Fleet>::Cleaner as Machine>::State>;

/// A model of one fleet in one scope.
#[derive(Clone, Debug)]
pub struct Model<F: Fleet> {
    /// The scope.
    pub scope: Arc<Scope>,
    /// The properties judged.
    pub judged: Vec<Property>,
    /// Whether steps that nobody else can tell are taken at once (`is_immediate` says which).
    pub reduce: bool,
    /// Whether the scope's witnesses are asked for.
    pub witnesses: bool,
    /// Whether double work is noted even after a fault, for telling a report to its end.
    pub lenient_dup: bool,
    /// Counts what occurs, if wanted.
    pub coverage: Option<Arc<Coverage>>,
    /// How processes that are alike can exchange their names; by itself a model lets nobody.
    #[cfg(feature = "checker")]
    pub(super) renamings: Arc<[Renaming]>,
    pub(super) compactor: Arc<F::Compactor>,
    pub(super) cleaner: Arc<F::Cleaner>,
    /// Steps of compactors.
    pub(super) compacted: Steps<F::Compactor>,
    /// Steps of cleaners.
    pub(super) cleaned: Steps<F::Cleaner>,
    pub(super) dated: bool,
    pub(super) looks_before_work: bool,
}

/// An event of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A process's effect is carried out, and the process hears of it.
    Run {
        /// Which process.
        process: u8,
        /// Which of its effects.
        number: u16,
        /// How it goes.
        fate: Fate,
        /// What the outside brings.
        choice: Choice,
    },
    /// A cycle begins.
    Begin(u8),
    /// A heartbeat is due.
    Beat(u8, u8),
    /// A late write lands.
    Land(u8),
    /// A marker's owner has not been heard of for too long.
    Expire(PlanKey, u32),
    /// The cleaner whose marker it is has not been heard of for too long.
    ExpireCleaner,
    /// A block's deletion mark is older than the delay.
    Ripen(BlockId),
    /// The next late block arrives.
    Upload,
    /// The operator's next act.
    Operate,
    /// A process crashes and starts again.
    Crash(u8),
    /// A process stands still.
    Pause(u8),
}

/// How an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// As it should.
    Done,
    /// It fails, without effect.
    Failed,
    /// It takes effect, and the reply is lost.
    Lost,
    /// The reply is lost, and it takes effect later or never.
    Late,
}

/// What the outside brings into an event, beside the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Choice {
    /// [`Input::pick`].
    pub pick: u8,
    /// What the clock of a planner shows.
    pub clock: Clock,
    /// Whether the new result's id is less than that of the partition's results before it.
    pub lesser_id: bool,
}

/// What the clock of a planner shows, and so the second and the id of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clock {
    /// A later time than at any plan before.
    #[default]
    Later,
    /// The last plan's second.
    Same,
    /// An earlier time than at the last plan.
    Behind,
}

impl<F: Fleet> Model<F> {
    /// A model that judges all of the scope's properties, with the reduction.
    pub fn new(fleet: &F, scope: &Scope) -> Self {
        let limits = Limits {
            range: Range { group: GROUP, start_ms: 0, end_ms: 1000 },
            concurrency: scope.concurrency,
            settle_delay_ms: 10_000,
            claim_timeout_ms: TIMEOUT_MS,
            partition_index_size_bytes: scope.split_above_bytes,
        };
        let cleaning =
            cleaner::Limits { deletion_delay_ms: scope.ripens.then_some(DELETION_DELAY_MS) };
        let (compactor, cleaner) = fleet.with_limits(limits, cleaning, scope.cleaner_marker);
        Self {
            scope: Arc::new(scope.clone()),
            judged: scope.properties(),
            reduce: true,
            witnesses: false,
            lenient_dup: false,
            coverage: None,
            #[cfg(feature = "checker")]
            renamings: names_kept(usize::from(scope.compactors + scope.cleaners)).into(),
            compactor: Arc::new(compactor),
            cleaner: Arc::new(cleaner),
            compacted: Steps::new(),
            cleaned: Steps::new(),
            dated: fleet.is_dated(),
            looks_before_work: fleet.looks_before_work(),
        }
    }

    /// The one initial state: the scope's prefix is done.
    pub fn start(&self) -> WorldOf<F> {
        self.run_prefix(&mut Tale::untold())
    }

    pub(super) fn origin(&self) -> WorldOf<F> {
        let mut store = Store::default();
        for place in 0..self.scope.early.len() {
            self.place(&mut store, place);
        }
        let count = self.scope.compactors + self.scope.cleaners;
        World {
            store: Part::new(store),
            processes: (0..count).map(|p| Part::new(self.newborn(p, 0))).collect(),
            late: Vec::new(),
            arrived: 0,
            operated: 0,
            faults_left: self.scope.faults.budget,
            plans_made: 0,
            broken: None,
            seen: Seen::default(),
        }
    }

    pub(super) fn newborn(&self, process: u8, incarnation: u32) -> ProcessOf<F> {
        let durable = Durable { process: ProcessId(u32::from(process)), incarnation };
        let role = if process < self.scope.compactors {
            RoleState::Compactor(self.compactor.recover(durable).into())
        } else {
            RoleState::Cleaner(self.cleaner.recover(durable).into())
        };
        Process {
            role,
            pending: Vec::new(),
            waits: Vec::new(),
            paused: false,
            no_compact_seen: Vec::new(),
            plan_read_failed: false,
        }
    }

    /// Uploads the block of this place, whole and at once: an uploader's own crash is not in question.
    pub(super) fn place(&self, store: &mut Store, place: usize) {
        let upload = self.scope.upload(place);
        let id = BlockId(place as u128 + 1);
        let made_by = upload.part.map(|(partition, partition_count)| Provenance {
            group: surehold::compaction::object::GroupId(1),
            plan: PlanId(1),
            partition_count,
            partition,
        });
        let meta = Meta {
            id,
            min_time_ms: 0,
            max_time_ms: 1000,
            index_size_bytes: upload.index_bytes,
            made_by,
        };
        let block = Block {
            samples: self.scope.samples(place),
            inputs: Vec::new(),
            ancestors: Vec::new(),
            chunks: true,
            index: true,
            meta: Some(Arc::new(meta)),
            deleted: None,
            global_mark: None,
            local_mark: None,
            aged: false,
            no_compact: false,
            was_no_compact: false,
        };
        store.blocks.insert(id, Part::new(block));
    }

    /// The state after an event of the world, or `None` if it cannot happen.
    pub fn apply(&self, world: &WorldOf<F>, action: Action, tale: &mut Tale) -> Option<WorldOf<F>> {
        let mut next = world.clone();
        self.coverage.iter().for_each(|coverage| coverage.happened(action));
        match action {
            Action::Run { process, number, fate, choice } => {
                self.run(&mut next, process, number, fate, choice, tale)?;
            }
            Action::Begin(process) => {
                tale.begins(&self.scope, process);
                self.begin(&mut next, process)?;
            }
            Action::Beat(process, slot) => {
                tale.beats(&self.scope, process);
                next.processes[process as usize].change().paused = false;
                self.deliver(&mut next, process, Happening::Continue(Task::Beat(slot)), tale)?;
            }
            Action::Land(at) => {
                let write = next.late.remove(at as usize);
                tale.lands(&self.scope, &write);
                next.seen.unknown_landed |= self.watches(Witness::UnknownLanded);
                self.write(&mut next, None, &write);
            }
            Action::Expire(key, partition) => {
                tale.expires(&self.scope, &next.store, key, partition);
                next.store.change().markers.get_mut(&(key, partition))?.expired = true;
            }
            Action::ExpireCleaner => {
                tale.cleaner_expires();
                next.store.change().cleaner_marker.as_mut()?.1 = true;
            }
            Action::Ripen(id) => {
                tale.ripens(&self.scope, id);
                self.ripen(&mut next, id);
            }
            Action::Upload => {
                let place = self.scope.early.len() + usize::from(next.arrived);
                tale.uploads(&self.scope, place);
                self.place(next.store.change(), place);
                next.arrived += 1;
            }
            Action::Operate => self.operate(&mut next, tale),
            Action::Crash(process) => {
                tale.crashes(&self.scope, process);
                self.crash(&mut next, process);
            }
            Action::Pause(process) => {
                tale.pauses(&self.scope, process);
                self.spend_fault(&mut next);
                next.processes[process as usize].change().paused = true;
            }
        }
        self.settle(&mut next, tale);
        Some(next)
    }

    pub(super) fn ripen(&self, world: &mut WorldOf<F>, id: BlockId) {
        if let Some(block) = world.store.change().blocks.get_mut(&id) {
            let block = block.change();
            block.aged = true;
            for mark in [&mut block.global_mark, &mut block.local_mark].into_iter().flatten() {
                mark.ripe = true;
            }
        }
    }

    /// Every sample uploaded so far.
    pub fn uploaded(&self, world: &WorldOf<F>) -> Samples {
        let places = 0..self.scope.early.len() + usize::from(world.arrived);
        places.map(|place| self.scope.samples(place)).fold(Samples::default(), Samples::union)
    }

    pub(super) fn operate(&self, world: &mut WorldOf<F>, tale: &mut Tale) {
        let operation = self.scope.operator[usize::from(world.operated)];
        world.operated += 1;
        match operation {
            Operation::SetNoCompact(name) => self.bar(world, name, true, tale),
            Operation::UnsetNoCompact(name) => self.bar(world, name, false, tale),
        }
    }

    /// The operator bars an early block from compaction, or no longer does.
    pub fn bar(&self, world: &mut WorldOf<F>, name: char, set: bool, tale: &mut Tale) {
        tale.bars(name, set);
        let place = self.scope.early.iter().position(|upload| upload.name == name);
        let id = BlockId(place.map_or(0, |place| place as u128 + 1));
        if let Some(block) = world.store.change().blocks.get_mut(&id) {
            let block = block.change();
            block.no_compact = set;
            block.was_no_compact |= set;
        }
    }

    /// The process starts again with nothing but its name. What it was writing may still land.
    pub(super) fn crash(&self, world: &mut WorldOf<F>, process: u8) {
        self.spend_fault(world);
        let old = world.processes[process as usize].clone();
        for issued in &old.pending {
            let write = match &issued.effect {
                Effect::Put(key, body) => Write { key: *key, body: Some(body.clone()) },
                Effect::Delete(key) => Write { key: *key, body: None },
                _ => continue,
            };
            self.leave(world, write);
        }
        let incarnation = self.next_life(world, process);
        world.processes[process as usize] = Part::new(self.newborn(process, incarnation));
        self.collect_garbage(world);
        if let Some(coverage) = &self.coverage {
            self.probe(&world.processes[process as usize], &old, coverage);
        }
    }

    /// Replies to the life before, and events that do not fit, must be refused. Only asked where coverage
    /// is counted: a refusal changes nothing.
    pub(super) fn probe(&self, new: &ProcessOf<F>, old: &ProcessOf<F>, coverage: &Coverage) {
        let input = Input { now_ms: 0, fresh: 0, pick: 0 };
        let incarnation = self.incarnation(new);
        let stale = EffectId { incarnation: self.incarnation(old), number: 0 };
        let unknown = EffectId { incarnation, number: 999 };
        let outcome = Outcome::Applied;
        for event in [
            Event::Outcome { id: stale, outcome: outcome.clone(), input },
            Event::Outcome { id: unknown, outcome, input },
            Event::Continue { task: Task::Beat(9), input },
        ] {
            match self.step(&new.role, event.clone()) {
                Ok(_) => panic!("{event:?} was taken by a process that has just started"),
                Err(refusal) => coverage.refused(refusal),
            }
        }
        if let Some(issued) = old.pending.first() {
            let id = issued.id;
            let unfit = match issued.effect {
                Effect::Wait(_) => Outcome::Applied,
                _ => Outcome::Elapsed,
            };
            let event = Event::Outcome { id, outcome: unfit, input };
            match self.step(&old.role, event.clone()) {
                Ok(_) => panic!("{event:?} was taken for the outcome of {:?}", issued.effect),
                Err(refusal) => coverage.refused(refusal),
            }
        }
    }

    pub(super) fn incarnation(&self, process: &ProcessOf<F>) -> u32 {
        match &process.role {
            RoleState::Compactor(state) => state.incarnation(),
            RoleState::Cleaner(state) => state.incarnation(),
        }
    }

    /// Parts of a block that nobody will finish are of no interest to anybody.
    pub(super) fn collect_garbage(&self, world: &mut WorldOf<F>) {
        let named = |key: &Key, id: &BlockId| matches!(key, Key::Chunks(b) | Key::Index(b) | Key::Meta(b) if b == id);
        let pending = |id: &BlockId| {
            let effects = world.processes.iter().flat_map(|p| &p.pending);
            effects.into_iter().any(|issued| match &issued.effect {
                Effect::Put(key, _) | Effect::Get(key) => named(key, id),
                _ => false,
            })
        };
        let late = |id: &BlockId| world.late.iter().any(|write| named(&write.key, id));
        let never_complete = |block: &Block| block.meta.is_none() && block.deleted.is_none();
        let dead = |id: &BlockId, block: &Block| never_complete(block) && !pending(id) && !late(id);
        if world.store.blocks.iter().any(|(id, block)| dead(id, block)) {
            let mut store = (*world.store).clone();
            store.blocks.retain(|id, block| !dead(id, block));
            world.store = Part::new(store);
        }
    }

    /// Carries out one effect and tells the process.
    pub(super) fn run(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        number: u16,
        fate: Fate,
        choice: Choice,
        tale: &mut Tale,
    ) -> Option<()> {
        let actor = world.processes[process as usize].change();
        let at = actor.pending.iter().position(|issued| issued.id.number == number)?;
        let Issued { id, effect } = actor.pending.remove(at);
        actor.waits.retain(|(waiting, _)| *waiting != number);
        actor.paused = false;
        if fate != Fate::Done {
            self.spend_fault(world);
        }
        if choice.clock != Clock::Later {
            self.spend_fault(world);
        }
        let outcome = self.perform(world, process, &effect, fate, choice);
        if let Effect::List(Prefix::Marks) = effect {
            self.note_no_compact(world, process);
        }
        if fate == Fate::Failed && effect == Effect::List(Prefix::Plans) {
            let there = !world.store.plans.is_empty();
            world.seen.plan_unread |= there && self.watches(Witness::PlanUnread);
        }
        if let Effect::Get(Key::Plan(_)) = effect {
            let actor = world.processes[process as usize].change();
            actor.plan_read_failed = self.scope.atomic_plans && outcome == Outcome::Failed;
        }
        if let Some(coverage) = &self.coverage {
            coverage.ran(&effect, &outcome);
        }
        tale.runs(&self.scope, process, &effect, &outcome, fate, choice);
        self.deliver(world, process, Happening::Outcome { id, outcome, effect, choice }, tale)?;
        self.collect_garbage_after(world, fate);
        Some(())
    }

    pub(super) fn collect_garbage_after(&self, world: &mut WorldOf<F>, fate: Fate) {
        if fate != Fate::Done {
            self.collect_garbage(world);
        }
    }

    pub(super) fn perform(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        effect: &Effect,
        fate: Fate,
        choice: Choice,
    ) -> Outcome {
        match (effect, fate) {
            (Effect::Put(key, body), _) => {
                let write = Write { key: *key, body: Some(body.clone()) };
                self.perform_write(world, process, write, fate)
            }
            (Effect::Delete(key), _) => {
                self.perform_write(world, process, Write { key: *key, body: None }, fate)
            }
            (_, Fate::Failed | Fate::Lost | Fate::Late) => Outcome::Failed,
            (Effect::List(prefix), Fate::Done) => Outcome::Listed(world.store.list(*prefix)),
            (Effect::Get(key), Fate::Done) => {
                world.store.get(*key).map_or(Outcome::Absent, Outcome::Found)
            }
            (Effect::Exists(key), Fate::Done) => {
                world.store.get(*key).map_or(Outcome::Absent, |_| Outcome::Exists)
            }
            (Effect::Merge(merge), Fate::Done) => self.merge(world, merge, choice),
            (Effect::Wait(_), Fate::Done) => Outcome::Elapsed,
        }
    }

    pub(super) fn perform_write(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        write: Write,
        fate: Fate,
    ) -> Outcome {
        match fate {
            Fate::Failed => Outcome::Failed,
            Fate::Late => {
                self.leave(world, write);
                Outcome::Unknown
            }
            Fate::Lost => {
                world.seen.unknown_applied |= self.watches(Witness::UnknownApplied);
                self.write(world, Some(process), &write);
                Outcome::Unknown
            }
            Fate::Done if self.is_refused(world, process, &write) => Outcome::Failed,
            Fate::Done => {
                self.write(world, Some(process), &write);
                Outcome::Applied
            }
        }
    }

    /// Where plans are created atomically: one is there already. A planner whose read had failed means to
    /// write over whatever there is.
    pub(super) fn is_refused(&self, world: &WorldOf<F>, process: u8, write: &Write) -> bool {
        let Key::Plan(key) = write.key else { return false };
        self.scope.atomic_plans
            && write.body.is_some()
            && world.store.plans.get(&key).is_some()
            && !world.processes[process as usize].plan_read_failed
    }

    /// A write takes effect. What it breaks is noted first.
    pub(super) fn write(&self, world: &mut WorldOf<F>, process: Option<u8>, write: &Write) {
        if world.broken.is_none() {
            world.broken = self.breaks(world, process, write);
        }
        world.store.change().put(write);
    }

    /// Merges: keeps of the inputs what falls into the partition.
    pub(super) fn merge(&self, world: &mut WorldOf<F>, merge: &Merge, choice: Choice) -> Outcome {
        self.merge_as(world, merge, |world| self.fresh_block(world, merge, choice))
    }

    /// As [`Model::merge`], with an id for the result; none if it is not to be.
    pub(super) fn merge_as(
        &self,
        world: &mut WorldOf<F>,
        merge: &Merge,
        fresh: impl FnOnce(&WorldOf<F>) -> Option<BlockId>,
    ) -> Outcome {
        let complete = |id: &BlockId| world.store.blocks.get(id).is_some_and(|b| b.meta.is_some());
        if !merge.inputs.iter().all(complete) {
            return Outcome::Failed;
        }
        let all = world.store.samples(&merge.inputs);
        let samples = self.scope.in_partition(all, merge.partition, merge.plan.count());
        if samples.is_empty() {
            return Outcome::Merged(Merged::Empty);
        }
        let Some(id) = fresh(world) else { return Outcome::Failed };
        let mut ancestors = merge.inputs.clone();
        for input in &merge.inputs {
            ancestors.extend(world.store.blocks.get(input).iter().flat_map(|b| &b.ancestors));
        }
        ancestors.sort_unstable();
        ancestors.dedup();
        let block = Block {
            samples,
            inputs: merge.inputs.clone(),
            ancestors,
            chunks: false,
            index: false,
            meta: None,
            deleted: None,
            global_mark: None,
            local_mark: None,
            aged: false,
            no_compact: false,
            was_no_compact: false,
        };
        world.store.change().blocks.insert(id, Part::new(block));
        Outcome::Merged(Merged::Block { id, index_size_bytes: self.scope.result_bytes })
    }

    /// The id of a new result: named after plan, partition and attempt, so that the order in which
    /// unrelated results are made leaves no trace. Three attempts at most; a fourth is cut.
    pub(super) fn fresh_block(
        &self,
        world: &WorldOf<F>,
        merge: &Merge,
        choice: Choice,
    ) -> Option<BlockId> {
        let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
        let free = |slot: &u128| world.store.blocks.get(&BlockId(base + slot)).is_none();
        let order = if choice.lesser_id { [1, 2, 3] } else { [2, 3, 1] };
        order.into_iter().find(free).map(|slot| BlockId(base + slot))
    }

    pub(super) fn has_attempt(&self, world: &WorldOf<F>, merge: &Merge) -> bool {
        let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
        (1..=3).any(|slot| world.store.blocks.get(&BlockId(base + slot)).is_some())
    }

    pub(super) fn begin(&self, world: &mut WorldOf<F>, process: u8) -> Option<()> {
        self.coverage.iter().for_each(|coverage| coverage.begun());
        self.deliver(world, process, Happening::Continue(Task::Cycle), &mut Tale::untold())?;
        self.note_no_compact(world, process);
        Some(())
    }

    /// What a cleaner can know of no-compact marks from now on.
    fn note_no_compact(&self, world: &mut WorldOf<F>, process: u8) {
        if process >= self.scope.compactors && !self.scope.operator.is_empty() {
            let marked = world.store.blocks.iter().filter(|(_, block)| block.no_compact);
            let marked = marked.map(|(id, _)| *id).collect();
            world.processes[process as usize].change().no_compact_seen = marked;
        }
    }

    /// Tells a process, and takes in what it wants done.
    fn deliver(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        happening: Happening,
        tale: &mut Tale,
    ) -> Option<()> {
        // Of the process only its role: while all of it is held here, the change below would have to copy it.
        let role = world.processes[process as usize].role.clone();
        let (now_s, choice) = (self.now_s(world), happening.choice());
        let expired = happening.reads_expired(&world.store);
        let ripe = happening.reads_ripe(&world.store);
        let now_ms = now_s * 1000
            + if expired { TIMEOUT_MS } else { 0 }
            + if ripe { DELETION_DELAY_MS } else { 0 };
        let fresh = self.fresh_plan(world, choice.clock);
        let input = Input { now_ms, fresh, pick: u32::from(choice.pick) };
        let mut taken = self.step(&role, happening.event(input)).ok()?;
        let plans = |taken: &Taken<F>| {
            taken.1.iter().any(|i| matches!(i.effect, Effect::Put(Key::Plan(_), _)))
        };
        if plans(&taken) {
            // The step stamps a plan: the clock shows what the choice says. The step is pure, so it is
            // taken once more with that time.
            let input = Input { now_ms: self.stamp_s(world, choice.clock) * 1000, ..input };
            taken = self.step(&role, happening.event(input)).ok()?;
            world.plans_made += 1;
        } else if choice.clock != Clock::Later {
            return None;
        }
        let (role, mut effects, decided_by) = taken;
        let mut waits = Vec::new();
        for issued in &mut effects {
            self.issue(world, &mut issued.effect);
            if let Effect::Wait(wait) = &issued.effect {
                waits.push((issued.id.number, self.about_to_write(world, process, wait.after)));
            }
        }
        if let Some(coverage) = &self.coverage {
            coverage.decided(&decided_by);
        }
        tale.decides(&decided_by, &effects, &self.scope);
        let actor = world.processes[process as usize].change();
        actor.role = role;
        actor.pending.append(&mut effects);
        actor.pending.sort_by_key(|issued| issued.id.number);
        actor.waits.append(&mut waits);
        self.release_waits(world, process);
        Some(())
    }

    /// An effect is issued. A stamp taken while reading an expired marker is brought back into the world's
    /// own time, and so is that of a deletion mark, whose age counts from its landing; a merge of a no-compact block is noted, as the look was just now.
    pub(super) fn issue(&self, world: &mut WorldOf<F>, effect: &mut Effect) {
        match effect {
            Effect::Put(Key::Marker(..), Body::Marker(marker)) => {
                marker.visited_ms %= TIMEOUT_MS;
            }
            Effect::Put(_, Body::DeletionMark(mark)) => mark.marked_ms = 0,
            Effect::Put(_, Body::CleanerMarker(marker)) => marker.visited_ms = 0,
            Effect::Merge(merge) if world.broken.is_none() && self.looks_before_work => {
                let no_compact = |id: &&BlockId| {
                    world.store.blocks.get(id).is_some_and(|block| block.no_compact)
                };
                let judged = self.judged.contains(&Property::NoCompactRespected);
                let merged = merge.inputs.iter().find(no_compact).filter(|_| judged);
                world.broken = merged.map(|id| Broken::NoCompactMerged(*id));
            }
            _ => {}
        }
    }

    pub(super) fn step(&self, role: &RoleOf<F>, event: Event) -> Result<Taken<F>, Refusal> {
        match role {
            RoleState::Compactor(state) => {
                let step = self.compacted.take(&self.compactor, state, event, |_, _| ())?;
                let role = RoleState::Compactor(step.state.clone());
                Ok((role, step.effects.clone(), step.decided_by.clone()))
            }
            RoleState::Cleaner(state) => {
                let step = self.cleaned.take(&self.cleaner, state, event, |_, _| ())?;
                let role = RoleState::Cleaner(step.state.clone());
                Ok((role, step.effects.clone(), step.decided_by.clone()))
            }
        }
    }
}

pub(super) type RoleOf<F> = RoleState<
    <<F as Fleet>::Compactor as Machine>::State,
    <<F as Fleet>::Cleaner as Machine>::State,
>;

pub(super) type Taken<F> = (RoleOf<F>, Vec<Issued<Effect>>, Vec<Guard>);

/// What a process is told. It lives for one step, so its size is of no matter.
#[expect(clippy::large_enum_variant, reason = "one lives at a time, on the stack")]
enum Happening {
    Continue(Task),
    Outcome { id: EffectId, outcome: Outcome, effect: Effect, choice: Choice },
}

impl Happening {
    fn event(&self, input: Input) -> Event {
        match self {
            Self::Continue(task) => Event::Continue { task: *task, input },
            Self::Outcome { id, outcome, .. } => {
                Event::Outcome { id: *id, outcome: outcome.clone(), input }
            }
        }
    }

    fn choice(&self) -> Choice {
        match self {
            Self::Continue(_) => Choice::default(),
            Self::Outcome { choice, .. } => *choice,
        }
    }

    /// Whether a marker was read whose owner's time has run out: it is then that late for the reader.
    fn reads_expired(&self, store: &Store) -> bool {
        match self {
            Self::Outcome {
                outcome: Outcome::Found(_),
                effect: Effect::Get(Key::Marker(key, p)),
                ..
            } => store.markers.get(&(*key, *p)).is_some_and(|visit| visit.expired),
            Self::Outcome {
                outcome: Outcome::Found(_),
                effect: Effect::Get(Key::CleanerMarker),
                ..
            } => store.cleaner_marker.is_some_and(|(_, expired)| expired),
            Self::Continue(_) | Self::Outcome { .. } => false,
        }
    }

    /// Whether a deletion mark was read that is older than the delay: it is then that late for the reader.
    fn reads_ripe(&self, store: &Store) -> bool {
        let Self::Outcome { outcome: Outcome::Found(_), effect: Effect::Get(key), .. } = self
        else {
            return false;
        };
        let copy = match key {
            Key::GlobalDeletionMark(id) => store.blocks.get(id).and_then(|b| b.global_mark),
            Key::DeletionMark(id) => store.blocks.get(id).and_then(|b| b.local_mark),
            _ => None,
        };
        copy.is_some_and(|copy| copy.ripe)
    }
}
