//! Replays a scenario against a variant: who did what, what it did not come to and why, who serves at the end.

use std::collections::BTreeMap;

use serde::Serialize;
use surehold::guard::Weakened;
use surehold::rebalance::event::Move as Proposed;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::message::{Action as Asked, Answer, FromServer, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};
use surehold::rebalance::upstream::Fix;
use surehold::rebalance::{Guard, HistoricalEffect, Task};
use surehold::{Issued, Verified};

use super::fleet::{Druid, Fleet, Leads as _, Ours, Reading};
use super::model::{Action, Ending, Model, RoleOf, WorldOf};
use super::scenario::{Aim, Errand, Manner, Move, Outcome, Scenario, Work};
use super::scope::name_of;
use super::tale::{Line, Tale, name};
use super::world::{Letter, Mail, Node};
use crate::part::Part;

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
    pub refused_by: Vec<&'static str>,
    /// If not, why.
    pub reason: Option<String>,
}

/// The variants a scenario can be replayed against.
pub fn variants() -> Vec<&'static str> {
    Fix::ALL.into_iter().map(Fix::name).chain(["verified"]).collect()
}

/// Replays a scenario; `None` if there is no such variant.
pub fn replay(scenario: &Scenario, variant: &str) -> Option<Replayed> {
    if variant == "verified" {
        let mut stage = Stage::played(&Ours(Verified), scenario, true);
        stage.blame(scenario);
        return Some(stage.end(scenario, "verified"));
    }
    let fix = Fix::ALL.into_iter().find(|fix| fix.name() == variant)?;
    Some(Stage::played(&Druid(fix), scenario, false).end(scenario, fix.name()))
}

/// Why a move could not be made.
struct Stop {
    /// Guards that decided so in the very step.
    guards: Vec<&'static str>,
    /// What stopped it, in a word.
    check: &'static str,
    /// In words.
    why: String,
}

impl Stop {
    fn new(check: &'static str, why: impl Into<String>) -> Self {
        Self { guards: Vec::new(), check, why: why.into() }
    }
}

type Made = Result<(), Stop>;

/// How much may be on its way: a place on the wire has to have a number.
const MOST_LETTERS: usize = 200;

struct Stage<F: Fleet> {
    fleet: F,
    model: Model<F>,
    world: WorldOf<F>,
    /// Whether the roles are the verified ones, whole or weakened.
    ours: bool,
    /// The step being played.
    label: String,
    steps: Vec<Played>,
    broken: Vec<Property>,
    counts: BTreeMap<String, BTreeMap<String, i64>>,
    unserved: Vec<String>,
    /// What the world was before each step, coordinators left out.
    before: Vec<Outside>,
}

/// A world without its coordinators: servers, and what is on its way.
type Outside = (Vec<Part<Node>>, Vec<Letter>);

impl<F: Fleet> Stage<F> {
    fn played(fleet: &F, scenario: &Scenario, ours: bool) -> Self {
        let mut model = Model::new(fleet, scenario.scope());
        model.judged = Property::ALL.to_vec();
        let mut stage = Self {
            world: model.start(),
            fleet: fleet.clone(),
            model,
            ours,
            label: String::new(),
            steps: Vec::new(),
            broken: Vec::new(),
            counts: BTreeMap::new(),
            unserved: Vec::new(),
            before: Vec::new(),
        };
        for scene in &scenario.steps {
            stage.label.clone_from(&scene.label);
            stage.before.push((stage.world.servers.clone(), stage.world.wire.clone()));
            let served = stage.served();
            let mut lines = Vec::new();
            let mut stop = None;
            for (_, what) in &scene.moves {
                let made = stage.act(what, &mut lines);
                stop = stop.or(made.err());
            }
            let now = stage.served();
            if served.iter().any(|segment| !now.contains(segment)) {
                stage.unserved.push(scene.label.clone());
            }
            stage.steps.push(Played {
                label: scene.label.clone(),
                says: scene.says.clone(),
                lines,
                done: stop.is_none(),
                reason: stop.as_ref().map(|stop| stop.why.clone()),
                refused_by: stop.map_or_else(Vec::new, |stop| match stop.guards.as_slice() {
                    [] => vec![stop.check],
                    _ => stop.guards,
                }),
            });
        }
        stage
    }

