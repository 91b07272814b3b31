//! Actors that are alike, and states that are taken for one.

use std::hash::{Hash, Hasher};

use stateright::{Model, Property};

use super::toys::exact;
use crate::explore::planted::Planted;
use crate::explore::{
    Judged, Kind, Options, Same, Verdict, agree, explore, same_to_all, second_opinion,
};
use crate::symmetry::{Renaming, renamings};

/// Who has the token counts, up to a bound, or hands it on to anybody. All must come to the bound.
#[derive(Clone)]
struct Team {
    actors: u8,
    bound: u8,
    /// An actor that may count one further: then they are not alike, whatever is said of them.
    favoured: Option<u8>,
    /// So much in all is forbidden.
    forbidden_sum: Option<u8>,
    names: Vec<Renaming>,
}

/// How far each is, and who has the token.
type Hand = (Vec<u8>, u8);

impl Team {
    fn of(actors: u8, bound: u8) -> Self {
        let names = renamings(&vec![Some(()); usize::from(actors)]);
        Team { actors, bound, favoured: None, forbidden_sum: None, names }
    }

    fn bound_of(&self, actor: u8) -> u8 {
        self.bound + u8::from(self.favoured == Some(actor))
    }
}

/// An actor counts, or hands the token on to this one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Act {
    Count,
    HandTo(u8),
}

impl Model for Team {
    type State = Hand;
    type Action = Act;

    fn init_states(&self) -> Vec<Hand> {
        vec![(vec![0; usize::from(self.actors)], 0)]
    }

    fn actions(&self, (counts, holder): &Hand, actions: &mut Vec<Act>) {
        if counts[usize::from(*holder)] < self.bound_of(*holder) {
            actions.push(Act::Count);
        }
        actions.extend((0..self.actors).filter(|other| other != holder).map(Act::HandTo));
    }

    fn next_state(&self, (counts, holder): &Hand, action: Act) -> Option<Hand> {
        let mut counts = counts.clone();
        Some(match action {
            Act::Count => {
                counts[usize::from(*holder)] += 1;
                (counts, *holder)
            }
            Act::HandTo(other) => (counts, other),
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("sum is allowed", |team: &Self, (counts, _): &Hand| {
            Some(counts.iter().sum()) != team.forbidden_sum
        })]
    }
}

impl Judged for Team {
    fn goal(&self, (counts, _): &Hand) -> Option<bool> {
        Some(counts.iter().all(|count| *count >= self.bound))
    }

    fn images(&self) -> usize {
        self.names.len()
    }

