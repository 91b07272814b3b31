//! Hand-over protocols of segment stores as pure, verified state transitions.
//!
//! > A copy is let go only when another surely holds it.
//!
//! # The contract
//!
//! A *role* of a protocol is a [`Machine`]: immutable configuration and one pure function
//!
//! ```text
//! step(&self, &State, Event) -> Result<Step { state, effects, decided_by }, Refusal>
//! ```
//!
//! - **Time, randomness and fresh ids come in with events.** The same input gives the same output.
//! - **Effects are data**, one operation on the world each. Whoever carries one out delivers its outcome
//!   once, as an event that names the effect's id. A read and a write are two effects with a state between
//!   them: that is where the races are, and the models in `models/` interleave exactly there.
//! - **An outcome may be unknown**: it may have happened, it may still. Every role handles that.
//! - **A refusal leaves the state as it was.** No event from outside panics.
//! - **[`Machine::recover`] is the one way back after a crash.**
//!
//! # The map
//!
//! | module | what |
//! |---|---|
//! | [`machine`] | the shape of a role |
//! | [`driven`] | what a driver has to know of a role beside its transitions |
//! | [`guard`] | guards as a type; a service cannot drop one |
//! | [`collections`] | persistent map, set and sequence whose hash tells `({7}, {})` from `({}, {7})` |
//! | [`commit`] | a consumed stream becomes segments (Pinot) |
//! | [`compaction`] | partition compaction (Cortex) |
//! | [`rebalance`] | who serves a segment (Druid) |
//!
//! The feature `driver` adds `runtime::Driver`, which runs a role on nothing but a store of its own; `runtime` adds
//! clocks, disks and object stores.
//!
//! The feature `weaken` adds weakened roles and the upstream variants, for models, fuzzing and tests. It
//! does not change the default types.

pub mod collections;
pub mod commit;
pub mod compaction;
pub mod driven;
pub mod guard;
pub mod machine;
pub mod rebalance;
#[cfg(feature = "driver")]
pub mod runtime;

pub use driven::Driven;
pub use guard::{Guards, Verified};
pub use machine::{EffectId, Issued, Machine, Step};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
