//! A driver as a task of `tokio`: effects are carried out side by side by an [`Adapter`], durable writes are made on
//! a thread that may block.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinError, JoinSet, spawn_blocking};

use super::driver::{Driver, GivenUp, NotOffered, Published, Refused, Ticket};
use super::durables::Durables;
use crate::driven::Driven;
use crate::machine::{EffectId, Issued};

/// A role that may go from thread to thread, with all that it takes, keeps and asks for. Every one of this crate's may.
pub trait Threaded:
    Driven<
        State: Send + Sync,
        Event: Send,
        Effect: Send + Sync,
        Refusal: Send,
        Durable: Send,
        Input: Send,
    > + Send
    + 'static
{
}

impl<M> Threaded for M where
    M: Driven<
            State: Send + Sync,
            Event: Send,
            Effect: Send + Sync,
            Refusal: Send,
            Durable: Send,
            Input: Send,
        > + Send
        + 'static
{
}

/// Carries out effects on the world.
pub trait Adapter<M: Driven>: Send + Sync + 'static {
    /// Carries out one effect, and says how it ended, in an event that names its id.
    ///
    /// `None` of an effect that has no outcome; of any other it means that nobody knows, and so does a panic. Time-outs
    /// are the adapter's: one that never returns keeps the role waiting.
    fn carry_out(&self, issued: Issued<M::Effect>)
    -> impl Future<Output = Option<M::Event>> + Send;

    /// What the outside brings in now.
    fn input(&self) -> M::Input;
}

/// Why an event was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotTaken<R> {
    /// As many wait as may.
    Full,
    /// The driver is being stopped, or has come to its end.
    Stopping,
    /// It is an outcome.
    Outcome,
    /// The role refused it.
    Refused(R),
}

impl<R: fmt::Display> fmt::Display for NotTaken<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("too many events wait"),
            Self::Stopping => f.write_str("the process is being stopped"),
            Self::Outcome => f.write_str("an outcome comes from its effect alone"),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

/// How a driver's task ended.
#[derive(Debug)]
pub enum Ended<E> {
    /// It was asked to stop, and what was under way had ended.
    Stopped,
    /// A durable write failed. What is durable decides on the next start.
    Durables(E),
    /// The durable write panicked, or the runtime went away under it.
    Broken(JoinError),
}

type Answer<M> = oneshot::Sender<Result<(), NotTaken<<M as crate::Machine>::Refusal>>>;

/// Speaks to a driver's task. It can be cloned.
pub struct Shell<M: Driven> {
    events: mpsc::Sender<(M::Event, Answer<M>)>,
    stop: mpsc::Sender<()>,
    published: Published<M::State>,
}

impl<M: Driven> Clone for Shell<M> {
    fn clone(&self) -> Self {
        Self {
            events: self.events.clone(),
            stop: self.stop.clone(),
            published: self.published.clone(),
        }
    }
}

impl<M: Driven> fmt::Debug for Shell<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shell").finish_non_exhaustive()
    }
}

impl<M: Driven> Shell<M> {
    /// Has the role take an event, once there is room. Returns when the step is durable.
    ///
    /// # Errors
    ///
    /// It was not taken; the state is as if it had never been offered.
    pub async fn take(&self, event: M::Event) -> Result<(), NotTaken<M::Refusal>> {
        let (answer, taken) = oneshot::channel();
        self.events.send((event, answer)).await.map_err(|_| NotTaken::Stopping)?;
        taken.await.unwrap_or(Err(NotTaken::Stopping))
    }

    /// As [`Shell::take`], and does not wait for room.
    ///
    /// # Errors
    ///
    /// [`NotTaken::Full`] if there is none.
    pub async fn try_take(&self, event: M::Event) -> Result<(), NotTaken<M::Refusal>> {
        let (answer, taken) = oneshot::channel();
        self.events.try_send((event, answer)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotTaken::Full,
            mpsc::error::TrySendError::Closed(_) => NotTaken::Stopping,
        })?;
        taken.await.unwrap_or(Err(NotTaken::Stopping))
    }

    /// The state as of the last durable write.
    #[must_use]
    pub fn state(&self) -> Arc<M::State> {
        self.published.load()
    }

    /// Asks the task to stop: nothing new is begun, what is under way ends.
    pub fn stop(&self) {
        // One that waits already says the same.
        let _ = self.stop.try_send(());
    }
}

/// A driver's task, to be spawned, and what speaks to it. `room` is how many events wait before it takes them; at
/// least 1.
///
/// It ends when it was stopped and is quiet, and when a durable write failed. Dropped, it ends as by a crash.
pub fn run<M, D, A>(
    driver: Driver<M, D>,
    adapter: Arc<A>,
    room: usize,
) -> (Shell<M>, impl Future<Output = Ended<D::Error>> + Send)
where
    M: Threaded,
    D: Durables<M::Durable> + Send + 'static,
    A: Adapter<M>,
{
    let (events, inbox) = mpsc::channel(room.max(1));
    let (stop, stopped) = mpsc::channel(1);
    let shell = Shell { events, stop, published: driver.published() };
    let task = Task {
        driver,
        adapter,
        inbox,
        stopped,
        waiting: BTreeMap::new(),
        running: JoinSet::new(),
        ids: BTreeMap::new(),
    };
    (shell, task.run())
}

