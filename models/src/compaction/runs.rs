//! Runs of compaction.

use std::sync::Arc;

use surehold::Verified;
use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;
use surehold::guard::Weakened;

use super::coverage::Coverage;
use super::ending;
use super::fleet::{Cortex, Fleet, Ours};
use super::model::Model;
use super::scope::{Goal, Scope};
use super::tale::Tale;
use super::{scopes, verdicts};
use crate::explore;
use crate::missed::Missed;
use crate::runs::{self, Card, Protocol};
pub use crate::runs::{Engine, Finished, Manner, Step, limited_to};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction;

/// Whose protocol is run.
pub type Variant = runs::Variant<Compaction>;
/// The verdict that is documented.
pub type Expected = runs::Expected<Compaction>;
/// One run.
pub type Run = runs::Run<Compaction>;

impl Protocol for Compaction {
    type Guard = Guard;
    type Property = Property;
    type Release = Release;
    type Scope = Scope;

    const NAME: &'static str = "compaction";
    const SAYS: &'static str =
        "Many blocks of a time range become fewer, and no sample is lost on the way.";

    fn guards() -> Vec<Guard> {
        Guard::ALL.to_vec()
    }

    fn guard_name(guard: Guard) -> &'static str {
        guard.name()
    }

    fn guard_why(guard: Guard) -> &'static str {
        guard.why()
    }

    fn guard_answers(guard: Guard) -> &'static [&'static str] {
        guard.answers()
    }

    fn properties() -> Vec<Property> {
        Property::ALL.to_vec()
    }

    fn property_name(property: Property) -> &'static str {
        property.name()
    }

    fn property_says(property: Property) -> &'static str {
        property.says()
    }

    fn releases() -> Vec<Release> {
        Release::ALL.to_vec()
    }

    fn release_name(release: Release) -> &'static str {
        release.name()
    }

    fn release_says(release: Release) -> &'static str {
        match release {
            Release::V1_19 => "Cortex v1.19.0, as reported in #7075.",
            Release::V1_20 => "Cortex v1.20.0: with #7082, the short-term fix, and #6576.",
            Release::Pr7130 => "Cortex just after #7130 (2025-12-01): two-cycle clean-up.",
            Release::Pr7209 => {
                "Cortex just after #7209 (2026-01-14): with #7157, #7156 and #7182 too."
            }
            Release::V1_21 => "Cortex v1.21.0: with #7217, #7246 and #7260 too.",
            Release::Main => "Cortex master of August 2026: with #7391 too.",
        }
    }

    fn scopes() -> Vec<Scope> {
        scopes::all()
    }

    fn card(scope: &Scope) -> Card {
        Card {
            name: scope.name,
            question: scope.question,
            bounds: scope.bounds(),
            tier: scope.tier,
            goal: scope.goal.map(Goal::says),
        }
    }

    fn judged(scope: &Scope) -> Vec<Property> {
        scope.properties()
    }

    fn upstream() -> Vec<Run> {
        verdicts::upstream()
    }

    fn mutants() -> Vec<verdicts::Mutant> {
        verdicts::mutants()
    }

    fn loss() -> Property {
        Property::NoSampleLost
    }

    fn execute(run: &Run, manner: &Manner) -> Finished {
        execute(run, manner)
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
    if run.alike {
        model.take_images();
    }
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
            let mut finished = runs::summary(run, manner, &report);
            finished.coverage = model.coverage.as_ref().map(|c| c.table()).unwrap_or_default();
            if let Some(shown) = &report.counterexample {
                let missed = Missed::by(shown.round_from);
                finished.counterexample = Some(story(&model, &shown.states, &shown.actions));
                finished.ending = shown.states.last().map(|last| ending::of(&model, last, missed));
            }
            finished
        }
        Engine::Stateright => runs::opinion(run, manner, &model),
    }
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
