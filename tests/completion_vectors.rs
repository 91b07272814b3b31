//! The completion machine against upstream's own message sequences (`data/`, facts of Pinot's unit tests).
//!
//! The controller around it is a stand-in that does at once what is asked, as upstream's test has it. All sequences
//! are of blocking mode, and in none of them does the verified machine differ: where it does is in
//! `completion_pauseless.rs`.

use std::fmt::Debug;
use std::path::PathBuf;

use serde_json::{Value, json};
use surehold::commit::completion::{
    Answer, Ask, Completion, Found, Kind, Limits, Message, Mode, Outcome, Reason, Record, Rules,
    Said, State, Turn, row_limit,
};
use surehold::commit::object::{ServerId, Status};

/// Expectations that are none of the machine's: not looked at here.
const NOT_OF_THE_MACHINE: &[(&str, &str)] =
    &[("expect_download_url", "the machine does not see where the object lies")];

const SEQUENCES: usize = 24;
/// Steps with an expected status, a step that is repeated counted as often as it is.
const STATUSES: usize = 257;

fn data() -> Value {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/pinot-segment-completion.json");
    let text = std::fs::read_to_string(path).expect("the data is beside the tests");
    serde_json::from_str(&text).expect("the data is JSON")
}

/// One controller, one segment.
struct Controller {
    completion: Completion,
    leads: bool,
    state: State,
    longest_ms: u64,
    record: Option<Record>,
    row_limit: u64,
    /// Who was set OFFLINE in this step.
    offline: Option<ServerId>,
    /// Whether the object cannot be moved in this step.
    move_fails: bool,
    commit_time_ms: Option<u64>,
}

impl Controller {
    fn new(rules: Rules, case: &Value, defaults: &Value) -> Self {
        let setting = |name: &str| &case["setup"][name];
        let is = |name: &str| setting(name).as_bool() != Some(false);
        let replicas = defaults["num_replicas"].as_u64().expect("a number").try_into();
        let record = Record {
            status: Status::InProgress,
            end: None,
            replicas: replicas.expect("a small number"),
        };
        let limits = Limits {
            commit_timeout_ms: 1000 * defaults["commit_timeout_s"].as_u64().expect("seconds"),
            ..Limits::default()
        };
        Self {
            completion: Completion { limits, rules },
            leads: is("leader") && is("connected"),
            state: State::Absent,
            longest_ms: 0,
            record: is("metadata_present").then_some(record),
            row_limit: defaults["row_limit"].as_u64().expect("rows"),
            offline: None,
            move_fails: false,
            commit_time_ms: None,
        }
    }

    /// Another controller, which knows nothing but metadata.
    fn lead_anew(&mut self) {
        self.state = State::Absent;
        self.longest_ms = 0;
    }

    fn answer(&mut self, message: Message) -> Answer {
        if message.kind.is_for_leader() && !self.leads {
            return Answer::NotLeader;
        }
        let mut turn = self.completion.on_message(&self.state, message);
        loop {
            let Turn { state, said, longest_ms, .. } = turn.expect("it is taken");
            self.state = state;
            self.commit_time_ms = longest_ms.or(self.commit_time_ms);
            self.longest_ms = longest_ms.unwrap_or(self.longest_ms);
            match said {
                Said::Answer(answer) => {
                    if self.state.is_over() {
                        self.state = State::Absent;
                    }
                    return answer;
                }
                Said::Ask(ask) => {
                    let outcome = self.carry_out(ask);
                    turn = self.completion.on_outcome(&self.state, outcome);
                }
            }
        }
    }

