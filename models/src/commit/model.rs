//! The model: picks an event of the world, calls `step`, carries out effects.
//!
//! With `reduce` two things are taken as one step: a read, or a download, is carried out at once when it is asked for;
//! and a read whose answer makes the role write by compare-and-set is carried out together with that write. Nothing
//! proves that this hides nothing; `tests/commit.rs` compares verdicts with and without where that can be exhausted.
//!
//! Not in this world: a write that lands after its writer has given it up or crashed, a controller's operation that
//! fails, a view or a transition that lags. With skewed clocks every record looks old to a periodic task and young to
//! whatever a message sets off.

use std::sync::Arc;

use surehold::collections::Table;
use surehold::commit::completion::{self, Mode, Reason};
use surehold::commit::effect::{Change, Expected, Source};
use surehold::commit::event::{ControllerOutcome, Found, ServerOutcome};
use surehold::commit::invariant::Property;
use surehold::commit::message::{Ask, Caller, Order, Report, Request};
use surehold::commit::object::{
    ControllerId, Crc, IdealState, Location, ObjectId, Record, ReplicaState, Rows, Sealed,
    SegmentId, ServerId, Status, Version, View,
};
use surehold::commit::{
    Controller, ControllerEffect, ControllerEvent, Guard, Input, Server, ServerEffect, ServerEvent,
    Task, controller, server,
};
use surehold::guard::Guards;
use surehold::{Issued, Machine};

use super::coverage::Coverage;
use super::scope::{PARTITION, SERVERS, Scope};
use super::tale::Tale;
use super::world::{Node, Pending, Process, Store, Stored, World, builder, crc_of};
use crate::part::Part;

/// When the first message of a machine comes, ms.
const EARLY_MS: u64 = 0;
/// When a machine has waited long enough for reports, ms.
const PICK_MS: u64 = 4_000;
/// When every lease is over, ms.
const LATE_MS: u64 = 10_000_000;
/// The age of a record that is old, ms.
const OLD_MS: u64 = 300_001;

/// A model of one protocol in one scope.
#[derive(Clone, Debug)]
pub struct Model<V: Guards<Guard>> {
    /// The scope.
    pub scope: Arc<Scope>,
    /// The properties judged.
    pub judged: Vec<Property>,
    /// Whether reads are taken at once, or together with the write that their answer leads to.
    pub reduce: bool,
    /// Counts what occurs, if wanted.
    pub coverage: Option<Arc<Coverage>>,
    pub(super) controller: Arc<Controller<V>>,
    pub(super) server: Arc<Server<V>>,
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A controller.
    Controller(u8),
    /// A server.
    Server(u8),
}

/// How an effect goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// As it should.
    Well,
    /// It is carried out, and the reply is lost.
    Lost,
    /// It is carried out, and the answer to the server that this brings about is lost.
    Mute,
    /// It fails without an effect.
    Failed,
    /// A message comes when the lease is over.
    Late,
}

/// An event of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// An effect is carried out.
    Run(Who, u16, Fate),
    /// A periodic task begins, with this choice among equals.
    Begin(u8, Task, u8),
    /// Helix has a replica go to this state.
    Transition(u8, SegmentId, ReplicaState),
    /// A replica stops by its own clock.
    Stop(u8, SegmentId),
    /// A replica waits no longer.
    GiveUp(u8, SegmentId),
    /// A server crashes; for good or not.
    Crash(u8, bool),
    /// A server starts again.
    Restart(u8),
    /// A controller crashes and starts again.
    CrashController(u8),
    /// The next controller leads.
    Lead,
    /// The stream forgets its first row.
    Expire,
    /// All records become old.
    Age,
    /// A minion replaces a segment.
    Rewrite(SegmentId),
    /// The operator switches the mode.
    Toggle,
}

/// What is noted while a step is taken.
pub(super) struct Context<'a> {
    pub(super) tale: &'a mut Tale,
    /// Whether answers to servers are lost.
    mute: bool,
    /// Whether one was.
    muted: bool,
}

impl<V: Guards<Guard>> Model<V> {
    /// A model that judges all of the scope's properties.
    pub fn new(controller: Controller<V>, server: Server<V>, scope: &Scope) -> Self {
        Self {
            scope: Arc::new(scope.clone()),
            judged: scope.properties(),
            reduce: true,
            coverage: None,
            controller: Arc::new(controller),
            server: Arc::new(server),
        }
    }

