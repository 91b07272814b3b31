//! Which runs a check is about.

use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;

use super::names::Place;
use crate::compaction::runs::{Expected, Run, Variant};
use crate::compaction::scope::{Scope, Tier};
use crate::compaction::verdicts::Mutant;
use crate::compaction::{scopes, verdicts};

/// What is asked of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether everything comes out as documented.
    Documented,
    /// What becomes of the verified protocol or an upstream release.
    Variant(Variant),
    /// What becomes of the verified protocol without these guards.
    Without(Vec<Guard>),
    /// Whether each guard is needed.
    Mutants,
}

/// A run, and the holes that it shows if it is a mutant's.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The run.
    pub(super) run: Run,
    /// The holes, else nothing.
    pub(super) holes: &'static [&'static str],
}

impl From<Run> for Chosen {
    fn from(run: Run) -> Self {
        Self { run, holes: &[] }
    }
}

impl From<Mutant> for Chosen {
    fn from(mutant: Mutant) -> Self {
        Self { run: mutant.run, holes: mutant.holes }
    }
}

/// The runs that answer a question, in the order in which they are printed.
pub(super) fn of(question: &Question, place: Option<Place>) -> Vec<Chosen> {
    match question {
        Question::Documented => documented(place),
        Question::Variant(Variant::Upstream(_)) => upstream(question, place),
        Question::Variant(variant) => {
            let runs = scopes_of(place).into_iter().map(Run::verified);
            runs.map(|run| Run { variant: variant.clone(), ..run }.into()).collect()
        }
        Question::Without(guards) => without(guards, place),
        Question::Mutants => mutants(place),
    }
}

/// The scopes meant by a place; those of the ci tier if none is given.
fn scopes_of(place: Option<Place>) -> Vec<Scope> {
    let place = place.unwrap_or(Place::Tier(Tier::Ci));
    scopes::all().into_iter().filter(|scope| place.holds(scope)).collect()
}

/// Everything documented, or what of it is in the place.
fn documented(place: Option<Place>) -> Vec<Chosen> {
    let verified = scopes_of(place).into_iter().map(|scope| Run::verified(scope).into());
    let upstream = verdicts::upstream().into_iter().map(Chosen::from);
    let rest = upstream.chain(mutants(None)).filter(|chosen| is_in(place, chosen));
    verified.chain(rest).collect()
}

fn mutants(place: Option<Place>) -> Vec<Chosen> {
    let all = verdicts::mutants().into_iter().map(Chosen::from);
    all.filter(|chosen| is_in(place, chosen)).collect()
}

fn is_in(place: Option<Place>, chosen: &Chosen) -> bool {
    place.is_none_or(|place| place.holds(&chosen.run.scope))
}

/// A release's documented runs; where there is none, whether samples are lost is an open question.
fn upstream(question: &Question, place: Option<Place>) -> Vec<Chosen> {
    let Question::Variant(variant) = question else {
        return Vec::new();
    };
    let all = verdicts::upstream().into_iter().map(Chosen::from);
    let documented = all.filter(|chosen| chosen.run.variant == *variant && is_in(place, chosen));
    let documented: Vec<_> = documented.collect();
    if !documented.is_empty() {
        return documented;
    }
    let asked =
        |scope| Run::asked(variant.clone(), scope, Property::NoSampleLost, Expected::Open).into();
    scopes_of(place).into_iter().map(asked).collect()
}

/// The runs of the mutants that lack the same guards. In a scope that none of them is about, what is asked
/// is what they break; of guards that no mutant lacks, everything is asked.
fn without(guards: &[Guard], place: Option<Place>) -> Vec<Chosen> {
    let lacks = |mutant: &Mutant| sorted(mutant.guards) == sorted(guards);
    let known: Vec<_> = verdicts::mutants().into_iter().filter(lacks).collect();
    let here = known.iter().cloned().map(Chosen::from).filter(|chosen| is_in(place, chosen));
    let here: Vec<_> = here.collect();
    if !here.is_empty() {
        return here;
    }
    let broken: Vec<_> = known.iter().flat_map(|mutant| mutant.run.judged.clone()).collect();
    let asked = |scope: Scope| {
        let all = scope.properties();
        let some: Vec<_> = all.iter().copied().filter(|p| broken.contains(p)).collect();
        let judged = if some.is_empty() { all } else { some };
        let variant = Variant::Without(sorted(guards));
        Run { variant, scope, judged, expected: Expected::Open }.into()
    };
    scopes_of(place).into_iter().map(asked).collect()
}

fn sorted(guards: &[Guard]) -> Vec<Guard> {
    let mut guards = guards.to_vec();
    guards.sort_unstable();
    guards.dedup();
    guards
}

#[cfg(test)]
mod tests {
    use surehold::compaction::upstream::Release;

    use super::*;

    #[test]
    fn a_plain_check_runs_everything_that_is_documented() {
        let chosen = of(&Question::Documented, None);
        let (verified, upstream) = (verdicts::verified(Tier::Ci), verdicts::upstream());
        let mutants = verdicts::mutants();
        assert_eq!(chosen.len(), verified.len() + upstream.len() + mutants.len());
        assert!(chosen.iter().all(|chosen| chosen.run.expected != Expected::Open));
    }

    #[test]
    fn a_scope_is_run_once_for_each_of_its_documented_runs() {
        for run in verdicts::upstream() {
            let chosen = of(&Question::Documented, Some(Place::Scope(run.scope.name)));
            assert!(chosen.iter().all(|chosen| chosen.run.scope.name == run.scope.name));
            assert!(chosen.iter().any(|chosen| chosen.run.variant == run.variant));
            assert!(chosen.iter().any(|chosen| chosen.run.variant == Variant::Verified));
        }
    }

    #[test]
    fn an_undocumented_scope_of_a_release_is_an_open_question() {
        for release in Release::ALL {
            let variant = Variant::Upstream(release);
            let question = Question::Variant(variant.clone());
            let is_documented = |name| {
                let runs = verdicts::upstream();
                runs.iter().any(|run| run.variant == variant && run.scope.name == name)
            };
            for scope in scopes::all() {
                let chosen = of(&question, Some(Place::Scope(scope.name)));
                assert!(!chosen.is_empty());
                if !is_documented(scope.name) {
                    assert_eq!(chosen[0].run.expected, Expected::Open);
                    assert_eq!(chosen[0].run.judged, [Property::NoSampleLost]);
                }
            }
        }
    }

    #[test]
    fn guards_are_looked_up_in_any_order() {
        for mutant in verdicts::mutants() {
            let mut guards = mutant.guards.to_vec();
            guards.reverse();
            let chosen = of(&Question::Without(guards), None);
            let expected: Vec<_> = chosen.iter().map(|chosen| chosen.run.expected).collect();
            assert!(expected.contains(&mutant.run.expected));
        }
    }

    #[test]
    fn guards_that_no_mutant_lacks_are_asked_everything() {
        let chosen = of(&Question::Without(Guard::ALL.to_vec()), None);
        assert_eq!(chosen.len(), verdicts::verified(Tier::Ci).len());
        for Chosen { run, .. } in chosen {
            assert_eq!(run.judged, run.scope.properties());
            assert_eq!(run.expected, Expected::Open);
        }
    }
}
