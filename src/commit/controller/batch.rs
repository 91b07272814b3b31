//! Step 3 for all commits that have come to it: the ideal state is read once and written once (dossier 4, 6.5).
//!
//! Whoever comes while the ideal state is being read is of the batch; whoever comes later waits for the next one. What
//! came of the write counts for each. Upstream, a member that is refused fails them all (R3, group commit): there each is
//! a function that changes what was read, and an exception ends the run of all of them.
//!
//! The validator, retention and whoever takes a replica out write for themselves, as they wait for other reads as well.

use super::super::effect::{Change, ControllerEffect as Effect};
use super::super::event::ControllerOutcome as Outcome;
use super::super::guard::Guard;
use super::super::object::{IdealState, ReplicaState, SegmentId, Version};
use super::Turn;
use super::commit::{is_duplicate, servers};
use super::state::{Batch, Errand, Owed, Stage};
use crate::guard::Guards;

/// What an ideal state says to a commit in step 3.
enum Verdict {
    /// It is to be changed like this; and whether the next segment begins with it.
    Write(Vec<Change>, bool),
    /// Somebody has done so already.
    Done,
    /// It cannot be.
    Refused,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    /// The commit has come to step 3.
    pub(super) fn switch(&mut self, segment: SegmentId, errand: Errand, next: Option<SegmentId>) {
        self.state.errands.insert(segment, Errand { stage: Stage::Listing(next), ..errand });
        self.read_for_batch();
    }

    /// The ideal state is read for whoever waits, unless a batch has something outstanding.
    fn read_for_batch(&mut self) {
        let is_busy = self.state.outstanding.values().any(|owed| *owed == Owed::Batch);
        if !is_busy && !self.those(is_waiting).is_empty() {
            self.issue(Effect::ReadIdeal, Owed::Batch);
        }
    }

    /// `None` if what was outstanding cannot end so.
    pub(super) fn batch_goes_on(&mut self, outcome: Outcome) -> Option<()> {
        let is_judged = self.state.batch.is_some();
        let is_written = !is_judged && !self.those(is_in).is_empty();
        match outcome {
            Outcome::Record(found) if is_judged => {
                let young = found.is_some_and(|found| found.age_ms <= self.limits.age_limit_ms);
                self.judge_one(young);
                self.judge_batch();
            }
            Outcome::Ideal(ideal, version) if !is_judged && !is_written => {
                self.gather(ideal, version);
                self.judge_batch();
            }
            Outcome::Applied if is_written => self.written(),
            // Upstream tries again on any error, and so reads what came of it.
            Outcome::Precondition | Outcome::Unknown if is_written => self.try_again(),
            Outcome::Failed | Outcome::Unknown | Outcome::Precondition => {
                let all = if is_judged || is_written { is_in } else { is_waiting };
                self.fail_all(all);
            }
            Outcome::Record(_)
            | Outcome::Records(_)
            | Outcome::Ideal(..)
            | Outcome::View(_)
            | Outcome::Stream(_)
            | Outcome::Latest(..)
            | Outcome::Applied
            | Outcome::Reported(_) => return None,
        }
        self.read_for_batch();
        Some(())
    }

    /// Commits in step 3, as far as this, in the order of their segments.
    fn those(&self, so_far: fn(Stage) -> bool) -> Vec<SegmentId> {
        let all = self.state.errands.iter().filter(|(_, errand)| so_far(errand.stage));
        all.map(|(segment, _)| *segment).collect()
    }

    /// Whoever waits is of the batch that this was read for.
    fn gather(&mut self, ideal: IdealState, version: Version) {
        for segment in self.those(is_waiting) {
            self.moves_on(segment, Stage::Ageing);
        }
        self.state.batch = Some(Batch { ideal, version, changes: Vec::new() });
    }

    /// Judges who is not judged yet, and writes when all are. Upstream reads how old each record is.
    fn judge_batch(&mut self) {
        while let Some(segment) = self.those(is_ageing).first().copied() {
            if !self.judge.keeps(Guard::NoAgeRefusal) {
                return self.issue(Effect::ReadRecord(segment), Owed::Batch);
            }
            self.judge_one(true);
        }
        let Some(Batch { version, changes, .. }) = self.state.batch.take() else { return };
        if !changes.is_empty() {
            self.issue(Effect::WriteIdeal(version, changes), Owed::Batch);
        }
    }

