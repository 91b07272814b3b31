//! States per second, of this explorer and of stateright's checker, on one scope in the same run.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use surehold::Verified;
use surehold_models::compaction::fleet::Ours;
use surehold_models::compaction::model::Model;
use surehold_models::compaction::scopes;
use surehold_models::explore::{Options, agree, explore, second_opinion};

/// What the command allocates with, so that the figures are its own.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SCOPE: &str = "one-partition";

fn explorers(criterion: &mut Criterion) {
    let scope = scopes::all().into_iter().find(|scope| scope.name == SCOPE).expect("the scope");
    let model = Model::new(&Ours(Verified), &scope);
    // stateright judges no recoverability, so neither does ours here.
    let options = Options { recoverability: false, ..Options::default() };
    let report = explore(&model, &options);
    assert_eq!(agree(&report, &second_opinion(&model)), Ok(()), "nothing to compare");

    let mut group = criterion.benchmark_group(SCOPE);
    group.sample_size(10).warm_up_time(Duration::from_secs(1));
    group.measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(report.generated));
    group.bench_function("ours", |bencher| {
        bencher.iter(|| explore(&model, &options).unique);
    });
    group.bench_function("stateright", |bencher| {
        bencher.iter(|| second_opinion(&model).unique_states);
    });
    group.finish();
}

criterion_group!(benches, explorers);
criterion_main!(benches);