    /// The one initial state: both replicas consume the first segment, the first controller leads.
    pub fn start(&self) -> World {
        let controllers = 1 + self.scope.budget.leaders;
        let first = self.scope.first();
        let record = Record::starting_at(0, SERVERS as u16, self.scope.rows);
        let mut records = Table::new();
        records.insert(first, Stored { record, version: Version(0), is_old: false });
        let mut replicas = Table::new();
        for at in 0..SERVERS as u16 {
            replicas.insert(ServerId(at), ReplicaState::Consuming);
        }
        let mut ideal = IdealState::default();
        ideal.segments.insert(first, replicas);
        let store = Store {
            records,
            ideal,
            ideal_version: Version(0),
            view: View::default(),
            objects: Table::new(),
        };
        let mut world = World {
            store: Part::new(store),
            controllers: (0..controllers).map(|at| Part::new(self.process(at, 0))).collect(),
            servers: (0..SERVERS as u8).map(|at| Part::new(self.node(at))).collect(),
            leader: 0,
            mode: self.scope.mode,
            first: 0,
            left: self.scope.budget,
            broken: None,
        };
        let mut tale = Tale::untold();
        let mut context = Context::new(&mut tale);
        let _ = self.lead(&mut world, 0, ControllerEvent::Elected, &mut context);
        for at in 0..SERVERS as u8 {
            let event = ServerEvent::Transition(first, ReplicaState::Consuming);
            let _ = self.serve(&mut world, at, event, &mut context);
        }
        world.seal();
        world
    }

    fn process(&self, at: u8, incarnation: u32) -> Process {
        self.process_in(at, incarnation, self.scope.mode)
    }

    fn process_in(&self, at: u8, incarnation: u32, mode: Mode) -> Process {
        let durable = controller::Durable {
            controller: ControllerId(u16::from(at)),
            incarnation,
            table: self.scope.table(mode),
        };
        Process { role: self.controller.recover(durable), pending: Vec::new() }
    }

    fn node(&self, at: u8) -> Node {
        let durable = server::Durable {
            server: ServerId(u16::from(at)),
            incarnation: 0,
            mode: self.scope.mode,
            disk: Table::new(),
        };
        let role = Some(self.server.recover(durable.clone()));
        Node { role, durable, is_dead: false, pending: Vec::new() }
    }

    /// The state after an event of the world, or `None` if it cannot happen.
    pub fn apply(&self, world: &World, action: Action, tale: &mut Tale) -> Option<World> {
        let mut next = world.clone();
        tale.begins(world, action);
        let mut context = Context::new(tale);
        let is_fault = self.is_fault(world, &action);
        self.happen(&mut next, action, is_fault, &mut context)?;
        self.open_last(&mut next, &mut context);
        self.forget_versions(&mut next);
        self.judge(world, &mut next, matches!(action, Action::Crash(..)));
        next.seal();
        (next != *world).then_some(next)
    }

    /// The last segment is opened as soon as it is listed. Nobody consumes it, so that it does not matter when.
    fn open_last(&self, world: &mut World, context: &mut Context<'_>) {
        let listed = world.store.ideal.segments.iter().map(|(id, _)| *id);
        let last: Vec<_> = listed.filter(|id| self.is_last(*id)).collect();
        for segment in last {
            for at in 0..world.servers.len() as u8 {
                if self.transition_of(world, at, segment) == Some(ReplicaState::Consuming) {
                    let event = ServerEvent::Transition(segment, ReplicaState::Consuming);
                    let _ = self.serve(world, at, event, context);
                }
            }
        }
    }

    /// Whether a segment is never consumed.
    pub(super) fn is_last(&self, segment: SegmentId) -> bool {
        segment.sequence + 1 >= self.scope.segments
    }

    fn happen(
        &self,
        world: &mut World,
        action: Action,
        is_fault: bool,
        context: &mut Context<'_>,
    ) -> Option<()> {
        match action {
            Action::Run(who, number, fate) => {
                self.spend(world, fate, is_fault)?;
                context.mute = fate == Fate::Mute;
                match who {
                    Who::Controller(at) => self.run_controller(world, at, number, fate, context)?,
                    Who::Server(at) => self.run_server(world, at, number, fate, context)?,
                }
                (context.mute == context.muted).then_some(())?;
            }
            Action::Begin(at, task, pick) => {
                let minute = u32::from(self.scope.two_names);
                let input = Input { now_ms: EARLY_MS, minute, pick: u32::from(pick) };
                self.lead(world, at, ControllerEvent::Continue { task, input }, context)?;
            }
            Action::Transition(at, segment, to) => {
                self.serve(world, at, ServerEvent::Transition(segment, to), context)?;
            }
            Action::Stop(at, segment) => {
                self.serve(world, at, ServerEvent::Stop(segment, Reason::TimeLimit), context)?;
            }
            Action::GiveUp(at, segment) => {
                if is_fault {
                    world.left.delays -= 1;
                }
                self.serve(world, at, ServerEvent::GiveUp(segment), context)?;
            }
            Action::Crash(at, dies) => self.crash(world, at, dies, context),
            Action::Restart(at) => {
                let mode = world.mode;
                let node = world.servers[usize::from(at)].change();
                node.durable.incarnation += 1;
                node.durable.mode = mode;
                node.role = Some(self.server.recover(node.durable.clone()));
            }
            Action::CrashController(at) => self.crash_controller(world, at, context),
            Action::Lead => {
                world.left.leaders -= 1;
                let old = world.leader;
                world.leader += 1;
                self.lead(world, old, ControllerEvent::Deposed, context)?;
                self.lead(world, old + 1, ControllerEvent::Elected, context)?;
            }
            Action::Expire => {
                world.left.expiries -= 1;
                world.first += 1;
            }
            Action::Age => {
                if is_fault {
                    world.left.delays -= 1;
                }
                let records = &mut world.store.change().records;
                let ids: Vec<_> = records.iter().map(|(id, _)| *id).collect();
                for id in ids {
                    if let Some(stored) = records.get_mut(&id) {
                        stored.is_old = true;
                    }
                }
            }
            Action::Rewrite(segment) => self.rewrite(world, segment)?,
            Action::Toggle => self.toggle(world, context)?,
        }
        Some(())
    }

