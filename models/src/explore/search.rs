//! The breadth-first search itself.

use std::sync::atomic::Ordering;

use super::Judged;
use super::crew::{Crew, with_crew};
use super::expand::{Batch, Edge, Expander, Fresh, Target};
use super::frontier::Frontier;
use super::limits::{Limits, STEPS_BETWEEN_LOOKS};
use super::options::Options;
use super::path::Paths;
use super::planted::Planted;
use super::properties::Unmet;
use super::recover::Recovery;
use super::report::{Kind, Reason, Report, ReportOf, Verdict};
use super::rounds::{Round, Rounds};
use super::visited::{Inserted, Visited};

/// Pieces of the frontier that a thread gets at once, if there are several threads.
const PIECES_FOR_A_THREAD: usize = 2;

/// The threads of a search over the model `M`.
type CrewOf<'a, M> =
    Crew<'a, Vec<<M as stateright::Model>::State>, Batch<<M as stateright::Model>::State>>;

/// Name of the property that no reachable state without successors is one that may not stop.
pub const DEADLOCK_FREE: &str = "deadlock-free";

/// Name of the property that every reachable state can reach a goal, or a bound of the scope, without a fault.
pub const RECOVERABLE: &str = "recoverable";

/// Name of the property that no fair run goes on for ever, without a fault, beside the goals.
pub const NO_ENDLESS_ROUND: &str = "no-endless-round";

/// Why a search ended other than by finding everything in order.
enum Stop {
    /// The state of this index violates a property.
    Violated {
        property: &'static str,
        kind: Kind,
        index: u32,
    },
    /// No state meets this property.
    Unreached {
        property: &'static str,
    },
    Endless(Round),
    Incomplete(Reason),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Incomplete(reason)
    }
}

/// A search under way.
pub(super) struct Search<'a, M: Judged> {
    expander: &'a Expander<'a, M>,
    options: &'a Options,
    limits: Limits,
    unmet: Unmet<M>,
    /// States found and not expanded, in the order of their indices. They are the last ones of the visited set.
    frontier: Frontier<M::State>,
    /// Whether the model sets a goal; unknown before the first state.
    sets_goal: Option<bool>,
    recovery: Option<Recovery>,
    rounds: Option<Rounds>,
    progress: Progress,
}

/// What is counted on the way.
#[derive(Default)]
struct Progress {
    generated: u64,
    edges: u64,
    expanded: u64,
    /// Number of the level that is being expanded, from 1; 0 while the initial states are being found.
    level: u32,
    depth: u32,
    peak_frontier: u64,
    cut_states: u64,
    unsettled_states: u64,
    goal_states: u64,
    exhausted: bool,
    recoverability_judged: bool,
    rounds_judged: bool,
}

impl<'a, M: Judged> Search<'a, M> {
    /// Prepares a search; the clock starts here.
    pub(super) fn new(expander: &'a Expander<'a, M>, options: &'a Options) -> Self {
        Search {
            expander,
            options,
            limits: Limits::new(options),
            unmet: Unmet::of(expander.model),
            frontier: Frontier::new(),
            sets_goal: None,
            recovery: None,
            rounds: None,
            progress: Progress::default(),
        }
    }

    /// Runs the search and tells what it found.
    pub(super) fn report(mut self) -> ReportOf<M> {
        let expander = self.expander;
        let threads = self.options.threads.max(1);
        let ended = with_crew(threads, &|piece| expander.expand(piece), |crew| self.run(crew));
        let seconds = self.limits.seconds();
        let counterexample = match &ended {
            Err(Stop::Violated { index, .. }) => Some(self.paths(|paths| paths.to(*index))),
            Err(Stop::Endless(round)) => Some(self.paths(|paths| paths.round(round))),
            _ => None,
        };
        let visited = expander.found();
        let unique = visited.len();
        let missed = expander.fingerprinter.expected_missed(unique);
        let progress = &self.progress;
        Report {
            verdict: self.verdict(&ended),
            exhausted: progress.exhausted,
            recoverability_judged: progress.recoverability_judged,
            rounds_judged: progress.rounds_judged,
            generated: progress.generated,
            unique,
            unexpanded: unique - progress.expanded,
            depth: progress.depth,
            seconds,
            peak_frontier: progress.peak_frontier,
            visited_bytes: visited.bytes(),
            expected_missed: if visited.is_exact() { 0.0 } else { missed },
            collisions: visited.collisions(),
            cut_states: progress.cut_states,
            unsettled_states: progress.unsettled_states,
            goal_states: progress.goal_states,
            unreached: self.unmet.names(),
            counterexample,
        }
    }

