//! Visit markers.

use super::*;

#[derive(Deserialize)]
struct MarkerCase {
    steps: Vec<MarkerStep>,
    expected_file: MarkerFile,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum MarkerStep {
    Mark { owner: String, status: String },
    Heartbeat { owner: String, delete_on_exit: bool },
    Wait { s: u64 },
    Event { event: String },
}

#[derive(Deserialize)]
struct MarkerFile {
    exists: bool,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    status: String,
}

/// Upstream's test writes the markers by themselves; here it is the work on a partition that writes them.
struct Workers {
    world: World,
    limits: Limits,
    processes: BTreeMap<String, Process<Compactor>>,
}

impl Workers {
    fn start() -> Self {
        let mut world = World::at_s(1_700_000_000);
        let range = Range { group: GROUP, start_ms: 0, end_ms: 100 };
        let id = BlockId(1);
        world.put_block(Meta {
            id,
            min_time_ms: 0,
            max_time_ms: 100,
            index_size_bytes: 0,
            made_by: None,
        });
        let created_s = 1_700_000_000;
        world.put_plan(&Plan {
            id: PlanId(1),
            group: GROUP,
            created_s,
            partitions: vec![vec![id]],
        });
        Self { world, limits: Limits::for_range(range), processes: BTreeMap::new() }
    }

    /// The worker works until this is its next effect.
    fn work(&mut self, name: &str, is_next: impl Fn(&Effect) -> bool) -> bool {
        let Self { world, limits, processes } = self;
        let process = processes.entry(name.to_owned()).or_insert_with(|| {
            let mut process = compactor(*limits, owner(name));
            process.go_on(Task::Cycle, world).expect("it is idle");
            process
        });
        until(process, world, is_next)
    }

    /// A heartbeat, if one may be sent, while the work goes on.
    fn beat(&mut self, name: &str) -> bool {
        let process = self.processes.get_mut(name).expect("it works");
        let beats = process.state.can_beat(0);
        if beats {
            process.go_on(Task::Beat(0), &mut self.world).expect("it may be sent");
            process.owed.rotate_right(1);
            process.settle(&mut self.world).expect("it fits");
        }
        beats
    }

    /// What the worker does next fails, and it goes on to the end.
    fn fail(&mut self, name: &str) {
        let input = Input { now_ms: self.world.now_ms, fresh: 0, pick: 0 };
        let process = self.processes.get_mut(name).expect("it works");
        let id = process.owed.pop_front().expect("it does something").id;
        process.take(Event::Outcome { id, outcome: Outcome::Failed, input }).expect("it fits");
        self.end(name);
    }

    fn end(&mut self, name: &str) {
        self.work(name, |_| false);
    }
}

/// Of those that have a marker, the cleaner alone deletes it on exit.
fn run_cleaner_marker(case: &MarkerCase, differences: &mut Differences) {
    let mut world = World::at_s(1_700_000_000);
    let role = Cleaner::new(Release::Main, 600_000).with_own_marker(true);
    let mut process = Process::start(role, ProcessId(0), 1);
    for step in &case.steps {
        match step {
            MarkerStep::Heartbeat { .. } => {
                process.go_on(Task::Cycle, &mut world).expect("it is idle");
                while !world.has(Key::CleanerMarker) {
                    assert!(process.settle(&mut world).expect("it fits"));
                }
            }
            MarkerStep::Wait { s } => {
                world.now_ms += s * 1000;
                if process.state.can_beat() {
                    process.go_on(Task::Beat(0), &mut world).expect("it is at its pass");
                    // The pass goes on meanwhile: the newest effect is the heartbeat.
                    let beat = process.owed.pop_back().expect("it was just sent");
                    process.owed.push_front(beat);
                    process.settle(&mut world).expect("it fits");
                }
            }
            MarkerStep::Event { event } => {
                assert_eq!(event, "result-ok");
                while process.settle(&mut world).expect("it fits") {}
            }
            MarkerStep::Mark { .. } => panic!("not run"),
        }
    }
    differences.check(
        "the file exists",
        &world.has(Key::CleanerMarker),
        &case.expected_file.exists,
    );
    let marker = [Change::Put(Key::CleanerMarker), Change::Delete(Key::CleanerMarker)];
    differences.check(
        "at last",
        &world.changes()[2..].iter().collect(),
        &marker.iter().collect::<Vec<_>>(),
    );
}

fn run_marker(_: &Value, case: &Value, differences: &mut Differences) {
    let case: MarkerCase = read(case);
    if case.steps.iter().any(|s| matches!(s, MarkerStep::Heartbeat { delete_on_exit: true, .. })) {
        return run_cleaner_marker(&case, differences);
    }
    let mut workers = Workers::start();
    let mut owners: Vec<&str> = Vec::new();
    for step in &case.steps {
        if let MarkerStep::Mark { owner, .. } | MarkerStep::Heartbeat { owner, .. } = step
            && !owners.contains(&owner.as_str())
        {
            owners.push(owner);
        }
    }
    // Whoever writes without having claimed after the first has claimed before, and was not heard of since.
    for late in owners.iter().skip(1).rev() {
        assert!(workers.work(late, is_merge), "{late} claims the partition");
        workers.world.now_ms += workers.limits.claim_timeout_ms;
    }
    let first = owners[0];
    for step in &case.steps {
        match step {
            MarkerStep::Mark { owner, status } => match status.as_str() {
                "pending" => assert!(workers.work(owner, is_wait)),
                "inProgress" => assert!(workers.work(owner, is_merge) && workers.beat(owner)),
                "completed" => workers.end(owner),
                other => panic!("{other} is not run"),
            },
            MarkerStep::Heartbeat { owner, delete_on_exit } => {
                assert!(!delete_on_exit, "not run");
                assert!(workers.work(owner, is_merge) && workers.beat(owner));
            }
            MarkerStep::Wait { s } => {
                workers.world.now_ms += s * 1000;
                workers.beat(first);
            }
            MarkerStep::Event { event } => match event.as_str() {
                "result-ok" => workers.end(first),
                // A merge that fails halts the partition, an upload that fails gives it back.
                "halt-error" => workers.fail(first),
                "other-error" => {
                    let uploads =
                        |effect: &Effect| matches!(effect, Effect::Put(Key::Chunks(_), _));
                    assert!(workers.work(first, uploads));
                    workers.fail(first);
                }
                other => panic!("{other} is not run"),
            },
        }
    }
    assert!(case.expected_file.exists, "not run");
    let got = match workers.world.bucket.objects.get(&MARKED) {
        Some(Body::Marker(marker)) => Some((marker.owner, status_name(marker.status))),
        _ => None,
    };
    let expected = (owner(&case.expected_file.owner), case.expected_file.status.as_str());
    differences.check("the file", &got, &Some(expected));
}

#[test]
fn visit_markers() {
    assert_eq!(run_all(MARKERS, run_marker), Counts { run: 8, not_yet: 3 });
}
