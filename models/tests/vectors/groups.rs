//! Status and clean-up of groups.

use super::*;

#[derive(Deserialize)]
struct BlockState {
    meta_exists: bool,
    deletion_mark: bool,
    no_compact_mark: bool,
}

#[derive(Deserialize)]
struct GroupCase {
    group: Group,
    markers: Vec<GroupMarker>,
    blocks: BTreeMap<String, BlockState>,
}

impl GroupCase {
    fn plan(&self) -> Plan {
        self.group.plan(GROUP)
    }

    fn block_states(&self) -> impl Iterator<Item = (BlockId, &BlockState)> {
        let id = |name: &String| Block::try_from(name.clone()).expect("it is a block").0;
        self.blocks.iter().map(move |(name, state)| (id(name), state))
    }

    fn world(&self, now_s: u64) -> World {
        let mut world = World::at_s(now_s);
        world.put_plan(&self.plan());
        for marker in &self.markers {
            world.put_marker(GROUP, marker.marker());
        }
        for (id, state) in self.block_states() {
            if state.meta_exists {
                world.put_block(Meta {
                    id,
                    min_time_ms: 0,
                    max_time_ms: 100,
                    index_size_bytes: 0,
                    made_by: None,
                });
            }
            if state.deletion_mark {
                world.mark_for_deletion(id);
            }
            if state.no_compact_mark {
                world.put(Key::NoCompactMark(id), Body::NoCompactMark);
            }
        }
        world
    }
}

/// One pass; returns the blocks that the status asked after, in order.
fn clean(process: &mut Process<Cleaner>, world: &mut World) -> Vec<BlockId> {
    let mut asked = Vec::new();
    process.go_on(Task::Cycle, world).expect("it is idle");
    while let Some(issued) = process.owed.front() {
        if let (Pass::Status(..), Effect::Exists(Key::Meta(id))) =
            (process.state.pass(), &issued.effect)
        {
            asked.push(*id);
        }
        process.settle(world).expect("it fits");
    }
    assert_eq!(process.state.pass(), &Pass::Idle);
    asked
}

#[derive(Deserialize)]
struct StatusDefaults {
    now_s: u64,
    marker_timeout_s: u64,
}

#[derive(Deserialize)]
struct StatusExpected {
    completed: bool,
    can_delete: bool,
    pending_or_failed_partitions: Vec<u32>,
    markers_to_delete: Vec<u32>,
}

fn run_group_info(defaults: &Value, case: &Value, differences: &mut Differences) {
    if case.get("block").is_some() {
        run_lookup(case, differences);
    } else {
        run_status(defaults, case, differences);
    }
}

fn run_lookup(case: &Value, differences: &mut Differences) {
    let plan = read::<Group>(&case["group"]).plan(GROUP);
    let Block(id) = read(&case["block"]);
    let listing = (0..plan.count()).filter(|p| plan.members(*p).contains(&id)).collect();
    let expected: Vec<u32> = read(&case["expected_partition_ids"]);
    differences.check("partitions", &listing, &expected);
}

/// The status decides what a pass does, so it is told by that.
fn run_status(defaults: &Value, case: &Value, differences: &mut Differences) {
    let expected: StatusExpected = read(&case["expected"]);
    let (defaults, case): (StatusDefaults, GroupCase) = (read(defaults), read(case));
    let plan = case.plan();
    let mut world = case.world(defaults.now_s);
    let asked = clean(&mut cleaner(defaults.marker_timeout_s), &mut world);

    // It asks after the parents of the unfinished partitions, up to the first that is a hindrance.
    let states: BTreeMap<_, _> = case.block_states().collect();
    let unfinished: BTreeSet<BlockId> = expected
        .pending_or_failed_partitions
        .iter()
        .flat_map(|p| plan.members(*p))
        .copied()
        .collect();
    let hinders = |id: &BlockId| {
        let state = states[id];
        !state.meta_exists || state.deletion_mark || state.no_compact_mark
    };
    let first = unfinished.iter().find(|id| hinders(id)).copied();
    let expected_asked: Vec<_> =
        unfinished.iter().filter(|id| first.is_none_or(|first| **id <= first)).copied().collect();
    differences.check("it asks after", &asked, &expected_asked);

    let marker = |p: u32| Change::Delete(Key::Marker(key(GROUP), p));
    let changes: Vec<Change> = match (expected.can_delete, expected.completed) {
        (false, completed) => {
            assert!(!completed);
            expected.markers_to_delete.iter().map(|p| marker(*p)).collect()
        }
        (true, false) => {
            let file = Change::Delete(Key::Plan(key(GROUP)));
            let markers = case.markers.iter().map(|m| marker(m.partition_id));
            std::iter::once(file).chain(markers).collect()
        }
        (true, true) => {
            let marks =
                |id| [Change::Put(Key::GlobalDeletionMark(id)), Change::Put(Key::DeletionMark(id))];
            let unmarked: Vec<_> = plan.parents().into_iter().filter(|id| !hinders(id)).collect();
            assert!(!unmarked.is_empty(), "this pass marks, the next deletes");
            unmarked.into_iter().flat_map(marks).collect()
        }
    };
    differences.check("it changes", &world.changes(), &changes);
}

