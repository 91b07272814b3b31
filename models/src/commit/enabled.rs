//! Which events of the world may happen, within the scope's bounds, and which of them are faults.

use surehold::commit::completion::{Phase, State as MachineState};
use surehold::commit::object::{
    Location, PartitionId, ReplicaState, Replicas, SegmentId, ServerId, Status,
};
use surehold::commit::server::state::Work;
use surehold::commit::{ControllerEffect, Guard, ServerEffect, Task, controller::state::Stage};
use surehold::guard::Guards;

use super::model::{Action, Fate, Model, Who};
use super::tale::is_read;
use super::world::{Stored, World};

impl<V: Guards<Guard>> Model<V> {
    /// Every event that may happen.
    pub fn enabled(&self, world: &World, actions: &mut Vec<Action>) {
        if world.broken.is_some() {
            return;
        }
        for at in 0..world.controllers.len() as u8 {
            self.enabled_of_controller(world, at, actions);
        }
        for at in 0..world.servers.len() as u8 {
            self.enabled_of_server(world, at, actions);
        }
        self.enabled_outside(world, actions);
    }

    fn enabled_of_controller(&self, world: &World, at: u8, actions: &mut Vec<Action>) {
        let process = &world.controllers[usize::from(at)];
        for pending in process.pending.iter().filter(|pending| pending.at.is_none()) {
            let number = pending.issued.id.number;
            let run = |fate| Action::Run(Who::Controller(at), number, fate);
            actions.push(run(Fate::Well));
            let is_call = matches!(pending.issued.effect, ControllerEffect::Call(_));
            if world.left.losses > 0 && !is_call {
                actions.extend([run(Fate::Lost), run(Fate::Mute)]);
            }
            if world.left.misses > 0 && !is_call {
                actions.extend([run(Fate::Failed), run(Fate::Missed)]);
            }
            if world.left.adrift > 0 && !is_call {
                actions.push(run(Fate::Adrift));
            }
            if world.left.reads > 0 && is_read(&pending.issued.effect) {
                actions.push(run(Fate::Unread));
            }
        }
        if process.role.leads() {
            for task in self.tasks() {
                self.enabled_task(world, at, task, actions);
            }
        }
        if world.left.controller_crashes > 0 && (!process.role.is_quiet() || process.role.leads()) {
            actions.push(Action::CrashController(at));
        }
    }

    /// Periodic tasks; left out where they find nothing to do.
    fn enabled_task(&self, world: &World, at: u8, task: Task, actions: &mut Vec<Action>) {
        if world.controllers[usize::from(at)].role.runs(task) {
            return;
        }
        let store = &world.store;
        let of = |partition: PartitionId| {
            store.records.iter().filter(move |(id, _)| id.partition == partition)
        };
        let (useful, picks) = match task {
            Task::Validate(partition) => {
                let is_consumed = |id: &SegmentId, status: Status| {
                    status == Status::InProgress && store.ideal.has(*id, ReplicaState::Consuming)
                };
                let last = of(partition).last();
                let idle = last.is_none_or(|(id, s)| !is_consumed(id, s.record.status));
                let left = of(partition).any(|(id, s)| {
                    let consuming = store.ideal.has(*id, ReplicaState::Consuming);
                    consuming && s.record.status != Status::InProgress
                });
                let is_out =
                    |replicas: &Replicas| replicas.values().any(|is| *is == ReplicaState::Offline);
                let mut listed = store.ideal.of(partition);
                let repairs = self.scope.repairs_offline && listed.any(|(_, all)| is_out(all));
                (idle || left || repairs || self.scope.is_new, 1)
            }
            Task::Repair(partition) => {
                let own = store.view.segments.iter().filter(|(id, _)| id.partition == partition);
                let mut all = own.flat_map(|(_, replicas)| replicas.values());
                (all.any(|is| *is == ReplicaState::Error), world.servers.len() as u8)
            }
            Task::Retry(partition) => {
                let unstored = |status, location: Option<Location>| {
                    status == Status::Committing || location == Some(Location::Peers)
                };
                let any = of(partition).any(|(_, s)| unstored(s.record.status, s.record.location));
                (any, world.servers.len() as u8)
            }
            Task::Retain(_) => {
                let completed = |s: &Stored| s.record.status.is_completed();
                let old = store.records.iter().filter(|(_, s)| completed(s)).map(|(id, _)| *id);
                if world.left.retentions > 0 {
                    let firsts = old.map(|id| id.sequence as u8 + 1);
                    actions.extend(firsts.map(|first| Action::Begin(at, task, first)));
                }
                return;
            }
        };
        if useful {
            actions.extend((0..picks).map(|pick| Action::Begin(at, task, pick)));
        }
    }

