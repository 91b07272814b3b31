//! Which events of the world may happen, within the scope's bounds.

use surehold::compaction::Effect;
use surehold::compaction::object::{BlockId, Body, Key, Prefix};

use super::coverage::effect_name;
use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::world::RoleState;

impl<F: Fleet> Model<F> {
    /// Whether a bound of the scope stops this effect.
    pub(super) fn is_cut_off(&self, world: &WorldOf<F>, effect: &Effect) -> bool {
        match effect {
            Effect::Put(Key::Plan(_), Body::Plan(plan)) => {
                plan.id.0 > 10 * u128::from(self.scope.max_plans)
            }
            Effect::Merge(merge) => {
                let base = merge.plan.id.0 * 1000 + u128::from(merge.partition) * 10;
                (1..=3).all(|slot| world.store.blocks.get(&BlockId(base + slot)).is_some())
            }
            _ => false,
        }
    }

    /// Whether a bound of the scope stops something in this state.
    pub fn is_cut_state(&self, world: &WorldOf<F>) -> bool {
        let mut pending = world.processes.iter().flat_map(|actor| &actor.pending);
        pending.any(|issued| self.is_cut_off(world, &issued.effect))
    }

    /// Every event that may happen.
    pub fn enabled(&self, world: &WorldOf<F>, actions: &mut Vec<Action>) {
        for (at, actor) in world.processes.iter().enumerate() {
            self.enabled_of(world, at as u8, actor, actions);
        }
        for (at, write) in world.late.iter().enumerate() {
            if !world.late[..at].contains(write) {
                actions.push(Action::Land(at as u8));
            }
        }
        for ((key, partition), visit) in world.store.markers.iter() {
            let marker = &visit.marker;
            let ages = self.scope.completed_age || !marker.is_completed();
            if !visit.expired
                && ages
                && !self.is_cared_for(world, marker.owner, marker.plan, *partition)
            {
                actions.push(Action::Expire(*key, *partition));
            }
        }
        if let Some((marker, false)) = world.store.cleaner_marker
            && !self.cleans(world, marker.owner)
        {
            actions.push(Action::ExpireCleaner);
        }
        if self.scope.ripens {
            let ripening = world.store.blocks.iter().filter(|(_, block)| block.ripens());
            actions.extend(ripening.map(|(id, _)| Action::Ripen(*id)));
        }
        if usize::from(world.arrived) < self.scope.late.len() {
            actions.push(Action::Upload);
        }
        if usize::from(world.operated) < self.scope.operator.len() {
            actions.push(Action::Operate);
        }
    }

    pub(crate) fn enabled_of(
        &self,
        world: &WorldOf<F>,
        process: u8,
        actor: &ProcessOf<F>,
        actions: &mut Vec<Action>,
    ) {
        if !self.reduce && self.may_begin(actor) {
            actions.push(Action::Begin(process));
        }
        for issued in &actor.pending {
            let effect = &issued.effect;
            if self.is_cut_off(world, effect) || self.is_waiting(world, process, issued) {
                continue;
            }
            let number = issued.id.number;
            self.choices(world, process, effect, |choice| {
                let fate = Fate::Done;
                actions.push(Action::Run { process, number, fate, choice });
            });
            if world.faults_left > 0 {
                self.fates(effect, |fate| {
                    let choice = Choice::default();
                    actions.push(Action::Run { process, number, fate, choice });
                });
            }
        }
        if let (true, RoleState::Compactor(state)) = (self.scope.beats, &actor.role) {
            actions.extend(state.beats().into_iter().map(|slot| Action::Beat(process, slot)));
        }
        if let (true, true, RoleState::Cleaner(state)) =
            (self.scope.beats, self.scope.cleaner_marker, &actor.role)
        {
            actions.extend(state.beats().into_iter().map(|slot| Action::Beat(process, slot)));
        }
        if world.faults_left > 0 && self.scope.faults.crash {
            actions.push(Action::Crash(process));
        }
        if world.faults_left > 0 && self.scope.faults.pause && !actor.paused {
            let writes = actor.pending.iter().any(|i| matches!(i.effect, Effect::Put(..)));
            let works =
                matches!(&actor.role, RoleState::Compactor(state) if state.jobs_running() > 0);
            if writes || works {
                actions.push(Action::Pause(process));
            }
        }
    }

    pub(super) fn choices(
        &self,
        world: &WorldOf<F>,
        process: u8,
        effect: &Effect,
        mut each: impl FnMut(Choice),
    ) {
        let default = Choice::default();
        each(default);
        let compactor = process < self.scope.compactors;
        let picks = if self.dated {
            matches!(effect, Effect::Get(Key::Plan(_)) | Effect::Put(Key::Plan(_), _))
        } else {
            matches!(effect, Effect::List(Prefix::Marks))
        };
        if compactor && picks {
            for pick in 1..self.scope.picks {
                each(Choice { pick, ..default });
            }
        }
        if let Effect::Merge(merge) = effect
            && self.has_attempt(world, merge)
        {
            each(Choice { lesser_id: true, ..default });
        }
        let stamps = matches!(
            effect,
            Effect::Get(Key::Plan(_) | Key::Meta(_)) | Effect::List(Prefix::Marks)
        );
        if compactor && stamps && world.faults_left > 0 && world.plans_made > 0 {
            if self.scope.faults.same_second && self.dated {
                each(Choice { clock: Clock::Same, ..default });
            }
            if self.scope.faults.clock_behind {
                each(Choice { clock: Clock::Behind, ..default });
            }
        }
    }

    pub(super) fn fates(&self, effect: &Effect, mut each: impl FnMut(Fate)) {
        let faults = &self.scope.faults;
        if faults.claims_only && effect_name(effect) != "put-claim" {
            return;
        }
        let (fails, unknown) = match effect {
            Effect::Put(..) | Effect::Delete(_) => (faults.write_fails, true),
            Effect::Wait(_) => (false, false),
            Effect::List(_) | Effect::Get(_) | Effect::Exists(_) | Effect::Merge(_) => {
                (faults.read_fails, false)
            }
        };
        if fails {
            each(Fate::Failed);
        }
        if unknown && faults.reply_lost {
            each(Fate::Lost);
        }
        if unknown && faults.write_late {
            each(Fate::Late);
        }
    }
}
