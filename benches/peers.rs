//! How do published crates answer the same questions on the same keys? A group is a question; its ids
//! are the crates and our two ways, one key at a time and in batches. Every crate had to answer rightly
//! before: see `support/published.rs`, which also says where a comparison is unequal.
//!
//! Criterion measures one subject after another. `cargo xtask peers` measures them in turns and prints
//! ratios, which is what to believe on a machine with other work.

#[expect(dead_code, reason = "the program behind cargo xtask peers also prints what a contest says of itself")]
#[path = "support/published.rs"]
mod published;
mod support;

use std::time::{Duration, Instant};

use criterion::{BenchmarkGroup, Throughput, measurement::WallTime};
use published::{Stage, Subject};
use shardlab_harness::BATCH;

fn main() {
    let mut criterion = support::criterion().sample_size(10);
    let stage = Stage::new(1000, None);
    for contest in stage.lookups() {
        let mut group = criterion.benchmark_group(format!("peers/{}", contest.question));
        for mut subject in contest.published {
            bench(&mut group, subject.name, &mut subject);
        }
        let mut single = contest.single;
        bench(&mut group, &format!("{} (ours)", single.name), &mut single);
        if let Some(mut many) = contest.many {
            bench(&mut group, &format!("{} (ours, in batches)", many.name), &mut many);
        }
        group.finish();
    }
    let mut group = criterion.benchmark_group("peers/other schemes");
    for mut subject in stage.context() {
        bench(&mut group, subject.name, &mut subject);
    }
    group.finish();
    for contest in Stage::builds() {
        let mut group = criterion.benchmark_group(format!("peers/{}", contest.question));
        for mut subject in contest.published {
            group.bench_function(subject.name, |bencher| bencher.iter(|| (subject.work)(1)));
        }
        let mut ours = contest.single;
        group.bench_function(format!("{} (ours)", ours.name), |bencher| bencher.iter(|| (ours.work)(1)));
        group.finish();
    }
    criterion.final_summary();
}

/// A batch of lookups an iteration, fewer where a lookup takes microseconds.
fn bench(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, subject: &mut Subject<'_>) {
    let few = (BATCH / 16).div_ceil(subject.unit);
    let start = Instant::now();
    (subject.work)(few);
    let step = if start.elapsed() > Duration::from_micros(200) { few } else { BATCH / subject.unit };
    group.throughput(Throughput::Elements((step * subject.unit) as u64));
    group.bench_function(name, |bencher| bencher.iter(|| (subject.work)(step)));
}