    fn carry_out(&mut self, ask: Ask) -> Outcome {
        match ask {
            Ask::Record => Outcome::Found(Found {
                record: self.record,
                mode: Mode::Blocking,
                longest_ms: self.longest_ms,
            }),
            Ask::Start { .. } => panic!("a blocking commit has no step at its start"),
            Ask::Finish { .. } if self.move_fails => Outcome::Failed,
            Ask::Finish { offset, mode, .. } => {
                assert_eq!(mode, Mode::Blocking);
                let record = self.record.as_mut().expect("it was there");
                record.status = Status::Done;
                record.end = Some(offset);
                Outcome::Done
            }
            Ask::SetOffline(server) => {
                self.offline = Some(server);
                Outcome::Done
            }
            Ask::LowerRowLimit { rows } => {
                self.row_limit = row_limit(rows, self.row_limit);
                Outcome::Done
            }
        }
    }
}

fn server(name: &str) -> ServerId {
    ServerId(name.trim_start_matches('s').parse().expect("servers are called s1, s2, .."))
}

fn kind(step: &Value) -> Kind {
    match step["msg"].as_str().expect("a step has a message") {
        "segmentConsumed" => Kind::Consumed(step["reason"].as_str().and_then(Reason::from_name)),
        "segmentCommitStart" => Kind::CommitStart,
        "segmentCommitEndWithMetadata" => Kind::CommitEnd,
        "extendBuildTime" => {
            let extra_s = step["extra_time_s"].as_u64().expect("seconds");
            Kind::Extend { extra_s: extra_s.try_into().expect("few seconds") }
        }
        "segmentStoppedConsuming" => Kind::Stopped,
        "segmentBuildDeterministicFailure" => {
            Kind::BuildFailed { rows: step["row_count"].as_u64().expect("rows") }
        }
        other => panic!("there is no message {other}"),
    }
}

/// Status, offset and build time, as on the wire.
fn shown(answer: Answer) -> (&'static str, Option<u64>, Option<u64>) {
    match answer {
        Answer::Commit { offset, build_s } => ("COMMIT", Some(offset), Some(build_s)),
        Answer::Hold(offset) => ("HOLD", Some(offset), None),
        Answer::CatchUp(offset) => ("CATCH_UP", Some(offset), None),
        Answer::Discard => ("DISCARD", None, None),
        Answer::Keep(offset) => ("KEEP", Some(offset), None),
        Answer::NotLeader => ("NOT_LEADER", None, None),
        Answer::Failed => ("FAILED", None, None),
        Answer::CommitSuccess => ("COMMIT_SUCCESS", None, None),
        Answer::CommitContinue => ("COMMIT_CONTINUE", None, None),
        Answer::Processed => ("PROCESSED", None, None),
        Answer::UploadSuccess => ("UPLOAD_SUCCESS", None, None),
    }
}

/// Where the machine does otherwise than the case says, and how many statuses were looked at.
#[derive(Default)]
struct Differences {
    found: Vec<String>,
    statuses: usize,
}

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, what: &str, got: &T, expected: &T) {
        if got != expected {
            self.found.push(format!("{what}: expected {expected:?}, got {got:?}"));
        }
    }
}

fn run(rules: Rules, case: &Value, defaults: &Value) -> Differences {
    let mut differences = Differences::default();
    let mut controller = Controller::new(rules, case, defaults);
    for (at, step) in case["steps"].as_array().expect("a case has steps").iter().enumerate() {
        if step["op"] == "new_lead_controller" {
            controller.lead_anew();
            continue;
        }
        let (times, every_s) = match &step["repeat"] {
            Value::Null => (1, 0),
            repeat => {
                let number = |name: &str| repeat[name].as_u64().expect("a number");
                (number("count"), number("every_s"))
            }
        };
        for again in 0..times {
            let at_s = step["t_s"].as_u64().expect("a time") + again * every_s;
            step_once(&mut controller, step, at_s, &format!("step {at}"), &mut differences);
        }
    }
    differences
}

