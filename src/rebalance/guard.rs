//! The conditions that the verified protocol adds, each with what it is for.

/// A guard of the rebalance protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Guard {
    /// `reply-teaches`
    ReplyTeaches,
    /// `newer-wins`
    NewerWins,
    /// `life-orders`. Its removal shows as churn only. What an earlier life said makes the coordinator distrust
    /// the server until a view has carried a fence again (`fenced-again`), so no drop rests on it; `crash-twice`
    /// and `crash-lag` are exhausted without it and nothing is lost.
    LifeOrders,
    /// `enough-others`
    EnoughOthers,
    /// `managed-only`
    ManagedOnly,
    /// `move-counts-once`. Its removal alone shows as moves for nothing; it covers some of what `enough-others`,
    /// `ask-before-move-drop` and `ask-now` are for, so they are shown in pairs with it too.
    MoveCountsOnce,
    /// `ask-before-move-drop`
    AskBeforeMoveDrop,
    /// `ask-now`
    AskNow,
    /// `drop-at-once`
    DropAtOnce,
    /// `one-operation`
    OneOperation,
    /// `room-first`
    RoomFirst,
    /// `late-stays`
    LateStays,
    /// `own-number`
    OwnNumber,
    /// `number-fence`
    NumberFence,
    /// `term-fence`
    TermFence,
    /// `term-survives`
    TermSurvives,
    /// `life-named`
    LifeNamed,
    /// `fenced-view`
    FencedView,
    /// `fenced-again`
    FencedAgain,
    /// `step-down`
    StepDown,
    /// `drop-ends-load`
    DropEndsLoad,
    /// `latch-per-drop`
    LatchPerDrop,
    /// `deleted-first`
    DeletedFirst,
}

