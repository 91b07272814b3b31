//! Faults that never run out: what would grow with each of them is used again, so that the space closes by itself.

use surehold::compaction::marker::Owner;
use surehold::compaction::object::{Body, ProcessId};

use super::fleet::Fleet;
use super::model::{Model, WorldOf};
use super::world::Write;

/// How many writes that nobody waits for may still land where faults never run out.
const LATE_IF_ENDLESS: usize = 1;

impl<F: Fleet> Model<F> {
    /// A fault happens.
    pub(super) fn spend_fault(&self, world: &mut WorldOf<F>) {
        if !self.scope.faults.endless {
            world.faults_left -= 1;
        }
    }

    /// A write is on its way, and nobody waits for it.
    pub(super) fn leave(&self, world: &mut WorldOf<F>, write: Write) {
        if self.scope.faults.endless && world.late.len() == LATE_IF_ENDLESS {
            world.late.remove(0);
        }
        world.late.push(write);
    }

    /// The number of a process's next life. Lives are told apart and nothing else, so that where faults never run out the
    /// number of a life that nothing bears any more is used again.
    pub(super) fn next_life(&self, world: &WorldOf<F>, process: u8) -> u32 {
        if !self.scope.faults.endless {
            return self.incarnation(&world.processes[process as usize]) + 1;
        }
        let stored = world.store.markers.values().map(|visit| visit.marker.owner);
        let late = world.late.iter().filter_map(|write| match write.body {
            Some(Body::Marker(marker)) => Some(marker.owner),
            _ => None,
        });
        let owners: Vec<_> = stored.chain(late).collect();
        let owner = |incarnation| Owner { process: ProcessId(u32::from(process)), incarnation };
        let is_free = |incarnation: &u32| !owners.contains(&owner(*incarnation));
        (0..).find(is_free).expect("fewer owners than numbers")
    }
}

#[cfg(test)]
mod tests {
    use surehold::Verified;

    use super::super::fleet::{Ours, Seen as _};
    use super::super::model::Action;
    use super::super::scope::{Faults, Scope};
    use super::super::tale::Tale;
    use super::super::verdicts;
    use super::super::world::RoleState;
    use super::*;

    fn lives(world: &WorldOf<Ours<Verified>>) -> Vec<u32> {
        let lives = world.processes.iter().filter_map(|actor| match &actor.role {
            RoleState::Compactor(state) => Some(state.incarnation()),
            RoleState::Cleaner(_) => None,
        });
        lives.collect()
    }

    fn crashed(
        model: &Model<Ours<Verified>>,
        world: &WorldOf<Ours<Verified>>,
        process: u8,
    ) -> WorldOf<Ours<Verified>> {
        model.apply(world, Action::Crash(process), &mut Tale::untold()).expect("it may crash")
    }

    /// A has crashed with a claim in its name, and B works under one: both lives are borne by a marker.
    #[test]
    fn the_name_of_a_life_is_used_again_only_when_nothing_bears_it() {
        let scope = verdicts::scope("crash-two-workers").expect("a scope");
        let faults = Faults { budget: 1, endless: true, crash: true, ..Faults::NONE };
        let model = Model::new(&Ours(Verified), &Scope { faults, ..scope });
        let begun = model.start();
        assert_eq!(lives(&begun), [1, 0]);
        assert_eq!(begun.store.markers.len(), 2);
        let again = crashed(&model, &begun, 0);
        assert_eq!(lives(&again), [1, 0], "nothing bears the second life of A");
        let both = crashed(&model, &again, 1);
        assert_eq!(lives(&both), [1, 1], "a marker bears the first life of B");
        assert_eq!(both.faults_left, begun.faults_left);

        let mut freed = both.clone();
        freed.store.change().markers = surehold::collections::Table::new();
        freed.late.clear();
        assert_eq!(lives(&crashed(&model, &freed, 1)), [1, 0]);
    }
}
