//! How long does it take to build a sharder? Every scheme of the registry at several numbers of nodes,
//! and Maglev with the larger of the paper's two tables, the size that its published crates build too.

mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion};
use shardlab_core::Scheme;
use support::{dense, scheme, subjects};

fn main() {
    let mut criterion = support::criterion().sample_size(10);
    for nodes in [10, 1000, 10_000] {
        for (_, scheme, _) in subjects(nodes) {
            build(&mut criterion, &*scheme, nodes);
        }
    }
    build(&mut criterion, &*scheme("maglev:table=655373"), 1000);
    criterion.final_summary();
}

fn build(criterion: &mut Criterion, scheme: &dyn Scheme, nodes: u32) {
    let members = dense(nodes);
    criterion.benchmark_group("construction").bench_function(BenchmarkId::new(scheme.spec(), nodes), |bencher| {
        bencher.iter(|| black_box(scheme.build(&members).expect("a subject that was built before")));
    });
}
