//! What has happened before a scope begins: the moves of a scenario, made with the variant's own transitions.

use std::sync::Arc;

use surehold::commit::Guard;
use surehold::guard::Guards;

use super::model::Model;
use super::replay::Stage;
use super::scenario::{Move, read};
use super::scope::{Budget, Scope};
use super::tale::Line;
use super::world::World;

/// How a scope begins.
pub struct Beginning {
    /// The state after the moves.
    pub world: World,
    /// What was told of them.
    pub lines: Vec<Line>,
    /// The first move that this variant does not come to.
    pub unreached: Option<&'static str>,
}

impl<V: Guards<Guard>> Model<V> {
    /// Makes the moves before the scope begins. A variant that does not come to one goes on with the next.
    #[must_use]
    pub fn beginning(&self) -> Beginning {
        if self.scope.begun.is_empty() {
            return Beginning { world: self.start(), lines: Vec::new(), unreached: None };
        }
        let leaders = self.scope.budget.leaders;
        let budget = Budget { leaders, ..Budget::OFTEN };
        let scope = Scope { budget, begun: &[], ..Scope::clone(&self.scope) };
        // Each operation is one of its own there, and nothing is judged.
        let model = Self { scope: Arc::new(scope), reduce: false, ..self.clone() };
        let mut stage = Stage::at_start(model);
        let mut unreached = None;
        for text in self.scope.begun {
            let made = read(text).is_some_and(|what: Move| stage.act(what).is_ok());
            unreached = unreached.or((!made).then_some(*text));
        }
        let (mut world, lines) = stage.into_parts();
        world.left = self.scope.budget;
        world.broken = None;
        Beginning { world, lines, unreached }
    }
}
