//! Roles fed with anything: it is taken or refused, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold_models::raw::refusals;

fuzz_target!(|data: &[u8]| {
    let _ = refusals(data);
});
