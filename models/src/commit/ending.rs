//! How a path ends, spelled out on the data.

use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::commit::object::{ReplicaState, SegmentId, Status};
use surehold::guard::Guards;

use super::model::Model;
use super::scenario::Outcome;
use super::scope::{Goal, server_name};
use super::tale::name;
use super::world::{Broken, World};
use crate::missed::Missed;

/// The end of a path: what is broken, or that the goal is out of reach; and how the segments stand.
pub fn of<V: Guards<Guard>>(model: &Model<V>, world: &World, missed: Missed) -> String {
    let stands = world.store.records.iter().map(|(id, stored)| {
        let status = match stored.record.status {
            Status::InProgress => "IN_PROGRESS",
            Status::Committing => "COMMITTING",
            Status::Done => "DONE",
            Status::Uploaded => "UPLOADED",
        };
        let listed = world.store.ideal.segments.contains_key(id);
        let in_error = match world.broken {
            None => in_error(world, *id),
            Some(_) => String::new(),
        };
        let listed = if listed { "" } else { " and not listed" };
        format!("{} is {status}{listed}{in_error}", name(*id))
    });
    let stands = stands.collect::<Vec<_>>().join("; ");
    match world.broken {
        Some(broken) => format!("{}; {stands}", breach(broken)),
        None => {
            let goal = if model.judges(Property::Served) { Goal::Served } else { Goal::Settled };
            format!("{}: {} ({stands})", missed.says(), goal.says())
        }
    }
}

/// Who is in error with a segment, as the external view has it.
fn in_error(world: &World, id: SegmentId) -> String {
    let servers = world.store.view.servers(id, ReplicaState::Error);
    let names: Vec<_> = servers.map(|server| server_name(server.0)).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(" and in ERROR on {}", names.join(" and "))
    }
}

/// What is broken, on the data.
#[must_use]
pub fn breach(broken: Broken) -> String {
    match broken {
        Broken::SecondHead(id) => {
            format!("{} is listed beside another of the same place", name(id))
        }
        Broken::Link(id) => format!("{} does not start where the one before it ends", name(id)),
        Broken::Rows(id) => {
            format!("the copy of {} that counts has not the rows of its range", name(id))
        }
        Broken::Served(id, at) => {
            format!("{} serves other rows of {} than its range", server_name(at), name(id))
        }
        Broken::Online(id) => {
            format!(
                "{} is to be online, and its record does not say where it ends, or that it is done",
                name(id)
            )
        }
        Broken::SecondConsumer(id, at) => {
            format!(
                "{} consumes {} beside another segment of its partition",
                server_name(at),
                name(id)
            )
        }
        Broken::Dropped(id, at) => {
            format!("{} let the only whole copy of {} go", server_name(at), name(id))
        }
        Broken::Object(id) => {
            format!("the object of {} is not the one that its record names", name(id))
        }
        Broken::NoRecord(id) => format!("{} is listed and has no record", name(id)),
        Broken::Overwritten(id) => {
            format!("the record of {} was written over after it was completed", name(id))
        }
        Broken::FalseLoss(id) => {
            format!("rows of {} are recorded as lost though somebody has them", name(id))
        }
        Broken::FilledLate(id) => {
            format!("{} was read again after a later segment had begun", name(id))
        }
        Broken::FailedWithAnother(id) => {
            format!("the commit of {} failed because another one written with it did", name(id))
        }
        Broken::Permits(at) => {
            format!("{} has a permit taken for which no build runs", server_name(at))
        }
    }
}

/// How a replay ends, line by line: whether that is bad, `None` being neither.
#[must_use]
pub fn told(outcome: &Outcome) -> Vec<(Option<bool>, String)> {
    let mut lines = Vec::new();
    for (name, stands) in outcome.segments.iter().flatten() {
        lines.push((None, format!("at the end: {name} is {stands}")));
    }
    match (outcome.unserved.as_deref(), outcome.lost.as_deref()) {
        (Some([]), _) => {
            lines.push((Some(false), "every committed row is or will be served".into()));
        }
        (Some(unserved), lost) => {
            let unserved = unserved.join(", ");
            lines.push((Some(true), format!("for ever served by nobody: rows {unserved}")));
            let lost = lost.filter(|lost| !lost.is_empty());
            lines.extend(lost.map(|lost| (Some(true), format!("lost: rows {}", lost.join(", ")))));
        }
        (None, _) => lines.push((Some(true), "what is never served was not found out".into())),
    }
    for twice in outcome.twice.iter().flatten() {
        lines.push((Some(true), format!("served twice: rows {twice}")));
    }
    match outcome.settles {
        Some(true) => lines.push((Some(false), "all comes to rest".into())),
        Some(false) => lines
            .push((Some(true), format!("{}: {}", Missed::OutOfReach.says(), Goal::Settled.says()))),
        None => lines.push((Some(true), "whether it comes to rest was not found out".into())),
    }
    for step in outcome.rounds.iter().flatten() {
        let says =
            "ends where it began, and nothing else waits for its turn: it may be repeated for ever";
        lines.push((Some(true), format!("step {step} {says}")));
    }
    for broken in outcome.broken.iter().flatten() {
        lines.push((Some(true), format!("broken: {broken}")));
    }
    lines
}
