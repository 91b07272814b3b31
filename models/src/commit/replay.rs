//! Replays a scenario against a variant: who did what, what it did not come to and why, who lost which rows.

use serde::Serialize;
use surehold::Verified;
use surehold::commit::controller::state::Owed;
use surehold::commit::invariant::Property;
use surehold::commit::message::{Ask, Tell};
use surehold::commit::object::{ReplicaState, SegmentId, ServerId};
use surehold::commit::server::state::{JobStage, Owed as Own, Work};
use surehold::commit::upstream::{Minion, Release};
use surehold::commit::{
    Controller, ControllerEffect, Guard, Server, ServerEffect, Task, completion, controller, server,
};
use surehold::guard::{Guards, Weakened};

use super::ending::breach;
use super::model::{Action, Fate, Model, Who};
use super::reach::{Reach, owed, search, without_faults};
use super::round::Round;
use super::scenario::{Deed, Line as Errand, Manner, Move, Outcome, Scenario, Until};
use super::scope::{PARTITION, server_name};
use super::standing;
use super::tale::{Line, Tale, name, rows};
use super::world::{Pending, World};

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
    /// What the step is called.
    pub label: String,
    /// What the report says.
    pub says: String,
    /// What happened.
    pub lines: Vec<Line>,
    /// Whether it came to it.
    pub done: bool,
    /// If not, the guards that refused, or what else stopped it.
    pub refused_by: Vec<String>,
    /// If not, why.
    pub reason: Option<String>,
    /// Whether the guards were found by leaving them out.
    #[serde(skip)]
    is_blamed: bool,
}

/// The variants a scenario can be replayed against, if they apply to its table ([`Scenario::variants`]).
#[must_use]
pub fn variants() -> Vec<&'static str> {
    Release::ALL.into_iter().map(Release::name).chain(["verified"]).collect()
}

/// Replays a scenario; `None` if there is no such variant, or none that applies to its table.
#[must_use]
pub fn replay(scenario: &Scenario, variant: &str) -> Option<Replayed> {
    let variant = scenario.variants().into_iter().find(|known| *known == variant)?;
    if let Some(release) = Release::ALL.into_iter().find(|release| release.name() == variant) {
        let server = release.server_within(server_limits(scenario));
        let minion = release.minion();
        let stage = Stage::played(release.controller(), server, minion, scenario);
        return Some(stage.end(scenario, variant));
    }
    let controller = Controller::new(controller::Limits::default());
    let server = Server::new(server_limits(scenario));
    let mut stage = Stage::played(controller, server, Minion::Any, scenario);
    stage.blame(scenario);
    Some(stage.end(scenario, variant))
}

/// Replays a scenario against the verified protocol without these guards.
#[must_use]
pub fn replay_without(scenario: &Scenario, guards: &[Guard]) -> Replayed {
    let guards = Weakened::without(guards.iter().copied());
    let controller = Controller::weakened(controller::Limits::default(), guards.clone());
    let server = Server::weakened(server_limits(scenario), guards);
    Stage::played(controller, server, Minion::Any, scenario).end(scenario, "weakened")
}

fn server_limits(scenario: &Scenario) -> server::Limits {
    let usual = server::Limits::default();
    server::Limits {
        max_builds: scenario.builds.unwrap_or(usual.max_builds),
        max_jobs: scenario.jobs.unwrap_or(usual.max_jobs),
        ..usual
    }
}

/// Why a move could not be made.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// Guards that decided something in the very step.
    guards: Vec<String>,
    /// What stopped it, in a word.
    check: String,
    /// In words.
    why: String,
}

impl Stop {
    fn new(check: impl Into<String>, why: impl Into<String>) -> Self {
        Self { guards: Vec::new(), check: check.into(), why: why.into() }
    }

    /// With these guards, if none is known to have decided it.
    fn or_guards(mut self, guards: Vec<String>) -> Self {
        if self.guards.is_empty() {
            self.guards = guards;
        }
        self
    }
}

pub(super) type Made = Result<(), Stop>;

/// A line of work that has not ended after so many operations never will.
const ENOUGH: usize = 200;

