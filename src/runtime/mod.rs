//! What was verified is what runs: a role, and input and output around it.
//!
//! No decision of a protocol is made in here. [`Driver`] owns one role. It knows no clock, no thread and no file, so
//! that the very same code runs in a service and, on a virtual clock, in the simulation of `models/`.
//!
//! | module | what |
//! |---|---|
//! | [`driver`] | steps, what is made durable when, effects handed out and outcomes taken back |
//! | [`conformance`] | one suite for every bucket, the models' included |
//! | [`durables`] | where what has to survive a crash is kept |
#![cfg_attr(feature = "runtime", doc = "| [`disk`] | that, in a file |")]
#![cfg_attr(
    feature = "runtime",
    doc = "| [`shell`] | a driver as a task, its effects carried out by an [`Adapter`] |"
)]
#![cfg_attr(feature = "runtime", doc = "| [`bucket`] | compaction's objects in an object store |")]

#[cfg(feature = "runtime")]
pub mod bucket;
pub mod conformance;
#[cfg(feature = "runtime")]
pub mod disk;
pub mod driver;
pub mod durables;
#[cfg(feature = "runtime")]
pub mod shell;

#[cfg(feature = "runtime")]
pub use disk::Disk;
pub use driver::Driver;
pub use durables::Durables;
#[cfg(feature = "runtime")]
pub use shell::{Adapter, Shell};
