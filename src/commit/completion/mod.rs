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
//!
//! Times need not grow from message to message, as one that had to wait is older than what came after it. Which
//! servers are replicas the machine does not know: it counts whoever reports, as upstream does, and compares with
//! how many replicas metadata names. A sender whose name means nothing is turned away by whoever reads names.
//!
//! # Verified and upstream
//!
//! One algorithm, upstream's; it differs in four decisions, each a [`Rule`]:
//!
//! | rule | verified | upstream in August 2026 |
//! |---|---|---|
//! | [`Rule::UploadedIsDone`] | a segment that was replaced is committed | the same, since #15062 |
//! | [`Rule::WinnerStarts`] | a start by another than the winner is answered HOLD, an end by another FAILED, and the commit goes on | anybody starts, at its own offset (R4), and anybody's end aborts the commit |
//! | [`Rule::KeepFromRecord`] | before KEEP during a commit metadata is read | the machine's memory is enough (N2) |
//! | [`Rule::ResumeCommit`] | COMMITTING in metadata: KEEP, CATCH_UP and the end of the commit go on from there | all begins again and fails for ever (R5, R8) |
//! | [`Rule::WinnerAsksAgain`] | a winner that comes back elsewhere: HOLD | DISCARD: if it goes so with every replica, nobody ever commits |
//!
//! Kept although they look odd, as they cost time and nothing else: anybody may extend a lease; a replica that
//! reported and then gave up may win; a winner that reports again during its commit ends the machine.

mod answer;
mod consumed;
mod creation;
mod end;
mod failure;
mod lease;
mod limits;
mod message;
mod rule;
mod start;
mod state;
mod stopped;
mod turn;
mod winner;

pub use answer::{Answer, Ask, Found, Mode, Outcome, Record};
pub use limits::{Limits, row_limit};
pub use message::{Kind, Message, Reason};
pub use rule::{Rule, Rules};
pub use state::{Busy, Commit, Gathering, Phase, State, Upload};
pub use turn::{Refusal, Said, Turn};

/// The completion machine: its limits and the rules that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// How long what may take.
    pub limits: Limits,
    /// In which decisions it is the verified machine.
    pub rules: Rules,
}

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
        if let Kind::BuildFailed { rows } = message.kind {
            return failure::take(state, message, rows);
        }
        match state {
            State::Absent => Ok(Turn::asked(None, message, Ask::Record)),
            State::Idle(phase) => Ok(self.take(phase.clone(), message)),
            State::Busy(busy) => Err(Refusal::Busy(busy.ask)),
        }
    }

    /// Goes on with the outcome of what was asked. The answer is to the message that was waiting ([`Busy::message`]).
    ///
    /// # Errors
    ///
    /// [`Refusal::NotAsked`], [`Refusal::UnfitOutcome`].
    pub fn on_outcome(&self, state: &State, outcome: Outcome) -> Result<Turn, Refusal> {
        let State::Busy(Busy { ask, message, phase }) = state else {
            return Err(Refusal::NotAsked);
        };
        if *ask == Ask::Record {
            let found = outcome.found().ok_or(Refusal::UnfitOutcome(*ask))?;
            return Ok(match phase {
                None => self.create(found, *message),
                Some(phase) => consumed::keep(phase.clone(), found, *message),
            });
        }
        let done = outcome.done().ok_or(Refusal::UnfitOutcome(*ask))?;
        Ok(match (*ask, phase) {
            (Ask::LowerRowLimit { .. }, phase) => failure::end(phase.clone(), done),
            (Ask::SetOffline(_), Some(phase)) => stopped::end(phase.clone(), done),
            (Ask::Start { .. }, Some(Phase::Notified(commit))) => {
                self.started(commit.clone(), done)
            }
            (Ask::Finish { offset, .. }, _) => end::finished(offset, done),
            // No machine is ever in such a state; one that was put together by hand starts again.
            (Ask::Record | Ask::SetOffline(_) | Ask::Start { .. }, _) => {
                Turn::abort(Answer::Failed)
            }
        })
    }

    /// A machine that is there takes a message.
    fn take(&self, phase: Phase, message: Message) -> Turn {
        match message.kind {
            Kind::Consumed(reason) => self.consumed(phase, message, reason),
            Kind::CommitStart => self.start(phase, message),
            Kind::CommitEnd => self.end(phase, message),
            Kind::Extend { extra_s } => self.extend(phase, message, extra_s),
            Kind::Stopped => stopped::take(phase, message),
            Kind::BuildFailed { rows } => failure::lower(Some(phase), message, rows),
        }
    }
}
