//! pinot-14741 on random walks: rows that are gone for ever must be found soon, else the walks are no good.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold::commit::upstream::Release;
use surehold_models::commit::fuzz::{FuzzVariant, commit_ops};

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = commit_ops(&FuzzVariant::Upstream(Release::Pr14741), data) {
        panic!("{finding}");
    }
});
