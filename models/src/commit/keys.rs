//! The cases and holes that a guard has to answer, each with the removal that shows it.

use surehold::commit::Guard;

use super::runs::Expected;
use super::verdicts;

/// The cases of public reports, the holes that reading found (dossier 13), and those that models found.
pub const KEYS: [&str; 30] = [
    "C1", "C3", "C4", "C5", "C6", "C8", "C9", "C12", "C13", "C15", "C18", "C20", "R1", "R2", "R4",
    "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "N1", "N2", "N3", "N4", "N6", "N7", "N8",
];

/// Those that no removal shows, and why. There is none.
pub const OPEN: [(&str, &str); 0] = [];

/// The removal that shows what a key is for: of as few guards as possible.
#[must_use]
pub fn shown(key: &str) -> Option<verdicts::Mutant> {
    let all = verdicts::mutants().into_iter();
    let own = all.filter(|mutant| mutant.holes.contains(&key));
    let broken = own.filter(|mutant| matches!(mutant.run.expected, Expected::Violated(_)));
    broken.min_by_key(|mutant| mutant.guards.len())
}

/// The guards that say of themselves that they answer it.
pub fn answering(key: &str) -> impl Iterator<Item = Guard> {
    Guard::ALL.into_iter().filter(move |guard| guard.answers().contains(&key))
}
