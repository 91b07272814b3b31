//! Random walks read from bytes: for fuzzing, and for replay of what it found.
//!
//! # Encoding
//!
//! The first seven bytes choose a world; whatever is missing is zero, and any bytes are some world:
//!
//! | byte | bits | meaning |
//! |---|---|---|
//! | 0 | 0-1 | partitions, 1 to 4 |
//! |   | 2-3 | replicas: 2, 3, 1, 3 |
//! |   | 4-7 | segments, growing with the square: 2 of each partition up to [`MAX_SEGMENTS`] in all |
//! | 1 | 0 | two rows a segment, not one |
//! |   | 1 | replicas may stop early |
//! |   | 2 | ordered |
//! |   | 3 | clocks are skewed |
//! |   | 4 | whoever repairs creates segments in another minute |
//! |   | 5 | blocking |
//! |   | 6 | a read is an event of its own |
//! |   | 7 | one build and one reingestion at a time on each server |
//! | 2 | | kinds of faults: server crash, one of them for good, controller crash, change of leader, lost reply, failed build or upload, expired row, delay |
//! | 3 | 0 | a minion replaces segments |
//! |   | 1 | the operator switches the mode |
//! |   | 2 | the goal is asked for at the end (ours only) |
//! |   | 3 | nothing is looked at but what the model judges, which is faster |
//! |   | 4-7 | how often each kind of fault may happen, 0 to 15; changes of leader up to 2 |
//! | 4 | 0 | a consumer breaks |
//! |   | 1 | the operator pauses consumption, and resumes it |
//! |   | 2 | retention runs |
//! |   | 3 | a request may go to the controller that led before |
//! |   | 4 | a controller's operation has no effect |
//! |   | 5 | nothing is known of the table but its stream |
//! |   | 6 | the validator has a replica that gave up consume again |
//! |   | 7 | a replica fails to open |
//! | 5 | | kinds of byte 2 taken away again, so that a mutation of one byte makes a swarm of worlds |
//! | 6 | | kinds taken away again, by their bits: those of byte 4 but for 5 and 6, whose places the first two of byte 3 have |
//!
//! Every further two bytes are one operation, up to [`MAX_OPERATIONS`]. Bits 0-2 of the first say which kind,
//! its other bits and the second byte are the argument. What is chosen is chosen *by index into what can
//! happen*, so no byte is wasted on what cannot. A commit takes some twenty events in the right order, so most kinds
//! let somebody go on:
//!
//! | kind | operation |
//! |---|---|
//! | 0 | one event of all that can happen |
//! | 1 | one event of one process, faults included |
//! | 2 | a process goes on for up to 8 events, nothing failing |
//! | 3 | all processes in turn for up to 4 rounds, nothing failing |
//! | 4 | a partition goes on for up to 8 events, nothing failing |
//! | 5 | one fault, if any can happen, else as 0 |
//! | 6 | something has taken long enough, or stops by its clock: one of what may, else as 0 |
//! | 7 | a periodic task begins, and its controller goes on for up to 8 events |
//!
//! An index means what the model's order of events makes it mean: a change of that order gives old inputs
//! another meaning. They stay valid, but a seed that showed a violation may have to be found anew.
//!
//! # Judgement
//!
//! Of our own protocol, after each event: nothing is broken that the model judges (I1, I2, I3, I5, I6, I9, and what
//! answers R7 and R9), and
//!
//! - the same event again gives the same world (of every few events);
//! - states that are equal hash equal, and others do not;
//! - a state read from its JSON is the same (of some, and of the last).
//!
//! At the end, if asked for: with no further fault, all in turn reach the goal that everything is done, stored and
//! served by all who are there, and the last segments are consumed. That asks more than the checker, which only asks
//! for some way there. It is not asked of ordered tables, whose segments are not read again without an operator, nor
//! where a server may stay away and the stream may forget what it had: nothing is recorded as lost then. Nor where one may
//! stay away and the consumers of the others may break, unless the validator has them consume again: whoever stays away is
//! listed as one that consumes, and so the segment as one that is consumed.
//!
//! Of upstream's variants one thing alone is judged, at the end: a segment that is committing, that all its replicas
//! are in error with, whose rows the stream still has, and whose rows nobody serves *in any state that can be reached
//! without another fault*. That is the loss that #14920 reports of pauseless consumption without disaster recovery;
//! whatever else goes wrong is none.
//! Where more states than [`MAX_REACHED`] can be reached, nothing is said.

