//! `segmentCommitEndWithMetadata`: a replica has built the segment (dossier 6.2, fourth column).

use super::answer::{Answer, Ask, Mode};
use super::message::Message;
use super::state::Phase;
use super::turn::Turn;

/// The winner at its offset may finish; where metadata alone is known, whoever stands at the end. For all others
/// the machine ends.
pub(super) fn take(phase: Phase, message: Message) -> Turn {
    let Message { from, offset, .. } = message;
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

/// The object is in place and metadata says so, or one of them failed: which does not matter.
pub(super) fn finished(end: u64, done: bool) -> Turn {
    if !done {
        return Turn::abort(Answer::Failed);
    }
    Turn::answered(Phase::Committed { end }, Answer::CommitSuccess)
}
