//! The controller: chooses who commits, writes metadata and the ideal state, and repairs what was left half done
//! (dossier 6, 7, 9).
//!
//! It keeps nothing: metadata, the ideal state and the deep store are all that counts, so a new leader starts from
//! them alone. Leadership is tested when a message comes and when a periodic task begins, nowhere else (dossier 1):
//! what is under way goes on after a change of leader, and compare-and-set decides.

mod batch;
mod commit;
pub mod force;
mod partitions;
mod refill;
mod repair;
mod retain;
mod retry;
pub mod state;
mod validate;

pub(super) use commit::is_duplicate;
pub use partitions::partitions;
pub use state::{Durable, State};

use self::state::{Chore, Errand, Owed, Repair, Retain, Retry, Stage, Validate};
#[cfg(feature = "weaken")]
use super::completion::Mode;
use super::completion::{self, Answer, Completion, Message, Rule, Rules, Said};
use super::effect::ControllerEffect as Effect;
use super::event::{ControllerEvent as Event, ControllerOutcome as Outcome, Input, Refusal, Task};
use super::guard::Guard;
use super::message::{Ask, Caller, Request};
use super::object::{Record, SegmentId, ServerId, TableConfig};
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{EffectId, Issued, Machine, Step, Stepped};

/// Limits of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The times of the completion protocol.
    pub completion: completion::Limits,
    /// A record that nobody has written for longer is taken to be left behind, ms. Upstream's default is 300,000
    /// (`max.segment.completion.time.millis`); there a commit is refused at this age, too.
    pub age_limit_ms: u64,
    /// Whether the validator has a replica that gave up consume again while others of its segment still do
    /// (`controller.realtime.segment.partialOfflineReplicaRepairEnabled`, dossier 9.1). Off by default: what does not
    /// pass by itself comes again at each run.
    pub repairs_offline: bool,
}

impl Default for Limits {
    fn default() -> Self {
        let completion = completion::Limits::default();
        Self { completion, age_limit_ms: AGE_LIMIT_MS, repairs_offline: false }
    }
}

/// Upstream's default of [`Limits::age_limit_ms`].
const AGE_LIMIT_MS: u64 = 300_000;

impl Limits {
    /// The same once the cluster's configuration says this of the age limit, ms, or no more of it. What is no positive
    /// number leaves it as it was, upstream as well. See [`Controller::within`].
    #[must_use]
    pub fn configured(self, age_limit: Option<&str>) -> Self {
        let age_limit_ms = match age_limit.map(str::parse) {
            None => AGE_LIMIT_MS,
            Some(Ok(limit_ms)) if limit_ms > 0 => limit_ms,
            Some(_) => self.age_limit_ms,
        };
        Self { age_limit_ms, ..self }
    }
}

/// The controller role.
#[derive(Clone, Debug)]
pub struct Controller<V = Verified> {
    limits: Limits,
    guards: V,
    /// The rules of the completion machine, where they are not those that the guards say.
    #[cfg(feature = "weaken")]
    rules: Option<Rules>,
    /// The only mode that it knows, whatever the table says.
    #[cfg(feature = "weaken")]
    only: Option<Mode>,
}

impl Controller {
    /// A controller that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            guards: Verified,
            #[cfg(feature = "weaken")]
            rules: None,
            #[cfg(feature = "weaken")]
            only: None,
        }
    }
}

#[cfg(feature = "weaken")]
impl Controller<crate::guard::Weakened<Guard>> {
    /// A controller without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards, rules: None, only: None }
    }

    /// The same with a completion machine of its own.
    #[must_use]
    pub(super) fn with_rules(self, rules: Rules) -> Self {
        Self { rules: Some(rules), ..self }
    }

    /// The same, if it knows no mode but this.
    #[must_use]
    pub(super) fn with_only(self, only: Option<Mode>) -> Self {
        Self { only, ..self }
    }
}

