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

    /// Of a server: its start, a lease that is over, its effects, and of each segment its transition and its patience.
    const fn server(&self, at: u8) -> usize {
        let own = 2 + EFFECTS + 2 * self.partitions * self.segments;
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

    fn segment(&self, at: u8, segment: SegmentId, place: usize) -> usize {
        let chain = usize::from(segment.partition.0) * self.segments;
        let sequence = (segment.sequence as usize).min(self.segments - 1);
        self.server(at) + 2 + EFFECTS + 2 * (chain + sequence) + place
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

    /// The class of a step that is owed.
    pub(super) fn class_of(&self, action: &Action) -> Option<u8> {
        let layout = self.layout();
        let place = match *action {
            Action::Run(who, number, Fate::Well) => layout.effect(who, number),
            Action::Run(Who::Server(at), _, Fate::Late) => layout.lease(at),
            Action::Begin(at, task, pick) => layout.task(at, task, pick)?,
            Action::Transition(at, segment, _) => layout.segment(at, segment, 0),
            Action::GiveUp(at, segment) => layout.segment(at, segment, 1),
            Action::Restart(at) => layout.start(at),
            Action::Age => AGE,
            Action::Resume => RESUME,
            Action::Minion => MINION,
            _ => return None,
        };
        Some(place.min(LAST) as u8)
    }

    /// What is fair to a class.
    pub(super) fn fairness_of(&self, class: u8) -> Fairness {
        let layout = self.layout();
        let is_task = |at| {
            let first = layout.controller(at);
            (first..first + layout.tasks()).contains(&usize::from(class))
        };
        if (0..layout.controllers as u8).any(is_task) { Fairness::Strong } else { Fairness::Weak }
    }
}