    fn act(&mut self, what: &Move, lines: &mut Vec<Line>) -> Made {
        match *what {
            Move::Copy(at, until) => self.copy(at, until, lines),
            Move::Count(at) => self.count(at, lines),
            Move::Run(at, aim) => self.run(at, aim, lines),
            Move::Send(at, server) => self.happen(Action::Go(at, Task::Send(server)), lines),
            Move::See(at, server) => self.see(at, server, lines),
            Move::Ask(at, server) => self.ask(at, server, lines),
            Move::Hear(at, server) => self.hear(at, server, lines),
            Move::CallBack(at, once) => self.call_back(at, once, lines),
            Move::GiveUp(at, errand) => self.give_up(at, errand, lines),
            Move::Unconfirmed(at, segment, server) => {
                self.happen(Action::Go(at, Task::Unconfirmed(server, segment)), lines)
            }
            Move::TakeOver(at) => self.happen(Action::TakeOver(at), lines),
            Move::StepDown(at) => self.happen(Action::Depose(at), lines),
            Move::Execute(at, errand, manner) => self.execute(at, errand, manner, lines),
            Move::Answer(at, errand) => {
                let letter = self.answer(at, errand)?;
                self.tell(at, Action::Deliver { letter, repeated: false, fails: false }, lines)
            }
            Move::LoseRequest(at, errand) => {
                self.send_first(at, errand, lines)?;
                let letter = self.request(at, errand)?;
                self.happen(Action::Lose(letter), lines)
            }
            Move::LoseAnswer(at, errand) => {
                let letter = self.answer(at, errand)?;
                self.happen(Action::Lose(letter), lines)
            }
            Move::End(server, work, segment, fails) => {
                let number = self.pending(server, work, segment)?;
                let ending = if fails { Ending::Badly } else { Ending::Well };
                self.happen(Action::End(server, number, ending), lines)
            }
            Move::Crash(server, disk) => self.happen(Action::Crash(server, disk), lines),
            Move::Start(server) => self.happen(Action::Restart(server), lines),
            Move::Lose(at, server) => self.happen(Action::Vanish(at, server), lines),
            Move::Find(at, server) => self.happen(Action::Appear(at, server), lines),
            Move::Operate => self.happen(Action::Operate, lines),
            Move::Settle => self.settle(lines),
        }
    }

    fn role(&self, at: u8) -> &RoleOf<F> {
        &self.world.leaders[usize::from(at)].role
    }

    fn segment_name(&self, segment: SegmentId) -> String {
        name(&self.model.scope, segment)
    }

    /// What the model allows happens.
    fn happen(&mut self, action: Action, lines: &mut Vec<Line>) -> Made {
        if self.may(action) {
            self.take(action, lines)
        } else {
            Err(Stop::new("not-ready", "there is nothing of the kind to be done"))
        }
    }

    fn may(&self, action: Action) -> bool {
        let mut actions = Vec::new();
        self.model.enabled(&self.world, &mut actions);
        actions.contains(&action)
    }

    fn take(&mut self, action: Action, lines: &mut Vec<Line>) -> Made {
        if self.world.wire.len() > MOST_LETTERS {
            return Err(Stop::new("wire-full", "there is too much on its way"));
        }
        let mut tale = Tale::told();
        let next = self.model.apply(&self.world, action, &mut tale);
        let told = tale.into_lines();
        let guards = deciders(&told);
        lines.extend(told);
        let Some(next) = next else {
            return Err(Stop { guards, ..Stop::new("refused", "the role refuses it") });
        };
        self.world = next;
        // A report is told to its end, whatever is broken on the way.
        if let Some(broken) = self.world.broken.take()
            && !self.broken.contains(&broken.property())
        {
            self.broken.push(broken.property());
        }
        Ok(())
    }

