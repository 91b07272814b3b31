//! Scenarios: a reported race as data, in its own steps, and how it ends for each variant.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehold::commit::completion::Mode;
use surehold::commit::invariant::Property;
use surehold::commit::object::{PartitionId, ReplicaState, SegmentId};
use surehold::commit::upstream::Release;

use super::scope::{Budget, PARTITION, SERVERS, Scope, Tier};

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name, such as `pinot#17885`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where it was reported, such as `apache/pinot#17885`, or whose it is.
    pub source: String,
    /// What happened, in a few sentences.
    pub story: Vec<String>,
    /// Its steps.
    pub steps: Vec<Scene>,
    /// How it ends, by variant.
    pub expect: BTreeMap<String, Outcome>,
    /// How many builds a server may run at once, if that matters.
    pub builds: Option<usize>,
    /// How many reingestions a server may run at once, if that matters.
    pub jobs: Option<usize>,
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
    /// How each segment stands at the end: its record, whose copy counts, and what the view shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<BTreeMap<String, String>>,
    /// Committed rows with which nobody will ever be ONLINE, whatever happens from the end on without another fault;
    /// those that are recorded as lost left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unserved: Option<Vec<String>>,
    /// Of these, the rows that nobody has: they are in no object and with no server that may come back. The stream may
    /// have them still, but nobody will ask it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Vec<String>>,
    /// Rows that are served as rows of two segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twice: Option<Vec<String>>,
    /// Whether, from the end on and without another fault, all comes to rest: everything done, stored and served by
    /// all who are there, and the next segment consumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles: Option<bool>,
    /// Steps that end where they began while nothing else waits for its turn: a fair run may repeat each for ever. To leave
    /// it out says that there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Vec<String>>,
    /// Properties that are broken on the way, and on what, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Vec<String>>,
    /// Steps that it does not come to: the guards of the verified protocol that refuse, or what else stops it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<BTreeMap<String, Vec<String>>>,
}

impl Outcome {
    /// The fields in which an outcome differs from what is expected of it.
    #[must_use]
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        fn differ<T: PartialEq + fmt::Debug>(
            name: &str,
            is: Option<&T>,
            should: Option<&T>,
        ) -> Option<String> {
            let should = should?;
            (is != Some(should)).then(|| format!("{name}: {is:?}, expected {should:?}"))
        }
        let all = [
            differ("segments", self.segments.as_ref(), expected.segments.as_ref()),
            differ("unserved", self.unserved.as_ref(), expected.unserved.as_ref()),
            differ("lost", self.lost.as_ref(), expected.lost.as_ref()),
            differ("twice", self.twice.as_ref(), expected.twice.as_ref()),
            differ("settles", self.settles.as_ref(), expected.settles.as_ref()),
            differ("rounds", Some(&self.rounds), Some(&expected.rounds)),
            differ("broken", self.broken.as_ref(), expected.broken.as_ref()),
            differ("refused", self.refused.as_ref(), expected.refused.as_ref()),
        ];
        all.into_iter().flatten().collect()
    }

    /// Whether every field is said.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.segments.is_some()
            && self.unserved.is_some()
            && self.lost.is_some()
            && self.twice.is_some()
            && self.settles.is_some()
            && self.broken.is_some()
            && self.refused.is_some()
    }
}

