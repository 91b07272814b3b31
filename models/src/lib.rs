//! Worlds, models, scopes and scenarios for surehold's protocols, and the checker that explores them.
//!
//! A model adds the world and nothing else: it picks an event of the world, calls a role's `step`, and turns
//! the effects into world state. No protocol decision is written here.

#[cfg(feature = "checker")]
pub mod command;
pub mod commit;
pub mod compaction;
#[cfg(feature = "checker")]
pub mod everything;
#[cfg(feature = "checker")]
pub mod explore;
pub mod files;
pub mod found;
pub mod fuzz;
pub mod line;
mod memo;
pub mod missed;
mod numbers;
pub mod part;
pub mod raw;
pub mod rebalance;
#[cfg(feature = "checker")]
pub mod report;
mod retold;
#[cfg(feature = "checker")]
pub mod runs;
pub mod shrink;
#[cfg(feature = "checker")]
pub mod symmetry;
pub mod targets;
pub mod tier;
mod walk;
