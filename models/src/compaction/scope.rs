//! Scopes: small worlds, each built around a question.

use surehold::compaction::invariant::{Property, Samples};
use surehold::compaction::object::GroupId;

pub use crate::tier::Tier;

/// A small world and what is asked of it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub question: &'static str,
    /// Blocks there from the start.
    pub early: Vec<Upload>,
    /// Blocks that may be uploaded at any time, in this order.
    pub late: Vec<Upload>,
    /// Where it begins.
    pub prefix: &'static [Act],
    /// How many compactors, each with [`Scope::concurrency`] jobs.
    pub compactors: u8,
    /// How many cleaners.
    pub cleaners: u8,
    /// Jobs of one compactor at once.
    pub concurrency: u8,
    /// Above this total index size a plan has more than one partition, bytes.
    pub split_above_bytes: u64,
    /// Index size of each result, bytes.
    pub result_bytes: u64,
    /// In how many classes series hashes fall. A multiple of every partition count.
    pub classes: u32,
    /// How many plans may be made. Where one more would be, the scope is cut and says so.
    pub max_plans: u8,
    /// Faults.
    pub faults: Faults,
    /// What the operator does, in this order, at any time.
    pub operator: Vec<Operation>,
    /// From how many places a worker may begin to look for a free partition; 1 means always the first.
    pub picks: u8,
    /// Whether heartbeats are sent.
    pub beats: bool,
    /// Whether markers of completed work grow old as well. They then expire where a rule forgets that
    /// completion is final.
    pub completed_age: bool,
    /// Whether a plan is created only if there is none at its path: an atomicity that no plain object
    /// store has, granted to see the holes behind the missing one.
    pub atomic_plans: bool,
    /// Whether an upstream compactor's sync is swift: the reads of metas and marks that follow its listing
    /// come at once. A restriction on schedules, so what is found is real, and what is not may be missed.
    pub swift_sync: bool,
    /// Whether deletion marks grow older than the deletion delay, at any moment after they are written; if
    /// not, no cleaner deletes a block.
    pub ripens: bool,
    /// Whether upstream's cleaners keep a visit marker of their own; ours have none.
    pub cleaner_marker: bool,
    /// What must be reachable from everywhere, if that is asked.
    pub goal: Option<Goal>,
    /// Combinations that must occur within one path.
    pub witnesses: &'static [Witness],
    /// How long it may take and when it is run.
    pub tier: Tier,
}

/// What has happened before a scope begins. It is run with the variant's own transitions, so the state is
/// one that the variant reaches; faults in it are paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// A process has run alone until this.
    Run(u8, Until),
    /// A process stands still.
    Pause(u8),
    /// A process has crashed and started again.
    Crash(u8),
    /// All claims that may expire have expired.
    Expire,
    /// All deletion marks are older than the delay.
    Ripen,
    /// The next late block has arrived.
    Upload,
    /// A process has run alone until this, and the plan it made bears a time before the last plan's.
    RunBehind(u8, Until),
    /// The write that a process is about to make is on its way, and its reply is lost: it may land at any time.
    Lose(u8),
}

/// How far a process has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Until {
    /// It is about to write a plan, stamped already.
    PlanPending,
    /// There is a plan.
    PlanWritten,
    /// There is a plan, and each of its partitions is completed.
    PlanDone,
    /// It has picked a partition and is about to look at its marker.
    Picked,
    /// It has claimed a partition, and waits before it reads the claim back.
    Claimed,
    /// It has merged, and is about to write the result's meta.
    Merged,
    /// It has uploaded a result, and is about to write that its partition is completed.
    Uploaded,
    /// There is no plan and no marker.
    Gone,
    /// Nothing is left of any block that was marked.
    Removed,
    /// It is about to mark a block.
    Marking,
    /// It is about to delete a plan.
    Deleting,
    /// It knows the blocks and is about to ask for plans.
    Synced,
}

