//! Without the feature there is no name for a weakened role, and no function that makes one.

use surehold::compaction::Compactor;
use surehold::guard::Weakened;

fn main() {
    let _ = Compactor::weakened;
}
