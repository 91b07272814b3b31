//! Random walks read from bytes: for fuzzing, and for replay of what it found.
//!
//! # Encoding
//!
//! The first seven bytes choose a small world; whatever is missing is zero, and any bytes are some world:
//!
//! | byte | bits | meaning |
//! |---|---|---|
//! | 0 | 0-1 | compactors: 2, 1, 3, 2 |
//! |   | 2 | two cleaners |
//! |   | 3 | two jobs for each compactor |
//! |   | 4 | without the reduction: also steps that nobody else can tell are events |
//! |   | 5-6 | from how many partitions a worker may start, less one |
//! |   | 7 | every event is taken once only, which is faster and says nothing of purity |
//! | 1 | | kinds of faults: crash, pause, failed write, lost reply, late write, failed read, same second, clock behind |
//! | 2 | | kinds taken away again, so that a mutation of one byte makes a swarm of worlds |
//! | 3 | 0-1 | how many faults |
//! |   | 2-3 | late blocks, 0 to 2 |
//! |   | 4 | no heartbeats |
//! |   | 5 | completed markers grow old |
//! |   | 6-7 | the operator: nothing, nothing, sets a no-compact mark, sets and removes one |
//! | 4 | 0-1 | index size above which a plan is split: 2, 100, 4, 3 |
//! |   | 2 | four hash classes, not two |
//! |   | 3 | three early blocks, not two |
//! |   | 4-5 | how many plans may be made, less three |
//! |   | 6 | swift syncs (upstream only) |
//! |   | 7 | plans are created atomically (upstream only) |
//! | 5 | | two bits for each block, early ones first: all classes, one class, share 0 of 2, all classes |
//! | 6 | 0 | marks grow old, and what is marked is deleted for good |
//! |   | 1 | cleaners have a marker of their own (upstream only) |
//!
//! Every further two bytes are one operation, up to [`MAX_OPERATIONS`]. Bits 0-2 of the first say which kind,
//! its other bits and the second byte are the argument. What is chosen is chosen *by index into what can
//! happen*, so no byte is wasted on what cannot.
//!
//! A choice among all events alone gets nowhere: a block is replaced after some two hundred events in the
//! right order. So most kinds let one process go on by itself, as far as to where it matters who is next:
//!
//! | kind | operation |
//! |---|---|
//! | 0 | one event of all that can happen |
//! | 1 | one event of a process, faults included |
//! | 2 | a process runs for up to 32 events, nothing failing |
//! | 3 | a process runs until it is about to write, up to 8 times in a row |
//! | 4 | a process runs until it is about to do a certain thing, see [`Ahead`] |
//! | 5 | one fault, if any can happen, else as 0 |
//! | 6 | one event of the outside: a claim expires, a block arrives, a late write lands; else as 0 |
//! | 7 | all processes in turn, for up to 16 rounds |
//!
//! The process is the number in bits 3-7 of the first byte, modulo the number of processes.
//!
//! An index means what the model's order of events makes it mean: a change of that order gives old inputs
//! another meaning. They stay valid, but a seed that showed a violation may have to be found anew.
//!
//! # Judgement
//!
//! After each event: no sample is lost, nothing the model notes is broken, an outcome of an outstanding
//! effect is not refused, and the same event again gives the same world (not in the fair schedule at the
//! end). The model's own probes ask at each
//! crash whether what must be refused is; they panic.
//!
//! At the end, of our own protocol, unless a bound of the world stopped something: with no further fault,
//! all processes in turn reach the goal: nothing left of marked blocks only where no operator acts. That asks more than the checker, which only asks for some way
//! there.

use std::fmt;
use std::sync::{Arc, OnceLock};

use surehold::Verified;
use surehold::compaction::invariant::{Property, lost};
use surehold::compaction::object::{Body, Key, PlanId, PlanKey};
use surehold::compaction::plan::Plan;
use surehold::compaction::upstream::Release;
use surehold::compaction::{Effect, Guard};
use surehold::guard::Weakened;

