//! How a path or a replay ends, spelled out on the data.

use surehold::rebalance::invariant::Property;
use surehold::rebalance::object::{SegmentId, ServerId};

use super::fleet::Fleet;
use super::model::{Model, WorldOf};
use super::scenario::Outcome;
use super::scope::{Scope, name_of};
use super::tale::name;
use super::world::Broken;
use crate::missed::Missed;

/// The end of a path: what is broken, or that the goal is out of reach; and who serves.
pub fn of<F: Fleet>(model: &Model<F>, world: &WorldOf<F>, missed: Missed) -> String {
    let left: Vec<_> = model.scope.segment_ids().map(|id| serving(model, world, id)).collect();
    let left = left.join("; ");
    match &world.broken {
        Some(broken) => {
            let through = world.watch.through.map_or_else(String::new, |window| {
                format!(" (window {}: {})", window.number(), window.says())
            });
            format!("{}{through}; {left}", breach(&model.scope, *broken))
        }
        None => format!(
            "{}: as many copies as are required, where they are to be, and nothing on its way ({left})",
            missed.says()
        ),
    }
}

fn serving<F: Fleet>(model: &Model<F>, world: &WorldOf<F>, segment: SegmentId) -> String {
    let serves = |at: &ServerId| world.servers[usize::from(at.0)].is_serving(segment);
    let names: Vec<_> = model.scope.ids().filter(serves).map(|at| name_of(at.0)).collect();
    let segment = name(&model.scope, segment);
    match names.as_slice() {
        [] => format!("nobody serves {segment}"),
        names => {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            format!("{segment} is served by {}", names.join(" and "))
        }
    }
}

/// What is broken, on the data.
pub fn breach(scope: &Scope, broken: Broken) -> String {
    let segment = |id| name(scope, id);
    let server = |at: ServerId| name_of(at.0);
    match broken {
        Broken::LastDropped(id, at) => {
            format!("the drop on {} took the last copy of {}", server(at), segment(id))
        }
        Broken::TooFew { segment: id, server: at, left, served, required } => format!(
            "the drop on {} left {left} of {} with {required} required; there were {served} when it was decided",
            server(at),
            segment(id)
        ),
        Broken::PingPong(id, at) => {
            format!(
                "{} is moved to {} once more, though nothing has changed",
                segment(id),
                server(at)
            )
        }
        Broken::Unjustified(id, at) => format!(
            "{} is to be dropped on {} though every other copy of it is gone or going",
            segment(id),
            server(at)
        ),
        Broken::TwoActions(id, at) => {
            format!("{} is asked for two things of {} at once", server(at), segment(id))
        }
        Broken::Overfilled(at) => format!("a load is decided on {}, which is full", server(at)),
        Broken::OldTerm(id, at) => format!(
            "{} heeds a request for {} of a term that it knows to be over",
            server(at),
            segment(id)
        ),
        Broken::Ghost(id, at) => {
            format!("{} announces {} and does not have its files", server(at), segment(id))
        }
        Broken::Early(id, at) => format!(
            "the files of {} are deleted on {} before the delay of its last drop is over",
            segment(id),
            server(at)
        ),
        Broken::NeedlessLoad(id, at) => format!(
            "{} is to be loaded on {} though as many copies as are required serve and stay",
            segment(id),
            server(at)
        ),
    }
}

/// How a replay ends, line by line: whether it is bad, and what it is.
pub fn told(outcome: &Outcome) -> Vec<(bool, String)> {
    let mut lines = Vec::new();
    for step in outcome.unserved.iter().flatten() {
        lines.push((true, format!("from step {step} on a segment is served by nobody")));
    }
    match outcome.serving.as_deref().unwrap_or_default() {
        [] => lines.push((true, "at the end: served by nobody".into())),
        serving => lines.push((false, format!("at the end: served by {}", serving.join(", ")))),
    }
    for broken in outcome.broken.iter().flatten() {
        let property = Property::ALL.into_iter().find(|property| property.name() == broken);
        let says = property.map_or("", Property::says);
        lines.push((true, format!("broken: {broken}: {says}")));
    }
    for (step, counts) in outcome.counts.iter().flatten() {
        let counts: Vec<_> = counts.iter().map(|(name, n)| format!("{name}={n}")).collect();
        lines.push((false, format!("counted at step {step}: {}", counts.join(" "))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rebalance::scopes;

    #[test]
    fn a_breach_is_spelled_out_on_the_data() {
        let scope = &scopes::all()[0];
        let (id, at) = (SegmentId(1), ServerId(1));
        let last = breach(scope, Broken::LastDropped(id, at));
        assert_eq!(last, "the drop on B took the last copy of S");
        let broken = Broken::TooFew { segment: id, server: at, left: 1, served: 2, required: 2 };
        assert_eq!(
            breach(scope, broken),
            "the drop on B left 1 of S with 2 required; there were 2 when it was decided"
        );
    }
}
