//! Judging what is decided and what is carried out, with the library's own invariants.

use surehold::rebalance::event::Move;
use surehold::rebalance::historical;
use surehold::rebalance::invariant::{Dropped, Property};
use surehold::rebalance::message::{Action as Asked, Request, ToServer};
use surehold::rebalance::object::{SegmentId, ServerId, TierId};
use surehold::rebalance::{HistoricalEffect, HistoricalEvent};
use surehold::{Machine, rebalance::object::Term};

use super::fleet::{Change, Fleet, Leads as _};
use super::model::{Model, WorldOf, break_once};
use super::tale::Tale;
use super::window::Sought;
use super::world::{Basis, Broken, Decision, Mail};

impl<F: Fleet> Model<F> {
    fn judges(&self, property: Property) -> bool {
        self.judged.contains(&property)
    }

    fn managed(&self, server: ServerId) -> bool {
        self.scope.servers[usize::from(server.0)].managed
    }

    fn tier(&self, server: ServerId) -> TierId {
        self.scope.servers[usize::from(server.0)].tier
    }

    /// Servers that serve a segment, or will as soon as they are up again; managed ones only.
    fn serving(&self, world: &WorldOf<F>, segment: SegmentId) -> Vec<ServerId> {
        let all = self.scope.ids().filter(|at| self.managed(*at));
        all.filter(|at| world.servers[usize::from(at.0)].serves(segment)).collect()
    }

    /// What has changed in a coordinator's mind: drops and loads that are new.
    pub(super) fn judge_decisions(
        &self,
        world: &mut WorldOf<F>,
        at: u8,
        change: &Change,
        proposed: Option<Move>,
        tale: &mut Tale,
    ) {
        let Change { old, new, contradiction, overfilled } = change;
        let gone = |d: &Decision| {
            d.leader == at && new.drops.binary_search(&(d.server, d.segment)).is_err()
        };
        world.decisions.retain(|decision| !gone(decision));
        let is_new =
            |pair: &&(ServerId, SegmentId), known: &[_]| known.binary_search(*pair).is_err();
        for (server, segment) in new.drops.iter().filter(|drop| is_new(drop, &old.drops)) {
            tale.decides_to(&self.scope, at, "drop", *segment, *server);
            self.judge_new_drop(world, at, *server, *segment);
        }
        for (server, segment) in new.loads.iter().filter(|load| is_new(load, &old.loads)) {
            // A move that is found late is a plain load from then on.
            if old.moves.binary_search(&(*server, *segment)).is_err() {
                tale.decides_to(&self.scope, at, "load", *segment, *server);
                self.judge_new_load(world, *server, *segment);
            }
        }
        for (server, segment) in new.moves.iter().filter(|load| is_new(load, &old.moves)) {
            tale.decides_to(&self.scope, at, "move", *segment, *server);
            if proposed.is_some_and(|p| (p.to, p.segment) == (*server, *segment)) {
                world.left.moves = world.left.moves.saturating_sub(1);
            } else {
                self.judge_own_move(world, *server, *segment);
            }
        }
        if let Some((server, segment)) =
            contradiction.as_ref().filter(|_| self.judges(Property::OneAction))
        {
            break_once(&mut world.broken, Broken::TwoActions(*segment, *server));
        }
        if let Some(server) = overfilled.as_ref().filter(|_| self.judges(Property::NoOverfill)) {
            break_once(&mut world.broken, Broken::Overfilled(*server));
        }
    }

    /// A request of a term that is over, as its server had been told before it came, changes nothing.
    pub(super) fn judge_term(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        before: &historical::State,
        request: &Request,
    ) {
        let Some(after) = &world.servers[usize::from(server.0)].role else { return };
        let id = request.segment;
        let changed = before.announces(id) != after.announces(id)
            || before.is_loading(id) != after.is_loading(id);
        let is_over = request.ticket.term < before.fence().term;
        if changed && is_over && self.judges(Property::OldTermMoot) {
            break_once(&mut world.broken, Broken::OldTerm(id, server));
        }
    }

