//! Every verdict on a graph small enough to judge by hand.

use super::toys::{Graph, Grid};
use crate::explore::{
    Counterexample, DEADLOCK_FREE, Judged, Kind, Options, RECOVERABLE, Reason, ReportOf, Verdict,
    explore,
};

const DIAMOND: [(u8, u8); 4] = [(0, 1), (0, 2), (1, 3), (2, 3)];

fn run<M: Judged>(model: &M) -> ReportOf<M> {
    explore(model, &Options::default())
}

fn violated(property: &str, kind: Kind) -> Verdict {
    Verdict::Violated { property: property.to_owned(), kind }
}

/// The states on the way to the violation.
fn way(report: &ReportOf<Graph>) -> Vec<u8> {
    let Counterexample { states, actions, round_from: None } =
        report.counterexample.clone().expect("a counterexample")
    else {
        panic!("nothing goes round")
    };
    let steps: Vec<(u8, u8)> = states.windows(2).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!(steps, actions);
    states
}

#[test]
fn a_diamond_is_verified() {
    let report = run(&Graph::with_goals(&DIAMOND, &[3]));
    assert_eq!(report.verdict, Verdict::Verified);
    assert!(report.exhausted && report.recoverability_judged);
    assert_eq!((report.unique, report.generated, report.depth), (4, 5, 3));
    assert_eq!((report.peak_frontier, report.goal_states, report.unexpanded), (2, 1, 0));
    assert_eq!(report.cut_states, 0);
    assert!(report.counterexample.is_none());
}

#[test]
fn the_first_of_the_shortest_ways_is_told() {
    let edges = [(0, 4), (4, 5), (5, 3), (0, 1), (0, 2), (1, 3), (2, 3)];
    let report = run(&Graph { forbidden: vec![3], ..Graph::of(&edges) });
    assert_eq!(report.verdict, violated("allowed", Kind::Safety));
    assert_eq!(way(&report), [0, 1, 3]);
    assert!(!report.exhausted && report.unexpanded > 0);
}

#[test]
fn an_initial_state_may_violate() {
    let graph = Graph { initial: vec![1, 0], forbidden: vec![0], ..Graph::of(&[(1, 1)]) };
    let report = run(&graph);
    assert_eq!(report.verdict, violated("allowed", Kind::Safety));
    assert_eq!(way(&report), [0]);
}

#[test]
fn duplicates_among_initial_states_are_one() {
    let report = run(&Graph { initial: vec![0, 1, 0], ..Graph::of(&[(0, 1), (1, 0)]) });
    assert_eq!((report.unique, report.generated, report.depth), (2, 5, 1));
}

#[test]
fn a_cycle_that_never_reaches_the_goal_is_unrecoverable() {
    let report = run(&Graph::with_goals(&[(0, 1), (1, 2), (2, 1), (0, 3)], &[3]));
    assert_eq!(report.verdict, violated(RECOVERABLE, Kind::Unrecoverable));
    assert_eq!(way(&report), [0, 1]);
    assert!(report.exhausted && report.recoverability_judged);
}

#[test]
fn a_cycle_with_a_way_out_is_recoverable() {
    let report = run(&Graph::with_goals(&[(0, 1), (1, 2), (2, 1), (2, 3)], &[3]));
    assert_eq!(report.verdict, Verdict::Verified);
}

#[test]
fn a_fault_is_no_recovery() {
    let stuck =
        Graph { faults: vec![(1, 2)], ..Graph::with_goals(&[(0, 1), (0, 2), (1, 1)], &[2]) };
    let report = run(&stuck);
    assert_eq!(report.verdict, violated(RECOVERABLE, Kind::Unrecoverable));
    assert_eq!(way(&report), [0, 1]);

    let mut free = stuck.clone();
    free.edges.push((1, 2));
    free.faults.clear();
    assert_eq!(run(&free).verdict, Verdict::Verified);
}

#[test]
fn what_a_fault_leads_to_is_explored_and_must_recover() {
    let graph = Graph { faults: vec![(0, 2)], ..Graph::with_goals(&[(0, 1), (2, 2)], &[1]) };
    let report = run(&graph);
    assert_eq!(report.verdict, violated(RECOVERABLE, Kind::Unrecoverable));
    assert_eq!(way(&report), [0, 2]);
}

#[test]
fn recoverability_is_judged_only_if_asked_for_and_set() {
    let stuck = Graph::with_goals(&[(0, 0)], &[1]);
    let report = explore(&stuck, &Options { recoverability: false, ..Options::default() });
    assert_eq!(report.verdict, Verdict::Verified);
    assert!(!report.recoverability_judged);

    let goalless = run(&Graph::of(&[(0, 0)]));
    assert_eq!(goalless.verdict, Verdict::Verified);
    assert!(!goalless.recoverability_judged);
}

