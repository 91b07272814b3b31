//! What a driver has to know of the compactor and the cleaner.

use super::cleaner::Cleaner;
use super::compactor::{Compactor, Durable};
use super::effect::Effect;
use super::event::{Event, Input, Outcome};
use super::guard::Guard;
use super::marker::Owner;
use crate::driven::Driven;
use crate::guard::Guards;
use crate::machine::{EffectId, Issued};

impl<V: Guards<Guard>> Driven for Compactor<V> {
    type Input = Input;

    fn durable(&self, state: &Self::State) -> Durable {
        kept(state.owner())
    }

    fn name(durable: &Durable) -> u64 {
        u64::from(durable.process.0)
    }

    fn incarnation(durable: &Durable) -> u32 {
        durable.incarnation
    }

    fn reborn(durable: Durable, incarnation: u32) -> Durable {
        Durable { incarnation, ..durable }
    }

    fn awaits(_effect: &Effect) -> bool {
        true
    }

    fn settles(event: &Event) -> Option<EffectId> {
        settles(event)
    }

    fn unknown(issued: &Issued<Effect>, input: Input) -> Option<Event> {
        unknown(issued, input)
    }
}

impl<V: Guards<Guard>> Driven for Cleaner<V> {
    type Input = Input;

    fn durable(&self, state: &Self::State) -> Durable {
        kept(state.owner())
    }

    fn name(durable: &Durable) -> u64 {
        u64::from(durable.process.0)
    }

    fn incarnation(durable: &Durable) -> u32 {
        durable.incarnation
    }

    fn reborn(durable: Durable, incarnation: u32) -> Durable {
        Durable { incarnation, ..durable }
    }

    fn awaits(_effect: &Effect) -> bool {
        true
    }

    fn settles(event: &Event) -> Option<EffectId> {
        settles(event)
    }

    fn unknown(issued: &Issued<Effect>, input: Input) -> Option<Event> {
        unknown(issued, input)
    }
}

fn kept(owner: Owner) -> Durable {
    Durable { process: owner.process, incarnation: owner.incarnation }
}

fn settles(event: &Event) -> Option<EffectId> {
    match event {
        Event::Continue { .. } => None,
        Event::Outcome { id, .. } => Some(*id),
    }
}

fn unknown(issued: &Issued<Effect>, input: Input) -> Option<Event> {
    let outcome = match issued.effect {
        Effect::Put(..) | Effect::Delete(_) => Outcome::Unknown,
        // A merge leaves nothing in the bucket.
        Effect::List(_) | Effect::Get(_) | Effect::Exists(_) | Effect::Merge(_) => Outcome::Failed,
        Effect::Wait(_) => return None,
    };
    Some(Event::Outcome { id: issued.id, outcome, input })
}