use crate::compaction::coverage::Coverage;
use crate::compaction::ending;
use crate::compaction::fleet::{Cortex, Fleet, Ours};
use crate::compaction::model::{Action, Choice, Fate, Model, WorldOf};
use crate::compaction::scope::{Faults, Goal, Operation, Scope, Upload};
use crate::compaction::scopes;
use crate::compaction::tale::{Line, Tale};
use crate::compaction::world::{Store, Visit};
use crate::missed::Missed;
use crate::retold::{self, Ground, Retold};
use crate::walk::kind_of;

/// How many bytes choose the world.
pub const HEADER: usize = 7;

/// How many operations are read at most; bytes after them mean nothing.
pub const MAX_OPERATIONS: usize = 256;

/// After how many events no operation is begun: a longer walk finds less than two short ones.
const MAX_EVENTS: usize = 1024;

/// After how many events one is taken twice.
const EVENTS_BETWEEN_DOUBLES: usize = 4;

/// For how many events of the fair schedule a turn is a single one.
const LOCKSTEP_EVENTS: usize = 512;

/// How many events any other turn may have.
const LONGEST_TURN: u32 = 32;

/// How many events a fair schedule may take to the goal.
const MAX_FAIR_EVENTS: usize = 8192;

/// Whose protocol walks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuzzVariant {
    /// Ours: everything is judged.
    Verified,
    /// Ours without some guards: everything is judged.
    Without(Vec<Guard>),
    /// Upstream's at a release: only lost samples are judged, as nothing else was ever promised.
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

/// A walk that broke nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// How many events the operations had.
    pub events: usize,
    /// How many the fair schedule had that led to the goal.
    pub fair: usize,
}

impl Walked {
    pub(crate) fn of(events: usize, fair_after: Option<usize>) -> Self {
        let walked = fair_after.unwrap_or(events);
        Self { events: walked, fair: events - walked }
    }
}

/// A walk that broke a property.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The property: a name of [`Property`], or what else is broken.
    pub property: String,
    /// The world, in words.
    pub bounds: String,
    /// What happened, each line with the number of its event, from 1. Lines with the number of the line
    /// before happened at once with it.
    pub timeline: Vec<(usize, Line)>,
    /// After how many events the fair schedule began, if it did.
    pub fair_after: Option<usize>,
    /// How it ends, spelled out on the data.
    pub ending: String,
    /// The upstream issue whose race it is, where that is told apart. Cortex #7075: a worker completed a partition of
    /// a plan that had been deleted, another plan was there whose marker that became, and what is lost belonged into
    /// that partition of the other plan. Druid #18764: the drop of the copy that stood for the one
    /// dropped last was acknowledged between the run's readings of inventory and queues.
    pub shows: Option<&'static str>,
    /// An input that shows the same by single events, if it was asked for and there is one.
    pub(crate) by_single_events: Option<Vec<u8>>,
}

impl Finding {
    /// How many events lead to what is broken. Where that is that the goal is not reached, the way on is not counted.
    #[must_use]
    pub fn way(&self) -> usize {
        self.fair_after.filter(|_| self.is_stuck()).unwrap_or(self.events())
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.property == Property::Recoverable.name()
    }

    /// How many events it takes.
    #[must_use]
    pub fn events(&self) -> usize {
        self.timeline.last().map_or(0, |(number, _)| *number)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "violated: {}", self.property)?;
        writeln!(f, "in a world of {}", self.bounds)?;
        let mut last = 0;
        let mut fair_after = self.fair_after;
        for (number, line) in &self.timeline {
            if let Some(fair) = fair_after.filter(|fair| number > fair) {
                writeln!(f, "     -- after {fair} events: from here on nothing fails")?;
                fair_after = None;
            }
            let shown = if *number == last { String::new() } else { number.to_string() };
            last = *number;
            let Line { actor, action, note, .. } = line;
            writeln!(f, "{shown:>4} {actor:<12} {action:<55} {note}")?;
        }
        write!(f, "=> {}", self.ending)?;
        match self.shows {
            Some(issue) => write!(f, " (as in {issue})"),
            None => Ok(()),
        }
    }
}