    fn spend(&self, world: &mut World, fate: Fate, is_fault: bool) -> Option<()> {
        let left = match fate {
            Fate::Well => return Some(()),
            Fate::Lost | Fate::Mute => &mut world.left.losses,
            Fate::Failed => &mut world.left.failures,
            Fate::Late if !is_fault => return Some(()),
            Fate::Late => &mut world.left.delays,
        };
        *left = left.checked_sub(1)?;
        Some(())
    }

    fn toggle(&self, world: &mut World, context: &mut Context<'_>) -> Option<()> {
        world.left.toggles -= 1;
        world.mode = match world.mode {
            Mode::Pauseless => Mode::Blocking,
            Mode::Blocking => Mode::Pauseless,
        };
        let table = self.scope.table(world.mode);
        for at in 0..world.controllers.len() as u8 {
            self.lead(world, at, ControllerEvent::Configured(table), context)?;
        }
        for at in 0..world.servers.len() as u8 {
            if world.servers[usize::from(at)].role.is_some() {
                self.serve(world, at, ServerEvent::Configured(table.mode), context)?;
            }
        }
        Some(())
    }

    /// A minion has built the same rows otherwise, and puts its copy in the place of the segment's.
    fn rewrite(&self, world: &mut World, segment: SegmentId) -> Option<()> {
        world.left.rewrites -= 1;
        let store = world.store.change();
        let stored = store.records.get_mut(&segment)?;
        let Some(Location::Object(object)) = stored.record.location else { return None };
        let old = store.objects.get(&object)?.clone();
        let crc = crc_of(&old.rows, builder::MINION);
        let own = object.attempt.map(|_| u64::from(crc.0));
        let object = ObjectId { segment, attempt: own };
        stored.record.status = Status::Uploaded;
        stored.record.crc = Some(crc);
        stored.record.location = Some(Location::Object(object));
        stored.is_old = false;
        stored.version.0 += 1;
        store.objects.insert(object, Sealed { crc, ..old });
        Some(())
    }

    fn crash(&self, world: &mut World, at: u8, dies: bool, context: &mut Context<'_>) {
        world.left.server_crashes -= 1;
        let node = world.servers[usize::from(at)].change();
        if let Some(role) = node.role.take() {
            node.durable = role.durable().clone();
        }
        node.pending.clear();
        if dies {
            world.left.deaths -= 1;
            let node = world.servers[usize::from(at)].change();
            node.is_dead = true;
            node.durable.disk = Table::new();
            node.durable.incarnation = 0;
        }
        let view = &mut world.store.change().view;
        let ids: Vec<_> = view.segments.iter().map(|(id, _)| *id).collect();
        for id in ids {
            show(view, id, ServerId(u16::from(at)), None);
        }
        for process in 0..world.controllers.len() as u8 {
            let pending = &world.controllers[usize::from(process)].pending;
            let waits = pending.iter().filter(|pending| pending.at == Some(at));
            let ids: Vec<_> = waits.map(|pending| pending.issued.id).collect();
            for id in ids {
                let outcome = ControllerOutcome::Unknown;
                let _ = self.end_controller(world, process, id.number, outcome, context);
            }
        }
    }

    fn crash_controller(&self, world: &mut World, at: u8, context: &mut Context<'_>) {
        world.left.controller_crashes -= 1;
        let incarnation = world.controllers[usize::from(at)].role.incarnation() + 1;
        let mode = world.mode;
        *world.controllers[usize::from(at)].change() = self.process_in(at, incarnation, mode);
        if world.leader == at {
            let _ = self.lead(world, at, ControllerEvent::Elected, context);
        }
        for server in 0..world.servers.len() as u8 {
            let pending = &world.servers[usize::from(server)].pending;
            let waits = pending.iter().filter(|pending| pending.at == Some(at));
            let ids: Vec<_> = waits.map(|pending| pending.issued.id).collect();
            for id in ids {
                let _ = self.end_server(world, server, id.number, ServerOutcome::Unknown, context);
            }
        }
    }

