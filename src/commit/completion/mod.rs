//! The segment completion protocol: who commits a segment, and where it ends (dossier 6).
//!
//! One machine a segment, made by the first message about it, dropped when it [is over](State::is_over). It has
//! no timer: time moves only when a message comes. Whether this controller leads is tested by the caller, when a
//! message comes ([`Kind::is_for_leader`]).
//!
//! What has to be asked of a store is asked of the caller ([`Ask`]); the machine is then [`State::Busy`] and goes
//! on with the [`Outcome`]. Upstream holds the machine's lock meanwhile, so that other messages of the segment
//! wait: here they are refused ([`Refusal::Busy`]) and delivered again by the caller, with the time at which they
//! came.

mod answer;
mod limits;
mod message;
mod rule;
mod state;

use core::fmt;

pub use answer::{Answer, Ask, Found, Mode, Outcome, Record};
pub use limits::{Limits, row_limit};
pub use message::{Kind, Message, Reason};
pub use rule::{Rule, Rules};
pub use state::{Busy, Commit, Gathering, Phase, State, Upload};

/// The completion machine: its limits and the rules that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// How long what may take.
    pub limits: Limits,
    /// In which decisions it is the verified machine.
    pub rules: Rules,
}

/// What became of a message or an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The next state.
    pub state: State,
    /// The answer or the demand.
    pub said: Said,
    /// A commit began that took longer than it could at first, ms since the machine's start: the table's longest,
    /// to be given back in [`Found::longest_ms`].
    pub longest_ms: Option<u64>,
    /// The rules that decided: without them it would have gone another way.
    pub decided_by: Vec<Rule>,
}

/// What a machine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// The answer to the sender.
    Answer(Answer),
    /// What the caller has to do first.
    Ask(Ask),
}

/// Why a message or an outcome was not taken. The state is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The machine waits for the end of what it has asked for; the message has to wait.
    Busy(Ask),
    /// Nothing was asked.
    NotAsked,
    /// What was asked cannot end so.
    UnfitOutcome(Ask),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(ask) => write!(f, "the machine waits for the end of {ask:?}"),
            Self::NotAsked => f.write_str("nothing was asked"),
            Self::UnfitOutcome(ask) => write!(f, "{ask:?} cannot end so"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Completion {
    /// The verified machine, with upstream's limits.
    #[must_use]
    pub fn verified() -> Self {
        Self { limits: Limits::default(), rules: Rules::VERIFIED }
    }

    /// Takes a message.
    ///
    /// # Errors
    ///
    /// [`Refusal::Busy`].
    pub fn on_message(&self, state: &State, message: Message) -> Result<Turn, Refusal> {
        let _ = (state, message);
        Err(Refusal::NotAsked)
    }

    /// Goes on with the outcome of what was asked.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotAsked`], [`Refusal::UnfitOutcome`].
    pub fn on_outcome(&self, state: &State, outcome: Outcome) -> Result<Turn, Refusal> {
        let _ = (state, outcome);
        Err(Refusal::NotAsked)
    }
}
