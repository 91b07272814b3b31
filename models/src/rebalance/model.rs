//! The model: picks an event of the world, calls `step`, carries messages and effects.

use std::sync::Arc;

use surehold::rebalance::event::{Move, Outcome};
use surehold::rebalance::historical;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::message::{
    Action as Asked, Addressed, FromServer, Request, ToServer, View,
};
use surehold::rebalance::object::{Fence, Incarnation, LeaderId, SegmentId, ServerId, Stamp, Term};
use surehold::rebalance::{
    CoordinatorEffect, CoordinatorEvent, HistoricalEffect, HistoricalEvent, Input, Refusal, Task,
};
use surehold::{EffectId, Issued, Machine};

use super::coverage::Coverage;
use super::fleet::{Change, Fleet, Leads as _};
use super::scope::{Operation, Scope, Views, Witness};
use super::tale::Tale;
use super::world::{Basis, Broken, Leader, Left, Letter, Mail, Node, Seen, World};
use crate::memo::Steps;
use crate::part::Part;
#[cfg(feature = "checker")]
use crate::symmetry::{Renaming, names_kept};

/// Messages on their way between one coordinator and one server, at most. Where one more would be sent, the
/// state is cut and says so.
pub const MAX_LETTERS: usize = 4;

/// The state of a fleet's coordinator.
pub type RoleOf<F> = <<F as Fleet>::Coordinator as Machine>::State;

/// The world of a fleet.
pub type WorldOf<F> = World<RoleOf<F>>;

/// A model of one fleet in one scope.
#[derive(Clone, Debug)]
pub struct Model<F: Fleet> {
    /// The scope.
    pub scope: Arc<Scope>,
    /// The properties judged.
    pub judged: Vec<Property>,
    /// Whether the scope's witnesses are asked for.
    pub witnesses: bool,
    /// Whether a goal may be come to while polls go on: where endless rounds are looked for, as they go on for ever.
    pub polls_on: bool,
    /// Counts what occurs, if wanted.
    pub coverage: Option<Arc<Coverage>>,
    /// How servers that are alike can exchange their names; by itself a model lets nobody.
    #[cfg(feature = "checker")]
    pub(super) renamings: Arc<[Renaming]>,
    /// Steps of coordinators.
    pub(super) led: Steps<F::Coordinator, Change>,
    /// Steps of servers.
    pub(super) served: Steps<F::Historical>,
    /// The segment whose losses are put down to windows, where they are.
    pub(super) watched: SegmentId,
    pub(super) coordinator: Arc<F::Coordinator>,
    pub(super) historical: Arc<F::Historical>,
}

/// An event of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A coordinator's task goes on.
    Go(u8, Task),
    /// A coordinator's run goes on, with what the outside brings.
    Run(u8, u8, Option<Move>),
    /// A coordinator's view of a server is renewed, at once.
    View(u8, ServerId),
    /// A message arrives.
    Deliver {
        /// Which, by its place on the wire.
        letter: u16,
        /// Whether it arrives a second time later.
        repeated: bool,
        /// Whether the load that it asks for fails at once.
        fails: bool,
    },
    /// A message is lost.
    Lose(u16),
    /// A server's effect comes to its end.
    End(ServerId, u16, Ending),
    /// Discovery shows a server no longer.
    Vanish(u8, ServerId),
    /// Discovery shows a server again.
    Appear(u8, ServerId),
    /// A server crashes, with its disk or without.
    Crash(ServerId, bool),
    /// A server starts again.
    Restart(ServerId),
    /// Another coordinator wins the election.
    TakeOver(u8),
    /// A coordinator learns that it leads no longer.
    Depose(u8),
    /// The operator's next act.
    Operate,
}

/// How a server's effect comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It is done.
    Well,
    /// It fails, and leaves everything as it was.
    Badly,
    /// The server does not learn whether it was done; it was.
    UnknownDone,
    /// The server does not learn whether it was done; it was in part.
    UnknownPart,
}

