//! Scenarios: a reported race as data, in its own steps, and how it ends for each variant.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::message::Action as Asked;
use surehold::rebalance::object::{SegmentId, ServerId};

use super::fleet::Reading;
use super::scope::{Budget, Operation, Place, Scope, TIER, Tier, Views};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name, such as `druid#18764`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it was reported, such as `apache/druid#18764`, or whose it is.
    pub issue: String,
    /// What happened, in a few sentences.
    pub story: Vec<String>,
    /// Its steps.
    pub steps: Vec<Scene>,
    /// How it ends, by variant.
    pub expect: BTreeMap<String, Outcome>,
    scope: Scope,
}

/// One step of the report.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What it is called: as in the report, or its number from 1.
    pub label: String,
    /// What the report says.
    pub says: String,
    /// What that is here, and as it is written.
    pub moves: Vec<(String, Move)>,
}

/// How a scenario ends. A field that is left out is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Who serves at the end: servers, or `S1 on A` where there are several segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<Vec<String>>,
    /// Steps after which nobody serves a segment that was served before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserved: Option<Vec<String>>,
    /// What a run has counted, by step, by the protocol's own names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<BTreeMap<String, BTreeMap<String, i64>>>,
    /// Properties that are broken on the way, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Vec<String>>,
    /// Steps that it does not come to: the guards of the verified protocol that refuse, or what else stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<BTreeMap<String, Vec<String>>>,
}

impl Outcome {
    /// The fields in which an outcome differs from what is expected of it. Of a step's counts, those that
    /// are expected are compared.
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        fn differ<T: PartialEq + fmt::Debug>(
            name: &str,
            is: Option<&T>,
            should: Option<&T>,
        ) -> Option<String> {
            let should = should?;
            (is != Some(should)).then(|| format!("{name}: {is:?}, expected {should:?}"))
        }
        let plain = [
            differ("serving", self.serving.as_ref(), expected.serving.as_ref()),
            differ("unserved", self.unserved.as_ref(), expected.unserved.as_ref()),
            differ("broken", self.broken.as_ref(), expected.broken.as_ref()),
            differ("refused", self.refused.as_ref(), expected.refused.as_ref()),
        ];
        let mut all: Vec<_> = plain.into_iter().flatten().collect();
        let is = |step: &str| self.counts.as_ref().and_then(|counts| counts.get(step));
        for (step, should) in expected.counts.iter().flatten() {
            let missing = BTreeMap::new();
            let is = is(step).unwrap_or(&missing);
            if should.iter().any(|(name, count)| is.get(name) != Some(count)) {
                all.push(format!("counts at {step}: {is:?}, expected {should:?}"));
            }
        }
        all
    }
}

