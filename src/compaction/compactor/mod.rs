//! The compactor: plans, claims, merges, uploads. It never marks a parent (dossier 1).

mod job;
pub(crate) mod search;
pub mod state;

pub use state::State;

use super::effect::{Effect, Wait};
use super::event::{Event, Input, Refusal, Task, heard};
use super::guard::Guard;
use super::marker::{Marker, Status};
use super::object::{Body, Key, PlanKey, ProcessId};
use super::plan::{Plan, Range};
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{Issued, Machine, Step, Stepped};

/// Limits of a compactor. All are plain values; defaults are upstream's (dossier 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The range it works on.
    pub range: Range,
    /// How many partitions it works on at once; at least 1.
    pub concurrency: u8,
    /// How long a planner and a claimant wait before they read back, ms. Work may be done twice if an
    /// operation takes longer than this; nothing is lost.
    pub settle_delay_ms: u64,
    /// After how long without a heartbeat a claim is free again, ms.
    pub claim_timeout_ms: u64,
    /// Above this total index size a range is split into partitions, bytes; 0 means never.
    pub partition_index_size_bytes: u64,
}

impl Limits {
    /// Upstream's defaults for a range.
    #[must_use]
    pub fn for_range(range: Range) -> Self {
        Self {
            range,
            concurrency: 1,
            settle_delay_ms: 10_000,
            claim_timeout_ms: 600_000,
            partition_index_size_bytes: 64 << 30,
        }
    }
}

/// The compactor role.
#[derive(Clone, Debug)]
pub struct Compactor<V = Verified> {
    limits: Limits,
    guards: V,
}

impl Compactor {
    /// A compactor that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, guards: Verified }
    }
}

impl<V> Compactor<V> {
    /// Its limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

#[cfg(feature = "weaken")]
impl Compactor<crate::guard::Weakened<Guard>> {
    /// A compactor without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards }
    }
}

/// What a compactor knows after a crash: its name, and that this is a new life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Durable {
    /// Its name.
    pub process: ProcessId,
    /// Larger than that of any life before.
    pub incarnation: u32,
}

impl<V: Guards<Guard>> Machine for Compactor<V> {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut turn = Turn {
            limits: &self.limits,
            judge: Judge::new(&self.guards),
            state: state.clone(),
            effects: Vec::new(),
        };
        match event {
            Event::Continue { task: Task::Cycle, .. } => turn.begin_search()?,
            Event::Continue { task: Task::Beat(slot), input } => turn.beat(slot, input)?,
            Event::Continue { task: task @ Task::Job(_), .. } => {
                return Err(Refusal::NotReady(task));
            }
            Event::Outcome { id, outcome, input } => {
                let absence = turn.state.outstanding.absence(id);
                let task = turn.state.outstanding.settle(id, &outcome)?;
                let heard = heard(outcome, absence, &mut turn.judge);
                match task {
                    Some(Task::Cycle) => turn.go_on_searching(heard, input),
                    Some(Task::Job(slot)) => turn.go_on_working(slot, heard, input),
                    Some(Task::Beat(slot)) => turn.beat_sent(slot, input),
                    None => {}
                }
            }
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    fn recover(&self, durable: Durable) -> State {
        State::idle(durable.process, durable.incarnation)
    }
}

/// One step being taken.
struct Turn<'a, V> {
    limits: &'a Limits,
    judge: Judge<'a, V, Guard>,
    state: State,
    effects: Vec<Issued<Effect>>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    fn issue(&mut self, task: Task, effect: Effect) {
        let issued = self.state.outstanding.issue(task, effect);
        self.effects.push(issued);
    }

    fn plan_key(&self, plan: &Plan) -> PlanKey {
        let named = self.judge.keeps(Guard::PlanPathId);
        PlanKey { group: plan.group, plan: named.then_some(plan.id) }
    }

    fn marker_key(&self, plan: &Plan, partition: u32) -> Key {
        let named = self.judge.keeps(Guard::MarkerPathId);
        Key::Marker(PlanKey { group: plan.group, plan: named.then_some(plan.id) }, partition)
    }

    fn marker(&self, plan: &Plan, partition: u32, status: Status, input: Input) -> Body {
        Body::Marker(Marker {
            owner: self.state.owner(),
            status,
            plan: plan.id,
            plan_created_s: Some(plan.created_s),
            partition,
            visited_ms: input.now_ms,
        })
    }

    fn wait_after(&self, after: Key) -> Effect {
        Effect::Wait(Wait { delay_ms: self.limits.settle_delay_ms, after })
    }
}
