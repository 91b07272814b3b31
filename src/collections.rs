//! Persistent collections: the only file that names the crate beneath.
//!
//! The crate beneath hashes a map, a set or a vector element by element and without its length, so that
//! `({7}, {})` and `({}, {7})` feed a hasher the same bytes. A checker that knows states by their
//! fingerprint then drops one of the two, and "moved from the first to the second" is exactly the step
//! that a hand-over protocol takes. The types here write the length first. `tests/collections.rs` keeps
//! the two-set model that shows the difference.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::sync::Arc;

/// A persistent ordered map. Cloning is O(1).
#[derive(Clone)]
pub struct Map<K, V>(im::OrdMap<K, V>);

/// A persistent ordered set. Cloning is O(1).
#[derive(Clone)]
pub struct Set<T>(im::OrdSet<T>);

/// A persistent sequence. Cloning is O(1).
#[derive(Clone)]
pub struct Seq<T>(im::Vector<T>);

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self(im::OrdMap::new())
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    /// The value of a key, to change in place.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    /// Sets a value, and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.0.remove(key)
    }

    /// Entries in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.iter()
    }

    /// Keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.0.keys()
    }

    /// Values in key order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.values()
    }
}

impl<T: Ord + Clone> Set<T> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self(im::OrdSet::new())
    }

    /// How many members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is a member.
    #[must_use]
    pub fn contains(&self, item: &T) -> bool {
        self.0.contains(item)
    }

    /// Adds a member; whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        self.0.insert(item).is_none()
    }

    /// Takes a member out; whether it was one.
    pub fn remove(&mut self, item: &T) -> bool {
        self.0.remove(item).is_some()
    }

    /// The least member.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.0.get_min()
    }

    /// Members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }
}

impl<T: Clone> Seq<T> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self(im::Vector::new())
    }

    /// How many items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.0.get(index)
    }

    /// Adds at the end.
    pub fn push_back(&mut self, item: T) {
        self.0.push_back(item);
    }

    /// Takes the first item out.
    pub fn pop_front(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    /// Items in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }
}

macro_rules! common {
    ($name:ident, $item:ty, $shown:ident, [$($p:ident: $($bound:ident)+),+]) => {
        impl<$($p: $($bound +)+),+> Default for $name<$($p),+> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<$($p: $($bound +)+),+> FromIterator<$item> for $name<$($p),+> {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> Self {
                Self(items.into_iter().collect())
            }
        }

        impl<$($p: $($bound +)+ PartialEq),+> PartialEq for $name<$($p),+> {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl<$($p: $($bound +)+ Eq),+> Eq for $name<$($p),+> {}

        impl<$($p: $($bound +)+ Hash),+> Hash for $name<$($p),+> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                // Without it, an item moved from one collection to the next leaves no trace.
                state.write_usize(self.len());
                for item in self.iter() {
                    item.hash(state);
                }
            }
        }

        impl<$($p: $($bound +)+ fmt::Debug),+> fmt::Debug for $name<$($p),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.$shown().entries(self.iter()).finish()
            }
        }

        #[cfg(feature = "serde")]
        impl<$($p: $($bound +)+ serde::Serialize),+> serde::Serialize for $name<$($p),+> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_seq(self.iter())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, $($p: $($bound +)+ serde::Deserialize<'de>),+> serde::Deserialize<'de>
            for $name<$($p),+>
        {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let items = <Vec<$item> as serde::Deserialize>::deserialize(deserializer)?;
                Ok(items.into_iter().collect())
            }
        }
    };
}

common!(Map, (K, V), debug_map, [K: Ord Clone, V: Clone]);
common!(Set, T, debug_set, [T: Ord Clone]);
common!(Seq, T, debug_list, [T: Clone]);

/// A sorted map for a handful of entries: what a role keeps per job, and a model per object.
///
/// A clone copies the entries, which at that size costs less than sharing them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Table<K, V>(Vec<(K, V)>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V> Table<K, V> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// Values in key order.
    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.0[at].1)
    }

    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.find(key).ok().map(|at| &mut self.0[at].1)
    }

    /// Sets a value, and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.find(key).ok().map(|at| self.0.remove(at).1)
    }

    /// Entries in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Keeps the entries for which this holds.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.cmp(key))
    }
}

/// As many entries as a page of [`Paged`] holds: of a thousand entries about as much is shared as copied at a change.
const PAGE: usize = 16;

