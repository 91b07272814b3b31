//! Partition compaction: many blocks of a time range become fewer, and no sample is lost on the way.
//!
//! Several [`compactor::Compactor`]s and one or more [`cleaner::Cleaner`]s share a bucket and nothing else.
//! A compactor splits the blocks of a range into partitions (a [`plan::Plan`]), claims a partition with a
//! [`marker::Marker`], merges its blocks and uploads the result. A cleaner marks the parents for deletion
//! once every partition is proven, removes the plan, and deletes blocks whose mark is old enough.
//!
//! # Why nothing is lost
//!
//! A block is marked only on the strength of other blocks that were complete before and hold its samples:
//! the results of *each* partition of a plan that lists it, or a lesser result of the very same partition.
//! A result is made after its parents, and the results of one partition are totally ordered, so following
//! "was marked because of" from block to block never returns; for each sample the last holder is never
//! marked. That needs no clock, no lock and no fresh read: that a complete block existed is a fact that
//! stays true. All other guards keep work from being done twice, keep the fleet from getting stuck, or keep
//! the operator's word.
//!
//! # Blocks are deleted
//!
//! That a complete block *exists* does not stay true, since marked blocks are deleted for good
//! ([`cleaner::Limits::deletion_delay_ms`]): the results that prove a plan may be compacted again, marked and
//! deleted while a slow cleaner or worker still looks. The argument above does not mind. Only what is marked
//! is deleted, a mark is never taken back before, and what a mark was set for need not be there any more.
//! What does mind is whoever tells a live block from a marked one by two listings, as the mark goes with the
//! block:
//!
//! - A planner that listed blocks, then marks, took a block that was deleted in between for a live one. Its
//!   plan could never be finished, and partitions of it were worked on whose blocks were all there, again and
//!   again. So it lists marks first (`marks-before-blocks`).
//! - A planner that stood still may write a plan of blocks that are long gone. No mark says that it is dead;
//!   that a parent is gone does (`gone-is-marked`).
//! - A merge whose inputs are deleted under it fails; it never makes a block of less.
//!
//! # Time
//!
//! Safety does not depend on it, except where a rule is a time: the deletion delay. Two rules do save work by
//! it: a claim expires, and a planner or a claimant waits before it reads back ([`effect::Wait`]).

pub mod cleaner;
pub mod compactor;
mod driven;
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
