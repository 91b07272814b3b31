//! The models' bucket answers as those that the runtime runs on: the suite of `runtime::conformance`.

use surehold::Verified;
use surehold::compaction::object::{Key, Prefix};
use surehold::compaction::{Effect, Outcome};
use surehold::runtime::conformance::{BLOCKS, Plain, operations};
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::model::Model;
use surehold_models::compaction::scopes;
use surehold_models::compaction::world::{Block, Store, Write};
use surehold_models::part::Part;

/// A bucket where the blocks are known, as after a merge, and nothing of them is there.
fn empty() -> Store {
    let scope = scopes::all().into_iter().next().expect("there are scopes");
    let world = Model::new(&Ours(Verified), &scope).start();
    let some = world.store.blocks.values().next().expect("a block is there from the start");
    let nothing =
        Block { chunks: false, index: false, meta: None, deleted: None, ..(**some).clone() };
    let mut store = Store::default();
    for id in BLOCKS {
        store.blocks.insert(id, Part::new(nothing.clone()));
    }
    store
}

fn answer(store: &mut Store, effect: &Effect) -> Outcome {
    match effect {
        Effect::Put(key, body) => {
            store.put(&Write { key: *key, body: Some(body.clone()) });
            Outcome::Applied
        }
        Effect::Delete(key) => {
            store.put(&Write { key: *key, body: None });
            Outcome::Applied
        }
        Effect::Get(key) => store.get(*key).map_or(Outcome::Absent, Outcome::Found),
        Effect::Exists(key) => store.get(*key).map_or(Outcome::Absent, |_| Outcome::Exists),
        Effect::List(prefix) => Outcome::Listed(listed(store, *prefix)),
        Effect::Merge(_) | Effect::Wait(_) => Outcome::Failed,
    }
}

/// The listing of all blocks comes block by block in the models, and by kind of object elsewhere.
fn listed(store: &Store, prefix: Prefix) -> Vec<Key> {
    let mut keys = store.list(prefix);
    if prefix == Prefix::AllBlocks {
        keys.sort_unstable();
    }
    keys
}

/// No role writes a no-compact mark: in the models the operator sets both copies at once.
fn is_of_a_role(effect: &Effect) -> bool {
    let key = match effect {
        Effect::Put(key, _) | Effect::Delete(key) => key,
        _ => return true,
    };
    !matches!(key, Key::NoCompactMark(_) | Key::GlobalNoCompactMark(_))
}

#[test]
fn the_models_bucket_answers_as_a_plain_map() {
    for seed in 0..50 {
        let (mut store, mut plain) = (empty(), Plain::default());
        for effect in operations(seed, 1000).iter().filter(|effect| is_of_a_role(effect)) {
            let expected = plain.answer(effect);
            assert_eq!(answer(&mut store, effect), expected, "seed {seed}: {effect:?}");
        }
    }
}
