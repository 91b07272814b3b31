//! Learning: what an answer or a view says, and whether it is news.

use super::super::event::Refusal;
use super::super::guard::Guard;
use super::super::message::{Answer, Reply, View};
use super::super::object::{SegmentId, ServerId, Stamp, Term};
use super::Turn;
use super::state::{Copy, Kind, Operation, Phase};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// Whether what carries `new` may replace what carries `old`.
    fn is_news(&mut self, new: Stamp, old: Stamp) -> bool {
        let by_version = new.version >= old.version;
        let by_life = new >= old;
        let newer = by_life == by_version || self.judge.applies(Guard::LifeOrders);
        let newer = if newer { by_life } else { by_version };
        self.judge.demands(Guard::NewerWins, newer)
    }

    /// A message from a later life of the server tells that all that was known and asked is void. One from
    /// an earlier life tells nothing: then it is not to be heard.
    fn meet(&mut self, at: ServerId, stamp: Stamp) -> Result<bool, Refusal> {
        let server = self.state.server(at).ok_or(Refusal::UnknownServer(at))?;
        let Some(known) = server.incarnation else {
            return self.begin_life(at, stamp);
        };
        if stamp.incarnation == known {
            return Ok(true);
        }
        if self.judge.demands(Guard::LifeOrders, stamp.incarnation > known) {
            self.state.forget(at);
            self.begin_life(at, stamp)
        } else {
            Ok(false)
        }
    }

    fn begin_life(&mut self, at: ServerId, stamp: Stamp) -> Result<bool, Refusal> {
        let again = self.judge.keeps(Guard::FencedAgain);
        let server = self.state.servers.get_mut(&at).ok_or(Refusal::UnknownServer(at))?;
        let first = server.incarnation.is_none();
        server.incarnation = Some(stamp.incarnation);
        if again && !first {
            server.fenced = false;
            server.fence_from = server.issued;
        }
        Ok(true)
    }

    pub(super) fn reply(&mut self, at: ServerId, reply: Reply, term: Term) -> Result<(), Refusal> {
        if reply.ticket.term != term {
            return Err(Refusal::OtherTerm(reply.ticket.term));
        }
        if !self.meet(at, reply.stamp)? {
            return Ok(());
        }
        if let Answer::RefusedTerm(fence) = reply.answer {
            self.told_of(fence.term);
            if self.state.term.is_none() {
                return Ok(());
            }
        }
        let old = self.state.copy(reply.segment, at);
        let settled = old.operation.filter(|op| self.settles(op, &reply));
        let mut new = old;
        if settled.is_some() {
            new.operation = None;
        } else {
            self.settle_second(at, &reply);
        }
        let tells = (reply.has, reply.stamp) != (old.has, old.stamp);
        if tells && self.judge.applies(Guard::ReplyTeaches) && self.is_news(reply.stamp, old.stamp)
        {
            (new.has, new.stamp) = (reply.has, reply.stamp);
        }
        self.state.set_copy(reply.segment, at, new);
        // Where the answer is lost, the request is refused when it is sent again: the copy is there all the same.
        let moved = settled.filter(|op| op.kind == Kind::MoveTo && reply.has);
        if let Some(from) = moved.and_then(|op| op.from) {
            self.end_move(reply.segment, from);
        }
        Ok(())
    }

    fn settles(&mut self, op: &Operation, reply: &Reply) -> bool {
        let sent = op.phase != Phase::Queued && op.kind.action() == reply.action;
        sent && self.judge.demands(Guard::OwnNumber, op.number() == Some(reply.ticket.number))
    }

    /// An answer to what a weakened coordinator has put beside the first operation.
    fn settle_second(&mut self, at: ServerId, reply: &Reply) {
        let second = self.state.beside.get(&(at, reply.segment)).copied();
        if second.is_some_and(|op| self.settles(&op, reply)) {
            self.state.beside.remove(&(at, reply.segment));
        }
    }

    pub(super) fn view(&mut self, at: ServerId, view: &View, term: Term) -> Result<(), Refusal> {
        let fences = self.judge.keeps(Guard::FencedView);
        if fences && view.fence.term != term {
            return Err(Refusal::OtherTerm(view.fence.term));
        }
        if !self.meet(at, view.stamp)? {
            return Ok(());
        }
        let viewed = self.state.servers.get(&at).and_then(|server| server.viewed);
        if viewed.is_some_and(|viewed| !self.is_news(view.stamp, viewed)) {
            return Err(Refusal::Stale(at));
        }
        if let Some(server) = self.state.servers.get_mut(&at) {
            server.viewed = Some(view.stamp);
            let covers = !fences || view.fence.number >= server.fence_from;
            // Once trusted, a server stays so until it re-appears or starts again.
            server.fenced |= covers;
        }
        // A list from outside may be in any order.
        let mut listed = view.segments.clone();
        listed.sort_unstable();
        for segment in self.told_by(at, &listed) {
            let has = listed.binary_search(&segment).is_ok();
            self.learn(at, segment, has, view.stamp);
        }
        Ok(())
    }

    /// Every segment that the view lists, or would have to list if it still were there.
    fn told_by(&self, at: ServerId, listed: &[SegmentId]) -> Vec<SegmentId> {
        let holds = self.state.servers.get(&at).map(|server| server.holds.clone());
        let mut told = listed.to_vec();
        told.extend(holds.unwrap_or_default().iter());
        told.sort_unstable();
        told.dedup();
        told
    }

    fn learn(&mut self, at: ServerId, segment: SegmentId, has: bool, stamp: Stamp) {
        let old = self.state.copy(segment, at);
        let new = if self.is_news(stamp, old.stamp) { Copy { has, stamp, ..old } } else { old };
        self.state.set_copy(segment, at, new);
    }
}