#[derive(Clone)]
pub(super) struct Stage<V: Guards<Guard>> {
    model: Model<V>,
    world: World,
    /// What happened in the step being played.
    lines: Vec<Line>,
    /// The answers that were given in the move being made.
    heard: Vec<(u8, &'static str)>,
    broken: Vec<String>,
    /// What is noted of the step being played.
    round: Round,
    /// The steps that may be repeated for ever.
    rounds: Vec<String>,
    steps: Vec<Played>,
}

impl<V: Guards<Guard>> Stage<V> {
    fn played(
        controller: Controller<V>,
        server: Server<V>,
        minion: Minion,
        scenario: &Scenario,
    ) -> Self {
        Self::played_up_to(controller, server, minion, scenario, scenario.steps.len())
    }

    fn played_up_to(
        controller: Controller<V>,
        server: Server<V>,
        minion: Minion,
        scenario: &Scenario,
        steps: usize,
    ) -> Self {
        let mut model = Model::new(controller, server, scenario.scope());
        // Each operation is one of its own; what is broken is judged here, as a report is told to its end.
        model.reduce = false;
        model.minion = minion;
        model.judged.clear();
        let mut stage = Self::at_start(model);
        for scene in &scenario.steps[..steps] {
            let mut stop = None;
            stage.round = Round::at(&stage.world);
            for (_, what) in &scene.moves {
                let from = stage.lines.len();
                let made = stage.act(*what);
                let guards = deciders(&stage.lines[from..]);
                stop = stop.or(made.err().map(|stop| stop.or_guards(guards)));
            }
            if stop.is_none() && stage.round.is_endless(&stage.world) {
                stage.rounds.push(scene.label.clone());
            }
            stage.steps.push(Played {
                label: scene.label.clone(),
                says: scene.says.clone(),
                lines: std::mem::take(&mut stage.lines),
                done: stop.is_none(),
                is_blamed: false,
                reason: stop.as_ref().map(|stop| stop.why.clone()),
                refused_by: stop.map_or_else(Vec::new, |stop| match stop.guards.as_slice() {
                    [] => vec![stop.check],
                    _ => stop.guards,
                }),
            });
        }
        stage
    }

    /// At the beginning of a model's scope.
    pub(super) fn at_start(model: Model<V>) -> Self {
        let world = model.start();
        let (lines, heard, broken, rounds, steps) = Default::default();
        let round = Round::at(&world);
        let mut stage = Self { model, world, lines, heard, broken, round, rounds, steps };
        stage.read_openings();
        stage.lines.clear();
        stage
    }

    /// Where it is, and what was told.
    pub(super) fn into_parts(self) -> (World, Vec<Line>) {
        (self.world, self.lines)
    }

    /// A move is made. What it was made for is looked for among the answers that it brings about, and not among earlier ones.
    pub(super) fn act(&mut self, what: Move) -> Made {
        self.heard.clear();
        match what {
            Move::Consume(at, segment, end) => self.consume(at, segment, end),
            Move::Stop(at, segment) => self.happen(Action::Stop(at, segment)),
            Move::Report(at, segment, manner) => self.report(at, segment, manner),
            Move::Start(at, segment, manner) => {
                let is_start = |effect: &ServerEffect| says(effect, is_commit_start);
                self.message(at, Own::Replica(segment), is_start, manner)
            }
            Move::End(at, segment, manner) => {
                self.message(at, Own::Replica(segment), is_commit_end, manner)
            }
            Move::Do(at, deed, segment, fails) => self.work(at, deed, segment, fails),
            Move::Go(at, state, segment) => {
                self.happen_to(at, segment, state)?;
                self.read_openings();
                Ok(())
            }
            Move::FailToOpen(at, segment) => {
                self.happen_to(at, segment, ReplicaState::Consuming)?;
                let is_read = |effect: &ServerEffect| matches!(effect, ServerEffect::ReadRecord(_));
                let number = self.pending_of(at, Own::Replica(segment), is_read)?;
                self.take(Action::Run(Who::Server(at), number, Fate::Failed))
            }
            Move::CatchUp(at, segment) => self.catch_up(at, segment),
            Move::Bring(at, segment) => self.bring(at, segment),
            Move::GiveUp(at, segment) => self.happen(Action::GiveUp(at, segment)),
            Move::Crash(at, dies) => self.happen(Action::Crash(at, dies)),
            Move::Restart(at) => self.happen(Action::Restart(at)),
            Move::Lead(at, line, until, manner) => self.lead(at, line, until, manner),
            Move::CrashController(at) => self.happen(Action::CrashController(at)),
            Move::TakeOver(at) if at == self.world.leader + 1 => self.happen(Action::Lead),
            Move::TakeOver(_) => Err(Stop::new("not-next", "another one is next")),
            Move::Age => self.happen(Action::Age),
            Move::Expire => self.happen(Action::Expire(PARTITION)),
            Move::Rewrite(segment) => {
                self.happen(Action::Rewrite(segment))?;
                self.happen(Action::Minion)?;
                self.happen(Action::Minion)
            }
            Move::Toggle => self.happen(Action::Toggle),
            Move::Serve => self.come_to(Property::Served),
            Move::Settle => self.come_to(Property::Recoverable),
        }
    }

