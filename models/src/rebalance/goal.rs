//! What a run is to come to, and which events are no way there: for every checker and for fuzzing.

use surehold::Machine;
use surehold::rebalance::event::Move;
use surehold::rebalance::message::{FromServer, ToServer, View};
use surehold::rebalance::object::{SegmentId, ServerId, TierId};
use surehold::rebalance::{CoordinatorEvent, Input, Task};

use super::fleet::{Fleet, Leads as _};
use super::model::{Action, Ending, Model, WorldOf};
use super::scope::Views;
use super::world::{Letter, Mail};

impl Action {
    /// Whether this event is a fault, or something that nobody may wait for. The goal must be in reach without.
    #[must_use]
    pub fn is_fault(&self, is_up: impl Fn(ServerId) -> bool) -> bool {
        match self {
            Self::Run(_, _, proposed) => proposed.is_some(),
            Self::Go(_, task) => matches!(task, Task::Overdue(..) | Task::Unconfirmed(..)),
            Self::Deliver { repeated, fails, .. } => *repeated || *fails,
            Self::End(_, _, ending) => *ending != Ending::Well,
            // That discovery loses a server that is down is as it should be.
            Self::Vanish(_, server) => is_up(*server),
            Self::Lose(_) | Self::Crash(..) | Self::TakeOver(_) | Self::Operate => true,
            Self::View(..) | Self::Appear(..) | Self::Restart(_) | Self::Depose(_) => false,
        }
    }
}

impl<F: Fleet> Model<F> {
    /// Whether each segment has as many copies as are required, or as there are places for, nothing is on its
    /// way, and the balancer would be listened to.
    pub fn is_at_goal(&self, world: &WorldOf<F>) -> bool {
        let placed = self.scope.segment_ids().all(|segment| self.is_placed(world, segment));
        let up = world.servers.iter().all(|node| {
            // Files that nobody announces are gone, where a server is polled: what could not be deleted is deleted
            // with the next message.
            let announced = |id| self.scope.views == Views::Fresh || node.is_serving(id);
            node.role.is_some() && node.pending.is_empty() && node.files().all(announced)
        });
        let leads = world.leaders.iter().filter(|leader| leader.role.term().is_some());
        let seen = |server| leads.clone().all(|leader| leader.sees(server));
        placed
            && up
            && world.wire.iter().all(|letter| self.polls_on && self.is_settled_poll(world, letter))
            && self.scope.ids().all(seen)
            && world.leaders.iter().all(|leader| leader.role.is_quiet())
            && self.takes_up_moves(world)
    }

    /// Whether a message is a poll, or the answer to one that tells what is so: whoever hears it learns nothing.
    fn is_settled_poll(&self, world: &WorldOf<F>, letter: &Letter) -> bool {
        let tells_the_truth = |view: &View| {
            let node = &world.servers[usize::from(letter.server.0)];
            let told = |segment: SegmentId| view.segments.contains(&segment);
            self.scope.segment_ids().all(|segment| told(segment) == node.is_serving(segment))
        };
        match &letter.mail {
            Mail::Asked(ToServer::Poll(_), _) => true,
            Mail::Told(FromServer::View(view)) => tells_the_truth(view),
            Mail::Asked(ToServer::Request(_), _)
            | Mail::Told(FromServer::Reply(_) | FromServer::Outdated(_)) => false,
        }
    }

    /// Whether a segment has its copies, tier by tier.
    fn is_placed(&self, world: &WorldOf<F>, segment: SegmentId) -> bool {
        self.scope.tiers().into_iter().all(|tier| self.is_placed_in(world, segment, tier))
    }

    /// Servers to be emptied keep a copy, and one is missing, only where no other of their tier has room for it.
    fn is_placed_in(&self, world: &WorldOf<F>, segment: SegmentId, tier: TierId) -> bool {
        let info = |at: ServerId| self.scope.info(at, world.operated);
        let of = self.scope.ids().filter(|at| info(*at).managed && info(*at).tier == tier);
        let (leaving, staying): (Vec<_>, Vec<_>) = of.partition(|at| info(*at).decommissioning);
        let copies = |of: &[ServerId]| {
            of.iter().filter(|at| world.servers[usize::from(at.0)].is_serving(segment)).count()
        };
        let first = self.scope.required_after(world.operated);
        let required = usize::from(self.scope.loadable(tier, first));
        let (stay, leave) = (copies(&staying), copies(&leaving));
        let is_place = |at: &ServerId| {
            let serves = world.servers[usize::from(at.0)].is_serving(segment);
            !serves && self.has_room(world, *at)
        };
        stay + leave <= required && (stay == required || !staying.iter().any(is_place))
    }

    /// Whether a server could hold one more segment, each of one byte.
    fn has_room(&self, world: &WorldOf<F>, server: ServerId) -> bool {
        let node = &world.servers[usize::from(server.0)];
        let held = self.scope.segment_ids().filter(|id| node.is_serving(*id)).count();
        (held as u64) < self.scope.info(server, world.operated).capacity_bytes
    }

    /// L6: whether a coordinator that leads would take up any move that is possible (dossier 9.2).
    fn takes_up_moves(&self, world: &WorldOf<F>) -> bool {
        let leads = |at: &u8| world.leaders[usize::from(*at)].role.term().is_some();
        (0..world.leaders.len() as u8).filter(leads).all(|at| {
            let mut runs = Vec::new();
            for segment in self.scope.segment_ids() {
                self.moves_of(world, at, segment, &mut runs);
            }
            runs.into_iter().all(|run| self.is_taken_up(world, run))
        })
    }

    /// Whether a run takes up the move that it is proposed. Steps are pure: this only asks.
    fn is_taken_up(&self, world: &WorldOf<F>, run: Action) -> bool {
        let Action::Run(at, _, Some(proposed)) = run else { return true };
        let Move { segment, from, to } = proposed;
        let info = |at| self.scope.info(at, world.operated);
        let possible = info(from).managed && info(to).managed && !info(to).decommissioning;
        if !possible || info(from).tier != info(to).tier || !self.has_room(world, to) {
            return true;
        }
        let input = Input { pick: 0, proposed: Some(proposed) };
        let event = CoordinatorEvent::Continue { task: Task::Run, input };
        let mut role = world.leaders[usize::from(at)].role.clone();
        // A run has up to four phases, the last of which decides.
        for _ in 0..4 {
            let Ok(step) = self.coordinator.step(&role, event.clone()) else { return false };
            role = step.state.into();
            if role.moves().contains(&(to, segment)) {
                return true;
            }
        }
        false
    }
}
