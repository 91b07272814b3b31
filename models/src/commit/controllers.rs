//! Controllers of the model: what they are told, and how their effects are carried out.

use surehold::Issued;
use surehold::collections::Table;
use surehold::commit::controller;
use surehold::commit::controller::state::Owed;
use surehold::commit::effect::{Change, Expected};
use surehold::commit::event::{ControllerOutcome, Found, ServerOutcome};
use surehold::commit::message::{Caller, Order, RefillStatus, Report};
use surehold::commit::object::{
    ControllerId, IdealState, ObjectId, ReplicaState, SegmentId, ServerId, Version,
};
use surehold::commit::{
    ControllerEffect, ControllerEvent, Guard, ServerEffect, ServerEvent, completion,
};
use surehold::guard::Guards;

use super::model::{Context, Fate, Model, OLD_MS};
use super::world::{Pending, Store, Stored, World};
use crate::part::Part;

impl<V: Guards<Guard>> Model<V> {
    /// A controller is told something: the numbers of what it asks for. `None` if it refuses.
    pub(super) fn lead(
        &self,
        world: &mut World,
        at: u8,
        event: ControllerEvent,
        context: &mut Context<'_>,
    ) -> Option<Vec<u16>> {
        let role = &world.controllers[usize::from(at)].role;
        let told = self.coverage.as_ref().map(|_| event.clone());
        let step = match self.led.take(&self.controller, role, event, |_, _| ()) {
            Ok(step) => step,
            Err(refusal) => {
                self.note_refusal(refusal);
                context.tale.refuses(refusal);
                return None;
            }
        };
        if let (Some(coverage), Some(event)) = (&self.coverage, &told) {
            coverage.validated(role, event, &step.state, &step.effects);
        }
        if let Some(coverage) = &self.coverage {
            coverage.batched(role, &step.state, &step.effects);
        }
        self.note_guards(&step.decided_by);
        context.tale.decides(&step.decided_by);
        world.controllers[usize::from(at)].change().role = step.state.clone();
        let mut asked = Vec::new();
        for issued in &step.effects {
            match issued.effect {
                ControllerEffect::Answer(caller, answer) => {
                    self.answer(world, caller, answer, context);
                }
                ControllerEffect::AnswerRefill(caller, status) => {
                    self.answer_refill(world, caller, status, context);
                }
                ControllerEffect::Reset(segment, server) if issued.id.number == 0 => {
                    let _ = self.reset(world, segment, server, context);
                }
                _ => {
                    asked.push(issued.id.number);
                    let process = world.controllers[usize::from(at)].change();
                    process.pending.push(Pending { issued: issued.clone(), at: None });
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
        if is_asked(world, caller) {
            context.tale.answers(caller.process.0 as u8, answer, context.mute);
            self.answered(world, caller, ServerOutcome::Answered(answer), context);
        }
    }

    fn answer_refill(
        &self,
        world: &mut World,
        caller: Caller<ServerId>,
        status: RefillStatus,
        context: &mut Context<'_>,
    ) {
        if let Some(coverage) = &self.coverage {
            coverage.refilled(status);
        }
        if is_asked(world, caller) {
            context.tale.refills(caller.process.0 as u8, status, context.mute);
            self.answered(world, caller, ServerOutcome::Refilled(status), context);
        }
    }

    /// A server has its answer, unless that is lost.
    fn answered(
        &self,
        world: &mut World,
        caller: Caller<ServerId>,
        outcome: ServerOutcome,
        context: &mut Context<'_>,
    ) {
        context.muted |= context.mute;
        let outcome = if context.mute { ServerOutcome::Unknown } else { outcome };
        let at = caller.process.0 as u8;
        let _ = self.end_server(world, at, caller.id.number, outcome, context);
    }

    pub(super) fn end_controller(
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
        if !self.reduce || world.left.reads > 0 {
            return;
        }
        let process = &world.controllers[usize::from(at)];
        let pending = process.pending.iter().find(|p| p.issued.id.number == number);
        let Some(issued) = pending.map(|pending| pending.issued.clone()) else { return };
        let is_task = process.role.is_periodic(number);
        let Some(outcome) = self.read(world, &issued.effect, is_task) else { return };
        if self.is_written_back(world, &process.role, &issued, is_task) {
            return;
        }
        let _ = self.end_controller(world, at, number, outcome, context);
    }

    /// Whether a read, carried out now, leads to a write of what it tells; what is read with it is read as well. An age is
    /// read with an ideal state, and who is listed with a record.
    fn is_written_back(
        &self,
        world: &World,
        role: &Part<controller::State>,
        issued: &Issued<ControllerEffect>,
        is_task: bool,
    ) -> bool {
        let Some(outcome) = self.read(world, &issued.effect, is_task) else { return false };
        let id = issued.id;
        let event = ControllerEvent::Outcome { id, outcome };
        let Ok(step) = self.led.take(&self.controller, role, event, |_, _| ()) else {
            return false;
        };
        let is_age = |next: &Issued<ControllerEffect>| {
            let owed = step.state.owes(next.id.number);
            owed == Some(Owed::Batch) && matches!(next.effect, ControllerEffect::ReadRecord(_))
        };
        let is_record = matches!(issued.effect, ControllerEffect::ReadRecord(_));
        step.effects.iter().any(|next| {
            writes_back(&next.effect)
                || is_record && next.effect == ControllerEffect::ReadIdeal
                || is_age(next) && self.is_written_back(world, &step.state, next, is_task)
        })
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
            ControllerEffect::ListRecords(partition) => {
                let own = store.records.iter().filter(|(id, _)| id.partition == *partition);
                let all = own.map(|(id, stored)| (*id, found(stored)));
                Some(ControllerOutcome::Records(all.collect()))
            }
            ControllerEffect::ReadIdeal => {
                Some(ControllerOutcome::Ideal(store.ideal.clone(), store.ideal_version))
            }
            ControllerEffect::ReadView => Some(ControllerOutcome::View(store.view.clone())),
            ControllerEffect::ReadStream(partition) => {
                Some(ControllerOutcome::Stream(Some(world.first_of(*partition))))
            }
            ControllerEffect::ReadLatest(..) => {
                let latest = self.stream_end();
                Some(ControllerOutcome::Latest(latest, Some(latest)))
            }
            ControllerEffect::WriteRecord(..)
            | ControllerEffect::DeleteRecord(_)
            | ControllerEffect::WriteIdeal(..)
            | ControllerEffect::Promote(_)
            | ControllerEffect::Reset(..)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..)
            | ControllerEffect::AnswerRefill(..) => None,
        }
    }

    /// Carries an effect of a controller out; a read together with the write that follows it.
    pub(super) fn run_controller(
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
            if fate == Fate::Unread {
                if let Some(coverage) = &self.coverage {
                    coverage.unread(&effect);
                }
                self.end_controller(world, at, number, ControllerOutcome::Failed, context)?;
                return Some(());
            }
            let asked = self.end_controller(world, at, number, outcome, context)?;
            let follows = |next: &u16| {
                self.reduce && !self.scope.reads_apart && self.is_next(world, at, *next)
            };
            let next = asked.first().copied().filter(follows);
            return match next {
                Some(next) => {
                    context.tale.goes_on(world, at, next);
                    self.run_controller(world, at, next, fate, context)
                }
                // What may go wrong here is a write.
                None => may_read(fate).then_some(()),
            };
        }
        if let ControllerEffect::Call(order) = effect {
            return self.ask(world, at, number, order, context);
        }
        self.note_write(world, at, number, &effect, fate);
        let outcome = match fate {
            Fate::Failed => ControllerOutcome::Failed,
            Fate::Missed => ControllerOutcome::Unknown,
            Fate::Unread => return None,
            Fate::Adrift => {
                is_stored(&effect).then_some(())?;
                world.adrift.push(effect);
                ControllerOutcome::Unknown
            }
            Fate::Lost => {
                self.write(world, effect, context)?;
                ControllerOutcome::Unknown
            }
            Fate::Well | Fate::Mute | Fate::Late | Fate::Astray => {
                self.write(world, effect, context)?
            }
        };
        self.end_controller(world, at, number, outcome, context)?;
        Some(())
    }