    /// Versions count only while somebody holds an older one.
    fn forget_versions(&self, world: &mut World) {
        let mut held: Vec<Option<SegmentId>> = Vec::new();
        for process in &world.controllers {
            held.extend(process.role.versions_held().map(|(of, _)| of));
            for pending in &process.pending {
                match &pending.issued.effect {
                    ControllerEffect::WriteRecord(id, _, Expected::Version(_)) => {
                        held.push(Some(*id));
                    }
                    ControllerEffect::WriteIdeal(..) => held.push(None),
                    _ => {}
                }
            }
        }
        let store = &world.store;
        if store.ideal_version != Version(0) && !held.contains(&None) {
            world.store.change().ideal_version = Version(0);
        }
        let of: Vec<_> = world.store.records.iter().map(|(id, s)| (*id, s.version)).collect();
        for (id, version) in of {
            if version != Version(0)
                && !held.contains(&Some(id))
                && let Some(stored) = world.store.change().records.get_mut(&id)
            {
                stored.version = Version(0);
            }
        }
    }

    // Controllers.

    /// A controller is told something: the numbers of what it asks for. `None` if it refuses.
    fn lead(
        &self,
        world: &mut World,
        at: u8,
        event: ControllerEvent,
        context: &mut Context<'_>,
    ) -> Option<Vec<u16>> {
        let role = &world.controllers[usize::from(at)].role;
        let step = match self.controller.step(role, event) {
            Ok(step) => step,
            Err(refusal) => {
                self.note_refusal(refusal);
                context.tale.refuses(refusal);
                return None;
            }
        };
        self.note_guards(&step.decided_by);
        context.tale.decides(&step.decided_by);
        world.controllers[usize::from(at)].change().role = step.state;
        let mut asked = Vec::new();
        for issued in step.effects {
            match issued.effect {
                ControllerEffect::Answer(caller, answer) => {
                    self.answer(world, caller, answer, context);
                }
                ControllerEffect::Reset(segment, server) if issued.id.number == 0 => {
                    let _ = self.reset(world, segment, server, context);
                }
                _ => {
                    asked.push(issued.id.number);
                    let process = world.controllers[usize::from(at)].change();
                    process.pending.push(Pending { issued, at: None });
                    process.pending.sort_by_key(|pending| pending.issued.id.number);
                }
            }
        }
        for number in &asked {
            self.read_at_once(world, at, *number, context);
        }
        Some(asked)
    }

    fn answer(
        &self,
        world: &mut World,
        caller: Caller<ServerId>,
        answer: completion::Answer,
        context: &mut Context<'_>,
    ) {
        if let Some(coverage) = &self.coverage {
            coverage.answered(answer);
        }
        let at = caller.process.0 as u8;
        let waits = world.servers[usize::from(at)].pending.iter();
        // An answer goes over its request's own connection. Of a request that was broken off there is none any more,
        // though its number may serve another effect by now.
        let is_asked = |pending: &Pending<ServerEffect>| {
            let is_call = matches!(pending.issued.effect, ServerEffect::Call(_));
            pending.issued.id == caller.id && is_call && pending.at.is_some()
        };
        if !waits.into_iter().any(is_asked) {
            return;
        }
        context.tale.answers(at, answer, context.mute);
        let outcome = if context.mute {
            context.muted = true;
            ServerOutcome::Unknown
        } else {
            ServerOutcome::Answered(answer)
        };
        let _ = self.end_server(world, at, caller.id.number, outcome, context);
    }

    fn end_controller(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        outcome: ControllerOutcome,
        context: &mut Context<'_>,
    ) -> Option<Vec<u16>> {
        let process = world.controllers[usize::from(at)].change();
        let place = process.pending.iter().position(|p| p.issued.id.number == number)?;
        let id = process.pending.remove(place).issued.id;
        self.lead(world, at, ControllerEvent::Outcome { id, outcome }, context)
    }

    /// A read is carried out at once, unless what it tells is written back by compare-and-set.
    fn read_at_once(&self, world: &mut World, at: u8, number: u16, context: &mut Context<'_>) {
        if !self.reduce {
            return;
        }
        let process = &world.controllers[usize::from(at)];
        let pending = process.pending.iter().find(|p| p.issued.id.number == number);
        let Some(issued) = pending.map(|pending| pending.issued.clone()) else { return };
        let is_task = process.role.is_periodic(number);
        let Some(outcome) = self.read(world, &issued.effect, is_task) else { return };
        let id = issued.id;
        let event = ControllerEvent::Outcome { id, outcome: outcome.clone() };
        let step = self.controller.step(&process.role, event);
        // An age is read together with what it is read for.
        let is_record = matches!(issued.effect, ControllerEffect::ReadRecord(_));
        let waits = |next: &Issued<ControllerEffect>| {
            writes_back(&next.effect) || is_record && next.effect == ControllerEffect::ReadIdeal
        };
        if step.is_ok_and(|step| step.effects.iter().any(waits)) {
            return;
        }
        let _ = self.end_controller(world, at, number, outcome, context);
    }