/// A sorted map for what is a handful of entries in one table and thousands in another: pages of entries, of which a
/// clone shares all and a change copies one.
///
/// Of a handful there is one page, and it costs what a [`Table`] costs. It is told by its entries alone, wherever the
/// pages end.
#[derive(Clone)]
pub struct Paged<K, V>(Vec<Arc<Vec<(K, V)>>>);

impl<K, V> Default for Paged<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V: Clone> Paged<K, V> {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// How many entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|page| page.len()).sum()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the key is there.
    #[must_use]
    pub fn contains_key(&self, key: &K) -> bool {
        self.find(key).is_ok()
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.find(key).ok().map(|(page, at)| &self.0[page][at].1)
    }

    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let (page, at) = self.find(key).ok()?;
        Some(&mut Arc::make_mut(&mut self.0[page])[at].1)
    }

    /// Sets a value, and returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok((page, at)) => {
                let page = Arc::make_mut(&mut self.0[page]);
                Some(std::mem::replace(&mut page[at].1, value))
            }
            Err((page, at)) => {
                self.put(page, at, (key, value));
                None
            }
        }
    }

    fn put(&mut self, page: usize, at: usize, entry: (K, V)) {
        let is_last = page + 1 == self.0.len();
        let Some(full) = self.0.get_mut(page) else {
            self.0.push(Arc::new(vec![entry]));
            return;
        };
        if full.len() < PAGE {
            Arc::make_mut(full).insert(at, entry);
            return;
        }
        // What comes in order fills page after page.
        let half = if is_last && at == PAGE { PAGE } else { PAGE / 2 };
        let mut rest = Arc::make_mut(full).split_off(half);
        if at > half || rest.is_empty() {
            rest.insert(at - half, entry);
        } else {
            Arc::make_mut(full).insert(at, entry);
        }
        self.0.insert(page + 1, Arc::new(rest));
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (page, at) = self.find(key).ok()?;
        let (_, value) = Arc::make_mut(&mut self.0[page]).remove(at);
        let left = self.0[page].len();
        let next = self.0.get(page + 1).filter(|next| left + next.len() <= PAGE / 2).cloned();
        if left == 0 {
            self.0.remove(page);
        } else if let Some(next) = next {
            Arc::make_mut(&mut self.0[page]).extend(next.iter().cloned());
            self.0.remove(page + 1);
        }
        Some(value)
    }

    /// Entries in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.0.iter().flat_map(|page| page.iter()).map(|(key, value)| (key, value))
    }

    /// Entries from this key on, in key order.
    pub fn starting_at(&self, key: K) -> impl Iterator<Item = (&K, &V)> + Clone {
        let (Ok((page, at)) | Err((page, at))) = self.find(&key);
        let pages = self.0[page.min(self.0.len())..].iter();
        pages.flat_map(|page| page.iter()).skip(at).map(|(key, value)| (key, value))
    }

    /// Values in key order.
    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// The page and the place in it of a key, or where it is to be put: at the end of a page, if it is greater than all
    /// of it.
    fn find(&self, key: &K) -> Result<(usize, usize), (usize, usize)> {
        let later = self.0.partition_point(|page| page.first().is_some_and(|(k, _)| k <= key));
        let page = later.saturating_sub(1);
        let Some(entries) = self.0.get(page) else { return Err((page, 0)) };
        match entries.binary_search_by(|(other, _)| other.cmp(key)) {
            Ok(at) => Ok((page, at)),
            Err(at) => Err((page, at)),
        }
    }
}

impl<K: Ord + Copy, V: Clone> FromIterator<(K, V)> for Paged<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut all = Self::new();
        for (key, value) in entries {
            all.insert(key, value);
        }
        all
    }
}

impl<K: Ord + Copy, V: Clone + PartialEq> PartialEq for Paged<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Ord + Copy, V: Clone + Eq> Eq for Paged<K, V> {}

impl<K: Ord + Copy + Hash, V: Clone + Hash> Hash for Paged<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        for entry in self.iter() {
            entry.hash(state);
        }
    }
}

impl<K: Ord + Copy + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for Paged<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl<K: Ord + Copy + serde::Serialize, V: Clone + serde::Serialize> serde::Serialize
    for Paged<K, V>
{
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(feature = "serde")]
impl<'de, K, V> serde::Deserialize<'de> for Paged<K, V>
where
    K: Ord + Copy + serde::Deserialize<'de>,
    V: Clone + serde::Deserialize<'de>,
{
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = <Vec<(K, V)> as serde::Deserialize>::deserialize(deserializer)?;
        Ok(entries.into_iter().collect())
    }
}