    fn run(&mut self, crew: &CrewOf<'_, M>) -> Result<(), Stop> {
        self.find_all_states(crew)?;
        self.progress.exhausted = true;
        self.judge_recoverability()?;
        self.judge_rounds()?;
        match self.unmet.names().first() {
            Some(property) => Err(Stop::Unreached { property }),
            None => Ok(()),
        }
    }

    fn find_all_states(&mut self, crew: &CrewOf<'_, M>) -> Result<(), Stop> {
        let initial = self.expander.model.init_states();
        assert!(
            !initial.is_empty(),
            "the model has no initial state, so every property would hold of nothing"
        );
        for state in initial {
            let fingerprint = self.expander.fingerprinter.of(self.expander.model, &state);
            let fresh = self.expander.judge(state, fingerprint);
            self.progress.generated += 1;
            self.admit(&mut self.expander.find_more(), fresh, None)?;
        }
        while !self.frontier.is_empty() {
            self.progress.level += 1;
            self.expand_level(crew)?;
        }
        Ok(())
    }

    /// Expands a level, a few pieces at a time, on all threads, and merges what came of them, in order, on this one: so
    /// indices and parents are the same for any number of threads.
    fn expand_level(&mut self, crew: &CrewOf<'_, M>) -> Result<(), Stop> {
        let at_once = if crew.threads() == 1 { 1 } else { crew.threads() * PIECES_FOR_A_THREAD };
        self.frontier.begin_level();
        loop {
            let pieces = self.frontier.take(at_once);
            if pieces.is_empty() {
                return Ok(());
            }
            for batch in crew.work_on(pieces) {
                self.merge(batch)?;
            }
        }
    }

    fn merge(&mut self, batch: Batch<M::State>) -> Result<(), Stop> {
        let mut visited = self.expander.find_more();
        let mut edges = batch.edges.into_iter();
        let mut fresh = batch.fresh.into_iter();
        for source in batch.sources {
            let index = self.progress.expanded as u32;
            self.begin_source();
            for edge in edges.by_ref().take(source.edges as usize) {
                let fresh = match edge.target {
                    Target::Known(_) => None,
                    Target::Fresh => fresh.next(),
                };
                self.merge_edge(&mut visited, index, &edge, fresh)?;
            }
            self.progress.expanded += 1;
            self.look_if_due(&visited)?;
            if source.is_deadlock {
                return Err(Stop::Violated {
                    property: DEADLOCK_FREE,
                    kind: Kind::Deadlock,
                    index,
                });
            }
        }
        Ok(())
    }

    fn begin_source(&mut self) {
        if let Some(recovery) = &mut self.recovery {
            recovery.begin_source();
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.begin_source();
        }
    }

    fn merge_edge(
        &mut self,
        visited: &mut Visited<M::State>,
        source: u32,
        edge: &Edge,
        fresh: Option<Fresh<M::State>>,
    ) -> Result<(), Stop> {
        self.look_if_due(visited)?;
        if self.drops_edge() {
            return Ok(());
        }
        self.progress.generated += 1;
        let target = match (&edge.target, fresh) {
            (Target::Known(index), _) => *index,
            (Target::Fresh, Some(fresh)) => self.admit(visited, fresh, Some(source))?,
            (Target::Fresh, None) => unreachable!("a batch has a state for each fresh edge"),
        };
        if edge.is_free {
            self.note_edge(target, edge.class);
        }
        Ok(())
    }

    fn note_edge(&mut self, target: u32, class: u8) {
        if let Some(recovery) = &mut self.recovery {
            recovery.add_edge(target);
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.add_edge(target, class);
        }
    }

    /// Counts an edge, and tells whether a test wants it lost.
    fn drops_edge(&mut self) -> bool {
        let edge = self.progress.edges;
        self.progress.edges += 1;
        self.options.plants(Planted::DropEdge(edge))
    }

    /// Takes in a generated state and gives its index, and heeds the judgement if it is new.
    fn admit(
        &mut self,
        visited: &mut Visited<M::State>,
        fresh: Fresh<M::State>,
        parent: Option<u32>,
    ) -> Result<u32, Stop> {
        match visited.insert(fresh.fingerprint, &fresh.state, parent) {
            Inserted::Known(index) => Ok(index),
            Inserted::Full => Err(Stop::Incomplete(Reason::StateLimit)),
            Inserted::New(index) => {
                self.progress.depth = self.progress.level + 1;
                self.classify(&fresh);
                heed(index, &fresh)?;
                self.frontier.push(fresh.state);
                let expanding = u64::from(parent.is_some());
                let waiting = visited.len() - self.progress.expanded - expanding;
                self.progress.peak_frontier = self.progress.peak_frontier.max(waiting);
                Ok(index)
            }
        }
    }