    fn enabled_of_server(&self, world: &World, at: u8, actions: &mut Vec<Action>) {
        let node = &world.servers[usize::from(at)];
        let Some(role) = &node.role else {
            if !node.is_dead {
                actions.push(Action::Restart(at));
            }
            return;
        };
        for pending in node.pending.iter().filter(|pending| pending.at.is_none()) {
            let number = pending.issued.id.number;
            let run = |fate| Action::Run(Who::Server(at), number, fate);
            if world.left.reads > 0 && is_read_of_server(&pending.issued.effect) {
                actions.push(run(Fate::Unread));
            }
            match &pending.issued.effect {
                ServerEffect::Fetch(segment, offset) if !self.may_fetch(*segment, *offset) => {}
                ServerEffect::ReadRecord(_) if self.opens(world, at, number) => {
                    actions.push(run(Fate::Well));
                    if world.left.openings > 0 {
                        actions.push(run(Fate::Failed));
                    }
                }
                ServerEffect::Call(_) => {
                    actions.push(run(Fate::Well));
                    if world.left.losses > 0 {
                        actions.push(run(Fate::Mute));
                    }
                    actions.push(run(Fate::Late));
                    if self.scope.strays && world.leader > 0 {
                        actions.push(run(Fate::Astray));
                    }
                }
                ServerEffect::Build(..) | ServerEffect::Upload(..) => {
                    actions.push(run(Fate::Well));
                    if world.left.failures > 0 {
                        actions.push(run(Fate::Failed));
                    }
                    let stores = matches!(pending.issued.effect, ServerEffect::Upload(..));
                    if world.left.losses > 0 && stores {
                        actions.push(run(Fate::Lost));
                    }
                }
                _ => actions.push(run(Fate::Well)),
            }
        }
        let listed = &world.store.ideal.segments;
        for (segment, _) in role.replicas().filter(|(segment, _)| !listed.contains_key(segment)) {
            let to = self.transition_of(world, at, segment);
            actions.extend(to.map(|to| Action::Transition(at, segment, to)));
        }
        for (segment, _) in listed.iter() {
            let to = self.transition_of(world, at, *segment);
            // The last one is opened at once.
            let at_once = self.is_last(*segment) && !self.is_starting(world, at);
            let to = to.filter(|to| !at_once || *to != ReplicaState::Consuming);
            actions.extend(to.map(|to| Action::Transition(at, *segment, to)));
            let replica = role.replica(*segment);
            let work = replica.map_or(Work::Idle, |replica| replica.work);
            let Some(replica) = replica else { continue };
            let rows = replica.memory.as_ref().map_or(0, |m| m.range.end - m.range.start);
            if self.scope.stops_early && work == Work::Consuming(None) && rows > 0 {
                actions.push(Action::Stop(at, *segment));
            }
            let waits = matches!(
                work,
                Work::Catching(_) | Work::Waiting | Work::Looking(_) | Work::Fetching(_)
            );
            if waits {
                actions.push(Action::GiveUp(at, *segment));
            }
            let may_break = world.left.breaks > 0 && !self.is_last(*segment);
            if may_break && matches!(work, Work::Consuming(_)) {
                actions.push(Action::Break(at, *segment));
            }
        }
        if world.left.server_crashes > 0 {
            actions.push(Action::Crash(at, false));
            if world.left.deaths > 0 {
                actions.push(Action::Crash(at, true));
            }
        }
    }

