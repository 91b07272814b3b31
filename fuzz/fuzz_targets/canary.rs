//! The verified protocol with a planted fault: it must be found soon, else the silence of the other targets means
//! nothing. Without the fault `.ci/run` fails.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold::commit::Guard;
use surehold_models::commit::fuzz::{FuzzVariant, commit_ops};

/// What is planted: a commit's object has no name of its own.
const PLANTED: [Guard; 1] = [Guard::OwnObject];

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = commit_ops(&FuzzVariant::Without(PLANTED.to_vec()), data) {
        panic!("{finding}");
    }
});
