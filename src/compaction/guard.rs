//! The conditions that the verified protocol adds, each with what it is for.

/// A guard of the compaction protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Guard {
    /// `all-partitions`
    AllPartitions,
    /// `result-proof`
    ResultProof,
    /// `plan-path-id`
    PlanPathId,
    /// `marker-path-id`
    MarkerPathId,
    /// `empty-derived`
    EmptyDerived,
    /// `least-survives`
    LeastSurvives,
    /// `mark-all-before-delete`
    MarkAllBeforeDelete,
    /// `marks-before-results`
    MarksBeforeResults,
    /// `plan-before-markers`
    PlanBeforeMarkers,
    /// `one-plan`
    OnePlan,
    /// `look-before-claim`
    LookBeforeClaim,
    /// `own-claim`
    OwnClaim,
    /// `error-is-not-absence`
    ErrorIsNotAbsence,
    /// `completed-final`
    CompletedFinal,
    /// `members-fresh`
    MembersFresh,
    /// `no-compact-refused`
    NoCompactRefused,
    /// `no-compact-unmarked`
    NoCompactUnmarked,
    /// `dead-plans-go`
    DeadPlansGo,
    /// `sweep-orphans`
    SweepOrphans,
    /// `twins-merge`
    TwinsMerge,
    /// `ripe-marks-only`
    RipeMarksOnly,
    /// `meta-goes-first`
    MetaGoesFirst,
    /// `marks-go-last`
    MarksGoLast,
    /// `marks-before-blocks`
    MarksBeforeBlocks,
    /// `gone-is-marked`
    GoneIsMarked,
    /// `partials-stay`
    PartialsStay,
}