    /// What the model allows happens.
    fn happen(&mut self, action: Action) -> Made {
        let mut actions = Vec::new();
        self.model.enabled(&self.world, &mut actions);
        if actions.contains(&action) {
            return self.take(action);
        }
        Err(Stop::new("not-ready", "there is nothing of the kind to be done"))
    }

    /// Helix has a replica go where the ideal state says.
    fn happen_to(&mut self, at: u8, segment: SegmentId, to: ReplicaState) -> Made {
        if self.model.transition_of(&self.world, at, segment) == Some(to) {
            return self.take(Action::Transition(at, segment, to));
        }
        let role = self.world.servers[usize::from(at)].role.as_ref();
        let locked =
            role.and_then(|role| role.replica(segment)).is_some_and(|r| r.work.is_locked());
        Err(match locked {
            true => Stop::new("locked", format!("the commit holds the lock of {}", name(segment))),
            false => Stop::new("not-ready", "Helix has no such transition for it"),
        })
    }

    fn take(&mut self, action: Action) -> Made {
        self.round.pass(&self.model, &self.world, action);
        let mut tale = Tale::told();
        let next = self.model.apply(&self.world, action, &mut tale);
        let is_answered = !tale.heard().is_empty();
        self.heard.extend_from_slice(tale.heard());
        self.lines.extend(tale.into_lines());
        let Some(next) = next else {
            // An answer after which all is as it was: the server will ask once more.
            return match is_answered {
                true => Ok(()),
                false => Err(Stop::new("refused", "the role refuses it")),
            };
        };
        let before = std::mem::replace(&mut self.world, next);
        self.judge(&before, matches!(action, Action::Crash(..)));
        Ok(())
    }

    /// Each property is judged by itself, so that none hides another.
    fn judge(&mut self, before: &World, is_crash: bool) {
        for property in Property::ALL.into_iter().filter(|property| property.is_safety()) {
            let said = format!("{}: ", property.name());
            if self.broken.iter().any(|text| text.starts_with(&said)) {
                continue;
            }
            let model = Model { judged: vec![property], ..self.model.clone() };
            let mut world = self.world.clone();
            model.judge(before, &mut world, is_crash);
            self.broken.extend(world.broken.map(|broken| format!("{said}{}", breach(broken))));
        }
    }

    /// What a replica or a job reads as soon as it is opened, it reads.
    fn read_openings(&mut self) {
        while let Some((at, number)) = self.opening() {
            if self.take(Action::Run(Who::Server(at), number, Fate::Well)).is_err() {
                return;
            }
        }
    }

    fn opening(&self) -> Option<(u8, u16)> {
        (0..self.world.servers.len() as u8).find_map(|at| {
            let node = &self.world.servers[usize::from(at)];
            let role = node.role.as_ref()?;
            let is_opened = |number: u16| match role.owes(number) {
                Some(Own::Replica(segment)) => role
                    .replica(segment)
                    .is_some_and(|replica| matches!(replica.work, Work::Opening { .. })),
                Some(Own::Job(segment)) => role
                    .jobs()
                    .any(|(id, job)| id == segment && matches!(job.stage, JobStage::Opening(_))),
                Some(Own::Upload(_) | Own::Nothing) | None => false,
            };
            let numbers = node.pending.iter().map(|pending| pending.issued.id.number);
            numbers.into_iter().find(|number| is_opened(*number)).map(|number| (at, number))
        })
    }

