//! What upstream's server does, or did, that no guard is about.

use super::Release;

/// Ways of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// In blocking mode, a copy that was built on the way to ONLINE and has another checksum than the record is dropped,
    /// and the one that counts is downloaded (#18895; dossier 8).
    pub compares_checksums: bool,
}

impl Release {
    /// The ways of its server.
    #[must_use]
    pub fn ways(self) -> Ways {
        match self {
            Self::Blocking | Self::Pr14741 | Self::Pr14920 => Ways::default(),
            Self::Aug2026 => Ways { compares_checksums: true },
        }
    }
}
