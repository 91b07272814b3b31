//! Scenarios: a reported race as data, in its own steps, and how it ends for each variant.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::model::Clock;
use super::scope::{Faults, Operation, Scope, Tier, Upload};

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The issue or case it tells, such as `cortex#7075`.
    pub name: String,
    /// What happened, in a few sentences.
    pub story: Vec<String>,
    /// The world it happens in.
    pub world: Setting,
    /// Its steps.
    pub steps: Vec<Scene>,
    /// How it ends, by variant.
    pub expect: BTreeMap<String, Outcome>,
}

/// The world of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Blocks there from the start.
    pub early: Vec<Block>,
    /// Blocks that arrive later.
    #[serde(default)]
    pub late: Vec<Block>,
    /// How many compactors: A, B and so on.
    pub compactors: u8,
    /// How many cleaners.
    #[serde(default = "one")]
    pub cleaners: u8,
    /// In how many classes series hashes fall.
    pub classes: u32,
    /// Above this total index size a plan is split, bytes.
    pub split_above_bytes: u64,
    /// Index size of each result, bytes.
    pub result_bytes: u64,
    /// What the report calls results: `v1.0` is the result of partition 0 of the first plan, `v1.0b` the
    /// second one of the same.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
}

fn one() -> u8 {
    1
}

/// A block of a scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// One letter.
    pub name: char,
    /// Size of its index, bytes.
    pub bytes: u64,
    /// If it is a result of a smaller range: partition and count.
    #[serde(default)]
    pub part: Option<(u32, u32)>,
}

/// One step of the report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What the report says.
    pub says: String,
    /// What that is here; see [`Move`].
    #[serde(rename = "do")]
    pub moves: Vec<String>,
}

/// How a scenario ends. A field that is left out is not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What is lost, such as `1/4 of N` and `all of block5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Vec<String>>,
    /// Which steps could not be done, by number from 1, and the guards that refused, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<(usize, Vec<String>)>>,
    /// Whether some result holds what another result held already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub double_work: Option<bool>,
    /// Plans left in the bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<Vec<String>>,
    /// Whether a marker is left whose plan is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orphan_markers: Option<bool>,
    /// Blocks marked for deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked: Option<Vec<String>>,
    /// Whether a plan was deleted, or one of its markers, while nothing said that it was done or dead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_plan_harmed: Option<bool>,
}

