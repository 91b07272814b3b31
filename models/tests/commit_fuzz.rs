//! Random walks of commit on stable: a second of each variant.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::Random;
use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::commit::upstream::Release;
use surehold_models::commit::fuzz::{
    Finding, FuzzVariant, HEADER, MAX_OPERATIONS, bounds, commit_ops,
};

impl Random {
    fn input(&mut self) -> Vec<u8> {
        let operations = self.next() % (MAX_OPERATIONS as u64 + 1);
        let length = HEADER + 2 * operations as usize;
        (0..length).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// For how long each variant walks.
const TIME: Duration = Duration::from_secs(1);

/// Walks until the time is over, and shows what is found to `judge`; how many walks, and how many
/// found something.
fn walks(variant: &FuzzVariant, seed: u64, judge: impl Fn(&[u8], &Finding)) -> (u32, u32) {
    let (begun, mut random) = (Instant::now(), Random(seed));
    let (mut walks, mut found) = (0, 0);
    while begun.elapsed() < TIME {
        let input = random.input();
        if let Err(finding) = commit_ops(variant, &input) {
            judge(&input, &finding);
            found += 1;
        }
        walks += 1;
    }
    println!("{variant:?}: {walks} walks, {found} findings");
    (walks, found)
}

#[test]
fn verified_walks_find_nothing() {
    walks(&FuzzVariant::Verified, 0x5eed_0001, |input, found| panic!("{input:02x?}\n{found}"));
}

/// Whatever else upstream's variants do, nothing but the reported loss counts.
#[test]
fn upstream_walks_show_the_reported_loss_and_nothing_else() {
    for release in Release::ALL {
        walks(&FuzzVariant::Upstream(release), 0x5eed_0002, |input, found| {
            assert!(is_the_loss(found), "{input:02x?}\n{found}");
        });
    }
}

fn is_the_loss(finding: &Finding) -> bool {
    finding.property == Property::Served.name() && finding.shows == Some("#14920")
}

/// The walks reach deep enough for their silence to mean something.
#[test]
fn walks_without_own_objects_find_a_wrong_one() {
    let variant = FuzzVariant::Without(vec![Guard::OwnObject]);
    let found = (0..8).any(|seed| walks(&variant, 0x5eed_0003 + seed, |_, _| ()).1 > 0);
    assert!(found);
}

/// Seeds by name.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds/commit_ops");
    let files = std::fs::read_dir(folder).expect("there are seeds");
    let paths = files.map(|entry| entry.expect("the folder can be listed").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let read = |path: &Path| std::fs::read(path).expect("a seed can be read");
    let mut seeds: Vec<_> = paths.map(|path| (name(&path), read(&path))).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no seeds");
    seeds
}

/// A seed's name says what it shows: `ISSUE-VARIANT-…`, or `without-GUARD-…`. The verified protocol does better.
#[test]
fn each_seed_shows_what_it_is_named_after() {
    for (name, seed) in seeds() {
        let release = Release::ALL.into_iter().find(|release| name.contains(release.name()));
        let guard = Guard::ALL
            .into_iter()
            .find(|guard| name.starts_with(&format!("without-{}-", guard.name())));
        let variant = match (release, guard) {
            (Some(release), None) => FuzzVariant::Upstream(release),
            (None, Some(guard)) => FuzzVariant::Without(vec![guard]),
            _ => panic!("{name} names no variant"),
        };
        let finding = commit_ops(&variant, &seed).expect_err(&name);
        match release {
            Some(_) => assert!(is_the_loss(&finding), "{name}\n{finding}"),
            None => assert!(name.ends_with(&finding.property), "{name}\n{finding}"),
        }
        if let Err(finding) = commit_ops(&FuzzVariant::Verified, &seed) {
            panic!("{name}\n{finding}");
        }
    }
}

/// Reingestion brings back what the first seed loses: the same walk loses nothing with #14920.
#[test]
fn what_the_seeds_lose_comes_back_with_reingestion() {
    for (name, seed) in seeds().into_iter().filter(|(name, _)| name.contains("14741")) {
        let after = FuzzVariant::Upstream(Release::Pr14920);
        if let Err(finding) = commit_ops(&after, &seed) {
            panic!("{name}\n{finding}");
        }
    }
}

/// Any bytes are some world, and the largest worlds are as large as they are said to be.
#[test]
fn a_world_is_as_large_as_its_first_byte_says() {
    for (first, says) in [
        (0x00, "2 segments of 1 rows, 2 replicas"),
        (0xf4, "12 segments of 1 rows, 3 replicas"),
        (0xf7, "3 segments of 1 rows, 4 partitions, 3 replicas"),
        (0x08, "2 segments of 1 rows, 1 replica"),
    ] {
        assert!(bounds(&[first]).contains(says), "{}", bounds(&[first]));
    }
}
