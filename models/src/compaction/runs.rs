//! Runs: a variant in a scope, what is asked of it, and the verdict that is documented.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use surehold::Verified;
use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;
use surehold::guard::Weakened;

use super::coverage::Coverage;
use super::ending;
use super::fleet::{Cortex, Fleet, Ours};
use super::model::Model;
use super::scope::Scope;
use super::tale::{Line, Tale};
use crate::explore::{self, Options, Report, Verdict};

/// Whose protocol is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Ours, all guards kept.
    Verified,
    /// Ours, without these guards.
    Without(Vec<Guard>),
    /// Upstream's at a release.
    Upstream(Release),
}

impl Variant {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verified | Self::Without(_) => "verified",
            Self::Upstream(release) => release.name(),
        }
    }

    /// The guards removed, by name.
    pub fn removed(&self) -> Vec<&'static str> {
        match self {
            Self::Without(guards) => guards.iter().map(|guard| guard.name()).collect(),
            Self::Verified | Self::Upstream(_) => Vec::new(),
        }
    }
}

/// The verdict that is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exhausted, and all properties hold.
    Verified,
    /// This property breaks.
    Violated(Property),
    /// Whatever comes out is news: no verdict is documented.
    Open,
}

impl Expected {
    /// In words.
    pub fn text(self) -> String {
        match self {
            Self::Verified => "verified".into(),
            Self::Violated(property) => format!("violated: {}", property.name()),
            Self::Open => "open".into(),
        }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whose protocol.
    pub variant: Variant,
    /// Where.
    pub scope: Scope,
    /// What is asked.
    pub judged: Vec<Property>,
    /// What is documented.
    pub expected: Expected,
}

impl Run {
    /// The verified protocol in a scope: everything is asked, and must hold.
    pub fn verified(scope: Scope) -> Self {
        let judged = scope.properties();
        Self { variant: Variant::Verified, scope, judged, expected: Expected::Verified }
    }

    /// Something else, asked one thing: a second property would only hide the first.
    pub fn asked(variant: Variant, scope: Scope, property: Property, expected: Expected) -> Self {
        Self { variant, scope, judged: vec![property], expected }
    }
}

/// Which checker does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The explorer of this crate.
    Own,
    /// stateright's breadth-first checker. It finds safety violations; it knows no recoverability.
    Stateright,
}

impl Engine {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Stateright => "stateright",
        }
    }
}

/// How a run is done.
#[derive(Clone, Debug)]
pub struct Manner {
    /// By whom.
    pub engine: Engine,
    /// Limits and mode of our explorer.
    pub options: Options,
    /// Whether steps that nobody else can tell are taken at once.
    pub reduce: bool,
    /// Whether occurrences are counted.
    pub coverage: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self { engine: Engine::Own, options: Options::default(), reduce: true, coverage: false }
    }
}

/// A run that ended, one way or another.
#[derive(Clone, Debug, Serialize)]
pub struct Finished {
    /// Always `compaction` here.
    pub protocol: &'static str,
    /// Whose protocol.
    pub variant: &'static str,
    /// Guards removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guard_removed: Vec<&'static str>,
    /// The scope.
    pub scope: &'static str,
    /// Its bounds, in words.
    pub bounds: String,
    /// The checker.
    pub engine: &'static str,
    /// `verified`, `violated` or `incomplete`.
    pub verdict: &'static str,
    /// The documented verdict.
    pub expected: String,
    /// The property that breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The properties asked.
    pub asked: Vec<&'static str>,
    /// States generated, duplicates included.
    pub states: u64,
    /// Different states.
    pub unique_states: u64,
    /// Levels.
    pub depth: u32,
    /// Wall time.
    pub seconds: f64,
    /// States in which a bound of the scope stopped something.
    pub cut_states: u64,
    /// States from which a bound of the scope stands in every way to the goal: nothing is claimed of them.
    pub unsettled_states: u64,
    /// Expected number of states missed by fingerprints.
    pub expected_missed: f64,
    /// The way to the violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<Step>>,
    /// How it ends, spelled out on the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// What occurred, and how often; empty where nobody counted.
    pub coverage: Vec<(String, u64)>,
    /// Why it is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One step of a counterexample. Steps that nobody else could tell bear the number of the one they follow,
/// those of the scope's prefix the number 0.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// From 1; 0 before the scope begins.
    pub step: usize,
    /// What happened.
    #[serde(flatten)]
    pub line: Line,
}

impl Finished {
    /// Whether the verdict is the documented one. An incomplete run never is.
    pub fn is_expected(&self) -> bool {
        match &self.property {
            Some(property) => self.expected == format!("violated: {property}"),
            None => self.expected == self.verdict,
        }
    }

