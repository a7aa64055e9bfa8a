//! What does a batch save? `shard_many` on 1024 keys at a time, hashing left out, and from documents to
//! nodes with hashing of the whole batch included.
//!
//! 1024 nodes are there because some schemes have a shortcut for powers of two.

mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput};
use shardlab_core::RawChunk;
use shardlab_harness::{BATCH, Cycle, Floor, batches, documents};
use support::{KEYS, chunk, dense, hasher_of, ids_of_mixed_lengths, ids_of_one_length, random_keys, subjects};

const NODES: [u32; 5] = [10, 100, 1000, 1024, 10_000];

const STEP: usize = 8 * BATCH;

fn main() {
    let mut criterion = support::criterion();
    let random = random_keys(KEYS, 2);
    let mut group = criterion.benchmark_group("batch");
    group.throughput(Throughput::Elements(STEP as u64));
    for nodes in NODES {
        for (spec, _, sharder) in subjects(nodes) {
            let mut keys = Cycle::new(&random);
            group.bench_function(BenchmarkId::new(spec, nodes), |bencher| {
                bencher.iter(|| black_box(batches(&*sharder, &mut keys, STEP)));
            });
        }
    }
    let (floor, mut keys) = (Floor::new(dense(1)), Cycle::new(&random));
    group.bench_function("floor", |bencher| bencher.iter(|| black_box(batches(&floor, &mut keys, STEP))));
    group.finish();

    let sets =
        [("batch_with_hash_20", ids_of_one_length(KEYS, 20)), ("batch_with_hash_mixed", ids_of_mixed_lengths(KEYS))];
    for (question, ids) in sets {
        let parts: Vec<RawChunk> =
            ids.chunks_exact(BATCH).map(|part| chunk(part.iter().map(|id| id.as_bytes()))).collect();
        let mut group = criterion.benchmark_group(question);
        group.throughput(Throughput::Elements(BATCH as u64));
        for nodes in [1000] {
            for (spec, scheme, sharder) in subjects(nodes) {
                let hasher = hasher_of(&*scheme);
                let (mut keys, mut out) = (Vec::new(), Vec::new());
                let mut parts = parts.iter().cycle();
                group.bench_function(BenchmarkId::new(spec, nodes), |bencher| {
                    bencher.iter(|| {
                        let part = parts.next().expect("a cycle").as_batch();
                        documents(&*hasher, &*sharder, &part, &mut keys, &mut out).expect("plain ids")
                    });
                });
            }
        }
        group.finish();
    }
    criterion.final_summary();
}
