//! Runs: a variant of a protocol in a scope, what is asked of it, and the verdict that is documented.

use core::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::explore::{self, Options, Report, Verdict};
use crate::line::Line;
use crate::tier::Tier;

/// A protocol that can be checked: what there is of it by name, and how one run is done.
pub trait Protocol: Copy + Debug + Eq + Send + Sync + 'static {
    /// Its guards.
    type Guard: Copy + Debug + Ord + Send + Sync + 'static;
    /// Its properties.
    type Property: Copy + Debug + Eq + Send + Sync + 'static;
    /// Upstream's variants.
    type Release: Copy + Debug + Eq + Send + Sync + 'static;
    /// Its small worlds.
    type Scope: Clone + Debug + Send + Sync + 'static;

    /// Kebab-case name.
    const NAME: &'static str;
    /// What it is about.
    const SAYS: &'static str;

    /// All guards, in the order of the table.
    fn guards() -> Vec<Self::Guard>;
    /// A guard's name.
    fn guard_name(guard: Self::Guard) -> &'static str;
    /// What a guard says.
    fn guard_why(guard: Self::Guard) -> &'static str;
    /// What a guard answers.
    fn guard_answers(guard: Self::Guard) -> &'static [&'static str];
    /// Whether a guard is a second line of defence, which nothing here can show to be needed.
    fn is_second_line(_guard: Self::Guard) -> bool {
        false
    }
    /// All properties.
    fn properties() -> Vec<Self::Property>;
    /// A property's name.
    fn property_name(property: Self::Property) -> &'static str;
    /// What a property says.
    fn property_says(property: Self::Property) -> &'static str;
    /// All of upstream's variants, oldest first.
    fn releases() -> Vec<Self::Release>;
    /// A variant's name.
    fn release_name(release: Self::Release) -> &'static str;
    /// What a variant is.
    fn release_says(release: Self::Release) -> &'static str;
    /// All scopes.
    fn scopes() -> Vec<Self::Scope>;
    /// What there is to say of a scope.
    fn card(scope: &Self::Scope) -> Card;
    /// What is judged in a scope when the verified protocol is.
    fn judged(scope: &Self::Scope) -> Vec<Self::Property>;
    /// Upstream's variants, each with its documented verdict.
    fn upstream() -> Vec<Run<Self>>;
    /// Removals of guards, each with its documented verdict.
    fn mutants() -> Vec<Mutant<Self>>;
    /// What is asked of an upstream variant where nothing is documented.
    fn loss() -> Self::Property;
    /// Does a run.
    fn execute(run: &Run<Self>, manner: &Manner) -> Finished;
}

/// What there is to say of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is for.
    pub question: &'static str,
    /// Its bounds, in words.
    pub bounds: String,
    /// When it is run.
    pub tier: Tier,
    /// What must be reachable from everywhere.
    pub goal: Option<&'static str>,
}

/// Whose protocol is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variant<P: Protocol> {
    /// Ours, all guards kept.
    Verified,
    /// Ours, without these guards.
    Without(Vec<P::Guard>),
    /// Upstream's.
    Upstream(P::Release),
}

impl<P: Protocol> Variant<P> {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Verified | Self::Without(_) => "verified",
            Self::Upstream(release) => P::release_name(*release),
        }
    }

    /// The guards removed, by name.
    pub fn removed(&self) -> Vec<&'static str> {
        match self {
            Self::Without(guards) => guards.iter().map(|guard| P::guard_name(*guard)).collect(),
            Self::Verified | Self::Upstream(_) => Vec::new(),
        }
    }
}

/// The verdict that is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<P: Protocol> {
    /// Exhausted, and all properties hold.
    Verified,
    /// This property breaks.
    Violated(P::Property),
    /// Whatever comes out is news: no verdict is documented.
    Open,
}

impl<P: Protocol> Expected<P> {
    /// In words.
    pub fn text(self) -> String {
        match self {
            Self::Verified => "verified".into(),
            Self::Violated(property) => format!("violated: {}", P::property_name(property)),
            Self::Open => OPEN.into(),
        }
    }
}

/// What is said where no verdict is documented.
pub const OPEN: &str = "open";

