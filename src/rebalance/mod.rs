//! Rebalance: a segment moves from server to server, and is served all the while.
//!
//! A [`coordinator::Coordinator`] learns what each [`historical::Historical`] serves and has segments loaded,
//! moved and dropped, so that each tier has as many replicas as its rule requires. What it knows is always
//! old, what it has asked for may happen late, twice or never, and there may be two of it.
//!
//! # Why the last copy is not dropped
//!
//! A drop is created in one place, and there on one condition: without this copy, as many *firm* ones are
//! left as are required. A copy is firm if its server has said that it announces the segment, no drop of it
//! is outstanding, and nothing that could remove it can still arrive there:
//!
//! - of what this leader has asked, every operation is kept until its own answer comes, however late, and
//!   what the server says in that answer is stamped and known in the same step; so a copy with a drop on its
//!   way counts as leaving from the moment of the decision until it is gone;
//! - of what anybody asked before (another leader, another life of the server, this leader before the server
//!   vanished and came back), nothing is carried out any more once the server was shown this leader's fence,
//!   and the copy was seen after that.
//!
//! A copy that a crash takes is beyond any protocol; it is replaced, not guarded.
//!
//! This is a change on the servers' side as well. Stock historicals send neither stamps nor the fence of a
//! poll, so a coordinator of this kind takes none of their views and decides nothing. With servers that do send
//! them and refuse nothing, it holds while no request is late or repeated, no server flaps or starts again and
//! one leader leads; the checker's word on it is in `docs/rebalance.md`.
//!
//! # Time
//!
//! Safety does not depend on it. A request that is not answered in time only stops counting as an arrival.

pub mod coordinator;
mod driven;
pub mod effect;
pub mod event;
pub mod guard;
pub mod historical;
pub mod invariant;
pub mod message;
pub mod object;
#[cfg(feature = "weaken")]
pub mod upstream;

pub use coordinator::Coordinator;
pub use effect::{CoordinatorEffect, HistoricalEffect};
pub use event::{CoordinatorEvent, HistoricalEvent, Input, Refusal, Task};
pub use guard::Guard;
pub use historical::Historical;
