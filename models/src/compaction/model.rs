//! The model: picks an event of the world, calls `step`, turns effects into the world's state.

use std::sync::Arc;

use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::effect::Merge;
use surehold::compaction::event::Merged;
use surehold::compaction::invariant::{Property, Samples, double_work, is_done_or_dead, unproven};
use surehold::compaction::marker::{Owner, Status};
use surehold::compaction::object::{
    BlockId, Body, DeletionMark, Key, MarkReason, Meta, PlanId, PlanKey, Prefix, ProcessId,
    Provenance,
};
use surehold::compaction::plan::Range;
use surehold::compaction::{Effect, Event, Guard, Input, Outcome, Refusal, Task};
use surehold::{EffectId, Issued, Machine};

use super::coverage::Coverage;
use super::fleet::{Fleet, Seen as _};
use super::scope::{Act, GROUP, Operation, Scope, Until, Witness};
use super::tale::Tale;
use super::world::{Block, Broken, Process, RoleState, Seen, Store, World, Write};
use crate::part::Part;

/// After how long a claim expires, ms. Only its being longer than anything else here matters.
pub const TIMEOUT_MS: u64 = 1_000_000_000;

/// The world of a fleet.
pub type WorldOf<F> =
    World<<<F as Fleet>::Compactor as Machine>::State, <<F as Fleet>::Cleaner as Machine>::State>;

