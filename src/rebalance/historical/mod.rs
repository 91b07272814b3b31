//! The historical: loads, announces, withdraws and deletes what it is told to (dossier 5).
//!
//! Three things differ from upstream's. It refuses what a fence cuts off: requests of an older term, for
//! another life of the server, or with a number that is not new; the term survives a restart. Each answer
//! says what the server holds since, stamped. And files being deleted, fetched and announced never overlap; those
//! that an earlier life left, or a deletion that did not succeed, are deleted with the next message.
//!
//! Announcing is a change of state: a poll is answered from it. The state's durable part has to be on disk
//! before the effects of the step are carried out.

pub mod state;

pub use state::{Durable, State};

use self::state::{Leaving, Loading, Owed};
use super::effect::HistoricalEffect as Effect;
use super::event::{HistoricalEvent as Event, Outcome, Refusal};
use super::guard::Guard;
use super::message::{Action, Answer, FromServer, Reply, Request, ToServer, View};
use super::object::{Fence, SegmentId, Term};
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{EffectId, Issued, Machine, Step, Stepped};

/// How many fetches, waits and deletions may be under way; a request beyond it fails.
pub const MAX_OUTSTANDING: usize = 60_000;

/// How many deletions of what is left over are begun with one message, at most.
pub const MAX_CLEARED: usize = 100;

/// Limits of a historical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long the files of a dropped segment stay, ms. Upstream's default is 30,000 (dossier 10).
    pub drop_delay_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { drop_delay_ms: 30_000 }
    }
}

/// The historical role.
#[derive(Clone, Debug)]
pub struct Historical<V = Verified> {
    limits: Limits,
    guards: V,
}

impl Historical {
    /// A historical that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, guards: Verified }
    }
}

#[cfg(feature = "weaken")]
impl Historical<crate::guard::Weakened<Guard>> {
    /// A historical without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards }
    }
}

impl<V: Guards<Guard>> Machine for Historical<V> {
    type State = State;
    type Event = Event;
    type Effect = Effect;
    type Guard = Guard;
    type Refusal = Refusal;
    type Durable = Durable;

    fn step(&self, state: &State, event: Event) -> Stepped<Self> {
        let mut turn = Turn {
            limits: self.limits,
            judge: Judge::new(&self.guards),
            state: state.clone(),
            effects: Vec::new(),
        };
        match event {
            Event::Received(message) => {
                turn.clear_left_over();
                match message {
                    ToServer::Request(request) => turn.request(request),
                    ToServer::Poll(fence) => turn.poll(fence),
                }
            }
            Event::Outcome { id, outcome } => turn.outcome(id, outcome)?,
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    /// It announces what its disk says, and knows of no request.
    fn recover(&self, mut durable: Durable) -> State {
        if !self.guards.keeps(Guard::TermSurvives) {
            durable.term = Term::default();
        }
        State::started(durable)
    }
}

/// One step being taken.
struct Turn<'a, V> {
    limits: Limits,
    judge: Judge<'a, V, Guard>,
    state: State,
    effects: Vec<Issued<Effect>>,
}

impl<V: Guards<Guard>> Turn<'_, V> {
    fn request(&mut self, request: Request) {
        if let Some(answer) = self.refuses(&request) {
            return self.answer(request.ticket, request.action, request.segment, answer);
        }
        self.take_fence(request.ticket);
        match request.action {
            Action::Load => self.load(request),
            Action::Drop => self.drop_segment(request),
        }
    }

    /// Windows 4 to 7: what is older than a fence that somebody already relies on.
    fn refuses(&mut self, request: &Request) -> Option<Answer> {
        let fence = self.state.fence();
        if self.is_of_old_term(request.ticket.term) {
            return Some(Answer::RefusedTerm(fence));
        }
        let same_life = request.incarnation == self.state.durable.incarnation;
        if !self.judge.demands(Guard::LifeNamed, same_life) {
            return Some(Answer::RefusedIncarnation);
        }
        let new = request.ticket.term != fence.term || request.ticket.number > fence.number;
        if !self.judge.demands(Guard::NumberFence, new || self.is_under_way(request)) {
            return Some(Answer::RefusedNumber);
        }
        (self.state.outstanding.len() >= MAX_OUTSTANDING).then_some(Answer::Failed)
    }

    fn is_of_old_term(&mut self, term: Term) -> bool {
        let old = !self.judge.demands(Guard::TermFence, term >= self.state.durable.term);
        if old && self.state.recalled {
            self.judge.applies(Guard::TermSurvives);
        }
        old
    }