    /// A coordinator is told something. If it makes nothing of it, the step is not done.
    fn tell(&mut self, at: u8, action: Action, lines: &mut Vec<Line>) -> Made {
        let before = self.role(at).clone();
        let from = lines.len();
        self.take(action, lines)?;
        if *self.role(at) == before {
            let guards = deciders(&lines[from..]);
            return Err(Stop { guards, ..Stop::new("ignored", "it changes nothing") });
        }
        Ok(())
    }

    fn note(&self, at: u8, action: &str, lines: &mut Vec<Line>) {
        let actor = super::tale::leader_name(&self.model.scope, at);
        let action = action.to_string();
        lines.push(Line { actor, action, note: String::new(), decided_by: Vec::new() });
    }

    /// A run reads on, until it has read so far.
    fn copy(&mut self, at: u8, until: Reading, lines: &mut Vec<Line>) -> Made {
        let read = self.fleet.reading(self.role(at));
        if read == Reading::AtOnce {
            self.note(at, "copies nothing: it decides on its state as it will be", lines);
        } else if read >= until {
            self.note(at, "has read that already, in one with what came before", lines);
        }
        while self.fleet.reading(self.role(at)) < until {
            self.take(Action::Run(at, 0, None), lines)?;
        }
        Ok(())
    }

    fn count(&mut self, at: u8, lines: &mut Vec<Line>) -> Made {
        if self.fleet.reading(self.role(at)) < Reading::Marks {
            self.copy(at, Reading::Marks, lines)?;
        }
        let mut counted = BTreeMap::new();
        for segment in self.model.scope.segment_ids() {
            let counts = self.fleet.counts(self.role(at), segment);
            self.note(at, &format!("counts {}", in_words(&counts)), lines);
            for (what, count) in counts {
                let of = match self.model.scope.segments {
                    1 => what.to_string(),
                    _ => format!("{} {what}", self.segment_name(segment)),
                };
                counted.insert(of, count);
            }
        }
        self.counts.insert(self.label.clone(), counted);
        Ok(())
    }

    /// A run goes on to its end. Of the choices that are open to it, the one that leads to the aim is made.
    fn run(&mut self, at: u8, aim: Option<Aim>, lines: &mut Vec<Line>) -> Made {
        if self.fleet.reading(self.role(at)) < Reading::Marks {
            self.copy(at, Reading::Marks, lines)?;
        }
        let before = self.role(at).clone();
        let reached = |world: &WorldOf<F>| {
            aim.is_none_or(|aim| comes_to(aim, &before, &world.leaders[usize::from(at)].role))
        };
        let choices: Vec<_> = match aim {
            Some(Aim::Move(segment, from, to)) => {
                vec![Action::Run(at, 0, Some(Proposed { segment, from, to }))]
            }
            _ => (0..self.model.scope.picks).map(|pick| Action::Run(at, pick, None)).collect(),
        };
        let leads = |action: &&Action| {
            let next = self.model.apply(&self.world, **action, &mut Tale::untold());
            next.is_some_and(|next| reached(&next))
        };
        let chosen = choices.iter().find(leads).copied();
        let from = lines.len();
        self.take(chosen.unwrap_or(choices[0]), lines)?;
        let Some(aim) = aim.filter(|_| chosen.is_none()) else { return Ok(()) };
        let guards = deciders(&lines[from..]);
        Err(Stop { guards, ..self.unreached(aim, &before) })
    }

    /// Why a run has not decided what it was to decide.
    fn unreached(&self, aim: Aim, before: &RoleOf<F>) -> Stop {
        let (Aim::Drop(segment, _)
        | Aim::Load(segment, _)
        | Aim::Cancel(segment, _)
        | Aim::Move(segment, ..)) = aim;
        let counts = self.fleet.counts(before, segment);
        let of = |name: &str| counts.iter().find(|(of, _)| *of == name).map_or(0, |(_, n)| *n);
        let projected = of("projected") + of("serving") + of("arriving");
        let (required, spare) = (of("required"), of("loaded") - of("dropping"));
        let check = match aim {
            Aim::Drop(..) if projected <= required => "no-surplus",
            Aim::Drop(..) if !self.ours && spare <= required => "none-to-spare",
            Aim::Drop(..) => "not-to-be-dropped",
            Aim::Load(..) if projected >= required => "not-missing",
            Aim::Load(..) => "no-place",
            Aim::Cancel(..) => "not-cancelled",
            Aim::Move(..) => "no-move",
        };
        Stop::new(check, format!("its run finds {}", in_words(&counts)))
    }

