//! Any events from outside, in any order.

use super::*;

/// Marsaglia's xorshift64, and nonsense made from it.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Mostly small; now and then the largest there is.
    fn number(&mut self, most: u64) -> u64 {
        if self.below(24) == 0 { most } else { self.below(4) }
    }

    fn server(&mut self) -> ServerId {
        ServerId(self.number(u64::from(u16::MAX)) as u16)
    }

    fn segment(&mut self) -> SegmentId {
        SegmentId(self.number(u64::from(u32::MAX)) as u32)
    }

    fn tier(&mut self) -> TierId {
        TierId(self.below(2) as u8)
    }

    fn fence(&mut self) -> Fence {
        let term = Term(self.number(u64::MAX));
        Fence { term, number: self.number(u64::from(u32::MAX)) as u32 }
    }

    fn stamp(&mut self) -> Stamp {
        let incarnation = Incarnation(self.number(u64::from(u32::MAX)) as u32);
        Stamp { incarnation, version: self.number(u64::from(u32::MAX)) as u32 }
    }

    fn action(&mut self) -> Action {
        if self.below(2) == 0 { Action::Drop } else { Action::Load }
    }

    fn effect_id(&mut self) -> EffectId {
        let incarnation = self.number(u64::from(u32::MAX)) as u32;
        EffectId { incarnation, number: self.number(u64::from(u16::MAX)) as u16 }
    }

    fn info(&mut self) -> ServerInfo {
        ServerInfo {
            tier: self.tier(),
            capacity_bytes: self.number(u64::MAX),
            decommissioning: self.below(4) == 0,
            managed: self.below(4) != 0,
        }
    }

    fn rule(&mut self) -> Rule {
        let count = self.below(4);
        let most = u64::from(u16::MAX);
        let required = (0..count).map(|_| (self.tier(), self.number(most) as u16)).collect();
        Rule { size_bytes: self.number(u64::MAX), required }
    }

    fn message(&mut self) -> FromServer {
        match self.below(8) {
            0 => FromServer::Outdated(self.fence()),
            1..4 => {
                let count = self.below(4);
                let segments = (0..count).map(|_| self.segment()).collect();
                FromServer::View(View { fence: self.fence(), stamp: self.stamp(), segments })
            }
            _ => {
                let answer = match self.below(5) {
                    0 => Answer::Done,
                    1 => Answer::Failed,
                    2 => Answer::RefusedNumber,
                    3 => Answer::RefusedIncarnation,
                    _ => Answer::RefusedTerm(self.fence()),
                };
                FromServer::Reply(Reply {
                    ticket: self.fence(),
                    action: self.action(),
                    segment: self.segment(),
                    answer,
                    has: self.below(2) == 0,
                    stamp: self.stamp(),
                })
            }
        }
    }

    fn task(&mut self) -> Task {
        match self.below(8) {
            0..3 => Task::Run,
            3 => Task::Callback(self.number(u64::from(u8::MAX)) as u8),
            4 => Task::Send(self.server()),
            5 => Task::Poll(self.server()),
            6 => Task::Overdue(self.server(), self.segment()),
            _ => Task::Unconfirmed(self.server(), self.segment()),
        }
    }

    fn coordinator_event(&mut self) -> CoordinatorEvent {
        match self.below(16) {
            0 => CoordinatorEvent::Elected(Term(self.number(u64::MAX))),
            1 => CoordinatorEvent::Deposed,
            2 => CoordinatorEvent::Disappeared(self.server()),
            3 | 4 => CoordinatorEvent::Appeared(self.server(), self.info()),
            5 | 6 => CoordinatorEvent::Require(self.segment(), self.rule()),
            7..11 => {
                let (segment, from, to) = (self.segment(), self.server(), self.server());
                let proposed = (self.below(2) == 0).then_some(Move { segment, from, to });
                let input = Input { pick: self.next() as u32, proposed };
                CoordinatorEvent::Continue { task: self.task(), input }
            }
            _ => {
                let (server, message) = (self.server(), self.message());
                CoordinatorEvent::Received(Addressed { server, message })
            }
        }
    }

    fn historical_event(&mut self) -> HistoricalEvent {
        match self.below(4) {
            0 => HistoricalEvent::Received(ToServer::Poll(self.fence())),
            1 => {
                let outcome = match self.below(4) {
                    0 => Outcome::Done,
                    1 => Outcome::Failed,
                    2 => Outcome::Unknown,
                    _ => Outcome::Elapsed,
                };
                HistoricalEvent::Outcome { id: self.effect_id(), outcome }
            }
            _ => {
                let request = Request {
                    ticket: self.fence(),
                    incarnation: Incarnation(self.number(u64::from(u32::MAX)) as u32),
                    action: self.action(),
                    segment: self.segment(),
                };
                HistoricalEvent::Received(ToServer::Request(request))
            }
        }
    }
}

const LIVES: u64 = 200;
const EVENTS_A_LIFE: usize = 200;

/// Any events, in any order: none panics, and the same twice gives the same.
fn live<M>(
    role: &M,
    durable: &M::Durable,
    random: &mut Random,
    event: impl Fn(&mut Random) -> M::Event,
    judge: impl Fn(&M::State),
) where
    M: Machine,
    M::Effect: PartialEq,
{
    let mut taken = 0;
    for _ in 0..LIVES {
        let mut state = role.recover(durable.clone());
        for _ in 0..EVENTS_A_LIFE {
            let event = event(random);
            let step = role.step(&state, event.clone());
            assert_eq!(step, role.step(&state, event));
            let Ok(step) = step else { continue };
            state = step.state;
            judge(&state);
            taken += 1;
        }
    }
    // If everything were refused, this would show nothing.
    assert!(taken > LIVES * 20, "{taken}");
}

fn node() -> historical::Durable {
    let served = [SegmentId(0), SegmentId(2)].into_iter().collect();
    let left_over = [SegmentId(1)].into_iter().collect();
    historical::Durable { server: A, incarnation: Incarnation(0), term: Term(0), served, left_over }
}

#[test]
fn no_event_panics_a_coordinator() {
    let role = Coordinator::new(coordinator::Limits { batch_size: 0 });
    let judge = |state: &coordinator::State| assert_eq!(state.index_fault(), None, "{state:?}");
    live(&role, &LEADER, &mut Random(0x5eed_0001), Random::coordinator_event, judge);
}

#[test]
fn no_event_panics_a_historical() {
    let role = Historical::new(historical::Limits::default());
    live(&role, &node(), &mut Random(0x5eed_0002), Random::historical_event, |_| ());
}

#[cfg(feature = "weaken")]
#[test]
fn no_event_panics_an_upstream_coordinator() {
    use surehold::rebalance::upstream::{self, Fix};
    for fix in Fix::ALL {
        let role = upstream::Coordinator::new(fix);
        live(&role, &LEADER, &mut Random(0x5eed_0003), Random::coordinator_event, |_| ());
    }
}

#[cfg(feature = "weaken")]
#[test]
fn no_event_panics_an_upstream_historical() {
    let role = surehold::rebalance::upstream::Historical::new(historical::Limits::default());
    live(&role, &node(), &mut Random(0x5eed_0004), Random::historical_event, |_| ());
}