impl Outcome {
    /// The fields in which an outcome differs from what is expected of it.
    pub fn differences(&self, expected: &Self) -> Vec<String> {
        fn differ<T: PartialEq + fmt::Debug>(
            name: &str,
            is: Option<&T>,
            should: Option<&T>,
        ) -> Option<String> {
            let should = should?;
            (is != Some(should)).then(|| format!("{name}: {is:?}, expected {should:?}"))
        }
        [
            differ("lost", self.lost.as_ref(), expected.lost.as_ref()),
            differ("refused", self.refused.as_ref(), expected.refused.as_ref()),
            differ("double_work", self.double_work.as_ref(), expected.double_work.as_ref()),
            differ("plans", self.plans.as_ref(), expected.plans.as_ref()),
            differ(
                "orphan_markers",
                self.orphan_markers.as_ref(),
                expected.orphan_markers.as_ref(),
            ),
            differ("marked", self.marked.as_ref(), expected.marked.as_ref()),
            differ(
                "live_plan_harmed",
                self.live_plan_harmed.as_ref(),
                expected.live_plan_harmed.as_ref(),
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// One move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// `A until GOAL`: the process runs alone until then, or until it gives up.
    Run(u8, Goal),
    /// `A pauses`.
    Pause(u8),
    /// `A crashes`.
    Crash(u8),
    /// `A fails`: its next operation fails.
    Fail(u8),
    /// `A beats`: it sends a heartbeat for the partition it works on.
    Beat(u8),
    /// `A clock same`, `A clock behind`: the next plan it makes is stamped by such a clock.
    Clock(u8, Clock),
    /// `claims expire`.
    Expire,
    /// `block arrives`: the next late one.
    Upload,
    /// `bar X`: the operator sets a no-compact mark.
    Bar(char),
    /// `unbar X`: the operator removes it.
    Unbar(char),
}

/// How far a process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// `about to OPERATION [PARTITION]`, such as `about to put-plan` or `about to put-meta`.
    AboutTo(String, Option<u32>),
    /// `picked`: it holds a plan and is about to look at a partition's marker.
    Picked,
    /// `synced`: it knows the blocks and their marks, and has done nothing about them.
    Synced,
    /// `idle`: it has finished what it was at.
    Idle,
    /// `completed 1 2 3`: these partitions of the newest plan are completed.
    Completed(Vec<u32>),
    /// `done`: each partition of the newest plan is completed.
    Done,
    /// `gone`: there is no plan and no marker, and its pass is over.
    Gone,
}

/// A move that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Most compactors: each is called by one letter.
pub const MOST_COMPACTORS: u8 = 26;
/// Most samples in all, as a set of them is one number's bits.
const MOST_SAMPLES: usize = 64;

impl Setting {
    /// Refuses a world that the models cannot hold.
    fn judge(&self) -> Result<(), Unreadable> {
        let refuse = |why: &str| Err(Unreadable(why.to_string()));
        let blocks = || self.early.iter().chain(&self.late);
        let samples = blocks().count().saturating_mul(self.classes as usize);
        if self.compactors == 0 || self.compactors > MOST_COMPACTORS {
            return refuse("`compactors` is from 1 to 26");
        }
        if self.cleaners == 0 || self.cleaners > 2 {
            return refuse("`cleaners` is 1 or 2");
        }
        if self.classes == 0 || self.classes as usize >= MOST_SAMPLES || samples > MOST_SAMPLES {
            return refuse("blocks times `classes` is from 1 to 64");
        }
        if blocks().any(|block| block.part.is_some_and(|(part, count)| part >= count)) {
            return refuse("`part` is a partition and a greater count");
        }
        Ok(())
    }
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    ///
    /// If the text is no scenario, or a move cannot be read.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let scenario: Self =
            serde_json::from_str(text).map_err(|error| Unreadable(error.to_string()))?;
        scenario.world.judge()?;
        for (at, scene) in scenario.steps.iter().enumerate() {
            for text in &scene.moves {
                scenario.read(text).map_err(|e| Unreadable(format!("step {}: {e}", at + 1)))?;
            }
        }
        Ok(scenario)
    }

    /// The scope of its world.
    pub fn scope(&self) -> Scope {
        let upload = |block: &Block| Upload {
            name: block.name,
            classes: block.part.map_or((1 << self.world.classes) - 1, |(partition, count)| {
                (0..self.world.classes)
                    .filter(|class| class % count == partition)
                    .fold(0, |bits, class| bits | (1 << class))
            }),
            index_bytes: block.bytes,
            part: block.part,
        };
        let early: Vec<_> = self.world.early.iter().map(upload).collect();
        let bars = early.iter().map(|block| Operation::SetNoCompact(block.name)).collect();
        Scope {
            name: "scenario",
            question: "",
            early,
            late: self.world.late.iter().map(upload).collect(),
            prefix: &[],
            compactors: self.world.compactors,
            cleaners: self.world.cleaners,
            concurrency: 1,
            split_above_bytes: self.world.split_above_bytes,
            result_bytes: self.world.result_bytes,
            classes: self.world.classes,
            max_plans: 9,
            faults: Faults::any(100),
            operator: bars,
            picks: 1,
            beats: false,
            completed_age: false,
            atomic_plans: false,
            swift_sync: false,
            ripens: false,
            cleaner_marker: false,
            goal: None,
            witnesses: &[],
            tier: Tier::Ci,
        }
    }

    /// Reads one move.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self, text: &str) -> Result<Move, Unreadable> {
        let unreadable = || Unreadable(format!("`{text}` is no move"));
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            ["claims", "expire"] => Ok(Move::Expire),
            ["block", "arrives"] => Ok(Move::Upload),
            ["bar", name] => name.chars().next().map(Move::Bar).ok_or_else(unreadable),
            ["unbar", name] => name.chars().next().map(Move::Unbar).ok_or_else(unreadable),
            [who, "pauses"] => self.process(who).map(Move::Pause).ok_or_else(unreadable),
            [who, "crashes"] => self.process(who).map(Move::Crash).ok_or_else(unreadable),
            [who, "fails"] => self.process(who).map(Move::Fail).ok_or_else(unreadable),
            [who, "beats"] => self.compactor(who).map(Move::Beat).ok_or_else(unreadable),
            [who, "clock", shows] => {
                let clock = match *shows {
                    "same" => Clock::Same,
                    "behind" => Clock::Behind,
                    _ => return Err(unreadable()),
                };
                let planner = self.compactor(who).ok_or_else(unreadable)?;
                Ok(Move::Clock(planner, clock))
            }
            [who, "until", goal @ ..] => {
                let who = self.process(who).ok_or_else(unreadable)?;
                Ok(Move::Run(who, read_goal(goal).ok_or_else(unreadable)?))
            }
            _ => Err(unreadable()),
        }
    }

    fn compactor(&self, name: &str) -> Option<u8> {
        self.process(name).filter(|process| *process < self.world.compactors)
    }

    fn process(&self, name: &str) -> Option<u8> {
        let (compactors, cleaners) = (self.world.compactors, self.world.cleaners);
        match name {
            "cleaner" | "cleaner1" => Some(compactors),
            "cleaner2" if cleaners > 1 => Some(compactors + 1),
            _ => {
                let letter = name.bytes().next().filter(|_| name.len() == 1)?;
                letter.checked_sub(b'A').filter(|process| *process < compactors)
            }
        }
    }
}