    // Servers.

    fn pending_of(
        &self,
        at: u8,
        own: Own,
        is: impl Fn(&ServerEffect) -> bool,
    ) -> Result<u16, Stop> {
        let node = &self.world.servers[usize::from(at)];
        let owes = |number| node.role.as_ref().and_then(|role| role.owes(number)) == Some(own);
        let mut pending = node.pending.iter().filter(|pending| pending.at.is_none());
        let found = pending.find(|p| owes(p.issued.id.number) && is(&p.issued.effect));
        let none = || {
            Stop::new(
                "not-asked",
                format!("{} has nothing of the kind to do", server_name(at.into())),
            )
        };
        found.map(|pending| pending.issued.id.number).ok_or_else(none)
    }

    fn operate(
        &mut self,
        at: u8,
        own: Own,
        is: impl Fn(&ServerEffect) -> bool,
        fate: Fate,
    ) -> Made {
        let number = self.pending_of(at, own, is)?;
        self.take(Action::Run(Who::Server(at), number, fate))
    }

    fn memory_end(&self, at: u8, segment: SegmentId) -> Option<u64> {
        let role = self.world.servers[usize::from(at)].role.as_ref()?;
        role.replica(segment)?.memory.as_ref().map(|rows| rows.range.end)
    }

    fn work_of(&self, at: u8, segment: SegmentId) -> Option<Work> {
        let role = self.world.servers[usize::from(at)].role.as_ref()?;
        role.replica(segment).map(|replica| replica.work)
    }

    fn shows(&self, at: u8, segment: SegmentId) -> Option<ReplicaState> {
        let role = self.world.servers[usize::from(at)].role.as_ref()?;
        role.replica(segment).map(|replica| replica.shows)
    }

    fn consume(&mut self, at: u8, segment: SegmentId, end: u64) -> Made {
        let mut some = false;
        while matches!(self.work_of(at, segment), Some(Work::Consuming(_)))
            && self.memory_end(at, segment).is_some_and(|now| now < end)
        {
            self.operate(at, Own::Replica(segment), is_fetch, Fate::Well)?;
            some = true;
        }
        let there = self.memory_end(at, segment) == Some(end);
        (some && there).then_some(()).ok_or_else(|| {
            let now = self.memory_end(at, segment);
            let now = now.map_or_else(|| "without rows".into(), |now| format!("at {now}"));
            Stop::new(
                "not-consuming",
                format!("{} is {now} and consumes no more", server_name(at.into())),
            )
        })
    }

    fn catch_up(&mut self, at: u8, segment: SegmentId) -> Made {
        let mut some = false;
        while matches!(self.work_of(at, segment), Some(Work::Catching(_))) {
            self.operate(at, Own::Replica(segment), is_fetch, Fate::Well)?;
            some = true;
        }
        some.then_some(()).ok_or_else(|| Stop::new("not-behind", "it has nothing to catch up with"))
    }

    /// Looks for a copy, once.
    fn bring(&mut self, at: u8, segment: SegmentId) -> Made {
        let own = Own::Replica(segment);
        let is_poll = |effect: &ServerEffect| matches!(effect, ServerEffect::PollRecord(_));
        if self.pending_of(at, own, is_poll).is_ok() {
            self.operate(at, own, is_poll, Fate::Well)?;
        }
        while let Some(Work::Looking(_) | Work::Fetching(_)) = self.work_of(at, segment) {
            self.operate(at, own, |_| true, Fate::Well)?;
        }
        match self.shows(at, segment) {
            Some(ReplicaState::Online) => Ok(()),
            _ => Err(Stop::new(
                "no-copy",
                format!("there is no copy of {} to be had", name(segment)),
            )),
        }
    }

