//! What a step of a compactor costs, and a clone and a hash of its state.
//!
//! A time says little on a machine that others use, so each is shown as a ratio to a plain counterpart
//! measured in the same run. Run as `cargo bench -p surehold`: then the library is built without `weaken`.

#[path = "../tests/downstream/src/lib.rs"]
#[allow(dead_code)]
pub mod downstream;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use downstream::{Bucket, Outside, Process};
use surehold::compaction::compactor::{Durable, Limits, State};
use surehold::compaction::object::{BlockId, GroupId, ProcessId};
use surehold::compaction::plan::{Plan, Range};
use surehold::compaction::{Compactor, Effect, Event, Input, Task};
use surehold::{EffectId, Machine};

const DURABLE: Durable = Durable { process: ProcessId(0), incarnation: 1 };

/// A compactor's cycle from nothing to a completed partition.
struct Cycle {
    role: Compactor,
    /// Every event of it, so that a replay measures steps and no store.
    events: Vec<Event>,
    /// The state while the partition is being merged.
    at_work: State,
}

impl Cycle {
    fn record() -> Self {
        let range = Range { group: GroupId(1), start_ms: 0, end_ms: 100 };
        let limits = Limits { partition_index_size_bytes: 2, ..Limits::for_range(range) };
        let role = Compactor::new(limits);
        let mut process = Process::start(role, DURABLE.process, DURABLE.incarnation);
        let mut bucket = Bucket::default();
        bucket.upload(BlockId(1), 2, &[(0, 10), (1, 20)]);
        bucket.upload(BlockId(2), 2, &[(0, 10), (3, 20)]);

        let mut event = Event::Continue { task: Task::Cycle, input: input(&mut bucket) };
        let mut events = vec![event.clone()];
        process.take(event).expect("it is idle");
        let mut at_work = None;
        while let Some(issued) = process.owed.pop_front() {
            if matches!(issued.effect, Effect::Merge(_)) {
                at_work = Some(process.state.clone());
            }
            let outcome = bucket.carry_out(&issued.effect);
            event = Event::Outcome { id: issued.id, outcome, input: input(&mut bucket) };
            events.push(event.clone());
            process.take(event).expect("it fits");
        }
        Self { role: process.role, events, at_work: at_work.expect("there was a merge") }
    }

    /// Takes every event, from the first to the completion.
    fn replay(&self) -> State {
        self.events.iter().fold(self.role.recover(DURABLE), |state, event| {
            self.role.step(&state, event.clone()).expect("it was taken before").state
        })
    }

    /// As many steps that come to nothing: what the shape of a step costs by itself.
    fn refuse(&self) {
        let state = self.role.recover(DURABLE);
        for _ in &self.events {
            let event =
                Event::Continue { task: Task::Job(0), input: input(&mut Bucket::default()) };
            assert!(black_box(self.role.step(&state, event)).is_err());
        }
    }
}

fn input(outside: &mut Bucket) -> Input {
    let now_ms = outside.now_ms();
    Input { now_ms, fresh: u128::from(now_ms), pick: 0 }
}

/// What the state says, in std's maps and without sharing: the copy that a service would keep.
#[derive(Clone, Hash)]
struct Plain {
    process: ProcessId,
    outstanding: BTreeMap<EffectId, Task>,
    jobs: BTreeMap<u8, (Plan, u32)>,
}

impl Plain {
    fn of(state: &State) -> Self {
        let owner = state.owner();
        let id = EffectId { incarnation: owner.incarnation, number: 0 };
        let job = |(slot, job): (u8, &_)| -> (u8, (Plan, u32)) {
            let job: &surehold::compaction::compactor::state::Job = job;
            (slot, (Plan::clone(&job.plan), job.partition))
        };
        Self {
            process: owner.process,
            outstanding: BTreeMap::from([(id, Task::Job(0))]),
            jobs: state.jobs().map(job).collect(),
        }
    }
}

/// Measures both, and says how they relate.
fn compare<A, B>(
    criterion: &mut Criterion,
    name: &str,
    ours: impl FnMut() -> A,
    (baseline, plain): (&str, impl FnMut() -> B),
) {
    let ours = measure(criterion, name, ours);
    let plain = measure(criterion, baseline, plain);
    println!("{name} / {baseline}: {:.2}\n", ours / plain);
}

/// The median of nanoseconds for one call, over criterion's samples.
fn measure<T>(criterion: &mut Criterion, name: &str, mut call: impl FnMut() -> T) -> f64 {
    let mut samples = Vec::new();
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            let started = Instant::now();
            for _ in 0..times {
                black_box(call());
            }
            let took = started.elapsed();
            samples.push(took.as_secs_f64() * 1e9 / times as f64);
            took
        });
    });
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() {
    if cfg!(feature = "weaken") {
        println!(
            "not measured: this library is built with `weaken`; use `cargo bench -p surehold`"
        );
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    let cycle = Cycle::record();
    let refused = format!("{} refused steps", cycle.events.len());
    compare(&mut criterion, "a whole cycle", || cycle.replay(), (&refused, || cycle.refuse()));

    let (state, plain) = (&cycle.at_work, Plain::of(&cycle.at_work));
    let copy = ("plain clone", || plain.clone());
    compare(&mut criterion, "state clone", || state.clone(), copy);

    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let hash = ("plain hash", || hasher.hash_one(&plain));
    compare(&mut criterion, "state hash", || hasher.hash_one(state), hash);
    criterion.final_summary();
}
