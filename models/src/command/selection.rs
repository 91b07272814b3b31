//! Which runs a check is about.

use super::names::Place;
use crate::everything::{AnyProtocol, protocols};
use crate::runs::{Card, SharedRun};
use crate::tier::Tier;

/// What is asked of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether everything comes out as documented.
    Documented,
    /// What becomes of the verified protocol or an upstream variant.
    Variant(&'static str),
    /// What becomes of the verified protocol without these guards.
    Without(Vec<&'static str>),
    /// Whether each guard is needed.
    Mutants,
}

/// The name of the verified protocol.
pub(super) const VERIFIED: &str = "verified";

/// A run, and the holes that it shows if it is a mutant's.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// The run.
    pub(super) run: SharedRun,
    /// The holes, else nothing.
    pub(super) holes: &'static [&'static str],
}

impl From<SharedRun> for Chosen {
    fn from(run: SharedRun) -> Self {
        Self { run, holes: &[] }
    }
}

/// The protocols of these names; all if none is named.
pub(super) fn protocols_of(names: &[String]) -> Vec<&'static dyn AnyProtocol> {
    let is_meant = |protocol: &&'static dyn AnyProtocol| {
        names.is_empty() || names.iter().any(|name| name == protocol.name())
    };
    protocols().into_iter().filter(is_meant).collect()
}

/// The runs that answer a question, in the order in which they are printed.
pub(super) fn of(
    question: &Question,
    protocols: &[&'static dyn AnyProtocol],
    place: Option<Place>,
) -> Vec<Chosen> {
    let each = |protocol: &&'static dyn AnyProtocol| of_one(question, *protocol, place);
    protocols.iter().flat_map(each).collect()
}

fn of_one(question: &Question, protocol: &dyn AnyProtocol, place: Option<Place>) -> Vec<Chosen> {
    let or_ci = place.unwrap_or(Place::Tier(Tier::Ci));
    let is_meant = |card: &Card| or_ci.holds(card);
    let plain = |runs: Vec<SharedRun>| runs.into_iter().map(Chosen::from).collect::<Vec<_>>();
    match question {
        Question::Documented => documented(protocol, place),
        Question::Variant(name) if *name == VERIFIED => plain(protocol.verified(&is_meant)),
        Question::Variant(name) => {
            let mut known = plain(protocol.upstream());
            known.retain(|chosen| chosen.run.variant() == *name && is_in(place, chosen));
            if known.is_empty() { plain(protocol.undocumented(name, &is_meant)) } else { known }
        }
        Question::Without(guards) => {
            let mut known = mutants(protocol, place);
            known.retain(|chosen| sorted(&chosen.run.removed()) == sorted(guards));
            if known.is_empty() { plain(protocol.without(guards, &is_meant)) } else { known }
        }
        Question::Mutants => mutants(protocol, place),
    }
}

/// Everything documented, or what of it is in the place.
fn documented(protocol: &dyn AnyProtocol, place: Option<Place>) -> Vec<Chosen> {
    let or_ci = place.unwrap_or(Place::Tier(Tier::Ci));
    let verified = protocol.verified(&|card| or_ci.holds(card)).into_iter().map(Chosen::from);
    let upstream = protocol.upstream().into_iter().map(Chosen::from);
    let rest = upstream.chain(mutants(protocol, None)).filter(|chosen| is_in(place, chosen));
    verified.chain(rest).collect()
}

fn mutants(protocol: &dyn AnyProtocol, place: Option<Place>) -> Vec<Chosen> {
    let all = protocol.mutants().into_iter().map(|(holes, run)| Chosen { run, holes });
    all.filter(|chosen| is_in(place, chosen)).collect()
}

fn is_in(place: Option<Place>, chosen: &Chosen) -> bool {
    place.is_none_or(|place| place.holds(&chosen.run.scope()))
}

fn sorted(guards: &[&'static str]) -> Vec<&'static str> {
    let mut guards = guards.to_vec();
    guards.sort_unstable();
    guards.dedup();
    guards
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::everything;
    use crate::runs::OPEN;

    fn all(question: &Question, place: Option<Place>) -> Vec<Chosen> {
        of(question, &protocols(), place)
    }

    #[test]
    fn a_plain_check_runs_everything_that_is_documented() {
        let chosen = all(&Question::Documented, None);
        assert_eq!(chosen.len(), everything::documented().len());
        assert!(chosen.iter().all(|chosen| chosen.run.expected() != OPEN));
    }

    #[test]
    fn a_scope_is_run_once_for_each_of_its_documented_runs() {
        for run in protocols().iter().flat_map(|protocol| protocol.upstream()) {
            let place = Place::Scope(run.scope().name);
            let here = all(&Question::Documented, Some(place));
            let same = |chosen: &&Chosen| {
                chosen.run.variant() == run.variant() && chosen.run.judged() == run.judged()
            };
            assert_eq!(here.iter().filter(same).count(), 1, "{run:?}");
        }
    }

    #[test]
    fn a_variant_belongs_to_one_protocol() {
        for protocol in protocols() {
            for (name, _) in protocol.releases() {
                let chosen = all(&Question::Variant(name), None);
                assert!(!chosen.is_empty(), "{name}");
                assert!(chosen.iter().all(|chosen| chosen.run.protocol() == protocol.name()));
            }
        }
    }

    #[test]
    fn a_removal_that_no_row_knows_asks_everything_in_every_scope() {
        for protocol in protocols() {
            let names: Vec<_> = protocol.guards().iter().map(|guard| guard.name).collect();
            let chosen = all(&Question::Without(names), None);
            let ci = protocol.scopes().iter().filter(|card| card.tier == Tier::Ci).count();
            assert_eq!(chosen.len(), ci);
            assert!(chosen.iter().all(|chosen| chosen.run.expected() == OPEN));
        }
    }

    #[test]
    fn the_order_of_guards_does_not_matter() {
        let one = all(&Question::Without(vec!["term-fence", "drop-ends-load"]), None);
        let other = all(&Question::Without(vec!["drop-ends-load", "term-fence"]), None);
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].run.scope(), other[0].run.scope());
    }
}
