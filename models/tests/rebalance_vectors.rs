//! The upstream variants of rebalance against upstream's own test vectors (`data/`, facts of Druid's unit
//! tests).
//!
//! A move is played with the coordinator of a variant, message by message: what it sends is answered, its
//! callbacks run and its views come when the case says so. A queue is played by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::PathBuf;

use serde_json::{Value, json};
use surehold::Machine;
use surehold::rebalance::coordinator::Durable;
use surehold::rebalance::event::{Move, Rule, ServerInfo};
use surehold::rebalance::message::{
    Action, Addressed, Answer, FromServer, Reply, Request, ToServer, View,
};
use surehold::rebalance::object::{Fence, LeaderId, SegmentId, ServerId, Stamp, Term, TierId};
use surehold::rebalance::upstream::{
    Act, Callback, Coordinator, Fix, Holder, Peon, Run, State, Then,
};
use surehold::rebalance::{CoordinatorEffect, CoordinatorEvent, Input, Task};

const RACE: &str = "druid-move-race.json";
const PEON: &str = "druid-load-queue-peon.json";

/// The design of the race cases that [`Fix::Retain`] is.
const RETAIN: &str = "retain-until-confirmed";

/// The cases that are not run, and why. All others are.
const NOT_RUN: &[(&str, &[&str], &str)] = &[
    (
        RACE,
        &["race-04", "race-05", "race-06"],
        "another proposal: a duty drops the source once the target is in the view; no variant is that",
    ),
    (RACE, &["race-07"], "the same proposal with its option off"),
    (
        PEON,
        &["peon-02"],
        "a stopped queue does not exist here: a callback that was made for it finds none, and nothing \
         else could enqueue on it",
    ),
    (
        PEON,
        &["peon-09", "peon-10", "peon-11"],
        "no load rates are measured: nothing decides on them",
    ),
];

// ---------------------------------------------------------------------------------------------------
// Files and cases

fn cases(file: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = std::fs::read_to_string(path).expect("the file is there");
    let whole: Value = serde_json::from_str(&text).expect("the file is well-formed");
    whole["cases"].as_array().expect("it has cases").clone()
}

fn id_of(case: &Value) -> &str {
    case["id"].as_str().expect("a case has an id")
}

/// The cases of a file that are not listed above.
fn run_cases(file: &str) -> Vec<Value> {
    let of_file = NOT_RUN.iter().filter(|(of, ..)| *of == file);
    let mut listed: BTreeSet<&str> = of_file.flat_map(|(_, ids, _)| *ids).copied().collect();
    let all = cases(file);
    let run: Vec<_> = all.iter().filter(|case| !listed.remove(id_of(case))).cloned().collect();
    assert!(listed.is_empty(), "{file} has no {listed:?}");
    run
}

/// Where the variant does otherwise than the case says.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, what: &str, got: &T, expected: &T) {
        if got != expected {
            self.0.push(format!("{what}: expected {expected:?}, got {got:?}"));
        }
    }
}

/// Runs all cases, and then each again with each of its expectations falsified, which must be noticed.
fn run_all(file: &str, run: impl Fn(&Value) -> Differences) -> usize {
    let cases = run_cases(file);
    for case in &cases {
        let found = run(case).0;
        assert!(found.is_empty(), "{file}: {}:\n{}", id_of(case), found.join("\n"));
        for false_case in falsified(case) {
            assert!(!run(&false_case).0.is_empty(), "this is not noticed: {false_case}");
        }
    }
    cases.len()
}

/// The case with one expectation changed, in each way.
fn falsified(case: &Value) -> Vec<Value> {
    let mut paths = Vec::new();
    for (at, step) in case["steps"].as_array().expect("a case has steps").iter().enumerate() {
        for (key, value) in step.as_object().expect("a step has fields") {
            let field = format!("/steps/{at}/{key}");
            if key.starts_with("expect") || step["op"] == "expect" && key != "op" {
                leaves(value, &field, &mut paths);
            }
        }
    }
    let falsify = |path: &String| {
        let mut case = case.clone();
        let leaf = case.pointer_mut(path).expect("it was found there");
        *leaf = match &*leaf {
            Value::Bool(is) => json!(!is),
            Value::Number(number) => json!(number.as_u64().expect("it is small") + 1),
            Value::Array(all) if all.is_empty() => json!(["s"]),
            Value::Array(_) => json!([]),
            other => panic!("{other} is no expectation"),
        };
        case
    };
    paths.iter().map(falsify).collect()
}

