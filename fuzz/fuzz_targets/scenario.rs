//! Scenario files that are anything: they are read or refused, and replayed without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold_models::files::scenario;

fuzz_target!(|data: &[u8]| {
    let _ = scenario(data);
});
