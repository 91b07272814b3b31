//! The completion protocol on the wire, against upstream's own cases (`data/`, facts of Pinot's unit tests) and back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use surehold::commit::completion::{
    Answer, Ask, Completion, Found, Kind, Message, Mode, Outcome, Phase, Reason, Record, Said,
    State,
};
use surehold::commit::object::{self, ServerId};
use surehold::commit::wire::{Body, Params, Path, Status, WireError};

fn cases() -> Vec<Value> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/pinot-completion-wire.json");
    let text = std::fs::read_to_string(path).expect("the data is beside the tests");
    let data: Value = serde_json::from_str(&text).expect("the data is JSON");
    data["cases"].as_array().expect("there are cases").clone()
}

/// The parameters of a case. What is not positive is not there to be sent.
fn params(fields: &Value) -> Params {
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    let number = |name: &str| fields[name].as_i64().and_then(|n| n.try_into().ok()).unwrap_or(0);
    Params {
        segment: text("segment_name"),
        instance: text("instance"),
        offset: text("offset"),
        reason: text("reason"),
        location: text("location"),
        row_count: number("row_count"),
        memory_used_bytes: number("memory_used_bytes"),
        segment_size_bytes: number("segment_size_bytes"),
        build_time_ms: number("build_time_ms"),
        wait_time_ms: number("wait_time_ms"),
        extra_time_s: number("extra_time_s"),
    }
}

fn path(case: &Value) -> Path {
    let slashed = format!("/{}", case["message"].as_str().expect("a message"));
    Path::ALL.into_iter().find(|path| path.text() == slashed).expect("the path is known")
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map_or(Vec::new(), |all| all.iter().filter_map(Value::as_str).collect())
}

fn check_url(case: &Value) {
    let (id, params, path) = (&case["id"], params(&case["params"]), path(case));
    let url = params.url(path);
    let (before, query) = url.split_once('?').expect("there is a query");
    assert_eq!(before, path.text(), "{id}");
    if let Some(expected) = case["expected_path"].as_str() {
        assert_eq!(before, expected, "{id}");
    }
    let pairs = query.split('&').map(|pair| pair.split_once('=').expect("a name and a value"));
    let sent: BTreeMap<&str, &str> = pairs.collect();
    let encoded = case["query_form"].as_str().is_some_and(|form| form.starts_with("percent"));
    let mut expected = BTreeMap::new();
    for (name, value) in case["expected_query"].as_object().expect("a query") {
        let value = value.as_str().expect("a text");
        let value = if encoded { value.to_owned() } else { value.replace('/', "%2F") };
        expected.insert(name.as_str(), value);
    }
    let expected: BTreeMap<&str, &str> =
        expected.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(sent, expected, "{id}");
    for absent in texts(&case["expected_absent"]) {
        assert!(!sent.contains_key(absent), "{id}: {absent}");
    }
    let read = Params::from_url(&url);
    let unknown = |text: &Option<String>, name: &str| Some(text.clone().unwrap_or(name.to_owned()));
    let back = Params {
        segment: unknown(&params.segment, "UNKNOWN_SEGMENT"),
        instance: unknown(&params.instance, "UNKNOWN_INSTANCE"),
        ..params
    };
    assert_eq!(read, Ok((path, back)), "{id}");
}

/// The body that a case describes. The answer is COMMIT in all of them.
fn body(fields: &Value) -> Body {
    assert_eq!(fields["status"], "COMMIT");
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    let answer = Answer::Commit {
        offset: text("offset").and_then(|offset| offset.parse().ok()).expect("an offset"),
        build_s: fields["build_time_s"].as_u64().expect("seconds"),
    };
    let (controller_vip_url, segment_location) =
        (text("controller_vip_url"), text("segment_location"));
    Body { controller_vip_url, segment_location, ..Body::from(answer) }
}

