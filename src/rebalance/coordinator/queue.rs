//! The queue towards each server: sending, sending again, waiting for too long.

use super::super::event::{Refusal, Task};
use super::super::guard::Guard;
use super::super::message::{Request, ToServer};
use super::super::object::{Fence, Incarnation, SegmentId, ServerId};
use super::Turn;
use super::state::{Copy, Kind, Operation, Phase};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// Sends the first of the queue. A request has its number from its first sending, so that numbers grow
    /// in the order of sending; one that is not answered yet is sent again unchanged. Those that are late are
    /// sent beside the others, in whose places they would stand for good where nobody answers them.
    pub(super) fn send_queue(&mut self, at: ServerId) -> Result<(), Refusal> {
        let size = self.limits.batch_size.max(1);
        let mut batch: Vec<_> = self.state.in_time(at).take(size).collect();
        batch.extend(self.state.late(at).take(size));
        let second = self.state.second_operations().filter(|(server, ..)| *server == at);
        batch.extend(second.map(|(_, segment, op)| (segment, op)));
        if batch.is_empty() {
            return Err(Refusal::NotReady(Task::Send(at)));
        }
        let server = self.state.server(at).ok_or(Refusal::UnknownServer(at))?;
        let incarnation = server.incarnation.unwrap_or_default();
        for (segment, operation) in batch {
            self.send_one(at, segment, operation, incarnation);
        }
        Ok(())
    }

    fn send_one(
        &mut self,
        at: ServerId,
        segment: SegmentId,
        operation: Operation,
        incarnation: Incarnation,
    ) {
        let number = operation.number().unwrap_or_else(|| self.number(at, segment, operation));
        let ticket = Fence { term: self.state.term.unwrap_or_default(), number };
        let action = operation.kind.action();
        let request = Request { ticket, incarnation, action, segment };
        self.send(at, ToServer::Request(request));
    }

    /// Gives an operation its number.
    fn number(&mut self, at: ServerId, segment: SegmentId, operation: Operation) -> u32 {
        let Some(server) = self.state.servers.get_mut(&at) else { return 0 };
        server.issued = server.issued.saturating_add(1);
        let number = server.issued;
        let copy = self.state.copy(segment, at);
        let sent = Operation { phase: Phase::Sent(number), ..operation };
        if copy.operation == Some(operation) {
            self.state.set_copy(segment, at, Copy { operation: Some(sent), ..copy });
        } else {
            self.state.beside.insert((at, segment), sent);
        }
        number
    }

    /// Asks a server for all that it serves, and shows it the fence: what another leader has sent, or this one
    /// before the server (re-)appeared, is void unless it was carried out before the view.
    pub(super) fn poll(&mut self, at: ServerId) -> Result<(), Refusal> {
        let server = self.state.server(at).ok_or(Refusal::UnknownServer(at))?;
        let mut fence = self.state.fence(server);
        if !self.judge.applies(Guard::FencedView) {
            fence = Fence::default();
        } else if fence.number > 0 && !self.judge.applies(Guard::FencedAgain) {
            fence.number = 0;
        }
        self.send(at, ToServer::Poll(fence));
        Ok(())
    }

    /// A late load no longer counts as arriving, so that another may be tried; a late move is only a load.
    /// Neither is forgotten: it may still be carried out.
    pub(super) fn overdue(&mut self, at: ServerId, segment: SegmentId) -> Result<(), Refusal> {
        let copy = self.state.copy(segment, at);
        let refusal = Refusal::NotReady(Task::Overdue(at, segment));
        let operation = copy.operation.ok_or(refusal)?;
        let Phase::Sent(number) = operation.phase else { return Err(refusal) };
        let kind = match operation.kind {
            Kind::MoveTo => Kind::Replicate,
            kind => kind,
        };
        let late = Operation { kind, phase: Phase::Late(number), from: None };
        let operation = self.judge.applies(Guard::LateStays).then_some(late);
        self.state.set_copy(segment, at, Copy { operation, ..copy });
        Ok(())
    }

    /// Takes an operation back if it was never sent (dossier 9.1, I5).
    pub(super) fn cancel(&mut self, at: ServerId, segment: SegmentId) {
        let copy = self.state.copy(segment, at);
        if copy.operation.is_some_and(|op| op.phase == Phase::Queued) {
            self.state.set_copy(segment, at, Copy { operation: None, ..copy });
        }
    }
}