impl<F: Fleet> Model<F> {
    /// A model that judges all of the scope's properties.
    pub fn new(fleet: &F, scope: &Scope) -> Self {
        let (coordinator, historical) = fleet.roles();
        Self {
            scope: Arc::new(scope.clone()),
            judged: scope.properties(),
            witnesses: false,
            polls_on: false,
            coverage: None,
            #[cfg(feature = "checker")]
            renamings: names_kept(scope.servers.len()).into(),
            led: Steps::new(),
            served: Steps::new(),
            watched: SegmentId(1),
            coordinator: Arc::new(coordinator),
            historical: Arc::new(historical),
        }
    }

    /// The one initial state: the first coordinator leads and has seen every server.
    pub fn start(&self) -> WorldOf<F> {
        let leaders = self.leaders();
        let mut world = World {
            leaders: (0..leaders).map(|at| Part::new(self.newborn(at))).collect(),
            servers: self.scope.ids().map(|at| Part::new(self.node(at))).collect(),
            wire: Vec::new(),
            decisions: Vec::new(),
            left: self.scope.budget,
            operated: 0,
            needless: 0,
            own_moves: 0,
            broken: None,
            seen: Seen::default(),
            watch: self.new_watch(leaders),
        };
        let mut tale = Tale::untold();
        self.elect(&mut world, 0, &mut tale);
        for server in self.scope.ids() {
            self.renew(&mut world, 0, server, &mut tale);
        }
        world
    }

    /// How many coordinators there are.
    pub(super) fn leaders(&self) -> u8 {
        if self.scope.returns { 2 } else { 1 + self.scope.budget.takeovers }
    }

    fn newborn(&self, at: u8) -> Leader<RoleOf<F>> {
        let durable = surehold::rebalance::coordinator::Durable {
            leader: LeaderId(u16::from(at)),
            incarnation: 0,
        };
        Leader { role: self.coordinator.recover(durable).into(), sees: 0 }
    }

    fn node(&self, at: ServerId) -> Node {
        let serves = self.scope.servers[usize::from(at.0)].serves;
        let disk: Vec<_> = serves.iter().map(|id| SegmentId(*id)).collect();
        let durable = historical::Durable {
            server: at,
            incarnation: Incarnation(0),
            term: Term(0),
            served: disk.iter().copied().collect(),
            left_over: surehold::collections::Set::new(),
        };
        Node {
            role: Some(self.historical.recover(durable.clone()).into()),
            durable,
            pending: Vec::new(),
            disk,
            parts: Vec::new(),
            askers: Vec::new(),
            crashed_away: Vec::new(),
        }
    }

    /// What a server that is down starts as.
    pub(super) fn restarted(&self, node: &Node) -> historical::State {
        let Incarnation(life) = node.durable.incarnation;
        let served = &node.durable.served;
        let left_over = node.files().filter(|id| !served.contains(id)).collect();
        let incarnation = Incarnation(life + 1);
        let durable = historical::Durable { incarnation, left_over, ..node.durable.clone() };
        self.historical.recover(durable)
    }

    /// A coordinator is told of servers and rules and leads from now on, in a term of its own.
    fn elect(&self, world: &mut WorldOf<F>, at: u8, tale: &mut Tale) {
        for server in self.scope.ids() {
            if world.servers[usize::from(server.0)].role.is_some() {
                self.show(world, at, server, tale);
            }
        }
        for segment in self.scope.segment_ids() {
            let rule = self.scope.rule(world.operated);
            self.lead(world, at, CoordinatorEvent::Require(segment, rule), tale);
        }
        let term = Term(u64::from(self.elections(world)));
        self.lead(world, at, CoordinatorEvent::Elected(term), tale);
    }

    /// How often somebody was elected.
    fn elections(&self, world: &WorldOf<F>) -> u8 {
        1 + self.scope.budget.takeovers - world.left.takeovers
    }

    /// How many coordinators have led.
    pub(super) fn led(&self, world: &WorldOf<F>) -> u8 {
        self.elections(world).min(world.leaders.len() as u8)
    }

    /// Who wins the next election.
    pub(super) fn next_leader(&self, world: &WorldOf<F>) -> u8 {
        self.elections(world) % world.leaders.len() as u8
    }

    /// Who has won the last one.
    pub(super) fn last_leader(&self, world: &WorldOf<F>) -> u8 {
        (self.elections(world) - 1) % world.leaders.len() as u8
    }

