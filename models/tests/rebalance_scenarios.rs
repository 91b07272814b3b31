//! Each scenario of rebalance ends for each variant as its file says; and each public case has a file, or a
//! reason why it has none yet.

use std::path::{Path, PathBuf};

use surehold_models::rebalance::ending;
use surehold_models::rebalance::replay::{Replayed, replay, variants};
use surehold_models::rebalance::scenario::Scenario;

/// Cases, and the files that tell them.
const TOLD: [(&str, &[&str]); 30] = [
    ("apache/druid#18764", &["18764.json"]),
    ("apache/druid#18769", &["18769-view-lags.json"]),
    ("apache/druid#18824", &["18824-mark-to-drop.json", "18824-two-readings.json"]),
    ("apache/druid#18161", &["18161-callback-waits.json"]),
    ("apache/druid#18162", &["18162-source-vanishes.json"]),
    ("apache/druid#19889", &["19889-expiry.json"]),
    ("apache/druid#13114", &["13114.json"]),
    ("apache/druid#18291", &["18291.json"]),
    ("apache/druid#2118", &["2118.json"]),
    ("apache/druid#10649", &["10649.json"]),
    ("apache/druid#5542", &["5542.json"]),
    ("apache/druid#10193", &["10193.json"]),
    ("apache/druid#10362", &["10362.json"]),
    ("apache/druid#3386", &["3386.json"]),
    ("apache/druid#3362", &["3362.json"]),
    ("window 0", &["18161-callback-waits.json"]),
    ("window 1", &["18824-mark-to-drop.json", "18824-two-readings.json"]),
    ("window 2", &["18764.json"]),
    ("window 3", &["18769-view-lags.json", "19889-expiry.json"]),
    ("window 4, D3", &["window-4-takeover.json"]),
    ("window 5, D4", &["window-5-timeout.json"]),
    ("window 6", &["window-6-flap.json", "window-6-restart.json"]),
    ("window 7", &["window-7-duplicate.json"]),
    ("D1, D2", &["d1-view-ahead.json", "d2-two-replicas.json"]),
    ("D5", &["d5-stale-leader.json"]),
    ("D6", &["d6-drop-overtakes-load.json"]),
    ("D7, a lost copy", &["d7-retained-load.json"]),
    ("D8", &["d8-move-undone.json"]),
    ("D9", &["d9-clone.json"]),
    ("L4", &["decommission.json"]),
];

/// Cases, or halves of cases, that these roles and this world cannot tell yet, and why.
const NOT_YET: [(&str, &str); 8] = [
    (
        "apache/druid#14548",
        "a soak over loading through ZooKeeper, which has no answers; its one race is that of #18764, told there",
    ),
    (
        "apache/druid#2118, its own cleanup",
        "a fetch that fails leaves nothing here; told with the deletion after a drop in its place",
    ),
    (
        "apache/druid#10649, the failure itself",
        "no variant has the server's cache of answers; only the right course is told",
    ),
    ("apache/druid#14616, case 2", "as #10649: PENDING is an answer of that cache"),
    (
        "apache/druid#5882",
        "nobody spreads unsent loads anew when servers appear: the balancer moves served segments only",
    ),
    (
        "apache/druid#18291, the failure itself",
        "the historical of every variant is of after its fix; the verified one shows the guard",
    ),
    (
        "D7, a live copy",
        "a server that starts again announces nothing here that it has dropped: a retained drop hides nothing",
    ),
    ("D10", "arithmetic of the number of moves, which the balancer has and these roles do not"),
];

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios/rebalance")
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

fn played(scenario: &Scenario, variant: &str) -> Replayed {
    replay(scenario, variant).expect("there is such a variant")
}

