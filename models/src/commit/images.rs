//! What a world is when servers exchange their names: to the verified protocol they are all alike.

use std::hash::{Hash, Hasher};

use serde::Serialize;
use surehold::commit::Guard;
use surehold::guard::Guards;

use super::model::Model;
use super::scope::Scope;
use super::world::{Node, Pending, Process, Rewriting, Store, Stored, World, builder};
use crate::part::Part;
use crate::symmetry::{Hashing, Names, Renaming, feed, hash_unordered, images, renamings};

/// The names of servers, which checksums bear as well: of who has built the copy.
struct Servers<'a>(&'a Renaming);

impl Names for Servers<'_> {
    /// An attempt is named after the checksum of its copy.
    const PLACES: &'static [&'static str] = &["ServerId", "Crc", "attempt"];
    /// The servers that a segment is listed with.
    const SETS: &'static [&'static str] = &["Add"];

    fn renamed(&self, place: &'static str, number: u64) -> u64 {
        if place == "ServerId" { self.0.of(number) } else { builder::renamed(self.0, number) }
    }
}

/// How servers can exchange their names.
fn of(scope: &Scope) -> Vec<Renaming> {
    renamings(&vec![Some(()); usize::from(scope.servers)])
}

impl<V: Guards<Guard>> Model<V> {
    /// Takes worlds for one that differ in names alone. Of the verified protocol, and of the documented runs of others that
    /// find nothing, it is shown that nothing tells them apart (`tests/symmetry.rs`).
    pub(super) fn take_images(&mut self) {
        self.renamings = of(&self.scope).into();
    }

    pub(super) fn feed_image_of(&self, world: &World, image: usize, hasher: &mut impl Hasher) {
        let (renamings, renaming) = (&self.renamings, &self.renamings[image]);
        // All fields by name: one that is new must not be forgotten.
        let World {
            store,
            controllers,
            servers,
            leader,
            mode,
            first,
            committed,
            rewriting,
            adrift,
            left,
            broken,
        } = world;
        hasher.write_u64(self.images_of(store, feed_store)[image]);
        for process in controllers {
            let feed =
                |process: &_, image, hasher: &mut _| self.feed_controller(process, image, hasher);
            hasher.write_u64(images(process, renamings, feed)[image]);
        }
        for node in renaming.in_order(servers) {
            let feed = |node: &_, image, hasher: &mut _| self.feed_node(node, image, hasher);
            hasher.write_u64(images(node, renamings, feed)[image]);
        }
        (leader, mode, first, committed, left).hash(hasher);
        feed_rewriting(rewriting.as_deref(), renaming, hasher);
        feed(adrift, &Servers(renaming), hasher);
        // A search ends where something is broken.
        broken.hash(hasher);
    }

    fn feed_controller(&self, process: &Process, image: usize, hasher: &mut Hashing) {
        let renaming = &self.renamings[image];
        let Process { role, pending } = process;
        hasher.write_u64(self.images_of(role, feed_named)[image]);
        hasher.write_usize(pending.len());
        for Pending { issued, at } in pending {
            feed(issued, &Servers(renaming), hasher);
            at.map(|server| renaming.of(server.into())).hash(hasher);
        }
    }

    fn feed_node(&self, node: &Node, image: usize, hasher: &mut Hashing) {
        let renaming = &self.renamings[image];
        let Node { role, durable, is_dead, pending } = node;
        role.as_ref().map(|role| self.images_of(role, feed_named)[image]).hash(hasher);
        hasher.write_u64(self.images_of(durable, feed_named)[image]);
        (is_dead, pending.len()).hash(hasher);
        for Pending { issued, at } in pending {
            feed(issued, &Servers(renaming), hasher);
            // A controller.
            at.hash(hasher);
        }
    }

    fn images_of<'a, T>(
        &self,
        part: &'a Part<T>,
        feed: fn(&T, &Renaming, &mut Hashing),
    ) -> &'a [u64] {
        images(part, &self.renamings, |part, image, hasher| {
            feed(part, &self.renamings[image], hasher);
        })
    }
}

fn feed_named<T: Serialize>(value: &T, renaming: &Renaming, hasher: &mut Hashing) {
    feed(value, &Servers(renaming), hasher);
}

/// A minion is no server; what it replaces may have been built by one.
fn feed_rewriting(upload: Option<&Rewriting>, renaming: &Renaming, hasher: &mut impl Hasher) {
    let upload = upload.map(|upload| {
        let Rewriting { segment, copy, object, record, version, is_put } = upload;
        (segment, copy, object, record, version, is_put)
    });
    feed(&upload, &Servers(renaming), hasher);
}

fn feed_store(store: &Store, renaming: &Renaming, hasher: &mut Hashing) {
    let Store { records, ideal, ideal_version, view, objects } = store;
    let names = Servers(renaming);
    hasher.write_u64(hash_unordered(records.iter(), |(id, stored), hasher| {
        let Stored { record, version, is_old } = stored;
        feed(&(id, record, version, is_old), &names, hasher);
    }));
    feed(&(ideal, ideal_version, view, objects), &names, hasher);
}
