//! Counts: known ones, by several fingerprints, in exact mode, and by stateright.

use super::toys::{Graph, Grid, HandOver, exact};
use crate::explore::{Kind, Options, Verdict, agree, agree_exact, explore, second_opinion};

#[test]
fn the_grid_has_as_many_states_as_cells() {
    let grid = Grid::up_to(99);
    let report = explore(&grid, &Options::default());
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!((report.unique, report.depth), (grid.unique(), 199));
    // Each cell but the first is generated from the left and from below, where there is one.
    assert_eq!(report.generated, 1 + 2 * 99 * 100);
    assert_eq!(report.peak_frontier, 100);
    assert!(report.recoverability_judged);
    assert!(report.expected_missed > 0.0 && report.expected_missed < 1e-10);
}

#[test]
fn exact_states_and_all_seeds_agree() {
    let grid = Grid::up_to(60);
    let by_states = explore(&grid, &exact());
    assert_eq!((by_states.unique, by_states.collisions), (grid.unique(), 0));
    assert_eq!(by_states.expected_missed.to_bits(), 0);
    for seed in [0, 1, 2, u64::MAX] {
        let report = explore(&grid, &Options { seed, ..Options::default() });
        assert_eq!(agree_exact(&report, &by_states), Ok(()));
        assert_eq!(report.generated, by_states.generated);
    }
}

#[test]
fn two_runs_are_the_same() {
    let grid = Grid { forbidden_sum: Some(40), ..Grid::up_to(60) };
    let once = explore(&grid, &Options::default());
    let again = explore(&grid, &Options { seed: 5, ..Options::default() });
    assert_eq!(once.verdict, again.verdict);
    assert_eq!(
        (once.unique, once.generated, once.depth),
        (again.unique, again.generated, again.depth)
    );
    assert_eq!(once.counterexample, again.counterexample);
}

#[test]
fn stateright_agrees_on_what_holds() {
    for bound in [0, 1, 7, 60] {
        let grid = Grid::up_to(bound);
        let second = second_opinion(&grid);
        assert_eq!(second.unique_states, grid.unique());
        assert_eq!(agree(&explore(&grid, &Options::default()), &second), Ok(()));
        assert_eq!(agree(&explore(&grid, &exact()), &second), Ok(()));
    }
}

#[test]
fn stateright_agrees_without_properties_and_behind_a_met_one() {
    let grid = Grid { has_properties: false, ..Grid::up_to(20) };
    assert_eq!(agree(&explore(&grid, &Options::default()), &second_opinion(&grid)), Ok(()));

    let graph = Graph { wanted: vec![0], ..Graph::with_goals(&[(0, 1), (1, 2)], &[2]) };
    let second = second_opinion(&graph);
    assert_eq!((second.unique_states, second.unreached.len()), (3, 0));
    assert_eq!(agree(&explore(&graph, &Options::default()), &second), Ok(()));
}

#[test]
fn stateright_agrees_on_a_violation_and_its_distance() {
    let grid = Grid { forbidden_sum: Some(33), ..Grid::up_to(60) };
    let second = second_opinion(&grid);
    assert_eq!((second.violated, second.steps), (Some("sum is small"), Some(33)));
    assert_eq!(agree(&explore(&grid, &Options::default()), &second), Ok(()));
}

#[test]
fn stateright_takes_initial_states_and_properties_in_the_same_order() {
    let edges = [(0, 2), (1, 3)];
    let graph = Graph {
        initial: vec![0, 1],
        forbidden: vec![3],
        also_forbidden: vec![2, 3],
        ..Graph::of(&edges)
    };
    let second = second_opinion(&graph);
    assert_eq!(second.violated, Some("also allowed"));
    assert_eq!(agree(&explore(&graph, &Options::default()), &second), Ok(()));

    let reversed = Graph { initial: vec![1, 0], ..graph };
    let second = second_opinion(&reversed);
    assert_eq!(second.violated, Some("allowed"));
    assert_eq!(agree(&explore(&reversed, &Options::default()), &second), Ok(()));
}

#[test]
fn stateright_agrees_on_the_states_of_what_it_cannot_judge() {
    let unrecoverable = Graph::with_goals(&[(0, 1), (1, 1), (0, 2)], &[2]);
    let unreached = Graph { wanted: vec![9], ..Graph::with_goals(&[(0, 2)], &[2]) };
    let deadlock = Graph::with_goals(&[(0, 1), (0, 2), (2, 3)], &[3]);
    let kinds = [Kind::Unrecoverable, Kind::Unreached, Kind::Deadlock];
    for (graph, expected) in [unrecoverable, unreached, deadlock].iter().zip(kinds) {
        let report = explore(graph, &Options::default());
        assert!(matches!(&report.verdict, Verdict::Violated { kind, .. } if *kind == expected));
        assert_eq!(agree(&report, &second_opinion(graph)), Ok(()));
    }
}

#[test]
fn a_sound_hash_lets_all_find_the_hand_over() {
    let report = explore(&HandOver::<true>, &Options::default());
    let violated =
        Verdict::Violated { property: "second stays empty".to_owned(), kind: Kind::Safety };
    assert_eq!((report.verdict.clone(), report.unique), (violated, 3));
    assert_eq!(agree(&report, &second_opinion(&HandOver::<true>)), Ok(()));
    assert_eq!(agree_exact(&report, &explore(&HandOver::<true>, &exact())), Ok(()));
}
