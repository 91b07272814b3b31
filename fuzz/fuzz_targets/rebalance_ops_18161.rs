//! druid-18161 on random walks: the last copy dropped as in #18764 must be found soon, else the walks are no good.
//! Other losses do not count.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold::rebalance::upstream::Fix;
use surehold_models::rebalance::fuzz::{FuzzVariant, rebalance_ops};

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = rebalance_ops(&FuzzVariant::Upstream(Fix::None), data)
        && finding.shows == Some("#18764")
    {
        panic!("{finding}");
    }
});
