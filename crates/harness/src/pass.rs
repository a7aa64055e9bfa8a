//! One pass over the documents, shared by all rows and all threads.

use std::sync::Mutex;

use shardlab_core::{KeyError, KeyFault, KeyHasher, NodeId, RawBatch, RawChunk, Sharder};
use shardlab_keys::{Documents, Progress};

use crate::error::CompareError;
use crate::movement::{After, MoveTally, add_counts};

/// A row as the pass sees it.
#[derive(Debug)]
pub(crate) struct PassRow {
    /// Which of the pass's hashers makes the keys.
    pub(crate) hasher: usize,
    pub(crate) sharder: Box<dyn Sharder>,
    /// The changes that the scheme can do.
    pub(crate) changes: Vec<After>,
}

/// What was counted for one row.
#[derive(Clone, Debug)]
pub(crate) struct RowTally {
    pub(crate) counts: Vec<u64>,
    /// Sums of the weight column, where there is one.
    pub(crate) weights: Option<Vec<u128>>,
    pub(crate) moves: Vec<MoveTally>,
}

impl RowTally {
    fn new(row: &PassRow) -> Self {
        Self {
            counts: vec![0; row.sharder.members().len() as usize],
            weights: None,
            moves: row.changes.iter().map(|after| MoveTally::new(after.sharder.members().len())).collect(),
        }
    }

    fn add(&mut self, other: &Self) {
        add_counts(&mut self.counts, &other.counts);
        if let Some(more) = &other.weights {
            add_counts(self.weights.get_or_insert_with(|| vec![0; more.len()]), more);
        }
        for (sum, more) in self.moves.iter_mut().zip(&other.moves) {
            sum.add(more);
        }
    }
}

/// The tallies of all rows, and the keys of the first documents by hasher, for timing.
#[derive(Debug)]
pub(crate) struct PassResult {
    pub(crate) rows: Vec<RowTally>,
    pub(crate) first_keys: Vec<Vec<u64>>,
}

/// Places all documents with all rows. Threads take turns to read a chunk and count on their own;
/// sums of integers make the result independent of who read what.
pub(crate) fn run(
    documents: &mut dyn Documents,
    hashers: &[Box<dyn KeyHasher>],
    rows: &[PassRow],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<PassResult, CompareError> {
    let source = Mutex::new(Source { documents, done: false, first_keys: None });
    let outcomes: Vec<Result<Vec<RowTally>, CompareError>> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads.max(1)).map(|_| scope.spawn(|| worker(&source, hashers, rows, progress))).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut sums: Vec<RowTally> = rows.iter().map(RowTally::new).collect();
    for outcome in outcomes {
        for (sum, more) in sums.iter_mut().zip(&outcome?) {
            sum.add(more);
        }
    }
    let source = source.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(PassResult { rows: sums, first_keys: source.first_keys.unwrap_or_default() })
}

struct Source<'a> {
    documents: &'a mut dyn Documents,
    done: bool,
    first_keys: Option<Vec<Vec<u64>>>,
}

fn worker(
    source: &Mutex<Source<'_>>,
    hashers: &[Box<dyn KeyHasher>],
    rows: &[PassRow],
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<RowTally>, CompareError> {
    let mut tallies: Vec<RowTally> = rows.iter().map(RowTally::new).collect();
    let mut chunk = RawChunk::default();
    let mut keys: Vec<Vec<u64>> = vec![Vec::new(); hashers.len()];
    let (mut before, mut after) = (Vec::new(), Vec::new());
    loop {
        {
            let mut source = source.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if source.done {
                return Ok(tallies);
            }
            // Whoever meets the end or an error tells the others to stop.
            source.done = true;
            if !source.documents.next_chunk(&mut chunk)? {
                return Ok(tallies);
            }
            if source.first_keys.is_none() {
                hash_all(hashers, &chunk.as_batch(), &mut keys)?;
                source.first_keys = Some(keys.clone());
            }
            source.done = false;
            progress(source.documents.progress());
        }
        let batch = chunk.as_batch();
        hash_all(hashers, &batch, &mut keys)?;
        before.resize(batch.len(), NodeId(0));
        after.resize(batch.len(), NodeId(0));
        for (row, tally) in rows.iter().zip(&mut tallies) {
            let keys = &keys[row.hasher];
            row.sharder.shard_many(keys, &mut before);
            for node in &before {
                tally.counts[node.index()] += 1;
            }
            if let Some(weights) = batch.weights() {
                let sums = tally.weights.get_or_insert_with(|| vec![0; row.sharder.members().len() as usize]);
                for (node, &weight) in before.iter().zip(weights) {
                    sums[node.index()] += u128::from(weight);
                }
            }
            for (change, tally) in row.changes.iter().zip(&mut tally.moves) {
                change.sharder.shard_many(keys, &mut after);
                change.tally(&before, &after, tally);
            }
        }
    }
}

fn hash_all(hashers: &[Box<dyn KeyHasher>], batch: &RawBatch<'_>, keys: &mut [Vec<u64>]) -> Result<(), CompareError> {
    for (hasher, keys) in hashers.iter().zip(keys) {
        let refused = |error| CompareError::Key { hash: hasher.name(), error };
        keys.resize(batch.len(), 0);
        match batch.hashed() {
            Some(_) if hasher.rules().routing_required => {
                return Err(refused(KeyError { row: 0, fault: KeyFault::NoRawKeys }));
            }
            Some(ready) => keys.copy_from_slice(ready),
            None => hasher.hash_many(batch, keys).map_err(refused)?,
        }
    }
    Ok(())
}
