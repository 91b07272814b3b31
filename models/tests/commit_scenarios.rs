//! Each scenario of commit ends for each variant as its file says; and each public case has a file, or a reason why
//! it has none yet.

use std::path::{Path, PathBuf};

use surehold::commit::Guard;
use surehold_models::commit::ending;
use surehold_models::commit::replay::{Replayed, replay, replay_without, variants};
use surehold_models::commit::scenario::Scenario;

/// Cases, and the files that tell them.
const TOLD: [(&str, &[&str]); 24] = [
    ("apache/pinot#14920, failure 1", &["14920-new-metadata.json"]),
    ("apache/pinot#14920, failure 2", &["14920-ideal-state.json"]),
    ("apache/pinot#14920, failure 3", &["14920-commit-end.json"]),
    ("apache/pinot#14920, the flow", &["14920-reingestion.json"]),
    ("R2", &["r2-lost-reply.json"]),
    ("R3", &["r3-batch.json"]),
    ("R4, N2", &["r4-late-start.json"]),
    ("R6", &["14920-two-jobs.json", "6483.json"]),
    ("R9", &["r9-expired.json", "20168.json"]),
    ("R14, N1", &["r14-dead-server.json"]),
    ("N9", &["n9-repairs-in-turn.json"]),
    ("C1, apache/pinot#14786", &["14786.json"]),
    ("C3, apache/pinot#17885", &["17885.json"]),
    ("C4, apache/pinot#17936", &["17936.json"]),
    ("C5, apache/pinot#13149, N1", &["13149.json"]),
    ("C6, apache/pinot#15097", &["15097.json"]),
    ("C8, apache/pinot#6483, N5", &["6483.json", "6483-two-names.json"]),
    ("C9, apache/pinot#2891, R1", &["2891.json"]),
    ("C11, apache/pinot#10460", &["10460.json"]),
    ("C12, apache/pinot#15173, R8", &["15173.json", "15173-mode.json"]),
    ("C13, apache/pinot#16904", &["16904.json"]),
    ("C15, apache/pinot#15383", &["15383.json"]),
    ("C18, apache/pinot#14506, R7", &["14506.json"]),
    ("C20, apache/pinot#20168, R11", &["20168.json"]),
];

/// Halves of cases that these roles and this world cannot tell yet, and why.
const NOT_YET: [(&str, &str); 6] = [
    (
        "C5, the first lines of its thread",
        "a view that lags behind what a server shows is not in this world: S1 looks for a peer before S0 is ONLINE",
    ),
    (
        "C8, two commits that create in two minutes",
        "no move says that C0 pauses between its read and its write of the ideal state; told with the validator's second minute, and explored in `two-names-leader`",
    ),
    (
        "C9, the failure itself",
        "retention takes completed segments only, here and upstream by now; told with the clean-up, which has the same window",
    ),
    (
        "C11, the failure itself",
        "no variant is of before #10479; a stop has no reason but the clock here, which counts the same since then",
    ),
    ("C15, keys that count twice", "rows have no keys here: what is judged is the order"),
    (
        "C18, the failure itself",
        "the retry of every variant sets URL and checksum together, as since #14506; told is what remains",
    ),
];

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios/commit")
}

fn paths() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory()).expect("there are scenarios");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn scenario(path: &Path) -> Scenario {
    Scenario::load(path).unwrap_or_else(|error| panic!("{error}"))
}

fn named(name: &str) -> Scenario {
    scenario(&directory().join(name))
}

fn played(scenario: &Scenario, variant: &str) -> Replayed {
    replay(scenario, variant).expect("there is such a variant")
}

/// What a scenario expects and does not get.
fn wrong(scenario: &Scenario) -> Vec<String> {
    let mut wrong = Vec::new();
    for variant in scenario.variants() {
        let of = format!("{}, {variant}", scenario.name);
        match played(scenario, variant).differences {
            None => wrong.push(format!("{of}: nothing is expected")),
            Some(differences) => {
                wrong.extend(differences.into_iter().map(|d| format!("{of}: {d}")));
            }
        }
    }
    let known = scenario.variants();
    let unknown = scenario.expect.keys().filter(|name| !known.contains(&name.as_str()));
    wrong.extend(unknown.map(|name| format!("{}: there is no variant {name}", scenario.name)));
    wrong
}

