//! The number of threads changes nothing that is reported, but for the clock.

use super::toys::{Graph, Grid, exact};
use crate::explore::{Judged, Kind, Options, ReportOf, Verdict, explore};

fn on<M: Judged>(model: &M, threads: usize, options: &Options) -> ReportOf<M> {
    explore(model, &Options { threads, ..options.clone() })
}

/// The whole report but for the clock, in words.
fn told<M: Judged<State: std::fmt::Debug, Action: std::fmt::Debug>>(report: ReportOf<M>) -> String {
    format!("{:?}", crate::explore::Report { seconds: 0.0, ..report })
}

fn same_on_all<M: Judged<State: std::fmt::Debug, Action: std::fmt::Debug>>(
    model: &M,
    options: &Options,
) -> Verdict {
    let report = on(model, 1, options);
    let verdict = report.verdict.clone();
    let expected = told::<M>(report);
    for threads in [0, 2, 3, 8] {
        assert_eq!(told::<M>(on(model, threads, options)), expected, "{threads} threads");
    }
    verdict
}

/// Wide enough for many pieces a level.
const WIDE: u32 = 900;

#[test]
fn a_wide_space_is_counted_the_same() {
    let grid = Grid::up_to(WIDE);
    assert_eq!(same_on_all(&grid, &Options::default()), Verdict::Verified);
    assert_eq!(same_on_all(&Grid::up_to(300), &exact()), Verdict::Verified);
}

#[test]
fn the_same_shortest_way_is_told() {
    let grid = Grid { forbidden_sum: Some(WIDE + 300), ..Grid::up_to(WIDE) };
    let verdict = same_on_all(&grid, &Options::default());
    assert!(matches!(verdict, Verdict::Violated { kind: Kind::Safety, .. }), "{verdict}");
}

#[test]
fn a_state_limit_stops_at_the_same_state() {
    let options = Options { max_states: Some(200_000), ..Options::default() };
    let verdict = same_on_all(&Grid::up_to(WIDE), &options);
    assert!(matches!(verdict, Verdict::Incomplete { .. }), "{verdict}");
}

#[test]
fn deadlocks_and_stuck_states_are_the_same() {
    let stuck = Graph::with_goals(&[(0, 1), (1, 2), (2, 1), (0, 3)], &[3]);
    let deadlock = Graph::with_goals(&[(0, 1), (0, 2), (2, 3)], &[3]);
    for graph in [stuck, deadlock] {
        assert!(matches!(same_on_all(&graph, &Options::default()), Verdict::Violated { .. }));
    }
}

/// A grid in which everything along one edge fails in the code of the model itself.
#[test]
#[should_panic(expected = "piece")]
fn a_panic_of_the_model_is_the_callers() {
    #[derive(Clone)]
    struct Failing(Grid);

    impl stateright::Model for Failing {
        type State = (u32, u32);
        type Action = bool;

        fn init_states(&self) -> Vec<Self::State> {
            self.0.init_states()
        }

        fn actions(&self, state: &Self::State, actions: &mut Vec<bool>) {
            assert!(state.0 < 700, "piece");
            self.0.actions(state, actions);
        }

        fn next_state(&self, state: &Self::State, action: bool) -> Option<Self::State> {
            self.0.next_state(state, action)
        }

        fn properties(&self) -> Vec<stateright::Property<Self>> {
            Vec::new()
        }
    }

    impl Judged for Failing {}

    on(&Failing(Grid::up_to(WIDE)), 2, &Options::default());
}
