//! Names on the command line, and what they stand for. A name that is not known is refused by clap, which
//! then says which ones are.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use surehold::compaction::Guard;
use surehold::compaction::upstream::Release;

use crate::compaction::runs::{Engine, Run, Variant};
use crate::compaction::scope::{Scope, Tier};
use crate::compaction::{scopes, verdicts};

/// The protocols that can be checked.
pub(super) const PROTOCOLS: [&str; 1] = ["compaction"];

/// The tiers, the quickest first.
pub(super) const TIERS: [Tier; 3] = [Tier::Ci, Tier::Nightly, Tier::Deep];

/// Where to run: what `--scope` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In every scope of a tier.
    Tier(Tier),
    /// In the scope of this name, whatever its tier.
    Scope(&'static str),
}

impl Place {
    /// Whether this scope is meant.
    pub(super) fn holds(self, scope: &Scope) -> bool {
        match self {
            Self::Tier(tier) => scope.tier == tier,
            Self::Scope(name) => scope.name == name,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let tier = TIERS.into_iter().find(|tier| tier_name(*tier) == name).map(Self::Tier);
        tier.or_else(|| verdicts::scope(name).map(|scope| Self::Scope(scope.name)))
    }
}

/// The name of a tier on the command line.
pub(super) fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Ci => "ci",
        Tier::Nightly => "nightly",
        Tier::Deep => "deep",
        Tier::Upstream => "upstream",
    }
}

/// The variants that have a name: the verified protocol and upstream's releases.
pub(super) fn variants() -> Vec<Variant> {
    let releases = Release::ALL.into_iter().map(Variant::Upstream);
    std::iter::once(Variant::Verified).chain(releases).collect()
}

/// How a run's variant is called in text: with a minus before each guard that is removed.
pub(super) fn label(run: &Run) -> String {
    let removed = run.variant.removed().into_iter().map(|guard| format!(" - {guard}"));
    removed.fold(run.variant.name().to_string(), |label, guard| label + &guard)
}

/// Takes the name of a protocol.
pub(super) fn protocol_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(PROTOCOLS)
}

/// Takes the name of a variant.
pub(super) fn variant_parser() -> impl TypedValueParser<Value = Variant> {
    let known = variants().into_iter().map(|variant| variant.name());
    known_one_of(known, |name| variants().into_iter().find(|variant| variant.name() == name))
}

/// Takes the name of a guard.
pub(super) fn guard_parser() -> impl TypedValueParser<Value = Guard> {
    known_one_of(Guard::ALL.into_iter().map(Guard::name), Guard::from_name)
}

/// Takes the name of a tier or a scope.
pub(super) fn place_parser() -> impl TypedValueParser<Value = Place> {
    let named = scopes::all().into_iter().map(|scope| scope.name);
    known_one_of(TIERS.into_iter().map(tier_name).chain(named), Place::from_name)
}

/// Takes the name of an engine.
pub(super) fn engine_parser() -> impl TypedValueParser<Value = Engine> {
    let engines = [Engine::Own, Engine::Stateright];
    let find = move |name: &str| engines.into_iter().find(|engine| engine.name() == name);
    known_one_of(engines.into_iter().map(Engine::name), find)
}

fn known_one_of<T: Clone + Send + Sync + 'static>(
    known: impl IntoIterator<Item = &'static str>,
    find: impl Fn(&str) -> Option<T> + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(known).try_map(move |name| find(&name).ok_or("unknown name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_name_stands_for_something() {
        for name in scopes::all().iter().map(|scope| scope.name) {
            assert_eq!(Place::from_name(name), Some(Place::Scope(name)));
        }
        for tier in TIERS {
            assert_eq!(Place::from_name(tier_name(tier)), Some(Place::Tier(tier)));
        }
        assert_eq!(Place::from_name("nowhere"), None);
    }

    #[test]
    fn no_scope_is_called_as_another_or_as_a_tier() {
        let mut names: Vec<_> = scopes::all().iter().map(|scope| scope.name).collect();
        names.extend(TIERS.map(tier_name));
        let many = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), many);
    }
}
