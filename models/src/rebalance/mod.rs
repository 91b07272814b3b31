//! Models of rebalance.

#[cfg(feature = "checker")]
pub mod check;
pub mod coverage;
mod enabled;
pub mod fleet;
pub mod fuzz;
pub mod goal;
mod judge;
pub mod model;
pub mod scope;
pub mod scopes;
pub mod tale;
mod witness;
pub mod world;
