//! Reingestion on the wire, in both forms: each request, answer and refusal, written and read back (origin 2, dossier
//! 10).

use serde_json::{Value, json};
use surehold::commit::message::{RefillStatus, ReingestStatus};
use surehold::commit::name::{NameError, SegmentName};
use surehold::commit::object::{Crc, Range, Rows, Sealed};
use surehold::commit::wire::reingest::begin::{self, Accepted, Begin, Job, Request};
use surehold::commit::wire::reingest::complete::{self, Complete, Done, Posted};
use surehold::commit::wire::reingest::{Form, MAX_NAME_BYTES, Malformed, Place, Refused, Why};

const SEGMENT: &str = "orders__3__41__20261101T0805Z";
const BEGAN_MS: u64 = 1_793_520_300_000;

const STATUSES: [ReingestStatus; 5] = [
    ReingestStatus::Accepted,
    ReingestStatus::NotFound,
    ReingestStatus::Conflict,
    ReingestStatus::TooMany,
    ReingestStatus::NotReady,
];

fn segment() -> SegmentName {
    SEGMENT.parse().expect("it is a name")
}

fn begins(form: Form) -> Begin {
    Begin { form, segment: segment() }
}

fn job() -> Job {
    Job {
        job_id: "6f1c".to_owned(),
        table_name_with_type: None,
        segment_name: SEGMENT.to_owned(),
        start_time_ms: BEGAN_MS,
    }
}

fn begun(status: ReingestStatus, form: Form) -> begin::Answer {
    begin::Answer::of(status, &begins(form), "6f1c", BEGAN_MS)
}

fn written(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("it is JSON")
}

fn malformed(place: Place, name: &'static str, why: Why) -> Malformed {
    Malformed { place, name, why }
}

// ---------------------------------------------------------------------------------------------------
// A controller asks a server

#[test]
fn a_request_is_written_in_either_form_and_read_back() {
    let body = json!({"tableNameWithType": "orders_REALTIME", "segmentName": SEGMENT});
    let requests = [
        (Request::Begin(begins(Form::Text)), "POST", "/reingestSegment", body),
        (
            Request::Begin(begins(Form::Tree)),
            "POST",
            "/reingestSegment/orders__3__41__20261101T0805Z",
            json!({}),
        ),
        (Request::Jobs, "GET", "/reingestSegment/jobs", Value::Null),
    ];
    for (request, method, url, body) in requests {
        assert_eq!((request.method(), request.url().as_str()), (method, url));
        assert_eq!(request.body().map_or(Value::Null, |body| written(&body)), body);
        assert_eq!(Request::read(method, url, body), Ok(request));
    }
}

/// What is not known is passed over, and a body is not looked at where the path says it all.
#[test]
fn a_request_is_read_leniently() {
    let body = json!({"segmentName": SEGMENT, "force": [1, {"segmentName": "x"}],
        "tableNameWithType": "orders_REALTIME", "": null});
    let text = Ok(Request::Begin(begins(Form::Text)));
    assert_eq!(Request::read("POST", "/reingestSegment?x=1", body), text);
    let tree = Ok(Request::Begin(begins(Form::Tree)));
    let url = "/reingestSegment/orders%5F%5F3__41__20261101T0805Z?x=1";
    for body in [Value::Null, json!([]), json!({"segmentName": "another"})] {
        assert_eq!(Request::read("POST", url, body), tree);
    }
    assert_eq!(Request::read("GET", "/reingestSegment/jobs?x=1", Value::Null), Ok(Request::Jobs));
    // Names with what a URL reserves.
    let odd: SegmentName = "a b+c/%__0__0__20261101T0805Z".parse().expect("it is a name");
    let request = Request::Begin(Begin { form: Form::Tree, segment: odd });
    assert_eq!(request.url(), "/reingestSegment/a%20b%2Bc%2F%25__0__0__20261101T0805Z");
    assert_eq!(Request::read("POST", &request.url(), json!({})), Ok(request));
}

