//! The scopes by name.

use super::scope::{Act, Until, Faults, Goal, Operation, Scope, Tier, Upload, Witness};

/// A scope to start from: two early blocks, two partitions, two compactors, one cleaner, no fault.
pub fn base(name: &'static str, question: &'static str) -> Scope {
    Scope {
        name,
        question,
        early: vec![Upload::whole('X', 2, 2), Upload::whole('Y', 2, 2)],
        late: Vec::new(),
        prefix: &[],
        compactors: 2,
        cleaners: 1,
        concurrency: 1,
        split_above_bytes: 2,
        result_bytes: 1,
        classes: 2,
        max_plans: 3,
        faults: Faults::NONE,
        operator: Vec::new(),
        picks: 1,
        beats: true,
        completed_age: false,
        atomic_plans: false,
        swift_sync: false,
        goal: Some(Goal::AllDone),
        witnesses: &[Witness::ParentMarked],
        tier: Tier::Ci,
    }
}

/// A late block. With the two results of the early ones it makes a plan of two partitions.
const LATE: Upload = Upload::whole('N', 2, 2);

/// The first plan is written, and nobody works on it.
const WRITTEN: &[Act] = &[Act::Run(0, Until::PlanWritten)];
/// The first plan is completed, and nobody has cleaned up.
const DONE: &[Act] = &[Act::Run(0, Until::PlanDone)];
/// A worker of the first plan has passed every check, merged, and stands still; another has taken its
/// partition over and completed the plan.
const TAKEN_OVER: &[Act] = &[
    Act::Run(0, Until::Merged),
    Act::Pause(0),
    Act::Expire,
    Act::Run(1, Until::PlanDone),
];
/// A plan with the late block is stamped and not yet written; another planner knows the early blocks.
const STAMPED: &[Act] =
    &[Act::Run(0, Until::Synced), Act::Upload, Act::Run(1, Until::PlanPending)];

