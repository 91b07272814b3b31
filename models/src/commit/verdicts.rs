//! The documented verdicts: what a plain check runs, and what must come out.

use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::commit::upstream::Release;

use super::runs::{Commit, Expected, Run, Variant};
use super::scope::{Scope, Tier};
use super::scopes;
use crate::runs;

/// A hole, the guards that close it, and the run that shows what happens without them.
pub type Mutant = runs::Mutant<Commit>;

/// The scope of this name.
pub fn scope(name: &str) -> Option<Scope> {
    scopes::all().into_iter().find(|scope| scope.name == name)
}

/// The verified protocol in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == tier);
    scopes.map(Run::verified).collect()
}

/// Upstream's variants: what breaks where, and what #14920 mends.
pub fn upstream() -> Vec<Run> {
    use Property::{
        Chain, CopyKept, EndBeforeOnline, FilledInOrder, ListedHasRecord, NoLostUpdate, OneHead,
        OwnFailure, PermitsOfBuilds, Recoverable, RightObject, Served, WholeRows,
    };
    use Release::{Aug2026, Pr14741, Pr14920};
    type Row = (Release, &'static str, Property);
    let broken: [Row; 47] = [
        (Pr14741, "sane-server-crash", Served),
        (Pr14741, "sane-failed-upload", Served),
        (Pr14741, "sane-slow", Recoverable),
        (Pr14741, "sane-controller-crash", Recoverable),
        (Pr14741, "sane-leader-change", Recoverable),
        (Pr14741, "sane-reply-lost", Recoverable),
        // C3: all rows in memory, and no way from COMMITTING to ONLINE but a download.
        (Pr14741, "sane-reply-lost", Served),
        // C13: no repair looks at what is still to be consumed (#16904).
        (Pr14741, "sane-opening-fails", Recoverable),
        (Pr14920, "sane-opening-fails", Recoverable),
        (Pr14741, "sane-blocking-rewrite", RightObject),
        (Pr14741, "sane-blocking-rewrite", Recoverable),
        (Pr14920, "sane-failed-upload", CopyKept),
        (Pr14920, "sane-failed-upload", RightObject),
        (Pr14920, "sane-failed-upload", Recoverable),
        (Pr14920, "sane-blocking-rewrite", Recoverable),
        (Pr14920, "sane-ordered", FilledInOrder),
        (Pr14920, "sane-one-permit", PermitsOfBuilds),
        (Pr14920, "sane-one-permit", Recoverable),
        (Aug2026, "sane-batch", OwnFailure),
        (Aug2026, "sane-slow", ListedHasRecord),
        (Aug2026, "sane-slow", RightObject),
        (Aug2026, "sane-slow", Recoverable),
        (Aug2026, "sane-reply-lost", ListedHasRecord),
        (Aug2026, "sane-failed-upload", CopyKept),
        (Aug2026, "crash-early", CopyKept),
        (Aug2026, "sane-crash-expiry", WholeRows),
        (Aug2026, "sane-slow-lost", WholeRows),
        (Aug2026, "sane-slow-lost", Property::OneEnd),
        // R10: reset with another that is in error, without having failed itself.
        (Aug2026, "sane-slow-lost", CopyKept),
        (Aug2026, "sane-crash-slow", WholeRows),
        (Aug2026, "sane-crash-slow", Property::OneEnd),
        (Aug2026, "sane-server-crash", RightObject),
        (Aug2026, "sane-server-crash", NoLostUpdate),
        (Aug2026, "three", NoLostUpdate),
        (Aug2026, "three", EndBeforeOnline),
        (Aug2026, "sane-toggle", Recoverable),
        (Aug2026, "sane-blocking-leader", RightObject),
        (Aug2026, "sane-blocking-dead", Served),
        // R9, told to KEEP what they have: checksums are compared on the way to ONLINE alone (#18895).
        (Aug2026, "sane-blocking-expiry", Served),
        (Aug2026, "sane-retention", Chain),
        (Aug2026, "sane-never-builds", Served),
        (Aug2026, "sane-failed-prompt", CopyKept),
        (Aug2026, "sane-broken-reset", Chain),
        (Aug2026, "sane-rewrite-interrupted", RightObject),
        (Aug2026, "sane-write-late", ListedHasRecord),
        (Aug2026, "sane-blocking-read-fails", Recoverable),
        (Release::Blocking, "sane-turns-broken", Recoverable),
    ];
    let whole: [Row; 14] = [
        (Pr14920, "sane-server-crash", Served),
        (Pr14920, "sane-failed-upload", Served),
        (Pr14920, "sane-reply-lost", Served),
        // C12: minions spare what is still consumed (#15173).
        (Aug2026, "sane-blocking-rewrite", Recoverable),
        (Aug2026, "sane-blocking-rewrite", RightObject),
        (Aug2026, "sane-failed-upload", Served),
        (Aug2026, "sane-leader-change", Recoverable),
        (Aug2026, "sane-opening-fails", Recoverable),
        (Aug2026, "sane-ordered", FilledInOrder),
        (Aug2026, "sane-server-controller-crash", CopyKept),
        (Aug2026, "sane-one-permit", PermitsOfBuilds),
        (Aug2026, "sane-one-permit", Recoverable),
        (Aug2026, "two-names", OneHead),
        (Aug2026, "two-names", Recoverable),
    ];
    let run = |(release, name, property): Row, expected| {
        Run::asked(Variant::Upstream(release), known(name), property, expected).alike()
    };
    let broken = broken.into_iter().map(|row| run(row, Expected::Violated(row.2)));
    let rows = broken.chain(whole.into_iter().map(|row| run(row, Expected::Verified)));
    rows.chain(super::blocking::upstream(known)).collect()
}

/// The verified protocol without some guards.
pub fn mutants() -> Vec<Mutant> {
    use Guard::{
        AnyStatus, AskAgain, BatchApart, BuildUnheard, ConsumerPermitBack, CreateIfAbsent,
        CutAtEnd, DoneAgain, EndFromMetadata, EndGivenUp, GapByAll, InOrder, KeepEnd, KeepMemory,
        ListedOnly, LocalFirst, MatchRange, NoAgeRefusal, NoCleanUp, ObjectBeforeDone, OneHead,
        OwnChecksum, OwnObject, OwnRows, PermitBack, ReadAgain, Rebuild, Reingest,
        ResetBesideOnline, ResetConsuming, ResetErrorOnly, ResetErrors, RetainCompleted,
        RetryCommitting, RetryCompares, UploadedIsDone, WholeRange, WinnerOnly,
    };
    use Property::{
        Chain, CopyKept, EndBeforeOnline, FilledInOrder, ListedHasRecord, NoEndlessRound,
        NoLostUpdate, OneEnd, OneHead as OneHeadKept, OwnFailure, PermitsOfBuilds, Recoverable,
        RightObject, Served, TrueLoss, WholeRows,
    };
    type Row = (&'static [&'static str], &'static [Guard], &'static str, Property);
    let noticed: [Row; 48] = [
        (&["#14920"], &[Reingest], "server-crash", Recoverable),
        (&["R6"], &[OwnObject], "slow", RightObject),
        (&["R6"], &[OwnObject], "blocking-leader", RightObject),
        (&["N7"], &[OwnObject], "rewrite-interrupted", RightObject),
        (&["R7"], &[RetryCompares], "slow", NoLostUpdate),
        (&["#17241"], &[RetryCommitting], "failed-upload", Recoverable),
        (&["C5", "#14920"], &[ResetErrors], "failed-twice", Recoverable),
        (&["C13"], &[ResetConsuming], "opening-fails", Recoverable),
        (&["C9"], &[RetainCompleted], "retention-interrupted", ListedHasRecord),
        (&["R8"], &[AnyStatus], "toggle", Recoverable),
        (&["C12"], &[AnyStatus], "blocking-rewrite", Recoverable),
        (&["C5"], &[AskAgain], "blocking-failed-build", Recoverable),
        (&["C5"], &[AskAgain], "back-elsewhere", Recoverable),
        (&["R9"], &[WholeRange], "expiry", OneEnd),
        (&["R9"], &[WholeRange], "expiry", WholeRows),
        (&["R9"], &[GapByAll], "expiry", TrueLoss),
        (&["R9"], &[GapByAll], "part-kept", TrueLoss),
        (&["R9"], &[OwnRows], "part-kept", Recoverable),
        (&["N9"], &[ResetBesideOnline], "part-kept", NoEndlessRound),
        (&["R10"], &[KeepMemory, ResetBesideOnline], "failed-early", CopyKept),
        (&["N3"], &[CreateIfAbsent], "three", NoLostUpdate),
        (&["N3"], &[CreateIfAbsent], "three", EndBeforeOnline),
        (&["N1", "C5"], &[ObjectBeforeDone], "blocking-dead", Served),
        (&["N4"], &[LocalFirst], "server-controller-crash", CopyKept),
        (&["C15"], &[InOrder], "ordered", FilledInOrder),
        (&["R12"], &[KeepEnd], "retention", Chain),
        (&["C6"], &[PermitBack], "one-permit-crash", PermitsOfBuilds),
        (&["C6"], &[PermitBack], "one-permit-crash", Recoverable),
        (&["#14974"], &[ConsumerPermitBack], "turns-broken", Recoverable),
        (&["N8"], &[ReadAgain], "blocking-read-fails", Recoverable),
        (&["N6"], &[EndGivenUp], "broken-reset", Chain),
        (&["N6"], &[EndGivenUp], "broken-leader", Chain),
        (&["R1", "C9"], &[NoCleanUp], "write-fails", ListedHasRecord),
        (&["R4"], &[MatchRange], "failed-expiry", OneEnd),
        (&["R2"], &[NoCleanUp, DoneAgain], "reply-lost", ListedHasRecord),
        (&["R1"], &[NoCleanUp, NoAgeRefusal], "sane-slow", ListedHasRecord),
        (&["C4"], &[NoAgeRefusal, RetryCommitting], "sane-slow", Recoverable),
        (&["C3"], &[BuildUnheard, KeepMemory, ResetBesideOnline], "reply-lost", CopyKept),
        (&["C18"], &[ObjectBeforeDone, OwnChecksum], "failed-upload", RightObject),
        (&["R3"], &[BatchApart, NoAgeRefusal], "sane-batch", OwnFailure),
        (&["R3"], &[BatchApart, DoneAgain], "batch", OwnFailure),
        (&["N5"], &[ListedOnly, OneHead], "two-names", OneHeadKept),
        (&["C8"], &[ListedOnly, OneHead], "two-names-leader", OneHeadKept),
        (&["R4", "N2"], &[WinnerOnly, EndFromMetadata, MatchRange], "slow-lost", OneEnd),
        (&["R10"], &[ResetErrorOnly, KeepMemory, ResetBesideOnline], "slow-lost", CopyKept),
        (&["R11", "C20"], &[CutAtEnd, KeepMemory, ResetBesideOnline], "crash-early", CopyKept),
        (&["C1"], &[UploadedIsDone, OwnObject], "late-rewrite", RightObject),
        (&["R5"], &[Rebuild, RetryCommitting], "leader-change", Recoverable),
    ];
    let unnoticed: [Row; 17] = [
        (&["R1", "R2"], &[NoCleanUp], "reply-lost", ListedHasRecord),
        (&["R2"], &[DoneAgain], "reply-lost", Recoverable),
        (&["C3"], &[BuildUnheard], "reply-lost", Recoverable),
        (&["C18"], &[OwnChecksum], "failed-upload", RightObject),
        (&["R1"], &[NoAgeRefusal], "sane-slow", ListedHasRecord),
        (&["C8"], &[ListedOnly], "two-names", OneHeadKept),
        (&["N5"], &[OneHead], "two-names", OneHeadKept),
        (&["R4"], &[WinnerOnly], "slow-lost", OneEnd),
        (&["N2"], &[EndFromMetadata], "slow-lost", OneEnd),
        (&["R4"], &[MatchRange], "slow-lost", OneEnd),
        (&["R10"], &[ResetErrorOnly], "slow-lost", CopyKept),
        (&["R10"], &[ResetErrorOnly, KeepMemory, ResetBesideOnline], "slow-lost-prompt", CopyKept),
        (&["R10"], &[KeepMemory], "failed-early", CopyKept),
        (&["R11"], &[CutAtEnd], "crash-early", CopyKept),
        (&["R5"], &[Rebuild], "leader-change", Recoverable),
        (&["R3"], &[BatchApart], "batch", OwnFailure),
        (&["C1"], &[UploadedIsDone], "late-rewrite", RightObject),
    ];
    let mutant = |(holes, guards, name, property): Row, expected| {
        let variant = Variant::Without(guards.to_vec());
        let run = Run::asked(variant, known(name), property, expected).alike();
        Mutant { holes, guards, run }
    };
    let noticed = noticed.into_iter().map(|row| mutant(row, Expected::Violated(row.3)));
    noticed.chain(unnoticed.into_iter().map(|row| mutant(row, Expected::Verified))).collect()
}

/// A scope that this file names.
fn known(name: &str) -> Scope {
    scope(name).unwrap_or_else(|| panic!("the table of verdicts names no scope `{name}`"))
}
