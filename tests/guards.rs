//! A service whose field says `Compactor` keeps every guard, whatever else is built beside it.
//!
//! Run in the workspace, the library is built with `weaken`, as the models ask for it; run as
//! `cargo test -p surehold`, it is built without. The sizes are the same in both, and each build has its
//! own files that must not compile.

use surehold::compaction::compactor::Limits;
use surehold::compaction::{Cleaner, Compactor, cleaner};
use surehold::rebalance::{Coordinator, Historical, coordinator, historical};
use surehold::{Guards, Verified};

#[test]
fn guards_take_no_room() {
    assert_eq!(size_of::<Verified>(), 0);
    assert_eq!(size_of::<Cleaner>(), size_of::<cleaner::Limits>());
    assert_eq!(size_of::<Compactor>(), size_of::<Limits>());
    assert_eq!(size_of::<Coordinator>(), size_of::<coordinator::Limits>());
    assert_eq!(size_of::<Historical>(), size_of::<historical::Limits>());
}

#[test]
fn the_default_is_the_verified_one_and_keeps_every_guard() {
    use surehold::compaction::Guard;

    // These are assignments between types, so they fail to compile if a default is another type.
    let _: fn(Limits) -> Compactor<Verified> = Compactor::new;
    let _: fn(cleaner::Limits) -> Cleaner<Verified> = Cleaner::new;
    assert!(Guard::ALL.into_iter().all(|guard| Verified.keeps(guard)));
}

#[test]
fn no_guard_can_be_dropped() {
    let files = if cfg!(feature = "weaken") { "with-weaken" } else { "without-weaken" };
    trybuild::TestCases::new().compile_fail(format!("tests/compile-fail/{files}/*.rs"));
}