/// One move: who does what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// `coordinator copies inventory`, `queues` or `marks`: its run reads that far.
    Copy(u8, Reading),
    /// `coordinator counts`: its run reads all that it reads, and counts.
    Count(u8),
    /// `coordinator runs`: its run goes on to its end; or `coordinator runs to AIM`, see [`Aim`].
    Run(u8, Option<Aim>),
    /// `coordinator sends to A`: what is queued.
    Send(u8, ServerId),
    /// `coordinator sees A`: what A serves is asked, answered and learned.
    See(u8, ServerId),
    /// `coordinator asks A`: the question leaves, and A answers it.
    Ask(u8, ServerId),
    /// `coordinator hears A`: the answer arrives.
    Hear(u8, ServerId),
    /// `coordinator calls back`: all callbacks run; `coordinator calls back once`: the first step of one.
    CallBack(u8, bool),
    /// `coordinator gives up DROP S on A`: the answer is overdue.
    GiveUp(u8, Errand),
    /// `coordinator gives up confirming S on A`: the view has not shown an acknowledged operation in time.
    Unconfirmed(u8, SegmentId, ServerId),
    /// `coordinator 2 takes over`: it wins the election.
    TakeOver(u8),
    /// `coordinator steps down`: it learns that it leads no longer.
    StepDown(u8),
    /// `A executes LOAD S`: the request arrives; it is sent first if it was not. `A executes DROP S leaving a
    /// duplicate`: it will arrive once more. `A fails LOAD S`.
    Execute(u8, Errand, Manner),
    /// `A answers LOAD S`: the answer arrives.
    Answer(u8, Errand),
    /// `network loses LOAD S to A`.
    LoseRequest(u8, Errand),
    /// `network loses answer LOAD S of A`.
    LoseAnswer(u8, Errand),
    /// `A ends fetch of S`, `A fails fetch of S`, `A ends delay of S`, `A ends deletion of S`.
    End(ServerId, Work, SegmentId, bool),
    /// `A crashes`, `A crashes without disk`.
    Crash(ServerId, bool),
    /// `A starts`.
    Start(ServerId),
    /// `coordinator loses A`: discovery no longer shows it.
    Lose(u8, ServerId),
    /// `coordinator finds A`: discovery shows it.
    Find(u8, ServerId),
    /// `operator acts`: the next of its acts.
    Operate,
    /// `everything settles`: views, answers, callbacks and runs, until nothing changes any more.
    Settle,
}

impl Move {
    /// Which coordinator it is about; the first if it is about none.
    fn leader(&self) -> u8 {
        match self {
            Self::Copy(at, _)
            | Self::Count(at)
            | Self::Run(at, _)
            | Self::Send(at, _)
            | Self::See(at, _)
            | Self::Ask(at, _)
            | Self::Hear(at, _)
            | Self::CallBack(at, _)
            | Self::GiveUp(at, _)
            | Self::Unconfirmed(at, ..)
            | Self::TakeOver(at)
            | Self::StepDown(at)
            | Self::Execute(at, ..)
            | Self::Answer(at, _)
            | Self::LoseRequest(at, _)
            | Self::LoseAnswer(at, _)
            | Self::Lose(at, _)
            | Self::Find(at, _) => *at,
            Self::End(..) | Self::Crash(..) | Self::Start(_) | Self::Operate | Self::Settle => 0,
        }
    }
}

/// A request: what is to be done with which segment, where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errand {
    /// What.
    pub action: Asked,
    /// With which segment.
    pub segment: SegmentId,
    /// Where.
    pub server: ServerId,
}

/// How a request is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// As it should be.
    Well,
    /// It will arrive once more.
    Twice,
    /// It fails.
    Badly,
}

/// What takes a server time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Fetching.
    Fetch,
    /// The delay after a drop.
    Delay,
    /// Deleting.
    Deletion,
}

/// What a run is to decide. Among servers that are equally good the one that is named is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// `drop S on A`.
    Drop(SegmentId, ServerId),
    /// `load S on A`.
    Load(SegmentId, ServerId),
    /// `move S from A to B`: so the balancer proposes.
    Move(SegmentId, ServerId, ServerId),
    /// `cancel S on A`: what was queued there and not sent is taken back.
    Cancel(SegmentId, ServerId),
}