fn leaves(value: &Value, path: &str, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{path}/{key}"), paths);
            }
        }
        _ => paths.push(path.to_owned()),
    }
}

#[test]
fn every_reason_has_a_file() {
    assert!(NOT_RUN.iter().all(|(file, ..)| [RACE, PEON].contains(file)));
}

// ---------------------------------------------------------------------------------------------------
// A queue by itself

const SERVER: ServerId = ServerId(1);

/// `d2p1` is the second partition of the second day. Newer segments have larger numbers.
fn day_and_part(name: &str) -> SegmentId {
    let digits: Vec<u32> = name.chars().filter_map(|digit| digit.to_digit(10)).collect();
    let [day, part] = digits[..] else { panic!("{name} is no segment") };
    SegmentId(day * 10 + part)
}

fn names(value: &Value) -> Vec<SegmentId> {
    let names = value.as_array().expect("a list").iter();
    names.map(|name| day_and_part(name.as_str().expect("a name"))).collect()
}

struct Queue {
    peon: Peon,
    /// Callbacks that are due and have not run.
    due: Vec<Callback>,
    called: usize,
}

impl Queue {
    fn enqueue(&mut self, segment: SegmentId, action: &str) {
        let leave = Then::Leave { from: ServerId(2), queue: 1 };
        let (act, then) = match action {
            "DROP" => (Act::Drop, Then::Unmark),
            "LOAD" => (Act::Load, leave),
            "REPLICATE" => (Act::Replicate, leave),
            "MOVE_TO" => (Act::MoveTo, leave),
            other => panic!("{other} is no action"),
        };
        self.peon.enqueue(segment, act, Some(then));
    }

    fn send(&mut self) -> Vec<SegmentId> {
        let sent = self.peon.entries().iter().map(|(id, _)| *id).collect();
        self.peon.mark_sent();
        sent
    }

    /// All that was sent is answered.
    fn answer(&mut self, success: bool) {
        let sent: Vec<_> = self
            .peon
            .entries()
            .into_iter()
            .filter(|(_, entry)| entry.sent)
            .map(|(id, entry)| {
                (id, if entry.act == Act::Drop { Action::Drop } else { Action::Load })
            })
            .collect();
        for (id, action) in sent {
            let due = self.peon.settle(SERVER, id, action, success);
            self.due.extend(due.expect("it was queued"));
        }
    }

    fn run_callbacks(&mut self) -> Vec<SegmentId> {
        self.called += self.due.len();
        let segment = |callback: Callback| match callback {
            Callback::Moved { segment, .. }
            | Callback::Left { segment, .. }
            | Callback::Drop { segment, .. } => segment,
        };
        self.due.drain(..).map(segment).collect()
    }

    fn expect(&self, step: &Value, differences: &mut Differences) {
        let entries = self.peon.entries();
        let drops = entries.iter().filter(|(_, entry)| entry.act == Act::Drop).count();
        for (key, value) in step.as_object().expect("a step has fields") {
            let got = match key.as_str() {
                "op" => continue,
                "to_load" => entries.len() - drops,
                "to_drop" => drops,
                "callbacks_called" => self.called,
                other => panic!("{other} is not known"),
            };
            differences.check(key, &json!(got), value);
        }
    }
}

fn play_queue(case: &Value) -> Differences {
    let mut differences = Differences::default();
    let mut queue = Queue { peon: Peon::new(1), due: Vec::new(), called: 0 };
    for step in case["steps"].as_array().expect("a case has steps") {
        let segment = step["segment"].as_str().map(day_and_part);
        let op = step["op"].as_str().expect("a step has an op");
        match op {
            "enqueue" => {
                let action = step["action"].as_str().expect("an action");
                queue.enqueue(segment.expect("a segment"), action);
            }
            "send" | "send_and_answer" => {
                let sent = queue.send();
                if let Some(expected) = step.get("expect_sent") {
                    differences.check(op, &sent, &names(expected));
                }
                if op == "send_and_answer" {
                    queue.answer(step["result"] == "SUCCESS");
                }
            }
            "answer" => queue.answer(step["result"] == "SUCCESS"),
            "cancel" => {
                let due = queue.peon.cancel(SERVER, segment.expect("a segment"));
                differences.check(op, &json!(due.is_some()), &step["expect"]);
                queue.due.extend(due.unwrap_or_default());
            }
            "run_callbacks" => {
                let called = queue.run_callbacks();
                differences.check(op, &called, &names(&step["expect_called"]));
            }
            "expect" => queue.expect(step, &mut differences),
            other => panic!("{other} is not known"),
        }
    }
    differences
}

