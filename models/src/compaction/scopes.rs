//! The scopes by name.

use super::scope::{Faults, Goal, Operation, Prefix, Scope, Tier, Upload, Witness};

/// A scope to start from: two early blocks, two partitions, two compactors, one cleaner, no fault.
pub fn base(name: &'static str, question: &'static str) -> Scope {
    Scope {
        name,
        question,
        early: vec![Upload::whole('X', 2, 2), Upload::whole('Y', 2, 2)],
        late: Vec::new(),
        prefix: Prefix::Nothing,
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
        goal: Some(Goal::AllDone),
        witnesses: &[Witness::ParentMarked],
        tier: Tier::Ci,
    }
}

/// A late block. With the two results of the early ones it makes a plan of two partitions.
const LATE: Upload = Upload::whole('N', 2, 2);

/// All scopes.
pub fn all() -> Vec<Scope> {
    vec![
        Scope { picks: 2, ..base("early", "Two compactors, one cleaner, no late block.") },
        Scope { late: vec![LATE], max_plans: 2, ..base("late-block", "") },
        Scope { late: vec![LATE], prefix: Prefix::PlanDone, ..base("superseded", "") },
        Scope {
            late: vec![LATE],
            prefix: Prefix::PlanDone,
            faults: Faults { budget: 1, pause: true, ..Faults::NONE },
            ..base("superseded-paused", "")
        },
        Scope { cleaners: 2, prefix: Prefix::PlanWritten, ..base("two-cleaners", "") },
        Scope { compactors: 3, ..base("three", "") },
        Scope { concurrency: 2, compactors: 1, ..base("parallel-1", "") },
        Scope { concurrency: 2, compactors: 2, ..base("parallel-2", "") },
        Scope { faults: Faults { budget: 1, crash: true, ..Faults::NONE }, ..base("crash", "") },
        Scope { faults: Faults { budget: 1, write_fails: true, reply_lost: true, ..Faults::NONE }, ..base("lost", "") },
        Scope { faults: Faults { budget: 1, write_late: true, ..Faults::NONE }, ..base("late-write", "") },
        Scope { faults: Faults { budget: 1, pause: true, ..Faults::NONE }, ..base("pause", "") },
        Scope { faults: Faults { budget: 1, read_fails: true, ..Faults::NONE }, ..base("read-error", "") },
        Scope { faults: Faults { budget: 1, clock_behind: true, ..Faults::NONE }, ..base("clock", "") },
        Scope { late: vec![LATE], prefix: Prefix::PlanDone, split_above_bytes: 100, ..base("superseded-1p", "") },
        Scope { late: vec![LATE], prefix: Prefix::PlanDone, compactors: 1, ..base("superseded-1c", "") },
        Scope { late: vec![LATE], split_above_bytes: 100, ..base("late-1p", "") },
        Scope { late: vec![LATE], prefix: Prefix::PlanDone, beats: false, split_above_bytes: 4, ..base("superseded-21", "") },
        Scope { split_above_bytes: 100, faults: Faults::any(1), ..base("any-1p", "") },
        Scope { compactors: 1, faults: Faults::any(1), ..base("any-1c", "") },
        Scope { compactors: 1, cleaners: 2, faults: Faults::any(1), prefix: Prefix::PlanWritten, ..base("any-1c2", "") },
        Scope { compactors: 3, split_above_bytes: 100, ..base("three-1p", "") },
        Scope { compactors: 3, split_above_bytes: 100, beats: false, ..base("three-1pnb", "") },
        Scope { operator: vec![Operation::SetNoCompact('X')], ..base("nc-set", "") },
        Scope { operator: vec![Operation::SetNoCompact('X'), Operation::UnsetNoCompact('X')], ..base("nc-both", "") },
        Scope { early: vec![Upload { classes: 1, ..Upload::whole('X', 2, 2)}, Upload { classes: 1, ..Upload::whole('Y', 2, 2)} ], late: vec![LATE], prefix: Prefix::PlanDone, ..base("thin", "") },
        Scope { early: vec![Upload { classes: 1, part: Some((0,2)), ..Upload::whole('X', 2, 2)}, Upload { classes: 1, part: Some((0,2)), ..Upload::whole('Y', 2, 2)} ], late: vec![LATE], prefix: Prefix::PlanDone, ..base("empty", "") },
    ]
}
