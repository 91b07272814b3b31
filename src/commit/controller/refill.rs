//! The completion of a segment that was read from the stream again: kept apart from the ordinary upload
//! (dossier 10, steps 5 to 7). Any controller does it, whether it leads or not; the record decides, and the answer says
//! why not ([`RefillStatus`]).

use super::super::effect::{ControllerEffect as Effect, Expected};
use super::super::event::{ControllerOutcome as Outcome, Found, Refusal};
use super::super::guard::Guard;
use super::super::message::{Caller, Order, RefillStatus, Report, Tell};
use super::super::object::{
    Location, ObjectId, Range, Record, ReplicaState, Sealed, SegmentId, ServerId, Status, View,
};
use super::Turn;
use super::commit::servers;
use super::state::{Owed, Refill, RefillStage as Stage};
use crate::guard::Guards;

type Key = (SegmentId, ServerId);

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn refill(
        &mut self,
        caller: Caller<ServerId>,
        segment: SegmentId,
        copy: Sealed,
        stored: ObjectId,
    ) -> Result<(), Refusal> {
        let key = (segment, caller.process);
        if self.state.refills.contains_key(&key) {
            return Err(Refusal::Busy(segment));
        }
        let refill = Refill { caller, copy, stored, stage: Stage::Reading };
        self.refill_proceeds(key, refill, Stage::Reading, Effect::ReadRecord(segment));
        Ok(())
    }

    fn refill_proceeds(&mut self, key: Key, refill: Refill, stage: Stage, effect: Effect) {
        self.state.refills.insert(key, Refill { stage, ..refill });
        self.issue(effect, Owed::Refill(key.0, key.1));
    }

    /// `None` if what was outstanding cannot end so.
    pub(super) fn refill_goes_on(&mut self, key: Key, outcome: Outcome) -> Option<()> {
        let refill = self.state.refills.remove(&key)?;
        match (refill.stage.clone(), outcome) {
            (Stage::Reading, Outcome::Record(found)) => self.refill_read(key, refill, found),
            (Stage::Listing(found), Outcome::Ideal(ideal, _)) => {
                // Whoever has sent the copy comes last: nothing else is known that would tell them apart.
                let mut listed = servers(&ideal, key.0);
                let next = listed.partition_point(|server| *server <= key.1);
                listed.rotate_left(next);
                listed.reverse();
                self.ask_next(key, refill, found, listed);
            }
            (Stage::Asking(found, left), Outcome::Reported(Report::Supplies(false))) => {
                self.ask_next(key, refill, found, left);
            }
            (Stage::Asking(..), Outcome::Reported(Report::Supplies(true))) => {
                self.answer_refill(&refill, RefillStatus::Suppliable);
            }
            (Stage::Promoting(found), Outcome::Applied) => {
                let stored = ObjectId { attempt: None, ..refill.stored };
                self.write_refill(key, Refill { stored, ..refill }, &found);
            }
            (Stage::Writing, Outcome::Applied) => {
                self.refill_proceeds(key, refill, Stage::Viewing, Effect::ReadView);
            }
            // Whoever wrote it first was as good; if it was this write, the segment is done.
            (Stage::Writing, Outcome::Unknown) if self.judge.applies(Guard::DoneAgain) => {
                self.refill_proceeds(key, refill, Stage::Reading, Effect::ReadRecord(key.0));
            }
            (Stage::Viewing, Outcome::View(view)) => {
                self.reset_after(key.0, &view);
                self.answer_refill(&refill, RefillStatus::Done);
            }
            (stage, outcome) => self.answer_refill(&refill, failure(&stage, &outcome)?),
        }
        Some(())
    }

    fn answer_refill(&mut self, refill: &Refill, status: RefillStatus) {
        self.tell(Effect::AnswerRefill(refill.caller, status));
    }

    fn refill_read(&mut self, key: Key, refill: Refill, found: Option<Found>) {
        let (found, range) = match committing(found) {
            Ok(found) => found,
            Err(status) => return self.answer_refill(&refill, status),
        };
        if !self.judge.demands(Guard::MatchRange, refill.copy.rows.range == range) {
            return self.answer_refill(&refill, RefillStatus::OtherRange);
        }
        let whole = refill.copy.rows.covers(range, &found.record.lost);
        // Others may have what the stream has no more.
        if !whole && self.judge.applies(Guard::GapByAll) {
            return self.refill_proceeds(key, refill, Stage::Listing(found), Effect::ReadIdeal);
        }
        self.store_refill(key, refill, found);
    }

    fn ask_next(&mut self, key: Key, refill: Refill, found: Found, mut left: Vec<ServerId>) {
        match left.pop() {
            Some(server) => {
                let body = Tell::Exceed(refill.copy.rows.clone());
                let order = Order { server, segment: key.0, body };
                let stage = Stage::Asking(found, left);
                self.refill_proceeds(key, refill, stage, Effect::Call(order));
            }
            None => self.store_refill(key, refill, found),
        }
    }

    fn store_refill(&mut self, key: Key, refill: Refill, found: Found) {
        if self.judge.keeps(Guard::OwnObject) {
            return self.write_refill(key, refill, &found);
        }
        let effect = Effect::Promote(refill.stored);
        self.refill_proceeds(key, refill, Stage::Promoting(found), effect);
    }

    fn write_refill(&mut self, key: Key, refill: Refill, found: &Found) {
        let Some(end) = found.record.end else {
            return self.answer_refill(&refill, RefillStatus::NotCommitting);
        };
        let location = Location::Object(refill.stored);
        let done = found.record.done(end, refill.copy.crc, location);
        let record = Record { lost: self.losses(&found.record, &refill.copy), ..done };
        let expected = Expected::Version(found.version);
        let effect = Effect::WriteRecord(key.0, record, expected);
        self.refill_proceeds(key, refill, Stage::Writing, effect);
    }

    /// What the copy has not is recorded as lost. A server that proves nothing says of nothing that it is missing.
    fn losses(&mut self, record: &Record, copy: &Sealed) -> Vec<Range> {
        let mut lost = record.lost.clone();
        if !self.judge.keeps(Guard::WholeRange) {
            return lost;
        }
        let new = copy.rows.missing.iter().filter(|gap| !lost.contains(gap));
        let new: Vec<_> = new.copied().collect();
        if !new.is_empty() {
            self.judge.applies(Guard::WholeRange);
        }
        lost.extend(new);
        lost.sort_unstable();
        lost
    }

    /// Whoever is in error downloads the copy that counts now. Upstream resets all.
    fn reset_after(&mut self, segment: SegmentId, view: &View) {
        let errors_only = self.judge.keeps(Guard::ResetErrorOnly);
        let replicas = view.segments.get(&segment).into_iter();
        let all: Vec<_> = replicas.flat_map(|r| r.iter().map(|(at, is)| (*at, *is))).collect();
        for (server, is) in all {
            if is == ReplicaState::Error || (!errors_only && is != ReplicaState::Offline) {
                self.tell(Effect::Reset(segment, server));
            }
        }
    }
}

/// A record that can be completed, and its range.
fn committing(found: Option<Found>) -> Result<(Found, Range), RefillStatus> {
    let found = found.ok_or(RefillStatus::NotFound)?;
    let range = match found.record.status {
        Status::Committing => found.record.range(),
        Status::Done | Status::Uploaded => return Err(RefillStatus::AlreadyDone),
        Status::InProgress => None,
    };
    Ok((found, range.ok_or(RefillStatus::NotCommitting)?))
}

/// What it means that an operation did not end well; `None` if it cannot end so.
fn failure(stage: &Stage, outcome: &Outcome) -> Option<RefillStatus> {
    match (stage, outcome) {
        (Stage::Viewing, Outcome::Failed | Outcome::Unknown) => Some(RefillStatus::NotReset),
        (Stage::Writing, Outcome::Precondition) => Some(RefillStatus::Overtaken),
        (Stage::Writing, Outcome::Unknown) => Some(RefillStatus::Unknown),
        // What such a server has is not known.
        (Stage::Asking(..), Outcome::Reported(_)) => Some(RefillStatus::Failed),
        (_, Outcome::Failed | Outcome::Unknown) => Some(RefillStatus::Failed),
        (_, _) => None,
    }
}