    fn show(&self, world: &mut WorldOf<F>, at: u8, server: ServerId, tale: &mut Tale) {
        let info = self.scope.info(server, world.operated);
        world.leaders[usize::from(at)].change().show(server, true);
        self.lead(world, at, CoordinatorEvent::Appeared(server, info), tale);
    }

    /// The state after an event of the world, or `None` if it cannot happen.
    pub fn apply(&self, world: &WorldOf<F>, action: Action, tale: &mut Tale) -> Option<WorldOf<F>> {
        let mut next = world.clone();
        tale.begins(&self.scope, world, action);
        match action {
            Action::Go(at, task) => {
                if matches!(task, Task::Overdue(..) | Task::Unconfirmed(..)) {
                    next.left.overdue -= 1;
                }
                let input = Input::default();
                self.lead(&mut next, at, CoordinatorEvent::Continue { task, input }, tale)?;
            }
            Action::Run(at, pick, proposed) => {
                let input = Input { pick: u32::from(pick), proposed };
                let task = Task::Run;
                self.lead(&mut next, at, CoordinatorEvent::Continue { task, input }, tale)?;
            }
            Action::View(at, server) => self.renew(&mut next, at, server, tale)?,
            Action::Deliver { letter, repeated, fails } => {
                self.deliver(&mut next, letter, repeated, fails, tale);
            }
            Action::Lose(letter) => {
                next.wire.remove(usize::from(letter));
                next.left.losses -= 1;
            }
            Action::End(server, number, ending) => {
                self.end(&mut next, server, number, ending, tale)?;
            }
            Action::Vanish(at, server) => {
                if next.servers[usize::from(server.0)].role.is_some() {
                    next.left.flaps -= 1;
                }
                next.leaders[usize::from(at)].change().show(server, false);
                self.lead(&mut next, at, CoordinatorEvent::Disappeared(server), tale);
            }
            Action::Appear(at, server) => self.show(&mut next, at, server, tale),
            Action::Crash(server, takes_disk) => self.crash(&mut next, server, takes_disk),
            Action::Restart(server) => {
                let node = next.servers[usize::from(server.0)].change();
                node.role = Some(self.restarted(node).into());
            }
            Action::TakeOver(at) => {
                next.left.takeovers -= 1;
                self.elect(&mut next, at, tale);
            }
            Action::Depose(at) => {
                self.lead(&mut next, at, CoordinatorEvent::Deposed, tale);
            }
            Action::Operate => self.operate(&mut next, tale),
        }
        self.settle(&mut next);
        self.watch_moot(&mut next);
        Some(next)
    }

    /// Where views are always fresh, they follow at once.
    fn settle(&self, world: &mut WorldOf<F>) {
        if self.scope.views != Views::Fresh {
            return;
        }
        for at in 0..world.leaders.len() as u8 {
            for server in self.scope.ids() {
                let leader = &world.leaders[usize::from(at)];
                let is_up = world.servers[usize::from(server.0)].role.is_some();
                let awaited = is_up && leader.sees(server) && leader.role.awaits_view(server);
                let shown = self.is_shown_truth(world, at, server) && !awaited;
                if leader.role.term().is_some() && !shown {
                    self.renew(world, at, server, &mut Tale::untold());
                }
            }
        }
    }

    /// Whether a coordinator believes of a server what is true.
    pub(super) fn is_shown_truth(&self, world: &WorldOf<F>, at: u8, server: ServerId) -> bool {
        let leader = &world.leaders[usize::from(at)];
        let node = &world.servers[usize::from(server.0)];
        let same = |segment| leader.role.believes(server, segment) == node.is_serving(segment);
        !leader.sees(server) || node.role.is_none() || self.scope.segment_ids().all(same)
    }

    fn operate(&self, world: &mut WorldOf<F>, tale: &mut Tale) {
        let operation = self.scope.operator[usize::from(world.operated)];
        world.operated += 1;
        self.lower_bases(world);
        for at in 0..world.leaders.len() as u8 {
            if world.leaders[usize::from(at)].role.term().is_none() {
                continue;
            }
            match operation {
                Operation::Decommission(server) => {
                    let server = ServerId(server);
                    if world.leaders[usize::from(at)].sees(server) {
                        self.show(world, at, server, tale);
                    }
                }
                Operation::Require(_) => {
                    let rule = self.scope.rule(world.operated);
                    for segment in self.scope.segment_ids() {
                        let event = CoordinatorEvent::Require(segment, rule.clone());
                        self.lead(world, at, event, tale);
                    }
                }
            }
        }
    }

