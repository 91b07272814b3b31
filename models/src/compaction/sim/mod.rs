//! The fleet as services run it, in one process and on a virtual clock: each role owned by the runtime's driver, the
//! model's bucket as the world, and everything else decided by a seed.
//!
//! A model takes a step of a role and its durable write as one. Here they are the driver's calls, and a process may
//! crash between any two of them; effects are under way for a while, take hold, and are answered later, or never. Time
//! is a clock: claims expire and marks grow old by their stamps.
//!
//! For the first hours things fail: processes crash, stand still, have clocks that are off; operations fail, are
//! applied with the reply lost, or land late, adapters panic; blocks arrive. From then on nothing fails, and the
//! bucket has to come to the goal of [`Goal::AllGone`].
//!
//! The same seed gives the same run, and the same [`Run::trace`], byte for byte.

mod chance;
mod node;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use surehold::compaction::cleaner;
use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::invariant::{Property, lost};
use surehold::compaction::object::{BlockId, Body};
use surehold::compaction::plan::Range;
use surehold::compaction::{Effect, Event, Input, Outcome, Task};
use surehold::runtime::driver::{GivenUp, Refused, Settled};
use surehold::runtime::durables::Memory;
use surehold::{EffectId, Issued};

use super::model::{Choice, Fate, Model, TIMEOUT_MS, WorldOf};
use super::scope::{GROUP, Goal, Scope, Upload};
use super::scopes;
use super::world::Write;
use chance::Chance;
pub use node::DrivenFleet;
use node::{Next, Node};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
/// Time in the model's limits is long, so that here it is as well: a claim expires after this.
const HOUR: u64 = TIMEOUT_MS;
/// Until then things fail.
const HARM_MS: u64 = 40 * HOUR;
/// How old a deletion mark has to be.
const DELAY_MS: u64 = 20 * HOUR;
/// Until then the goal is to be reached.
const END_MS: u64 = HARM_MS + 8 * DELAY_MS;
/// How far the clocks of two processes are apart at most.
const SKEW_MS: u64 = 2 * HOUR;

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Run {
    /// What happened, a line each, with its time.
    pub trace: String,
    /// What is wrong, if anything is.
    pub fault: Option<String>,
    /// How many crashes there were.
    pub crashes: u32,
    /// Outcomes that came to a later life than the one that asked, and were turned down.
    pub stale: u32,
    /// Effects of which nobody knows how they ended.
    pub given_up: u32,
    /// Effects carried out.
    pub effects: u32,
}

/// Something that is to happen.
enum Happening {
    Begin(u8),
    Beat(u8),
    /// A driver's next call.
    Call(u8),
    Start(u8),
    TakesHold(u8, Issued<Effect>),
    Answer(u8, EffectId, Option<Outcome>),
    Lands(Write),
    Arrives(usize),
}

struct Sim<'a, F: DrivenFleet> {
    model: &'a Model<F>,
    world: WorldOf<F>,
    nodes: Vec<Option<Node<F>>>,
    /// What is durable of those that are down.
    disks: Vec<Memory<Durable>>,
    next: Vec<Next>,
    /// Whether a call is on the agenda.
    called: Vec<bool>,
    /// How far each clock is ahead, ms.
    ahead_ms: Vec<u64>,
    /// By time, then in the order of entry.
    agenda: BTreeMap<(u64, u64), Happening>,
    entries: u64,
    now_ms: u64,
    chance: Chance,
    run: Run,
    arrived: BTreeSet<usize>,
}

/// Runs a fleet as the seed says.
#[must_use]
pub fn run<F: DrivenFleet>(fleet: &F, seed: u64) -> Run {
    let mut chance = Chance::new(seed);
    let model = model(fleet, &mut chance);
    let processes = usize::from(model.scope.compactors + model.scope.cleaners);
    let mut sim = Sim {
        world: model.start(),
        model: &model,
        nodes: (0..processes).map(|_| None).collect(),
        disks: vec![Memory::empty(); processes],
        next: vec![Next::Gather; processes],
        called: vec![false; processes],
        ahead_ms: (0..processes).map(|_| chance.below(2) * chance.below(SKEW_MS)).collect(),
        agenda: BTreeMap::new(),
        entries: 0,
        now_ms: 0,
        chance,
        run: Run {
            trace: String::new(),
            fault: None,
            crashes: 0,
            stale: 0,
            given_up: 0,
            effects: 0,
        },
        arrived: (0..model.scope.early.len()).collect(),
    };
    // What has gone wrong before excuses what the model would not.
    sim.world.faults_left = 0;
    sim.go();
    sim.run
}

