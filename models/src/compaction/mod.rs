//! Models of partition compaction.

#[cfg(feature = "checker")]
pub mod check;
pub mod coverage;
pub mod ending;
pub mod fleet;
pub mod goal;
pub mod model;
pub mod replay;
#[cfg(feature = "checker")]
pub mod runs;
pub mod scenario;
pub mod scope;
pub mod scopes;
pub mod tale;
#[cfg(feature = "checker")]
pub mod verdicts;
pub mod world;
