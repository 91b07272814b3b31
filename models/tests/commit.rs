//! Commit: what the pull requests claim, and the shortest ways to the holes that were found by reading.
#![cfg(feature = "checker")]

use surehold::commit::Guard;
use surehold::commit::invariant::Property;
use surehold::commit::upstream::Release;
use surehold_models::commit::runs::{Expected, Run, Variant};
use surehold_models::commit::{scopes, verdicts};
use surehold_models::runs::{AnyRun as _, Finished, Manner};

fn run(variant: Variant, scope: &str, property: Property) -> Finished {
    let scope = verdicts::scope(scope).expect("there is such a scope");
    Run::asked(variant, scope, property, Expected::Open).execute(&Manner::default())
}

fn steps(finished: &Finished) -> Option<usize> {
    finished.counterexample.as_ref().and_then(|steps| steps.last()).map(|step| step.step)
}

/// A server crashes, or a build fails: before #14920 committed rows are gone for ever, with it they come back.
#[test]
fn reingestion_brings_back_what_pauseless_alone_loses() {
    for scope in ["sane-server-crash", "sane-failed-upload"] {
        let before = run(Variant::Upstream(Release::Pr14741), scope, Property::Served);
        assert_eq!(before.property.as_deref(), Some("served"), "{scope}");
        let ending = before.ending.expect("a violation ends somewhere");
        assert!(ending.contains("seq 0 is COMMITTING"), "{ending}");
        let after = run(Variant::Upstream(Release::Pr14920), scope, Property::Served);
        assert_eq!((after.verdict, after.property), ("verified", None), "{scope}");
    }
}

/// Where pauseless commits alone lose rows, blocking ones do not: nothing is committed before it is built. Whatever the
/// table is set to, as before #14741 there is no other mode.
#[test]
fn blocking_commits_lose_nothing_there() {
    for scope in
        ["sane-server-crash", "sane-failed-upload", "sane-blocking-crash", "sane-blocking-upload"]
    {
        for property in [Property::Served, Property::Recoverable] {
            let found = run(Variant::Upstream(Release::Blocking), scope, property);
            assert_eq!((found.verdict, found.property), ("verified", None), "{scope}");
        }
    }
}

/// R1 and R2: the clean-up after a failed commit deletes the record of a segment that is listed by now.
#[test]
fn the_clean_up_of_2026_deletes_a_live_record() {
    for (scope, shortest) in [("sane-slow", 11), ("sane-reply-lost", 8)] {
        let variant = Variant::Upstream(Release::Aug2026);
        let found = run(variant, scope, Property::ListedHasRecord);
        assert_eq!(found.property.as_deref(), Some("listed-has-record"), "{scope}");
        assert_eq!(steps(&found), Some(shortest), "{scope}");
        let ending = found.ending.expect("a violation ends somewhere");
        assert!(ending.starts_with("seq 1 is listed and has no record"), "{ending}");
    }
}

/// The two are told step by step, in the protocol's own words.
#[test]
fn the_lost_reply_is_told_in_the_protocols_words() {
    let variant = Variant::Upstream(Release::Aug2026);
    let found = run(variant, "sane-reply-lost", Property::ListedHasRecord);
    let told: Vec<_> = found.counterexample.into_iter().flatten().collect();
    let told: Vec<_> =
        told.iter().map(|step| format!("{} {}", step.line.actor, step.line.action)).collect();
    assert_eq!(
        told[3..],
        [
            "S0 begins to commit seq 0 at 2",
            "C0 compares and writes the record of seq 0: COMMITTING [0, 2)",
            "C0 writes the record of seq 1: IN_PROGRESS [2, ..)",
            "C0 writes the ideal state: seq 0 ONLINE, seq 1 CONSUMING (the reply is lost)",
            "C0 deletes the record of seq 1",
        ]
    );
}

#[test]
fn each_guard_is_removed_somewhere() {
    let mutants = verdicts::mutants();
    for guard in Guard::ALL {
        assert!(mutants.iter().any(|mutant| mutant.guards.contains(&guard)), "{}", guard.name());
    }
}

#[test]
fn names_of_scopes_are_their_own() {
    let mut names: Vec<_> = scopes::all().iter().map(|scope| scope.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Reads that are taken at once, and with the write that their answer leads to: without that, the same comes out.
/// With `SUREHOLD_ALL=1` also where that takes millions of states.
#[test]
fn verified_scopes_stay_verified_without_the_reduction() {
    let mut names = vec!["blocking-rewrite"];
    if std::env::var_os("SUREHOLD_ALL").is_some() {
        names.extend(["calm", "slow", "controller-crash", "toggle"]);
    }
    for name in names {
        let run = Run::verified(verdicts::scope(name).expect("there is such a scope"));
        let [reduced, whole] =
            [true, false].map(|reduce| run.execute(&Manner { reduce, ..Manner::default() }));
        assert_eq!((reduced.verdict, whole.verdict), ("verified", "verified"), "{name}");
        assert!(reduced.unique_states < whole.unique_states, "{name}");
        println!("{name}: {} states, {} without", reduced.unique_states, whole.unique_states);
    }
}

/// So do violations.
#[test]
fn violations_stay_violations_without_the_reduction() {
    let scopes = ["blocking-rewrite", "toggle", "reply-lost"];
    let mutants = verdicts::mutants();
    let broken = mutants.iter().filter(|mutant| mutant.run.expected != Expected::Verified);
    let small: Vec<_> = broken.filter(|m| scopes.contains(&m.run.scope.name)).collect();
    assert!(small.len() >= 3, "some mutants live in these scopes");
    for mutant in small {
        let whole = mutant.run.execute(&Manner { reduce: false, ..Manner::default() });
        assert_eq!(whole.verdict_text(), mutant.run.expected.text(), "{:?}", mutant.guards);
    }
}
