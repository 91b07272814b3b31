//! The run: compares what is there with what is required, segment by segment.
//!
//! Only segments of which something has changed are looked at. Each is decided on the state as it is at that
//! moment, which an immutable state gives for nothing; upstream's run works on a picture that it has put
//! together from three readings (dossier 4.3).

use core::cmp::Reverse;
use std::sync::Arc;

use super::super::event::{Input, Move};
use super::super::guard::Guard;
use super::super::object::{SegmentId, ServerId, TierId};
use super::Turn;
use super::state::{Class, Kind, Phase, Segment, Server};
use crate::guard::Guards;

/// What a tier has of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    serving: usize,
    arriving: usize,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn run(&mut self, input: Input) {
        if self.state.picture.is_none() && !self.judge.applies(Guard::AskNow) {
            self.state.picture = Some(self.state.segments.clone());
            return;
        }
        let picture = self.state.picture.take();
        let due = std::mem::take(&mut self.state.due);
        for id in due.iter() {
            let pictured = picture.as_ref().and_then(|picture| picture.get(id)).cloned();
            let satisfied = self.decide(*id, pictured, input.pick);
            if !satisfied {
                self.state.due.insert(*id);
            }
        }
        if let Some(proposed) = input.proposed {
            self.begin_move(proposed);
        }
    }

    /// Decides on one segment; whether it has what is required, no more and no less.
    fn decide(&mut self, id: SegmentId, pictured: Option<Arc<Segment>>, pick: u32) -> bool {
        let Some(now) = self.state.segments.get(&id).cloned() else { return true };
        if now.rule.is_none() {
            return true;
        }
        self.take_back(id, &now);
        let mut satisfied = true;
        for tier in self.tiers_of(&now) {
            let seen = match &pictured {
                Some(pictured) => pictured.clone(),
                None => self.state.segments.get(&id).cloned().unwrap_or_default(),
            };
            let count = self.count(&seen, tier);
            let (there, required) = (count.serving + count.arriving, seen.required(tier));
            satisfied &= if there < required {
                self.add(id, tier, required - there, count.serving == 0, pick)
            } else if there > required {
                self.reduce(id, tier, there - required, pictured.as_deref(), pick)
            } else {
                self.drain(id, tier, pick)
            };
        }
        satisfied
    }

    /// Takes back loads that were not sent to a server that the operator wants empty (dossier 4.3 e).
    fn take_back(&mut self, id: SegmentId, segment: &Segment) {
        for (at, copy) in segment.copies.iter() {
            let loads = copy.operation.is_some_and(|op| op.kind != Kind::Drop);
            if loads && self.is_decommissioning(*at) {
                self.cancel(*at, id);
            }
        }
    }

    /// Has what a server serves that the operator wants empty moved elsewhere, as far as there is room; whether
    /// nothing of it is left that could not be moved. Each such move leads away from those servers and none
    /// leads back, so that they come to an end.
    fn drain(&mut self, id: SegmentId, tier: TierId, pick: u32) -> bool {
        let mut placed = true;
        for from in self.to_be_drained(id, tier) {
            let to = self.places(id, tier, pick).first().copied();
            placed &= to.is_some_and(|to| self.create(id, to, Kind::MoveTo, Some(from)));
        }
        placed
    }

    /// Servers that the operator wants empty and that serve a segment for which no move is under way yet.
    fn to_be_drained(&self, id: SegmentId, tier: TierId) -> Vec<ServerId> {
        let Some(segment) = self.state.segments.get(&id) else { return Vec::new() };
        let mut serving = self.holders(id, tier, |class| class == Class::Serving);
        serving.retain(|at| {
            self.is_decommissioning(*at)
                && !segment.is_moving_from(*at)
                && self.state.copy(id, *at).operation.is_none()
        });
        serving
    }

    fn is_decommissioning(&self, at: ServerId) -> bool {
        self.state.servers.get(&at).is_some_and(|server| server.info.decommissioning)
    }

    /// Tiers that require replicas or have some, ascending.
    fn tiers_of(&self, segment: &Segment) -> Vec<TierId> {
        let required = segment.rule.iter().flat_map(|rule| rule.required.iter().map(|(t, _)| *t));
        let holders = segment.copies.iter();
        let held = holders.filter_map(|(at, _)| self.state.servers.get(at).map(|s| s.info.tier));
        let mut tiers: Vec<_> = required.chain(held).collect();
        tiers.sort_unstable();
        tiers.dedup();
        tiers
    }

    /// What a tier has. A load in place of another copy is not counted while that copy stands for it: nor when
    /// a view shows it before its answer has come, or a third copy would be taken for a surplus (D2).
    fn count(&mut self, segment: &Segment, tier: TierId) -> Count {
        let mut count = Count::default();
        for (at, copy) in segment.copies.iter() {
            let Some(info) = self.state.servers.get(at).map(|server| server.info) else { continue };
            if info.tier != tier || !self.judge.demands(Guard::ManagedOnly, info.managed) {
                continue;
            }
            let source = copy.operation.and_then(|op| op.from);
            let stands = source.and_then(|from| segment.copies.get(&from));
            let stands = stands.is_some_and(|source| source.class() == Class::Serving);
            match copy.class() {
                Class::Serving => {
                    let counts = self.judge.demands(Guard::MoveCountsOnce, !stands);
                    count.serving += usize::from(counts);
                }
                Class::Arriving if !stands => count.arriving += 1,
                Class::Arriving | Class::Absent | Class::Leaving => {}
            }
        }
        count
    }

    /// Takes back drops that were not sent, then loads where there is room.
    fn add(&mut self, id: SegmentId, tier: TierId, missing: usize, first: bool, pick: u32) -> bool {
        let mut missing = missing;
        for at in self.holders_from(id, tier, Class::Leaving, pick) {
            if missing > 0 && self.is_queued(id, at) && self.state.copy(id, at).has {
                self.cancel(at, id);
                missing -= 1;
            }
        }
        let kind = if first { Kind::Load } else { Kind::Replicate };
        for at in self.places(id, tier, pick) {
            if missing > 0 && self.create(id, at, kind, None) {
                missing -= 1;
            }
        }
        missing == 0
    }

    /// Takes back loads that were not sent, then drops what may go: from servers that the operator wants
    /// empty first, then from the fullest.
    fn reduce(
        &mut self,
        id: SegmentId,
        tier: TierId,
        surplus: usize,
        pictured: Option<&Segment>,
        pick: u32,
    ) -> bool {
        let mut surplus = surplus;
        for at in self.holders_from(id, tier, Class::Arriving, pick) {
            if surplus > 0 && self.is_queued(id, at) {
                self.cancel(at, id);
                surplus -= 1;
            }
        }
        for at in self.givers(id, tier, pick) {
            if surplus == 0 {
                break;
            }
            let now = self.state.segments.get(&id).cloned().unwrap_or_default();
            if self.drop_if_it_may(id, at, pictured.unwrap_or(&now)) {
                surplus -= 1;
            }
        }
        surplus == 0
    }

    fn is_queued(&self, id: SegmentId, at: ServerId) -> bool {
        self.state.copy(id, at).operation.is_some_and(|op| op.phase == Phase::Queued)
    }

    /// Managed servers of a tier whose copy is of such a class.
    fn holders(&self, id: SegmentId, tier: TierId, of: impl Fn(Class) -> bool) -> Vec<ServerId> {
        let Some(segment) = self.state.segments.get(&id) else { return Vec::new() };
        let in_tier = |at: &ServerId| {
            self.state.servers.get(at).is_some_and(|s| s.info.tier == tier && s.info.managed)
        };
        let holders = segment.copies.iter().filter(|(at, copy)| in_tier(at) && of(copy.class()));
        holders.map(|(at, _)| *at).collect()
    }

    /// The same of one class, beginning at one of them: none is better than another.
    fn holders_from(&self, id: SegmentId, tier: TierId, of: Class, pick: u32) -> Vec<ServerId> {
        let mut holders = self.holders(id, tier, |class| class == of);
        rotate(&mut holders, pick);
        holders
    }

    /// Servers that a copy may be dropped from, in order.
    fn givers(&self, id: SegmentId, tier: TierId, pick: u32) -> Vec<ServerId> {
        let serving = self.holders(id, tier, |class| class == Class::Serving);
        let moving = self.state.segments.get(&id);
        let stays = |at: &ServerId| !moving.is_some_and(|segment| segment.is_moving_from(*at));
        let free = |at: &ServerId| self.state.copy(id, *at).operation.is_none();
        let free = |at: &ServerId| free(at) || !self.judge.keeps(Guard::OneOperation);
        let (mut first, mut then): (Vec<_>, Vec<_>) = serving
            .into_iter()
            .filter(|at| stays(at) && free(at))
            .partition(|at| self.is_decommissioning(*at));
        for group in [&mut first, &mut then] {
            group.sort_by_key(|at| (self.free_bytes(*at), *at));
            rotate(group, pick);
        }
        first.append(&mut then);
        first
    }

    /// Servers that a copy may be loaded on, in order: the emptiest first.
    fn places(&mut self, id: SegmentId, tier: TierId, pick: u32) -> Vec<ServerId> {
        let Some(segment) = self.state.segments.get(&id) else { return Vec::new() };
        let alone = self.judge.keeps(Guard::OneOperation);
        let mut places = Vec::new();
        for (at, server) in self.state.servers().filter(|(_, server)| server.info.tier == tier) {
            let able = may_take(segment, at, server, alone);
            if able && self.judge.demands(Guard::RoomFirst, has_room(segment, server)) {
                places.push((Reverse(server.free_bytes()), at));
            }
        }
        places.sort_unstable();
        rotate(&mut places, pick);
        places.into_iter().map(|(_, at)| at).collect()
    }

    fn free_bytes(&self, at: ServerId) -> u128 {
        self.state.servers.get(&at).map_or(0, Server::free_bytes)
    }

    /// Takes a proposed move up if both ends allow it (dossier 3.6). The source is only dropped once the
    /// load is acknowledged, and only if it may go then.
    fn begin_move(&mut self, proposed: Move) {
        let Move { segment: id, from, to } = proposed;
        let Some(segment) = self.state.segments.get(&id) else { return };
        let source = segment.copies.get(&from);
        let stays =
            source.is_some_and(|copy| copy.class() == Class::Serving && copy.operation.is_none());
        let ruled = segment.rule.is_some() && !segment.is_moving_from(from);
        let tier = |at| self.state.server(at).map(|s| (s.info.tier, s.info.managed));
        let Some(target) = self.state.server(to) else { return };
        let alone = self.judge.keeps(Guard::OneOperation);
        let able = tier(from) == tier(to) && may_take(segment, to, target, alone);
        let fits = has_room(segment, target);
        if stays && ruled && able && self.judge.demands(Guard::RoomFirst, fits) {
            self.create(id, to, Kind::MoveTo, Some(from));
        }
    }
}

/// Whether a segment may be loaded on a server, as far as room is not asked; `alone`: only if no operation is
/// outstanding for it there (dossier 9.1, I7).
fn may_take(segment: &Segment, at: ServerId, server: &Server, alone: bool) -> bool {
    let copy = segment.copies.get(&at);
    let absent = copy.is_none_or(|copy| !copy.has);
    let idle = copy.is_none_or(|copy| copy.operation.is_none());
    let info = server.info;
    info.managed && !info.decommissioning && server.fenced && absent && (idle || !alone)
}

fn has_room(segment: &Segment, server: &Server) -> bool {
    server.free_bytes() >= u128::from(segment.size_bytes())
}

fn rotate<T>(servers: &mut [T], pick: u32) {
    if !servers.is_empty() {
        servers.rotate_left(pick as usize % servers.len());
    }
}
