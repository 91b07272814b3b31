//! Replays a scenario against a variant: who did what, what was refused, who lost what.

use serde::Serialize;
use surehold::compaction::Effect;
use surehold::compaction::Guard;
use surehold::compaction::invariant::{Property, lost};
use surehold::compaction::object::Key;
use surehold::compaction::upstream::Release;
use surehold::{Issued, Verified};

use super::coverage::effect_name;
use super::ending::samples;
use super::fleet::{Cortex, Fleet, Ours, Seen as _};
use super::model::{Action, Choice, Clock, Fate, Model, WorldOf};
use super::scenario::{Goal, Move, Outcome, Scenario, Unreadable};
use super::tale::{Line, Tale, block_name, plan_name};
use super::world::{Broken, RoleState};

/// A scenario replayed against one variant.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    /// The variant.
    pub variant: &'static str,
    /// Its steps.
    pub steps: Vec<Played>,
    /// How it ended.
    pub outcome: Outcome,
    /// Where that differs from what the file expects; `None` if it expects nothing of this variant.
    pub differences: Option<Vec<String>>,
}

/// One step played.
#[derive(Clone, Debug, Serialize)]
pub struct Played {
    /// What the report says.
    pub says: String,
    /// What happened.
    pub lines: Vec<Line>,
    /// Whether it could be done.
    pub done: bool,
    /// If not, the guards that refused.
    pub refused_by: Vec<&'static str>,
    /// If not, the check of upstream's that turned the process away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<&'static str>,
}

/// The variants a scenario can be replayed against.
pub fn variants() -> Vec<&'static str> {
    Release::ALL.into_iter().map(Release::name).chain(["verified"]).collect()
}

/// Replays a scenario; `None` if there is no such variant.
///
/// # Errors
///
/// If a move cannot be read.
pub fn replay(scenario: &Scenario, variant: &str) -> Option<Result<Replayed, Unreadable>> {
    if variant == "verified" {
        return Some(play(&Ours(Verified), scenario, "verified"));
    }
    let release = Release::ALL.into_iter().find(|release| release.name() == variant)?;
    Some(play(&Cortex(release), scenario, release.name()))
}

fn play<F: Fleet>(
    fleet: &F,
    scenario: &Scenario,
    variant: &'static str,
) -> Result<Replayed, Unreadable> {
    let scope = scenario.scope();
    let mut model = Model::new(fleet, &scope);
    model.judged = Property::ALL.to_vec();
    model.judged.retain(|property| *property != Property::NoDoubleWork);
    model.lenient_dup = true;
    let mut stage = Stage {
        world: model.start(),
        model,
        fails: None,
        clock: None,
        twice: false,
        harmed: false,
    };
    let mut steps = Vec::new();
    for scene in &scenario.steps {
        let mut played = Played {
            says: scene.says.clone(),
            lines: Vec::new(),
            done: true,
            refused_by: Vec::new(),
            stopped_by: None,
        };
        for text in &scene.moves {
            stage.act(scenario.read(text)?, &mut played);
        }
        steps.push(played);
    }
    let outcome = stage.outcome(scenario, &steps);
    let differences = scenario.expect.get(variant).map(|expected| outcome.differences(expected));
    Ok(Replayed { variant, steps, outcome, differences })
}

struct Stage<F: Fleet> {
    model: Model<F>,
    world: WorldOf<F>,
    /// A process whose next operation fails.
    fails: Option<u8>,
    /// A planner whose next plan is stamped by such a clock.
    clock: Option<(u8, Clock)>,
    /// Whether work was done twice.
    twice: bool,
    /// Whether a live plan or a marker of one was deleted.
    harmed: bool,
}

impl<F: Fleet> Stage<F> {
    fn act(&mut self, movement: Move, played: &mut Played) {
        match movement {
            Move::Run(process, goal) => self.run(process, &goal, played),
            Move::Pause(process) => self.happen(Action::Pause(process), played),
            Move::Crash(process) => self.happen(Action::Crash(process), played),
            Move::Fail(process) => self.fails = Some(process),
            Move::Beat(process) => self.beat(process, played),
            Move::Clock(process, clock) => self.clock = Some((process, clock)),
            Move::Upload => self.happen(Action::Upload, played),
            Move::Bar(name) => self.bar(name, true, played),
            Move::Unbar(name) => self.bar(name, false, played),
            Move::Expire => {
                let mut actions = Vec::new();
                self.model.enabled(&self.world, &mut actions);
                for action in actions.into_iter().filter(|a| matches!(a, Action::Expire(..))) {
                    self.happen(action, played);
                }
            }
        }
    }

