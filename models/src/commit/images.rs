//! What a world is when servers exchange their names: to the verified protocol they are all alike.

use std::hash::{Hash, Hasher};

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
    /// Takes worlds for one that differ in names alone. Only of the verified protocol it is shown that nothing tells them
    /// apart (`tests/symmetry.rs`); releases of upstream's were seen to.
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
        hasher.write_u64(images_of(store, renamings, feed_store)[image]);
        for process in controllers {
            hasher.write_u64(images_of(process, renamings, feed_controller)[image]);
        }
        for node in renaming.in_order(servers) {
            hasher.write_u64(images_of(node, renamings, feed_node)[image]);
        }
        (leader, mode, first, committed, left).hash(hasher);
        feed_rewriting(rewriting.as_ref(), renaming, hasher);
        feed(adrift, &Servers(renaming), hasher);
        // A search ends where something is broken.
        broken.hash(hasher);
    }
}

fn images_of<'a, T: Clone + Hash>(
    part: &'a Part<T>,
    renamings: &[Renaming],
    feed: fn(&T, &Renaming, &mut Hashing),
) -> &'a [u64] {
    images(part, renamings, |part, image, hasher| feed(part, &renamings[image], hasher))
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

fn feed_controller(process: &Process, renaming: &Renaming, hasher: &mut Hashing) {
    let Process { role, pending } = process;
    feed(&**role, &Servers(renaming), hasher);
    hasher.write_usize(pending.len());
    for Pending { issued, at } in pending {
        feed(issued, &Servers(renaming), hasher);
        at.map(|server| renaming.of(server.into())).hash(hasher);
    }
}

fn feed_node(node: &Node, renaming: &Renaming, hasher: &mut Hashing) {
    let Node { role, durable, is_dead, pending } = node;
    let names = Servers(renaming);
    feed(&(role.as_deref(), &**durable), &names, hasher);
    (is_dead, pending.len()).hash(hasher);
    for Pending { issued, at } in pending {
        feed(issued, &names, hasher);
        // A controller.
        at.hash(hasher);
    }
}
