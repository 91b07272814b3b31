//! The decisions in which the verified machine differs from upstream's.

/// A decision of the completion machine that a guard of the protocol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A segment that was replaced by an upload counts as committed (C1; upstream since #15062).
    UploadedIsDone,
    /// Only the winner may start a commit, or end it (R4). Upstream looks at the winner's offset alone, takes anybody's
    /// start, and aborts the commit at anybody's end.
    WinnerStarts,
    /// KEEP is answered only if metadata, read for this message, ends the segment at the sender's offset (N2).
    /// Upstream compares with what the machine remembers.
    KeepFromRecord,
    /// Metadata that says COMMITTING is enough to go on with, at any leader and in either mode (R5, R8). Upstream
    /// starts all over, and can never succeed.
    ResumeCommit,
    /// A winner that comes back at another offset than it won with has to ask again. Upstream has it wait for a copy,
    /// and if that happens to every replica nobody ever commits.
    WinnerAsksAgain,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::UploadedIsDone,
        Self::WinnerStarts,
        Self::KeepFromRecord,
        Self::ResumeCommit,
        Self::WinnerAsksAgain,
    ];
}

/// Which of the rules a machine keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    pub(super) uploaded_is_done: bool,
    pub(super) winner_starts: bool,
    pub(super) keep_from_record: bool,
    pub(super) committing: Committing,
    pub(super) winner_asks_again: bool,
}

/// What a machine becomes whose metadata says COMMITTING when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "weaken"), allow(dead_code))]
pub(super) enum Committing {
    /// It gathers reports, as if nothing had been decided: what upstream does in 2026-08 (dossier 6.1).
    Hold,
    /// In pauseless mode it answers as if the segment were committed: upstream at first.
    Keep,
    /// It lets whoever has the rows finish.
    Resume,
}

impl Rules {
    /// All kept. What a service runs.
    pub const VERIFIED: Self = Self {
        uploaded_is_done: true,
        winner_starts: true,
        keep_from_record: true,
        committing: Committing::Resume,
        winner_asks_again: true,
    };

    /// Upstream's machine in August 2026 (the dossier's tree).
    #[cfg(feature = "weaken")]
    pub const PINOT_2026_08: Self = Self {
        uploaded_is_done: true,
        winner_starts: false,
        keep_from_record: false,
        committing: Committing::Hold,
        winner_asks_again: false,
    };

    /// Upstream's machine as #14741 brought it: an uploaded segment is not known to be committed, and one that
    /// is COMMITTING is taken to be. Read in a version of the file from before #15062.
    #[cfg(feature = "weaken")]
    pub const PINOT_14741: Self = Self {
        uploaded_is_done: false,
        winner_starts: false,
        keep_from_record: false,
        committing: Committing::Keep,
        winner_asks_again: false,
    };

    /// The same without one rule, to see what breaks.
    #[cfg(feature = "weaken")]
    #[must_use]
    pub fn without(self, rule: Rule) -> Self {
        match rule {
            Rule::UploadedIsDone => Self { uploaded_is_done: false, ..self },
            Rule::WinnerStarts => Self { winner_starts: false, ..self },
            Rule::KeepFromRecord => Self { keep_from_record: false, ..self },
            Rule::ResumeCommit => Self { committing: Committing::Hold, ..self },
            Rule::WinnerAsksAgain => Self { winner_asks_again: false, ..self },
        }
    }

    /// Those rules for which this holds; for the role that asks its guards. One without `ResumeCommit` does as
    /// upstream in 2026-08.
    #[must_use]
    pub(crate) fn keeping(keeps: impl Fn(Rule) -> bool) -> Self {
        Self {
            uploaded_is_done: keeps(Rule::UploadedIsDone),
            winner_starts: keeps(Rule::WinnerStarts),
            keep_from_record: keeps(Rule::KeepFromRecord),
            committing: if keeps(Rule::ResumeCommit) {
                Committing::Resume
            } else {
                Committing::Hold
            },
            winner_asks_again: keeps(Rule::WinnerAsksAgain),
        }
    }
}
