//! Upstream's run: copies the inventory, later the queues, later the marks, then counts and decides
//! (dossier 4.3 to 4.5). Between those readings everything else goes on.

use super::super::event::{Input, Move, ServerInfo};
use super::super::object::{SegmentId, ServerId, TierId};
use super::account::Counts;
use super::coordinator::{Coordinator, Inventory, State};
use super::peon::{Act, Peon, Then};
use crate::collections::Table;

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Run {
    /// None is under way.
    Idle,
    /// The inventory is copied.
    Inventory(Table<ServerId, Inventory>),
    /// The queues are copied too.
    Queues(Vec<Holder>),
    /// The marks are copied too: the picture is complete.
    Ready(Vec<Holder>),
}

/// The picture of one server (dossier 1.4). Nothing that is settled during the run changes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Holder {
    /// Whose.
    pub server: ServerId,
    /// What discovery said.
    pub info: ServerInfo,
    /// What the inventory listed.
    pub served: Vec<SegmentId>,
    /// One action for each segment; a mark overwrites an entry of the queue.
    pub acts: Table<SegmentId, Act>,
}

impl Holder {
    pub(super) fn serves(&self, segment: SegmentId) -> bool {
        self.served.binary_search(&segment).is_ok()
    }

    pub(super) fn act(&self, segment: SegmentId) -> Option<Act> {
        self.acts.get(&segment).copied()
    }

    fn is_serving(&self, segment: SegmentId) -> bool {
        self.serves(segment) && self.act(segment).is_none()
    }

    fn read_queue(&mut self, peon: &Peon) {
        for (segment, entry) in peon.load.iter() {
            self.acts.insert(*segment, entry.act);
        }
        for (segment, entry) in peon.drop.iter() {
            self.acts.insert(*segment, entry.act);
        }
    }

    /// #19889: an acknowledged operation goes on counting until this very inventory shows its effect.
    fn confirm(&mut self, peon: &mut Peon) {
        let served = self.served.clone();
        let shows = |segment: &SegmentId, act: Act| {
            served.binary_search(segment).is_ok() == (act != Act::Drop)
        };
        peon.awaiting.retain(|segment, act| !shows(segment, *act));
        for (segment, act) in peon.awaiting.iter() {
            if !self.acts.contains_key(segment) {
                self.acts.insert(*segment, *act);
            }
        }
    }

    fn read_marks(&mut self, peon: &Peon) {
        for (segment, ()) in peon.marked.iter() {
            self.acts.insert(*segment, Act::MoveFrom);
        }
    }
}

impl Coordinator {
    /// The next phase of the run.
    pub(super) fn run(&self, state: &mut State, input: Input) {
        let next = match std::mem::replace(&mut state.run, Run::Idle) {
            Run::Idle => {
                reset_peons(state);
                if self.fix.prepares_at_once() {
                    let inventory = state.views.clone();
                    let holders = self.read_queues(state, &inventory);
                    Run::Ready(prepared(state, holders))
                } else {
                    Run::Inventory(state.views.clone())
                }
            }
            Run::Inventory(inventory) => {
                let holders = self.read_queues(state, &inventory);
                if self.fix.reads_queue_and_marks_together() {
                    Run::Ready(prepared(state, holders))
                } else {
                    Run::Queues(holders)
                }
            }
            Run::Queues(holders) => Run::Ready(prepared(state, holders)),
            Run::Ready(holders) => {
                self.decide(state, holders, input);
                Run::Idle
            }
        };
        state.run = next;
    }

    fn read_queues(&self, state: &mut State, seen: &Table<ServerId, Inventory>) -> Vec<Holder> {
        let mut holders = Vec::new();
        for (at, inventory) in seen.iter() {
            let Some(peon) = state.peons.get_mut(at) else { continue };
            let served = inventory.segments.clone();
            let info = inventory.info;
            let mut holder = Holder { server: *at, info, served, acts: Table::new() };
            holder.read_queue(peon);
            if self.fix.retains() {
                holder.confirm(peon);
            }
            holders.push(holder);
        }
        holders
    }

    fn decide(&self, state: &mut State, mut holders: Vec<Holder>, input: Input) {
        let moving_tiers: Vec<_> = holders
            .iter()
            .filter(|holder| holder.acts.values().any(|act| *act == Act::MoveTo))
            .map(|holder| holder.info.tier)
            .collect();
        let rules = state.rules.clone();
        for (segment, rule) in rules.iter().collect::<Vec<_>>().into_iter().rev() {
            let mut decision = Decision { fix: self.fix, state, holders: &mut holders, input };
            decision.replicate(*segment, &rule.required, rule.size_bytes);
        }
        if let Some(proposed) = input.proposed {
            let mut decision = Decision { fix: self.fix, state, holders: &mut holders, input };
            decision.begin_move(proposed, &moving_tiers);
        }
    }
}

