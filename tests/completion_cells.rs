//! The completion machine, cell by cell, against `data/completion_cells.json`: state, mode, rules, message, sender,
//! offset and time on one side, the answer and the whole next state on the other. Every cell of the product has to
//! be described by exactly one row, and every row has to describe a cell.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use surehold::collections::Table;
use surehold::commit::completion::{
    Answer, Ask, Busy, Commit, Completion, Found, Gathering, Kind, Limits, Message, Mode, Outcome,
    Phase, Reason, Record, Refusal, Rule, Rules, Said, State, Turn, Upload, row_limit,
};
use surehold::commit::object::{ServerId, Status};

const LEADER: ServerId = ServerId(1);
const OTHER: ServerId = ServerId(2);
const THIRD: ServerId = ServerId(3);
const REPLICAS: u16 = 3;
/// The winner's offset, the end, or the highest report.
const END: u64 = 100;
/// What the third replica has reported in `holding-two`.
const THIRD_AT: u64 = 80;
const START_MS: u64 = 50_000;
/// The time to commit, with upstream's limits: 6.6 s and 120 s.
const INITIAL_MS: u64 = 126_600;
/// What `extend` asks for, and what cannot be granted: the ceiling is 1800 s after the start.
const EXTRA_S: u32 = 20;
const TOO_LONG_S: u32 = 1_801;

const STATES: &[&str] = &[
    "partial-consuming",
    "holding-none",
    "holding-one",
    "holding-two",
    "decided",
    "notified",
    "uploading",
    "resumed",
    "committed",
    "aborted",
];
const MODES: &[&str] = &["blocking", "pauseless"];
const MESSAGES: &[&str] = &[
    "consumed",
    "consumed-row-limit",
    "commit-start",
    "extend",
    "extend-too-long",
    "commit-end",
    "stopped",
    "build-failed",
    "build-failed-without-rows",
];
const SENDERS: &[&str] = &["leader", "other", "excluded-leader", "excluded-other"];
const OFFSETS: &[&str] = &["below", "equal", "above"];
const TIMES: &[&str] =
    &["start", "pick", "past-pick", "notify", "past-notify", "limit", "past-limit"];

const CELLS: &[(&str, &[&str])] = &[
    ("state", STATES),
    ("mode", MODES),
    ("rules", &["upstream", "verified"]),
    ("message", MESSAGES),
    ("from", SENDERS),
    ("offset", OFFSETS),
    ("time", TIMES),
];
const RECORDS: &[&str] = &[
    "missing",
    "unreadable",
    "in-progress",
    "committing",
    "committing-without-end",
    "done",
    "done-without-end",
    "uploaded",
    "uploaded-without-end",
];
const CREATIONS: &[(&str, &[&str])] = &[
    ("record", RECORDS),
    ("mode", MODES),
    ("rules", &["14741", "upstream", "verified"]),
    ("first", &["consumed", "commit-start", "extend", "commit-end", "stopped"]),
];

