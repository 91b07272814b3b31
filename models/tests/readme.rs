//! The README's tables are those of the committed verdicts and of the code.
#![cfg(feature = "checker")]

use surehold_models::everything::documented;
use surehold_models::report::{Row, renew};
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
    let readme = include_str!("../../README.md");
    let renewed =
        renew(readme, &committed(), &beyond()).expect("the README has a place for each table");
    assert!(
        renewed == readme,
        "run `cargo run --release -p surehold-models --example verdicts -- renew`"
    );
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
