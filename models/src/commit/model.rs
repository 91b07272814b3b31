//! The model: picks an event of the world, calls `step`, carries out effects.
//!
//! With `reduce` two things are taken as one step: a read, or a download, is carried out at once when it is asked for;
//! and a read whose answer makes the role write by compare-and-set is carried out together with that write. Nothing
//! proves that this hides nothing; `tests/commit.rs` compares verdicts with and without where that can be exhausted.
//!
//! A read may fail where the scope has a budget for it; until it is spent reads are events of their own. A controller's
//! write to a store may land after its writer has given it up or crashed, likewise.
//!
//! Not in this world: a view that lags; a server's upload that lands late, as it is named after its attempt, and an
//! attempt is uploaded with the same content every time. A transition may come as late as it likes. With skewed clocks every record looks old to a
//! periodic task and young to whatever a message sets off.

use std::sync::Arc;

use surehold::Machine;
use surehold::collections::Table;
use surehold::commit::completion::{Mode, Reason};
use surehold::commit::controller::state::Owed;
use surehold::commit::effect::Expected;
use surehold::commit::event::{ControllerOutcome, ServerOutcome};
use surehold::commit::invariant::Property;
use surehold::commit::object::{
    ControllerId, IdealState, Location, ObjectId, PartitionId, Range, Record, ReplicaState, Rows,
    Sealed, SegmentId, ServerId, Status, Version, View,
};
use surehold::commit::upstream::Minion;
use surehold::commit::{
    Controller, ControllerEffect, ControllerEvent, Guard, Input, Server, ServerEvent, Task,
    controller, server,
};
use surehold::guard::Guards;

use super::coverage::Coverage;
use super::scope::Scope;
use super::servers::show;
use super::tale::Tale;
use super::world::{Node, Process, Rewriting, SharedParts, Store, Stored, World, builder, crc_of};
use crate::memo::Steps;
use crate::part::Part;
#[cfg(feature = "checker")]
use crate::symmetry::{Renaming, names_kept};

/// When the first message of a machine comes, ms.
pub(super) const EARLY_MS: u64 = 0;
/// When a machine has waited long enough for reports, ms.
pub(super) const PICK_MS: u64 = 4_000;
/// When every lease is over, ms.
pub(super) const LATE_MS: u64 = 10_000_000;
/// The age of a record that is old, ms.
pub(super) const OLD_MS: u64 = 300_001;

/// A model of one protocol in one scope.
#[derive(Clone, Debug)]
pub struct Model<V: Guards<Guard>> {
    /// The scope.
    pub scope: Arc<Scope>,
    /// The properties judged.
    pub judged: Vec<Property>,
    /// Whether reads are taken at once, or together with the write that their answer leads to.
    pub reduce: bool,
    /// What minions take.
    pub minion: Minion,
    /// Counts what occurs, if wanted.
    pub coverage: Option<Arc<Coverage>>,
    /// How servers that are alike can exchange their names; by itself a model lets nobody.
    #[cfg(feature = "checker")]
    pub(super) renamings: Arc<[Renaming]>,
    pub(super) controller: Arc<Controller<V>>,
    pub(super) server: Arc<Server<V>>,
    /// Steps of controllers.
    pub(super) led: Steps<Controller<V>>,
    /// Steps of servers.
    pub(super) served: Steps<Server<V>>,
    /// What worlds share.
    pub(super) parts: SharedParts,
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
    /// It fails without an effect, and nobody says so.
    Missed,
    /// A message comes when the lease is over.
    Late,
    /// A request goes to the controller that led before: the server has not heard of the change.
    Astray,
    /// A read fails.
    Unread,
    /// A write has no effect yet and nobody says so; it lands later, if ever.
    Adrift,
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
    /// The consumer of a replica cannot go on.
    Break(u8, SegmentId),
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
    /// The stream of a partition forgets its first row.
    Expire(PartitionId),
    /// All records become old.
    Age,
    /// A minion begins to replace a segment: it reads the record.
    Rewrite(SegmentId),
    /// It goes on: puts its object, or writes the record.
    Minion,
    /// It crashes.
    CrashMinion,
    /// A write that was given up lands.
    Land(u8),
    /// The operator switches the mode.
    Toggle,
    /// The operator pauses consumption.
    Pause,
    /// The operator resumes it.
    Resume,
}

