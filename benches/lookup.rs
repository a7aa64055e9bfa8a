//! How long does a lookup take, apart from hashing? Every scheme of the registry at several numbers
//! of nodes, on independent random keys.
//!
//! `lookup_throughput` places a batch; `lookup_latency` makes each key depend on the answer before,
//! so that no two lookups overlap. The group `floor` is the same loop around a sharder that does
//! nothing: what it costs is in every other figure too.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use shardlab_core::{Members, NodeId, Sharder};
use shardlab_harness::Floor;

/// More than fits the first cache with its answers, less than the second holds.
const KEYS: usize = 8192;

const NODES: [u32; 4] = [10, 100, 1000, 10_000];

fn keys() -> Vec<u64> {
    (1..=KEYS as u64).map(|i| shardlab_hash::mix64(i.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .configure_from_args();
    let keys = keys();
    for (question, measure) in [("lookup_throughput", batch as Measure), ("lookup_latency", chain as Measure)] {
        let mut group = criterion.benchmark_group(question);
        group.throughput(Throughput::Elements(KEYS as u64));
        for nodes in NODES {
            let members = Members::dense(nodes).expect("a valid size");
            for scheme in shardlab_schemes::comparison_rows() {
                // Elasticsearch ends at 1024 shards; what cannot be built has no time.
                let Ok(sharder) = scheme.build(&members) else { continue };
                check(&*sharder, &keys);
                group.bench_function(BenchmarkId::new(scheme.spec(), nodes), |bencher| {
                    bencher.iter(|| measure(&*sharder, black_box(&keys)));
                });
            }
        }
        let floor = Floor::new(Members::dense(1).expect("a valid size"));
        group.bench_function("floor", |bencher| bencher.iter(|| measure(&floor, black_box(&keys))));
        group.finish();
    }
    criterion.final_summary();
}

type Measure = fn(&dyn Sharder, &[u64]) -> u64;

fn batch(sharder: &dyn Sharder, keys: &[u64]) -> u64 {
    let mut out = [NodeId(0); 1024];
    let mut sum = 0;
    for keys in keys.chunks(out.len()) {
        sharder.shard_many(keys, &mut out[..keys.len()]);
        sum += u64::from(black_box(&out)[0].0);
    }
    sum
}

fn chain(sharder: &dyn Sharder, keys: &[u64]) -> u64 {
    let mut last = NodeId(0);
    for &key in keys {
        // Node numbers end at 2^31 − 1, so this adds nothing, which the compiler cannot know.
        last = sharder.shard(key ^ u64::from(last.0 >> 31));
    }
    u64::from(last.0)
}

/// A batch answers what single lookups answer, and more than one node answers.
fn check(sharder: &dyn Sharder, keys: &[u64]) {
    let mut out = vec![NodeId(0); keys.len()];
    sharder.shard_many(keys, &mut out);
    assert!(keys.iter().zip(&out).all(|(&key, &node)| sharder.shard(key) == node), "a batch differs from lookups");
    assert!(out.iter().any(|node| *node != out[0]), "all keys went to one node");
}
