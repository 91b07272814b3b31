//! The persistent collections: they do what std's do, and no two of them feed a hasher the same bytes.
//!
//! A checker knows states by their hash. A hash that leaves out lengths makes it lose states, and with
//! them violations; `models/tests/two_sets.rs` shows one being lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use surehold::collections::{Map, Seq, Set, Table};

/// What a value feeds a hasher. Equal hashes may be chance; equal bytes are not.
#[derive(Default)]
struct Fed(Vec<u8>);

impl Hasher for Fed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

fn fed(value: &impl Hash) -> Vec<u8> {
    let mut hasher = Fed::default();
    value.hash(&mut hasher);
    hasher.0
}

/// Equal values feed the same bytes, and different ones different bytes.
fn assert_told_apart<T: Hash + Eq + Debug>(values: &[T]) {
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate() {
            assert_eq!(a == b, i == j, "{a:?} {b:?}");
            assert_eq!(fed(a) == fed(b), i == j, "{a:?} {b:?}");
        }
    }
}

fn set(items: &[u32]) -> Set<u32> {
    items.iter().copied().collect()
}

fn seq(items: &[u32]) -> Seq<u32> {
    items.iter().copied().collect()
}

fn table<V>(entries: impl IntoIterator<Item = (u32, V)>) -> Table<u32, V> {
    let mut table = Table::new();
    for (key, value) in entries {
        assert!(table.insert(key, value).is_none());
    }
    table
}

/// Every subset of four numbers, each once.
fn subsets() -> Vec<Vec<u32>> {
    (0u32..16).map(|bits| (0..4).filter(|n| bits >> n & 1 == 1).collect()).collect()
}

#[test]
fn an_item_that_moves_from_one_collection_to_the_next_leaves_a_trace() {
    assert_ne!(fed(&(set(&[7]), set(&[]))), fed(&(set(&[]), set(&[7]))));
    assert_ne!(fed(&(seq(&[7]), seq(&[]))), fed(&(seq(&[]), seq(&[7]))));

    let (full, empty): (Map<u32, u32>, Map<u32, u32>) =
        ([(7, 1)].into_iter().collect(), Map::new());
    assert_ne!(fed(&(full.clone(), empty.clone())), fed(&(empty, full)));

    let (full, empty) = (table([(7, 1)]), table::<u32>([]));
    assert_ne!(fed(&(full.clone(), empty.clone())), fed(&(empty, full)));
}

#[test]
fn an_item_that_moves_between_nested_collections_leaves_a_trace() {
    // Without lengths both of each pair feed 1, 2, 3.
    let nested = |of: [(u32, Vec<u32>); 2]| of.map(|(key, items)| (key, set(&items)));
    let (left, right) = (nested([(1, vec![2]), (3, vec![])]), nested([(1, vec![]), (2, vec![3])]));
    let map = |entries: &[(u32, Set<u32>)]| entries.iter().cloned().collect::<Map<_, _>>();
    assert_told_apart(&[map(&left), map(&right)]);
    assert_told_apart(&[table(left), table(right)]);
}

#[test]
fn all_small_collections_and_pairs_of_them_are_told_apart() {
    let sets: Vec<Set<u32>> = subsets().iter().map(|items| set(items)).collect();
    assert_told_apart(&sets);
    let pairs = |of: &[Set<u32>]| {
        let with = |a: &Set<u32>| of.iter().map(|b| (a.clone(), b.clone())).collect::<Vec<_>>();
        of.iter().flat_map(with).collect::<Vec<_>>()
    };
    assert_told_apart(&pairs(&sets));

    assert_told_apart(&subsets().iter().map(|items| seq(items)).collect::<Vec<_>>());
    assert_told_apart(&[seq(&[1, 2]), seq(&[2, 1]), seq(&[1, 1, 2])]);

    let entries = |keys: &Vec<u32>, value| keys.iter().map(|key| (*key, value)).collect::<Vec<_>>();
    let valued =
        [0u32, 1].map(|value| subsets().iter().skip(1).map(move |k| entries(k, value)).collect());
    let valued: Vec<Vec<(u32, u32)>> = valued.into_iter().flat_map(|v: Vec<_>| v).collect();
    assert_told_apart(
        &valued.iter().map(|v| v.iter().copied().collect()).collect::<Vec<Map<_, _>>>(),
    );
    assert_told_apart(&valued.iter().map(|v| table(v.iter().copied())).collect::<Vec<_>>());
}

