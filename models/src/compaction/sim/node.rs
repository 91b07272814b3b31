//! One process: a driver of either role, what is durable of it, and which of the driver's calls is next.

use surehold::compaction::compactor::Durable;
use surehold::compaction::object::ProcessId;
use surehold::compaction::{Effect, Event, Input, Refusal};
use surehold::runtime::driver::{Driver, GivenUp, Limits, Refused, Settled};
use surehold::runtime::durables::Memory;
use surehold::{Driven, EffectId, Issued};

use super::super::fleet::Fleet;
use super::super::model::{Model, RoleOf};
use super::super::world::RoleState;

/// A fleet whose roles a driver can own.
pub trait DrivenFleet:
    Fleet<Compactor: Driven<Input = Input>, Cleaner: Driven<Input = Input>>
{
}

impl<F> DrivenFleet for F where
    F: Fleet<Compactor: Driven<Input = Input>, Cleaner: Driven<Input = Input>>
{
}

const LIMITS: Limits = Limits { waiting: 4, effects: 8, batch: 4 };

/// The call of the driver that is next, unless a crash comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Gather,
    Persist,
    HandOut,
}

pub(super) enum Node<F: DrivenFleet> {
    Compactor(Driver<F::Compactor, Memory<Durable>>),
    Cleaner(Driver<F::Cleaner, Memory<Durable>>),
}

macro_rules! each {
    ($node:expr, $driver:ident => $what:expr) => {
        match $node {
            Node::Compactor($driver) => $what,
            Node::Cleaner($driver) => $what,
        }
    };
}

impl<F: DrivenFleet> Node<F> {
    /// A process starts with what is durable of it.
    pub(super) fn start(model: &Model<F>, process: u8, durables: Memory<Durable>) -> Self {
        let begin = |kept: Option<Durable>| {
            kept.unwrap_or(Durable { process: ProcessId(u32::from(process)), incarnation: 0 })
        };
        let started = "memory does not fail, and no process lives so often";
        if process < model.scope.compactors {
            let role = (*model.compactor).clone();
            Self::Compactor(Driver::start(role, durables, begin, LIMITS).expect(started))
        } else {
            let role = (*model.cleaner).clone();
            Self::Cleaner(Driver::start(role, durables, begin, LIMITS).expect(started))
        }
    }

    /// It is gone; what is durable is left.
    pub(super) fn crash(self) -> Memory<Durable> {
        each!(self, driver => driver.into_durables())
    }

    /// As readers see it.
    pub(super) fn role(&self) -> RoleOf<F> {
        match self {
            Self::Compactor(driver) => {
                RoleState::Compactor((*driver.published().load()).clone().into())
            }
            Self::Cleaner(driver) => {
                RoleState::Cleaner((*driver.published().load()).clone().into())
            }
        }
    }

    /// Whether there was room for it.
    pub(super) fn offer(&mut self, event: Event) -> bool {
        each!(self, driver => driver.offer(event).is_ok())
    }

    pub(super) fn settle(&mut self, outcome: Event) -> Settled {
        each!(self, driver => driver.settle(outcome))
    }

    pub(super) fn give_up(&mut self, id: EffectId, input: Input) -> GivenUp {
        each!(self, driver => driver.give_up(id, input))
    }

    pub(super) fn gather(&mut self) -> Vec<Refused<Refusal>> {
        each!(self, driver => driver.gather())
    }

    pub(super) fn persist(&mut self) {
        each!(self, driver => match driver.persist() {
            Ok(()) => {}
            Err(never) => match never {},
        });
    }

    pub(super) fn hand_out(&mut self) -> Option<Issued<Effect>> {
        each!(self, driver => driver.hand_out())
    }
}
