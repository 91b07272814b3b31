//! Commit: what was consumed from a stream becomes a segment (Apache Pinot).
//!
//! Replicas consume a partition of a stream side by side. The leading controller chooses which of them builds and
//! uploads the segment and at which offset it ends ([`completion`]); the others catch up, keep what they have or
//! download. In pauseless mode the next segment begins before the last one is built.
//!
//! # Roles and tasks
//!
//! | role | what it keeps | what it does |
//! |---|---|---|
//! | [`controller::Controller`] | nothing: all that counts is in the stores | one errand a segment for what the completion machine asks (the three metadata steps, the end of a commit), one completion for each reingested segment, and the tasks [`Task::Validate`], [`Task::Repair`], [`Task::Retry`], [`Task::Retain`] |
//! | [`server::Server`] | built copies on its disk | one line of work a replica (dossier 5, 8), reingestion jobs, uploads for a controller |
//!
//! An errand or a task has one effect outstanding and goes on with its outcome, so that anything may happen between two
//! operations. Commits that have come to step 3 share one read and one write of the ideal state, and what comes of them
//! counts for each ([`Guard::BatchApart`]). A task begins with `Continue`. Leadership is tested when a message comes and
//! when a task begins, nowhere else (dossier 1); what is under way goes on after it is lost, and compare-and-set decides.
//!
//! # Effects
//!
//! Each is one operation: read, list, create, compare-and-set or delete one record; read or compare-and-set the ideal
//! state; read the view; move one object; reset one replica; read one row; build, store, bring or delete one copy; one
//! message. The world of Helix, the metadata store, the deep store and the stream is whoever carries them out.
//!
//! # Why nothing is lost
//!
//! - A record's end is fixed by one compare-and-set; everything else follows from it. What looks like a failure is
//!   resolved by reading ([`Guard::DoneAgain`]), and a failed commit deletes nothing ([`Guard::NoCleanUp`]): a record of the next
//!   segment that is not listed is used again by whoever goes on ([`Guard::ListedOnly`]). So is clean-up never done where the
//!   ideal state lists the segment.
//! - An attempt's object has a name of its own, and only the record's compare-and-set makes it the segment's
//!   ([`Guard::OwnObject`]); a copy counts only if it is of exactly the record's range, whole ([`Guard::MatchRange`],
//!   [`Guard::WholeRange`]). Rows that nobody can supply are recorded as lost, never passed over ([`Guard::GapByAll`]).
//! - Metadata alone tells how far a commit is, so that any leader can end it ([`Guard::Rebuild`]), whatever the mode is by
//!   then ([`Guard::AnyStatus`]), and retention spares the last end ([`Guard::KeepEnd`]). What no committer ends is stored by the retry, reset, or read again.
//!
//! # Upstream
//!
//! `upstream` has Pinot's variants as the guards that they lack; where one is missing the roles do what upstream does.
//!
//! # Time
//!
//! Ages and leases only say when it is worth acting. Safety does not depend on them.

pub mod completion;
pub mod controller;
mod driven;
pub mod effect;
pub mod event;
pub mod guard;
pub mod invariant;
pub mod message;
pub mod name;
pub mod object;
pub mod server;
pub mod temporary;
#[cfg(feature = "weaken")]
pub mod upstream;
pub mod wire;

pub use controller::Controller;
pub use effect::{ControllerEffect, ServerEffect};
pub use event::{ControllerEvent, Input, Refusal, ServerEvent, Task};
pub use guard::Guard;
pub use server::Server;
