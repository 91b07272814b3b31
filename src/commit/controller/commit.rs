//! What the completion machine asks for: the first two metadata steps, and the end of a commit (dossier 6.4 to 6.8). The
//! third is taken for several commits at once ([`super::batch`]).
//!
//! Each operation is an effect of its own, so that anything may happen between two of them.

use super::super::completion::{self, Ask, Busy, Mode};
use super::super::effect::{Change, ControllerEffect as Effect, Expected};
use super::super::event::{ControllerOutcome as Outcome, Found};
use super::super::guard::Guard;
use super::super::object::{
    IdealState, Location, ObjectId, Offset, Record, ReplicaState, Replicas, SegmentId, Status,
    Version,
};
use super::Turn;
use super::state::{Errand, Owed, Stage};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn begin_errand(&mut self, segment: SegmentId, errand: Errand, ask: Ask) {
        let (stage, effect) = match ask {
            Ask::Record => (Stage::Making, Effect::ReadRecord(segment)),
            Ask::Start { .. } => (Stage::Reading, Effect::ReadRecord(segment)),
            Ask::Finish { .. } => match self.to_promote(&errand) {
                Some(object) => (Stage::Promoting, Effect::Promote(object)),
                None => (Stage::Reading, Effect::ReadRecord(segment)),
            },
            Ask::SetOffline(_) => (Stage::LookingUp, Effect::ReadIdeal),
            Ask::LowerRowLimit { .. } => (Stage::Weighing, Effect::ReadRecord(segment)),
        };
        self.proceed(segment, errand, stage, effect);
    }

    /// Upstream moves the object before metadata decides (dossier 6.4).
    fn to_promote(&self, errand: &Errand) -> Option<ObjectId> {
        let own = self.judge.keeps(Guard::OwnObject);
        match errand.cargo.as_ref().map(|cargo| cargo.stored) {
            Some(Location::Object(object)) if !own => Some(object),
            Some(Location::Object(_) | Location::Peers) | None => None,
        }
    }

    fn proceed(&mut self, segment: SegmentId, errand: Errand, stage: Stage, effect: Effect) {
        self.state.errands.insert(segment, Errand { stage, ..errand });
        self.issue(effect, Owed::Errand(segment));
    }

    /// `None` if what was outstanding cannot end so.
    pub(super) fn errand_goes_on(&mut self, segment: SegmentId, outcome: Outcome) -> Option<()> {
        let errand = self.state.errands.remove(&segment)?;
        match (errand.stage, outcome) {
            (Stage::Making, Outcome::Record(found)) => self.made(segment, errand, found),
            (Stage::Promoting, Outcome::Applied) => self.promoted(segment, errand),
            (Stage::Reading, Outcome::Record(found)) => self.decide(segment, errand, found?),
            (Stage::Closing, Outcome::Applied) => self.ask_stream(segment, errand),
            (Stage::Storing, Outcome::Applied) => self.end(segment, errand, true),
            (Stage::Closing | Stage::Storing, Outcome::Precondition | Outcome::Unknown) => {
                self.look_again(segment, errand);
            }
            (Stage::Streaming, Outcome::Stream(None)) => self.switch(segment, errand, None),
            (Stage::Streaming, Outcome::Stream(Some(_))) => self.measure(segment, errand),
            (Stage::Streaming | Stage::Measuring, Outcome::Failed | Outcome::Unknown) => {
                self.find_next(segment, errand);
            }
            (Stage::Measuring, Outcome::Latest(latest, then)) => {
                let start = self.reset_to(segment, latest, then);
                self.find_next(segment, Errand { start, ..errand });
            }
            (Stage::Pausing, Outcome::Ideal(ideal, _)) if ideal.is_paused => {
                self.switch(segment, errand, None);
            }
            (Stage::Pausing, Outcome::Ideal(..)) => {
                let next = after(segment, errand.minute);
                self.create(segment, errand, next);
            }
            (Stage::Finding, Outcome::Records(records)) => {
                self.found_next(segment, errand, &records);
            }
            (Stage::Creating(next), Outcome::Applied | Outcome::Precondition) => {
                self.switch(segment, errand, Some(next));
            }
            (Stage::Creating(next), Outcome::Unknown) => {
                if self.judge.applies(Guard::DoneAgain) {
                    self.create(segment, errand, next);
                } else {
                    self.fail(segment, errand);
                }
            }
            (Stage::CleaningUp { done }, _) => self.end(segment, errand, done),
            (Stage::LookingUp, Outcome::Ideal(ideal, version)) => {
                self.take_out(segment, errand, &ideal, version);
            }
            (Stage::TakingOut, Outcome::Applied) => self.taken_out(segment, errand),
            (Stage::TakingOut, Outcome::Precondition | Outcome::Unknown) => {
                self.proceed(segment, errand, Stage::LookingUp, Effect::ReadIdeal);
            }
            (Stage::Weighing, Outcome::Record(found)) => self.halve(segment, errand, found?),
            (Stage::Halving, Outcome::Applied) => {
                self.proceed(segment, errand, Stage::Restarting, Effect::ReadIdeal);
            }
            (Stage::Restarting, Outcome::Ideal(ideal, _)) => {
                let replicas = ideal.segments.get(&segment).into_iter();
                for (server, _) in replicas.flat_map(Replicas::iter) {
                    self.tell(Effect::Reset(segment, *server));
                }
                self.end(segment, errand, true);
            }
            (_, Outcome::Failed | Outcome::Unknown | Outcome::Precondition) => {
                self.fail(segment, errand);
            }
            (
                _,
                Outcome::Record(_)
                | Outcome::Records(_)
                | Outcome::Ideal(..)
                | Outcome::View(_)
                | Outcome::Stream(_)
                | Outcome::Latest(..)
                | Outcome::Applied
                | Outcome::Reported(_),
            ) => return None,
        }
        Some(())
    }

    fn made(&mut self, segment: SegmentId, errand: Errand, found: Option<Found>) {
        let record = found.map(|Found { record, .. }| completion::Record {
            status: record.status,
            end: record.end,
            replicas: record.replicas,
        });
        let (mode, longest_ms) = (self.state.durable.table.mode, self.state.longest_ms);
        let found = completion::Found { record, mode, longest_ms };
        self.give(segment, errand, completion::Outcome::Found(found));
    }

    /// Tells the machine how what it asked for ended.
    fn give(&mut self, segment: SegmentId, errand: Errand, outcome: completion::Outcome) {
        let machine = self.state.machines.get(&segment).cloned().unwrap_or_default();
        match self.completion.on_outcome(&machine, outcome) {
            Ok(turn) => self.said(segment, errand, turn),
            Err(_) => self.answer(errand.caller, completion::Answer::Failed),
        }
    }

    pub(super) fn end(&mut self, segment: SegmentId, errand: Errand, done: bool) {
        let outcome = if done { completion::Outcome::Done } else { completion::Outcome::Failed };
        self.give(segment, errand, outcome);
    }

    /// A commit that fails after its next segment's record was created takes it back, upstream (#17707).
    pub(super) fn fail(&mut self, segment: SegmentId, errand: Errand) {
        let next = errand.stage.in_step_3().flatten();
        match next {
            Some(next) if !self.judge.applies(Guard::NoCleanUp) => {
                self.clean_up(segment, errand, next, false);
            }
            _ => self.end(segment, errand, false),
        }
    }

    pub(super) fn clean_up(
        &mut self,
        segment: SegmentId,
        errand: Errand,
        next: SegmentId,
        done: bool,
    ) {
        let effect = Effect::DeleteRecord(next);
        self.proceed(segment, errand, Stage::CleaningUp { done }, effect);
    }

    fn promoted(&mut self, segment: SegmentId, mut errand: Errand) {
        if let Some(cargo) = &mut errand.cargo {
            cargo.stored = Location::Object(ObjectId { segment, attempt: None });
        }
        self.proceed(segment, errand, Stage::Reading, Effect::ReadRecord(segment));
    }

    fn busy(&self, segment: SegmentId) -> Option<&Busy> {
        match self.state.machines.get(&segment) {
            Some(completion::State::Busy(busy)) => Some(busy),
            Some(completion::State::Absent | completion::State::Idle(_)) | None => None,
        }
    }

    /// Where the commit under way ends the segment.
    fn end_offset(&self, segment: SegmentId) -> Option<u64> {
        match self.busy(segment)?.ask {
            Ask::Start { offset, .. } | Ask::Finish { offset, .. } => Some(offset),
            Ask::Record | Ask::SetOffline(_) | Ask::LowerRowLimit { .. } => None,
        }
    }

    /// How the machine commits.
    fn mode(&self, segment: SegmentId) -> Mode {
        match self.busy(segment).map(|busy| busy.ask) {
            Some(Ask::Finish { mode, .. }) => mode,
            Some(Ask::Start { .. }) => Mode::Pauseless,
            Some(Ask::Record | Ask::SetOffline(_) | Ask::LowerRowLimit { .. }) | None => {
                self.state.durable.table.mode
            }
        }
    }

    /// Step 1, or the end of a pauseless commit: what is written depends on what is there.
    fn decide(&mut self, segment: SegmentId, errand: Errand, found: Found) {
        let Some(end) = self.end_offset(segment) else { return self.fail(segment, errand) };
        let write = match &errand.cargo {
            None => self.close(&found, end),
            Some(cargo) => {
                let cargo = cargo.clone();
                self.finish(segment, &found, end, &cargo)
            }
        };
        match write {
            Some((stage, record)) => {
                let effect = Effect::WriteRecord(segment, record, Expected::Version(found.version));
                self.proceed(segment, errand, stage, effect);
            }
            None if self.is_done_already(&errand, &found.record, end) => {
                if errand.cargo.is_some() && self.mode(segment) == Mode::Pauseless {
                    self.end(segment, errand, true);
                } else {
                    self.ask_stream(segment, errand);
                }
            }
            None => self.fail(segment, errand),
        }
    }

    fn close(&mut self, found: &Found, end: u64) -> Option<(Stage, Record)> {
        let open = found.record.status == Status::InProgress && self.is_wanted(&found.record);
        let record = Record { status: Status::Committing, end: Some(end), ..found.record.clone() };
        open.then_some((Stage::Closing, record))
    }

    fn finish(
        &mut self,
        segment: SegmentId,
        found: &Found,
        end: u64,
        cargo: &super::state::Cargo,
    ) -> Option<(Stage, Record)> {
        let stage = match (found.record.status, self.mode(segment)) {
            (Status::InProgress, Mode::Blocking) => Stage::Closing,
            (Status::Committing, Mode::Pauseless) => Stage::Storing,
            (
                Status::InProgress | Status::Committing | Status::Done | Status::Uploaded,
                Mode::Blocking | Mode::Pauseless,
            ) => return None,
        };
        let young = found.age_ms <= self.limits.age_limit_ms;
        let is_object = matches!(cargo.stored, Location::Object(_));
        let may = (stage != Stage::Closing || self.is_wanted(&found.record))
            && (stage == Stage::Closing || self.judge_age(young))
            && self.judge.demands(Guard::ObjectBeforeDone, is_object)
            && self.fits(&found.record, found.record.end.unwrap_or(end), &cargo.copy);
        let end = found.record.end.unwrap_or(end);
        let record = found.record.done(end, cargo.copy.crc, cargo.stored);
        may.then_some((stage, record))
    }

    /// Whether an open segment is still to be committed: not one that all replicas gave up.
    fn is_wanted(&mut self, open: &Record) -> bool {
        self.judge.demands(Guard::EndGivenUp, !open.is_given_up())
    }

    /// Upstream refuses what is too old; with the guard, a lease that was granted is all that counts.
    fn judge_age(&mut self, is_young: bool) -> bool {
        is_young || self.judge.applies(Guard::NoAgeRefusal)
    }

    /// What looks like a failure is no failure if it is what was to be done (R2, C3).
    fn is_done_already(&mut self, errand: &Errand, record: &Record, end: u64) -> bool {
        let same = match &errand.cargo {
            None => record.status == Status::Committing && record.end == Some(end),
            Some(cargo) => {
                let same = record.crc == Some(cargo.copy.crc);
                same && record.location == Some(cargo.stored) && record.status == Status::Done
            }
        };
        same && self.judge.applies(Guard::DoneAgain)
    }

    fn look_again(&mut self, segment: SegmentId, errand: Errand) {
        if self.judge.applies(Guard::DoneAgain) {
            self.proceed(segment, errand, Stage::Reading, Effect::ReadRecord(segment));
        } else {
            self.fail(segment, errand);
        }
    }

    /// Step 2. A partition that has come to its end has no next segment; one of which the stream says nothing is taken
    /// to go on (dossier 6.5).
    fn ask_stream(&mut self, segment: SegmentId, errand: Errand) {
        let effect = Effect::ReadStream(segment.partition);
        self.proceed(segment, errand, Stage::Streaming, effect);
    }

    /// Step 2, where the next segment may begin later than this one ends (dossier 11).
    fn measure(&mut self, segment: SegmentId, errand: Errand) {
        let Some(reset) = self.state.durable.table.auto_reset else {
            return self.find_next(segment, errand);
        };
        let effect = Effect::ReadLatest(segment.partition, reset.seconds);
        self.proceed(segment, errand, Stage::Measuring, effect);
    }

    fn reset_to(&self, segment: SegmentId, latest: Offset, then: Option<Offset>) -> Option<Offset> {
        let end = self.end_offset(segment)?;
        let start = self.state.durable.table.auto_reset?.start(end, latest, then);
        (start > end).then_some(start)
    }

    /// A record that an earlier attempt has left is used again, and one is made even while consumption is paused: it
    /// waits to be listed. Upstream makes none then.
    fn find_next(&mut self, segment: SegmentId, errand: Errand) {
        let (stage, effect) = if self.judge.keeps(Guard::ListedOnly) {
            (Stage::Finding, Effect::ListRecords(segment.partition))
        } else {
            (Stage::Pausing, Effect::ReadIdeal)
        };
        self.proceed(segment, errand, stage, effect);
    }

    fn found_next(&mut self, segment: SegmentId, errand: Errand, records: &[(SegmentId, Found)]) {
        let Some(end) = self.end_offset(segment) else { return self.fail(segment, errand) };
        match reusable(segment, end, records) {
            Some(next) => {
                self.judge.applies(Guard::ListedOnly);
                self.switch(segment, errand, Some(next));
            }
            None => {
                let next = after(segment, errand.minute);
                self.create(segment, errand, next);
            }
        }
    }

    fn create(&mut self, segment: SegmentId, errand: Errand, next: SegmentId) {
        let Some(end) = self.end_offset(segment) else { return self.fail(segment, errand) };
        let table = self.state.durable.table;
        let start = errand.start.unwrap_or(end);
        let record = Record::starting_at(start, table.replicas, table.row_limit).after(end);
        let expected = self.creation();
        let effect = Effect::WriteRecord(next, record, expected);
        self.proceed(segment, errand, Stage::Creating(next), effect);
    }

    /// How a record is created.
    pub(super) fn creation(&self) -> Expected {
        if self.judge.keeps(Guard::CreateIfAbsent) { Expected::Absent } else { Expected::Anything }
    }

    fn take_out(
        &mut self,
        segment: SegmentId,
        errand: Errand,
        ideal: &IdealState,
        version: Version,
    ) {
        let Some(Ask::SetOffline(server)) = self.busy(segment).map(|busy| busy.ask) else {
            return self.fail(segment, errand);
        };
        let is = ideal.segments.get(&segment).and_then(|replicas| replicas.get(&server));
        if is != Some(&ReplicaState::Consuming) {
            return self.taken_out(segment, errand);
        }
        let change = Change::SetReplica(segment, server, ReplicaState::Offline);
        let effect = Effect::WriteIdeal(version, vec![change]);
        self.proceed(segment, errand, Stage::TakingOut, effect);
    }

    /// If the replica is in error it is taken to OFFLINE as well, as far as Helix does so (dossier 6.7).
    fn taken_out(&mut self, segment: SegmentId, errand: Errand) {
        if let Some(Ask::SetOffline(server)) = self.busy(segment).map(|busy| busy.ask) {
            self.tell(Effect::Reset(segment, server));
        }
        self.end(segment, errand, true);
    }

    /// A segment that cannot be built is to be smaller (dossier 6.8). Once its end is fixed it cannot be.
    fn halve(&mut self, segment: SegmentId, errand: Errand, found: Found) {
        let Some(Ask::LowerRowLimit { rows }) = self.busy(segment).map(|busy| busy.ask) else {
            return self.fail(segment, errand);
        };
        if found.record.status != Status::InProgress {
            return self.fail(segment, errand);
        }
        let row_limit = completion::row_limit(rows, found.record.row_limit);
        let record = Record { row_limit, ..found.record };
        let effect = Effect::WriteRecord(segment, record, Expected::Version(found.version));
        self.proceed(segment, errand, Stage::Halving, effect);
    }
}

