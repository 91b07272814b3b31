//! The verified protocol on random walks: nothing may be found.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold_models::commit::fuzz::{FuzzVariant, commit_ops};

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = commit_ops(&FuzzVariant::Verified, data) {
        panic!("{finding}");
    }
});