impl Act {
    fn says(self) -> String {
        let name = |process: u8| char::from(b'A' + process);
        match self {
            Self::Run(_, Until::Gone) => "a cleaner has cleaned up".into(),
            Self::Run(_, Until::Removed) => "a cleaner has deleted what is marked".into(),
            Self::Run(_, Until::Marking) => "a cleaner is about to mark a block".into(),
            Self::Run(_, Until::Deleting) => "a cleaner is about to delete a plan".into(),
            Self::Run(process, until) | Self::RunBehind(process, until) => {
                let behind = matches!(self, Self::RunBehind(..));
                let until = match until {
                    Until::PlanPending => "has stamped a plan",
                    Until::PlanWritten => "has written a plan",
                    Until::PlanDone => "has completed a plan",
                    Until::Picked => "has picked a partition",
                    Until::Claimed => "has claimed a partition",
                    Until::Merged => "has merged a partition",
                    Until::Uploaded => "has uploaded a result",
                    Until::Gone => "has cleaned up",
                    Until::Removed => "has deleted what is marked",
                    Until::Marking => "is about to mark a block",
                    Until::Deleting => "is about to delete a plan",
                    Until::Synced => "has listed the blocks",
                };
                let clock = if behind { " by a clock that is behind" } else { "" };
                format!("{} {until}{clock}", name(process))
            }
            Self::Pause(process) => format!("{} stands still", name(process)),
            Self::Crash(process) => format!("{} crashes", name(process)),
            Self::Expire => "claims expire".into(),
            Self::Lose(process) => format!("the next write of {} is given up", name(process)),
            Self::Ripen => "marks grow old".into(),
            Self::Upload => "a late block arrives".into(),
        }
    }
}

/// A block to be uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Upload {
    /// How it is called.
    pub name: char,
    /// Hash classes of which it holds a sample, as bits.
    pub classes: u64,
    /// Size of its index, bytes.
    pub index_bytes: u64,
    /// If it is a result of a smaller range: of how many partitions it is which.
    pub part: Option<(u32, u32)>,
}

impl Upload {
    /// An ingester's block with a sample in each of `classes` hash classes.
    #[must_use]
    pub const fn whole(name: char, classes: u32, index_bytes: u64) -> Self {
        Self { name, classes: (1 << classes) - 1, index_bytes, part: None }
    }
}

/// What can go wrong, and how often in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults {
    /// How many faults of any of the kinds.
    pub budget: u8,
    /// A process loses its memory and starts again. What it was writing may land later, or never.
    pub crash: bool,
    /// A process stands still beyond every time-out, until its next operation.
    pub pause: bool,
    /// A write fails and has no effect.
    pub write_fails: bool,
    /// A write takes effect, and its reply is lost.
    pub reply_lost: bool,
    /// A write's reply is lost, and the write lands later, or never.
    pub write_late: bool,
    /// A read fails.
    pub read_fails: bool,
    /// A planner's clock stands still: its plan bears the last plan's second.
    pub same_second: bool,
    /// A planner's clock is behind: its plan bears an earlier second than the last plan, or a lesser id.
    pub clock_behind: bool,
    /// There is no budget: faults never run out. Names of lives are used again once nothing bears them any more, so that
    /// the space closes by itself, and of the writes that dead lives left only the last one can still land.
    pub endless: bool,
    /// Only claims may fail, be lost or late: what the role makes of it must keep work from being done twice.
    pub claims_only: bool,
}

impl Faults {
    /// None.
    pub const NONE: Self = Self {
        budget: 0,
        crash: false,
        pause: false,
        write_fails: false,
        reply_lost: false,
        write_late: false,
        read_fails: false,
        same_second: false,
        clock_behind: false,
        endless: false,
        claims_only: false,
    };

