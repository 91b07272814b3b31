//! The controller role against upstream's own sequences of its segment manager (`data/`, facts of Pinot's unit tests):
//! commits, the validator's repairs, the retry of uploads.
//!
//! They describe [`Release::Aug2026`] in blocking mode, which must do as they say. Where the verified protocol or the
//! older [`Release::Blocking`] differs, `data/segment-manager-outcomes.json` lists it with the reason, and nothing else
//! may differ; it also has the whole table that each sequence leaves.

#[path = "../commit_store/mod.rs"]
mod commit_store;
mod functions;
mod manager;
mod other;
mod rules;
mod set_up;
mod steps;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use surehold::commit::Guard;
use surehold::commit::controller::{Controller, Limits};
use surehold::commit::upstream::Release;
use surehold::guard::Guards;

/// The cases that are not run, and why. All others are.
const NOT_RUN: &[(&[&str], &str)] = &[
    (
        &["mgr-07"],
        "that -1 stands for no first sequence is how upstream writes it; the role is given 0 then",
    ),
    (
        &["mgr-20", "mgr-22", "mgr-58"],
        "topics are not told apart: a table has one stream and one pause flag",
    ),
    (&["mgr-26", "mgr-30", "mgr-31"], "temporary objects are not cleaned up by the role"),
    (
        &["mgr-57"],
        "a pause hands the operator's batches on to the forced commit: no transition, and how long a batch is waited for is not in the library",
    ),
    (
        &["mgr-39", "mgr-40", "mgr-41", "mgr-42", "mgr-43", "mgr-44", "mgr-45"],
        "the list of committing segments is a view for an operator, made from records that say the same: a failure to write it is passed over upstream, no transition reads it, and none is kept here",
    ),
    (
        &["mgr-49", "mgr-50", "mgr-51", "mgr-52", "mgr-53"],
        "partition metadata of a segment is not among what transitions look at",
    ),
    (&["mgr-59", "mgr-60"], "texts and views for an operator"),
];

const CASES: usize = 60;
const RUN: usize = 38;

fn data(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let text = std::fs::read_to_string(path).expect("the data is beside the tests");
    serde_json::from_str(&text).expect("the data is JSON")
}

fn id_of(case: &Value) -> &str {
    case["id"].as_str().expect("a case has an id")
}

/// The cases that are not listed above.
fn cases() -> Vec<Value> {
    let data = data("pinot-llc-segment-manager.json");
    let all = data["cases"].as_array().expect("there are cases");
    assert_eq!(all.len(), CASES);
    let listed: Vec<&str> = NOT_RUN.iter().flat_map(|(ids, _)| *ids).copied().collect();
    let mut left: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(left.len(), listed.len(), "none is listed twice");
    let run: Vec<_> = all.iter().filter(|case| !left.remove(id_of(case))).cloned().collect();
    assert!(left.is_empty(), "there is no {left:?}");
    run
}

/// Where the role does otherwise than the case says.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Differences(Vec<Value>);

impl Differences {
    fn check(&mut self, place: &str, got: &Value, expected: &Value) {
        if got != expected {
            self.0.push(json!({"place": place, "expected": expected, "got": got}));
        }
    }
}

/// Plays a case: what differs, and the table that a sequence leaves.
fn play<V: Guards<Guard>>(role: Controller<V>, case: &Value) -> (Differences, Option<Vec<String>>) {
    match case["op"].as_str().expect("a case has an op") {
        "steps" => {
            let played = steps::play(role, case, false);
            (played.differences, Some(played.lines))
        }
        "commit_file" => (other::commit_file(role, case), None),
        "deep_store_retry" => (other::deep_store_retry(role, case), None),
        "disaster_mode" => (other::disaster_mode(role, case), None),
        "set_up_table" => (set_up::play(role, case), None),
        "force_commit" => (functions::force_commit(role, case), None),
        "reduce_size" => (functions::reduce_size(role, case), None),
        op => (functions::play(op, case), None),
    }
}

fn play_as(variant: &str, case: &Value) -> (Differences, Option<Vec<String>>) {
    match variant {
        "verified" => play(Controller::new(Limits::default()), case),
        name => {
            let release = Release::ALL.into_iter().find(|release| release.name() == name);
            play(release.expect("there is such a variant").controller(), case)
        }
    }
}

/// What the outcomes' file lists for a case and a variant, without the reasons. A table that is left otherwise is
/// compared by itself.
fn listed(outcomes: &Value, id: &str, variant: &str) -> Differences {
    let rows = outcomes["differences"].as_array().expect("there are differences").iter();
    let rows = rows.filter(|row| row["case"] == id && row["variant"] == variant);
    let rows = rows.filter(|row| row["place"] != "left");
    let bare = |row: &Value| json!({"place": row["place"], "expected": row["expected"], "got": row["got"]});
    Differences(rows.map(bare).collect())
}

/// The table that a case leaves: each variant's, where it is another than upstream's.
fn left(outcomes: &Value, id: &str, variant: &str) -> Option<Vec<String>> {
    let of = |variant: &str| {
        let lines = outcomes["left"][variant].get(id)?.as_array()?.iter();
        Some(lines.filter_map(Value::as_str).map(String::from).collect())
    };
    of(variant).or_else(|| of("pinot-2026-08"))
}

