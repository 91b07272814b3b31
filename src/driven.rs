//! What a driver has to know of a role beside its transitions.

use crate::machine::{EffectId, Issued, Machine};

/// A role that a driver can own: what to keep, how a new life begins, and what to say when nobody knows how an
/// effect ended. It decides nothing.
pub trait Driven: Machine<Durable: PartialEq> {
    /// What the outside brings into an outcome: the time, an id that was never used. `()` where nothing is needed.
    type Input;

    /// What of this state has to survive a crash, before an effect of the step that made it is carried out.
    fn durable(&self, state: &Self::State) -> Self::Durable;

    /// The name of the process that this is kept for.
    fn name(durable: &Self::Durable) -> u64;

    /// The life that this was kept in.
    fn incarnation(durable: &Self::Durable) -> u32;

    /// The same for another life. It has to be larger than that of any life before.
    fn reborn(durable: Self::Durable, incarnation: u32) -> Self::Durable;

    /// Whether an effect has an outcome. Messages have none, and their ids name nothing.
    fn awaits(effect: &Self::Effect) -> bool;

    /// The effect that an event is the outcome of, if it is one.
    fn settles(event: &Self::Event) -> Option<EffectId>;

    /// The outcome that says that nobody knows how an effect ended: of one that only reads it is a failure, as
    /// nothing can have come of it.
    ///
    /// `None` if the effect does nothing to the world, so that it may be done anew: a wait. That it is over is not to
    /// be said before it is.
    fn unknown(issued: &Issued<Self::Effect>, input: Self::Input) -> Option<Self::Event>;
}
