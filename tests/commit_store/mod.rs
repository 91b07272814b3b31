//! A tiny world around a controller: the metadata store, the ideal state, the view and the deep store of one table, and
//! the partitions of its stream. It carries out what is asked at once.

use std::collections::{BTreeMap, BTreeSet};

use surehold::collections::Table;
use surehold::commit::ControllerEffect;
use surehold::commit::effect::{Change, Expected};
use surehold::commit::event::{ControllerOutcome, Found};
use surehold::commit::object::{
    IdealState, ObjectId, Offset, PartitionId, Record, ReplicaState, SegmentId, ServerId, Version,
    View,
};

/// The stores of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stores {
    pub(crate) records: BTreeMap<SegmentId, (Record, Version)>,
    pub(crate) ideal: IdealState,
    pub(crate) ideal_version: Version,
    pub(crate) view: View,
    pub(crate) objects: BTreeSet<ObjectId>,
    /// Where each partition of the stream begins.
    pub(crate) stream: BTreeMap<PartitionId, Offset>,
    /// Where each of them ends, and where it ended at the time that is asked for.
    pub(crate) latest: (Offset, Option<Offset>),
    /// Servers that the table's instance assignment may choose from.
    pub(crate) instances: u16,
    /// How many of them a segment gets.
    pub(crate) replicas: u16,
    /// How old every record looks, ms.
    pub(crate) age_ms: u64,
}

impl Stores {
    /// A segment that everybody is to hold in this state.
    pub(crate) fn list(&mut self, segment: SegmentId, servers: &[ServerId], state: ReplicaState) {
        self.ideal.segments.insert(segment, replicas(servers, state));
    }

    /// A record is there, whatever was there before.
    pub(crate) fn put(&mut self, segment: SegmentId, record: Record) {
        let version = self.records.get(&segment).map_or(0, |(_, version)| version.0 + 1);
        self.records.insert(segment, (record, Version(version)));
    }

    fn found(&self, (record, version): &(Record, Version)) -> Found {
        Found { record: record.clone(), version: *version, age_ms: self.age_ms }
    }

    /// How an operation on the stores ends. `None` if it is none: a message, an answer, a reset.
    pub(crate) fn carry_out(&mut self, effect: &ControllerEffect) -> Option<ControllerOutcome> {
        Some(match effect {
            ControllerEffect::ReadRecord(id) => {
                ControllerOutcome::Record(self.records.get(id).map(|stored| self.found(stored)))
            }
            ControllerEffect::ListRecords(partition) => {
                let all = self.records.iter().filter(|(id, _)| id.partition == *partition);
                let all = all.map(|(id, stored)| (*id, self.found(stored)));
                ControllerOutcome::Records(all.collect())
            }
            ControllerEffect::ReadIdeal => {
                ControllerOutcome::Ideal(self.ideal.clone(), self.ideal_version)
            }
            ControllerEffect::ReadView => ControllerOutcome::View(self.view.clone()),
            ControllerEffect::ReadStream(partition) => {
                ControllerOutcome::Stream(self.stream.get(partition).copied())
            }
            ControllerEffect::ReadLatest(_, seconds) => {
                let (latest, then) = self.latest;
                ControllerOutcome::Latest(latest, then.filter(|_| seconds.is_some()))
            }
            ControllerEffect::WriteRecord(id, record, expected) => {
                let version = self.records.get(id).map(|(_, version)| *version);
                let fits = match expected {
                    Expected::Anything => true,
                    Expected::Absent => version.is_none(),
                    Expected::Version(expected) => version == Some(*expected),
                };
                if fits {
                    self.put(*id, record.clone());
                }
                applied(fits)
            }
            ControllerEffect::DeleteRecord(id) => {
                self.records.remove(id);
                ControllerOutcome::Applied
            }
            ControllerEffect::WriteIdeal(version, changes) => self.switch(*version, changes),
            ControllerEffect::Promote(object) => {
                let was = self.objects.remove(object);
                if was {
                    self.objects.insert(ObjectId { attempt: None, ..*object });
                }
                if was { ControllerOutcome::Applied } else { ControllerOutcome::Failed }
            }
            ControllerEffect::Reset(..)
            | ControllerEffect::Call(_)
            | ControllerEffect::Answer(..)
            | ControllerEffect::AnswerRefill(..) => return None,
        })
    }

    /// All changes, or none.
    fn switch(&mut self, version: Version, changes: &[Change]) -> ControllerOutcome {
        let assigns = changes.iter().any(|change| matches!(change, Change::Begin(_)));
        if assigns && self.instances < self.replicas {
            return ControllerOutcome::Failed;
        }
        if version != self.ideal_version {
            return ControllerOutcome::Precondition;
        }
        self.ideal_version.0 += 1;
        for change in changes {
            match change {
                Change::Set(id, state) => {
                    let listed = self.ideal.segments.get(id).expect("it is listed").clone();
                    let servers: Vec<_> = listed.iter().map(|(server, _)| *server).collect();
                    self.list(*id, &servers, *state);
                }
                Change::SetReplica(id, server, state) => {
                    let listed = self.ideal.segments.get_mut(id).expect("it is listed");
                    listed.insert(*server, *state);
                }
                Change::Add(id, servers) => self.list(*id, servers, ReplicaState::Consuming),
                Change::Begin(id) => {
                    let servers = self.assigned(id.partition);
                    self.list(*id, &servers, ReplicaState::Consuming);
                }
                Change::Remove(id) => {
                    self.ideal.segments.remove(id).expect("it is listed");
                }
            }
        }
        ControllerOutcome::Applied
    }

    /// The servers that a partition's segments are given, any of those that there are.
    pub(crate) fn assigned(&self, partition: PartitionId) -> Vec<ServerId> {
        (0..self.replicas).map(|at| ServerId((partition.0 + at) % self.instances)).collect()
    }
}

fn applied(fits: bool) -> ControllerOutcome {
    if fits { ControllerOutcome::Applied } else { ControllerOutcome::Precondition }
}

/// All of them in this state.
pub(crate) fn replicas(servers: &[ServerId], state: ReplicaState) -> Table<ServerId, ReplicaState> {
    let mut all = Table::new();
    for server in servers {
        all.insert(*server, state);
    }
    all
}