    /// A drop is judged by the least that was required since it was decided.
    fn lower_bases(&self, world: &mut WorldOf<F>) {
        let required = self.scope.required_after(world.operated);
        let lower = |basis: &mut Basis| basis.required = basis.required.min(required);
        world.decisions.iter_mut().for_each(|decision| lower(&mut decision.basis));
        for letter in &mut world.wire {
            if let Mail::Asked(_, basis) = &mut letter.mail {
                lower(basis);
            }
        }
        world.wire.sort_unstable();
    }

    fn crash(&self, world: &mut WorldOf<F>, server: ServerId, takes_disk: bool) {
        world.left.crashes -= 1;
        let node = world.servers[usize::from(server.0)].change();
        let Some(role) = node.role.take() else { return };
        let announced: Vec<_> = role.announced().collect();
        node.durable = role.durable().clone();
        for issued in std::mem::take(&mut node.pending) {
            match issued.effect {
                // What was under way is done in part.
                HistoricalEffect::Fetch(id) | HistoricalEffect::Delete(id) => {
                    node.leave_files(id, Left::Part);
                }
                HistoricalEffect::Wait { .. } | HistoricalEffect::Send(_) => {}
            }
        }
        node.askers.clear();
        if takes_disk {
            world.left.disks -= 1;
            node.disk.clear();
            node.parts.clear();
            node.durable.served = surehold::collections::Set::new();
            // The newest term is read from the election where the disk does not tell it.
            node.crashed_away.extend(announced);
            node.crashed_away.sort_unstable();
            node.crashed_away.dedup();
        }
    }

    /// A poll, its answer and what is learned from it, in one.
    fn renew(
        &self,
        world: &mut WorldOf<F>,
        at: u8,
        server: ServerId,
        tale: &mut Tale,
    ) -> Option<()> {
        let (task, input) = (Task::Poll(server), Input::default());
        self.lead(world, at, CoordinatorEvent::Continue { task, input }, tale)?;
        let is_poll = |letter: &Letter| {
            letter.leader == at
                && letter.server == server
                && matches!(letter.mail, Mail::Asked(ToServer::Poll(_), _))
        };
        let poll = world.wire.iter().position(is_poll)?;
        self.deliver(world, poll as u16, false, false, tale);
        let is_view = |letter: &Letter| {
            letter.leader == at
                && letter.server == server
                && matches!(letter.mail, Mail::Told(FromServer::View(_) | FromServer::Outdated(_)))
        };
        let view = world.wire.iter().position(is_view)?;
        self.deliver(world, view as u16, false, false, tale);
        Some(())
    }

    fn deliver(
        &self,
        world: &mut WorldOf<F>,
        letter: u16,
        repeated: bool,
        fails: bool,
        tale: &mut Tale,
    ) {
        let letter = if repeated {
            let letter = world.wire[usize::from(letter)].clone();
            match letter.mail {
                Mail::Asked(..) => world.left.repeats -= 1,
                Mail::Told(_) => world.left.echoes -= 1,
            }
            letter
        } else {
            world.wire.remove(usize::from(letter))
        };
        let Letter { leader, server, mail } = letter;
        match mail {
            Mail::Asked(message, basis) => {
                let event = HistoricalEvent::Received(message);
                self.serve(world, server, event, Some((leader, basis)), tale);
                self.end_swift(world, server, fails, tale);
            }
            Mail::Told(message) => {
                let event = CoordinatorEvent::Received(Addressed { server, message });
                self.lead(world, leader, event, tale);
            }
        }
    }

