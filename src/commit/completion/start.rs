//! `segmentCommitStart`: a replica begins to commit (dossier 6.2, second column).

use super::Completion;
use super::answer::{Answer, Ask, Mode};
use super::consumed::committed;
use super::message::Message;
use super::rule::Rule;
use super::state::{Commit, Gathering, Phase, Upload};
use super::turn::Turn;

impl Completion {
    pub(super) fn start(&self, phase: Phase, message: Message) -> Turn {
        if phase.excludes(message.from) {
            return Turn::answered(phase, Answer::Failed);
        }
        let offset = message.offset;
        match phase {
            Phase::PartialConsuming(_)
            | Phase::Holding(_)
            | Phase::Decided(_)
            | Phase::Uploading(_) => {
                if phase.is_late(message.at_ms) {
                    return Turn::abort(Answer::Hold(offset));
                }
                Turn::answered(phase, Answer::Hold(offset))
            }
            Phase::Notified(commit) => self.start_notified(commit, message),
            Phase::Resumed { end } => {
                let answer =
                    if offset == end { Answer::CommitContinue } else { Answer::Hold(offset) };
                Turn::answered(Phase::Resumed { end }, answer)
            }
            Phase::Committed { end } => {
                Turn::answered(Phase::Committed { end }, committed(end, offset))
            }
            Phase::Aborted => Turn::abort(Answer::Hold(offset)),
        }
    }

    /// The winner was told. Upstream tests the offset of the winner alone, so that anybody else may start at
    /// whatever offset it likes (R4).
    fn start_notified(&self, commit: Commit, message: Message) -> Turn {
        let wins = message.from == commit.winner;
        let hold = Answer::Hold(message.offset);
        if message.at_ms > commit.limit_ms || wins && message.offset != commit.offset {
            return Turn::abort(hold);
        }
        if !wins && self.rules.winner_starts {
            return Turn::answered(Phase::Notified(commit), hold).because(Rule::WinnerStarts);
        }
        let took_ms = message.at_ms.saturating_sub(commit.started_ms);
        let longest_ms = (took_ms > commit.initial_ms).then_some(took_ms);
        let turn = match commit.mode {
            Mode::Blocking => self.started(commit, true),
            Mode::Pauseless => {
                let ask = Ask::Start { committer: message.from, offset: message.offset };
                Turn::asked(Some(Phase::Notified(commit)), message, ask)
            }
        };
        Turn { longest_ms, ..turn }
    }

    /// The metadata steps are over, or there are none.
    pub(super) fn started(&self, commit: Commit, done: bool) -> Turn {
        if !done {
            return Turn::abort(Answer::Failed);
        }
        let ceiling_ms = commit.started_ms.saturating_add(self.limits.ceiling_ms);
        let upload = Upload {
            mode: commit.mode,
            ceiling_ms: (commit.mode == Mode::Pauseless).then_some(ceiling_ms),
            limit_ms: commit.limit_ms,
            winner: commit.winner,
            offset: commit.offset,
            excluded: commit.excluded,
        };
        Turn::answered(Phase::Uploading(upload), Answer::CommitContinue)
    }
}

impl Phase {
    /// Whether a commit would come too late.
    fn is_late(&self, at_ms: u64) -> bool {
        match self {
            Self::PartialConsuming(gathering) | Self::Holding(gathering) => {
                at_ms > gathering.limit_ms()
            }
            Self::Decided(commit) | Self::Notified(commit) => at_ms > commit.limit_ms,
            Self::Uploading(upload) => at_ms > upload.limit_ms,
            Self::Resumed { .. } | Self::Committed { .. } | Self::Aborted => false,
        }
    }
}

impl Gathering {
    /// After this it is too late to commit, ms.
    pub(super) fn limit_ms(&self) -> u64 {
        self.started_ms.saturating_add(self.initial_ms)
    }
}