    /// The verdict with its property.
    pub fn verdict_text(&self) -> String {
        match (&self.property, &self.reason) {
            (Some(property), _) => format!("{}: {property}", self.verdict),
            (None, Some(reason)) => format!("{}: {reason}", self.verdict),
            (None, None) => self.verdict.into(),
        }
    }
}

/// Does a run.
pub fn execute(run: &Run, manner: &Manner) -> Finished {
    match &run.variant {
        Variant::Verified => explore_fleet(&Ours(Verified), run, manner),
        Variant::Without(guards) => {
            explore_fleet(&Ours(Weakened::without(guards.iter().copied())), run, manner)
        }
        Variant::Upstream(release) => explore_fleet(&Cortex(*release), run, manner),
    }
}

/// The model of a run.
pub fn model<F: Fleet>(fleet: &F, run: &Run, manner: &Manner) -> Model<F> {
    let mut model = Model::new(fleet, &run.scope);
    model.judged.clone_from(&run.judged);
    model.reduce = manner.reduce;
    model.witnesses = run.variant == Variant::Verified;
    model.coverage = manner.coverage.then(|| Arc::new(Coverage::default()));
    model
}

fn explore_fleet<F: Fleet>(fleet: &F, run: &Run, manner: &Manner) -> Finished {
    let model = model(fleet, run, manner);
    match manner.engine {
        Engine::Own => {
            let report = explore::explore(&model, &manner.options);
            let mut finished = summary(run, manner, &report);
            finished.coverage = model.coverage.as_ref().map(|c| c.table()).unwrap_or_default();
            if let Some(shown) = &report.counterexample {
                finished.counterexample = Some(story(&model, &shown.states, &shown.actions));
                finished.ending = shown.states.last().map(|last| ending::of(&model, last));
            }
            finished
        }
        Engine::Stateright => {
            let begun = std::time::Instant::now();
            let opinion = explore::second_opinion(&model);
            let seconds = begun.elapsed().as_secs_f64();
            let mut finished = blank(run, manner);
            finished.verdict = if opinion.violated.is_some() { "violated" } else { "verified" };
            finished.property = opinion.violated.map(Into::into);
            finished.unique_states = opinion.unique_states;
            finished.depth = opinion.depth;
            finished.seconds = seconds;
            finished
        }
    }
}

fn blank(run: &Run, manner: &Manner) -> Finished {
    Finished {
        protocol: "compaction",
        variant: run.variant.name(),
        guard_removed: run.variant.removed(),
        scope: run.scope.name,
        bounds: run.scope.bounds(),
        engine: manner.engine.name(),
        verdict: "incomplete",
        expected: run.expected.text(),
        property: None,
        asked: run.judged.iter().map(|property| property.name()).collect(),
        states: 0,
        unique_states: 0,
        depth: 0,
        seconds: 0.0,
        cut_states: 0,
        unsettled_states: 0,
        expected_missed: 0.0,
        counterexample: None,
        ending: None,
        coverage: Vec::new(),
        reason: None,
    }
}

fn summary<S, A>(run: &Run, manner: &Manner, report: &Report<S, A>) -> Finished {
    let mut finished = blank(run, manner);
    match &report.verdict {
        Verdict::Verified => finished.verdict = "verified",
        Verdict::Violated { property, kind } => {
            finished.verdict = "violated";
            finished.property = Some(property.clone());
            if *kind == explore::Kind::Unreached {
                finished.reason = Some(format!("never seen: {}", report.unreached.join("; ")));
            }
        }
        Verdict::Incomplete { reason } => finished.reason = Some(reason.to_string()),
    }
    finished.states = report.generated;
    finished.unique_states = report.unique;
    finished.depth = report.depth;
    finished.seconds = report.seconds;
    finished.cut_states = report.cut_states;
    finished.unsettled_states = report.unsettled_states;
    finished.expected_missed = report.expected_missed;
    finished
}

/// Tells a path, with what the scope's prefix did before.
pub fn story<F: Fleet>(
    model: &Model<F>,
    states: &[super::model::WorldOf<F>],
    actions: &[super::model::Action],
) -> Vec<Step> {
    let mut prefix = Tale::told();
    model.run_prefix(&mut prefix);
    let before = prefix.into_lines().into_iter().map(|line| Step { step: 0, line });
    let mut steps: Vec<_> = before.collect();
    for (at, (state, action)) in states.iter().zip(actions).enumerate() {
        let mut tale = Tale::told();
        let _ = model.apply(state, *action, &mut tale);
        steps.extend(tale.into_lines().into_iter().map(|line| Step { step: at + 1, line }));
    }
    steps
}

/// A limit on the time of one run.
pub fn limited_to(seconds: u64) -> Options {
    Options { time_limit: Some(Duration::from_secs(seconds)), ..Options::default() }
}