    fn end(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        number: u16,
        ending: Ending,
        tale: &mut Tale,
    ) -> Option<()> {
        let node = world.servers[usize::from(server.0)].change();
        let at = node.pending.iter().position(|issued| issued.id.number == number)?;
        let Issued { id, effect } = node.pending.remove(at);
        let outcome = match (&effect, ending) {
            (HistoricalEffect::Wait { .. }, _) => Outcome::Elapsed,
            (_, Ending::Well) => Outcome::Done,
            (_, Ending::Badly) => Outcome::Failed,
            (_, Ending::UnknownDone | Ending::UnknownPart) => Outcome::Unknown,
        };
        let left = match (&effect, ending) {
            (HistoricalEffect::Wait { .. } | HistoricalEffect::Send(_), _) => None,
            (_, Ending::Badly) => None,
            (_, Ending::UnknownPart) => Some(Left::Part),
            (HistoricalEffect::Fetch(_), Ending::Well | Ending::UnknownDone) => Some(Left::Whole),
            (HistoricalEffect::Delete(_), Ending::Well | Ending::UnknownDone) => {
                Some(Left::Nothing)
            }
        };
        if let (HistoricalEffect::Fetch(segment) | HistoricalEffect::Delete(segment), Some(left)) =
            (&effect, left)
        {
            node.leave_files(*segment, left);
        }
        match ending {
            Ending::Well => {}
            Ending::Badly => world.left.failures -= 1,
            Ending::UnknownDone | Ending::UnknownPart => world.left.unknowns -= 1,
        }
        if let Some(coverage) = &self.coverage {
            coverage.ended(&effect, outcome);
        }
        tale.ends(&self.scope, server, &effect, outcome);
        self.serve(world, server, HistoricalEvent::Outcome { id, outcome }, None, tale);
        Some(())
    }

    /// What takes no time in this scope is carried out at once.
    fn end_swift(&self, world: &mut WorldOf<F>, server: ServerId, fails: bool, tale: &mut Tale) {
        let swift = |effect: &HistoricalEffect| match effect {
            HistoricalEffect::Fetch(_) => !self.scope.slow_loads,
            HistoricalEffect::Wait { .. } | HistoricalEffect::Delete(_) => !self.scope.slow_deletes,
            HistoricalEffect::Send(_) => false,
        };
        let mut fails = fails;
        loop {
            let pending = &world.servers[usize::from(server.0)].pending;
            let Some(issued) = pending.iter().find(|issued| swift(&issued.effect)) else { return };
            let fetch = matches!(issued.effect, HistoricalEffect::Fetch(_));
            let number = issued.id.number;
            let ending = if fails && fetch { Ending::Badly } else { Ending::Well };
            let _ = self.end(world, server, number, ending, tale);
            fails &= !fetch;
        }
    }

    /// A server is told something. What it drops is judged.
    fn serve(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        event: HistoricalEvent,
        from: Option<(u8, Basis)>,
        tale: &mut Tale,
    ) {
        let node = &world.servers[usize::from(server.0)];
        let Some(role) = node.role.clone() else { return };
        let step = match self.served.take(&self.historical, &role, event, |_, _| ()) {
            Ok(step) => step,
            Err(refusal) => {
                self.note_refusal(refusal, tale);
                return;
            }
        };
        if let Some(coverage) = &self.coverage {
            coverage.decided(&step.decided_by);
        }
        tale.decides(&step.decided_by);
        self.note_request(world, server, &role, &event, from);
        let node = world.servers[usize::from(server.0)].change();
        node.crashed_away.retain(|id| !step.state.announces(*id));
        node.role = Some(step.state.clone());
        if let (HistoricalEvent::Received(ToServer::Request(request)), Some((leader, basis))) =
            (event, from)
        {
            let announced = role.announces(request.segment);
            let announces = node.role.as_ref().is_some_and(|r| r.announces(request.segment));
            let refused = step.effects.iter().any(|issued| is_refusal(&issued.effect));
            if request.action == Asked::Drop && !refused {
                node.crashed_away.retain(|id| *id != request.segment);
            }
            if node.role.as_ref().is_some_and(|role| role.is_loading(request.segment)) {
                node.askers.retain(|asker| *asker != (request.segment, leader));
                node.askers.push((request.segment, leader));
                node.askers.sort_unstable();
            }
            self.judge_term(world, server, &role, &request);
            if announced && !announces {
                if request.segment == self.watched {
                    self.watch_dropped(world, server, leader);
                }
                self.judge_drop(world, server, request.segment, basis);
            }
        }
        self.watch_announced(world, server, &role);
        for issued in &step.effects {
            self.carry(world, server, issued.clone(), from.map(|(leader, _)| leader), tale);
        }
        self.judge_ghosts(world, server);
        self.judge_delays(world, server);
    }

