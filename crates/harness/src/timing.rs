//! How long lookups and builds take. Times never enter anything but the fields named after them.

mod floor;
mod loops;
mod rounds;

use std::hint::black_box;
use std::time::{Duration, Instant};

use shardlab_core::rows::Latency;
use shardlab_core::{BuildError, KeyHasher, Members, NodeId, RawChunk, Scheme, Sharder};

pub use floor::Floor;
pub use loops::{BATCH, Cycle, batches, chain, documents, singles};
pub use rounds::{Samples, Schedule, Task, interleaved, nearest_rank};

use crate::error::Impossible;

/// Seven turns of two milliseconds, in samples of twenty microseconds: some hundred samples of
/// anything that takes less than that.
const SCHEDULE: Schedule = Schedule { rounds: 7, turn: Duration::from_millis(2), sample: Duration::from_micros(20) };

/// No processor finishes a lookup that waits for the one before in less: a faster one was not done.
const LEAST_LOOKUP_NS: f64 = 0.3;

/// When the rounds of the typical row differ by more than this, something else was using the machine.
pub(crate) const MOST_NOISE: f64 = 0.1;

/// With fewer keys than this the branch predictor and the caches know them all.
pub(crate) const LEAST_KEYS: usize = 10_000;

/// Times for all rows, and what the measuring loops themselves cost.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) rows: Vec<Latency>,
    /// Median nanoseconds to build each row.
    pub(crate) build_ns: Vec<f64>,
    pub(crate) floor_lookup_ns: f64,
    pub(crate) floor_throughput_ns: f64,
    /// Quartile distance of the rounds over their median, of the typical row.
    pub(crate) noise_fraction: f64,
}

/// One row to be timed: the scheme, its instance and the keys it is asked for.
pub(crate) struct Subject<'a> {
    pub(crate) scheme: &'a dyn Scheme,
    pub(crate) sharder: &'a dyn Sharder,
    /// The keys in the order of their documents; at least one.
    pub(crate) keys: &'a [u64],
    /// The hash and documents for it, unless the keys were numbers from the start.
    pub(crate) hashed: Option<(&'a dyn KeyHasher, &'a RawChunk)>,
}

/// Why there are no times.
#[derive(Debug)]
pub(crate) enum TimingError {
    Build(BuildError),
    /// The row and what is impossible about it.
    Impossible(usize, Impossible),
}

pub(crate) fn measure(subjects: &[Subject<'_>], members: &Members) -> Result<Timed, TimingError> {
    for (row, subject) in subjects.iter().enumerate() {
        batch_equals_singles(subject.sharder, first_batch(subject.keys))
            .map_err(|result| TimingError::Impossible(row, result))?;
    }
    let floor = Floor::new(members.clone());
    let floor_keys = subjects.first().map_or([0].as_slice(), |subject| subject.keys);
    let shuffled: Vec<Vec<u64>> = subjects.iter().map(|subject| shuffled(subject.keys)).collect();
    let mut tasks = vec![chain_task(&floor, floor_keys), batch_task(&floor, floor_keys)];
    for (subject, shuffled) in subjects.iter().zip(&shuffled) {
        tasks.push(chain_task(subject.sharder, shuffled));
        tasks.push(batch_task(subject.sharder, shuffled));
        tasks.push(chain_task(subject.sharder, subject.keys));
        tasks.push(batch_task(subject.sharder, subject.keys));
    }
    let hashed_from = tasks.len();
    let (hashed_tasks, sizes): (Vec<_>, Vec<_>) = subjects.iter().filter_map(document_task).unzip();
    tasks.extend(hashed_tasks);
    let samples = interleaved(&mut tasks, SCHEDULE);
    drop(tasks);
    let mut hashed = samples[hashed_from..].iter().zip(sizes).map(|(samples, size)| samples.median() / size as f64);
    let mut rows = Vec::with_capacity(subjects.len());
    for (row, (subject, samples)) in subjects.iter().zip(samples[2..hashed_from].chunks_exact(4)).enumerate() {
        let latency = Latency {
            scheme: subject.scheme.spec(),
            lookup_ns: samples[0].median(),
            lookup_p99_ns: samples[0].quantile(0.99),
            lookup_in_order_ns: samples[2].median(),
            throughput_ns: samples[1].median(),
            throughput_p99_ns: samples[1].quantile(0.99),
            throughput_in_order_ns: samples[3].median(),
            throughput_with_hash_ns: subject.hashed.and_then(|_| hashed.next()),
            answers_sum: answers_sum(subject),
        };
        if latency.lookup_ns < LEAST_LOOKUP_NS {
            let too_fast = Impossible::TooFast { lookup_ns: latency.lookup_ns, least_ns: LEAST_LOOKUP_NS };
            return Err(TimingError::Impossible(row, too_fast));
        }
        rows.push(latency);
    }
    let mut noise: Vec<f64> = samples.iter().map(Samples::noise_fraction).collect();
    let build_ns = subjects.iter().map(|subject| build_time(subject.scheme, members)).collect::<Result<_, _>>();
    Ok(Timed {
        rows,
        build_ns: build_ns.map_err(TimingError::Build)?,
        floor_lookup_ns: samples[0].median(),
        floor_throughput_ns: samples[1].median(),
        noise_fraction: nearest_rank(&mut noise, 0.5),
    })
}

fn chain_task<'a>(sharder: &'a dyn Sharder, keys: &'a [u64]) -> Task<'a> {
    let mut keys = Cycle::new(keys);
    Task::new(move |count| chain(sharder, &mut keys, count))
}

fn batch_task<'a>(sharder: &'a dyn Sharder, keys: &'a [u64]) -> Task<'a> {
    let mut keys = Cycle::new(keys);
    Task::new(move |count| batches(sharder, &mut keys, count))
}

/// Hashing and placing documents, and how many documents one operation of the task is.
fn document_task<'a>(subject: &Subject<'a>) -> Option<(Task<'a>, usize)> {
    let (hasher, chunk) = subject.hashed?;
    let sharder = subject.sharder;
    let batch = chunk.as_batch();
    let size = batch.len().min(BATCH);
    let parts: Vec<RawChunk> = (0..batch.len() / size)
        .map(|part| {
            let mut chunk = RawChunk::default();
            (part * size..(part + 1) * size).for_each(|row| chunk.push(batch.get(row), None));
            chunk
        })
        .collect();
    let (mut keys, mut out) = (Vec::new(), Vec::new());
    let mut at = 0;
    let task = Task::new(move |count| {
        let mut sum = 0_u64;
        for _ in 0..count {
            // Every document was hashed once already, so that none can be refused now.
            let first = documents(hasher, sharder, &parts[at].as_batch(), &mut keys, &mut out);
            sum = sum.wrapping_add(first.unwrap_or_default());
            at = (at + 1) % parts.len();
        }
        sum
    });
    Some((task, size))
}

