//! `extendBuildTime`: the commit needs longer (dossier 6.3).

use super::Completion;
use super::answer::{Answer, Mode};
use super::message::Message;
use super::state::Phase;
use super::turn::Turn;

impl Completion {
    /// In blocking mode before the commit starts, in pauseless mode after; nobody asks who wants it.
    pub(super) fn extend(&self, phase: Phase, message: Message, extra_s: u32) -> Turn {
        match phase {
            Phase::Notified(mut commit) if commit.mode == Mode::Blocking => {
                let ceiling_ms = commit.started_ms.saturating_add(self.limits.ceiling_ms);
                match self.extended(message, extra_s, commit.limit_ms, ceiling_ms) {
                    Ok(limit_ms) => {
                        commit.limit_ms = limit_ms;
                        Turn::answered(Phase::Notified(commit), Answer::Processed)
                    }
                    Err(answer) => Turn::abort(answer),
                }
            }
            Phase::Uploading(mut upload) => {
                let Some(ceiling_ms) = upload.ceiling_ms else {
                    return Turn::answered(Phase::Uploading(upload), Answer::Failed);
                };
                match self.extended(message, extra_s, upload.limit_ms, ceiling_ms) {
                    Ok(limit_ms) => {
                        upload.limit_ms = limit_ms;
                        Turn::answered(Phase::Uploading(upload), Answer::Processed)
                    }
                    Err(answer) => Turn::abort(answer),
                }
            }
            // There is no limit that could run out.
            Phase::Resumed { end } => Turn::answered(Phase::Resumed { end }, Answer::Processed),
            Phase::PartialConsuming(_)
            | Phase::Holding(_)
            | Phase::Decided(_)
            | Phase::Notified(_)
            | Phase::Committed { .. }
            | Phase::Aborted => Turn::answered(phase, Answer::Failed),
        }
    }

    /// The new limit, ms; or the answer of a machine that ends, as the lease has run out or would be too long.
    fn extended(
        &self,
        message: Message,
        extra_s: u32,
        limit_ms: u64,
        ceiling_ms: u64,
    ) -> Result<u64, Answer> {
        if message.at_ms > limit_ms {
            return Err(Answer::Hold(message.offset));
        }
        let extra_s = if extra_s == 0 { self.limits.lease_s } else { extra_s };
        let wanted_ms = message.at_ms.saturating_add(u64::from(extra_s) * 1000);
        if wanted_ms > ceiling_ms {
            return Err(Answer::Failed);
        }
        Ok(wanted_ms)
    }
}