    fn read(
        &self,
        world: &World,
        effect: &ControllerEffect,
        is_task: bool,
    ) -> Option<ControllerOutcome> {
        let store = &world.store;
        let found = |stored: &Stored| {
            let is_old = if self.scope.skew { is_task } else { stored.is_old };
            let age_ms = if is_old { OLD_MS } else { 0 };
            Found { record: stored.record.clone(), version: stored.version, age_ms }
        };
        match effect {
            ControllerEffect::ReadRecord(id) => {
                Some(ControllerOutcome::Record(store.records.get(id).map(found)))
            }
            ControllerEffect::ListRecords(_) => {
                let all = store.records.iter().map(|(id, stored)| (*id, found(stored)));
                Some(ControllerOutcome::Records(all.collect()))
            }
            ControllerEffect::ReadIdeal => {
                Some(ControllerOutcome::Ideal(store.ideal.clone(), store.ideal_version))
            }
            ControllerEffect::ReadView => Some(ControllerOutcome::View(store.view.clone())),
            ControllerEffect::ReadStream(_) => Some(ControllerOutcome::Stream(Some(world.first))),
            ControllerEffect::WriteRecord(..)
            | ControllerEffect::DeleteRecord(_)
            | ControllerEffect::WriteIdeal(..)
            | ControllerEffect::Promote(_)
            | ControllerEffect::Reset(..)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..) => None,
        }
    }

    /// Carries an effect of a controller out; a read together with the write that follows it.
    fn run_controller(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        fate: Fate,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let process = &world.controllers[usize::from(at)];
        let pending = process.pending.iter().find(|p| p.issued.id.number == number)?;
        if pending.at.is_some() {
            return None;
        }
        let effect = pending.issued.effect.clone();
        if let Some(outcome) = self.read(world, &effect, process.role.is_periodic(number)) {
            let asked = self.end_controller(world, at, number, outcome, context)?;
            let follows = |next: &u16| self.reduce && self.is_next(world, at, *next);
            let next = asked.first().copied().filter(follows);
            return match next {
                Some(next) => {
                    context.tale.goes_on(world, at, next);
                    self.run_controller(world, at, next, fate, context)
                }
                None => (fate != Fate::Lost).then_some(()),
            };
        }
        if let ControllerEffect::Call(order) = effect {
            return self.ask(world, at, number, order, context);
        }
        let outcome = self.write(world, effect, context)?;
        let outcome = if fate == Fate::Lost { ControllerOutcome::Unknown } else { outcome };
        self.end_controller(world, at, number, outcome, context)?;
        Some(())
    }

    /// Whether what follows a read is taken together with it.
    fn is_next(&self, world: &World, at: u8, number: u16) -> bool {
        let pending = &world.controllers[usize::from(at)].pending;
        let next = pending.iter().find(|pending| pending.issued.id.number == number);
        next.is_some_and(|next| {
            let effect = &next.issued.effect;
            writes_back(effect) || self.read(world, effect, false).is_some()
        })
    }

    fn write(
        &self,
        world: &mut World,
        effect: ControllerEffect,
        context: &mut Context<'_>,
    ) -> Option<ControllerOutcome> {
        let store = world.store.change();
        let applied = match effect {
            ControllerEffect::WriteRecord(id, record, expected) => {
                let version = store.records.get(&id).map(|stored| stored.version);
                let fits = match expected {
                    Expected::Anything => true,
                    Expected::Absent => version.is_none(),
                    Expected::Version(expected) => version == Some(expected),
                };
                if fits {
                    let version = Version(version.map_or(0, |version| version.0 + 1));
                    store.records.insert(id, Stored { record, version, is_old: false });
                }
                fits
            }
            ControllerEffect::DeleteRecord(id) => {
                store.records.remove(&id);
                true
            }
            ControllerEffect::WriteIdeal(version, changes) => {
                let fits = store.ideal_version == version;
                if fits {
                    store.ideal_version.0 += 1;
                    changes.into_iter().for_each(|change| apply(&mut store.ideal, change));
                }
                fits
            }
            ControllerEffect::Promote(object) => {
                let sealed = store.objects.get(&object)?.clone();
                store.objects.remove(&object);
                store.objects.insert(ObjectId { attempt: None, ..object }, sealed);
                true
            }
            ControllerEffect::Reset(segment, server) => {
                self.reset(world, segment, server, context).is_some()
            }
            ControllerEffect::ReadRecord(_)
            | ControllerEffect::ListRecords(_)
            | ControllerEffect::ReadIdeal
            | ControllerEffect::ReadView
            | ControllerEffect::ReadStream(_)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..) => return None,
        };
        context.tale.compares(applied);
        Some(if applied { ControllerOutcome::Applied } else { ControllerOutcome::Precondition })
    }

    /// Helix takes a replica to OFFLINE. `None` if it refuses.
    fn reset(
        &self,
        world: &mut World,
        segment: SegmentId,
        server: ServerId,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let at = server.0 as u8;
        let role = world.servers[usize::from(at)].role.as_ref()?;
        let shows = role.replica(segment).map(|replica| replica.shows);
        if shows.is_none_or(|shows| shows == ReplicaState::Offline) {
            return Some(());
        }
        self.serve(world, at, ServerEvent::Transition(segment, ReplicaState::Offline), context)
    }

    /// A controller's request arrives at a server.
    fn ask(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        order: Order,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let server = order.server.0 as u8;
        if world.servers[usize::from(server)].role.is_none() {
            self.end_controller(world, at, number, ControllerOutcome::Failed, context)?;
            return Some(());
        }
        let process = world.controllers[usize::from(at)].change();
        let place = process.pending.iter().position(|p| p.issued.id.number == number)?;
        let pending = &mut process.pending[place];
        pending.at = Some(server);
        let id = pending.issued.id;
        let caller = Caller { process: ControllerId(u16::from(at)), id };
        let attempt = world.servers[usize::from(server)]
            .role
            .as_ref()
            .and_then(|role| role.serves(order.segment).map(|copy| u64::from(copy.crc.0)));
        let event = ServerEvent::Received { caller, order, attempt: attempt.unwrap_or(0) };
        self.serve(world, server, event, context)
    }

    /// A server's answer to a controller's request.
    fn report(
        &self,
        world: &mut World,
        caller: Caller<ControllerId>,
        report: Report,
        context: &mut Context<'_>,
    ) {
        if let Some(coverage) = &self.coverage {
            coverage.reported(&report);
        }
        let at = caller.process.0 as u8;
        let pending = &world.controllers[usize::from(at)].pending;
        if pending.iter().any(|pending| pending.issued.id == caller.id) {
            context.tale.reports(&report);
            let outcome = ControllerOutcome::Reported(report);
            let _ = self.end_controller(world, at, caller.id.number, outcome, context);
        }
    }

    // Servers.

    /// A server is told something. `None` if it refuses.
    pub(super) fn serve(
        &self,
        world: &mut World,
        at: u8,
        event: ServerEvent,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let role = world.servers[usize::from(at)].role.as_ref()?;
        let step = match self.server.step(role, event) {
            Ok(step) => step,
            Err(refusal) => {
                self.note_refusal(refusal);
                context.tale.refuses(refusal);
                return None;
            }
        };
        self.note_guards(&step.decided_by);
        context.tale.decides(&step.decided_by);
        let node = world.servers[usize::from(at)].change();
        node.role = Some(step.state);
        self.break_off(world, at, context);
        let mut asked = Vec::new();
        for issued in step.effects {
            match issued.effect {
                ServerEffect::Show(segment, state) => {
                    context.tale.shows(at, segment, state);
                    let shown = (state != ReplicaState::Dropped).then_some(state);
                    let view = &mut world.store.change().view;
                    show(view, segment, ServerId(u16::from(at)), shown);
                }
                ServerEffect::Report(caller, report) => {
                    self.report(world, caller, report, context);
                }
                _ => {
                    asked.push(issued.id.number);
                    let node = world.servers[usize::from(at)].change();
                    node.pending.push(Pending { issued, at: None });
                    node.pending.sort_by_key(|pending| pending.issued.id.number);
                }
            }
        }
        // A deletion takes effect in the role's own books at once; nobody waits for the files.
        self.break_off(world, at, context);
        for number in asked {
            let pending = &world.servers[usize::from(at)].pending;
            let issued = pending.iter().find(|p| p.issued.id.number == number);
            let read = issued.filter(|_| self.reduce).and_then(|p| {
                let effect = &p.issued.effect;
                at_once(world, effect).or_else(|| self.alone(world, at, number, effect))
            });
            if let Some(outcome) = read {
                let _ = self.end_server(world, at, number, outcome, context);
            }
        }
        Some(())
    }

    /// What a reingestion reads and builds is nobody else's matter, unless the stream may still forget something or a
    /// build may still fail: then it is done at once.
    fn alone(
        &self,
        world: &World,
        at: u8,
        number: u16,
        effect: &ServerEffect,
    ) -> Option<ServerOutcome> {
        let left = &world.left;
        let role = world.servers[usize::from(at)].role.as_ref()?;
        if !role.is_of_job(number) || left.expiries > 0 || left.failures > 0 {
            return None;
        }
        match effect {
            ServerEffect::Fetch(segment, offset) => self.fetch(world, *segment, *offset),
            ServerEffect::Build(segment, rows) => Some(self.build(world, at, *segment, rows)),
            ServerEffect::ReadRecord(_)
            | ServerEffect::PollRecord(_)
            | ServerEffect::ReadView
            | ServerEffect::Upload(..)
            | ServerEffect::Download(..)
            | ServerEffect::Delete(_)
            | ServerEffect::Call(_)
            | ServerEffect::Report(..)
            | ServerEffect::Show(..) => None,
        }
    }

    /// What nobody waits for any more is broken off.
    fn break_off(&self, world: &mut World, at: u8, context: &mut Context<'_>) {
        let node = &world.servers[usize::from(at)];
        let Some(role) = &node.role else { return };
        let numbers = node.pending.iter().map(|pending| pending.issued.id.number);
        let unwanted: Vec<_> = numbers.filter(|number| !role.awaits(*number)).collect();
        for number in unwanted {
            let _ = self.end_server(world, at, number, ServerOutcome::Failed, context);
        }
    }

    fn end_server(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        outcome: ServerOutcome,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let node = world.servers[usize::from(at)].change();
        let place = node.pending.iter().position(|p| p.issued.id.number == number)?;
        let id = node.pending.remove(place).issued.id;
        self.serve(world, at, ServerEvent::Outcome { id, outcome }, context)
    }

    fn run_server(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        fate: Fate,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let node = &world.servers[usize::from(at)];
        let pending = node.pending.iter().find(|p| p.issued.id.number == number)?;
        if pending.at.is_some() {
            return None;
        }
        let effect = pending.issued.effect.clone();
        let outcome = match effect {
            ServerEffect::Call(request) => {
                return self.call(world, at, number, request, fate, context);
            }
            ServerEffect::Fetch(segment, offset) => self.fetch(world, segment, offset)?,
            ServerEffect::PollRecord(id) => {
                let stored = world.store.records.get(&id);
                ServerOutcome::Record(stored.map(|stored| stored.record.clone()))
            }
            _ if fate == Fate::Failed => ServerOutcome::Failed,
            ServerEffect::Build(segment, rows) => self.build(world, at, segment, &rows),
            ServerEffect::Upload(object, crc) => {
                let rows = self.rows_of(world, at, object.segment, crc)?;
                world.store.change().objects.insert(object, Sealed { crc, rows });
                ServerOutcome::Applied
            }
            ServerEffect::Delete(_) => ServerOutcome::Applied,
            ServerEffect::ReadRecord(_) | ServerEffect::Download(..) | ServerEffect::ReadView => {
                at_once(world, &effect)?
            }
            ServerEffect::Report(..) | ServerEffect::Show(..) => return None,
        };
        let outcome = if fate == Fate::Lost { ServerOutcome::Unknown } else { outcome };
        self.end_server(world, at, number, outcome, context)
    }

    /// The next row; `None` while there is none. The last segment is never consumed.
    fn fetch(&self, world: &World, segment: SegmentId, offset: u64) -> Option<ServerOutcome> {
        if !self.may_fetch(segment, offset) {
            return None;
        }
        let end = self.stream_end();
        Some(if offset < world.first {
            ServerOutcome::Expired { first: world.first, end }
        } else {
            ServerOutcome::Row(offset)
        })
    }

    /// Whether the stream has anything to say at this offset to a consumer of this segment.
    pub(super) fn may_fetch(&self, segment: SegmentId, offset: u64) -> bool {
        !self.is_last(segment) && offset < self.stream_end()
    }

    pub(super) fn stream_end(&self) -> u64 {
        u64::from(self.scope.segments - 1) * self.scope.rows
    }

    fn build(&self, world: &World, at: u8, segment: SegmentId, rows: &Rows) -> ServerOutcome {
        let role = world.servers[usize::from(at)].role.as_ref();
        let replica = role.and_then(|role| role.replica(segment));
        let own = replica.is_some_and(|replica| replica.work.is_building());
        let by = if own { builder::REPLICA } else { builder::REINGESTION } + u32::from(at);
        let crc = crc_of(rows, by);
        ServerOutcome::Built { crc, attempt: u64::from(crc.0) }
    }

    /// What is in the copy that a server stores: its own on disk, or that of a job.
    fn rows_of(&self, world: &World, at: u8, segment: SegmentId, crc: Crc) -> Option<Rows> {
        let role = world.servers[usize::from(at)].role.as_ref()?;
        let local = role.durable().disk.get(&segment).map(|local| &local.copy);
        let local = local.filter(|copy| copy.crc == crc);
        let job = role.jobs().find(|(id, _)| *id == segment).map(|(_, job)| &job.rows);
        local.map(|copy| &copy.rows).or(job).cloned()
    }

    /// A server's request arrives at the leader.
    fn call(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        request: Request,
        fate: Fate,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let leader = world.leader;
        let role = &world.controllers[usize::from(leader)].role;
        let now_ms = self.now(role.machine(request.segment), &request, fate)?;
        let node = world.servers[usize::from(at)].change();
        let place = node.pending.iter().position(|p| p.issued.id.number == number)?;
        let pending = &mut node.pending[place];
        pending.at = Some(leader);
        let caller = Caller { process: ServerId(u16::from(at)), id: pending.issued.id };
        let input = Input { now_ms, minute: 0, pick: 0 };
        let event = ControllerEvent::Received { caller, request, input };
        self.lead(world, leader, event, context)?;
        Some(())
    }

    /// When a message comes: the first one begins the machine's time, later ones come when it has heard all that it
    /// waits for.
    fn now(
        &self,
        machine: Option<&completion::State>,
        request: &Request,
        fate: Fate,
    ) -> Option<u64> {
        let phase = match machine {
            Some(completion::State::Idle(phase)) => Some(phase),
            Some(completion::State::Absent | completion::State::Busy(_)) | None => None,
        };
        if fate == Fate::Late {
            let said = matches!(request.body, Ask::Say(..));
            let due = matches!(
                phase,
                Some(
                    completion::Phase::Decided(_)
                        | completion::Phase::Notified(_)
                        | completion::Phase::Uploading(_)
                )
            );
            return (said && due).then_some(LATE_MS);
        }
        Some(if phase.is_some() { PICK_MS } else { EARLY_MS })
    }

    fn note_refusal(&self, refusal: surehold::commit::Refusal) {
        if let Some(coverage) = &self.coverage {
            coverage.refused(refusal);
        }
    }

    fn note_guards(&self, guards: &[Guard]) {
        if let Some(coverage) = &self.coverage {
            coverage.decided(guards);
        }
    }

    /// The tasks that there are.
    pub(super) fn tasks() -> [Task; 3] {
        [Task::Validate(PARTITION), Task::Repair(PARTITION), Task::Retry(PARTITION)]
    }
}

