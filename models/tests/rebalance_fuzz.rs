//! Random walks of rebalance on stable: a second of each variant.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::Random;
use surehold::rebalance::Guard;
use surehold::rebalance::invariant::Property;
use surehold::rebalance::upstream::Fix;
use surehold_models::rebalance::fuzz::{FuzzVariant, HEADER, rebalance_ops};

impl Random {
    /// An input of up to 128 operations.
    fn input(&mut self) -> Vec<u8> {
        let length = HEADER + 2 * (self.next() % 129) as usize;
        (0..length).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// For how long each variant walks.
const TIME: Duration = Duration::from_secs(1);

/// Walks until the time is over, and shows what is found to `judge`; how many walks, and how many
/// found something.
fn walks(variant: &FuzzVariant, seed: u64, judge: impl Fn(&[u8], &str, String)) -> (u32, u32) {
    let (begun, mut random) = (Instant::now(), Random(seed));
    let (mut walks, mut found) = (0, 0);
    while begun.elapsed() < TIME {
        let input = random.input();
        if let Err(finding) = rebalance_ops(variant, &input) {
            judge(&input, &finding.property, finding.to_string());
            found += 1;
        }
        walks += 1;
    }
    println!("{variant:?}: {walks} walks, {found} findings");
    (walks, found)
}

#[test]
fn verified_walks_find_nothing() {
    walks(&FuzzVariant::Verified, 0x5eed_0001, |input, _, told| panic!("{input:02x?}\n{told}"));
}

/// What upstream's variants lose is news for the checker's table, not for this test: here they only must
/// not stop the walk in another way.
#[test]
fn upstream_walks_break_nothing_else() {
    for fix in Fix::ALL {
        walks(&FuzzVariant::Upstream(fix), 0x5eed_0002, |input, property, told| {
            assert_eq!(property, Property::LastCopyKept.name(), "{input:02x?}\n{told}");
        });
    }
}

/// The walks reach deep enough for their silence to mean something.
#[test]
fn walks_without_the_question_find_a_loss() {
    let variant = FuzzVariant::Without(vec![Guard::EnoughOthers]);
    let (_, found) = walks(&variant, 0x5eed_0003, |_, _, _| ());
    assert!(found > 0);
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds/rebalance_ops");
    let files = std::fs::read_dir(folder).expect("there are seeds");
    let paths = files.map(|entry| entry.expect("the folder can be listed").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let read = |path: &Path| std::fs::read(path).expect("a seed can be read");
    let mut seeds: Vec<_> = paths.map(|path| (name(&path), read(&path))).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no seeds");
    seeds
}

/// A seed's name says what it shows: `ISSUE-VARIANT-…`, `loss-VARIANT-…` where it is no reported one. The verified
/// protocol keeps what it loses.
#[test]
fn each_seed_shows_the_loss_it_is_named_after() {
    for (name, seed) in seeds() {
        let shown = Fix::ALL.into_iter().find(|fix| name.contains(fix.name()));
        let variant = FuzzVariant::Upstream(shown.expect(&name));
        let finding = rebalance_ops(&variant, &seed).expect_err(&name);
        assert_eq!(finding.property, Property::LastCopyKept.name(), "{name}");
        let issue = finding.shows.map_or("loss", |issue| issue.trim_start_matches('#'));
        assert_eq!(name.split('-').next(), Some(issue), "{name}");
        if let Err(finding) = rebalance_ops(&FuzzVariant::Verified, &seed) {
            panic!("{name}\n{finding}");
        }
    }
}
