//! The persistent collections beside those of std.

#![no_main]

use libfuzzer_sys::fuzz_target;
use surehold_models::raw::collections;

fuzz_target!(|data: &[u8]| {
    collections(data);
});
