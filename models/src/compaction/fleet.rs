//! Which roles a model drives: the verified ones, weakened ones, or an upstream release.
//!
//! Nothing here decides anything: a fleet names two machines, and says what a world has to see of their
//! states to know which of its own events may happen.

use core::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::object::PlanId;
use surehold::compaction::plan::Plan;
use surehold::compaction::upstream::{self, Release};
use surehold::compaction::{Cleaner, Compactor, Effect, Event, Guard, Refusal, cleaner, compactor};
use surehold::guard::Weakened;
use surehold::{Machine, Verified};

/// A machine of the compaction protocol.
pub trait Role:
    Machine<
        State: Seen + Serialize + Send + Sync,
        Event = Event,
        Effect = Effect,
        Guard = Guard,
        Refusal = Refusal,
        Durable = Durable,
    > + Clone
    + Debug
    + Send
    + Sync
    + 'static
{
}

impl<M> Role for M where
    M: Machine<
            State: Seen + Serialize + Send + Sync,
            Event = Event,
            Effect = Effect,
            Guard = Guard,
            Refusal = Refusal,
            Durable = Durable,
        > + Clone
        + Debug
        + Send
        + Sync
        + 'static
{
}

/// Two roles that share a bucket.
pub trait Fleet: Clone + Send + Sync + 'static {
    /// What compacts.
    type Compactor: Role;
    /// What cleans.
    type Cleaner: Role;

    /// A fleet with these limits; with a marker for its cleaners, if it knows one and this is asked.
    fn with_limits(
        &self,
        limits: Limits,
        cleaning: cleaner::Limits,
        own_marker: bool,
    ) -> (Self::Compactor, Self::Cleaner);

    /// Whether plans and markers are told apart by their stamps, so that the clock has to advance with
    /// each plan. The verified protocol compares no stamp with another: there one instant will do.
    fn is_dated(&self) -> bool;

    /// Whether a compactor looks for marks in the step before it merges, so that it can be held to them.
    /// Upstream's goes by its sync.
    fn looks_before_work(&self) -> bool {
        !self.is_dated()
    }
}

/// What a world sees of a role's state.
pub trait Seen {
    /// Whether a cycle may begin.
    fn can_begin(&self) -> bool;
    /// Slots whose heartbeat may be sent.
    fn beats(&self) -> Vec<u8>;
    /// The incarnation.
    fn incarnation(&self) -> u32;
    /// Whether a job of this plan and partition is under way.
    fn works_on(&self, plan: PlanId, partition: u32) -> bool;
    /// Whether the blocks that were listed are being read one by one.
    fn is_syncing(&self) -> bool {
        false
    }
    /// The check of upstream's whose answer is awaited, in words. Ours names its guards.
    fn check(&self) -> Option<&'static str> {
        None
    }
    /// Whether a cycle has begun and nothing of it is done.
    fn is_at_start(&self) -> bool;
    /// How many jobs are under way.
    fn jobs_running(&self) -> usize;
    /// Whether a job of another plan is under way.
    fn works_on_other_than(&self, plan: PlanId) -> bool;
    /// Whether a plan is about to be written, after a look that showed none.
    fn about_to_plan(&self) -> bool;
    /// The plan and partition whose claim is about to be written, after a look at its marker.
    fn about_to_claim(&self) -> Option<(PlanId, u32)>;
    /// The plan that a cleaner has in hand.
    fn plan_in_hand(&self) -> Option<&Arc<Plan>>;
    /// Whether such a plan is being worked on or cleaned up.
    fn has_in_hand(&self, is_such: &dyn Fn(&Plan) -> bool) -> bool {
        self.plan_in_hand().is_some_and(|plan| is_such(plan))
    }
    /// The plan a compactor has picked or is picking from, but not begun to merge.
    fn has_picked(&self) -> Option<PlanId>;
}

/// The verified protocol, with all guards or without some.
#[derive(Clone, Debug)]
pub struct Ours<V>(pub V);

impl Fleet for Ours<Verified> {
    type Compactor = Compactor;
    type Cleaner = Cleaner;

    fn with_limits(
        &self,
        limits: Limits,
        cleaning: cleaner::Limits,
        _own_marker: bool,
    ) -> (Compactor, Cleaner) {
        (Compactor::new(limits), Cleaner::new(cleaning))
    }

    fn is_dated(&self) -> bool {
        false
    }
}

impl Fleet for Ours<Weakened<Guard>> {
    type Compactor = Compactor<Weakened<Guard>>;
    type Cleaner = Cleaner<Weakened<Guard>>;

