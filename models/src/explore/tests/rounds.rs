//! Endless rounds on graphs small enough to judge by hand, and against a naive judge on random ones.

use super::reference::Dice;
use super::toys::Graph;
use crate::explore::planted::Planted;
use crate::explore::{
    Kind, NO_ENDLESS_ROUND, Options, Reason, ReportOf, Verdict, agree_exact, explore,
};

/// Recoverability is another question, and would be answered first.
fn asked() -> Options {
    Options { rounds: true, recoverability: false, ..Options::default() }
}

/// The way to the round, and once round it.
type Lasso = (Vec<u8>, Vec<u8>);

/// Judges, and checks that a lasso is a walk of real edges without a fault in its round.
fn lasso(graph: &Graph, options: &Options) -> Option<Lasso> {
    let report = explore(graph, options);
    assert!(report.rounds_judged, "{}", report.verdict);
    let told = lasso_of(graph, &report);
    let verdict = match told {
        Some(_) => Verdict::Violated { property: NO_ENDLESS_ROUND.into(), kind: Kind::Endless },
        None => Verdict::Verified,
    };
    assert_eq!(report.verdict, verdict);
    told
}

fn lasso_of(graph: &Graph, report: &ReportOf<Graph>) -> Option<Lasso> {
    let path = report.counterexample.clone()?;
    let from = path.round_from.expect("a round");
    let (prefix, round) = (&path.states[..=from], &path.states[from..]);
    let steps: Vec<(u8, u8)> = path.states.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!(steps, path.actions);
    assert!(round.len() > 1 && round.first() == round.last());
    assert!(path.actions[from..].iter().all(|edge| graph.edges.contains(edge)));
    Some((prefix.to_vec(), round.to_vec()))
}

/// The states and edges that a lasso goes round, as the fairness that a graph asks for sees them.
fn is_fair(graph: &Graph, round: &[u8]) -> bool {
    let edges: Vec<(u8, u8)> = round.windows(2).map(|pair| (pair[0], pair[1])).collect();
    is_fair_to_all(graph, round, &edges)
}

fn is_fair_to_all(graph: &Graph, nodes: &[u8], edges: &[(u8, u8)]) -> bool {
    let is_possible =
        |class, node| graph.classes.iter().any(|((from, _), own)| *own == class && *from == node);
    graph.classes.iter().all(|&(_, class)| {
        let taken = graph.classes.iter().any(|(edge, own)| *own == class && edges.contains(edge));
        let at = nodes.iter().filter(|&&node| is_possible(class, node)).count();
        let spared = if graph.strong.contains(&class) { at == 0 } else { at < nodes.len() };
        taken || spared
    })
}

fn plain(graph: &Graph) -> Option<Lasso> {
    lasso(graph, &asked())
}

#[test]
fn a_cycle_with_a_way_out_is_recoverable_and_may_be_endless() {
    let graph = Graph::with_goals(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[3]);
    let both = Options { recoverability: true, ..asked() };
    assert_eq!(lasso(&graph, &both), Some((vec![0, 1], vec![1, 2, 1])));
    assert_eq!(explore(&graph, &Options::default()).verdict, Verdict::Verified);
}

#[test]
fn weak_and_strong_fairness_differ_where_a_step_is_possible_now_and_then() {
    let classes = vec![((1, 3), 0)];
    let weak = Graph { classes, ..Graph::with_goals(&[(0, 1), (1, 2), (2, 1), (1, 3)], &[3]) };
    assert_eq!(plain(&weak), Some((vec![0, 1], vec![1, 2, 1])));
    assert_eq!(plain(&Graph { strong: vec![0], ..weak }), None);
}

#[test]
fn stuttering_is_a_round_unless_it_starves_a_step_that_is_always_possible() {
    let still = Graph::with_goals(&[(0, 1), (1, 1), (1, 2)], &[2]);
    assert_eq!(plain(&still), Some((vec![0, 1], vec![1, 1])));
    assert_eq!(plain(&Graph { classes: vec![((1, 2), 5)], ..still.clone() }), None);
    // The step that stutters may be of the class itself.
    let classes = vec![((1, 2), 5), ((1, 1), 5)];
    assert_eq!(plain(&Graph { classes, ..still }), Some((vec![0, 1], vec![1, 1])));
}

#[test]
fn a_fair_cycle_hides_inside_a_component_that_is_not() {
    let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 2), (3, 4)];
    let graph =
        Graph { classes: vec![((3, 4), 0)], strong: vec![0], ..Graph::with_goals(&edges, &[4]) };
    assert_eq!(plain(&graph), Some((vec![0, 1], vec![1, 2, 1])));
    let never = Graph { classes: vec![((3, 4), 0), ((2, 4), 0)], ..graph };
    let edges = [&edges[..], &[(2, 4)]].concat();
    assert_eq!(plain(&Graph { edges, ..never }), None);
}

/// stateright's `eventually` forgets which of the ways to a state has met the goal: whether it sees the way beside it
/// depends on which comes first.
#[test]
fn a_join_is_judged_alike_whichever_way_comes_first() {
    for edges in
        [[(0, 1), (0, 2), (1, 3), (2, 3), (3, 3)], [(0, 2), (0, 1), (2, 3), (1, 3), (3, 3)]]
    {
        let (_, round) = plain(&Graph::with_goals(&edges, &[1])).expect("a way beside the goal");
        assert_eq!(round, [3, 3]);
    }
}

