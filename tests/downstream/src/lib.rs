//! What a service has to bring along in order to run compaction: a store, a clock, and a loop.
//!
//! A role decides and never acts. [`Process`] is the loop around one: it says that a task may go on,
//! carries out the effects that the role asks for, and gives each outcome back. [`Bucket`] is the store,
//! here a map in memory. Everything that a service adds is in this file.
//!
//! # No guard can be dropped from here
//!
//! The type of a role says which guards it keeps, and the default keeps all. The one that drops guards is
//! behind a feature of the library that this package does not turn on, so it has no name here:
//!
//! ```compile_fail,E0432
//! use surehold::guard::Weakened;
//! ```
//!
//! Nor can a service bring its own, as the trait is sealed:
//!
//! ```compile_fail,E0277
//! #[derive(Clone, Debug)]
//! struct Lax;
//!
//! impl<G: Copy> surehold::Guards<G> for Lax {
//!     fn keeps(&self, _guard: G) -> bool {
//!         false
//!     }
//! }
//! ```
//!
//! The same lines compile with the names that there are, so it is the names and not the lines that fail:
//!
//! ```
//! use surehold::guard::Verified;
//!
//! #[derive(Clone, Debug)]
//! struct Strict;
//!
//! impl Strict {
//!     fn keeps<G: Copy>(&self, guard: G) -> bool {
//!         surehold::Guards::keeps(&Verified, guard)
//!     }
//! }
//!
//! assert!(Strict.keeps(surehold::compaction::Guard::AllPartitions));
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use surehold::compaction::compactor::{Durable, Limits};
use surehold::compaction::effect::Merge;
use surehold::compaction::object::{BlockId, Body, Key, Meta, Prefix, ProcessId};
use surehold::compaction::{
    Cleaner, Compactor, Effect, Event, Input, Merged, Outcome, Refusal, Task, cleaner,
};
use surehold::{Issued, Machine};

/// What lies outside of the roles: the object store and the clock.
pub trait Outside {
    /// Milliseconds since the epoch. Never the same twice, so that ids can be made of it.
    fn now_ms(&mut self) -> u64;

    /// Carries out one effect and says how it ended.
    fn carry_out(&mut self, effect: &Effect) -> Outcome;
}

/// One role at work: its state, and the effects that it has asked for and that are not carried out yet.
#[derive(Debug)]
pub struct Process<M: Machine> {
    /// The role.
    pub role: M,
    /// What the role remembers.
    pub state: M::State,
    /// The oldest is carried out next.
    pub owed: VecDeque<Issued<M::Effect>>,
}

impl<M> Process<M>
where
    M: Machine<Event = Event, Effect = Effect, Refusal = Refusal, Durable = Durable>,
{
    /// A process begins as after a crash: it knows its name, and that this is a new life.
    pub fn start(role: M, process: ProcessId, incarnation: u32) -> Self {
        let state = role.recover(Durable { process, incarnation });
        Self { role, state, owed: VecDeque::new() }
    }

    /// Lets a task go on.
    ///
    /// # Errors
    ///
    /// The refusal of the role, if the task is busy. Nothing has changed then.
    pub fn go_on(&mut self, task: Task, outside: &mut impl Outside) -> Result<(), Refusal> {
        let input = input(outside);
        self.take(Event::Continue { task, input })
    }

    /// Carries out the oldest effect and gives its outcome back; whether there was one.
    ///
    /// # Errors
    ///
    /// The refusal of the role. There is none as long as each outcome is delivered once.
    pub fn settle(&mut self, outside: &mut impl Outside) -> Result<bool, Refusal> {
        let Some(Issued { id, effect }) = self.owed.pop_front() else {
            return Ok(false);
        };
        let outcome = outside.carry_out(&effect);
        let input = input(outside);
        self.take(Event::Outcome { id, outcome, input })?;
        Ok(true)
    }

    /// Hands one event to the role, and keeps the next state and what is to be done.
    ///
    /// # Errors
    ///
    /// The refusal of the role. Nothing has changed then.
    pub fn take(&mut self, event: Event) -> Result<(), Refusal> {
        let step = self.role.step(&self.state, event)?;
        self.state = step.state;
        self.owed.extend(step.effects);
        Ok(())
    }
}

/// What a role cannot make up by itself: the time, a fresh id, and where to begin among equals.
fn input(outside: &mut impl Outside) -> Input {
    let now_ms = outside.now_ms();
    Input { now_ms, fresh: u128::from(now_ms), pick: 0 }
}

/// One compactor and one cleaner, of the default types. There may be more of both.
#[derive(Debug)]
pub struct Fleet {
    /// Plans, claims, merges.
    pub compactor: Process<Compactor>,
    /// Marks what has been replaced, and tidies up.
    pub cleaner: Process<Cleaner>,
}

impl Fleet {
    /// Both processes in their first life.
    #[must_use]
    pub fn start(limits: Limits) -> Self {
        Self {
            compactor: Process::start(Compactor::new(limits), ProcessId(0), 1),
            cleaner: Process::start(Cleaner::new(cleaner::Limits::default()), ProcessId(1), 1),
        }
    }

    /// Lets both look for work once and finish what they find, with a heartbeat whenever one may be sent.
    ///
    /// # Errors
    ///
    /// A refusal of either role. There is none, as this loop delivers each outcome once.
    pub fn round(&mut self, outside: &mut impl Outside) -> Result<(), Refusal> {
        self.compactor.go_on(Task::Cycle, outside)?;
        while self.compactor.settle(outside)? {
            if self.compactor.state.can_beat(0) {
                self.compactor.go_on(Task::Beat(0), outside)?;
            }
        }
        self.cleaner.go_on(Task::Cycle, outside)?;
        while self.cleaner.settle(outside)? {}
        Ok(())
    }
}

