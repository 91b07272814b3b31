//! Whether a state shows the combination that a scope was built for.

use surehold::rebalance::message::{Action as Asked, FromServer, Request, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId};

use super::fleet::{Fleet, Leads as _};
use super::model::{Model, WorldOf};
use super::scope::Witness;
use super::world::{Letter, Mail};

impl<F: Fleet> Model<F> {
    pub(super) fn watches(&self, witness: Witness) -> bool {
        self.witnesses && self.scope.witnesses.contains(&witness)
    }

    /// Whether a state shows what a witness looks for.
    pub fn shows(&self, world: &WorldOf<F>, witness: Witness) -> bool {
        let serving = |at: ServerId, id| world.servers[usize::from(at.0)].is_serving(id);
        let at_start = |at: ServerId, id: SegmentId| {
            self.scope.servers[usize::from(at.0)].serves.contains(&id.0)
        };
        let any_pair = |shows: &dyn Fn(ServerId, SegmentId) -> bool| {
            self.scope.ids().any(|at| self.scope.segment_ids().any(|id| shows(at, id)))
        };
        let copies = |id| self.scope.ids().filter(|at| serving(*at, id)).count();
        let first = self.scope.required_after(world.operated);
        let required = usize::from(self.scope.loadable_in_all(first));
        let all = |shows: &dyn Fn(SegmentId) -> bool| self.scope.segment_ids().all(shows);
        match witness {
            Witness::MoveDone => {
                any_pair(&|at, id| serving(at, id) && !at_start(at, id))
                    && any_pair(&|at, id| {
                        let node = &world.servers[usize::from(at.0)];
                        at_start(at, id) && !node.serves(id) && !node.crashed_away.contains(&id)
                    })
            }
            Witness::ViewAhead => any_pair(&|at, id| {
                let ahead = |role: &super::model::RoleOf<F>| {
                    role.unanswered(at).contains(&id)
                        && !role.drops().contains(&(at, id))
                        && role.believes(at, id)
                };
                serving(at, id) && world.leaders.iter().any(|leader| ahead(&leader.role))
            }),
            Witness::ViewBehind => any_pair(&|at, id| {
                let behind = |role: &super::model::RoleOf<F>| {
                    role.believes(at, id) && !role.drops().contains(&(at, id))
                };
                !serving(at, id) && world.leaders.iter().any(|leader| behind(&leader.role))
            }),
            Witness::ZombieDrop => world.seen.zombie_drop,
            Witness::ZombieLoad => world.seen.zombie_load,
            Witness::DropDuringLoad => world.seen.drop_during_load,
            Witness::LoadedWhileDeleting => world.seen.loaded_while_deleting,
            Witness::DropOfOldTerm => requests(&world.wire).any(|(_, request)| {
                let newest = world.leaders.iter().filter_map(|leader| leader.role.term()).max();
                request.action == Asked::Drop
                    && newest.is_some_and(|newest| request.ticket.term < newest)
            }),
            Witness::TwoLeaders => {
                world.leaders.iter().filter(|leader| leader.role.term().is_some()).count() > 1
            }
            Witness::DropAcrossFlap => requests(&world.wire).any(|(letter, request)| {
                let leader = &world.leaders[usize::from(letter.leader)];
                let forgotten = !leader.role.drops().contains(&(letter.server, request.segment));
                request.action == Asked::Drop
                    && forgotten
                    && leader.sees(letter.server)
                    && world.left.flaps < self.scope.budget.flaps
            }),
            Witness::RequestAcrossRestart => requests(&world.wire).any(|(letter, request)| {
                let node = &world.servers[usize::from(letter.server.0)];
                node.role.as_ref().is_some_and(|r| r.stamp().incarnation > request.incarnation)
            }),
            Witness::Replaced => {
                let lost = world.servers.iter().any(|node| !node.crashed_away.is_empty());
                lost && all(&|id| copies(id) >= required)
            }
            Witness::SurplusDropped => {
                let before = |id| self.scope.ids().filter(|at| at_start(*at, id)).count();
                all(&|id| before(id) > required && copies(id) == required)
            }
            Witness::FailedThenLoaded => {
                world.left.failures < self.scope.budget.failures
                    && any_pair(&|at, id| serving(at, id) && !at_start(at, id))
            }
            Witness::Drained => self.scope.ids().any(|at| {
                self.scope.info(at, world.operated).decommissioning
                    && all(&|id| !serving(at, id) && copies(id) == required)
            }),
            Witness::LeftOver => any_pair(&|at, id| {
                let role = &world.servers[usize::from(at.0)].role;
                role.as_ref().is_some_and(|r| r.stamp().incarnation.0 > 0 && r.has_left_over(id))
            }),
            Witness::DoneInPart => {
                let spent = world.left.unknowns < self.scope.budget.unknowns;
                spent && world.servers.iter().any(|node| !node.parts.is_empty())
            }
            Witness::OldAnswer => world.wire.iter().any(|letter| {
                let Mail::Told(FromServer::Reply(reply)) = &letter.mail else { return false };
                let role = &world.leaders[usize::from(letter.leader)].role;
                !role.unanswered(letter.server).contains(&reply.segment)
            }),
            Witness::LeadsAgain => requests(&world.wire).any(|(letter, request)| {
                let term = world.leaders[usize::from(letter.leader)].role.term();
                term.is_some_and(|term| request.ticket.term < term)
            }),
            Witness::TiersServed => {
                let servers: Vec<_> = self.scope.ids().collect();
                let dropped = any_pair(&|at, id| at_start(at, id) && !serving(at, id));
                let in_tier = |id, tier| {
                    let of = |at: &ServerId| self.scope.servers[usize::from(at.0)].tier == tier;
                    servers.iter().copied().filter(of).filter(|at| serving(*at, id)).count()
                };
                let is_exact =
                    |tier, id| in_tier(id, tier) == usize::from(self.scope.loadable(tier, first));
                dropped && self.scope.tiers().into_iter().all(|t| all(&|id| is_exact(t, id)))
            }
            Witness::RuleDuringMove => {
                world.operated > 0
                    && world.leaders.iter().any(|leader| !leader.role.moves().is_empty())
            }
        }
    }
}

fn requests(wire: &[Letter]) -> impl Iterator<Item = (&Letter, &Request)> {
    wire.iter().filter_map(|letter| match &letter.mail {
        Mail::Asked(ToServer::Request(request), _) => Some((letter, request)),
        Mail::Asked(ToServer::Poll(_), _) | Mail::Told(_) => None,
    })
}