/// The next segment's name.
pub(super) fn after(segment: SegmentId, minute: u32) -> SegmentId {
    SegmentId { sequence: segment.sequence.saturating_add(1), minute, ..segment }
}

/// A record of the next segment that was left: nobody consumes it yet, or it is the one that is consumed.
pub(super) fn reusable(
    segment: SegmentId,
    end: u64,
    records: &[(SegmentId, Found)],
) -> Option<SegmentId> {
    let next = segment.sequence.saturating_add(1);
    let fits = |record: &Record| record.status == Status::InProgress && record.follows(end);
    let mut left = records.iter().filter(|(id, _)| id.sequence == next);
    left.find(|(_, found)| fits(&found.record)).map(|(id, _)| *id)
}

/// Whether another segment of the same place in the chain is listed (I1).
pub(in super::super) fn is_duplicate(ideal: &IdealState, next: SegmentId) -> bool {
    ideal.of(next.partition).any(|(id, _)| id.sequence == next.sequence && id != next)
}

/// The servers that have replicas of a segment.
pub(super) fn servers(ideal: &IdealState, segment: SegmentId) -> Vec<super::ServerId> {
    let replicas = ideal.segments.get(&segment).into_iter();
    replicas.flat_map(|replicas| replicas.iter().map(|(server, _)| *server)).collect()
}
