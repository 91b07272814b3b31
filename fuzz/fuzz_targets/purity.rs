//! Roles fed with anything: each event is taken twice alike, and everything is read as it was written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold_models::raw::purity;

fuzz_target!(|data: &[u8]| {
    let _ = purity(data);
});