impl Guard {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 26] = [
        Self::AllPartitions,
        Self::ResultProof,
        Self::PlanPathId,
        Self::MarkerPathId,
        Self::EmptyDerived,
        Self::LeastSurvives,
        Self::MarkAllBeforeDelete,
        Self::MarksBeforeResults,
        Self::PlanBeforeMarkers,
        Self::OnePlan,
        Self::LookBeforeClaim,
        Self::OwnClaim,
        Self::ErrorIsNotAbsence,
        Self::CompletedFinal,
        Self::MembersFresh,
        Self::NoCompactRefused,
        Self::NoCompactUnmarked,
        Self::DeadPlansGo,
        Self::SweepOrphans,
        Self::TwinsMerge,
        Self::RipeMarksOnly,
        Self::MetaGoesFirst,
        Self::MarksGoLast,
        Self::MarksBeforeBlocks,
        Self::GoneIsMarked,
        Self::PartialsStay,
    ];

    /// Kebab-case name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AllPartitions => "all-partitions",
            Self::ResultProof => "result-proof",
            Self::PlanPathId => "plan-path-id",
            Self::MarkerPathId => "marker-path-id",
            Self::EmptyDerived => "empty-derived",
            Self::LeastSurvives => "least-survives",
            Self::MarkAllBeforeDelete => "mark-all-before-delete",
            Self::MarksBeforeResults => "marks-before-results",
            Self::PlanBeforeMarkers => "plan-before-markers",
            Self::OnePlan => "one-plan",
            Self::LookBeforeClaim => "look-before-claim",
            Self::OwnClaim => "own-claim",
            Self::ErrorIsNotAbsence => "error-is-not-absence",
            Self::CompletedFinal => "completed-final",
            Self::MembersFresh => "members-fresh",
            Self::NoCompactRefused => "no-compact-refused",
            Self::NoCompactUnmarked => "no-compact-unmarked",
            Self::DeadPlansGo => "dead-plans-go",
            Self::SweepOrphans => "sweep-orphans",
            Self::TwinsMerge => "twins-merge",
            Self::RipeMarksOnly => "ripe-marks-only",
            Self::MetaGoesFirst => "meta-goes-first",
            Self::MarksGoLast => "marks-go-last",
            Self::MarksBeforeBlocks => "marks-before-blocks",
            Self::GoneIsMarked => "gone-is-marked",
            Self::PartialsStay => "partials-stay",
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
            Self::AllPartitions => {
                "No parent is marked before every partition of its plan is proven."
            }
            Self::ResultProof => {
                "A partition is proven by a complete block that names the plan and the partition, not by a marker."
            }
            Self::PlanPathId => {
                "A plan's path carries its id: no plan is written over another, and a late write revives none."
            }
            Self::MarkerPathId => {
                "A marker's path carries the plan's id: markers of one plan are never taken for another's, nor deleted with them."
            }
            Self::EmptyDerived => {
                "That a partition lists no block is read from the plan; nobody writes it down."
            }
            Self::LeastSurvives => {
                "Of several complete results of one partition the least id is kept; no marker decides it."
            }
            Self::MarkAllBeforeDelete => "A plan goes only after each of its parents is marked.",
            Self::MarksBeforeResults => {
                "The cleaner reads the parents' marks before it looks for results, so a plan that another cleaner finishes meanwhile is not taken for dead."
            }
            Self::PlanBeforeMarkers => {
                "A plan is deleted before its markers: a plan without them would look untouched."
            }
            Self::OnePlan => {
                "Just before work, after the wait, the plan is there and is the least of all: of planners who saw no plan, one goes on."
            }
            Self::LookBeforeClaim => "No claim is written over a live one.",
            Self::OwnClaim => {
                "Work begins only after the worker has waited and read back its own claim."
            }
            Self::ErrorIsNotAbsence => {
                "A read or listing that fails says nothing: what it would have shown is not taken to be absent."
            }
            Self::CompletedFinal => {
                "A completed partition is not claimed again, however old its marker is."
            }
            Self::MembersFresh => {
                "No plan is worked on of which a block carries a deletion mark: its work is done or void."
            }
            Self::NoCompactRefused => {
                "A partition is merged whole or not at all: a no-compact block among the plan's blocks stops the work."
            }
            Self::NoCompactUnmarked => {
                "The cleaner does not mark a block that carries a no-compact mark."
            }
            Self::DeadPlansGo => {
                "A plan that cannot be finished, as a parent is marked or must not be compacted, is deleted."
            }
            Self::SweepOrphans => "Markers without a plan are removed.",
            Self::TwinsMerge => {
                "Overlapping results of one group are reason enough for a new plan: work done twice is merged again."
            }
            Self::RipeMarksOnly => {
                "A block is deleted only once its mark is older than the deletion delay."
            }
            Self::MetaGoesFirst => {
                "Of a block that is deleted the meta goes first: what has no meta is no block."
            }
            Self::MarksGoLast => {
                "Of a block that is deleted the marks go last: what is left of it is not taken for a live block, and a later pass finds it."
            }
            Self::MarksBeforeBlocks => {
                "A planner lists the marks before the blocks: a block whose mark has gone since is gone too, and is not planned."
            }
            Self::GoneIsMarked => {
                "A parent that is not there any more counts as marked: its mark went with it."
            }
            Self::PartialsStay => {
                "What has no meta and no mark is left alone: its upload may not be over."
            }
        }
    }

    /// Whether it is an order of operations, which every step of its kind follows, or the form of a path. It
    /// refuses nothing: that it is named as deciding says nothing of that one step.
    #[must_use]
    pub fn is_form(self) -> bool {
        match self {
            Self::MarkAllBeforeDelete
            | Self::MarksBeforeResults
            | Self::PlanBeforeMarkers
            | Self::MetaGoesFirst
            | Self::MarksGoLast
            | Self::MarksBeforeBlocks
            | Self::PlanPathId
            | Self::MarkerPathId => true,
            Self::AllPartitions
            | Self::ResultProof
            | Self::EmptyDerived
            | Self::LeastSurvives
            | Self::OnePlan
            | Self::LookBeforeClaim
            | Self::OwnClaim
            | Self::ErrorIsNotAbsence
            | Self::CompletedFinal
            | Self::MembersFresh
            | Self::NoCompactRefused
            | Self::NoCompactUnmarked
            | Self::DeadPlansGo
            | Self::SweepOrphans
            | Self::TwinsMerge
            | Self::RipeMarksOnly
            | Self::GoneIsMarked
            | Self::PartialsStay => false,
        }
    }

    /// The upstream issues and holes that it answers; D: dossier 14.1, C: the public cases.
    #[must_use]
    pub fn answers(self) -> &'static [&'static str] {
        match self {
            Self::AllPartitions => &["M5"],
            Self::ResultProof => &["C1", "C7", "D2", "D3", "D12", "D13", "I2"],
            Self::PlanPathId => &["D2", "D4", "D11", "D12", "D13"],
            Self::MarkerPathId => &["C1", "C7", "D1", "D2", "D3", "D4", "D12", "D13"],
            Self::EmptyDerived => &["D1"],
            Self::LeastSurvives => &["two cleaners on one plan"],
            Self::MarkAllBeforeDelete => &["C2", "C20"],
            Self::MarksBeforeResults => &["two cleaners on one plan"],
            Self::PlanBeforeMarkers => &["C6"],
            Self::OnePlan => &["D13"],
            Self::LookBeforeClaim => &["M4"],
            Self::OwnClaim => &["D5", "M4"],
            Self::ErrorIsNotAbsence => &["D11"],
            Self::CompletedFinal => &["M8"],
            Self::MembersFresh => &["C2", "C6", "C8"],
            Self::NoCompactRefused => &["no-compact set and removed"],
            Self::NoCompactUnmarked => &["C9"],
            Self::DeadPlansGo => &["C4"],
            Self::SweepOrphans => &["C5"],
            Self::TwinsMerge => &["D10"],
            Self::RipeMarksOnly => &["I6"],
            Self::MetaGoesFirst => &["M1"],
            Self::MarksGoLast => &["I6", "C20"],
            Self::MarksBeforeBlocks => &["deleted while somebody looks"],
            Self::GoneIsMarked => &["C4", "deleted while somebody looks"],
            Self::PartialsStay => &["C18"],
        }
    }
}
