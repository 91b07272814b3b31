//! How a machine begins (dossier 6.1).

use super::super::object::Status;
use super::Completion;
use super::answer::{Answer, Found, Mode, Record};
use super::message::{Kind, Message};
use super::rule::{Committing, Rule};
use super::state::{Gathering, Phase, State};
use super::turn::Turn;
use crate::collections::Table;

impl Completion {
    /// Makes a machine from metadata and gives it the message. Without metadata, or with some that is committed
    /// but has no end, there is no machine and the message fails.
    pub(super) fn create(&self, found: Option<Found>, message: Message) -> Turn {
        let Some((found, record)) = found.and_then(|found| Some((found, found.record?))) else {
            return Turn::answered(State::Absent, Answer::Failed);
        };
        let (phase, rule) = self.first_phase(found, record, message);
        let Some(phase) = phase else {
            return Turn::answered(State::Absent, Answer::Failed);
        };
        let turn = self.take(phase, message);
        match rule {
            Some(rule) => turn.because(rule),
            None => turn,
        }
    }

    /// The first phase, and the rule that chose it.
    fn first_phase(
        &self,
        found: Found,
        record: Record,
        message: Message,
    ) -> (Option<Phase>, Option<Rule>) {
        let committed = record.end.map(|end| Phase::Committed { end });
        let gathering = || Some(self.gathering(found, record, message));
        match record.status {
            Status::InProgress => (gathering(), None),
            Status::Done => (committed, None),
            Status::Uploaded if self.rules.uploaded_is_done => {
                (committed, Some(Rule::UploadedIsDone))
            }
            Status::Uploaded => (gathering(), None),
            Status::Committing => match (self.rules.committing, found.mode) {
                (Committing::Resume, _) => {
                    (record.end.map(|end| Phase::Resumed { end }), Some(Rule::ResumeCommit))
                }
                (Committing::Keep, Mode::Pauseless) => (committed, None),
                (Committing::Keep, Mode::Blocking) | (Committing::Hold, _) => (gathering(), None),
            },
        }
    }

    fn gathering(&self, found: Found, record: Record, message: Message) -> Phase {
        let gathering = Gathering {
            mode: found.mode,
            replicas: record.replicas,
            started_ms: message.at_ms,
            initial_ms: self.limits.initial_ms(found.longest_ms),
            reports: Table::new(),
            excluded: Table::new(),
        };
        match message.kind {
            Kind::Stopped => Phase::PartialConsuming(gathering),
            Kind::Consumed(_)
            | Kind::CommitStart
            | Kind::CommitEnd
            | Kind::Extend { .. }
            | Kind::BuildFailed { .. } => Phase::Holding(gathering),
        }
    }
}
