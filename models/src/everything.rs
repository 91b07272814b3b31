//! Every protocol that can be checked, and what is known of them by name.

use std::sync::Arc;

use crate::commit::runs::Commit;
use crate::compaction::runs::Compaction;
use crate::rebalance::runs::Rebalance;
use crate::runs::{AnyRun, Card, Expected, Mutant, Protocol, Run, SharedRun, Variant, covered_by};
use crate::tier::Tier;

/// A protocol, as the command sees it.
pub trait AnyProtocol: Sync {
    /// Kebab-case name.
    fn name(&self) -> &'static str;
    /// What it is about.
    fn says(&self) -> &'static str;
    /// Names of upstream's variants, and what they are.
    fn releases(&self) -> Vec<(&'static str, &'static str)>;
    /// Guards: names, what they say, what they answer, whether they are a second line of defence.
    fn guards(&self) -> Vec<GuardCard>;
    /// Names of properties, and what they say.
    fn properties(&self) -> Vec<(&'static str, &'static str)>;
    /// All scopes.
    fn scopes(&self) -> Vec<Card>;
    /// The verified protocol in these scopes.
    fn verified(&self, is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun>;
    /// All documented runs of upstream's variants.
    fn upstream(&self) -> Vec<SharedRun>;
    /// All documented removals, with their holes.
    fn mutants(&self) -> Vec<(&'static [&'static str], SharedRun)>;
    /// An upstream variant in these scopes, where no verdict is documented.
    fn undocumented(&self, release: &str, is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun>;
    /// Each guard of which the tables say that its removal alone is unnoticed, without it, in every ci scope: everything
    /// is asked.
    fn alone(&self) -> Vec<SharedRun>;
    /// The verified protocol without guards, in these scopes: what is asked is what their removal is known to
    /// break, or else everything.
    fn without(&self, guards: &[&str], is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun>;
}

/// What there is to say of a guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardCard {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it says.
    pub why: &'static str,
    /// What it answers.
    pub answers: &'static [&'static str],
    /// Whether nothing here can show that it is needed.
    pub is_second_line: bool,
}

/// All of them, in the order in which they are checked.
pub fn protocols() -> [&'static dyn AnyProtocol; 3] {
    [&Compaction, &Rebalance, &Commit]
}

fn shared<P: Protocol>(run: Run<P>) -> SharedRun {
    Arc::new(run)
}

impl<P: Protocol> AnyProtocol for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn says(&self) -> &'static str {
        P::SAYS
    }

    fn releases(&self) -> Vec<(&'static str, &'static str)> {
        P::releases().into_iter().map(|r| (P::release_name(r), P::release_says(r))).collect()
    }

    fn guards(&self) -> Vec<GuardCard> {
        let card = |guard| GuardCard {
            name: P::guard_name(guard),
            why: P::guard_why(guard),
            answers: P::guard_answers(guard),
            is_second_line: P::is_second_line(guard),
        };
        P::guards().into_iter().map(card).collect()
    }

    fn properties(&self) -> Vec<(&'static str, &'static str)> {
        P::properties().into_iter().map(|p| (P::property_name(p), P::property_says(p))).collect()
    }

    fn scopes(&self) -> Vec<Card> {
        P::scopes().iter().map(P::card).collect()
    }

    fn verified(&self, is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun> {
        scopes_of::<P>(is_meant).map(|scope| shared(Run::<P>::verified(scope))).collect()
    }

    fn upstream(&self) -> Vec<SharedRun> {
        P::upstream().into_iter().map(shared).collect()
    }

    fn mutants(&self) -> Vec<(&'static [&'static str], SharedRun)> {
        let mutants = P::mutants().into_iter();
        mutants.map(|mutant: Mutant<P>| (mutant.holes, shared(mutant.run))).collect()
    }

    fn undocumented(&self, release: &str, is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun> {
        let known = P::releases().into_iter().find(|known| P::release_name(*known) == release);
        let Some(release) = known else { return Vec::new() };
        let asked = |scope| {
            let variant = Variant::Upstream(release);
            shared(Run::<P>::asked(variant, scope, P::loss(), Expected::Open))
        };
        scopes_of::<P>(is_meant).map(asked).collect()
    }

    fn alone(&self) -> Vec<SharedRun> {
        let is_covered = |guard: &P::Guard| !covered_by::<P>(*guard).is_empty();
        let covered = P::guards().into_iter().filter(is_covered);
        let all = covered.flat_map(|guard| {
            let scopes = scopes_of::<P>(&|card| card.tier == Tier::Ci);
            scopes.map(move |scope| {
                let variant = Variant::Without(vec![guard]);
                let expected = Expected::Verified;
                shared(Run::<P> { variant, expected, alike: false, ..Run::verified(scope) })
            })
        });
        all.collect()
    }

    fn without(&self, guards: &[&str], is_meant: &dyn Fn(&Card) -> bool) -> Vec<SharedRun> {
        let known = P::guards().into_iter().filter(|guard| guards.contains(&P::guard_name(*guard)));
        let mut removed: Vec<_> = known.collect();
        removed.sort_unstable();
        if removed.is_empty() {
            return Vec::new();
        }
        let lacks = |mutant: &Mutant<P>| {
            let mut lacking = mutant.guards.to_vec();
            lacking.sort_unstable();
            lacking == removed
        };
        let mutants = P::mutants().into_iter().filter(lacks);
        let broken: Vec<_> = mutants.flat_map(|mutant| mutant.run.judged).collect();
        let asked = |scope: P::Scope| {
            let all = P::judged(&scope);
            let some: Vec<_> = all.iter().copied().filter(|p| broken.contains(p)).collect();
            let judged = if some.is_empty() { all } else { some };
            let variant = Variant::Without(removed.clone());
            let expected = Expected::Open;
            shared(Run::<P> { variant, scope, judged, expected, alike: false })
        };
        scopes_of::<P>(is_meant).map(asked).collect()
    }
}

fn scopes_of<P: Protocol>(is_meant: &dyn Fn(&Card) -> bool) -> impl Iterator<Item = P::Scope> {
    let all = P::scopes().into_iter();
    all.filter(|scope| is_meant(&P::card(scope))).collect::<Vec<_>>().into_iter()
}

/// The verified protocols in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<SharedRun> {
    protocols().iter().flat_map(|p| p.verified(&|card| card.tier == tier)).collect()
}

/// Everything that is documented: what a plain check runs.
pub fn documented() -> Vec<SharedRun> {
    let of = |protocol: &&dyn AnyProtocol| {
        let mut all = protocol.verified(&|card| card.tier == Tier::Ci);
        all.extend(protocol.upstream());
        all.extend(protocol.mutants().into_iter().map(|(_, run)| run));
        all
    };
    protocols().iter().flat_map(of).collect()
}

/// Whether a run asks of nothing but recoverability, or endless rounds, of which stateright knows nothing.
pub fn asks_only_recovery(run: &dyn AnyRun) -> bool {
    matches!(run.judged()[..], ["recoverable" | "no-endless-round"])
}
