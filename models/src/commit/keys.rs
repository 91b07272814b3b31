//! The cases and holes that a guard has to answer, each with the removal that shows it.
//!
//! Which removal shows the failure that a case tells, and not some other one that the same guard prevents, is named by
//! hand: it is a row of [`verdicts::mutants`]. Where the shortest path there is not the case's own, or begins before what
//! the case tells, the key says so.

use surehold::commit::Guard;
use surehold::commit::invariant::Property;

use super::verdicts;

/// A case of the public reports, a hole that reading found (dossier 13), or one that models found.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What went wrong, or would.
    pub says: &'static str,
    /// The guards whose removal shows it.
    pub removed: &'static [Guard],
    /// The scope where.
    pub scope: &'static str,
    /// The property that breaks.
    pub breaks: Property,
}

const fn key(
    name: &'static str,
    removed: &'static [Guard],
    scope: &'static str,
    breaks: Property,
    says: &'static str,
) -> Key {
    Key { name, says, removed, scope, breaks }
}

use Guard::{
    AnyStatus, BuildUnheard, CreateIfAbsent, CutAtEnd, DoneAgain, EndFromMetadata, EndGivenUp,
    InOrder, KeepEnd, KeepMemory, ListedOnly, LocalFirst, MatchRange, NoAgeRefusal, NoCleanUp,
    ObjectBeforeDone, OneHead, OwnChecksum, OwnObject, PermitBack, ReadAgain, Rebuild,
    ResetBesideOnline, ResetConsuming, ResetErrorOnly, RetainCompleted, RetryCommitting,
    RetryCompares, UploadedIsDone, WholeRange, WinnerOnly,
};
use Property::{
    Chain, CopyKept, FilledInOrder, ListedHasRecord, NoEndlessRound, NoLostUpdate, OneEnd,
    OneHead as OneHeadKept, PermitsOfBuilds, Recoverable, RightObject, Served, WholeRows,
};

