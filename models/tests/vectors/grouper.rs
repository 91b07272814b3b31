//! The grouper.

use super::*;

#[derive(Deserialize)]
struct GrouperDefaults {
    now_ms: u64,
    partition_series_limit: u64,
    partition_index_size_limit_bytes: u64,
    marker_timeout_ms: u64,
}

#[derive(Deserialize)]
struct GrouperCase {
    block_ranges_ms: Vec<i64>,
    ingestion_replication_factor: u64,
    blocks: Vec<GrouperBlock>,
    existing_groups: Vec<Existing>,
    expected_jobs: Vec<ExpectedJob>,
}

#[derive(Deserialize)]
struct GrouperBlock {
    id: Block,
    min_time: i64,
    max_time: i64,
    num_series: u64,
    index_size_bytes: Option<u64>,
    partition_info: Option<PartitionInfo>,
}

#[derive(Deserialize)]
struct PartitionInfo {
    count: u32,
    id: u32,
    group_of_range: (i64, i64),
}

#[derive(Deserialize)]
struct Existing {
    range_start: i64,
    range_end: i64,
    #[serde(flatten)]
    group: Group,
    markers: Vec<GroupMarker>,
}

#[derive(Deserialize)]
struct ExpectedJob {
    range_start: i64,
    range_end: i64,
    partition_count: u32,
    partition_id: u32,
    blocks: Vec<Block>,
    filler_block_added: bool,
}

/// A group of its own for each range, as upstream's hash has it.
fn group_of(range: (i64, i64)) -> GroupId {
    let hour = |ms: i64| u32::try_from(ms / 3_600_000).expect("it fits");
    GroupId(hour(range.0) * 100 + hour(range.1 - range.0))
}

/// A partition of a plan as a job: the count of the plan, the partition, its blocks.
type Job = (u32, u32, Vec<BlockId>);

/// The compactor of one range goes through its cycle up to where it picks. Returns the jobs to pick from.
fn jobs_of(process: &mut Process<Compactor>, world: &mut World) -> Vec<Job> {
    process.go_on(Task::Cycle, world).expect("it is idle");
    loop {
        if let Search::Picking(plan, jobs) = process.state.search() {
            let job = |p: &u32| (plan.count(), *p, plan.members(*p).to_vec());
            return jobs.iter().map(job).collect();
        }
        if !process.settle(world).expect("it fits") {
            return Vec::new();
        }
    }
}

fn run_grouper(defaults: &Value, case: &Value, differences: &mut Differences) {
    let (defaults, case): (GrouperDefaults, GrouperCase) = (read(defaults), read(case));
    assert_eq!(defaults.partition_index_size_limit_bytes, 0, "by series alone");
    assert!(case.blocks.iter().all(|block| block.index_size_bytes.is_none_or(|size| size == 0)));
    // Upstream stops to add up where the size of an index is missing.
    assert!(case.blocks.iter().all(|b| b.index_size_bytes.is_some() || b.num_series == 0));
    let mut ranges: BTreeSet<(i64, i64)> =
        case.expected_jobs.iter().map(|job| (job.range_start, job.range_end)).collect();
    ranges.extend(case.existing_groups.iter().map(|of| (of.range_start, of.range_end)));
    assert!(!ranges.is_empty(), "there is nothing to run");

    for range in ranges {
        let mut world = World { bucket: Bucket::default(), now_ms: defaults.now_ms };
        for block in &case.blocks {
            world.put_block(Meta {
                id: block.id.0,
                min_time_ms: block.min_time,
                max_time_ms: block.max_time,
                index_size_bytes: block.num_series,
                made_by: block.partition_info.as_ref().map(|info| Provenance {
                    group: group_of(info.group_of_range),
                    plan: PlanId(0),
                    partition_count: info.count,
                    partition: info.id,
                }),
            });
        }
        let mut planned = false;
        for existing in &case.existing_groups {
            let of = (existing.range_start, existing.range_end);
            planned |= of == range;
            world.put_plan(&existing.group.plan(group_of(of)));
            for marker in &existing.markers {
                world.put_marker(group_of(of), marker.marker());
            }
        }
        // Up to the least range every sample is there once for each replica.
        let is_least = range.1 - range.0 <= case.block_ranges_ms[0];
        let factor = if is_least { case.ingestion_replication_factor } else { 1 };
        let (start_ms, end_ms) = range;
        let limits = Limits {
            claim_timeout_ms: defaults.marker_timeout_ms,
            partition_index_size_bytes: defaults.partition_series_limit * factor,
            ..Limits::for_range(Range { group: group_of(range), start_ms, end_ms })
        };
        let got = jobs_of(&mut compactor(limits, owner("me")), &mut world);
        let expected = case
            .expected_jobs
            .iter()
            .filter(|job| (job.range_start, job.range_end) == range)
            .map(|job| (job.partition_count, job.partition_id, ids(&job.blocks)))
            .collect();
        differences.check(&format!("jobs of {range:?}"), &got, &expected);
        let file = Change::Put(Key::Plan(key(group_of(range))));
        let written = if planned { Vec::new() } else { vec![file] };
        differences.check(&format!("changes for {range:?}"), &world.changes(), &written);
    }
    // Upstream adds a filler where there is one block alone, as Thanos passes over such a group. A merge
    // here takes any number of blocks.
    assert!(case.expected_jobs.iter().all(|j| j.filler_block_added == (j.blocks.len() == 1)));
}

#[test]
fn grouper() {
    assert_eq!(run_all(GROUPER, run_grouper), Counts { run: 46, not_yet: 3 });
}