/// Queues are made for new servers and stopped for those that are gone (dossier 4.3 b).
fn reset_peons(state: &mut State) {
    let names = state.peons.iter().map(|(at, _)| *at);
    let gone: Vec<_> = names.filter(|at| !state.views.contains_key(at)).collect();
    for at in gone {
        if let Some(peon) = state.peons.remove(&at) {
            state.schedule(peon.stop(at));
        }
    }
    let seen: Vec<_> = state.views.iter().map(|(at, _)| *at).collect();
    for at in seen {
        if !state.peons.contains_key(&at) {
            state.peons_made += 1;
            state.peons.insert(at, Peon::new(state.peons_made));
        }
    }
}

/// The end of the preparation (dossier 4.3 d, e): the marks are read, then loads that were not sent to a
/// server that the operator wants empty are cancelled.
fn prepared(state: &mut State, holders: Vec<Holder>) -> Vec<Holder> {
    let mut holders = read_marks(state, holders);
    for holder in holders.iter_mut().filter(|holder| holder.info.decommissioning) {
        cancel_loads(state, holder);
    }
    holders
}

fn cancel_loads(state: &mut State, holder: &mut Holder) {
    let is_load = |act: &Act| matches!(act, Act::Load | Act::Replicate | Act::MoveTo);
    let loads = holder.acts.iter().filter(|(_, act)| is_load(act));
    for segment in loads.map(|(segment, _)| *segment).collect::<Vec<_>>() {
        let peon = state.peons.get_mut(&holder.server);
        if let Some(due) = peon.and_then(|peon| peon.cancel(holder.server, segment)) {
            state.schedule(due);
            holder.acts.remove(&segment);
        }
    }
}

fn read_marks(state: &State, mut holders: Vec<Holder>) -> Vec<Holder> {
    for holder in &mut holders {
        if let Some(peon) = state.peons.get(&holder.server) {
            holder.read_marks(peon);
        }
    }
    holders
}

/// Decisions of one run, which it records in its own picture as it goes.
struct Decision<'a> {
    fix: super::Fix,
    state: &'a mut State,
    holders: &'a mut Vec<Holder>,
    input: Input,
}