/// Walks as the bytes say, and judges. See the [module](self).
///
/// # Errors
///
/// The first violation, with its timeline.
pub fn compaction_ops(variant: &FuzzVariant, data: &[u8]) -> Result<Walked, Box<Finding>> {
    run(variant, data, None)
}

/// An input that shows the same by single events, as few as could be left after so many tries. `None` if this one
/// shows nothing, or single events do not.
#[must_use]
pub fn compaction_events(variant: &FuzzVariant, data: &[u8], tries: usize) -> Option<Vec<u8>> {
    run(variant, data, Some(tries)).err()?.by_single_events
}

fn run(variant: &FuzzVariant, data: &[u8], tries: Option<usize>) -> Result<Walked, Box<Finding>> {
    match variant {
        FuzzVariant::Verified => walk(&Ours(Verified), data, true, tries),
        FuzzVariant::Without(guards) => {
            let fleet = Ours(Weakened::without(guards.iter().copied()));
            walk(&fleet, data, true, tries)
        }
        FuzzVariant::Upstream(release) => walk(&Cortex(*release), data, false, tries),
    }
}

/// The world that the first bytes choose.
fn world_of(data: &[u8], is_upstream: bool) -> Scope {
    let byte = |at: usize| data.get(at).copied().unwrap_or(0);
    let bits = |at: usize, from: u32, count: u32| (byte(at) >> from) & ((1 << count) - 1);
    let is_set = |at: usize, bit: u32| bits(at, bit, 1) == 1;
    let kind = |bit: u32| is_set(1, bit) && !is_set(2, bit);

    let classes = if is_set(4, 2) { 4 } else { 2 };
    let upload = |(place, name): (usize, char)| {
        let whole = Upload::whole(name, classes, 2);
        let shape = if place < 4 { bits(5, place as u32 * 2, 2) } else { 0 };
        match shape {
            1 => Upload { classes: 1, ..whole },
            2 => Upload { classes: whole.classes & 0b0101, part: Some((0, 2)), ..whole },
            _ => whole,
        }
    };
    let early = if is_set(4, 3) { 3 } else { 2 };
    let late = usize::from(bits(3, 2, 2) % 3);
    let uploads: Vec<_> = "XYZNM".chars().collect();
    let names = uploads[..early].iter().chain(&uploads[3..3 + late]).copied();
    let mut early_blocks: Vec<_> = names.enumerate().map(upload).collect();
    let late_blocks = early_blocks.split_off(early);

    let mut faults = Faults {
        budget: bits(3, 0, 2),
        crash: kind(0),
        pause: kind(1),
        write_fails: kind(2),
        reply_lost: kind(3),
        write_late: kind(4),
        read_fails: kind(5),
        same_second: kind(6),
        clock_behind: kind(7),
        endless: false,
        claims_only: false,
    };
    if faults.kinds().is_empty() {
        faults.budget = 0;
    }

    Scope {
        early: early_blocks,
        late: late_blocks,
        compactors: [2, 1, 3, 2][usize::from(bits(0, 0, 2))],
        cleaners: 1 + bits(0, 2, 1),
        concurrency: 1 + bits(0, 3, 1),
        picks: 1 + bits(0, 5, 2),
        faults,
        beats: !is_set(3, 4),
        completed_age: is_set(3, 5),
        operator: match bits(3, 6, 2) {
            2 => vec![Operation::SetNoCompact('X')],
            3 => vec![Operation::SetNoCompact('X'), Operation::UnsetNoCompact('X')],
            _ => Vec::new(),
        },
        split_above_bytes: [2, 100, 4, 3][usize::from(bits(4, 0, 2))],
        classes,
        max_plans: 3 + bits(4, 4, 2),
        swift_sync: is_upstream && is_set(4, 6),
        atomic_plans: is_upstream && is_set(4, 7),
        ripens: is_set(6, 0),
        cleaner_marker: is_upstream && is_set(6, 1),
        // Half a mark stays on a block that the operator bars before the other half is written.
        goal: Some(if is_set(6, 0) && bits(3, 6, 2) < 2 { Goal::AllGone } else { Goal::AllDone }),
        ..scopes::base("fuzz", "What a random walk finds.")
    }
}

