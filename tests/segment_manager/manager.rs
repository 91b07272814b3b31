//! A leader with the stores of its table around it, which goes on until it has nothing left to do.

use std::collections::{BTreeMap, VecDeque};

use surehold::commit::completion::{Answer, Kind, Mode, Reason};
use surehold::commit::controller::{Controller, Durable, State, partitions};
use surehold::commit::effect::Expected;
use surehold::commit::event::ControllerOutcome;
use surehold::commit::message::{Ask, Caller, Order, ReingestStatus, Report, Request, Tell};
use surehold::commit::object::{
    ControllerId, Crc, Location, ObjectId, PartitionId, Range, Rows, Sealed, SegmentId, ServerId,
    Status, TableConfig,
};
use surehold::commit::{ControllerEffect, ControllerEvent, Guard, Input, Refusal, Task};
use surehold::guard::Guards;
use surehold::{EffectId, Issued, Machine};

use crate::commit_store::Stores;

/// What another writer does to a record between its being read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interference {
    Rewrites,
    SetsDone,
}

/// What comes from outside.
pub(crate) enum Wish {
    Begin(Task),
    Say(SegmentId, Ask),
}

pub(crate) struct Manager<V: Guards<Guard>> {
    role: Controller<V>,
    state: State,
    pub(crate) stores: Stores,
    /// The last answer to a server.
    answer: Option<Answer>,
    /// Which copies servers can upload, and what they call the attempt.
    pub(crate) uploads: BTreeMap<SegmentId, u64>,
    /// What servers were asked.
    pub(crate) orders: Vec<Order>,
    /// Records that were deleted.
    pub(crate) deleted: Vec<SegmentId>,
    /// Whether an operation failed.
    pub(crate) has_failed: bool,
    pub(crate) interference: Option<Interference>,
    /// The minute that a segment created now is named after.
    pub(crate) minute: u32,
}

impl<V: Guards<Guard>> Manager<V> {
    pub(crate) fn elected(role: Controller<V>, table: TableConfig, stores: Stores) -> Self {
        let durable = Durable { controller: ControllerId(0), incarnation: 1, table };
        let state = role.recover(durable);
        let mut manager = Self {
            role,
            state,
            stores,
            answer: None,
            uploads: BTreeMap::new(),
            orders: Vec::new(),
            deleted: Vec::new(),
            has_failed: false,
            interference: None,
            minute: 0,
        };
        manager.take(ControllerEvent::Elected);
        manager
    }

