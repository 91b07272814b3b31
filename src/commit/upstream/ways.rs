//! What upstream's server does, or did, that no guard is about.

use super::Release;

/// Ways of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// A replica that has heard nothing of its commit start is still COMMITTING when it asks again, and from there the
    /// way to ONLINE is a download, though it has all rows in memory (before #17885; case C3). So it is for the 3 s after
    /// a refusal, too, but a start that was refused has not changed the ideal state, and who repairs it waits for longer.
    pub forgets_committing: bool,
    /// In blocking mode, a copy that was built on the way to ONLINE and has another checksum than the record is dropped,
    /// and the one that counts is downloaded (#18895; dossier 8).
    pub compares_checksums: bool,
}

impl Release {
    /// The ways of its server.
    #[must_use]
    pub fn ways(self) -> Ways {
        match self {
            Self::Blocking => Ways::default(),
            Self::Pr14741 | Self::Pr14920 => Ways { forgets_committing: true, ..Ways::default() },
            Self::Aug2026 => Ways { compares_checksums: true, ..Ways::default() },
        }
    }
}