impl<'a> Context<'a> {
    fn new(tale: &'a mut Tale) -> Self {
        Self { tale, mute: false, muted: false }
    }
}

/// Whether an effect is a compare-and-set of what was read before.
fn writes_back(effect: &ControllerEffect) -> bool {
    matches!(
        effect,
        ControllerEffect::WriteRecord(_, _, Expected::Version(_))
            | ControllerEffect::WriteIdeal(..)
    )
}

/// Reads, and downloads, which are reads as well.
fn at_once(world: &World, effect: &ServerEffect) -> Option<ServerOutcome> {
    match effect {
        ServerEffect::ReadRecord(id) => {
            let stored = world.store.records.get(id);
            Some(ServerOutcome::Record(stored.map(|stored| stored.record.clone())))
        }
        ServerEffect::ReadView => Some(ServerOutcome::View(world.store.view.clone())),
        ServerEffect::Download(id, source) => Some(download(world, *id, *source)),
        ServerEffect::PollRecord(_)
        | ServerEffect::Fetch(..)
        | ServerEffect::Build(..)
        | ServerEffect::Upload(..)
        | ServerEffect::Delete(_)
        | ServerEffect::Call(_)
        | ServerEffect::Report(..)
        | ServerEffect::Show(..) => None,
    }
}

