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

/// A late block so small that with the two results of the early ones it makes a plan of one partition, where
/// plans are split above 3 bytes.
const SMALL: Upload = Upload::whole('N', 2, 1);

/// Above any total: a plan has one partition.
const ONE_PARTITION: u64 = 1000;

/// The first plan is written, and nobody works on it.
const ENDLESS: Faults =
    Faults { budget: 1, endless: true, crash: true, reply_lost: true, ..Faults::NONE };
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
/// A worker has picked a partition of the first plan and is about to look at its marker; the plan has been
/// completed and cleaned up since, and a late block has come.
const PICKED: &[Act] = &[
    Act::Run(0, Until::PlanWritten),
    Act::Run(1, Until::Picked),
    Act::Run(0, Until::PlanDone),
    Act::Run(2, Until::Gone),
    Act::Upload,
];
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
/// The same, and the second plan is written by a planner whose clock is behind: it bears an earlier time.
const STAMPED_BEHIND: &[Act] = &[
    Act::Run(0, Until::Merged),
    Act::Pause(0),
    Act::Expire,
    Act::Run(1, Until::PlanDone),
    Act::Run(2, Until::Gone),
    Act::Upload,
    Act::RunBehind(1, Until::PlanWritten),
];
/// A worker has given up the completion of the first partition, though it may still land; it has done the
/// partition again, the plan is cleaned up, and a late block has come.
const LATE_COMPLETION: &[Act] = &[
    Act::Run(0, Until::Uploaded),
    Act::Lose(0),
    Act::Expire,
    Act::Run(0, Until::PlanDone),
    Act::Run(1, Until::Gone),
    Act::Upload,
];
/// A planner has given up the writing of a plan, though it may still land; it has made another.
const LATE_PLAN: &[Act] =
    &[Act::Run(0, Until::PlanPending), Act::Lose(0), Act::Run(0, Until::PlanWritten)];
/// A planner stands still with a stamped plan; another's plan of the same blocks is completed.
const OLD_PLAN: &[Act] =
    &[Act::Run(1, Until::PlanPending), Act::Pause(1), Act::Run(0, Until::PlanDone)];
/// A worker has crashed with a claim that it has not begun to work on; another works on the other partition.
const CLAIM_LEFT: &[Act] =
    &[Act::Run(0, Until::Claimed), Act::Run(1, Until::Merged), Act::Crash(0)];
