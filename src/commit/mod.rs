//! Commit: what was consumed from a stream becomes a segment (Apache Pinot).
//!
//! Replicas consume a partition of a stream side by side. The leading controller chooses which of them builds and
//! uploads the segment and at which offset it ends ([`completion`]); the others catch up, keep what they have or
//! download.

pub mod completion;
pub mod name;
pub mod object;
pub mod temporary;
pub mod wire;
