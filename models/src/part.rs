//! Shared parts of a state that remember their hash: a step changes one or two parts of a world, and only
//! those are copied and hashed again.

use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use foldhash::quality::FixedState;

/// A shared part. It hashes as the 64-bit digest of its content and compares by content.
///
/// After a change the digest is unknown until [`Part::seal`] is called; a part is hashed only when sealed.
#[derive(Clone, Debug)]
pub struct Part<T> {
    content: Arc<Content<T>>,
    digest: Option<u64>,
}

/// What parts share.
#[derive(Debug)]
struct Content<T> {
    value: T,
    /// The hashes of what it is under each renaming of the actors, once somebody has asked.
    images: OnceLock<Box<[u64]>>,
}

impl<T> Content<T> {
    fn new(value: T) -> Self {
        Self { value, images: OnceLock::new() }
    }
}

/// A copy is made to be changed.
impl<T: Clone> Clone for Content<T> {
    fn clone(&self) -> Self {
        Self::new(self.value.clone())
    }
}

impl<T: Clone + Hash> Part<T> {
    /// A sealed part.
    pub fn new(content: T) -> Self {
        let mut part = Self { content: Arc::new(Content::new(content)), digest: None };
        part.seal();
        part
    }

    /// The digest of a sealed part.
    pub(crate) fn digest(&self) -> u64 {
        debug_assert!(self.digest.is_some(), "only a sealed part has a digest");
        self.digest.unwrap_or(0)
    }

    /// Whether the digest is known.
    pub(crate) fn is_sealed(&self) -> bool {
        self.digest.is_some()
    }

    /// Where the content lies: parts that share it are equal.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.content).addr()
    }

    /// The content, to change.
    pub fn change(&mut self) -> &mut T {
        self.digest = None;
        let content = Arc::make_mut(&mut self.content);
        content.images.take();
        &mut content.value
    }

    /// The hashes of what the content is under each renaming, which are counted only once. All who ask must want the
    /// same renamings.
    #[cfg(feature = "checker")]
    pub(crate) fn images(&self, count: impl FnOnce(&T) -> Box<[u64]>) -> &[u64] {
        self.content.images.get_or_init(|| count(&self.content.value))
    }

    /// Computes the digest if the content may have changed.
    pub fn seal(&mut self) {
        if self.digest.is_none() {
            self.digest = Some(FixedState::with_seed(0x5357_2e68).hash_one(&self.content.value));
        }
    }
}

impl<T: Clone + Hash> From<T> for Part<T> {
    fn from(content: T) -> Self {
        Self::new(content)
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content.value
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
            || (self.digest == other.digest && self.content.value == other.content.value)
    }
}

impl<T: Eq> Eq for Part<T> {}

impl<T> Hash for Part<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        debug_assert!(self.digest.is_some(), "a part is hashed only when sealed");
        state.write_u64(self.digest.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_part_is_another() {
        let mut part = Part::new(vec![1]);
        let old = part.clone();
        part.change().push(2);
        part.seal();
        assert_ne!(part, old);
        assert_ne!(part.digest, old.digest);
        assert_eq!(part, Part::new(vec![1, 2]));
        assert_eq!(part.digest, Part::new(vec![1, 2]).digest);
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
