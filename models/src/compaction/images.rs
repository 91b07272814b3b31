//! What a world is when compactors, or cleaners, exchange their names: they are all alike.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;
use surehold::compaction::marker::Owner;
use surehold::compaction::object::ProcessId;

use super::fleet::Fleet;
use super::model::{Model, ProcessOf, RoleOf, WorldOf};
use super::scope::Scope;
use super::world::{RoleState, Store};
use crate::part::Part;
use crate::symmetry::{Names, Renaming, feed, renamings};

/// The names of processes.
struct Processes<'a>(&'a Renaming);

impl Names for Processes<'_> {
    const PLACES: &'static [&'static str] = &["ProcessId"];

    fn renamed(&self, _place: &'static str, number: u64) -> u64 {
        self.0.of(number)
    }
}

/// Which processes can exchange their names.
pub(super) fn of(scope: &Scope) -> Vec<Renaming> {
    let kinds: Vec<_> = (0..scope.compactors + scope.cleaners)
        .map(|process| Some(process < scope.compactors))
        .collect();
    renamings(&kinds)
}

impl<F: Fleet> Model<F> {
    pub(super) fn feed_image_of(&self, world: &WorldOf<F>, image: usize, hasher: &mut impl Hasher) {
        let renaming = &self.renamings[image];
        let WorldOf::<F> { store, processes, late, broken, seen, .. } = world;
        hasher.write_u64(store.images(|store| images_of_store(store, &self.renamings))[image]);
        for process in renaming.in_order(processes) {
            hasher.write_u64(self.images_of_process(process)[image]);
        }
        hasher.write_usize(late.len());
        for write in late {
            feed(&(write.key, &write.body), &Processes(renaming), hasher);
        }
        (world.arrived, world.operated, world.faults_left, world.plans_made).hash(hasher);
        // Neither names a process.
        (broken, seen).hash(hasher);
    }

    fn images_of_process<'a>(&self, process: &'a Part<ProcessOf<F>>) -> &'a [u64] {
        process.images(|process| {
            let of = |image| hash(|hasher| self.feed_process(process, image, hasher));
            (0..self.renamings.len()).map(of).collect()
        })
    }

    fn feed_process(&self, process: &ProcessOf<F>, image: usize, hasher: &mut impl Hasher) {
        let renaming = &self.renamings[image];
        let ProcessOf::<F> { role, pending, waits, paused, no_compact_seen, plan_read_failed } =
            process;
        hasher.write_u64(self.images_of_role(role)[image]);
        feed(pending, &Processes(renaming), hasher);
        hasher.write_usize(waits.len());
        for (number, before) in waits {
            (number, renaming.of_bits(*before)).hash(hasher);
        }
        (paused, no_compact_seen, plan_read_failed).hash(hasher);
    }

    fn images_of_role<'a>(&self, role: &'a RoleOf<F>) -> &'a [u64] {
        let feed = |image: usize, hasher: &mut _| match role {
            RoleState::Compactor(state) => {
                feed(&**state, &Processes(&self.renamings[image]), hasher);
            }
            RoleState::Cleaner(state) => feed(&**state, &Processes(&self.renamings[image]), hasher),
        };
        let all = || (0..self.renamings.len()).map(|image| hash(|hasher| feed(image, hasher)));
        match role {
            RoleState::Compactor(state) => state.images(|_| all().collect()),
            RoleState::Cleaner(state) => state.images(|_| all().collect()),
        }
    }
}

/// Who is named in the bucket, is named in a marker.
fn images_of_store(store: &Store, renamings: &[Renaming]) -> Box<[u64]> {
    let Store { blocks, plans, markers, cleaner_marker } = store;
    let nameless = hash(|hasher| (blocks, plans, markers.len()).hash(hasher));
    let of = |renaming: &Renaming| {
        let renamed = |owner: Owner| {
            let process = renaming.of(owner.process.0.into()) as u32;
            Owner { process: ProcessId(process), ..owner }
        };
        hash(|hasher| {
            hasher.write_u64(nameless);
            for (key, visit) in markers.iter() {
                let mut visit = *visit;
                visit.marker.owner = renamed(visit.marker.owner);
                (key, visit).hash(hasher);
            }
            let own = cleaner_marker.map(|(mut marker, expired)| {
                marker.owner = renamed(marker.owner);
                (marker, expired)
            });
            own.hash(hasher);
        })
    };
    renamings.iter().map(of).collect()
}

fn hash(feed: impl FnOnce(&mut <FixedState as BuildHasher>::Hasher)) -> u64 {
    let mut hasher = FixedState::with_seed(0x696d_6167).build_hasher();
    feed(&mut hasher);
    hasher.finish()
}
