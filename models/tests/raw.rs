//! Roles fed with anything, two seconds each target on stable; and what a fuzzer found so once.

mod common;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use common::Random;
use surehold_models::files::{self, Outcome};
use surehold_models::raw::{MAX_LEN, ROLES, Tally, collections, purity, refusals};

impl Random {
    /// Runs of bytes that are anything, small, zero or greatest.
    fn input(&mut self, first: u8) -> Vec<u8> {
        let (length, mut input) = (1 + self.next() % MAX_LEN as u64, vec![first]);
        while input.len() as u64 <= length {
            let run = 1 + (self.next() >> 32) % 16;
            let kind = self.next() >> 32;
            input.extend((0..run).map(|_| match kind % 16 {
                0 => 0,
                1 => u8::MAX,
                2..=3 => (self.next() >> 32) as u8 & 3,
                _ => (self.next() >> 32) as u8,
            }));
        }
        input
    }
}

/// For how long each role is fed.
const TIME: Duration = Duration::from_millis(400);

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

#[test]
fn a_scenario_file_is_replayed_or_refused_whatever_is_in_it() {
    let (begun, mut random) = (Instant::now(), Random(0x5eed_0104));
    let (mut refused, mut replayed) = (BTreeSet::new(), 0);
    while begun.elapsed() < 5 * TIME || replayed < 10 {
        let data: Vec<u8> = (0..files::MAX_LEN).map(|_| (random.next() >> 32) as u8).collect();
        let few = 3 + (random.next() >> 32) as usize % (files::MAX_LEN - 3);
        match files::scenario(&data[..few]) {
            Outcome::Refused(why) => drop(refused.insert(why)),
            Outcome::Replayed(_) => replayed += 1,
        }
    }
    println!("{replayed} replayed, {} different refusals", refused.len());
    assert!(refused.len() > 50, "{refused:?}");
}
