//! Reingestion on the wire: each request and answer as upstream's tree writes it, and back (dossier 10).

use serde_json::{Value, json};
use surehold::commit::message::ReingestStatus;
use surehold::commit::wire::WireError;
use surehold::commit::wire::reingest::{Answer, Job, Refused, Request, status};

const SEGMENT: &str = "orders__3__41__20261101T0805Z";

const STATUSES: [ReingestStatus; 5] = [
    ReingestStatus::Accepted,
    ReingestStatus::NotFound,
    ReingestStatus::Conflict,
    ReingestStatus::TooMany,
    ReingestStatus::NotReady,
];

fn job() -> Job {
    Job {
        job_id: "6f1c".to_owned(),
        segment_name: SEGMENT.to_owned(),
        start_time_ms: 1_793_520_300_000,
    }
}

#[test]
fn a_job_is_written_as_upstream_does_and_read_back() {
    let answer = Answer::of(ReingestStatus::Accepted, job());
    let body =
        json!({"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": 1_793_520_300_000_u64});
    assert_eq!(answer.code(), 200);
    assert_eq!(serde_json::to_value(&answer).expect("it is JSON"), body);
    assert_eq!(Answer::read(200, body), Ok(answer));
}

#[test]
fn the_list_of_jobs_is_an_array_of_the_same() {
    let other = Job { job_id: "70aa".to_owned(), start_time_ms: 0, ..job() };
    let jobs = vec![job(), other];
    let body = json!([
        {"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": 1_793_520_300_000_u64},
        {"jobId": "70aa", "segmentName": SEGMENT, "startTimeMs": 0},
    ]);
    assert_eq!(serde_json::to_value(&jobs).expect("it is JSON"), body);
    assert_eq!(serde_json::from_value::<Vec<Job>>(body).expect("they are jobs"), jobs);
    // The text of #14920 has a field more.
    let body = json!([{"jobId": "6f1c", "tableNameWithType": "orders_REALTIME", "segmentName": SEGMENT,
        "startTimeMs": 1_793_520_300_000_u64}]);
    assert_eq!(serde_json::from_value::<Vec<Job>>(body).expect("they are jobs"), [job()]);
    assert_eq!(serde_json::from_value::<Vec<Job>>(json!([])).expect("they are none"), []);
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
        let answer = Answer::of(*status, job());
        let body = json!({"code": code, "error": format!("{SEGMENT}: {text}")});
        assert_eq!(answer.code(), code);
        assert_eq!(serde_json::to_value(&answer).expect("it is JSON"), body);
        assert_eq!(Answer::read(code, body), Ok(answer));
    }
}

#[test]
fn every_way_to_take_a_request_comes_back() {
    for taken in STATUSES {
        let answer = Answer::of(taken, job());
        assert_eq!(answer.status(), Ok(taken));
        let body = serde_json::to_value(&answer).expect("it is JSON");
        assert_eq!(Answer::read(answer.code(), body), Ok(answer));
    }
    // Upstream's tree: the segment can be had already, or a gateway is in between.
    assert_eq!(status(400), Ok(ReingestStatus::Conflict));
    assert_eq!(status(503), Ok(ReingestStatus::NotReady));
    for code in [0, 100, 201, 302, 401, 600] {
        assert_eq!(status(code), Err(WireError::Number("status")), "{code}");
    }
}

#[test]
fn a_body_that_is_no_answer_is_refused() {
    let bodies: [(u16, Value); 6] = [
        (200, json!({"jobId": "6f1c", "segmentName": SEGMENT})),
        (200, json!({"jobId": "6f1c", "segmentName": SEGMENT, "startTimeMs": -1})),
        (200, json!({"code": 404, "error": "no"})),
        (200, json!([])),
        (404, json!("no")),
        (409, json!({"error": "no"})),
    ];
    for (code, body) in bodies {
        assert_eq!(Answer::read(code, body.clone()), Err(WireError::Encoding), "{code} {body}");
    }
    // The status of the response counts, and a text is not needed.
    let refused = Answer::Refused(Refused { code: 409, error: None });
    assert_eq!(Answer::read(409, json!({"code": 500, "error": null})), Ok(refused.clone()));
    assert_eq!(Answer::read(409, json!({"code": 409})), Ok(refused));
    assert_eq!(Answer::read(302, json!({})), Err(WireError::Number("status")));
}

#[test]
fn a_request_comes_back() {
    let begins = |segment: &str| Request::Begin(segment.to_owned());
    let requests = [
        (begins(SEGMENT), "POST", "/reingestSegment/orders__3__41__20261101T0805Z"),
        (begins("jobs"), "POST", "/reingestSegment/jobs"),
        (begins("a b+c/d%"), "POST", "/reingestSegment/a%20b%2Bc%2Fd%25"),
        (Request::Jobs, "GET", "/reingestSegment/jobs"),
    ];
    for (request, method, url) in requests {
        assert_eq!((request.method(), request.url().as_str()), (method, url));
        assert_eq!(Request::from_url(method, url), Ok(request));
    }
    assert_eq!(Request::from_url("POST", "/reingestSegment/a+b"), Ok(begins("a+b")));
    assert_eq!(Request::from_url("GET", "/reingestSegment/jobs?x=1"), Ok(Request::Jobs));
    let refused = [
        ("GET", "/reingestSegment/t", WireError::Path),
        ("PUT", "/reingestSegment/jobs", WireError::Path),
        ("POST", "/reingestSegment", WireError::Path),
        ("POST", "/reingestSegment/", WireError::Path),
        ("POST", "/reingestSegment/a/b", WireError::Path),
        ("POST", "/reingestSegment/%4", WireError::Encoding),
    ];
    for (method, url, error) in refused {
        assert_eq!(Request::from_url(method, url), Err(error), "{method} {url}");
    }
}