    /// This many of every kind that a plain object store and its processes know.
    #[must_use]
    pub const fn any(budget: u8) -> Self {
        Self {
            budget,
            crash: true,
            pause: true,
            write_fails: true,
            reply_lost: true,
            write_late: true,
            read_fails: true,
            same_second: false,
            clock_behind: true,
            endless: false,
            claims_only: false,
        }
    }

    /// Whether a write may go wrong.
    #[must_use]
    pub fn writes_fail(&self) -> bool {
        self.budget > 0 && (self.write_fails || self.reply_lost || self.write_late)
    }
}

/// What an operator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sets a no-compact mark on the early block of this name.
    SetNoCompact(char),
    /// Takes it away.
    UnsetNoCompact(char),
}

/// What must be reachable from everywhere without another fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// No plan, no marker, and no two unmarked blocks that overlap.
    AllDone,
    /// The same, and nothing left of a block that was marked, nor a mark.
    AllGone,
    /// No plan.
    NoPlan,
    /// No marker without a plan.
    NoOrphanMarker,
    /// No mark of a block that is gone.
    NoOrphanMark,
}

impl Goal {
    /// What it says.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::AllDone => "no plan, no marker, no two unmarked blocks that overlap",
            Self::AllGone => {
                "no plan, no marker, no two blocks that overlap, no mark, no rest of a block"
            }
            Self::NoPlan => "no plan",
            Self::NoOrphanMarker => "no marker without a plan",
            Self::NoOrphanMark => "no mark of a block that is gone",
        }
    }
}

/// A combination that some single path of the scope must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Witness {
    /// A parent is marked: the model does not merely idle.
    ParentMarked,
    /// A second plan is complete and its parents are marked.
    SecondPlanDone,
    /// A plan with a late block exists while a worker of an older plan stands still.
    SupersededWhilePaused,
    /// A worker holds an older plan, picked and not begun, while a plan with a late block exists.
    SupersededWhilePicked,
    /// A write of unknown effect had been applied.
    UnknownApplied,
    /// A write of unknown effect landed after its writer went on.
    UnknownLanded,
    /// A claim is another's while the one who held it before still works.
    TakenOverWhileAlive,
    /// Two cleaners have one plan in hand.
    TwoCleanersOnePlan,
    /// Two complete results of one partition of one plan.
    TwinResults,
    /// A partition was completed without a result.
    EmptyCompleted,
    /// A no-compact mark was set, then removed, and a plan that lists the block exists.
    NoCompactSetAndRemoved,
    /// Two jobs of one compactor at work.
    TwoJobs,
    /// Two plans lie in the bucket at once.
    RivalPlans,
    /// Two compactors work on different partitions of one plan.
    TwoWorkers,
    /// The marker of a completed partition has grown old while its plan is still there.
    CompletedExpired,
    /// A plan has another partition count than the plan that made one of its blocks.
    CountChanged,
    /// A plan is there after a plan that was made later already has a result.
    WrittenLate,
    /// Two plans of one second are there, and only one of them lists the late block.
    OneSecondTwoListings,
    /// Two plans are there, and the one made later has the lesser id.
    ReversedIds,
    /// A cleaner has a plan in hand that is gone, and another plan is there.
    StaleCleaner,
    /// A parent is marked of a plan in a cleaner's hand that has an empty partition.
    EmptyProven,
    /// A result is there, and its marker is still the claim of a life before.
    CrashedAfterBlock,
    /// A marker is left whose plan is gone.
    MarkersLeft,
    /// A cleaner has started again, and markers are there whose plan is gone.
    CrashedWhileCleaning,
    /// The fault is spent, and some partitions of a plan have a result and others have none.
    HalfDoneAfterFault,
    /// A listing of plans failed while a plan was there.
    PlanUnread,
    /// A plan with a result lists a block that bears a no-compact mark.
    BarredUnderPlan,
    /// A marker says completed of a plan that is gone, and another plan is there.
    CompletionOfGonePlan,
    /// A claim is there whose writer lives, and neither works on it nor is about to.
    ClaimGivenUp,
    /// A plan without a result is there, and a block of it is marked.
    BornDead,
    /// A partition is worked on that a life before had claimed, while another worker has another partition.
    TakenOverAfterCrash,
    /// Nothing is left of a block.
    BlockDeleted,
    /// Nothing is left of a block that is in a plan which somebody has in hand.
    DeletedInHand,
}

