//! What a world is when servers that are alike exchange their names.

use std::hash::{Hash, Hasher};

use serde::Serialize;

use super::fleet::Fleet;
use super::model::{Model, WorldOf};
use super::scope::{Operation, Scope};
use super::world::{Basis, Decision, Leader, Letter, Mail, Node};
use crate::part::Part;
use crate::symmetry::{Hashing, Names, Renaming, feed, hash_unordered, images, renamings};

/// The names of servers.
struct Servers<'a>(&'a Renaming);

impl Names for Servers<'_> {
    const PLACES: &'static [&'static str] = &["ServerId"];

    fn renamed(&self, _place: &'static str, number: u64) -> u64 {
        self.0.of(number)
    }
}

/// Which servers can exchange their names: those that begin alike, as witnesses ask who did, and that no operator calls by
/// their name. None where losses are told apart by windows: what is noted for that goes by names.
fn of(scope: &Scope) -> Vec<Renaming> {
    let kind = |server: usize| {
        let is_named = scope.operator.contains(&Operation::Decommission(server as u16));
        (scope.losses.is_none() && !is_named).then(|| scope.servers[server])
    };
    renamings(&(0..scope.servers.len()).map(kind).collect::<Vec<_>>())
}

impl<F: Fleet> Model<F> {
    /// Takes worlds for one that differ in names alone. Of the verified protocol, and of the documented runs of others that
    /// find nothing, it is shown that nothing tells them apart (`tests/symmetry.rs`).
    pub(super) fn take_images(&mut self) {
        self.renamings = of(&self.scope).into();
    }

    pub(super) fn feed_image_of(&self, world: &WorldOf<F>, image: usize, hasher: &mut impl Hasher) {
        let (renamings, renaming) = (&self.renamings, &self.renamings[image]);
        // All fields by name: one that is new must not be forgotten.
        let WorldOf::<F> {
            leaders,
            servers,
            wire,
            decisions,
            left,
            operated,
            needless,
            own_moves,
            broken,
            seen,
            watch,
        } = world;
        for leader in leaders {
            let images = images(leader, renamings, |leader, image, hasher| {
                feed_leader(leader, renamings, image, hasher);
            });
            hasher.write_u64(images[image]);
        }
        for node in renaming.in_order(servers) {
            let images = images(node, renamings, |node, image, hasher| {
                feed_node(node, renamings, image, hasher);
            });
            hasher.write_u64(images[image]);
        }
        let letters = wire.iter();
        hasher.write_u64(hash_unordered(letters, |letter, hasher| {
            feed_letter(letter, renaming, hasher);
        }));
        let decisions = decisions.iter();
        hasher.write_u64(hash_unordered(decisions, |decision, hasher| {
            let Decision { leader, server, segment, basis } = decision;
            (leader, renaming.of(server.0.into()), segment).hash(hasher);
            renamed(*basis, renaming).hash(hasher);
        }));
        (left, operated, needless, own_moves).hash(hasher);
        // A search ends where something is broken, and where losses are watched nobody is renamed.
        (broken, seen, watch).hash(hasher);
    }
}

fn feed_leader<C: Clone + Hash + Serialize>(
    leader: &Leader<C>,
    renamings: &[Renaming],
    image: usize,
    hasher: &mut Hashing,
) {
    let Leader { role, sees } = leader;
    hasher.write_u64(images_of_role(role, renamings)[image]);
    hasher.write_u64(renamings[image].of_bits((*sees).into()));
}

fn feed_node(node: &Node, renamings: &[Renaming], image: usize, hasher: &mut Hashing) {
    let Node { role, durable, pending, disk, parts, askers, crashed_away } = node;
    role.as_ref().map(|role| images_of_role(role, renamings)[image]).hash(hasher);
    feed(&(durable, pending), &Servers(&renamings[image]), hasher);
    (disk, parts, askers, crashed_away).hash(hasher);
}

fn images_of_role<'a, S: Clone + Hash + Serialize>(
    state: &'a Part<S>,
    renamings: &[Renaming],
) -> &'a [u64] {
    images(state, renamings, |state, image, hasher| {
        feed(state, &Servers(&renamings[image]), hasher);
    })
}

fn feed_letter(letter: &Letter, renaming: &Renaming, hasher: &mut Hashing) {
    let Letter { leader, server, mail } = letter;
    (leader, renaming.of(server.0.into())).hash(hasher);
    match mail {
        Mail::Asked(message, basis) => {
            (0_u8, message).hash(hasher);
            renamed(*basis, renaming).hash(hasher);
        }
        Mail::Told(message) => (1_u8, message).hash(hasher),
    }
}

fn renamed(basis: Basis, renaming: &Renaming) -> Basis {
    Basis { others: renaming.of_bits(basis.others.into()) as u16, ..basis }
}