/// A sample: the hash of its series, and its instant, ms.
pub type Sample = (u32, i64);

/// An object store in memory, with a clock that moves when somebody looks or waits.
#[derive(Clone, Debug, Default)]
pub struct Bucket {
    /// The objects.
    pub objects: BTreeMap<Key, Body>,
    /// What the chunks of each block hold. A merge writes it to local disk first, under a fresh block id.
    pub samples: BTreeMap<BlockId, BTreeSet<Sample>>,
    /// Every effect carried out so far.
    pub history: Vec<Effect>,
    /// The clock, milliseconds since the epoch, as of the last look.
    pub clock_ms: u64,
}

impl Bucket {
    /// Adds a block of an ingester that holds these samples; its range is theirs.
    pub fn upload(&mut self, id: BlockId, index_size_bytes: u64, samples: &[Sample]) {
        let instants = || samples.iter().map(|(_, instant_ms)| *instant_ms);
        let meta = Arc::new(Meta {
            id,
            min_time_ms: instants().min().unwrap_or(0),
            max_time_ms: instants().max().map_or(0, |last| last + 1),
            index_size_bytes,
            made_by: None,
        });
        self.samples.insert(id, samples.iter().copied().collect());
        self.objects.insert(Key::Chunks(id), Body::Data);
        self.objects.insert(Key::Index(id), Body::Data);
        self.objects.insert(Key::Meta(id), Body::Meta(meta));
    }

    /// Whether everything is done: no plan, no marker, and both copies of a mark on each of these blocks.
    #[must_use]
    pub fn is_tidy(&self, parents: &[BlockId]) -> bool {
        let left = |key: &Key| matches!(key, Key::Plan(_) | Key::Marker(..));
        let marked = |id: &BlockId| {
            [Key::GlobalDeletionMark(*id), Key::DeletionMark(*id)]
                .iter()
                .all(|mark| self.objects.contains_key(mark))
        };
        !self.objects.keys().any(left) && parents.iter().all(marked)
    }

    /// The samples of all complete blocks that are not marked for deletion: what a querier may count on.
    #[must_use]
    pub fn held(&self) -> BTreeSet<Sample> {
        let live = |id: &&BlockId| {
            self.objects.contains_key(&Key::Meta(**id))
                && !self.objects.contains_key(&Key::GlobalDeletionMark(**id))
        };
        let ids = self.samples.keys().filter(live);
        ids.flat_map(|id| &self.samples[id]).copied().collect()
    }

    fn list(&self, prefix: Prefix) -> Vec<Key> {
        let beneath = |key: &&Key| match (prefix, key) {
            (Prefix::Blocks, Key::Meta(_))
            | (Prefix::Marks, Key::GlobalDeletionMark(_) | Key::GlobalNoCompactMark(_))
            | (Prefix::Plans, Key::Plan(_))
            | (Prefix::AllMarkers, Key::Marker(..)) => true,
            (Prefix::Markers(plan), Key::Marker(of, _)) => *of == plan,
            (
                Prefix::AllBlocks,
                Key::Chunks(_)
                | Key::Index(_)
                | Key::Meta(_)
                | Key::DeletionMark(_)
                | Key::NoCompactMark(_)
                | Key::VisitMark(_),
            ) => true,
            (
                Prefix::Block(id),
                Key::Chunks(of)
                | Key::Index(of)
                | Key::Meta(of)
                | Key::DeletionMark(of)
                | Key::NoCompactMark(of)
                | Key::VisitMark(of),
            ) => *of == id,
            _ => false,
        };
        self.objects.keys().filter(beneath).copied().collect()
    }

    fn merge(&mut self, merge: &Merge) -> Merged {
        let mine = |(hash, _): &&Sample| hash % merge.plan.count() == merge.partition;
        let inputs = merge.inputs.iter().filter_map(|id| self.samples.get(id));
        let merged: BTreeSet<Sample> = inputs.flatten().filter(mine).copied().collect();
        if merged.is_empty() {
            return Merged::Empty;
        }
        let newest = self.samples.keys().next_back().map_or(0, |id| id.0);
        let (id, index_size_bytes) = (BlockId(newest + 1), merged.len() as u64);
        self.samples.insert(id, merged);
        Merged::Block { id, index_size_bytes }
    }
}

impl Outside for Bucket {
    fn now_ms(&mut self) -> u64 {
        self.clock_ms += 1;
        self.clock_ms
    }

    fn carry_out(&mut self, effect: &Effect) -> Outcome {
        self.history.push(effect.clone());
        match effect {
            Effect::List(prefix) => Outcome::Listed(self.list(*prefix)),
            Effect::Get(key) => {
                self.objects.get(key).cloned().map_or(Outcome::Absent, Outcome::Found)
            }
            Effect::Exists(key) if self.objects.contains_key(key) => Outcome::Exists,
            Effect::Exists(_) => Outcome::Absent,
            Effect::Put(key, body) => {
                self.objects.insert(*key, body.clone());
                Outcome::Applied
            }
            Effect::Delete(key) => {
                self.objects.remove(key);
                Outcome::Applied
            }
            Effect::Merge(merge) => Outcome::Merged(self.merge(merge)),
            Effect::Wait(wait) => {
                self.clock_ms += wait.delay_ms;
                Outcome::Elapsed
            }
        }
    }
}