/// One move: who does what. A segment is `seq 0`, or `seq 1'` if it was created in the second minute; of another
/// partition than the first it is `partition 1 seq 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// `S0 consumes seq 0 to 2`: it reads on, up to this offset.
    Consume(u8, SegmentId, u64),
    /// `S0 stops seq 0`: by its clock, or as it was told.
    Stop(u8, SegmentId),
    /// `S0 reports seq 0`: it says how far it is, and is answered. See [`Manner`].
    Report(u8, SegmentId, Manner),
    /// `S0 starts to commit seq 0`: the message arrives; what the leader does for it is told by its own moves.
    Start(u8, SegmentId, Manner),
    /// `S0 ends its commit of seq 0`: so does this one.
    End(u8, SegmentId, Manner),
    /// A piece of a server's work, see [`Deed`]; and whether it fails.
    Do(u8, Deed, SegmentId, bool),
    /// `S0 goes ONLINE with seq 0`: Helix has it do so, and it reads what metadata says.
    Go(u8, ReplicaState, SegmentId),
    /// `S0 fails to open seq 1`: that goes wrong on the way to CONSUMING.
    FailToOpen(u8, SegmentId),
    /// `S0 catches up with seq 0`: on its way to ONLINE, up to the end.
    CatchUp(u8, SegmentId),
    /// `S0 brings seq 0`: it looks for a copy and downloads it.
    Bring(u8, SegmentId),
    /// `S0 gives up seq 0`: it waits no longer.
    GiveUp(u8, SegmentId),
    /// `S0 crashes`, `S0 crashes for good`.
    Crash(u8, bool),
    /// `S0 starts`.
    Restart(u8),
    /// A controller goes on with a line of its work until then, or to its end.
    Lead(u8, Line, Option<Until>, Manner),
    /// `C0 crashes`: and starts again.
    CrashController(u8),
    /// `C1 leads`: and the one before it no longer.
    TakeOver(u8),
    /// `time passes`: all records are older than the age limit.
    Age,
    /// `stream forgets a row`: the first that it has.
    Expire,
    /// `minion replaces seq 0`.
    Rewrite(SegmentId),
    /// `operator switches the mode`.
    Toggle,
    /// `everything is served`: whatever is no fault happens, on the shortest way to every committed row being served or
    /// recorded as lost.
    Serve,
    /// `everything settles`: so, to everything being done, stored and served by all, and the next one consumed.
    Settle,
}

/// A piece of a server's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// `S0 builds seq 0`.
    Build,
    /// `S0 stores seq 0`.
    Store,
    /// `S0 uploads seq 0`: as a controller has asked.
    Upload,
    /// `S0 rereads seq 0`: the job reads its range.
    Reread,
    /// `S0 rebuilds seq 0`: the job builds.
    Rebuild,
    /// `S0 restores seq 0`: the job stores what it has built.
    Restore,
    /// `S0 hands in seq 0`: the job tells the leader.
    HandIn,
}

/// A line of a controller's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// `C0 commits seq 0`: what it does for a replica that commits.
    Commit(SegmentId),
    /// `C0 completes seq 0 of S1`: what S1 has read again.
    Complete(SegmentId, u8),
    /// `C0 validates`.
    Validate,
    /// `C0 repairs`.
    Repair,
    /// `C0 retries`.
    Retry,
}

/// Up to which operation, that one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// `to step 1`: the record of the segment itself is written.
    Step1,
    /// `to step 2`: the record of the next one is created.
    Step2,
    /// `to step 3`: the ideal state is written.
    Step3,
    /// `to the move`: an object is moved onto the segment's own.
    Move,
    /// `to the clean-up`: a record is deleted.
    CleanUp,
    /// `to its reads`: all that it reads before it does anything.
    Reads,
    /// `to having S0 reread seq 0`.
    Reread(u8, SegmentId),
    /// `to having S0 upload seq 0`.
    Upload(u8, SegmentId),
    /// `to resetting S0`.
    Reset(u8),
}

/// How a message or an operation goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// `late`: the lease is over when the message comes.
    pub late: bool,
    /// `unheard`: the answer is lost.
    pub unheard: bool,
    /// `without reply`: the last operation takes effect, and its reply is lost.
    pub without_reply: bool,
    /// `for COMMIT`: that is the answer; any other one stops it.
    pub heard: Option<&'static str>,
    /// `picking S1`: the server that a task begins with among equals. Otherwise the first one that leads where the move is
    /// to come.
    pub pick: Option<u8>,
}

