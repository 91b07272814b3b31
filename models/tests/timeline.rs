//! Cortex #7075 is found in the release it was reported against, and told in the report's order.
#![cfg(feature = "checker")]

use surehold_models::compaction::runs::{Manner, execute};
use surehold_models::compaction::verdicts;

#[test]
fn cortex_7075_is_told_in_the_order_of_the_report() {
    let runs = verdicts::upstream();
    let reported = runs
        .iter()
        .find(|r| r.variant.name() == "cortex-1.19" && r.scope.name == "cortex-superseded");
    let finished = execute(reported.expect("it is documented"), &Manner::default());
    assert_eq!(finished.verdict_text(), "violated: no-sample-lost");

    let steps = finished.counterexample.expect("a violation has a counterexample");
    let told: Vec<_> = steps
        .iter()
        .map(|s| format!("{} {}; {}", s.line.actor, s.line.action, s.line.note))
        .collect();
    let report = [
        // Plan v1 complete.
        "writes marker of the group partition 0: completed",
        "writes marker of the group partition 1: completed",
        // v1 and its markers deleted.
        "cleaner deletes plan of the group",
        "cleaner deletes marker of the group partition",
        // A worker of v1 starts.
        "claimed by compactor B for v1",
        // Plan v2 over v1's results and the late block.
        "makes v2",
        "writes plan v2",
        // That worker's completion counts for v2.
        "completed, v1.1b by compactor B for v1",
        // v2's parents are marked.
        "cleaner writes deletion mark of",
    ];
    let mut from = 0;
    for event in report {
        let at = told[from..].iter().position(|line| line.contains(event));
        from += at.unwrap_or_else(|| panic!("`{event}` is not told after line {from}: {told:#?}"));
    }
    let made = told.iter().find(|line| line.contains("makes v2")).expect("checked above");
    assert!(made.contains("v1.0") && made.contains("v1.1") && made.contains('N'), "{made}");
    assert!(finished.ending.expect("it ends").starts_with("lost: 1/2 of N"));
}
