//! The properties of a model, sorted by how they are judged.

use stateright::{Expectation, Property};

use super::Judged;

/// The properties that must hold of every state.
pub(super) struct Always<M: Judged>(Vec<Property<M>>);

impl<M: Judged> Always<M> {
    /// Those of the model.
    pub(super) fn of(model: &M) -> Self {
        Always(expecting(model, &Expectation::Always).collect())
    }

    /// The first one that is false in the state.
    pub(super) fn broken(&self, model: &M, state: &M::State) -> Option<&'static str> {
        let mut properties = self.0.iter();
        properties
            .find(|property| !(property.condition)(model, state))
            .map(|property| property.name)
    }
}

/// The `Sometimes` properties that no state has met yet, in the model's order.
pub(super) struct Unmet<M: Judged>(Vec<Property<M>>);

impl<M: Judged> Unmet<M> {
    /// All of the model's.
    ///
    /// # Panics
    ///
    /// If the model has an `Eventually`.
    pub(super) fn of(model: &M) -> Self {
        if let Some(property) = expecting(model, &Expectation::Eventually).next() {
            panic!(
                "property {:?} is an `eventually`, whose semantics in stateright is unsound: set a goal instead",
                property.name
            );
        }
        Unmet(expecting(model, &Expectation::Sometimes).collect())
    }

    /// Notes those that the state meets.
    pub(super) fn note(&mut self, model: &M, state: &M::State) {
        self.0.retain(|property| !(property.condition)(model, state));
    }

    /// Their names.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|property| property.name).collect()
    }
}

fn expecting<M: Judged>(model: &M, expectation: &Expectation) -> impl Iterator<Item = Property<M>> {
    model.properties().into_iter().filter(move |property| property.expectation == *expectation)
}
