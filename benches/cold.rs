//! What does a lookup cost when something else has used the caches? Before each sample a buffer larger
//! than the last cache is read, then 16 lookups are timed together. Where the system does not tell the
//! size of the last cache, 256 MB are taken for it.
//!
//! The processor's other cores may keep parts of a shared last cache, so that this is a cold table, not
//! proof of an empty cache.

mod support;

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Throughput};
use shardlab_core::Sharder;
use shardlab_harness::{Cycle, Floor, singles};
use support::{KEYS, dense, random_keys, sharder, subjects};

/// Few enough that a table with thousands of cells stays cold to the last of them.
const STEP: usize = 16;

fn main() {
    let mut criterion = support::criterion().sample_size(10);
    let random = random_keys(KEYS, 4);
    // `cargo test` only wants to know that the bench works.
    let testing = std::env::args().any(|argument| argument == "--test");
    let evict = vec![1_u64; if testing { 1 } else { eviction_bytes() / 8 }];
    let mut group = criterion.benchmark_group("cold");
    group.throughput(Throughput::Elements(STEP as u64));
    let mut cold = |name: BenchmarkId, sharder: &dyn Sharder| {
        let mut keys = Cycle::new(&random);
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|iterations| {
                let mut spent = Duration::ZERO;
                for _ in 0..iterations {
                    // One word of each line of 64 bytes.
                    black_box(evict.iter().step_by(8).fold(0, |sum: u64, word| sum.wrapping_add(*word)));
                    // The keys themselves are at hand, as they are for whoever asks.
                    let mut step = [0; STEP];
                    let mut at = step.iter_mut();
                    keys.runs(STEP, STEP, |run| run.iter().zip(&mut at).for_each(|(key, slot)| *slot = *key));
                    let mut step = Cycle::new(black_box(&step));
                    let start = Instant::now();
                    black_box(singles(sharder, &mut step, STEP));
                    spent += start.elapsed();
                }
                spent
            });
        });
    };
    for (spec, _, sharder) in subjects(1000) {
        cold(BenchmarkId::new(spec, 1000), &*sharder);
    }
    cold(BenchmarkId::new("ring", 10_000), &*sharder("ring", 10_000));
    cold(BenchmarkId::new("maglev:table=655373", 1000), &*sharder("maglev:table=655373", 1000));
    cold(BenchmarkId::new("floor", 1), &Floor::new(dense(1)));
    group.finish();
    criterion.final_summary();
}

/// Twice the last cache, within reason: a virtual machine may be told of a cache it shares with many.
fn eviction_bytes() -> usize {
    let size = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok();
    let kibibytes = size.and_then(|size| size.trim().strip_suffix('K')?.parse::<usize>().ok());
    kibibytes.map_or(256 << 20, |kibibytes| (kibibytes << 11).clamp(32 << 20, 512 << 20))
}
