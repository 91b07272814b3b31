//! The planner.

use super::*;

#[derive(Deserialize)]
struct PlannerCase {
    block_ranges_ms: Vec<i64>,
    no_compact: Vec<Block>,
    marker: PlannerMarker,
    group_file: GroupFile,
    planned_creation_time_s: u64,
    members: Vec<Member>,
    deletion_marked: Vec<Block>,
    marker_timeout_s: Option<u64>,
    expected: PlannerExpected,
}

#[derive(Deserialize)]
struct PlannerMarker {
    exists: bool,
    owner: Option<String>,
    status: Option<String>,
    visit_time_s: Option<u64>,
}

#[derive(Deserialize)]
struct GroupFile {
    exists: bool,
    creation_time_s: Option<u64>,
}

#[derive(Deserialize)]
struct Member {
    id: Block,
    min_time: i64,
    max_time: i64,
}

#[derive(Deserialize)]
struct PlannerExpected {
    members: Option<Vec<Block>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct PlannerDefaults {
    me: String,
    now_s: u64,
    marker_timeout_s: u64,
    partition_id: u32,
}

impl PlannerCase {
    fn plan(&self, created_s: u64) -> Plan {
        let members = self.members.iter().map(|member| member.id.0).collect();
        Plan { id: PlanId(1), group: GROUP, created_s, partitions: vec![members] }
    }

    /// A bucket with the plan in it and nothing against it, and a compactor.
    fn start(&self, defaults: &PlannerDefaults) -> (World, Process<Compactor>) {
        let mut world = World::at_s(defaults.now_s);
        for member in &self.members {
            world.put_block(Meta {
                id: member.id.0,
                min_time_ms: member.min_time,
                max_time_ms: member.max_time,
                index_size_bytes: 0,
                made_by: None,
            });
        }
        world.put_plan(&self.plan(self.planned_creation_time_s));
        let largest = *self.block_ranges_ms.last().expect("there is a range");
        let start_ms = self.members[0].min_time.div_euclid(largest) * largest;
        let range = Range { group: GROUP, start_ms, end_ms: start_ms + largest };
        let timeout_s = self.marker_timeout_s.unwrap_or(defaults.marker_timeout_s);
        let limits = Limits { claim_timeout_ms: timeout_s * 1000, ..Limits::for_range(range) };
        (world, compactor(limits, owner(&defaults.me)))
    }

    /// What has become of the claim, the plan and the members by the time of the planner's checks.
    fn set_up(&self, world: &mut World, partition: u32) {
        world.bucket.objects.remove(&Key::Marker(key(GROUP), partition));
        let PlannerMarker { exists, owner: name, status: standing, visit_time_s } = &self.marker;
        if *exists {
            world.put_marker(
                GROUP,
                Marker {
                    owner: owner(name.as_ref().expect("a marker has an owner")),
                    status: status(standing.as_ref().expect("a marker has a status")),
                    plan: PlanId(1),
                    plan_created_s: Some(self.planned_creation_time_s),
                    partition,
                    visited_ms: visit_time_s.expect("a marker has a time") * 1000,
                },
            );
        }
        world.bucket.objects.remove(&Key::Plan(key(GROUP)));
        if self.group_file.exists {
            world.put_plan(&self.plan(self.group_file.creation_time_s.expect("it has a time")));
        }
        for block in &self.deletion_marked {
            world.mark_for_deletion(block.0);
        }
    }
}

/// The compactor finds the plan, claims the partition and waits; then the scene changes.
fn run_planner(defaults: &Value, case: &Value, differences: &mut Differences) {
    let (defaults, case): (PlannerDefaults, PlannerCase) = (read(defaults), read(case));
    assert!(case.no_compact.is_empty(), "not run");
    let partition = defaults.partition_id;
    let (mut world, mut process) = case.start(&defaults);
    process.go_on(Task::Cycle, &mut world).expect("it is idle");
    assert!(until(&mut process, &mut world, is_wait), "it claims the partition");
    case.set_up(&mut world, partition);
    world.bucket.history.clear();

    let goes_on = until(&mut process, &mut world, is_merge);
    let merges = goes_on.then(|| match &process.owed[0].effect {
        Effect::Merge(merge) => (merge.partition, merge.inputs.clone()),
        other => panic!("{other:?} is no merge"),
    });
    let expected = case.expected.members.as_deref().map(|members| (partition, ids(members)));
    differences.check("it merges", &merges, &expected);

    // Why it stopped: what it looked at last, and what it wrote.
    let marker = Key::Marker(key(GROUP), partition);
    let last = world.bucket.history.last().cloned().expect("it looked at its claim");
    let written = world.bucket.history.iter().filter_map(|effect| match effect {
        Effect::Put(key, Body::Marker(marker)) => Some((*key, marker.owner, marker.status)),
        Effect::Put(..) | Effect::Delete(_) => panic!("{effect:?} is not the planner's to do"),
        _ => None,
    });
    let written: Vec<_> = written.collect();
    match case.expected.error.as_deref() {
        None => differences.check("it writes", &written, &Vec::new()),
        Some("visited_by_other") => {
            differences.check("last", &last, &Effect::Get(marker));
            differences.check("it writes", &written, &Vec::new());
        }
        Some("partition_completed") => {
            differences.check("last", &last, &Effect::Get(Key::Plan(key(GROUP))));
            differences.check("it writes", &written, &Vec::new());
        }
        Some("contains_deleted_blocks") => {
            let failed = (marker, owner(&defaults.me), Status::Failed);
            differences.check("it writes", &written, &vec![failed]);
        }
        Some(error) => panic!("{error} is not run"),
    }
    differences.check("its jobs", &process.state.jobs().count(), &usize::from(goes_on));
}

#[test]
fn planner() {
    assert_eq!(run_all(PLANNER, run_planner), Counts { run: 9, not_yet: 5 });
}

/// Why `plan-05` and `plan-06` do not come up: upstream's planner knows the marks that the sync gathered,
/// and by then the same marks have taken the blocks from the grouper, which leaves out a partition with a
/// block that it does not know. A mark that comes later is known to neither.
#[test]
fn a_mark_that_the_planner_would_know_of_keeps_the_partition_from_being_picked() {
    let text = std::fs::read_to_string(directory().join(PLANNER)).expect("the file is there");
    let file: File = serde_json::from_str(&text).expect("the file is well-formed");
    let defaults: PlannerDefaults = read(&file.defaults);
    let mut seen = 0;
    for case in &file.cases {
        let case: PlannerCase = read(case);
        for block in &case.no_compact {
            let (mut world, mut process) = case.start(&defaults);
            world.put(Key::NoCompactMark(block.0), Body::NoCompactMark);
            process.go_on(Task::Cycle, &mut world).expect("it is idle");
            assert!(!until(&mut process, &mut world, is_wait));
            assert_eq!(world.changes(), []);
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
}