type ProcessOf<F> =
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
    pub(super) compactor: Arc<F::Compactor>,
    pub(super) cleaner: Arc<F::Cleaner>,
    dated: bool,
    looks_before_work: bool,
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
        let (compactor, cleaner) = fleet.with_limits(limits);
        Self {
            scope: Arc::new(scope.clone()),
            judged: scope.properties(),
            reduce: true,
            witnesses: false,
            lenient_dup: false,
            coverage: None,
            compactor: Arc::new(compactor),
            cleaner: Arc::new(cleaner),
            dated: fleet.is_dated(),
            looks_before_work: fleet.looks_before_work(),
        }
    }

    /// The one initial state: the scope's prefix is done.
    pub fn start(&self) -> WorldOf<F> {
        self.run_prefix(&mut Tale::untold())
    }

    /// Runs what has happened before the scope begins. A variant that does not get as far as an act says
    /// begins where it stopped.
    pub fn run_prefix(&self, tale: &mut Tale) -> WorldOf<F> {
        let mut world = self.origin();
        for act in self.scope.prefix {
            match *act {
                Act::Run(process, until) => self.run_until(&mut world, process, until, tale),
                Act::Pause(process) => {
                    tale.pauses(&self.scope, process);
                    world.faults_left -= 1;
                    world.processes[process as usize].change().paused = true;
                }
                Act::Expire => {
                    let mut actions = Vec::new();
                    self.enabled(&world, &mut actions);
                    for action in actions {
                        if let Action::Expire(key, partition) = action {
                            tale.expires(&self.scope, &world.store, key, partition);
                            let visit = world.store.change().markers.get_mut(&(key, partition));
                            visit.expect("an enabled marker is there").expired = true;
                        }
                    }
                }
                Act::Upload => {
                    let place = self.scope.early.len() + usize::from(world.arrived);
                    tale.uploads(&self.scope, place);
                    self.place(world.store.change(), place);
                    world.arrived += 1;
                }
            }
        }
        self.settle(&mut world, &mut Tale::untold());
        world.seal();
        world
    }

    fn run_until(&self, world: &mut WorldOf<F>, process: u8, until: Until, tale: &mut Tale) {
        const ENOUGH: usize = 200;
        for _ in 0..ENOUGH {
            self.settle_one(world, process, tale);
            let waits = |issued: &&Issued<Effect>| !self.is_waiting(world, process, issued);
            let next = world.processes[process as usize].pending.iter().find(waits);
            let Some(number) = next.map(|issued| issued.id.number) else { return };
            if self.has_come(world, process, until) {
                return;
            }
            self.run(world, process, number, Fate::Done, Choice::default(), tale);
        }
    }

    fn has_come(&self, world: &WorldOf<F>, process: u8, until: Until) -> bool {
        let actor = &world.processes[process as usize];
        let about_to =
            |wanted: fn(&Effect) -> bool| actor.pending.iter().any(|issued| wanted(&issued.effect));
        let completed = |partition: u32| {
            world.store.markers.iter().any(|((_, p), v)| *p == partition && v.marker.is_completed())
        };
        let gone = world.store.plans.is_empty() && world.store.markers.is_empty();
        let deleting = about_to(|e| matches!(e, Effect::Delete(Key::Plan(_))));
        let RoleState::Compactor(state) = &actor.role else {
            return (until == Until::Gone && gone) || (until == Until::Deleting && deleting);
        };
        match until {
            Until::Deleting => deleting,
            Until::Gone => gone,
            Until::PlanPending => about_to(|e| matches!(e, Effect::Put(Key::Plan(_), _))),
            Until::PlanWritten => !world.store.plans.is_empty(),
            Until::PlanDone => {
                let mut plans = world.store.plans.values().peekable();
                plans.peek().is_some()
                    && plans.all(|plan| {
                        (0..plan.count()).all(|p| completed(p) || plan.members(p).is_empty())
                    })
            }
            Until::Picked => {
                state.has_picked().is_some()
                    && about_to(|e| matches!(e, Effect::Get(Key::Marker(..))))
            }
            Until::Merged => about_to(|e| matches!(e, Effect::Put(Key::Meta(_), _))),
            Until::Uploaded => about_to(
                |e| matches!(e, Effect::Put(_, Body::Marker(marker)) if marker.is_completed()),
            ),
            // Ours has then listed blocks and found no plan; upstream's asks for plans next.
            Until::Synced if self.dated => about_to(|e| matches!(e, Effect::List(Prefix::Plans))),
            Until::Synced => {
                state.about_to_plan() && about_to(|e| matches!(e, Effect::List(Prefix::Marks)))
            }
        }
    }

    /// Takes the steps of one process that nobody else can tell.
    fn settle_one(&self, world: &mut WorldOf<F>, process: u8, tale: &mut Tale) {
        if self.may_begin(&world.processes[process as usize]) {
            self.begin(world, process);
        }
        while let Some(number) = self.immediate_of(world, process) {
            self.run(world, process, number, Fate::Done, Choice::default(), tale);
        }
        if self.may_begin(&world.processes[process as usize]) {
            self.begin(world, process);
        }
    }

    fn immediate_of(&self, world: &WorldOf<F>, process: u8) -> Option<u16> {
        let mut pending = world.processes[process as usize].pending.iter();
        let effect = pending.find(|issued| self.is_immediate(world, process, issued));
        effect.map(|issued| issued.id.number)
    }

    fn origin(&self) -> WorldOf<F> {
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

    fn newborn(&self, process: u8, incarnation: u32) -> ProcessOf<F> {
        let durable = Durable { process: ProcessId(u32::from(process)), incarnation };
        let role = if process < self.scope.compactors {
            RoleState::Compactor(self.compactor.recover(durable))
        } else {
            RoleState::Cleaner(self.cleaner.recover(durable))
        };
        Process {
            role,
            pending: Vec::new(),
            waits: Vec::new(),
            paused: false,
            no_compact_at_start: Vec::new(),
            plan_read_failed: false,
        }
    }

    /// Uploads the block of this place, whole and at once: an uploader's own crash is not in question.
    fn place(&self, store: &mut Store, place: usize) {
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
            global_mark: None,
            local_mark: None,
            no_compact: false,
            was_no_compact: false,
        };
        store.blocks.insert(id, Arc::new(block));
    }

    /// The state after an event of the world, or `None` if it cannot happen.
    pub fn apply(&self, world: &WorldOf<F>, action: Action, tale: &mut Tale) -> Option<WorldOf<F>> {
        let mut next = world.clone();
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
                next.faults_left -= 1;
                next.processes[process as usize].change().paused = true;
            }
        }
        self.settle(&mut next, tale);
        next.seal();
        Some(next)
    }

    /// Every sample uploaded so far.
    pub fn uploaded(&self, world: &WorldOf<F>) -> Samples {
        let places = 0..self.scope.early.len() + usize::from(world.arrived);
        places.map(|place| self.scope.samples(place)).fold(Samples::default(), Samples::union)
    }

    fn operate(&self, world: &mut WorldOf<F>, tale: &mut Tale) {
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
            let block = Arc::make_mut(block);
            block.no_compact = set;
            block.was_no_compact |= set;
        }
    }

    /// The process starts again with nothing but its name. What it was writing may still land.
    fn crash(&self, world: &mut WorldOf<F>, process: u8) {
        world.faults_left -= 1;
        let old = world.processes[process as usize].clone();
        let incarnation = self.incarnation(&old) + 1;
        for issued in &old.pending {
            let write = match &issued.effect {
                Effect::Put(key, body) => Write { key: *key, body: Some(body.clone()) },
                Effect::Delete(key) => Write { key: *key, body: None },
                _ => continue,
            };
            world.late.push(write);
        }
        world.processes[process as usize] = Part::new(self.newborn(process, incarnation));
        self.collect_garbage(world);
        if let Some(coverage) = &self.coverage {
            self.probe(&world.processes[process as usize], &old, coverage);
        }
    }

    /// Replies to the life before, and events that do not fit, must be refused. Only asked where coverage
    /// is counted: a refusal changes nothing.
    fn probe(&self, new: &ProcessOf<F>, old: &ProcessOf<F>, coverage: &Coverage) {
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

    fn incarnation(&self, process: &ProcessOf<F>) -> u32 {
        match &process.role {
            RoleState::Compactor(state) => state.incarnation(),
            RoleState::Cleaner(state) => state.incarnation(),
        }
    }

    /// Parts of a block that nobody will finish are of no interest to anybody.
    fn collect_garbage(&self, world: &mut WorldOf<F>) {
        let named = |key: &Key, id: &BlockId| matches!(key, Key::Chunks(b) | Key::Index(b) | Key::Meta(b) if b == id);
        let pending = |id: &BlockId| {
            let effects = world.processes.iter().flat_map(|p| &p.pending);
            effects.into_iter().any(|issued| match &issued.effect {
                Effect::Put(key, _) | Effect::Get(key) => named(key, id),
                _ => false,
            })
        };
        let late = |id: &BlockId| world.late.iter().any(|write| named(&write.key, id));
        let dead = |id: &BlockId, block: &Block| block.meta.is_none() && !pending(id) && !late(id);
        if world.store.blocks.iter().any(|(id, block)| dead(id, block)) {
            let mut store = (*world.store).clone();
            store.blocks.retain(|id, block| !dead(id, block));
            world.store = Part::new(store);
        }
    }

    /// Carries out one effect and tells the process.
    fn run(
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
            world.faults_left -= 1;
        }
        if choice.clock != Clock::Later {
            world.faults_left -= 1;
        }
        let outcome = self.perform(world, process, &effect, fate, choice);
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

    fn collect_garbage_after(&self, world: &mut WorldOf<F>, fate: Fate) {
        if fate != Fate::Done {
            self.collect_garbage(world);
        }
    }

    fn perform(
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

    fn perform_write(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        write: Write,
        fate: Fate,
    ) -> Outcome {
        match fate {
            Fate::Failed => Outcome::Failed,
            Fate::Late => {
                world.late.push(write);
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
    fn is_refused(&self, world: &WorldOf<F>, process: u8, write: &Write) -> bool {
        let Key::Plan(key) = write.key else { return false };
        self.scope.atomic_plans
            && write.body.is_some()
            && world.store.plans.get(&key).is_some()
            && !world.processes[process as usize].plan_read_failed
    }

    /// A write takes effect. What it breaks is noted first.
    fn write(&self, world: &mut WorldOf<F>, process: Option<u8>, write: &Write) {
        if world.broken.is_none() {
            world.broken = self.breaks(world, process, write);
        }
        world.store.change().put(write);
    }

    fn breaks(&self, world: &WorldOf<F>, process: Option<u8>, write: &Write) -> Option<Broken> {
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

    fn breaks_marking(
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

    fn breaks_uploading(&self, world: &WorldOf<F>, id: BlockId) -> Option<Broken> {
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

    /// Merges: keeps of the inputs what falls into the partition.
    fn merge(&self, world: &mut WorldOf<F>, merge: &Merge, choice: Choice) -> Outcome {
        let complete = |id: &BlockId| world.store.blocks.get(id).is_some_and(|b| b.meta.is_some());
        if !merge.inputs.iter().all(complete) {
            return Outcome::Failed;
        }
        let all = world.store.samples(&merge.inputs);
        let samples = self.scope.in_partition(all, merge.partition, merge.plan.count());
        if samples.is_empty() {
            return Outcome::Merged(Merged::Empty);
        }
        let Some(id) = self.fresh_block(world, merge, choice) else { return Outcome::Failed };
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
            global_mark: None,
            local_mark: None,
            no_compact: false,
            was_no_compact: false,
        };
        world.store.change().blocks.insert(id, Arc::new(block));
        Outcome::Merged(Merged::Block { id, index_size_bytes: self.scope.result_bytes })
    }

    /// The id of a new result: named after plan, partition and attempt, so that the order in which
    /// unrelated results are made leaves no trace. Three attempts at most; a fourth is cut.
    fn fresh_block(&self, world: &WorldOf<F>, merge: &Merge, choice: Choice) -> Option<BlockId> {
        let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
        let free = |slot: &u128| world.store.blocks.get(&BlockId(base + slot)).is_none();
        let order = if choice.lesser_id { [1, 2, 3] } else { [2, 3, 1] };
        order.into_iter().find(free).map(|slot| BlockId(base + slot))
    }

    fn has_attempt(&self, world: &WorldOf<F>, merge: &Merge) -> bool {
        let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
        (1..=3).any(|slot| world.store.blocks.get(&BlockId(base + slot)).is_some())
    }

    fn begin(&self, world: &mut WorldOf<F>, process: u8) -> Option<()> {
        self.deliver(world, process, Happening::Continue(Task::Cycle), &mut Tale::untold())?;
        if process >= self.scope.compactors && !self.scope.operator.is_empty() {
            let marked = world.store.blocks.iter().filter(|(_, block)| block.no_compact);
            let marked = marked.map(|(id, _)| *id).collect();
            world.processes[process as usize].change().no_compact_at_start = marked;
        }
        Some(())
    }

    /// Tells a process, and takes in what it wants done.
    fn deliver(
        &self,
        world: &mut WorldOf<F>,
        process: u8,
        happening: Happening,
        tale: &mut Tale,
    ) -> Option<()> {
        let actor = world.processes[process as usize].clone();
        let (now_s, choice) = (self.now_s(world), happening.choice());
        let expired = happening.reads_expired(&world.store);
        let now_ms = now_s * 1000 + if expired { TIMEOUT_MS } else { 0 };
        let fresh = self.fresh_plan(world, choice.clock);
        let input = Input { now_ms, fresh, pick: u32::from(choice.pick) };
        let mut taken = self.step(&actor.role, happening.event(input)).ok()?;
        let plans = |taken: &Taken<F>| {
            taken.1.iter().any(|i| matches!(i.effect, Effect::Put(Key::Plan(_), _)))
        };
        if plans(&taken) {
            // The step stamps a plan: the clock shows what the choice says. The step is pure, so it is
            // taken once more with that time.
            let input = Input { now_ms: self.stamp_s(world, choice.clock) * 1000, ..input };
            taken = self.step(&actor.role, happening.event(input)).ok()?;
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
    /// own time; a merge of a no-compact block is noted, as the look was just now.
    fn issue(&self, world: &mut WorldOf<F>, effect: &mut Effect) {
        match effect {
            Effect::Put(Key::Marker(..), Body::Marker(marker)) => {
                marker.visited_ms %= TIMEOUT_MS;
            }
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

    /// Seconds: a plan bears a multiple of four, a visit one more than the last plan before it.
    fn now_s(&self, world: &WorldOf<F>) -> u64 {
        if self.dated { 4 * u64::from(world.plans_made) + 1 } else { 1 }
    }

    fn stamp_s(&self, world: &WorldOf<F>, clock: Clock) -> u64 {
        let last = 4 * u64::from(world.plans_made);
        match clock {
            _ if !self.dated => 1,
            Clock::Later => last + 4,
            Clock::Same => last,
            Clock::Behind => last.saturating_sub(1),
        }
    }

    /// Plan ids are ULIDs: later ones are greater, unless a clock is behind.
    fn fresh_plan(&self, world: &WorldOf<F>, clock: Clock) -> u128 {
        let last = 10 * u128::from(world.plans_made);
        if clock == Clock::Behind && !self.dated { last - 5 } else { last + 10 }
    }

    fn step(&self, role: &RoleOf<F>, event: Event) -> Result<Taken<F>, Refusal> {
        match role {
            RoleState::Compactor(state) => {
                let step = self.compactor.step(state, event)?;
                Ok((RoleState::Compactor(step.state), step.effects, step.decided_by))
            }
            RoleState::Cleaner(state) => {
                let step = self.cleaner.step(state, event)?;
                Ok((RoleState::Cleaner(step.state), step.effects, step.decided_by))
            }
        }
    }

    /// Takes the steps that nobody else can tell, until there is none.
    pub(super) fn settle(&self, world: &mut WorldOf<F>, tale: &mut Tale) {
        if !self.reduce {
            return;
        }
        while let Some((process, number)) = self.next_immediate(world) {
            let taken = match number {
                None => self.begin(world, process),
                Some(number) => {
                    self.run(world, process, number, Fate::Done, Choice::default(), tale)
                }
            };
            assert!(taken.is_some(), "a step that may be taken at once is not refused");
        }
    }

    fn next_immediate(&self, world: &WorldOf<F>) -> Option<(u8, Option<u16>)> {
        for (at, actor) in world.processes.iter().enumerate() {
            let process = at as u8;
            if self.may_begin(actor) {
                return Some((process, None));
            }
            if let Some(number) = self.immediate_of(world, process) {
                return Some((process, Some(number)));
            }
        }
        None
    }

    fn may_begin(&self, actor: &ProcessOf<F>) -> bool {
        match &actor.role {
            RoleState::Compactor(state) => {
                state.can_begin() && state.jobs_running() < usize::from(self.scope.concurrency)
            }
            RoleState::Cleaner(state) => state.can_begin(),
        }
    }

    /// Whether this effect may be carried out at once, since when it happens makes no difference to anybody
    /// and no fault of the scope can hit it:
    ///
    /// - a read of what nobody else can write or delete any more in this scope;
    /// - a write that nobody else reads: a result's chunks and index before its meta, the copy of a mark that
    ///   this fleet does not read;
    /// - a merge, which reads immutable blocks and writes to its own disk;
    /// - the end of a wait, once the wait's condition holds.
    ///
    /// The beginning of a cycle is treated likewise. Verdicts with and without agree (`tests/reduction.rs`).
    fn is_immediate(&self, world: &WorldOf<F>, process: u8, issued: &Issued<Effect>) -> bool {
        let effect = &issued.effect;
        let faults = &self.scope.faults;
        let cleaner = process >= self.scope.compactors;
        let only_marker = cleaner && self.scope.cleaners == 1 && faults.budget == 0;
        let reads_fail = faults.budget > 0 && faults.read_fails;
        let steady = |key: &Key| match key {
            // Once there, never gone: nothing deletes blocks or deletion marks here.
            Key::Meta(_) | Key::DeletionMark(_) | Key::GlobalDeletionMark(_) => {
                world.store.get(*key).is_some() || (only_marker && !matches!(key, Key::Meta(_)))
            }
            Key::NoCompactMark(_) | Key::GlobalNoCompactMark(_) => self.scope.operator.is_empty(),
            _ => false,
        };
        let swift = self.scope.swift_sync
            && matches!(&world.processes[process as usize].role,
                RoleState::Compactor(state) if state.is_syncing());
        match effect {
            Effect::Get(_) if swift && !reads_fail => true,
            Effect::Get(key) | Effect::Exists(key) => !reads_fail && steady(key),
            Effect::List(Prefix::Marks) => {
                !reads_fail && only_marker && self.scope.operator.is_empty()
            }
            Effect::List(_) => false,
            Effect::Put(Key::Chunks(_) | Key::Index(_), _) => !faults.writes_fail(),
            Effect::Put(Key::DeletionMark(_), _) => !self.dated && faults.budget == 0,
            Effect::Put(Key::GlobalDeletionMark(_), _) => false,
            Effect::Put(..) | Effect::Delete(_) => false,
            Effect::Merge(merge) => !reads_fail && !self.has_attempt(world, merge),
            Effect::Wait(_) => !self.is_waiting(world, process, issued),
        }
    }

    /// Whether a wait is not over: somebody who had looked before it began, and does not stand still, has yet
    /// to write. Whoever looks later sees what the wait came after.
    pub(super) fn is_waiting(
        &self,
        world: &WorldOf<F>,
        process: u8,
        issued: &Issued<Effect>,
    ) -> bool {
        let Effect::Wait(wait) = &issued.effect else { return false };
        let waits = &world.processes[process as usize].waits;
        let Some((_, awaited)) = waits.iter().find(|(number, _)| *number == issued.id.number)
        else {
            return false;
        };
        let others = world.processes.iter().enumerate();
        others.into_iter().any(|(at, actor)| {
            awaited & (1 << at) != 0 && !actor.paused && Self::is_about_to_write(actor, wait.after)
        })
    }

    /// The processes, as bits, that have looked and are about to write what a wait comes after.
    fn about_to_write(&self, world: &WorldOf<F>, process: u8, after: Key) -> u8 {
        let others = world.processes.iter().enumerate().filter(|(at, _)| *at != process as usize);
        let about_to = others.filter(|(_, actor)| Self::is_about_to_write(actor, after));
        about_to.fold(0, |bits, (at, _)| bits | (1 << at))
    }

    fn is_about_to_write(actor: &ProcessOf<F>, after: Key) -> bool {
        let Key::Marker(folder, partition) = after else { return false };
        let writes = actor
            .pending
            .iter()
            .any(|issued| matches!(&issued.effect, Effect::Put(key, _) if *key == after));
        let RoleState::Compactor(state) = &actor.role else { return writes };
        let claims = state.about_to_claim().is_some_and(|(plan, p)| {
            p == partition && folder.plan.is_none_or(|named| named == plan)
        });
        writes || claims || state.about_to_plan()
    }

    /// A process has taken a step: whoever waited for its write need not wait any more, if it is written.
    fn release_waits(&self, world: &mut WorldOf<F>, process: u8) {
        let bit = 1u8 << process;
        for at in 0..world.processes.len() {
            let waits = &world.processes[at].waits;
            let holds = |(number, awaited): &(u16, u8)| {
                let wait = world.processes[at].pending.iter().find(|i| i.id.number == *number);
                let after = wait.and_then(|issued| match &issued.effect {
                    Effect::Wait(wait) => Some(wait.after),
                    _ => None,
                });
                let actor = &world.processes[process as usize];
                awaited & bit != 0
                    && after.is_some_and(|after| !Self::is_about_to_write(actor, after))
            };
            if waits.iter().any(holds) {
                let released: Vec<_> = waits
                    .iter()
                    .map(|wait| if holds(wait) { (wait.0, wait.1 & !bit) } else { *wait })
                    .collect();
                world.processes[at].change().waits = released;
            }
        }
    }

    /// Whether a bound of the scope stops this effect.
    fn is_cut_off(&self, world: &WorldOf<F>, effect: &Effect) -> bool {
        match effect {
            Effect::Put(Key::Plan(_), Body::Plan(plan)) => {
                plan.id.0 > 10 * u128::from(self.scope.max_plans)
            }
            Effect::Merge(merge) => {
                let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
                (1..=3).all(|slot| world.store.blocks.get(&BlockId(base + slot)).is_some())
            }
            _ => false,
        }
    }

    /// Whether a bound of the scope stops something in this state.
    pub fn is_cut_state(&self, world: &WorldOf<F>) -> bool {
        let mut pending = world.processes.iter().flat_map(|actor| &actor.pending);
        pending.any(|issued| self.is_cut_off(world, &issued.effect))
    }

    /// Every event that may happen.
    pub fn enabled(&self, world: &WorldOf<F>, actions: &mut Vec<Action>) {
        for (at, actor) in world.processes.iter().enumerate() {
            self.enabled_of(world, at as u8, actor, actions);
        }
        for (at, write) in world.late.iter().enumerate() {
            if !world.late[..at].contains(write) {
                actions.push(Action::Land(at as u8));
            }
        }
        for ((key, partition), visit) in world.store.markers.iter() {
            let marker = &visit.marker;
            let ages = self.scope.completed_age || !marker.is_completed();
            if !visit.expired
                && ages
                && !self.is_cared_for(world, marker.owner, marker.plan, *partition)
            {
                actions.push(Action::Expire(*key, *partition));
            }
        }
        if usize::from(world.arrived) < self.scope.late.len() {
            actions.push(Action::Upload);
        }
        if usize::from(world.operated) < self.scope.operator.len() {
            actions.push(Action::Operate);
        }
    }

    fn enabled_of(
        &self,
        world: &WorldOf<F>,
        process: u8,
        actor: &ProcessOf<F>,
        actions: &mut Vec<Action>,
    ) {
        if !self.reduce && self.may_begin(actor) {
            actions.push(Action::Begin(process));
        }
        for issued in &actor.pending {
            let effect = &issued.effect;
            if self.is_cut_off(world, effect) || self.is_waiting(world, process, issued) {
                continue;
            }
            let number = issued.id.number;
            self.choices(world, process, effect, |choice| {
                let fate = Fate::Done;
                actions.push(Action::Run { process, number, fate, choice });
            });
            if world.faults_left > 0 {
                self.fates(effect, |fate| {
                    let choice = Choice::default();
                    actions.push(Action::Run { process, number, fate, choice });
                });
            }
        }
        if let (true, RoleState::Compactor(state)) = (self.scope.beats, &actor.role) {
            actions.extend(state.beats().into_iter().map(|slot| Action::Beat(process, slot)));
        }
        if world.faults_left > 0 && self.scope.faults.crash {
            actions.push(Action::Crash(process));
        }
        if world.faults_left > 0 && self.scope.faults.pause && !actor.paused {
            let writes = actor.pending.iter().any(|i| matches!(i.effect, Effect::Put(..)));
            let works =
                matches!(&actor.role, RoleState::Compactor(state) if state.jobs_running() > 0);
            if writes || works {
                actions.push(Action::Pause(process));
            }
        }
    }

    fn choices(
        &self,
        world: &WorldOf<F>,
        process: u8,
        effect: &Effect,
        mut each: impl FnMut(Choice),
    ) {
        let default = Choice::default();
        each(default);
        let compactor = process < self.scope.compactors;
        let picks = if self.dated {
            matches!(effect, Effect::Get(Key::Plan(_)) | Effect::Put(Key::Plan(_), _))
        } else {
            matches!(effect, Effect::List(Prefix::Marks))
        };
        if compactor && picks {
            for pick in 1..self.scope.picks {
                each(Choice { pick, ..default });
            }
        }
        if let Effect::Merge(merge) = effect
            && self.has_attempt(world, merge)
        {
            each(Choice { lesser_id: true, ..default });
        }
        let stamps = matches!(effect, Effect::Get(Key::Plan(_)) | Effect::List(Prefix::Marks));
        if compactor && stamps && world.faults_left > 0 && world.plans_made > 0 {
            if self.scope.faults.same_second && self.dated {
                each(Choice { clock: Clock::Same, ..default });
            }
            if self.scope.faults.clock_behind {
                each(Choice { clock: Clock::Behind, ..default });
            }
        }
    }

    fn fates(&self, effect: &Effect, mut each: impl FnMut(Fate)) {
        let faults = &self.scope.faults;
        let (fails, unknown) = match effect {
            Effect::Put(..) | Effect::Delete(_) => (faults.write_fails, true),
            Effect::Wait(_) => (false, false),
            Effect::List(_) | Effect::Get(_) | Effect::Exists(_) | Effect::Merge(_) => {
                (faults.read_fails, false)
            }
        };
        if fails {
            each(Fate::Failed);
        }
        if unknown && faults.reply_lost {
            each(Fate::Lost);
        }
        if unknown && faults.write_late {
            each(Fate::Late);
        }
    }

    /// Whether the owner of a marker is alive, at work on it and not standing still, so that its
    /// heartbeats come in time.
    fn is_cared_for(&self, world: &WorldOf<F>, owner: Owner, plan: PlanId, partition: u32) -> bool {
        let Some(actor) = world.processes.get(owner.process.0 as usize) else { return false };
        match &actor.role {
            RoleState::Compactor(state) => {
                state.incarnation() == owner.incarnation
                    && !actor.paused
                    && state.works_on(plan, partition)
            }
            RoleState::Cleaner(_) => false,
        }
    }

    pub(super) fn watches(&self, witness: Witness) -> bool {
        self.witnesses && self.scope.witnesses.contains(&witness)
    }

    /// Whether a state shows what a witness looks for.
    pub fn shows(&self, world: &WorldOf<F>, witness: Witness) -> bool {
        let late_plan = |at_least: usize| {
            let early = self.scope.early.len() as u128;
            world.store.plans.iter().find(|(_, plan)| {
                plan.parents().iter().any(|id| id.0 > early && id.0 <= early + at_least as u128)
            })
        };
        let compactors = || {
            world.processes.iter().filter_map(|actor| match &actor.role {
                RoleState::Compactor(state) => Some((state, actor.paused)),
                RoleState::Cleaner(_) => None,
            })
        };
        let markers = || world.store.markers.iter().map(|((_, p), visit)| (*p, visit));
        match witness {
            Witness::ParentMarked => {
                world.store.blocks.iter().any(|(_, block)| block.global_mark.is_some())
            }
            Witness::SecondPlanDone => world
                .store
                .blocks
                .iter()
                .any(|(id, block)| block.global_mark.is_some() && id.0 >= 1000),
            Witness::SupersededWhilePaused => late_plan(8).is_some_and(|(_, plan)| {
                compactors().any(|(state, paused)| paused && state.works_on_other_than(plan.id))
            }),
            Witness::SupersededWhilePicked => late_plan(8).is_some_and(|(_, plan)| {
                compactors().any(|(state, _)| state.has_picked().is_some_and(|id| id != plan.id))
            }),
            Witness::UnknownApplied => world.seen.unknown_applied,
            Witness::UnknownLanded => world.seen.unknown_landed,
            Witness::TakenOverWhileAlive => markers().any(|(partition, visit)| {
                let marker = &visit.marker;
                !marker.is_completed()
                    && world.processes.iter().enumerate().any(|(at, actor)| {
                        let other = at != marker.owner.process.0 as usize;
                        let RoleState::Compactor(state) = &actor.role else { return false };
                        other && state.works_on(marker.plan, partition)
                    })
            }),
            Witness::TwoCleanersOnePlan => {
                let mut held = world.processes.iter().filter_map(|actor| match &actor.role {
                    RoleState::Cleaner(state) => state.plan_in_hand().map(|plan| plan.id),
                    RoleState::Compactor(_) => None,
                });
                held.next().is_some_and(|first| held.any(|other| other == first))
            }
            Witness::TwinResults => {
                let made =
                    || world.store.holdings().filter_map(|h| h.meta.made_by.map(|m| (h.block, m)));
                made().any(|(a, by)| made().any(|(b, other)| a < b && by == other))
            }
            Witness::EmptyCompleted => markers().any(|(_, visit)| {
                visit.marker.status
                    == Status::Completed(surehold::compaction::marker::Finding::Empty)
            }),
            Witness::NoCompactSetAndRemoved => {
                usize::from(world.operated) == self.scope.operator.len()
                    && !world.store.plans.is_empty()
            }
            Witness::TwoJobs => compactors().any(|(state, _)| state.jobs_running() > 1),
        }
    }
}

type RoleOf<F> = RoleState<
    <<F as Fleet>::Compactor as Machine>::State,
    <<F as Fleet>::Cleaner as Machine>::State,
>;

type Taken<F> = (RoleOf<F>, Vec<Issued<Effect>>, Vec<Guard>);

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
            Self::Continue(_) | Self::Outcome { .. } => false,
        }
    }
}