use std::collections::HashSet;

use surehold::commit::completion::Mode;
use surehold::commit::invariant::Property;
use surehold::commit::object::{PartitionId, ReplicaState, SegmentId, Status};
use surehold::commit::upstream::{Minion, Release};
use surehold::commit::{
    Controller, ControllerEffect, Guard, Server, ServerEffect, Task, controller, server,
};
use surehold::guard::{Guards, Weakened};

use super::ending;
use super::goal::is_segment_served;
use super::model::{Action, Fate, Model, Who};
use super::scope::{Budget, Goal, Scope, Tier};
use super::tale::{Tale, name};
use super::world::{Node, Stored, World};
pub use crate::fuzz::{Finding, Walked};
use crate::missed::Missed;
use crate::retold::{self, Ground, Retold};
use crate::walk::{Visited, bits, is_read_as_written, is_set, kind_of};

/// How many bytes choose the world.
pub const HEADER: usize = 7;

/// How many operations are read at most; bytes after them mean nothing.
pub const MAX_OPERATIONS: usize = 96;

/// How many segments a world has at most, over all partitions. The last of each partition is never consumed.
pub const MAX_SEGMENTS: u32 = 12;

/// How many states a loss is proved in at most.
pub const MAX_REACHED: usize = 4096;

/// After how many events no operation is begun: a longer walk finds less than two short ones.
const MAX_EVENTS: usize = 512;

/// How many events somebody who goes on may take.
const LONGEST_TURN: usize = 8;

/// After how many events one is taken twice, and compared with the last ones.
const EVENTS_BETWEEN_DOUBLES: usize = 4;

/// After how many events a state is written and read.
const EVENTS_BETWEEN_READS: usize = 32;

/// How many rounds a fair schedule may take to the goal.
const MAX_FAIR_ROUNDS: usize = 512;

/// After how many times without a change nothing will change any more: each choice among equals was made.
const QUIET_TURNS: usize = 4;

/// After how many rounds something has waited long enough though others still go on.
const ROUNDS_BETWEEN_TIMEOUTS: usize = 8;

/// Whose protocol walks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuzzVariant {
    /// Ours: everything is judged.
    Verified,
    /// Ours without some guards: everything is judged.
    Without(Vec<Guard>),
    /// Upstream's at a release: only rows that are gone for ever are judged.
    Upstream(Release),
}

impl FuzzVariant {
    /// The variant of this name: `verified`, or a release's.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "verified" {
            return Some(Self::Verified);
        }
        let release = Release::ALL.into_iter().find(|release| release.name() == name);
        release.map(Self::Upstream)
    }
}

/// Walks as the bytes say, and judges. See the [module](self).
///
/// # Errors
///
/// The first violation, with its timeline.
pub fn commit_ops(variant: &FuzzVariant, data: &[u8]) -> Result<Walked, Box<Finding>> {
    run(variant, data, None)
}

/// An input that shows the same by single events, as few as could be left after so many tries. `None` if this one
/// shows nothing, or single events do not.
#[must_use]
pub fn commit_events(variant: &FuzzVariant, data: &[u8], tries: usize) -> Option<Vec<u8>> {
    run(variant, data, Some(tries)).err()?.by_single_events
}

fn run(variant: &FuzzVariant, data: &[u8], tries: Option<usize>) -> Result<Walked, Box<Finding>> {
    let limits = |data: &[u8]| (world_of(data).controller_limits(), server_limits(data));
    match variant {
        FuzzVariant::Verified => {
            let roles = |data: &[u8]| {
                let (controller, server) = limits(data);
                (Controller::new(controller), Server::new(server))
            };
            walk(&roles, None, data, tries)
        }
        FuzzVariant::Without(guards) => {
            let roles = |data: &[u8]| {
                let (controller, server) = limits(data);
                let kept = Weakened::without(guards.iter().copied());
                (Controller::weakened(controller, kept.clone()), Server::weakened(server, kept))
            };
            walk(&roles, None, data, tries)
        }
        FuzzVariant::Upstream(release) => {
            let roles = |data: &[u8]| (release.controller(), release.server_within(limits(data).1));
            walk(&roles, Some(*release), data, tries)
        }
    }
}