    /// Where Helix would have a replica go now.
    pub(super) fn transition_of(
        &self,
        world: &World,
        at: u8,
        segment: SegmentId,
    ) -> Option<ReplicaState> {
        let role = world.servers[usize::from(at)].role.as_ref()?;
        let replica = role.replica(segment);
        let to = match world.store.ideal.segments.get(&segment) {
            Some(listed) => *listed.get(&ServerId(u16::from(at)))?,
            // Its replicas are to vanish.
            None => replica.map(|_| ReplicaState::Dropped)?,
        };
        let shows = replica.map_or(ReplicaState::Offline, |replica| replica.shows);
        let work = replica.map_or(Work::Idle, |replica| replica.work);
        let free = !work.is_locked() && !work.is_in_transition();
        ((is_step(shows, to) || to == ReplicaState::Dropped) && free).then_some(to)
    }

    fn enabled_outside(&self, world: &World, actions: &mut Vec<Action>) {
        let left = &world.left;
        let store = &world.store;
        if left.leaders > 0 {
            actions.push(Action::Lead);
        }
        if left.toggles > 0 {
            actions.push(Action::Toggle);
        }
        if store.ideal.is_paused {
            actions.push(Action::Resume);
        } else if left.pauses > 0 {
            actions.push(Action::Pause);
        }
        if left.expiries > 0 {
            let passed = |id: &SegmentId, stored: &Stored| {
                stored.record.end.is_some_and(|end| world.first_of(id.partition) < end)
            };
            let may = |partition: &PartitionId| {
                store.records.iter().any(|(id, s)| id.partition == *partition && passed(id, s))
            };
            actions.extend(self.scope.partitions().filter(may).map(Action::Expire));
        }
        if !self.scope.skew && store.records.values().any(|stored| !stored.is_old) {
            actions.push(Action::Age);
        }
        if world.rewriting.is_some() {
            actions.push(Action::Minion);
            if left.minion_crashes > 0 {
                actions.push(Action::CrashMinion);
            }
        }
        actions.extend((0..world.adrift.len() as u8).map(Action::Land));
        if left.rewrites > 0 && world.rewriting.is_none() {
            let done = store.records.iter().filter(|(id, stored)| {
                let listed = store.ideal.segments.get(id);
                listed.is_some_and(|listed| self.minion.takes(stored.record.status, listed))
            });
            actions.extend(done.map(|(id, _)| Action::Rewrite(*id)));
        }
    }

    /// Whether this event is a fault. What must be reachable must be so without one, and each spends a budget.
    pub fn is_fault(&self, world: &World, action: &Action) -> bool {
        match action {
            Action::Run(Who::Server(at), number, Fate::Late) => {
                self.is_late_a_fault(world, *at, *number)
            }
            // A server hears in the end who leads. Nobody is to wait for requests that go astray until then.
            Action::Run(_, _, fate) => *fate != Fate::Well,
            Action::GiveUp(at, segment) => self.is_worth_waiting(world, *at, *segment),
            Action::Age => is_anything_alive(world),
            Action::Crash(..)
            | Action::CrashController(_)
            | Action::Lead
            | Action::Expire(_)
            | Action::Rewrite(_)
            | Action::CrashMinion
            // Nobody is to wait for it.
            | Action::Land(_)
            | Action::Break(..)
            | Action::Pause
            | Action::Begin(_, Task::Retain(_), _)
            | Action::Toggle => true,
            Action::Begin(..)
            | Action::Transition(..)
            | Action::Stop(..)
            | Action::Minion
            | Action::Resume
            | Action::Restart(_) => false,
        }
    }

    /// Whether an event that is a fault has a budget left.
    pub(super) fn is_affordable(&self, world: &World, action: &Action) -> bool {
        let delays =
            matches!(action, Action::Run(_, _, Fate::Late) | Action::GiveUp(..) | Action::Age);
        !delays || world.left.delays > 0 || !self.is_fault(world, action)
    }

    /// A lease that is over is no fault if whoever held it is gone.
    fn is_late_a_fault(&self, world: &World, at: u8, number: u16) -> bool {
        let pending = &world.servers[usize::from(at)].pending;
        let pending = pending.iter().find(|pending| pending.issued.id.number == number);
        let Some(ServerEffect::Call(request)) = pending.map(|p| &p.issued.effect) else {
            return true;
        };
        let role = &world.controllers[usize::from(world.leader)].role;
        let winner = match role.machine(request.segment) {
            Some(MachineState::Idle(Phase::Decided(commit) | Phase::Notified(commit))) => {
                commit.winner
            }
            Some(MachineState::Idle(Phase::Uploading(upload))) => upload.winner,
            _ => return true,
        };
        let node = &world.servers[usize::from(winner.0)];
        let replica = node.role.as_ref().and_then(|role| role.replica(request.segment));
        let asks = |work: Work| matches!(work, Work::Reporting(_) | Work::Consuming(_));
        replica.is_some_and(|replica| replica.work.is_locked() || asks(replica.work))
    }

