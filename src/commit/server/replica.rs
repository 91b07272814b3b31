//! A replica that consumes, and the commit that it may win (dossier 5).

use super::super::completion::{Answer, Kind, Mode, Reason};
use super::super::effect::ServerEffect as Effect;
use super::super::event::{Refusal, ServerOutcome as Outcome};
use super::super::guard::Guard;
use super::super::message::{Ask, Request};
use super::super::object::{
    Location, ObjectId, Range, Record, ReplicaState, Rows, Sealed, SegmentId, Status,
};
use super::Turn;
use super::state::{Local, Owed, Purpose, Replica, Stance, Work};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn transition(
        &mut self,
        segment: SegmentId,
        to: ReplicaState,
    ) -> Result<(), Refusal> {
        let mode = self.state.durable.mode;
        let known = self.state.replicas.get(&segment).cloned();
        let replica = known.unwrap_or_else(|| Replica::new(mode));
        if replica.work.is_locked() {
            return Err(Refusal::Locked(segment));
        }
        if replica.work.is_in_transition() {
            return Err(Refusal::InTransition(segment));
        }
        let was = match replica.work {
            Work::Sealed => Stance::Sealed,
            Work::Discarded => Stance::Discarded,
            Work::Retrying => Stance::Committing,
            Work::Consuming(_) | Work::Reporting(_) | Work::Building { .. } => Stance::Reading,
            _ => Stance::Closed,
        };
        match to {
            ReplicaState::Consuming | ReplicaState::Online if replica.shows == to => {
                return Err(Refusal::Unfit(segment));
            }
            ReplicaState::Error => return Err(Refusal::Unfit(segment)),
            ReplicaState::Consuming | ReplicaState::Online => {
                self.cancel(segment);
                self.state.replicas.insert(segment, replica);
                let work = Work::Opening { to, was };
                self.work(segment, work, Effect::ReadRecord(segment));
            }
            ReplicaState::Offline => {
                self.cancel(segment);
                self.state.replicas.insert(segment, replica);
                self.close(segment);
            }
            ReplicaState::Dropped => {
                self.cancel(segment);
                self.offloaded(segment);
                self.rest(segment, Work::Idle);
                self.state.replicas.remove(&segment);
                self.tell(Effect::Show(segment, ReplicaState::Dropped));
                self.delete(segment);
            }
        }
        Ok(())
    }

    /// To OFFLINE. The files stay, and so does memory: whether it is of use is asked when it is opened again.
    fn close(&mut self, segment: SegmentId) {
        let has = self.state.replicas.get(&segment).is_some_and(|r| r.memory.is_some());
        if has && !self.judge.applies(Guard::KeepMemory) {
            self.forget(segment);
        }
        self.offloaded(segment);
        self.rest(segment, Work::Idle);
        self.show(segment, ReplicaState::Offline);
    }

    fn forget(&mut self, segment: SegmentId) {
        if let Some(replica) = self.state.replicas.get_mut(&segment) {
            replica.memory = None;
        }
    }

    pub(super) fn delete(&mut self, segment: SegmentId) {
        if self.state.durable.disk.remove(&segment).is_some() {
            self.issue(Effect::Delete(segment), Owed::Nothing);
        }
    }

    pub(super) fn fails(&mut self, segment: SegmentId) {
        self.rest(segment, Work::Idle);
        self.show(segment, ReplicaState::Error);
    }

    /// The record has been read for OFFLINE to CONSUMING.
    pub(super) fn open(&mut self, segment: SegmentId, record: Option<Record>) {
        let Some(record) = record else { return self.fails(segment) };
        if record.status.is_completed() {
            self.rest(segment, Work::Discarded);
            return self.show(segment, ReplicaState::Consuming);
        }
        let local = self.state.durable.disk.get(&segment).map(|local| local.copy.clone());
        let whole = local.is_some_and(|copy| self.is_of(&record, &copy));
        if whole && record.status == Status::Committing && self.judge.applies(Guard::LocalFirst) {
            self.rest(segment, Work::Sealed);
            return self.show(segment, ReplicaState::Consuming);
        }
        // Upstream deletes whatever is there before it consumes (N4).
        if !self.judge.keeps(Guard::LocalFirst) {
            self.delete(segment);
        }
        if let Some(replica) = self.state.replicas.get_mut(&segment) {
            let kept = replica.memory.take().filter(|rows| rows.range.start == record.start);
            replica.memory = Some(kept.unwrap_or_else(|| Rows::from(record.start)));
            replica.row_limit = record.row_limit;
        }
        self.acquire(segment);
    }

    /// Whether a copy is of the whole range of a record.
    pub(super) fn is_of(&self, record: &Record, copy: &Sealed) -> bool {
        let range = record.range();
        range.is_some_and(|range| copy.rows.range == range && copy.rows.covers(range, &record.lost))
    }

    /// Reads the next row, or stops where there are enough.
    pub(super) fn consume(&mut self, segment: SegmentId, until: Option<u64>) {
        let Some(replica) = self.state.replicas.get(&segment) else { return };
        let Some(Range { start, end }) = replica.memory.as_ref().map(|rows| rows.range) else {
            return;
        };
        match until {
            Some(until) if end >= until => self.report(segment, None),
            None if end.saturating_sub(start) >= replica.row_limit => {
                self.report(segment, Some(Reason::RowLimit));
            }
            Some(_) | None => {
                let effect = Effect::Fetch(segment, end);
                self.work(segment, Work::Consuming(until), effect);
            }
        }
    }

    /// Upstream's transition throws. Nobody resets a replica in error beside one that is not, while nothing is committed
    /// (dossier 9.3).
    fn unread(&mut self, segment: SegmentId, work: Work) {
        if self.judge.applies(Guard::ReadAgain) {
            self.work(segment, work, Effect::PollRecord(segment));
        } else {
            self.fails(segment);
        }
    }

    /// Takes a row, or what the stream says instead, into memory.
    pub(super) fn take(
        &mut self,
        segment: SegmentId,
        outcome: &Outcome,
        until: Option<u64>,
    ) -> Option<()> {
        let whole = self.judge.keeps(Guard::WholeRange);
        let rows = self.state.replicas.get_mut(&segment).and_then(|r| r.memory.as_mut());
        take_row(rows?, outcome, until, whole)
    }

    pub(super) fn stop(&mut self, segment: SegmentId, reason: Reason) -> Result<(), Refusal> {
        let consuming = |replica: &Replica| replica.work == Work::Consuming(None);
        if !self.state.replicas.get(&segment).is_some_and(consuming) {
            return Err(Refusal::Unfit(segment));
        }
        self.cancel(segment);
        self.report(segment, Some(reason));
        Ok(())
    }

    /// It is in error, and nobody is to wait for it.
    pub(super) fn break_down(&mut self, segment: SegmentId) -> Result<(), Refusal> {
        let consuming = |replica: &Replica| matches!(replica.work, Work::Consuming(_));
        if !self.state.replicas.get(&segment).is_some_and(consuming) {
            return Err(Refusal::Unfit(segment));
        }
        self.cancel(segment);
        self.not_opened(segment);
        self.show(segment, ReplicaState::Error);
        self.say_stopped(segment);
        Ok(())
    }

    /// It is in error, and only the view tells.
    pub(super) fn throw(&mut self, segment: SegmentId) -> Result<(), Refusal> {
        let opens = |replica: &Replica| {
            matches!(replica.work, Work::Opening { to: ReplicaState::Consuming, .. })
        };
        if !self.state.replicas.get(&segment).is_some_and(opens) {
            return Err(Refusal::Unfit(segment));
        }
        self.cancel(segment);
        self.fails(segment);
        Ok(())
    }

    fn say_stopped(&mut self, segment: SegmentId) {
        let Some(end) = self.memory_end(segment) else { return };
        let body = Ask::Say(end, Kind::Stopped);
        self.work(segment, Work::Stopping, Effect::Call(Request { segment, body }));
    }

    fn report(&mut self, segment: SegmentId, reason: Option<Reason>) {
        let Some(end) = self.memory_end(segment) else { return };
        let body = Ask::Say(end, Kind::Consumed(reason));
        self.work(segment, Work::Reporting(reason), Effect::Call(Request { segment, body }));
    }

    fn memory_end(&self, segment: SegmentId) -> Option<u64> {
        let replica = self.state.replicas.get(&segment)?;
        replica.memory.as_ref().map(|rows| rows.range.end)
    }

    /// `None` if what was outstanding cannot end so.
    pub(super) fn replica_goes_on(&mut self, segment: SegmentId, outcome: Outcome) -> Option<()> {
        let work = self.state.replicas.get(&segment)?.work;
        match (work, outcome) {
            (Work::Opening { to: ReplicaState::Consuming, .. }, Outcome::Record(record)) => {
                self.open(segment, record);
            }
            (Work::Opening { was, .. }, Outcome::Record(record)) => {
                self.go_online(segment, was, record);
            }
            (Work::Opening { .. }, Outcome::Failed | Outcome::Unknown) => {
                self.unread(segment, work);
            }
            (Work::Acquiring, Outcome::Record(record)) => self.open(segment, record),
            (Work::Acquiring, Outcome::Failed | Outcome::Unknown) => self.acquire(segment),
            (Work::Consuming(until), outcome) => {
                if !matches!(outcome, Outcome::Failed | Outcome::Unknown) {
                    self.take(segment, &outcome, until)?;
                }
                self.consume(segment, until);
            }
            (Work::Reporting(reason), Outcome::Answered(answer)) => {
                self.answered(segment, reason, answer);
            }
            (Work::Retrying, Outcome::Answered(answer)) => self.answered(segment, None, answer),
            (Work::Reporting(reason), Outcome::Failed | Outcome::Unknown) => {
                self.report(segment, reason);
            }
            (Work::Stopping, Outcome::Answered(Answer::Processed)) => {
                self.rest(segment, Work::Idle);
            }
            (Work::Stopping, Outcome::Answered(_) | Outcome::Failed | Outcome::Unknown) => {
                self.say_stopped(segment);
            }
            (Work::Starting(end), Outcome::Answered(Answer::CommitContinue)) => {
                self.build_or_upload(segment, end);
            }
            (Work::Ending(_), Outcome::Answered(Answer::CommitSuccess)) => self.seal(segment),
            (Work::Starting(_), Outcome::Failed | Outcome::Unknown) => self.unheard(segment),
            (Work::Starting(_), Outcome::Answered(_)) => self.report(segment, None),
            (
                Work::Ending(_) | Work::Retrying,
                Outcome::Answered(_) | Outcome::Failed | Outcome::Unknown,
            ) => self.report(segment, None),
            (Work::Building { purpose, end, .. }, Outcome::Built { crc, attempt }) => {
                self.built(segment, purpose, end, crc, attempt);
            }
            (Work::Building { purpose, .. }, Outcome::Failed | Outcome::Unknown) => {
                self.not_built(segment, purpose);
            }
            (Work::Uploading(end), Outcome::Applied) => {
                let object = self.object(segment)?;
                self.finish(segment, end, Location::Object(object));
            }
            (Work::Uploading(end), Outcome::Failed | Outcome::Unknown) => {
                self.not_uploaded(segment, end);
            }
            (
                Work::Catching(_)
                | Work::Waiting
                | Work::Looking(_)
                | Work::Fetching(_)
                | Work::Comparing,
                outcome,
            ) => return self.online_goes_on(segment, work, outcome),
            (_, _) => return None,
        }
        Some(())
    }

    fn answered(&mut self, segment: SegmentId, reason: Option<Reason>, answer: Answer) {
        let Some(end) = self.memory_end(segment) else { return };
        match answer {
            Answer::CatchUp(until) if until > end => self.consume(segment, Some(until)),
            Answer::Discard => self.rest(segment, Work::Discarded),
            Answer::Keep(until) => self.build(segment, Purpose::Keep, until),
            Answer::Commit { offset, .. } => match self.mode(segment) {
                Mode::Pauseless => self.start(segment, offset),
                Mode::Blocking => self.build(segment, Purpose::Commit, offset),
            },
            Answer::CatchUp(_)
            | Answer::Hold(_)
            | Answer::NotLeader
            | Answer::Failed
            | Answer::CommitSuccess
            | Answer::CommitContinue
            | Answer::Processed
            | Answer::UploadSuccess => self.report(segment, reason),
        }
    }

    fn mode(&self, segment: SegmentId) -> Mode {
        let mode = self.state.durable.mode;
        self.state.replicas.get(&segment).map_or(mode, |replica| replica.mode)
    }

    fn start(&mut self, segment: SegmentId, end: u64) {
        let body = Ask::Say(end, Kind::CommitStart);
        self.work(segment, Work::Starting(end), Effect::Call(Request { segment, body }));
    }

    /// Its start may have gone through, and ONLINE come next (#17885). Upstream's replica was still COMMITTING then, and
    /// from there the only way was a download. So it was for the 3 s after a refusal, too, but a start that was refused
    /// has not changed the ideal state, and who repairs it waits for longer.
    fn unheard(&mut self, segment: SegmentId) {
        self.report(segment, None);
        if self.mode(segment) == Mode::Pauseless && !self.judge.applies(Guard::BuildUnheard) {
            self.rest(segment, Work::Retrying);
        }
    }

    /// The leader lets it go on: what comes next depends on the mode (dossier 0).
    fn build_or_upload(&mut self, segment: SegmentId, end: u64) {
        match self.mode(segment) {
            Mode::Pauseless => self.build(segment, Purpose::Commit, end),
            Mode::Blocking => self.upload(segment, end),
        }
    }

    /// Builds from memory. A copy of the same range that is there already is used again.
    pub(super) fn build(&mut self, segment: SegmentId, purpose: Purpose, end: u64) {
        let Some(rows) = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref()) else {
            return self.wait_for_copy(segment);
        };
        let range = Range { start: rows.range.start, end };
        let local = self.state.durable.disk.get(&segment);
        if local.is_some_and(|local| local.copy.rows.range == range) {
            return self.has_copy(segment, purpose, end);
        }
        self.build_begins(segment);
        self.rest(segment, Work::Building { purpose, end, running: false });
    }

    /// Gives out permits of the build semaphore: to commits and replicas first, then to reingestion (C6).
    pub(super) fn start_builds(&mut self) {
        while self.state.permits < self.limits.max_builds.max(1) {
            let queued = self.state.replicas.iter().find_map(|(id, replica)| match replica.work {
                Work::Building { purpose, end, running: false } => Some((*id, purpose, end)),
                _ => None,
            });
            let Some((segment, purpose, end)) = queued else {
                if self.start_job_build() {
                    continue;
                }
                return;
            };
            let replica = self.state.replicas.get(&segment);
            let rows = replica.and_then(|r| r.memory.as_ref()).map(|rows| rows.cut(end));
            let Some(rows) = rows else { return };
            self.take_permit();
            let work = Work::Building { purpose, end, running: true };
            self.work(segment, work, Effect::Build(segment, rows));
        }
    }

    fn built(
        &mut self,
        segment: SegmentId,
        purpose: Purpose,
        end: u64,
        crc: super::super::object::Crc,
        attempt: u64,
    ) {
        let replica = self.state.replicas.get(&segment);
        let rows = replica.and_then(|r| r.memory.as_ref()).map(|rows| rows.cut(end));
        let Some(rows) = rows else { return };
        let local = Local { copy: Sealed { crc, rows }, attempt };
        self.state.durable.disk.insert(segment, local);
        self.has_copy(segment, purpose, end);
    }

    /// Upstream waits for ONLINE, whatever the build was for. Where the leader commits in blocking mode nothing is fixed
    /// yet: if it went so with every replica, ONLINE would never come, and nobody looks for a segment that seems to be
    /// consumed.
    fn not_built(&mut self, segment: SegmentId, purpose: Purpose) {
        match purpose {
            Purpose::Commit if self.judge.applies(Guard::AskAgain) => self.report(segment, None),
            Purpose::Commit | Purpose::Keep => self.rest(segment, Work::Discarded),
            Purpose::Online => self.wait_for_copy(segment),
        }
    }

    fn has_copy(&mut self, segment: SegmentId, purpose: Purpose, end: u64) {
        match (purpose, self.mode(segment)) {
            (Purpose::Commit, Mode::Pauseless) => self.upload(segment, end),
            (Purpose::Commit, Mode::Blocking) => self.start(segment, end),
            (Purpose::Keep, _) => self.seal(segment),
            (Purpose::Online, Mode::Blocking) if self.compares_checksums() => {
                self.work(segment, Work::Comparing, Effect::ReadRecord(segment));
            }
            (Purpose::Online, _) => {
                self.seal(segment);
                self.show(segment, ReplicaState::Online);
            }
        }
    }

    /// The built copy takes the place of what is in memory.
    pub(super) fn seal(&mut self, segment: SegmentId) {
        self.forget(segment);
        self.offloaded(segment);
        self.rest(segment, Work::Sealed);
    }

    pub(super) fn object(&self, segment: SegmentId) -> Option<ObjectId> {
        let local = self.state.durable.disk.get(&segment)?;
        Some(ObjectId { segment, attempt: Some(local.attempt) })
    }

    fn upload(&mut self, segment: SegmentId, end: u64) {
        let crc = self.state.durable.disk.get(&segment).map(|local| local.copy.crc);
        match self.object(segment).zip(crc) {
            Some((object, crc)) => {
                self.work(segment, Work::Uploading(end), Effect::Upload(object, crc));
            }
            None => self.report(segment, None),
        }
    }

    fn finish(&mut self, segment: SegmentId, end: u64, stored: Location) {
        let local = self.state.durable.disk.get(&segment);
        let Some(copy) = local.map(|local| local.copy.clone()) else { return };
        let body = Ask::CommitEnd { offset: end, copy, stored };
        self.work(segment, Work::Ending(end), Effect::Call(Request { segment, body }));
    }

    /// Upstream commits with its peers as the only place to have it from. The verified server keeps its copy and asks
    /// again: where the end is fixed it is told to keep it, and the segment stays committing until somebody has stored
    /// it; where nothing is fixed, it begins again. Which of the two it is, its own mode does not tell: the leader may
    /// have begun this commit in the other one.
    fn not_uploaded(&mut self, segment: SegmentId, end: u64) {
        if !self.judge.applies(Guard::ObjectBeforeDone) {
            return self.finish(segment, end, Location::Peers);
        }
        self.report(segment, None);
    }
}

/// Adds what the stream gave. `None` if that is no row, or one that cannot be the next: of an offset that was read
/// already, or after which no other one can come.
///
/// Upstream's client goes on at the end of the stream where an offset is there no more, and does not see that rows
/// are missing (dossier 10); the verified server goes on at the first that is there, and knows.
pub(super) fn take_row(
    rows: &mut Rows,
    outcome: &Outcome,
    until: Option<u64>,
    whole: bool,
) -> Option<()> {
    let until = until.unwrap_or(u64::MAX);
    match outcome {
        Outcome::Row(offset) if *offset < rows.range.end || *offset == u64::MAX => return None,
        Outcome::Row(offset) if *offset < until => rows.read(*offset),
        Outcome::Row(_) => rows.skip_to(until),
        Outcome::Expired { first, end } => {
            rows.skip_to(if whole { *first } else { *end }.min(until));
        }
        _ => return None,
    }
    Some(())
}
