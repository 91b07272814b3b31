//! What a world is when compactors, or cleaners, exchange their names: they are all alike.

use std::hash::{Hash, Hasher};

use serde::Serialize;
use surehold::compaction::marker::Owner;
use surehold::compaction::object::ProcessId;

use super::fleet::Fleet;
use super::model::{Model, ProcessOf, WorldOf};
use super::scope::Scope;
use super::world::{RoleState, Store};
use crate::part::Part;
use crate::symmetry::{Hashing, Names, Renaming, feed, hash, images, renamings};

/// The names of processes.
struct Processes<'a>(&'a Renaming);

impl Names for Processes<'_> {
    const PLACES: &'static [&'static str] = &["ProcessId"];

    fn renamed(&self, _place: &'static str, number: u64) -> u64 {
        self.0.of(number)
    }
}

/// Which processes can exchange their names.
fn of(scope: &Scope) -> Vec<Renaming> {
    let kinds: Vec<_> = (0..scope.compactors + scope.cleaners)
        .map(|process| Some(process < scope.compactors))
        .collect();
    renamings(&kinds)
}

impl<F: Fleet> Model<F> {
    /// Takes worlds for one that differ in names alone. Of the verified protocol, and of the documented runs of others that
    /// find nothing, it is shown that nothing tells them apart (`tests/symmetry.rs`).
    pub(super) fn take_images(&mut self) {
        self.renamings = of(&self.scope).into();
    }

    pub(super) fn feed_image_of(&self, world: &WorldOf<F>, image: usize, hasher: &mut impl Hasher) {
        let renaming = &self.renamings[image];
        // All fields by name: one that is new must not be forgotten.
        let WorldOf::<F> {
            store,
            processes,
            late,
            arrived,
            operated,
            faults_left,
            plans_made,
            broken,
            seen,
        } = world;
        hasher.write_u64(store.images(|store| images_of_store(store, &self.renamings))[image]);
        for process in renaming.in_order(processes) {
            let images = images(process, &self.renamings, |process, image, hasher| {
                self.feed_process(process, image, hasher);
            });
            hasher.write_u64(images[image]);
        }
        hasher.write_usize(late.len());
        for write in late {
            feed(&(write.key, &write.body), &Processes(renaming), hasher);
        }
        (arrived, operated, faults_left, plans_made).hash(hasher);
        // Neither names a process.
        (broken, seen).hash(hasher);
    }

    fn feed_process(&self, process: &ProcessOf<F>, image: usize, hasher: &mut Hashing) {
        let renaming = &self.renamings[image];
        let ProcessOf::<F> { role, pending, waits, paused, no_compact_seen, plan_read_failed } =
            process;
        hasher.write_u64(match role {
            RoleState::Compactor(state) => self.images_of_role(state)[image],
            RoleState::Cleaner(state) => self.images_of_role(state)[image],
        });
        feed(pending, &Processes(renaming), hasher);
        hasher.write_usize(waits.len());
        for (number, before) in waits {
            (number, renaming.of_bits(*before)).hash(hasher);
        }
        (paused, no_compact_seen, plan_read_failed).hash(hasher);
    }

    fn images_of_role<'a, S: Clone + Hash + Serialize>(&self, state: &'a Part<S>) -> &'a [u64] {
        images(state, &self.renamings, |state, image, hasher| {
            feed(state, &Processes(&self.renamings[image]), hasher);
        })
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
