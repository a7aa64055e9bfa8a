//! Documents that are counted in other ways on their way through a study.

use shardlab_core::rows::KeySet;
use shardlab_core::{Hashed, KeyHasher, NodeId, RangeSplit, RawChunk, RawKey, Sharder};
use shardlab_keys::{Documents, Progress, ReadError};

/// Keys and weights that were counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) keys: u64,
    pub(super) weight: u128,
}

impl Sum {
    fn add(&mut self, weight: Option<u64>) {
        self.keys += 1;
        self.weight += u128::from(weight.unwrap_or(0));
    }
}

/// Where documents would stand if ids alone decided.
pub(super) struct ById<'a> {
    pub(super) hasher: Box<dyn KeyHasher>,
    pub(super) sharder: &'a dyn Sharder,
    pub(super) sums: Vec<Sum>,
    /// Whether some document has a routing value, without which there is nothing to compare.
    pub(super) is_other: bool,
}

/// What of one shard falls into the parts of each rule.
pub(super) struct Parts<'a> {
    pub(super) placer: &'a Hashed,
    pub(super) shard: NodeId,
    pub(super) rules: &'a [RangeSplit],
    /// A sum for each part of each rule.
    pub(super) sums: Vec<Vec<Sum>>,
    pub(super) all: u64,
}

/// Documents as they are, which counts them on their way.
pub(super) struct Observed<'a> {
    pub(super) documents: &'a mut dyn Documents,
    pub(super) by_id: Option<ById<'a>>,
    pub(super) parts: Option<Parts<'a>>,
    pub(super) total: Sum,
}

impl Documents for Observed<'_> {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        let more = self.documents.next_chunk(chunk)?;
        let batch = chunk.as_batch();
        let weight = |row: usize| batch.weights().map(|weights| weights[row]);
        for row in 0..batch.len() {
            self.total.add(weight(row));
        }
        if let Some(by_id) = &mut self.by_id {
            by_id.is_other |= batch.routing().is_some();
            for (row, id) in batch.ids().iter().enumerate() {
                // A document that cannot be placed ends the study where it is placed for good.
                let Ok(key) = by_id.hasher.hash(&RawKey::id(id)) else { continue };
                by_id.sums[by_id.sharder.shard(key).index()].add(weight(row));
            }
        }
        if let Some(parts) = &mut self.parts {
            let hasher = &*parts.placer.hasher;
            let key =
                |row: usize| batch.hashed().map_or_else(|| hasher.hash(&batch.get(row)).ok(), |keys| Some(keys[row]));
            for row in 0..batch.len() {
                let Some(key) = key(row).filter(|&key| parts.placer.sharder.shard(key) == parts.shard) else {
                    continue;
                };
                parts.all += 1;
                for (rule, sums) in parts.rules.iter().zip(&mut parts.sums) {
                    if let Some(part) = rule.part_of(key) {
                        sums[part].add(weight(row));
                    }
                }
            }
        }
        Ok(more)
    }

    fn are_hashed(&self) -> bool {
        self.documents.are_hashed()
    }

    fn progress(&self) -> Progress {
        self.documents.progress()
    }

    fn key_set(&self) -> KeySet {
        self.documents.key_set()
    }
}

/// Bytes of each sum: its weight where documents have weights, its share of the bytes of all where those
/// are known. Rounded so that parts of everything add up to it.
pub(super) fn bytes_of(sums: &[Sum], total: Sum, weighted: bool, bytes: Option<u128>) -> Vec<Option<u128>> {
    let amount = |sum: &Sum| if weighted { sum.weight } else { sum.keys.into() };
    let Some(bytes) = bytes else {
        return sums.iter().map(|sum| weighted.then_some(sum.weight)).collect();
    };
    let whole = amount(&total).max(1);
    let mut until = 0_u128;
    let share = |part: u128| bytes / whole * part + bytes % whole * part / whole;
    sums.iter()
        .map(|sum| {
            let before = share(until);
            until += amount(sum);
            Some(share(until) - before)
        })
        .collect()
}
