//! Models of commit.

mod blocking;
#[cfg(feature = "checker")]
pub mod check;
pub mod coverage;
mod enabled;
pub mod ending;
pub mod goal;
mod judge;
pub mod model;
#[cfg(feature = "checker")]
pub mod runs;
pub mod scope;
pub mod scopes;
pub mod tale;
#[cfg(feature = "checker")]
pub mod verdicts;
pub mod world;
