//! What a driver does with a role, and what its disk keeps.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "runtime")]
mod bucket;
#[cfg(feature = "runtime")]
mod crash;
#[cfg(feature = "runtime")]
mod disk;
mod driver;
mod roles;
#[cfg(feature = "runtime")]
mod shell;
mod toy;