    fn work(&mut self, at: u8, deed: Deed, segment: SegmentId, fails: bool) -> Made {
        let fate = if fails { Fate::Failed } else { Fate::Well };
        let is_build = |effect: &ServerEffect| matches!(effect, ServerEffect::Build(..));
        let is_upload = |effect: &ServerEffect| matches!(effect, ServerEffect::Upload(..));
        match deed {
            Deed::Build => {
                if matches!(self.work_of(at, segment), Some(Work::Building { running: false, .. }))
                {
                    return Err(Stop::new("no-permit", "every permit to build is taken"));
                }
                self.operate(at, Own::Replica(segment), is_build, fate)
            }
            Deed::Store => self.operate(at, Own::Replica(segment), is_upload, fate),
            Deed::Upload => self.operate(at, Own::Upload(segment), is_upload, fate),
            Deed::Rebuild => self.operate(at, Own::Job(segment), is_build, fate),
            Deed::Restore => self.operate(at, Own::Job(segment), is_upload, fate),
            Deed::HandIn => self.message(at, Own::Job(segment), |_| true, Manner::default()),
            Deed::Reread => {
                self.operate(at, Own::Job(segment), is_fetch, fate)?;
                while self.pending_of(at, Own::Job(segment), is_fetch).is_ok() {
                    self.operate(at, Own::Job(segment), is_fetch, fate)?;
                }
                Ok(())
            }
        }
    }

    /// A message arrives at the leader.
    fn message(
        &mut self,
        at: u8,
        own: Own,
        is: impl Fn(&ServerEffect) -> bool,
        manner: Manner,
    ) -> Made {
        let number = self.pending_of(at, own, is)?;
        let fate = if manner.late { Fate::Late } else { Fate::Well };
        let run = |fate| Action::Run(Who::Server(at), number, fate);
        let fate = self.unless_mute(manner, run, fate);
        if self.take(run(fate)).is_err() {
            return Err(Stop::new("busy", "the leader works on another message of this segment"));
        }
        self.was_heard(manner, Some(at))
    }

    /// A fate in which the answer is lost, if there is one to lose and that is wanted.
    fn unless_mute(&self, manner: Manner, run: impl Fn(Fate) -> Action, fate: Fate) -> Fate {
        let mute = || self.model.apply(&self.world, run(Fate::Mute), &mut Tale::untold()).is_some();
        if manner.unheard && mute() { Fate::Mute } else { fate }
    }

    /// A replica says how far it is, and the leader reads what it needs for an answer.
    fn report(&mut self, at: u8, segment: SegmentId, manner: Manner) -> Made {
        let of_message = Manner { heard: None, ..manner };
        let is_report = |effect: &ServerEffect| says(effect, is_consumed);
        self.message(at, Own::Replica(segment), is_report, of_message)?;
        let leader = self.world.leader;
        while self.heard.is_empty() {
            let Some(number) = self.next_of(leader, Owed::Errand(segment)) else { break };
            let run = |fate| Action::Run(Who::Controller(leader), number, fate);
            let fate = self.unless_mute(manner, run, Fate::Well);
            self.take(run(fate))?;
        }
        self.was_heard(manner, Some(at))
    }

    /// Whether the last answer is the one that the move was made for.
    fn was_heard(&self, manner: Manner, by: Option<u8>) -> Made {
        let Some(wanted) = manner.heard else { return Ok(()) };
        let mut heard = self.heard.iter().rev();
        let last = heard.find(|(server, _)| by.is_none_or(|by| by == *server));
        match last.map(|(_, word)| *word) {
            Some(word) if word == wanted => Ok(()),
            Some(word) => Err(Stop::new(word, format!("the answer is {word}, not {wanted}"))),
            None => Err(Stop::new("no-answer", "there is no answer")),
        }
    }

    // Controllers.

    /// The next effect of a line of work, unless it is under way elsewhere.
    fn next_of(&self, at: u8, owed: Owed) -> Option<u16> {
        let process = &self.world.controllers[usize::from(at)];
        let is_in_batch = |segment| process.role.in_step_3().any(|(id, _)| id == segment);
        let is_own = |p: &&Pending<ControllerEffect>| {
            let of = process.role.owes(p.issued.id.number);
            let of_batch = matches!(owed, Owed::Errand(segment) if is_in_batch(segment));
            p.at.is_none() && (of == Some(owed) || of_batch && of == Some(Owed::Batch))
        };
        process.pending.iter().find(is_own).map(|pending| pending.issued.id.number)
    }