/// All of them.
pub const KEYS: [Key; 31] = [
    key(
        "C1",
        &[UploadedIsDone, OwnObject],
        "late-rewrite",
        RightObject,
        "A late replica is made the winner of a segment that a minion has replaced, and moves its object over it.",
    ),
    key(
        "C3",
        &[BuildUnheard, KeepMemory, ResetBesideOnline],
        "reply-lost",
        CopyKept,
        "A replica whose commit start was not answered waits for a copy until it is in error, with all rows in memory.",
    ),
    key(
        "C4",
        &[NoAgeRefusal, RetryCommitting],
        "sane-slow",
        Recoverable,
        "The end of a commit is refused for the age of its record, and the segment stays committing. (The path ends where that has become inevitable: the record is old.)",
    ),
    key(
        "C5",
        &[ObjectBeforeDone],
        "blocking-dead",
        Served,
        "A segment is done and ONLINE while its only copy is on a server, and the others can bring it from nowhere. (Here that server stays away; in the case it lives, and the view is behind, which is not in this world.)",
    ),
    key(
        "C6",
        &[PermitBack],
        "one-permit-crash",
        PermitsOfBuilds,
        "A reingestion keeps its permit to build.",
    ),
    key(
        "C8",
        &[ListedOnly, OneHead],
        "two-names-leader",
        OneHeadKept,
        "A commit and a validator, of the new leader in the case and of the same one in the shortest path, create the next segment under two names, and both are listed.",
    ),
    key(
        "C9",
        &[RetainCompleted],
        "retention-interrupted",
        ListedHasRecord,
        "Retention deletes the next segment's record between its creation and its listing.",
    ),
    key(
        "C12",
        &[AnyStatus],
        "blocking-rewrite",
        Recoverable,
        "A minion replaces a segment whose commit is half done, and nobody ends it.",
    ),
    key(
        "C13",
        &[ResetConsuming],
        "opening-fails",
        Recoverable,
        "All replicas fail to open before anybody is told, and the partition is dead.",
    ),
    key(
        "C15",
        &[InOrder],
        "ordered",
        FilledInOrder,
        "A segment of an ordered table is read again after later ones.",
    ),
    key(
        "C18",
        &[ObjectBeforeDone, OwnChecksum],
        "failed-upload",
        RightObject,
        "The retry stores another replica's copy, and the record keeps the checksum of the committer's.",
    ),
    key(
        "C20",
        &[CutAtEnd, KeepMemory, ResetBesideOnline],
        "crash-early",
        CopyKept,
        "The committer crashes, and the replica past the end has all rows and may not build them.",
    ),
    key(
        "R1",
        &[NoCleanUp, NoAgeRefusal],
        "sane-slow",
        ListedHasRecord,
        "A commit stalls before step 3, the validator lists the next segment, the clean-up deletes its record.",
    ),
    key(
        "R2",
        &[NoCleanUp, DoneAgain],
        "reply-lost",
        ListedHasRecord,
        "The reply to step 3 is lost, and what is taken for a failure is cleaned up.",
    ),
    key(
        "R4",
        &[WinnerOnly, EndFromMetadata, MatchRange],
        "slow-lost",
        OneEnd,
        "Another than the winner starts a commit at its own offset.",
    ),
    key(
        "R5",
        &[Rebuild, RetryCommitting],
        "leader-change",
        Recoverable,
        "A change of leader between start and end of a commit makes its end impossible.",
    ),
    key(
        "R6",
        &[OwnObject],
        "slow",
        RightObject,
        "An object is moved over the segment's own before metadata refuses it.",
    ),
    key(
        "R7",
        &[RetryCompares],
        "slow",
        NoLostUpdate,
        "The upload retry writes what it made of an old record over a newer one.",
    ),
    key(
        "R8",
        &[AnyStatus],
        "toggle",
        Recoverable,
        "The mode is switched while a commit is half done, and no rule fits.",
    ),
    key(
        "R9",
        &[WholeRange],
        "expiry",
        WholeRows,
        "A segment is read again, rows that the stream has no more are passed over in silence, and it is done.",
    ),
    key(
        "R10",
        &[ResetErrorOnly, KeepMemory, ResetBesideOnline],
        "slow-lost",
        CopyKept,
        "A healthy replica with the only copy in memory is reset with one in error.",
    ),
    key(
        "R11",
        &[CutAtEnd, KeepMemory, ResetBesideOnline],
        "crash-early",
        CopyKept,
        "Replicas stop at different offsets, and one past the end cannot build.",
    ),
    key(
        "R12",
        &[KeepEnd],
        "retention",
        Chain,
        "Retention deletes the segment that says where the next one starts, as a minion has replaced it.",
    ),
    key(
        "N1",
        &[ObjectBeforeDone],
        "blocking-dead",
        Served,
        "A segment is done without an object, and its only copy is on a server that never returns.",
    ),
    key(
        "N2",
        &[WinnerOnly, EndFromMetadata, MatchRange],
        "slow-lost",
        OneEnd,
        "A replica is told to keep what the machine remembers, though metadata ends the segment elsewhere.",
    ),
    key(
        "N3",
        &[CreateIfAbsent],
        "three",
        NoLostUpdate,
        "A slow validator creates the next segment over one that is done by now.",
    ),
    key(
        "N4",
        &[LocalFirst],
        "server-controller-crash",
        CopyKept,
        "A replica that starts again deletes its copy before it consumes, and the copy counted already.",
    ),
    key(
        "N6",
        &[EndGivenUp],
        "broken-reset",
        Chain,
        "A segment that all gave up is begun again, and the old one is committed after all.",
    ),
    key(
        "N7",
        &[OwnObject],
        "rewrite-interrupted",
        RightObject,
        "An upload puts its object before it writes its record, and stops between.",
    ),
    key(
        "N8",
        &[ReadAgain],
        "blocking-read-fails",
        Recoverable,
        "A replica that cannot read its record is in error, where nobody looks for it.",
    ),
    key(
        "N9",
        &[ResetBesideOnline],
        "part-kept",
        NoEndlessRound,
        "Repairs reset two replicas of a committing segment in turn, for ever, and none finds both in error.",
    ),
];

/// The run that shows what a key is for.
#[must_use]
pub fn shown(key: &Key) -> Option<verdicts::Mutant> {
    let is_it = |mutant: &verdicts::Mutant| {
        mutant.guards == key.removed
            && mutant.run.scope.name == key.scope
            && mutant.run.judged == [key.breaks]
    };
    verdicts::mutants().into_iter().find(is_it)
}

/// The guards that say of themselves that they answer it.
pub fn answering(key: &Key) -> impl Iterator<Item = Guard> {
    let name = key.name;
    Guard::ALL.into_iter().filter(move |guard| guard.answers().contains(&name))
}
