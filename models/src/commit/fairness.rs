//! What a fair run owes: the classes of steps that endless rounds are judged by.

use surehold::commit::object::{PartitionId, SegmentId};
use surehold::commit::{Guard, Task};
use surehold::guard::Guards;

use super::model::{Action, Fate, Model, Who};
use crate::explore::Fairness;

/// Classes of one process's effects: by number, the last ones together. A number is that of one effect until it ends.
const EFFECTS: usize = 8;

/// Where there are more classes than can be told apart, the last ones are one. A run owes less to them together than to
/// each, so that no round is overlooked.
const LAST: usize = 63;

/// Where the classes lie: first those of time, of the operator and of minions, then those of each controller, then those
/// of each server.
struct Layout {
    controllers: usize,
    servers: usize,
    partitions: usize,
    segments: usize,
}

/// Records grow old.
const AGE: usize = 0;
/// The operator resumes consumption.
const RESUME: usize = 1;
/// A minion goes on.
const MINION: usize = 2;
/// Classes of none of the processes.
const OUTSIDE: usize = 3;

impl Layout {
    /// Of a controller: tasks first, of each partition the validator, then repair and retry with each server.
    const fn of_a_partition(&self) -> usize {
        1 + 2 * self.servers
    }

    const fn tasks(&self) -> usize {
        self.partitions * self.of_a_partition()
    }

    const fn controller(&self, at: u8) -> usize {
        OUTSIDE + at as usize * (self.tasks() + EFFECTS)
    }

    fn task(&self, at: u8, task: Task, pick: u8) -> Option<usize> {
        let (PartitionId(partition), place) = match task {
            Task::Validate(partition) => (partition, 0),
            Task::Repair(partition) => (partition, 1 + usize::from(pick)),
            Task::Retry(partition) => (partition, 1 + self.servers + usize::from(pick)),
            Task::Retain(_) => return None,
        };
        Some(self.controller(at) + usize::from(partition) * self.of_a_partition() + place)
    }

    /// Of a server: its start, a lease that is over, its effects, and of each replica its transition and its patience.
    const fn server(&self, at: u8) -> usize {
        let own = 2 + EFFECTS + 2 * self.replicas();
        self.controller(self.controllers as u8) + at as usize * own
    }

    const fn start(&self, at: u8) -> usize {
        self.server(at)
    }

    const fn lease(&self, at: u8) -> usize {
        self.server(at) + 1
    }

    fn effect(&self, who: Who, number: u16) -> usize {
        let place = usize::from(number).clamp(1, EFFECTS) - 1;
        match who {
            Who::Controller(at) => self.controller(at) + self.tasks() + place,
            Who::Server(at) => self.server(at) + 2 + place,
        }
    }

    /// How many replicas a server has.
    const fn replicas(&self) -> usize {
        self.partitions * self.segments
    }

    /// Which of them. Segments of one place are one: no two of them are listed.
    fn replica(&self, segment: SegmentId) -> usize {
        let sequence = (segment.sequence as usize).min(self.segments - 1);
        usize::from(segment.partition.0) * self.segments + sequence
    }

    const fn transition(&self, at: u8, replica: usize) -> usize {
        self.server(at) + 2 + EFFECTS + replica
    }

    const fn patience(&self, at: u8, replica: usize) -> usize {
        self.transition(at, self.replicas()) + replica
    }
}

impl<V: Guards<Guard>> Model<V> {
    fn layout(&self) -> Layout {
        Layout {
            controllers: 1 + usize::from(self.scope.budget.leaders),
            servers: usize::from(self.scope.servers),
            partitions: usize::from(self.scope.partitions),
            segments: self.scope.segments as usize,
        }
    }

    /// The class of a step that is owed. Each effect of a process ends; each periodic task begins, and with each server that
    /// it may pick, since a task that always picks a dead one is no fair one; each transition that Helix owes a replica
    /// comes; a replica that waits in vain gives up, a lease whose holder is gone runs out, records grow old; a server that
    /// is down and not dead starts again; a minion goes on, and the operator resumes what is paused.
    ///
    /// Nobody owes a fault, that a replica stops before it has all rows, a rewrite, or a run of retention: the goal must
    /// come without.
    pub(super) fn class_of(&self, action: &Action) -> Option<u8> {
        let layout = self.layout();
        let place = match *action {
            Action::Run(who, number, Fate::Well) => layout.effect(who, number),
            Action::Run(Who::Server(at), _, Fate::Late) => layout.lease(at),
            Action::Begin(at, task, pick) => layout.task(at, task, pick)?,
            Action::Transition(at, segment, _) => layout.transition(at, layout.replica(segment)),
            Action::GiveUp(at, segment) => layout.patience(at, layout.replica(segment)),
            Action::Restart(at) => layout.start(at),
            Action::Age => AGE,
            Action::Resume => RESUME,
            Action::Minion => MINION,
            _ => return None,
        };
        Some(place.min(LAST) as u8)
    }

