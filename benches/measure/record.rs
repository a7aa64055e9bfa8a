//! Every scheme of the registry at several sizes, in turns: what a dated record keeps.

use std::time::Duration;

use serde::Serialize;
use shardlab_core::{RawChunk, Sharder};
use shardlab_harness::{
    BATCH, Cycle, Floor, Samples, Schedule, Task, batches, chain, documents, interleaved, nearest_rank, singles,
};
use shardlab_kernels::Simd;

use crate::support::{KEYS, chunk, dense, hasher_of, ids_of_one_length, random_keys, subjects};

const LOOKUPS: Schedule = Schedule { rounds: 15, turn: Duration::from_millis(3), sample: Duration::from_micros(100) };

/// A sample is one build, or as many as fill the time.
const BUILDS: Schedule = Schedule { rounds: 7, turn: Duration::ZERO, sample: Duration::from_micros(100) };

const NODES: [u32; 4] = [10, 100, 1000, 10_000];

#[derive(Debug, Serialize)]
pub(crate) struct Record {
    simd: String,
    keys: usize,
    seed: u64,
    rounds: usize,
    noise_fraction: f64,
    rows: Vec<Row>,
}

/// One measured number: the median of all samples, and the quartiles of the rounds.
#[derive(Debug, Serialize)]
struct Row {
    scheme: String,
    nodes: u32,
    /// `latency`, `single`, `single_in_order`, `many`, `many_with_hash`, `build`.
    what: &'static str,
    ns: f64,
    ns_low: f64,
    ns_high: f64,
    ns_p99: f64,
    heap_bytes: u64,
    /// The sum of the node numbers of 1024 keys.
    answers_sum: u64,
}

pub(crate) fn run(simd: Simd) -> Record {
    let seed = 8;
    let random = random_keys(KEYS, seed);
    let in_order: Vec<u64> = (0..KEYS as u64).collect();
    let ids = ids_of_one_length(KEYS, 20);
    let parts: Vec<RawChunk> = ids.chunks_exact(BATCH).map(|part| chunk(part.iter().map(|id| id.as_bytes()))).collect();
    let (mut rows, mut noise) = (Vec::new(), Vec::new());
    let mut add = |scheme: &str, nodes, what, samples: &Samples, unit: f64, sharder: &dyn Sharder| {
        noise.push(samples.noise_fraction());
        let mut rounds = samples.round_medians();
        rows.push(Row {
            scheme: scheme.to_owned(),
            nodes,
            what,
            ns: samples.median() / unit,
            ns_low: nearest_rank(&mut rounds, 0.25) / unit,
            ns_high: nearest_rank(&mut rounds, 0.75) / unit,
            ns_p99: samples.quantile(0.99) / unit,
            heap_bytes: sharder.heap_bytes() as u64,
            answers_sum: random[..BATCH].iter().map(|&key| u64::from(sharder.shard(key).0)).sum(),
        });
    };
    for nodes in NODES {
        let subjects = subjects(nodes);
        let floor = Floor::new(dense(nodes));
        let hashers: Vec<_> = subjects.iter().map(|(_, scheme, _)| hasher_of(&**scheme)).collect();
        let mut tasks = Vec::new();
        for sharder in subjects.iter().map(|(_, _, sharder)| &**sharder).chain([&floor as &dyn Sharder]) {
            let [mut chained, mut single, mut many] = [Cycle::new(&random); 3];
            let mut ordered = Cycle::new(&in_order);
            tasks.push(Task::new(move |count| chain(sharder, &mut chained, count)));
            tasks.push(Task::new(move |count| singles(sharder, &mut single, count)));
            tasks.push(Task::new(move |count| singles(sharder, &mut ordered, count)));
            tasks.push(Task::new(move |count| batches(sharder, &mut many, count)));
        }
        for ((_, _, sharder), hasher) in subjects.iter().zip(&hashers) {
            let (mut parts, mut keys, mut out) = (parts.iter().cycle(), Vec::new(), Vec::new());
            tasks.push(Task::new(move |count| {
                let place = |_| {
                    let part = parts.next().expect("a cycle").as_batch();
                    documents(&**hasher, &**sharder, &part, &mut keys, &mut out).expect("plain ids")
                };
                (0..count).map(place).fold(0, u64::wrapping_add)
            }));
        }
        let samples = interleaved(&mut tasks, LOOKUPS);
        drop(tasks);
        let builds: Vec<Samples> = {
            let members = dense(nodes);
            let mut tasks: Vec<Task<'_>> = subjects
                .iter()
                .map(|(_, scheme, _)| {
                    let members = &members;
                    Task::new(move |count| {
                        let build = |_| scheme.build(members).expect("built before").heap_bytes() as u64;
                        (0..count).map(build).fold(0, u64::wrapping_add)
                    })
                })
                .collect();
            interleaved(&mut tasks, BUILDS)
        };
        let (lookups, hashed) = samples.split_at(4 * (subjects.len() + 1));
        let named = subjects.iter().map(|(spec, _, sharder)| (spec.as_str(), &**sharder));
        for ((spec, sharder), samples) in named.chain([("floor", &floor as &dyn Sharder)]).zip(lookups.chunks_exact(4))
        {
            for (what, samples) in ["latency", "single", "single_in_order", "many"].into_iter().zip(samples) {
                add(spec, nodes, what, samples, 1.0, sharder);
            }
        }
        for ((spec, _, sharder), (hashed, build)) in subjects.iter().zip(hashed.iter().zip(&builds)) {
            add(spec, nodes, "many_with_hash", hashed, BATCH as f64, &**sharder);
            add(spec, nodes, "build", build, 1.0, &**sharder);
        }
    }
    Record {
        simd: simd.level().to_string(),
        keys: KEYS,
        seed,
        rounds: LOOKUPS.rounds,
        noise_fraction: nearest_rank(&mut noise, 0.5),
        rows,
    }
}
