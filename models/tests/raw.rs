//! Roles fed with anything, a second each on stable; and what a fuzzer found so once.

mod common;

use std::time::{Duration, Instant};

use common::Random;
use surehold_models::raw::{ROLES, Tally, collections, purity, refusals};

impl Random {
    /// Most bytes are small or greatest: numbers meet again, and come to the end of their range.
    fn input(&mut self, first: u8) -> Vec<u8> {
        let length = self.next() % 1500;
        let byte = |value: u64| match value & 15 {
            0..=8 => 0,
            9..=11 => (value >> 8) as u8 & 3,
            12 => 255,
            _ => (value >> 8) as u8,
        };
        std::iter::once(first).chain((0..length).map(|_| byte(self.next() >> 16))).collect()
    }
}

const TIME: Duration = Duration::from_secs(1);

fn feed(seed: u64, role: u8, run: impl Fn(&[u8]) -> Tally) -> Tally {
    let (begun, mut random) = (Instant::now(), Random(seed));
    let mut all = Tally::default();
    while begun.elapsed() < TIME {
        let Tally { taken, refused } = run(&random.input(role));
        all = Tally { taken: all.taken + taken, refused: all.refused + refused };
    }
    all
}

#[test]
fn whatever_comes_is_taken_or_refused() {
    for role in 0..ROLES {
        let tally = feed(0x5eed_0101, role, refusals);
        println!("role {role}: {tally:?}");
        assert!(tally.taken > 50 && tally.refused > 50, "role {role}: {tally:?}");
    }
}

#[test]
fn whatever_comes_is_taken_alike_and_read_as_written() {
    for role in 0..ROLES {
        let tally = feed(0x5eed_0102, role, purity);
        println!("role {role}: {tally:?}");
        assert!(tally.taken > 50, "role {role}: {tally:?}");
    }
}

#[test]
fn persistent_collections_do_as_those_of_std() {
    let (begun, mut random) = (Instant::now(), Random(0x5eed_0103));
    while begun.elapsed() < TIME {
        collections(&random.input(0));
    }
}
