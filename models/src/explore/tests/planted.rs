//! Errors planted in one of two checkers, each seen to be caught, and seen not to be reported where it is not planted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stateright::{Model, Property};

use super::toys::{Graph, Grid, HandOver, exact};
use crate::explore::planted::Planted;
use crate::explore::{
    Disagreement, Judged, Kind, Options, Reason, SecondOpinion, Verdict, agree, agree_exact,
    explore, second_opinion,
};

fn planting(error: Planted) -> Options {
    Options { planted: Some(error), ..Options::default() }
}

#[test]
fn a_lost_successor_shows_in_the_count() {
    let grid = Grid::up_to(10);
    let second = second_opinion(&grid);
    // Edge 0 leads to (1, 0), which nothing else leads to, nor to the rest of its row.
    let report = explore(&grid, &planting(Planted::DropEdge(0)));
    assert_eq!(report.verdict, Verdict::Verified);
    assert_eq!(agree(&report, &second), Err(Disagreement::UniqueStates { own: 111, other: 121 }));
    let by_states = explore(&grid, &exact());
    assert_eq!(
        agree_exact(&report, &by_states),
        Err(Disagreement::UniqueStates { own: 111, other: 121 })
    );
    assert_eq!(agree(&explore(&grid, &Options::default()), &second), Ok(()));
}

#[test]
fn a_lost_successor_shows_in_the_violation_it_hides() {
    let graph = Graph { forbidden: vec![2], ..Graph::with_goals(&[(0, 1), (1, 2), (1, 1)], &[1]) };
    let second = second_opinion(&graph);
    let report = explore(&graph, &planting(Planted::DropEdge(1)));
    assert_eq!(report.verdict, Verdict::Verified);
    let other = Some("allowed".to_owned());
    assert_eq!(agree(&report, &second), Err(Disagreement::Violated { own: None, other }));
    assert_eq!(agree(&explore(&graph, &Options::default()), &second), Ok(()));
}

#[test]
fn a_lost_short_cut_shows_in_the_distance() {
    let graph = Graph { forbidden: vec![2], ..Graph::with_goals(&[(0, 2), (0, 1), (1, 2)], &[2]) };
    let second = second_opinion(&graph);
    let report = explore(&graph, &planting(Planted::DropEdge(0)));
    assert_eq!(agree(&report, &second), Err(Disagreement::Steps { own: Some(2), other: Some(1) }));
    assert_eq!(agree(&explore(&graph, &Options::default()), &second), Ok(()));
}

/// A grid that hides a successor from whoever asks once it is told to.
#[derive(Clone)]
struct Hiding {
    grid: Grid,
    hides: Arc<AtomicBool>,
}

impl Model for Hiding {
    type State = (u32, u32);
    type Action = bool;

    fn init_states(&self) -> Vec<(u32, u32)> {
        self.grid.init_states()
    }

    fn actions(&self, state: &(u32, u32), actions: &mut Vec<bool>) {
        self.grid.actions(state, actions);
    }

    fn next_state(&self, state: &(u32, u32), action: bool) -> Option<(u32, u32)> {
        let is_hidden = *state == (0, 0) && action && self.hides.load(Ordering::Relaxed);
        if is_hidden { None } else { self.grid.next_state(state, action) }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("sum is small", |hiding: &Self, state: &(u32, u32)| {
            Some(state.0 + state.1) != hiding.grid.forbidden_sum
        })]
    }
}

impl Judged for Hiding {
    fn goal(&self, state: &(u32, u32)) -> Option<bool> {
        self.grid.goal(state)
    }
}

/// stateright's opinion on the model with or without the hidden successor.
fn opinion_on(model: &Hiding, hides: bool) -> SecondOpinion {
    model.hides.store(hides, Ordering::Relaxed);
    let second = second_opinion(model);
    model.hides.store(false, Ordering::Relaxed);
    second
}