/// The keys in an order that has nothing to do with theirs, so that a table's cells are not read one
/// after another only because the ids were.
fn shuffled(keys: &[u64]) -> Vec<u64> {
    let mut shuffled = keys.to_vec();
    let mut state = 0_u64;
    for i in (1..shuffled.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let below = u64::try_from(i + 1).unwrap_or(u64::MAX);
        let pick = usize::try_from(shardlab_hash::mix64(state) % below).unwrap_or(0);
        shuffled.swap(i, pick);
    }
    shuffled
}

/// As many keys as a batch has, or all where there are fewer.
pub(crate) fn first_batch(keys: &[u64]) -> &[u64] {
    &keys[..keys.len().min(BATCH)]
}

/// Outside the timed span: what is timed answers the same both ways.
pub(crate) fn batch_equals_singles(sharder: &dyn Sharder, keys: &[u64]) -> Result<(), Impossible> {
    let mut out = vec![NodeId(0); keys.len()];
    sharder.shard_many(keys, &mut out);
    for (&key, &batch) in keys.iter().zip(&out) {
        let single = sharder.shard(key);
        if single != batch {
            return Err(Impossible::BatchDiffers { key, single: single.0, batch: batch.0 });
        }
    }
    Ok(())
}

/// The sum of the node numbers of the first batch of keys: two programs that measured the same thing
/// print the same sum.
fn answers_sum(subject: &Subject<'_>) -> u64 {
    first_batch(subject.keys).iter().map(|&key| u64::from(subject.sharder.shard(key).0)).sum()
}

/// The median time of several builds in nanoseconds, fewer where one takes long.
///
/// # Errors
/// The scheme cannot be built for these members.
pub fn build_time(scheme: &dyn Scheme, members: &Members) -> Result<f64, BuildError> {
    let begin = Instant::now();
    let mut samples = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let built = scheme.build(members)?;
        samples.push(start.elapsed().as_secs_f64() * 1e9);
        black_box(&built);
        if begin.elapsed() > Duration::from_millis(300) {
            break;
        }
    }
    Ok(nearest_rank(&mut samples, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_keeps_every_key_and_no_order() {
        let keys: Vec<u64> = (0..5000).collect();
        let mut mixed = shuffled(&keys);
        let neighbours = mixed.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
        assert!(neighbours < 10, "{neighbours} neighbours stayed neighbours");
        assert_eq!(mixed, shuffled(&keys), "the same order each time");
        mixed.sort_unstable();
        assert_eq!(mixed, keys);
        assert_eq!(shuffled(&[7]), [7]);
    }

    #[test]
    fn every_full_batch_of_documents_has_its_turn_and_an_operation_is_one_of_them() {
        let (scheme, sharder) = (shardlab_schemes::all().remove(0), loops::tests::LastDigit::new());
        for (documents, batches, expected_size) in [(1, 1, 1), (5, 1, 5), (BATCH, 1, BATCH), (3 * BATCH + 7, 3, BATCH)]
        {
            let mut chunk = RawChunk::default();
            for i in 0..documents {
                // The number of its batch, in the form that the identity hash reads.
                chunk.push(shardlab_core::RawKey::id((1 + i / BATCH).to_string().as_bytes()), None);
            }
            let hashed = Some((&shardlab_hash::Identity as &dyn KeyHasher, &chunk));
            let (task, size) =
                document_task(&Subject { scheme: &*scheme, sharder: &sharder, keys: &[1], hashed }).unwrap();
            assert_eq!(size, expected_size);
            let expected: u64 = (1..=batches).sum();
            assert_eq!(task.run(usize::try_from(2 * batches).unwrap()), 2 * expected, "{documents} documents");
        }
    }
}