    /// Whether a replica that waits for a copy would get one if it waited.
    fn is_worth_waiting(&self, world: &World, at: u8, segment: SegmentId) -> bool {
        let role = world.servers[usize::from(at)].role.as_ref();
        let replica = role.and_then(|role| role.replica(segment));
        if replica.is_some_and(|replica| matches!(replica.work, Work::Catching(_))) {
            // Catching up is given up after 31 s, however far behind it is: that is no fault.
            return false;
        }
        let stored = world.store.records.get(&segment).map(|stored| &stored.record);
        let in_store = stored.is_some_and(|record| match record.location {
            Some(Location::Object(object)) => world.store.objects.contains_key(&object),
            Some(Location::Peers) | None => false,
        });
        let others = (0..world.servers.len() as u8).filter(|other| *other != at);
        let comes = |other: u8| {
            let Some(role) = &world.servers[usize::from(other)].role else { return false };
            let on_disk = role.durable().disk.contains_key(&segment);
            match role.replica(segment) {
                Some(replica) if replica.shows == ReplicaState::Error => false,
                Some(replica) => match replica.work {
                    Work::Idle => on_disk || replica.memory.is_some(),
                    Work::Discarded
                    | Work::Stopping
                    | Work::Waiting
                    | Work::Looking(_)
                    | Work::Fetching(_)
                    | Work::Retrying
                    | Work::Comparing => false,
                    Work::Opening { .. }
                    | Work::Acquiring
                    | Work::Consuming(_)
                    | Work::Reporting(_)
                    | Work::Starting(_)
                    | Work::Building { .. }
                    | Work::Uploading(_)
                    | Work::Ending(_)
                    | Work::Catching(_)
                    | Work::Sealed => true,
                },
                None => on_disk,
            }
        };
        in_store || others.into_iter().any(comes) || is_read_again(world, segment)
    }
}

/// Whether Helix can take a replica from here to there in one transition. What is in error stays so until it is
/// reset.
fn is_step(from: ReplicaState, to: ReplicaState) -> bool {
    matches!(
        (from, to),
        (ReplicaState::Offline, ReplicaState::Consuming | ReplicaState::Online)
            | (ReplicaState::Consuming, ReplicaState::Online | ReplicaState::Offline)
            | (ReplicaState::Online, ReplicaState::Offline)
    )
}

fn is_read_of_server(effect: &ServerEffect) -> bool {
    matches!(
        effect,
        ServerEffect::ReadRecord(_)
            | ServerEffect::PollRecord(_)
            | ServerEffect::ReadView
            | ServerEffect::Fetch(..)
            | ServerEffect::Download(..)
    )
}

fn is_read_again(world: &World, segment: SegmentId) -> bool {
    let mut servers = world.servers.iter().filter_map(|node| node.role.as_ref());
    let job = servers.any(|role| role.jobs().any(|(id, _)| id == segment));
    let refill =
        |role: &surehold::commit::controller::State| role.refills().any(|(id, _)| id == segment);
    job || world.controllers.iter().any(|process| refill(&process.role))
}

/// Whether anybody works on a commit, so that records grow old under living hands.
fn is_anything_alive(world: &World) -> bool {
    let working = |process: &super::world::Process| {
        let reads = |stage| matches!(stage, Stage::Making);
        process.role.errands().any(|(_, errand)| !reads(errand.stage))
            || process.role.refills().next().is_some()
            || process.role.retries().is_some()
    };
    let committing = |node: &super::world::Node| {
        let role = node.role.as_ref();
        role.is_some_and(|role| {
            role.replicas().any(|(_, replica)| {
                replica.work.is_locked() || matches!(replica.work, Work::Building { .. })
            }) || role.jobs().next().is_some()
        })
    };
    let leads = world.controllers.iter().any(|process| working(process));
    leads || world.servers.iter().any(|node| committing(node))
}
