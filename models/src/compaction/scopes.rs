//! The scopes by name.

use super::scope::{Faults, Goal, Scope, Tier, Upload, Witness};

/// A scope to start from: two early blocks, two partitions, two compactors, one cleaner, no fault.
pub fn base(name: &'static str, question: &'static str) -> Scope {
    Scope {
        name,
        question,
        early: vec![Upload::whole('X', 2, 2), Upload::whole('Y', 2, 2)],
        late: Vec::new(),
        compactors: 2,
        cleaners: 1,
        concurrency: 1,
        split_above_bytes: 2,
        result_bytes: 0,
        classes: 2,
        max_plans: 2,
        faults: Faults::NONE,
        operator: Vec::new(),
        picks: 2,
        beats: true,
        completed_age: false,
        atomic_plans: false,
        goal: Some(Goal::AllDone),
        witnesses: &[Witness::ParentMarked],
        tier: Tier::Ci,
    }
}

/// A late block that makes a second plan of two partitions.
const LATE: Upload = Upload::whole('N', 2, 4);

/// All scopes.
pub fn all() -> Vec<Scope> {
    vec![
        base("early", "Two compactors and a cleaner, no late block: is the work done once?"),
        Scope { beats: false, ..base("t-nobeat", "") },
        Scope { picks: 1, ..base("t-pick", "") },
        Scope { beats: false, picks: 1, ..base("t-both", "") },
        Scope { beats: false, picks: 1, compactors: 1, ..base("t-one", "") },
        Scope { late: vec![LATE], picks: 1, max_plans: 2, ..base("late-p1v2", "") },
        Scope { late: vec![LATE], picks: 1, max_plans: 2, beats: false, ..base("late-p1v2nb", "") },
        Scope { late: vec![LATE], picks: 1, max_plans: 3, ..base("late-p1v3", "") },
        Scope {
            late: vec![LATE],
            max_plans: 3,
            ..base("late-block", "A late block supersedes a plan at any moment.")
        },
    ]
}
