//! How a path ends, spelled out on the data.

use surehold::compaction::invariant::{DoubleWork, Samples, lost};

use super::fleet::Fleet;
use super::model::{Model, WorldOf};
use super::scope::Scope;
use super::tale::{block_name, plan_name};
use super::world::{Broken, Store};
use crate::missed::Missed;

/// The end of a path: what is broken, or that the goal is out of reach.
pub fn of<F: Fleet>(model: &Model<F>, world: &WorldOf<F>, missed: Missed) -> String {
    let gone = lost(model.uploaded(world), world.store.holdings());
    if !gone.is_empty() {
        return format!(
            "lost: {}; {}",
            samples(&model.scope, gone),
            left(&model.scope, &world.store)
        );
    }
    match &world.broken {
        Some(broken) => breach(&model.scope, broken),
        None => stuck(model, world, missed),
    }
}

fn breach(scope: &Scope, broken: &Broken) -> String {
    let block = |id| block_name(scope, id);
    match *broken {
        Broken::Unproven(id, plan, partition) => format!(
            "{} is marked as a parent of {}, but partition {partition} of {} has no result",
            block(id),
            plan_name(plan),
            plan_name(plan)
        ),
        Broken::PlanDeleted(plan) => {
            format!(
                "{} is deleted while no parent of it carries a mark: it was still live",
                plan_name(plan)
            )
        }
        Broken::PlanOverwritten(old, new) => {
            format!("{} is written over {}, which was still live", plan_name(new), plan_name(old))
        }
        Broken::MarkerDeleted(plan, partition) => {
            format!(
                "the marker of partition {partition} of {} is deleted while that plan is live",
                plan_name(plan)
            )
        }
        Broken::DoubleWork(id, DoubleWork::Overlapping(a, b)) => format!(
            "{} was merged from {} and {}, which hold the same samples: the work had been done before",
            block(id),
            block(a),
            block(b)
        ),
        Broken::DoubleWork(id, DoubleWork::AlreadyIn(other)) => format!(
            "{} holds samples that {} holds already: the work was done twice, and nothing had failed",
            block(id),
            block(other)
        ),
        Broken::NoCompactMarked(id) => {
            format!("{} is marked though it must not be compacted", block(id))
        }
        Broken::NoCompactMerged(id) => {
            format!("{} is merged though it must not be compacted", block(id))
        }
        Broken::MetaBeforeData(id) => {
            format!("the meta of {} is written and its data are not there", block(id))
        }
        Broken::DataBeforeMeta(id) => {
            format!("data of {} are deleted while its meta is still there", block(id))
        }
        Broken::Unripe(id) => {
            format!("{} is deleted, and carries no mark that is old enough", block(id))
        }
    }
}

fn stuck<F: Fleet>(model: &Model<F>, world: &WorldOf<F>, missed: Missed) -> String {
    let goal = model.scope.goal.map(super::scope::Goal::says).unwrap_or("the goal");
    let plans: Vec<_> = world.store.plans.iter().map(|(_, plan)| plan_name(plan.id)).collect();
    let markers: Vec<_> = world
        .store
        .markers
        .iter()
        .map(|((_, p), visit)| format!("partition {p} of {}", plan_name(visit.marker.plan)))
        .collect();
    let list = |what: &[String]| if what.is_empty() { "none".into() } else { what.join(", ") };
    format!(
        "{}: {goal} (plans: {}; markers: {}; {})",
        missed.says(),
        list(&plans),
        list(&markers),
        left(&model.scope, &world.store)
    )
}

/// Samples by upload: of how many of its hash classes they are.
pub fn samples(scope: &Scope, set: Samples) -> String {
    let places = 0..scope.early.len() + scope.late.len();
    let of = |place: usize| {
        let (mine, all) = (set.common(scope.samples(place)), scope.samples(place));
        let name = scope.upload(place).name;
        match (mine.0.count_ones(), all.0.count_ones()) {
            (0, _) => None,
            (some, whole) if some == whole => Some(format!("all of {name}")),
            (some, whole) => {
                let common = gcd(some, whole);
                Some(format!("{}/{} of {name}", some / common, whole / common))
            }
        }
    };
    places.filter_map(of).collect::<Vec<_>>().join(", ")
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What is left, unmarked.
fn left(scope: &Scope, store: &Store) -> String {
    let holds = |block: surehold::compaction::invariant::Holding<'_>| {
        format!("{} ({})", block_name(scope, block.block), samples(scope, block.samples))
    };
    let live: Vec<_> = store.holdings().filter(|block| !block.marked).map(holds).collect();
    format!("left: {}", live.join(", "))
}