#[test]
fn group_status() {
    assert_eq!(run_all(STATUS, run_group_info), Counts { run: 16, not_yet: 2 });
}

#[derive(Deserialize)]
struct CleanUp {
    now_s: u64,
    marker_timeout_s: u64,
    steps: Vec<CleanUpStep>,
}

#[derive(Deserialize)]
struct CleanUpStep {
    op: String,
    expect: CleanUpExpected,
}

#[derive(Deserialize)]
struct CleanUpExpected {
    index_deletion_marks: Option<Vec<Block>>,
    deletion_mark: Option<BTreeMap<String, bool>>,
    group_file_exists: bool,
    partition_marker_exists: bool,
}

#[derive(Deserialize)]
struct PartialBlock {
    objects_in_block_dir: Vec<String>,
    /// Nothing is known where there was nothing to see.
    expected_deleted: Option<bool>,
}

fn run_partial(case: &Value, differences: &mut Differences) {
    const HOUR_MS: u64 = 3_600_000;
    const ID: BlockId = BlockId(1 << 80);
    let case: PartialBlock = read(case);
    let mut world = World::at_s(1_700_000_000);
    for name in &case.objects_in_block_dir {
        let (key, body) = match name.as_str() {
            "visit-mark.json" => (Key::VisitMark(ID), Body::Data),
            "chunks/000001" => (Key::Chunks(ID), Body::Data),
            "deletion-mark.json" => {
                let (because, marked_ms) =
                    (MarkReason::Compacted(PlanId(0)), world.now_ms - HOUR_MS);
                (Key::DeletionMark(ID), Body::DeletionMark(DeletionMark { because, marked_ms }))
            }
            other => panic!("{other} is not known"),
        };
        world.put(key, body);
    }
    let role = Cleaner::new(Release::Main, 600_000).deleting(Some(12 * HOUR_MS));
    clean(&mut Process::start(role, ProcessId(9), 1), &mut world);
    if let Some(expected) = case.expected_deleted {
        differences.check("deleted", &world.bucket.objects.is_empty(), &expected);
    }
}

fn run_cleaner(defaults: &Value, case: &Value, differences: &mut Differences) {
    if case.get("objects_in_block_dir").is_some() {
        run_partial(case, differences);
    } else {
        run_clean_up(defaults, case, differences);
    }
}

fn run_clean_up(_: &Value, case: &Value, differences: &mut Differences) {
    let clean_up: CleanUp = read(case);
    let case: GroupCase = read(case);
    let mut world = case.world(clean_up.now_s);
    let mut process = cleaner(clean_up.marker_timeout_s);
    for (step, expect) in clean_up.steps.iter().map(|step| (&step.op, &step.expect)) {
        assert_eq!(step, "clean_cycle");
        clean(&mut process, &mut world);
        let marked = |id: &Key| if let Key::GlobalDeletionMark(id) = id { Some(*id) } else { None };
        // The index is made of the global marks.
        if let Some(blocks) = &expect.index_deletion_marks {
            let marked: Vec<_> = world.bucket.objects.keys().filter_map(marked).collect();
            differences.check("marks for the index", &marked, &ids(blocks));
        }
        for (name, is_marked) in expect.deletion_mark.iter().flatten() {
            let Block(id) = Block::try_from(name.clone()).expect("it is a block");
            differences.check(name, &world.has(Key::DeletionMark(id)), is_marked);
        }
        let file = world.has(Key::Plan(key(GROUP)));
        differences.check("group file", &file, &expect.group_file_exists);
        differences.check("marker", &world.has(MARKED), &expect.partition_marker_exists);
    }
}

#[test]
fn group_clean_up() {
    assert_eq!(run_all(CLEANER, run_cleaner), Counts { run: 5, not_yet: 28 });
}