/// Whether a bit of the first byte is set.
fn is_set_first(data: &[u8], bit: u32) -> bool {
    data.first().is_some_and(|byte| byte >> bit & 1 == 1)
}

/// One set of counters for all walks: the model counts what it probes, and nobody reads it here.
fn counters() -> Arc<Coverage> {
    static COUNTERS: OnceLock<Arc<Coverage>> = OnceLock::new();
    Arc::clone(COUNTERS.get_or_init(Arc::default))
}

fn walk<F: Fleet>(
    fleet: &F,
    data: &[u8],
    is_ours: bool,
    tries: Option<usize>,
) -> Result<Walked, Box<Finding>> {
    let ground_of = |data: &[u8]| {
        let mut model = Model::new(fleet, &world_of(data, !is_ours));
        model.reduce = !is_set_first(data, 4);
        model.coverage = Some(counters());
        if !is_ours {
            model.judged = vec![Property::NoSampleLost];
        }
        Setting { model, is_ours }
    };
    retold::walk(&ground_of, data, tries)
}

/// What is broken.
struct Breach(String);

/// What a process may run up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// It is about to write a plan.
    Plan,
    /// It is about to write a marker.
    Marker,
    /// It is about to complete a result.
    Meta,
    /// It is about to mark a block for deletion.
    Mark,
    /// It is about to delete a plan.
    DeletePlan,
    /// It is about to delete a marker.
    DeleteMarker,
    /// It is about to look at a marker.
    Look,
    /// It is about to list something.
    List,
}

impl Ahead {
    const ALL: [Self; 8] = [
        Self::Plan,
        Self::Marker,
        Self::Meta,
        Self::Mark,
        Self::DeletePlan,
        Self::DeleteMarker,
        Self::Look,
        Self::List,
    ];

    fn is(self, effect: &Effect) -> bool {
        match self {
            Self::Plan => matches!(effect, Effect::Put(_, Body::Plan(_))),
            Self::Marker => matches!(effect, Effect::Put(_, Body::Marker(_))),
            Self::Meta => matches!(effect, Effect::Put(_, Body::Meta(_))),
            Self::Mark => matches!(effect, Effect::Put(_, Body::DeletionMark(_))),
            Self::DeletePlan => matches!(effect, Effect::Delete(Key::Plan(_))),
            Self::DeleteMarker => matches!(effect, Effect::Delete(Key::Marker(..))),
            Self::Look => matches!(effect, Effect::Get(Key::Marker(..))),
            Self::List => matches!(effect, Effect::List(_)),
        }
    }
}

/// Where a walk goes, and whose protocol is there.
struct Setting<F: Fleet> {
    model: Model<F>,
    is_ours: bool,
}

impl<F: Fleet> Ground for Setting<F> {
    const HEADER: usize = HEADER;
    const MAX_OPERATIONS: usize = MAX_OPERATIONS;
    type Walk<'m>
        = Walk<'m, F>
    where
        Self: 'm;

    fn begin(&self, data: &[u8]) -> Walk<'_, F> {
        Walk::begun(&self.model, data, self.is_ours)
    }
}

/// A walk under way.
struct Walk<'m, F: Fleet> {
    model: &'m Model<F>,
    world: WorldOf<F>,
    taken: Vec<Action>,
    /// Of each process, the number of the effect that was last carried out.
    last: Vec<Option<u16>>,
    /// Whether some events are taken twice, and must give the same world.
    twice: bool,
    is_ours: bool,
    fair_after: Option<usize>,
}

