//! Which block goes into which partition, and which blocks overlap (dossier 4, rule 8; dossier 5).
//!
//! A series belongs to partition `hash mod count`. A result of partition `i` of `c` therefore holds the
//! hashes that are `i` modulo `c`, and with `n` partitions its series lie in those partitions `p` that some
//! such hash falls into: those with `p ≡ i` modulo the greatest common divisor of `c` and `n`.
//!
//! Upstream spreads `i, i + c, ..` when `c < n` and takes `i mod n` when `c > n`, which is the same for
//! powers of two and drops series otherwise (hole D8b); here no series is dropped for any two counts.

use super::object::{Meta, Provenance};

/// The hashes a block may hold: those that are `residue` modulo `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// At least 1.
    pub count: u32,
    /// Less than `count`.
    pub residue: u32,
}

impl Share {
    /// A block that belongs to every partition.
    pub const WHOLE: Self = Self { count: 1, residue: 0 };

    /// The share of a block. A count of 0 is upstream's "unknown" and means the whole (dossier 2.1).
    #[must_use]
    pub fn of(meta: &Meta) -> Self {
        match meta.made_by {
            None => Self::WHOLE,
            Some(Provenance { partition_count: 0, .. }) => Self::WHOLE,
            Some(made_by) => Self {
                count: made_by.partition_count,
                residue: made_by.partition % made_by.partition_count,
            },
        }
    }

    /// Whether some hash is in both.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        let common = gcd(self.count.max(1), other.count.max(1));
        self.residue % common == other.residue % common
    }
}

/// Whether two blocks may hold the same series at the same time: their ranges and their shares meet.
#[must_use]
pub fn overlap(a: &Meta, b: &Meta) -> bool {
    a.min_time_ms < b.max_time_ms
        && b.min_time_ms < a.max_time_ms
        && Share::of(a).meets(Share::of(b))
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions(share: Share, count: u32) -> Vec<u32> {
        (0..count).filter(|&residue| share.meets(Share { count, residue })).collect()
    }

    /// The worked example of dossier 4: four partitions.
    #[test]
    fn powers_of_two_go_where_upstream_puts_them() {
        assert_eq!(partitions(Share::WHOLE, 4), [0, 1, 2, 3]);
        assert_eq!(partitions(Share { count: 2, residue: 1 }, 4), [1, 3]);
        assert_eq!(partitions(Share { count: 8, residue: 5 }, 4), [1]);
        assert_eq!(partitions(Share { count: 4, residue: 2 }, 4), [2]);
    }

    /// Hole D8b: for any two counts, each hash of the block lies in a partition that lists the block.
    #[test]
    fn no_hash_is_dropped_for_any_two_counts() {
        for count in 1..=9 {
            for residue in 0..count {
                for parts in 1..=9 {
                    let listed = partitions(Share { count, residue }, parts);
                    let hit: std::collections::BTreeSet<u32> =
                        (0..1000).filter(|h| h % count == residue).map(|h| h % parts).collect();
                    assert_eq!(
                        listed,
                        hit.into_iter().collect::<Vec<_>>(),
                        "{residue}/{count} {parts}"
                    );
                }
            }
        }
    }
}
