//! The README's tables are those of the committed verdicts and of the code.
#![cfg(feature = "checker")]

use surehold_models::compaction::scope::Tier;
use surehold_models::compaction::verdicts;
use surehold_models::report::{Row, renew};

fn committed() -> Vec<Row> {
    serde_json::from_str(include_str!("../goldens/verdicts.json")).expect("goldens are JSON")
}

#[test]
fn tables_are_current() {
    let readme = include_str!("../../README.md");
    let renewed = renew(readme, &committed()).expect("the README has a place for each table");
    assert!(
        renewed == readme,
        "run `cargo run --release -p surehold-models --example verdicts -- renew`"
    );
}

#[test]
fn each_documented_run_has_a_committed_verdict_as_documented() {
    let rows = committed();
    let mut runs = verdicts::verified(Tier::Ci);
    runs.extend(verdicts::upstream());
    runs.extend(verdicts::mutants().into_iter().map(|mutant| mutant.run));
    assert_eq!(rows.len(), runs.len());
    for (row, run) in rows.iter().zip(&runs) {
        assert_eq!(
            (row.scope.as_str(), row.variant.as_str()),
            (run.scope.name, run.variant.name())
        );
        let outcome = match &row.property {
            Some(property) => format!("{}: {property}", row.verdict),
            None => row.verdict.clone(),
        };
        assert_eq!(outcome, run.expected.text(), "{row:?}");
    }
}
