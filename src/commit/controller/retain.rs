//! Retention: completed segments whose rows are old enough are deleted (dossier 11).
//!
//! First from the ideal state, which says which segments there are (I9), then their records. What is in the deep store
//! belongs to no segment then, and is left to whoever cleans up there.

use super::super::effect::{Change, ControllerEffect as Effect};
use super::super::event::{ControllerOutcome as Outcome, Found, Task};
use super::super::guard::Guard;
use super::super::object::{IdealState, SegmentId, Status};
use super::Turn;
use super::state::{Chore, Retain as Stage};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// `None` if what was outstanding cannot end so. Whatever fails is left to the next run.
    pub(super) fn retain(&mut self, task: Task, stage: Stage, outcome: Outcome) -> Option<()> {
        let Task::Retain(partition) = task else { return None };
        match (stage, outcome) {
            (Stage::Ideal(first), Outcome::Ideal(ideal, version)) => {
                let stage = Stage::Records(first, ideal, version);
                self.go_on(task, Chore::Retain(stage), Effect::ListRecords(partition));
            }
            (Stage::Records(first, ideal, version), Outcome::Records(records)) => {
                let mut expired = self.expired(first, &ideal, &records);
                let listed = expired.iter().filter(|id| ideal.segments.contains_key(id));
                let changes: Vec<_> = listed.map(|id| Change::Remove(*id)).collect();
                expired.reverse();
                if changes.is_empty() {
                    self.delete_next(task, expired);
                } else {
                    let effect = Effect::WriteIdeal(version, changes);
                    self.go_on(task, Chore::Retain(Stage::Delisting(expired)), effect);
                }
            }
            (Stage::Delisting(expired), Outcome::Applied) => self.delete_next(task, expired),
            (Stage::Deleting(mut expired), Outcome::Applied | Outcome::Precondition) => {
                expired.pop();
                self.delete_next(task, expired);
            }
            (_, Outcome::Precondition | Outcome::Failed | Outcome::Unknown) => {}
            (_, _) => return None,
        }
        Some(())
    }

    fn delete_next(&mut self, task: Task, expired: Vec<SegmentId>) {
        let Some(next) = expired.last().copied() else { return };
        self.go_on(task, Chore::Retain(Stage::Deleting(expired)), Effect::DeleteRecord(next));
    }

    /// The completed segments before this one, but for one that says where the next one starts. Upstream takes the
    /// last that is DONE for it, though a later one may have been replaced by an upload (R12). What is not listed was
    /// taken for litter once, and deleted as it was about to be listed (C9).
    fn expired(
        &mut self,
        first: u32,
        ideal: &IdealState,
        records: &[(SegmentId, Found)],
    ) -> Vec<SegmentId> {
        let last = |is: fn(Status) -> bool| {
            records.iter().rfind(|(_, found)| is(found.record.status)).map(|(id, _)| *id)
        };
        let done = last(|status| status == Status::Done);
        let end = last(|status| status != Status::InProgress);
        let is_old = |id: SegmentId| id.sequence < first;
        let differ = end != done && end.is_some_and(is_old);
        let spared = if differ && self.judge.applies(Guard::KeepEnd) { end } else { done };
        let completed = records.iter().filter(|(_, found)| found.record.status.is_completed());
        let old = completed.map(|(id, _)| *id).filter(|id| is_old(*id) && Some(*id) != spared);
        let mut expired: Vec<_> = old.collect();
        let is_litter = |(id, found): &&(SegmentId, Found)| {
            found.record.status == Status::InProgress && !ideal.segments.contains_key(id)
        };
        let litter: Vec<_> = records.iter().filter(is_litter).map(|(id, _)| *id).collect();
        if !litter.is_empty() && !self.judge.applies(Guard::RetainCompleted) {
            expired.extend(litter);
        }
        expired
    }
}
