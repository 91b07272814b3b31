//! What a driver has to know of the controller and the server.

use super::controller::{self, Controller};
use super::effect::{ControllerEffect, ServerEffect};
use super::event::{ControllerEvent, ControllerOutcome, ServerEvent, ServerOutcome};
use super::guard::Guard;
use super::server::{self, Server};
use crate::driven::Driven;
use crate::guard::Guards;
use crate::machine::{EffectId, Issued};

impl<V: Guards<Guard>> Driven for Controller<V> {
    type Input = ();

    fn durable(&self, state: &Self::State) -> controller::Durable {
        state.durable
    }

    fn name(durable: &controller::Durable) -> u64 {
        u64::from(durable.controller.0)
    }

    fn incarnation(durable: &controller::Durable) -> u32 {
        durable.incarnation
    }

    fn reborn(durable: controller::Durable, incarnation: u32) -> controller::Durable {
        controller::Durable { incarnation, ..durable }
    }

    fn awaits(effect: &ControllerEffect) -> bool {
        !matches!(
            effect,
            ControllerEffect::Reset(..)
                | ControllerEffect::Answer(..)
                | ControllerEffect::AnswerRefill(..)
        )
    }

    fn settles(event: &ControllerEvent) -> Option<EffectId> {
        match event {
            ControllerEvent::Outcome { id, .. } => Some(*id),
            ControllerEvent::Continue { .. }
            | ControllerEvent::Received { .. }
            | ControllerEvent::Configured(_)
            | ControllerEvent::Elected
            | ControllerEvent::Deposed
            | ControllerEvent::Stopping => None,
        }
    }

    fn unknown(issued: &Issued<ControllerEffect>, _input: ()) -> Option<ControllerEvent> {
        let outcome = match issued.effect {
            ControllerEffect::WriteRecord(..)
            | ControllerEffect::DeleteRecord(_)
            | ControllerEffect::WriteIdeal(..)
            | ControllerEffect::Promote(_)
            | ControllerEffect::Call(_) => ControllerOutcome::Unknown,
            ControllerEffect::ReadRecord(_)
            | ControllerEffect::ListRecords(_)
            | ControllerEffect::ReadIdeal
            | ControllerEffect::ReadView
            | ControllerEffect::ReadStream(_)
            | ControllerEffect::ReadLatest(..) => ControllerOutcome::Failed,
            ControllerEffect::Reset(..)
            | ControllerEffect::Answer(..)
            | ControllerEffect::AnswerRefill(..) => return None,
        };
        Some(ControllerEvent::Outcome { id: issued.id, outcome })
    }
}

impl<V: Guards<Guard>> Driven for Server<V> {
    type Input = ();

    fn durable(&self, state: &Self::State) -> server::Durable {
        state.durable().clone()
    }

    fn name(durable: &server::Durable) -> u64 {
        u64::from(durable.server.0)
    }

    fn incarnation(durable: &server::Durable) -> u32 {
        durable.incarnation
    }

    fn reborn(durable: server::Durable, incarnation: u32) -> server::Durable {
        server::Durable { incarnation, ..durable }
    }

    fn awaits(effect: &ServerEffect) -> bool {
        !matches!(effect, ServerEffect::Report(..) | ServerEffect::Show(..))
    }

    fn settles(event: &ServerEvent) -> Option<EffectId> {
        match event {
            ServerEvent::Outcome { id, .. } => Some(*id),
            ServerEvent::Transition(..)
            | ServerEvent::Stop(..)
            | ServerEvent::GiveUp(_)
            | ServerEvent::Break(_)
            | ServerEvent::Throw(_)
            | ServerEvent::Received { .. }
            | ServerEvent::Configured(_) => None,
        }
    }

    fn unknown(issued: &Issued<ServerEffect>, _input: ()) -> Option<ServerEvent> {
        let outcome = match issued.effect {
            ServerEffect::Build(..)
            | ServerEffect::Upload(..)
            | ServerEffect::Download(..)
            | ServerEffect::Delete(_)
            | ServerEffect::Call(_) => ServerOutcome::Unknown,
            ServerEffect::ReadRecord(_)
            | ServerEffect::PollRecord(_)
            | ServerEffect::ReadView
            | ServerEffect::Fetch(..) => ServerOutcome::Failed,
            ServerEffect::Report(..) | ServerEffect::Show(..) => return None,
        };
        Some(ServerEvent::Outcome { id: issued.id, outcome })
    }
}
