//! What a coordinator's run, a server's view and a clone of the state cost in a large cluster.
//!
//! A time says little on a machine that others use, so each is shown as a ratio to a plain counterpart
//! measured in the same run. The state is built by events through the public interface only. Run as
//! `cargo bench -p surehold`: then the library is built without `weaken`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use criterion::Criterion;
use surehold::Machine;
use surehold::rebalance::coordinator::{Durable, Limits, State};
use surehold::rebalance::event::{Rule, ServerInfo};
use surehold::rebalance::message::{Addressed, FromServer, View};
use surehold::rebalance::object::{
    Fence, Incarnation, LeaderId, SegmentId, ServerId, Stamp, Term, TierId,
};
use surehold::rebalance::{Coordinator, CoordinatorEvent as Event, Input, Task};

const SEGMENTS: u32 = 100_000;
const SERVERS: u16 = 100;
const REPLICAS: u16 = 2;
const SIZE_BYTES: u64 = 500_000_000;
const CAPACITY_BYTES: u64 = 4_000 * SIZE_BYTES;
const TIER: TierId = TierId(0);
const FENCE: Fence = Fence { term: Term(1), number: 0 };
/// How many changes the small run looks at.
const CHANGES: u32 = 100;

fn rule(required: u16) -> Rule {
    Rule { size_bytes: SIZE_BYTES, required: vec![(TIER, required)] }
}

fn info() -> ServerInfo {
    ServerInfo { tier: TIER, capacity_bytes: CAPACITY_BYTES, decommissioning: false, managed: true }
}

/// Whether a server has a segment: each of two servers that are half the cluster apart.
fn holds(server: u16, segment: u32) -> bool {
    let first = (segment % u32::from(SERVERS)) as u16;
    server == first || server == (first + SERVERS / REPLICAS) % SERVERS
}

/// A view in which a server has what is said, with some segments left out.
fn view(server: u16, version: u32, leaves_out: impl Fn(u32) -> bool) -> Event {
    let all = (1..=SEGMENTS).filter(|id| holds(server, *id) && !leaves_out(*id));
    let segments = all.map(SegmentId).collect();
    let stamp = Stamp { incarnation: Incarnation(1), version };
    let message = FromServer::View(View { fence: FENCE, stamp, segments });
    Event::Received(Addressed { server: ServerId(server), message })
}

fn run() -> Event {
    Event::Continue { task: Task::Run, input: Input::default() }
}

struct Cluster {
    role: Coordinator,
    state: State,
}

impl Cluster {
    fn elected() -> Self {
        let role = Coordinator::new(Limits::default());
        let state = role.recover(Durable { leader: LeaderId(1), incarnation: 1 });
        let mut cluster = Self { role, state };
        for server in 0..SERVERS {
            cluster.take(Event::Appeared(ServerId(server), info()));
        }
        for segment in 1..=SEGMENTS {
            cluster.take(Event::Require(SegmentId(segment), rule(REPLICAS)));
        }
        cluster.take(Event::Elected(FENCE.term));
        cluster
    }

    /// With a view of every server, and every segment to be looked at.
    fn informed() -> Self {
        let mut cluster = Self::elected();
        for server in 0..SERVERS {
            cluster.take(view(server, 1, |_| false));
        }
        assert_eq!(cluster.state.due_len(), SEGMENTS as usize);
        cluster
    }

    fn take(&mut self, event: Event) {
        self.state = self.step(event);
    }

    fn step(&self, event: Event) -> State {
        self.role.step(&self.state, event).expect("it fits").state
    }
}

/// What the state says, in std's maps and without sharing: who has what.
#[derive(Clone)]
struct Plain {
    copies: BTreeMap<u32, Vec<(u16, Stamp)>>,
    used_bytes: Vec<u64>,
}

impl Plain {
    fn new() -> Self {
        let stamp = Stamp { incarnation: Incarnation(1), version: 1 };
        let of = |id: u32| (0..SERVERS).filter(move |at| holds(*at, id)).map(|at| (at, stamp));
        let copies = (1..=SEGMENTS).map(|id| (id, of(id).collect())).collect();
        Self { copies, used_bytes: vec![0; usize::from(SERVERS)] }
    }

    /// Counts the copies of each segment, and the bytes of each server.
    fn count(&mut self) -> u32 {
        self.used_bytes.fill(0);
        let mut short = 0;
        for copies in self.copies.values() {
            short += u32::from(copies.len() < usize::from(REPLICAS));
            for (at, _) in copies {
                self.used_bytes[usize::from(*at)] += SIZE_BYTES;
            }
        }
        short
    }

    /// Replaces what one server has.
    fn view(&mut self, server: u16) -> usize {
        let stamp = Stamp { incarnation: Incarnation(1), version: 2 };
        let mut seen = 0;
        for id in (1..=SEGMENTS).filter(|id| holds(server, *id)) {
            if let Some(copies) = self.copies.get_mut(&id) {
                let place = copies.iter_mut().find(|(at, _)| *at == server);
                seen += place.map(|place| place.1 = stamp).iter().len();
            }
        }
        seen
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
    println!("{name} / {baseline}: {:.4} ({:.3} ms)\n", ours / plain, ours / 1e6);
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
    let mut criterion = Criterion::default().configure_from_args().sample_size(10);
    let begun = Instant::now();
    let mut cluster = Cluster::informed();
    println!("built in {:.1} s", begun.elapsed().as_secs_f64());
    let mut plain = Plain::new();
    let mut count = || black_box(&mut plain).count();

    let name = "a run over 100,000 segments, all as required";
    compare(&mut criterion, name, || cluster.step(run()), ("plain count", &mut count));

    // One copy of every second segment is missing: as many loads are decided.
    let mut short = Cluster::elected();
    for server in 0..SERVERS {
        short.take(view(server, 1, |id| id % 2 == 0 && server >= SERVERS / 2));
    }
    let name = "a run over 100,000 segments, 50,000 loads decided";
    compare(&mut criterion, name, || short.step(run()), ("plain count", &mut count));
    short.take(run());
    let queued: usize =
        (0..SERVERS).map(|at| short.state.operations_of(ServerId(at)).count()).sum();
    assert_eq!(queued, SEGMENTS as usize / 2);

    cluster.take(run());
    assert_eq!(cluster.state.due_len(), 0);
    let settled = cluster.state.clone();
    for segment in 1..=CHANGES {
        cluster.take(Event::Require(SegmentId(segment * 997), rule(REPLICAS + 1)));
    }
    assert_eq!(cluster.state.due_len(), CHANGES as usize);
    let name = "a run after 100 changes, 100 loads decided";
    compare(&mut criterion, name, || cluster.step(run()), ("plain count", &mut count));

    let mut plain = Plain::new();
    let copy = ("plain clone", || plain.clone());
    compare(&mut criterion, "state clone", || settled.clone(), copy);

    let cluster = Cluster { state: settled, ..cluster };
    let same = view(3, 2, |_| false);
    let mut replace = || plain.view(3);
    let name = "a view of 2,000 segments, nothing new";
    compare(&mut criterion, name, || cluster.step(same.clone()), ("plain view", &mut replace));
    let fewer = view(3, 2, |id| id % 20 == 3);
    let name = "a view of 2,000 segments, one in five missing";
    compare(&mut criterion, name, || cluster.step(fewer.clone()), ("plain view", &mut replace));
    criterion.final_summary();
}
