//! The documented verdicts: what a plain check runs, and what must come out.

use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;

use super::runs::{Compaction, Expected, Run, Variant};
use super::scope::{Scope, Tier};
use super::scopes;
use crate::runs;

/// A hole, the guards that close it, and the run that shows what happens without them.
pub type Mutant = runs::Mutant<Compaction>;

/// The scope of this name.
pub fn scope(name: &str) -> Option<Scope> {
    scopes::all().into_iter().find(|scope| scope.name == name)
}

/// The verified protocol in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == tier);
    scopes.map(Run::verified).collect()
}

/// Upstream's releases, each asked for what its users reported and for what was found besides.
///
/// A run that is documented as verified is exhausted within its scope, swift syncs and granted atomic plan
/// creation included where the scope has them: it says that this race is closed, not that the release is safe.
pub fn upstream() -> Vec<Run> {
    use Property::{
        MetaLast, NoCompactRespected, NoDoubleWork, NoSampleLost, OnlyDeadPlansDeleted, Recoverable,
    };
    use Release::{Main, Pr7130, Pr7209, V1_19, V1_20, V1_21};
    let violated = |property| Expected::Violated(property);
    let table = [
        (V1_19, "cortex-superseded", NoSampleLost, violated(NoSampleLost)),
        (V1_19, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_19, "cortex-stamped-early-atomic", NoSampleLost, violated(NoSampleLost)),
        (V1_19, "cortex-no-compact-set", NoCompactRespected, violated(NoCompactRespected)),
        (V1_20, "cortex-superseded-paused", NoSampleLost, violated(NoSampleLost)),
        (V1_20, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_20, "cortex-stamped-early-atomic", NoSampleLost, Expected::Verified),
        (V1_20, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (V1_20, "cortex-no-compact-set", NoCompactRespected, Expected::Verified),
        (Pr7130, "cortex-old-listing", Recoverable, violated(Recoverable)),
        (Pr7130, "cortex-cleaner-crash", Recoverable, violated(Recoverable)),
        (Pr7130, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (Pr7130, "cortex-stamped-early-atomic", NoSampleLost, Expected::Verified),
        (Pr7209, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (Pr7209, "cortex-superseded", NoSampleLost, violated(NoSampleLost)),
        (Pr7209, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (Pr7209, "cortex-stamped-early-atomic", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-old-listing", Recoverable, Expected::Verified),
        (V1_21, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (V1_21, "cortex-empty-partition", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-same-second", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-clock-behind", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-two-cleaners", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (V1_21, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-stamped-early-atomic", NoSampleLost, Expected::Verified),
        (V1_21, "cortex-no-compact-set-removed", NoSampleLost, Expected::Verified),
        (Main, "cortex-cleaned-up", NoDoubleWork, Expected::Verified),
        (Main, "cortex-empty-partition", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-same-second", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-clock-behind", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-two-cleaners", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-stamped-early-atomic", NoSampleLost, Expected::Verified),
        (Main, "cortex-no-compact-set-removed", NoSampleLost, Expected::Verified),
        (V1_21, "cortex-cleaner-marker", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-cleaner-marker", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-deletion-crash", Recoverable, violated(Recoverable)),
        (Main, "cortex-partial-block", MetaLast, Expected::Verified),
        (Main, "cortex-deleted", NoDoubleWork, violated(NoDoubleWork)),
    ];
    let run = |(release, name, property, expected): (Release, &str, Property, Expected)| {
        Run::asked(Variant::Upstream(release), known(name), property, expected).alike()
    };
    table.into_iter().map(run).collect()
}

/// The verified protocol without some guards: each removal must be noticed.
///
/// Where guards cover each other, they are removed together. Of a guard whose removal alone nothing notices, a
/// row says so, and the run shows it: it is defence in depth.
pub fn mutants() -> Vec<Mutant> {
    use Guard::{
        AllPartitions, CompletedFinal, DeadPlansGo, EmptyDerived, ErrorIsNotAbsence, GoneIsMarked,
        LeastSurvives, LookBeforeClaim, MarkAllBeforeDelete, MarkerPathId, MarksBeforeBlocks,
        MarksBeforeResults, MarksGoLast, MembersFresh, MetaGoesFirst, NoCompactRefused,
        NoCompactUnmarked, OnePlan, OwnClaim, PartialsStay, PlanBeforeMarkers, PlanPathId,
        ResultProof, RipeMarksOnly, SweepOrphans, TwinsMerge,
    };
    use Property::{
        DeletedAfterDelay, MetaLast, NoCompactRespected, NoDoubleWork, NoSampleLost,
        OnlyDeadPlansDeleted, Recoverable, ReplacedBeforeMarking,
    };
    type Row = (&'static [&'static str], &'static [Guard], &'static str, Property);
    let noticed: [Row; 44] = [
        (&["M5"], &[AllPartitions], "early", NoSampleLost),
        (&["M5", "I2"], &[AllPartitions], "early", ReplacedBeforeMarking),
        (&["C1"], &[ResultProof, MarkerPathId], "superseded-picked", NoSampleLost),
        (&["C7"], &[ResultProof, MarkerPathId], "superseded-paused", NoSampleLost),
        (&["D1"], &[EmptyDerived, MarkerPathId], "empty-partition", NoSampleLost),
        (&["D2"], &[PlanPathId], "two-listings", OnlyDeadPlansDeleted),
        (&["D2"], &[ResultProof, MarkerPathId], "two-listings", NoSampleLost),
        (&["D3"], &[ResultProof, MarkerPathId], "clock-behind", NoSampleLost),
        (&["D4"], &[PlanPathId], "stale-cleaner", OnlyDeadPlansDeleted),
        (&["D4"], &[MarkerPathId], "stale-cleaner", OnlyDeadPlansDeleted),
        (&["D4"], &[MarkerPathId], "superseded", OnlyDeadPlansDeleted),
        (&["D5"], &[OwnClaim], "claim-lost", NoDoubleWork),
        (&["D11"], &[ErrorIsNotAbsence], "read-error", OnlyDeadPlansDeleted),
        (&["D11"], &[PlanPathId], "read-error", OnlyDeadPlansDeleted),
        (&["D12"], &[PlanPathId], "late-plan", OnlyDeadPlansDeleted),
        (&["D12"], &[ResultProof, MarkerPathId], "late-completion", NoSampleLost),
        (&["D13"], &[PlanPathId], "stamped-early", OnlyDeadPlansDeleted),
        (&["D13"], &[ResultProof, MarkerPathId], "stamped-early", NoSampleLost),
        (&["D13"], &[OnePlan], "early", NoDoubleWork),
        (&["two cleaners on one plan"], &[LeastSurvives], "twins", NoSampleLost),
        (&["two cleaners on one plan"], &[MarksBeforeResults], "two-cleaners", NoDoubleWork),
        (&["C2", "C20"], &[MarkAllBeforeDelete], "early", OnlyDeadPlansDeleted),
        (&["C2"], &[MarkAllBeforeDelete], "early", NoDoubleWork),
        (&["M4"], &[LookBeforeClaim], "one-partition", NoDoubleWork),
        (&["M4"], &[OwnClaim], "one-partition", NoDoubleWork),
        (&["M8"], &[CompletedFinal], "one-partition", NoDoubleWork),
        (&["C6"], &[PlanBeforeMarkers, MembersFresh], "parallel-jobs", NoDoubleWork),
        (&["C8"], &[MembersFresh], "early", NoDoubleWork),
        (
            &["no-compact set and removed"],
            &[NoCompactRefused],
            "no-compact-set-removed",
            NoSampleLost,
        ),
        (&["C9"], &[NoCompactUnmarked], "no-compact-set", NoCompactRespected),
        (&["C4"], &[DeadPlansGo], "no-compact-set", Recoverable),
        (&["C5"], &[SweepOrphans], "crash-at-the-end", Recoverable),
        (&["D10"], &[TwinsMerge], "pause", Recoverable),
        (&["I6"], &[RipeMarksOnly], "deleted", DeletedAfterDelay),
        (&["M1"], &[MetaGoesFirst], "deleted", MetaLast),
        (&["I6", "C20"], &[MarksGoLast], "deleted", DeletedAfterDelay),
        (&["deleted while somebody looks"], &[MarksBeforeBlocks], "deleted", NoDoubleWork),
        (
            &["C4", "deleted while somebody looks"],
            &[GoneIsMarked],
            "deleted-under-plan",
            Recoverable,
        ),
        (&["C18"], &[PartialsStay], "deleted", MetaLast),
        (&["C2"], &[MarkAllBeforeDelete], "endless-clean-up", OnlyDeadPlansDeleted),
        (&["C5"], &[SweepOrphans], "endless-clean-up", Recoverable),
        (&["I6"], &[RipeMarksOnly], "endless-deletion", DeletedAfterDelay),
        (&["M1"], &[MetaGoesFirst], "endless-deletion", MetaLast),
        (&["I6", "C20"], &[MarksGoLast], "endless-deletion", DeletedAfterDelay),
    ];
    let unnoticed: [Row; 4] = [
        (&["C6"], &[PlanBeforeMarkers], "parallel-jobs", NoDoubleWork),
        (&["D3"], &[ResultProof], "clock-behind", NoSampleLost),
        (&["D12"], &[ResultProof], "late-completion", NoSampleLost),
        (&["D1"], &[EmptyDerived], "empty-partition", NoSampleLost),
    ];
    let mutant = |(holes, guards, name, property): Row, expected| {
        let variant = Variant::Without(guards.to_vec());
        let run = Run::asked(variant, known(name), property, expected).alike();
        Mutant { holes, guards, run }
    };
    let noticed = noticed.into_iter().map(|row| mutant(row, Expected::Violated(row.3)));
    let unnoticed = unnoticed.into_iter().map(|row| mutant(row, Expected::Verified));
    noticed.chain(unnoticed).collect()
}

/// A scope that this file names.
fn known(name: &str) -> Scope {
    scope(name).unwrap_or_else(|| panic!("the table of verdicts names no scope `{name}`"))
}
