//! The question that matters: may this copy go? It is asked in one place, where a drop is created, on the
//! state as it is then.

use super::super::event::{Refusal, Task};
use super::super::guard::Guard;
use super::super::object::{SegmentId, ServerId};
use super::Turn;
use super::state::{Class, Copy, Kind, Operation, Phase, Segment};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// Drops a copy if it may go.
    pub(super) fn drop_if_it_may(&mut self, id: SegmentId, at: ServerId, seen: &Segment) -> bool {
        self.may_go(seen, at) && self.create(id, at, Kind::Drop, None)
    }

    /// A load in place of another copy has been acknowledged: the other may go, if it still may.
    pub(super) fn end_move(&mut self, id: SegmentId, from: ServerId) {
        let Some(now) = self.state.segments.get(&id).cloned() else { return };
        let there = now.copies.get(&from).is_some_and(|copy| copy.class() == Class::Serving);
        if !there {
            return;
        }
        let may = self.may_go(&now, from);
        if !self.judge.demands(Guard::AskBeforeMoveDrop, may) {
            return;
        }
        if self.judge.applies(Guard::DropAtOnce) {
            self.create(id, from, Kind::Drop, None);
        } else {
            self.state.asked.push_back((id, from));
        }
    }

    /// The second half of what [`Guard::DropAtOnce`] makes one step.
    pub(super) fn commit_asked(&mut self, task: Task) -> Result<(), Refusal> {
        let (id, from) = self.state.asked.pop_front().ok_or(Refusal::NotReady(task))?;
        self.create(id, from, Kind::Drop, None);
        Ok(())
    }

    /// Whether, without this copy, as many firm ones are left as are required: in its tier, and in all.
    ///
    /// While another tier waits for its copies, those of a tier that requires fewer now stand in for them
    /// (dossier 9.1, I4), as many of them as the other tier has servers for.
    fn may_go(&mut self, seen: &Segment, at: ServerId) -> bool {
        let Some(tier) = self.state.servers.get(&at).map(|server| server.info.tier) else {
            return false;
        };
        let (mut in_tier, mut in_all) = (0, 0);
        for (other, copy) in seen.copies.iter().filter(|(other, _)| **other != at) {
            if self.is_firm(*other, copy) {
                let same = self.state.servers.get(other).is_some_and(|s| s.info.tier == tier);
                in_tier += usize::from(same);
                in_all += 1;
            }
        }
        let enough = in_tier >= seen.required(tier) && in_all >= self.loadable(seen);
        self.judge.demands(Guard::EnoughOthers, enough)
    }

    /// How many replicas there have to be in all tiers, each counted as far as there are servers for it
    /// (dossier 4.4, `requiredAndLoadable`): what no server can ever hold must not keep surplus elsewhere.
    ///
    /// Unlike upstream's, it does not fall when discovery loses a server: that one may be back at once, and what
    /// stands in for its copies be gone by then. A new leader knows nothing of a server that was away when it
    /// began, so while anything is required it is never less than one.
    fn loadable(&self, segment: &Segment) -> usize {
        let tiers = segment.rule.iter().flat_map(|rule| &rule.required);
        let able = |tier| {
            let servers = self.state.servers.values();
            servers.filter(|server| server.info.managed && server.info.tier == tier).count()
        };
        let able: usize = tiers.map(|(tier, most)| usize::from(*most).min(able(*tier))).sum();
        able.max(segment.required_in_all().min(1))
    }

    /// Whether a copy surely serves until this leader gives it up: known, behind the fence, not leaving.
    fn is_firm(&mut self, at: ServerId, copy: &Copy) -> bool {
        let Some(server) = self.state.servers.get(&at) else { return false };
        let (fenced, managed) = (server.fenced, server.info.managed);
        fenced && copy.class() == Class::Serving && self.judge.demands(Guard::ManagedOnly, managed)
    }

    /// The one place where an operation is created.
    pub(super) fn create(
        &mut self,
        id: SegmentId,
        at: ServerId,
        kind: Kind,
        from: Option<ServerId>,
    ) -> bool {
        let copy = self.state.copy(id, at);
        let known = self.state.servers.get(&at).is_some_and(|server| server.fenced);
        let free = copy.operation.is_none();
        let may = known && self.judge.demands(Guard::OneOperation, free);
        let operation = Operation { kind, phase: Phase::Queued, from };
        if may && free {
            self.state.set_copy(id, at, Copy { operation: Some(operation), ..copy });
        } else if may && !self.state.beside.contains_key(&(at, id)) {
            self.state.beside.insert((at, id), operation);
        }
        may
    }
}
