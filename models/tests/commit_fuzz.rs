//! Random walks of commit on stable: a second of each variant, and any one input.
//!
//! One input, as a fuzzer wrote it:
//!
//! ```text
//! SUREHOLD_FUZZ_INPUT=crash-… SUREHOLD_FUZZ_VARIANT=pinot-14741 cargo test -p surehold-models --test commit_fuzz one_input
//! ```

use std::path::Path;
use std::time::{Duration, Instant};

use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::commit::upstream::Release;
use surehold_models::commit::fuzz::{FuzzVariant, HEADER, MAX_OPERATIONS, commit_ops};

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn input(&mut self) -> Vec<u8> {
        let operations = self.next() % (MAX_OPERATIONS as u64 + 1);
        let length = HEADER + 2 * operations as usize;
        (0..length).map(|_| (self.next() >> 32) as u8).collect()
    }
}

/// For how long each variant walks.
fn time() -> Duration {
    let seconds = std::env::var("SUREHOLD_FUZZ_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(1))
}

/// Walks until the time is over, and shows what is found to `judge`; how many walks, and how many
/// found something.
fn walks(variant: &FuzzVariant, seed: u64, judge: impl Fn(&[u8], &str, String)) -> (u32, u32) {
    let (begun, mut random) = (Instant::now(), Random(seed));
    let (mut walks, mut found) = (0, 0);
    while begun.elapsed() < time() {
        let input = random.input();
        if let Err(finding) = commit_ops(variant, &input) {
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

#[test]
fn upstream_walks() {
    for release in Release::ALL {
        walks(&FuzzVariant::Upstream(release), 0x5eed_0002, |input, _, told| {
            if release != Release::Pr14741 {
                println!("{input:02x?}\n{told}");
            }
        });
    }
}

#[test]
fn mutants() {
    for guard in Guard::ALL {
        walks(&FuzzVariant::Without(vec![guard]), 0x5eed_0003, |_, property, _| {
            println!("{property}")
        });
    }
}

#[test]
fn one_input() {
    let Ok(path) = std::env::var("SUREHOLD_FUZZ_INPUT") else {
        return;
    };
    let name = std::env::var("SUREHOLD_FUZZ_VARIANT").unwrap_or_else(|_| "verified".into());
    let variant = FuzzVariant::from_name(&name).expect("SUREHOLD_FUZZ_VARIANT names a variant");
    let input = std::fs::read(&path).expect("SUREHOLD_FUZZ_INPUT names a file");
    if let Err(finding) = commit_ops(&variant, &input) {
        panic!("{name}\n{finding}");
    }
}
