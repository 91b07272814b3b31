//! The model as stateright and the explorer see it.

use std::hash::Hasher;

use stateright::Property as Named;
use surehold::rebalance::invariant::Property;

use super::fleet::Fleet;
use super::model::{Action, Model, WorldOf};
use super::scope::Witness;
use super::tale::Tale;
use crate::explore::Judged;

impl<F: Fleet> stateright::Model for Model<F> {
    type State = WorldOf<F>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        self.led.remember();
        self.served.remember();
        let start = self.start();
        self.probe(&start);
        vec![start]
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
                world.broken.is_none_or(|broken| broken.property() != $property)
            }))
        };
    }
    match property {
        Property::LastCopyKept => unbroken!(Property::LastCopyKept),
        Property::RequiredKept => unbroken!(Property::RequiredKept),
        Property::DropJustified => unbroken!(Property::DropJustified),
        Property::OneAction => unbroken!(Property::OneAction),
        Property::NoOverfill => unbroken!(Property::NoOverfill),
        Property::OldTermMoot => unbroken!(Property::OldTermMoot),
        Property::NoGhost => unbroken!(Property::NoGhost),
        Property::FullDelay => unbroken!(Property::FullDelay),
        Property::NoNeedlessLoad => unbroken!(Property::NoNeedlessLoad),
        Property::NoPingPong => unbroken!(Property::NoPingPong),
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
        "a move is done" => MoveDone,
        "a view is ahead of the answer" => ViewAhead,
        "a view is behind the answer" => ViewBehind,
        "a drop is carried out that nobody waits for" => ZombieDrop,
        "a load is carried out that nobody waits for" => ZombieLoad,
        "a drop of an older term is on its way while another leads" => DropOfOldTerm,
        "two coordinators lead" => TwoLeaders,
        "a forgotten drop is on its way to a server that came back" => DropAcrossFlap,
        "a request for an earlier life is on its way" => RequestAcrossRestart,
        "a copy that a crash took is replaced" => Replaced,
        "a surplus copy is dropped" => SurplusDropped,
        "a load fails, and the segment is loaded" => FailedThenLoaded,
        "a server is drained" => Drained,
        "a segment is asked for while its files are being deleted" => LoadedWhileDeleting,
        "a drop arrives while the load is under way" => DropDuringLoad,
        "an answer is on its way that nobody waits for" => OldAnswer,
        "a coordinator leads again while what it asked before is on its way" => LeadsAgain,
        "each tier has what it requires after a drop" => TiersServed,
        "the rule changes during a move" => RuleDuringMove,
        "files are left over from an earlier life" => LeftOver,
        "files are there in part, and nobody knows" => DoneInPart,
    }
}

impl<F: Fleet> Judged for Model<F> {
    fn is_fault(&self, state: &WorldOf<F>, action: &Action) -> bool {
        action.is_fault(|server| state.servers[usize::from(server.0)].role.is_some())
    }

    fn goal(&self, world: &WorldOf<F>) -> Option<bool> {
        self.judged.contains(&Property::Recoverable).then(|| self.is_at_goal(world))
    }

    fn is_cut(&self, world: &WorldOf<F>) -> bool {
        self.is_cut_state(world)
    }

    fn images(&self) -> usize {
        self.renamings.len()
    }

    fn feed_image<H: Hasher>(&self, world: &WorldOf<F>, image: usize, hasher: &mut H) {
        self.feed_image_of(world, image, hasher);
    }

    fn class(&self, world: &WorldOf<F>, action: &Action) -> Option<u8> {
        self.class_of(world, action)
    }

    /// Nothing ever stops for good: a coordinator asks again and again what is there.
    fn may_stop(&self, _world: &WorldOf<F>) -> bool {
        true
    }
}
