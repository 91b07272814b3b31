//! Whether two explorations of one model tell the same story.

use std::error::Error;
use std::fmt;

use super::report::{Kind, Reason, Report, Verdict};
use super::second_opinion::SecondOpinion;

/// How two explorations of one model differ, or why they cannot be compared. Nothing of it may pass as agreement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Disagreement {
    /// One of the two did not explore to the end, so there is nothing to compare.
    Incomplete(Reason),
    /// stateright does not say that it is done.
    Unfinished,
    /// The two found different numbers of states.
    UniqueStates {
        /// Number in the report.
        own: u64,
        /// Number in the other exploration.
        other: u64,
    },
    /// The states lie at different depths.
    Depth {
        /// Levels in the report.
        own: u32,
        /// Levels in the other exploration.
        other: u32,
    },
    /// The two found different properties violated, or only one of them found one.
    Violated {
        /// Property violated in the report.
        own: Option<String>,
        /// Property violated in the other exploration.
        other: Option<String>,
    },
    /// The shortest ways to the violation differ in length.
    Steps {
        /// Actions on the way in the report.
        own: Option<u64>,
        /// Actions on the way in the other exploration.
        other: Option<u64>,
    },
    /// The two differ in which `Sometimes` properties no state met.
    Unreached {
        /// Names in the report.
        own: Vec<&'static str>,
        /// Names in the other exploration.
        other: Vec<&'static str>,
    },
    /// Different states have one fingerprint, so that the search by fingerprints loses this many.
    Collisions(u64),
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disagreement::Incomplete(reason) => {
                write!(f, "nothing to compare, a run is incomplete: {reason}")
            }
            Disagreement::Unfinished => write!(f, "stateright did not finish"),
            Disagreement::UniqueStates { own, other } => {
                write!(f, "unique states differ: {own} and {other}")
            }
            Disagreement::Depth { own, other } => write!(f, "depths differ: {own} and {other}"),
            Disagreement::Violated { own, other } => {
                write!(f, "violated properties differ: {own:?} and {other:?}")
            }
            Disagreement::Steps { own, other } => {
                write!(f, "steps to the violation differ: {own:?} and {other:?}")
            }
            Disagreement::Unreached { own, other } => {
                write!(f, "unreached properties differ: {own:?} and {other:?}")
            }
            Disagreement::Collisions(count) => {
                write!(f, "{count} states have the fingerprint of another state")
            }
        }
    }
}

impl Error for Disagreement {}

/// Compares a report with stateright's opinion on the same model.
///
/// After exhaustion, number and depth of the states and the unreached properties must be the same, and stateright must not
/// know of a violation. After a safety violation both must have found the same property at the same distance, and the
/// counts, taken at different moments, are not compared. After a deadlock, which stateright does not see, it must have at
/// least as many states and no safety violation as close as the deadlock.
pub fn agree<S, A>(report: &Report<S, A>, second: &SecondOpinion) -> Result<(), Disagreement> {
    if !second.is_done {
        return Err(Disagreement::Unfinished);
    }
    match &report.verdict {
        Verdict::Incomplete { reason } => Err(Disagreement::Incomplete(*reason)),
        Verdict::Violated { property, kind: Kind::Safety } => {
            same_violation(Some(property), second.violated)?;
            same_steps(steps(report), second.steps)
        }
        Verdict::Violated { property, kind: Kind::Deadlock } => {
            agree_on_deadlock(property, report, second)
        }
        Verdict::Verified | Verdict::Violated { .. } => agree_on_space(report, second),
    }
}

/// Compares a run by fingerprints with a run in exact mode over the same model: the verdicts, the counts and the unreached
/// properties must be the same, and exact mode must not have seen a collision.
///
/// This is the check that stateright cannot give, since it too keys states by their hash alone.
pub fn agree_exact<S, A>(report: &Report<S, A>, exact: &Report<S, A>) -> Result<(), Disagreement> {
    for run in [report, exact] {
        if let Verdict::Incomplete { reason } = run.verdict {
            return Err(Disagreement::Incomplete(reason));
        }
    }
    same_violation(violated(report), violated(exact))?;
    same_steps(steps(report), steps(exact))?;
    same_counts((report.unique, report.depth), (exact.unique, exact.depth))?;
    same_unreached(&report.unreached, &exact.unreached)?;
    if exact.collisions > 0 {
        return Err(Disagreement::Collisions(exact.collisions));
    }
    Ok(())
}

fn agree_on_space<S, A>(report: &Report<S, A>, second: &SecondOpinion) -> Result<(), Disagreement> {
    same_violation(None, second.violated)?;
    same_counts((report.unique, report.depth), (second.unique_states, second.depth))?;
    same_unreached(&report.unreached, &second.unreached)
}

fn agree_on_deadlock<S, A>(
    deadlock: &str,
    report: &Report<S, A>,
    second: &SecondOpinion,
) -> Result<(), Disagreement> {
    let distance = steps(report);
    if second.steps.is_some() && second.steps <= distance {
        return same_violation(Some(deadlock), second.violated);
    }
    if second.violated.is_none() && second.unique_states < report.unique {
        return same_counts((report.unique, report.depth), (second.unique_states, second.depth));
    }
    Ok(())
}

fn violated<S, A>(report: &Report<S, A>) -> Option<&str> {
    match &report.verdict {
        Verdict::Violated { property, .. } => Some(property),
        Verdict::Verified | Verdict::Incomplete { .. } => None,
    }
}

fn steps<S, A>(report: &Report<S, A>) -> Option<u64> {
    report.counterexample.as_ref().map(|path| path.actions.len() as u64)
}

fn same_violation(own: Option<&str>, other: Option<&str>) -> Result<(), Disagreement> {
    if own == other {
        return Ok(());
    }
    Err(Disagreement::Violated { own: own.map(str::to_owned), other: other.map(str::to_owned) })
}

fn same_steps(own: Option<u64>, other: Option<u64>) -> Result<(), Disagreement> {
    if own == other { Ok(()) } else { Err(Disagreement::Steps { own, other }) }
}

fn same_counts(own: (u64, u32), other: (u64, u32)) -> Result<(), Disagreement> {
    if own.0 != other.0 {
        return Err(Disagreement::UniqueStates { own: own.0, other: other.0 });
    }
    if own.1 != other.1 {
        return Err(Disagreement::Depth { own: own.1, other: other.1 });
    }
    Ok(())
}

fn same_unreached(own: &[&'static str], other: &[&'static str]) -> Result<(), Disagreement> {
    if own == other {
        return Ok(());
    }
    Err(Disagreement::Unreached { own: own.to_vec(), other: other.to_vec() })
}
