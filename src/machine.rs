//! The shape every role has: a value, and one total, pure function.
//!
//! A role never acts. [`Machine::step`] takes a state and an event and returns the next state and the
//! effects that somebody else (a driver, a model, a fuzzer) has to carry out, one operation on the world
//! each. The outcome of an effect comes back as an event that names the effect's [`EffectId`].

use core::fmt::Debug;
use core::hash::Hash;

/// A role of a protocol: immutable configuration and guards, and the transition function.
pub trait Machine {
    /// Volatile state. Cloning it is cheap and the clone stays valid.
    type State: Clone + Eq + Hash + Debug;
    /// What may happen to the role: a task may go on, an effect has an outcome.
    type Event: Clone + Debug;
    /// One operation on the world.
    type Effect: Clone + Debug;
    /// Names of the conditions that the verified protocol adds.
    type Guard: Copy + Eq + Debug;
    /// Why an event was not taken. The state is as it was.
    type Refusal: Clone + Eq + Debug;
    /// What survives a crash.
    type Durable: Clone + Debug;

    /// The next state and the effects to carry out.
    ///
    /// Pure and total: the same input gives the same output, and no event from outside panics.
    ///
    /// # Errors
    ///
    /// A [`Machine::Refusal`] if the event does not fit the state. Nothing is lost: the caller still has
    /// the old state.
    fn step(&self, state: &Self::State, event: Self::Event) -> Stepped<Self>;

    /// The one way back after a crash.
    ///
    /// Whatever was outstanding at the crash is unknown: it may have happened, it may still happen. No
    /// effect is issued again; the role looks at the world afresh.
    fn recover(&self, durable: Self::Durable) -> Self::State;
}

/// What [`Machine::step`] returns.
pub type Stepped<M> = Result<
    Step<<M as Machine>::State, <M as Machine>::Effect, <M as Machine>::Guard>,
    <M as Machine>::Refusal,
>;

/// The result of a step that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<S, E, G> {
    /// The next state.
    pub state: S,
    /// Effects to carry out, in no particular order.
    pub effects: Vec<Issued<E>>,
    /// The guards that decided this step: without them it would have gone another way. For people and
    /// metrics; nothing depends on it.
    pub decided_by: Vec<G>,
}

/// An effect and the id that its outcome has to name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Issued<E> {
    /// To be named by the outcome.
    pub id: EffectId,
    /// What to do.
    pub effect: E,
}

/// Names one outstanding effect of one process incarnation.
///
/// `number` is the least that is not outstanding, so numbers are used again once settled: an effect has
/// exactly one outcome, and whoever carries effects out delivers it once. An outcome for an older
/// incarnation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct EffectId {
    /// Which life of the process issued the effect.
    pub incarnation: u32,
    /// Which of that life's outstanding effects it is.
    pub number: u16,
}
