//! The model as stateright and the explorer see it.

use std::hash::Hasher;

use stateright::Property as Named;
use surehold::compaction::invariant::{Property, lost};

use super::fleet::Fleet;
use super::model::{Action, Model, WorldOf};
use super::scope::Witness;
use super::tale::Tale;
use crate::explore::Judged;

impl<F: Fleet> stateright::Model for Model<F> {
    type State = WorldOf<F>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        self.compacted.remember();
        self.cleaned.remember();
        vec![self.start()]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        self.enabled(state, actions);
    }

    fn next_state(&self, state: &Self::State, action: Action) -> Option<Self::State> {
        self.apply(state, action, &mut Tale::untold())
    }

    fn properties(&self) -> Vec<Named<Self>> {
        let mut named: Vec<_> = self.judged.iter().filter_map(|p| safety(*p)).collect();
        if self.witnesses {
            named.extend(self.scope.witnesses.iter().map(|w| witness(*w)));
        }
        named
    }
}

/// A condition is a plain function, so each property has its own.
fn safety<F: Fleet>(property: Property) -> Option<Named<Model<F>>> {
    macro_rules! unbroken {
        ($property:path) => {
            Some(Named::always($property.name(), |_, world: &WorldOf<F>| {
                world.broken.as_ref().is_none_or(|broken| broken.property() != $property)
            }))
        };
    }
    match property {
        Property::NoSampleLost => {
            Some(Named::always(property.name(), |model: &Model<F>, world| {
                lost(model.uploaded(world), world.store.holdings()).is_empty()
            }))
        }
        Property::ReplacedBeforeMarking => unbroken!(Property::ReplacedBeforeMarking),
        Property::OnlyDeadPlansDeleted => unbroken!(Property::OnlyDeadPlansDeleted),
        Property::NoDoubleWork => unbroken!(Property::NoDoubleWork),
        Property::NoCompactRespected => unbroken!(Property::NoCompactRespected),
        Property::MetaLast => unbroken!(Property::MetaLast),
        Property::DeletedAfterDelay => unbroken!(Property::DeletedAfterDelay),
        Property::Recoverable => None,
    }
}

fn witness<F: Fleet>(witness: Witness) -> Named<Model<F>> {
    macro_rules! shown {
        ($($name:literal => $witness:ident),+ $(,)?) => {
            match witness {
                $(Witness::$witness => Named::sometimes($name, |model: &Model<F>, world| {
                    model.shows(world, Witness::$witness)
                })),+
            }
        };
    }
    shown! {
        "a parent is marked" => ParentMarked,
        "a second plan is done" => SecondPlanDone,
        "a late block supersedes a plan while a worker of an older one stands still" => SupersededWhilePaused,
        "a late block supersedes a plan that a worker has picked" => SupersededWhilePicked,
        "a write of unknown effect was applied" => UnknownApplied,
        "a write of unknown effect landed late" => UnknownLanded,
        "a claim is taken over while its holder lives" => TakenOverWhileAlive,
        "two cleaners have one plan in hand" => TwoCleanersOnePlan,
        "one partition has two results" => TwinResults,
        "a partition is completed as empty" => EmptyCompleted,
        "a no-compact mark was set and removed under a plan" => NoCompactSetAndRemoved,
        "one compactor works on two partitions" => TwoJobs,
        "two plans lie in the bucket at once" => RivalPlans,
        "two compactors work on different partitions of one plan" => TwoWorkers,
        "the marker of a completed partition has grown old while its plan is there" => CompletedExpired,
        "a plan has another partition count than the plan that made one of its blocks" => CountChanged,
        "a plan is there after a plan made later has a result" => WrittenLate,
        "two plans bear one second, and only one of them lists the late block" => OneSecondTwoListings,
        "a plan made later has the lesser id" => ReversedIds,
        "a cleaner acts on a plan that is gone while another is there" => StaleCleaner,
        "a parent is marked of a plan with an empty partition" => EmptyProven,
        "a worker crashed between its block and its marker" => CrashedAfterBlock,
        "a marker is left whose plan is gone" => MarkersLeft,
        "a cleaner crashed between a plan and its markers" => CrashedWhileCleaning,
        "a fault has struck a plan of which some partitions have a result and others have none" => HalfDoneAfterFault,
        "a listing of plans failed while a plan was there" => PlanUnread,
        "a plan with a result lists a block that must not be compacted" => BarredUnderPlan,
        "a partition of a plan that is gone is written completed while another plan is there" => CompletionOfGonePlan,
        "a claim is there whose writer lives and has given it up" => ClaimGivenUp,
        "a plan is there that nobody has worked on, and a block of it is marked" => BornDead,
        "a partition is taken over after a crash while another worker has another one" => TakenOverAfterCrash,
        "nothing is left of a block" => BlockDeleted,
        "nothing is left of a block whose plan somebody has in hand" => DeletedInHand,
    }
}

/// Classes of steps of one process: its operations by number, the last ones together, and the beginning of its cycle.
const CLASSES_OF_A_PROCESS: u8 = 8;
/// A process begins its cycle.
const CYCLE: u8 = CLASSES_OF_A_PROCESS - 1;
/// A claim expires.
const TIME_OF_CLAIMS: u8 = 62;
/// A mark grows older than the delay.
const TIME_OF_MARKS: u8 = 63;

impl<F: Fleet> Judged for Model<F> {
    fn is_fault(&self, _state: &WorldOf<F>, action: &Action) -> bool {
        // Nor may recovery wait for an operator, or for another block to come.
        action.is_fault() || matches!(action, Action::Upload | Action::Operate)
    }

    fn goal(&self, world: &WorldOf<F>) -> Option<bool> {
        if !self.judged.contains(&Property::Recoverable) {
            return None;
        }
        self.is_at_goal(world)
    }

    fn is_cut(&self, world: &WorldOf<F>) -> bool {
        self.is_cut_state(world)
    }

    /// Each operation of a process that is under way ends some day, each process begins its cycle some day, and time
    /// passes. A heartbeat is nobody's progress, nor is a late write that lands.
    fn class(&self, _state: &WorldOf<F>, action: &Action) -> Option<u8> {
        let of = |process: u8, number: u8| process * CLASSES_OF_A_PROCESS + number;
        match action {
            Action::Run { process, number, .. } => {
                Some(of(*process, (*number).min(u16::from(CYCLE) - 1) as u8))
            }
            Action::Begin(process) => Some(of(*process, CYCLE)),
            Action::Expire(..) | Action::ExpireCleaner => Some(TIME_OF_CLAIMS),
            Action::Ripen(_) => Some(TIME_OF_MARKS),
            Action::Beat(..)
            | Action::Land(_)
            | Action::Upload
            | Action::Operate
            | Action::Crash(_)
            | Action::Pause(_) => None,
        }
    }

    fn images(&self) -> usize {
        self.renamings.len()
    }

    fn feed_image<H: Hasher>(&self, world: &WorldOf<F>, image: usize, hasher: &mut H) {
        self.feed_image_of(world, image, hasher);
    }

    /// Nothing ever stops for good: a fleet without work looks for it again and again.
    fn may_stop(&self, _world: &WorldOf<F>) -> bool {
        false
    }
}