fn server_limits(data: &[u8]) -> server::Limits {
    match is_set(data, 1, 7) {
        true => server::Limits { max_builds: 1, max_jobs: 1, ..server::Limits::default() },
        false => server::Limits::default(),
    }
}

/// The world that the first bytes choose, in words.
#[must_use]
pub fn bounds(data: &[u8]) -> String {
    world_of(data).bounds()
}

/// The world that the first bytes choose.
fn world_of(data: &[u8]) -> Scope {
    let partitions = 1 + bits(data, 0, 0, 2);
    // Few more often than many: what two segments do to each other, three seldom do worse.
    let root = u32::from(bits(data, 0, 4, 4));
    let most = MAX_SEGMENTS / u32::from(partitions);
    Scope {
        name: "fuzz",
        question: "What a random walk finds.",
        mode: if is_set(data, 1, 5) { Mode::Blocking } else { Mode::Pauseless },
        partitions: u16::from(partitions),
        servers: [2, 3, 1, 3][usize::from(bits(data, 0, 2, 2))],
        segments: 2 + root * root * (most - 2) / (15 * 15),
        done: 0,
        rows: 1 + u64::from(bits(data, 1, 0, 1)),
        stops_early: is_set(data, 1, 1),
        is_ordered: is_set(data, 1, 2),
        skew: is_set(data, 1, 3),
        two_names: is_set(data, 1, 4),
        is_new: is_set(data, 4, 5),
        reads_apart: false,
        starts_apart: false,
        jobs: None,
        buildable: None,
        permits: None,
        consumption: None,
        is_prompt: false,
        strays: is_set(data, 4, 3) && !is_set(data, 6, 3),
        repairs_offline: is_set(data, 4, 6),
        asks_rounds: false,
        begun: &[],
        resets: false,
        in_step_3: false,
        after: &[],
        budget: budget(data),
        goal: Some(Goal::Settled),
        tier: Tier::Deep,
    }
}

fn budget(data: &[u8]) -> Budget {
    let often = bits(data, 3, 4, 4);
    let kind = |at, bit| match (at, bit) {
        (2, bit) => !is_set(data, 5, bit),
        (3, bit) => !is_set(data, 6, 5 + bit),
        (_, bit) => !is_set(data, 6, bit),
    };
    let fault = |at, bit| if is_set(data, at, bit) && kind(at, bit) { often } else { 0 };
    let server_crashes = fault(2, 0);
    // Somebody is left.
    let others = [1, 2, 0, 2][usize::from(bits(data, 0, 2, 2))];
    Budget {
        server_crashes,
        deaths: fault(2, 1).min(others).min(server_crashes),
        controller_crashes: fault(2, 2),
        leaders: fault(2, 3).min(2),
        losses: fault(2, 4),
        misses: fault(4, 4),
        failures: fault(2, 5),
        openings: fault(4, 7),
        expiries: fault(2, 6),
        delays: fault(2, 7),
        rewrites: fault(3, 0),
        minion_crashes: 0,
        reads: 0,
        adrift: 0,
        toggles: fault(3, 1),
        breaks: fault(4, 0),
        pauses: fault(4, 1),
        retentions: fault(4, 2),
    }
}

fn walk<V: Guards<Guard>>(
    roles: &impl Fn(&[u8]) -> (Controller<V>, Server<V>),
    release: Option<Release>,
    data: &[u8],
    tries: Option<usize>,
) -> Result<Walked, Box<Finding>> {
    let is_ours = release.is_none();
    let ground_of = |data: &[u8]| {
        let (controller, server) = roles(data);
        let mut model = Model::new(controller, server, &world_of(data));
        model.reduce = !is_set(data, 1, 6);
        model.minion = release.map_or(Minion::Any, Release::minion);
        if !is_ours {
            model.judged.clear();
        }
        Setting { model, is_ours }
    };
    retold::walk(&ground_of, data, tries)
}

/// What is asked at the end.
#[derive(Clone, Copy)]
enum AtTheEnd {
    Nothing,
    Goal,
    Loss,
}