    fn carry(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        issued: Issued<HistoricalEffect>,
        from: Option<u8>,
        tale: &mut Tale,
    ) {
        match issued.effect {
            HistoricalEffect::Send(message) => {
                tale.answers(&self.scope, server, &message);
                let readers = match (from, &message) {
                    (Some(leader), _) => vec![leader],
                    (None, FromServer::Reply(reply)) => {
                        let node = world.servers[usize::from(server.0)].change();
                        let all = std::mem::take(&mut node.askers);
                        let (now, later): (Vec<_>, Vec<_>) =
                            all.into_iter().partition(|(id, _)| *id == reply.segment);
                        node.askers = later;
                        now.into_iter().map(|(_, leader)| leader).collect()
                    }
                    (None, _) => Vec::new(),
                };
                for leader in readers {
                    let mail = Mail::Told(message.clone());
                    post(&mut world.wire, Letter { leader, server, mail });
                }
            }
            HistoricalEffect::Fetch(_)
            | HistoricalEffect::Wait { .. }
            | HistoricalEffect::Delete(_) => {
                let node = world.servers[usize::from(server.0)].change();
                node.pending.push(issued);
            }
        }
    }

    /// A coordinator is told something. `None` if it refuses.
    fn lead(
        &self,
        world: &mut WorldOf<F>,
        at: u8,
        event: CoordinatorEvent,
        tale: &mut Tale,
    ) -> Option<()> {
        let before = world.leaders[usize::from(at)].role.clone();
        if let Some(coverage) = &self.coverage {
            coverage.told(&event);
        }
        let coordinator = &*self.coordinator;
        let step = match self.led.take(coordinator, &before, event.clone(), Change::between) {
            Ok(step) => step,
            Err(refusal) => {
                self.note_refusal(refusal, tale);
                return None;
            }
        };
        if let Some(coverage) = &self.coverage {
            coverage.decided(&step.decided_by);
        }
        tale.decides(&step.decided_by);
        world.leaders[usize::from(at)].change().role = step.state.clone();
        self.watch_step(world, at, &before, &event);
        self.judge_decisions(world, at, &step.change, proposed_in(&event), tale);
        for issued in &step.effects {
            let CoordinatorEffect::Send(Addressed { server, message }) = issued.effect;
            let basis = match message {
                ToServer::Request(request) if request.action == Asked::Drop => {
                    basis_of(world, at, server, request.segment)
                }
                ToServer::Request(_) | ToServer::Poll(_) => Basis::default(),
            };
            post(&mut world.wire, Letter { leader: at, server, mail: Mail::Asked(message, basis) });
        }
        Some(())
    }

    fn note_refusal(&self, refusal: Refusal, tale: &mut Tale) {
        if let Some(coverage) = &self.coverage {
            coverage.refused(refusal);
        }
        tale.refuses(refusal);
    }

    /// What a scope's witness wants to know of a request that arrives.
    fn note_request(
        &self,
        world: &mut WorldOf<F>,
        server: ServerId,
        before: &historical::State,
        event: &HistoricalEvent,
        from: Option<(u8, Basis)>,
    ) {
        let (HistoricalEvent::Received(ToServer::Request(request)), Some((leader, _))) =
            (event, from)
        else {
            return;
        };
        if !self.witnesses {
            return;
        }
        let waits = world.leaders[usize::from(leader)].role.may_be_overdue();
        let waited_for = waits.contains(&(server, request.segment));
        let has = before.announces(request.segment);
        let loading = before.is_loading(request.segment);
        let drop = request.action == Asked::Drop;
        let seen = &mut world.seen;
        seen.zombie_drop |= drop && has && !waited_for && self.watches(Witness::ZombieDrop);
        seen.zombie_load |= !drop && !has && !waited_for && self.watches(Witness::ZombieLoad);
        seen.drop_during_load |= drop && loading && self.watches(Witness::DropDuringLoad);
        seen.loaded_while_deleting |= !drop
            && before.is_deleting(request.segment)
            && self.watches(Witness::LoadedWhileDeleting);
    }

