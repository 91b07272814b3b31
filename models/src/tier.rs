//! When a scope is run.

/// When a scope is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tier {
    /// With every check.
    Ci,
    /// Each night.
    Nightly,
    /// As far as it gets.
    Deep,
    /// For upstream's releases, with every check.
    Upstream,
}

impl Tier {
    /// The tiers that can be asked for by name, the quickest first.
    pub const NAMED: [Self; 3] = [Self::Ci, Self::Nightly, Self::Deep];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ci => "ci",
            Self::Nightly => "nightly",
            Self::Deep => "deep",
            Self::Upstream => "upstream",
        }
    }
}
