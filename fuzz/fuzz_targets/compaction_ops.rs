//! The verified protocol on random walks: nothing may be found. `surehold_models::targets::fuzz` says how another
//! variant is named, or guards are taken away.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| surehold_models::targets::fuzz("compaction_ops", data));
