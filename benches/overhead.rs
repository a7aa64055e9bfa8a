//! What does measuring cost? A sharder that does nothing, asked in each of the ways that the other
//! benches ask, and the clock itself. Whatever stands here is in every other figure too.

mod support;

use std::hint::black_box;
use std::time::Instant;

use criterion::Throughput;
use shardlab_core::{NodeId, Sharder};
use shardlab_harness::{Cycle, Floor, batches, chain, singles};
use support::{KEYS, dense, random_keys};

const STEP: usize = 4096;

fn main() {
    let mut criterion = support::criterion();
    let random = random_keys(KEYS, 5);
    let floor = Floor::new(dense(1));
    let mut group = criterion.benchmark_group("overhead");
    group.bench_function("clock", |bencher| bencher.iter(|| black_box(Instant::now())));
    group.throughput(Throughput::Elements(STEP as u64));
    let mut keys = Cycle::new(&random);
    group.bench_function("dyn_shard", |bencher| bencher.iter(|| black_box(singles(&floor, &mut keys, STEP))));
    group.bench_function("dyn_shard_chain", |bencher| bencher.iter(|| black_box(chain(&floor, &mut keys, STEP))));
    group.bench_function("dyn_shard_many", |bencher| bencher.iter(|| black_box(batches(&floor, &mut keys, STEP))));
    group.bench_function("generic_shard", |bencher| bencher.iter(|| black_box(generic(&floor, &random[..STEP]))));
    group.finish();
    criterion.final_summary();
}

/// Without dispatch: what `dyn` costs is the difference.
fn generic<S: Sharder>(sharder: &S, keys: &[u64]) -> u64 {
    keys.iter().map(|&key| u64::from(black_box::<NodeId>(sharder.shard(key)).0)).sum()
}
