//! How long does a lookup take? Every scheme of the registry at several numbers of nodes, each lookup
//! through `dyn Sharder::shard`, with hashing left out unless the group says otherwise.
//!
//! * `lookup_throughput`: independent lookups one by one; the processor may overlap them.
//! * `lookup_latency`: each key depends on the answer before, so that no two overlap.
//! * `lookup_in_order`: keys 0, 1, 2, … in place of random ones. Tables seem faster than they are when
//!   their cells are read in order; the random keys are what counts.
//! * `lookup_with_hash`: from an id of 20 letters to the node, in the way a program does it.
//!
//! In each group `floor` is the same loop around a sharder that does nothing.

mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput};
use shardlab_core::{RawKey, Sharder};
use shardlab_harness::{Cycle, Floor, chain, singles};
use support::{KEYS, dense, hasher_of, ids_of_one_length, random_keys, subjects};

const NODES: [u32; 4] = [10, 100, 1000, 10_000];

/// Lookups of one iteration; the next iteration goes on with other keys.
const STEP: usize = 4096;

type Measure = fn(&dyn Sharder, &mut Cycle<'_>, usize) -> u64;

fn main() {
    let mut criterion = support::criterion();
    let random = random_keys(KEYS, 1);
    // As they are: a scheme that takes the high bits sees one corner of its table.
    let in_order: Vec<u64> = (0..KEYS as u64).collect();
    let questions: [(&str, Measure, &[u64], &[u32]); 3] = [
        ("lookup_throughput", singles, &random, &NODES),
        ("lookup_latency", chain, &random, &NODES),
        ("lookup_in_order", singles, &in_order, &[1000]),
    ];
    for (question, measure, keys, nodes) in questions {
        let mut group = criterion.benchmark_group(question);
        group.throughput(Throughput::Elements(STEP as u64));
        for &nodes in nodes {
            for (spec, _, sharder) in subjects(nodes) {
                let mut keys = Cycle::new(keys);
                group.bench_function(BenchmarkId::new(spec, nodes), |bencher| {
                    bencher.iter(|| black_box(measure(&*sharder, &mut keys, STEP)));
                });
            }
        }
        let (floor, mut keys) = (Floor::new(dense(1)), Cycle::new(keys));
        group.bench_function("floor", |bencher| bencher.iter(|| black_box(measure(&floor, &mut keys, STEP))));
        group.finish();
    }

    let ids = ids_of_one_length(KEYS, 20);
    let mut group = criterion.benchmark_group("lookup_with_hash");
    group.throughput(Throughput::Elements(STEP as u64));
    for nodes in [1000] {
        for (spec, scheme, sharder) in subjects(nodes) {
            let hasher = hasher_of(&*scheme);
            let mut parts = ids.chunks_exact(STEP).cycle();
            group.bench_function(BenchmarkId::new(spec, nodes), |bencher| {
                bencher.iter(|| {
                    let part = parts.next().expect("a cycle");
                    let nodes = part.iter().map(|id| {
                        let key = hasher.hash(&RawKey::id(id.as_bytes())).expect("a plain id");
                        u64::from(sharder.shard(key).0)
                    });
                    black_box(nodes.sum::<u64>())
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
