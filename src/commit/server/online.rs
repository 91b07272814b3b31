//! A replica that is to be online: it builds from what it has, or brings a copy (dossier 8).

use super::super::effect::{ServerEffect as Effect, Source};
use super::super::event::{Refusal, ServerOutcome as Outcome};
use super::super::guard::Guard;
use super::super::object::{
    Location, Range, Record, ReplicaState, Sealed, SegmentId, Status, View,
};
use super::Turn;
use super::state::{Local, Purpose, Stance, Work};
use crate::guard::Guards;

impl<V: Guards<Guard>> Turn<'_, V> {
    /// The record has been read for a transition to ONLINE.
    pub(super) fn go_online(&mut self, segment: SegmentId, was: Stance, record: Option<Record>) {
        let Some(record) = record.filter(|record| record.status != Status::InProgress) else {
            return self.fails(segment);
        };
        let Some(range) = record.range() else { return self.fails(segment) };
        if self.has_local(segment, was, &record) {
            self.seal(segment);
            return self.show(segment, ReplicaState::Online);
        }
        if self.builds_from_memory(segment, was, range, &record) {
            return self.build(segment, Purpose::Online, range.end);
        }
        if was == Stance::Reading
            && self.is_behind(segment, range.end)
            && self.holds_permit(segment)
        {
            return self.catch_up(segment, range.end);
        }
        self.bring(segment, &record);
    }

    /// A copy on disk is used unless it is known to be another than the one that counts; the verified server looks
    /// at its range, too.
    fn has_local(&mut self, segment: SegmentId, was: Stance, record: &Record) -> bool {
        let Some(copy) = self.state.durable.disk.get(&segment).map(|local| local.copy.clone())
        else {
            return false;
        };
        let usable = match was {
            Stance::Sealed => true,
            Stance::Closed => !record.status.is_completed() || record.crc == Some(copy.crc),
            // What was built of what is still in memory is built again (dossier 8).
            Stance::Reading | Stance::Discarded | Stance::Committing => false,
        };
        usable && self.judge.demands(Guard::MatchRange, self.is_of(record, &copy))
    }

    fn builds_from_memory(
        &mut self,
        segment: SegmentId,
        was: Stance,
        range: Range,
        record: &Record,
    ) -> bool {
        let rows = self.state.replicas.get(&segment).and_then(|r| r.memory.clone());
        let Some(rows) = rows.filter(|rows| rows.range.end >= range.end) else { return false };
        if !self.judge.demands(Guard::WholeRange, rows.covers(range, &record.lost)) {
            return false;
        }
        match was {
            Stance::Reading if rows.range.end == range.end => true,
            Stance::Reading | Stance::Discarded => self.judge.applies(Guard::CutAtEnd),
            Stance::Committing => false,
            // Memory that outlived a reset.
            Stance::Closed | Stance::Sealed => self.judge.applies(Guard::KeepMemory),
        }
    }

    fn is_behind(&self, segment: SegmentId, end: u64) -> bool {
        let rows = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        rows.is_some_and(|rows| rows.range.end < end)
    }

    fn catch_up(&mut self, segment: SegmentId, end: u64) {
        let rows = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        let Some(at) = rows.map(|rows| rows.range.end) else { return self.wait_for_copy(segment) };
        let effect = Effect::Fetch(segment, at);
        self.work(segment, Work::Catching(end), effect);
    }

    /// Brings a copy: the one that counts, or a peer's as long as none does.
    fn bring(&mut self, segment: SegmentId, record: &Record) {
        self.download_begins(segment);
        let Some(range) = record.range() else { return self.wait_for_copy(segment) };
        match record.location {
            Some(Location::Object(object)) if record.status.is_completed() => {
                let effect = Effect::Download(segment, Source::Object(object));
                self.work(segment, Work::Fetching(range), effect);
            }
            Some(_) | None => self.work(segment, Work::Looking(range), Effect::ReadView),
        }
    }

    pub(super) fn wait_for_copy(&mut self, segment: SegmentId) {
        self.download_begins(segment);
        self.work(segment, Work::Waiting, Effect::PollRecord(segment));
    }

    /// `None` if what was outstanding cannot end so.
    pub(super) fn online_goes_on(
        &mut self,
        segment: SegmentId,
        work: Work,
        outcome: Outcome,
    ) -> Option<()> {
        match (work, outcome) {
            (Work::Catching(end), outcome @ (Outcome::Row(_) | Outcome::Expired { .. })) => {
                self.take(segment, &outcome, Some(end))?;
                self.caught(segment, end);
            }
            (Work::Waiting, Outcome::Record(Some(record))) => self.bring(segment, &record),
            (Work::Looking(range), Outcome::View(view)) => self.look(segment, range, &view),
            (Work::Fetching(range), Outcome::Fetched(copy)) => self.fetched(segment, range, copy),
            (Work::Comparing, Outcome::Record(Some(record))) => self.compare(segment, &record),
            (
                Work::Catching(_)
                | Work::Waiting
                | Work::Looking(_)
                | Work::Fetching(_)
                | Work::Comparing,
                Outcome::Record(None) | Outcome::Failed | Outcome::Unknown,
            ) => self.wait_for_copy(segment),
            (_, _) => return None,
        }
        Some(())
    }

    /// Upstream alone: what was built is dropped if it is not the copy that counts (#18895).
    fn compare(&mut self, segment: SegmentId, record: &Record) {
        let own = self.state.durable.disk.get(&segment).map(|local| local.copy.crc);
        if record.crc.is_some() && own != record.crc {
            self.delete(segment);
            return self.bring(segment, record);
        }
        self.seal(segment);
        self.show(segment, ReplicaState::Online);
    }

    fn caught(&mut self, segment: SegmentId, end: u64) {
        if self.is_behind(segment, end) {
            return self.catch_up(segment, end);
        }
        let rows = self.state.replicas.get(&segment).and_then(|r| r.memory.as_ref());
        let whole =
            rows.is_some_and(|rows| rows.covers(Range { start: rows.range.start, end }, &[]));
        if self.judge.demands(Guard::WholeRange, whole) {
            self.build(segment, Purpose::Online, end);
        } else {
            self.wait_for_copy(segment);
        }
    }

    fn look(&mut self, segment: SegmentId, range: Range, view: &View) {
        let me = self.state.durable.server;
        let peer = view.servers(segment, ReplicaState::Online).find(|server| *server != me);
        match peer {
            Some(peer) => {
                let effect = Effect::Download(segment, Source::Peer(peer));
                self.work(segment, Work::Fetching(range), effect);
            }
            None => self.wait_for_copy(segment),
        }
    }

    fn fetched(&mut self, segment: SegmentId, range: Range, copy: Sealed) {
        if !self.judge.demands(Guard::MatchRange, copy.rows.range == range) {
            return self.wait_for_copy(segment);
        }
        let attempt = u64::from(copy.crc.0);
        self.state.durable.disk.insert(segment, Local { copy, attempt });
        self.seal(segment);
        self.show(segment, ReplicaState::Online);
    }

    /// It has waited for a copy, or caught up, for long enough.
    pub(super) fn give_up(&mut self, segment: SegmentId) -> Result<(), Refusal> {
        let work = self.state.replicas.get(&segment).map(|replica| replica.work);
        match work {
            Some(Work::Catching(_)) => {
                self.cancel(segment);
                self.wait_for_copy(segment);
            }
            Some(Work::Waiting | Work::Looking(_) | Work::Fetching(_)) => {
                self.cancel(segment);
                self.fails(segment);
            }
            _ => return Err(Refusal::Unfit(segment)),
        }
        Ok(())
    }
}