#[test]
fn queues() {
    assert_eq!(run_all(PEON, play_queue), 7);
}

// ---------------------------------------------------------------------------------------------------
// A move

const TIER: TierId = TierId(1);
const SEGMENT: SegmentId = SegmentId(1);
/// Of those that are loaded besides, the first.
const FURTHER: u32 = 1000;

fn server(name: &str) -> ServerId {
    match name {
        "A" => ServerId(0),
        "B" => ServerId(1),
        other => panic!("{other} is no server"),
    }
}

struct Cluster {
    role: Coordinator,
    state: State,
}

impl Cluster {
    /// A serves the segment, B serves nothing, one replica is required.
    fn new(fix: Fix) -> Self {
        let role = Coordinator::new(fix);
        let state = role.recover(Durable { leader: LeaderId(0), incarnation: 0 });
        let mut cluster = Self { role, state };
        let info =
            ServerInfo { tier: TIER, capacity_bytes: 1000, decommissioning: false, managed: true };
        for name in ["A", "B"] {
            cluster.take(CoordinatorEvent::Appeared(server(name), info));
        }
        cluster.take(CoordinatorEvent::Elected(Term(1)));
        cluster.require(SEGMENT, 1);
        cluster.view("A", vec![SEGMENT]);
        cluster
    }

    fn take(&mut self, event: CoordinatorEvent) -> Vec<Addressed<ToServer>> {
        let step = self.role.step(&self.state, event).expect("it is taken");
        self.state = step.state;
        let sent = step.effects.into_iter().map(|issued| issued.effect);
        sent.map(|CoordinatorEffect::Send(message)| message).collect()
    }

    fn require(&mut self, segment: SegmentId, count: u16) {
        let rule = Rule { size_bytes: 1, required: vec![(TIER, count)] };
        self.take(CoordinatorEvent::Require(segment, rule));
    }

    fn view(&mut self, name: &str, segments: Vec<SegmentId>) {
        let view = View { fence: Fence::default(), stamp: Stamp::default(), segments };
        let (server, message) = (server(name), FromServer::View(view));
        self.take(CoordinatorEvent::Received(Addressed { server, message }));
    }

    fn go(&mut self, task: Task, input: Input) -> Vec<Addressed<ToServer>> {
        self.take(CoordinatorEvent::Continue { task, input })
    }

    /// A run goes on up to its decision: its whole picture.
    fn picture(&mut self) -> Vec<Holder> {
        const PHASES: usize = 4;
        for _ in 0..PHASES {
            if let Run::Ready(holders) = self.state.run() {
                return holders.clone();
            }
            self.go(Task::Run, Input::default());
        }
        panic!("the run does not come to its decision");
    }

    fn decide(&mut self, input: Input) -> Vec<Holder> {
        let picture = self.picture();
        self.go(Task::Run, input);
        picture
    }

    fn peon(&self, name: &str) -> &Peon {
        self.state.peon(server(name)).expect("a run has made it")
    }

    /// The server answers SUCCESS to all that is queued.
    fn acknowledge(&mut self, name: &str, callbacks: bool) {
        for Addressed { server, message } in self.go(Task::Send(server(name)), Input::default()) {
            let ToServer::Request(Request { ticket, action, segment, .. }) = message else {
                continue;
            };
            let (answer, has) = (Answer::Done, action == Action::Load);
            let stamp = Stamp::default();
            let reply = Reply { ticket, action, segment, answer, has, stamp };
            let message = FromServer::Reply(reply);
            self.take(CoordinatorEvent::Received(Addressed { server, message }));
        }
        while callbacks && !self.state.callbacks().is_empty() {
            self.go(Task::Callback(0), Input::default());
        }
    }

