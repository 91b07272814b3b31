//! The documented verdicts: what a plain check runs, and what must come out.

use surehold::compaction::Guard;
use surehold::compaction::invariant::Property;
use surehold::compaction::upstream::Release;

use super::runs::{Expected, Run, Variant};
use super::scope::{Scope, Tier};
use super::scopes;

/// A hole, the guards that close it, and the run that shows what happens without them.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The holes and upstream issues, as the dossier and the cases name them.
    pub holes: &'static [&'static str],
    /// The guards removed together: more than one where they cover each other.
    pub guards: &'static [Guard],
    /// The run.
    pub run: Run,
}

/// The scope of this name.
pub fn scope(name: &str) -> Option<Scope> {
    scopes::all().into_iter().find(|scope| scope.name == name)
}

/// The verified protocol in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == tier);
    scopes.map(Run::verified).collect()
}

/// Upstream's releases, each asked for what its users reported and for what was found besides.
pub fn upstream() -> Vec<Run> {
    let table: [(Release, &str, Property, Expected); 1] = [(
        Release::V1_19,
        "superseded",
        Property::NoSampleLost,
        Expected::Violated(Property::NoSampleLost),
    )];
    let known = table.into_iter().filter_map(|(release, name, property, expected)| {
        Some(Run::asked(Variant::Upstream(release), scope(name)?, property, expected))
    });
    known.collect()
}

/// The verified protocol without some guards: each removal must be noticed.
pub fn mutants() -> Vec<Mutant> {
    let table: [(&[&str], &[Guard], &str, Property); 1] =
        [(&["M5"], &[Guard::AllPartitions], "early", Property::NoSampleLost)];
    let known = table.into_iter().filter_map(|(holes, guards, name, property)| {
        let variant = Variant::Without(guards.to_vec());
        let run = Run::asked(variant, scope(name)?, property, Expected::Violated(property));
        Some(Mutant { holes, guards, run })
    });
    known.collect()
}
