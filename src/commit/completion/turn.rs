//! What a transition returns.

use core::fmt;

use super::answer::{Answer, Ask};
use super::message::Message;
use super::rule::Rule;
use super::state::{Busy, Phase, State};

/// What became of a message or an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The next state.
    pub state: State,
    /// The answer or the demand.
    pub said: Said,
    /// A commit began that took longer than it could at first, ms since the machine's start: the table's longest,
    /// to be given back in [`super::Found::longest_ms`].
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

impl Turn {
    pub(super) fn answered(state: impl Into<State>, answer: Answer) -> Self {
        Self {
            state: state.into(),
            said: Said::Answer(answer),
            longest_ms: None,
            decided_by: Vec::new(),
        }
    }

    pub(super) fn abort(answer: Answer) -> Self {
        Self::answered(Phase::Aborted, answer)
    }

    pub(super) fn asked(phase: Option<Phase>, message: Message, ask: Ask) -> Self {
        Self {
            state: State::Busy(Busy { ask, message, phase }),
            said: Said::Ask(ask),
            longest_ms: None,
            decided_by: Vec::new(),
        }
    }

    pub(super) fn because(mut self, rule: Rule) -> Self {
        self.decided_by.push(rule);
        self
    }
}

impl From<Phase> for State {
    fn from(phase: Phase) -> Self {
        Self::Idle(phase)
    }
}
