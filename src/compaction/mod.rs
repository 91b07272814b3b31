//! Partition compaction: many blocks of a time range become fewer, and no sample is lost on the way.
//!
//! Several [`compactor::Compactor`]s and one or more [`cleaner::Cleaner`]s share a bucket and nothing else.
//! A compactor splits the blocks of a range into partitions (a [`plan::Plan`]), claims a partition with a
//! [`marker::Marker`], merges its blocks and uploads the result. A cleaner marks the parents for deletion
//! once every partition is proven, and removes the plan.
//!
//! # Why nothing is lost
//!
//! A block is marked only on the strength of other blocks that were complete before and hold its samples:
//! the results of *each* partition of a plan that lists it, or a lesser result of the very same partition.
//! A result is made after its parents, and the results of one partition are totally ordered, so following
//! "was marked because of" from block to block never returns; for each sample the last holder is never
//! marked. That needs no clock, no lock and no fresh read: that a complete block exists is a fact that
//! stays true (upstream's physical deletion waits for the mark and a delay, dossier 9). All other guards
//! keep work from being done twice, keep the fleet from getting stuck, or keep the operator's word.
//!
//! # Time
//!
//! Safety does not depend on it. Two rules do save work by it: a claim expires, and a planner or a claimant
//! waits before it reads back ([`effect::Wait`]).

pub mod cleaner;
pub mod compactor;
pub mod effect;
pub mod event;
pub mod guard;
pub mod invariant;
pub mod marker;
pub mod object;
pub mod partition;
pub mod plan;
#[cfg(feature = "weaken")]
pub mod upstream;

pub use cleaner::Cleaner;
pub use compactor::Compactor;
pub use effect::Effect;
pub use event::{Event, Input, Merged, Outcome, Refusal, Task};
pub use guard::Guard;
