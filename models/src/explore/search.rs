//! The breadth-first search itself.

use std::collections::VecDeque;

use super::Judged;
use super::fingerprint::{Fingerprinter, expected_missed};
use super::limits::{Limits, STEPS_BETWEEN_LOOKS};
use super::memory::vec_bytes;
use super::options::Options;
use super::path::{Counterexample, Paths};
use super::planted::Planted;
use super::properties::Properties;
use super::recover::Recovery;
use super::report::{Kind, Reason, Report, ReportOf, Verdict};
use super::visited::{Inserted, MAX_STATES, Visited};

/// Name of the property that no reachable state without successors is one that may not stop.
pub const DEADLOCK_FREE: &str = "deadlock-free";

/// Name of the property that every reachable state can reach a goal, or a bound of the scope, without a fault.
pub const RECOVERABLE: &str = "recoverable";

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
    Incomplete(Reason),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Incomplete(reason)
    }
}

/// A search under way.
pub(super) struct Search<'a, M: Judged> {
    model: &'a M,
    options: &'a Options,
    limits: Limits,
    properties: Properties<M>,
    fingerprinter: Fingerprinter,
    visited: Visited<M::State>,
    /// States found and not expanded, in the order of their indices. They are the last ones of the visited set.
    frontier: VecDeque<M::State>,
    /// Whether the model sets a goal; unknown before the first state.
    sets_goal: Option<bool>,
    recovery: Option<Recovery>,
    /// Buffer for the actions of one state.
    actions: Vec<M::Action>,
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
}

impl<'a, M: Judged> Search<'a, M> {
    /// Prepares a search; the clock starts here.
    pub(super) fn new(model: &'a M, options: &'a Options) -> Self {
        Search {
            model,
            options,
            limits: Limits::new(options),
            properties: Properties::of(model),
            fingerprinter: Fingerprinter::new(options.seed),
            visited: Visited::new(options.exact, options.max_states.unwrap_or(MAX_STATES)),
            frontier: VecDeque::new(),
            sets_goal: None,
            recovery: None,
            actions: Vec::new(),
            progress: Progress::default(),
        }
    }