/// What is noted while a step is taken.
pub(super) struct Context<'a> {
    pub(super) tale: &'a mut Tale,
    /// Whether answers to servers are lost.
    pub(super) mute: bool,
    /// Whether one was.
    pub(super) muted: bool,
}

impl<V: Guards<Guard>> Model<V> {
    /// A model that judges all of the scope's properties.
    pub fn new(controller: Controller<V>, server: Server<V>, scope: &Scope) -> Self {
        Self {
            scope: Arc::new(scope.clone()),
            judged: scope.properties(),
            reduce: true,
            minion: Minion::Any,
            coverage: None,
            #[cfg(feature = "checker")]
            renamings: names_kept(usize::from(scope.servers)).into(),
            controller: Arc::new(controller),
            server: Arc::new(server),
            led: Steps::new(),
            served: Steps::new(),
            parts: SharedParts::new(),
        }
    }

    /// The one initial state, after the moves with which the scope begins.
    pub fn start(&self) -> World {
        if self.scope.begun.is_empty() { self.origin() } else { self.beginning().world }
    }

    /// The first controller leads, and all replicas consume the first segment of each partition that is not done yet.
    fn origin(&self) -> World {
        let controllers = 1 + self.scope.budget.leaders;
        let servers = self.scope.servers;
        let mut world = World {
            store: Part::new(self.stored()),
            controllers: (0..controllers).map(|at| Part::new(self.process(at, 0))).collect(),
            servers: (0..servers).map(|at| Part::new(self.node(at))).collect(),
            leader: 0,
            mode: self.scope.mode,
            first: self.scope.partitions().map(|_| self.scope.first_offset()).collect(),
            committed: self.scope.partitions().map(|_| 0).collect(),
            rewriting: None,
            adrift: Vec::new(),
            left: self.scope.budget,
            broken: None,
        };
        let mut tale = Tale::untold();
        let mut context = Context::new(&mut tale);
        let _ = self.lead(&mut world, 0, ControllerEvent::Elected, &mut context);
        for at in 0..servers {
            for id in self.at_first() {
                let event = ServerEvent::Transition(id, self.is_at_first(id));
                let _ = self.serve(&mut world, at, event, &mut context);
            }
        }
        self.remember(&mut world);
        let world = if self.scope.in_step_3 { self.come_to_step_3(world) } else { world };
        self.scope.after.iter().fold(world, |world, action| {
            let next = self.apply(&world, *action, &mut Tale::untold());
            next.unwrap_or_else(|| panic!("{}: no {action:?} at the beginning", self.scope.name))
        })
    }

    /// The same world as far as it can go without a fault, a wait, or a read for step 3.
    fn come_to_step_3(&self, mut world: World) -> World {
        let is_for_step_3 = |world: &World, who, number| match who {
            Who::Controller(at) => {
                let role = &world.controllers[usize::from(at)].role;
                role.owes(number) == Some(Owed::Batch)
            }
            Who::Server(_) => false,
        };
        loop {
            let mut actions = Vec::new();
            self.enabled(&world, &mut actions);
            let goes_on = |action: &Action| match *action {
                Action::Run(who, number, Fate::Well) => !is_for_step_3(&world, who, number),
                _ => false,
            };
            let action = actions.into_iter().find(goes_on);
            let next = action.and_then(|action| self.apply(&world, action, &mut Tale::untold()));
            match next {
                Some(next) => world = next,
                None => return world,
            }
        }
    }