    /// Whether it is sent again while it is worked on. The answer is still to come; a refusal would be taken
    /// for it, and whatever loads longer than it takes to send again would never count as arriving.
    fn is_under_way(&self, request: &Request) -> bool {
        let loading = self.state.loading.get(&request.segment);
        request.action == Action::Load && loading.is_some_and(|l| l.ticket == request.ticket)
    }

    fn take_fence(&mut self, shown: Fence) {
        let fence = self.state.fence();
        self.state.recalled &= shown.term < fence.term;
        if shown > fence {
            self.state.durable.term = shown.term;
            self.state.number = shown.number;
        }
    }

    fn poll(&mut self, shown: Fence) {
        let fence = self.state.fence();
        if self.is_of_old_term(shown.term) {
            return self.send(FromServer::Outdated(fence));
        }
        self.take_fence(shown);
        let segments = self.state.announced().collect();
        let view = View { fence: shown, stamp: self.state.stamp(), segments };
        self.send(FromServer::View(view));
    }

    fn load(&mut self, request: Request) {
        let Request { ticket, segment, .. } = request;
        if self.state.announces(segment) {
            return self.answer(ticket, Action::Load, segment, Answer::Done);
        }
        if let Some(loading) = self.state.loading.get_mut(&segment) {
            loading.ticket = ticket;
            return;
        }
        match self.state.leaving.get(&segment) {
            // The files are still whole: the wait that would have deleted them is called off.
            Some(Leaving::Waiting(_)) => {
                self.state.leaving.remove(&segment);
                self.announce(segment);
                self.answer(ticket, Action::Load, segment, Answer::Done);
            }
            // What is fetched now could be deleted by the same stroke (#2118).
            Some(Leaving::Deleting) if self.judge.applies(Guard::DeletedFirst) => {
                self.state.loading.insert(segment, Loading { ticket, fetching: false });
            }
            Some(Leaving::Fetching | Leaving::LeftOver) => {
                self.state.loading.insert(segment, Loading { ticket, fetching: false });
            }
            Some(Leaving::Deleting) | None => self.fetch(segment, ticket),
        }
    }

    fn fetch(&mut self, segment: SegmentId, ticket: Fence) {
        self.state.loading.insert(segment, Loading { ticket, fetching: true });
        self.issue(Effect::Fetch(segment), Owed::Fetch(segment));
    }

    fn drop_segment(&mut self, request: Request) {
        let Request { ticket, segment, .. } = request;
        // A load that a drop overtakes must not announce what is about to be deleted (dossier 5, D6).
        if self.state.is_loading(segment) && self.judge.applies(Guard::DropEndsLoad) {
            let ended = self.state.loading.remove(&segment);
            if ended.is_some_and(|loading| loading.fetching) {
                self.state.leaving.insert(segment, Leaving::Fetching);
            }
        }
        let announced = self.state.announces(segment);
        if announced {
            self.withdraw(segment);
        }
        if announced || !self.judge.keeps(Guard::DropEndsLoad) {
            let delay_ms = self.limits.drop_delay_ms;
            let wait = self.issue(Effect::Wait { segment, delay_ms }, Owed::Wait(segment));
            self.state.leaving.insert(segment, Leaving::Waiting(wait));
        }
        self.answer(ticket, Action::Drop, segment, Answer::Done);
    }

    fn outcome(&mut self, id: EffectId, outcome: Outcome) -> Result<(), Refusal> {
        let current = self.state.durable.incarnation.0;
        if id.incarnation != current {
            return Err(Refusal::OtherIncarnation { id, current });
        }
        let owed = *self.state.outstanding.get(&id.number).ok_or(Refusal::NotOutstanding(id))?;
        let waits = matches!(owed, Owed::Wait(_));
        if waits != (outcome == Outcome::Elapsed) {
            return Err(Refusal::UnfitOutcome(id));
        }
        self.state.outstanding.remove(&id.number);
        match owed {
            Owed::Fetch(segment) => self.fetched(segment, outcome),
            Owed::Wait(segment) => self.waited(segment, id.number),
            Owed::Delete(segment) => self.deleted(segment, outcome),
        }
        Ok(())
    }