fn check_fields(case: &Value) {
    let (body, expected) = (body(&case["params"]), &case["expected"]);
    assert_eq!(json!(body.build_time_sec), expected["build_time_s"], "{}", case["id"]);
    assert_eq!(json!(body.stream_partition_msg_offset), expected["offset"], "{}", case["id"]);
    assert_eq!(json!(body.segment_location), expected["segment_location"], "{}", case["id"]);
    assert_eq!(json!(body.status), expected["status"], "{}", case["id"]);
}

fn check_json(case: &Value) {
    let body = body(&case["params"]);
    let sent = serde_json::to_value(&body).expect("it is JSON");
    for (name, value) in case["expected_json_has"].as_object().expect("fields") {
        assert_eq!(&sent[name], value, "{}: {name}", case["id"]);
    }
    for absent in texts(&case["expected_json_absent"]) {
        assert!(sent.get(absent).is_none(), "{}: {absent}", case["id"]);
    }
    let read: Body = serde_json::from_value(sent).expect("it is a body");
    assert_eq!(read, body, "{}", case["id"]);
}

/// Which machine a table gets shows where the mode matters first: at the start of a commit.
fn check_kind(case: &Value) {
    let pauseless = case["pauseless"].as_bool().expect("a mode");
    let mode = if pauseless { Mode::Pauseless } else { Mode::Blocking };
    let made = if pauseless { "pauseless" } else { "blocking" };
    assert_eq!(case["expected_kind"], made, "{}", case["id"]);
    for status in texts(&case["metadata_status_any_of"]) {
        let (status, end) = match status {
            "IN_PROGRESS" => (object::Status::InProgress, None),
            "DONE" => (object::Status::Done, Some(20)),
            other => panic!("nothing is known of {other}"),
        };
        let record = Some(Record { status, end, replicas: 1 });
        let completion = Completion::verified();
        let state = make(&completion, Found { record, mode, longest_ms: 0 });
        let starts = message(Kind::CommitStart);
        let turn = completion.on_message(&state, starts).expect("it is taken");
        let expected = match (status, mode) {
            (object::Status::InProgress, Mode::Pauseless) => {
                Said::Ask(Ask::Start { committer: ServerId(1), offset: 20 })
            }
            (object::Status::InProgress, Mode::Blocking) => Said::Answer(Answer::CommitContinue),
            // One that is committed is of no mode.
            _ => Said::Answer(Answer::Keep(20)),
        };
        assert_eq!(turn.said, expected, "{}", case["id"]);
    }
}

fn message(kind: Kind) -> Message {
    Message { from: ServerId(1), offset: 20, kind, at_ms: 0 }
}

/// The machine after its first report.
fn make(completion: &Completion, found: Found) -> State {
    let reports = message(Kind::Consumed(None));
    let asked = completion.on_message(&State::Absent, reports).expect("it is taken");
    completion.on_outcome(&asked.state, Outcome::Found(found)).expect("it was asked").state
}

#[test]
fn the_wire_is_as_upstream_has_it() {
    let mut ops = BTreeMap::<String, usize>::new();
    for case in cases() {
        let op = case["op"].as_str().expect("a case has an op");
        *ops.entry(op.to_owned()).or_default() += 1;
        match op {
            "request_url" => check_url(&case),
            "response_fields" => check_fields(&case),
            "response_json" => check_json(&case),
            "state_machine_kind" => check_kind(&case),
            other => panic!("nothing is known of {other}"),
        }
    }
    let expected = [
        ("request_url", 4),
        ("response_fields", 2),
        ("response_json", 4),
        ("state_machine_kind", 2),
    ];
    assert_eq!(ops, expected.map(|(op, count)| (op.to_owned(), count)).into());
}

/// A whole body, as dossier 6 shows one.
#[test]
fn a_body_has_all_its_fields() {
    let body = Body::from(Answer::Hold(120));
    let expected = json!({
        "status": "HOLD", "streamPartitionMsgOffset": "120", "buildTimeSec": -1, "isSplitCommitType": true,
    });
    assert_eq!(serde_json::to_value(&body).expect("it is JSON"), expected);
    let least: Body = serde_json::from_value(json!({"status": "FAILED"})).expect("it is a body");
    assert_eq!(least, Body::from(Answer::Failed));
}

