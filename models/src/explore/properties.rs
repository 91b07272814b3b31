//! The properties of a model, sorted by how they are judged.

use stateright::{Expectation, Property};

use super::Judged;

/// The properties of a model.
pub(super) struct Properties<M: Judged> {
    always: Vec<Property<M>>,
    /// Those that no state has met yet, in the model's order.
    unmet: Vec<Property<M>>,
}

impl<M: Judged> Properties<M> {
    /// Sorts the properties of the model.
    ///
    /// # Panics
    ///
    /// If one is an `Eventually`.
    pub(super) fn of(model: &M) -> Self {
        let mut sorted = Properties { always: Vec::new(), unmet: Vec::new() };
        for property in model.properties() {
            match property.expectation {
                Expectation::Always => sorted.always.push(property),
                Expectation::Sometimes => sorted.unmet.push(property),
                Expectation::Eventually => panic!(
                    "property {:?} is an `eventually`, whose semantics in stateright is unsound: set a goal instead",
                    property.name
                ),
            }
        }
        sorted
    }

    /// The first `Always` property that is false in the state.
    pub(super) fn broken(&self, model: &M, state: &M::State) -> Option<&'static str> {
        let mut properties = self.always.iter();
        properties
            .find(|property| !(property.condition)(model, state))
            .map(|property| property.name)
    }

    /// Notes the `Sometimes` properties that the state meets.
    pub(super) fn note(&mut self, model: &M, state: &M::State) {
        self.unmet.retain(|property| !(property.condition)(model, state));
    }

    /// Names of the `Sometimes` properties that no state has met.
    pub(super) fn unmet(&self) -> Vec<&'static str> {
        self.unmet.iter().map(|property| property.name).collect()
    }
}
