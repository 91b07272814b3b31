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

pub use feed::{Names, feed};
pub use orders::{Renaming, renamings};