    fn see(&mut self, at: u8, server: ServerId, lines: &mut Vec<Line>) -> Made {
        let is_up = self.world.servers[usize::from(server.0)].role.is_some();
        if is_up && self.world.leaders[usize::from(at)].sees(server) {
            return self.take(Action::View(at, server), lines);
        }
        Err(Stop::new("not-seen", format!("{} cannot be seen", name_of(server.0))))
    }

    fn ask(&mut self, at: u8, server: ServerId, lines: &mut Vec<Line>) -> Made {
        self.take(Action::Go(at, Task::Poll(server)), lines)?;
        let poll = self.find(at, server, |mail| matches!(mail, Mail::Asked(ToServer::Poll(_), _)));
        let letter = poll.ok_or_else(|| Stop::new("not-asked", "no question is on its way"))?;
        self.happen(Action::Deliver { letter, repeated: false, fails: false }, lines)
    }

    fn hear(&mut self, at: u8, server: ServerId, lines: &mut Vec<Line>) -> Made {
        let view = self.find(at, server, |mail| {
            matches!(mail, Mail::Told(FromServer::View(_) | FromServer::Outdated(_)))
        });
        let letter = view.ok_or_else(|| Stop::new("not-asked", "no view is on its way"))?;
        self.tell(at, Action::Deliver { letter, repeated: false, fails: false }, lines)
    }

    fn call_back(&mut self, at: u8, once: bool, lines: &mut Vec<Line>) -> Made {
        if self.role(at).callbacks() == 0 {
            if self.ours {
                self.note(at, "has no callbacks: an answer is heard and acted on in one", lines);
                return Ok(());
            }
            return Err(Stop::new("no-callback", "no callback is due"));
        }
        if once && self.ours {
            self.note(at, "has taken the first half with the answer", lines);
            return Ok(());
        }
        while self.role(at).callbacks() > 0 {
            self.take(Action::Go(at, Task::Callback(0)), lines)?;
            if once {
                break;
            }
        }
        Ok(())
    }

    fn give_up(&mut self, at: u8, errand: Errand, lines: &mut Vec<Line>) -> Made {
        if !self.wants(at, errand) {
            return Err(self.not_asked(errand));
        }
        self.happen(Action::Go(at, Task::Overdue(errand.server, errand.segment)), lines)
    }

    /// Whether a coordinator has this queued, sent or not.
    fn wants(&self, at: u8, errand: Errand) -> bool {
        let role = self.role(at);
        let wanted = match errand.action {
            Asked::Drop => role.drops(),
            Asked::Load => [role.loads(), role.moves()].concat(),
        };
        wanted.contains(&(errand.server, errand.segment))
    }

    /// Sends a request that is queued and not on its way.
    fn send_first(&mut self, at: u8, errand: Errand, lines: &mut Vec<Line>) -> Made {
        let send = Action::Go(at, Task::Send(errand.server));
        if self.request(at, errand).is_err() && self.wants(at, errand) && self.may(send) {
            self.take(send, lines)?;
        }
        Ok(())
    }

    fn execute(&mut self, at: u8, errand: Errand, manner: Manner, lines: &mut Vec<Line>) -> Made {
        self.send_first(at, errand, lines)?;
        let letter = self.request(at, errand)?;
        let refused = self.refusals(at, errand);
        let from = lines.len();
        let (repeated, fails) = (manner == Manner::Twice, manner == Manner::Badly);
        self.happen(Action::Deliver { letter, repeated, fails }, lines)?;
        if self.refusals(at, errand) > refused {
            let guards = deciders(&lines[from..]);
            return Err(Stop { guards, ..Stop::new("refused", "the server refuses it") });
        }
        Ok(())
    }

