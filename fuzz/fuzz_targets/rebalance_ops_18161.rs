//! druid-18161 on random walks: the original loss must be found soon, else the walks are no good.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold::rebalance::upstream::Fix;
use surehold_models::rebalance::fuzz::{FuzzVariant, rebalance_ops};

fuzz_target!(|data: &[u8]| {
    if let Err(finding) = rebalance_ops(&FuzzVariant::Upstream(Fix::None), data) {
        panic!("{finding}");
    }
});