/// The answers that a move can be made for; below, those to the completion of a segment that was read again.
const ANSWERS: [&str; 19] = [
    "COMMIT",
    "HOLD",
    "CATCH_UP",
    "DISCARD",
    "KEEP",
    "FAILED",
    "COMMIT_SUCCESS",
    "COMMIT_CONTINUE",
    "PROCESSED",
    "done",
    "other-range",
    "not-found",
    "already-done",
    "not-committing",
    "suppliable",
    "overtaken",
    "failed",
    "unknown",
    "not-reset",
];

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
    source: String,
    story: Vec<String>,
    world: Value,
    steps: Vec<Value>,
    expect: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Protocol {
    Commit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct World {
    mode: Mode,
    #[serde(default = "two")]
    segments: u32,
    #[serde(default = "two_rows")]
    rows: u64,
    #[serde(default = "one")]
    partitions: u16,
    /// How many replicas a segment has, each on a server of its own.
    #[serde(default = "two_servers")]
    servers: u8,
    /// Whether the order of rows matters (dedup).
    #[serde(default)]
    ordered: bool,
    /// Whether the validator creates segments in another minute than a commit.
    #[serde(default)]
    two_minutes: bool,
    /// Whether a periodic task takes every record for old, and whoever acts on a message every one for young.
    #[serde(default)]
    skewed_clocks: bool,
    #[serde(default)]
    builds: Option<usize>,
    #[serde(default)]
    jobs: Option<usize>,
}

fn one() -> u16 {
    1
}

fn two_servers() -> u8 {
    SERVERS as u8
}

fn two() -> u32 {
    2
}

fn two_rows() -> u64 {
    2
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
        let Protocol::Commit = written.protocol;
        let world: World = part(written.world, "world")?;
        check_size(&world)?;
        let steps = steps_of(written.steps, &world)?;
        let mut expect = BTreeMap::new();
        for (variant, value) in written.expect {
            let outcome: Outcome = part(value, &format!("expect {variant}"))?;
            check_names(&outcome, &steps).map_err(|e| e.within(format!("expect {variant}")))?;
            expect.insert(variant, outcome);
        }
        let scope = scope_of(&world, &steps)?;
        let Written { name, title, source, story, .. } = written;
        let World { builds, jobs, .. } = world;
        Ok(Self { name, title, source, story, steps, expect, builds, jobs, scope })
    }

    /// The scope of its world. Whatever its steps need may happen.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The variants that it can be replayed against: blocking commits are no variant of a pauseless table.
    #[must_use]
    pub fn variants(&self) -> Vec<&'static str> {
        let applies =
            |release: &Release| *release != Release::Blocking || self.scope.mode == Mode::Blocking;
        let upstream = Release::ALL.into_iter().filter(applies).map(Release::name);
        upstream.chain(["verified"]).collect()
    }
}

fn part<T: DeserializeOwned>(value: Value, place: &str) -> Result<T, Unreadable> {
    serde_json::from_value(value).map_err(|error| Unreadable(error.to_string()).within(place))
}

/// A copy's rows are bits of its checksum, the world's own.
fn check_size(world: &World) -> Result<(), Unreadable> {
    let offsets = u64::from(world.segments).saturating_mul(world.rows);
    if !(1..=2).contains(&world.partitions) {
        return Err(Unreadable("world: 1 or 2 partitions".into()));
    }
    if !(1..=SERVERS).contains(&usize::from(world.servers)) {
        return Err(Unreadable("world: 1 or 2 servers".into()));
    }
    match (2..=4).contains(&world.segments) && (1..=16).contains(&offsets) {
        true => Ok(()),
        false => Err(Unreadable("world: 2 to 4 segments with up to 16 rows together".into())),
    }
}

