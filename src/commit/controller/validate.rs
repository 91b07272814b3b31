//! The validator: sees to it that a partition has a segment that is consumed (dossier 9.1).
//!
//! The rules are numbered as in the dossier. Upstream starts from the record of the highest sequence, listed or
//! not; the verified protocol from the highest that is listed, and uses again what lies beyond it.

use super::super::completion::Mode;
use super::super::effect::{Change, ControllerEffect as Effect, Expected};
use super::super::event::{ControllerOutcome as Outcome, Found, Input, Task};
use super::super::guard::Guard;
use super::super::invariant::second_head;
use super::super::object::{
    IdealState, PartitionId, Record, ReplicaState, Replicas, SegmentId, ServerId, Status, Version,
};
use super::Turn;
use super::commit::{after, is_duplicate, reusable, servers};
use super::state::{Begins, Chore, Validate as Stage};
use crate::guard::Guards;

/// The last segment of a partition, as it was found.
struct Last<'a> {
    id: SegmentId,
    found: &'a Found,
    replicas: &'a Replicas,
}

/// What is to be done.
struct Plan {
    /// A record that is to be written first, if it is still of this version.
    end: Option<(SegmentId, Record, Version)>,
    /// A record to create.
    create: Option<(SegmentId, Record)>,
    changes: Vec<Change>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    /// `None` if what was outstanding cannot end so. Whatever fails is left to the next run.
    pub(super) fn validate(&mut self, task: Task, stage: Stage, outcome: Outcome) -> Option<()> {
        let Task::Validate(partition) = task else { return None };
        match (stage, outcome) {
            (Stage::Stream(input), outcome) => {
                let begins = match outcome {
                    Outcome::Stream(Some(first)) => Begins::At(first),
                    Outcome::Stream(None) => Begins::Nowhere,
                    Outcome::Failed | Outcome::Unknown => Begins::Somewhere,
                    _ => return None,
                };
                self.go_on(task, Chore::Validate(Stage::Ideal(input, begins)), Effect::ReadIdeal);
            }
            (Stage::Ideal(input, begins), Outcome::Ideal(ideal, version)) => {
                let is_listed = ideal.of(partition).next().is_some();
                let begins = match begins {
                    Begins::At(_) if is_listed => Begins::Somewhere,
                    Begins::At(_) | Begins::Somewhere | Begins::Nowhere => begins,
                };
                let stage = Stage::Records(input, begins, ideal, version);
                let effect = Effect::ListRecords(partition);
                self.go_on(task, Chore::Validate(stage), effect);
            }
            (Stage::Records(input, begins, ideal, version), Outcome::Records(records)) => {
                if let Some(plan) = self.plan(partition, input, begins, &ideal, &records) {
                    self.follow(task, plan, version);
                }
            }
            (Stage::Ending(version, create, changes), Outcome::Applied) => {
                self.follow(task, Plan { end: None, create, changes }, version);
            }
            // Somebody has committed it after all.
            (Stage::Ending(..), Outcome::Precondition) => {}
            // A record that is there already is used (it was not there when this run looked).
            (Stage::Creating(version, changes), Outcome::Applied | Outcome::Precondition) => {
                let effect = Effect::WriteIdeal(version, changes);
                self.go_on(task, Chore::Validate(Stage::Writing), effect);
            }
            (
                Stage::Writing,
                Outcome::Applied | Outcome::Precondition | Outcome::Failed | Outcome::Unknown,
            ) => {}
            (_, Outcome::Failed | Outcome::Unknown) => {}
            (_, _) => return None,
        }
        Some(())
    }

    fn follow(&mut self, task: Task, plan: Plan, version: Version) {
        let Plan { end, create, changes } = plan;
        let (stage, effect) = match (end, create) {
            (Some((id, record, read)), create) => {
                let effect = Effect::WriteRecord(id, record, Expected::Version(read));
                (Stage::Ending(version, create, changes), effect)
            }
            (None, Some((next, record))) => {
                let effect = Effect::WriteRecord(next, record, self.creation());
                (Stage::Creating(version, changes), effect)
            }
            (None, None) => (Stage::Writing, Effect::WriteIdeal(version, changes)),
        };
        self.go_on(task, Chore::Validate(stage), effect);
    }

    fn plan(
        &mut self,
        partition: PartitionId,
        input: Input,
        begins: Begins,
        ideal: &IdealState,
        records: &[(SegmentId, Found)],
    ) -> Option<Plan> {
        // Either fails the run for the whole table, upstream as well (dossier 9.1).
        let recorded = |id| records.iter().any(|(other, _)| *other == id);
        let unrecorded = ideal.of(partition).any(|(id, _)| !recorded(id));
        if ideal.is_paused || unrecorded || second_head(ideal).is_some() {
            return None;
        }
        let listed = |id: &SegmentId| ideal.segments.contains_key(id);
        let highest_listed = || records.iter().rfind(|(id, _)| listed(id));
        let highest = records.last();
        let latest = if self.judge.keeps(Guard::ListedOnly) { highest_listed() } else { highest };
        let Some((id, found)) = latest.or(highest) else {
            return self.first_of(partition, input, begins);
        };
        let plan = match ideal.segments.get(id) {
            Some(replicas) => {
                let last = Last { id: *id, found, replicas };
                self.latest_is_listed(&last, input, begins, ideal, records)
            }
            None => self.list_orphan(*id, found, ideal, partition),
        }?;
        let doubled = plan.changes.iter().any(|change| match change {
            Change::Add(next, _) | Change::Begin(next) => is_duplicate(ideal, *next),
            Change::Set(..) | Change::SetReplica(..) | Change::Remove(_) => false,
        });
        self.judge.demands(Guard::OneHead, !doubled).then_some(plan)
    }

