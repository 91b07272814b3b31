//! What a run is to come to, and which events are no way there: for every checker and for fuzzing.

use surehold::rebalance::Task;

use super::fleet::{Fleet, Leads as _};
use super::model::{Action, Model, WorldOf};

impl Action {
    /// Whether this event is a fault, or something that nobody may wait for. The goal must be in reach without.
    #[must_use]
    pub fn is_fault(&self, is_up: impl Fn(surehold::rebalance::object::ServerId) -> bool) -> bool {
        match self {
            Self::Run(_, _, proposed) => proposed.is_some(),
            Self::Go(_, task) => matches!(task, Task::Overdue(..) | Task::Unconfirmed(..)),
            Self::Deliver { repeated, fails, .. } => *repeated || *fails,
            Self::End(_, _, fails) => *fails,
            // That discovery loses a server that is down is as it should be.
            Self::Vanish(_, server) => is_up(*server),
            Self::Lose(_) | Self::Crash(..) | Self::TakeOver(_) | Self::Operate => true,
            Self::View(..) | Self::Appear(..) | Self::Restart(_) | Self::Depose(_) => false,
        }
    }
}

impl<F: Fleet> Model<F> {
    /// Whether each segment has as many copies as are required, or as there are places for, and nothing is
    /// on its way.
    pub fn is_at_goal(&self, world: &WorldOf<F>) -> bool {
        let first = self.scope.required_after(world.operated);
        let copies = |segment, tier| {
            let places = self.scope.servers.iter().zip(&world.servers);
            let of = places.filter(|(place, _)| place.managed && place.tier == tier);
            of.filter(|(_, node)| node.is_serving(segment)).count()
        };
        let is_exact = |tier| {
            let required = usize::from(self.scope.loadable(tier, first));
            self.scope.segment_ids().all(|segment| copies(segment, tier) == required)
        };
        let exact = self.scope.tiers().into_iter().all(is_exact);
        let up = world.servers.iter().all(|node| node.role.is_some() && node.pending.is_empty());
        let leads = world.leaders.iter().filter(|leader| leader.role.term().is_some());
        let seen = |server| leads.clone().all(|leader| leader.sees(server));
        exact
            && up
            && world.wire.is_empty()
            && self.scope.ids().all(seen)
            && world.leaders.iter().all(|leader| leader.role.is_quiet())
    }
}
