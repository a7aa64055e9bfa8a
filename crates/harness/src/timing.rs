//! How long lookups and builds take. Times never enter anything but the fields named after them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use shardlab_core::{BuildError, Change, Members, NodeId, Scheme, Sharder, Unsupported};

/// Rounds in which all rows are measured in turn, so that a noisy moment hits them alike.
const ROUNDS: usize = 7;

/// How long one measurement should take: long enough for the clock, short enough for many rounds.
const SLICE: Duration = Duration::from_millis(4);

/// Medians for one row, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowTiming {
    pub(crate) build_ns: f64,
    pub(crate) lookup_ns: f64,
    pub(crate) throughput_ns: f64,
}

/// Times for all rows, and what the measuring loops themselves cost.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) rows: Vec<RowTiming>,
    pub(crate) floor_lookup_ns: f64,
    pub(crate) floor_throughput_ns: f64,
}

/// One row to be timed: the scheme, its instance and the keys it is asked for.
pub(crate) struct Subject<'a> {
    pub(crate) scheme: &'a dyn Scheme,
    pub(crate) sharder: &'a dyn Sharder,
    pub(crate) keys: &'a [u64],
}

pub(crate) fn measure(subjects: &[Subject<'_>], members: &Members) -> Result<Timed, BuildError> {
    let floor = Floor::new(members.clone());
    let floor_keys = subjects.first().map_or([0].as_slice(), |subject| subject.keys);
    let mut lookups: Vec<(&dyn Sharder, &[u64])> = vec![(&floor, floor_keys)];
    lookups.extend(subjects.iter().map(|subject| (subject.sharder, subject.keys)));
    let counts: Vec<usize> = lookups.iter().map(|(sharder, keys)| lookups_per_slice(*sharder, keys)).collect();
    let mut chains = vec![Vec::new(); lookups.len()];
    let mut batches = vec![Vec::new(); lookups.len()];
    for _ in 0..ROUNDS {
        for (row, (&(sharder, keys), &count)) in lookups.iter().zip(&counts).enumerate() {
            chains[row].push(per_lookup(count, || chain(sharder, keys, count)));
            batches[row].push(per_lookup(count, || batch(sharder, keys, count)));
        }
    }
    let mut medians = chains.iter_mut().zip(&mut batches).map(|(chain, batch)| (median(chain), median(batch)));
    let (floor_lookup_ns, floor_throughput_ns) = medians.next().unwrap_or_default();
    let mut rows = Vec::with_capacity(subjects.len());
    for (subject, (lookup_ns, throughput_ns)) in subjects.iter().zip(medians) {
        rows.push(RowTiming { build_ns: build_time(subject.scheme, members)?, lookup_ns, throughput_ns });
    }
    Ok(Timed { rows, floor_lookup_ns, floor_throughput_ns })
}

/// The median of an odd number of samples.
fn median(samples: &mut [f64]) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn per_lookup(count: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// Each key depends on the answer before, so that no two lookups overlap.
fn chain(sharder: &dyn Sharder, keys: &[u64], count: usize) {
    let mut last = NodeId(0);
    for &key in keys.iter().cycle().take(count) {
        // Node numbers end at 2^31 − 1, so this adds nothing, which the compiler cannot know.
        last = sharder.shard(key ^ u64::from(last.0 >> 31));
    }
    black_box(last);
}

fn batch(sharder: &dyn Sharder, keys: &[u64], count: usize) {
    // Batches of a size that stays in the first cache with its answers.
    const BATCH: usize = 1024;
    let mut out = [NodeId(0); BATCH];
    let mut left = count;
    for keys in keys.chunks(BATCH).cycle() {
        let length = keys.len().min(left);
        sharder.shard_many(&keys[..length], &mut out[..length]);
        black_box(&out);
        left -= length;
        if left == 0 {
            return;
        }
    }
}

/// How many lookups fill a slice, found by doubling.
fn lookups_per_slice(sharder: &dyn Sharder, keys: &[u64]) -> usize {
    let mut count = 16;
    loop {
        let start = Instant::now();
        chain(sharder, keys, count);
        if start.elapsed() * 2 > SLICE || count >= 1 << 24 {
            return count;
        }
        count *= 2;
    }
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
    Ok(median(&mut samples))
}

/// A sharder that does nothing, so that what is measured of it is the measuring loop.
#[derive(Clone, Debug)]
pub struct Floor(Members);

impl Floor {
    /// Sends every key to the first of these nodes.
    #[must_use]
    pub const fn new(members: Members) -> Self {
        Self(members)
    }
}

impl Sharder for Floor {
    fn shard(&self, _key: u64) -> NodeId {
        NodeId(0)
    }

    fn members(&self) -> &Members {
        &self.0
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        self.0 = self.0.after(change)?;
        Ok(())
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}
