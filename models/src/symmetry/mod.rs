//! Symmetry: states that differ only in which of several equal actors is which.
//!
//! A [`Renaming`] gives actors each other's names. What a state becomes by it is not built: the state is
//! [hashed](feed()) as if it had been, from its serialised form, in which names are told from other numbers by the types
//! that hold them. So no part of a role has to know of it.
//!
//! Nothing rests on that form being clever. Collections in the order of their keys are hashed in no order; a list that
//! is kept in the order of names and is not one of them only makes two states look different that are not. That states
//! which look the same are the same to every later step is not believed but tested, over whole spaces:
//! [`same_to_all`](crate::explore::same_to_all()).

mod feed;
mod orders;

use std::hash::{BuildHasher, Hash, Hasher as _};

use foldhash::quality::FixedState;

use crate::part::Part;

pub use feed::{Names, feed};
pub use orders::{Renaming, names_kept, renamings};

/// What parts of a state are hashed with.
pub type Hashing = <FixedState as BuildHasher>::Hasher;

/// The hash of what is fed.
pub fn hash(feed: impl FnOnce(&mut Hashing)) -> u64 {
    let mut hasher = FixedState::with_seed(0x696d_6167).build_hasher();
    feed(&mut hasher);
    hasher.finish()
}

/// The hash of items whose order goes by names, or means nothing.
pub fn hash_unordered<T>(items: impl Iterator<Item = T>, feed: impl Fn(T, &mut Hashing)) -> u64 {
    let hashes = items.map(|item| hash(|hasher| feed(item, hasher)));
    let (sum, count) =
        hashes.fold((0_u64, 0_u64), |(sum, n), hash| (sum.wrapping_add(hash), n + 1));
    hash(|hasher| (sum, count).hash(hasher))
}

/// The hashes of a part under each renaming. Of what it is fed with under one, a part of the part is another such hash.
pub(crate) fn images<'a, T>(
    part: &'a Part<T>,
    renamings: &[Renaming],
    feed: impl Fn(&T, usize, &mut Hashing),
) -> &'a [u64] {
    let of = |part: &T, image| hash(|hasher| feed(part, image, hasher));
    part.images(|part| (0..renamings.len()).map(|image| of(part, image)).collect())
}