fn step_once(
    controller: &mut Controller,
    step: &Value,
    at_s: u64,
    name: &str,
    differences: &mut Differences,
) {
    controller.offline = None;
    controller.move_fails = step["inject"] == "file_move_fails";
    let answer = controller.answer(Message {
        from: server(step["instance"].as_str().expect("a step has a sender")),
        offset: step["offset"].as_u64().expect("a step has an offset"),
        kind: kind(step),
        at_ms: at_s * 1000,
    });
    let (status, offset, build_s) = shown(answer);
    for (key, expected) in step.as_object().expect("a step has fields") {
        let Some(what) = key.strip_prefix("expect_") else { continue };
        let got = match what {
            "status" => {
                differences.statuses += 1;
                json!(status)
            }
            "offset" => json!(offset),
            "fsm_present" => json!(controller.state != State::Absent),
            "build_time_s_positive" => json!(build_s.is_some_and(|seconds| seconds > 0)),
            "recorded_commit_time_ms" => json!(controller.commit_time_ms),
            "row_limit" => json!(controller.row_limit),
            "replica_set_offline" => json!(controller.offline.map(|s| format!("s{}", s.0))),
            _ if NOT_OF_THE_MACHINE.iter().any(|(not, _)| not == key) => continue,
            other => panic!("nothing is known of expect_{other}"),
        };
        differences.check(&format!("{name}, {key}"), &got, expected);
    }
    // Nothing is set offline that is not expected.
    let offline = json!(controller.offline.map(|server| format!("s{}", server.0)));
    differences.check(&format!("{name}, offline"), &offline, &step["expect_replica_set_offline"]);
}

/// The case with one expectation changed, in each way.
fn falsified(case: &Value) -> Vec<Value> {
    let steps = case["steps"].as_array().expect("a case has steps");
    let expectations = steps.iter().enumerate().flat_map(|(at, step)| {
        let keys = step.as_object().expect("a step has fields").keys();
        keys.filter(|key| {
            key.starts_with("expect_") && NOT_OF_THE_MACHINE.iter().all(|(not, _)| not != key)
        })
        .map(move |key| (at, key.clone()))
    });
    let falsify = |(at, key): (usize, String)| {
        let mut case = case.clone();
        let value = &mut case["steps"][at][key];
        *value = match &*value {
            Value::Bool(is) => json!(!is),
            Value::Number(number) => json!(number.as_u64().expect("it is small") + 1),
            Value::String(text) if text == "FAILED" => json!("HOLD"),
            Value::String(text) if text == "s1" => json!("s2"),
            Value::String(text) if text.starts_with('s') => json!("s1"),
            Value::String(_) => json!("FAILED"),
            Value::Null => json!(1),
            other => panic!("{other} is no expectation"),
        };
        case
    };
    expectations.map(falsify).collect()
}

fn cases() -> (Value, Vec<Value>) {
    let data = data();
    (data["defaults"].clone(), data["cases"].as_array().expect("there are cases").clone())
}

/// Every sequence under upstream's rules; and each again with each expectation falsified, which must be noticed.
#[test]
fn upstream_does_as_its_own_test_says() {
    let (defaults, cases) = cases();
    assert_eq!(cases.len(), SEQUENCES);
    let mut statuses = 0;
    for case in &cases {
        let differences = run(Rules::PINOT_2026_08, case, &defaults);
        assert!(differences.found.is_empty(), "{}: {:#?}", case["id"], differences.found);
        statuses += differences.statuses;
        for false_case in falsified(case) {
            let differences = run(Rules::PINOT_2026_08, &false_case, &defaults);
            assert!(!differences.found.is_empty(), "this is not noticed: {false_case}");
        }
    }
    assert_eq!(statuses, STATUSES);
}

/// Under older rules and the verified ones too: no sequence begins with a segment that is uploaded or half committed,
/// in none does a loser start a commit, and in blocking mode nothing is kept before it is committed.
#[test]
fn so_does_the_machine_under_other_rules() {
    let (defaults, cases) = cases();
    for rules in [Rules::PINOT_14741, Rules::VERIFIED] {
        for case in &cases {
            let differences = run(rules, case, &defaults);
            assert!(differences.found.is_empty(), "{}: {:#?}", case["id"], differences.found);
        }
    }
}
