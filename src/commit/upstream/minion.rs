//! Minions: which completed segments their task generators take, to replace them by an upload (compaction, purge).
//!
//! They are no role of the protocol. What they take is upstream's decision all the same, and later than some of
//! its variants.

use super::super::object::{ReplicaState, Replicas, Status};
use super::Release;

/// How a task generator chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Minion {
    /// Whatever its record calls completed.
    #[default]
    Any,
    /// So, but for what the ideal state still says is consumed: its commit is half done (#15173).
    SparesConsuming,
}

impl Minion {
    /// Whether it takes a segment of this status, with these replicas in the ideal state, for one that it may replace.
    /// One that was replaced before is not taken again.
    #[must_use]
    pub fn takes(self, status: Status, ideal: &Replicas) -> bool {
        let spared = match self {
            Self::Any => false,
            Self::SparesConsuming => ideal.values().any(|is| *is == ReplicaState::Consuming),
        };
        status == Status::Done && !spared
    }
}

impl Release {
    /// Its minions.
    #[must_use]
    pub fn minion(self) -> Minion {
        match self {
            Self::Blocking | Self::Pr14741 | Self::Pr14920 => Minion::Any,
            Self::Aug2026 => Minion::SparesConsuming,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::object::ServerId;
    use super::*;
    use crate::collections::Table;

    fn replicas(state: ReplicaState) -> Replicas {
        let mut replicas = Table::new();
        replicas.insert(ServerId(0), state);
        replicas
    }

    #[test]
    fn a_half_done_commit_is_spared_since_15173() {
        let [online, consuming] = [ReplicaState::Online, ReplicaState::Consuming].map(replicas);
        let before = Release::Pr14920.minion();
        let after = Release::Aug2026.minion();
        assert!(before.takes(Status::Done, &online) && before.takes(Status::Done, &consuming));
        assert!(after.takes(Status::Done, &online) && !after.takes(Status::Done, &consuming));
        for status in [Status::InProgress, Status::Committing, Status::Uploaded] {
            assert!(!before.takes(status, &online) && !after.takes(status, &online));
        }
    }
}