#[test]
fn faults_goals_and_bounds_end_a_round() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 3)];
    let by_fault = Graph { faults: vec![(2, 1)], ..Graph::with_goals(&edges, &[3]) };
    assert_eq!(plain(&by_fault), None);
    let through_goal = Graph::with_goals(&[(0, 1), (1, 2), (2, 1)], &[2]);
    assert_eq!(plain(&through_goal), None);
    let through_bound =
        Graph { cuts: vec![2], ..Graph::with_goals(&[(0, 1), (1, 2), (2, 1)], &[9]) };
    assert_eq!(plain(&through_bound), None);
}

#[test]
fn every_process_has_its_turn_on_the_way_round() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 1), (2, 4), (4, 2), (1, 9)];
    let classes = vec![((2, 4), 0), ((3, 1), 1), ((4, 2), 2)];
    let graph = Graph { classes, strong: vec![0, 1, 2], ..Graph::with_goals(&edges, &[9]) };
    let (prefix, round) = plain(&graph).expect("a round");
    assert_eq!(prefix, [0, 1]);
    assert_eq!(round, [1, 2, 4, 2, 3, 1]);
}

#[test]
fn a_limit_leaves_the_question_open() {
    let graph = Graph::with_goals(&[(0, 1), (1, 0), (1, 2)], &[2]);
    let report = explore(&graph, &Options { memory_limit_bytes: Some(1), ..asked() });
    assert_eq!(report.verdict, Verdict::Incomplete { reason: Reason::MemoryLimit });
    assert!(report.exhausted && !report.rounds_judged && report.counterexample.is_none());
}

/// Whether some set of nodes can be gone round for ever, fairly: all sets are tried.
fn has_round(graph: &Graph, nodes: u8) -> bool {
    let goals = graph.goals.as_ref().expect("random graphs have goals");
    let reached = reached(graph, nodes);
    let is_sought = |node: &u8| {
        reached[usize::from(*node)] && !goals.contains(node) && !graph.cuts.contains(node)
    };
    (1..1_u32 << nodes).any(|set| {
        let members: Vec<u8> = (0..nodes).filter(|node| set >> node & 1 == 1).collect();
        members.iter().all(is_sought) && goes_round(graph, &members)
    })
}

fn goes_round(graph: &Graph, members: &[u8]) -> bool {
    let is_member = |node: &u8| members.contains(node);
    let inner = graph.edges.iter().filter(|(from, to)| is_member(from) && is_member(to));
    let inner: Vec<(u8, u8)> = inner.copied().collect();
    let leads_to_all = |&from: &u8| {
        let mut found: Vec<u8> = Vec::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            let next = inner.iter().filter(|(source, _)| *source == node).map(|(_, to)| *to);
            let news: Vec<u8> = next.filter(|to| !found.contains(to)).collect();
            found.extend(&news);
            open.extend(news);
        }
        members.iter().all(|member| found.contains(member))
    };
    members.iter().all(leads_to_all) && is_fair_to_all(graph, members, &inner)
}

fn reached(graph: &Graph, nodes: u8) -> Vec<bool> {
    let mut found = vec![false; usize::from(nodes)];
    graph.initial.iter().for_each(|&node| found[usize::from(node)] = true);
    for _ in 0..nodes {
        for &(from, to) in graph.edges.iter().chain(&graph.faults) {
            found[usize::from(to)] |= found[usize::from(from)];
        }
    }
    found
}

/// A random graph whose edges have classes, where nothing but rounds can be wrong.
fn graph(dice: &mut Dice) -> Graph {
    let mut graph = Graph { forbidden: vec![], wanted: vec![], ..dice.graph() };
    graph.edges.sort_unstable();
    graph.edges.dedup();
    let ends: Vec<u8> = (0..super::reference::NODES)
        .filter(|node| graph.edges.iter().chain(&graph.faults).all(|(from, _)| from != node))
        .collect();
    graph.cuts.extend(ends);
    graph.classes = graph.edges.iter().map(|&edge| (edge, dice.roll(5))).collect();
    graph.classes.retain(|(_, class)| *class < 4);
    graph.strong = vec![dice.roll(6), dice.roll(6)];
    graph
}

#[test]
fn the_naive_judge_agrees_on_random_graphs() {
    let mut dice = Dice(7);
    let mut counts = [0, 0];
    for _ in 0..2000 {
        let graph = graph(&mut dice);
        let expected = has_round(&graph, super::reference::NODES);
        let found = plain(&graph);
        assert_eq!(found.is_some(), expected, "{:?} {:?}", graph.edges, graph.classes);
        if let Some((_, round)) = found {
            assert!(is_fair(&graph, &round), "{round:?} {:?} {:?}", graph.classes, graph.strong);
        }
        counts[usize::from(expected)] += 1;
        let exact = explore(&graph, &Options { exact: true, ..asked() });
        assert_eq!(agree_exact(&explore(&graph, &asked()), &exact), Ok(()));
    }
    assert!(counts.iter().all(|&count| count > 200), "{counts:?}");
}

#[test]
fn an_ignored_round_is_caught_by_the_naive_judge() {
    let mut dice = Dice(7);
    let options = Options { planted: Some(Planted::RoundIgnored), ..asked() };
    let is_caught = (0..100).any(|_| {
        let graph = graph(&mut dice);
        let is_told = explore(&graph, &options).verdict != Verdict::Verified;
        is_told != has_round(&graph, super::reference::NODES)
    });
    assert!(is_caught);
}