    fn fetched(&mut self, segment: SegmentId, outcome: Outcome) {
        if self.state.leaving.get(&segment) == Some(&Leaving::Fetching) {
            self.state.leaving.remove(&segment);
            return self.clean_up(segment, outcome);
        }
        let wanted = self.state.loading.get(&segment).is_some_and(|loading| loading.fetching);
        let ticket = self.state.loading.get(&segment).map(|loading| loading.ticket);
        match (outcome, ticket.filter(|_| wanted)) {
            (Outcome::Done, Some(ticket)) => {
                self.state.loading.remove(&segment);
                self.announce(segment);
                self.answer(ticket, Action::Load, segment, Answer::Done);
            }
            (Outcome::Failed | Outcome::Unknown | Outcome::Elapsed, Some(ticket)) => {
                self.state.loading.remove(&segment);
                self.answer(ticket, Action::Load, segment, Answer::Failed);
                self.clean_up(segment, outcome);
            }
            // Dropped meanwhile, and perhaps asked for again: the files go, then the next fetch begins.
            (_, None) => self.clean_up(segment, outcome),
        }
    }

    /// Deletes what a fetch left that nobody announces.
    fn clean_up(&mut self, segment: SegmentId, outcome: Outcome) {
        match outcome {
            Outcome::Failed => self.begin_waiting_load(segment),
            Outcome::Done | Outcome::Unknown | Outcome::Elapsed => self.delete(segment),
        }
    }

    /// The delay after a drop is over. Only the drop that began the wait may delete (#18291).
    fn waited(&mut self, segment: SegmentId, number: u16) {
        let own = match self.state.leaving.get(&segment) {
            Some(Leaving::Waiting(of)) => self.judge.demands(Guard::LatchPerDrop, *of == number),
            Some(Leaving::Deleting | Leaving::Fetching | Leaving::LeftOver) | None => false,
        };
        if own {
            self.delete(segment);
        }
    }

    /// What a deletion that did not succeed leaves may be files in part. It is tried again with the next
    /// message, and a load that waits for it fails.
    fn deleted(&mut self, segment: SegmentId, outcome: Outcome) {
        if outcome == Outcome::Done {
            self.state.leaving.remove(&segment);
            return self.begin_waiting_load(segment);
        }
        self.state.leaving.insert(segment, Leaving::LeftOver);
        let waiting = self.state.loading.get(&segment).filter(|loading| !loading.fetching);
        if let Some(ticket) = waiting.map(|loading| loading.ticket) {
            self.state.loading.remove(&segment);
            self.answer(ticket, Action::Load, segment, Answer::Failed);
        }
    }

    /// Begins to delete what is left over. A server starts without an event of its own; the first message comes
    /// soon, as it is polled.
    fn clear_left_over(&mut self) {
        let room = MAX_OUTSTANDING.saturating_sub(self.state.outstanding.len());
        let left_over = self.state.leaving.iter().filter(|(_, how)| **how == Leaving::LeftOver);
        let left_over = left_over.map(|(segment, _)| *segment).take(MAX_CLEARED.min(room));
        for segment in left_over.collect::<Vec<_>>() {
            self.delete(segment);
        }
    }

    fn delete(&mut self, segment: SegmentId) {
        self.state.leaving.insert(segment, Leaving::Deleting);
        self.issue(Effect::Delete(segment), Owed::Delete(segment));
    }

    fn begin_waiting_load(&mut self, segment: SegmentId) {
        let waiting = self.state.loading.get(&segment).filter(|loading| !loading.fetching);
        if let Some(ticket) = waiting.map(|loading| loading.ticket) {
            self.fetch(segment, ticket);
        }
    }

    fn announce(&mut self, segment: SegmentId) {
        self.state.durable.served.insert(segment);
        self.state.version = self.state.version.saturating_add(1);
    }

    fn withdraw(&mut self, segment: SegmentId) {
        self.state.durable.served.remove(&segment);
        self.state.version = self.state.version.saturating_add(1);
    }

    fn answer(&mut self, ticket: Fence, action: Action, segment: SegmentId, answer: Answer) {
        let has = self.state.announces(segment);
        let stamp = self.state.stamp();
        self.send(FromServer::Reply(Reply { ticket, action, segment, answer, has, stamp }));
    }

    fn send(&mut self, message: FromServer) {
        self.effects.push(Issued { id: self.id(0), effect: Effect::Send(message) });
    }

    /// Gives an effect the least free number from 1.
    fn issue(&mut self, effect: Effect, owed: Owed) -> u16 {
        let outstanding = &mut self.state.outstanding;
        let number = (1..=u16::MAX).find(|n| !outstanding.contains_key(n)).unwrap_or(u16::MAX);
        outstanding.insert(number, owed);
        self.effects.push(Issued { id: self.id(number), effect });
        number
    }

    fn id(&self, number: u16) -> EffectId {
        EffectId { incarnation: self.state.durable.incarnation.0, number }
    }
}