    /// The segments that there are at the beginning.
    fn at_first(&self) -> impl Iterator<Item = SegmentId> + use<'_, V> {
        let of = move |partition| {
            (0..=self.scope.done).map(move |sequence| self.scope.segment(partition, sequence))
        };
        self.scope.partitions().filter(|_| !self.scope.is_new).flat_map(of)
    }

    /// What the replicas of a segment are at the beginning.
    fn is_at_first(&self, id: SegmentId) -> ReplicaState {
        if id.sequence < self.scope.done { ReplicaState::Online } else { ReplicaState::Consuming }
    }

    /// The copy of a segment that is done at the beginning.
    fn done_copy(&self, sequence: u32) -> Sealed {
        let start = u64::from(sequence) * self.scope.rows;
        let range = Range { start, end: start + self.scope.rows };
        let rows = Rows { range, missing: Vec::new() };
        Sealed { crc: crc_of(&rows, builder::REPLICA), rows }
    }

    fn stored(&self) -> Store {
        let mut store = Store {
            records: Table::new(),
            ideal: IdealState::default(),
            ideal_version: Version(0),
            view: View::default(),
            objects: Table::new(),
        };
        let servers = u16::from(self.scope.servers);
        for id in self.at_first() {
            let start = u64::from(id.sequence) * self.scope.rows;
            let mut record = Record::starting_at(start, servers, self.scope.rows);
            if id.sequence < self.scope.done {
                let copy = self.done_copy(id.sequence);
                let object = ObjectId { segment: id, attempt: Some(u64::from(copy.crc.0)) };
                record = record.done(copy.rows.range.end, copy.crc, Location::Object(object));
                store.objects.insert(object, copy);
            }
            store.records.insert(id, Stored { record, version: Version(0), is_old: false });
            let mut replicas = Table::new();
            for at in 0..servers {
                replicas.insert(ServerId(at), self.is_at_first(id));
            }
            store.ideal.segments.insert(id, replicas);
        }
        store
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
        Process { role: self.controller.recover(durable).into(), pending: Vec::new() }
    }

    fn node(&self, at: u8) -> Node {
        let mut disk = Table::new();
        for id in self.at_first().filter(|id| id.sequence < self.scope.done) {
            let copy = self.done_copy(id.sequence);
            let attempt = u64::from(copy.crc.0);
            disk.insert(id, server::state::Local { copy, attempt });
        }
        let durable = server::Durable {
            server: ServerId(u16::from(at)),
            incarnation: 0,
            mode: self.scope.mode,
            disk,
        };
        let role = Some(self.server.recover(durable.clone()).into());
        Node { role, durable: durable.into(), is_dead: false, pending: Vec::new() }
    }

    /// The state after an event of the world, or `None` if it cannot happen.
    pub fn apply(&self, world: &World, action: Action, tale: &mut Tale) -> Option<World> {
        let mut next = world.clone();
        tale.begins(world, action);
        let mut context = Context::new(tale);
        let is_fault = self.is_fault(world, &action);
        self.happen(&mut next, action, is_fault, &mut context)?;
        if let Some(coverage) = &self.coverage {
            coverage.happened(&action);
        }
        self.open_last(&mut next, &mut context);
        self.forget_versions(&mut next);
        // What came of it after all as it was is not judged again.
        self.parts.share(&mut next);
        self.judge(world, &mut next, matches!(action, Action::Crash(..)));
        self.remember(&mut next);
        (next != *world).then_some(next)
    }

    /// Up to where each partition was committed; what retention deletes tells it no more.
    fn remember(&self, world: &mut World) {
        if self.scope.budget.retentions > 0 {
            for (id, stored) in world.store.records.iter() {
                let committed = &mut world.committed[usize::from(id.partition.0)];
                *committed = stored.record.end.unwrap_or(0).max(*committed);
            }
        }
    }

    /// The last segment is opened as soon as it is listed. Nobody consumes it, so that it does not matter when.
    fn open_last(&self, world: &mut World, context: &mut Context<'_>) {
        let listed = world.store.ideal.segments.iter().map(|(id, _)| *id);
        let last: Vec<_> = listed.filter(|id| self.is_last(*id)).collect();
        for segment in last {
            for at in 0..world.servers.len() as u8 {
                let is_due = !self.is_starting(world, at);
                let to = self.transition_of(world, at, segment);
                if is_due && to == Some(ReplicaState::Consuming) {
                    let event = ServerEvent::Transition(segment, ReplicaState::Consuming);
                    let _ = self.serve(world, at, event, context);
                }
            }
        }
    }

    /// Whether Helix has not come to a server yet, where that is told apart.
    pub(super) fn is_starting(&self, world: &World, at: u8) -> bool {
        let role = world.servers[usize::from(at)].role.as_ref();
        self.scope.starts_apart && role.is_some_and(|role| !role.is_initialised())
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
                self.spend(world, who, number, fate, is_fault)?;
                context.mute = fate == Fate::Mute;
                match who {
                    Who::Controller(at) => self.run_controller(world, at, number, fate, context)?,
                    Who::Server(at) => self.run_server(world, at, number, fate, context)?,
                }
                (context.mute == context.muted).then_some(())?;
            }
            Action::Begin(at, task, pick) => {
                if matches!(task, Task::Retain(_)) {
                    world.left.retentions -= 1;
                }
                let minute = self.scope.minute(at, true);
                let input = Input { now_ms: EARLY_MS, minute, pick: u32::from(pick) };
                self.lead(world, at, ControllerEvent::Continue { task, input }, context)?;
            }
            Action::Transition(at, segment, to) => {
                self.serve(world, at, ServerEvent::Transition(segment, to), context)?;
            }
            Action::Stop(at, segment) => {
                self.serve(world, at, ServerEvent::Stop(segment, Reason::TimeLimit), context)?;
            }
            Action::Break(at, segment) => {
                world.left.breaks -= 1;
                self.serve(world, at, ServerEvent::Break(segment), context)?;
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
                let durable = node.durable.change();
                durable.incarnation += 1;
                durable.mode = mode;
                node.role = Some(self.server.recover((*node.durable).clone()).into());
            }
            Action::CrashController(at) => self.crash_controller(world, at, context),
            Action::Lead => {
                world.left.leaders -= 1;
                let old = world.leader;
                world.leader += 1;
                self.lead(world, old, ControllerEvent::Deposed, context)?;
                self.lead(world, old + 1, ControllerEvent::Elected, context)?;
            }
            Action::Expire(partition) => {
                world.left.expiries -= 1;
                world.first[usize::from(partition.0)] += 1;
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
            Action::Minion => self.go_on_rewriting(world, context)?,
            Action::CrashMinion => {
                world.left.minion_crashes -= 1;
                world.rewriting = None;
            }
            Action::Land(at) => {
                let late = world.adrift.remove(usize::from(at));
                let _ = self.write(world, late, context);
            }
            Action::Toggle => self.toggle(world, context)?,
            Action::Pause => {
                world.left.pauses -= 1;
                pause(world, true);
            }
            Action::Resume => pause(world, false),
        }
        Some(())
    }

    fn spend(
        &self,
        world: &mut World,
        who: Who,
        number: u16,
        fate: Fate,
        is_fault: bool,
    ) -> Option<()> {
        let left = match (fate, who) {
            (Fate::Well | Fate::Astray, _) => return Some(()),
            (Fate::Lost | Fate::Mute, _) => &mut world.left.losses,
            (Fate::Failed, Who::Server(at)) if self.opens(world, at, number) => {
                if let Some(coverage) = &self.coverage {
                    coverage.failed_to_open();
                }
                &mut world.left.openings
            }
            (Fate::Failed, Who::Server(_)) => &mut world.left.failures,
            (Fate::Failed | Fate::Missed, _) => &mut world.left.misses,
            (Fate::Late, _) if !is_fault => return Some(()),
            (Fate::Late, _) => &mut world.left.delays,
            (Fate::Unread, _) => &mut world.left.reads,
            (Fate::Adrift, _) => &mut world.left.adrift,
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

    /// A minion has built the same rows otherwise, and is to put its copy in the place of the segment's.
    fn rewrite(&self, world: &mut World, segment: SegmentId) -> Option<()> {
        world.left.rewrites -= 1;
        let stored = world.store.records.get(&segment)?;
        let Some(Location::Object(object)) = stored.record.location else { return None };
        let old = world.store.objects.get(&object)?.clone();
        let crc = crc_of(&old.rows, builder::MINION);
        let own = object.attempt.map(|_| u64::from(crc.0));
        let object = ObjectId { segment, attempt: own };
        let record = Record {
            status: Status::Uploaded,
            crc: Some(crc),
            location: Some(Location::Object(object)),
            ..stored.record.clone()
        };
        let copy = Sealed { crc, ..old };
        let version = stored.version;
        let upload = Rewriting { segment, copy, object, record, version, is_put: false };
        world.rewriting = Some(upload.into());
        Some(())
    }

    /// First the object, then the record, by compare-and-set (dossier 3): whatever comes of that, it is done.
    fn go_on_rewriting(&self, world: &mut World, context: &mut Context<'_>) -> Option<()> {
        let upload = world.rewriting.take()?;
        if !upload.is_put {
            world.store.change().objects.insert(upload.object, upload.copy.clone());
            world.rewriting = Some(Rewriting { is_put: true, ..*upload }.into());
            return Some(());
        }
        let Rewriting { segment, record, version, .. } = *upload;
        let effect = ControllerEffect::WriteRecord(segment, record, Expected::Version(version));
        let outcome = self.write(world, effect, context)?;
        if let Some(coverage) = &self.coverage {
            coverage.rewritten(outcome == ControllerOutcome::Applied);
        }
        Some(())
    }

    fn crash(&self, world: &mut World, at: u8, dies: bool, context: &mut Context<'_>) {
        world.left.server_crashes -= 1;
        let node = world.servers[usize::from(at)].change();
        if let Some(role) = node.role.take() {
            node.durable = role.durable().clone().into();
        }
        node.pending.clear();
        if dies {
            world.left.deaths -= 1;
            let node = world.servers[usize::from(at)].change();
            node.is_dead = true;
            let durable = node.durable.change();
            durable.disk = Table::new();
            durable.incarnation = 0;
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
        if let Some(coverage) = &self.coverage {
            let segments = world.store.records.iter().map(|(id, s)| (*id, s.record.status));
            coverage.interrupted(&world.controllers[usize::from(at)].role, segments);
        }
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
        let counted = world.store.records.values().any(|stored| stored.version != Version(0));
        if world.store.ideal_version == Version(0) && !counted {
            return;
        }
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
        held.extend(world.rewriting.as_ref().map(|upload| Some(upload.segment)));
        for late in &world.adrift {
            match late {
                ControllerEffect::WriteRecord(id, _, Expected::Version(_)) => held.push(Some(*id)),
                ControllerEffect::WriteIdeal(..) => held.push(None),
                _ => {}
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

    pub(super) fn note_refusal(&self, refusal: surehold::commit::Refusal) {
        if let Some(coverage) = &self.coverage {
            coverage.refused(refusal);
        }
    }

    pub(super) fn note_guards(&self, guards: &[Guard]) {
        if let Some(coverage) = &self.coverage {
            coverage.decided(guards);
        }
    }

    /// The tasks that there are.
    pub(super) fn tasks(&self) -> impl Iterator<Item = Task> + use<V> {
        let of = |partition| {
            [
                Task::Validate(partition),
                Task::Repair(partition),
                Task::Retry(partition),
                Task::Retain(partition),
            ]
        };
        self.scope.partitions().flat_map(of)
    }
}

/// The operator writes the ideal state.
fn pause(world: &mut World, is_paused: bool) {
    let store = world.store.change();
    store.ideal.is_paused = is_paused;
    store.ideal_version.0 += 1;
}

impl<'a> Context<'a> {
    fn new(tale: &'a mut Tale) -> Self {
        Self { tale, mute: false, muted: false }
    }
}
