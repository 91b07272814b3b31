//! The explorer against a naive judge, on some thousands of random graphs.

use super::toys::{Graph, exact};
use crate::explore::{Kind, Options, Verdict, agree, agree_exact, explore, second_opinion};

/// Nodes of a random graph.
pub(super) const NODES: u8 = 9;

/// A small generator of numbers, the same on every run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: u8) -> u8 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(sides)) as u8
    }

    fn nodes(&mut self, at_most: u8) -> Vec<u8> {
        (0..self.roll(at_most + 1)).map(|_| self.roll(NODES)).collect()
    }

    fn edges(&mut self, at_most: u8) -> Vec<(u8, u8)> {
        (0..self.roll(at_most + 1)).map(|_| (self.roll(NODES), self.roll(NODES))).collect()
    }

    /// A graph in which anything may be wrong.
    pub(super) fn graph(&mut self) -> Graph {
        let edges = self.edges(24);
        let mut faults = self.edges(6);
        faults.retain(|edge| !edges.contains(edge));
        let goals = self.nodes(4);
        Graph {
            initial: vec![0, self.roll(NODES)],
            edges,
            faults,
            goals: Some(goals),
            cuts: self.nodes(3),
            forbidden: self.nodes(1),
            wanted: self.nodes(2),
            ..Graph::default()
        }
    }
}

/// Steps from an initial state to each node, found by relaxing all edges until nothing changes.
fn distances(graph: &Graph) -> Vec<Option<u64>> {
    let mut found = vec![None; NODES.into()];
    graph.initial.iter().for_each(|&node| found[usize::from(node)] = Some(0));
    for _ in 0..NODES {
        for &(from, to) in graph.edges.iter().chain(&graph.faults) {
            let through = found[usize::from(from)].map(|steps| steps + 1);
            let known = found[usize::from(to)];
            found[usize::from(to)] = [known, through].into_iter().flatten().min();
        }
    }
    found
}

/// How many nodes that are reached can reach no goal without a fault.
fn unsettled(graph: &Graph) -> u64 {
    let goals = graph.goals.as_ref().expect("random graphs have goals");
    let (settled, found) = (leading_to(graph, |node| goals.contains(&node)), distances(graph));
    settled.iter().zip(found).filter(|(is_settled, found)| !*is_settled && found.is_some()).count()
        as u64
}

/// Which nodes can reach a goal or a cut without a fault.
fn recovering(graph: &Graph) -> Vec<bool> {
    let goals = graph.goals.as_ref().expect("random graphs have goals");
    leading_to(graph, |node| goals.contains(&node) || graph.cuts.contains(&node))
}

fn leading_to(graph: &Graph, is_sought: impl Fn(u8) -> bool) -> Vec<bool> {
    let mut found: Vec<bool> = (0..NODES).map(is_sought).collect();
    for _ in 0..NODES {
        for &(from, to) in &graph.edges {
            found[usize::from(from)] |= found[usize::from(to)];
        }
    }
    found
}

/// Steps to the nearest reachable node of this sort.
fn nearest(distances: &[Option<u64>], is_sought: impl Fn(u8) -> bool) -> Option<u64> {
    (0..NODES).filter(|&node| is_sought(node)).filter_map(|node| distances[usize::from(node)]).min()
}

/// What the explorer may answer: kinds, each with the steps of its counterexample. None means verified.
fn allowed(graph: &Graph) -> Vec<(Kind, Option<u64>)> {
    let distances = distances(graph);
    let recovering = recovering(graph);
    let goals = graph.goals.as_ref().expect("random graphs have goals");
    let goes_on = |node: u8| graph.edges.iter().chain(&graph.faults).any(|edge| edge.0 == node);
    let may_stop = |node: u8| goals.contains(&node) || graph.cuts.contains(&node);
    let unsafe_at = nearest(&distances, |node| graph.forbidden.contains(&node));
    let dead_at = nearest(&distances, |node| !goes_on(node) && !may_stop(node));
    let stuck_at = nearest(&distances, |node| !recovering[usize::from(node)]);
    let is_met = graph.wanted.is_empty()
        || nearest(&distances, |node| graph.wanted.contains(&node)).is_some();
    let safety = (Kind::Safety, unsafe_at);
    let deadlock = (Kind::Deadlock, dead_at);
    match (unsafe_at, dead_at, stuck_at) {
        (Some(near), Some(far), _) if near == far + 1 => vec![safety, deadlock],
        (Some(near), Some(far), _) if near > far + 1 => vec![deadlock],
        (Some(_), _, _) => vec![safety],
        (None, Some(_), _) => vec![deadlock],
        (None, None, Some(_)) => vec![(Kind::Unrecoverable, stuck_at)],
        (None, None, None) if !is_met => vec![(Kind::Unreached, None)],
        (None, None, None) => vec![],
    }
}

#[test]
fn the_naive_judge_and_stateright_agree_on_random_graphs() {
    let mut dice = Dice(1);
    let mut counts = [0; 5];
    for _ in 0..3000 {
        let graph = dice.graph();
        let report = explore(&graph, &Options { seed: dice.0, ..Options::default() });
        let allowed = allowed(&graph);
        let steps = report.counterexample.as_ref().map(|path| path.actions.len() as u64);
        match &report.verdict {
            Verdict::Violated { kind, .. } => {
                assert!(allowed.contains(&(*kind, steps)), "{report:?} not {allowed:?}");
            }
            verdict => assert!(
                *verdict == Verdict::Verified && allowed.is_empty(),
                "{verdict} not {allowed:?}"
            ),
        }
        if report.verdict == Verdict::Verified {
            assert_eq!(report.unsettled_states, unsettled(&graph));
        }
        if report.exhausted {
            assert_eq!(report.unique, distances(&graph).iter().flatten().count() as u64);
        }
        assert_eq!(agree_exact(&report, &explore(&graph, &exact())), Ok(()));
        assert_eq!(agree(&report, &second_opinion(&graph)), Ok(()));
        counts[allowed.first().map_or(4, |(kind, _)| *kind as usize)] += 1;
    }
    // The test would be empty if some verdict hardly ever came up.
    assert!(counts.iter().all(|&count| count >= 30), "{counts:?}");
}
