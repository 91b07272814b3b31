//! `segmentBuildDeterministicFailure`: no replica will ever build this segment (dossier 6.8, #15234).

use super::answer::{Answer, Ask};
use super::message::Message;
use super::state::{Phase, State};
use super::turn::{Refusal, Turn};

/// Needs no machine and makes none. Once a commit has started it is a false alarm, which a machine that waits for
/// the end of it can tell at once.
pub(super) fn take(state: &State, message: Message, rows: u64) -> Result<Turn, Refusal> {
    match state {
        State::Absent => Ok(lower(None, message, rows)),
        State::Idle(phase) => Ok(lower(Some(phase.clone()), message, rows)),
        State::Busy(busy) => match busy.ask {
            Ask::Start { .. } | Ask::Finish { .. } => {
                Ok(Turn::answered(state.clone(), Answer::Discard))
            }
            ask @ (Ask::Record | Ask::SetOffline(_) | Ask::LowerRowLimit { .. }) => {
                Err(Refusal::Busy(ask))
            }
        },
    }
}

/// Has the row limit lowered, unless a commit has started.
pub(super) fn lower(phase: Option<Phase>, message: Message, rows: u64) -> Turn {
    if rows == 0 {
        return Turn::answered(or_absent(phase), Answer::Failed);
    }
    if matches!(phase, Some(Phase::Uploading(_) | Phase::Committed { .. })) {
        return Turn::answered(or_absent(phase), Answer::Discard);
    }
    Turn::asked(phase, message, Ask::LowerRowLimit { rows })
}

/// The limit is lowered and everything begins again; or nothing has changed.
pub(super) fn end(phase: Option<Phase>, done: bool) -> Turn {
    if done {
        return Turn::answered(State::Absent, Answer::Processed);
    }
    Turn::answered(or_absent(phase), Answer::Failed)
}

fn or_absent(phase: Option<Phase>) -> State {
    phase.map_or(State::Absent, State::Idle)
}
