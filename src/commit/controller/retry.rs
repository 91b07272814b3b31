//! The retry of uploads: what is only on servers is stored (dossier 9.4).

use super::super::effect::{ControllerEffect as Effect, Expected};
use super::super::event::{ControllerOutcome as Outcome, Found, Input, Task};
use super::super::guard::Guard;
use super::super::message::{Order, Report, Tell};
use super::super::object::{
    Location, ObjectId, Record, ReplicaState, Sealed, SegmentId, Status, View,
};
use super::Turn;
use super::state::{Chore, Retry as Stage, Stale, Write};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// `None` if what was outstanding cannot end so. Whatever fails is left to the next run.
    pub(super) fn retry(&mut self, task: Task, stage: Stage, outcome: Outcome) -> Option<()> {
        match (stage, outcome) {
            (Stage::Records(input), Outcome::Records(records)) => {
                if let Some(stale) = self.candidate(input, records) {
                    self.go_on(task, Chore::Retry(Stage::View(stale)), Effect::ReadView);
                }
            }
            (Stage::View(stale), Outcome::View(view)) => self.ask_for_upload(task, stale, &view),
            (Stage::Uploading(stale), Outcome::Reported(Report::Uploaded { copy, stored })) => {
                self.uploaded(task, &stale, &copy, stored);
            }
            (Stage::Uploading(_), Outcome::Reported(_)) => {}
            (Stage::Promoting(write), Outcome::Applied) => {
                let object = ObjectId { segment: write.segment, attempt: None };
                let location = Some(Location::Object(object));
                let record = Record { location, ..write.record };
                self.write(task, Write { record, ..write });
            }
            (
                Stage::Writing(_),
                Outcome::Applied | Outcome::Precondition | Outcome::Failed | Outcome::Unknown,
            ) => {}
            (_, Outcome::Failed | Outcome::Unknown) => {}
            (_, _) => return None,
        }
        Some(())
    }

    /// A segment that is not stored though it should be, beginning at one of them.
    fn candidate(&mut self, input: Input, records: Vec<(SegmentId, Found)>) -> Option<Stale> {
        let left: Vec<_> = records.into_iter().filter(|(_, f)| self.is_unstored(f)).collect();
        let at = input.pick as usize % left.len().max(1);
        let (segment, found) = left.into_iter().nth(at)?;
        Some(Stale { segment, found, pick: input.pick })
    }

    fn is_unstored(&mut self, found: &Found) -> bool {
        let old = found.age_ms > self.limits.age_limit_ms;
        match found.record.status {
            Status::Committing => old && self.judge.applies(Guard::RetryCommitting),
            Status::Done => old && found.record.location == Some(Location::Peers),
            Status::InProgress | Status::Uploaded => false,
        }
    }

    fn ask_for_upload(&mut self, task: Task, mut stale: Stale, view: &View) {
        let peers: Vec<_> = view.servers(stale.segment, ReplicaState::Online).collect();
        let picked = peers.get(stale.pick as usize % peers.len().max(1)).copied();
        if let Some(server) = picked {
            // Nothing hangs on it any more.
            stale.pick = 0;
            let order = Order { server, segment: stale.segment, body: Tell::Upload };
            self.go_on(task, Chore::Retry(Stage::Uploading(stale)), Effect::Call(order));
        }
    }

    fn uploaded(&mut self, task: Task, stale: &Stale, copy: &Sealed, stored: ObjectId) {
        let Stale { segment, found, .. } = stale;
        let Some(end) = found.record.end else { return };
        if !self.fits(&found.record, end, copy) {
            return;
        }
        // Before #14506 the location was set, and the checksum that the record had was left.
        let known = found.record.crc.filter(|_| !self.judge.keeps(Guard::OwnChecksum));
        let crc = known.unwrap_or(copy.crc);
        let record = found.record.done(end, crc, Location::Object(stored));
        let write = Write { segment: *segment, record, version: found.version };
        if self.judge.keeps(Guard::OwnObject) {
            return self.write(task, write);
        }
        self.go_on(task, Chore::Retry(Stage::Promoting(write)), Effect::Promote(stored));
    }

    fn write(&mut self, task: Task, write: Write) {
        let compares = self.judge.keeps(Guard::RetryCompares);
        let expected = if compares { Expected::Version(write.version) } else { Expected::Anything };
        let effect = Effect::WriteRecord(write.segment, write.record.clone(), expected);
        self.go_on(task, Chore::Retry(Stage::Writing(write)), effect);
    }
}
