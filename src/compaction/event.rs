//! What may happen to a compactor or a cleaner.

use core::fmt;

use super::effect::Effect;
use super::guard::Guard;
use super::object::{BlockId, Body, Key};
use crate::collections::Table;
use crate::guard::{Guards, Judge};
use crate::machine::{EffectId, Issued};

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Event {
    /// A task may go on: a cycle begins, a heartbeat is due.
    Continue {
        /// Which.
        task: Task,
        /// What the outside brings.
        input: Input,
    },
    /// An effect came to an end.
    Outcome {
        /// Which effect.
        id: EffectId,
        /// How it ended.
        outcome: Outcome,
        /// What the outside brings.
        input: Input,
    },
}

/// What a pure function cannot make up by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Input {
    /// The process's own clock, ms since the epoch.
    pub now_ms: u64,
    /// An id that was never used, taken if the step makes a plan.
    pub fresh: u128,
    /// Where to begin among equals: spreads workers over the partitions of a plan (dossier 3, G7).
    pub pick: u32,
}

/// A line of work inside one process. Each has at most one effect outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Task {
    /// The compactor's search for work, or the cleaner's pass.
    Cycle,
    /// The job in a slot.
    Job(u8),
    /// The heartbeat of the job in a slot.
    Beat(u8),
}

/// How an effect ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Outcome {
    /// The keys beneath a prefix, ascending.
    Listed(Vec<Key>),
    /// The object.
    Found(Body),
    /// No such object: an answer, not an error.
    Absent,
    /// The object exists (an existence check does not bring its content).
    Exists,
    /// The write or delete took effect.
    Applied,
    /// An error; a write had no effect and will have none.
    Failed,
    /// An error after which a write may have taken effect, or may yet.
    Unknown,
    /// A merge is done.
    Merged(Merged),
    /// The wait is over.
    Elapsed,
}

/// What a role makes of an outcome. `absence` is what it would be if nothing were there: a failed read says
/// no such thing (hole D11).
pub(crate) fn heard<V: Guards<Guard>>(
    outcome: Outcome,
    absence: Option<Outcome>,
    judge: &mut Judge<'_, V, Guard>,
) -> Outcome {
    match (outcome, absence) {
        (Outcome::Failed, Some(absence)) if judge.demands(Guard::ErrorIsNotAbsence, false) => {
            absence
        }
        (outcome, _) => outcome,
    }
}

/// What a merge made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Merged {
    /// A block, so far on local disk only.
    Block {
        /// Its id, never used before.
        id: BlockId,
        /// Size of its index, bytes.
        index_size_bytes: u64,
    },
    /// The inputs hold no sample of the partition.
    Empty,
}

/// Why an event was not taken. The state stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Refusal {
    /// The outcome belongs to another life of this process.
    OtherIncarnation {
        /// The effect named.
        id: EffectId,
        /// This life.
        current: u32,
    },
    /// No such effect is outstanding.
    NotOutstanding(EffectId),
    /// The effect that is outstanding under this id cannot end so.
    UnfitOutcome(EffectId),
    /// The task has nothing to go on with: it is busy, or there is no such task; or [`Outstanding::LIMIT`]
    /// effects wait for their outcomes, and nothing new is begun.
    NotReady(Task),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherIncarnation { id, current } => write!(
                f,
                "effect {} is of incarnation {}, this is incarnation {current}",
                id.number, id.incarnation
            ),
            Self::NotOutstanding(id) => write!(f, "effect {} is not outstanding", id.number),
            Self::UnfitOutcome(id) => write!(f, "effect {} cannot end in this outcome", id.number),
            Self::NotReady(task) => write!(f, "task {task:?} is busy or does not exist"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The effects that are outstanding, and which task each belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Outstanding {
    incarnation: u32,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "not_too_many"))]
    tasks: Table<u16, Owed>,
}

/// Effects on record, few enough that the next ones find a number.
#[cfg(feature = "serde")]
fn not_too_many<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Table<u16, Owed>, D::Error> {
    use serde::de::{Deserialize, Error};
    let tasks = Table::deserialize(source)?;
    if tasks.len() > Outstanding::MOST {
        return Err(D::Error::custom("too many effects are outstanding"));
    }
    Ok(tasks)
}

