//! Runs of rebalance.

use std::sync::Arc;

use surehold::Verified;
use surehold::guard::Weakened;
use surehold::rebalance::Guard;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::upstream::Fix;

use super::coverage::Coverage;
use super::ending;
use super::fleet::{Druid, Fleet, Ours};
use super::model::{Action, Model, WorldOf};
use super::scope::Scope;
use super::tale::Tale;
use super::{scopes, verdicts};
use crate::explore;
use crate::missed::Missed;
use crate::runs::{self, Card, Engine, Finished, Manner, Protocol, Step};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebalance;

/// Whose protocol is run.
pub type Variant = runs::Variant<Rebalance>;
/// The verdict that is documented.
pub type Expected = runs::Expected<Rebalance>;
/// One run.
pub type Run = runs::Run<Rebalance>;

impl Protocol for Rebalance {
    type Guard = Guard;
    type Property = Property;
    type Release = Fix;
    type Scope = Scope;

    const NAME: &'static str = "rebalance";
    const SAYS: &'static str =
        "A segment moves from server to server, and is served all the while.";

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

    fn is_second_line(guard: Guard) -> bool {
        guard.is_second_line()
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

    fn releases() -> Vec<Fix> {
        Fix::ALL.to_vec()
    }

    fn release_name(fix: Fix) -> &'static str {
        fix.name()
    }

    fn release_says(fix: Fix) -> &'static str {
        match fix {
            Fix::None => "Druid before any fix of the move race, as reported in #18161.",
            Fix::Delta => "Druid master, with #18162: moves that are done are subtracted.",
            Fix::Lock => "With the lock of #18769, closed unmerged; our reading of it.",
            Fix::Atomic => "With the atomic mark of #18824, open; our reading of it.",
            Fix::Retain => "With #19889, open: retained until confirmed; our reading of it.",
        }
    }

    fn scopes() -> Vec<Scope> {
        scopes::all()
    }

    fn card(scope: &Scope) -> Card {
        let goal = "each segment has as many copies as are required, where they are to be; nothing is on its way; a move would be taken up";
        Card {
            name: scope.name,
            question: scope.question,
            bounds: scope.bounds(),
            tier: scope.tier,
            goal: scope.recovers.then_some(goal),
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
        Property::LastCopyKept
    }

    fn execute(run: &Run, manner: &Manner) -> Finished {
        match &run.variant {
            Variant::Verified => explore_fleet(&Ours(Verified), run, manner),
            Variant::Without(guards) => {
                explore_fleet(&Ours(Weakened::without(guards.iter().copied())), run, manner)
            }
            Variant::Upstream(fix) => explore_fleet(&Druid(*fix), run, manner),
        }
    }
}

/// The model of a run.
pub fn model<F: Fleet>(fleet: &F, run: &Run, manner: &Manner) -> Model<F> {
    let mut model = Model::new(fleet, &run.scope);
    model.judged.clone_from(&run.judged);
    if run.alike {
        model.take_images();
    }
    model.witnesses = run.variant == Variant::Verified;
    model.polls_on = manner.options.rounds;
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

/// Tells a path.
pub fn story<F: Fleet>(model: &Model<F>, states: &[WorldOf<F>], actions: &[Action]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (at, (state, action)) in states.iter().zip(actions).enumerate() {
        let mut tale = Tale::told();
        let _ = model.apply(state, *action, &mut tale);
        steps.extend(tale.into_lines().into_iter().map(|line| Step { step: at + 1, line }));
    }
    steps
}