type Dimensions = [(&'static str, &'static [&'static str])];
type Cell = BTreeMap<&'static str, &'static str>;

fn data() -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/completion_cells.json");
    let text = std::fs::read_to_string(path).expect("the data is beside the tests");
    serde_json::from_str(&text).expect("the data is JSON")
}

/// All cells of a product.
fn product(dimensions: &Dimensions) -> Vec<Cell> {
    dimensions.iter().fold(vec![Cell::new()], |cells, (name, values)| {
        let with = |cell: &Cell, value| {
            let mut cell = cell.clone();
            cell.insert(name, value);
            cell
        };
        cells.iter().flat_map(|cell| values.iter().map(|v| with(cell, *v))).collect()
    })
}

/// The names that a row's field stands for; nothing if it stands for all.
fn names(table: &Value, dimension: &str, field: &Value) -> Option<Vec<String>> {
    let one = |name: &str| match &table["groups"][dimension][name] {
        Value::Array(members) => strings(members),
        _ => vec![name.to_owned()],
    };
    match field {
        Value::Null => None,
        Value::String(name) => Some(one(name)),
        Value::Array(all) => Some(strings(all).iter().flat_map(|name| one(name)).collect()),
        other => panic!("{other} names no values of {dimension}"),
    }
}

fn strings(all: &[Value]) -> Vec<String> {
    all.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// The rows, each with the values that it stands for; only values that exist.
fn rows(
    table: &Value,
    dimensions: &Dimensions,
) -> Vec<(Value, BTreeMap<&'static str, Vec<String>>)> {
    for (name, values) in dimensions {
        assert_eq!(table["dimensions"][name], serde_json::json!(values), "{name} of the data");
    }
    let rows = table["rows"].as_array().expect("there are rows");
    let patterned = rows.iter().map(|row| {
        let mut pattern = BTreeMap::new();
        for (name, values) in dimensions {
            let Some(stands_for) = names(table, name, &row[name]) else { continue };
            for value in &stands_for {
                assert!(values.contains(&value.as_str()), "{}: {name} {value}", row["id"]);
            }
            pattern.insert(*name, stands_for);
        }
        (row.clone(), pattern)
    });
    patterned.collect()
}

/// Calls `check` for every cell with the one row that describes it.
fn each_cell(table: &Value, dimensions: &Dimensions, check: impl Fn(&Cell, &Value)) -> usize {
    let rows = rows(table, dimensions);
    let cells = product(dimensions);
    let mut used = vec![0; rows.len()];
    for cell in &cells {
        let describes = |pattern: &BTreeMap<&str, Vec<String>>| {
            pattern.iter().all(|(name, values)| values.iter().any(|value| value == cell[name]))
        };
        let fitting: Vec<_> = (0..rows.len()).filter(|at| describes(&rows[*at].1)).collect();
        let ids: Vec<_> = fitting.iter().map(|at| &rows[*at].0["id"]).collect();
        assert_eq!(fitting.len(), 1, "{cell:?} is described by {ids:?}");
        used[fitting[0]] += 1;
        check(cell, &rows[fitting[0]].0);
    }
    for (times, (row, _)) in used.iter().zip(&rows) {
        assert!(*times > 0, "{} describes no cell", row["id"]);
    }
    cells.len()
}

fn completion(rules: &str) -> Completion {
    let rules = match rules {
        "14741" => Rules::PINOT_14741,
        "upstream" => Rules::PINOT_2026_08,
        "verified" => Rules::VERIFIED,
        other => panic!("there are no rules {other}"),
    };
    Completion { limits: Limits::default(), rules }
}

fn mode(name: &str) -> Mode {
    if name == "blocking" { Mode::Blocking } else { Mode::Pauseless }
}

fn sender(cell: &Cell) -> ServerId {
    if cell["from"].ends_with("leader") { LEADER } else { OTHER }
}

fn kind(name: &str) -> Kind {
    match name {
        "consumed" => Kind::Consumed(Some(Reason::TimeLimit)),
        "consumed-row-limit" => Kind::Consumed(Some(Reason::RowLimit)),
        "commit-start" => Kind::CommitStart,
        "extend" => Kind::Extend { extra_s: EXTRA_S },
        "extend-too-long" => Kind::Extend { extra_s: TOO_LONG_S },
        "commit-end" => Kind::CommitEnd,
        "stopped" => Kind::Stopped,
        "build-failed" => Kind::BuildFailed { rows: 7 },
        "build-failed-without-rows" => Kind::BuildFailed { rows: 0 },
        other => panic!("there is no message {other}"),
    }
}

fn message(cell: &Cell) -> Message {
    let offset = match cell["offset"] {
        "below" => END - 10,
        "equal" => END,
        _ => END + 10,
    };
    let after_ms = match cell["time"] {
        "start" => 0,
        "pick" => 3_300,
        "past-pick" => 3_301,
        "notify" => 6_600,
        "past-notify" => 6_601,
        "limit" => INITIAL_MS,
        _ => INITIAL_MS + 1,
    };
    let kind = kind(cell["message"]);
    Message { from: sender(cell), offset, kind, at_ms: START_MS + after_ms }
}

fn gathering(cell: &Cell, reports: &[(ServerId, u64)], excluded: Table<ServerId, ()>) -> Gathering {
    Gathering {
        mode: mode(cell["mode"]),
        replicas: REPLICAS,
        started_ms: START_MS,
        initial_ms: INITIAL_MS,
        reports: table(reports),
        excluded,
    }
}

fn table<V: Copy>(entries: &[(ServerId, V)]) -> Table<ServerId, V> {
    let mut table = Table::new();
    for (server, value) in entries {
        table.insert(*server, *value);
    }
    table
}

fn commit(mode: Mode, winner: ServerId, offset: u64, excluded: Table<ServerId, ()>) -> Commit {
    Commit {
        mode,
        started_ms: START_MS,
        initial_ms: INITIAL_MS,
        limit_ms: START_MS + INITIAL_MS,
        winner,
        offset,
        excluded,
    }
}

fn upload(mode: Mode, excluded: Table<ServerId, ()>) -> Upload {
    Upload {
        mode,
        ceiling_ms: (mode == Mode::Pauseless).then_some(START_MS + 1_800_000),
        limit_ms: START_MS + INITIAL_MS,
        winner: LEADER,
        offset: END,
        excluded,
    }
}

/// The phase before the message.
fn before(cell: &Cell) -> Phase {
    let is_excluded = cell["from"].starts_with("excluded");
    let mut excluded = Table::new();
    if is_excluded {
        excluded.insert(sender(cell), ());
    } else if cell["state"] == "partial-consuming" {
        excluded.insert(THIRD, ());
    }
    let mode = mode(cell["mode"]);
    match cell["state"] {
        "partial-consuming" => Phase::PartialConsuming(gathering(cell, &[], excluded)),
        "holding-none" => Phase::Holding(gathering(cell, &[], excluded)),
        "holding-one" => Phase::Holding(gathering(cell, &[(LEADER, END)], excluded)),
        "holding-two" => {
            Phase::Holding(gathering(cell, &[(LEADER, END), (THIRD, THIRD_AT)], excluded))
        }
        "decided" => Phase::Decided(commit(mode, LEADER, END, excluded)),
        "notified" => Phase::Notified(commit(mode, LEADER, END, excluded)),
        "uploading" => Phase::Uploading(upload(mode, excluded)),
        "resumed" => Phase::Resumed { end: END },
        "committed" => Phase::Committed { end: END },
        "aborted" => Phase::Aborted,
        other => panic!("there is no state {other}"),
    }
}

/// Who is excluded after the message, if the phase remembers it.
fn excluded_after(phase: &Phase, message: Message) -> Table<ServerId, ()> {
    let mut excluded = match phase {
        Phase::PartialConsuming(gathering) | Phase::Holding(gathering) => {
            gathering.excluded.clone()
        }
        Phase::Decided(commit) | Phase::Notified(commit) => commit.excluded.clone(),
        Phase::Uploading(upload) => upload.excluded.clone(),
        Phase::Resumed { .. } | Phase::Committed { .. } | Phase::Aborted => Table::new(),
    };
    match message.kind {
        Kind::Consumed(_) => {
            excluded.remove(&message.from);
        }
        Kind::Stopped => {
            excluded.insert(message.from, ());
        }
        Kind::CommitStart | Kind::CommitEnd | Kind::Extend { .. } | Kind::BuildFailed { .. } => {}
    }
    excluded
}

/// The phase as it was, but for who is excluded.
fn same(phase: &Phase, message: Message) -> Phase {
    let excluded = excluded_after(phase, message);
    match phase.clone() {
        Phase::PartialConsuming(was) => Phase::PartialConsuming(Gathering { excluded, ..was }),
        Phase::Holding(was) => Phase::Holding(Gathering { excluded, ..was }),
        Phase::Decided(was) => Phase::Decided(Commit { excluded, ..was }),
        Phase::Notified(was) => Phase::Notified(Commit { excluded, ..was }),
        Phase::Uploading(was) => Phase::Uploading(Upload { excluded, ..was }),
        was @ (Phase::Resumed { .. } | Phase::Committed { .. } | Phase::Aborted) => was,
    }
}

/// The whole next state, by the row's word for it.
fn next(cell: &Cell, word: &Value) -> State {
    let (was, message) = (before(cell), message(cell));
    let mode = mode(cell["mode"]);
    let excluded = excluded_after(&was, message);
    let phase = match word.as_str().expect("a row says what is next") {
        "absent" => return State::Absent,
        "same" => same(&was, message),
        "reported" => {
            let (Phase::PartialConsuming(was) | Phase::Holding(was)) = was else {
                panic!("{cell:?} gathers no reports");
            };
            let mut reports = was.reports.clone();
            reports.insert(message.from, message.offset);
            Phase::Holding(Gathering { reports, excluded, ..was })
        }
        "won-by-sender" => Phase::Notified(commit(mode, message.from, message.offset, excluded)),
        "won-by-leader" => Phase::Decided(commit(mode, LEADER, END, excluded)),
        "notified" => Phase::Notified(commit(mode, LEADER, END, excluded)),
        "uploading" => Phase::Uploading(upload(mode, excluded)),
        "extended" => {
            let limit_ms = message.at_ms + u64::from(EXTRA_S) * 1000;
            match same(&was, message) {
                Phase::Notified(was) => Phase::Notified(Commit { limit_ms, ..was }),
                Phase::Uploading(was) => Phase::Uploading(Upload { limit_ms, ..was }),
                other => panic!("{other:?} has no lease"),
            }
        }
        "committed" => Phase::Committed { end: END },
        "aborted" => Phase::Aborted,
        other => panic!("there is no next {other}"),
    };
    State::Idle(phase)
}

fn answer(cell: &Cell, word: &Value) -> Answer {
    let offset = message(cell).offset;
    match word.as_str().expect("a row says what is answered") {
        "hold" => Answer::Hold(offset),
        "commit" => Answer::Commit { offset, build_s: 126 },
        "catch-up" => Answer::CatchUp(END),
        "keep" => Answer::Keep(offset),
        "discard" => Answer::Discard,
        "failed" => Answer::Failed,
        "processed" => Answer::Processed,
        "commit-continue" => Answer::CommitContinue,
        "commit-success" => Answer::CommitSuccess,
        other => panic!("there is no answer {other}"),
    }
}

fn decided_by(row: &Value) -> Vec<Rule> {
    match row["decided-by"].as_str() {
        None => Vec::new(),
        Some("uploaded-is-done") => vec![Rule::UploadedIsDone],
        Some("winner-starts") => vec![Rule::WinnerStarts],
        Some("keep-from-record") => vec![Rule::KeepFromRecord],
        Some("resume-commit") => vec![Rule::ResumeCommit],
        Some("winner-asks-again") => vec![Rule::WinnerAsksAgain],
        Some(other) => panic!("there is no rule {other}"),
    }
}

fn answered(cell: &Cell, says: &Value) -> Turn {
    Turn {
        state: next(cell, &says["next"]),
        said: Said::Answer(answer(cell, &says["answer"])),
        longest_ms: None,
        decided_by: Vec::new(),
    }
}

/// What is asked, and what of the machine is kept meanwhile.
fn asked(cell: &Cell, word: &str) -> (Ask, Option<Phase>) {
    let message = message(cell);
    let (committer, offset) = (message.from, message.offset);
    let kept = Some(same(&before(cell), message));
    match word {
        "record" => (Ask::Record, kept),
        "start" => (Ask::Start { committer, offset }, kept),
        "finish" => {
            let resumed = cell["state"] == "resumed";
            let mode = if resumed { Mode::Pauseless } else { mode(cell["mode"]) };
            (Ask::Finish { committer, offset, mode }, None)
        }
        "set-offline" => (Ask::SetOffline(committer), kept),
        "lower-row-limit" => (Ask::LowerRowLimit { rows: 7 }, kept),
        other => panic!("nothing is called {other}"),
    }
}

fn record(status: Status, end: Option<u64>) -> Outcome {
    let record = Some(Record { status, end, replicas: REPLICAS });
    Outcome::Found(Found { record, mode: Mode::Pauseless, longest_ms: 0 })
}

fn outcomes(name: &str) -> Vec<Outcome> {
    match name {
        "done" => vec![Outcome::Done],
        "failed" => vec![Outcome::Failed],
        "found-end" => [Status::Committing, Status::Done, Status::Uploaded]
            .map(|status| record(status, Some(END)))
            .to_vec(),
        "found-other-end" => [Status::Committing, Status::Done, Status::Uploaded]
            .map(|status| record(status, Some(END + 1)))
            .to_vec(),
        "found-open" => {
            vec![record(Status::InProgress, None), record(Status::InProgress, Some(END))]
        }
        "found-nothing" => {
            let found = Found { record: None, mode: Mode::Pauseless, longest_ms: 0 };
            vec![Outcome::Found(found)]
        }
        other => panic!("there is no outcome {other}"),
    }
}

const OUTCOMES: &[&str] =
    &["done", "failed", "found-end", "found-other-end", "found-open", "found-nothing"];

fn check_cell(cell: &Cell, row: &Value) {
    let id = &row["id"];
    let machine = completion(cell["rules"]);
    let message = message(cell);
    let turn = machine.on_message(&State::Idle(before(cell)), message);
    let Some(word) = row["ask"].as_str() else {
        let expected = Turn { decided_by: decided_by(row), ..answered(cell, row) };
        assert_eq!(turn, Ok(expected), "{id}: {cell:?}");
        return;
    };
    let (ask, phase) = asked(cell, word);
    let state = State::Busy(Busy { ask, message, phase });
    let expected = Turn {
        state: state.clone(),
        said: Said::Ask(ask),
        longest_ms: None,
        decided_by: decided_by(row),
    };
    assert_eq!(turn, Ok(expected), "{id}: {cell:?}");
    for name in OUTCOMES {
        for outcome in outcomes(name) {
            let turn = machine.on_outcome(&state, outcome);
            let expected = match &row[name] {
                Value::Null => Err(Refusal::UnfitOutcome(ask)),
                says => Ok(answered(cell, says)),
            };
            assert_eq!(turn, expected, "{id}: {cell:?}, then {outcome:?}");
        }
    }
}

#[test]
fn every_cell_is_as_described() {
    let cells = each_cell(&data(), CELLS, check_cell);
    assert_eq!(cells, 10 * 2 * 2 * 9 * 4 * 3 * 7);
}

fn check_creation(cell: &Cell, row: &Value) {
    let machine = completion(cell["rules"]);
    let kind = kind(cell["first"]);
    let message = Message { from: OTHER, offset: END, kind, at_ms: START_MS };
    let asked = machine.on_message(&State::Absent, message);
    let state = State::Busy(Busy { ask: Ask::Record, message, phase: None });
    let expected = Turn {
        state: state.clone(),
        said: Said::Ask(Ask::Record),
        longest_ms: None,
        decided_by: Vec::new(),
    };
    assert_eq!(asked, Ok(expected));
    let found = |status, end| {
        let record = Some(Record { status, end, replicas: REPLICAS });
        Outcome::Found(Found { record, mode: mode(cell["mode"]), longest_ms: 0 })
    };
    let outcome = match cell["record"] {
        "missing" => {
            Outcome::Found(Found { record: None, mode: mode(cell["mode"]), longest_ms: 0 })
        }
        "unreadable" => Outcome::Failed,
        "in-progress" => found(Status::InProgress, None),
        "committing" => found(Status::Committing, Some(END)),
        "committing-without-end" => found(Status::Committing, None),
        "done" => found(Status::Done, Some(END)),
        "done-without-end" => found(Status::Done, None),
        "uploaded" => found(Status::Uploaded, Some(END)),
        _ => found(Status::Uploaded, None),
    };
    let gathering = gathering(cell, &[], Table::new());
    let phase = match row["phase"].as_str().expect("a row says which phase is first") {
        "absent" => None,
        "holding" => Some(Phase::Holding(gathering)),
        "partial-consuming" => Some(Phase::PartialConsuming(gathering)),
        "resumed" => Some(Phase::Resumed { end: END }),
        "committed" => Some(Phase::Committed { end: END }),
        other => panic!("no machine begins as {other}"),
    };
    // The first message is taken as any other: the cells above say how.
    let expected = match phase {
        None => Turn {
            state: State::Absent,
            said: Said::Answer(Answer::Failed),
            longest_ms: None,
            decided_by: Vec::new(),
        },
        Some(phase) => {
            let mut turn =
                machine.on_message(&State::Idle(phase), message).expect("it is not busy");
            turn.decided_by.extend(decided_by(row));
            turn
        }
    };
    assert_eq!(machine.on_outcome(&state, outcome), Ok(expected), "{}: {cell:?}", row["id"]);
}

#[test]
fn every_machine_begins_as_described() {
    let cells = each_cell(&data()["creation"], CREATIONS, check_creation);
    assert_eq!(cells, 9 * 2 * 3 * 5);
}

/// A machine that waits takes no message: it has to come again. Only that a build has failed is known to be a false
/// alarm once a commit has started.
#[test]
fn a_machine_that_waits_takes_no_message() {
    let (committer, offset) = (LEADER, END);
    let asks = [
        Ask::Record,
        Ask::Start { committer, offset },
        Ask::Finish { committer, offset, mode: Mode::Blocking },
        Ask::SetOffline(THIRD),
        Ask::LowerRowLimit { rows: 7 },
    ];
    for ask in asks {
        let waits_with = Message { from: LEADER, offset, kind: Kind::CommitStart, at_ms: START_MS };
        let phase = Some(Phase::Notified(commit(Mode::Pauseless, LEADER, END, Table::new())));
        let state = State::Busy(Busy { ask, message: waits_with, phase });
        let started = matches!(ask, Ask::Start { .. } | Ask::Finish { .. });
        for name in MESSAGES {
            let message = Message { from: OTHER, offset, kind: kind(name), at_ms: START_MS };
            let expected = if started && name.starts_with("build-failed") {
                Ok(Turn {
                    state: state.clone(),
                    said: Said::Answer(Answer::Discard),
                    longest_ms: None,
                    decided_by: Vec::new(),
                })
            } else {
                Err(Refusal::Busy(ask))
            };
            assert_eq!(completion("verified").on_message(&state, message), expected, "{name}");
        }
    }
}

/// A build that has failed needs no machine, and leaves none.
#[test]
fn a_build_that_failed_makes_no_machine() {
    let machine = completion("upstream");
    let failed = |rows| Message {
        from: OTHER,
        offset: END,
        kind: Kind::BuildFailed { rows },
        at_ms: START_MS,
    };
    let ends = |said| Turn {
        state: State::Absent,
        said: Said::Answer(said),
        longest_ms: None,
        decided_by: Vec::new(),
    };
    let malformed = machine.on_message(&State::Absent, failed(0));
    assert_eq!(malformed, Ok(ends(Answer::Failed)));
    let asked = machine.on_message(&State::Absent, failed(7)).expect("it is taken");
    let ask = Ask::LowerRowLimit { rows: 7 };
    assert_eq!(asked.said, Said::Ask(ask));
    assert_eq!(asked.state, State::Busy(Busy { ask, message: failed(7), phase: None }));
    let done = machine.on_outcome(&asked.state, Outcome::Done);
    assert_eq!(done, Ok(ends(Answer::Processed)));
    let not_done = machine.on_outcome(&asked.state, Outcome::Failed);
    assert_eq!(not_done, Ok(ends(Answer::Failed)));
}

/// Of equal reports, none of them the sender's, the least name wins: our reading of an order that upstream leaves to
/// a hash table.
#[test]
fn of_equal_reports_the_least_name_wins() {
    let excluded = Table::new();
    let reports = table(&[(OTHER, END), (THIRD, END)]);
    let was = Gathering {
        mode: Mode::Blocking,
        replicas: REPLICAS,
        started_ms: START_MS,
        initial_ms: INITIAL_MS,
        reports,
        excluded: excluded.clone(),
    };
    let kind = Kind::Consumed(None);
    let message = Message { from: LEADER, offset: END - 1, kind, at_ms: START_MS };
    let turn = completion("upstream").on_message(&State::Idle(Phase::Holding(was)), message);
    let expected = Turn {
        state: State::Idle(Phase::Decided(commit(Mode::Blocking, OTHER, END, excluded))),
        said: Said::Answer(Answer::CatchUp(END)),
        longest_ms: None,
        decided_by: Vec::new(),
    };
    assert_eq!(turn, Ok(expected));
}

/// Reports are compared with those that have not given up, and a report of one that has still counts: with two
/// reports of three, one of them by a replica that has given up, all have reported; and it is that one that wins.
#[test]
fn a_replica_that_gave_up_may_win() {
    let excluded = table(&[(THIRD, ())]);
    let was = Gathering {
        mode: Mode::Blocking,
        replicas: REPLICAS,
        started_ms: START_MS,
        initial_ms: INITIAL_MS,
        reports: table(&[(THIRD, END)]),
        excluded: excluded.clone(),
    };
    let kind = Kind::Consumed(None);
    let message = Message { from: LEADER, offset: END - 1, kind, at_ms: START_MS };
    let turn = completion("upstream").on_message(&State::Idle(Phase::Holding(was)), message);
    let expected = Turn {
        state: State::Idle(Phase::Decided(commit(Mode::Blocking, THIRD, END, excluded))),
        said: Said::Answer(Answer::CatchUp(END)),
        longest_ms: None,
        decided_by: Vec::new(),
    };
    assert_eq!(turn, Ok(expected));
}

/// The reason of the last report decides nothing but with the first one, and only two reasons do.
#[test]
fn only_two_reasons_win_at_once() {
    let reasons = [
        (None, false),
        (Some(Reason::TimeLimit), false),
        (Some(Reason::RowLimit), true),
        (Some(Reason::EndOfPartitionGroup), true),
        (Some(Reason::ForceCommitMessageReceived), false),
        (Some(Reason::IndexCapacityThresholdBreached), false),
    ];
    for (reason, wins) in reasons {
        let was = Gathering {
            mode: Mode::Blocking,
            replicas: REPLICAS,
            started_ms: START_MS,
            initial_ms: INITIAL_MS,
            reports: Table::new(),
            excluded: Table::new(),
        };
        let kind = Kind::Consumed(reason);
        let message = Message { from: OTHER, offset: END, kind, at_ms: START_MS };
        let state = State::Idle(Phase::Holding(was));
        let turn = completion("upstream").on_message(&state, message).expect("it is taken");
        let expected =
            if wins { Answer::Commit { offset: END, build_s: 126 } } else { Answer::Hold(END) };
        assert_eq!(turn.said, Said::Answer(expected), "{reason:?}");
    }
}

/// Half of what was built, or half of the limit if that is less (#15234).
#[test]
fn the_row_limit_is_halved() {
    let halved = [(20, 100, 10), (100, 20, 10), (7, 7, 3), (1, 100, 0), (0, 0, 0)];
    for (rows, limit, expected) in halved {
        assert_eq!(row_limit(rows, limit), expected, "{rows} rows, limit {limit}");
    }
    assert_eq!(row_limit(u64::MAX, u64::MAX), u64::MAX / 2);
}

/// A machine goes when it knows nothing that metadata does not.
#[test]
fn a_machine_is_over_when_nothing_is_left_to_be_remembered() {
    let over = ["resumed", "committed", "aborted"];
    for cell in product(CELLS) {
        let phase = before(&cell);
        let is_over = over.contains(&cell["state"]);
        assert_eq!(State::Idle(phase.clone()).is_over(), is_over, "{cell:?}");
        let busy = Busy { ask: Ask::Record, message: message(&cell), phase: Some(phase) };
        assert!(!State::Busy(busy).is_over(), "{cell:?}");
    }
    assert!(State::Absent.is_over());
}

/// Whether a controller leads is not asked where a build has failed for good.
#[test]
fn all_messages_but_one_are_for_the_leader() {
    for name in MESSAGES {
        assert_eq!(kind(name).is_for_leader(), !name.starts_with("build-failed"), "{name}");
    }
}

/// What the checker keeps millions of.
#[test]
fn a_machine_is_small() {
    assert!(size_of::<Phase>() <= 88, "{}", size_of::<Phase>());
    assert!(size_of::<State>() <= 168, "{}", size_of::<State>());
}