    /// Runs the search and tells what it found.
    pub(super) fn report(mut self) -> ReportOf<M> {
        let ended = self.run();
        let seconds = self.limits.seconds();
        let counterexample = match ended {
            Err(Stop::Violated { index, .. }) => Some(self.path_to(index)),
            _ => None,
        };
        let unique = self.visited.len();
        let progress = &self.progress;
        Report {
            verdict: self.verdict(&ended),
            exhausted: progress.exhausted,
            recoverability_judged: progress.recoverability_judged,
            generated: progress.generated,
            unique,
            unexpanded: unique - progress.expanded,
            depth: progress.depth,
            seconds,
            peak_frontier: progress.peak_frontier,
            visited_bytes: self.visited.bytes(),
            expected_missed: if self.visited.is_exact() { 0.0 } else { expected_missed(unique) },
            collisions: self.visited.collisions(),
            cut_states: progress.cut_states,
            unsettled_states: progress.unsettled_states,
            goal_states: progress.goal_states,
            unreached: self.properties.unmet(),
            counterexample,
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        self.find_all_states()?;
        self.progress.exhausted = true;
        self.judge_recoverability()?;
        match self.properties.unmet().first() {
            Some(property) => Err(Stop::Unreached { property }),
            None => Ok(()),
        }
    }

    fn find_all_states(&mut self) -> Result<(), Stop> {
        let initial = self.model.init_states();
        assert!(
            !initial.is_empty(),
            "the model has no initial state, so every property would hold of nothing"
        );
        for state in initial {
            self.admit(state, None)?;
        }
        while !self.frontier.is_empty() {
            self.progress.level += 1;
            self.expand_level()?;
        }
        Ok(())
    }

    fn expand_level(&mut self) -> Result<(), Stop> {
        let first = self.visited.len() - self.frontier.len() as u64;
        let end = self.visited.len();
        for index in first..end {
            let state = self.frontier.pop_front().expect("the level is in the frontier");
            self.expand(index as u32, &state)?;
        }
        Ok(())
    }

    fn expand(&mut self, index: u32, state: &M::State) -> Result<(), Stop> {
        if let Some(recovery) = &mut self.recovery {
            recovery.begin_source();
        }
        let mut actions = std::mem::take(&mut self.actions);
        self.model.actions(state, &mut actions);
        let mut has_successor = false;
        for action in actions.drain(..) {
            has_successor |= self.follow(index, state, action)?;
        }
        self.actions = actions;
        self.progress.expanded += 1;
        self.look_if_due()?;
        if has_successor || self.model.may_stop(state) {
            return Ok(());
        }
        Err(Stop::Violated { property: DEADLOCK_FREE, kind: Kind::Deadlock, index })
    }

    /// Takes one action; tells whether it led anywhere.
    fn follow(&mut self, index: u32, state: &M::State, action: M::Action) -> Result<bool, Stop> {
        self.look_if_due()?;
        let is_edge = self.recovery.is_some() && !self.model.is_fault(state, &action);
        let Some(next) = self.model.next_state(state, action) else { return Ok(false) };
        if self.drops_edge() {
            return Ok(true);
        }
        let target = self.admit(next, Some(index))?;
        if let Some(recovery) = self.recovery.as_mut().filter(|_| is_edge) {
            recovery.add_edge(target);
        }
        Ok(true)
    }

    /// Counts an edge, and tells whether a test wants it lost.
    fn drops_edge(&mut self) -> bool {
        let edge = self.progress.edges;
        self.progress.edges += 1;
        self.options.plants(Planted::DropEdge(edge))
    }

    /// Takes in a generated state and gives its index; judges it if it is new.
    fn admit(&mut self, state: M::State, parent: Option<u32>) -> Result<u32, Stop> {
        self.progress.generated += 1;
        let fingerprint = self.fingerprinter.of(&state);
        match self.visited.insert(fingerprint, &state, parent) {
            Inserted::Known(index) => Ok(index),
            Inserted::Full => Err(Stop::Incomplete(Reason::StateLimit)),
            Inserted::New(index) => {
                self.progress.depth = self.progress.level + 1;
                self.classify(&state);
                self.judge(index, &state)?;
                self.frontier.push_back(state);
                self.progress.peak_frontier =
                    self.progress.peak_frontier.max(self.frontier.len() as u64);
                Ok(index)
            }
        }
    }

    /// Notes what a new state is: a goal, cut, the first to meet a `Sometimes` property.
    fn classify(&mut self, state: &M::State) {
        let goal = self.model.goal(state);
        let is_cut = self.model.is_cut(state);
        self.note_goal_is_set(goal.is_some());
        self.progress.goal_states += u64::from(goal == Some(true));
        self.progress.cut_states += u64::from(is_cut);
        if let Some(recovery) = &mut self.recovery {
            recovery.add_state(goal == Some(true), is_cut);
        }
        self.properties.note(self.model, state);
    }

    fn note_goal_is_set(&mut self, is_set: bool) {
        let expected = *self.sets_goal.get_or_insert(is_set);
        assert_eq!(
            expected, is_set,
            "the model's `goal` is set for some states and not for others"
        );
        if is_set && self.options.recoverability && self.recovery.is_none() {
            self.recovery = Some(Recovery::default());
        }
    }

    /// Judges a new state by itself. Safety comes first: it holds of states outside the boundary too.
    fn judge(&mut self, index: u32, state: &M::State) -> Result<(), Stop> {
        if let Some(property) = self.properties.broken(self.model, state) {
            return Err(Stop::Violated { property, kind: Kind::Safety, index });
        }
        if !self.model.within_boundary(state) {
            return Err(Stop::Incomplete(Reason::Boundary));
        }
        Ok(())
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

    fn look_if_due(&mut self) -> Result<(), Stop> {
        if !self.limits.step() {
            return Ok(());
        }
        let recovery = self.recovery.as_ref().map_or(0, Recovery::bytes);
        let frontier =
            (self.frontier.capacity() * size_of::<M::State>()) as u64 + vec_bytes(&self.actions);
        let own = self.visited.bytes() + recovery + frontier;
        Ok(self.limits.look(own, self.visited.growth_bytes(STEPS_BETWEEN_LOOKS))?)
    }

    fn verdict(&self, ended: &Result<(), Stop>) -> Verdict {
        match *ended {
            Ok(()) => Verdict::Verified,
            Err(Stop::Incomplete(Reason::TimeLimit))
                if self.options.plants(Planted::TimeoutIsDone) =>
            {
                Verdict::Verified
            }
            Err(Stop::Incomplete(reason)) => Verdict::Incomplete { reason },
            Err(Stop::Unreached { property }) => violated(property, Kind::Unreached),
            Err(Stop::Violated { property, kind, .. }) => violated(property, kind),
        }
    }

    fn path_to(&self, index: u32) -> Counterexample<M::State, M::Action> {
        let paths =
            Paths { model: self.model, fingerprinter: &self.fingerprinter, visited: &self.visited };
        paths.to(index)
    }
}

fn violated(property: &str, kind: Kind) -> Verdict {
    Verdict::Violated { property: property.to_owned(), kind }
}