#[test]
fn every_answer_comes_back() {
    let answers = [
        (Answer::Commit { offset: 5, build_s: 126 }, "COMMIT"),
        (Answer::Hold(5), "HOLD"),
        (Answer::CatchUp(5), "CATCH_UP"),
        (Answer::Discard, "DISCARD"),
        (Answer::Keep(5), "KEEP"),
        (Answer::NotLeader, "NOT_LEADER"),
        (Answer::Failed, "FAILED"),
        (Answer::CommitSuccess, "COMMIT_SUCCESS"),
        (Answer::CommitContinue, "COMMIT_CONTINUE"),
        (Answer::Processed, "PROCESSED"),
        (Answer::UploadSuccess, "UPLOAD_SUCCESS"),
    ];
    for (answer, status) in answers {
        let body = Body::from(answer);
        assert_eq!(serde_json::to_value(body.status).expect("it is JSON"), json!(status));
        assert_eq!(body.answer(), Ok(answer));
    }
}

#[test]
fn a_body_that_lacks_something_is_refused() {
    let lacking = |body: Body| body.answer().expect_err("something is missing");
    for status in [Status::Hold, Status::CatchUp, Status::Keep, Status::Commit] {
        let bare = Body { status, ..Body::from(Answer::Failed) };
        assert_eq!(lacking(bare.clone()), WireError::Missing("streamPartitionMsgOffset"));
        for text in ["", "x", "-5", "5.0", "18446744073709551616"] {
            let offset = Some(text.to_owned());
            let worded = Body { stream_partition_msg_offset: offset, ..bare.clone() };
            assert_eq!(lacking(worded), WireError::Number("streamPartitionMsgOffset"), "{text}");
        }
    }
    let untimed =
        Body { build_time_sec: -1, ..Body::from(Answer::Commit { offset: 5, build_s: 1 }) };
    assert_eq!(lacking(untimed), WireError::Number("buildTimeSec"));
}

#[test]
fn every_message_comes_through() {
    let text = |text: &str| Some(text.to_owned());
    let params = Params {
        segment: text("t__4__27__20160617T2150Z"),
        instance: text("s1"),
        offset: text("20"),
        reason: text("rowLimit"),
        location: text("peer:///t__4__27__20160617T2150Z"),
        row_count: 7,
        extra_time_s: 30,
        ..Params::default()
    };
    let kinds = [
        (Path::Consumed, Ok(Kind::Consumed(Some(Reason::RowLimit)))),
        (Path::CommitStart, Ok(Kind::CommitStart)),
        (Path::Upload, Err(WireError::NotForTheMachine)),
        (Path::CommitEnd, Ok(Kind::CommitEnd)),
        (Path::Extend, Ok(Kind::Extend { extra_s: 30 })),
        (Path::Stopped, Ok(Kind::Stopped)),
        (Path::BuildFailed, Ok(Kind::BuildFailed { rows: 7 })),
    ];
    assert_eq!(kinds.map(|(path, _)| path), Path::ALL);
    for (path, kind) in kinds {
        let (read_path, read) = Params::from_url(&params.url(path)).expect("it was just written");
        let expected = kind.map(|kind| Message { from: ServerId(1), offset: 20, kind, at_ms: 9 });
        assert_eq!(read.message(read_path, ServerId(1), 9), expected);
    }
    for reason in Reason::ALL {
        let params = Params { reason: text(reason.name()), ..params.clone() };
        let read = params.message(Path::Consumed, ServerId(1), 9).expect("it is a message");
        assert_eq!(read.kind, Kind::Consumed(Some(reason)));
    }
    for reason in [None, text(""), text("java.lang.OutOfMemoryError")] {
        let params = Params { reason, ..params.clone() };
        let read = params.message(Path::Consumed, ServerId(1), 9).expect("it is a message");
        assert_eq!(read.kind, Kind::Consumed(None));
    }
    let for_ever = Params { extra_time_s: u64::MAX, ..params.clone() };
    let read = for_ever.message(Path::Extend, ServerId(1), 9).expect("it is a message");
    assert_eq!(read.kind, Kind::Extend { extra_s: u32::MAX });
}

