//! Shared parts of a state that remember their hash: a step changes one or two parts of a world, and only
//! those are copied and hashed again.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use foldhash::quality::FixedState;

/// A shared part. It hashes as the 64-bit digest of its content and compares by content.
#[derive(Clone)]
pub struct Part<T>(Arc<Content<T>>);

/// What parts share.
struct Content<T> {
    value: T,
    /// The hash of it, once somebody has asked; [`UNASKED`] before.
    digest: AtomicU64,
    /// The hashes of what it is under each renaming of the actors, once somebody has asked.
    images: OnceLock<Box<[u64]>>,
}

/// No digest.
const UNASKED: u64 = 0;

impl<T> Content<T> {
    fn new(value: T) -> Self {
        Self { value, digest: AtomicU64::new(UNASKED), images: OnceLock::new() }
    }
}

/// A copy is made to be changed.
impl<T: Clone> Clone for Content<T> {
    fn clone(&self) -> Self {
        Self::new(self.value.clone())
    }
}

impl<T> Part<T> {
    /// A part.
    pub fn new(content: T) -> Self {
        Self(Arc::new(Content::new(content)))
    }

    /// Where the content lies: parts that share it are equal.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether nobody has asked for its digest since it was made or changed.
    pub(crate) fn is_new(&self) -> bool {
        self.known_digest() == UNASKED
    }

    fn known_digest(&self) -> u64 {
        self.0.digest.load(Ordering::Relaxed)
    }

    /// The hashes of what the content is under each renaming, which are counted only once. All who ask must want the
    /// same renamings.
    #[cfg(feature = "checker")]
    pub(crate) fn images(&self, count: impl FnOnce(&T) -> Box<[u64]>) -> &[u64] {
        self.0.images.get_or_init(|| count(&self.0.value))
    }
}

impl<T: Hash> Part<T> {
    /// The hash of the content, which is counted only once. Two threads that count it at a time find the same.
    pub(crate) fn digest(&self) -> u64 {
        match self.known_digest() {
            UNASKED => self.count_digest(),
            digest => digest,
        }
    }

    fn count_digest(&self) -> u64 {
        let digest = FixedState::with_seed(0x5357_2e68).hash_one(&self.0.value);
        let digest = if digest == UNASKED { 1 } else { digest };
        self.0.digest.store(digest, Ordering::Relaxed);
        digest
    }
}

impl<T: Clone> Part<T> {
    /// The content, to change.
    pub fn change(&mut self) -> &mut T {
        let content = Arc::make_mut(&mut self.0);
        *content.digest.get_mut() = UNASKED;
        content.images.take();
        &mut content.value
    }
}

impl<T> From<T> for Part<T> {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        let (digest, others) = (self.known_digest(), other.known_digest());
        Arc::ptr_eq(&self.0, &other.0)
            || ((digest == others || digest == UNASKED || others == UNASKED)
                && self.0.value == other.0.value)
    }
}

impl<T: Eq> Eq for Part<T> {}

impl<T: Hash> Hash for Part<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_part_is_another() {
        let mut part = Part::new(vec![1]);
        let old = part.clone();
        assert_eq!(part.digest(), old.digest());
        part.change().push(2);
        assert_ne!(part, old);
        assert_ne!(part.digest(), old.digest());
        assert_eq!(part, Part::new(vec![1, 2]));
        assert_eq!(part.digest(), Part::new(vec![1, 2]).digest());
    }

    #[test]
    fn a_part_that_nobody_else_has_is_changed_in_place_and_hashed_anew() {
        let mut part = Part::new(vec![1]);
        let (address, digest) = (part.address(), part.digest());
        assert!(!part.is_new());
        part.change().push(2);
        assert!(part.is_new());
        assert_eq!(part.address(), address);
        assert_ne!(part.digest(), digest);
    }

    #[test]
    #[cfg(feature = "checker")]
    fn images_are_of_the_content_as_it_is() {
        let mut part = Part::new(vec![1]);
        let of = |content: &Vec<u64>| -> Box<[u64]> { content.clone().into() };
        assert_eq!(part.images(of), [1]);
        assert_eq!(part.images(|_| unreachable!("counted once")), [1]);
        part.change().push(2);
        assert_eq!(part.images(of), [1, 2]);
        let other = part.clone();
        part.change().push(3);
        assert_eq!((other.images(of), part.images(of)), (&[1, 2][..], &[1, 2, 3][..]));
    }
}
