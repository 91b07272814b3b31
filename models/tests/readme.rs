//! The tables of the README and of `docs/` are those of the committed verdicts and of the code.
#![cfg(feature = "checker")]

use surehold::commit::Guard;
use surehold_models::commit::keys;
use surehold_models::everything::documented;
use surehold_models::report::{PAGES, Row, renew};
use surehold_models::runs::AnyRun as _;

fn committed() -> Vec<Row> {
    serde_json::from_str(include_str!("../goldens/verdicts.json")).expect("goldens are JSON")
}

fn outcome(row: &Row) -> String {
    match &row.property {
        Some(property) => format!("{}: {property}", row.verdict),
        None => row.verdict.clone(),
    }
}

fn beyond() -> Vec<Row> {
    serde_json::from_str(include_str!("../goldens/beyond.json")).expect("goldens are JSON")
}

#[test]
fn what_is_beyond_every_check_has_a_committed_verdict_and_none_is_unexpected() {
    let (rows, runs) = (beyond(), surehold_models::rebalance::verdicts::beyond());
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        assert_eq!(
            (row.scope.as_str(), row.variant.as_str()),
            (run.scope.name, run.variant.name())
        );
        assert_eq!(outcome(row), run.expected.text(), "{row:?}");
        assert_eq!(row.asked, run.judged(), "{row:?}");
        assert_eq!(row.bounds, run.scope.bounds());
    }
}

#[test]
fn tables_are_current() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pages = PAGES.map(|page| std::fs::read_to_string(root.join(page)).expect(page));
    let renewed = renew(&pages, &committed(), &beyond()).expect("each table has its place");
    for (page, (old, new)) in PAGES.iter().zip(pages.iter().zip(&renewed)) {
        assert!(
            old == new,
            "{page}: run `cargo run --release -p surehold-models --example verdicts -- renew`"
        );
    }
}

#[test]
fn a_table_without_a_place_or_with_two_is_refused() {
    let parts = |pages: &[&str]| {
        let pages: Vec<String> = pages.iter().map(ToString::to_string).collect();
        renew(&pages, &[], &[])
    };
    assert_eq!(parts(&["", ""]), Err("timelines"));
    let place = "<!-- timelines -->\n<!-- end timelines -->\n";
    assert_eq!(parts(&[place, place]), Err("timelines"));
    assert_eq!(parts(&[place, ""]), Err("holes-commit"));
}

/// Each case and hole of commit names the removal that shows it: of a guard that answers it, alone or with others that
/// are not there for nothing, and a committed violation.
#[test]
fn each_case_and_hole_of_commit_is_shown_by_a_committed_violation_without_a_guard_that_answers_it()
{
    let rows = committed();
    for key in &keys::KEYS {
        let mutant =
            keys::shown(key).unwrap_or_else(|| panic!("{} is no row of the table", key.name));
        assert_eq!(mutant.run.expected(), format!("violated: {}", key.breaks.name()), "{key:?}");
        assert!(
            mutant.holes.contains(&key.name),
            "the run of {} is for {:?}",
            key.name,
            mutant.holes
        );
        let answers = |guard: &Guard| guard.answers().contains(&key.name);
        assert!(mutant.guards.iter().any(answers), "{}: {:?}", key.name, mutant.guards);
        let (removed, asked) = (mutant.run.removed(), mutant.run.judged());
        let own = rows.iter().filter(|row| row.protocol == "commit");
        let mut own = own.filter(|row| row.guard_removed == removed && row.asked == asked);
        let row = own.find(|row| row.scope == key.scope);
        let is_broken = |row: &Row| outcome(row) == mutant.run.expected();
        assert!(row.is_some_and(is_broken), "{}: {row:?}", key.name);
        // None of its guards is there for nothing: without it the others are noticed nowhere. `minimal.rs` runs that.
        let fewer = |guards: &[Guard]| {
            guards.len() < mutant.guards.len() && guards.iter().all(|g| mutant.guards.contains(g))
        };
        let all = surehold_models::commit::verdicts::mutants();
        let same = all.iter().filter(|other| other.run.scope.name == key.scope);
        let mut same = same.filter(|other| other.run.judged() == asked && fewer(other.guards));
        assert!(!same.any(|other| other.run.expected() != "verified"), "{} needs fewer", key.name);
    }
    let names = keys::KEYS.map(|key| key.name);
    assert!((1..names.len()).all(|at| !names[at..].contains(&names[at - 1])), "a key stands twice");
    let known = |guard: &Guard| {
        let all = guard.answers().iter();
        all.filter(|key| !key.starts_with('#'))
            .all(|key| names.contains(key) || ["R3", "R14", "N5"].contains(key))
    };
    assert!(Guard::ALL.iter().all(known), "a guard answers what is no key");
}

#[test]
fn each_documented_run_has_a_committed_verdict_as_documented() {
    let rows = committed();
    let runs = documented();
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        assert_eq!((row.scope.as_str(), row.variant.as_str()), (run.scope().name, run.variant()));
        assert_eq!(outcome(row), run.expected(), "{row:?}");
    }
}