struct Task<M: Driven, D, A> {
    driver: Driver<M, D>,
    adapter: Arc<A>,
    inbox: mpsc::Receiver<(M::Event, Answer<M>)>,
    stopped: mpsc::Receiver<()>,
    /// Who waits for events that were offered.
    waiting: BTreeMap<Ticket, Answer<M>>,
    running: JoinSet<Option<M::Event>>,
    /// Which effect a running task carries out; `None` if it has no outcome.
    ids: BTreeMap<Id, Option<EffectId>>,
}

type Joined<E> = Result<(Id, Option<E>), JoinError>;

impl<M, D, A> Task<M, D, A>
where
    M: Threaded,
    D: Durables<M::Durable> + Send + 'static,
    A: Adapter<M>,
{
    async fn run(mut self) -> Ended<D::Error> {
        let mut stopping = false;
        loop {
            if stopping && self.driver.is_quiet() && self.running.is_empty() {
                return Ended::Stopped;
            }
            tokio::select! {
                Some(ended) = self.running.join_next_with_id() => self.ended(ended),
                Some((event, answer)) = self.inbox.recv(), if !stopping && self.driver.has_room() => {
                    self.offer(event, answer);
                }
                _ = self.stopped.recv(), if !stopping => {
                    stopping = true;
                    self.stop();
                    continue;
                }
                else => return Ended::Stopped,
            }
            self.take_more();
            self = match self.round().await {
                Ok(task) => task,
                Err(ended) => return ended,
            };
        }
    }

    /// Whatever else is there shares the durable write.
    fn take_more(&mut self) {
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.ended(ended);
        }
        while self.driver.has_room()
            && let Ok((event, answer)) = self.inbox.try_recv()
        {
            self.offer(event, answer);
        }
    }

    fn offer(&mut self, event: M::Event, answer: Answer<M>) {
        let reason = match self.driver.offer(event) {
            Ok(ticket) => {
                self.waiting.insert(ticket, answer);
                return;
            }
            Err(NotOffered::Full(_)) => NotTaken::Full,
            Err(NotOffered::Stopping(_) | NotOffered::Ended(_)) => NotTaken::Stopping,
            Err(NotOffered::Outcome(_)) => NotTaken::Outcome,
        };
        // Whoever asked may have gone.
        let _ = answer.send(Err(reason));
    }

    fn stop(&mut self) {
        self.driver.stop();
        self.inbox.close();
        // Those who wait hear that the answer will not come.
        self.waiting.clear();
    }

    /// An effect is carried out, or its adapter panicked.
    fn ended(&mut self, ended: Joined<M::Event>) {
        let (task, outcome) = match ended {
            Ok((task, outcome)) => (task, outcome),
            Err(error) => {
                tracing::error!(%error, "an adapter panicked");
                (error.id(), None)
            }
        };
        let Some(id) = self.ids.remove(&task).flatten() else { return };
        let taken = outcome.filter(|event| M::settles(event) == Some(id));
        let settled = taken.map(|event| self.driver.settle(event));
        if settled.is_none() {
            self.give_up(id);
        }
    }

    fn give_up(&mut self, id: EffectId) {
        match self.driver.give_up(id, self.adapter.input()) {
            GivenUp::Unknown => tracing::warn!(?id, "nobody knows how an effect ended"),
            GivenUp::Again => tracing::warn!(?id, "a wait begins anew"),
            GivenUp::NotOut => {}
        }
    }

    /// Steps what waits until nothing does, and carries out what comes of it.
    async fn round(mut self) -> Result<Self, Ended<D::Error>> {
        loop {
            let mut taken: Vec<Ticket> = self.waiting.keys().copied().collect();
            let refused = self.driver.gather();
            taken.retain(|ticket| !self.driver.waits(*ticket));
            self = self.persist().await?;
            for refused in refused {
                match refused {
                    Refused::Event(ticket, refusal) => {
                        self.answer(ticket, Err(NotTaken::Refused(refusal)));
                    }
                    Refused::Outcome(id, refusal) => {
                        tracing::error!(?id, ?refusal, "an adapter's outcome does not fit");
                        self.give_up(id);
                    }
                    Refused::Unknown(id, refusal) => {
                        tracing::error!(?id, ?refusal, "the role does not take an unknown end");
                    }
                }
            }
            for ticket in taken {
                self.answer(ticket, Ok(()));
            }
            self.hand_out();
            if !self.driver.has_work() {
                return Ok(self);
            }
        }
    }

    fn answer(&mut self, ticket: Ticket, result: Result<(), NotTaken<M::Refusal>>) {
        if let Some(answer) = self.waiting.remove(&ticket) {
            // Whoever asked may have gone.
            let _ = answer.send(result);
        }
    }

    async fn persist(mut self) -> Result<Self, Ended<D::Error>> {
        if !self.driver.is_dirty() {
            self.driver.persist().map_err(Ended::Durables)?;
            return Ok(self);
        }
        let Self { mut driver, adapter, inbox, stopped, waiting, running, ids } = self;
        let written = spawn_blocking(move || {
            let result = driver.persist();
            (driver, result)
        });
        let (driver, result) = written.await.map_err(Ended::Broken)?;
        result.map_err(Ended::Durables)?;
        Ok(Self { driver, adapter, inbox, stopped, waiting, running, ids })
    }

    fn hand_out(&mut self) {
        while let Some(issued) = self.driver.hand_out() {
            let id = M::awaits(&issued.effect).then_some(issued.id);
            let adapter = Arc::clone(&self.adapter);
            let task = self.running.spawn(async move { adapter.carry_out(issued).await });
            self.ids.insert(task.id(), id);
        }
    }
}