    fn judge_new_drop(&self, world: &mut WorldOf<F>, at: u8, server: ServerId, segment: SegmentId) {
        let role = &world.leaders[usize::from(at)].role;
        let first = self.scope.required_after(world.operated);
        let required = self.scope.loadable_in_all(first);
        let mut basis = Basis { required: first, ..Basis::default() };
        let mut sure = 0;
        for other in self.scope.ids().filter(|id| self.managed(*id)) {
            let node = &world.servers[usize::from(other.0)];
            let crashed = node.crashed_away.contains(&segment) && role.believes(other, segment);
            let serves = node.serves(segment);
            basis.served += u8::from(serves || crashed);
            if other == server || !(serves || crashed) {
                continue;
            }
            basis.others |= 1 << other.0;
            sure += u16::from(!self.is_doomed(world, other, segment));
        }
        // A copy that a crash has taken already cannot be dropped, and nothing depends on its drop.
        let gone = world.servers[usize::from(server.0)].crashed_away.contains(&segment);
        let heeded = self.heeds(world, server, at) && !gone;
        if sure == 0 && required > 0 && heeded && self.judges(Property::DropJustified) {
            break_once(&mut world.broken, Broken::Unjustified(segment, server));
        }
        let decision = Decision { leader: at, server, segment, basis };
        let place = world.decisions.partition_point(|other| *other < decision);
        world.decisions.insert(place, decision);
    }

    /// Whether a drop of this copy is decided or on its way that its server would carry out.
    fn is_doomed(&self, world: &WorldOf<F>, server: ServerId, segment: SegmentId) -> bool {
        let decided = world.decisions.iter().any(|decision| {
            decision.server == server
                && decision.segment == segment
                && self.heeds(world, server, decision.leader)
        });
        decided || self.drop_on_its_way(world, server, segment)
    }

    /// Whether a server would take a request from this coordinator, as far as terms go. Upstream's servers
    /// know none.
    fn heeds(&self, world: &WorldOf<F>, server: ServerId, leader: u8) -> bool {
        let node = &world.servers[usize::from(server.0)];
        let known = node.role.as_ref().map_or(node.durable.term, |role| role.fence().term);
        let term = world.leaders[usize::from(leader)].role.term();
        term.is_some_and(|term| term >= known) || known == Term(0)
    }

    fn drop_on_its_way(&self, world: &WorldOf<F>, server: ServerId, segment: SegmentId) -> bool {
        let node = &world.servers[usize::from(server.0)];
        let role = node.role.clone().unwrap_or_else(|| self.restarted(node).into());
        world.wire.iter().filter(|letter| letter.server == server).any(|letter| {
            let Mail::Asked(message @ ToServer::Request(request), _) = &letter.mail else {
                return false;
            };
            let drops = request.action == Asked::Drop && request.segment == segment;
            // Steps are pure: whether the server would heed it is found by asking it.
            let after = self.historical.step(&role, HistoricalEvent::Received(*message));
            drops
                && after.is_ok_and(|step| role.announces(segment) && !step.state.announces(segment))
        })
    }

    fn judge_new_load(&self, world: &mut WorldOf<F>, server: ServerId, segment: SegmentId) {
        if !self.judges(Property::NoNeedlessLoad) {
            return;
        }
        let allowed = self.scope.needless_loads.unwrap_or(u8::MAX);
        let stays = |other: &ServerId| !self.is_doomed(world, *other, segment);
        let is_up = |other: &ServerId| world.servers[usize::from(other.0)].is_serving(segment);
        let tier = self.tier(server);
        let there = self.serving(world, segment).into_iter().filter(|at| self.tier(*at) == tier);
        let staying = there.filter(is_up).filter(stays).count();
        let first = self.scope.required_after(world.operated);
        if staying < usize::from(self.scope.loadable(tier, first)) {
            return;
        }
        if world.needless >= allowed {
            break_once(&mut world.broken, Broken::NeedlessLoad(segment, server));
        } else {
            world.needless += 1;
        }
    }

    /// A move that nobody has proposed. Between two things that happen to the cluster there is at most one for
    /// each copy on a server to be emptied; as only so much may happen, no path has them without end.
    fn judge_own_move(&self, world: &mut WorldOf<F>, to: ServerId, segment: SegmentId) {
        world.own_moves = world.own_moves.saturating_add(1);
        let happened = self.scope.budget.spent(&world.left) + u32::from(world.operated);
        let copies = self.scope.emptied_after(world.operated) as u32 * self.scope.segments;
        let most = copies * happened;
        if u32::from(world.own_moves) > most && self.judges(Property::NoPingPong) {
            break_once(&mut world.broken, Broken::PingPong(segment, to));
        }
    }