/// A fleet of some size over some blocks.
fn model<F: DrivenFleet>(fleet: &F, chance: &mut Chance) -> Model<F> {
    let upload = |name| Upload::whole(name, 8, 2);
    let late = 1 + chance.below(3) as usize;
    let scope = Scope {
        early: "XYZ".chars().take(2 + chance.below(2) as usize).map(upload).collect(),
        late: "NMO".chars().take(late).map(upload).collect(),
        compactors: 1 + chance.below(3) as u8,
        cleaners: 1 + chance.below(2) as u8,
        concurrency: 1 + chance.below(2) as u8,
        classes: 8,
        split_above_bytes: 2 + chance.below(3),
        ripens: true,
        goal: Some(Goal::AllGone),
        faults: super::scope::Faults { budget: 1, ..super::scope::Faults::NONE },
        ..scopes::base("simulation", "What the runtime's driver makes of the roles.")
    };
    let mut model = Model::new(fleet, &scope);
    let limits = Limits {
        range: Range { group: GROUP, start_ms: 0, end_ms: 1000 },
        concurrency: scope.concurrency,
        settle_delay_ms: 10 * SECOND,
        claim_timeout_ms: TIMEOUT_MS,
        partition_index_size_bytes: scope.split_above_bytes,
    };
    let cleaning = cleaner::Limits { deletion_delay_ms: Some(DELAY_MS) };
    let (compactor, cleaner) = fleet.with_limits(limits, cleaning, false);
    (model.compactor, model.cleaner) = (Arc::new(compactor), Arc::new(cleaner));
    model.judged.retain(|property| *property != Property::NoDoubleWork);
    model
}