impl<F: Fleet> Retold for Walk<'_, F> {
    type Action = Action;
    type Breach = Breach;

    fn operate(&mut self, operations: &[u8]) -> Result<(), Breach> {
        for operation in operations.chunks_exact(2).take(MAX_OPERATIONS) {
            if self.taken.len() >= MAX_EVENTS {
                break;
            }
            let (kind, high, low) = (operation[0] & 7, operation[0] >> 3, operation[1]);
            let process = high % self.processes();
            let number = usize::from(low);
            let wide = usize::from(high) << 8 | number;
            match kind {
                1 => self.pick(number, |action| owner(action) == Some(process))?,
                2 => self.run_for(process, 1 + number % 32)?,
                3 => {
                    for _ in 0..1 + number % 8 {
                        self.run_until(process, is_write)?;
                    }
                }
                4 => {
                    let ahead = Ahead::ALL[number % Ahead::ALL.len()];
                    self.run_until(process, |effect| ahead.is(effect))?;
                }
                5 => self.pick(wide, Action::is_fault)?,
                6 => self.pick(wide, |action| {
                    matches!(
                        action,
                        Action::Expire(..)
                            | Action::ExpireCleaner
                            | Action::Ripen(_)
                            | Action::Upload
                            | Action::Operate
                            | Action::Land(_)
                    )
                })?,
                7 => {
                    for _ in 0..1 + number % 16 {
                        self.run_round()?;
                    }
                }
                _ => self.pick(wide, |_| true)?,
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Breach> {
        if self.is_ours { self.reach_the_goal() } else { Ok(()) }
    }

    fn enabled(&self) -> Vec<Action> {
        let mut all = Vec::new();
        self.model.enabled(&self.world, &mut all);
        all
    }

    fn take(&mut self, action: Action) -> Result<(), Breach> {
        let mut action = action;
        let mut next = self.model.apply(&self.world, action, &mut Tale::untold());
        if let (None, Action::Run { process, number, fate, .. }) = (&next, action) {
            // The clock can only be off where a plan is stamped, and none was.
            if action.is_fault() && fate == Fate::Done {
                action = Action::Run { process, number, fate, choice: Choice::default() };
                next = self.model.apply(&self.world, action, &mut Tale::untold());
            }
        }
        self.taken.push(action);
        let Some(next) = next else {
            return Err(Breach("an expected outcome is refused".into()));
        };
        let again = || self.model.apply(&self.world, action, &mut Tale::untold());
        let twice = self.twice && self.taken.len().is_multiple_of(EVENTS_BETWEEN_DOUBLES);
        if twice && again().as_ref() != Some(&next) {
            return Err(Breach("the same event gives two worlds".into()));
        }
        let is_stored = self.world.store.address() == next.store.address();
        self.world = next;
        if let Action::Run { process, number, .. } = action {
            self.last[usize::from(process)] = Some(number);
        }
        self.judge(is_stored)
    }

    fn named(&self) -> Vec<String> {
        let mut world = self.model.start();
        let mut names = Vec::new();
        for action in &self.taken {
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
        let mut deleted = Vec::new();
        let mut miscounted = Vec::new();
        for (at, action) in self.taken.iter().enumerate() {
            let mut tale = Tale::told();
            let next = self.model.apply(&world, *action, &mut tale);
            timeline.extend(tale.into_lines().into_iter().map(|line| (at + 1, line)));
            let next = next.unwrap_or_else(|| world.clone());
            // A plan that is written over is not deleted: its path still has one.
            let is_gone = |key: &PlanKey| next.store.plans.get(key).is_none();
            let plans = world.store.plans.iter().filter(|(key, _)| is_gone(key));
            deleted.extend(plans.map(|(_, plan)| plan.id));
            miscounted.extend(counted_for_another(&world.store, &next.store, &deleted));
            world = next;
        }
        let shows_7075 = self.is_lost_by(&world, &miscounted);
        Finding {
            property: breach.0.clone(),
            bounds: self.model.scope.bounds(),
            timeline,
            fair_after: self.fair_after,
            ending: ending::of(self.model, &self.world, Missed::OutOfReach),
            shows: shows_7075.then_some("#7075"),
            by_single_events: None,
        }
    }

    fn walked(&self) -> Walked {
        Walked::of(self.taken.len(), self.fair_after)
    }
}

impl<'m, F: Fleet> Walk<'m, F> {
    fn begun(model: &'m Model<F>, data: &[u8], is_ours: bool) -> Self {
        let world = model.start();
        let last = vec![None; world.processes.len()];
        let twice = !is_set_first(data, 7);
        Self { model, world, taken: Vec::new(), last, twice, is_ours, fair_after: None }
    }

    fn name_in(&self, world: &WorldOf<F>, action: &Action) -> String {
        match (self.effect_of(world, *action), action) {
            (Some(effect), Action::Run { process, fate, choice, .. }) => {
                format!("{process} {fate:?} {choice:?} {}", kind_of(effect))
            }
            _ => format!("{action:?}"),
        }
    }

    fn processes(&self) -> u8 {
        self.world.processes.len() as u8
    }

    /// One of the events that are wanted, or of all if none can happen.
    fn pick(&mut self, number: usize, wanted: impl Fn(&Action) -> bool) -> Result<(), Breach> {
        let enabled = self.enabled();
        let wanted: Vec<_> = enabled.iter().copied().filter(wanted).collect();
        let among = if wanted.is_empty() { &enabled } else { &wanted };
        let Some(action) = among.get(number % among.len().max(1)).copied() else {
            return Ok(());
        };
        self.take(action)
    }

    /// What a process does next if nothing fails: of its effects each in turn. Numbers of effects are used
    /// again, so the least is not the oldest.
    fn next_of(&self, process: u8) -> Option<Action> {
        let plain = |action: &&Action| match **action {
            Action::Run { process: p, fate: Fate::Done, choice, .. } => {
                p == process && choice == Choice::default()
            }
            Action::Begin(p) => p == process,
            _ => false,
        };
        let last = self.last[usize::from(process)];
        let is_later = |action: &&Action| match **action {
            Action::Run { number, .. } => last.is_some_and(|last| number > last),
            _ => true,
        };
        let mut own = Vec::new();
        let actor = &self.world.processes[usize::from(process)];
        self.model.enabled_of(&self.world, process, actor, &mut own);
        let mut all = own.iter().filter(plain);
        let first = all.clone().next();
        all.find(is_later).or(first).copied()
    }

    fn run_for(&mut self, process: u8, events: usize) -> Result<(), Breach> {
        for _ in 0..events {
            let Some(action) = self.next_of(process) else {
                return Ok(());
            };
            self.take(action)?;
        }
        Ok(())
    }

    /// Goes on by at least one event, until the next effect is of this kind.
    fn run_until(&mut self, process: u8, stop: impl Fn(&Effect) -> bool) -> Result<(), Breach> {
        const FAR_ENOUGH: usize = 64;
        for _ in 0..FAR_ENOUGH {
            self.run_for(process, 1)?;
            if self.is_ahead(process, &stop) {
                break;
            }
        }
        Ok(())
    }

    fn run_round(&mut self) -> Result<(), Breach> {
        (0..self.processes()).try_for_each(|process| self.run_for(process, 1))
    }

    /// Nothing fails any more, everybody is in turn, claims of those who are gone expire and marks grow old. First the
    /// turns are of one event each, then of various lengths: in the world no wait ends while anybody, even
    /// a newcomer, is between a look and a write, and in lockstep somebody always is.
    fn reach_the_goal(&mut self) -> Result<(), Breach> {
        if self.model.scope.goal.is_none() {
            return Ok(());
        }
        let begun = self.taken.len();
        self.fair_after = Some(begun);
        self.twice = false;
        let mut various = 0x9e37_79b9_u32;
        while !self.is_over() {
            let passed = self.taken.len() - begun;
            if passed > MAX_FAIR_EVENTS {
                return Err(Breach(Property::Recoverable.name().into()));
            }
            for process in 0..self.processes() {
                various ^= various << 13;
                various ^= various >> 17;
                various ^= various << 5;
                let longer = 1 + various % LONGEST_TURN;
                self.take_turn(process, if passed < LOCKSTEP_EVENTS { 1 } else { longer })?;
            }
            let ages = |action: &&Action| matches!(action, Action::Expire(..) | Action::Ripen(_));
            let aged = self.enabled().iter().find(ages).copied();
            if let Some(action) = aged.filter(|_| !self.is_over()) {
                self.take(action)?;
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.model.is_at_goal(&self.world) == Some(true) || self.model.is_cut_state(&self.world)
    }

    fn take_turn(&mut self, process: u8, events: u32) -> Result<(), Breach> {
        for _ in 0..events {
            let Some(action) = self.next_of(process).filter(|_| !self.is_over()) else {
                break;
            };
            self.take(action)?;
        }
        Ok(())
    }

    /// Whether what a process does next is of this kind.
    fn is_ahead(&self, process: u8, wanted: impl Fn(&Effect) -> bool) -> bool {
        let next = self.next_of(process).and_then(|action| self.effect_of(&self.world, action));
        next.is_some_and(wanted)
    }

    /// Nothing is lost while the bucket stays as it is.
    fn judge(&self, is_stored: bool) -> Result<(), Breach> {
        if !is_stored
            && !lost(self.model.uploaded(&self.world), self.world.store.holdings()).is_empty()
        {
            return Err(Breach(Property::NoSampleLost.name().into()));
        }
        match &self.world.broken {
            Some(broken) => Err(Breach(broken.property().name().into())),
            None => Ok(()),
        }
    }

    /// Whether something is lost that belonged into one of these partitions.
    fn is_lost_by(&self, world: &WorldOf<F>, miscounted: &[(Arc<Plan>, u32)]) -> bool {
        let gone = lost(self.model.uploaded(world), world.store.holdings());
        miscounted.iter().any(|(plan, partition)| {
            let all = world.store.samples(plan.members(*partition));
            let due = self.model.scope.in_partition(all, *partition, plan.count());
            !due.common(gone).is_empty()
        })
    }

    /// What a process is about to do in this event, if it is a process's.
    fn effect_of<'w>(&self, world: &'w WorldOf<F>, action: Action) -> Option<&'w Effect> {
        let Action::Run { process, number, .. } = action else { return None };
        let pending = &world.processes[usize::from(process)].pending;
        pending.iter().find(|issued| issued.id.number == number).map(|issued| &issued.effect)
    }
}

/// Plans and partitions for which a completion has been written now, in time or late, that is of another plan, deleted
/// before, whose markers are in the same place.
fn counted_for_another(before: &Store, after: &Store, deleted: &[PlanId]) -> Vec<(Arc<Plan>, u32)> {
    let is_new = |key: &(PlanKey, u32), visit: &Visit| {
        before.markers.get(key).is_none_or(|old| old.marker != visit.marker)
    };
    let late = after.markers.iter().filter(|(key, visit)| {
        let marker = &visit.marker;
        marker.is_completed() && deleted.contains(&marker.plan) && is_new(key, visit)
    });
    let miscounted = late.flat_map(|(key, visit)| {
        let others = after.plans.iter().filter(|(_, plan)| {
            plan.id != visit.marker.plan && key.0.plan.is_none_or(|of| of == plan.id)
        });
        others.map(|(_, plan)| (Arc::clone(plan), key.1))
    });
    miscounted.collect()
}

fn is_write(effect: &Effect) -> bool {
    matches!(effect, Effect::Put(..) | Effect::Delete(_))
}

/// Whose event it is; of an event of the outside, nobody's.
fn owner(action: &Action) -> Option<u8> {
    match *action {
        Action::Run { process, .. }
        | Action::Begin(process)
        | Action::Beat(process, _)
        | Action::Crash(process)
        | Action::Pause(process) => Some(process),
        Action::Land(_)
        | Action::Expire(..)
        | Action::ExpireCleaner
        | Action::Ripen(_)
        | Action::Upload
        | Action::Operate => None,
    }
}