    fn feed_image<H: Hasher>(&self, (counts, holder): &Hand, image: usize, hasher: &mut H) {
        let names = &self.names[image];
        names.in_order(counts).for_each(|count| count.hash(hasher));
        names.of((*holder).into()).hash(hasher);
    }
}

/// Ways to choose, with repetition, for those who have no token: `(bound + 1)` for its holder times the multisets of the
/// others' counts.
fn classes(actors: u64, bound: u64) -> u64 {
    let choose = |n: u64, k: u64| (0..k).fold(1, |all, i| all * (n - i) / (i + 1));
    (bound + 1) * choose(bound + actors - 1, actors - 1)
}

#[test]
fn states_are_counted_but_for_the_names() {
    for (actors, bound) in [(1, 4), (2, 3), (3, 3), (4, 2), (5, 2)] {
        let team = Team::of(actors, bound);
        let whole = u64::from(bound + 1).pow(actors.into()) * u64::from(actors);
        let few = classes(actors.into(), bound.into());
        assert_eq!(same_to_all(&team, u64::MAX), Ok(Some(Same { states: whole, classes: few })));
        let report = explore(&team, &Options::default());
        assert_eq!((report.verdict, report.unique), (Verdict::Verified, few));
        let off = Options { symmetry: false, ..Options::default() };
        for options in [off, exact()] {
            let report = explore(&team, &options);
            assert_eq!((report.verdict, report.unique), (Verdict::Verified, whole));
        }
    }
    assert_eq!(same_to_all(&Team::of(3, 3), 10), Ok(None), "too many to be looked at");
}

#[test]
fn the_second_opinion_is_on_all_states() {
    let team = Team::of(3, 2);
    let off = Options { symmetry: false, ..Options::default() };
    assert_eq!(agree(&explore(&team, &off), &second_opinion(&team)), Ok(()));
}

#[test]
fn a_way_to_a_violation_is_a_shortest_one_with_names_that_stay() {
    let team = Team { forbidden_sum: Some(5), ..Team::of(3, 2) };
    let report = explore(&team, &Options::default());
    let Verdict::Violated { kind: Kind::Safety, .. } = report.verdict else {
        panic!("{}", report.verdict)
    };
    let path = report.counterexample.expect("a way");
    assert_eq!(
        path.actions.len(),
        7,
        "two of them count twice, one once, and two hand the token on"
    );
    for ((state, action), next) in path.states.iter().zip(&path.actions).zip(&path.states[1..]) {
        assert_eq!(team.next_state(state, *action).as_ref(), Some(next));
    }
    let off = Options { symmetry: false, ..Options::default() };
    let whole = explore(&team, &off).counterexample.expect("a way");
    assert_eq!(whole.actions.len(), path.actions.len());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let team = Team::of(4, 5);
    let on = |threads| {
        let report = explore(&team, &Options { threads, ..Options::default() });
        (report.verdict, report.unique, report.generated, report.depth, report.goal_states)
    };
    let one = on(1);
    assert_eq!(one.1, classes(4, 5));
    assert_eq!([on(2), on(5)], [one.clone(), one]);
}

/// A form that takes a tie for settled leaves states apart that are one.
#[test]
fn a_missed_tie_shows_in_the_count() {
    let team = Team::of(3, 3);
    let missing = Options { planted: Some(Planted::TieMissed), ..Options::default() };
    let report = explore(&team, &missing);
    assert_eq!(report.verdict, Verdict::Verified);
    assert!(report.unique > classes(3, 3), "{} states", report.unique);
    let same = same_to_all(&team, u64::MAX).ok().flatten().expect("a small space");
    assert_eq!(explore(&team, &Options::default()).unique, same.classes);
}

/// Whoever says that actors are alike who are not, is told so, and by which steps they differ.
#[test]
fn actors_that_are_not_alike_are_told_apart() {
    let team = Team { favoured: Some(1), ..Team::of(2, 2) };
    let differ = *same_to_all(&team, u64::MAX).expect_err("one may count further");
    let counts: usize = differ.actions.iter().filter(|acts| acts.contains(&Act::Count)).count();
    assert_eq!(counts, 1, "{differ}");
    // A goal that asks for one of them is another judgement.
    struct Judge(Team);
    let judge = Judge(Team::of(2, 2));
    let differ = *same_to_all(&judge, u64::MAX).expect_err("the first is judged");
    assert_eq!(differ.actions, [vec![], vec![]], "{differ}");

    impl Clone for Judge {
        fn clone(&self) -> Self {
            Judge(self.0.clone())
        }
    }

    impl Model for Judge {
        type State = Hand;
        type Action = Act;

        fn init_states(&self) -> Vec<Hand> {
            self.0.init_states()
        }

        fn actions(&self, state: &Hand, actions: &mut Vec<Act>) {
            self.0.actions(state, actions);
        }

        fn next_state(&self, state: &Hand, action: Act) -> Option<Hand> {
            self.0.next_state(state, action)
        }
    }

    impl Judged for Judge {
        fn goal(&self, (counts, _): &Hand) -> Option<bool> {
            Some(counts[0] == 2)
        }

        fn images(&self) -> usize {
            self.0.images()
        }

        fn feed_image<H: Hasher>(&self, state: &Hand, image: usize, hasher: &mut H) {
            self.0.feed_image(state, image, hasher);
        }
    }
}