    fn effect_of(&self, at: u8, number: u16) -> Option<ControllerEffect> {
        let mut pending = self.world.controllers[usize::from(at)].pending.iter();
        let found = pending.find(|pending| pending.issued.id.number == number);
        found.map(|pending| pending.issued.effect.clone())
    }

    fn lead(&mut self, at: u8, line: Errand, until: Option<Until>, manner: Manner) -> Made {
        let task = match line {
            Errand::Commit(segment) => {
                return self.go_on(at, Owed::Errand(segment), until, manner);
            }
            Errand::Complete(segment, server) => {
                let owed = Owed::Refill(segment, ServerId(server.into()));
                return self.go_on(at, owed, until, manner);
            }
            Errand::Validate => Task::Validate(PARTITION),
            Errand::Repair => Task::Repair(PARTITION),
            Errand::Retry => Task::Retry(PARTITION),
        };
        if self.world.controllers[usize::from(at)].role.runs(task) {
            return self.go_on(at, Owed::Chore(task), until, manner);
        }
        self.begin(at, task, until, manner)
    }

    /// A task begins. Of the choices among equals, the one that leads where it is to come is made.
    fn begin(&mut self, at: u8, task: Task, until: Option<Until>, manner: Manner) -> Made {
        let mut first = None;
        let servers = 0..self.world.servers.len() as u8;
        for pick in servers.filter(|pick| manner.pick.is_none_or(|picked| picked == *pick)) {
            let mut stage = self.clone();
            let begun = stage.take(Action::Begin(at, task, pick));
            let made = begun.and_then(|()| stage.go_on(at, Owed::Chore(task), until, manner));
            if made.is_ok() {
                *self = stage;
                return Ok(());
            }
            first.get_or_insert((stage, made));
        }
        let Some((stage, made)) = first else { return Ok(()) };
        *self = stage;
        made
    }

    /// A line of work goes on until the operation that is asked for, or to its end. One that does not come to that
    /// operation stays where it was: what else it would do is for other moves to tell.
    fn go_on(&mut self, at: u8, owed: Owed, until: Option<Until>, manner: Manner) -> Made {
        let mut stage = self.clone();
        let made = stage.run(at, owed, until, manner);
        match made {
            Err(stop) if until.is_some() && !stage.is_heard(&stop) => {
                Err(Stop { guards: deciders(&stage.lines[self.lines.len()..]), ..stop })
            }
            made => {
                *self = stage;
                made
            }
        }
    }

    /// Whether it was stopped by an answer, that is, after the operation.
    fn is_heard(&self, stop: &Stop) -> bool {
        self.heard.last().is_some_and(|(_, word)| *word == stop.check)
    }

    fn run(&mut self, at: u8, owed: Owed, until: Option<Until>, manner: Manner) -> Made {
        let mut ran = 0;
        while let Some(number) = self.next_of(at, owed) {
            let Some(effect) = self.effect_of(at, number) else { break };
            if until == Some(Until::Reads) && ran > 0 && !is_read(&effect) {
                return Ok(());
            }
            if ran >= ENOUGH {
                return Err(Stop::new("endless", "it comes to no end"));
            }
            ran += 1;
            let last = until.is_some_and(|until| is_what(until, owed, &effect));
            let run = |fate| Action::Run(Who::Controller(at), number, fate);
            let fate = if last && manner.without_reply { Fate::Lost } else { Fate::Well };
            let fate = self.unless_mute(manner, run, fate);
            let before = contents(&self.world);
            self.take(run(fate))?;
            self.read_openings();
            let is_call = matches!(effect, ControllerEffect::Call(_));
            if last && (is_call || contents(&self.world) != before) {
                return self.was_heard(manner, None);
            }
        }
        match (ran, until) {
            (0, _) => Err(Stop::new("not-asked", "there is nothing of the kind to do")),
            (_, Some(_)) => Err(Stop::new("not-done", "its work ends without that")),
            (_, None) => self.was_heard(manner, None),
        }
    }