/// What cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl Unreadable {
    fn within(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// A scenario as it is written; its parts are read one by one, so that an error can say where it is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    protocol: Protocol,
    name: String,
    title: String,
    issue: String,
    story: Vec<String>,
    world: Value,
    steps: Vec<Value>,
    expect: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Protocol {
    Rebalance,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct World {
    servers: Vec<Server>,
    required: u16,
    #[serde(default = "one")]
    segments: u32,
    #[serde(default)]
    operator: Vec<Act>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    name: String,
    #[serde(default)]
    serves: Vec<String>,
    #[serde(default = "yes")]
    managed: bool,
    #[serde(default = "ample")]
    capacity: u64,
}

fn yes() -> bool {
    true
}

fn ample() -> u64 {
    10
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Act {
    Decommission(char),
    Require(u16),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    #[serde(default)]
    at: Option<String>,
    says: String,
    #[serde(rename = "do")]
    moves: Vec<String>,
}

impl Scenario {
    /// Reads a scenario from a file.
    ///
    /// # Errors
    ///
    /// As [`Scenario::parse`], with the file's name; or if the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, Unreadable> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| Unreadable(error.to_string()).within(path.display()))?;
        Self::parse(&text).map_err(|error| error.within(path.display()))
    }

    /// Reads a scenario.
    ///
    /// # Errors
    ///
    /// If the text is no scenario: the error names the step, or the part, that cannot be read.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let written: Written =
            serde_json::from_str(text).map_err(|error| Unreadable(error.to_string()))?;
        let Protocol::Rebalance = written.protocol;
        let world: World = part(written.world, "world")?;
        let names = Names::of(&world)?;
        let mut steps: Vec<Scene> = Vec::new();
        for (at, step) in written.steps.into_iter().enumerate() {
            let place = format!("step {}", at + 1);
            let step: Step = part(step, &place)?;
            let read = |text: String| match names.read(&text) {
                Some(read) => Ok((text, read)),
                None => Err(Unreadable(format!("`{text}` is no move")).within(&place)),
            };
            let label = step.at.unwrap_or_else(|| (at + 1).to_string());
            if steps.iter().any(|other| other.label == label) {
                return Err(Unreadable(format!("there are two steps {label}")).within(place));
            }
            let moves = step.moves.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            steps.push(Scene { label, says: step.says, moves });
        }
        let mut expect = BTreeMap::new();
        for (variant, value) in written.expect {
            let outcome: Outcome = part(value, &format!("expect {variant}"))?;
            check_names(&outcome, &steps).map_err(|e| e.within(format!("expect {variant}")))?;
            expect.insert(variant, outcome);
        }
        let scope = scope_of(&world, &names, &steps)?;
        let Written { name, title, issue, story, .. } = written;
        Ok(Self { name, title, issue, story, steps, expect, scope })
    }

    /// The scope of its world. Whatever its steps need may happen.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

fn part<T: DeserializeOwned>(value: Value, place: &str) -> Result<T, Unreadable> {
    serde_json::from_value(value).map_err(|error| Unreadable(error.to_string()).within(place))
}

/// Only steps and properties that there are can be expected.
fn check_names(outcome: &Outcome, steps: &[Scene]) -> Result<(), Unreadable> {
    let refused = outcome.refused.iter().flat_map(BTreeMap::keys);
    let counted = outcome.counts.iter().flat_map(BTreeMap::keys);
    let unserved = outcome.unserved.iter().flatten();
    let mut labels = refused.chain(counted).chain(unserved);
    if let Some(label) = labels.find(|label| steps.iter().all(|step| step.label != **label)) {
        return Err(Unreadable(format!("there is no step {label}")));
    }
    let known = |name: &String| Property::ALL.iter().any(|property| property.name() == name);
    match outcome.broken.iter().flatten().find(|name| !known(name)) {
        Some(name) => Err(Unreadable(format!("there is no property {name}"))),
        None => Ok(()),
    }
}

/// How often whatever the steps need may happen.
const OFTEN: u8 = 200;

/// A coordinator of a model notes the servers that it sees as bits.
const MOST_SERVERS: usize = 16;

/// A story with more is none.
const MOST_SEGMENTS: u32 = 9;

fn scope_of(world: &World, names: &Names, steps: &[Scene]) -> Result<Scope, Unreadable> {
    let moves = || steps.iter().flat_map(|step| &step.moves).map(|(_, read)| read);
    let takeovers = moves().filter(|read| matches!(read, Move::TakeOver(_))).count();
    if moves().any(|read| usize::from(read.leader()) > takeovers) {
        return Err(Unreadable("a coordinator is named that never takes over".into()));
    }
    let works = |of: &dyn Fn(Work) -> bool| {
        moves().any(|read| matches!(read, Move::End(_, work, ..) if of(*work)))
    };
    let mut servers = Vec::new();
    for server in &world.servers {
        let ids = server.serves.iter().map(|name| names.segment(name).map(|id| id.0));
        let ids: Option<Vec<_>> = ids.collect();
        let wrong =
            || Unreadable(format!("world: server {} serves what is not there", server.name));
        let mut ids = ids.ok_or_else(wrong)?;
        ids.sort_unstable();
        let Server { managed, capacity, .. } = *server;
        // A scope is made of constants; a scenario is read once and stays.
        servers.push(Place { serves: ids.leak(), managed, capacity_bytes: capacity, tier: TIER });
    }
    let mut operator = Vec::new();
    for act in &world.operator {
        operator.push(match *act {
            Act::Require(count) => Operation::Require(count),
            Act::Decommission(name) => {
                let wrong = || Unreadable(format!("world: there is no server {name}"));
                let server = names.server(&name.to_string()).ok_or_else(wrong)?;
                Operation::Decommission(server.0)
            }
        });
    }
    Ok(Scope {
        name: "scenario",
        question: "",
        picks: servers.len().max(1) as u8,
        servers,
        required: world.required,
        elsewhere: &[],
        returns: false,
        segments: world.segments,
        budget: Budget {
            moves: OFTEN,
            repeats: OFTEN,
            echoes: 0,
            overdue: OFTEN,
            losses: OFTEN,
            failures: OFTEN,
            unknowns: 0,
            flaps: OFTEN,
            crashes: OFTEN,
            disks: OFTEN,
            takeovers: takeovers.min(usize::from(OFTEN)) as u8,
        },
        views: Views::Swift,
        slow_loads: works(&|work| work == Work::Fetch),
        slow_deletes: works(&|work| work != Work::Fetch),
        operator: operator.leak(),
        needless_loads: Some(0),
        recovers: false,
        witnesses: &[],
        losses: None,
        tier: Tier::Ci,
    })
}

/// What is called what in a scenario.
struct Names {
    servers: u16,
    segments: u32,
}

impl Names {
    fn of(world: &World) -> Result<Self, Unreadable> {
        for (at, server) in world.servers.iter().enumerate() {
            let name = char::from(b'A' + (at % 26) as u8).to_string();
            if server.name != name || at >= MOST_SERVERS {
                let found = &server.name;
                return Err(Unreadable(format!("world: server {found}: it has to be {name}")));
            }
        }
        if world.segments > MOST_SEGMENTS {
            let most = Unreadable(format!("world: there may be {MOST_SEGMENTS} segments"));
            return Err(most);
        }
        Ok(Self { servers: world.servers.len() as u16, segments: world.segments })
    }

    fn server(&self, name: &str) -> Option<ServerId> {
        let letter = name.bytes().next().filter(|_| name.len() == 1)?;
        letter.checked_sub(b'A').map(u16::from).filter(|at| *at < self.servers).map(ServerId)
    }

    /// `S` where there is one; else `S1`, `S2` and so on.
    fn segment(&self, name: &str) -> Option<SegmentId> {
        let rest = name.strip_prefix('S')?;
        if self.segments == 1 {
            return rest.is_empty().then_some(SegmentId(1));
        }
        let number: u32 = rest.parse().ok()?;
        (1..=self.segments).contains(&number).then_some(SegmentId(number))
    }

    fn errand(&self, action: &str, segment: &str, server: &str) -> Option<Errand> {
        let action = match action {
            "LOAD" => Asked::Load,
            "DROP" => Asked::Drop,
            _ => return None,
        };
        Some(Errand { action, segment: self.segment(segment)?, server: self.server(server)? })
    }

    fn read(&self, text: &str) -> Option<Move> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["operator", "acts"] => Some(Move::Operate),
            ["everything", "settles"] => Some(Move::Settle),
            ["coordinator", rest @ ..] => {
                let (leader, rest) = leader_of(rest)?;
                self.read_leader(leader, rest)
            }
            ["network", "loses", rest @ ..] => {
                let (leader, rest) = whose(rest)?;
                match rest {
                    [action, segment, "to", at] => {
                        Some(Move::LoseRequest(leader, self.errand(action, segment, at)?))
                    }
                    ["answer", action, segment, "of", at] => {
                        Some(Move::LoseAnswer(leader, self.errand(action, segment, at)?))
                    }
                    _ => None,
                }
            }
            [name, rest @ ..] => {
                let server = self.server(name)?;
                self.read_work(server, rest).or_else(|| self.read_request(name, rest))
            }
            [] => None,
        }
    }

    fn read_leader(&self, leader: u8, words: &[&str]) -> Option<Move> {
        match words {
            ["copies", "inventory"] => Some(Move::Copy(leader, Reading::Inventory)),
            ["copies", "queues"] => Some(Move::Copy(leader, Reading::Queues)),
            ["copies", "marks"] => Some(Move::Copy(leader, Reading::Marks)),
            ["counts"] => Some(Move::Count(leader)),
            ["runs"] => Some(Move::Run(leader, None)),
            ["runs", "to", aim @ ..] => Some(Move::Run(leader, Some(self.aim(aim)?))),
            ["sends", "to", at] => Some(Move::Send(leader, self.server(at)?)),
            ["sees", at] => Some(Move::See(leader, self.server(at)?)),
            ["asks", at] => Some(Move::Ask(leader, self.server(at)?)),
            ["hears", at] => Some(Move::Hear(leader, self.server(at)?)),
            ["loses", at] => Some(Move::Lose(leader, self.server(at)?)),
            ["finds", at] => Some(Move::Find(leader, self.server(at)?)),
            ["calls", "back"] => Some(Move::CallBack(leader, false)),
            ["calls", "back", "once"] => Some(Move::CallBack(leader, true)),
            ["gives", "up", "confirming", segment, "on", at] => {
                Some(Move::Unconfirmed(leader, self.segment(segment)?, self.server(at)?))
            }
            ["gives", "up", action, segment, "on", at] => {
                Some(Move::GiveUp(leader, self.errand(action, segment, at)?))
            }
            ["takes", "over"] if leader > 0 => Some(Move::TakeOver(leader)),
            ["steps", "down"] => Some(Move::StepDown(leader)),
            _ => None,
        }
    }

    fn aim(&self, words: &[&str]) -> Option<Aim> {
        match words {
            ["drop", segment, "on", at] => {
                Some(Aim::Drop(self.segment(segment)?, self.server(at)?))
            }
            ["load", segment, "on", at] => {
                Some(Aim::Load(self.segment(segment)?, self.server(at)?))
            }
            ["cancel", segment, "on", at] => {
                Some(Aim::Cancel(self.segment(segment)?, self.server(at)?))
            }
            ["move", segment, "from", from, "to", to] => {
                Some(Aim::Move(self.segment(segment)?, self.server(from)?, self.server(to)?))
            }
            _ => None,
        }
    }

    fn read_work(&self, server: ServerId, words: &[&str]) -> Option<Move> {
        let end = |work, segment: &str, fails| {
            Some(Move::End(server, work, self.segment(segment)?, fails))
        };
        match words {
            ["crashes"] => Some(Move::Crash(server, false)),
            ["crashes", "without", "disk"] => Some(Move::Crash(server, true)),
            ["starts"] => Some(Move::Start(server)),
            ["ends", "fetch", "of", segment] => end(Work::Fetch, segment, false),
            ["fails", "fetch", "of", segment] => end(Work::Fetch, segment, true),
            ["ends", "delay", "of", segment] => end(Work::Delay, segment, false),
            ["ends", "deletion", "of", segment] => end(Work::Deletion, segment, false),
            _ => None,
        }
    }

    fn read_request(&self, server: &str, words: &[&str]) -> Option<Move> {
        let (leader, words) = whose(words)?;
        let of = |action: &str, segment: &str| self.errand(action, segment, server);
        match words {
            ["executes", action, segment] => {
                Some(Move::Execute(leader, of(action, segment)?, Manner::Well))
            }
            ["executes", action, segment, "leaving", "a", "duplicate"] => {
                Some(Move::Execute(leader, of(action, segment)?, Manner::Twice))
            }
            ["fails", "LOAD", segment] => {
                Some(Move::Execute(leader, of("LOAD", segment)?, Manner::Badly))
            }
            ["answers", action, segment] => Some(Move::Answer(leader, of(action, segment)?)),
            _ => None,
        }
    }
}