/// All scopes.
pub fn all() -> Vec<Scope> {
    vec![
        Scope { picks: 2, ..base("early", "Two compactors, one cleaner, no late block.") },
        Scope { late: vec![LATE], max_plans: 2, ..base("late-block", "") },
        Scope { late: vec![LATE], prefix: DONE, ..base("superseded", "") },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            faults: Faults { budget: 1, pause: true, ..Faults::NONE },
            ..base("superseded-paused", "")
        },
        Scope { cleaners: 2, prefix: WRITTEN, ..base("two-cleaners", "") },
        Scope { compactors: 3, ..base("three", "") },
        Scope { concurrency: 2, compactors: 1, ..base("parallel-1", "") },
        Scope { concurrency: 2, compactors: 2, ..base("parallel-2", "") },
        Scope { faults: Faults { budget: 1, crash: true, ..Faults::NONE }, ..base("crash", "") },
        Scope { faults: Faults { budget: 1, write_fails: true, reply_lost: true, ..Faults::NONE }, ..base("lost", "") },
        Scope { faults: Faults { budget: 1, write_late: true, ..Faults::NONE }, ..base("late-write", "") },
        Scope { faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("pause", "") },
        Scope { faults: Faults { budget: 1, read_fails: true, ..Faults::NONE }, ..base("read-error", "") },
        Scope { faults: Faults { budget: 1, clock_behind: true, ..Faults::NONE }, ..base("clock", "") },
        Scope { late: vec![LATE], prefix: DONE, split_above_bytes: 100, ..base("superseded-1p", "") },
        Scope { late: vec![LATE], prefix: DONE, compactors: 1, ..base("superseded-1c", "") },
        Scope { late: vec![LATE], split_above_bytes: 100, ..base("late-1p", "") },
        Scope { late: vec![LATE], prefix: DONE, beats: false, split_above_bytes: 4, ..base("superseded-21", "") },
        Scope { split_above_bytes: 100, faults: Faults::any(1), ..base("any-1p", "") },
        Scope { compactors: 1, faults: Faults::any(1), ..base("any-1c", "") },
        Scope { compactors: 1, cleaners: 2, faults: Faults::any(1), prefix: WRITTEN, ..base("any-1c2", "") },
        Scope { compactors: 3, split_above_bytes: 100, ..base("three-1p", "") },
        Scope { compactors: 3, split_above_bytes: 100, beats: false, ..base("three-1pnb", "") },
        Scope { late: vec![LATE], prefix: TAKEN_OVER, swift_sync: true, beats: false, atomic_plans: true, faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("u-taken", "") },
        Scope { late: vec![LATE], prefix: STAMPED, swift_sync: true, beats: false, ..base("u-stamped", "") },
        Scope { late: vec![LATE], prefix: DONE, swift_sync: true, ..base("u-superseded", "") },
        Scope { late: vec![LATE], prefix: DONE, swift_sync: true, beats: false, atomic_plans: true, ..base("u-superseded-a", "") },
        Scope { late: vec![LATE], prefix: DONE, swift_sync: true, beats: false, atomic_plans: true, faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("u-superseded-ap", "") },
        Scope { late: vec![LATE], swift_sync: true, beats: false, ..base("u-late", "") },
        Scope { split_above_bytes: 100, picks: 1, ..base("early-1p", "") },
        Scope { split_above_bytes: 100, completed_age: true, ..base("early-1pa", "") },
        Scope { split_above_bytes: 100, faults: Faults { budget: 1, crash: true, ..Faults::NONE }, ..base("crash-1p", "") },
        Scope { split_above_bytes: 100, faults: Faults { budget: 1, write_late: true, ..Faults::NONE }, ..base("late-write-1p", "") },
        Scope { split_above_bytes: 100, faults: Faults { budget: 1, write_fails: true, reply_lost: true, ..Faults::NONE }, ..base("lost-1p", "") },
        Scope { split_above_bytes: 100, faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("pause-1p", "") },
        Scope { split_above_bytes: 100, faults: Faults { budget: 1, read_fails: true, ..Faults::NONE }, ..base("read-1p", "") },
        Scope { cleaners: 2, split_above_bytes: 100, prefix: &[Act::Run(0, Until::Merged), Act::Pause(0), Act::Expire, Act::Run(1, Until::Merged)], faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("twins-1p", "") },
        Scope { cleaners: 2, split_above_bytes: 100, ..base("two-cleaners-1p", "") },
        Scope { operator: vec![Operation::SetNoCompact('X'), Operation::UnsetNoCompact('X')], compactors: 1, ..base("nc-both-1c", "") },
        Scope { operator: vec![Operation::SetNoCompact('X')], compactors: 1, ..base("nc-set-1c", "") },
        Scope { late: vec![LATE], prefix: DONE, beats: false, max_plans: 2, ..base("sup-a", "") },
        Scope { late: vec![LATE], prefix: TAKEN_OVER, split_above_bytes: 100, faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("sup-b", "") },
        Scope { late: vec![LATE], prefix: TAKEN_OVER, split_above_bytes: 4, faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("sup-c", "") },
        Scope { late: vec![LATE], prefix: STAMPED, split_above_bytes: 100, ..base("stamped", "") },
        Scope { late: vec![LATE], prefix: STAMPED, beats: false, max_plans: 2, ..base("stamped2", "") },
        Scope { early: vec![Upload { classes: 1, ..Upload::whole('X', 2, 2)}, Upload { classes: 1, ..Upload::whole('Y', 2, 2)} ], late: vec![LATE], prefix: DONE, beats: false, max_plans: 2, ..base("thin2", "") },
        Scope { operator: vec![Operation::SetNoCompact('X')], ..base("nc-set", "") },
        Scope { operator: vec![Operation::SetNoCompact('X'), Operation::UnsetNoCompact('X')], ..base("nc-both", "") },
        Scope { early: vec![Upload { classes: 1, ..Upload::whole('X', 2, 2)}, Upload { classes: 1, ..Upload::whole('Y', 2, 2)} ], late: vec![LATE], prefix: DONE, ..base("thin", "") },
        Scope { early: vec![Upload { classes: 1, part: Some((0,2)), ..Upload::whole('X', 2, 2)}, Upload { classes: 1, part: Some((0,2)), ..Upload::whole('Y', 2, 2)} ], late: vec![LATE], prefix: DONE, ..base("empty", "") },
    ]
}