    /// What needs nobody's doing happens.
    fn happen(&mut self, action: Action, played: &mut Played) {
        played.done &= self.take(action, played);
    }

    /// Takes an action; whether it could happen.
    fn take(&mut self, action: Action, played: &mut Played) -> bool {
        let mut tale = Tale::told();
        let Some(next) = self.model.apply(&self.world, action, &mut tale) else { return false };
        self.world = next;
        self.note();
        played.lines.extend(tale.into_lines());
        true
    }

    /// A heartbeat of a compactor's one job is sent and written.
    fn beat(&mut self, process: u8, played: &mut Played) {
        if !self.take(Action::Beat(process, 0), played) {
            played.done = false;
            return;
        }
        let pending = &self.world.processes[process as usize].pending;
        let beat = pending.iter().find(|issued| effect_name(&issued.effect) == "put-beat");
        if let Some(number) = beat.map(|issued| issued.id.number) {
            let (fate, choice) = (Fate::Done, Choice::default());
            self.happen(Action::Run { process, number, fate, choice }, played);
        }
    }

    /// Carries out an operation. Only one that stamps a plan can be done by a wrong clock.
    fn operate(&mut self, process: u8, number: u16, fate: Fate, played: &mut Played) {
        let wrong = self.clock.filter(|(who, _)| *who == process && self.world.plans_made > 0);
        if let Some((_, clock)) = wrong {
            let choice = Choice { clock, ..Choice::default() };
            if self.take(Action::Run { process, number, fate, choice }, played) {
                self.clock = None;
                return;
            }
        }
        let choice = Choice::default();
        self.happen(Action::Run { process, number, fate, choice }, played);
    }

    /// Takes note of what was broken, and goes on: a report is told to its end.
    fn note(&mut self) {
        match self.world.broken.take() {
            Some(Broken::DoubleWork(..)) => self.twice = true,
            Some(
                Broken::PlanDeleted(_) | Broken::PlanOverwritten(..) | Broken::MarkerDeleted(..),
            ) => {
                self.harmed = true;
            }
            Some(
                Broken::Unproven(..)
                | Broken::NoCompactMarked(_)
                | Broken::NoCompactMerged(_)
                | Broken::MetaBeforeData(_)
                | Broken::DataBeforeMeta(_)
                | Broken::Unripe(_),
            )
            | None => {}
        }
    }

    fn bar(&mut self, name: char, set: bool, played: &mut Played) {
        let mut tale = Tale::told();
        self.model.bar(&mut self.world, name, set, &mut tale);
        played.lines.extend(tale.into_lines());
    }

    /// Runs a process alone until its goal, or until it gives up: it comes to the end of a cycle without
    /// having got anywhere.
    fn run(&mut self, process: u8, goal: &Goal, played: &mut Played) {
        const ENOUGH: usize = 2000;
        let spans_cycles = matches!(goal, Goal::Completed(_) | Goal::Done | Goal::Gone);
        let mut wrote = spans_cycles;
        let mut refused_by = Vec::new();
        let (mut stopped_by, mut given_up) = (None, false);
        for operation in 0..ENOUGH {
            let asks = operation > 0 || *goal != Goal::Idle;
            if asks && self.has_come(process, goal) {
                return;
            }
            if operation > 0 && self.is_at_start(process) {
                if !wrote {
                    break;
                }
                wrote = false;
            }
            let Some(issued) = self.next_of(process) else { break };
            wrote |= matches!(issued.effect, Effect::Put(..) | Effect::Delete(_));
            if given_up {
                // What made it give the partition up has been said.
            } else if let Some(check) = self.check_of(process) {
                stopped_by = Some(check);
            } else if effect_name(&issued.effect) == "put-failed" {
                given_up = true;
            } else if matches!(issued.effect, Effect::Put(..) | Effect::Merge(_)) {
                // It passed.
                stopped_by = None;
            }
            let fails = self.fails.take_if(|who| *who == process).is_some();
            let fate = if fails { Fate::Failed } else { Fate::Done };
            let number = issued.id.number;
            let before = played.lines.len();
            self.operate(process, number, fate, played);
            let is_form = |name: &str| Guard::from_name(name).is_some_and(Guard::is_form);
            let decided = played.lines[before..].iter().flat_map(|line| &line.decided_by);
            let decided = decided.filter(|name| !is_form(name));
            refused_by.extend(decided.copied());
        }
        played.done = false;
        // The last guard that decided something is the one that turned the process away.
        played.refused_by.extend(refused_by.last());
        played.stopped_by = stopped_by.or(played.stopped_by);
    }

