//! Runs of commit.

use std::sync::Arc;

use surehold::commit::invariant::Property;
use surehold::commit::upstream::{Minion, Release};
use surehold::commit::{Controller, Guard, Server};
use surehold::guard::{Guards, Weakened};

use super::coverage::Coverage;
use super::ending;
use super::goal::is_lost_in_error;
use super::model::{Action, Model};
use super::scope::{Goal, Scope};
use super::tale::Tale;
use super::world::World;
use super::{reach, scopes, verdicts};
use crate::explore;
use crate::missed::Missed;
use crate::runs::{self, Card, Engine, Finished, Manner, Protocol, Step};

/// The protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit;

/// Whose protocol is run.
pub type Variant = runs::Variant<Commit>;
/// The verdict that is documented.
pub type Expected = runs::Expected<Commit>;
/// One run.
pub type Run = runs::Run<Commit>;

impl Protocol for Commit {
    type Guard = Guard;
    type Property = Property;
    type Release = Release;
    type Scope = Scope;

    const NAME: &'static str = "commit";
    const SAYS: &'static str =
        "What was consumed from a stream becomes a segment, without a pause and without a loss.";

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

    fn releases() -> Vec<Release> {
        Release::ALL.to_vec()
    }

    fn release_name(release: Release) -> &'static str {
        release.name()
    }

    fn release_says(release: Release) -> &'static str {
        match release {
            Release::Blocking => "With blocking commits only, as before #14741; our reading of it.",
            Release::Pr14741 => {
                "With pauseless consumption of #14741, without disaster recovery; our reading of it."
            }
            Release::Pr14920 => "With reingestion of #14920; our reading of it.",
            Release::Aug2026 => "Pinot master of August 2026.",
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
        Property::Served
    }

    fn execute(run: &Run, manner: &Manner) -> Finished {
        let (controllers, servers) = (run.scope.controller_limits(), run.scope.server_limits());
        match &run.variant {
            Variant::Verified => {
                explore_roles(Controller::new(controllers), Server::new(servers), run, manner)
            }
            Variant::Without(guards) => {
                let kept = Weakened::without(guards.iter().copied());
                let controller = Controller::weakened(controllers, kept.clone());
                explore_roles(controller, Server::weakened(servers, kept), run, manner)
            }
            Variant::Upstream(release) => {
                let controller = release.controller().within(controllers);
                explore_roles(controller, release.server_within(servers), run, manner)
            }
        }
    }
}

/// The model of a run.
pub fn model<V: Guards<Guard>>(
    controller: Controller<V>,
    server: Server<V>,
    run: &Run,
    manner: &Manner,
) -> Model<V> {
    let mut model = Model::new(controller, server, &run.scope);
    model.judged.clone_from(&run.judged);
    model.minion = minion_of(&run.variant);
    if run.alike {
        model.take_images();
    }
    model.reduce = manner.reduce;
    model.coverage = manner.coverage.then(|| Arc::new(Coverage::default()));
    model
}

/// The minions that a variant has beside it.
fn minion_of(variant: &Variant) -> Minion {
    match variant {
        Variant::Upstream(release) => release.minion(),
        Variant::Verified | Variant::Without(_) => Minion::Any,
    }
}

fn explore_roles<V: Guards<Guard>>(
    controller: Controller<V>,
    server: Server<V>,
    run: &Run,
    manner: &Manner,
) -> Finished {
    let model = model(controller, server, run, manner);
    match manner.engine {
        Engine::Own => {
            let mut options = manner.options.clone();
            options.rounds |= model.judges(Property::NoEndlessRound);
            let report = explore::explore(&model, &options);
            let mut finished = runs::summary(run, manner, &report);
            finished.coverage = model.coverage.as_ref().map(|c| c.table()).unwrap_or_default();
            let is_lost = finished.property.as_deref() == Some(explore::RECOVERABLE)
                && model.judges(Property::Served);
            if let Some(shown) = &report.counterexample {
                let missed = Missed::by(shown.round_from);
                let (mut states, mut actions) = (shown.states.clone(), shown.actions.clone());
                if is_lost {
                    to_error(&model, &mut states, &mut actions);
                }
                finished.counterexample = Some(story(&model, &states, &actions));
                finished.ending = states.last().map(|last| ending::of(&model, last, missed));
            }
            if is_lost {
                finished.property = Some(Property::Served.name().into());
            }
            finished
        }
        Engine::Stateright => runs::opinion(run, manner, &model),
    }
}

/// Rows are lost for good some time before anybody sees it. The path goes on, without another fault, to where a range is
/// in error on each of its replicas, if that is where it ends.
fn to_error<V: Guards<Guard>>(
    model: &Model<V>,
    states: &mut Vec<World>,
    actions: &mut Vec<Action>,
) {
    let Some(last) = states.last() else { return };
    let is_seen = |world: &World| {
        world.store.records.iter().any(|(id, stored)| is_lost_in_error(world, *id, stored))
    };
    for action in reach::nearest(model, last, is_seen).unwrap_or_default() {
        let next = states.last().and_then(|last| model.apply(last, action, &mut Tale::untold()));
        let Some(next) = next else { return };
        states.push(next);
        actions.push(action);
    }
}

/// Tells a path, with what has happened before the scope begins.
pub fn story<V: Guards<Guard>>(
    model: &Model<V>,
    states: &[World],
    actions: &[Action],
) -> Vec<Step> {
    let before = model.beginning().lines.into_iter().map(|line| Step { step: 0, line });
    let mut steps: Vec<_> = before.collect();
    for (at, (state, action)) in states.iter().zip(actions).enumerate() {
        let mut tale = Tale::told();
        let _ = model.apply(state, *action, &mut tale);
        steps.extend(tale.into_lines().into_iter().map(|line| Step { step: at + 1, line }));
    }
    steps
}
