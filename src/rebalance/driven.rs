//! What a driver has to know of the coordinator and the historical.

use super::coordinator::{self, Coordinator};
use super::effect::{CoordinatorEffect, HistoricalEffect};
use super::event::{CoordinatorEvent, HistoricalEvent, Outcome};
use super::guard::Guard;
use super::historical::{self, Historical};
use super::object::Incarnation;
use crate::driven::Driven;
use crate::guard::Guards;
use crate::machine::{EffectId, Issued};

impl<V: Guards<Guard>> Driven for Coordinator<V> {
    type Input = ();

    fn durable(&self, state: &Self::State) -> coordinator::Durable {
        state.durable
    }

    fn name(durable: &coordinator::Durable) -> u64 {
        u64::from(durable.leader.0)
    }

    fn incarnation(durable: &coordinator::Durable) -> u32 {
        durable.incarnation
    }

    fn reborn(durable: coordinator::Durable, incarnation: u32) -> coordinator::Durable {
        coordinator::Durable { incarnation, ..durable }
    }

    fn awaits(effect: &CoordinatorEffect) -> bool {
        match effect {
            CoordinatorEffect::Send(_) => false,
        }
    }

    fn settles(_event: &CoordinatorEvent) -> Option<EffectId> {
        None
    }

    fn unknown(_issued: &Issued<CoordinatorEffect>, _input: ()) -> Option<CoordinatorEvent> {
        None
    }
}

impl<V: Guards<Guard>> Driven for Historical<V> {
    type Input = ();

    fn durable(&self, state: &Self::State) -> historical::Durable {
        state.durable().clone()
    }

    fn name(durable: &historical::Durable) -> u64 {
        u64::from(durable.server.0)
    }

    fn incarnation(durable: &historical::Durable) -> u32 {
        durable.incarnation.0
    }

    fn reborn(durable: historical::Durable, incarnation: u32) -> historical::Durable {
        historical::Durable { incarnation: Incarnation(incarnation), ..durable }
    }

    fn awaits(effect: &HistoricalEffect) -> bool {
        match effect {
            HistoricalEffect::Send(_) => false,
            HistoricalEffect::Fetch(_)
            | HistoricalEffect::Wait { .. }
            | HistoricalEffect::Delete(_) => true,
        }
    }

    fn settles(event: &HistoricalEvent) -> Option<EffectId> {
        match event {
            HistoricalEvent::Received(_) => None,
            HistoricalEvent::Outcome { id, .. } => Some(*id),
        }
    }

    fn unknown(issued: &Issued<HistoricalEffect>, _input: ()) -> Option<HistoricalEvent> {
        match issued.effect {
            HistoricalEffect::Fetch(_) | HistoricalEffect::Delete(_) => {
                Some(HistoricalEvent::Outcome { id: issued.id, outcome: Outcome::Unknown })
            }
            // A delay that is not over protects whoever still reads.
            HistoricalEffect::Wait { .. } | HistoricalEffect::Send(_) => None,
        }
    }
}
