//! The conditions that the verified protocol adds, each with what it is for.

/// A guard of the commit protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Guard {
    /// `no-clean-up`
    NoCleanUp,
    /// `create-if-absent`
    CreateIfAbsent,
    /// `listed-only`
    ListedOnly,
    /// `one-head`
    OneHead,
    /// `winner-only`
    WinnerOnly,
    /// `own-object`
    OwnObject,
    /// `object-before-done`
    ObjectBeforeDone,
    /// `match-range`
    MatchRange,
    /// `rebuild`
    Rebuild,
    /// `end-from-metadata`
    EndFromMetadata,
    /// `done-again`
    DoneAgain,
    /// `no-age-refusal`
    NoAgeRefusal,
    /// `retry-compares`
    RetryCompares,
    /// `retry-committing`
    RetryCommitting,
    /// `reingest`
    Reingest,
    /// `reset-errors`
    ResetErrors,
    /// `reset-error-only`
    ResetErrorOnly,
    /// `any-status`
    AnyStatus,
    /// `uploaded-is-done`
    UploadedIsDone,
    /// `in-order`
    InOrder,
    /// `whole-range`
    WholeRange,
    /// `gap-by-all`
    GapByAll,
    /// `own-rows`
    OwnRows,
    /// `cut-at-end`
    CutAtEnd,
    /// `keep-memory`
    KeepMemory,
    /// `local-first`
    LocalFirst,
    /// `keep-end`
    KeepEnd,
    /// `ask-again`
    AskAgain,
    /// `batch-apart`
    BatchApart,
    /// `permit-back`
    PermitBack,
    /// `consumer-permit-back`
    ConsumerPermitBack,
    /// `read-again`
    ReadAgain,
    /// `end-given-up`
    EndGivenUp,
    /// `build-unheard`
    BuildUnheard,
    /// `retain-completed`
    RetainCompleted,
    /// `reset-consuming`
    ResetConsuming,
    /// `reset-beside-online`
    ResetBesideOnline,
    /// `own-checksum`
    OwnChecksum,
}

