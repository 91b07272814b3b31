//! Which events of the world may happen, within the scope's bounds.

use surehold::Issued;
use surehold::rebalance::event::Move;
use surehold::rebalance::message::{Action as Asked, FromServer, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};
use surehold::rebalance::{HistoricalEffect, Task};

use super::fleet::{Fleet, Leads as _};
use super::model::{Action, Ending, MAX_LETTERS, Model, WorldOf};
use super::scope::Views;
use super::world::Mail;

impl<F: Fleet> Model<F> {
    /// Every event that may happen.
    pub fn enabled(&self, world: &WorldOf<F>, actions: &mut Vec<Action>) {
        if world.watch.lost {
            return;
        }
        for at in 0..world.leaders.len() as u8 {
            self.enabled_of_leader(world, at, actions);
        }
        self.enabled_of_wire(world, actions);
        for server in self.scope.ids() {
            self.enabled_of_server(world, server, actions);
        }
        if world.left.takeovers > 0 {
            actions.push(Action::TakeOver(self.next_leader(world)));
        }
        if usize::from(world.operated) < self.scope.operator.len() {
            actions.push(Action::Operate);
        }
    }

    fn enabled_of_leader(&self, world: &WorldOf<F>, at: u8, actions: &mut Vec<Action>) {
        self.enabled_within_leader(world, at, actions);
        self.enabled_moves(world, at, actions);
        self.enabled_of_links(world, at, actions);
    }

    /// What a coordinator may do by itself, moves aside.
    pub(super) fn enabled_within_leader(
        &self,
        world: &WorldOf<F>,
        at: u8,
        actions: &mut Vec<Action>,
    ) {
        let role = &world.leaders[usize::from(at)].role;
        for callback in 0..role.callbacks() as u8 {
            actions.push(Action::Go(at, Task::Callback(callback)));
        }
        if role.term().is_none() {
            return;
        }
        if at != self.last_leader(world) {
            actions.push(Action::Depose(at));
        }
        if role.may_run() && !self.is_early(world, at) {
            let picks = if role.decides_next() { self.scope.picks.max(1) } else { 1 };
            actions.extend((0..picks).map(|pick| Action::Run(at, pick, None)));
        }
    }

    /// What may happen between a coordinator and its servers, but for what is on the wire.
    pub(super) fn enabled_of_links(&self, world: &WorldOf<F>, at: u8, actions: &mut Vec<Action>) {
        let leader = &world.leaders[usize::from(at)];
        let role = &leader.role;
        if role.term().is_none() {
            return;
        }
        for server in self.scope.ids() {
            self.enabled_of_link(world, at, server, actions);
        }
        if world.left.overdue > 0 {
            let overdue = role.may_be_overdue().into_iter();
            actions.extend(overdue.map(|(s, id)| Action::Go(at, Task::Overdue(s, id))));
            let waiting = role.unconfirmed().into_iter();
            actions.extend(waiting.map(|(s, id)| Action::Go(at, Task::Unconfirmed(s, id))));
        }
    }

    /// What may happen between a leading coordinator and one server.
    pub(super) fn enabled_of_link(
        &self,
        world: &WorldOf<F>,
        at: u8,
        server: ServerId,
        actions: &mut Vec<Action>,
    ) {
        let node = &world.servers[usize::from(server.0)];
        if !world.leaders[usize::from(at)].sees(server) {
            if node.role.is_some() {
                actions.push(Action::Appear(at, server));
            }
            return;
        }
        if node.role.is_none() || world.left.flaps > 0 {
            actions.push(Action::Vanish(at, server));
        }
        if self.may_send(world, at, server) && !self.is_full(world, at, server) {
            actions.push(Action::Go(at, Task::Send(server)));
        }
        match self.scope.views {
            Views::Fresh => {}
            Views::Swift | Views::Prompt => {
                if node.role.is_some() {
                    actions.push(Action::View(at, server));
                }
            }
            Views::InFlight => {
                if !self.is_polling(world, at, server) && !self.is_full(world, at, server) {
                    actions.push(Action::Go(at, Task::Poll(server)));
                }
            }
        }
    }

    /// Whether a run would begin before every view shows the truth, where the scope forbids that.
    fn is_early(&self, world: &WorldOf<F>, at: u8) -> bool {
        self.scope.views == Views::Prompt
            && world.leaders[usize::from(at)].role.begins_next()
            && !self.scope.ids().all(|server| self.is_shown_truth(world, at, server))
    }

    /// Moves that the next phase of a run may be proposed.
    fn enabled_moves(&self, world: &WorldOf<F>, at: u8, actions: &mut Vec<Action>) {
        if self.takes_moves(world, at) {
            for segment in self.scope.segment_ids() {
                self.moves_of(world, at, segment, actions);
            }
        }
    }

    /// Whether the next phase of a coordinator's run may be proposed a move.
    pub(super) fn takes_moves(&self, world: &WorldOf<F>, at: u8) -> bool {
        let role = &world.leaders[usize::from(at)].role;
        role.term().is_some()
            && world.left.moves > 0
            && role.decides_next()
            && !self.is_early(world, at)
    }

