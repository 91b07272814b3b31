//! Persistent collections: the only file that names the crate beneath.
//!
//! The crate beneath hashes a map, a set or a vector element by element and without its length, so that
//! `({7}, {})` and `({}, {7})` feed a hasher the same bytes. A checker that knows states by their
//! fingerprint then drops one of the two, and "moved from the first to the second" is exactly the step
//! that a hand-over protocol takes. The types here write the length first. `tests/collections.rs` keeps
//! the two-set model that shows the difference.

use core::fmt;
use core::hash::{Hash, Hasher};

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

    /// Entries from this key on, in key order.
    pub fn starting_at(&self, key: K) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.0.range(key..)
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
                serializer.serialize_newtype_struct(stringify!($name), &Entries(self))
            }
        }

        // The name around them tells entries in the order of their keys from a list.
        #[cfg(feature = "serde")]
        impl<$($p: $($bound +)+ serde::Serialize),+> serde::Serialize for Entries<'_, $name<$($p),+>> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeSeq as _;
                let mut entries = serializer.serialize_seq(Some(self.0.len()))?;
                self.0.iter().try_for_each(|entry| entries.serialize_element(&entry))?;
                entries.end()
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

        #[cfg(feature = "arbitrary")]
        impl<'a, $($p: $($bound +)+ arbitrary::Arbitrary<'a>),+> arbitrary::Arbitrary<'a>
            for $name<$($p),+>
        {
            fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
                bytes.arbitrary_iter::<$item>()?.collect()
            }
        }
    };
}

/// What a collection is serialised as.
#[cfg(feature = "serde")]
struct Entries<'a, C>(&'a C);

common!(Map, (K, V), debug_map, [K: Ord Clone, V: Clone]);
common!(Set, T, debug_set, [T: Ord Clone]);
common!(Seq, T, debug_list, [T: Clone]);

/// A sorted map for a handful of entries: what a role keeps per job, and a model per object.
///
/// A clone copies the entries, which at that size costs less than sharing them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Table<K, V>(Vec<(K, V)>);

#[cfg(feature = "arbitrary")]
impl<'a, K, V> arbitrary::Arbitrary<'a> for Table<K, V>
where
    K: Ord + Copy + arbitrary::Arbitrary<'a>,
    V: arbitrary::Arbitrary<'a>,
{
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut table = Self::new();
        for entry in bytes.arbitrary_iter::<(K, V)>()? {
            let (key, value) = entry?;
            table.insert(key, value);
        }
        Ok(table)
    }
}

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
