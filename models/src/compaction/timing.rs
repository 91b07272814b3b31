//! Time: waits, heartbeats that come in time, stamps.

use surehold::Issued;
use surehold::compaction::Effect;
use surehold::compaction::marker::Owner;
use surehold::compaction::object::{Key, PlanId};

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::world::RoleState;

impl<F: Fleet> Model<F> {
    /// Whether a wait is not over: somebody who had looked before it began, and does not stand still, has yet
    /// to write. Whoever looks later sees what the wait came after.
    pub(super) fn is_waiting(
        &self,
        world: &WorldOf<F>,
        process: u8,
        issued: &Issued<Effect>,
    ) -> bool {
        let Effect::Wait(wait) = &issued.effect else { return false };
        let waits = &world.processes[process as usize].waits;
        let Some((_, awaited)) = waits.iter().find(|(number, _)| *number == issued.id.number)
        else {
            return false;
        };
        let others = world.processes.iter().enumerate();
        others.into_iter().any(|(at, actor)| {
            awaited & (1 << at) != 0 && !actor.paused && Self::is_about_to_write(actor, wait.after)
        })
    }

    /// The processes, as bits, that have looked and are about to write what a wait comes after.
    pub(super) fn about_to_write(&self, world: &WorldOf<F>, process: u8, after: Key) -> u64 {
        let others = world.processes.iter().enumerate().filter(|(at, _)| *at != process as usize);
        let about_to = others.filter(|(_, actor)| Self::is_about_to_write(actor, after));
        about_to.fold(0, |bits, (at, _)| bits | (1 << at))
    }

    pub(super) fn is_about_to_write(actor: &ProcessOf<F>, after: Key) -> bool {
        let Key::Marker(folder, partition) = after else { return false };
        let writes = actor
            .pending
            .iter()
            .any(|issued| matches!(&issued.effect, Effect::Put(key, _) if *key == after));
        let RoleState::Compactor(state) = &actor.role else { return writes };
        let claims = state.about_to_claim().is_some_and(|(plan, p)| {
            p == partition && folder.plan.is_none_or(|named| named == plan)
        });
        writes || claims || state.about_to_plan()
    }

    /// A process has taken a step: whoever waited for its write need not wait any more, if it is written.
    pub(super) fn release_waits(&self, world: &mut WorldOf<F>, process: u8) {
        let bit = 1u64 << process;
        for at in 0..world.processes.len() {
            let waits = &world.processes[at].waits;
            let holds = |(number, awaited): &(u16, u64)| {
                let wait = world.processes[at].pending.iter().find(|i| i.id.number == *number);
                let after = wait.and_then(|issued| match &issued.effect {
                    Effect::Wait(wait) => Some(wait.after),
                    _ => None,
                });
                let actor = &world.processes[process as usize];
                awaited & bit != 0
                    && after.is_some_and(|after| !Self::is_about_to_write(actor, after))
            };
            if waits.iter().any(holds) {
                let released: Vec<_> = waits
                    .iter()
                    .map(|wait| if holds(wait) { (wait.0, wait.1 & !bit) } else { *wait })
                    .collect();
                world.processes[at].change().waits = released;
            }
        }
    }

    /// Whether the owner of a marker is alive, at work on it and not standing still, so that its
    /// heartbeats come in time.
    pub(super) fn is_cared_for(
        &self,
        world: &WorldOf<F>,
        owner: Owner,
        plan: PlanId,
        partition: u32,
    ) -> bool {
        let Some(actor) = world.processes.get(owner.process.0 as usize) else { return false };
        match &actor.role {
            RoleState::Compactor(state) => {
                state.incarnation() == owner.incarnation
                    && !actor.paused
                    && state.works_on(plan, partition)
            }
            RoleState::Cleaner(_) => false,
        }
    }

    /// Whether the owner of the cleaner's marker is alive, at its pass and not standing still.
    pub(super) fn cleans(&self, world: &WorldOf<F>, owner: Owner) -> bool {
        let Some(actor) = world.processes.get(owner.process.0 as usize) else { return false };
        match &actor.role {
            RoleState::Cleaner(state) => {
                state.incarnation() == owner.incarnation && !actor.paused && !state.can_begin()
            }
            RoleState::Compactor(_) => false,
        }
    }

    /// Seconds: a plan bears a multiple of four, a visit one more than the last plan before it.
    pub(super) fn now_s(&self, world: &WorldOf<F>) -> u64 {
        if self.dated { 4 * u64::from(world.plans_made) + 1 } else { 1 }
    }

    pub(super) fn stamp_s(&self, world: &WorldOf<F>, clock: Clock) -> u64 {
        let last = 4 * u64::from(world.plans_made);
        match clock {
            _ if !self.dated => 1,
            Clock::Later => last + 4,
            Clock::Same => last,
            Clock::Behind => last.saturating_sub(1),
        }
    }

    /// Plan ids are ULIDs: later ones are greater, unless a clock is behind.
    pub(super) fn fresh_plan(&self, world: &WorldOf<F>, clock: Clock) -> u128 {
        let last = 10 * u128::from(world.plans_made);
        if clock == Clock::Behind && !self.dated { last - 5 } else { last + 10 }
    }
}
