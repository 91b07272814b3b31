//! The one reduction: steps that nobody else can tell are taken at once.

use surehold::Issued;
use surehold::compaction::Effect;
use surehold::compaction::object::{Key, Prefix};

use super::fleet::{Fleet, Seen as _};
use super::model::*;
use super::tale::Tale;
use super::world::{RoleState, Write};

impl<F: Fleet> Model<F> {
    /// Takes the steps that nobody else can tell, until there is none.
    pub(super) fn settle(&self, world: &mut WorldOf<F>, tale: &mut Tale) {
        if !self.reduce {
            return;
        }
        while let Some((process, number)) = self.next_immediate(world) {
            let taken = match number {
                None => self.begin(world, process),
                Some(number) => {
                    self.run(world, process, number, Fate::Done, Choice::default(), tale)
                }
            };
            assert!(taken.is_some(), "a step that may be taken at once is not refused");
        }
    }

    pub(super) fn next_immediate(&self, world: &WorldOf<F>) -> Option<(u8, Option<u16>)> {
        for (at, actor) in world.processes.iter().enumerate() {
            let process = at as u8;
            if self.may_begin(actor) {
                return Some((process, None));
            }
            if let Some(number) = self.immediate_of(world, process) {
                return Some((process, Some(number)));
            }
        }
        None
    }

    pub(super) fn immediate_of(&self, world: &WorldOf<F>, process: u8) -> Option<u16> {
        let mut pending = world.processes[process as usize].pending.iter();
        let effect = pending.find(|issued| self.is_immediate(world, process, issued));
        effect.map(|issued| issued.id.number)
    }

    pub(super) fn may_begin(&self, actor: &ProcessOf<F>) -> bool {
        match &actor.role {
            RoleState::Compactor(state) => {
                state.can_begin() && state.jobs_running() < usize::from(self.scope.concurrency)
            }
            RoleState::Cleaner(state) => state.can_begin(),
        }
    }

    /// Whether a plan may be stamped by a wrong clock at what this process does: which clock it is, the world
    /// chooses.
    fn may_stamp(&self, world: &WorldOf<F>, process: u8) -> bool {
        process < self.scope.compactors
            && !self.dated
            && self.scope.faults.clock_behind
            && world.faults_left > 0
            && world.plans_made > 0
    }

    /// Whether this effect may be carried out at once, since when it happens makes no difference to anybody
    /// and no fault that is left can hit it:
    ///
    /// - a read of what nobody else can write or delete any more in this scope;
    /// - a write that nobody else reads: a result's chunks and index before its meta, the copy of a mark that
    ///   this fleet does not read; likewise their deletion, and the listing of what is to be deleted;
    /// - a merge, which reads immutable blocks and writes to its own disk;
    /// - the end of a wait, once the wait's condition holds.
    ///
    /// The beginning of a cycle is treated likewise. Verdicts with and without agree (`tests/reduction.rs`).
    pub(super) fn is_immediate(
        &self,
        world: &WorldOf<F>,
        process: u8,
        issued: &Issued<Effect>,
    ) -> bool {
        let effect = &issued.effect;
        let faults = &self.scope.faults;
        // What the budget does not allow any more cannot hit an operation.
        let is_calm = world.faults_left == 0;
        let cleaner = process >= self.scope.compactors;
        let is_mark =
            |write: &Write| matches!(write.key, Key::GlobalDeletionMark(_) | Key::DeletionMark(_));
        let only_marker =
            cleaner && self.scope.cleaners == 1 && is_calm && !world.late.iter().any(is_mark);
        let reads_fail = !is_calm && faults.read_fails;
        let steady = |key: &Key| match key {
            Key::Meta(_) if self.may_stamp(world, process) => false,
            Key::Meta(_) | Key::DeletionMark(_) | Key::GlobalDeletionMark(_)
                if self.scope.ripens =>
            {
                false
            }
            // Once there, never gone: nothing deletes blocks or deletion marks here.
            Key::Meta(_) | Key::DeletionMark(_) | Key::GlobalDeletionMark(_) => {
                world.store.get(*key).is_some() || (only_marker && !matches!(key, Key::Meta(_)))
            }
            Key::NoCompactMark(_) | Key::GlobalNoCompactMark(_) => self.scope.operator.is_empty(),
            _ => false,
        };
        let swift = self.scope.swift_sync
            && matches!(&world.processes[process as usize].role,
                RoleState::Compactor(state) if state.is_syncing());
        match effect {
            Effect::Get(_) if swift && !reads_fail => true,
            Effect::Get(key) | Effect::Exists(key) => !reads_fail && steady(key),
            Effect::List(Prefix::Marks) => {
                !reads_fail && only_marker && self.scope.operator.is_empty()
            }
            Effect::List(Prefix::Block(_)) => !reads_fail && !self.dated,
            Effect::List(_) => false,
            Effect::Put(Key::Chunks(_) | Key::Index(_), _) => is_calm || !faults.writes_fail(),
            Effect::Put(Key::DeletionMark(_), _) => !self.dated && is_calm,
            Effect::Put(Key::GlobalDeletionMark(_), _) => false,
            Effect::Put(..) => false,
            Effect::Delete(Key::Chunks(_) | Key::Index(_)) => !faults.writes_fail(),
            Effect::Delete(Key::DeletionMark(_)) => !self.dated && !faults.writes_fail(),
            Effect::Delete(_) => false,
            Effect::Merge(merge) => {
                !reads_fail && !self.scope.ripens && !self.has_attempt(world, merge)
            }
            Effect::Wait(_) => !self.is_waiting(world, process, issued),
        }
    }
}
