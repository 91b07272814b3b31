//! The model as stateright and the explorer see it.

use std::hash::Hasher;

use stateright::Property as Named;
use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::guard::Guards;

use super::model::{Action, Model};
use super::tale::Tale;
use super::world::World;
use crate::explore::{Fairness, Judged};

impl<V: Guards<Guard>> stateright::Model for Model<V> {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        self.led.remember();
        self.served.remember();
        self.parts.remember();
        vec![self.start()]
    }

    fn actions(&self, state: &World, actions: &mut Vec<Action>) {
        self.enabled(state, actions);
        actions.retain(|action| self.is_affordable(state, action));
    }

    fn next_state(&self, state: &World, action: Action) -> Option<World> {
        self.apply(state, action, &mut Tale::untold())
    }

    fn properties(&self) -> Vec<Named<Self>> {
        self.judged.iter().filter_map(|property| safety(*property)).collect()
    }
}

/// A condition is a plain function, so each property has its own.
fn safety<V: Guards<Guard>>(property: Property) -> Option<Named<Model<V>>> {
    macro_rules! unbroken {
        ($property:path) => {
            Some(Named::always($property.name(), |_, world: &World| {
                world.broken.is_none_or(|broken| broken.property() != $property)
            }))
        };
    }
    match property {
        Property::OneHead => unbroken!(Property::OneHead),
        Property::Chain => unbroken!(Property::Chain),
        Property::WholeRows => unbroken!(Property::WholeRows),
        Property::OneEnd => unbroken!(Property::OneEnd),
        Property::EndBeforeOnline => unbroken!(Property::EndBeforeOnline),
        Property::OneConsumer => unbroken!(Property::OneConsumer),
        Property::CopyKept => unbroken!(Property::CopyKept),
        Property::RightObject => unbroken!(Property::RightObject),
        Property::ListedHasRecord => unbroken!(Property::ListedHasRecord),
        Property::NoLostUpdate => unbroken!(Property::NoLostUpdate),
        Property::TrueLoss => unbroken!(Property::TrueLoss),
        Property::FilledInOrder => unbroken!(Property::FilledInOrder),
        Property::OwnFailure => unbroken!(Property::OwnFailure),
        Property::PermitsOfBuilds => unbroken!(Property::PermitsOfBuilds),
        Property::Served | Property::Recoverable | Property::NoEndlessRound => None,
    }
}

impl<V: Guards<Guard>> Judged for Model<V> {
    fn is_fault(&self, state: &World, action: &Action) -> bool {
        Model::is_fault(self, state, action)
    }

    fn goal(&self, world: &World) -> Option<bool> {
        self.goal_of(world)
    }

    fn images(&self) -> usize {
        self.renamings.len()
    }

    fn feed_image<H: Hasher>(&self, world: &World, image: usize, hasher: &mut H) {
        self.feed_image_of(world, image, hasher);
    }

    fn class(&self, _world: &World, action: &Action) -> Option<u8> {
        self.class_of(action)
    }

    fn fairness(&self, class: u8) -> Fairness {
        self.fairness_of(class)
    }

    /// Nothing ever stops for good: tasks begin again and again.
    fn may_stop(&self, _world: &World) -> bool {
        true
    }
}