/// One run.
#[derive(Clone, Debug)]
pub struct Run<P: Protocol> {
    /// Whose protocol.
    pub variant: Variant<P>,
    /// Where.
    pub scope: P::Scope,
    /// What is asked.
    pub judged: Vec<P::Property>,
    /// What is documented.
    pub expected: Expected<P>,
    /// Whether actors that begin alike may be taken for one another. Whether something tells them apart is for
    /// `tests/symmetry.rs` to find out, which looks at the verified protocol and at documented runs.
    pub alike: bool,
}

impl<P: Protocol> Run<P> {
    /// The verified protocol in a scope: everything is asked, and must hold.
    pub fn verified(scope: P::Scope) -> Self {
        let judged = P::judged(&scope);
        let (variant, expected) = (Variant::Verified, Expected::Verified);
        Self { variant, scope, judged, expected, alike: true }
    }

    /// Something else, asked one thing: a second property would only hide the first. All actors are told apart.
    pub fn asked(
        variant: Variant<P>,
        scope: P::Scope,
        property: P::Property,
        expected: Expected<P>,
    ) -> Self {
        Self { variant, scope, judged: vec![property], expected, alike: false }
    }

    /// The same, with actors that begin alike taken for one another.
    #[must_use]
    pub fn alike(self) -> Self {
        Self { alike: true, ..self }
    }
}

/// A hole, the guards that close it, and the run that shows what happens without them.
#[derive(Clone, Debug)]
pub struct Mutant<P: Protocol> {
    /// The holes and upstream issues, as the dossier and the cases name them.
    pub holes: &'static [&'static str],
    /// The guards removed, more than one where they cover each other.
    pub guards: &'static [P::Guard],
    /// The run.
    pub run: Run<P>,
}

/// The guards that cover a guard whose removal alone is not noticed: the others in the shortest rows that it
/// takes part in. Empty if it is removed alone, and noticed.
pub fn covered_by<P: Protocol>(guard: P::Guard) -> Vec<P::Guard> {
    let mutants = P::mutants();
    let noticed = || mutants.iter().filter(|mutant| mutant.run.expected != Expected::Verified);
    if noticed().any(|mutant| mutant.guards == [guard]) {
        return Vec::new();
    }
    let with = || noticed().filter(|mutant| mutant.guards.contains(&guard));
    let fewest = with().map(|mutant| mutant.guards.len()).min();
    let shortest = with().filter(|mutant| Some(mutant.guards.len()) == fewest);
    let mut others: Vec<_> = shortest.flat_map(|mutant| mutant.guards).copied().collect();
    others.retain(|other| *other != guard);
    others.sort_unstable();
    others.dedup();
    others
}

/// What to say beside the names of so many guards that are removed at once: they cover each other.
pub fn together(count: usize) -> &'static str {
    match count {
        0 | 1 => "",
        2 => " (a pair)",
        _ => " (together)",
    }
}

/// What to say of a removal that nothing notices. It is no proof that these guards are needed.
pub fn unnoticed<P: Protocol>(guards: &[P::Guard]) -> String {
    let mut covers: Vec<_> = guards.iter().flat_map(|guard| covered_by::<P>(*guard)).collect();
    covers.sort_unstable();
    covers.dedup();
    covers.retain(|cover| !guards.contains(cover));
    let names: Vec<_> = covers.iter().map(|guard| P::guard_name(*guard)).collect();
    match names.as_slice() {
        [] if guards.iter().all(|guard| P::is_second_line(*guard)) => {
            "alone unnoticed: a second line".into()
        }
        [] => "nothing: it holds here without".into(),
        names => format!("alone unnoticed: covered by {}", names.join(", ")),
    }
}

/// A run of any protocol, as the command sees it.
pub trait AnyRun: Debug + Send + Sync {
    /// The protocol's name.
    fn protocol(&self) -> &'static str;
    /// The variant's name.
    fn variant(&self) -> &'static str;
    /// The guards removed, by name.
    fn removed(&self) -> Vec<&'static str>;
    /// Where.
    fn scope(&self) -> Card;
    /// What is asked, by name.
    fn judged(&self) -> Vec<&'static str>;
    /// What is documented, in words.
    fn expected(&self) -> String;
    /// What to say if nothing breaks, for a removal.
    fn unnoticed(&self) -> Option<String>;
    /// Does it.
    fn execute(&self, manner: &Manner) -> Finished;
}