fn steps_of(written: Vec<Value>, world: &World) -> Result<Vec<Scene>, Unreadable> {
    let mut steps: Vec<Scene> = Vec::new();
    for (at, step) in written.into_iter().enumerate() {
        let place = format!("step {}", at + 1);
        let step: Step = part(step, &place)?;
        let read = |text: String| match read(&text).filter(|read| is_of(*read, world)) {
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
    Ok(steps)
}

/// Only steps and properties that there are can be expected.
fn check_names(outcome: &Outcome, steps: &[Scene]) -> Result<(), Unreadable> {
    let refused = outcome.refused.iter().flat_map(BTreeMap::keys);
    let mut labels = refused.chain(outcome.rounds.iter().flatten());
    if let Some(label) = labels.find(|label| steps.iter().all(|step| step.label != **label)) {
        return Err(Unreadable(format!("there is no step {label}")));
    }
    let known = |text: &String| {
        let name = text.split(':').next().unwrap_or_default();
        Property::ALL.iter().any(|property| property.name() == name)
    };
    match outcome.broken.iter().flatten().find(|text| !known(text)) {
        Some(text) => Err(Unreadable(format!("`{text}` begins with no property"))),
        None => Ok(()),
    }
}

fn scope_of(world: &World, steps: &[Scene]) -> Result<Scope, Unreadable> {
    let moves = || steps.iter().flat_map(|step| &step.moves).map(|(_, read)| *read);
    let takeovers = moves().filter(|read| matches!(read, Move::TakeOver(_))).count();
    let missing = |read: Move| controller_of(read).is_some_and(|at| usize::from(at) > takeovers);
    if moves().any(missing) {
        return Err(Unreadable("a controller is named that never leads".into()));
    }
    Ok(Scope {
        name: "scenario",
        question: "",
        mode: world.mode,
        partitions: world.partitions,
        servers: world.servers,
        segments: world.segments,
        done: 0,
        rows: world.rows,
        stops_early: true,
        is_ordered: world.ordered,
        skew: world.skewed_clocks,
        two_names: world.two_minutes,
        is_new: false,
        reads_apart: false,
        starts_apart: false,
        jobs: None,
        buildable: None,
        permits: world.builds,
        consumption: None,
        is_prompt: false,
        strays: false,
        repairs_offline: false,
        resets: false,
        asks_rounds: false,
        begun: &[],
        in_step_3: false,
        after: &[],
        // As many leaders as there are controllers but one.
        budget: Budget { leaders: takeovers.min(usize::from(u8::MAX - 1)) as u8, ..Budget::OFTEN },
        goal: None,
        tier: Tier::Ci,
    })
}

fn controller_of(read: Move) -> Option<u8> {
    match read {
        Move::Lead(at, ..) | Move::CrashController(at) | Move::TakeOver(at) => Some(at),
        _ => None,
    }
}

/// The servers that a move names.
fn servers_of(read: Move) -> [Option<u8>; 2] {
    match read {
        Move::Consume(at, ..)
        | Move::Stop(at, _)
        | Move::Report(at, ..)
        | Move::Start(at, ..)
        | Move::End(at, ..)
        | Move::Do(at, ..)
        | Move::Go(at, ..)
        | Move::FailToOpen(at, _)
        | Move::CatchUp(at, _)
        | Move::Bring(at, _)
        | Move::GiveUp(at, _)
        | Move::Crash(at, _)
        | Move::Restart(at) => [Some(at), None],
        Move::Lead(_, line, until, _) => {
            let of_line = match line {
                Line::Complete(_, at) => Some(at),
                Line::Commit(_) | Line::Validate | Line::Repair | Line::Retry => None,
            };
            let of_until = match until {
                Some(Until::Reread(at, _) | Until::Upload(at, _) | Until::Reset(at)) => Some(at),
                Some(_) | None => None,
            };
            [of_line, of_until]
        }
        Move::CrashController(_)
        | Move::TakeOver(_)
        | Move::Age
        | Move::Expire
        | Move::Rewrite(_)
        | Move::Toggle
        | Move::Serve
        | Move::Settle => [None, None],
    }
}

/// Whether the segments and servers that a move names can be.
fn is_of(read: Move, world: &World) -> bool {
    if servers_of(read).into_iter().flatten().any(|at| at >= world.servers) {
        return false;
    }
    let segment = match read {
        Move::Consume(_, segment, _)
        | Move::Stop(_, segment)
        | Move::Report(_, segment, _)
        | Move::Start(_, segment, _)
        | Move::End(_, segment, _)
        | Move::Do(_, _, segment, _)
        | Move::Go(_, _, segment)
        | Move::FailToOpen(_, segment)
        | Move::CatchUp(_, segment)
        | Move::Bring(_, segment)
        | Move::GiveUp(_, segment)
        | Move::Lead(_, Line::Commit(segment) | Line::Complete(segment, _), ..)
        | Move::Rewrite(segment) => segment,
        _ => return true,
    };
    let is_there = segment.partition.0 < world.partitions && segment.sequence < world.segments;
    is_there && (segment.minute == 0 || world.two_minutes)
}

/// The move that a text tells; `None` if it tells none.
pub(super) fn read(text: &str) -> Option<Move> {
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["time", "passes"] => Some(Move::Age),
        ["stream", "forgets", "a", "row"] => Some(Move::Expire),
        ["minion", "replaces", "seq", of] => Some(Move::Rewrite(segment(of)?)),
        ["operator", "switches", "the", "mode"] => Some(Move::Toggle),
        ["everything", "is", "served"] => Some(Move::Serve),
        ["everything", "settles"] => Some(Move::Settle),
        [who, rest @ ..] if who.starts_with('S') => read_server(server(who)?, rest),
        [who, rest @ ..] if who.starts_with('C') => read_controller(number(who, 'C')?, rest),
        _ => None,
    }
}

/// Its words, of which a segment's partition is one with its sequence.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.as_slice() {
            [.., named, partition, seq] if named == "partition" && seq == "seq" => {
                let whole = format!("{word} of {partition}");
                words.truncate(words.len() - 3);
                words.extend(["seq".into(), whole]);
            }
            _ => words.push(word.into()),
        }
    }
    words
}