/// What an outstanding effect is owed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
struct Owed {
    /// `None` once the task has ended without waiting for the outcome.
    task: Option<Task>,
    form: Form,
}

/// The kind of an effect: decides which outcomes it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
enum Form {
    List,
    Get,
    Exists,
    Write,
    Merge,
    Wait,
}

impl Form {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::List(_) => Self::List,
            Effect::Get(_) => Self::Get,
            Effect::Exists(_) => Self::Exists,
            Effect::Put(..) | Effect::Delete(_) => Self::Write,
            Effect::Merge(_) => Self::Merge,
            Effect::Wait(_) => Self::Wait,
        }
    }

    fn fits(self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Listed(_) => self == Self::List,
            Outcome::Found(_) => self == Self::Get,
            Outcome::Absent => self == Self::Get || self == Self::Exists,
            Outcome::Exists => self == Self::Exists,
            Outcome::Applied | Outcome::Unknown => self == Self::Write,
            Outcome::Failed => self != Self::Wait,
            Outcome::Merged(_) => self == Self::Merge,
            Outcome::Elapsed => self == Self::Wait,
        }
    }

    /// The answer that says that nothing is there, if this form asks for something.
    fn absence(self) -> Option<Outcome> {
        match self {
            Self::List => Some(Outcome::Listed(Vec::new())),
            Self::Get | Self::Exists => Some(Outcome::Absent),
            Self::Write | Self::Merge | Self::Wait => None,
        }
    }
}

impl Outstanding {
    /// While so many effects are outstanding, no task is begun. Numbers can then not run out: what was begun
    /// before has an effect for each of at most 255 jobs, another for its heartbeat, and one for the cycle.
    pub const LIMIT: usize = 1 << 15;
    /// More there never are.
    #[cfg(feature = "serde")]
    const MOST: usize = Self::LIMIT + 1024;

    /// Nothing outstanding in this life.
    #[must_use]
    pub fn none(incarnation: u32) -> Self {
        Self { incarnation, tasks: Table::new() }
    }

    /// This life.
    #[must_use]
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Whether a task waits for an outcome.
    #[must_use]
    pub fn waits(&self, task: Task) -> bool {
        self.tasks.values().any(|owed| owed.task == Some(task))
    }

    /// Whether there is room to begin something.
    pub(crate) fn has_room(&self) -> bool {
        self.tasks.len() < Self::LIMIT
    }

    /// What a failure of this effect would be if errors were taken for absences.
    pub(crate) fn absence(&self, id: EffectId) -> Option<Outcome> {
        self.tasks.get(&id.number)?.form.absence()
    }

    /// Gives an effect the least free number.
    pub(crate) fn issue(&mut self, task: Task, effect: Effect) -> Issued<Effect> {
        let number = (0..=u16::MAX).find(|n| !self.tasks.contains_key(n)).unwrap_or(u16::MAX);
        self.tasks.insert(number, Owed { task: Some(task), form: Form::of(&effect) });
        Issued { id: EffectId { incarnation: self.incarnation, number }, effect }
    }

    /// Takes an outcome in: which task it is for, if that task still waits.
    pub(crate) fn settle(
        &mut self,
        id: EffectId,
        outcome: &Outcome,
    ) -> Result<Option<Task>, Refusal> {
        if id.incarnation != self.incarnation {
            return Err(Refusal::OtherIncarnation { id, current: self.incarnation });
        }
        let owed = *self.tasks.get(&id.number).ok_or(Refusal::NotOutstanding(id))?;
        if !owed.form.fits(outcome) {
            return Err(Refusal::UnfitOutcome(id));
        }
        self.tasks.remove(&id.number);
        Ok(owed.task)
    }

    /// The task has ended: what it still waits for is of no interest.
    pub(crate) fn forget(&mut self, task: Task) {
        let number = self.tasks.iter().find(|(_, owed)| owed.task == Some(task)).map(|(n, _)| *n);
        if let Some(owed) = number.and_then(|n| self.tasks.get_mut(&n)) {
            owed.task = None;
        }
    }
}
