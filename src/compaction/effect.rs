//! What a compactor or a cleaner may do: one operation on one object, one listing, one long piece of work.

use std::sync::Arc;

use super::object::{BlockId, Body, Key, Prefix};
use super::plan::Plan;

/// One effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Effect {
    /// List keys.
    List(Prefix),
    /// Read an object.
    Get(Key),
    /// Ask whether an object exists.
    Exists(Key),
    /// Write an object, whatever was there. No compare-and-set: a plain object store has none.
    Put(Key, Body),
    /// Delete an object; that it does not exist is no error (dossier 10).
    Delete(Key),
    /// Merge the series of one partition out of some blocks (dossier 3, W1 and W2). It fails if any object of
    /// an input cannot be read: a block may be deleted under it, and a result of less is a loss.
    Merge(Merge),
    /// Wait before reading back a claim or a plan (dossier 3, P1).
    Wait(Wait),
}

/// One merge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Merge {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Which of its partitions: only series with `hash mod count` equal to it are kept.
    pub partition: u32,
    /// The blocks to read.
    pub inputs: Vec<BlockId>,
}

/// A wait and what it is for: whoever looked before `after` was written has written by its end, or given up.
///
/// That is an assumption on the world: its operations are shorter than the wait. Where it does not hold, work may be
/// done twice; nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Wait {
    /// How long, ms.
    pub delay_ms: u64,
    /// The object just written.
    pub after: Key,
}
