//! The protocol as Druid has it, and as the proposed changes would have it.
//!
//! What is in master was read in the source: [`Fix::Delta`] and what all of them share (dossier 3 and 4).
//! The rest is *our reading of a pull request*, none of which is merged: [`Fix::Lock`], [`Fix::Atomic`] and
//! [`Fix::Retain`] are built from their descriptions and the code that was visible.
//!
//! Which segments are balanced, and which are moved off a server that the operator wants empty (dossier 4.8), is
//! proposed from outside.
//!
//! Left out, as no scope here can tell: throttling of replication, queue limits, lifetime alerts, the
//! server's cache of answers (its effect, an old answer taken for a new one, is there: answers are matched by
//! segment and action), broadcast rules, turbo mode.

mod account;
mod coordinator;
mod historical;
mod peon;
mod run;

pub use account::Counts;
pub use coordinator::{Callback, Coordinator, State};
pub use historical::Historical;
pub use peon::{Act, Entry, Peon, Then};
pub use run::{Holder, Run};

/// A point in the history of fixes for the move race. Each builds on those before it, but for the lock,
/// which was proposed beside [`Fix::Atomic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fix {
    /// As reported in #18161: before any fix.
    None,
    /// #18162, in master: a move whose load is done and whose drop is not is subtracted.
    Delta,
    /// #18769, closed unmerged: callbacks do not run while servers and queues are being copied.
    Lock,
    /// #18824, open: a mark becomes a drop in one step, and queue and marks are read together.
    Atomic,
    /// #19889, open: an acknowledged operation stays in the queue until the copy of the inventory that it is
    /// read with shows it.
    Retain,
}

impl Fix {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [Self::None, Self::Delta, Self::Lock, Self::Atomic, Self::Retain];

    /// Name of the variant.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "druid-18161",
            Self::Delta => "druid-18162",
            Self::Lock => "druid-18769",
            Self::Atomic => "druid-18824",
            Self::Retain => "druid-19889",
        }
    }

    /// #18162: `movingFrom - movingTo` is subtracted where it is positive.
    fn subtracts_done_moves(self) -> bool {
        self >= Self::Delta
    }

    /// #18769: inventory, queue and marks are read in one piece, callbacks wait.
    fn prepares_at_once(self) -> bool {
        self == Self::Lock
    }

    /// #18824, and #18769 by waiting: nobody sees a segment that is neither marked nor being dropped.
    fn marks_become_drops(self) -> bool {
        self >= Self::Lock
    }

    /// #18824: whatever drop is queued takes the mark with it.
    fn drops_unmark(self) -> bool {
        self >= Self::Atomic
    }

    /// #18824: queue and marks are one snapshot.
    fn reads_queue_and_marks_together(self) -> bool {
        self >= Self::Lock
    }

    /// #19889.
    fn retains(self) -> bool {
        self == Self::Retain
    }
}
