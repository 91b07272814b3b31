//! The scopes by name.

use super::scope::{Act, Faults, Goal, Operation, Scope, Tier, Until, Upload, Witness};

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
        ripens: false,
        cleaner_marker: false,
        goal: Some(Goal::AllDone),
        witnesses: &[Witness::ParentMarked],
        tier: Tier::Ci,
    }
}

/// A late block. With the two results of the early ones it makes a plan of two partitions.
const LATE: Upload = Upload::whole('N', 2, 2);

/// Above any total: a plan has one partition.
const ONE_PARTITION: u64 = 1000;

/// The first plan is written, and nobody works on it.
const WRITTEN: &[Act] = &[Act::Run(0, Until::PlanWritten)];
/// The first plan is completed, and nobody has cleaned up.
const DONE: &[Act] = &[Act::Run(0, Until::PlanDone)];
/// A worker of the first plan has passed every check, merged, and stands still; another has taken its
/// partition over and completed the plan.
const TAKEN_OVER: &[Act] =
    &[Act::Run(0, Until::Merged), Act::Pause(0), Act::Expire, Act::Run(1, Until::PlanDone)];
/// Two workers have uploaded a result of the same partition: the first stood still, and its claim expired.
const TWINS: &[Act] = &[
    Act::Run(0, Until::Merged),
    Act::Pause(0),
    Act::Expire,
    Act::Run(1, Until::Uploaded),
    Act::Run(0, Until::Uploaded),
];
/// A plan with the late block is stamped and not yet written; another planner knows the early blocks.
const STAMPED: &[Act] = &[Act::Run(0, Until::Synced), Act::Upload, Act::Run(1, Until::PlanPending)];
/// A worker holds the first plan and is about to look for a free partition; the plan has been completed since.
const HELD: &[Act] =
    &[Act::Run(0, Until::PlanWritten), Act::Run(1, Until::Picked), Act::Run(0, Until::PlanDone)];
/// A worker of the first plan has passed every check, merged, and stands still; the plan has been completed
/// and cleaned up without it, and a late block has come.
const LEFT_BEHIND: &[Act] = &[
    Act::Run(0, Until::Merged),
    Act::Pause(0),
    Act::Expire,
    Act::Run(1, Until::PlanDone),
    Act::Run(2, Until::Gone),
    Act::Upload,
];
/// A cleaner is about to delete the first plan; another has cleaned up meanwhile, and a late block has come.
const STALE_CLEANER: &[Act] = &[
    Act::Run(0, Until::PlanDone),
    Act::Run(2, Until::Deleting),
    Act::Run(3, Until::Gone),
    Act::Upload,
];
/// A planner knows the early blocks; the first plan has been written and completed since.
const OLD_LISTING: &[Act] = &[Act::Run(1, Until::Synced), Act::Run(0, Until::PlanDone)];
/// A planner knows the early blocks, another the late one as well.
const TWO_LISTINGS: &[Act] = &[Act::Run(0, Until::Synced), Act::Upload, Act::Run(1, Until::Synced)];
/// The same, and the planner of the former stands still.
const STAMPED_PAUSED: &[Act] =
    &[Act::Run(0, Until::Synced), Act::Upload, Act::Run(1, Until::PlanPending), Act::Pause(1)];

/// A planner has stamped a plan of the early blocks and stands still; another has made one meanwhile and
/// completed it, and the blocks are deleted.
const DELETED_UNDER_PLAN: &[Act] = &[
    Act::Run(0, Until::PlanPending),
    Act::Pause(0),
    Act::Run(1, Until::PlanDone),
    Act::Run(2, Until::Gone),
    Act::Ripen,
    Act::Run(2, Until::Removed),
];
/// The first plan is completed, its blocks are marked, and the plan is gone.
const CLEANED: &[Act] = &[Act::Run(0, Until::PlanDone), Act::Run(1, Until::Gone)];
/// A cleaner is about to write the first mark of the plan's parents.
const TWO_MARKED: &[Act] = &[Act::Run(0, Until::PlanDone), Act::Run(1, Until::Marking)];

/// One fault of one kind.
const PAUSE: Faults = Faults { budget: 1, pause: true, ..Faults::NONE };
const CRASH: Faults = Faults { budget: 1, crash: true, ..Faults::NONE };
const LOST: Faults = Faults { budget: 1, write_fails: true, reply_lost: true, ..Faults::NONE };
const LATE_WRITE: Faults = Faults { budget: 1, write_late: true, ..Faults::NONE };
const READ: Faults = Faults { budget: 1, read_fails: true, ..Faults::NONE };
const CLOCK: Faults = Faults { budget: 1, clock_behind: true, same_second: true, ..Faults::NONE };

