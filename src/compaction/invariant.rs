//! What must hold of a bucket, over plain facts: for models, fuzzing, a running service, an audit.
//!
//! Samples are abstract: a bit stands for some samples of some series.

use super::object::{BlockId, Meta, Provenance};
use super::plan::Plan;

/// A set of up to 64 abstract samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Samples(pub u64);

impl Samples {
    /// In either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// In both.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// In this one only.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A complete block as an invariant sees it.
#[derive(Clone, Copy, Debug)]
pub struct Holding<'a> {
    /// The block.
    pub block: BlockId,
    /// What it holds.
    pub samples: Samples,
    /// Whether it is marked for deletion, by either copy of the mark.
    pub marked: bool,
    /// Its meta.
    pub meta: &'a Meta,
}

/// I1: samples that were uploaded and are in no complete block without a mark. Must be empty.
#[must_use]
pub fn lost<'a>(uploaded: Samples, blocks: impl Iterator<Item = Holding<'a>>) -> Samples {
    let kept = blocks
        .filter(|block| !block.marked)
        .fold(Samples::default(), |all, block| all.union(block.samples));
    uploaded.without(kept)
}

/// I2: the first partition of a plan that is about to lose its parents, and neither has a complete result
/// of exactly that plan nor is empty. Must be `None`.
///
/// Whether the result carries a mark does not matter, nor whether it has been deleted since: another cleaner
/// may have gone ahead and a later plan have replaced it. `blocks` are all that ever were complete.
#[must_use]
pub fn unproven<'a>(
    plan: &Plan,
    blocks: impl Iterator<Item = Holding<'a>> + Clone,
    is_empty: impl Fn(u32) -> bool,
) -> Option<u32> {
    let proves = |partition: u32| {
        let result =
            |made_by: &Provenance| made_by.plan == plan.id && made_by.partition == partition;
        blocks.clone().any(|block| block.meta.made_by.as_ref().is_some_and(result))
    };
    (0..plan.count()).find(|p| !is_empty(*p) && !proves(*p))
}

/// I7: whether this plan is done with. Only then may it, or a marker of it, be removed.
///
/// A parent is stopped if it is marked, or must not be compacted. The plan is done if all of them are, and dead
/// if one of them is and some partition is unproven, since nobody may work on it any more. With every partition
/// proven, a single stopped parent is not enough: the others have been replaced, and would be compacted again.
///
/// A worker that had passed its last look when the plan died may prove the missing partition afterwards. That takes a
/// fault or an operator's mark; a judge who allows for it takes `is_proven` to be false.
#[must_use]
pub fn is_done_or_dead(
    plan: &Plan,
    is_stopped: impl Fn(BlockId) -> bool,
    is_proven: impl Fn(u32) -> bool,
) -> bool {
    let parents = plan.parents();
    let stopped = parents.iter().filter(|id| is_stopped(**id)).count();
    stopped == parents.len() || (stopped > 0 && !(0..plan.count()).all(is_proven))
}

/// M4, M8: why a new result is work done twice, if it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubleWork {
    /// Two of its inputs hold the same sample: blocks were merged with their own results.
    Overlapping(BlockId, BlockId),
    /// This block, which it was not made from, holds one of its samples already.
    AlreadyIn(BlockId),
}

/// Looks for double work in a result. `ancestors` are its inputs, their inputs and so on; `others` are the
/// complete results that existed before.
#[must_use]
pub fn double_work(
    result: Samples,
    inputs: &[(BlockId, Samples)],
    ancestors: &[BlockId],
    others: impl Iterator<Item = (BlockId, Samples)>,
) -> Option<DoubleWork> {
    for (i, (a, in_a)) in inputs.iter().enumerate() {
        for (b, in_b) in &inputs[i + 1..] {
            if !in_a.common(*in_b).common(result).is_empty() {
                return Some(DoubleWork::Overlapping(*a, *b));
            }
        }
    }
    others
        .filter(|(id, _)| !ancestors.contains(id))
        .find(|(_, samples)| !samples.common(result).is_empty())
        .map(|(id, _)| DoubleWork::AlreadyIn(id))
}

/// The names of the safety properties, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// I1.
    NoSampleLost,
    /// I2.
    ReplacedBeforeMarking,
    /// I7.
    OnlyDeadPlansDeleted,
    /// M4, M8: work is done twice only after a fault.
    NoDoubleWork,
    /// M6.
    NoCompactRespected,
    /// M1.
    MetaLast,
    /// I6.
    DeletedAfterDelay,
    /// L1, L2, L3: from everywhere the goal can be reached without another fault.
    Recoverable,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::NoSampleLost,
        Self::ReplacedBeforeMarking,
        Self::OnlyDeadPlansDeleted,
        Self::NoDoubleWork,
        Self::NoCompactRespected,
        Self::MetaLast,
        Self::DeletedAfterDelay,
        Self::Recoverable,
    ];

    /// Kebab-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoSampleLost => "no-sample-lost",
            Self::ReplacedBeforeMarking => "replaced-before-marking",
            Self::OnlyDeadPlansDeleted => "only-dead-plans-deleted",
            Self::NoDoubleWork => "no-double-work",
            Self::NoCompactRespected => "no-compact-respected",
            Self::MetaLast => "meta-last",
            Self::DeletedAfterDelay => "deleted-after-delay",
            Self::Recoverable => "recoverable",
        }
    }

    /// What it says.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::NoSampleLost => {
                "I1: every sample ever uploaded is in a complete block that is not marked for deletion."
            }
            Self::ReplacedBeforeMarking => {
                "I2: when a parent is marked, each partition of its plan has a complete result of exactly that plan, or is empty."
            }
            Self::OnlyDeadPlansDeleted => {
                "I7: a plan, or a marker of it, is removed or overwritten only once the plan is done or cannot be finished."
            }
            Self::NoDoubleWork => {
                "M4, M8: without a fault nothing is compacted twice; after one, duplicates are harmless and go away."
            }
            Self::NoCompactRespected => {
                "M6: a block with a no-compact mark is neither merged nor marked for deletion by the clean-up."
            }
            Self::MetaLast => {
                "M1: a block's meta is there only if its chunks and index are: last up, first down."
            }
            Self::DeletedAfterDelay => {
                "I6: no complete block is deleted without a mark older than the delay."
            }
            Self::Recoverable => {
                "L1 to L3: from every reachable state, without another fault, the goal can be reached: no plan, no marker, no two blocks that overlap."
            }
        }
    }
}