impl<P: Protocol> AnyRun for Run<P> {
    fn protocol(&self) -> &'static str {
        P::NAME
    }

    fn variant(&self) -> &'static str {
        self.variant.name()
    }

    fn removed(&self) -> Vec<&'static str> {
        self.variant.removed()
    }

    fn scope(&self) -> Card {
        P::card(&self.scope)
    }

    fn judged(&self) -> Vec<&'static str> {
        self.judged.iter().map(|property| P::property_name(*property)).collect()
    }

    fn expected(&self) -> String {
        self.expected.text()
    }

    fn unnoticed(&self) -> Option<String> {
        match &self.variant {
            Variant::Without(guards) => Some(unnoticed::<P>(guards)),
            Variant::Verified | Variant::Upstream(_) => None,
        }
    }

    fn execute(&self, manner: &Manner) -> Finished {
        P::execute(self, manner)
    }
}

/// A run that several threads may share.
pub type SharedRun = Arc<dyn AnyRun>;

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
    /// Which protocol.
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
    /// Greatest number of states that waited for their expansion.
    pub peak_frontier: u64,
    /// Greatest resident set of the process until then, in bytes: of all runs in it. Nothing where the system does not
    /// tell.
    pub peak_memory_bytes: Option<u64>,
    /// States in which a bound of the scope stopped something.
    pub cut_states: u64,
    /// States from which a bound of the scope stands in every way to the goal: nothing is claimed of them.
    pub unsettled_states: u64,
    /// Expected number of states missed by fingerprints.
    pub expected_missed: f64,
    /// The way to the violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Vec<Step>>,
    /// The step, from 1, that an endless round begins with; the last step leads to where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_from: Option<usize>,
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

/// A finished run of which nothing is known yet.
pub fn blank<P: Protocol>(run: &Run<P>, manner: &Manner) -> Finished {
    let card = P::card(&run.scope);
    Finished {
        protocol: P::NAME,
        variant: run.variant.name(),
        guard_removed: run.variant.removed(),
        scope: card.name,
        bounds: card.bounds,
        engine: manner.engine.name(),
        verdict: "incomplete",
        expected: run.expected.text(),
        property: None,
        asked: run.judged.iter().map(|property| P::property_name(*property)).collect(),
        states: 0,
        unique_states: 0,
        depth: 0,
        seconds: 0.0,
        peak_frontier: 0,
        peak_memory_bytes: None,
        cut_states: 0,
        unsettled_states: 0,
        expected_missed: 0.0,
        counterexample: None,
        round_from: None,
        ending: None,
        coverage: Vec::new(),
        reason: None,
    }
}

/// What our explorer found.
pub fn summary<P: Protocol, S, A>(
    run: &Run<P>,
    manner: &Manner,
    report: &Report<S, A>,
) -> Finished {
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
    finished.peak_frontier = report.peak_frontier;
    finished.peak_memory_bytes = explore::peak_resident_bytes();
    finished.cut_states = report.cut_states;
    finished.unsettled_states = report.unsettled_states;
    finished.expected_missed = report.expected_missed;
    let round = report.counterexample.as_ref().and_then(|path| path.round_from);
    finished.round_from = round.map(|at| at + 1);
    finished
}

/// What stateright found of a model.
pub fn opinion<P, M>(run: &Run<P>, manner: &Manner, model: &M) -> Finished
where
    P: Protocol,
    M: stateright::Model<
            State: Clone + std::hash::Hash + Eq + Send + Sync + 'static,
            Action: Clone + PartialEq,
        > + Clone
        + Send
        + Sync
        + 'static,
{
    let begun = std::time::Instant::now();
    let opinion = explore::second_opinion(model);
    let mut finished = blank(run, manner);
    finished.verdict = if opinion.violated.is_some() { "violated" } else { "verified" };
    finished.property = opinion.violated.map(Into::into);
    finished.states = opinion.generated;
    finished.peak_memory_bytes = explore::peak_resident_bytes();
    finished.unique_states = opinion.unique_states;
    finished.depth = opinion.depth;
    finished.seconds = begun.elapsed().as_secs_f64();
    finished
}

/// A limit on the time of one run.
pub fn limited_to(seconds: u64) -> Options {
    Options { time_limit: Some(Duration::from_secs(seconds)), ..Options::default() }
}