    fn latest_is_listed(
        &mut self,
        last: &Last<'_>,
        input: Input,
        begins: Begins,
        ideal: &IdealState,
        records: &[(SegmentId, Found)],
    ) -> Option<Plan> {
        let Last { id, found, replicas } = *last;
        let Found { record, age_ms, .. } = found;
        let all = |state| replicas.values().all(|is| *is == state);
        let consuming = replicas.values().any(|is| *is == ReplicaState::Consuming);
        if consuming && record.status == Status::InProgress {
            return self.resume(id, replicas);
        }
        let is_open = record.status == Status::InProgress;
        let given_up = all(ReplicaState::Offline);
        // Upstream does not ask whether somebody has committed it.
        let unserved = given_up && !is_open && self.judge.applies(Guard::EndGivenUp);
        let start = if consuming {
            // Rule 1.
            let left = *age_ms > self.limits.age_limit_ms && self.is_past(record.status);
            left.then_some(record.end?)?
        } else if given_up && !unserved {
            record.start
        } else if unserved || (all(ReplicaState::Online) && !is_open) {
            record.end?
        } else {
            return None;
        };
        let mut changes = Vec::new();
        if consuming || unserved {
            changes.push(Change::Set(id, ReplicaState::Online));
        }
        if begins == Begins::Nowhere {
            let some = !changes.is_empty();
            return some.then_some(Plan { end: None, create: None, changes });
        }
        let end = if given_up { self.end_of(id, found) } else { None };
        let (next, create) = self.next_of(id, record, start, input, records);
        changes.push(Change::Add(next, servers(ideal, id)));
        Some(Plan { end, create, changes })
    }

    /// Whoever still has a segment that was given up, as one that was reset before its message was carried out may
    /// have, cannot commit it once it is ended.
    fn end_of(&mut self, id: SegmentId, found: &Found) -> Option<(SegmentId, Record, Version)> {
        let Found { record, version, .. } = found;
        let is_open = record.status == Status::InProgress && !record.is_given_up();
        let ends = is_open && self.judge.applies(Guard::EndGivenUp);
        ends.then(|| (id, record.given_up(), *version))
    }

    /// Rule 2: a segment is consumed as it should be, but for replicas that gave up.
    fn resume(&self, id: SegmentId, replicas: &Replicas) -> Option<Plan> {
        if !self.limits.repairs_offline {
            return None;
        }
        let offline = replicas.iter().filter(|(_, is)| **is == ReplicaState::Offline);
        let again = |(at, _): (&ServerId, _)| Change::SetReplica(id, *at, ReplicaState::Consuming);
        let changes: Vec<_> = offline.map(again).collect();
        (!changes.is_empty()).then_some(Plan { end: None, create: None, changes })
    }

    /// Rule 1 asks whether the segment is past consumption. Upstream knows one status for each mode (R8, C12).
    fn is_past(&mut self, status: Status) -> bool {
        let expected = match self.state.durable.table.mode {
            Mode::Pauseless => Status::Committing,
            Mode::Blocking => Status::Done,
        };
        status == expected || self.judge.applies(Guard::AnyStatus)
    }

    fn next_of(
        &mut self,
        id: SegmentId,
        record: &Record,
        start: u64,
        input: Input,
        records: &[(SegmentId, Found)],
    ) -> (SegmentId, Option<(SegmentId, Record)>) {
        let left = reusable(id, start, records);
        if let Some(next) = left.filter(|_| self.judge.applies(Guard::ListedOnly)) {
            return (next, None);
        }
        let next = after(id, input.minute);
        (next, Some((next, record.successor(start))))
    }

    /// Rule 5: the stream has a partition that nothing is known of.
    fn first_of(&self, partition: PartitionId, input: Input, begins: Begins) -> Option<Plan> {
        let Begins::At(start) = begins else { return None };
        let table = self.state.durable.table;
        let first = SegmentId { partition, sequence: input.pick, minute: input.minute };
        let record = Record::starting_at(start, table.replicas, table.row_limit);
        let create = Some((first, record));
        Some(Plan { end: None, create, changes: vec![Change::Begin(first)] })
    }

    /// Rule 4: the last record is not listed. Upstream lists it whatever else is; the verified protocol comes here only
    /// where nothing of the partition is listed.
    fn list_orphan(
        &mut self,
        id: SegmentId,
        found: &Found,
        ideal: &IdealState,
        partition: PartitionId,
    ) -> Option<Plan> {
        let left = found.age_ms > self.limits.age_limit_ms;
        if !left || found.record.status != Status::InProgress {
            return None;
        }
        let consuming =
            |(other, _): &(SegmentId, &Replicas)| ideal.has(*other, ReplicaState::Consuming);
        let add = |like: SegmentId| Change::Add(id, servers(ideal, like));
        let last = ideal.of(partition).last();
        let changes = match (ideal.of(partition).find(consuming), last) {
            (Some((previous, _)), _) => {
                vec![Change::Set(previous, ReplicaState::Online), add(previous)]
            }
            // Upstream only counts a loss, and lists the orphan all the same.
            (None, Some((last, _))) => vec![add(last)],
            (None, None) => vec![Change::Begin(id)],
        };
        Some(Plan { end: None, create: None, changes })
    }
}
