//! Permits to consume: one for each partition on a server (dossier 5, 8; `ConsumerCoordinator` upstream).
//!
//! A replica of the next segment begins to consume only when the one before it on this server has given up the permit:
//! where the order of rows matters, two consumers of a partition would mix what they take in. A replica that waits is
//! still on its way from OFFLINE to CONSUMING. It reads its record again and again (every 3 min upstream) and goes
//! without the permit if the record is gone or completed; not while it is committing, as rows are in memory alone then.
//!
//! The permit is given back when a build begins (before it has a permit to build) or when a download begins, where the
//! policy allows it; else, and at the latest, when what was consumed is offloaded: a copy takes its place, or Helix
//! takes the replica to OFFLINE or DROPPED. Who has given it back takes it no more; on the way to ONLINE it does not
//! read what is missing, but brings a copy. Permits are in memory: a crash gives all of them back.
//!
//! *Our reading*: of several replicas that wait the one of the earliest segment is next. Upstream's semaphore promises
//! no order.

use super::super::completion::Mode;
use super::super::effect::ServerEffect as Effect;
use super::super::guard::Guard;
use super::super::object::{PartitionId, ReplicaState, SegmentId};
use super::Turn;
use super::state::Work;
use crate::guard::Guards;

/// What may go on while the next segment is consumed (`parallelSegmentConsumptionPolicy` of a table; dossier 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParallelSegmentConsumptionPolicy {
    /// `ALLOW_ALWAYS`: a build or a download of the segment before. Plain tables, and most that upsert.
    AllowAlways,
    /// `ALLOW_DURING_BUILD_ONLY`: its build. Pauseless tables with dedup or partial upsert.
    AllowDuringBuildOnly,
    /// `ALLOW_DURING_DOWNLOAD_ONLY`: its download.
    AllowDuringDownloadOnly,
    /// `DISALLOW_ALWAYS`: nothing. Blocking tables with dedup or partial upsert.
    DisallowAlways,
}

impl ParallelSegmentConsumptionPolicy {
    /// All of them, in upstream's order.
    pub const ALL: [Self; 4] = [
        Self::AllowAlways,
        Self::AllowDuringBuildOnly,
        Self::AllowDuringDownloadOnly,
        Self::DisallowAlways,
    ];

    /// Upstream's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AllowAlways => "ALLOW_ALWAYS",
            Self::AllowDuringBuildOnly => "ALLOW_DURING_BUILD_ONLY",
            Self::AllowDuringDownloadOnly => "ALLOW_DURING_DOWNLOAD_ONLY",
            Self::DisallowAlways => "DISALLOW_ALWAYS",
        }
    }

    /// Upstream's default for a table of this mode; `is_ordered`: with dedup or partial upsert (dossier 5).
    #[must_use]
    pub fn of_table(mode: Mode, is_ordered: bool) -> Self {
        match (is_ordered, mode) {
            (false, _) => Self::AllowAlways,
            (true, Mode::Pauseless) => Self::AllowDuringBuildOnly,
            (true, Mode::Blocking) => Self::DisallowAlways,
        }
    }

    /// Whether the next segment may be consumed while the one before is built.
    #[must_use]
    pub fn is_allowed_during_build(self) -> bool {
        matches!(self, Self::AllowAlways | Self::AllowDuringBuildOnly)
    }

    /// Whether the next segment may be consumed while a copy of the one before is brought.
    #[must_use]
    pub fn is_allowed_during_download(self) -> bool {
        matches!(self, Self::AllowAlways | Self::AllowDuringDownloadOnly)
    }
}

/// Who has the permit of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Holder {
    /// The replica of this segment.
    Replica(SegmentId),
    /// A consumer that could not be opened. It is registered nowhere, so that no transition reaches it (upstream before
    /// #14974 alone).
    Nobody,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    /// Begins to consume, if the permit is free; else waits for it.
    pub(super) fn acquire(&mut self, segment: SegmentId) {
        if self.is_free(segment.partition) {
            self.begin_to_consume(segment);
        } else {
            self.work(segment, Work::Acquiring, Effect::PollRecord(segment));
        }
    }

    /// Whoever waits for a permit that is free takes it; the earliest segment first.
    pub(super) fn admit(&mut self) {
        let waits = |work: Work| work == Work::Acquiring;
        let all = self.state.replicas.iter().filter(|(_, replica)| waits(replica.work));
        let waiting: Vec<_> = all.map(|(id, _)| *id).collect();
        for segment in waiting {
            if self.is_free(segment.partition) {
                self.cancel(segment);
                self.begin_to_consume(segment);
            }
        }
    }

    fn begin_to_consume(&mut self, segment: SegmentId) {
        if self.limits.consumption.is_some() {
            self.state.consumers.insert(segment.partition, Holder::Replica(segment));
        }
        self.show(segment, ReplicaState::Consuming);
        self.consume(segment, None);
    }

    fn is_free(&self, partition: PartitionId) -> bool {
        !self.state.consumers.contains_key(&partition)
    }

    /// Whether it may still consume on its way to ONLINE.
    pub(super) fn holds_permit(&self, segment: SegmentId) -> bool {
        let holder = self.state.consumers.get(&segment.partition);
        self.limits.consumption.is_none() || holder == Some(&Holder::Replica(segment))
    }

    pub(super) fn build_begins(&mut self, segment: SegmentId) {
        let policy = self.limits.consumption;
        if policy.is_some_and(ParallelSegmentConsumptionPolicy::is_allowed_during_build) {
            self.offloaded(segment);
        }
    }

    pub(super) fn download_begins(&mut self, segment: SegmentId) {
        let policy = self.limits.consumption;
        if policy.is_some_and(ParallelSegmentConsumptionPolicy::is_allowed_during_download) {
            self.offloaded(segment);
        }
    }

    /// Its consumer is closed; it holds no permit any more.
    pub(super) fn offloaded(&mut self, segment: SegmentId) {
        let partition = segment.partition;
        if self.state.consumers.get(&partition) == Some(&Holder::Replica(segment)) {
            self.state.consumers.remove(&partition);
        }
    }

    /// Its consumer could not be opened: nothing was read. One that breaks later is offloaded as others are.
    pub(super) fn not_opened(&mut self, segment: SegmentId) {
        let partition = segment.partition;
        let holder = self.state.consumers.get(&partition);
        let rows = self.state.replicas.get(&segment).and_then(|replica| replica.memory.as_ref());
        let is_empty = rows.is_some_and(|rows| rows.range.start == rows.range.end);
        if holder != Some(&Holder::Replica(segment)) || !is_empty {
            return;
        }
        if self.judge.applies(Guard::ConsumerPermitBack) {
            self.state.consumers.remove(&partition);
        } else {
            self.state.consumers.insert(partition, Holder::Nobody);
        }
    }
}
