//! The command as its users meet it: arguments in; text, JSON and an exit code out.

#![cfg(feature = "checker")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use surehold::compaction::Guard;
use surehold_models::compaction::runs::{Compaction, Expected};
use surehold_models::compaction::{scopes, verdicts};
use surehold_models::everything::{documented, protocols};
use surehold_models::runs::covered_by;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surehold"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the command ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the messages are UTF-8")
}

/// A path of its own for each test, with nothing there.
fn fresh_path(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.is_dir() {
        std::fs::remove_dir_all(&path).expect("an old directory can go");
    } else if path.exists() {
        std::fs::remove_file(&path).expect("an old file can go");
    }
    path
}

/// A scope too large to be finished within a millisecond.
fn large_scope() -> &'static str {
    let largest = scopes::all().into_iter().max_by_key(|scope| scope.compactors);
    largest.expect("there is a scope").name
}

/// The first of these scopes that there is. In each, upstream's first release soon loses a sample.
fn scope_of_a_quick_loss() -> &'static str {
    let known = ["late-1p", "superseded-1p", "superseded"];
    let known = known.into_iter().find(|name| verdicts::scope(name).is_some());
    known.expect("one of the scopes is there")
}

#[test]
fn usage_errors_exit_2() {
    let refused: [&[&str]; 15] = [
        &[],
        &["frobnicate"],
        &["check", "--frobnicate"],
        &["check", "--threads", "0"],
        &["check", "compaction", "--rounds", "--engine", "stateright"],
        &["check", "--time-limit", "90"],
        &["check", "--time-limit", "soon"],
        &["check", "--memory-limit", "16X"],
        &["check", "--format", "xml"],
        &["check", "--engine", "tlc"],
        &["check", "--seed", "-1"],
        &["check", "--variant", "verified", "--without", "one-plan"],
        &["check", "--variant", "verified", "--mutants"],
        &["check", "--without", "one-plan", "--mutants"],
        &["list", "compaction"],
    ];
    for arguments in refused {
        let output = run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert_ne!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn unknown_names_exit_2_and_name_the_known_ones() {
    let known = protocols();
    let names = known.map(surehold_models::everything::AnyProtocol::name).to_vec();
    let releases = known.iter().flat_map(|protocol| protocol.releases()).map(|(name, _)| name);
    let variants = releases.chain(["verified"]).collect();
    let guards: Vec<_> =
        known.iter().flat_map(|protocol| protocol.guards()).map(|guard| guard.name).collect();
    let scopes = known.iter().flat_map(|protocol| protocol.scopes()).map(|card| card.name);
    let scopes = scopes.chain(["ci", "nightly", "deep"]).collect();
    let cases: [(&[&str], Vec<&str>); 5] = [
        (&["check", "gossip"], names),
        (&["check", "--variant", "cortex-0.1"], variants),
        (&["check", "--without", "no-guard"], guards.clone()),
        (&["check", "--without", "one-plan,no-guard"], guards),
        (&["check", "--scope", "nowhere"], scopes),
    ];
    for (arguments, known) in cases {
        let output = run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        for name in known {
            assert!(stderr(&output).contains(name), "{arguments:?} does not name {name}");
        }
    }
}

#[test]
fn what_stateright_would_ignore_is_refused() {
    let directory = fresh_path("refused");
    let directory = directory.to_str().expect("the path is UTF-8");
    let asked: [&[&str]; 6] = [
        &["--time-limit", "1s"],
        &["--memory-limit", "1GiB"],
        &["--exact"],
        &["--seed", "1"],
        &["--coverage"],
        &["--save-counterexamples", directory],
    ];
    for arguments in asked {
        let output = run(&[&["check", "--engine", "stateright"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(arguments[0]), "{arguments:?}");
    }
    assert!(!PathBuf::from(directory).exists());
}

#[test]
fn nothing_to_run_is_no_success() {
    let mutants = verdicts::mutants();
    let has_none = |name: &str| mutants.iter().all(|mutant| mutant.run.scope.name != name);
    let scopes = scopes::all();
    if let Some(scope) = scopes.iter().map(|scope| scope.name).find(|name| has_none(name)) {
        let output = run(&["check", "--mutants", "--scope", scope]);
        assert_eq!(code(&output), 2);
        assert_eq!(stdout(&output), "");
    }
}

#[test]
fn a_run_that_is_stopped_is_incomplete_and_exits_3() {
    let (scope, limit) = (large_scope(), ["--time-limit", "1ms"]);
    let asked = ["check", "compaction", "--variant", "verified", "--scope", scope];
    let output = run(&[&asked[..], &limit[..]].concat());
    assert_eq!(code(&output), 3);
    assert!(stdout(&output).contains("incomplete: time limit"), "{}", stdout(&output));
    assert!(stdout(&output).contains("1 incomplete"), "{}", stdout(&output));

    let asked = ["check", "--variant", "verified", "--scope", scope, "--memory-limit", "1"];
    let output = run(&asked);
    assert_eq!(code(&output), 3);
    assert!(stdout(&output).contains("incomplete: memory limit"), "{}", stdout(&output));
}

#[test]
fn a_release_that_loses_samples_is_told_step_by_step_and_exits_1() {
    let scope = scope_of_a_quick_loss();
    let output = run(&["check", "--variant", "cortex-1.19", "--scope", scope]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("violated: no-sample-lost"), "{text}");
    let lines: Vec<_> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("=> lost: ")).expect("it has an end");
    assert!(lines[end + 1].trim_start().starts_with("no-sample-lost: I1: "), "{text}");
    let number = |line: &&str| line.split_whitespace().next()?.parse::<usize>().ok();
    let begin = lines.iter().position(|line| line.starts_with("step  ")).expect("it has a head");
    let numbers: Vec<_> = lines[begin..end].iter().filter_map(number).collect();
    assert!(numbers.len() > 10, "{text}");
    assert!(numbers.iter().copied().eq(1..=numbers.len()), "{text}");
}

#[test]
fn a_guard_removed_by_name_exits_1_though_it_is_documented() {
    let output = run(&["check", "--without", "all-partitions"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("verified - all-partitions"), "{text}");
    assert!(text.contains("as documented"), "{text}");
    assert!(text.contains("\n=> lost: "), "{text}");
}

#[test]
fn json_is_one_array_with_the_documented_keys() {
    let output = run(&["check", "--without", "all-partitions", "--format", "json"]);
    assert_eq!(code(&output), 1);
    let runs: Vec<Value> = serde_json::from_slice(&output.stdout).expect("it is an array");
    assert!(!runs.is_empty());
    for run in &runs {
        for key in ["protocol", "variant", "guard_removed", "scope", "bounds", "engine", "verdict"]
        {
            assert!(run.get(key).is_some(), "{key}");
        }
        for key in ["expected", "property", "asked", "states", "unique_states", "depth", "seconds"]
        {
            assert!(run.get(key).is_some(), "{key}");
        }
        let coverage = run["coverage"].as_array().expect("it is counted");
        let wrote_plan = |row: &Value| row[0] == "put-plan: applied" && row[1].as_u64() > Some(0);
        assert!(coverage.iter().any(wrote_plan), "{coverage:?}");
        assert_eq!(run["protocol"], "compaction");
        assert_eq!(run["guard_removed"], serde_json::json!(["all-partitions"]));
        assert_eq!(run["verdict"], "violated");
        let steps = run["counterexample"].as_array().expect("it has steps");
        for key in ["step", "actor", "action", "note", "decided_by"] {
            assert!(steps.iter().all(|step| step.get(key).is_some()), "{key}");
        }
        assert!(run["ending"].as_str().is_some_and(|ending| ending.contains("lost")));
    }
}

#[test]
fn a_plain_check_is_everything_documented_in_order() {
    let asked = ["check", "--format", "json", "--threads", "3", "--time-limit", "1ms"];
    let output = run(&asked);
    let runs: Vec<Value> = serde_json::from_slice(&output.stdout).expect("it is an array");
    let names = |run: &Value| (run["variant"].to_string(), run["scope"].to_string());
    let quoted = |name: &str| format!("{name:?}");
    let expected = documented();
    let expected: Vec<_> =
        expected.iter().map(|run| (quoted(run.variant()), quoted(run.scope().name))).collect();
    assert_eq!(runs.iter().map(names).collect::<Vec<_>>(), expected);
    assert!(runs.iter().any(|run| run["verdict"] == "incomplete"));
    assert_eq!(code(&output), 3);
}

#[test]
fn no_escape_codes_without_a_terminal() {
    let asked = ["check", "--without", "all-partitions"];
    for no_color in [None, Some(""), Some("1")] {
        let mut command = command(&asked);
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        let output = command.output().expect("the command starts");
        assert!(!output.stdout.contains(&0x1b));
        assert_eq!(stderr(&output), "", "progress is for terminals");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let asked = ["check", "--time-limit", "1ms"];
    for arguments in [&asked[..], &["list"]] {
        let mut command = command(arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the command starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
        assert_ne!(code(&output), 101);
    }
}

#[test]
fn counterexamples_are_saved_by_name() {
    let directory = fresh_path("saved").join("below");
    let path = directory.to_str().expect("the path is UTF-8");
    let output = run(&["check", "--without", "all-partitions", "--save-counterexamples", path]);
    assert_eq!(code(&output), 1);
    let entries = std::fs::read_dir(&directory).expect("the directory is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.sort();
    let names: Vec<_> = paths.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(
        names,
        [
            "verified-all-partitions-early-no-sample-lost.json",
            "verified-all-partitions-early-replaced-before-marking.json"
        ]
    );
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let saved: Value = serde_json::from_str(&text).expect("it is JSON");
        assert!(saved["counterexample"].is_array());
    }
}

#[test]
fn a_directory_that_cannot_be_is_unusable() {
    let file = fresh_path("file");
    std::fs::write(&file, "in the way").expect("a file can be written");
    let below = file.join("below");
    let path = below.to_str().expect("the path is UTF-8");
    let output = run(&["check", "--without", "all-partitions", "--save-counterexamples", path]);
    assert_eq!(code(&output), 2);
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains(path), "{}", stderr(&output));
}

#[test]
fn the_table_of_holes_names_guards_that_are_never_removed() {
    let output = run(&["check", "--mutants", "--time-limit", "1ms"]);
    let text = stdout(&output);
    let mutants = verdicts::mutants();
    for guard in Guard::ALL {
        let is_removed = mutants.iter().any(|mutant| mutant.guards.contains(&guard));
        let line = format!("never removed: {}\n", guard.name());
        assert_eq!(text.contains(&line), !is_removed, "{line}{text}");
    }
    for mutant in mutants {
        assert!(text.contains(&mutant.holes.join(", ")), "{text}");
    }
    assert_ne!(code(&output), 0);
}

#[test]
fn guards_that_cover_each_other_are_named_as_a_pair_and_one_alone_as_unnoticed() {
    let told = [
        ("late-completion", "result-proof + marker-path-id (a pair)"),
        ("late-completion", "alone unnoticed: covered by marker-path-id"),
    ];
    for (scope, said) in told {
        let output = run(&["check", "--mutants", "--scope", scope]);
        assert_eq!(code(&output), 0);
        let text = stdout(&output);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn each_guard_is_noticed_alone_or_has_a_run_that_shows_what_covers_it() {
    let mutants = verdicts::mutants();
    for guard in Guard::ALL {
        let alone: Vec<_> = mutants.iter().filter(|mutant| mutant.guards == [guard]).collect();
        let is_unnoticed = alone.iter().all(|mutant| mutant.run.expected == Expected::Verified);
        assert!(!alone.is_empty(), "{} is never removed alone", guard.name());
        let covers = covered_by::<Compaction>(guard);
        let is_covered = !covers.is_empty();
        assert_eq!(is_unnoticed, is_covered, "{}", guard.name());
    }
}

#[test]
fn the_list_mentions_everything_that_has_a_name() {
    let output = run(&["list"]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for protocol in protocols() {
        let guards = protocol.guards().into_iter().flat_map(|guard| [guard.name, guard.why]);
        let properties = protocol.properties().into_iter().flat_map(|(name, says)| [name, says]);
        let scopes = protocol.scopes().into_iter().flat_map(|card| [card.name, card.question]);
        let variants = protocol.releases().into_iter().flat_map(|(name, says)| [name, says]);
        let own = ["verified", protocol.name(), protocol.says()];
        for said in guards.chain(properties).chain(scopes).chain(variants).chain(own) {
            assert!(text.contains(said), "{said}");
        }
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn the_list_is_json_too() {
    let output = run(&["list", "--format", "json"]);
    assert_eq!(code(&output), 0);
    let list: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let listed = list["protocols"].as_array().expect("they are listed");
    assert_eq!(listed.len(), protocols().len());
    for (listed, protocol) in listed.iter().zip(protocols()) {
        let count = |key: &str| listed[key].as_array().map(Vec::len);
        assert_eq!(listed["name"], protocol.name());
        assert_eq!(count("variants"), Some(1 + protocol.releases().len()));
        assert_eq!(count("guards"), Some(protocol.guards().len()));
        assert_eq!(count("scopes"), Some(protocol.scopes().len()));
        assert_eq!(count("properties"), Some(protocol.properties().len()));
    }
}

#[test]
fn help_and_version_exit_0() {
    for arguments in [&["--help"][..], &["--version"], &["check", "--help"], &["list", "--help"]] {
        let output = run(arguments);
        assert_eq!(code(&output), 0, "{arguments:?}");
        assert_ne!(stdout(&output), "", "{arguments:?}");
    }
}