    /// A drop was carried out.
    pub(super) fn judge_drop(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        segment: SegmentId,
        basis: Basis,
    ) {
        if !self.managed(server) {
            return;
        }
        let facts = self.facts(world, server, segment, basis, None);
        self.judge_facts(world, server, segment, facts);
        // In one tier alone all that serve may be in another.
        let tier = Some(self.tier(server)).filter(|_| self.scope.tiers().len() > 1);
        let in_tier = tier.map(|tier| self.facts(world, server, segment, basis, Some(tier)));
        if let Some(facts) = in_tier.filter(Dropped::left_too_few) {
            self.break_too_few(world, server, segment, facts);
        }
    }

    /// Who served and serves, in all tiers or in one.
    fn facts(
        &self,
        world: &WorldOf<F>,
        server: ServerId,
        segment: SegmentId,
        basis: Basis,
        tier: Option<TierId>,
    ) -> Dropped {
        let counts = |at: &ServerId| tier.is_none_or(|tier| self.tier(*at) == tier);
        let others = self.serving(world, segment).into_iter().filter(|other| *other != server);
        let then = |other: &ServerId| basis.others >> other.0 & 1 == 1;
        let crashed = |other: &ServerId| {
            let node = &world.servers[usize::from(other.0)];
            then(other) && node.crashed_away.contains(&segment)
        };
        // More may be required now: that the drop is on its way is then a fact, and no fault.
        let required = match tier {
            Some(tier) => self.scope.loadable(tier, basis.required),
            None => self.scope.loadable_in_all(basis.required),
        };
        let served_others = self.scope.ids().filter(counts).filter(then).count();
        let itself = usize::from(basis.served) - self.scope.ids().filter(then).count();
        Dropped {
            required: usize::from(required),
            served_at_decision: itself + served_others,
            others_left: others.filter(counts).count(),
            others_crashed: self.scope.ids().filter(counts).filter(crashed).count(),
        }
    }

    fn judge_facts(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        segment: SegmentId,
        facts: Dropped,
    ) {
        if let Some(sought) = self.scope.losses.filter(|_| segment == self.watched) {
            let is_lost = facts.took_the_last() || facts.left_too_few();
            if is_lost && !self.is_sought(world, sought, server) {
                world.watch.lost = true;
                return;
            }
        }
        if facts.took_the_last() && self.judges(Property::LastCopyKept) {
            break_once(&mut world.broken, Broken::LastDropped(segment, server));
        } else if facts.left_too_few() {
            self.break_too_few(world, server, segment, facts);
        }
    }

    fn break_too_few(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        segment: SegmentId,
        facts: Dropped,
    ) {
        if self.judges(Property::RequiredKept) {
            let left = (facts.others_left + facts.others_crashed) as u8;
            let (served, required) = (facts.served_at_decision as u8, facts.required as u16);
            let broken = Broken::TooFew { segment, server, left, served, required };
            break_once(&mut world.broken, broken);
        }
    }

    /// Whether a loss counts in a scope that tells windows apart.
    fn is_sought(&self, world: &mut WorldOf<F>, sought: Sought, server: ServerId) -> bool {
        let windows = self.windows_of_loss(world, server);
        match sought {
            Sought::Through(window) => {
                let through = windows.contains(&window);
                world.watch.through = through.then_some(window);
                through
            }
            Sought::Unnamed => windows.is_empty(),
        }
    }

    /// No deletion begins while the delay of a drop is not over.
    pub(super) fn judge_delays(&self, world: &mut WorldOf<F>, server: ServerId) {
        let pending = &world.servers[usize::from(server.0)].pending;
        let waits = |segment| {
            pending.iter().any(|issued| {
                matches!(issued.effect, HistoricalEffect::Wait { segment: of, .. } if of == segment)
            })
        };
        let early = pending.iter().find_map(|issued| match issued.effect {
            HistoricalEffect::Delete(segment) if waits(segment) => Some(segment),
            _ => None,
        });
        if let Some(segment) = early.filter(|_| self.judges(Property::FullDelay)) {
            break_once(&mut world.broken, Broken::Early(segment, server));
        }
    }

    /// Nothing is announced without files.
    pub(super) fn judge_ghosts(&self, world: &mut WorldOf<F>, server: ServerId) {
        let node = &world.servers[usize::from(server.0)];
        let ghost = node.role.iter().flat_map(|role| role.announced().collect::<Vec<_>>());
        let ghost = ghost.into_iter().find(|id| node.disk.binary_search(id).is_err());
        if let Some(segment) = ghost.filter(|_| self.judges(Property::NoGhost)) {
            break_once(&mut world.broken, Broken::Ghost(segment, server));
        }
    }
}