#[test]
fn every_scenario_ends_as_expected_for_every_variant() {
    let all = paths();
    let wrong: Vec<_> = all.iter().flat_map(|path| wrong(&scenario(path))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_says_how_all_ends() {
    for path in paths() {
        for (variant, expected) in scenario(&path).expect {
            assert!(expected.is_whole(), "{}, {variant}", path.display());
        }
    }
}

/// What no operator has decided stays undecided: rows of an ordered table that could only be read again out of order.
const LEFT_TO_THE_OPERATOR: &str = "15383.json";

#[test]
fn the_verified_protocol_breaks_nothing_and_loses_nothing_in_any_of_them() {
    for path in paths() {
        let outcome = played(&scenario(&path), "verified").outcome;
        assert_eq!(outcome.broken.expect("it is always said"), [""; 0], "{}", path.display());
        assert_eq!(outcome.twice.expect("it is always said"), [""; 0], "{}", path.display());
        let left = path.ends_with(LEFT_TO_THE_OPERATOR);
        let unserved = outcome.unserved.expect("it was found out");
        assert_eq!(unserved.is_empty(), !left, "{}", path.display());
        assert_eq!(outcome.settles, Some(!left), "{}", path.display());
        assert_eq!(outcome.rounds, None, "{}", path.display());
    }
}

/// R14: what goes round for ever upstream does so because the reset of a dead server ends the run, and not where each
/// run goes on to the next segment; nor is it called a round where something else waits for its turn all the while.
#[test]
fn a_repair_goes_round_for_ever_only_if_a_dead_server_ends_it() {
    let scenario = named("r14-dead-server.json");
    let rounds =
        |scenario: &Scenario, guards: &[Guard]| replay_without(scenario, guards).outcome.rounds;
    let five = Some(vec!["5".to_string()]);
    assert_eq!(rounds(&scenario, &[Guard::ObjectBeforeDone, Guard::ResetErrorOnly]), five);
    assert_eq!(rounds(&scenario, &[Guard::ObjectBeforeDone]), None);
    let mut starved = scenario.clone();
    let round = starved.steps.iter_mut().find(|step| step.label == "5").expect("it is there");
    round.moves.retain(|(text, _)| text != "C0 repairs picking S1");
    assert_eq!(rounds(&starved, &[Guard::ObjectBeforeDone, Guard::ResetErrorOnly]), None);
}

/// What #14920 was asked for: rows that #14741 loses for ever are served again.
#[test]
fn reingestion_recovers_what_is_lost_without() {
    let scenario = named("14920-reingestion.json");
    let lost = |variant| played(&scenario, variant).outcome.lost.expect("it was found out");
    assert_eq!(lost("pinot-14741"), ["0 1 of seq 0"]);
    for variant in ["pinot-14920", "pinot-2026-08", "verified"] {
        assert_eq!(lost(variant), [""; 0], "{variant}");
        let replayed = played(&scenario, variant);
        assert!(replayed.steps.iter().all(|step| step.done), "{variant}");
        let answers = |step: &str, code: &str| {
            let step = replayed.steps.iter().find(|of| of.label == step).expect("it is there");
            step.lines.iter().any(|line| line.note.contains(&format!("answers {code}")))
        };
        assert!(answers("6", "200") && answers("7", "409"), "{variant}");
    }
}

/// A replica past the end has all rows in memory; upstream makes the segment DONE without them, and says nothing.
#[test]
fn rows_past_the_end_are_lost_silently_upstream_and_cut_by_the_verified_replica() {
    let scenario = named("20168.json");
    for variant in ["pinot-14920", "pinot-2026-08"] {
        let outcome = played(&scenario, variant).outcome;
        assert_eq!(outcome.lost.expect("it was found out"), ["0 1 of seq 0"], "{variant}");
        assert_eq!(outcome.settles, Some(true), "{variant}");
    }
    let verified = played(&scenario, "verified");
    let refused = verified.outcome.refused.expect("it is always said");
    assert_eq!(refused.get("6").expect("it departs there"), &["cut-at-end"]);
}

/// R4: one row of two is lost though everything comes to rest, and only the properties tell.
#[test]
fn a_late_start_loses_a_row_silently() {
    let scenario = named("r4-late-start.json");
    let outcome = played(&scenario, "pinot-2026-08").outcome;
    assert_eq!(outcome.lost.expect("it was found out"), ["1 of seq 0"]);
    assert_eq!(outcome.settles, Some(true));
    let refused = played(&scenario, "verified").outcome.refused.expect("it is always said");
    assert_eq!(refused.get("4").expect("it departs there"), &["winner-only"]);
}

#[test]
fn a_falsified_expectation_is_noticed() {
    let text = std::fs::read_to_string(directory().join("20168.json")).expect("it can be read");
    let falsified = [
        (r#""lost": ["0 1 of seq 0"]"#, r#""lost": ["0 of seq 0"]"#),
        (r#""unserved": ["0 1 of seq 0"]"#, r#""unserved": []"#),
        (r#""6": ["cut-at-end"]"#, r#""6": ["keep-memory"]"#),
        (r#""settles": false"#, r#""settles": true"#),
        ("one-end: S1 serves", "one-end: S0 serves"),
        ("DONE [0, 2), rows none", "DONE [0, 2), rows 0"),
        (r#""twice": []"#, r#""twice": ["0"]"#),
        (r#""pinot-14741": "#, r#""pinot-14740": "#),
        ("S1 consumes seq 0 to 3", "S1 consumes seq 0 to 1"),
    ];
    assert!(wrong(&Scenario::parse(&text).expect("it can be read")).is_empty());
    for (right, false_one) in falsified {
        assert!(text.contains(right), "{right}");
        let scenario = Scenario::parse(&text.replace(right, false_one)).expect("it can be read");
        assert!(!wrong(&scenario).is_empty(), "{false_one} goes unnoticed");
    }
}

#[test]
fn an_error_names_file_and_step() {
    let file = std::env::temp_dir().join(format!("surehold-commit-{}.json", std::process::id()));
    let text = std::fs::read_to_string(directory().join("20168.json")).expect("it can be read");
    let wrong = text.replace("S1 stops seq 0", "S1 stops seq 7");
    std::fs::write(&file, wrong).expect("it can be written");
    let error = Scenario::load(&file).expect_err("there is no such segment").to_string();
    std::fs::remove_file(&file).expect("it was written");
    let says = format!("{}: step 2: `S1 stops seq 7` is no move", file.display());
    assert_eq!(error, says);
}

#[test]
fn blocking_commits_are_no_variant_of_a_pauseless_table() {
    let pauseless = named("20168.json");
    assert!(replay(&pauseless, "pinot-blocking").is_none());
    assert!(replay(&named("13149.json"), "pinot-blocking").is_some());
    assert!(variants().contains(&"pinot-blocking"));
}

#[test]
fn every_case_has_a_file_and_every_file_a_case() {
    let told: Vec<_> = TOLD.iter().flat_map(|(_, files)| files.iter().copied()).collect();
    for path in paths() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("it has a name");
        assert!(told.contains(&name), "{name} tells no case");
    }
    for name in told {
        assert!(directory().join(name).exists(), "there is no {name}");
    }
    for (case, why) in NOT_YET {
        assert!(!why.is_empty() && TOLD.iter().all(|(told, _)| *told != case), "{case}");
    }
}

#[test]
fn an_ending_is_told_in_words() {
    let scenario = named("14920-reingestion.json");
    let told = |variant| ending::told(&played(&scenario, variant).outcome);
    let worst = told("pinot-14741");
    assert!(worst.contains(&(Some(true), "lost: rows 0 1 of seq 0".into())), "{worst:?}");
    let best = told("verified");
    assert!(best.iter().all(|(bad, _)| *bad != Some(true)), "{best:?}");
}