#[test]
fn a_successor_hidden_from_stateright_shows_too() {
    let model = Hiding { grid: Grid::up_to(10), hides: Arc::default() };
    let report = explore(&model, &Options::default());
    let hidden = opinion_on(&model, true);
    assert_eq!(agree(&report, &hidden), Err(Disagreement::UniqueStates { own: 121, other: 111 }));
    assert_eq!(agree(&report, &opinion_on(&model, false)), Ok(()));
}

#[test]
fn a_hash_without_length_is_seen_by_exact_states_alone() {
    let report = explore(&HandOver::<false>, &Options::default());
    let by_states = explore(&HandOver::<false>, &exact());
    // The move from ({7}, {}) to ({}, {7}) leads to a known fingerprint: two states, nothing violated.
    assert_eq!((&report.verdict, report.unique), (&Verdict::Verified, 2));
    // stateright is fooled in the same way.
    assert_eq!(agree(&report, &second_opinion(&HandOver::<false>)), Ok(()));

    let violated =
        Verdict::Violated { property: "second stays empty".to_owned(), kind: Kind::Safety };
    assert_eq!((&by_states.verdict, by_states.unique, by_states.collisions), (&violated, 3, 1));
    assert_eq!(
        by_states.counterexample.as_ref().map(|path| path.actions.clone()),
        Some(vec!["put", "move"])
    );
    let other = Some("second stays empty".to_owned());
    assert_eq!(agree_exact(&report, &by_states), Err(Disagreement::Violated { own: None, other }));

    let sound = explore(&HandOver::<true>, &Options::default());
    let sound_by_states = explore(&HandOver::<true>, &exact());
    assert_eq!((&sound.verdict, sound.unique, sound_by_states.collisions), (&violated, 3, 0));
    assert_eq!(agree_exact(&sound, &sound_by_states), Ok(()));
}

#[test]
fn a_time_out_taken_for_done_shows_in_the_count() {
    let grid = Grid::up_to(60);
    let second = second_opinion(&grid);
    let hasty = Options { time_limit: Some(Duration::ZERO), ..Options::default() };
    let lying = Options { time_limit: Some(Duration::ZERO), ..planting(Planted::TimeoutIsDone) };

    let lie = explore(&grid, &lying);
    assert_eq!(lie.verdict, Verdict::Verified);
    assert!(
        matches!(agree(&lie, &second), Err(Disagreement::UniqueStates { own, other: 3721 }) if own < 3721)
    );

    let honest = explore(&grid, &hasty);
    assert_eq!(honest.verdict, Verdict::Incomplete { reason: Reason::TimeLimit });
    assert_eq!(agree(&honest, &second), Err(Disagreement::Incomplete(Reason::TimeLimit)));
    assert_eq!(agree(&explore(&grid, &Options::default()), &second), Ok(()));
}

#[test]
fn an_opinion_that_is_not_done_is_none() {
    let grid = Grid::up_to(5);
    let second = SecondOpinion { is_done: false, ..second_opinion(&grid) };
    assert_eq!(agree(&explore(&grid, &Options::default()), &second), Err(Disagreement::Unfinished));
}

#[test]
fn a_fault_taken_for_progress_hides_a_stuck_state() {
    let stuck =
        Graph { faults: vec![(1, 2)], ..Graph::with_goals(&[(0, 1), (0, 2), (1, 1)], &[2]) };
    assert_eq!(explore(&stuck, &planting(Planted::FaultIsFree)).verdict, Verdict::Verified);
    let honest = explore(&stuck, &Options::default()).verdict;
    assert!(matches!(honest, Verdict::Violated { kind: Kind::Unrecoverable, .. }), "{honest}");
}

#[test]
fn a_property_skipped_at_the_boundary_hides_a_violation() {
    let graph =
        Graph { outside: vec![1], forbidden: vec![1], ..Graph::with_goals(&[(0, 1)], &[1]) };
    let blind = explore(&graph, &planting(Planted::BoundaryUnjudged)).verdict;
    assert_eq!(blind, Verdict::Incomplete { reason: Reason::Boundary });
    let honest = explore(&graph, &Options::default()).verdict;
    assert!(matches!(honest, Verdict::Violated { kind: Kind::Safety, .. }), "{honest}");
}
