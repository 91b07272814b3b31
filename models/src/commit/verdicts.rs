//! The documented verdicts: what a plain check runs, and what must come out.

use super::runs::{Commit, Run};
use super::scope::Tier;
use super::scopes;
use crate::runs;

/// A hole, the guards that close it, and the run that shows what happens without them.
pub type Mutant = runs::Mutant<Commit>;

/// The verified protocol in every scope of a tier.
pub fn verified(tier: Tier) -> Vec<Run> {
    let scopes = scopes::all().into_iter().filter(|scope| scope.tier == tier);
    scopes.map(Run::verified).collect()
}

/// Upstream's variants.
pub fn upstream() -> Vec<Run> {
    Vec::new()
}

/// The verified protocol without some guards.
pub fn mutants() -> Vec<Mutant> {
    Vec::new()
}
