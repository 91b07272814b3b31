//! How long what may take. All values are ms of the controller's clock unless the name says otherwise.

/// The times of the completion protocol (dossier 6.1, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// How long a server waits after HOLD, 3000.
    pub hold_ms: u64,
    /// How long after its start a machine waits for reports before it picks a winner, 3300: one hold and a tenth.
    pub pick_ms: u64,
    /// How long after its start a machine waits for the winner to report again, 6600: two holds and a tenth.
    pub notify_ms: u64,
    /// How long a commit may take after that, 120,000
    /// (`controller.realtime.segment.commit.timeoutSeconds`, per table `realtime.segment.commit.timeoutSeconds`).
    pub commit_timeout_ms: u64,
    /// No machine commits later than this after its start, however its lease is extended, 1,800,000.
    pub ceiling_ms: u64,
    /// By how much a lease is extended if the request does not say, seconds, 120.
    pub lease_s: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hold_ms: 3_000,
            pick_ms: 3_300,
            notify_ms: 6_600,
            commit_timeout_ms: 120_000,
            ceiling_ms: 1_800_000,
            lease_s: 120,
        }
    }
}

impl Limits {
    /// How long after its start a machine may still commit, while nobody extends the lease: at least as long as
    /// the longest commit seen in the table, ms, never longer than the ceiling.
    #[must_use]
    pub fn initial_ms(&self, longest_ms: u64) -> u64 {
        let usual = self.notify_ms.saturating_add(self.commit_timeout_ms);
        usual.max(longest_ms).min(self.ceiling_ms)
    }
}

/// The row limit after a segment of `rows` rows could not be built under the limit `limit` (dossier 6.8, #15234).
#[must_use]
pub fn row_limit(rows: u64, limit: u64) -> u64 {
    (rows / 2).min(limit / 2)
}
