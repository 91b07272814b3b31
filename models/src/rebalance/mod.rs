//! Models of rebalance.

#[cfg(feature = "checker")]
pub mod check;
pub mod coverage;
mod enabled;
pub mod ending;
#[cfg(feature = "checker")]
mod fairness;
pub mod fleet;
pub mod fuzz;
pub mod goal;
#[cfg(feature = "checker")]
mod images;
mod judge;
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
pub mod window;
mod witness;
pub mod world;
