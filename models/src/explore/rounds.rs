//! Endless rounds: runs that go on for ever, treat every class of steps fairly, and never reach a goal.
//!
//! Recoverability says that a goal can always still be reached; a run may yet go round beside it for ever. Whether it may
//! is a question of fairness: a run that never lets a process step shows nothing. A run of a finite graph ends up in a
//! strongly connected part of it, visiting there again and again the same states and edges. It is fair to
//!
//! - a *weak* class if an edge of the class is among them, or a state in which no step of the class is possible;
//! - a *strong* class if an edge of the class is among them, or no state in which one is possible.
//!
//! The more of a component a run visits, the fairer it is to weak classes, so that the maximal components decide; for a
//! strong class that is possible and never taken, the states in which it is possible are left out, and what remains is
//! taken apart again.

use std::collections::VecDeque;

use super::Fairness;
use super::components::components;
use super::limits::Limits;
use super::memory::{push_gently, vec_bytes};
use super::report::Reason;

/// Greatest number of classes.
pub(super) const MAX_CLASSES: u8 = 64;

/// The class of a step that nobody must take.
pub(super) const NO_CLASS: u8 = u8::MAX;

/// A graph of states that are no goals and whose steps no bound cuts, and of their steps that spend no fault.
#[derive(Default)]
pub(super) struct Rounds {
    /// Targets of all edges, in the order of their sources.
    targets: Vec<u32>,
    /// The class of each edge.
    classes: Vec<u8>,
    /// Number of edges of each expanded state.
    degrees: Vec<u32>,
    /// Of each expanded state, the classes that can step, as bits.
    possible: Vec<u64>,
    /// One bit for each state: whether rounds through it are looked for.
    sought: Vec<u64>,
    states: usize,
}

/// A round, as the index of each state passed and the class of the step taken from there; it ends where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round(pub(super) Vec<(u32, u8)>);

impl Rounds {
    /// Adds the state of the next index.
    pub(super) fn add_state(&mut self, at_goal: bool, is_cut: bool) {
        if self.states.is_multiple_of(64) {
            push_gently(&mut self.sought, 0);
        }
        if !at_goal && !is_cut {
            self.sought[self.states / 64] |= 1 << (self.states % 64);
        }
        self.states += 1;
    }

    /// Begins the edges of the next source. Sources come in the order of their indices, each once.
    pub(super) fn begin_source(&mut self) {
        push_gently(&mut self.degrees, 0);
        push_gently(&mut self.possible, 0);
    }

    /// Adds an edge of the source begun last that spends no fault.
    pub(super) fn add_edge(&mut self, target: u32, class: u8) {
        let source = self.degrees.len() - 1;
        self.possible[source] |= bit(class);
        if self.is_sought(source) && self.is_sought(target as usize) {
            self.degrees[source] += 1;
            push_gently(&mut self.targets, target);
            push_gently(&mut self.classes, class);
        }
    }

    /// Bytes allocated.
    pub(super) fn bytes(&self) -> u64 {
        vec_bytes(&self.targets)
            + vec_bytes(&self.classes)
            + vec_bytes(&self.degrees)
            + vec_bytes(&self.possible)
            + vec_bytes(&self.sought)
    }

    /// Bytes that a [search](Self::find) allocates on top, at most.
    pub(super) fn search_bytes(&self) -> u64 {
        self.states as u64 * 48
    }

    fn is_sought(&self, state: usize) -> bool {
        self.sought[state / 64] >> (state % 64) & 1 == 1
    }

    /// Looks for a fair round, the one that begins at the least index if there are several components with one.
    pub(super) fn find(
        &self,
        fairness: impl Fn(u8) -> Fairness,
        limits: &mut Limits,
    ) -> Result<Option<Round>, Reason> {
        let graph = Graph::of(self);
        let classes = Classes::of(self, fairness);
        let all = (0..self.states as u32).filter(|&state| self.is_sought(state as usize)).collect();
        let mut open: Vec<Vec<u32>> = vec![all];
        let mut best: Option<Vec<u32>> = None;
        while let Some(part) = open.pop() {
            for component in components(&graph, &part) {
                if limits.step() {
                    limits.look(self.bytes() + self.search_bytes(), 0)?;
                }
                match classes.judge(&graph, &component) {
                    Judgement::Fair => best = earlier(best, component),
                    Judgement::Unfair => {}
                    Judgement::Without(states) => open.push(states),
                }
            }
        }
        Ok(best.map(|component| walk(&graph, &classes, &component)))
    }
}

/// The component that begins at the lesser index. Components are sorted.
fn earlier(best: Option<Vec<u32>>, component: Vec<u32>) -> Option<Vec<u32>> {
    match best {
        Some(best) if best[0] <= component[0] => Some(best),
        _ => Some(component),
    }
}

fn bit(class: u8) -> u64 {
    if class == NO_CLASS { 0 } else { 1 << class }
}

/// The edges, by source.
pub(super) struct Graph<'a> {
    rounds: &'a Rounds,
    starts: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn of(rounds: &'a Rounds) -> Self {
        let mut start = 0;
        let starts = rounds.degrees.iter().map(|degree| {
            start += *degree as usize;
            start - *degree as usize
        });
        Self { starts: starts.collect(), rounds }
    }

    /// Number of states.
    pub(super) fn states(&self) -> usize {
        self.starts.len()
    }

    /// How many edges leave a state.
    pub(super) fn degree(&self, state: u32) -> usize {
        self.rounds.degrees[state as usize] as usize
    }

    /// The target of an edge of a state.
    pub(super) fn target(&self, state: u32, edge: usize) -> u32 {
        self.rounds.targets[self.starts[state as usize] + edge]
    }

    /// Targets and classes of the edges of a state.
    fn edges(&self, state: u32) -> impl Iterator<Item = (u32, u8)> + '_ {
        let from = self.starts[state as usize];
        let range = from..from + self.degree(state);
        let classes = self.rounds.classes[range.clone()].iter().copied();
        self.rounds.targets[range].iter().copied().zip(classes)
    }

    fn possible(&self, state: u32) -> u64 {
        self.rounds.possible[state as usize]
    }
}