    fn with_limits(
        &self,
        limits: Limits,
        cleaning: cleaner::Limits,
        _own_marker: bool,
    ) -> (Self::Compactor, Self::Cleaner) {
        let cleaner = Cleaner::weakened(cleaning, self.0.clone());
        (Compactor::weakened(limits, self.0.clone()), cleaner)
    }

    fn is_dated(&self) -> bool {
        // Whatever guard is gone, stamps still decide nothing.
        false
    }
}

/// An upstream release.
#[derive(Clone, Copy, Debug)]
pub struct Cortex(pub Release);

impl Fleet for Cortex {
    type Compactor = upstream::Compactor;
    type Cleaner = upstream::Cleaner;

    fn with_limits(
        &self,
        limits: Limits,
        cleaning: cleaner::Limits,
        own_marker: bool,
    ) -> (Self::Compactor, Self::Cleaner) {
        let cleaner = upstream::Cleaner::new(self.0, limits.claim_timeout_ms)
            .deleting(cleaning.deletion_delay_ms)
            .with_own_marker(own_marker);
        (upstream::Compactor::new(limits, self.0), cleaner)
    }

    fn is_dated(&self) -> bool {
        true
    }
}

impl Seen for compactor::State {
    fn can_begin(&self) -> bool {
        *self.search() == compactor::state::Search::Idle
    }

    fn beats(&self) -> Vec<u8> {
        self.jobs().map(|(slot, _)| slot).filter(|slot| self.can_beat(*slot)).collect()
    }

    fn incarnation(&self) -> u32 {
        self.owner().incarnation
    }

    fn works_on(&self, plan: PlanId, partition: u32) -> bool {
        self.jobs().any(|(_, job)| job.plan.id == plan && job.partition == partition)
    }

    fn has_in_hand(&self, is_such: &dyn Fn(&Plan) -> bool) -> bool {
        self.jobs().any(|(_, job)| is_such(&job.plan))
    }

    fn is_at_start(&self) -> bool {
        use compactor::state::Search;
        matches!(self.search(), Search::Idle | Search::Plans)
    }

    fn jobs_running(&self) -> usize {
        self.jobs().count()
    }

    fn works_on_other_than(&self, plan: PlanId) -> bool {
        self.jobs().any(|(_, job)| job.plan.id != plan)
    }

    fn about_to_plan(&self) -> bool {
        use compactor::state::Search;
        matches!(
            self.search(),
            Search::Barred
                | Search::Blocks(_)
                | Search::Metas { .. }
                | Search::Marks { .. }
                | Search::Planning
        )
    }

    fn about_to_claim(&self) -> Option<(PlanId, u32)> {
        match self.search() {
            compactor::state::Search::Claiming(choice) => Some((choice.plan.id, choice.partition)),
            _ => None,
        }
    }

    fn plan_in_hand(&self) -> Option<&Arc<Plan>> {
        None
    }

    fn has_picked(&self) -> Option<PlanId> {
        use compactor::state::{Phase, Search};
        let searching = match self.search() {
            Search::Looking(choice) | Search::Claiming(choice) => Some(choice.plan.id),
            _ => None,
        };
        let early = |phase: &Phase| {
            matches!(phase, Phase::Settling | Phase::Confirming | Phase::Rivals | Phase::Checking)
        };
        searching.or_else(|| self.jobs().find(|(_, j)| early(&j.phase)).map(|(_, j)| j.plan.id))
    }
}

impl Seen for cleaner::State {
    fn can_begin(&self) -> bool {
        *self.pass() == cleaner::state::Pass::Idle
    }

    fn beats(&self) -> Vec<u8> {
        Vec::new()
    }

    fn incarnation(&self) -> u32 {
        self.owner().incarnation
    }

    fn works_on(&self, _plan: PlanId, _partition: u32) -> bool {
        false
    }

    fn is_at_start(&self) -> bool {
        use cleaner::state::Pass;
        matches!(self.pass(), Pass::Idle | Pass::AllMarkers)
    }

    fn jobs_running(&self) -> usize {
        0
    }

    fn works_on_other_than(&self, _plan: PlanId) -> bool {
        false
    }

    fn about_to_plan(&self) -> bool {
        false
    }

    fn about_to_claim(&self) -> Option<(PlanId, u32)> {
        None
    }

    fn plan_in_hand(&self) -> Option<&Arc<Plan>> {
        use cleaner::state::Pass;
        match self.pass() {
            Pass::Marks(case, _)
            | Pass::Blocks(case, _)
            | Pass::Metas(case, ..)
            | Pass::Markers(case, ..)
            | Pass::MarkingGlobal(case, _)
            | Pass::Marking(case, _)
            | Pass::Deleting(case, _)
            | Pass::Listing(case, _)
            | Pass::Clearing(case, ..) => Some(&case.plan),
            Pass::Idle
            | Pass::AllMarkers
            | Pass::Plans(_)
            | Pass::Reading(_)
            | Pass::Sweeping(..)
            | Pass::Marked
            | Pass::Removing(..)
            | Pass::Remains
            | Pass::Tidying(_) => None,
        }
    }