/// Blocks of a smaller range's first half of hashes: with two partitions, the second is empty.
fn halves() -> Vec<Upload> {
    let half = |name| Upload { name, classes: 1, index_bytes: 2, part: Some((0, 2)) };
    vec![half('X'), half('Y')]
}

/// Blocks that could hold any hash and hold none of the second half.
fn thin() -> Vec<Upload> {
    let thin = |name| Upload { name, classes: 1, index_bytes: 2, part: None };
    vec![thin('X'), thin('Y')]
}

/// All scopes.
pub fn all() -> Vec<Scope> {
    let mut all = ours();
    all.extend(theirs());
    all
}

/// Scopes of the verified protocol.
fn ours() -> Vec<Scope> {
    use Operation::{SetNoCompact, UnsetNoCompact};
    vec![
        Scope {
            picks: 2,
            ..base(
                "early",
                "Two compactors plan and work at once, and no block comes late: is anything done twice?",
            )
        },
        Scope {
            split_above_bytes: ONE_PARTITION,
            completed_age: true,
            ..base("one-partition", "Two workers want one partition, and markers grow old.")
        },
        Scope {
            late: vec![LATE],
            split_above_bytes: ONE_PARTITION,
            max_plans: 4,
            witnesses: &[
                Witness::ParentMarked,
                Witness::SecondPlanDone,
                Witness::SupersededWhilePicked,
            ],
            ..base("late-block", "A late block makes a second plan at any moment.")
        },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            beats: false,
            witnesses: &[Witness::SecondPlanDone, Witness::SupersededWhilePicked],
            ..base(
                "superseded",
                "A plan is cleaned up and superseded while a worker still has it in hand (#7075).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: TAKEN_OVER,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: PAUSE,
            witnesses: &[
                Witness::SecondPlanDone,
                Witness::SupersededWhilePaused,
                Witness::TwinResults,
            ],
            ..base(
                "superseded-paused",
                "A worker that has passed every check stands still while its plan is superseded (#7205).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            split_above_bytes: 4,
            witnesses: &[Witness::SecondPlanDone],
            ..base("two-then-one", "The second plan has one partition, the first had two.")
        },
        Scope {
            late: vec![LATE],
            prefix: STAMPED_PAUSED,
            split_above_bytes: 3,
            max_plans: 2,
            beats: false,
            faults: PAUSE,
            ..base(
                "stamped-early",
                "A plan that is stamped before another is written is written after it (D13).",
            )
        },
        Scope {
            cleaners: 2,
            prefix: WRITTEN,
            witnesses: &[Witness::ParentMarked, Witness::TwoCleanersOnePlan],
            ..base("two-cleaners", "Two cleaners clean up one plan.")
        },
        Scope {
            late: vec![LATE],
            cleaners: 2,
            prefix: STALE_CLEANER,
            split_above_bytes: ONE_PARTITION,
            witnesses: &[Witness::SecondPlanDone],
            ..base("stale-cleaner", "A cleaner acts on what it saw before another cleaned up (D4).")
        },
        Scope {
            cleaners: 2,
            prefix: TWINS,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: PAUSE,
            witnesses: &[Witness::TwinResults, Witness::TwoCleanersOnePlan],
            ..base(
                "twins",
                "Two complete results of one partition, and two cleaners who look at different times.",
            )
        },
        Scope {
            compactors: 1,
            concurrency: 2,
            witnesses: &[Witness::ParentMarked, Witness::TwoJobs],
            ..base("parallel-jobs", "One compactor works on two partitions at once.")
        },
        Scope {
            early: halves(),
            late: vec![LATE],
            prefix: DONE,
            beats: false,
            ..base(
                "empty-partition",
                "A partition that lists no block, and does in the next plan (D1).",
            )
        },
        Scope {
            early: thin(),
            late: vec![LATE],
            prefix: DONE,
            beats: false,
            compactors: 1,
            witnesses: &[Witness::ParentMarked, Witness::EmptyCompleted],
            ..base("thin-partition", "A partition that lists blocks and has no sample.")
        },
        Scope {
            early: thin(),
            late: vec![LATE],
            prefix: DONE,
            beats: false,
            witnesses: &[Witness::ParentMarked, Witness::EmptyCompleted],
            ..base(
                "thin-partition-two-workers",
                "The same with two workers, of whom one may stand aside while the plan is superseded.",
            )
        },
        Scope {
            faults: CLOCK,
            ..base("clocks", "Planners' clocks agree too well, or run backwards (D2, D3).")
        },
        Scope {
            compactors: 1,
            faults: CRASH,
            ..base("crash", "A process crashes between any two operations.")
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: LOST,
            witnesses: &[Witness::ParentMarked, Witness::UnknownApplied],
            ..base(
                "lost-reply",
                "A write fails, or takes effect and its reply is lost: a completion, a claim, a mark.",
            )
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: LATE_WRITE,
            beats: false,
            witnesses: &[Witness::ParentMarked, Witness::UnknownLanded],
            ..base("late-write", "A write lands after its writer has given it up (D12).")
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: PAUSE,
            witnesses: &[Witness::ParentMarked, Witness::TakenOverWhileAlive],
            ..base("pause", "A worker stands still, its claim expires, another takes over.")
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: READ,
            ..base("read-error", "A read fails: it is not taken for an absence (D11).")
        },
        Scope {
            compactors: 1,
            faults: Faults::any(1),
            ..base("any-fault", "One fault of any kind, two partitions, one worker.")
        },
        Scope {
            compactors: 1,
            operator: vec![SetNoCompact('X')],
            ..base("no-compact-set", "The operator bars a block at any moment (#6576).")
        },
        Scope {
            compactors: 1,
            operator: vec![SetNoCompact('X'), UnsetNoCompact('X')],
            witnesses: &[Witness::ParentMarked, Witness::NoCompactSetAndRemoved],
            ..base("no-compact-set-removed", "The operator bars a block and thinks better of it.")
        },
        Scope {
            early: halves(),
            late: vec![LATE],
            compactors: 1,
            prefix: DONE,
            beats: false,
            ripens: true,
            goal: Some(Goal::AllGone),
            witnesses: &[Witness::SecondPlanDone, Witness::BlockDeleted, Witness::DeletedInHand],
            ..base(
                "deleted",
                "Marked blocks are deleted for good while somebody still works from an older look.",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: DELETED_UNDER_PLAN,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            ripens: true,
            faults: PAUSE,
            goal: Some(Goal::AllGone),
            witnesses: &[Witness::BlockDeleted, Witness::DeletedInHand],
            ..base(
                "deleted-under-plan",
                "A planner stands still with its plan; meanwhile the blocks are compacted and deleted.",
            )
        },
        Scope {
            prefix: TWO_MARKED,
            cleaners: 2,
            compactors: 1,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            ripens: true,
            goal: Some(Goal::AllGone),
            witnesses: &[Witness::BlockDeleted, Witness::DeletedInHand],
            ..base(
                "deleted-two-cleaners",
                "A cleaner is about to mark what another has marked and deleted meanwhile.",
            )
        },
        Scope {
            prefix: DONE,
            compactors: 1,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            ripens: true,
            faults: Faults::any(1),
            goal: Some(Goal::AllGone),
            witnesses: &[Witness::BlockDeleted],
            ..base(
                "deleted-any-fault",
                "One fault of any kind while blocks are marked and deleted.",
            )
        },
        Scope {
            late: vec![LATE, Upload::whole('O', 2, 3)],
            prefix: DONE,
            split_above_bytes: 4,
            max_plans: 4,
            tier: Tier::Nightly,
            ..base("two-one-two", "Partition counts 2, 1, 2.")
        },
        Scope {
            late: vec![LATE],
            tier: Tier::Deep,
            ..base(
                "late-block-two-partitions",
                "A late block at any moment, two partitions, from the very start.",
            )
        },
        Scope {
            compactors: 3,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            tier: Tier::Nightly,
            ..base("three-compactors", "Three compactors, two of them planning at once.")
        },
        Scope {
            late: vec![LATE],
            cleaners: 2,
            prefix: DONE,
            beats: false,
            tier: Tier::Deep,
            ..base(
                "two-cleaners-late-block-two-partitions",
                "Two cleaners, a late block, two partitions.",
            )
        },
        Scope {
            late: vec![LATE],
            faults: Faults::any(1),
            tier: Tier::Deep,
            ..base("late-block-one-fault", "One late block together with one fault of any kind.")
        },
        Scope {
            late: vec![LATE, Upload::whole('O', 2, 2)],
            max_plans: 5,
            tier: Tier::Deep,
            ..base("two-late-blocks", "Two late blocks.")
        },
        Scope {
            faults: Faults::any(2),
            tier: Tier::Deep,
            ..base("two-faults", "Two faults of any kind.")
        },
    ]
}

/// Scopes that upstream's releases are asked in. Their compactors' syncs are swift, except where said.
fn theirs() -> Vec<Scope> {
    use Operation::{SetNoCompact, UnsetNoCompact};
    let base = |name, question| Scope {
        swift_sync: true,
        beats: false,
        tier: Tier::Upstream,
        witnesses: &[],
        ..base(name, question)
    };
    vec![
        Scope {
            late: vec![LATE],
            prefix: HELD,
            atomic_plans: true,
            ..base(
                "cortex-superseded",
                "A worker has the plan in hand while it is cleaned up and superseded (#7075).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: TAKEN_OVER,
            atomic_plans: true,
            faults: PAUSE,
            ..base(
                "cortex-superseded-paused",
                "A worker that has passed every check stands still while its plan is superseded (#7205).",
            )
        },
        Scope {
            prefix: DONE,
            atomic_plans: true,
            max_plans: 2,
            ..base(
                "cortex-cleaned-up",
                "A completed plan is cleaned up while workers look for work (#7129, #7257).",
            )
        },
        Scope {
            prefix: OLD_LISTING,
            atomic_plans: true,
            max_plans: 2,
            goal: Some(Goal::NoPlan),
            ..base(
                "cortex-old-listing",
                "A planner with an old listing writes its plan after the first is cleaned up (#7157).",
            )
        },
        Scope {
            compactors: 1,
            prefix: DONE,
            faults: CRASH,
            max_plans: 2,
            goal: Some(Goal::NoOrphanMarker),
            ..base(
                "cortex-cleaner-crash",
                "The cleaner crashes between the plan's file and its markers (#7208).",
            )
        },
        Scope {
            early: halves(),
            late: vec![LATE],
            prefix: HELD,
            atomic_plans: true,
            ..base("cortex-empty-partition", "Blind completion of an empty partition (D1).")
        },
        Scope {
            late: vec![LATE],
            prefix: TWO_LISTINGS,
            split_above_bytes: 3,
            max_plans: 2,
            faults: Faults { budget: 1, same_second: true, ..Faults::NONE },
            ..base("cortex-same-second", "Two planners stamp different plans with one second (D2).")
        },
        Scope {
            late: vec![LATE],
            prefix: LEFT_BEHIND,
            atomic_plans: true,
            faults: Faults { budget: 2, pause: true, clock_behind: true, ..Faults::NONE },
            ..base(
                "cortex-clock-behind",
                "A paused worker's completion, and a new plan stamped by a clock that is behind (D3).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            atomic_plans: true,
            cleaners: 2,
            max_plans: 2,
            ..base(
                "cortex-two-cleaners",
                "A cleaner acts on what it saw before another cleaned up (D4).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            split_above_bytes: ONE_PARTITION,
            compactors: 1,
            atomic_plans: true,
            cleaners: 2,
            cleaner_marker: true,
            max_plans: 2,
            ..base(
                "cortex-cleaner-marker",
                "The same, and each cleaner looks for the other's marker before it begins (C0, C1).",
            )
        },
        Scope {
            compactors: 1,
            prefix: CLEANED,
            faults: CRASH,
            max_plans: 2,
            ripens: true,
            goal: Some(Goal::NoOrphanMark),
            ..base(
                "cortex-deletion-crash",
                "The cleaner crashes between any two operations while it deletes a block.",
            )
        },
        Scope {
            compactors: 1,
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            max_plans: 2,
            ripens: true,
            ..base(
                "cortex-partial-block",
                "A result is being uploaded while the cleaner looks for blocks without a meta (C8).",
            )
        },
        Scope {
            early: halves(),
            late: vec![LATE],
            compactors: 1,
            prefix: CLEANED,
            swift_sync: false,
            ripens: true,
            ..base(
                "cortex-deleted",
                "Marked blocks are deleted for good while somebody still works from an older look.",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: STAMPED,
            split_above_bytes: 3,
            max_plans: 2,
            ..base(
                "cortex-stamped-early",
                "A plan is stamped before another is made, and written after it (D13).",
            )
        },
        Scope {
            prefix: WRITTEN,
            compactors: 1,
            operator: vec![SetNoCompact('X')],
            atomic_plans: true,
            max_plans: 2,
            ..base("cortex-no-compact-set", "The operator bars a block at any moment (#6576).")
        },
        Scope {
            prefix: WRITTEN,
            compactors: 1,
            operator: vec![SetNoCompact('X'), UnsetNoCompact('X')],
            atomic_plans: true,
            max_plans: 2,
            ..base(
                "cortex-no-compact-set-removed",
                "The operator bars a block and thinks better of it.",
            )
        },
    ]
}
