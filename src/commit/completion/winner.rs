//! Replicas report, and one of them becomes the winner.

use super::super::object::ServerId;
use super::Completion;
use super::answer::Answer;
use super::message::{Message, Reason};
use super::state::{Commit, Gathering, Phase};
use super::turn::Turn;

impl Completion {
    /// A replica has reported, and there is no winner yet.
    pub(super) fn gather(
        &self,
        mut gathering: Gathering,
        message: Message,
        reason: Option<Reason>,
    ) -> Turn {
        gathering.excluded.remove(&message.from);
        gathering.reports.insert(message.from, message.offset);
        let Some((winner, offset)) = self.winner(&gathering, message, reason) else {
            return Turn::answered(Phase::Holding(gathering), Answer::Hold(message.offset));
        };
        let commit = gathering.won_by(winner, offset);
        if winner == message.from {
            let answer = commit.order();
            return Turn::answered(Phase::Notified(commit), answer);
        }
        Turn::answered(Phase::Decided(commit), Answer::CatchUp(offset))
    }

    /// The winner and its offset, if one can be picked (dossier 6.1).
    ///
    /// Reports are compared in number with the replicas that have not given up: a report of one that has is still
    /// counted, and may still win. Where upstream takes whichever of two equal ones its hash table gives first, the
    /// least name wins here (our reading: any of them may).
    fn winner(
        &self,
        gathering: &Gathering,
        message: Message,
        reason: Option<Reason>,
    ) -> Option<(ServerId, u64)> {
        let reported = gathering.reports.len();
        if reported == 1 && reason.is_some_and(Reason::is_equal_for_all) {
            return Some((message.from, message.offset));
        }
        let waited = message.at_ms > gathering.started_ms.saturating_add(self.limits.pick_ms);
        let all = reported + gathering.excluded.len() == usize::from(gathering.replicas);
        if !waited && !all {
            return None;
        }
        let highest = gathering.reports.values().copied().max()?;
        if message.offset == highest {
            return Some((message.from, highest));
        }
        let (winner, _) = gathering.reports.iter().find(|(_, offset)| **offset == highest)?;
        Some((*winner, highest))
    }
}

impl Gathering {
    /// There is a winner: who reported what is not asked any more.
    fn won_by(self, winner: ServerId, offset: u64) -> Commit {
        Commit {
            mode: self.mode,
            started_ms: self.started_ms,
            initial_ms: self.initial_ms,
            limit_ms: self.limit_ms(),
            winner,
            offset,
            excluded: self.excluded,
        }
    }
}

impl Commit {
    /// COMMIT, with the time there was from the machine's start, leases included.
    pub(super) fn order(&self) -> Answer {
        let build_s = self.limit_ms.saturating_sub(self.started_ms) / 1000;
        Answer::Commit { offset: self.offset, build_s }
    }
}
