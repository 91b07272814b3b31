//! cortex-1.19 on random walks: a sample lost as in #7075 must be found soon, else the walks are no good. Other
//! losses, as by two planners, do not count.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold::compaction::upstream::Release;
use surehold_models::fuzz::{FuzzVariant, compaction_ops};

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = compaction_ops(&FuzzVariant::Upstream(Release::V1_19), data)
        && finding.shows == Some("#7075")
    {
        panic!("{finding}");
    }
});
