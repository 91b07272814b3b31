//! Reingestion: a segment's range is read from the stream again (origin 2, dossier 10); and uploads that a controller
//! asks for (dossier 9.4).

use super::super::effect::ServerEffect as Effect;
use super::super::event::ServerOutcome as Outcome;
use super::super::guard::Guard;
use super::super::message::{Ask, Caller, Order, ReingestStatus, Report, Request, Tell};
use super::super::object::{
    ControllerId, ObjectId, Range, Record, ReplicaState, Rows, Sealed, SegmentId,
};
use super::Turn;
use super::replica::take_row;
use super::state::{Job, JobStage, Owed, Upload};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    pub(super) fn received(&mut self, caller: Caller<ControllerId>, order: Order, attempt: u64) {
        let Order { segment, body, .. } = order;
        match body {
            Tell::Supply(range) => {
                let supplies = self.supplies(segment, range);
                self.tell(Effect::Report(caller, Report::Supplies(supplies)));
            }
            Tell::Exceed(rows) => {
                let supplies = self.exceeds(segment, &rows);
                self.tell(Effect::Report(caller, Report::Supplies(supplies)));
            }
            Tell::Upload => self.upload_for(caller, segment, attempt),
            Tell::Reingest => self.reingest(caller, segment),
        }
    }

    /// Whether all rows of a range are in memory or on disk.
    fn supplies(&self, segment: SegmentId, range: Range) -> bool {
        let memory = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        let disk = self.state.durable.disk.get(&segment).map(|local| &local.copy.rows);
        memory.is_some_and(|rows| rows.covers(range, &[]))
            || disk.is_some_and(|rows| rows.range == range && rows.covers(range, &[]))
    }

    /// Whether a reingestion here, which begins with what is in memory, would bring more rows than these.
    fn exceeds(&self, segment: SegmentId, rows: &Rows) -> bool {
        let gaps = rows.gaps(rows.range);
        let first = gaps.last().map_or(rows.range.start, |gap| gap.end);
        let memory = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        let begins = |own: &&Rows| own.range.start == rows.range.start;
        memory.filter(begins).is_some_and(|own| own.improves(rows.range, &gaps, first))
            || !gaps.is_empty() && self.supplies(segment, rows.range)
    }

    fn upload_for(&mut self, caller: Caller<ControllerId>, segment: SegmentId, attempt: u64) {
        let serves = self.state.replicas.get(&segment).map(|replica| replica.shows);
        let serves = serves == Some(ReplicaState::Online);
        let copy = self.state.serves(segment).filter(|_| serves).cloned();
        let busy = self.state.uploads.contains_key(&segment);
        let Some(copy) = copy.filter(|_| !busy) else {
            return self.tell(Effect::Report(caller, Report::NotUploaded));
        };
        let object = ObjectId { segment, attempt: Some(attempt) };
        let crc = copy.crc;
        self.state.uploads.insert(segment, Upload { caller, copy, object });
        self.issue(Effect::Upload(object, crc), Owed::Upload(segment));
    }

    /// `None` if an upload cannot end so.
    pub(super) fn upload_ended(&mut self, segment: SegmentId, outcome: &Outcome) -> Option<()> {
        let Upload { caller, copy, object: stored } = self.state.uploads.remove(&segment)?;
        let report = match outcome {
            Outcome::Applied => Report::Uploaded { copy, stored },
            Outcome::Failed | Outcome::Unknown => Report::NotUploaded,
            _ => return None,
        };
        self.tell(Effect::Report(caller, report));
        Some(())
    }

    /// What is known at once is answered at once; what metadata says, once it has been read. Who is at work already is
    /// told so even where the limit is reached, so that a second request for a segment never looks like a refusal of it.
    fn reingest(&mut self, caller: Caller<ControllerId>, segment: SegmentId) {
        let refused = if !self.state.is_initialised {
            Some(ReingestStatus::NotReady)
        } else if !self.state.replicas.contains_key(&segment) {
            Some(ReingestStatus::NotFound)
        } else if self.state.jobs.contains_key(&segment) {
            Some(ReingestStatus::Conflict)
        } else if self.state.jobs.len() >= self.limits.max_jobs {
            Some(ReingestStatus::TooMany)
        } else {
            None
        };
        if let Some(status) = refused {
            return self.tell(Effect::Report(caller, Report::Reingest(status)));
        }
        let stage = JobStage::Opening(caller);
        let job = Job { rows: Rows::from(0), end: 0, stage };
        self.job_proceeds(segment, job, Effect::ReadRecord(segment));
    }

    fn job_proceeds(&mut self, segment: SegmentId, job: Job, effect: Effect) {
        self.state.jobs.insert(segment, job);
        self.issue(effect, Owed::Job(segment));
    }

    /// `None` if what was outstanding cannot end so. A job that fails ends: it is asked for again.
    pub(super) fn job_goes_on(&mut self, segment: SegmentId, outcome: Outcome) -> Option<()> {
        let Job { mut rows, end, stage } = self.state.jobs.remove(&segment)?;
        if stage == JobStage::Building {
            self.job_has_built();
        }
        match (stage, outcome) {
            (JobStage::Opening(caller), Outcome::Record(record)) => {
                let status = self.begin_job(segment, record);
                self.tell(Effect::Report(caller, Report::Reingest(status)));
            }
            (JobStage::Opening(caller), Outcome::Failed | Outcome::Unknown) => {
                let report = Report::Reingest(ReingestStatus::NotReady);
                self.tell(Effect::Report(caller, report));
            }
            (JobStage::Reading, outcome @ (Outcome::Row(_) | Outcome::Expired { .. })) => {
                let whole = self.judge.keeps(Guard::WholeRange);
                take_row(&mut rows, &outcome, Some(end), whole)?;
                self.read_on(segment, rows, end);
            }
            (JobStage::Building, Outcome::Built { crc, attempt }) => {
                let object = ObjectId { segment, attempt: Some(attempt) };
                let copy = Sealed { crc, rows: rows.clone() };
                let stage = JobStage::Uploading(copy, object);
                self.job_proceeds(segment, Job { rows, end, stage }, Effect::Upload(object, crc));
            }
            (JobStage::Uploading(copy, stored), Outcome::Applied) => {
                let request = Request { segment, body: Ask::Reingested { copy, stored } };
                let job = Job { rows, end, stage: JobStage::Completing };
                self.job_proceeds(segment, job, Effect::Call(request));
            }
            (JobStage::Completing, Outcome::Refilled(_)) => {}
            (
                JobStage::Reading
                | JobStage::Building
                | JobStage::Uploading(..)
                | JobStage::Completing,
                Outcome::Failed | Outcome::Unknown,
            ) => {}
            (_, _) => return None,
        }
        Some(())
    }

    /// Whatever came of it. Upstream forgot the permit, until #15097.
    fn job_has_built(&mut self) {
        if self.judge.applies(Guard::PermitBack) {
            self.give_back();
        }
    }

    fn begin_job(&mut self, segment: SegmentId, record: Option<Record>) -> ReingestStatus {
        let Some(record) = record else { return ReingestStatus::NotFound };
        if record.location.is_some() {
            return ReingestStatus::Conflict;
        }
        let Some(end) = record.end else { return ReingestStatus::NotReady };
        let rows = self.own_rows(segment, Range { start: record.start, end });
        self.read_on(segment, rows, end);
        ReingestStatus::Accepted
    }

    /// What is in memory of it: the stream may have forgotten those rows since.
    fn own_rows(&mut self, segment: SegmentId, range: Range) -> Rows {
        let memory = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        let own = memory.filter(|rows| rows.range.start == range.start).map(|r| r.cut(range.end));
        let own = own.filter(|rows| rows.range.end > range.start);
        match own {
            Some(rows) if self.judge.applies(Guard::OwnRows) => rows,
            Some(_) | None => Rows::from(range.start),
        }
    }

    fn read_on(&mut self, segment: SegmentId, rows: Rows, end: u64) {
        if rows.range.end >= end {
            let job = Job { rows, end, stage: JobStage::Queued };
            self.state.jobs.insert(segment, job);
            return;
        }
        let effect = Effect::Fetch(segment, rows.range.end);
        self.job_proceeds(segment, Job { rows, end, stage: JobStage::Reading }, effect);
    }

    /// Gives a permit to a job that waits for one. Whether there was one.
    pub(super) fn start_job_build(&mut self) -> bool {
        let queued = self.state.jobs.iter().find(|(_, job)| job.stage == JobStage::Queued);
        let Some((segment, job)) = queued.map(|(id, job)| (*id, job.clone())) else {
            return false;
        };
        self.take_permit();
        let effect = Effect::Build(segment, job.rows.clone());
        self.job_proceeds(segment, Job { stage: JobStage::Building, ..job }, effect);
        true
    }
}
