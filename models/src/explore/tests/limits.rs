//! A run that meets a limit knows nothing about the rest, and says so.

use std::time::Duration;

use super::toys::{Graph, Grid};
use crate::explore::{
    Disagreement, Kind, Options, Reason, Verdict, agree, explore, second_opinion,
};

fn incomplete(reason: Reason) -> Verdict {
    Verdict::Incomplete { reason }
}

#[test]
fn a_time_limit_stops_one_thread_before_a_violation() {
    let grid = Grid { forbidden_sum: Some(1990), ..Grid::up_to(1000) };
    let limit = Duration::from_millis(20);
    let report = explore(&grid, &Options { time_limit: Some(limit), ..Options::default() });
    assert_eq!(report.verdict, incomplete(Reason::TimeLimit));
    assert!(!report.exhausted && !report.recoverability_judged);
    assert!(report.unexpanded > 0 && report.unique < grid.unique());
    assert!(report.counterexample.is_none());
    assert!(report.seconds >= 0.02 && report.seconds < 1.0, "{} s", report.seconds);
}

#[test]
fn a_generous_time_limit_changes_nothing() {
    let grid = Grid::up_to(100);
    let limit = Duration::from_secs(600);
    let report = explore(&grid, &Options { time_limit: Some(limit), ..Options::default() });
    assert_eq!((report.verdict, report.unique), (Verdict::Verified, grid.unique()));
}

#[test]
fn a_memory_limit_stops_the_run() {
    let grid = Grid::up_to(200);
    let tight = Options { memory_limit_bytes: Some(1), ..Options::default() };
    assert_eq!(explore(&grid, &tight).verdict, incomplete(Reason::MemoryLimit));

    let ample = Options { memory_limit_bytes: Some(1 << 40), ..Options::default() };
    assert_eq!(explore(&grid, &ample).verdict, Verdict::Verified);
}

#[test]
fn a_state_limit_is_met_only_by_a_state_too_many() {
    let grid = Grid::up_to(20);
    let enough = Options { max_states: Some(grid.unique()), ..Options::default() };
    assert_eq!(explore(&grid, &enough).verdict, Verdict::Verified);

    let one_less = Options { max_states: Some(grid.unique() - 1), ..Options::default() };
    let report = explore(&grid, &one_less);
    assert_eq!(report.verdict, incomplete(Reason::StateLimit));
    assert_eq!(report.unique, grid.unique() - 1);
}

#[test]
fn states_up_to_the_limit_are_judged() {
    let graph = Graph { forbidden: vec![1], ..Graph::of(&[(0, 1), (1, 2)]) };
    let report = explore(&graph, &Options { max_states: Some(2), ..Options::default() });
    assert!(matches!(report.verdict, Verdict::Violated { kind: Kind::Safety, .. }));
}

#[test]
fn an_incomplete_run_agrees_with_nothing() {
    let grid = Grid::up_to(20);
    let report = explore(&grid, &Options { max_states: Some(10), ..Options::default() });
    assert_eq!(
        agree(&report, &second_opinion(&grid)),
        Err(Disagreement::Incomplete(Reason::StateLimit))
    );
}