    /// How many answers are on their way that say that a request was not taken.
    fn refusals(&self, at: u8, errand: Errand) -> usize {
        let taken = |answer: Answer| matches!(answer, Answer::Done | Answer::Failed);
        let refusal = |mail: &Mail| {
            matches!(mail, Mail::Told(FromServer::Reply(reply))
                if reply.segment == errand.segment && !taken(reply.answer))
        };
        let letters = self.world.wire.iter().filter(|letter| {
            letter.leader == at && letter.server == errand.server && refusal(&letter.mail)
        });
        letters.count()
    }

    fn find(&self, at: u8, server: ServerId, is: impl Fn(&Mail) -> bool) -> Option<u16> {
        let place =
            self.world.wire.iter().position(|letter| {
                letter.leader == at && letter.server == server && is(&letter.mail)
            });
        place.map(|place| place as u16)
    }

    fn request(&self, at: u8, errand: Errand) -> Result<u16, Stop> {
        let is = |mail: &Mail| {
            matches!(mail, Mail::Asked(ToServer::Request(request), _)
                if (request.action, request.segment) == (errand.action, errand.segment))
        };
        self.find(at, errand.server, is).ok_or_else(|| self.not_asked(errand))
    }

    fn answer(&self, at: u8, errand: Errand) -> Result<u16, Stop> {
        let is = |mail: &Mail| {
            matches!(mail, Mail::Told(FromServer::Reply(reply))
                if (reply.action, reply.segment) == (errand.action, errand.segment))
        };
        let none = || Stop::new("not-answered", "no such answer is on its way");
        self.find(at, errand.server, is).ok_or_else(none)
    }

    fn not_asked(&self, errand: Errand) -> Stop {
        let verb = match errand.action {
            Asked::Drop => "DROP",
            Asked::Load => "LOAD",
        };
        let (segment, server) = (self.segment_name(errand.segment), name_of(errand.server.0));
        let why = format!("no {verb} {segment} is queued for {server} or on its way there");
        Stop::new("not-asked", why)
    }

    fn pending(&self, server: ServerId, work: Work, segment: SegmentId) -> Result<u16, Stop> {
        let is = |issued: &&Issued<HistoricalEffect>| match (&issued.effect, work) {
            (HistoricalEffect::Fetch(of), Work::Fetch)
            | (HistoricalEffect::Wait { segment: of, .. }, Work::Delay)
            | (HistoricalEffect::Delete(of), Work::Deletion) => *of == segment,
            _ => false,
        };
        let pending = &self.world.servers[usize::from(server.0)].pending;
        let none = || Stop::new("not-under-way", "nothing of the kind is under way");
        pending.iter().find(is).map(|issued| issued.id.number).ok_or_else(none)
    }

    /// Whatever is no fault happens, in rounds, until a round changes nothing.
    fn settle(&mut self, lines: &mut Vec<Line>) -> Made {
        const ENOUGH: usize = 50;
        for _ in 0..ENOUGH {
            let before = self.world.clone();
            self.settle_messages(lines)?;
            for at in 0..self.world.leaders.len() as u8 {
                if self.role(at).term().is_none() {
                    continue;
                }
                for server in self.model.scope.clone().ids() {
                    let _ = self.see(at, server, lines);
                }
                self.run(at, None, lines)?;
                for server in self.model.scope.clone().ids() {
                    let _ = self.happen(Action::Go(at, Task::Send(server)), lines);
                }
            }
            if self.world == before {
                return Ok(());
            }
        }
        Err(Stop::new("unsettled", "it never comes to rest"))
    }

    /// Letters arrive, work ends and callbacks run.
    fn settle_messages(&mut self, lines: &mut Vec<Line>) -> Made {
        loop {
            let mut actions = Vec::new();
            self.model.enabled(&self.world, &mut actions);
            let quiet = |action: &&Action| {
                matches!(
                    action,
                    Action::Deliver { repeated: false, fails: false, .. }
                        | Action::End(_, _, Ending::Well)
                        | Action::Go(_, Task::Callback(_))
                )
            };
            let Some(action) = actions.iter().find(quiet) else { return Ok(()) };
            self.take(*action, lines)?;
        }
    }

