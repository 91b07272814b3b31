//! `segmentStoppedConsuming`: a replica has given up (dossier 6.7).

use super::super::object::ServerId;
use super::answer::{Answer, Ask};
use super::message::Message;
use super::state::Phase;
use super::turn::Turn;
use crate::collections::Table;

/// It is excluded from now on, whether the ideal state can be changed or not.
pub(super) fn take(mut phase: Phase, message: Message) -> Turn {
    if phase == Phase::Aborted {
        return Turn::abort(Answer::Processed);
    }
    if let Some(excluded) = phase.excluded_mut() {
        excluded.insert(message.from, ());
    }
    Turn::asked(Some(phase), message, Ask::SetOffline(message.from))
}

/// The ideal state is changed, or not.
pub(super) fn end(phase: Phase, done: bool) -> Turn {
    Turn::answered(phase, if done { Answer::Processed } else { Answer::Failed })
}

impl Phase {
    /// Whether this server has given up and not reported since.
    pub(super) fn excludes(&self, server: ServerId) -> bool {
        match self {
            Self::PartialConsuming(gathering) | Self::Holding(gathering) => {
                gathering.excluded.contains_key(&server)
            }
            Self::Decided(commit) | Self::Notified(commit) => commit.excluded.contains_key(&server),
            Self::Uploading(upload) => upload.excluded.contains_key(&server),
            Self::Resumed { .. } | Self::Committed { .. } | Self::Aborted => false,
        }
    }

    fn excluded_mut(&mut self) -> Option<&mut Table<ServerId, ()>> {
        match self {
            Self::PartialConsuming(gathering) | Self::Holding(gathering) => {
                Some(&mut gathering.excluded)
            }
            Self::Decided(commit) | Self::Notified(commit) => Some(&mut commit.excluded),
            Self::Uploading(upload) => Some(&mut upload.excluded),
            Self::Resumed { .. } | Self::Committed { .. } | Self::Aborted => None,
        }
    }
}