    /// What will come of a write.
    fn note_write(
        &self,
        world: &World,
        at: u8,
        number: u16,
        effect: &ControllerEffect,
        fate: Fate,
    ) {
        let Some(coverage) = &self.coverage else { return };
        let Some(owed) = world.controllers[usize::from(at)].role.owes(number) else { return };
        let end = match fate {
            Fate::Failed => "fails",
            Fate::Missed | Fate::Adrift => "no effect, unheard",
            _ if !fits(&world.store, effect) => "not as expected",
            Fate::Lost => "reply lost",
            Fate::Well | Fate::Mute | Fate::Late | Fate::Astray | Fate::Unread => "applied",
        };
        let before = match effect {
            ControllerEffect::WriteRecord(id, ..) => world.store.records.get(id),
            _ => None,
        };
        coverage.wrote(effect, owed, before.map(|stored| &stored.record), end);
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

    pub(super) fn write(
        &self,
        world: &mut World,
        effect: ControllerEffect,
        context: &mut Context<'_>,
    ) -> Option<ControllerOutcome> {
        let fits = fits(&world.store, &effect);
        let store = world.store.change();
        let applied = match effect {
            ControllerEffect::WriteRecord(id, record, _) => {
                if fits {
                    let version = store.records.get(&id).map(|stored| stored.version);
                    let version = Version(version.map_or(0, |version| version.0 + 1));
                    store.records.insert(id, Stored { record, version, is_old: false });
                }
                fits
            }
            ControllerEffect::DeleteRecord(id) => {
                store.records.remove(&id);
                true
            }
            ControllerEffect::WriteIdeal(_, changes) => {
                if fits {
                    store.ideal_version.0 += 1;
                    let servers = u16::from(self.scope.servers);
                    for change in changes {
                        apply(&mut store.ideal, change, servers);
                    }
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
            | ControllerEffect::ReadLatest(..)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..)
            | ControllerEffect::AnswerRefill(..) => return None,
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
        if self.scope.is_prompt && self.transition_of(world, at, segment).is_some() {
            return None;
        }
        if let Some(coverage) = &self.coverage {
            coverage.reset();
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
    pub(super) fn report(
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
}

/// Whether what an operation is to replace is as expected.
fn fits(store: &Store, effect: &ControllerEffect) -> bool {
    match effect {
        ControllerEffect::WriteRecord(id, _, expected) => {
            let version = store.records.get(id).map(|stored| stored.version);
            match expected {
                Expected::Anything => true,
                Expected::Absent => version.is_none(),
                Expected::Version(expected) => version == Some(*expected),
            }
        }
        ControllerEffect::WriteIdeal(version, _) => store.ideal_version == *version,
        _ => true,
    }
}

/// Whether what goes so may end with a read: what may go wrong with a write needs one.
fn may_read(fate: Fate) -> bool {
    !matches!(fate, Fate::Lost | Fate::Failed | Fate::Missed | Fate::Adrift)
}

/// Whether an effect is a write to a store.
fn is_stored(effect: &ControllerEffect) -> bool {
    matches!(
        effect,
        ControllerEffect::WriteRecord(..)
            | ControllerEffect::DeleteRecord(_)
            | ControllerEffect::WriteIdeal(..)
            | ControllerEffect::Promote(_)
    )
}

/// Whether an effect is a compare-and-set of what was read before.
fn writes_back(effect: &ControllerEffect) -> bool {
    matches!(
        effect,
        ControllerEffect::WriteRecord(_, _, Expected::Version(_))
            | ControllerEffect::WriteIdeal(..)
    )
}

/// `servers`: how many there are, each of which is assigned every partition.
fn apply(ideal: &mut IdealState, change: Change, servers: u16) {
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
            let all = (0..servers).map(ServerId).collect();
            apply(ideal, Change::Add(segment, all), servers);
        }
        Change::Add(segment, servers) => {
            let mut replicas = Table::new();
            for server in servers {
                replicas.insert(server, ReplicaState::Consuming);
            }
            ideal.segments.insert(segment, replicas);
        }
        Change::Remove(segment) => {
            ideal.segments.remove(&segment);
        }
    }
}

/// Whether somebody waits for the answer to a request. It goes over the request's own connection: of one that was broken
/// off there is none any more, though its number may serve another effect by now.
fn is_asked(world: &World, caller: Caller<ServerId>) -> bool {
    world.servers[usize::from(caller.process.0)].pending.iter().any(|pending| {
        let is_call = matches!(pending.issued.effect, ServerEffect::Call(_));
        pending.issued.id == caller.id && is_call && pending.at.is_some()
    })
}
