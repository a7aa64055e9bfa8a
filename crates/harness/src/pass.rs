//! One pass over the documents, shared by all rows and all threads.

use shardlab_core::{KeyError, KeyFault, KeyHasher, NodeId, RawBatch, RawChunk, Sharder};
use shardlab_keys::{Documents, Progress};

use crate::drive::drive;
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

    fn place(&mut self, nodes: &[NodeId], weights: Option<&[u64]>) {
        for node in nodes {
            self.counts[node.index()] += 1;
        }
        if let Some(weights) = weights {
            let sums = self.weights.get_or_insert_with(|| vec![0; self.counts.len()]);
            for (node, &weight) in nodes.iter().zip(weights) {
                sums[node.index()] += u128::from(weight);
            }
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

/// The tallies of all rows, and the beginning of the key set.
#[derive(Debug)]
pub(crate) struct PassResult {
    pub(crate) rows: Vec<RowTally>,
    pub(crate) first: First,
}

/// The beginning of the key set, for timing.
#[derive(Debug, Default)]
pub(crate) struct First {
    /// The keys of the first chunk, by hasher.
    pub(crate) keys: Vec<Vec<u64>>,
    /// Its first documents; none where keys came as numbers.
    pub(crate) documents: RawChunk,
}

impl First {
    /// At most so many documents and bytes are kept: enough for the second cache to be full of them.
    const DOCUMENTS: usize = 8192;
    const BYTES: usize = 1 << 20;

    fn of(batch: &RawBatch<'_>, keys: &[Vec<u64>]) -> Self {
        let mut documents = RawChunk::default();
        let mut bytes = 0;
        for document in batch.iter().take(Self::DOCUMENTS) {
            bytes += document.id.len() + document.routing.len();
            if bytes > Self::BYTES && !documents.is_empty() {
                break;
            }
            documents.push(document, None);
        }
        Self { keys: keys.to_vec(), documents }
    }
}

/// What a thread keeps: its tallies, and buffers that it fills again for each chunk.
struct State {
    tallies: Vec<RowTally>,
    first: Option<First>,
    keys: Vec<Vec<u64>>,
    before: Vec<NodeId>,
    after: Vec<NodeId>,
}

/// Places all documents with all rows.
pub(crate) fn run(
    documents: &mut dyn Documents,
    hashers: &[Box<dyn KeyHasher>],
    rows: &[PassRow],
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<PassResult, CompareError> {
    let start = || State {
        tallies: rows.iter().map(RowTally::new).collect(),
        first: None,
        keys: vec![Vec::new(); hashers.len()],
        before: Vec::new(),
        after: Vec::new(),
    };
    let step = |state: &mut State, number, batch: &RawBatch<'_>| {
        hash_all(hashers, batch, &mut state.keys)?;
        if number == 0 {
            state.first = Some(First::of(batch, &state.keys));
        }
        state.before.resize(batch.len(), NodeId(0));
        state.after.resize(batch.len(), NodeId(0));
        for (row, tally) in rows.iter().zip(&mut state.tallies) {
            let keys = &state.keys[row.hasher];
            row.sharder.shard_many(keys, &mut state.before);
            tally.place(&state.before, batch.weights());
            for (change, tally) in row.changes.iter().zip(&mut tally.moves) {
                change.sharder.shard_many(keys, &mut state.after);
                change.tally(&state.before, &state.after, tally);
            }
        }
        Ok(())
    };
    let mut result = PassResult { rows: rows.iter().map(RowTally::new).collect(), first: First::default() };
    for state in drive::<_, CompareError>(documents, threads, progress, start, step)? {
        for (sum, more) in result.rows.iter_mut().zip(&state.tallies) {
            sum.add(more);
        }
        result.first = state.first.unwrap_or(result.first);
    }
    Ok(result)
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
