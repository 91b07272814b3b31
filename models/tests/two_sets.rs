//! Two sets, and 7 moves from the first to the second, which must stay empty.
//!
//! It is the step that hand-over protocols take. Where the hash of a set leaves its length out, `({7}, {})`
//! and `({}, {7})` are one state to a checker, and the violation is lost. So this test is run twice: with
//! the library's set, and with one that hashes as the crate beneath does.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use stateright::{Model, Property};
use surehold::collections::Set;
use surehold_models::explore::{
    Disagreement, Judged, Kind, Options, Verdict, agree, agree_exact, explore, second_opinion,
};

/// A set of numbers, however it is hashed.
trait Numbers: Clone + Debug + Default + Eq + Hash + Send + Sync + 'static {
    fn numbers(&self) -> &Set<u8>;
    fn numbers_mut(&mut self) -> &mut Set<u8>;
}

impl Numbers for Set<u8> {
    fn numbers(&self) -> &Set<u8> {
        self
    }

    fn numbers_mut(&mut self) -> &mut Set<u8> {
        self
    }
}

/// Hashed as the crate beneath hashes its sets: the items, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bare(Set<u8>);

impl Hash for Bare {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|number| number.hash(state));
    }
}

impl Numbers for Bare {
    fn numbers(&self) -> &Set<u8> {
        &self.0
    }

    fn numbers_mut(&mut self) -> &mut Set<u8> {
        &mut self.0
    }
}

/// The model. It begins with 7 in the first set.
#[derive(Clone)]
struct TwoSets<S>(std::marker::PhantomData<S>);

impl<S> TwoSets<S> {
    fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happening {
    Move,
    Drop,
}

const SECOND_STAYS_EMPTY: &str = "the second set stays empty";

impl<S: Numbers> Model for TwoSets<S> {
    type State = (S, S);
    type Action = Happening;

    fn init_states(&self) -> Vec<(S, S)> {
        let mut first = S::default();
        first.numbers_mut().insert(7);
        vec![(first, S::default())]
    }

    fn actions(&self, state: &(S, S), actions: &mut Vec<Happening>) {
        if state.0.numbers().contains(&7) {
            actions.extend([Happening::Drop, Happening::Move]);
        }
    }

    fn next_state(&self, state: &(S, S), action: Happening) -> Option<(S, S)> {
        let (mut first, mut second) = state.clone();
        first.numbers_mut().remove(&7);
        if action == Happening::Move {
            second.numbers_mut().insert(7);
        }
        Some((first, second))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let empty = |_: &Self, state: &(S, S)| state.1.numbers().is_empty();
        vec![Property::always(SECOND_STAYS_EMPTY, empty)]
    }
}

impl<S: Numbers> Judged for TwoSets<S> {
    fn may_stop(&self, _state: &(S, S)) -> bool {
        true
    }
}

fn exact() -> Options {
    Options { exact: true, ..Options::default() }
}

fn violated() -> Verdict {
    Verdict::Violated { property: SECOND_STAYS_EMPTY.to_owned(), kind: Kind::Safety }
}

/// The states are `({7}, {})`, `({}, {})` and `({}, {7})`.
#[test]
fn the_set_of_the_library_lets_every_checker_find_the_violation() {
    let model = TwoSets::<Set<u8>>::new();
    let report = explore(&model, &Options::default());
    assert_eq!((&report.verdict, report.unique), (&violated(), 3));
    let way = report.counterexample.as_ref().expect("a violation has a way to it");
    assert_eq!(way.actions.len(), 1);

    let second = second_opinion(&model);
    assert_eq!((second.violated, second.unique_states), (Some(SECOND_STAYS_EMPTY), 3));
    assert_eq!(second.steps, Some(1));
    assert_eq!(agree(&report, &second), Ok(()));

    let by_states = explore(&model, &exact());
    assert_eq!((&by_states.verdict, by_states.unique, by_states.collisions), (&violated(), 3, 0));
    assert_eq!(agree_exact(&report, &by_states), Ok(()));
}

/// The test can fail: without the length both checkers report that all is well. Only whole states tell.
#[test]
fn a_hash_without_the_length_loses_the_violation() {
    let model = TwoSets::<Bare>::new();
    let report = explore(&model, &Options::default());
    assert_eq!((&report.verdict, report.unique), (&Verdict::Verified, 2));
    let second = second_opinion(&model);
    assert_eq!((second.violated, second.unique_states), (None, 2));
    assert_eq!(agree(&report, &second), Ok(()));

    let by_states = explore(&model, &exact());
    assert_eq!((&by_states.verdict, by_states.unique, by_states.collisions), (&violated(), 3, 1));
    let lost = Disagreement::Violated { own: None, other: Some(SECOND_STAYS_EMPTY.to_owned()) };
    assert_eq!(agree_exact(&report, &by_states), Err(lost));
}
