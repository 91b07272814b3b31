//! Models of commit.

mod blocking;
#[cfg(feature = "checker")]
pub mod check;
mod controllers;
pub mod coverage;
mod enabled;
pub mod ending;
#[cfg(feature = "checker")]
mod fairness;
pub mod fuzz;
pub mod goal;
pub mod holes;
#[cfg(feature = "checker")]
mod images;
mod judge;
#[cfg(feature = "checker")]
pub mod keys;
pub mod model;
mod prefix;
pub mod reach;
pub mod replay;
mod round;
#[cfg(feature = "checker")]
pub mod runs;
pub mod scenario;
pub mod scope;
pub mod scopes;
mod servers;
pub mod standing;
pub mod tale;
#[cfg(feature = "checker")]
pub mod verdicts;
pub mod world;