    /// Notes what a new state is: a goal, cut, the first to meet a `Sometimes` property.
    fn classify(&mut self, fresh: &Fresh<M::State>) {
        let at_goal = fresh.goal == Some(true);
        self.note_goal_is_set(fresh.goal.is_some());
        self.progress.goal_states += u64::from(at_goal);
        self.progress.cut_states += u64::from(fresh.is_cut);
        if let Some(recovery) = &mut self.recovery {
            recovery.add_state(at_goal, fresh.is_cut);
        }
        if let Some(rounds) = &mut self.rounds {
            rounds.add_state(at_goal, fresh.is_cut);
        }
        self.unmet.note(self.expander.model, &fresh.state);
    }

    fn note_goal_is_set(&mut self, is_set: bool) {
        let expected = *self.sets_goal.get_or_insert(is_set);
        assert_eq!(
            expected, is_set,
            "the model's `goal` is set for some states and not for others"
        );
        if !is_set || self.progress.expanded > 0 {
            return;
        }
        if self.options.recoverability {
            self.recovery.get_or_insert_default();
        }
        if self.options.rounds {
            self.rounds.get_or_insert_default();
        }
        let judges_edges = self.recovery.is_some() || self.rounds.is_some();
        self.expander.judges_edges.store(judges_edges, Ordering::Relaxed);
    }

    fn judge_recoverability(&mut self) -> Result<(), Stop> {
        let Some(recovery) = &mut self.recovery else { return Ok(()) };
        let judged = recovery.judge(&mut self.limits)?;
        self.progress.recoverability_judged = true;
        self.progress.unsettled_states = judged.unsettled;
        match judged.first_stuck {
            Some(index) => {
                Err(Stop::Violated { property: RECOVERABLE, kind: Kind::Unrecoverable, index })
            }
            None => Ok(()),
        }
    }

    fn judge_rounds(&mut self) -> Result<(), Stop> {
        let Some(rounds) = &self.rounds else { return Ok(()) };
        self.limits.look(rounds.bytes() + rounds.search_bytes(), rounds.search_bytes())?;
        let model = self.expander.model;
        let found = rounds.find(|class| model.fairness(class), &mut self.limits)?;
        self.progress.rounds_judged = true;
        let is_ignored = self.options.plants(Planted::RoundIgnored);
        found.filter(|_| !is_ignored).map_or(Ok(()), |round| Err(Stop::Endless(round)))
    }

    fn look_if_due(&mut self, visited: &Visited<M::State>) -> Result<(), Stop> {
        if !self.limits.step() {
            return Ok(());
        }
        let recovery = self.recovery.as_ref().map_or(0, Recovery::bytes);
        let rounds = self.rounds.as_ref().map_or(0, Rounds::bytes);
        let own = visited.bytes() + recovery + rounds + self.frontier.bytes();
        Ok(self.limits.look(own, visited.growth_bytes(STEPS_BETWEEN_LOOKS))?)
    }

    fn verdict(&self, ended: &Result<(), Stop>) -> Verdict {
        match ended {
            Ok(()) => Verdict::Verified,
            Err(Stop::Incomplete(Reason::TimeLimit))
                if self.options.plants(Planted::TimeoutIsDone) =>
            {
                Verdict::Verified
            }
            Err(Stop::Incomplete(reason)) => Verdict::Incomplete { reason: *reason },
            Err(Stop::Endless(_)) => violated(NO_ENDLESS_ROUND, Kind::Endless),
            Err(Stop::Unreached { property }) => violated(property, Kind::Unreached),
            Err(Stop::Violated { property, kind, .. }) => violated(property, *kind),
        }
    }

    fn paths<T>(&self, tell: impl FnOnce(Paths<'_, M>) -> T) -> T {
        let (model, fingerprinter) = (self.expander.model, &self.expander.fingerprinter);
        tell(Paths { model, fingerprinter, visited: &self.expander.found() })
    }
}

/// The verdict on a new state by itself. Safety comes first: it holds of states outside the boundary too.
fn heed<S>(index: u32, fresh: &Fresh<S>) -> Result<(), Stop> {
    match fresh.broken {
        Some(property) => Err(Stop::Violated { property, kind: Kind::Safety, index }),
        None if fresh.is_within => Ok(()),
        None => Err(Stop::Incomplete(Reason::Boundary)),
    }
}

fn violated(property: &str, kind: Kind) -> Verdict {
    Verdict::Violated { property: property.to_owned(), kind }
}
