//! `getPartitionedGroupStatus` (dossier 6): what the markers say, and whether the parents still allow it.

use super::super::effect::Effect;
use super::super::event::{Input, Outcome};
use super::super::marker::{Marker, Status as Visit};
use super::super::object::{BlockId, Body, Key, PlanKey};
use super::super::plan::Plan;
use super::Release;

/// The status of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Status {
    /// Every partition's marker says completed.
    pub completed: bool,
    /// Completed, or unfinishable.
    pub can_delete: bool,
    /// Partitions whose marker is older than the plan.
    pub stale: Vec<u32>,
}

/// Half a status: which question is being asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Inquiry {
    /// Reading the marker of the partition.
    Marker {
        /// Which.
        partition: u32,
        /// What is known so far.
        tally: Tally,
    },
    /// Asking of each unfinished partition's parents whether it is gone, marked, or not to be compacted.
    Parents {
        /// The question asked and those after it.
        questions: Vec<Key>,
        /// Stale markers found.
        stale: Vec<u32>,
    },
}

/// What the markers read so far say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tally {
    unfinished: Vec<u32>,
    in_progress: bool,
    all_completed: bool,
    stale: Vec<u32>,
}

/// The next question, or the answer.
pub(super) enum Progress {
    Ask(Inquiry, Effect),
    Done(Status),
}

/// How to judge.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) release: Release,
    pub(super) timeout_ms: u64,
    /// The cleaner asks after the parents; the grouper has no use for the answer.
    pub(super) parents: bool,
}

pub(super) fn begin(key: PlanKey, plan: &Plan, rules: Rules) -> Progress {
    let tally = Tally { all_completed: true, ..Tally::default() };
    ask_marker(key, plan, 0, tally, rules)
}

fn ask_marker(key: PlanKey, plan: &Plan, partition: u32, tally: Tally, rules: Rules) -> Progress {
    if partition < plan.count() {
        let get = Effect::Get(Key::Marker(key, partition));
        return Progress::Ask(Inquiry::Marker { partition, tally }, get);
    }
    if tally.in_progress {
        return Progress::Done(Status { stale: tally.stale, ..Status::default() });
    }
    if tally.all_completed {
        return Progress::Done(Status { completed: true, can_delete: true, stale: tally.stale });
    }
    let questions = if rules.parents { questions(plan, &tally.unfinished) } else { Vec::new() };
    ask_parent(questions, tally.stale)
}

fn questions(plan: &Plan, partitions: &[u32]) -> Vec<Key> {
    let mut parents: Vec<BlockId> =
        partitions.iter().flat_map(|p| plan.members(*p)).copied().collect();
    parents.sort_unstable();
    parents.dedup();
    let of = |id| [Key::Meta(id), Key::DeletionMark(id), Key::NoCompactMark(id)];
    parents.into_iter().flat_map(of).collect()
}

fn ask_parent(questions: Vec<Key>, stale: Vec<u32>) -> Progress {
    match questions.first() {
        Some(&key) => Progress::Ask(Inquiry::Parents { questions, stale }, Effect::Exists(key)),
        None => Progress::Done(Status { stale, ..Status::default() }),
    }
}

impl Inquiry {
    pub(super) fn go_on(
        self,
        key: PlanKey,
        plan: &Plan,
        rules: Rules,
        outcome: &Outcome,
        input: Input,
    ) -> Progress {
        match self {
            Self::Marker { partition, mut tally } => {
                match outcome {
                    Outcome::Found(Body::Marker(marker)) => {
                        tally.count(partition, marker, plan, rules, input);
                    }
                    Outcome::Absent => tally.count_unfinished(partition),
                    // A read error: nothing is completed, nothing deletable.
                    _ => {
                        return Progress::Done(Status { stale: tally.stale, ..Status::default() });
                    }
                }
                ask_marker(key, plan, partition + 1, tally, rules)
            }
            Self::Parents { mut questions, stale } => {
                let key = questions.remove(0);
                // Errors count as: it exists, it is not marked, it may be compacted.
                let stops = match key {
                    Key::Meta(_) => *outcome == Outcome::Absent,
                    _ => *outcome == Outcome::Exists,
                };
                if stops {
                    return Progress::Done(Status { completed: false, can_delete: true, stale });
                }
                ask_parent(questions, stale)
            }
        }
    }
}

impl Tally {
    /// The first test that fits wins (dossier 6).
    fn count(&mut self, partition: u32, marker: &Marker, plan: &Plan, rules: Rules, input: Input) {
        let live = !marker.is_expired(input.now_ms, rules.timeout_ms);
        if is_stale(marker, plan, rules.release) {
            self.stale.push(partition);
            self.all_completed = false;
            return;
        }
        match marker.status {
            Visit::Pending | Visit::InProgress if live => {
                self.in_progress = true;
                self.all_completed = false;
            }
            Visit::Pending | Visit::InProgress | Visit::Failed => self.count_unfinished(partition),
            Visit::Completed(_) => {}
        }
    }

    fn count_unfinished(&mut self, partition: u32) {
        self.unfinished.push(partition);
        self.all_completed = false;
    }
}

/// Older than the plan. A strict comparison of seconds of two clocks, and an unknown creation second
/// passes (holes D1, D2, D3).
fn is_stale(marker: &Marker, plan: &Plan, release: Release) -> bool {
    let visited_s = marker.visited_ms / 1000;
    let dated_older = marker.plan_created_s.is_some_and(|created_s| created_s < plan.created_s);
    visited_s < plan.created_s || (release.dates_markers() && dated_older)
}