fn number(name: &str, letter: char) -> Option<u8> {
    let digits = name.strip_prefix(letter)?;
    let is_plain = digits.len() == 1 && digits.starts_with(|c: char| c.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}

fn server(name: &str) -> Option<u8> {
    number(name, 'S').filter(|at| usize::from(*at) < SERVERS)
}

/// `0`, or `0'` if it was created in the second minute.
fn segment(name: &str) -> Option<SegmentId> {
    let (name, partition) = match name.split_once(" of ") {
        Some((name, partition)) => (name, PartitionId(partition.parse().ok()?)),
        None => (name, PARTITION),
    };
    let plain = name.strip_suffix('\'');
    let minute = u32::from(plain.is_some());
    let sequence = plain.unwrap_or(name).parse().ok()?;
    Some(SegmentId { partition, sequence, minute })
}

fn read_server(at: u8, words: &[&str]) -> Option<Move> {
    match words {
        ["crashes"] => Some(Move::Crash(at, false)),
        ["crashes", "for", "good"] => Some(Move::Crash(at, true)),
        ["starts"] => Some(Move::Restart(at)),
        ["consumes", "seq", of, "to", end] => {
            Some(Move::Consume(at, segment(of)?, end.parse().ok()?))
        }
        ["stops", "seq", of] => Some(Move::Stop(at, segment(of)?)),
        ["reports", "seq", of, rest @ ..] => {
            Some(Move::Report(at, segment(of)?, manner(rest, false)?))
        }
        ["starts", "to", "commit", "seq", of, rest @ ..] => {
            Some(Move::Start(at, segment(of)?, manner(rest, false)?))
        }
        ["ends", "its", "commit", "of", "seq", of, rest @ ..] => {
            Some(Move::End(at, segment(of)?, manner(rest, false)?))
        }
        ["goes", state, "with", "seq", of] => Some(Move::Go(at, target(state)?, segment(of)?)),
        ["fails", "to", "open", "seq", of] => Some(Move::FailToOpen(at, segment(of)?)),
        ["catches", "up", "with", "seq", of] => Some(Move::CatchUp(at, segment(of)?)),
        ["brings", "seq", of] => Some(Move::Bring(at, segment(of)?)),
        ["gives", "up", "seq", of] => Some(Move::GiveUp(at, segment(of)?)),
        ["hands", "in", "seq", of] => Some(Move::Do(at, Deed::HandIn, segment(of)?, false)),
        ["fails", "to", verb, "seq", of] => Some(Move::Do(at, deed(verb)?, segment(of)?, true)),
        [verb, "seq", of] => {
            let verb = verb.strip_suffix('s')?;
            Some(Move::Do(at, deed(verb)?, segment(of)?, false))
        }
        _ => None,
    }
}

fn target(name: &str) -> Option<ReplicaState> {
    match name {
        "CONSUMING" => Some(ReplicaState::Consuming),
        "ONLINE" => Some(ReplicaState::Online),
        _ => None,
    }
}

fn deed(verb: &str) -> Option<Deed> {
    match verb {
        "build" => Some(Deed::Build),
        "store" => Some(Deed::Store),
        "upload" => Some(Deed::Upload),
        "reread" => Some(Deed::Reread),
        "rebuild" => Some(Deed::Rebuild),
        "restore" => Some(Deed::Restore),
        _ => None,
    }
}

fn read_controller(at: u8, words: &[&str]) -> Option<Move> {
    let (line, rest) = match words {
        ["crashes"] => return Some(Move::CrashController(at)),
        ["leads"] if at > 0 => return Some(Move::TakeOver(at)),
        ["commits", "seq", of, rest @ ..] => (Line::Commit(segment(of)?), rest),
        ["completes", "seq", of, "of", who, rest @ ..] => {
            (Line::Complete(segment(of)?, server(who)?), rest)
        }
        ["validates", rest @ ..] => (Line::Validate, rest),
        ["repairs", rest @ ..] => (Line::Repair, rest),
        ["retries", rest @ ..] => (Line::Retry, rest),
        _ => return None,
    };
    let (until, rest) = until(rest)?;
    Some(Move::Lead(at, line, until, manner(rest, true)?))
}

fn until<'a, 'b>(words: &'a [&'b str]) -> Option<(Option<Until>, &'a [&'b str])> {
    let (until, rest) = match words {
        ["to", "step", "1", rest @ ..] => (Until::Step1, rest),
        ["to", "step", "2", rest @ ..] => (Until::Step2, rest),
        ["to", "step", "3", rest @ ..] => (Until::Step3, rest),
        ["to", "the", "move", rest @ ..] => (Until::Move, rest),
        ["to", "the", "clean-up", rest @ ..] => (Until::CleanUp, rest),
        ["to", "its", "reads", rest @ ..] => (Until::Reads, rest),
        ["to", "resetting", who, rest @ ..] => (Until::Reset(server(who)?), rest),
        ["to", "having", who, "reread", "seq", of, rest @ ..] => {
            (Until::Reread(server(who)?, segment(of)?), rest)
        }
        ["to", "having", who, "upload", "seq", of, rest @ ..] => {
            (Until::Upload(server(who)?, segment(of)?), rest)
        }
        _ => return Some((None, words)),
    };
    Some((Some(until), rest))
}

