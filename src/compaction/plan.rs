//! Plans: how the blocks of one range are split into partitions (dossier 2.3 and 4).

use std::sync::Arc;

use super::object::{BlockId, GroupId, Meta, PlanId};
use super::partition::{Share, overlap};

/// The time range that a compactor works on, and the group it makes up.
///
/// For now a configuration names it; the grouping of dossier 4 comes later and yields the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Range {
    /// The group of this range.
    pub group: GroupId,
    /// First instant, ms, inclusive.
    pub start_ms: i64,
    /// Last instant, ms, exclusive.
    pub end_ms: i64,
}

impl Range {
    /// Whether a block lies wholly within.
    #[must_use]
    pub fn covers(&self, meta: &Meta) -> bool {
        self.start_ms <= meta.min_time_ms && meta.max_time_ms <= self.end_ms
    }
}

/// A partitioned group: immutable once written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Plan {
    /// Its id.
    pub id: PlanId,
    /// Its group.
    pub group: GroupId,
    /// Whole seconds of its maker's clock, taken before it was written (dossier 3, G5).
    pub created_s: u64,
    /// The blocks of each partition, ascending; the index is the partition.
    pub partitions: Vec<Vec<BlockId>>,
}

impl Plan {
    /// Splits these blocks into `count` partitions (rule 8). A block is listed wherever its share reaches.
    #[must_use]
    pub fn split<'a>(
        id: PlanId,
        group: GroupId,
        created_s: u64,
        count: u32,
        blocks: impl Iterator<Item = &'a Arc<Meta>> + Clone,
    ) -> Self {
        let listed = |residue| {
            let share = Share { count, residue };
            let mut ids: Vec<_> =
                blocks.clone().filter(|m| Share::of(m).meets(share)).map(|m| m.id).collect();
            ids.sort_unstable();
            ids
        };
        Self { id, group, created_s, partitions: (0..count).map(listed).collect() }
    }

    /// How many partitions.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.partitions.len()).unwrap_or(u32::MAX)
    }

    /// The blocks of one partition; none if there is no such partition.
    #[must_use]
    pub fn members(&self, partition: u32) -> &[BlockId] {
        self.partitions.get(partition as usize).map_or(&[], Vec::as_slice)
    }

    /// Every block of the plan once, ascending.
    #[must_use]
    pub fn parents(&self) -> Vec<BlockId> {
        let mut ids: Vec<_> = self.partitions.iter().flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// In how many partitions to split blocks of this total index size (rule 7): 1 up to the limit, else the
/// least power of two that brings each part to the limit or below. A limit of 0 means no limit.
#[must_use]
pub fn partition_count(total_index_size_bytes: u64, limit_bytes: u64) -> u32 {
    if limit_bytes == 0 || total_index_size_bytes <= limit_bytes {
        return 1;
    }
    let parts = total_index_size_bytes.div_ceil(limit_bytes);
    u32::try_from(parts).unwrap_or(MAX_PARTITIONS).min(MAX_PARTITIONS).next_power_of_two()
}

/// Most partitions of a plan. Upstream has no bound (dossier 4, rule 7).
pub const MAX_PARTITIONS: u32 = 1 << 16;

/// Whether there is work for a plan among these blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No two blocks overlap.
    Nothing,
    /// Two blocks overlap, and at least one of them is new to the group.
    NewBlocks,
    /// Only results of this very group overlap: the same work was done twice (hole D10).
    Twins,
}

/// What a range needs.
#[must_use]
pub fn need(group: GroupId, blocks: &[Arc<Meta>]) -> Need {
    let ours = |m: &Meta| m.made_by.is_some_and(|made_by| made_by.group == group);
    let mut need = Need::Nothing;
    for (i, a) in blocks.iter().enumerate() {
        for b in blocks.iter().skip(i + 1).filter(|b| overlap(a, b)) {
            if !(ours(a) && ours(b)) {
                return Need::NewBlocks;
            }
            need = Need::Twins;
        }
    }
    need
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_the_least_power_of_two_that_fits() {
        let counts = [0, 64, 65, 128, 129, 512, 513].map(|total| partition_count(total, 64));
        assert_eq!(counts, [1, 1, 2, 2, 4, 8, 16]);
        assert_eq!(partition_count(u64::MAX, 0), 1);
        assert_eq!(partition_count(u64::MAX, 1), MAX_PARTITIONS);
    }
}