    /// What is fair to a class. An effect, a transition and a start stay possible until they come, so that weak fairness is
    /// enough. Strong is what is due by time: a task begins again and again, though not while it runs; and patience, a
    /// lease and an age are counted from when they began, whoever seemed alive or about to come in between.
    pub(super) fn fairness_of(&self, class: u8) -> Fairness {
        let layout = self.layout();
        let class = usize::from(class);
        let is_task = |at| {
            let first = layout.controller(at);
            (first..first + layout.tasks()).contains(&class)
        };
        let is_wait = |at| {
            let first = layout.patience(at, 0);
            let waits = first..first + layout.replicas();
            class == layout.lease(at) || waits.contains(&class)
        };
        let is_strong = class == AGE
            || (0..layout.controllers as u8).any(is_task)
            || (0..layout.servers as u8).any(is_wait);
        if is_strong { Fairness::Strong } else { Fairness::Weak }
    }
}

#[cfg(test)]
mod tests {
    use surehold::Verified;
    use surehold::commit::{Controller, Server};

    use super::super::scopes;
    use super::*;

    /// Where the last classes are one, a round may be shown that is none.
    #[test]
    fn there_are_classes_enough_in_every_scope() {
        for scope in scopes::all() {
            let (controllers, servers) = (scope.controller_limits(), scope.server_limits());
            let (controller, server) = (Controller::new(controllers), Server::new(servers));
            let layout = Model::<Verified>::new(controller, server, &scope).layout();
            assert!(layout.server(scope.servers) <= LAST + 1, "{}", scope.name);
        }
    }

    #[test]
    fn what_is_due_by_time_is_owed_however_often_it_is_put_off() {
        let scope = scopes::all().into_iter().find(|scope| scope.name == "batch").expect("a scope");
        let (controllers, servers) = (scope.controller_limits(), scope.server_limits());
        let (controller, server) = (Controller::new(controllers), Server::new(servers));
        let model = Model::<Verified>::new(controller, server, &scope);
        let fairness = |action: Action| {
            let class = model.class_of(&action)?;
            Some((class, model.fairness_of(class)))
        };
        let (partition, segment) = (PartitionId(1), scope.segment(PartitionId(1), 1));
        let owed = [
            (Action::Age, Fairness::Strong),
            (Action::Begin(0, Task::Validate(partition), 0), Fairness::Strong),
            (Action::Begin(0, Task::Repair(partition), 0), Fairness::Strong),
            (Action::Begin(0, Task::Retry(partition), 0), Fairness::Strong),
            (Action::GiveUp(0, segment), Fairness::Strong),
            (Action::Run(Who::Server(0), 1, Fate::Late), Fairness::Strong),
            (Action::Run(Who::Server(0), 1, Fate::Well), Fairness::Weak),
            (Action::Run(Who::Controller(0), 8, Fate::Well), Fairness::Weak),
            (Action::Restart(0), Fairness::Weak),
            (Action::Resume, Fairness::Weak),
            (Action::Minion, Fairness::Weak),
        ];
        let classes: Vec<_> = owed.iter().filter_map(|(action, _)| fairness(*action)).collect();
        let told: Vec<_> = classes.iter().map(|(_, fairness)| *fairness).collect();
        assert_eq!(told, owed.map(|(_, fairness)| fairness));
        let is_own = |class: &u8| classes.iter().filter(|(other, _)| other == class).count() == 1;
        assert!(classes.iter().all(|(class, _)| is_own(class)), "{classes:?}");
        for action in [Action::Lead, Action::Toggle, Action::Pause, Action::Stop(0, segment)] {
            assert_eq!(fairness(action), None, "{action:?}");
        }
        let retention = Action::Begin(0, Task::Retain(partition), 1);
        assert_eq!(fairness(retention), None);
    }
}