/// A message may be late; an operation of a controller may lose its reply.
fn manner(words: &[&str], of_controller: bool) -> Option<Manner> {
    let mut manner = Manner::default();
    let mut rest = words;
    loop {
        rest = match rest {
            [] => return Some(manner),
            ["late", rest @ ..] if !of_controller => {
                manner.late = true;
                rest
            }
            ["unheard", rest @ ..] => {
                manner.unheard = true;
                rest
            }
            ["without", "reply", rest @ ..] if of_controller => {
                manner.without_reply = true;
                rest
            }
            ["picking", who, rest @ ..] if of_controller => {
                manner.pick = Some(server(who)?);
                rest
            }
            ["for", answer, rest @ ..] => {
                manner.heard = Some(ANSWERS.into_iter().find(|known| known == answer)?);
                rest
            }
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = r#"{ "says": "", "do": ["everything settles"] }"#;

    fn parse(step: &str) -> Result<Scenario, Unreadable> {
        Scenario::parse(&format!(
            r#"{{ "protocol": "commit", "name": "n", "title": "t", "source": "s", "story": [],
                "world": {{ "mode": "pauseless" }}, "steps": [{STEP}, {step}], "expect": {{}} }}"#
        ))
    }

    fn seq(sequence: u32) -> SegmentId {
        SegmentId { partition: PARTITION, sequence, minute: 0 }
    }

    #[test]
    fn an_error_names_the_step() {
        assert!(parse(r#"{ "says": "", "do": ["S1 consumes seq 0 to 2"] }"#).is_ok());
        let said = |step: &str| parse(step).expect_err("it is wrong").to_string();
        let unknown = said(r#"{ "says": "", "do": [], "who": "S0" }"#);
        assert!(unknown.starts_with("step 2: unknown field `who`"), "{unknown}");
        let wrong = said(r#"{ "says": "", "do": ["S2 stops seq 0"] }"#);
        assert_eq!(wrong, "step 2: `S2 stops seq 0` is no move");
        let beyond = said(r#"{ "says": "", "do": ["S0 stops seq 2"] }"#);
        assert_eq!(beyond, "step 2: `S0 stops seq 2` is no move");
        let elsewhere = said(r#"{ "says": "", "do": ["S0 stops partition 1 seq 0"] }"#);
        assert_eq!(elsewhere, "step 2: `S0 stops partition 1 seq 0` is no move");
        let twice = said(r#"{ "at": "1", "says": "", "do": [] }"#);
        assert_eq!(twice, "step 2: there are two steps 1");
        let nobody = said(r#"{ "says": "", "do": ["C1 validates"] }"#);
        assert_eq!(nobody, "a controller is named that never leads");
    }

    #[test]
    fn moves_are_read_to_their_end() {
        let unheard = Manner { unheard: true, heard: Some("COMMIT"), ..Manner::default() };
        let report = Move::Report(1, seq(0), unheard);
        assert_eq!(read("S1 reports seq 0 unheard for COMMIT"), Some(report));
        let without = Manner { without_reply: true, ..Manner::default() };
        let commit = Move::Lead(0, Line::Commit(seq(0)), Some(Until::Step3), without);
        assert_eq!(read("C0 commits seq 0 to step 3 without reply"), Some(commit));
        let build = Move::Do(0, Deed::Build, seq(0), true);
        assert_eq!(read("S0 fails to build seq 0"), Some(build));
        let other = SegmentId { partition: PartitionId(1), ..seq(0) };
        assert_eq!(read("S1 stops partition 1 seq 0"), Some(Move::Stop(1, other)));
        for wrong in [
            "S1 stops partition seq 0",
            "S1 stops partition 1 seq",
            "S1 stops seq 0 of 1",
            "S0 reports seq 0 without reply",
            "S0 reports seq 0 for THANKS",
            "S0 builds seq",
            "S0 hands seq 0",
            "S0 goes ERROR with seq 0",
            "C0 leads",
            "C0 commits seq 0 late",
            "C0 commits seq 0 to step 4",
            "S00 crashes",
            "S+0 crashes",
            "",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