fn download(world: &World, segment: SegmentId, source: Source) -> ServerOutcome {
    let copy = match source {
        Source::Object(object) => world.store.objects.get(&object),
        Source::Peer(peer) => {
            let role = world.servers[usize::from(peer.0)].role.as_ref();
            role.and_then(|role| role.serves(segment))
        }
    };
    copy.map_or(ServerOutcome::Failed, |copy| ServerOutcome::Fetched(copy.clone()))
}

fn apply(ideal: &mut IdealState, change: Change) {
    match change {
        Change::Set(segment, state) => {
            let Some(replicas) = ideal.segments.get(&segment) else { return };
            let servers: Vec<_> = replicas.iter().map(|(server, _)| *server).collect();
            if let Some(replicas) = ideal.segments.get_mut(&segment) {
                for server in servers {
                    replicas.insert(server, state);
                }
            }
        }
        Change::SetReplica(segment, server, state) => {
            if let Some(replicas) = ideal.segments.get_mut(&segment) {
                replicas.insert(server, state);
            }
        }
        Change::Begin(segment) => {
            let servers = (0..SERVERS as u16).map(ServerId).collect();
            apply(ideal, Change::Add(segment, servers));
        }
        Change::Add(segment, servers) => {
            let mut replicas = Table::new();
            for server in servers {
                replicas.insert(server, ReplicaState::Consuming);
            }
            ideal.segments.insert(segment, replicas);
        }
    }
}

fn show(view: &mut View, segment: SegmentId, server: ServerId, state: Option<ReplicaState>) {
    let mut replicas = view.segments.remove(&segment).unwrap_or_default();
    match state {
        Some(state) => {
            replicas.insert(server, state);
        }
        None => {
            replicas.remove(&server);
        }
    }
    if !replicas.is_empty() {
        view.segments.insert(segment, replicas);
    }
}