    /// Whatever is no fault happens, on the shortest way to an aim.
    fn come_to(&mut self, aim: Property) -> Made {
        let way = match search(&self.model, &self.world, aim) {
            Reach::Way(way) => way,
            Reach::Nowhere { .. } => {
                return Err(Stop::new("out-of-reach", "it cannot come to that any more"));
            }
            Reach::TooFar => return Err(Stop::new("too-far", "that was not found out")),
        };
        let left = self.world.left;
        self.world = without_faults(&self.world);
        self.model.reduce = true;
        let made = way.into_iter().try_for_each(|action| self.take(action));
        self.model.reduce = false;
        self.world.left = left;
        made
    }

    fn end(self, scenario: &Scenario, variant: &'static str) -> Replayed {
        let refused = self.steps.iter().filter(|step| !step.done);
        let unserved = self.unserved();
        let gone = |(id, unserved): &(SegmentId, u32)| {
            let gone = unserved & !standing::held(&self.world, *id);
            (gone != 0).then_some((*id, gone))
        };
        let lost = unserved.as_ref().map(|all| all.iter().filter_map(gone).collect::<Vec<_>>());
        let outcome = Outcome {
            segments: Some(standing::segments(&self.world)),
            unserved: unserved.map(|all| in_words(&all)),
            lost: lost.map(|all| in_words(&all)),
            twice: Some(standing::twice(&self.world)),
            settles: match search(&self.model, &self.world, Property::Recoverable) {
                Reach::Way(_) => Some(true),
                Reach::Nowhere { .. } => Some(false),
                Reach::TooFar => None,
            },
            rounds: (!self.rounds.is_empty()).then_some(self.rounds),
            broken: Some(self.broken),
            refused: Some(refused.map(|s| (s.label.clone(), s.refused_by.clone())).collect()),
        };
        let expected = scenario.expect.get(variant);
        let differences = expected.map(|expected| outcome.differences(expected));
        Replayed { variant, steps: self.steps, outcome, differences }
    }

    /// Committed rows that nobody will ever serve, of each segment; `None` if that was not found out.
    fn unserved(&self) -> Option<Vec<(SegmentId, u32)>> {
        let ever = match search(&self.model, &self.world, Property::Served) {
            Reach::Way(_) => return Some(Vec::new()),
            Reach::Nowhere { ever_served } => ever_served,
            Reach::TooFar => return None,
        };
        let ids = self.world.store.records.iter().map(|(id, _)| *id);
        let never = |id| owed(&self.world, id) & !ever.get(&id).copied().unwrap_or_default();
        Some(ids.map(|id| (id, never(id))).filter(|(_, rows)| *rows != 0).collect())
    }
}

impl Stage<Verified> {
    /// Which guard refuses a step is told by those without which it would have come to it, having come to the same
    /// steps before. Where no guard is enough, two that cover each other are looked for.
    fn blame(&mut self, scenario: &Scenario) {
        let singles = Guard::ALL.map(|guard| vec![guard]);
        self.blame_sets(scenario, &singles);
        let pairs = Guard::ALL.iter().enumerate().flat_map(|(at, first)| {
            Guard::ALL[at + 1..].iter().map(|second| vec![*first, *second])
        });
        self.blame_sets(scenario, &pairs.collect::<Vec<_>>());
    }