/// What a scenario expects and does not get.
fn wrong(scenario: &Scenario) -> Vec<String> {
    let mut wrong = Vec::new();
    for variant in variants() {
        let of = format!("{}, {variant}", scenario.name);
        match played(scenario, variant).differences {
            None => wrong.push(format!("{of}: nothing is expected")),
            Some(differences) => {
                wrong.extend(differences.into_iter().map(|d| format!("{of}: {d}")));
            }
        }
    }
    let unknown = scenario.expect.keys().filter(|name| !variants().contains(&name.as_str()));
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
fn every_file_says_who_serves_what_is_broken_and_what_is_refused() {
    for path in paths() {
        for (variant, expected) in scenario(&path).expect {
            let says = expected.serving.is_some()
                && expected.unserved.is_some()
                && expected.broken.is_some()
                && expected.refused.is_some();
            assert!(says, "{}, {variant}", path.display());
        }
    }
}

#[test]
fn the_verified_protocol_breaks_nothing_in_any_of_them() {
    for path in paths() {
        let broken = played(&scenario(&path), "verified").outcome.broken;
        assert_eq!(broken.expect("it is always said"), [""; 0], "{}", path.display());
    }
}

/// T0 to T11 as they were reported, where the variant lets it come to that.
#[test]
fn the_reported_race_counts_two_and_none_dropping_and_loses_both() {
    let scenario = scenario(&directory().join("18764.json"));
    let reported = "requiredAndLoadable=1 required=1 loaded=2 loadedNonHistorical=0 loading=0 dropping=0 movingTo=0 movingFrom=0";
    for variant in ["druid-18161", "druid-18162", "druid-18824"] {
        let replayed = played(&scenario, variant);
        let step = replayed.steps.iter().find(|step| step.label == "T10").expect("it is there");
        let counted = step.lines.last().expect("it counts").action.clone();
        assert!(counted.starts_with(&format!("counts {reported}")), "{variant}: {counted}");
        assert_eq!(replayed.outcome.serving.expect("it is always said"), [""; 0], "{variant}");
        assert!(replayed.steps.iter().all(|step| step.done), "{variant}");
    }
    let verified = played(&scenario, "verified");
    let last = verified.steps.last().expect("there are steps");
    assert!(!last.done);
    assert_eq!(last.refused_by, ["reply-teaches"]);
    assert_eq!(verified.outcome.serving.expect("it is always said"), ["B"]);
}

#[test]
fn a_falsified_expectation_is_noticed() {
    let path = directory().join("18764.json");
    let text = std::fs::read_to_string(path).expect("it can be read");
    let falsified = [
        (r#""serving": ["B"]"#, r#""serving": ["A"]"#),
        (r#""unserved": ["T11"]"#, r#""unserved": ["T10"]"#),
        (r#"["drop-justified", "last-copy-kept"]"#, r#"["last-copy-kept"]"#),
        (r#""T11": ["reply-teaches"]"#, r#""T11": ["enough-others"]"#),
        (r#""dropping": 1"#, r#""dropping": 0"#),
        (r#""druid-18161": "#, r#""druid-18160": "#),
    ];
    for (right, false_one) in falsified {
        assert!(text.contains(right), "{right}");
        let scenario = Scenario::parse(&text.replace(right, false_one)).expect("it can be read");
        assert!(!wrong(&scenario).is_empty(), "{false_one} goes unnoticed");
    }
}

#[test]
fn an_error_names_file_and_step() {
    let file = std::env::temp_dir().join(format!("surehold-{}.json", std::process::id()));
    let text = std::fs::read_to_string(directory().join("18764.json")).expect("it can be read");
    std::fs::write(&file, text.replace(r#""at": "T1","#, r#""at": "T1", "who": "B","#))
        .expect("it can be written");
    let error = Scenario::load(&file).expect_err("there is no such field").to_string();
    std::fs::remove_file(&file).expect("it was written");
    let begins = format!("{}: step 3: unknown field `who`", file.display());
    assert!(error.starts_with(&begins), "{error}");
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
    let scenario = scenario(&directory().join("18764.json"));
    let told = |variant| ending::told(&played(&scenario, variant).outcome);
    let worst = told("druid-18824");
    assert!(worst.contains(&(true, "at the end: served by nobody".into())), "{worst:?}");
    let best = told("verified");
    assert!(best.iter().all(|(bad, _)| !bad), "{best:?}");
}
