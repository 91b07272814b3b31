//! Rounds of a replay: steps that end where they began, so that they may be repeated for ever.

use surehold::commit::Guard;
use surehold::guard::Guards;

use super::model::{Action, Model};
use super::world::World;

/// What is noted while a step is played.
#[derive(Clone)]
pub(super) struct Round {
    /// Where it began.
    from: World,
    /// What could have happened at each moment since, without a fault.
    open: Option<Vec<Action>>,
    /// What has.
    taken: Vec<Action>,
}

impl Round {
    pub(super) fn at(world: &World) -> Self {
        Self { from: world.clone(), open: None, taken: Vec::new() }
    }

    /// An event happens here.
    pub(super) fn pass<V: Guards<Guard>>(
        &mut self,
        model: &Model<V>,
        world: &World,
        action: Action,
    ) {
        let mut actions = Vec::new();
        model.enabled(world, &mut actions);
        actions.retain(|action| !model.is_fault(world, action));
        match &mut self.open {
            Some(open) => open.retain(|action| actions.contains(action)),
            None => self.open = Some(actions),
        }
        self.taken.push(action);
    }

    /// Whether it ends where it began, and nothing waits for its turn all the while, a task that begins with one server and
    /// the same task with another being two things: a fair run may repeat it for ever.
    pub(super) fn is_endless(&self, world: &World) -> bool {
        let has_turn = |action: &Action| self.taken.contains(action);
        self.from == *world && self.open.as_ref().is_some_and(|open| open.iter().all(has_turn))
    }
}