#[test]
fn the_order_of_insertion_leaves_no_trace() {
    let orders = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];
    for order in orders {
        assert_same(&set(&order), &set(&[1, 2, 3]));
        let entries = order.map(|key| (key, key * 10));
        let ascending = [(1, 10), (2, 20), (3, 30)];
        assert_same(&Map::from_iter(entries), &Map::from_iter(ascending));
        assert_same(&table(entries), &table(ascending));
    }
}

/// A detour over a larger collection, which may leave another tree behind, makes no difference either.
#[test]
fn what_was_there_before_leaves_no_trace() {
    let mut detour: Set<u32> = (0..1000).collect();
    (3..1000).for_each(|n| assert!(detour.remove(&n)));
    assert_same(&detour, &set(&[0, 1, 2]));

    let mut detour: Map<u32, u32> = (0..1000).map(|n| (n, n)).collect();
    (3..1000).for_each(|n| assert_eq!(detour.remove(&n), Some(n)));
    assert_same(&detour, &(0..3).map(|n| (n, n)).collect());

    let mut detour: Seq<u32> = (0..1000).collect();
    (0..997).for_each(|n| assert_eq!(detour.pop_front(), Some(n)));
    assert_same(&detour, &seq(&[997, 998, 999]));
}

fn assert_same<T: Hash + Eq + Debug>(a: &T, b: &T) {
    assert_eq!(a, b);
    assert_eq!(fed(a), fed(b));
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

/// Marsaglia's xorshift: the operations are the same in each run and on each machine.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

const OPERATIONS: u32 = 4000;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// Enough for a tree of more than one node.
const KEYS: u64 = 150;

#[test]
fn a_map_does_what_std_does() {
    let mut random = Xorshift(SEED);
    let (mut map, mut std) = (Map::new(), BTreeMap::new());
    let mut kept = Vec::new();
    for operation in 0..OPERATIONS {
        let (key, value) = (random.below(KEYS), random.below(10));
        match random.below(8) {
            0..=3 => assert_eq!(map.insert(key, value), std.insert(key, value)),
            4 | 5 => assert_eq!(map.remove(&key), std.remove(&key)),
            6 => {
                let changed = map.get_mut(&key).map(|v| std::mem::replace(v, value));
                assert_eq!(changed, std.get_mut(&key).map(|v| std::mem::replace(v, value)));
            }
            _ => assert_eq!(map.get(&key), std.get(&key)),
        }
        assert_eq!((map.len(), map.is_empty()), (std.len(), std.is_empty()));
        assert_eq!(map.contains_key(&key), std.contains_key(&key));
        if operation % 50 == 0 {
            assert_same_map(&map, &std);
            kept.push((map.clone(), std.clone()));
        }
    }
    // What happened since has not changed the clones.
    kept.iter().for_each(|(map, std)| assert_same_map(map, std));
    assert_equal_as_std(&kept);
}

fn assert_same_map(map: &Map<u64, u64>, std: &BTreeMap<u64, u64>) {
    assert!(map.iter().eq(std.iter()) && map.iter().rev().eq(std.iter().rev()));
    assert!(map.keys().eq(std.keys()) && map.values().eq(std.values()));
    for key in [0, 1, KEYS / 2, KEYS - 1, KEYS] {
        assert!(map.starting_at(key).eq(std.range(key..)));
    }
    assert_eq!(format!("{map:?}"), format!("{std:?}"));
    assert_same(map, &std.iter().map(|(k, v)| (*k, *v)).collect());
}

/// Two of ours are equal where two of std's are: a release of the crate beneath got this wrong.
fn assert_equal_as_std<A: Eq + Hash, B: Eq>(kept: &[(A, B)]) {
    for (a, std_a) in kept {
        for (b, std_b) in kept {
            assert_eq!(a == b, std_a == std_b);
            assert_eq!(fed(a) == fed(b), std_a == std_b);
        }
    }
}

#[test]
fn one_changed_value_makes_a_map_another() {
    for changed in 0..KEYS {
        let map: Map<u64, u64> = (0..KEYS).map(|key| (key, 0)).collect();
        let mut other = map.clone();
        other.insert(changed, 1);
        assert_ne!(map, other);
        other.insert(changed, 0);
        assert_eq!(map, other);
    }
}

#[test]
fn a_set_does_what_std_does() {
    let mut random = Xorshift(SEED);
    let (mut set, mut std) = (Set::new(), BTreeSet::new());
    let mut kept = Vec::new();
    for operation in 0..OPERATIONS {
        let item = random.below(KEYS);
        match random.below(8) {
            0..=3 => assert_eq!(set.insert(item), std.insert(item)),
            4..=6 => assert_eq!(set.remove(&item), std.remove(&item)),
            _ => assert_eq!(set.contains(&item), std.contains(&item)),
        }
        assert_eq!((set.len(), set.is_empty()), (std.len(), std.is_empty()));
        assert_eq!(set.first(), std.first());
        if operation % 50 == 0 {
            kept.push((set.clone(), std.clone()));
        }
    }
    for (set, std) in &kept {
        assert!(set.iter().eq(std.iter()) && set.iter().rev().eq(std.iter().rev()));
        assert_eq!(format!("{set:?}"), format!("{std:?}"));
        assert_same(set, &std.iter().copied().collect());
    }
    assert_equal_as_std(&kept);
}

#[test]
fn a_sequence_does_what_std_does() {
    let mut random = Xorshift(SEED);
    let (mut seq, mut std) = (Seq::new(), VecDeque::new());
    let mut kept = Vec::new();
    for operation in 0..OPERATIONS {
        let item = random.below(10);
        // Three in five, so that it grows beyond one node.
        if random.below(5) < 3 {
            seq.push_back(item);
            std.push_back(item);
        } else {
            assert_eq!(seq.pop_front(), std.pop_front());
        }
        let index = random.below(KEYS) as usize;
        assert_eq!(seq.get(index), std.get(index));
        assert_eq!((seq.len(), seq.is_empty()), (std.len(), std.is_empty()));
        if operation % 100 == 0 {
            kept.push((seq.clone(), std.clone()));
        }
    }
    assert!(std.len() > 500, "{}", std.len());
    for (seq, std) in &kept {
        assert!(seq.iter().eq(std.iter()) && seq.iter().rev().eq(std.iter().rev()));
        assert_eq!(format!("{seq:?}"), format!("{std:?}"));
        assert_same(seq, &std.iter().copied().collect());
    }
    assert_equal_as_std(&kept);
}

#[test]
fn a_table_does_what_std_does() {
    let mut random = Xorshift(SEED);
    let (mut table, mut std) = (Table::new(), BTreeMap::new());
    let mut kept = Vec::new();
    for operation in 0..OPERATIONS {
        // Few keys, as in its use.
        let (key, value) = (random.below(12), random.below(10));
        match random.below(16) {
            0..=7 => assert_eq!(table.insert(key, value), std.insert(key, value)),
            8..=11 => assert_eq!(table.remove(&key), std.remove(&key)),
            12 => {
                let changed = table.get_mut(&key).map(|v| std::mem::replace(v, value));
                assert_eq!(changed, std.get_mut(&key).map(|v| std::mem::replace(v, value)));
            }
            13 => {
                table.retain(|k, v| (k + v) % 4 != 0);
                std.retain(|k, v| (*k + *v) % 4 != 0);
            }
            _ => assert_eq!(table.get(&key), std.get(&key)),
        }
        assert_eq!((table.len(), table.is_empty()), (std.len(), std.is_empty()));
        assert_eq!(table.contains_key(&key), std.contains_key(&key));
        assert!(table.iter().eq(std.iter()) && table.values().eq(std.values()));
        if operation % 50 == 0 {
            kept.push((table.clone(), std.clone()));
        }
    }
    assert_equal_as_std(&kept);
}

#[cfg(feature = "serde")]
mod serde {
    use super::*;
    use ::serde::Serialize;
    use ::serde::de::DeserializeOwned;

    fn assert_travels<T: Serialize + DeserializeOwned + Hash + Eq + Debug>(value: &T, text: &str) {
        let written = serde_json::to_string(value).expect("it has a form in JSON");
        assert_eq!(written, text);
        assert_same(value, &serde_json::from_str(&written).expect("what was written can be read"));
    }

    #[test]
    fn all_are_written_in_order_and_read_back() {
        assert_travels(&set(&[3, 1, 2]), "[1,2,3]");
        assert_travels(&seq(&[3, 1, 1]), "[3,1,1]");
        assert_travels(&Map::from_iter([(2, 'b'), (1, 'a')]), r#"[[1,"a"],[2,"b"]]"#);
        assert_travels(&table([(2, 'b'), (1, 'a')]), r#"[[1,"a"],[2,"b"]]"#);
        assert_travels(&Map::from_iter([(1, set(&[2])), (3, set(&[]))]), "[[1,[2]],[3,[]]]");
    }

    #[test]
    fn empty_ones_are_written_and_read_back() {
        assert_travels(&set(&[]), "[]");
        assert_travels(&seq(&[]), "[]");
        assert_travels(&Map::<u32, u32>::new(), "[]");
        assert_travels(&Table::<u32, u32>::new(), "[]");
    }

    #[test]
    fn what_is_read_is_put_in_order() {
        let read: Set<u32> = serde_json::from_str("[3,1,2,1]").expect("a set");
        assert_same(&read, &set(&[1, 2, 3]));
        let read: Map<u32, u32> = serde_json::from_str("[[2,20],[1,10]]").expect("a map");
        assert_same(&read, &Map::from_iter([(1, 10), (2, 20)]));
    }
}

/// Every file beneath a folder of Rust source.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Whether the crate beneath is named, by its own name or by the one that it has in the manifest.
fn names_the_crate_beneath(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_word = |at: usize| !text[..at].ends_with(is_word);
    let path = text.match_indices("im::").any(|(at, _)| starts_word(at));
    let used = ["use im;", "use im as", "extern crate im;"].iter().any(|form| text.contains(form));
    path || used || text.contains("imbl")
}

/// Its collections hash without their length, so a bare one must not get into a state.
#[test]
fn no_other_file_names_the_crate_beneath() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut offenders, files) = (Vec::new(), sources(&src));
    for path in &files {
        let text = std::fs::read_to_string(path).expect("it is text");
        if names_the_crate_beneath(&text) {
            offenders.push(path.clone());
        }
    }
    assert!(files.len() > 10, "{files:?}");
    assert_eq!(offenders, [src.join("collections.rs")]);
}

#[test]
fn what_names_the_crate_beneath_is_told_from_what_does_not() {
    for text in ["let m = im::OrdMap::new();", "use im as x;", "imbl::Vector", "<im::Vector<u8>>"] {
        assert!(names_the_crate_beneath(text), "{text}");
    }
    for text in ["trim::x", "use crate::claim::Claim;", "// the claim: a", "min_im::x"] {
        assert!(!names_the_crate_beneath(text), "{text}");
    }
}
