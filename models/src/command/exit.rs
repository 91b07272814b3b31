//! How the command exits.

use std::io::{self, Write};

/// How the command exits, the least serious first: of two, the greater one wins. So code 2 beats 3, as
/// nothing is known of what could not be read, and 3 beats 1, as more may be wrong than was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    /// All as expected.
    #[default]
    AsExpected,
    /// A violation, or an unexpected verdict.
    Unexpected,
    /// Something did not finish, so it cannot be green.
    Incomplete,
    /// Usage, or input or output that cannot be read or written.
    Unusable,
}

impl Exit {
    /// The code that the process exits with.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::AsExpected => 0,
            Self::Unexpected => 1,
            Self::Unusable => 2,
            Self::Incomplete => 3,
        }
    }
}

/// Why the command stopped before its end.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was asked something that cannot be done.
    Usage(String),
    /// Its output cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Says why on standard error, and how to exit. A reader that went away needs no message, but what it
    /// did not wait for is not green.
    pub(super) fn report(&self) -> Exit {
        match self {
            Self::Usage(text) => {
                note(&format!("error: {text}"));
                Exit::Unusable
            }
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Incomplete,
            Self::Output(error) => {
                note(&format!("error: cannot write the output: {error}"));
                Exit::Unusable
            }
        }
    }
}

/// Writes a line to standard error. Where that is closed there is nobody to tell.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_beats_three_beats_one_beats_nought() {
        let order = [Exit::AsExpected, Exit::Unexpected, Exit::Incomplete, Exit::Unusable];
        assert_eq!(order.map(Exit::code), [0, 1, 3, 2]);
        for (less, more) in order.iter().zip(&order[1..]) {
            assert_eq!(less.max(more), more);
            assert_eq!(more.max(less), more);
        }
    }

    #[test]
    fn a_reader_that_went_away_is_incomplete_and_a_full_disk_unusable() {
        let broken = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(broken.report(), Exit::Incomplete);
        let full = Failure::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.report(), Exit::Unusable);
    }
}