impl Guard {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 38] = [
        Self::NoCleanUp,
        Self::CreateIfAbsent,
        Self::ListedOnly,
        Self::OneHead,
        Self::WinnerOnly,
        Self::OwnObject,
        Self::ObjectBeforeDone,
        Self::MatchRange,
        Self::Rebuild,
        Self::EndFromMetadata,
        Self::DoneAgain,
        Self::NoAgeRefusal,
        Self::RetryCompares,
        Self::RetryCommitting,
        Self::Reingest,
        Self::ResetErrors,
        Self::ResetErrorOnly,
        Self::AnyStatus,
        Self::UploadedIsDone,
        Self::InOrder,
        Self::WholeRange,
        Self::GapByAll,
        Self::OwnRows,
        Self::CutAtEnd,
        Self::KeepMemory,
        Self::LocalFirst,
        Self::KeepEnd,
        Self::AskAgain,
        Self::BatchApart,
        Self::PermitBack,
        Self::ConsumerPermitBack,
        Self::ReadAgain,
        Self::EndGivenUp,
        Self::BuildUnheard,
        Self::RetainCompleted,
        Self::ResetConsuming,
        Self::ResetBesideOnline,
        Self::OwnChecksum,
    ];

    /// Kebab-case name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoCleanUp => "no-clean-up",
            Self::CreateIfAbsent => "create-if-absent",
            Self::ListedOnly => "listed-only",
            Self::OneHead => "one-head",
            Self::WinnerOnly => "winner-only",
            Self::OwnObject => "own-object",
            Self::ObjectBeforeDone => "object-before-done",
            Self::MatchRange => "match-range",
            Self::Rebuild => "rebuild",
            Self::EndFromMetadata => "end-from-metadata",
            Self::DoneAgain => "done-again",
            Self::NoAgeRefusal => "no-age-refusal",
            Self::RetryCompares => "retry-compares",
            Self::RetryCommitting => "retry-committing",
            Self::Reingest => "reingest",
            Self::ResetErrors => "reset-errors",
            Self::ResetErrorOnly => "reset-error-only",
            Self::AnyStatus => "any-status",
            Self::UploadedIsDone => "uploaded-is-done",
            Self::InOrder => "in-order",
            Self::WholeRange => "whole-range",
            Self::GapByAll => "gap-by-all",
            Self::OwnRows => "own-rows",
            Self::CutAtEnd => "cut-at-end",
            Self::KeepMemory => "keep-memory",
            Self::LocalFirst => "local-first",
            Self::KeepEnd => "keep-end",
            Self::AskAgain => "ask-again",
            Self::BatchApart => "batch-apart",
            Self::PermitBack => "permit-back",
            Self::ConsumerPermitBack => "consumer-permit-back",
            Self::ReadAgain => "read-again",
            Self::EndGivenUp => "end-given-up",
            Self::BuildUnheard => "build-unheard",
            Self::RetainCompleted => "retain-completed",
            Self::ResetConsuming => "reset-consuming",
            Self::ResetBesideOnline => "reset-beside-online",
            Self::OwnChecksum => "own-checksum",
        }
    }

    /// The guard of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guard| guard.name() == name)
    }

    /// What it says, in one sentence.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::NoCleanUp => {
                "A failed commit deletes nothing: the next segment's record may be listed by now, and if it is not, whoever repairs uses it again."
            }
            Self::CreateIfAbsent => {
                "A record is created where there is none, never written over another."
            }
            Self::ListedOnly => {
                "Repair starts from the segments that the ideal state lists; a record beside it is only ever used again as the next one."
            }
            Self::OneHead => {
                "Whoever writes the ideal state lists no second segment of a partition and sequence."
            }
            Self::WinnerOnly => {
                "Only the winner, at the offset that it won with, may start a commit, and nobody else may end it."
            }
            Self::OwnObject => {
                "Each attempt writes an object of its own, and the compare-and-set of the record alone makes it the segment's."
            }
            Self::ObjectBeforeDone => {
                "A segment is done when an object is stored, not while only a server has it."
            }
            Self::MatchRange => {
                "A copy counts only if it is of exactly the range that metadata says."
            }
            Self::Rebuild => {
                "Metadata alone tells that a commit is under way: whoever leads takes its end from any replica."
            }
            Self::EndFromMetadata => {
                "What a replica is told of the end once it is fixed comes from metadata, not from a machine's memory."
            }
            Self::DoneAgain => {
                "A step that turns out to be done counts as done: what looked like a failure is resolved by reading."
            }
            Self::NoAgeRefusal => {
                "A commit is not refused for its age: the lease is the only limit."
            }
            Self::RetryCompares => {
                "The upload retry writes by compare-and-set on the record that it read."
            }
            Self::RetryCommitting => {
                "The upload retry takes segments that are still committing, not only completed ones without an object."
            }
            Self::Reingest => {
                "A committing segment that is in error everywhere is read from the stream again."
            }
            Self::ResetErrors => "A replica in error is reset.",
            Self::ResetErrorOnly => "A reset touches replicas in error only.",
            Self::AnyStatus => {
                "A segment past consumption whose ideal state still says consuming is repaired whatever its status and the table's mode."
            }
            Self::UploadedIsDone => "A segment that was replaced by an upload counts as committed.",
            Self::InOrder => {
                "A segment of an ordered table is not read again after later ones, unless the operator says so."
            }
            Self::WholeRange => {
                "A copy is built only from all rows of its range; rows that the stream has no more are recorded as lost."
            }
            Self::GapByAll => {
                "Rows are recorded as lost only after every listed replica has said that it cannot put together more."
            }
            Self::OwnRows => {
                "A reingestion begins with the rows that its server has in memory: the stream may have forgotten them since."
            }
            Self::CutAtEnd => "A replica past the end can still cut there and build.",
            Self::KeepMemory => {
                "Rows in memory are kept while the segment is not stored, through a reset or a failed build, and the replica goes on from them."
            }
            Self::LocalFirst => {
                "A replica that starts again uses its own whole copy, and deletes none while the segment is not stored."
            }
            Self::KeepEnd => {
                "Retention spares the last segment whose end is fixed, whatever its status: the next one starts there."
            }
            Self::AskAgain => {
                "A winner that does not commit asks again, be it that its build failed or that it came back at another offset: while no end is fixed, nobody else might ever commit."
            }
            Self::BatchApart => {
                "Of the commits that are written to the ideal state at once, one that cannot be is left out by itself."
            }
            Self::PermitBack => {
                "A reingestion gives its permit to build back, however the build ends."
            }
            Self::ConsumerPermitBack => {
                "A consumer that cannot be opened gives its permit to consume back, as no transition will ever offload it."
            }
            Self::ReadAgain => {
                "A transition that cannot read the record reads it again: what was not read says nothing of the segment, and nobody resets a replica in error beside one that is not."
            }
            Self::EndGivenUp => {
                "A segment that all replicas gave up is ended where it begins, by compare-and-set, before another begins there; one that was committed first is served, and the next begins at its end."
            }
            Self::BuildUnheard => {
                "A replica that has not heard what became of its commit start builds from its memory when it is told to go ONLINE, rather than wait for a copy that nobody has built."
            }
            Self::RetainCompleted => {
                "Retention deletes completed segments only: a record that is not listed yet may be listed the next moment."
            }
            Self::ResetConsuming => {
                "A segment that is to be consumed and in error on all its replicas is reset: nobody else knows that they stopped."
            }
            Self::ResetBesideOnline => {
                "A replica of a committing segment is reset only beside one that is online: while the others still wait, one after the other would be reset for ever, as no repair finds all of them in error."
            }
            Self::OwnChecksum => {
                "The upload retry sets an object together with its checksum, whoever built the copy that the record knew before."
            }
        }
    }

    /// Whether it gives every operation of some kind its form, or refuses only where another one fails to, so that it
    /// does not show as deciding any one step.
    #[must_use]
    pub fn is_form(self) -> bool {
        matches!(
            self,
            Self::NoCleanUp
                | Self::CreateIfAbsent
                | Self::OneHead
                | Self::OwnObject
                | Self::NoAgeRefusal
                | Self::RetryCompares
                | Self::BatchApart
                | Self::OwnChecksum
        )
    }

    /// Whether it is a second line of defence: while the others are kept, no scope here shows that it is needed, alone
    /// or together with others. None is.
    #[must_use]
    pub fn is_second_line(self) -> bool {
        false
    }

    /// The cases, holes and dossier sections that it answers.
    #[must_use]
    pub fn answers(self) -> &'static [&'static str] {
        match self {
            Self::NoCleanUp => &["R1", "R2", "C9"],
            Self::CreateIfAbsent => &["N3", "C8"],
            Self::ListedOnly => &["R1", "C8"],
            Self::OneHead => &["N5", "C8"],
            Self::WinnerOnly => &["R4"],
            Self::OwnObject => &["R6", "C1", "N7"],
            Self::ObjectBeforeDone => &["N1", "C5"],
            Self::MatchRange => &["R4", "C18"],
            Self::Rebuild => &["R5", "C3"],
            Self::EndFromMetadata => &["N2", "R4", "C1"],
            Self::DoneAgain => &["R2", "C3"],
            Self::NoAgeRefusal => &["C4", "R1"],
            Self::RetryCompares => &["R7", "C18"],
            Self::RetryCommitting => &["R5", "C4"],
            Self::Reingest => &["#14920"],
            Self::ResetErrors => &["C13"],
            Self::ResetErrorOnly => &["R10", "R14", "#19909"],
            Self::AnyStatus => &["R8", "C12"],
            Self::UploadedIsDone => &["C1"],
            Self::InOrder => &["C15"],
            Self::WholeRange => &["R9"],
            Self::GapByAll => &["R9"],
            Self::OwnRows => &["R9"],
            Self::CutAtEnd => &["R11", "C20"],
            Self::KeepMemory => &["R10", "R11"],
            Self::LocalFirst => &["N4", "C3"],
            Self::KeepEnd => &["R12", "#10754"],
            Self::AskAgain => &["C5"],
            Self::BatchApart => &["R3"],
            Self::PermitBack => &["C6"],
            Self::ConsumerPermitBack => &["#14974"],
            Self::ReadAgain => &["N8", "#16904"],
            Self::EndGivenUp => &["N6", "C13"],
            Self::BuildUnheard => &["C3", "#17885"],
            Self::RetainCompleted => &["C9", "#2891"],
            Self::ResetConsuming => &["C13", "#16904"],
            Self::ResetBesideOnline => &["N9"],
            Self::OwnChecksum => &["C18", "#14506"],
        }
    }
}