#[test]
fn every_case_is_run_or_has_a_reason() {
    let not_run: usize = NOT_RUN.iter().map(|(ids, _)| ids.len()).sum();
    assert_eq!((cases().len(), cases().len() + not_run), (RUN, CASES));
}

/// The variant that the vectors describe, with nothing listed to differ; older, and verified.
#[test]
fn each_variant_does_as_the_vectors_say_but_for_what_is_listed() {
    let outcomes = data("segment-manager-outcomes.json");
    let mut wrong = Vec::new();
    for variant in ["pinot-2026-08", "pinot-blocking", "verified"] {
        for case in cases() {
            let (differences, lines) = play_as(variant, &case);
            let id = id_of(&case);
            if differences != listed(&outcomes, id, variant) {
                wrong.push(json!({"case": id, "variant": variant, "differences": differences.0}));
            }
            if lines != left(&outcomes, id, variant) {
                wrong.push(json!({"case": id, "variant": variant, "left": lines}));
            }
        }
    }
    assert!(wrong.is_empty(), "not as listed:\n{}", json!(wrong));
}

#[test]
fn every_difference_has_a_reason_and_none_is_upstreams() {
    let outcomes = data("segment-manager-outcomes.json");
    let known: Vec<_> = cases().iter().map(|case| id_of(case).to_owned()).collect();
    for row in outcomes["differences"].as_array().expect("there are differences") {
        assert!(row["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{row}");
        let guard = row["guard"].as_str().expect("a guard");
        assert!(Guard::from_name(guard).is_some(), "{guard} is no guard");
        assert!(known.contains(&row["case"].as_str().expect("a case").to_owned()), "{row}");
        assert_ne!(row["variant"], "pinot-2026-08");
    }
    // A table that is left otherwise is a difference, too.
    for (variant, tables) in outcomes["left"].as_object().expect("tables are left") {
        for id in tables.as_object().expect("by case").keys() {
            let rows = outcomes["differences"].as_array().into_iter().flatten();
            let mut rows = rows.filter(|row| row["case"] == *id && row["variant"] == *variant);
            assert!(variant == "pinot-2026-08" || rows.next().is_some(), "{id}, {variant}");
        }
    }
}

/// A case with one expectation changed, in each way that can be told from the true one.
fn falsified(case: &Value) -> Vec<Value> {
    let mut paths = Vec::new();
    leaves(case, "", false, &mut paths);
    if case["expected"]["segment_count"] == 0 {
        // Of no segment nothing else can be false.
        paths.retain(|path| path.ends_with("error") || path.ends_with("segment_count"));
    }
    let falsify = |path: &String| {
        let mut case = case.clone();
        let leaf = case.pointer_mut(path).expect("it was found there");
        *leaf = match &*leaf {
            Value::Bool(is) => json!(!is),
            Value::Number(number) => json!(number.as_u64().expect("it is small") + 1),
            Value::Null => json!(1),
            Value::String(text) if text == "FAILED" => json!("DONE"),
            Value::String(_) => json!("FAILED"),
            Value::Array(_) if path.contains("absent") => json!([{"partition": 0, "sequence": 0}]),
            Value::Array(_) if path.contains("contains") => {
                json!([{"partition": 9, "sequence": 9}])
            }
            Value::Array(all) if all.is_empty() => json!([{"partition": 0, "sequence": 0}]),
            Value::Array(_) => json!([]),
            other => panic!("{other} is no expectation"),
        };
        case
    };
    paths.iter().map(falsify).collect()
}

/// What names a segment is none, nor is a rule's text.
fn leaves(value: &Value, path: &str, inside: bool, paths: &mut Vec<String>) {
    const NO_LEAVES: [&str; 6] =
        ["partition", "sequence", "n", "rule", "ended_partitions", "expected_custom_map_keys"];
    match value {
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !NO_LEAVES.contains(&key.as_str()))
            {
                let inside = inside || key.starts_with("expect") || key.starts_with("derived");
                leaves(value, &format!("{path}/{key}"), inside, paths);
            }
        }
        Value::Array(all)
            if all.iter().any(Value::is_object)
                && !path.contains("absent")
                && !path.contains("contains") =>
        {
            for (at, value) in all.iter().enumerate() {
                leaves(value, &format!("{path}/{at}"), inside, paths);
            }
        }
        _ if inside => paths.push(path.to_owned()),
        _ => {}
    }
}

#[test]
fn a_false_expectation_is_noticed() {
    let mut count = 0;
    for case in cases() {
        for false_case in falsified(&case) {
            count += 1;
            let (differences, _) = play_as("pinot-2026-08", &false_case);
            assert_ne!(differences, Differences::default(), "this is not noticed: {false_case}");
        }
    }
    println!("{count} false expectations");
    assert!(count > 300, "only {count}");
}

/// A validator that does nothing breaks the rules that are said in words.
#[test]
fn an_idle_validator_is_noticed() {
    let mut count = 0;
    for mut case in cases().into_iter().filter(|case| case["rules"].is_object()) {
        let steps = case["steps"].as_array_mut().expect("it has steps");
        for step in steps {
            step.as_object_mut().expect("a step has fields").remove("derived_after");
        }
        let differences = steps::play(Release::Aug2026.controller(), &case, true).differences;
        let is_rule =
            |row: &Value| row["place"].as_str().is_some_and(|place| place.ends_with("rule"));
        assert!(differences.0.iter().any(is_rule), "{}: {differences:?}", id_of(&case));
        count += 1;
    }
    assert_eq!(count, 3);
}
