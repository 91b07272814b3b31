//! A breadth-first explorer over [`stateright::Model`] whose verdicts cannot lie.
//!
//! stateright's own checkers report success on runs that they did not finish, know no deadlock, judge liveness unsoundly
//! and drop states outside a boundary without a word. This explorer keeps stateright's trait, so that a model can still be
//! handed to stateright as a [second opinion](second_opinion()), and replaces the search:
//!
//! - A verdict is [`Verified`](Verdict::Verified) only when the reachable states are exhausted and everything holds,
//!   [`Violated`](Verdict::Violated) with a counterexample, or [`Incomplete`](Verdict::Incomplete) with the reason.
//! - Liveness is *recoverability*: over the edges that spend no fault, every reachable state can reach a goal; and, where
//!   asked for, that no fair run goes [round](Options::rounds) beside the goals for ever.
//! - A state without successors that may not stop is a deadlock.
//!
//! States that differ only in which of several [equal actors](Judged::images) is which are taken for one, and the first one
//! met stands for all: counterexamples are ways of real states, with names that stay.
//!
//! The search is deterministic: the same model and options give the same report on any number of threads, the clock aside.

mod agreement;
mod components;
mod crew;
mod expand;
mod fingerprint;
mod frontier;
mod limits;
mod memory;
mod options;
mod path;
mod planted;
mod properties;
mod recover;
mod report;
mod rounds;
mod same;
mod search;
mod second_opinion;
#[cfg(test)]
mod tests;
mod visited;

use std::hash::{Hash, Hasher};

pub(crate) use memory::peak_resident_bytes;

pub use agreement::{Disagreement, agree, agree_exact};
pub use options::Options;
pub use path::Counterexample;
pub use report::{Kind, Reason, Report, ReportOf, Verdict};
pub use same::{Different, DifferentOf, Same, same_to_all};
pub use search::{DEADLOCK_FREE, NO_ENDLESS_ROUND, RECOVERABLE};
pub use second_opinion::{SecondOpinion, second_opinion};

/// What the explorer must know of a model beyond stateright's trait.
///
/// All methods must be pure functions of their arguments, as must those of [`stateright::Model`]: states are thrown away
/// once expanded, and a counterexample is rebuilt by running the model again.
pub trait Judged:
    stateright::Model<State: Clone + Hash + Eq + Send + Sync, Action: Clone> + Sync
{
    /// Tells whether this edge spends a fault. Recoverability walks only the edges that do not, since a system that needs
    /// a crash in order to recover has not recovered.
    fn is_fault(&self, _state: &Self::State, _action: &Self::Action) -> bool {
        false
    }

    /// Tells whether the state is a goal, or is [`None`] when the model sets no goal, in which case recoverability is not
    /// judged. A model answers [`Some`] for all of its states or for none of them.
    fn goal(&self, _state: &Self::State) -> Option<bool> {
        None
    }

    /// Tells whether a bound of the scope stopped something in this state. Such states are counted and still judged by
    /// the safety properties, but what they cannot do says nothing about the protocol: they are no deadlock. Whether they
    /// recover is judged by what they still can do; where a bound stands in every way to a goal, that is reported as
    /// [unsettled](Report::unsettled_states), neither as recovery nor as a violation.
    fn is_cut(&self, _state: &Self::State) -> bool {
        false
    }

    /// The class, below 64, of a step that spends no fault and that must be taken in the end, be it that it is possible for
    /// good or again and again: [`fairness`](Self::fairness) says which. [`None`] for a step that may never be taken.
    /// Asked only where [endless rounds](Options::rounds) are looked for.
    fn class(&self, _state: &Self::State, _action: &Self::Action) -> Option<u8> {
        None
    }

    /// What is fair to a class.
    fn fairness(&self, _class: u8) -> Fairness {
        Fairness::Weak
    }

    /// How many images a state has, itself included: what it becomes if actors that are alike exchange their names. 1 if
    /// no two are alike. Images must be the same to every step, judgement and property: [`same_to_all`] tests it.
    fn images(&self) -> usize {
        1
    }

    /// Feeds a hasher with one of the [`images`](Self::images) of a state, of which the state itself is image 0. The images
    /// of a state, in some order, must be those of each of its images. Asked only where there are several.
    fn feed_image<H: Hasher>(&self, state: &Self::State, _image: usize, hasher: &mut H) {
        state.hash(hasher);
    }

    /// Tells whether the state may have no successors. By default only a goal or a cut state may.
    fn may_stop(&self, state: &Self::State) -> bool {
        self.goal(state) == Some(true) || self.is_cut(state)
    }
}

/// What a run that goes on for ever owes to a class of steps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fairness {
    /// A step of the class, if from some moment on one is always possible.
    Weak,
    /// A step of the class again and again, if one is possible again and again.
    Strong,
}

/// Explores every reachable state of the model, breadth first, until exhaustion, the first violation or a limit.
///
/// `Always` properties are judged on each unique state when it is first generated, so the counterexample of a safety
/// violation is a shortest one. A deadlock is seen one step later, when the state is expanded: the deadlock reported is a
/// shortest deadlock, but may have been overtaken by a safety violation of one step more. Recoverability, endless
/// rounds and `Sometimes` properties are judged after exhaustion, in this order.
///
/// # Panics
///
/// - if the model has an `Eventually` property: stateright's semantics of it is unsound, use [`Judged::goal`];
/// - if the model has no initial state, since every property would hold of nothing;
/// - if [`Judged::goal`] is [`Some`] for one state and [`None`] for another;
/// - if the model is not a function of its arguments and a counterexample cannot be rebuilt.
pub fn explore<M: Judged>(model: &M, options: &Options) -> ReportOf<M> {
    let expander = expand::Expander::new(model, options);
    search::Search::new(&expander, options).report()
}