impl<V: Guards<Guard>> Controller<V> {
    /// The same with other limits. It goes on from the same state.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The table as this controller runs it.
    fn as_run(&self, table: TableConfig) -> TableConfig {
        #[cfg(feature = "weaken")]
        let table = TableConfig { mode: self.only.unwrap_or(table.mode), ..table };
        table
    }

    fn completion(&self) -> Completion {
        let by_guards = Rules::keeping(|rule| {
            self.guards.keeps(match rule {
                Rule::UploadedIsDone => Guard::UploadedIsDone,
                Rule::WinnerStarts => Guard::WinnerOnly,
                Rule::KeepFromRecord => Guard::EndFromMetadata,
                Rule::ResumeCommit => Guard::Rebuild,
                Rule::WinnerAsksAgain => Guard::AskAgain,
            })
        });
        #[cfg(feature = "weaken")]
        let by_guards = self.rules.unwrap_or(by_guards);
        Completion { limits: self.limits.completion, rules: by_guards }
    }
}

impl<V: Guards<Guard>> Machine for Controller<V> {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut turn = Turn {
            limits: self.limits,
            completion: self.completion(),
            judge: Judge::new(&self.guards),
            state: state.clone(),
            effects: Vec::new(),
        };
        let begins = matches!(event, Event::Continue { .. } | Event::Received { .. });
        if state.stops && begins {
            return Err(Refusal::Stopping);
        }
        match event {
            Event::Continue { task, input } => turn.begin(task, input)?,
            Event::Received { caller, request, input } => turn.received(caller, request, input)?,
            Event::Outcome { id, outcome } => turn.outcome(id, outcome)?,
            Event::Configured(table) => turn.state.durable.table = self.as_run(table),
            Event::Elected => turn.state.leads = true,
            Event::Deposed => turn.state.leads = false,
            Event::Stopping => turn.state.stops = true,
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    /// It knows of no commit, no machine and no task.
    fn recover(&self, durable: Durable) -> State {
        State::started(Durable { table: self.as_run(durable.table), ..durable })
    }
}

/// One step being taken.
struct Turn<'a, V> {
    limits: Limits,
    completion: Completion,
    judge: Judge<'a, V, Guard>,
    state: State,
    effects: Vec<Issued<Effect>>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    fn begin(&mut self, task: Task, input: Input) -> Result<(), Refusal> {
        if !self.state.leads {
            return Err(Refusal::NotLeading);
        }
        if self.state.runs(task) {
            return Err(Refusal::UnderWay(task));
        }
        let (chore, effect) = match task {
            Task::Validate(partition) => {
                (Chore::Validate(Validate::Stream(input)), Effect::ReadStream(partition))
            }
            Task::Repair(_) => (Chore::Repair(Repair::Ideal(input.pick)), Effect::ReadIdeal),
            Task::Retry(partition) => {
                (Chore::Retry(Retry::Records(input)), Effect::ListRecords(partition))
            }
            Task::Retain(_) => (Chore::Retain(Retain::Ideal(input.pick)), Effect::ReadIdeal),
        };
        self.go_on(task, chore, effect);
        Ok(())
    }

    /// A chore goes on with this effect.
    fn go_on(&mut self, task: Task, chore: Chore, effect: Effect) {
        self.state.chores.insert(task, chore);
        self.issue(effect, Owed::Chore(task));
    }

    fn received(
        &mut self,
        caller: Caller<ServerId>,
        request: Request,
        input: Input,
    ) -> Result<(), Refusal> {
        let Request { segment, body } = request;
        let (offset, kind, cargo) = match body {
            Ask::Reingested { copy, stored } => return self.refill(caller, segment, copy, stored),
            Ask::Say(offset, kind) => (offset, kind, None),
            Ask::CommitEnd { offset, copy, stored } => {
                (offset, completion::Kind::CommitEnd, Some(state::Cargo { copy, stored }))
            }
        };
        if kind.is_for_leader() && !self.state.leads {
            self.answer(caller, Answer::NotLeader);
            return Ok(());
        }
        let message = Message { from: caller.process, offset, kind, at_ms: input.now_ms };
        let machine = self.state.machines.get(&segment).cloned().unwrap_or_default();
        let turn = self.completion.on_message(&machine, message);
        let turn = turn.map_err(|_| Refusal::Busy(segment))?;
        let errand =
            Errand { caller, minute: input.minute, cargo, start: None, stage: Stage::Making };
        self.said(segment, errand, turn);
        Ok(())
    }

