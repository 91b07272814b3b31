//! How a goal is missed.

/// How a goal is missed, where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// It cannot be come to any more.
    OutOfReach,
    /// It could be, all the while, and never is.
    Endless,
}

impl Missed {
    /// By a path, which may end in a round.
    #[must_use]
    pub fn by(round_from: Option<usize>) -> Self {
        if round_from.is_some() { Self::Endless } else { Self::OutOfReach }
    }

    /// In words, before the goal.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::OutOfReach => "from here, without another fault, this is out of reach",
            Self::Endless => "so on for ever, without another fault, and this is never come to",
        }
    }
}