    /// The next member. Upstream refuses one whose record has become too old meanwhile.
    fn judge_one(&mut self, is_young: bool) {
        let Some(segment) = self.those(is_ageing).first().copied() else { return };
        let Some(Stage::Ageing(next)) = self.state.errands.get(&segment).map(|of| of.stage) else {
            return;
        };
        let verdict = if is_young { self.verdict(segment, next) } else { Verdict::Refused };
        match verdict {
            Verdict::Write(changes, begins) => {
                if let Some(batch) = &mut self.state.batch {
                    batch.changes.extend(changes);
                }
                self.moves_on(segment, |next| Stage::Switching { next, begins });
            }
            Verdict::Done => self.take(segment, |turn, errand| turn.end(segment, errand, true)),
            Verdict::Refused => self.refuse(segment),
        }
    }

    fn verdict(&mut self, segment: SegmentId, next: Option<SegmentId>) -> Verdict {
        let Some(Batch { ideal, changes, .. }) = &self.state.batch else { return Verdict::Refused };
        if !ideal.has(segment, ReplicaState::Consuming) {
            let listed = ideal.has(segment, ReplicaState::Online);
            let done = listed && self.judge.applies(Guard::DoneAgain);
            return if done { Verdict::Done } else { Verdict::Refused };
        }
        if next.is_some_and(|next| is_duplicate(ideal, next) || is_doubled(changes, next)) {
            return Verdict::Refused;
        }
        let mut changes = vec![Change::Set(segment, ReplicaState::Online)];
        let listed = next.filter(|_| !ideal.is_paused);
        changes.extend(listed.map(|next| Change::Add(next, servers(ideal, segment))));
        Verdict::Write(changes, listed.is_some())
    }

    /// It is left out, and the others go on; upstream they all fail with it.
    fn refuse(&mut self, segment: SegmentId) {
        let is_alone = self.those(is_in).len() == 1;
        if is_alone || self.judge.applies(Guard::BatchApart) {
            self.take(segment, |turn, errand| turn.fail(segment, errand));
        } else {
            self.fail_all(is_in);
        }
    }

    fn fail_all(&mut self, of: fn(Stage) -> bool) {
        self.state.batch = None;
        for segment in self.those(of) {
            self.take(segment, |turn, errand| turn.fail(segment, errand));
        }
    }

    fn written(&mut self) {
        let keeps = self.judge.keeps(Guard::NoCleanUp);
        for segment in self.those(is_in) {
            self.take(segment, |turn, errand| match errand.stage {
                Stage::Switching { next: Some(next), begins: false } if !keeps => {
                    turn.clean_up(segment, errand, next, true);
                }
                _ => turn.end(segment, errand, true),
            });
        }
    }

    fn try_again(&mut self) {
        for segment in self.those(is_in) {
            self.moves_on(segment, Stage::Listing);
        }
    }

    /// It leaves the batch.
    fn take(&mut self, segment: SegmentId, then: impl FnOnce(&mut Self, Errand)) {
        if let Some(errand) = self.state.errands.remove(&segment) {
            then(self, errand);
        }
    }

    fn moves_on(&mut self, segment: SegmentId, to: impl FnOnce(Option<SegmentId>) -> Stage) {
        if let Some(errand) = self.state.errands.get_mut(&segment)
            && let Some(next) = errand.stage.in_step_3()
        {
            errand.stage = to(next);
        }
    }
}

fn is_waiting(stage: Stage) -> bool {
    matches!(stage, Stage::Listing(_))
}

fn is_ageing(stage: Stage) -> bool {
    matches!(stage, Stage::Ageing(_))
}

/// Whether it is of the batch that is judged or written.
fn is_in(stage: Stage) -> bool {
    matches!(stage, Stage::Ageing(_) | Stage::Switching { .. })
}

/// Whether a member before this one lists another segment of the same place in the chain.
fn is_doubled(changes: &[Change], next: SegmentId) -> bool {
    let place = |id: SegmentId| (id.partition, id.sequence);
    changes.iter().any(|change| match change {
        Change::Add(id, _) | Change::Begin(id) => *id != next && place(*id) == place(next),
        Change::Set(..) | Change::SetReplica(..) | Change::Remove(_) => false,
    })
}