    /// Does what the completion machine says.
    fn said(&mut self, segment: SegmentId, errand: Errand, turn: completion::Turn) {
        for rule in turn.decided_by {
            self.judge.applies(match rule {
                Rule::UploadedIsDone => Guard::UploadedIsDone,
                Rule::WinnerStarts => Guard::WinnerOnly,
                Rule::KeepFromRecord => Guard::EndFromMetadata,
                Rule::ResumeCommit => Guard::Rebuild,
                Rule::WinnerAsksAgain => Guard::AskAgain,
            });
        }
        self.state.longest_ms = self.state.longest_ms.max(turn.longest_ms.unwrap_or(0));
        if turn.state.is_over() {
            self.state.machines.remove(&segment);
        } else {
            self.state.machines.insert(segment, turn.state);
        }
        match turn.said {
            Said::Answer(answer) => {
                self.state.errands.remove(&segment);
                self.answer(errand.caller, answer);
            }
            Said::Ask(ask) => self.begin_errand(segment, errand, ask),
        }
    }

    fn outcome(&mut self, id: EffectId, outcome: Outcome) -> Result<(), Refusal> {
        let current = self.state.durable.incarnation;
        if id.incarnation != current {
            return Err(Refusal::OtherIncarnation { id, current });
        }
        let owed = *self.state.outstanding.get(&id.number).ok_or(Refusal::NotOutstanding(id))?;
        self.state.outstanding.remove(&id.number);
        let fit = match owed {
            Owed::Errand(segment) => self.errand_goes_on(segment, outcome),
            Owed::Batch => self.batch_goes_on(outcome),
            Owed::Refill(segment, server) => self.refill_goes_on((segment, server), outcome),
            Owed::Chore(task) => match self.state.chores.remove(&task) {
                Some(Chore::Validate(stage)) => self.validate(task, stage, outcome),
                Some(Chore::Repair(stage)) => self.repair(task, stage, outcome),
                Some(Chore::Retry(stage)) => self.retry(task, stage, outcome),
                Some(Chore::Retain(stage)) => self.retain(task, stage, outcome),
                None => None,
            },
        };
        fit.ok_or(Refusal::UnfitOutcome(id))
    }

    fn answer(&mut self, caller: Caller<ServerId>, answer: Answer) {
        self.tell(Effect::Answer(caller, answer));
    }

    /// An effect without an outcome.
    fn tell(&mut self, effect: Effect) {
        let id = EffectId { incarnation: self.state.durable.incarnation, number: 0 };
        self.effects.push(Issued { id, effect });
    }

    /// Gives an effect the least free number from 1.
    fn issue(&mut self, effect: Effect, owed: Owed) {
        let outstanding = &mut self.state.outstanding;
        let number = (1..=u16::MAX).find(|n| !outstanding.contains_key(n)).unwrap_or(u16::MAX);
        outstanding.insert(number, owed);
        let id = EffectId { incarnation: self.state.durable.incarnation, number };
        self.effects.push(Issued { id, effect });
    }

    /// Whether a copy may count as the segment of this record, which ends at this offset.
    fn fits(&mut self, record: &Record, end: u64, copy: &super::object::Sealed) -> bool {
        let range = super::object::Range { start: record.start, end };
        self.judge.demands(Guard::MatchRange, copy.rows.range == range)
            && self.judge.demands(Guard::WholeRange, copy.rows.covers(range, &record.lost))
    }
}
