//! Models of partition compaction.

mod breach;
#[cfg(feature = "checker")]
pub mod check;
pub mod coverage;
mod enabled;
pub mod ending;
mod endless;
pub mod fleet;
pub mod goal;
#[cfg(feature = "checker")]
mod images;
pub mod model;
mod prefix;
mod reduction;
pub mod replay;
#[cfg(feature = "checker")]
pub mod runs;
pub mod scenario;
pub mod scope;
pub mod scopes;
pub mod sim;
pub mod tale;
mod timing;
#[cfg(feature = "checker")]
pub mod verdicts;
mod witness;
pub mod world;
