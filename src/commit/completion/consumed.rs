//! `segmentConsumed`: a replica has stopped and asks what to do (dossier 6.2, first column).

use super::super::object::Status;
use super::Completion;
use super::answer::{Answer, Ask, Found, Mode};
use super::message::{Message, Reason};
use super::rule::Rule;
use super::state::{Commit, Phase, Upload};
use super::turn::Turn;

impl Completion {
    pub(super) fn consumed(&self, phase: Phase, message: Message, reason: Option<Reason>) -> Turn {
        match phase {
            Phase::PartialConsuming(gathering) | Phase::Holding(gathering) => {
                self.gather(gathering, message, reason)
            }
            Phase::Decided(commit) => self.consumed_decided(commit, message),
            Phase::Notified(commit) => self.consumed_notified(commit, message),
            Phase::Uploading(upload) => self.consumed_uploading(upload, message),
            Phase::Resumed { end } => {
                Turn::answered(Phase::Resumed { end }, resumed(end, message.offset))
            }
            Phase::Committed { end } => {
                Turn::answered(Phase::Committed { end }, committed(end, message.offset))
            }
            Phase::Aborted => Turn::abort(Answer::Hold(message.offset)),
        }
    }

    /// There is a winner that does not know it. Whoever is ahead of it, a winner elsewhere than it was and a wait
    /// that has been too long end the machine.
    fn consumed_decided(&self, mut commit: Commit, message: Message) -> Turn {
        commit.excluded.remove(&message.from);
        let offset = message.offset;
        let wins = message.from == commit.winner;
        let waited = message.at_ms > commit.started_ms.saturating_add(self.limits.notify_ms);
        if waited || offset > commit.offset || wins && offset != commit.offset {
            return Turn::abort(Answer::Hold(offset));
        }
        if wins {
            let answer = commit.order();
            return Turn::answered(Phase::Notified(commit), answer);
        }
        let answer = behind(commit.offset, offset);
        Turn::answered(Phase::Decided(commit), answer)
    }

    /// The winner knows that it is. If it asks again, it has not heard it; or it has lost its rows and reads them anew.
    fn consumed_notified(&self, mut commit: Commit, message: Message) -> Turn {
        commit.excluded.remove(&message.from);
        let offset = message.offset;
        if message.at_ms > commit.limit_ms {
            return Turn::abort(Answer::Hold(offset));
        }
        let wins = message.from == commit.winner;
        if wins && offset != commit.offset {
            return if self.rules.winner_asks_again {
                Turn::abort(Answer::Hold(offset)).because(Rule::WinnerAsksAgain)
            } else {
                Turn::abort(Answer::Discard)
            };
        }
        let answer = if wins { commit.order() } else { behind(commit.offset, offset) };
        Turn::answered(Phase::Notified(commit), answer)
    }

    /// The commit is under way. A winner that asks again has not heard that it may go on.
    fn consumed_uploading(&self, mut upload: Upload, message: Message) -> Turn {
        upload.excluded.remove(&message.from);
        let offset = message.offset;
        if message.at_ms > upload.limit_ms || message.from == upload.winner {
            return Turn::abort(Answer::Hold(offset));
        }
        let answer = behind(upload.offset, offset);
        let may_keep = upload.mode == Mode::Pauseless && offset == upload.offset;
        let phase = Phase::Uploading(upload);
        if !may_keep {
            return Turn::answered(phase, answer);
        }
        if self.rules.keep_from_record {
            return Turn::asked(Some(phase), message, Ask::Record).because(Rule::KeepFromRecord);
        }
        Turn::answered(phase, Answer::Keep(offset))
    }
}

/// KEEP, if metadata ends the segment where the sender stands. If it ends elsewhere, or is still open, the machine
/// remembers what is not so: it goes, and the next one begins with what metadata says.
pub(super) fn keep(phase: Phase, found: Option<Found>, message: Message) -> Turn {
    let Some(record) = found.and_then(|found| found.record) else {
        return Turn::answered(phase, Answer::Failed);
    };
    let fixed = record.status != Status::InProgress;
    if fixed && record.end == Some(message.offset) {
        return Turn::answered(phase, Answer::Keep(message.offset));
    }
    Turn::abort(Answer::Hold(message.offset))
}

/// For a replica that is not the winner.
fn behind(end: u64, offset: u64) -> Answer {
    if offset < end { Answer::CatchUp(end) } else { Answer::Hold(offset) }
}

/// The end is fixed and metadata says so; whoever stands there has the segment.
fn resumed(end: u64, offset: u64) -> Answer {
    if offset == end { Answer::Keep(offset) } else { behind(end, offset) }
}

/// The segment is committed.
pub(super) fn committed(end: u64, offset: u64) -> Answer {
    if offset == end { Answer::Keep(offset) } else { Answer::Discard }
}