impl Decision<'_> {
    /// Dossier 4.5, `replicate`.
    fn replicate(&mut self, segment: SegmentId, required: &[(TierId, u16)], size_bytes: u64) {
        let of = |tier: TierId| {
            required.iter().filter(|(t, _)| *t == tier).map(|(_, n)| i64::from(*n)).sum::<i64>()
        };
        let mut tiers: Vec<_> = required.iter().map(|(tier, _)| *tier).collect();
        tiers.extend(self.holders.iter().map(|holder| holder.info.tier));
        tiers.sort_unstable();
        tiers.dedup();
        let count = |holders: &[Holder], tier| {
            let counts = Counts::of(holders, segment, Some(tier));
            Counts { required: of(tier), ..counts }
        };
        let counts: Vec<_> = tiers.iter().map(|tier| count(self.holders, *tier)).collect();
        let loadable: i64 = counts.iter().map(Counts::required_and_loadable).sum();
        let there: i64 = counts.iter().map(Counts::loaded_not_dropping).sum();
        let mut surplus_left = there - loadable;
        for (tier, counts) in tiers.into_iter().zip(counts) {
            surplus_left -= self.update_tier(segment, tier, counts, surplus_left, size_bytes);
        }
    }

    /// Dossier 4.5, `updateTier`; how many drops were queued.
    fn update_tier(
        &mut self,
        segment: SegmentId,
        tier: TierId,
        counts: Counts,
        surplus_left: i64,
        size_bytes: u64,
    ) -> i64 {
        let (projected, required) = (counts.projected(self.fix), counts.required);
        if required == 0 && counts.moving_to > 0 {
            self.cancel(segment, tier, &[Act::MoveTo], counts.moving_to);
            self.forget_marks(segment, tier);
        }
        if projected < required {
            let deficit = required - projected;
            let cancelled = self.cancel(segment, tier, &[Act::Drop], deficit);
            let loaded = counts.loaded_not_dropping() + cancelled;
            self.load(segment, tier, deficit - cancelled, loaded, size_bytes);
            0
        } else if projected > required {
            let surplus = projected - required;
            let cancelled = self.cancel(segment, tier, &[Act::Load, Act::Replicate], surplus);
            self.drop(segment, tier, (surplus - cancelled).min(surplus_left))
        } else {
            0
        }
    }

    /// Cancels what was never sent; how many.
    fn cancel(&mut self, segment: SegmentId, tier: TierId, acts: &[Act], most: i64) -> i64 {
        let mut cancelled = 0;
        for holder in self.holders.iter_mut().filter(|holder| holder.info.tier == tier) {
            if cancelled >= most || !holder.act(segment).is_some_and(|act| acts.contains(&act)) {
                continue;
            }
            let peon = self.state.peons.get_mut(&holder.server);
            let Some(due) = peon.and_then(|peon| peon.cancel(holder.server, segment)) else {
                continue;
            };
            self.state.schedule(due);
            holder.acts.remove(&segment);
            cancelled += 1;
        }
        cancelled
    }

    /// A mark is forgotten in this run only: the queue keeps it (dossier 1.4).
    fn forget_marks(&mut self, segment: SegmentId, tier: TierId) {
        for holder in self.holders.iter_mut().filter(|holder| holder.info.tier == tier) {
            if holder.act(segment) == Some(Act::MoveFrom) {
                holder.acts.remove(&segment);
            }
        }
    }

    fn can_load(&self, holder: &Holder, segment: SegmentId, size_bytes: u64) -> bool {
        let free_bytes = i128::from(holder.info.capacity_bytes) - self.used_bytes(holder);
        let info = holder.info;
        info.managed
            && !info.decommissioning
            && !holder.serves(segment)
            && holder.act(segment).is_none()
            && free_bytes >= i128::from(size_bytes)
    }

    /// Dossier 1.4: what the view shows, and queued loads, less queued drops. A mark frees nothing (9.1, I6).
    fn used_bytes(&self, holder: &Holder) -> i128 {
        let sizes =
            |id: &SegmentId| self.state.rules.get(id).map_or(0, |rule| i128::from(rule.size_bytes));
        let served: i128 = holder.served.iter().map(&sizes).sum();
        let queued = holder.acts.iter().map(|(id, act)| match act {
            Act::Load | Act::Replicate | Act::MoveTo => sizes(id),
            Act::Drop => -sizes(id),
            Act::MoveFrom => 0,
        });
        served + queued.sum::<i128>()
    }

    fn load(&mut self, segment: SegmentId, tier: TierId, most: i64, loaded: i64, size_bytes: u64) {
        let able = |holder: &&Holder| {
            holder.info.tier == tier && self.can_load(holder, segment, size_bytes)
        };
        let mut able: Vec<_> = self.holders.iter().filter(able).map(|h| h.server).collect();
        rotate(&mut able, self.input.pick);
        let act = if loaded >= 1 { Act::Replicate } else { Act::Load };
        for at in able.into_iter().take(usize::try_from(most).unwrap_or(0)) {
            self.start(at, segment, act);
            if let Some(peon) = self.state.peons.get_mut(&at) {
                peon.enqueue(segment, act, None);
            }
        }
    }

    /// From servers that the operator wants empty first.
    fn drop(&mut self, segment: SegmentId, tier: TierId, most: i64) -> i64 {
        let managed = |holder: &&Holder| holder.info.tier == tier && holder.info.managed;
        let serving = self.holders.iter().filter(managed).filter(|h| h.is_serving(segment));
        let (mut first, mut then): (Vec<_>, Vec<_>) =
            serving.map(|h| (h.info.decommissioning, h.server)).partition(|(empty, _)| *empty);
        rotate(&mut first, self.input.pick);
        rotate(&mut then, self.input.pick);
        first.append(&mut then);
        let mut dropped = 0;
        for (_, at) in first.into_iter().take(usize::try_from(most).unwrap_or(0)) {
            self.start(at, segment, Act::Drop);
            if let Some(peon) = self.state.peons.get_mut(&at) {
                if self.fix.drops_unmark() {
                    peon.marked.remove(&segment);
                }
                peon.enqueue(segment, Act::Drop, None);
                dropped += 1;
            }
        }
        dropped
    }

    fn start(&mut self, at: ServerId, segment: SegmentId, act: Act) {
        if let Some(holder) = self.holders.iter_mut().find(|holder| holder.server == at) {
            holder.acts.insert(segment, act);
        }
    }

    /// Dossier 3.6 and 4.8: no move begins in a tier where one was under way when the run began.
    fn begin_move(&mut self, proposed: Move, moving_tiers: &[TierId]) {
        let Move { segment, from, to } = proposed;
        let holder = |at: ServerId| self.holders.iter().find(move |holder| holder.server == at);
        let (Some(source), Some(target)) = (holder(from), holder(to)) else { return };
        let Some(size_bytes) = self.state.rules.get(&segment).map(|rule| rule.size_bytes) else {
            return;
        };
        let busy = moving_tiers.contains(&source.info.tier);
        let fits = source.info.tier == target.info.tier
            && source.info.managed
            && source.is_serving(segment)
            && self.can_load(target, segment, size_bytes);
        if busy || !fits {
            return;
        }
        let Some(peon) = self.state.peons.get_mut(&from) else { return };
        peon.marked.insert(segment, ());
        let then = Then::Leave { from, queue: peon.number };
        if let Some(peon) = self.state.peons.get_mut(&to) {
            peon.enqueue(segment, Act::MoveTo, Some(then));
        }
        self.start(from, segment, Act::MoveFrom);
        self.start(to, segment, Act::MoveTo);
    }
}

fn rotate<T>(items: &mut [T], pick: u32) {
    if !items.is_empty() {
        items.rotate_left(pick as usize % items.len());
    }
}
