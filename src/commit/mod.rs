//! Commit: what was consumed from a stream becomes a segment (Apache Pinot).
//!
//! Replicas consume a partition of a stream side by side. The leading controller chooses which of them builds and
//! uploads the segment and at which offset it ends ([`completion`]); the others catch up, keep what they have or
//! download.

pub mod completion;
pub mod controller;
pub mod effect;
pub mod event;
pub mod guard;
pub mod invariant;
pub mod message;
pub mod object;
pub mod server;
#[cfg(feature = "weaken")]
pub mod upstream;

pub use controller::Controller;
pub use effect::{ControllerEffect, ServerEffect};
pub use event::{ControllerEvent, Input, Refusal, ServerEvent, Task};
pub use guard::Guard;
pub use server::Server;