/// The first plan is completed and cleaned up, and a late block has come.
const SUPERSEDED: &[Act] = &[Act::Run(0, Until::PlanDone), Act::Run(2, Until::Gone), Act::Upload];
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
const STAMPED_PAUSED: &[Act] = &[
    Act::Run(0, Until::Synced),
    Act::Upload,
    Act::Run(1, Until::PlanPending),
    Act::Pause(1),
    Act::Run(0, Until::PlanDone),
];

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
            witnesses: &[Witness::ParentMarked, Witness::RivalPlans, Witness::TwoWorkers],
            ..base(
                "early",
                "Two compactors plan and work at once, and no block comes late: is anything done twice?",
            )
        },
        Scope {
            split_above_bytes: ONE_PARTITION,
            completed_age: true,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CompletedExpired,
                Witness::TakenOverWhileAlive,
            ],
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
            prefix: PICKED,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            witnesses: &[Witness::SecondPlanDone, Witness::SupersededWhilePicked],
            ..base(
                "superseded-picked",
                "A worker looks at a marker of a plan that is cleaned up and about to be superseded (#7075).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: LEFT_BEHIND,
            split_above_bytes: ONE_PARTITION,
            max_plans: 5,
            beats: false,
            faults: PAUSE,
            witnesses: &[
                Witness::SecondPlanDone,
                Witness::SupersededWhilePaused,
                Witness::TwinResults,
                Witness::CompletionOfGonePlan,
            ],
            ..base(
                "superseded-paused",
                "A worker that has passed every check stands still while its plan is superseded (#7205).",
            )
        },
        Scope {
            late: vec![SMALL],
            prefix: DONE,
            split_above_bytes: 3,
            witnesses: &[Witness::SecondPlanDone, Witness::CountChanged],
            ..base("two-then-one", "The second plan has one partition, the first had two.")
        },
        Scope {
            late: vec![LATE],
            prefix: STAMPED_PAUSED,
            split_above_bytes: ONE_PARTITION,
            max_plans: 6,
            beats: false,
            faults: PAUSE,
            witnesses: &[Witness::ParentMarked, Witness::WrittenLate],
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
            witnesses: &[Witness::SecondPlanDone, Witness::StaleCleaner],
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
            witnesses: &[
                Witness::ParentMarked,
                Witness::EmptyProven,
                Witness::SupersededWhilePicked,
            ],
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
            witnesses: &[
                Witness::ParentMarked,
                Witness::EmptyCompleted,
                Witness::SupersededWhilePicked,
            ],
            ..base(
                "thin-partition-two-workers",
                "The same with two workers, of whom one may stand aside while the plan is superseded.",
            )
        },
        Scope {
            faults: CLOCK,
            witnesses: &[Witness::ParentMarked, Witness::ReversedIds],
            ..base("clocks", "Planners' clocks agree too well, or run backwards (D2, D3).")
        },
        Scope {
            compactors: 1,
            faults: CRASH,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CrashedAfterBlock,
                Witness::CrashedWhileCleaning,
            ],
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
            witnesses: &[Witness::ParentMarked, Witness::PlanUnread],
            ..base("read-error", "A read fails: it is not taken for an absence (D11).")
        },
        Scope {
            compactors: 1,
            faults: Faults::any(1),
            witnesses: &[
                Witness::ParentMarked,
                Witness::HalfDoneAfterFault,
                Witness::CrashedAfterBlock,
            ],
            ..base("any-fault", "One fault of any kind, two partitions, one worker.")
        },
        Scope {
            compactors: 1,
            operator: vec![SetNoCompact('X')],
            witnesses: &[Witness::ParentMarked, Witness::BarredUnderPlan],
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
            max_plans: 4,
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
            late: vec![LATE],
            prefix: TWO_LISTINGS,
            split_above_bytes: ONE_PARTITION,
            max_plans: 4,
            beats: false,
            witnesses: &[Witness::SecondPlanDone, Witness::OneSecondTwoListings],
            ..base("two-listings", "Two planners who saw different blocks plan in one second (D2).")
        },
        Scope {
            late: vec![LATE],
            prefix: STAMPED_BEHIND,
            split_above_bytes: ONE_PARTITION,
            max_plans: 5,
            beats: false,
            faults: Faults { budget: 2, clock_behind: true, pause: true, ..Faults::NONE },
            witnesses: &[Witness::SecondPlanDone, Witness::CompletionOfGonePlan],
            ..base(
                "clock-behind",
                "A worker left behind completes under a plan that bears an earlier time than its own (D3).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: LATE_COMPLETION,
            compactors: 1,
            max_plans: 5,
            beats: false,
            faults: LATE_WRITE,
            witnesses: &[Witness::SecondPlanDone, Witness::CompletionOfGonePlan],
            ..base(
                "late-completion",
                "A completion that its writer gave up lands when its plan is superseded (D12).",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: LATE_PLAN,
            compactors: 1,
            max_plans: 5,
            beats: false,
            faults: LATE_WRITE,
            witnesses: &[Witness::SecondPlanDone, Witness::WrittenLate],
            ..base(
                "late-plan",
                "A plan that its writer gave up lands while another is worked on (D12).",
            )
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: Faults { claims_only: true, ..LOST },
            witnesses: &[Witness::ParentMarked, Witness::ClaimGivenUp],
            ..base(
                "claim-lost",
                "A claim fails, or takes effect and its reply is lost: two workers, one partition (D5).",
            )
        },
        Scope {
            max_plans: 4,
            prefix: OLD_PLAN,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: PAUSE,
            witnesses: &[Witness::BornDead],
            ..base(
                "old-listing",
                "A planner who stood still writes its plan after the blocks were compacted (#7157).",
            )
        },
        Scope {
            prefix: CLAIM_LEFT,
            faults: CRASH,
            beats: false,
            witnesses: &[Witness::ParentMarked, Witness::TakenOverAfterCrash],
            ..base(
                "crash-two-workers",
                "Two workers, two partitions: one crashes with a claim in its name, and its work is taken over.",
            )
        },
        Scope {
            prefix: DONE,
            faults: CRASH,
            witnesses: &[Witness::ParentMarked, Witness::CrashedWhileCleaning],
            ..base(
                "crash-at-the-end",
                "Two compactors, two partitions, and a crash between any two operations of the clean-up.",
            )
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: CRASH,
            tier: Tier::Nightly,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CrashedAfterBlock,
                Witness::TakenOverWhileAlive,
            ],
            ..base(
                "crash-two-compactors",
                "A process crashes between any two operations, and another takes over.",
            )
        },
        Scope {
            prefix: WRITTEN,
            split_above_bytes: ONE_PARTITION,
            faults: Faults { budget: 2, ..CRASH },
            tier: Tier::Deep,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CrashedAfterBlock,
                Witness::TakenOverWhileAlive,
            ],
            ..base("two-crashes", "So with two crashes, of one process or of two.")
        },
        Scope {
            prefix: DONE,
            witnesses: &[Witness::ParentMarked, Witness::MarkersLeft],
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: ENDLESS,
            ..base(
                "endless-clean-up",
                "A plan is cleaned up, and processes crash and replies are lost any number of times.",
            )
        },
        Scope {
            prefix: DONE,
            compactors: 1,
            cleaners: 2,
            witnesses: &[Witness::ParentMarked, Witness::TwoCleanersOnePlan],
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: ENDLESS,
            ..base("endless-two-cleaners", "The same with two cleaners.")
        },
        Scope {
            prefix: DONE,
            compactors: 1,
            ripens: true,
            goal: Some(Goal::AllGone),
            witnesses: &[Witness::BlockDeleted],
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: ENDLESS,
            tier: Tier::Nightly,
            ..base("endless-deletion", "The same, and marked blocks are deleted.")
        },
        Scope {
            prefix: WRITTEN,
            compactors: 1,
            witnesses: &[Witness::ParentMarked, Witness::CrashedAfterBlock],
            split_above_bytes: ONE_PARTITION,
            beats: false,
            faults: ENDLESS,
            tier: Tier::Deep,
            ..base(
                "endless-faults",
                "A plan is worked on, and processes crash and replies are lost any number of times.",
            )
        },
        Scope {
            late: vec![LATE],
            cleaners: 2,
            split_above_bytes: ONE_PARTITION,
            tier: Tier::Nightly,
            prefix: DONE,
            beats: false,
            witnesses: &[Witness::TwoCleanersOnePlan, Witness::SecondPlanDone],
            ..base("two-cleaners-late-block", "Two cleaners and a late block.")
        },
        Scope {
            faults: Faults::any(1),
            split_above_bytes: ONE_PARTITION,
            prefix: WRITTEN,
            beats: false,
            tier: Tier::Nightly,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CrashedAfterBlock,
                Witness::TakenOverWhileAlive,
            ],
            ..base("one-fault", "Early blocks and one fault of any kind.")
        },
        Scope {
            faults: Faults::any(1),
            split_above_bytes: ONE_PARTITION,
            tier: Tier::Nightly,
            witnesses: &[
                Witness::ParentMarked,
                Witness::CrashedAfterBlock,
                Witness::TakenOverWhileAlive,
            ],
            ..base("one-fault-beats", "So with heartbeats, and from the very start.")
        },
        Scope {
            late: vec![SMALL, Upload::whole('O', 2, 3)],
            beats: false,
            prefix: SUPERSEDED,
            split_above_bytes: 3,
            max_plans: 5,
            tier: Tier::Nightly,
            witnesses: &[Witness::SecondPlanDone, Witness::CountChanged],
            ..base("two-one-two", "Partition counts 2, 1, 2.")
        },
        Scope {
            late: vec![LATE],
            tier: Tier::Deep,
            witnesses: &[Witness::SecondPlanDone, Witness::SupersededWhilePicked],
            ..base(
                "late-block-two-partitions",
                "A late block at any moment, two partitions, from the very start.",
            )
        },
        Scope {
            late: vec![LATE],
            prefix: DONE,
            beats: false,
            faults: CRASH,
            tier: Tier::Deep,
            witnesses: &[Witness::SecondPlanDone, Witness::SupersededWhilePicked],
            ..base(
                "superseded-crash",
                "A plan is cleaned up and superseded while a worker still has it in hand, and somebody crashes.",
            )
        },
        Scope {
            late: vec![LATE],
            split_above_bytes: ONE_PARTITION,
            max_plans: 4,
            faults: CRASH,
            tier: Tier::Deep,
            witnesses: &[
                Witness::ParentMarked,
                Witness::SecondPlanDone,
                Witness::SupersededWhilePicked,
                Witness::CrashedAfterBlock,
            ],
            ..base("late-block-crash", "A late block at any moment, and a crash at any moment.")
        },
        Scope {
            compactors: 3,
            split_above_bytes: ONE_PARTITION,
            beats: false,
            tier: Tier::Nightly,
            witnesses: &[Witness::ParentMarked, Witness::RivalPlans],
            ..base("three-compactors", "Three compactors, two of them planning at once.")
        },
        Scope {
            late: vec![LATE],
            cleaners: 2,
            prefix: DONE,
            beats: false,
            tier: Tier::Deep,
            witnesses: &[Witness::TwoCleanersOnePlan, Witness::SecondPlanDone],
            ..base(
                "two-cleaners-late-block-two-partitions",
                "Two cleaners, a late block, two partitions.",
            )
        },
        Scope {
            late: vec![LATE],
            faults: Faults::any(1),
            tier: Tier::Deep,
            witnesses: &[Witness::SecondPlanDone, Witness::CrashedAfterBlock],
            ..base("late-block-one-fault", "One late block together with one fault of any kind.")
        },
        Scope {
            late: vec![LATE, Upload::whole('O', 2, 2)],
            max_plans: 5,
            tier: Tier::Deep,
            witnesses: &[Witness::SecondPlanDone],
            ..base("two-late-blocks", "Two late blocks.")
        },
        Scope {
            faults: Faults::any(2),
            tier: Tier::Deep,
            witnesses: &[Witness::ParentMarked, Witness::HalfDoneAfterFault],
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
            late: vec![LATE],
            prefix: STAMPED,
            split_above_bytes: 3,
            max_plans: 2,
            atomic_plans: true,
            ..base(
                "cortex-stamped-early-atomic",
                "The same, and a plan is created only if there is none: what is left of D13.",
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
