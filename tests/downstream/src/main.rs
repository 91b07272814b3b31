//! Compacts two overlapping blocks and shows what is left.

use surehold::compaction::compactor::Limits;
use surehold::compaction::object::{BlockId, GroupId};
use surehold::compaction::plan::Range;
use surehold_downstream::{Bucket, Fleet};

/// More rounds than two blocks need: nobody waits for ever.
const MOST_ROUNDS: u32 = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parents = [BlockId(1), BlockId(2)];
    let mut bucket = Bucket::default();
    bucket.upload(parents[0], 2, &[(0, 10), (1, 10), (2, 20)]);
    bucket.upload(parents[1], 2, &[(1, 10), (2, 30), (3, 40)]);

    let range = Range { group: GroupId(1), start_ms: 0, end_ms: 100 };
    let limits = Limits { partition_index_size_bytes: 2, ..Limits::for_range(range) };
    let mut fleet = Fleet::start(limits);
    for round in 1..=MOST_ROUNDS {
        fleet.round(&mut bucket)?;
        println!("round {round}: {} effects so far", bucket.history.len());
        if bucket.is_tidy(&parents) {
            for (key, body) in &bucket.objects {
                println!("{key:?}: {body:?}");
            }
            return Ok(());
        }
    }
    Err("the blocks are not compacted".into())
}