#[test]
fn a_request_that_lacks_something_is_refused() {
    let text = |text: &str| Some(text.to_owned());
    let whole = Params {
        segment: text("t"),
        instance: text("s1"),
        offset: text("20"),
        location: text("x"),
        ..Params::default()
    };
    for path in Path::ALL.into_iter().filter(|path| *path != Path::Upload) {
        let refusal = |params: Params| params.message(path, ServerId(1), 9).err();
        assert_eq!(refusal(whole.clone()), None);
        let segment = Params { segment: None, ..whole.clone() };
        assert_eq!(refusal(segment), Some(WireError::Missing("name")));
        let instance = Params { instance: None, ..whole.clone() };
        assert_eq!(refusal(instance), Some(WireError::Missing("instance")));
        let offset = Params { offset: None, ..whole.clone() };
        assert_eq!(refusal(offset), Some(WireError::Missing("streamPartitionMsgOffset")));
        let worded = Params { offset: text("{\"shard\":\"1\"}"), ..whole.clone() };
        assert_eq!(refusal(worded), Some(WireError::Number("streamPartitionMsgOffset")));
        let location = Params { location: None, ..whole.clone() };
        let needed = (path == Path::CommitEnd).then_some(WireError::Missing("location"));
        assert_eq!(refusal(location), needed);
    }
}

#[test]
fn a_url_that_cannot_be_read_is_refused() {
    let refused = [
        ("", WireError::Path),
        ("segmentConsumed", WireError::Path),
        ("/segmentConsumed/?name=t", WireError::Path),
        ("/segmentConsumed?name=%", WireError::Encoding),
        ("/segmentConsumed?name=%4", WireError::Encoding),
        ("/segmentConsumed?name=%4g", WireError::Encoding),
        ("/segmentConsumed?name=%ff", WireError::Encoding),
        ("/segmentConsumed?name=a&name=b", WireError::Twice("name")),
        ("/segmentConsumed?rowCount=1&rowCount=2", WireError::Twice("rowCount")),
        ("/segmentConsumed?rowCount=", WireError::Number("rowCount")),
        ("/segmentConsumed?rowCount=1.5", WireError::Number("rowCount")),
        ("/segmentConsumed?rowCount=-x", WireError::Number("rowCount")),
        ("/extendBuildTime?extraTimeSec=18446744073709551616", WireError::Number("extraTimeSec")),
    ];
    for (url, error) in refused {
        assert_eq!(Params::from_url(url), Err(error), "{url}");
    }
    let read = Params::from_url("/segmentConsumed?&name=a+b%2bc&unknown=1&rowCount=-5&instance=");
    let expected = Params {
        segment: Some("a b+c".to_owned()),
        instance: Some(String::new()),
        ..Params::default()
    };
    assert_eq!(read, Ok((Path::Consumed, expected)));
    assert_eq!(Params::from_url("/extendBuildTime"), Ok((Path::Extend, Params::default())));
}

/// What a machine remembers is read back as it was.
#[test]
fn a_state_comes_back() {
    let record = Some(Record { status: object::Status::InProgress, end: None, replicas: 3 });
    let found = Found { record, mode: Mode::Pauseless, longest_ms: 0 };
    let state = make(&Completion::verified(), found);
    assert!(matches!(state, State::Idle(Phase::Holding(_))));
    let text = serde_json::to_string(&state).expect("it is JSON");
    assert_eq!(serde_json::from_str::<State>(&text).expect("it is a state"), state);
}