#[test]
fn a_state_that_cannot_go_on_is_a_deadlock() {
    let report = run(&Graph::with_goals(&[(0, 1), (0, 2), (2, 3)], &[3]));
    assert_eq!(report.verdict, violated(DEADLOCK_FREE, Kind::Deadlock));
    assert_eq!(way(&report), [0, 1]);

    let goalless = run(&Graph::of(&[(0, 1)]));
    assert_eq!(goalless.verdict, violated(DEADLOCK_FREE, Kind::Deadlock));
}

#[test]
fn refused_actions_lead_nowhere() {
    let refused = Graph { refused: vec![(1, 2)], ..Graph::with_goals(&[(0, 1), (0, 2)], &[2]) };
    assert_eq!(run(&refused).verdict, violated(DEADLOCK_FREE, Kind::Deadlock));

    let accepted = Graph::with_goals(&[(0, 1), (0, 2), (1, 2)], &[2]);
    assert_eq!(run(&accepted).verdict, Verdict::Verified);
}

#[test]
fn a_cut_state_is_judged_by_safety_only() {
    let cut = Graph { cuts: vec![1], ..Graph::with_goals(&[(0, 1), (0, 2)], &[2]) };
    let report = run(&cut);
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!((report.cut_states, report.goal_states), (1, 1));

    let forbidden = Graph { forbidden: vec![1], ..cut };
    assert_eq!(run(&forbidden).verdict, violated("allowed", Kind::Safety));
}

#[test]
fn what_leads_only_to_a_cut_state_is_unsettled() {
    let cut = Graph { cuts: vec![2], ..Graph::with_goals(&[(0, 1), (1, 2), (0, 3)], &[3]) };
    let report = run(&cut);
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!((report.cut_states, report.unsettled_states), (1, 2));
    let graph =
        Graph { cuts: vec![2], ..Graph::with_goals(&[(0, 1), (1, 2), (2, 3), (3, 3)], &[9]) };
    let report = run(&graph);
    assert_eq!(report.verdict, violated(RECOVERABLE, Kind::Unrecoverable));
    assert_eq!(way(&report), [0, 1, 2, 3]);
}

#[test]
fn a_property_that_no_state_meets_is_a_failure_of_the_scope() {
    let missed = Graph { wanted: vec![9], ..Graph::with_goals(&DIAMOND, &[3]) };
    let report = run(&missed);
    assert_eq!(report.verdict, violated("met", Kind::Unreached));
    assert_eq!(report.unreached, ["met"]);
    assert!(report.counterexample.is_none());

    let met = run(&Graph { wanted: vec![9, 2], ..missed.clone() });
    assert_eq!(met.verdict, Verdict::Verified);
    assert!(met.unreached.is_empty());
}

#[test]
fn an_unreached_property_is_the_last_thing_reported() {
    let missed = Graph { wanted: vec![9], ..Graph::with_goals(&DIAMOND, &[3]) };
    let unsafe_too = Graph { forbidden: vec![3], ..missed.clone() };
    assert_eq!(run(&unsafe_too).verdict, violated("allowed", Kind::Safety));

    let stuck_too =
        Graph { goals: Some(vec![1]), edges: [&DIAMOND[..], &[(3, 3)]].concat(), ..missed };
    let report = run(&stuck_too);
    assert_eq!(report.verdict, violated(RECOVERABLE, Kind::Unrecoverable));
    assert_eq!(report.unreached, ["met"]);
}

#[test]
fn a_state_outside_the_boundary_is_never_dropped() {
    let graph = Graph { outside: vec![2], ..Graph::with_goals(&[(0, 1), (1, 2)], &[1]) };
    let report = run(&graph);
    assert_eq!(report.verdict, Verdict::Incomplete { reason: Reason::Boundary });
    assert!(!report.exhausted);

    let forbidden = Graph { forbidden: vec![2], ..graph.clone() };
    assert_eq!(run(&forbidden).verdict, violated("allowed", Kind::Safety));

    let initial = Graph { outside: vec![0], ..graph };
    assert_eq!(run(&initial).verdict, Verdict::Incomplete { reason: Reason::Boundary });
}

#[test]
fn a_model_without_properties_is_explored_too() {
    let grid = Grid { has_properties: false, ..Grid::up_to(9) };
    let report = run(&grid);
    assert_eq!((report.verdict, report.unique), (Verdict::Verified, 100));
}

#[test]
fn a_shortest_way_across_the_grid_has_as_many_steps_as_the_sum() {
    let report = run(&Grid { forbidden_sum: Some(13), ..Grid::up_to(20) });
    let path = report.counterexample.expect("a counterexample");
    assert_eq!((path.states.len(), path.actions.len()), (14, 13));
    assert_eq!(path.states[0], (0, 0));
    assert_eq!(path.states[13].0 + path.states[13].1, 13);
    assert_eq!(report.depth, 14);
}