    /// Replies to the life before, and events that do not fit, must be refused. Only asked where coverage is
    /// counted: a refusal changes nothing.
    pub fn probe(&self, world: &WorldOf<F>) {
        let Some(coverage) = &self.coverage else { return };
        let Some(role) = &world.servers[0].role else { return };
        let ids =
            [EffectId { incarnation: 99, number: 1 }, EffectId { incarnation: 0, number: 999 }];
        for id in ids {
            let event = HistoricalEvent::Outcome { id, outcome: Outcome::Done };
            match self.historical.step(role, event) {
                Ok(_) => panic!("{event:?} was taken by a server that waits for nothing"),
                Err(refusal) => coverage.refused(refusal),
            }
        }
        self.probe_unfit(role, coverage);
        self.probe_stale(&world.leaders[0].role, role.stamp(), coverage);
        let old = CoordinatorEvent::Elected(Term(0));
        let unknown = CoordinatorEvent::Disappeared(ServerId(99));
        let task = Task::Callback(9);
        let idle = CoordinatorEvent::Continue { task, input: Input::default() };
        for event in [old, unknown, idle] {
            match self.coordinator.step(&world.leaders[0].role, event.clone()) {
                Ok(_) => panic!("{event:?} was taken"),
                Err(refusal) => coverage.refused(refusal),
            }
        }
    }

    /// A view that is older than the last one is not taken. In no scope are two on their way from one server.
    fn probe_stale(&self, role: &RoleOf<F>, stamp: Stamp, coverage: &Coverage) {
        let view = |version| {
            let fence = Fence { term: role.term().unwrap_or_default(), number: 0 };
            let stamp = Stamp { version, ..stamp };
            let message = FromServer::View(View { fence, stamp, segments: Vec::new() });
            CoordinatorEvent::Received(Addressed { server: ServerId(0), message })
        };
        let Ok(step) = self.coordinator.step(role, view(9)) else { return };
        if let Err(refusal) = self.coordinator.step(&step.state, view(8)) {
            coverage.refused(refusal);
        }
    }

    /// An effect that is outstanding may end only as its kind can.
    fn probe_unfit(&self, role: &historical::State, coverage: &Coverage) {
        let ticket = Fence { term: Term(99), number: 99 };
        let incarnation = role.stamp().incarnation;
        let request = Request { ticket, incarnation, action: Asked::Load, segment: SegmentId(99) };
        let asked = HistoricalEvent::Received(ToServer::Request(request));
        let Ok(step) = self.historical.step(role, asked) else { return };
        for issued in step.effects.iter().filter(|issued| issued.id.number > 0) {
            let event = HistoricalEvent::Outcome { id: issued.id, outcome: Outcome::Elapsed };
            match self.historical.step(&step.state, event) {
                Ok(_) => panic!("{event:?} was taken for the end of {:?}", issued.effect),
                Err(refusal) => coverage.refused(refusal),
            }
        }
    }
}

fn is_refusal(effect: &HistoricalEffect) -> bool {
    use surehold::rebalance::message::Answer;
    matches!(effect, HistoricalEffect::Send(FromServer::Reply(reply)) if matches!(
        reply.answer,
        Answer::RefusedNumber | Answer::RefusedIncarnation | Answer::RefusedTerm(_)
    ))
}

/// The move that an event proposes.
fn proposed_in(event: &CoordinatorEvent) -> Option<Move> {
    match event {
        CoordinatorEvent::Continue { input, .. } => input.proposed,
        CoordinatorEvent::Received(_)
        | CoordinatorEvent::Appeared(..)
        | CoordinatorEvent::Disappeared(_)
        | CoordinatorEvent::Require(..)
        | CoordinatorEvent::Elected(_)
        | CoordinatorEvent::Deposed => None,
    }
}

/// On what a drop that is being sent was decided.
fn basis_of<C>(world: &World<C>, leader: u8, server: ServerId, segment: SegmentId) -> Basis {
    let decided = world.decisions.iter().find(|decision| {
        (decision.leader, decision.server, decision.segment) == (leader, server, segment)
    });
    decided.map(|decision| decision.basis).unwrap_or_default()
}

/// Puts a message on the wire.
fn post(wire: &mut Vec<Letter>, letter: Letter) {
    let place = wire.partition_point(|other| *other < letter);
    wire.insert(place, letter);
}

/// Whether something is broken already; only the first is told.
pub(super) fn break_once(slot: &mut Option<Broken>, broken: Broken) {
    if slot.is_none() {
        *slot = Some(broken);
    }
}
