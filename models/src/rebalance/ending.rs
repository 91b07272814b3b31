//! How a path ends, spelled out on the data.

use super::fleet::Fleet;
use super::model::{Model, WorldOf};
use super::scope::{Scope, name_of};
use super::world::Broken;

/// What was broken, or who serves what at the end.
pub fn of<F: Fleet>(model: &Model<F>, world: &WorldOf<F>) -> String {
    let broken = world.broken.map(|broken| told(&model.scope, broken));
    let through = world
        .watch
        .suspect
        .map(|window| format!(" (window {}: {})", window.number(), window.says()));
    let serving = serving(model, world);
    match broken {
        Some(broken) => format!("{broken}{}; {serving}", through.unwrap_or_default()),
        None => serving,
    }
}

/// Who serves which segment.
pub fn serving<F: Fleet>(model: &Model<F>, world: &WorldOf<F>) -> String {
    let mut parts = Vec::new();
    for segment in model.scope.segment_ids() {
        let serving =
            model.scope.ids().filter(|at| world.servers[usize::from(at.0)].is_serving(segment));
        let names: Vec<_> = serving.map(|at| name_of(at.0).to_string()).collect();
        let name = super::tale::name(&model.scope, segment);
        parts.push(match names.as_slice() {
            [] => format!("{name} is served by nobody"),
            names => format!("{name} is served by {}", names.join(", ")),
        });
    }
    parts.join("; ")
}

fn told(scope: &Scope, broken: Broken) -> String {
    let name = |segment| super::tale::name(scope, segment);
    match broken {
        Broken::LastDropped(segment, server) => {
            format!("the last copy of {} was dropped, from {}", name(segment), name_of(server.0))
        }
        Broken::TooFew { segment, server, left, served, required } => format!(
            "the drop of {} from {} left {left}; {served} were there when it was decided, {required} are required",
            name(segment),
            name_of(server.0)
        ),
        Broken::Unjustified(segment, server) => format!(
            "the drop of {} from {} was decided though no other copy is sure to stay",
            name(segment),
            name_of(server.0)
        ),
        Broken::TwoActions(segment, server) => {
            format!("{} is asked to load and to drop {} at once", name_of(server.0), name(segment))
        }
        Broken::Ghost(segment, server) => {
            format!("{} announces {} and has no files of it", name_of(server.0), name(segment))
        }
        Broken::Early(segment, server) => format!(
            "{} deletes the files of {} before the delay of the last drop is over",
            name_of(server.0),
            name(segment)
        ),
        Broken::NeedlessLoad(segment, server) => format!(
            "{} is to be loaded on {} though enough copies serve and stay, more often than the scope allows",
            name(segment),
            name_of(server.0)
        ),
    }
}