fn read_goal(words: &[&str]) -> Option<Goal> {
    match words {
        ["picked"] => Some(Goal::Picked),
        ["synced"] => Some(Goal::Synced),
        ["idle"] => Some(Goal::Idle),
        ["done"] => Some(Goal::Done),
        ["gone"] => Some(Goal::Gone),
        ["about", "to", what] => Some(Goal::AboutTo((*what).into(), None)),
        ["about", "to", what, partition] => {
            Some(Goal::AboutTo((*what).into(), Some(partition.parse().ok()?)))
        }
        ["completed", rest @ ..] if !rest.is_empty() => {
            rest.iter().map(|p| p.parse().ok()).collect::<Option<_>>().map(Goal::Completed)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        let text = r#"{
            "name": "a test", "story": [], "steps": [], "expect": {},
            "world": {
                "early": [{ "name": "X", "bytes": 2 }], "compactors": 2,
                "classes": 2, "split_above_bytes": 2, "result_bytes": 0
            }
        }"#;
        Scenario::parse(text).expect("it is a scenario")
    }

    #[test]
    fn the_clock_of_a_planner_is_set_by_name() {
        let read = |text: &str| scenario().read(text).ok();
        assert_eq!(read("A clock same"), Some(Move::Clock(0, Clock::Same)));
        assert_eq!(read("B clock behind"), Some(Move::Clock(1, Clock::Behind)));
        for wrong in ["C clock same", "cleaner clock same", "A clock later", "A clock"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_world_that_no_model_holds_is_refused() {
        let parse = |compactors: u32, cleaners: u32, classes: u32, part: &str| {
            let text = format!(
                r#"{{
                    "name": "a test", "story": [], "steps": [], "expect": {{}},
                    "world": {{
                        "early": [{{ "name": "X", "bytes": 2, "part": {part} }}],
                        "compactors": {compactors}, "cleaners": {cleaners}, "classes": {classes},
                        "split_above_bytes": 2, "result_bytes": 0
                    }}
                }}"#
            );
            Scenario::parse(&text).map(|scenario| scenario.scope())
        };
        assert!(parse(26, 2, 63, "null").is_ok());
        assert!(parse(2, 1, 4, "[1, 2]").is_ok());
        for (compactors, cleaners, classes, part) in [
            (0, 1, 2, "null"),
            (27, 1, 2, "null"),
            (255, 2, 2, "null"),
            (2, 0, 2, "null"),
            (2, 3, 2, "null"),
            (2, 1, 0, "null"),
            (2, 1, 64, "null"),
            (2, 1, 2, "[0, 0]"),
            (2, 1, 2, "[2, 2]"),
        ] {
            assert!(parse(compactors, cleaners, classes, part).is_err());
        }
    }

    #[test]
    fn only_a_compactor_beats() {
        let read = |text: &str| scenario().read(text).ok();
        assert_eq!(read("A beats"), Some(Move::Beat(0)));
        assert_eq!(read("cleaner beats"), None);
        assert_eq!(read("A until synced"), Some(Move::Run(0, Goal::Synced)));
    }
}
