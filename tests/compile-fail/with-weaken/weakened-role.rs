//! A weakened role is another type than the one that a service holds.

use surehold::compaction::compactor::Limits;
use surehold::compaction::{Cleaner, Compactor, Guard, cleaner};
use surehold::guard::Weakened;

fn service(limits: Limits) -> (Compactor, Cleaner) {
    let guards = Weakened::without([Guard::AllPartitions]);
    let compactor: Compactor = Compactor::weakened(limits, guards.clone());
    let cleaner: Cleaner = Cleaner::weakened(cleaner::Limits::default(), guards);
    (compactor, cleaner)
}

fn main() {
    let _ = service;
}
