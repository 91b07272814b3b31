//! `segmentCommitEndWithMetadata`: a replica has built the segment (dossier 6.2, fourth column).

use super::super::object::ServerId;
use super::Completion;
use super::answer::{Answer, Ask, Mode};
use super::message::Message;
use super::rule::Rule;
use super::state::Phase;
use super::turn::Turn;

impl Completion {
    /// The winner at its offset may finish; where metadata alone is known, whoever stands at the end. For all others
    /// the machine ends; but the commit of another, once there is a winner, is none of theirs to end: upstream lets them,
    /// and replicas that won at different times may end each other's commits for ever.
    pub(super) fn end(&self, phase: Phase, message: Message) -> Turn {
        let Message { from, offset, .. } = message;
        if self.rules.winner_starts && phase.winner().is_some_and(|winner| winner != from) {
            return Turn::answered(phase, Answer::Failed).because(Rule::WinnerStarts);
        }
        let mode = match &phase {
            Phase::Uploading(upload)
                if upload.winner == from && upload.offset == offset && !phase.excludes(from) =>
            {
                upload.mode
            }
            Phase::Resumed { end } if *end == offset => Mode::Pauseless,
            Phase::PartialConsuming(_)
            | Phase::Holding(_)
            | Phase::Decided(_)
            | Phase::Notified(_)
            | Phase::Uploading(_)
            | Phase::Resumed { .. }
            | Phase::Committed { .. }
            | Phase::Aborted => return Turn::abort(Answer::Failed),
        };
        // However it ends, nothing but the end is remembered.
        Turn::asked(None, message, Ask::Finish { committer: from, offset, mode })
    }
}

impl Phase {
    /// The winner, while there is one and the commit is not over.
    fn winner(&self) -> Option<ServerId> {
        match self {
            Self::Decided(commit) | Self::Notified(commit) => Some(commit.winner),
            Self::Uploading(upload) => Some(upload.winner),
            Self::PartialConsuming(_)
            | Self::Holding(_)
            | Self::Resumed { .. }
            | Self::Committed { .. }
            | Self::Aborted => None,
        }
    }
}

/// The object is in place and metadata says so, or one of them failed: which does not matter.
pub(super) fn finished(end: u64, done: bool) -> Turn {
    if !done {
        return Turn::abort(Answer::Failed);
    }
    Turn::answered(Phase::Committed { end }, Answer::CommitSuccess)
}
