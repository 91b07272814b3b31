//! The coordinator: learns who serves what, and has it loaded, moved and dropped (dossier 3, 4).

mod audit;
mod commit;
mod knowledge;
mod queue;
mod run;
pub mod state;

pub use audit::IndexFault;
pub use state::{Durable, State};

use self::state::Server;
use super::effect::CoordinatorEffect as Effect;
use super::event::{CoordinatorEvent as Event, Refusal, ServerInfo, Task};
use super::guard::Guard;
use super::message::{Addressed, FromServer, ToServer};
use super::object::{ServerId, Term};
use crate::collections::{Seq, Set, Table};
use crate::guard::{Guards, Judge, Verified};
use crate::machine::{EffectId, Issued, Machine, Step, Stepped};

/// Limits of a coordinator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many requests are sent to one server at a time; at least 1. Upstream's default is the server's
    /// number of loading threads (dossier 3.2). Requests that are late do not count: so many of them are sent
    /// beside the others.
    pub batch_size: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { batch_size: 10 }
    }
}

/// The coordinator role.
#[derive(Clone, Debug)]
pub struct Coordinator<V = Verified> {
    limits: Limits,
    guards: V,
}

impl Coordinator {
    /// A coordinator that keeps every guard.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, guards: Verified }
    }
}

#[cfg(feature = "weaken")]
impl Coordinator<crate::guard::Weakened<Guard>> {
    /// A coordinator without some guards, to see what they are for.
    #[must_use]
    pub fn weakened(limits: Limits, guards: crate::guard::Weakened<Guard>) -> Self {
        Self { limits, guards }
    }
}

impl<V: Guards<Guard>> Machine for Coordinator<V> {
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
            Event::Continue { task, input } => {
                turn.must_lead()?;
                match task {
                    Task::Run => turn.run(input),
                    Task::Callback(_) => turn.commit_asked(task)?,
                    Task::Send(server) => turn.send_queue(server)?,
                    Task::Poll(server) => turn.poll(server)?,
                    Task::Overdue(server, segment) => turn.overdue(server, segment)?,
                    Task::Unconfirmed(..) => return Err(Refusal::NotReady(task)),
                }
            }
            Event::Received(Addressed { server, message }) => {
                let term = turn.must_lead()?;
                match message {
                    FromServer::Reply(reply) => turn.reply(server, reply, term)?,
                    FromServer::View(view) => turn.view(server, &view, term)?,
                    FromServer::Outdated(fence) => turn.told_of(fence.term),
                }
            }
            Event::Appeared(server, info) => turn.appeared(server, info),
            Event::Disappeared(server) => turn.disappeared(server)?,
            Event::Require(segment, rule) => turn.state.require(segment, rule),
            Event::Elected(term) => turn.elected(term)?,
            Event::Deposed => turn.step_down(),
        }
        Ok(Step { state: turn.state, effects: turn.effects, decided_by: turn.judge.into_decided() })
    }

    /// A coordinator that has just started leads nothing and knows nothing.
    fn recover(&self, durable: Durable) -> State {
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
    fn must_lead(&self) -> Result<Term, Refusal> {
        self.state.term.ok_or(Refusal::NotLeading)
    }

    fn send(&mut self, server: ServerId, message: ToServer) {
        let id = EffectId { incarnation: self.state.durable.incarnation, number: 0 };
        let effect = Effect::Send(Addressed { server, message });
        self.effects.push(Issued { id, effect });
    }

    /// A new leader knows nothing of what was asked before, so it trusts no server before its fence is there.
    fn elected(&mut self, term: Term) -> Result<(), Refusal> {
        if term <= self.state.newest {
            return Err(Refusal::OldTerm(term));
        }
        self.step_down();
        self.state.term = Some(term);
        self.state.newest = term;
        Ok(())
    }

    /// Forgets all but who there is and what is required.
    fn step_down(&mut self) {
        self.state.term = None;
        self.state.picture = None;
        self.state.asked = Seq::new();
        let known: Vec<_> = self.state.servers.iter().map(|(id, s)| (*id, s.info)).collect();
        for (id, info) in known {
            self.state.forget(id);
            let shown = self.state.server(id).is_some();
            self.state.servers.insert(id, Server { shown, ..Server::unknown(info) });
        }
        self.state.beside = Table::new();
    }

    /// A newer term was heard of.
    fn told_of(&mut self, term: Term) {
        if self.state.term.is_some_and(|own| term > own) && self.judge.applies(Guard::StepDown) {
            self.step_down();
        }
    }

    fn appeared(&mut self, id: ServerId, info: ServerInfo) {
        let again = self.judge.keeps(Guard::FencedAgain);
        match self.state.servers.get_mut(&id) {
            // The operator has changed something.
            Some(server) if server.shown => server.info = info,
            // What was asked of it before it vanished is forgotten, and may still arrive.
            Some(server) => {
                let issued = server.issued;
                let fence_from = if again { issued } else { 0 };
                *server = Server { issued, fence_from, ..Server::unknown(info) };
            }
            None => {
                self.state.servers.insert(id, Server::unknown(info));
            }
        }
        // What is short of a place may have one now.
        self.look_at_all();
    }

    fn disappeared(&mut self, id: ServerId) -> Result<(), Refusal> {
        let server = self.state.server(id).ok_or(Refusal::UnknownServer(id))?;
        let holds = server.holds.clone();
        self.state.forget(id);
        if let Some(server) = self.state.servers.get_mut(&id) {
            let (issued, info) = (server.issued, server.info);
            *server = Server { issued, holds, shown: false, ..Server::unknown(info) };
        }
        Ok(())
    }

    fn look_at_all(&mut self) {
        self.state.due = self.state.segments.keys().copied().collect();
    }
}

impl Server {
    /// A server of which nothing was heard yet.
    fn unknown(info: ServerInfo) -> Self {
        Self {
            info,
            incarnation: None,
            viewed: None,
            issued: 0,
            fence_from: 0,
            shown: true,
            fenced: false,
            used_bytes: 0,
            holds: Set::new(),
            queue: Set::new(),
            late: Set::new(),
        }
    }
}