    fn has_picked(&self) -> Option<PlanId> {
        None
    }
}

impl Seen for upstream::CompactorState {
    fn check(&self) -> Option<&'static str> {
        self.check()
    }

    fn is_syncing(&self) -> bool {
        matches!(self.search(), upstream::Search::Sync { .. })
    }

    fn can_begin(&self) -> bool {
        *self.search() == upstream::Search::Idle
    }

    fn beats(&self) -> Vec<u8> {
        self.jobs().map(|(slot, _)| slot).filter(|slot| self.can_beat(*slot)).collect()
    }

    fn incarnation(&self) -> u32 {
        self.owner().incarnation
    }

    fn works_on(&self, plan: PlanId, partition: u32) -> bool {
        self.jobs().any(|(_, job)| job.plan.id == plan && job.partition == partition)
    }

    fn has_in_hand(&self, is_such: &dyn Fn(&Plan) -> bool) -> bool {
        self.jobs().any(|(_, job)| is_such(&job.plan))
    }

    fn is_at_start(&self) -> bool {
        matches!(self.search(), upstream::Search::Idle | upstream::Search::Blocks)
    }

    fn jobs_running(&self) -> usize {
        self.jobs().count()
    }

    fn works_on_other_than(&self, plan: PlanId) -> bool {
        self.jobs().any(|(_, job)| job.plan.id != plan)
    }

    fn about_to_plan(&self) -> bool {
        // Upstream's wait is for claims; of plans it knows one path and no rivals.
        false
    }

    fn about_to_claim(&self) -> Option<(PlanId, u32)> {
        match self.search() {
            upstream::Search::PickingPlan(plan, jobs) | upstream::Search::Claiming(plan, jobs) => {
                jobs.first().map(|p| (plan.id, *p))
            }
            _ => None,
        }
    }

    fn plan_in_hand(&self) -> Option<&Arc<Plan>> {
        None
    }

    fn has_picked(&self) -> Option<PlanId> {
        use upstream::{Phase, Search};
        let searching = match self.search() {
            Search::Picking(plan, _)
            | Search::PickingPlan(plan, _)
            | Search::Claiming(plan, _)
            | Search::Empty { plan, .. } => Some(plan.id),
            _ => None,
        };
        let early = |phase: &Phase| {
            matches!(phase, Phase::Waiting | Phase::Confirming | Phase::Version | Phase::Members(_))
        };
        searching.or_else(|| self.jobs().find(|(_, j)| early(&j.phase)).map(|(_, j)| j.plan.id))
    }
}

impl Seen for upstream::CleanerState {
    fn check(&self) -> Option<&'static str> {
        self.pass().check()
    }

    fn can_begin(&self) -> bool {
        *self.pass() == upstream::Pass::Idle
    }

    fn beats(&self) -> Vec<u8> {
        if self.can_beat() { vec![0] } else { Vec::new() }
    }

    fn incarnation(&self) -> u32 {
        self.owner().incarnation
    }

    fn works_on(&self, _plan: PlanId, _partition: u32) -> bool {
        false
    }

    fn is_at_start(&self) -> bool {
        use upstream::Pass;
        matches!(self.pass(), Pass::Idle | Pass::Visited | Pass::Plans)
    }

    fn jobs_running(&self) -> usize {
        0
    }

    fn works_on_other_than(&self, _plan: PlanId) -> bool {
        false
    }

    fn about_to_plan(&self) -> bool {
        false
    }

    fn about_to_claim(&self) -> Option<(PlanId, u32)> {
        None
    }

    fn plan_in_hand(&self) -> Option<&Arc<Plan>> {
        use upstream::Pass;
        match self.pass() {
            Pass::Marking(groups, ..)
            | Pass::Deleting(groups)
            | Pass::IsGone(groups)
            | Pass::Listing(groups)
            | Pass::Clearing(groups, _) => groups.first().map(|group| &group.plan),
            Pass::Idle
            | Pass::Visited
            | Pass::Plans
            | Pass::Reading(..)
            | Pass::Status(..)
            | Pass::Deletion(_)
            | Pass::LastBeat
            | Pass::Ending
            | Pass::Leaving => None,
        }
    }

    fn has_picked(&self) -> Option<PlanId> {
        None
    }
}
