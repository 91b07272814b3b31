//! Upstream's historical: ours without fences and stamps, and with a load that a drop overtakes going on. That files
//! being deleted are not fetched at the same time (`deleted-first`), and that a deletion that failed is tried again, is
//! assumed in its favour.

use super::super::effect::HistoricalEffect as Effect;
use super::super::event::{HistoricalEvent as Event, Refusal};
use super::super::guard::Guard;
use super::super::historical::{self, Durable, Limits, State};
use super::super::message::FromServer;
use super::super::object::{Fence, Stamp, Term};
use crate::collections::Set;
use crate::guard::Weakened;
use crate::machine::{Machine, Step, Stepped};

/// The historical of every variant, as of 2025 (with #18291).
#[derive(Clone, Debug)]
pub struct Historical(historical::Historical<Weakened<Guard>>);

impl Historical {
    /// With these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let missing = [
            Guard::NumberFence,
            Guard::TermFence,
            Guard::TermSurvives,
            Guard::LifeNamed,
            Guard::DropEndsLoad,
        ];
        Self(historical::Historical::weakened(limits, Weakened::without(missing)))
    }
}

impl Machine for Historical {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut step = self.0.step(state, event)?;
        step.state.version = 0;
        step.state.number = 0;
        step.state.recalled = false;
        step.state.durable.term = Term::default();
        for issued in &mut step.effects {
            match &mut issued.effect {
                Effect::Send(FromServer::Reply(reply)) => reply.stamp = Stamp::default(),
                Effect::Send(FromServer::View(view)) => {
                    view.stamp = Stamp::default();
                    view.fence = Fence::default();
                }
                Effect::Send(FromServer::Outdated(_))
                | Effect::Fetch(_)
                | Effect::Wait { .. }
                | Effect::Delete(_) => {}
            }
        }
        Ok(Step { decided_by: Vec::new(), ..step })
    }

    /// What an earlier life has left stays there: nothing looks for it.
    fn recover(&self, mut durable: Durable) -> State {
        durable.left_over = Set::new();
        self.0.recover(durable)
    }
}