impl<F: DrivenFleet> Sim<'_, F> {
    fn go(&mut self) {
        for process in 0..self.nodes.len() as u8 {
            self.plan(0, Happening::Start(process));
            self.plan(SECOND, Happening::Begin(process));
            self.plan(SECOND, Happening::Beat(process));
        }
        let early = self.model.scope.early.len();
        for late in 0..self.model.scope.late.len() {
            let at = self.chance.below(HARM_MS);
            self.plan(at, Happening::Arrives(early + late));
        }
        while let Some(((at, _), happening)) = self.agenda.pop_first() {
            self.now_ms = at;
            if at > END_MS {
                self.run.fault = Some("the goal is not reached".into());
                return;
            }
            self.happens(happening);
            self.judge();
            if self.run.fault.is_some() || self.is_over() {
                return;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.now_ms > HARM_MS && self.model.is_at_goal(&self.world) == Some(true)
    }

    fn judge(&mut self) {
        let samples = self.arrived.iter().map(|place| self.model.scope.samples(*place));
        let uploaded =
            samples.fold(Default::default(), surehold::compaction::invariant::Samples::union);
        let missing = lost(uploaded, self.world.store.holdings());
        if let Some(broken) = &self.world.broken {
            self.run.fault = Some(format!("{}: {broken:?}", broken.property().name()));
        }
        if !missing.is_empty() {
            self.run.fault = Some(format!("{}: {missing:?}", Property::NoSampleLost.name()));
        }
    }

    fn plan(&mut self, in_ms: u64, happening: Happening) {
        let key = (self.now_ms + in_ms, self.entries);
        self.entries += 1;
        self.agenda.insert(key, happening);
    }

    fn tell(&mut self, process: u8, what: std::fmt::Arguments<'_>) {
        let written = writeln!(self.run.trace, "{} p{process} {what}", self.now_ms);
        written.expect("a string takes what is written");
    }

    fn harms(&mut self, one_in: u64) -> bool {
        self.now_ms < HARM_MS && self.chance.one_in(one_in)
    }

    fn input(&mut self, process: u8) -> Input {
        let now_ms = self.now_ms + self.ahead_ms[usize::from(process)];
        self.entries += 1;
        let fresh = (u128::from(now_ms) << 64) | u128::from(self.entries);
        Input { now_ms, fresh, pick: self.chance.below(8) as u32 }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Begin(process) => {
                self.offer(process, Task::Cycle);
                let pause = self.chance.between(MINUTE, HOUR / 4);
                self.plan(pause, Happening::Begin(process));
            }
            Happening::Beat(process) => {
                for slot in 0..self.model.scope.concurrency {
                    self.offer(process, Task::Beat(slot));
                }
                self.plan(HOUR / 5, Happening::Beat(process));
            }
            Happening::Call(process) => self.call(process),
            Happening::Start(process) => self.start(process),
            Happening::TakesHold(process, issued) => self.takes_hold(process, issued),
            Happening::Answer(process, id, outcome) => self.answer(process, id, outcome),
            Happening::Lands(write) => {
                self.tell(0, format_args!("lands {write:?}"));
                self.model.write(&mut self.world, None, &write);
            }
            Happening::Arrives(place) => {
                self.tell(0, format_args!("block {place} arrives"));
                self.model.place(self.world.store.change(), place);
                self.arrived.insert(place);
            }
        }
    }

    fn start(&mut self, process: u8) {
        let at = usize::from(process);
        let node = Node::start(self.model, process, self.disks[at].clone());
        self.world.processes[at].change().role = node.role();
        self.nodes[at] = Some(node);
        self.next[at] = Next::Gather;
        self.tell(process, format_args!("starts"));
        self.call_soon(process);
    }

    fn crash(&mut self, process: u8) {
        let at = usize::from(process);
        let Some(node) = self.nodes[at].take() else { return };
        self.disks[at] = node.crash();
        self.run.crashes += 1;
        let next = self.next[at];
        self.tell(process, format_args!("crashes before {next:?}"));
        let down = self.chance.between(SECOND, HOUR);
        self.plan(down, Happening::Start(process));
    }

    fn offer(&mut self, process: u8, task: Task) {
        let input = self.input(process);
        let Some(node) = &mut self.nodes[usize::from(process)] else { return };
        // A task that is busy refuses, and a full queue waits for the next time.
        let _ = node.offer(Event::Continue { task, input });
        self.call_soon(process);
    }

    fn call_soon(&mut self, process: u8) {
        let at = usize::from(process);
        if self.nodes[at].is_some() && !std::mem::replace(&mut self.called[at], true) {
            let pause = if self.harms(200) { 3 * HOUR } else { 20 };
            let pause = self.chance.below(pause);
            self.plan(pause, Happening::Call(process));
        }
    }

    /// The driver's next call, or a crash before it.
    fn call(&mut self, process: u8) {
        let at = usize::from(process);
        self.called[at] = false;
        if self.harms(300) {
            return self.crash(process);
        }
        let Some(node) = &mut self.nodes[at] else { return };
        match self.next[at] {
            Next::Gather => {
                let refused = node.gather();
                self.next[at] = Next::Persist;
                if let Some(odd) = refused.iter().find(|r| !matches!(r, Refused::Event(..))) {
                    self.run.fault = Some(format!("an outcome is refused: {odd:?}"));
                }
            }
            Next::Persist => {
                node.persist();
                self.world.processes[at].change().role = node.role();
                self.next[at] = Next::HandOut;
            }
            Next::HandOut => match node.hand_out() {
                Some(issued) => self.sets_out(process, issued),
                None => {
                    self.next[at] = Next::Gather;
                    return;
                }
            },
        }
        self.call_soon(process);
    }

    /// An effect is under way.
    fn sets_out(&mut self, process: u8, issued: Issued<Effect>) {
        self.run.effects += 1;
        self.tell(process, format_args!("asks {issued:?}"));
        let takes = match &issued.effect {
            Effect::Wait(wait) => wait.delay_ms,
            Effect::Merge(_) => self.chance.between(MINUTE, HOUR / 2),
            _ if self.harms(50) => self.chance.below(2 * HOUR),
            _ => self.chance.between(5, 500),
        };
        self.plan(takes, Happening::TakesHold(process, issued));
    }

    fn is_of_this_life(&self, process: u8, id: EffectId) -> bool {
        use super::fleet::Seen as _;
        let Some(node) = &self.nodes[usize::from(process)] else { return false };
        let life = match node.role() {
            super::world::RoleState::Compactor(state) => state.incarnation(),
            super::world::RoleState::Cleaner(state) => state.incarnation(),
        };
        life == id.incarnation
    }

    fn takes_hold(&mut self, process: u8, issued: Issued<Effect>) {
        let Issued { id, effect } = issued;
        self.grow_old();
        let write = match &effect {
            Effect::Put(key, body) => Some(Write { key: *key, body: Some(body.clone()) }),
            Effect::Delete(key) => Some(Write { key: *key, body: None }),
            _ => None,
        };
        let alive = self.is_of_this_life(process, id);
        let fate = if self.now_ms < HARM_MS { self.chance.below(60) } else { 60 };
        let outcome = match (write, fate) {
            // Whoever asked is gone: it has left the process, or has not.
            (Some(write), _) if !alive => {
                if self.chance.one_in(2) {
                    self.tell(process, format_args!("takes hold after the crash: {write:?}"));
                    self.model.write(&mut self.world, None, &write);
                }
                Some(Outcome::Applied)
            }
            (Some(write), 0) => {
                let late = self.chance.below(4 * HOUR);
                self.plan(late, Happening::Lands(write));
                Some(Outcome::Unknown)
            }
            (_, 1) if !matches!(effect, Effect::Wait(_)) => {
                Some(self.perform(process, &effect, Fate::Failed))
            }
            (_, 2) if !matches!(effect, Effect::Wait(_)) => {
                Some(self.perform(process, &effect, Fate::Lost))
            }
            // The adapter panics, before or after.
            (_, 3) => {
                if self.chance.one_in(2) {
                    self.perform(process, &effect, Fate::Done);
                }
                None
            }
            _ => Some(self.perform(process, &effect, Fate::Done)),
        };
        let takes = if self.harms(50) { HOUR } else { 200 };
        let takes = self.chance.below(takes);
        self.plan(takes, Happening::Answer(process, id, outcome));
    }

    fn perform(&mut self, process: u8, effect: &Effect, fate: Fate) -> Outcome {
        let outcome = if let (Effect::Merge(merge), Fate::Done) = (effect, fate) {
            // Results are named by chance, so that a later one may be less.
            self.entries += 1;
            let id = (u128::from(self.chance.below(1 << 32)) << 64) + u128::from(self.entries);
            self.model.merge_as(&mut self.world, merge, |_| Some(BlockId((1 << 96) + id)))
        } else {
            self.model.perform(&mut self.world, process, effect, fate, Choice::default())
        };
        self.tell(process, format_args!("{fate:?} {effect:?}: {outcome:?}"));
        outcome
    }

    fn answer(&mut self, process: u8, id: EffectId, outcome: Option<Outcome>) {
        let alive = self.is_of_this_life(process, id);
        let is_unknown = outcome.is_none();
        let input = self.input(process);
        let Some(node) = &mut self.nodes[usize::from(process)] else { return };
        let is_right = match outcome {
            Some(outcome) => {
                let settled = node.settle(Event::Outcome { id, outcome, input });
                settled == if alive { Settled::Taken } else { Settled::NotOut }
            }
            None => (node.give_up(id, input) != GivenUp::NotOut) == alive,
        };
        if !is_right {
            self.run.fault = Some(format!("the outcome of {id:?} is not taken as it should"));
        }
        self.run.stale += u32::from(!alive);
        self.run.given_up += u32::from(alive && is_unknown);
        self.call_soon(process);
    }

    /// Marks grow old by their stamps, and the clock of whoever reads them may be ahead.
    fn grow_old(&mut self) {
        let is_old = |body: Option<Body>| match body {
            Some(Body::DeletionMark(mark)) => mark.is_ripe(self.now_ms + SKEW_MS, DELAY_MS),
            _ => false,
        };
        let store = &self.world.store;
        use surehold::compaction::object::Key::{DeletionMark, GlobalDeletionMark};
        let ids = store.blocks.iter().map(|(id, _)| *id);
        let old: Vec<_> = ids
            .filter(|id| {
                is_old(store.get(GlobalDeletionMark(*id))) || is_old(store.get(DeletionMark(*id)))
            })
            .collect();
        for id in old {
            self.model.ripen(&mut self.world, id);
        }
    }
}