/// Whether the goal can be reached whatever happens.
fn has_goal(scope: &Scope) -> bool {
    let Budget { deaths, expiries, breaks, openings, .. } = scope.budget;
    let comes_back = breaks == 0 || scope.repairs_offline;
    let may_stay_away = expiries == 0 && comes_back;
    // One replica that gave up, and one that nobody knows to be in error: that one is still listed as consuming.
    let may_fail_to_open = openings == 0 || comes_back;
    !scope.is_ordered && (deaths == 0 || may_stay_away) && may_fail_to_open
}

/// What is broken.
struct Breach {
    property: String,
    /// How it ends, if the world does not say.
    ending: Option<String>,
    shows: Option<&'static str>,
}

impl Breach {
    fn of(property: impl Into<String>) -> Self {
        Self { property: property.into(), ending: None, shows: None }
    }
}

/// Where a walk goes, and whose protocol is there.
struct Setting<V: Guards<Guard>> {
    model: Model<V>,
    is_ours: bool,
}

impl<V: Guards<Guard>> Ground for Setting<V> {
    const HEADER: usize = HEADER;
    const MAX_OPERATIONS: usize = MAX_OPERATIONS;
    type Walk<'m>
        = Walk<'m, V>
    where
        Self: 'm;

    fn begin(&self, data: &[u8]) -> Walk<'_, V> {
        Walk::begun(&self.model, data, self.is_ours)
    }
}

/// A walk under way.
struct Walk<'m, V: Guards<Guard>> {
    model: &'m Model<V>,
    world: World,
    taken: Vec<Action>,
    /// Whether everything is looked at after each event.
    thorough: bool,
    controllers: Visited<controller::State>,
    servers: Visited<server::State>,
    is_ours: bool,
    at_the_end: AtTheEnd,
    fair_after: Option<usize>,
}