    /// Takes an event, and whatever follows from it.
    fn take(&mut self, event: ControllerEvent) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let step = self.role.step(&self.state, event).expect("it is taken");
            self.state = step.state;
            for Issued { id, effect } in step.effects {
                let outcome = self.carry_out(&effect);
                events.extend(outcome.map(|outcome| ControllerEvent::Outcome { id, outcome }));
            }
        }
        assert!(self.state.is_quiet(), "it waits for something");
    }

    fn carry_out(&mut self, effect: &ControllerEffect) -> Option<ControllerOutcome> {
        match effect {
            ControllerEffect::Answer(_, answer) => {
                self.answer = Some(*answer);
                return None;
            }
            // Helix resets what is asked for, and no segment is read again.
            ControllerEffect::Reset(..) | ControllerEffect::AnswerRefill(..) => return None,
            ControllerEffect::Call(order) => {
                let report = self.report(order);
                return Some(ControllerOutcome::Reported(report));
            }
            ControllerEffect::DeleteRecord(id) => self.deleted.push(*id),
            ControllerEffect::WriteRecord(id, _, Expected::Version(_)) => self.interfere(*id),
            _ => {}
        }
        let outcome = self.stores.carry_out(effect).expect("it is an operation on a store");
        self.has_failed |= outcome == ControllerOutcome::Failed;
        Some(outcome)
    }

    /// No server has rows that the stream has not, and all of them read a segment again where they are asked to.
    fn report(&mut self, order: &Order) -> Report {
        self.orders.push(order.clone());
        let Order { segment, body, .. } = order.clone();
        match body {
            Tell::Reingest => Report::Reingest(ReingestStatus::Accepted),
            Tell::Supply(_) | Tell::Exceed(_) => Report::Supplies(false),
            Tell::Upload => match self.uploads.get(&segment) {
                Some(attempt) => {
                    let stored = ObjectId { segment, attempt: Some(*attempt) };
                    self.stores.objects.insert(stored);
                    let end = self.stores.records[&segment].0.end.expect("its end is fixed");
                    Report::Uploaded { copy: self.copy(segment, end), stored }
                }
                None => Report::NotUploaded,
            },
        }
    }

    fn interfere(&mut self, segment: SegmentId) {
        let Some(interference) = self.interference.take() else { return };
        let mut record = self.stores.records[&segment].0.clone();
        if interference == Interference::SetsDone {
            record.status = Status::Done;
        }
        self.stores.put(segment, record);
    }

    /// The copy that a server builds of a segment.
    pub(crate) fn copy(&self, segment: SegmentId, end: u64) -> Sealed {
        let start = self.stores.records[&segment].0.start;
        let rows = Rows { range: Range { start, end }, missing: Vec::new() };
        Sealed { crc: Crc(7), rows }
    }

    /// A server commits a segment, and goes on to the end whatever it is told on the way.
    pub(crate) fn commit(&mut self, segment: SegmentId, end: u64, stored: Location) -> Answer {
        let listed = self.stores.ideal.segments.get(&segment);
        let server = listed.and_then(|replicas| replicas.iter().next().map(|(at, _)| *at));
        let copy = self.copy(segment, end);
        if let Location::Object(object) = stored {
            self.stores.objects.insert(object);
        }
        let says = [
            Ask::Say(end, Kind::Consumed(Some(Reason::RowLimit))),
            Ask::Say(end, Kind::CommitStart),
            Ask::CommitEnd { offset: end, copy, stored },
        ];
        let process = server.unwrap_or(ServerId(0));
        let answers = says.map(|body| self.hear(process, segment, body));
        answers[2]
    }

    /// A server says something of a segment.
    pub(crate) fn say(&mut self, segment: SegmentId, body: Ask) -> Answer {
        self.hear(ServerId(0), segment, body)
    }

    fn hear(&mut self, process: ServerId, segment: SegmentId, body: Ask) -> Answer {
        let caller = Caller { process, id: EffectId { incarnation: 0, number: 1 } };
        let request = Request { segment, body };
        self.answer = None;
        self.take(ControllerEvent::Received { caller, request, input: self.input(0) });
        self.answer.expect("every message is answered")
    }

    pub(crate) fn begin(&mut self, task: Task, pick: u32) {
        self.take(ControllerEvent::Continue { task, input: self.input(pick) });
    }

    /// The process is being stopped.
    pub(crate) fn stop(&mut self) {
        self.take(ControllerEvent::Stopping);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.state.stops()
    }

    /// Whether an order that comes from outside is refused as it stops.
    pub(crate) fn refuses(&self, order: Wish) -> bool {
        let event = match order {
            Wish::Begin(task) => ControllerEvent::Continue { task, input: self.input(0) },
            Wish::Say(segment, body) => {
                let caller =
                    Caller { process: ServerId(0), id: EffectId { incarnation: 0, number: 1 } };
                let request = Request { segment, body };
                ControllerEvent::Received { caller, request, input: self.input(0) }
            }
        };
        self.role.step(&self.state, event) == Err(Refusal::Stopping)
    }

    fn input(&self, pick: u32) -> Input {
        Input { now_ms: 0, minute: self.minute, pick }
    }

    /// The validator goes over the table's partitions, and stops where an operation fails: that fails its run.
    pub(crate) fn validate(&mut self) {
        self.validate_from(|_| 0);
    }

    /// The same, where the first segment of a partition that begins gets this sequence.
    pub(crate) fn validate_from(&mut self, first: impl Fn(PartitionId) -> u32) {
        let stream: Vec<_> = self.stores.stream.keys().copied().collect();
        for partition in partitions(stream, self.stores.records.keys().copied()) {
            self.begin(Task::Validate(partition), first(partition));
            if self.has_failed {
                return;
            }
        }
    }
}

/// A table of which nothing depends on the order of rows.
pub(crate) fn plain(mode: Mode, replicas: u16) -> TableConfig {
    TableConfig {
        mode,
        is_ordered: false,
        replicas,
        row_limit: 500,
        may_refill: false,
        auto_reset: None,
    }
}