#[test]
fn a_body_that_is_no_request_is_refused_by_name() {
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    let too_long = Why::TooLong { bytes: MAX_NAME_BYTES + 1, most: MAX_NAME_BYTES };
    let table = "orders_REALTIME";
    let both =
        |table: Value, segment: Value| json!({"tableNameWithType": table, "segmentName": segment});
    let of_table = |why| malformed(Place::Body, "tableNameWithType", why);
    let of_segment = |why| malformed(Place::Body, "segmentName", why);
    let whole = |why| malformed(Place::Body, "", why);
    let bodies = [
        (json!(null), whole(Why::Is("null")), 400),
        (json!([SEGMENT]), whole(Why::Is("an array")), 400),
        (json!(SEGMENT), whole(Why::Is("a text")), 400),
        (json!(7), whole(Why::Is("a number")), 400),
        (json!({}), of_table(Why::Missing), 400),
        (json!({"segmentName": SEGMENT}), of_table(Why::Missing), 400),
        (json!({"tableNameWithType": table}), of_segment(Why::Missing), 400),
        (
            json!({"tableNameWithType": table, "segmentname": SEGMENT}),
            of_segment(Why::Missing),
            400,
        ),
        (both(json!(null), json!(SEGMENT)), of_table(Why::Missing), 400),
        (both(json!(1), json!(SEGMENT)), of_table(Why::Is("a number")), 400),
        (both(json!(-1), json!(SEGMENT)), of_table(Why::Is("a negative number")), 400),
        (both(json!(true), json!(SEGMENT)), of_table(Why::Is("true or false")), 400),
        (both(json!(table), json!([SEGMENT])), of_segment(Why::Is("an array")), 400),
        (both(json!(table), json!({"name": SEGMENT})), of_segment(Why::Is("an object")), 400),
        (both(json!(""), json!(SEGMENT)), of_table(Why::Empty), 400),
        (both(json!(table), json!("")), of_segment(Why::Empty), 400),
        (both(json!(table), json!(long)), of_segment(too_long), 400),
        (both(json!("orders"), json!(SEGMENT)), of_table(Why::Type), 400),
        (both(json!("orders_OFFLINE"), json!(SEGMENT)), of_table(Why::Type), 400),
        (both(json!("_REALTIME"), json!(SEGMENT)), of_table(Why::Type), 400),
        (
            both(json!(table), json!("orders__3__41")),
            of_segment(Why::Name(NameError::Parts(3))),
            400,
        ),
        (
            both(json!(table), json!("orders__x__41__20261101T0805Z")),
            of_segment(Why::Name(NameError::Partition)),
            400,
        ),
        (both(json!("payments_REALTIME"), json!(SEGMENT)), of_table(Why::OtherTable), 404),
    ];
    for (body, error, code) in bodies {
        assert_eq!(Request::read("POST", "/reingestSegment", body.clone()), Err(error), "{body}");
        let answer = begin::Answer::from(error);
        let says = json!({"code": code, "error": error.to_string()});
        assert_eq!((answer.code(), written(&answer)), (code, says));
    }
    // What comes twice, and what is no JSON, have no form as a value.
    let texts = [
        (
            r#"{"segmentName":"a","tableNameWithType":"t_REALTIME","segmentName":"b"}"#,
            of_segment(Why::Twice),
        ),
        ("", whole(Why::Syntax)),
        (r#"{"segmentName":"a""#, whole(Why::Syntax)),
        (r#"{"segmentName":a}"#, whole(Why::Syntax)),
    ];
    for (text, error) in texts {
        let mut body = serde_json::Deserializer::from_str(text);
        assert_eq!(Request::read("POST", "/reingestSegment", &mut body), Err(error), "{text}");
    }
    // Whatever lies deep within is no reason to panic.
    let deep = format!(r#"{{"x":{}"#, "[".repeat(100_000));
    let mut body = serde_json::Deserializer::from_str(&deep);
    let read = Request::read("POST", "/reingestSegment", &mut body);
    assert_eq!(read, Err(whole(Why::Syntax)));
}

#[test]
fn a_path_that_is_none_is_refused() {
    let no_such = malformed(Place::Path, "", Why::NoSuch);
    let of_segment = |why| malformed(Place::Path, "segmentName", why);
    let long = format!("/reingestSegment/{}", "x".repeat(MAX_NAME_BYTES + 1));
    let too_long = Why::TooLong { bytes: MAX_NAME_BYTES + 1, most: MAX_NAME_BYTES };
    let refused = [
        ("GET", "/reingestSegment/t", no_such, 404),
        ("GET", "/reingestSegment", no_such, 404),
        ("PUT", "/reingestSegment/jobs", no_such, 404),
        ("DELETE", "/reingestSegment", no_such, 404),
        ("POST", "/reingestSegments", no_such, 404),
        ("POST", "/reingestSegment/", no_such, 404),
        ("POST", "/reingestSegment/a/b", no_such, 404),
        ("POST", "", no_such, 404),
        ("POST", "/reingestSegment/%4", of_segment(Why::Encoding), 400),
        ("POST", "/reingestSegment/%FF", of_segment(Why::Encoding), 400),
        ("POST", "/reingestSegment/jobs", of_segment(Why::Name(NameError::Parts(1))), 400),
        ("POST", long.as_str(), of_segment(too_long), 400),
    ];
    for (method, url, error, code) in refused {
        assert_eq!(Request::read(method, url, json!({})), Err(error), "{method} {url}");
        assert_eq!(error.code(), code);
    }
}

#[test]
fn a_job_that_has_begun_is_told_in_the_form_of_its_request() {
    let answer = begun(ReingestStatus::Accepted, Form::Text);
    let body = json!({"jobId": "6f1c", "message": format!("{SEGMENT}: it is read again")});
    assert_eq!((answer.code(), written(&answer)), (200, body.clone()));
    assert_eq!(begin::Answer::read(200, body), Ok(answer));

    let answer = begun(ReingestStatus::Accepted, Form::Tree);
    let body = json!({"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": BEGAN_MS});
    assert_eq!((answer.code(), written(&answer)), (200, body.clone()));
    assert_eq!(begin::Answer::read(200, body), Ok(answer));

    // A message is for people.
    let silent = begin::Answer::Accepted(Accepted { job_id: "6f1c".to_owned(), message: None });
    assert_eq!(begin::Answer::read(200, json!({"jobId": "6f1c", "x": 1})), Ok(silent));
}

#[test]
fn a_refusal_says_its_status_twice() {
    let texts = [
        (404, "this server has no such segment"),
        (409, "the segment is being read again here, or is completed"),
        (429, "as many jobs run as may"),
        (500, "the server or the segment is not ready for it"),
    ];
    for (status, (code, text)) in STATUSES[1..].iter().zip(texts) {
        for form in [Form::Text, Form::Tree] {
            let answer = begun(*status, form);
            let body = json!({"code": code, "error": format!("{SEGMENT}: {text}")});
            assert_eq!((answer.code(), written(&answer)), (code, body.clone()));
            assert_eq!(begin::Answer::read(code, body), Ok(answer));
        }
    }
}

#[test]
fn every_way_to_take_a_request_comes_back() {
    for taken in STATUSES {
        for form in [Form::Text, Form::Tree] {
            let answer = begun(taken, form);
            assert_eq!(answer.status(), Ok(taken));
            assert_eq!(begin::Answer::read(answer.code(), written(&answer)), Ok(answer));
        }
    }
    // Upstream's tree: the segment can be had already, or a gateway is in between.
    assert_eq!(begin::status(400), Ok(ReingestStatus::Conflict));
    assert_eq!(begin::status(503), Ok(ReingestStatus::NotReady));
    for code in [0, 100, 201, 302, 401, 600] {
        assert_eq!(begin::status(code), Err(malformed(Place::Status, "", Why::Number)), "{code}");
    }
}

#[test]
fn an_answer_counts_by_its_status_and_a_job_by_its_name() {
    let of = |name, why| Err(malformed(Place::Body, name, why));
    let bodies = [
        (json!({"jobId": "6f1c", "segmentName": SEGMENT}), of("startTimeMs", Why::Missing)),
        (
            json!({"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": -1}),
            of("startTimeMs", Why::Is("a negative number")),
        ),
        (
            json!({"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": "1"}),
            of("startTimeMs", Why::Is("a text")),
        ),
        (json!({"code": 404, "error": "no"}), of("jobId", Why::Missing)),
        (json!({"jobId": 7}), of("jobId", Why::Is("a number"))),
        (json!([]), of("", Why::Is("an array"))),
    ];
    for (body, error) in bodies {
        assert_eq!(begin::Answer::read(200, body.clone()), error, "{body}");
    }
    let refused = |code, error: Option<&str>| {
        let error = error.map(str::to_owned);
        Ok(begin::Answer::Refused(Refused { code, error, reason: None }))
    };
    assert_eq!(
        begin::Answer::read(409, json!({"code": 500, "error": "no"})),
        refused(409, Some("no"))
    );
    assert_eq!(begin::Answer::read(409, json!({"code": 409})), refused(409, None));
    assert_eq!(begin::Answer::read(503, json!("no upstream")), refused(503, None));
    assert_eq!(begin::Answer::read(302, json!({})), Err(malformed(Place::Status, "", Why::Number)));
}

#[test]
fn the_list_of_jobs_is_an_array_with_the_table_or_without() {
    let table_name_with_type = Some("orders_REALTIME".to_owned());
    let other = Job { table_name_with_type, start_time_ms: 0, ..job() };
    let jobs = vec![job(), other];
    let body = json!([
        {"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": BEGAN_MS},
        {"jobId": "6f1c", "tableNameWithType": "orders_REALTIME", "segmentName": SEGMENT, "startTimeMs": 0},
    ]);
    assert_eq!(written(&jobs), body);
    assert_eq!(serde_json::from_value::<Vec<Job>>(body).expect("they are jobs"), jobs);
    assert_eq!(serde_json::from_value::<Vec<Job>>(json!([])).expect("they are none"), []);
}

// ---------------------------------------------------------------------------------------------------
// A server asks a controller

const URI: &str = "s3://b/orders/orders__3__41__20261101T0805Z.tmp.6f1c";
const URL: &str = "/segments/reingested?tableName=orders";
const PROPERTIES: &str = "segment.name = orders__3__41__20261101T0805Z
segment.realtime.startOffset = 100
segment.realtime.endOffset = 110
surehold.missing = 100-104,109-110
";

fn completes(form: Form) -> Complete {
    let range = |start, end| Range { start, end };
    let rows = Rows { range: range(100, 110), missing: vec![range(100, 104), range(109, 110)] };
    let copy = Sealed { crc: Crc(81_735), rows };
    Complete { segment: segment(), copy, stored: (form == Form::Tree).then(|| URI.to_owned()) }
}

/// A request that is right, in [`Form::Tree`].
fn posted() -> Posted<'static> {
    Posted {
        method: "POST",
        url: URL,
        headers: &[
            ("UPLOAD_TYPE", "METADATA"),
            ("DOWNLOAD_URI", URI),
            ("COPY_SEGMENT_TO_DEEP_STORE", "true"),
        ],
        parts: &["metadata"],
        properties: PROPERTIES,
        creation: &[0, 0, 0, 0, 0, 1, 0x3F, 0x47],
    }
}

#[test]
fn a_completion_is_written_in_either_form_and_read_back() {
    for form in [Form::Text, Form::Tree] {
        let complete = completes(form);
        assert_eq!((complete.form(), complete.url().as_str()), (form, URL));
        let (url, headers) = (complete.url(), complete.headers());
        let (properties, creation) = (complete.properties(), complete.creation());
        assert_eq!((properties.as_str(), &creation[..]), (PROPERTIES, posted().creation));
        let parts = complete.parts();
        let all = ["segment", "metadata"];
        assert_eq!(parts, if form == Form::Text { &all[..] } else { &all[1..] });
        let as_sent = Posted {
            method: "POST",
            url: &url,
            headers: &headers,
            parts,
            properties: &properties,
            creation: &creation,
        };
        assert_eq!(Complete::read(&as_sent), Ok(complete));
    }
    let mut whole = completes(Form::Tree);
    whole.copy.rows.missing.clear();
    assert!(!whole.properties().contains("missing"));
}

/// Headers in any case, other lines, other parts, the table with its type, and more bytes of `creation.meta`.
#[test]
fn a_completion_is_read_leniently() {
    let headers = [
        ("upload_type", "metadata"),
        ("Download_Uri", URI),
        ("copy_segment_to_deep_store", "TRUE"),
        ("CRYPTER", "x"),
    ];
    let properties = format!("# made by a server\n\n! so\nx\nsegment.total.docs=6\n{PROPERTIES}");
    let creation = [posted().creation, &[9; 16]].concat();
    let request = Posted {
        url: "/segments/reingested?x=1&tableName=orders_REALTIME",
        headers: &headers,
        parts: &[SEGMENT],
        properties: &properties,
        creation: &creation,
        ..posted()
    };
    assert_eq!(Complete::read(&request), Ok(completes(Form::Tree)));
}

#[test]
fn a_completion_that_lacks_something_is_refused_by_name() {
    let [upload, uri, copy] = *posted().headers else { panic!("three headers") };
    let long = format!("s3://{}", "x".repeat(2_048));
    let of = |place, name, why| malformed(place, name, why);
    let header = |name, why| malformed(Place::Header, name, why);
    let missing = Why::Missing;
    let too_long = Why::TooLong { bytes: 2_053, most: 2_048 };
    let of_headers: [(&[(&str, &str)], Malformed); 9] = [
        (&[], header("UPLOAD_TYPE", missing)),
        (&[uri, copy], header("UPLOAD_TYPE", missing)),
        (&[("UPLOAD_TYPE", "SEGMENT"), uri, copy], header("UPLOAD_TYPE", Why::HasToBe("METADATA"))),
        (&[upload, uri], header("COPY_SEGMENT_TO_DEEP_STORE", missing)),
        (
            &[upload, uri, ("COPY_SEGMENT_TO_DEEP_STORE", "false")],
            header("COPY_SEGMENT_TO_DEEP_STORE", Why::HasToBe("true")),
        ),
        (&[upload, copy], header("DOWNLOAD_URI", missing)),
        (&[upload, copy, ("DOWNLOAD_URI", " ")], header("DOWNLOAD_URI", Why::Empty)),
        (&[upload, copy, ("DOWNLOAD_URI", &long)], header("DOWNLOAD_URI", too_long)),
        (&[upload, copy, uri, ("download_uri", URI)], header("DOWNLOAD_URI", Why::Twice)),
    ];
    let of_headers =
        of_headers.map(|(headers, error)| (Posted { headers, ..posted() }, error, 400));
    let query = |why| of(Place::Query, "tableName", why);
    let of_urls = [
        ("/segments/reingested", query(missing), 400),
        ("/segments/reingested?tableName=", query(Why::Empty), 400),
        ("/segments/reingested?tableName=%zz", query(Why::Encoding), 400),
        ("/segments/reingested?tableName=orders&tableName=orders", query(Why::Twice), 400),
        ("/segments/reingested?tableName=payments", query(Why::OtherTable), 404),
        ("/segments/reingested/x?tableName=orders", of(Place::Path, "", Why::NoSuch), 404),
        ("/segments?tableName=orders", of(Place::Path, "", Why::NoSuch), 404),
    ];
    let of_urls = of_urls.map(|(url, error, code)| (Posted { url, ..posted() }, error, code));
    let others = [
        (Posted { method: "PUT", ..posted() }, of(Place::Path, "", Why::NoSuch), 404),
        (Posted { parts: &[], ..posted() }, of(Place::Part, "metadata", missing), 400),
        (
            Posted { headers: &[], parts: &["segment"], ..posted() },
            of(Place::Part, "metadata", missing),
            400,
        ),
        (Posted { creation: &[1; 7], ..posted() }, of(Place::Creation, "crc", missing), 400),
        (
            Posted { creation: &[0, 0, 0, 1, 0, 0, 0, 0], ..posted() },
            of(Place::Creation, "crc", Why::Number),
            400,
        ),
    ];
    for (request, error, code) in of_headers.into_iter().chain(of_urls).chain(others) {
        assert_eq!(Complete::read(&request), Err(error), "{request:?}");
        let answer = complete::Answer::from(error);
        let says = json!({"code": code, "error": error.to_string()});
        assert_eq!((answer.code(), written(&answer)), (code, says));
    }
}

#[test]
fn properties_that_are_none_are_refused_by_name() {
    const NAME: &str = "segment.name";
    const START: &str = "segment.realtime.startOffset";
    const END: &str = "segment.realtime.endOffset";
    const MISSING: &str = "surehold.missing";
    let with = |from: &str, to: &str| PROPERTIES.replace(from, to);
    let gaps = |text: &str| with("100-104,109-110", text);
    let texts = [
        (String::new(), NAME, Why::Missing),
        (with(SEGMENT, "orders"), NAME, Why::Name(NameError::Parts(1))),
        (with(SEGMENT, ""), NAME, Why::Empty),
        (format!("{PROPERTIES}segment.name=x"), NAME, Why::Twice),
        (with(START, "x"), START, Why::Missing),
        (with("= 100", "= -100"), START, Why::Number),
        (with("= 100", "="), START, Why::Empty),
        (with("= 110", "= 99999999999999999999"), END, Why::Number),
        (with("= 110", "= 99"), END, Why::Ranges),
        (gaps(""), MISSING, Why::Ranges),
        (gaps("100"), MISSING, Why::Ranges),
        (gaps("100-x"), MISSING, Why::Ranges),
        (gaps("-104"), MISSING, Why::Ranges),
        (gaps("104-104"), MISSING, Why::Ranges),
        (gaps("99-104"), MISSING, Why::Ranges),
        (gaps("100-111"), MISSING, Why::Ranges),
        (gaps("105-106,100-104"), MISSING, Why::Ranges),
        (gaps("100-104,"), MISSING, Why::Ranges),
    ];
    for (properties, name, why) in texts {
        let request = Posted { properties: &properties, ..posted() };
        let error = malformed(Place::Properties, name, why);
        assert_eq!(Complete::read(&request), Err(error), "{properties}");
        assert_eq!(error.code(), 400);
    }
}

#[test]
fn every_outcome_of_a_completion_comes_back() {
    let says = [
        (RefillStatus::Done, 200, "it is done"),
        (RefillStatus::OtherRange, 400, "the copy is of another range"),
        (RefillStatus::NotFound, 404, "there is no record"),
        (RefillStatus::AlreadyDone, 409, "the record is done already"),
        (RefillStatus::NotCommitting, 409, "the record is not COMMITTING"),
        (RefillStatus::Suppliable, 409, "a listed server has rows that are missing"),
        (RefillStatus::Overtaken, 500, "somebody else wrote the record first"),
        (RefillStatus::Failed, 500, "an operation failed, the record is as it was"),
        (RefillStatus::Unknown, 500, "the record may have been written"),
        (RefillStatus::NotReset, 500, "it is done, but replicas in error were not reset"),
    ];
    assert_eq!(says.map(|(status, ..)| status), RefillStatus::ALL);
    for (status, code, text) in says {
        let answer = complete::Answer::of(status, &segment());
        let text = format!("{SEGMENT}: {text}");
        let body = match code {
            200 => json!({"status": text}),
            _ => json!({"code": code, "error": text, "reason": status.name()}),
        };
        assert_eq!((answer.code(), written(&answer)), (code, body.clone()));
        assert_eq!(answer.status(), Ok(status));
        assert_eq!(complete::Answer::read(code, body), Ok(answer));
    }
}

/// A peer of another kind gives no reason, or one that does not go with its status.
#[test]
fn an_outcome_without_a_reason_is_told_by_its_status() {
    let told = |code, body: Value| complete::Answer::read(code, body).map(|answer| answer.status());
    let cases = [
        (400, RefillStatus::OtherRange),
        (404, RefillStatus::NotFound),
        (409, RefillStatus::NotCommitting),
        (500, RefillStatus::Unknown),
        (503, RefillStatus::Unknown),
    ];
    for (code, status) in cases {
        for body in [json!({"code": code, "error": "no"}), json!("no"), Value::Null] {
            assert_eq!(told(code, body), Ok(Ok(status)));
        }
        for reason in ["done", "nonsense"] {
            assert_eq!(told(code, json!({"code": code, "reason": reason})), Ok(Ok(status)));
        }
    }
    let silent = complete::Answer::Done(Done { status: None });
    assert_eq!(complete::Answer::read(200, json!([])), Ok(silent));
    assert_eq!(told(302, json!({})), Err(malformed(Place::Status, "", Why::Number)));
}
