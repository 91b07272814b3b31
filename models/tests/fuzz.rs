//! Random walks on stable: a second of each variant, and every committed seed.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::Random;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;
use surehold_models::fuzz::{FuzzVariant, HEADER, compaction_ops};

impl Random {
    /// An input of up to 64 operations.
    fn input(&mut self) -> Vec<u8> {
        let length = HEADER + 2 * (self.next() % 65) as usize;
        (0..length).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// For how long each variant walks.
const TIME: Duration = Duration::from_secs(1);

fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz-seeds/compaction_ops");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut seeds: Vec<_> =
        files.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "no seeds");
    seeds
}

#[test]
fn verified_walks_find_nothing() {
    let (begun, mut random) = (Instant::now(), Random(0x5eed_0001));
    let mut walks = 0;
    while begun.elapsed() < TIME {
        let input = random.input();
        if let Err(finding) = compaction_ops(&FuzzVariant::Verified, &input) {
            panic!("{input:02x?}\n{finding}");
        }
        walks += 1;
    }
    println!("{walks} walks");
}

/// What upstream's releases lose is news for the checker's table, not for this test: here they only must
/// not stop the walk in another way.
#[test]
fn upstream_walks_break_nothing_else() {
    for release in Release::ALL {
        let variant = FuzzVariant::Upstream(release);
        let (begun, mut random) = (Instant::now(), Random(0x5eed_0002));
        let (mut walks, mut found) = (0, 0);
        while begun.elapsed() < TIME {
            let input = random.input();
            if let Err(finding) = compaction_ops(&variant, &input) {
                let lost = Property::NoSampleLost.name();
                assert_eq!(finding.property, lost, "{input:02x?}\n{finding}");
                found += 1;
            }
            walks += 1;
        }
        println!("{}: {walks} walks, {found} lost samples", release.name());
    }
}

#[test]
fn verified_keeps_what_the_seeds_lose() {
    for (path, seed) in seeds() {
        if let Err(finding) = compaction_ops(&FuzzVariant::Verified, &seed) {
            panic!("{}\n{finding}", path.display());
        }
    }
}

/// A seed's name says what it shows: `ISSUE-VARIANT-…`.
#[test]
fn each_seed_shows_the_loss_it_is_named_after() {
    for (path, seed) in seeds() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let shown = Release::ALL.into_iter().find(|release| name.contains(release.name()));
        let variant = FuzzVariant::Upstream(shown.expect(name));
        let finding = compaction_ops(&variant, &seed).expect_err(name);
        assert_eq!(finding.property, Property::NoSampleLost.name(), "{name}");
        let issue = finding.shows.unwrap_or_default().trim_start_matches('#');
        assert!(name.starts_with(issue) && !issue.is_empty(), "{name}\n{finding}");
    }
}
