//! The documented verdicts: what a plain check runs, and what must come out.

use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;

use super::runs::{Expected, Run, Variant};
use super::scope::{Scope, Tier};
use super::scopes;

/// A hole, the guards that close it, and the run that shows what happens without them.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The holes and upstream issues, as the dossier and the cases name them.
    pub holes: &'static [&'static str],
    /// The guards removed together: more than one where they cover each other.
    pub guards: &'static [Guard],
    /// The run.
    pub run: Run,
}

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
        (V1_19, "cortex-no-compact-set", NoCompactRespected, violated(NoCompactRespected)),
        (V1_20, "cortex-superseded-paused", NoSampleLost, violated(NoSampleLost)),
        (V1_20, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_20, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (V1_20, "cortex-no-compact-set", NoCompactRespected, Expected::Verified),
        (Pr7130, "cortex-old-listing", Recoverable, violated(Recoverable)),
        (Pr7130, "cortex-cleaner-crash", Recoverable, violated(Recoverable)),
        (Pr7130, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (Pr7209, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (Pr7209, "cortex-superseded", NoSampleLost, violated(NoSampleLost)),
        (Pr7209, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-old-listing", Recoverable, Expected::Verified),
        (V1_21, "cortex-cleaned-up", NoDoubleWork, violated(NoDoubleWork)),
        (V1_21, "cortex-empty-partition", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-same-second", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-clock-behind", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-two-cleaners", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (V1_21, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (V1_21, "cortex-no-compact-set-removed", NoSampleLost, Expected::Verified),
        (Main, "cortex-cleaned-up", NoDoubleWork, Expected::Verified),
        (Main, "cortex-empty-partition", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-same-second", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-clock-behind", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-two-cleaners", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-stamped-early", NoSampleLost, violated(NoSampleLost)),
        (Main, "cortex-no-compact-set-removed", NoSampleLost, Expected::Verified),
        (V1_21, "cortex-cleaner-marker", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-cleaner-marker", OnlyDeadPlansDeleted, violated(OnlyDeadPlansDeleted)),
        (Main, "cortex-deletion-crash", Recoverable, violated(Recoverable)),
        (Main, "cortex-partial-block", MetaLast, Expected::Verified),
        (Main, "cortex-deleted", NoDoubleWork, violated(NoDoubleWork)),
    ];
    let run = |(release, name, property, expected): (Release, &str, Property, Expected)| {
        Run::asked(Variant::Upstream(release), known(name), property, expected)
    };
    table.into_iter().map(run).collect()
}

/// The verified protocol without some guards: each removal must be noticed.
///
/// Where guards cover each other, they are removed together; a removal of one of them alone that goes
/// unnoticed by a property is then defence in depth for that property.
pub fn mutants() -> Vec<Mutant> {
    use Guard::{
        AllPartitions, CompletedFinal, DeadPlansGo, EmptyDerived, GoneIsMarked, IdEquality,
        LeastSurvives, LookBeforeClaim, MarkAllBeforeDelete, MarkerPathId, MarksBeforeBlocks,
        MarksBeforeResults, MarksGoLast, MembersFresh, MetaGoesFirst, NoCompactRefused,
        NoCompactUnmarked, OnePlan, OwnClaim, PartialsStay, PlanPathId, ResultProof, RipeMarksOnly,
        SweepOrphans, TwinsMerge,
    };
    use Property::{
        DeletedAfterDelay, MetaLast, NoCompactRespected, NoDoubleWork, NoSampleLost,
        OnlyDeadPlansDeleted, Recoverable, ReplacedBeforeMarking,
    };
    type Row = (&'static [&'static str], &'static [Guard], &'static str, Property);
    let table: [Row; 32] = [
        (&["M5"], &[AllPartitions], "early", NoSampleLost),
        (&["M5", "I2"], &[AllPartitions], "early", ReplacedBeforeMarking),
        (&["C1"], &[ResultProof, IdEquality, MarkerPathId], "two-then-one", NoSampleLost),
        (
            &["C7", "D3"],
            &[ResultProof, IdEquality, MarkerPathId],
            "superseded-paused",
            NoSampleLost,
        ),
        (&["C7", "D12"], &[MarkerPathId], "superseded", NoDoubleWork),
        (&["D4"], &[MarkerPathId], "superseded", OnlyDeadPlansDeleted),
        (&["D1"], &[EmptyDerived, IdEquality, MarkerPathId], "empty-partition", NoSampleLost),
        (&["D2", "D11", "D13"], &[PlanPathId], "early", OnlyDeadPlansDeleted),
        (&["D12"], &[PlanPathId], "late-write", OnlyDeadPlansDeleted),
        (&["D4"], &[PlanPathId], "stale-cleaner", OnlyDeadPlansDeleted),
        (
            &["D13"],
            &[PlanPathId, ResultProof, IdEquality, MarkerPathId],
            "stamped-early",
            NoSampleLost,
        ),
        (&["two cleaners on one plan"], &[LeastSurvives], "twins", NoSampleLost),
        (&["two cleaners on one plan"], &[MarksBeforeResults], "two-cleaners", NoDoubleWork),
        (&["C2", "C20"], &[MarkAllBeforeDelete], "early", OnlyDeadPlansDeleted),
        (&["C2"], &[MarkAllBeforeDelete], "early", NoDoubleWork),
        (&["D13"], &[OnePlan], "early", NoDoubleWork),
        (&["M4"], &[LookBeforeClaim], "one-partition", NoDoubleWork),
        (&["D5"], &[OwnClaim], "one-partition", NoDoubleWork),
        (&["C6", "M8"], &[CompletedFinal], "one-partition", NoDoubleWork),
        (&["C6", "C8"], &[MembersFresh], "early", NoDoubleWork),
        (
            &["no-compact set and removed"],
            &[NoCompactRefused],
            "no-compact-set-removed",
            NoSampleLost,
        ),
        (&["C9"], &[NoCompactUnmarked], "no-compact-set", NoCompactRespected),
        (&["C4"], &[DeadPlansGo], "early", Recoverable),
        (&["C5"], &[SweepOrphans], "one-partition", Recoverable),
        (&["D10"], &[TwinsMerge], "pause", Recoverable),
        (&["D10"], &[TwinsMerge], "lost-reply", Recoverable),
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
    ];
    let mutant = |(holes, guards, name, property): Row| {
        let variant = Variant::Without(guards.to_vec());
        let run = Run::asked(variant, known(name), property, Expected::Violated(property));
        Mutant { holes, guards, run }
    };
    table.into_iter().map(mutant).collect()
}

/// A scope that this file names.
fn known(name: &str) -> Scope {
    scope(name).unwrap_or_else(|| panic!("the table of verdicts names no scope `{name}`"))
}