/// `coordinator` is the first, `coordinator 2` the second.
fn leader_of<'a, 'b>(words: &'a [&'b str]) -> Option<(u8, &'a [&'b str])> {
    match words {
        [first, rest @ ..] if first.starts_with(|c: char| c.is_ascii_digit()) => {
            let number: u8 = first.parse().ok()?;
            (2..=9).contains(&number).then(|| (number - 1, rest))
        }
        _ => Some((0, words)),
    }
}

/// A message is the first coordinator's unless it ends in `for coordinator 2`.
fn whose<'a, 'b>(words: &'a [&'b str]) -> Option<(u8, &'a [&'b str])> {
    let place = words.iter().position(|word| *word == "for");
    match place.map(|place| words.split_at(place)) {
        None => Some((0, words)),
        Some((said, ["for", "coordinator", rest @ ..])) => match leader_of(rest)? {
            (leader, []) => Some((leader, said)),
            _ => None,
        },
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = r#"{ "says": "", "do": ["everything settles"] }"#;

    fn parse(step: &str) -> Result<Scenario, Unreadable> {
        Scenario::parse(&format!(
            r#"{{ "protocol": "rebalance", "name": "n", "title": "t", "issue": "i", "story": [],
                "world": {{ "servers": [{{ "name": "A", "serves": ["S"] }}, {{ "name": "B" }}], "required": 1 }},
                "steps": [{STEP}, {step}], "expect": {{}} }}"#
        ))
    }

    fn read(text: &str) -> Option<Move> {
        Names { servers: 2, segments: 1 }.read(text)
    }

    #[test]
    fn an_error_names_the_step() {
        assert!(parse(STEP).is_ok());
        let said = |step: &str| parse(step).expect_err("it is wrong").to_string();
        let unknown = said(r#"{ "says": "", "do": [], "who": "A" }"#);
        assert!(unknown.starts_with("step 2: unknown field `who`"), "{unknown}");
        let wrong = said(r#"{ "says": "", "do": ["C executes LOAD S"] }"#);
        assert_eq!(wrong, "step 2: `C executes LOAD S` is no move");
        let twice = said(r#"{ "at": "1", "says": "", "do": [] }"#);
        assert_eq!(twice, "step 2: there are two steps 1");
    }

    #[test]
    fn moves_are_read_to_their_end() {
        let errand = |action| Errand { action, segment: SegmentId(1), server: ServerId(1) };
        let load = Move::Execute(0, errand(Asked::Load), Manner::Well);
        assert_eq!(read("B executes LOAD S"), Some(load));
        let drop = Move::Answer(1, errand(Asked::Drop));
        assert_eq!(read("B answers DROP S for coordinator 2"), Some(drop));
        let aim = Aim::Move(SegmentId(1), ServerId(0), ServerId(1));
        assert_eq!(read("coordinator runs to move S from A to B"), Some(Move::Run(0, Some(aim))));
        for wrong in [
            "B executes LOAD S twice",
            "B executes LOAD S1",
            "B answers DROP S for coordinator 1",
            "B fails DROP S",
            "coordinator takes over",
            "coordinator runs to drop S",
            "coordinator 2 2 runs",
            "",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
