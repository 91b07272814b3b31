//! A verdict beside the documented one.

use super::paint::{Paint, Tone};
use crate::runs::{AnyRun, Finished, OPEN};

/// How a run's verdict compares with the documented one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// They are the same.
    AsDocumented,
    /// No verdict is documented.
    Undocumented,
    /// They differ.
    Unexpected,
    /// There is no verdict to compare.
    Incomplete,
}

impl Standing {
    /// Compares.
    pub(super) fn of(run: &dyn AnyRun, finished: &Finished) -> Self {
        if finished.verdict == "incomplete" {
            Self::Incomplete
        } else if run.expected() == OPEN {
            Self::Undocumented
        } else if finished.is_expected() {
            Self::AsDocumented
        } else {
            Self::Unexpected
        }
    }

    /// In words.
    pub(super) fn text(self, paint: Paint, finished: &Finished) -> String {
        match self {
            Self::AsDocumented => paint.tint(Tone::Quiet, "as documented"),
            Self::Undocumented => paint.tint(Tone::Unsure, "not documented"),
            Self::Unexpected => {
                let text = format!("UNEXPECTED (documented: {})", finished.expected);
                paint.tint(Tone::Bad, &text)
            }
            Self::Incomplete if finished.expected == OPEN => paint.tint(Tone::Unsure, "no verdict"),
            Self::Incomplete => {
                paint.tint(Tone::Unsure, &format!("no verdict (documented: {})", finished.expected))
            }
        }
    }
}

/// The tone of a verdict: of one that is documented, only what differs is bad.
pub(super) fn tone(standing: Standing, finished: &Finished) -> Tone {
    match (standing, finished.verdict) {
        (Standing::Incomplete, _) => Tone::Unsure,
        (Standing::AsDocumented, _) | (Standing::Undocumented, "verified") => Tone::Good,
        (Standing::Unexpected | Standing::Undocumented, _) => Tone::Bad,
    }
}