impl<V: Guards<Guard>> Retold for Walk<'_, V> {
    type Action = Action;
    type Breach = Breach;

    fn operate(&mut self, operations: &[u8]) -> Result<(), Breach> {
        for operation in operations.chunks_exact(2).take(MAX_OPERATIONS) {
            if self.taken.len() >= MAX_EVENTS {
                break;
            }
            let [which, low] = [operation[0], operation[1]].map(usize::from);
            self.operate_once(which & 7, which >> 3, low)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Breach> {
        self.judge_written(None)?;
        match self.at_the_end {
            AtTheEnd::Nothing => Ok(()),
            AtTheEnd::Goal => self.reach_the_goal(),
            AtTheEnd::Loss => self.lose_nothing(),
        }
    }

    fn enabled(&self) -> Vec<Action> {
        let mut all = Vec::new();
        self.model.enabled(&self.world, &mut all);
        all.retain(|action| self.model.is_affordable(&self.world, action));
        all
    }

    fn take(&mut self, action: Action) -> Result<(), Breach> {
        if self.world.broken.is_some() {
            return Ok(());
        }
        let next = self.model.apply(&self.world, action, &mut Tale::untold());
        self.taken.push(action);
        // Refused: nothing has happened.
        let Some(next) = next else { return Ok(()) };
        let again = || self.model.apply(&self.world, action, &mut Tale::untold());
        let twice = self.thorough && self.taken.len().is_multiple_of(EVENTS_BETWEEN_DOUBLES);
        if twice && again().as_ref() != Some(&next) {
            return Err(Breach::of("the same event gives two worlds"));
        }
        let before = std::mem::replace(&mut self.world, next);
        self.judge(&before)
    }

    fn named(&self) -> Vec<String> {
        let mut world = self.model.start();
        let mut names = Vec::new();
        for (at, action) in self.taken.iter().enumerate() {
            if self.fair_after == Some(at) {
                world.left = Budget::default();
            }
            names.push(self.name_in(&world, action));
            let next = self.model.apply(&world, *action, &mut Tale::untold());
            world = next.unwrap_or(world);
        }
        names
    }

    fn name_of(&self, action: &Action) -> String {
        self.name_in(&self.world, action)
    }

    fn tell(&self, breach: Breach) -> Finding {
        let mut timeline = Vec::new();
        let mut world = self.model.start();
        for (at, action) in self.taken.iter().enumerate() {
            if self.fair_after == Some(at) {
                world.left = Budget::default();
            }
            let mut tale = Tale::told();
            // What is refused, or changes nothing, is not told.
            let Some(next) = self.model.apply(&world, *action, &mut tale) else { continue };
            timeline.extend(tale.into_lines().into_iter().map(|line| (at + 1, line)));
            world = next;
        }
        let ending = breach.ending;
        let ending =
            ending.unwrap_or_else(|| ending::of(self.model, &self.world, Missed::OutOfReach));
        Finding {
            property: breach.property,
            bounds: self.model.scope.bounds(),
            timeline,
            fair_after: self.fair_after,
            ending,
            shows: breach.shows,
            by_single_events: None,
        }
    }

    fn walked(&self) -> Walked {
        Walked::of(self.taken.len(), self.fair_after)
    }

    /// What upstream loses for good is asked at the end.
    fn is_of_the_end(&self, finding: &Finding) -> bool {
        finding.is_stuck() || !self.is_ours
    }
}

impl<'m, V: Guards<Guard>> Walk<'m, V> {
    fn begun(model: &'m Model<V>, data: &[u8], is_ours: bool) -> Self {
        let at_the_end = match is_ours {
            true if is_set(data, 3, 2) && has_goal(&model.scope) => AtTheEnd::Goal,
            true => AtTheEnd::Nothing,
            false => AtTheEnd::Loss,
        };
        Self {
            model,
            world: model.start(),
            taken: Vec::new(),
            thorough: is_ours && !is_set(data, 3, 3),
            controllers: Visited::default(),
            servers: Visited::default(),
            is_ours,
            at_the_end,
            fair_after: None,
        }
    }

    fn name_in(&self, world: &World, action: &Action) -> String {
        let Action::Run(who, number, fate) = *action else { return format!("{action:?}") };
        let kind = match who {
            Who::Controller(at) => {
                let mut pending = world.controllers[usize::from(at)].pending.iter();
                let pending = pending.find(|pending| pending.issued.id.number == number);
                pending.map(|pending| kind_of(&pending.issued.effect))
            }
            Who::Server(at) => {
                let mut pending = world.servers[usize::from(at)].pending.iter();
                let pending = pending.find(|pending| pending.issued.id.number == number);
                pending.map(|pending| kind_of(&pending.issued.effect))
            }
        };
        format!("{who:?} {fate:?} {kind:?} {:?}", partition_of(world, action))
    }

    fn operate_once(&mut self, kind: usize, high: usize, low: usize) -> Result<(), Breach> {
        let wide = high << 8 | low;
        let who = self.process(high);
        let (first, count) = (low / LONGEST_TURN, 1 + low % LONGEST_TURN);
        match kind {
            1 => self.take_one(low, |_, _, action| who_acts(action) == Some(who)),
            2 => self.go_on(first, count, |_, action| {
                is_prompt(action) && who_acts(action) == Some(who)
            }),
            3 => (0..=high % 4).try_for_each(|_| self.round(low)),
            4 => {
                let partition = PartitionId(high as u16 % self.model.scope.partitions);
                self.go_on(first, count, |world, action| {
                    let of = partition_of(world, action);
                    is_prompt(action) && of.is_none_or(|of| of == partition)
                })
            }
            5 => self.take_one(wide, Model::is_fault),
            6 => self.take_one(wide, |_, _, action| is_wait(action)),
            7 => self.chore(high, low),
            _ => self.take_one(wide, |_, _, _| true),
        }
    }

    fn process(&self, number: usize) -> Who {
        let controllers = self.world.controllers.len();
        let number = number % (controllers + self.world.servers.len());
        match number.checked_sub(controllers) {
            None => Who::Controller(number as u8),
            Some(server) => Who::Server(server as u8),
        }
    }

    /// One event of those that are wanted, or of all.
    fn take_one(
        &mut self,
        number: usize,
        is_wanted: impl Fn(&Model<V>, &World, &Action) -> bool,
    ) -> Result<(), Breach> {
        let all = self.enabled();
        let wanted = all.iter().filter(|action| is_wanted(self.model, &self.world, action));
        let wanted: Vec<_> = wanted.copied().collect();
        let some = if wanted.is_empty() { all } else { wanted };
        match some.get(number % some.len().max(1)).copied() {
            Some(action) => self.take(action),
            None => Ok(()),
        }
    }

    /// Several events of those that are wanted, not always the first of them.
    fn go_on(
        &mut self,
        first: usize,
        count: usize,
        is_wanted: impl Fn(&World, &Action) -> bool,
    ) -> Result<(), Breach> {
        for number in first..first + count {
            let mut some = self.enabled();
            some.retain(|action| is_wanted(&self.world, action));
            let Some(action) = some.get(number % some.len().max(1)).copied() else { break };
            self.take(action)?;
        }
        Ok(())
    }

    /// All that does not wait, in turn.
    fn round(&mut self, first: usize) -> Result<(), Breach> {
        let mut some = self.enabled();
        some.retain(is_prompt);
        let from = first % some.len().max(1);
        some.rotate_left(from);
        some.into_iter().try_for_each(|action| self.take(action))
    }

    fn chore(&mut self, high: usize, low: usize) -> Result<(), Breach> {
        let mut begins = self.enabled();
        begins.retain(|action| matches!(action, Action::Begin(..)));
        let Some(begin) = begins.get(high % begins.len().max(1)).copied() else {
            return self.take_one(low, |_, _, _| true);
        };
        self.take(begin)?;
        let who = who_acts(&begin);
        self.go_on(low / LONGEST_TURN, low % LONGEST_TURN, |_, action| {
            is_prompt(action) && who_acts(action) == who
        })
    }

    /// Nothing fails any more, and everybody is in turn.
    fn reach_the_goal(&mut self) -> Result<(), Breach> {
        match self.settle()? {
            true => Ok(()),
            false => Err(Breach::of(Property::Recoverable.name())),
        }
    }

    /// Whether all comes to rest as it should. If it does not, it goes on for long, or for ever.
    fn settle(&mut self) -> Result<bool, Breach> {
        self.fair_after = Some(self.taken.len());
        self.world.left = Budget::default();
        self.thorough = false;
        let (mut at_rest, mut quiet, mut waited) = (None, 0, 0);
        for number in 0..MAX_FAIR_ROUNDS {
            if self.model.is_settled(&self.world) {
                return Ok(true);
            }
            let before = self.world.clone();
            self.round(number)?;
            let rests = before == self.world;
            if !rests && !number.is_multiple_of(ROUNDS_BETWEEN_TIMEOUTS) {
                continue;
            }
            let again = rests && at_rest.replace(before).as_ref() == Some(&self.world);
            quiet = if again { quiet + 1 } else { 0 };
            if quiet > QUIET_TURNS {
                break;
            }
            // Each time with the next choice among equals.
            self.time_passes(waited)?;
            waited += 1;
        }
        Ok(false)
    }

    /// Whatever waits has waited long enough, and periodic tasks begin. Not those while somebody still waits for a copy:
    /// that takes minutes, and they run each hour at most (dossier 8, 9). Otherwise replicas in error might be reset in
    /// turn for ever, never all of them in error at once, and nobody would read the segment again.
    fn time_passes(&mut self, pick: usize) -> Result<(), Breach> {
        let picked = pick % self.world.servers.len();
        let mut waits = self.enabled();
        let somebody_waits = waits.iter().any(|action| matches!(action, Action::GiveUp(..)));
        waits.retain(|action| match action {
            Action::Begin(..) if somebody_waits => false,
            Action::Begin(_, Task::Validate(_), _) => true,
            Action::Begin(_, _, pick) => usize::from(*pick) == picked,
            Action::Stop(..) => false,
            other => is_wait(other),
        });
        waits.into_iter().try_for_each(|action| self.take_fair(action))
    }

    /// Takes an event if it is no fault by now.
    fn take_fair(&mut self, action: Action) -> Result<(), Breach> {
        if !self.enabled().contains(&action) {
            return Ok(());
        }
        self.take(action)
    }

    /// The loss that is reported of upstream.
    fn lose_nothing(&mut self) -> Result<(), Breach> {
        if self.settle()? {
            return Ok(());
        }
        let records = self.world.store.records.iter();
        let failed = records.filter(|(id, stored)| is_in_error(&self.world, **id, stored));
        let failed: Vec<_> = failed.map(|(id, _)| *id).collect();
        for segment in failed {
            if let Some(states) = self.is_gone(segment) {
                return Err(Breach {
                    property: Property::Served.name().into(),
                    ending: Some(format!(
                        "{} is COMMITTING and in error on all its replicas, the stream still has its rows, and \
                         nobody serves them in whatever can be reached from here without another fault \
                         (states looked at: {states})",
                        name(segment)
                    )),
                    shows: Some("#14920"),
                });
            }
        }
        Ok(())
    }

    /// In how many states a segment is not served by anybody, if those are all that can be reached.
    fn is_gone(&self, segment: SegmentId) -> Option<usize> {
        let mut reached = HashSet::from([self.world.clone()]);
        let mut open = vec![self.world.clone()];
        while let Some(world) = open.pop() {
            let stored = world.store.records.get(&segment)?;
            if reached.len() > MAX_REACHED || is_segment_served(&world, segment, stored) {
                return None;
            }
            let mut all = Vec::new();
            self.model.enabled(&world, &mut all);
            for action in all {
                if self.model.is_fault(&world, &action) {
                    continue;
                }
                let next = self.model.apply(&world, action, &mut Tale::untold());
                if let Some(next) = next.filter(|next| !reached.contains(next)) {
                    reached.insert(next.clone());
                    open.push(next);
                }
            }
        }
        Some(reached.len())
    }

    fn judge(&mut self, before: &World) -> Result<(), Breach> {
        if let Some(broken) = self.world.broken {
            return Err(Breach::of(broken.property().name()));
        }
        if !self.thorough || !self.taken.len().is_multiple_of(EVENTS_BETWEEN_DOUBLES) {
            return Ok(());
        }
        let mut fits = true;
        for (old, new) in before.controllers.iter().zip(&self.world.controllers) {
            fits &= old == new || self.controllers.fits(&new.role);
        }
        for (old, new) in before.servers.iter().zip(&self.world.servers) {
            let role = new.role.as_ref().filter(|_| old != new);
            fits &= role.is_none_or(|role| self.servers.fits(role));
        }
        if !fits {
            return Err(Breach::of("a hash tells what is equal, or does not tell"));
        }
        match self.taken.len().is_multiple_of(EVENTS_BETWEEN_READS) {
            true => self.judge_written(Some(before)),
            false => Ok(()),
        }
    }

    /// Of the states, or of those that the last event has changed.
    fn judge_written(&self, before: Option<&World>) -> Result<(), Breach> {
        if !self.thorough {
            return Ok(());
        }
        let old = |at: usize| before.map(|old| (old.controllers.get(at), old.servers.get(at)));
        let controllers = self.world.controllers.iter().enumerate();
        let mut controllers = controllers
            .filter(|(at, new)| old(*at).is_none_or(|(old, _)| old != Some(*new)))
            .map(|(_, process)| &*process.role);
        let servers = self.world.servers.iter().enumerate();
        let mut servers = servers
            .filter(|(at, new)| old(*at).is_none_or(|(_, old)| old != Some(*new)))
            .filter_map(|(_, node)| node.role.as_deref());
        match controllers.all(is_read_as_written) && servers.all(is_read_as_written) {
            true => Ok(()),
            false => Err(Breach::of("a state is read as another than was written")),
        }
    }
}

/// Whether an event is somebody's next step, without a fault and without a wait.
fn is_prompt(action: &Action) -> bool {
    matches!(
        action,
        Action::Run(_, _, Fate::Well)
            | Action::Transition(..)
            | Action::Restart(_)
            | Action::Minion
    )
}

/// Whether an event is that something takes, or has taken, long enough.
fn is_wait(action: &Action) -> bool {
    matches!(
        action,
        Action::Run(_, _, Fate::Late)
            | Action::GiveUp(..)
            | Action::Age
            | Action::Begin(..)
            | Action::Stop(..)
            | Action::Resume
    )
}

/// Whose event it is.
fn who_acts(action: &Action) -> Option<Who> {
    match *action {
        Action::Run(who, ..) => Some(who),
        Action::Begin(at, ..) | Action::CrashController(at) => Some(Who::Controller(at)),
        Action::Transition(at, ..)
        | Action::Stop(at, _)
        | Action::GiveUp(at, _)
        | Action::Break(at, _)
        | Action::Crash(at, _)
        | Action::Restart(at) => Some(Who::Server(at)),
        Action::Lead
        | Action::Expire(_)
        | Action::Age
        | Action::Rewrite(_)
        | Action::Minion
        | Action::CrashMinion
        | Action::Land(_)
        | Action::Toggle
        | Action::Pause
        | Action::Resume => None,
    }
}

/// Which partition an event is about, if it is about one.
fn partition_of(world: &World, action: &Action) -> Option<PartitionId> {
    match *action {
        Action::Run(Who::Controller(at), number, _) => {
            let pending = world.controllers[usize::from(at)].pending.iter();
            let effect = pending.into_iter().find(|p| p.issued.id.number == number)?;
            of_controller(&effect.issued.effect)
        }
        Action::Run(Who::Server(at), number, _) => {
            let pending = world.servers[usize::from(at)].pending.iter();
            let effect = pending.into_iter().find(|p| p.issued.id.number == number)?;
            of_server(&effect.issued.effect)
        }
        Action::Begin(_, task, _) => {
            let (Task::Validate(of) | Task::Repair(of) | Task::Retry(of) | Task::Retain(of)) = task;
            Some(of)
        }
        Action::Transition(_, segment, _)
        | Action::Stop(_, segment)
        | Action::GiveUp(_, segment)
        | Action::Break(_, segment)
        | Action::Rewrite(segment) => Some(segment.partition),
        Action::Expire(partition) => Some(partition),
        Action::Crash(..)
        | Action::Restart(_)
        | Action::CrashController(_)
        | Action::Lead
        | Action::Age
        | Action::Minion
        | Action::CrashMinion
        | Action::Land(_)
        | Action::Toggle
        | Action::Pause
        | Action::Resume => None,
    }
}

fn of_controller(effect: &ControllerEffect) -> Option<PartitionId> {
    match effect {
        ControllerEffect::ListRecords(partition)
        | ControllerEffect::ReadStream(partition)
        | ControllerEffect::ReadLatest(partition, _) => Some(*partition),
        ControllerEffect::ReadRecord(segment)
        | ControllerEffect::WriteRecord(segment, ..)
        | ControllerEffect::DeleteRecord(segment)
        | ControllerEffect::Reset(segment, _) => Some(segment.partition),
        ControllerEffect::Promote(object) => Some(object.segment.partition),
        ControllerEffect::Call(order) => Some(order.segment.partition),
        ControllerEffect::ReadIdeal
        | ControllerEffect::WriteIdeal(..)
        | ControllerEffect::ReadView
        | ControllerEffect::Answer(..)
        | ControllerEffect::AnswerRefill(..) => None,
    }
}

fn of_server(effect: &ServerEffect) -> Option<PartitionId> {
    match effect {
        ServerEffect::ReadRecord(segment)
        | ServerEffect::PollRecord(segment)
        | ServerEffect::Fetch(segment, _)
        | ServerEffect::Build(segment, _)
        | ServerEffect::Download(segment, _)
        | ServerEffect::Delete(segment)
        | ServerEffect::Show(segment, _) => Some(segment.partition),
        ServerEffect::Upload(object, _) => Some(object.segment.partition),
        ServerEffect::Call(request) => Some(request.segment.partition),
        ServerEffect::ReadView | ServerEffect::Report(..) => None,
    }
}

/// Whether a segment is committing, in error with all its replicas that are not gone for good, and the stream still
/// has its rows.
fn is_in_error(world: &World, segment: SegmentId, stored: &Stored) -> bool {
    let Some(replicas) = world.store.ideal.segments.get(&segment) else { return false };
    let listed = replicas.iter().map(|(server, _)| &world.servers[usize::from(server.0)]);
    let there: Vec<_> = listed.filter(|node| !node.is_dead).collect();
    let shows = |node: &Node| {
        let replica = node.role.as_ref().and_then(|role| role.replica(segment));
        replica.map(|replica| replica.shows)
    };
    stored.record.status == Status::Committing
        && world.first_of(segment.partition) <= stored.record.start
        && !there.is_empty()
        && there.iter().all(|node| shows(node) == Some(ReplicaState::Error))
}
