//! Names on the command line, and what they stand for. A name that is not known is refused by clap, which
//! then says which ones are.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::selection::VERIFIED;
use crate::everything::protocols;
use crate::runs::{AnyRun, Card, Engine};
use crate::tier::Tier;

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
    pub(super) fn holds(self, scope: &Card) -> bool {
        match self {
            Self::Tier(tier) => scope.tier == tier,
            Self::Scope(name) => scope.name == name,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        let tier = Tier::NAMED.into_iter().find(|tier| tier.name() == name).map(Self::Tier);
        tier.or_else(|| scopes().into_iter().find(|known| *known == name).map(Self::Scope))
    }
}

/// The names of all scopes.
fn scopes() -> Vec<&'static str> {
    let all = protocols().into_iter().flat_map(super::super::everything::AnyProtocol::scopes);
    all.map(|card| card.name).collect()
}

/// The names of all variants: the verified protocol and upstream's.
pub(super) fn variants() -> Vec<&'static str> {
    let releases =
        protocols().into_iter().flat_map(super::super::everything::AnyProtocol::releases);
    std::iter::once(VERIFIED).chain(releases.map(|(name, _)| name)).collect()
}

/// The names of all guards.
fn guards() -> Vec<&'static str> {
    let all = protocols().into_iter().flat_map(super::super::everything::AnyProtocol::guards);
    all.map(|guard| guard.name).collect()
}

/// How a run's variant is called in text: with a minus before each guard that is removed.
pub(super) fn label(run: &dyn AnyRun) -> String {
    let removed = run.removed().into_iter().map(|guard| format!(" - {guard}"));
    removed.fold(run.variant().to_string(), |label, guard| label + &guard)
}

/// Takes the name of a protocol.
pub(super) fn protocol_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(protocols().map(super::super::everything::AnyProtocol::name))
}

/// Takes the name of a variant.
pub(super) fn variant_parser() -> impl TypedValueParser<Value = &'static str> {
    known_one_of(variants(), |name| variants().into_iter().find(|known| *known == name))
}

/// Takes the name of a guard.
pub(super) fn guard_parser() -> impl TypedValueParser<Value = &'static str> {
    known_one_of(guards(), |name| guards().into_iter().find(|known| *known == name))
}

/// Takes the name of a tier or a scope.
pub(super) fn place_parser() -> impl TypedValueParser<Value = Place> {
    known_one_of(Tier::NAMED.into_iter().map(Tier::name).chain(scopes()), Place::from_name)
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
        for name in scopes() {
            assert_eq!(Place::from_name(name), Some(Place::Scope(name)));
        }
        for tier in Tier::NAMED {
            assert_eq!(Place::from_name(tier.name()), Some(Place::Tier(tier)));
        }
        assert_eq!(Place::from_name("nowhere"), None);
    }

    #[test]
    fn no_guard_is_called_as_another() {
        let mut names = guards();
        let many = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), many);
    }

    #[test]
    fn no_scope_is_called_as_another_or_as_a_tier() {
        let mut names = scopes();
        names.extend(Tier::NAMED.map(Tier::name));
        let many = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), many);
    }
}