    /// Everything that a step may ask for, but for what a run counts.
    fn expect(&self, step: &Value, counted: &BTreeMap<&str, i64>, differences: &mut Differences) {
        let Some(expected) = step["expect"].as_object() else { return };
        for (key, value) in expected {
            match key.as_str() {
                "accepted" => {
                    let moves = self.peon("B").loads(SEGMENT);
                    differences.check(key, &json!(moves), value);
                }
                "marked_to_drop_on" => {
                    self.expect_each(key, value, Peon::is_marked, differences);
                }
                "drop_queued_on" => self.expect_each(key, value, Peon::drops, differences),
                "view_has" => {
                    for (name, has) in value.as_object().expect("by server") {
                        let view = self.state.view(server(name)).expect("it is seen");
                        let got = json!(view.segments.contains(&SEGMENT));
                        differences.check(key, &got, has);
                    }
                }
                "awaiting_confirmation" => {
                    let name = step["server"].as_str().expect("a server");
                    let got = json!(self.peon(name).awaiting().count());
                    differences.check(key, &got, value);
                }
                other => {
                    let got = counted.get(other).unwrap_or_else(|| panic!("{other} is not known"));
                    differences.check(key, &json!(got), value);
                }
            }
        }
    }

    fn expect_each(
        &self,
        key: &str,
        value: &Value,
        of: impl Fn(&Peon, SegmentId) -> bool,
        differences: &mut Differences,
    ) {
        for (name, segments) in value.as_object().expect("by server") {
            let expected = !segments.as_array().expect("a list").is_empty();
            differences.check(&format!("{key} {name}"), &of(self.peon(name), SEGMENT), &expected);
        }
    }
}

/// What upstream's counts of the segment are in a picture (dossier 4.4).
fn counts(picture: &[Holder]) -> BTreeMap<&'static str, i64> {
    let count = |act| {
        picture.iter().filter(|holder| holder.acts.get(&SEGMENT) == Some(&act)).count() as i64
    };
    let loaded = picture.iter().filter(|holder| holder.served.contains(&SEGMENT)).count() as i64;
    BTreeMap::from([
        ("total_loaded", loaded),
        ("loaded_not_dropping", loaded - count(Act::Drop)),
        ("move_completed_pending_drop", count(Act::MoveFrom) - count(Act::MoveTo)),
    ])
}

fn play_move(case: &Value) -> Differences {
    assert_eq!(case["design"], RETAIN);
    let mut differences = Differences::default();
    let mut cluster = Cluster::new(Fix::Retain);
    for step in case["steps"].as_array().expect("a case has steps") {
        let name = step["server"].as_str();
        let mut counted = BTreeMap::new();
        match step["op"].as_str().expect("a step has an op") {
            "start_move" => {
                let at = |key: &str| server(step[key].as_str().expect("a server"));
                let proposed = Move { segment: SEGMENT, from: at("from"), to: at("to") };
                cluster.decide(Input { pick: 0, proposed: Some(proposed) });
            }
            "ack" => cluster.acknowledge(name.expect("a server"), step["callbacks"] == true),
            "view_update" => {
                let segments = match &step["has"] {
                    Value::Bool(true) => vec![SEGMENT],
                    // All that were enqueued.
                    Value::String(_) => (FURTHER..FURTHER + 200).map(SegmentId).collect(),
                    _ => Vec::new(),
                };
                cluster.view(name.expect("a server"), segments);
            }
            "count_and_run_rule" => {
                let required = step["required"]["tier1"].as_u64().expect("a number");
                cluster.require(SEGMENT, required as u16);
                let drops = |cluster: &Cluster| {
                    ["A", "B"]
                        .map(|name| cluster.peon(name).drops(SEGMENT))
                        .into_iter()
                        .filter(|d| *d)
                        .count()
                };
                let before = drops(&cluster);
                counted = counts(&cluster.decide(Input::default()));
                counted.insert("dropped", drops(&cluster) as i64 - before as i64);
            }
            "enqueue_loads" => {
                let count = step["count"].as_u64().expect("a number") as u32;
                for id in FURTHER..FURTHER + count {
                    cluster.require(SegmentId(id), 1);
                }
                // From the second server on: B.
                cluster.decide(Input { pick: 1, proposed: None });
            }
            "read_queue_with_view" => {
                let at = server(name.expect("a server"));
                let picture = cluster.picture();
                let holder = picture.iter().find(|holder| holder.server == at);
                counted.insert("served", holder.expect("it is seen").served.len() as i64);
            }
            other => panic!("{other} is not known"),
        }
        cluster.expect(step, &counted, &mut differences);
    }
    differences
}

#[test]
fn moves() {
    assert_eq!(run_all(RACE, play_move), 3);
}