    fn check_of(&self, process: u8) -> Option<&'static str> {
        match &self.world.processes[process as usize].role {
            RoleState::Compactor(state) => state.check(),
            RoleState::Cleaner(state) => state.check(),
        }
    }

    fn next_of(&self, process: u8) -> Option<Issued<Effect>> {
        let pending = &self.world.processes[process as usize].pending;
        let may = |i: &&Issued<Effect>| !self.model.is_waiting(&self.world, process, i);
        pending.iter().find(may).cloned()
    }

    fn is_at_start(&self, process: u8) -> bool {
        let actor = &self.world.processes[process as usize];
        let busy = match &actor.role {
            RoleState::Compactor(state) => state.jobs_running() > 0 || !state.is_at_start(),
            RoleState::Cleaner(state) => !state.is_at_start(),
        };
        !busy
    }

    fn has_come(&self, process: u8, goal: &Goal) -> bool {
        let actor = &self.world.processes[process as usize];
        let store = &self.world.store;
        let newest = store.plans.values().map(|plan| plan.id).max();
        let completed = |partition: u32| {
            store.markers.iter().any(|((_, p), visit)| {
                *p == partition && visit.marker.is_completed() && Some(visit.marker.plan) == newest
            })
        };
        match goal {
            Goal::AboutTo(what, partition) => actor.pending.iter().any(|issued| {
                effect_name(&issued.effect) == what
                    && partition.is_none_or(|p| partition_of(&issued.effect) == Some(p))
            }),
            Goal::Picked => match &actor.role {
                RoleState::Compactor(state) => {
                    state.has_picked().is_some()
                        && actor.pending.iter().any(|i| effect_name(&i.effect) == "get-marker")
                }
                RoleState::Cleaner(_) => false,
            },
            Goal::Synced => {
                let knows = |i: &Issued<Effect>| {
                    matches!(effect_name(&i.effect), "list-plans" | "put-plan")
                };
                !self.is_at_start(process) && actor.pending.iter().any(knows)
            }
            Goal::Idle => self.is_at_start(process),
            Goal::Completed(partitions) => partitions.iter().all(|p| completed(*p)),
            Goal::Done => store.plans.values().any(|plan| {
                Some(plan.id) == newest
                    && (0..plan.count()).all(|p| completed(p) || plan.members(p).is_empty())
            }),
            // A pass between a plan's deletion and its markers' would go on to meet the next plan's.
            Goal::Gone => {
                self.is_at_start(process) && store.plans.is_empty() && store.markers.is_empty()
            }
        }
    }

    fn outcome(&self, scenario: &Scenario, steps: &[Played]) -> Outcome {
        let (scope, store) = (&self.model.scope, &self.world.store);
        let called = |name: String| scenario.world.names.get(&name).cloned().unwrap_or(name);
        let gone = lost(self.model.uploaded(&self.world), store.holdings());
        let mut said = Vec::new();
        for part in samples(scope, gone).split(", ").filter(|part| !part.is_empty()) {
            // Of what was uploaded early, a share is told by the results that held it.
            let late = scope.late.iter().any(|upload| part.ends_with(upload.name));
            if late || part.starts_with("all of") {
                said.push(part.to_string());
            }
        }
        for block in store.holdings().filter(|block| block.meta.made_by.is_some()) {
            let whole = block.samples.without(gone).is_empty() && !block.samples.is_empty();
            if whole {
                said.push(format!("all of {}", called(block_name(scope, block.block))));
            }
        }
        let refused = steps.iter().enumerate().filter(|(_, step)| !step.done);
        let orphan = |plan| store.plan(plan).is_none();
        Outcome {
            lost: Some(said),
            refused: Some(
                refused
                    .map(|(at, step)| {
                        (at + 1, step.refused_by.iter().map(ToString::to_string).collect())
                    })
                    .collect(),
            ),
            double_work: Some(self.twice),
            plans: Some(store.plans.values().map(|plan| plan_name(plan.id)).collect()),
            orphan_markers: Some(store.markers.values().any(|visit| orphan(visit.marker.plan))),
            marked: Some(
                store
                    .holdings()
                    .filter(|block| block.marked)
                    .map(|block| called(block_name(scope, block.block)))
                    .collect(),
            ),
            live_plan_harmed: Some(self.harmed),
        }
    }
}

fn partition_of(effect: &Effect) -> Option<u32> {
    match effect {
        Effect::Put(Key::Marker(_, p), _) | Effect::Get(Key::Marker(_, p)) => Some(*p),
        Effect::Merge(merge) => Some(merge.partition),
        _ => None,
    }
}