    /// Segments that somebody serves.
    fn served(&self) -> Vec<SegmentId> {
        let served = |id: &SegmentId| self.world.servers.iter().any(|node| node.is_serving(*id));
        self.model.scope.segment_ids().filter(served).collect()
    }

    fn serving(&self) -> Vec<String> {
        let mut all = Vec::new();
        for segment in self.model.scope.segment_ids() {
            for server in self.model.scope.ids() {
                if self.world.servers[usize::from(server.0)].is_serving(segment) {
                    all.push(match self.model.scope.segments {
                        1 => name_of(server.0).to_string(),
                        _ => format!("{} on {}", self.segment_name(segment), name_of(server.0)),
                    });
                }
            }
        }
        all
    }

    fn end(self, scenario: &Scenario, variant: &'static str) -> Replayed {
        let refused = self.steps.iter().filter(|step| !step.done);
        let by = |step: &Played| step.refused_by.iter().map(ToString::to_string).collect();
        let outcome = Outcome {
            serving: Some(self.serving()),
            refused: Some(refused.map(|step| (step.label.clone(), by(step))).collect()),
            broken: Some(self.broken.iter().map(|property| property.name().into()).collect()),
            counts: Some(self.counts),
            unserved: Some(self.unserved),
        };
        let expected = scenario.expect.get(variant);
        let differences = expected.map(|expected| outcome.differences(expected));
        Replayed { variant, steps: self.steps, outcome, differences }
    }
}

impl Stage<Ours<Verified>> {
    /// A step may be out of the question because of what was learned long before; then no guard decides in
    /// the step itself. The guards to name are those without which it would have come to it, all that happened
    /// outside the coordinator having been the same up to there.
    fn blame(&mut self, scenario: &Scenario) {
        let unnamed = |step: &Played| {
            !step.done && step.refused_by.iter().all(|by| Guard::from_name(by).is_none())
        };
        if !self.steps.iter().any(unnamed) {
            return;
        }
        let mut guilty: Vec<Vec<&'static str>> = vec![Vec::new(); self.steps.len()];
        for guard in Guard::ALL {
            let fleet = Ours(Weakened::without([guard]));
            let stage = Stage::played(&fleet, scenario, true);
            for (at, guards) in guilty.iter_mut().enumerate() {
                let comes = stage.steps[at].done && stage.before[at] == self.before[at];
                guards.extend(comes.then_some(guard.name()));
            }
        }
        for (step, guards) in self.steps.iter_mut().zip(guilty) {
            if unnamed(step) && !guards.is_empty() {
                let reason = step.reason.take().unwrap_or_default();
                let without = guards.join(" or ");
                step.reason = Some(format!("{reason}; without {without} it would come to it"));
                step.refused_by = guards;
            }
        }
    }
}

/// Guards that decided something in these lines, those left out that form every step of their kind.
fn deciders(lines: &[Line]) -> Vec<&'static str> {
    let mut guards: Vec<_> = lines.iter().flat_map(|line| line.decided_by.clone()).collect();
    guards.retain(|name| !Guard::from_name(name).is_some_and(Guard::is_form));
    guards.sort_unstable();
    guards.dedup();
    guards
}

fn in_words(counts: &[(&'static str, i64)]) -> String {
    let words = counts.iter().map(|(name, count)| format!("{name}={count}"));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a run has decided this.
fn comes_to<R: super::fleet::Leads>(aim: Aim, before: &R, after: &R) -> bool {
    let new = |of: &dyn Fn(&R) -> Vec<(ServerId, SegmentId)>, pair| {
        of(after).contains(&pair) && !of(before).contains(&pair)
    };
    match aim {
        Aim::Drop(segment, at) => new(&R::drops, (at, segment)),
        Aim::Load(segment, at) => new(&R::loads, (at, segment)),
        Aim::Move(segment, _, to) => new(&R::moves, (to, segment)),
        Aim::Cancel(segment, at) => {
            let queued = |of: &R| [of.drops(), of.loads(), of.moves()].concat();
            queued(before).contains(&(at, segment)) && !queued(after).contains(&(at, segment))
        }
    }
}