impl Guard {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 23] = [
        Self::ReplyTeaches,
        Self::NewerWins,
        Self::LifeOrders,
        Self::EnoughOthers,
        Self::ManagedOnly,
        Self::MoveCountsOnce,
        Self::AskBeforeMoveDrop,
        Self::AskNow,
        Self::DropAtOnce,
        Self::OneOperation,
        Self::RoomFirst,
        Self::LateStays,
        Self::OwnNumber,
        Self::NumberFence,
        Self::TermFence,
        Self::TermSurvives,
        Self::LifeNamed,
        Self::FencedView,
        Self::FencedAgain,
        Self::StepDown,
        Self::DropEndsLoad,
        Self::LatchPerDrop,
        Self::DeletedFirst,
    ];

    /// Kebab-case name, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplyTeaches => "reply-teaches",
            Self::NewerWins => "newer-wins",
            Self::LifeOrders => "life-orders",
            Self::EnoughOthers => "enough-others",
            Self::ManagedOnly => "managed-only",
            Self::MoveCountsOnce => "move-counts-once",
            Self::AskBeforeMoveDrop => "ask-before-move-drop",
            Self::AskNow => "ask-now",
            Self::DropAtOnce => "drop-at-once",
            Self::OneOperation => "one-operation",
            Self::RoomFirst => "room-first",
            Self::LateStays => "late-stays",
            Self::OwnNumber => "own-number",
            Self::NumberFence => "number-fence",
            Self::TermFence => "term-fence",
            Self::TermSurvives => "term-survives",
            Self::LifeNamed => "life-named",
            Self::FencedView => "fenced-view",
            Self::FencedAgain => "fenced-again",
            Self::StepDown => "step-down",
            Self::DropEndsLoad => "drop-ends-load",
            Self::LatchPerDrop => "latch-per-drop",
            Self::DeletedFirst => "deleted-first",
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
            Self::ReplyTeaches => {
                "An answer says what the server holds since, and that is known in the same step that settles the operation."
            }
            Self::NewerWins => {
                "Answers and views carry the server's own count of changes; the older never overwrites the newer."
            }
            Self::LifeOrders => {
                "What a later life of a server says is newer than all that an earlier one said."
            }
            Self::EnoughOthers => {
                "A copy goes only if as many others are firm as are required: known, behind a fence, with no drop outstanding."
            }
            Self::ManagedOnly => {
                "Only copies on servers that rules and balancing use justify a drop; a clone's copy does not."
            }
            Self::MoveCountsOnce => {
                "The source of a move and the copy that replaces it count as one until the move has ended, also when a view is ahead of the answer."
            }
            Self::AskBeforeMoveDrop => {
                "The end of a move asks whether the source may go, as every other drop does."
            }
            Self::AskNow => {
                "A run decides on the state as it is at that moment, not on a picture taken before."
            }
            Self::DropAtOnce => {
                "That a copy may go, and that it is going, are one step: nobody sees it between."
            }
            Self::RoomFirst => {
                "A load goes only where there is room for it beside all that is there or asked for already."
            }
            Self::OneOperation => {
                "One operation is outstanding for a segment and a server; none is put beside it or over it."
            }
            Self::LateStays => {
                "A request that is not answered in time stays until it is: it may still be carried out."
            }
            Self::OwnNumber => "An answer settles only the request that it answers.",
            Self::NumberFence => {
                "A server carries out a request only if its number is higher than any it was shown in that term."
            }
            Self::TermFence => {
                "A server refuses requests and polls of a term older than it was shown."
            }
            Self::TermSurvives => "A server remembers the newest term through its own restart.",
            Self::LifeNamed => {
                "A request names the life of the server that it is meant for; another life refuses it."
            }
            Self::FencedView => {
                "A new leader trusts a copy only after a full view that carried its fence: nothing older can still be carried out there."
            }
            Self::FencedAgain => {
                "So does a leader when a server re-appears or starts again, since what was asked of it before is forgotten."
            }
            Self::StepDown => "A leader that is told of a newer term stops.",
            Self::DropEndsLoad => "A drop that overtakes a load of the same segment ends it.",
            Self::LatchPerDrop => {
                "Only the drop that began the delay deletes the files at its end."
            }
            Self::DeletedFirst => {
                "A segment whose files are being deleted is fetched after they are gone."
            }
        }
    }

    /// Whether it gives every step of some kind its form, so that being named as deciding says nothing of that
    /// one step.
    #[must_use]
    pub fn is_form(self) -> bool {
        matches!(
            self,
            Self::ReplyTeaches
                | Self::AskNow
                | Self::DropAtOnce
                | Self::FencedView
                | Self::FencedAgain
        )
    }

    /// Whether it is a second line of defence: while `term-fence` is kept, nothing is left for it to refuse in
    /// any scope. It stands for itself where a coordinator that is not this one gives the orders.
    #[must_use]
    pub fn is_second_line(self) -> bool {
        self == Self::DropEndsLoad
    }

    /// The windows, holes and upstream issues that it answers; window and D numbers: dossier 8 and cases,
    /// windows 6 and 7 beyond the dossier's: a flap or restart, and a late duplicate.
    #[must_use]
    pub fn answers(self) -> &'static [&'static str] {
        match self {
            Self::ReplyTeaches => &["window 2", "window 3", "D8", "#13114"],
            Self::NewerWins => &["window 3", "D1", "D2"],
            Self::LifeOrders => &["window 6", "D7"],
            Self::EnoughOthers => &["#18764", "window 0", "D2"],
            Self::ManagedOnly => &["D9"],
            Self::MoveCountsOnce => &["D2", "L3"],
            Self::AskBeforeMoveDrop => &["D2", "dossier 3.6"],
            Self::AskNow => &["window 2", "#18764"],
            Self::DropAtOnce => &["window 1a", "window 1b", "#18824"],
            Self::OneOperation => &["P4", "dossier 3.1"],
            Self::RoomFirst => &["P6", "dossier 9.1"],
            Self::LateStays => &["window 5", "D4", "#10193"],
            Self::OwnNumber => &["#14616", "#10649"],
            Self::NumberFence => &["window 6", "window 7"],
            Self::TermFence => &["window 4", "D3", "D5", "D6", "P9"],
            Self::TermSurvives => &["window 4", "D3"],
            Self::LifeNamed => &["window 6"],
            Self::FencedView => &["window 4", "D3"],
            Self::FencedAgain => &["window 6", "#5542"],
            Self::StepDown => &["D5"],
            Self::DropEndsLoad => &["D6", "P8"],
            Self::LatchPerDrop => &["#18291"],
            Self::DeletedFirst => &["#2118", "P8"],
        }
    }
}