/// The group of every scope.
pub const GROUP: GroupId = GroupId(7);

impl Scope {
    /// The properties that a verified run is asked.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        // After a fault work may be done twice; a prefix with a fault leaves nothing to ask.
        let disturbed = self
            .prefix
            .iter()
            .any(|act| matches!(act, Act::Pause(_) | Act::Lose(_) | Act::Crash(_)));
        let asked = |p: &Property| match p {
            Property::Recoverable => self.goal.is_some(),
            Property::NoDoubleWork => !disturbed,
            Property::DeletedAfterDelay => self.ripens,
            _ => true,
        };
        Property::ALL.into_iter().filter(asked).collect()
    }

    /// The samples of the upload at this place: each in its own bits.
    #[must_use]
    pub fn samples(&self, place: usize) -> Samples {
        let upload = self.upload(place);
        Samples(upload.classes << (place as u32 * self.classes))
    }

    /// The upload at this place: early ones first.
    #[must_use]
    pub fn upload(&self, place: usize) -> &Upload {
        self.early.get(place).unwrap_or_else(|| &self.late[place - self.early.len()])
    }

    /// The samples of these that fall into a partition.
    #[must_use]
    pub fn in_partition(&self, samples: Samples, partition: u32, count: u32) -> Samples {
        let class = |bit: u32| bit % self.classes;
        let mine = (0..64).filter(|bit| class(*bit) % count == partition);
        Samples(mine.fold(0, |mask, bit| mask | (1u64 << bit))).common(samples)
    }

    /// What bounds it, in words.
    #[must_use]
    pub fn bounds(&self) -> String {
        let mut parts = vec![
            format!("{} compactors", self.compactors),
            format!("{} cleaners", self.cleaners),
            format!("{} blocks", self.early.len()),
            format!("{} late", self.late.len()),
            format!("{} plans", self.max_plans),
        ];
        if !self.prefix.is_empty() {
            let acts: Vec<_> = self.prefix.iter().map(|act| act.says()).collect();
            parts.push(format!("begun when {}", acts.join(", then ")));
        }
        if self.concurrency > 1 {
            parts.push(format!("{} jobs each", self.concurrency));
        }
        if self.faults.budget > 0 {
            let hit = if self.faults.claims_only { " of a claim" } else { "" };
            let kinds = self.faults.kinds().join("/");
            parts.push(match self.faults.endless {
                true => format!(
                    "any number of {kinds}{hit}, of whose writes the last one may still land"
                ),
                false => format!("{} of {kinds}{hit}", self.faults.budget),
            });
        }
        if self.cleaner_marker {
            parts.push("cleaners have a marker".into());
        }
        if self.ripens {
            parts.push("marked blocks are deleted".into());
        }
        if !self.operator.is_empty() {
            parts.push(format!("{} operator acts", self.operator.len()));
        }
        if self.atomic_plans {
            parts.push("plans created atomically".into());
        }
        if self.swift_sync {
            parts.push("swift syncs".into());
        }
        if !self.beats {
            parts.push("no heartbeats".into());
        }
        parts.join(", ")
    }
}

impl Faults {
    /// Names of the kinds that may happen.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        let all = [
            (self.crash, "crash"),
            (self.pause, "pause"),
            (self.write_fails, "failed write"),
            (self.reply_lost, "lost reply"),
            (self.write_late, "late write"),
            (self.read_fails, "failed read"),
            (self.same_second, "same second"),
            (self.clock_behind, "clock behind"),
        ];
        all.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
    }
}
