//! How do lookups scale with threads? One and two threads share one sharder and place a batch each in
//! turn; throughput is that of all threads together. Threads are started and ended within the time,
//! so that each iteration is long enough for that to be nothing.

mod support;

use std::time::Instant;

use criterion::{BenchmarkId, Throughput};
use shardlab_harness::{BATCH, Cycle, batches};
use support::{KEYS, random_keys, subjects};

const NODES: u32 = 1000;

fn main() {
    let mut criterion = support::criterion().sample_size(10);
    let random = random_keys(KEYS, 3);
    let mut group = criterion.benchmark_group("threads");
    for (spec, _, sharder) in subjects(NODES) {
        // As many lookups as take about ten milliseconds on one thread.
        let mut keys = Cycle::new(&random);
        let mut step = BATCH;
        loop {
            let start = Instant::now();
            std::hint::black_box(batches(&*sharder, &mut keys, step));
            if start.elapsed().as_millis() >= 5 {
                break;
            }
            step *= 2;
        }
        for threads in [1, 2] {
            group.throughput(Throughput::Elements((threads * step) as u64));
            group.bench_function(BenchmarkId::new(&spec, threads), |bencher| {
                bencher.iter(|| {
                    std::thread::scope(|scope| {
                        let workers: Vec<_> = (0..threads)
                            .map(|worker| {
                                let (sharder, random) = (&*sharder, &random);
                                // Each begins elsewhere, so that no two ask for the same key together.
                                let mut keys = Cycle::new(&random[worker * random.len() / 2..]);
                                scope.spawn(move || batches(sharder, &mut keys, step))
                            })
                            .collect();
                        workers.into_iter().map(|worker| worker.join().expect("no panic")).fold(0, u64::wrapping_add)
                    })
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
}