    fn blame_sets(&mut self, scenario: &Scenario, sets: &[Vec<Guard>]) {
        let open = |step: &Played| !step.done && !step.is_blamed;
        let Some(last) = self.steps.iter().rposition(open) else { return };
        let mut guilty: Vec<Vec<String>> = vec![Vec::new(); last + 1];
        for set in sets {
            let guards = Weakened::without(set.iter().copied());
            let controller = Controller::weakened(controller::Limits::default(), guards.clone());
            let server = Server::weakened(server_limits(scenario), guards);
            let stage = Stage::played_up_to(controller, server, Minion::Any, scenario, last + 1);
            let pairs = self.steps.iter().zip(&stage.steps);
            if let Some(at) =
                pairs.map(|(with, without)| with.done == without.done).position(|same| !same)
                && open(&self.steps[at])
            {
                let names: Vec<_> = set.iter().map(|guard| guard.name()).collect();
                guilty[at].push(names.join(" and "));
            }
        }
        for (step, guards) in self.steps.iter_mut().zip(guilty) {
            if !guards.is_empty() {
                let reason = step.reason.take().unwrap_or_default();
                let without = guards.join(", or ");
                step.reason = Some(format!("{reason}; without {without} it would come to it"));
                step.refused_by = guards;
                step.is_blamed = true;
            }
        }
    }
}

/// Guards that decided something in these lines.
fn deciders(lines: &[Line]) -> Vec<String> {
    let mut guards: Vec<_> = lines.iter().flat_map(|line| line.decided_by.clone()).collect();
    guards.sort_unstable();
    guards.dedup();
    guards.into_iter().map(ToString::to_string).collect()
}

/// What is in the stores and the view, versions left out: they are counted only while somebody holds one.
fn contents(world: &World) -> impl PartialEq + use<> {
    let store = &world.store;
    let records = store.records.iter().map(|(id, s)| (*id, s.record.clone(), s.is_old));
    let records: Vec<_> = records.collect();
    (records, store.ideal.clone(), store.view.clone(), store.objects.clone())
}

fn in_words(all: &[(SegmentId, u32)]) -> Vec<String> {
    all.iter().map(|(id, mask)| format!("{} of {}", rows(*mask), name(*id))).collect()
}

fn says(effect: &ServerEffect, is: impl Fn(&completion::Kind) -> bool) -> bool {
    match effect {
        ServerEffect::Call(request) => match &request.body {
            Ask::Say(_, kind) => is(kind),
            Ask::CommitEnd { .. } | Ask::Reingested { .. } => false,
        },
        _ => false,
    }
}

fn is_consumed(kind: &completion::Kind) -> bool {
    matches!(kind, completion::Kind::Consumed(_))
}

fn is_commit_start(kind: &completion::Kind) -> bool {
    *kind == completion::Kind::CommitStart
}

fn is_commit_end(effect: &ServerEffect) -> bool {
    matches!(effect, ServerEffect::Call(request) if matches!(request.body, Ask::CommitEnd { .. }))
}

fn is_fetch(effect: &ServerEffect) -> bool {
    matches!(effect, ServerEffect::Fetch(..))
}

fn is_read(effect: &ControllerEffect) -> bool {
    matches!(
        effect,
        ControllerEffect::ReadRecord(_)
            | ControllerEffect::ListRecords(_)
            | ControllerEffect::ReadIdeal
            | ControllerEffect::ReadView
            | ControllerEffect::ReadStream(_)
            | ControllerEffect::ReadLatest(..)
    )
}

/// Whether an effect is the operation up to which a line of work is to go.
fn is_what(until: Until, owed: Owed, effect: &ControllerEffect) -> bool {
    let own = match owed {
        Owed::Errand(segment) | Owed::Refill(segment, _) => Some(segment),
        Owed::Chore(_) | Owed::Batch => None,
    };
    match (until, effect) {
        (Until::Step1, ControllerEffect::WriteRecord(id, ..)) => own.is_none_or(|own| own == *id),
        (Until::Step2, ControllerEffect::WriteRecord(id, ..)) => own.is_none_or(|own| own != *id),
        (Until::Step3, ControllerEffect::WriteIdeal(..))
        | (Until::Move, ControllerEffect::Promote(_))
        | (Until::CleanUp, ControllerEffect::DeleteRecord(_)) => true,
        (Until::Reset(at), ControllerEffect::Reset(_, server)) => server.0 == u16::from(at),
        (Until::Reread(at, segment), ControllerEffect::Call(order)) => {
            let is = order.body == Tell::Reingest;
            is && order.segment == segment && order.server.0 == u16::from(at)
        }
        (Until::Upload(at, segment), ControllerEffect::Call(order)) => {
            let is = order.body == Tell::Upload;
            is && order.segment == segment && order.server.0 == u16::from(at)
        }
        (_, _) => false,
    }
}
