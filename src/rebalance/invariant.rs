//! What must hold of a cluster, over plain facts: for models, fuzzing, a running service, an audit.

/// Who served a segment when a drop took effect, on servers that rules and balancing use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many replicas the rule requires, or the fewest that it has required since the drop was decided.
    pub required: usize,
    /// How many served when the drop was decided, this one included.
    pub served_at_decision: usize,
    /// How many serve now without it. A server that is down and will announce the segment when it starts
    /// again counts.
    pub others_left: usize,
    /// How many others served when it was decided, and only a crash has taken since: it is beyond any
    /// protocol to know that in time.
    pub others_crashed: usize,
}

impl Dropped {
    fn left(&self) -> usize {
        self.others_left + self.others_crashed
    }

    /// P1: a drop took the last copy of a segment that is required.
    #[must_use]
    pub fn took_the_last(&self) -> bool {
        self.required > 0 && self.served_at_decision > 0 && self.left() == 0
    }

    /// P2: a drop left fewer than are required, or than were there if there were fewer.
    #[must_use]
    pub fn left_too_few(&self) -> bool {
        self.left() < self.required.min(self.served_at_decision)
    }
}

/// The names of the properties, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// P1.
    LastCopyKept,
    /// P2. What a tier requires counts as far as it has servers, those included that are away. A leader cannot
    /// count a server of another tier that was down when it began and that it never saw: copies which stand in
    /// for that one's may go as surplus, all but the last (P1).
    RequiredKept,
    /// P3.
    DropJustified,
    /// P4.
    OneAction,
    /// P6. Judged of what is decided; what a view reveals later may exceed the capacity.
    NoOverfill,
    /// P8.
    NoGhost,
    /// P9, of a term that the server has been told is over. Until it is told, an old leader's drop is as good as the
    /// new one's: that it takes no last copy is P1.
    OldTermMoot,
    /// I10.
    FullDelay,
    /// L2: no churn of loads.
    NoNeedlessLoad,
    /// L3. Counted from a cluster that has all its copies.
    NoPingPong,
    /// L1, L2, L4 to L6.
    Recoverable,
}

impl Property {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::LastCopyKept,
        Self::RequiredKept,
        Self::DropJustified,
        Self::OneAction,
        Self::NoOverfill,
        Self::NoGhost,
        Self::OldTermMoot,
        Self::FullDelay,
        Self::NoNeedlessLoad,
        Self::NoPingPong,
        Self::Recoverable,
    ];

    /// Kebab-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LastCopyKept => "last-copy-kept",
            Self::RequiredKept => "required-kept",
            Self::DropJustified => "drop-justified",
            Self::OneAction => "one-action",
            Self::NoOverfill => "no-overfill",
            Self::NoGhost => "no-ghost",
            Self::OldTermMoot => "old-term-moot",
            Self::FullDelay => "full-delay",
            Self::NoNeedlessLoad => "no-needless-load",
            Self::NoPingPong => "no-ping-pong",
            Self::Recoverable => "recoverable",
        }
    }

    /// What it says.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::LastCopyKept => {
                "P1: no drop takes the last copy of a segment that is required, as it would be without crashes."
            }
            Self::RequiredKept => {
                "P2: no drop leaves fewer copies than were required all the time since it was decided, or than were there then."
            }
            Self::DropJustified => {
                "P3: when a drop is decided, another copy serves that no drop is on its way to."
            }
            Self::OneAction => {
                "P4: at most one operation is outstanding for a segment and a server."
            }
            Self::NoOverfill => {
                "P6: no load is decided on a server that has, with what is asked of it already, no room for it."
            }
            Self::OldTermMoot => {
                "P9: once a server knows of a newer term, no request of an older one changes anything on it."
            }
            Self::NoGhost => "P8: no server announces a segment whose files it does not have.",
            Self::FullDelay => {
                "I10: the files of a dropped segment stay for the whole delay after the last drop."
            }
            Self::NoNeedlessLoad => {
                "L2: a load is decided only where copies are missing; after a crash, a flap or a change of leader, only so often."
            }
            Self::NoPingPong => {
                "L3: beside those that are proposed, only so many moves are decided: one for each copy on a server to be emptied, and once more after each fault, proposed move or act of the operator."
            }
            Self::Recoverable => {
                "L1, L2, L4 to L6: from every reachable state, without another fault, the goal can be reached: as many copies as are required, none on a server to be emptied as far as there is room elsewhere, nothing on its way, and every possible move would be taken up."
            }
        }
    }
}