/// The classes, as bits.
struct Classes {
    weak: u64,
    strong: u64,
}

enum Judgement {
    /// Going round all of the component is fair.
    Fair,
    /// Nothing in it is.
    Unfair,
    /// Only what remains of it may hold a fair round.
    Without(Vec<u32>),
}

impl Classes {
    fn of(rounds: &Rounds, fairness: impl Fn(u8) -> Fairness) -> Self {
        let known = rounds.possible.iter().fold(0, |known, possible| known | possible);
        let of_kind = |kind: Fairness| {
            let classes = (0..MAX_CLASSES).filter(|&class| fairness(class) == kind);
            classes.fold(0, |bits, class| bits | bit(class)) & known
        };
        Self { weak: of_kind(Fairness::Weak), strong: of_kind(Fairness::Strong) }
    }

    fn judge(&self, graph: &Graph<'_>, component: &[u32]) -> Judgement {
        let (mut taken, mut possible, mut always) = (0, 0, u64::MAX);
        let mut is_round = false;
        for &state in component {
            possible |= graph.possible(state);
            always &= graph.possible(state);
            for (target, class) in graph.edges(state) {
                if component.binary_search(&target).is_ok() {
                    is_round = true;
                    taken |= bit(class);
                }
            }
        }
        let starved = self.strong & possible & !taken;
        if !is_round || self.weak & always & !taken != 0 {
            return Judgement::Unfair;
        }
        if starved == 0 {
            return Judgement::Fair;
        }
        let rest = component.iter().copied().filter(|&state| graph.possible(state) & starved == 0);
        Judgement::Without(rest.collect())
    }
}

/// Goes round a component so that it is fair.
struct Walk<'a> {
    graph: &'a Graph<'a>,
    weak: u64,
    component: &'a [u32],
    round: Vec<(u32, u8)>,
    at: u32,
    /// Classes that the walk has been fair to.
    met: u64,
}

/// A step: source, class, target.
type Step = (u32, u8, u32);

/// From the least state, by shortest ways, to a step of each class that is taken in the component, or a state where none
/// of a weak class is possible, and back.
fn walk(graph: &Graph<'_>, classes: &Classes, component: &[u32]) -> Round {
    let mut walk =
        Walk { graph, weak: classes.weak, component, round: Vec::new(), at: component[0], met: 0 };
    walk.met = walk.spared(walk.at);
    let owed = (0..MAX_CLASSES).filter(|&class| (classes.weak | classes.strong) & bit(class) != 0);
    owed.for_each(|class| walk.meet(class));
    if walk.round.is_empty() {
        walk.leave();
    }
    walk.go_to(|_, state| state == component[0]);
    Round(walk.round)
}

impl Walk<'_> {
    fn meet(&mut self, class: u8) {
        if self.met & bit(class) != 0 {
            return;
        }
        let step_of = |walk: &Self, state| walk.inner(state).find(|step| step.1 == class);
        let is_met = |walk: &Self, state| {
            walk.spared(state) & bit(class) != 0 || step_of(walk, state).is_some()
        };
        // A strong class of which no step is possible anywhere asks for nothing.
        if self.component.iter().any(|&state| is_met(self, state)) {
            self.go_to(is_met);
        }
        if self.met & bit(class) == 0
            && let Some(step) = step_of(self, self.at)
        {
            self.take(step);
        }
    }

    /// Weak classes of which no step is possible in a state.
    fn spared(&self, state: u32) -> u64 {
        self.weak & !self.graph.possible(state)
    }

    /// The steps of a state that stay inside.
    fn inner(&self, state: u32) -> impl Iterator<Item = Step> + '_ {
        let edges = self.graph.edges(state).filter(|(target, _)| self.place(*target).is_some());
        edges.map(move |(target, class)| (state, class, target))
    }

    fn place(&self, state: u32) -> Option<usize> {
        self.component.binary_search(&state).ok()
    }

    fn leave(&mut self) {
        let step = self.inner(self.at).next();
        self.take(step.expect("a round has a step"));
    }

    fn take(&mut self, (source, class, target): Step) {
        self.round.push((source, class));
        self.at = target;
        self.met |= bit(class) | self.spared(target);
    }

    /// Goes to the nearest state of this sort, which is in the component.
    fn go_to(&mut self, is_sought: impl Fn(&Self, u32) -> bool) {
        let mut parents: Vec<Option<(u32, u8)>> = vec![None; self.component.len()];
        let mut queue = VecDeque::from([self.at]);
        while let Some(state) = queue.pop_front() {
            if is_sought(self, state) {
                self.way_back(&parents, state).into_iter().for_each(|step| self.take(step));
                return;
            }
            for (source, class, target) in self.inner(state) {
                let Some(place) = self.place(target).filter(|_| target != self.at) else {
                    continue;
                };
                if parents[place].is_none() {
                    parents[place] = Some((source, class));
                    queue.push_back(target);
                }
            }
        }
    }

    fn way_back(&self, parents: &[Option<(u32, u8)>], mut to: u32) -> Vec<Step> {
        let mut way = Vec::new();
        while let Some((state, class)) = self.place(to).and_then(|place| parents[place]) {
            way.push((state, class, to));
            to = state;
        }
        way.reverse();
        way
    }
}