    /// Moves of one segment, from wherever it is believed to be to wherever it is not.
    pub(super) fn moves_of(
        &self,
        world: &WorldOf<F>,
        at: u8,
        segment: SegmentId,
        actions: &mut Vec<Action>,
    ) {
        let role = &world.leaders[usize::from(at)].role;
        let (holders, others): (Vec<_>, Vec<_>) =
            self.scope.ids().partition(|server| role.believes(*server, segment));
        for from in holders {
            for to in &others {
                let proposed = Move { segment, from, to: *to };
                actions.extend(
                    (0..self.scope.picks.max(1)).map(|pick| Action::Run(at, pick, Some(proposed))),
                );
            }
        }
    }

    /// Whether something is to be sent that was not, or was lost. What is still on its way, or being worked
    /// on, is not sent again: that the network repeats a request has a budget of its own.
    fn may_send(&self, world: &WorldOf<F>, at: u8, server: ServerId) -> bool {
        let role = &world.leaders[usize::from(at)].role;
        let node = &world.servers[usize::from(server.0)];
        let on_its_way = |segment: &SegmentId| {
            world.wire.iter().any(|letter| {
                let of = match &letter.mail {
                    Mail::Asked(ToServer::Request(request), _) => Some(request.segment),
                    Mail::Told(FromServer::Reply(reply)) => Some(reply.segment),
                    Mail::Asked(ToServer::Poll(_), _) | Mail::Told(_) => None,
                };
                letter.leader == at && letter.server == server && of == Some(*segment)
            }) || node.askers.contains(&(*segment, at))
        };
        role.has_unsent(server) || role.unanswered(server).iter().any(|id| !on_its_way(id))
    }

    fn is_polling(&self, world: &WorldOf<F>, at: u8, server: ServerId) -> bool {
        world.wire.iter().any(|letter| {
            let poll = matches!(
                letter.mail,
                Mail::Asked(ToServer::Poll(_), _)
                    | Mail::Told(FromServer::View(_) | FromServer::Outdated(_))
            );
            letter.leader == at && letter.server == server && poll
        })
    }

    fn is_full(&self, world: &WorldOf<F>, at: u8, server: ServerId) -> bool {
        let letters = world.wire.iter().filter(|l| l.leader == at && l.server == server);
        letters.count() >= MAX_LETTERS
    }

    /// Whether a bound stops something in this state.
    pub fn is_cut_state(&self, world: &WorldOf<F>) -> bool {
        (0..world.leaders.len() as u8).any(|at| {
            self.scope.ids().any(|server| {
                let sees = world.leaders[usize::from(at)].sees(server);
                sees && self.is_full(world, at, server) && self.may_send(world, at, server)
            })
        })
    }

    pub(super) fn enabled_of_wire(&self, world: &WorldOf<F>, actions: &mut Vec<Action>) {
        for (place, letter) in world.wire.iter().enumerate() {
            if place > 0 && world.wire[place - 1] == *letter {
                continue;
            }
            let at = place as u16;
            let node = &world.servers[usize::from(letter.server.0)];
            let request = match &letter.mail {
                Mail::Asked(ToServer::Request(request), _) => Some(request),
                Mail::Asked(ToServer::Poll(_), _) | Mail::Told(_) => None,
            };
            let told = matches!(letter.mail, Mail::Told(_));
            if told || node.role.is_some() {
                let plain = Action::Deliver { letter: at, repeated: false, fails: false };
                actions.push(plain);
                let again = (request.is_some() && world.left.repeats > 0)
                    || (told && world.left.echoes > 0);
                if again {
                    actions.push(Action::Deliver { letter: at, repeated: true, fails: false });
                }
                let load = request.is_some_and(|request| request.action == Asked::Load);
                if load && world.left.failures > 0 && !self.scope.slow_loads {
                    actions.push(Action::Deliver { letter: at, repeated: false, fails: true });
                }
            }
            if world.left.losses > 0 {
                actions.push(Action::Lose(at));
            }
        }
    }

    pub(super) fn enabled_of_server(
        &self,
        world: &WorldOf<F>,
        server: ServerId,
        actions: &mut Vec<Action>,
    ) {
        let node = &world.servers[usize::from(server.0)];
        if node.role.is_none() {
            actions.push(Action::Restart(server));
            return;
        }
        for (place, issued) in node.pending.iter().enumerate() {
            // All waits are equally long, so they end in the order in which they began.
            let waits = |issued: &Issued<HistoricalEffect>| {
                matches!(issued.effect, HistoricalEffect::Wait { .. })
            };
            if waits(issued) && node.pending[..place].iter().any(waits) {
                continue;
            }
            let mut endings = vec![Ending::Well];
            if !waits(issued) && world.left.failures > 0 {
                endings.push(Ending::Badly);
            }
            if !waits(issued) && world.left.unknowns > 0 {
                endings.extend([Ending::UnknownDone, Ending::UnknownPart]);
            }
            let end = |ending| Action::End(server, issued.id.number, ending);
            actions.extend(endings.into_iter().map(end));
        }
        if world.left.crashes > 0 {
            actions.push(Action::Crash(server, false));
            if world.left.disks > 0 {
                actions.push(Action::Crash(server, true));
            }
        }
    }
}
