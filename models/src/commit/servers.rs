//! Servers of the model: what they are told, and how their effects are carried out.

use surehold::commit::effect::Source;
use surehold::commit::event::ServerOutcome;
use surehold::commit::message::{Ask, Caller, Request};
use surehold::commit::object::{Crc, ReplicaState, Rows, Sealed, SegmentId, ServerId, View};
use surehold::commit::server::state::Work;
use surehold::commit::{ControllerEvent, Guard, Input, ServerEffect, ServerEvent, completion};
use surehold::guard::Guards;

use super::model::{Context, EARLY_MS, Fate, LATE_MS, Model, PICK_MS};
use super::world::{Pending, World, builder, crc_of};

impl<V: Guards<Guard>> Model<V> {
    /// A server is told something. `None` if it refuses.
    pub(super) fn serve(
        &self,
        world: &mut World,
        at: u8,
        event: ServerEvent,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let role = world.servers[usize::from(at)].role.as_ref()?;
        let step = match self.served.take(&self.server, role, event, |_, _| ()) {
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
        node.role = Some(step.state.clone());
        self.break_off(world, at, context);
        let mut asked = Vec::new();
        for issued in &step.effects {
            match &issued.effect {
                &ServerEffect::Show(segment, state) => {
                    context.tale.shows(at, segment, state);
                    let shown = (state != ReplicaState::Dropped).then_some(state);
                    let view = &mut world.store.change().view;
                    show(view, segment, ServerId(u16::from(at)), shown);
                }
                ServerEffect::Report(caller, report) => {
                    self.report(world, *caller, report.clone(), context);
                }
                _ => {
                    asked.push(issued.id.number);
                    let node = world.servers[usize::from(at)].change();
                    node.pending.push(Pending { issued: issued.clone(), at: None });
                    node.pending.sort_by_key(|pending| pending.issued.id.number);
                }
            }
        }
        // A deletion takes effect in the role's own books at once; nobody waits for the files.
        self.break_off(world, at, context);
        for number in asked {
            let pending = &world.servers[usize::from(at)].pending;
            let issued = pending.iter().find(|p| p.issued.id.number == number);
            let may_fail = self.scope.budget.openings > 0 && self.opens(world, at, number);
            let is_apart = !self.reduce || world.left.reads > 0 || may_fail;
            let read = issued.filter(|_| !is_apart).and_then(|p| {
                let effect = &p.issued.effect;
                at_once(world, effect).or_else(|| self.alone(world, at, number, effect))
            });
            if let Some(outcome) = read {
                let _ = self.end_server(world, at, number, outcome, context);
            }
        }
        Some(())
    }

    /// Whether with this a replica opens, to consume. That of the last segment does not count, as nobody consumes it.
    pub(super) fn opens(&self, world: &World, at: u8, number: u16) -> bool {
        let node = &world.servers[usize::from(at)];
        let pending = node.pending.iter().find(|p| p.issued.id.number == number);
        let Some(ServerEffect::ReadRecord(segment)) = pending.map(|p| &p.issued.effect) else {
            return false;
        };
        let replica = node.role.as_ref().and_then(|role| role.replica(*segment));
        let is_opening =
            |work: Work| matches!(work, Work::Opening { to: ReplicaState::Consuming, .. });
        !self.is_last(*segment) && replica.is_some_and(|replica| is_opening(replica.work))
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
        // Nor is it where builds contend for permits.
        let is_shared = self.scope.permits.is_some();
        if !role.is_of_job(number) || is_shared || left.expiries > 0 || left.failures > 0 {
            return None;
        }
        match effect {
            ServerEffect::Fetch(segment, offset) => self.fetch(world, *segment, *offset),
            ServerEffect::Build(_, rows) if self.is_too_much(rows) => Some(ServerOutcome::Failed),
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
        // What a controller works on ends with its answer: an effect has one outcome, and until then its number names it.
        let own = node.pending.iter().filter(|pending| pending.at.is_none());
        let numbers = own.map(|pending| pending.issued.id.number);
        let unwanted: Vec<_> = numbers.filter(|number| !role.awaits(*number)).collect();
        for number in unwanted {
            let _ = self.end_server(world, at, number, ServerOutcome::Failed, context);
        }
    }

    pub(super) fn end_server(
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

    pub(super) fn run_server(
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
        if fate == Fate::Unread {
            if let Some(coverage) = &self.coverage {
                coverage.unread_by_server(&effect);
            }
            return self.end_server(world, at, number, ServerOutcome::Failed, context);
        }
        if let ServerEffect::ReadRecord(segment) = effect
            && fate == Fate::Failed
            && self.opens(world, at, number)
        {
            return self.serve(world, at, ServerEvent::Throw(segment), context);
        }
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
            ServerEffect::Build(_, rows) if self.is_too_much(&rows) => ServerOutcome::Failed,
            ServerEffect::Build(segment, rows) => self.build(world, at, segment, &rows),
            ServerEffect::Upload(object, crc) => {
                match self.rows_of(world, at, object.segment, crc) {
                    Some(rows) => {
                        world.store.change().objects.insert(object, Sealed { crc, rows });
                        ServerOutcome::Applied
                    }
                    // The copy that counts has been brought in its place meanwhile.
                    None => ServerOutcome::Failed,
                }
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
        let first = world.first_of(segment.partition);
        Some(if offset < first {
            ServerOutcome::Expired { first, end }
        } else {
            ServerOutcome::Row(offset)
        })
    }

    /// Whether the stream has anything to say at this offset to a consumer of this segment.
    pub(super) fn may_fetch(&self, segment: SegmentId, offset: u64) -> bool {
        !self.is_last(segment) && offset < self.stream_end()
    }

    pub(super) fn stream_end(&self) -> u64 {
        self.scope.first_offset() + u64::from(self.scope.segments - 1) * self.scope.rows
    }

    /// Whether so many rows can never be built into a copy.
    fn is_too_much(&self, rows: &Rows) -> bool {
        self.scope.buildable.is_some_and(|most| rows.range.end - rows.range.start > most)
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

    /// A server's request arrives at the leader, or at the one before.
    fn call(
        &self,
        world: &mut World,
        at: u8,
        number: u16,
        request: Request,
        fate: Fate,
        context: &mut Context<'_>,
    ) -> Option<()> {
        let astray = u8::from(fate == Fate::Astray);
        let leader = world.leader.checked_sub(astray)?;
        let role = &world.controllers[usize::from(leader)].role;
        let now_ms = self.now(role.machine(request.segment), &request, fate)?;
        let node = world.servers[usize::from(at)].change();
        let place = node.pending.iter().position(|p| p.issued.id.number == number)?;
        let pending = &mut node.pending[place];
        pending.at = Some(leader);
        let caller = Caller { process: ServerId(u16::from(at)), id: pending.issued.id };
        let input = Input { now_ms, minute: self.scope.minute(leader, false), pick: 0 };
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

pub(super) fn show(
    view: &mut View,
    segment: SegmentId,
    server: ServerId,
    state: Option<ReplicaState>,
) {
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
