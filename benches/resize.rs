//! How long does it take to follow a change of membership? A node joins, a node in the middle leaves,
//! and the number doubles. A scheme that cannot do a change has no time for it: no easier change takes
//! its place. Copying the sharder first is not part of the time.

mod support;

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId};
use shardlab_core::{Change, NodeId};
use support::subjects;

const NODES: u32 = 1000;

fn main() {
    let mut criterion = support::criterion().sample_size(10);
    // Elasticsearch ends at 1024 shards and doubles below that.
    for (question, nodes) in [("resize_add_one", NODES), ("resize_remove_middle", NODES), ("resize_double", 500)] {
        let mut group = criterion.benchmark_group(question);
        for (spec, _, sharder) in subjects(nodes) {
            let change = match question {
                "resize_add_one" => Change::Grow { to: nodes + 1 },
                "resize_double" => Change::Grow { to: 2 * nodes },
                _ => Change::Remove { name: sharder.members().name(NodeId(nodes / 2)).into_owned() },
            };
            if sharder.box_clone().apply(&change).is_err() {
                continue;
            }
            group.bench_function(BenchmarkId::new(spec, nodes), |bencher| {
                bencher.iter_batched_ref(
                    || sharder.box_clone(),
                    |sharder| black_box(sharder.apply(&change)),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
    criterion.final_summary();
}
