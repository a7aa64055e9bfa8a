//! What a way of resizing costs, in documents, shards and bytes.

use shardlab_core::rows::{Costs, ResizeBytes, ResizeStep};
use shardlab_core::{NodeId, Period, Sharder};

use super::chains::copies_of;
use crate::exact::{MOST_RESIDUES, least_common_multiple};

/// What is known of the index beside its counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) bytes: Option<u128>,
    pub(super) docs: Option<u64>,
    pub(super) bandwidth: Option<u64>,
    /// Heap of one open shard.
    pub(super) shard_heap: Option<u64>,
    pub(super) hard_links: bool,
}

/// One operation: from how many shards to how many.
type Hop = (u32, u32);

fn hops(from: u32, steps: &[ResizeStep]) -> Vec<Hop> {
    let before = std::iter::once(from).chain(steps.iter().map(|step| step.to));
    before.zip(steps.iter().map(|step| step.to)).collect()
}

impl Known {
    /// What a chain of operations costs.
    pub(super) fn of_chain(self, from: u32, steps: &[ResizeStep]) -> (Costs, Option<ResizeBytes>) {
        let hops = hops(from, steps);
        let copies: u64 = hops.iter().map(|&(from, to)| copies_of(from, to)).sum();
        let most_copies = hops.iter().map(|&(from, to)| copies_of(from, to)).max().unwrap_or(0);
        let shrinks = hops.iter().filter(|(from, to)| to < from).count() as u128;
        let written = if self.hard_links { 0 } else { copies };
        let narrowest = hops.iter().map(|&(_, to)| to).min().unwrap_or(from);
        let open_shards = hops.iter().map(|&(from, to)| u64::from(from) + u64::from(to)).max().unwrap_or(0);
        let costs = Costs {
            documents_rewritten_fraction: written as f64,
            documents_rewritten: self.docs.map(|docs| u128::from(docs) * u128::from(written)),
            operations: u32::try_from(hops.len()).unwrap_or(u32::MAX),
            copies_without_hard_links: copies,
            open_shards,
            most_documents_per_shard: self.per_shard(narrowest),
            fullest_shard_fraction: 1.0 / f64::from(narrowest.max(1)),
            transient_heap_bytes: self.heap(open_shards),
        };
        let to = steps.last().map_or(from, |step| step.to);
        let bytes = self.bytes.map(|bytes| {
            let written_without_hard_links = bytes.saturating_mul(copies.into());
            let relocated_at_most = bytes.saturating_mul(shrinks);
            let written_now = if self.hard_links { 0 } else { written_without_hard_links };
            ResizeBytes {
                per_shard_after: bytes.div_ceil(u128::from(to.max(1))),
                fullest_shard: bytes.div_ceil(u128::from(narrowest.max(1))),
                written_with_hard_links: 0,
                written_without_hard_links,
                peak_with_hard_links: bytes,
                peak_without_hard_links: bytes.saturating_mul(u128::from(most_copies) + 1),
                merged_later_at_most: bytes.saturating_mul(hops.len() as u128),
                relocated_at_most,
                over_network: 0,
                seconds: self.seconds(relocated_at_most.saturating_add(written_now)),
            }
        });
        (costs, bytes)
    }

    /// What it costs to write every document into another index of `to` shards.
    pub(super) fn of_reindex(self, from: u32, to: u32) -> (Costs, Option<ResizeBytes>) {
        let open_shards = u64::from(from) + u64::from(to);
        let costs = Costs {
            documents_rewritten_fraction: 1.0,
            documents_rewritten: self.docs.map(u128::from),
            operations: 0,
            copies_without_hard_links: 1,
            open_shards,
            most_documents_per_shard: self.per_shard(to),
            fullest_shard_fraction: 1.0 / f64::from(to.max(1)),
            transient_heap_bytes: self.heap(open_shards),
        };
        let bytes = self.bytes.map(|bytes| ResizeBytes {
            per_shard_after: bytes.div_ceil(u128::from(to.max(1))),
            fullest_shard: bytes.div_ceil(u128::from(to.max(1))),
            written_with_hard_links: bytes,
            written_without_hard_links: bytes,
            peak_with_hard_links: bytes.saturating_mul(2),
            peak_without_hard_links: bytes.saturating_mul(2),
            merged_later_at_most: 0,
            relocated_at_most: 0,
            over_network: bytes,
            seconds: self.seconds(bytes),
        });
        (costs, bytes)
    }

    /// Documents of a shard of so many, on average, rounded up: some shard holds at least that many.
    pub(super) fn per_shard(self, shards: u32) -> Option<u64> {
        self.docs.map(|docs| docs.div_ceil(u64::from(shards.max(1))))
    }

    /// Source and target are open together while one becomes the other, each shard with its own heap.
    fn heap(self, open_shards: u64) -> Option<u128> {
        self.shard_heap.map(|heap| u128::from(heap) * u128::from(open_shards))
    }

    fn seconds(self, bytes: u128) -> Option<f64> {
        Some(bytes as f64 / self.bandwidth? as f64)
    }
}

/// For each shard at the end of a chain, the shards at its start that it takes documents from.
pub(super) fn lineage(start: &dyn Sharder, steps: &[ResizeStep]) -> Option<Vec<Vec<NodeId>>> {
    let mut sharder = start.box_clone();
    let mut origin: Vec<Vec<NodeId>> = (0..start.members().len()).map(|shard| vec![NodeId(shard)]).collect();
    for step in steps {
        let rules = sharder.as_resizable()?;
        let mut next = Vec::with_capacity(step.to as usize);
        for target in 0..step.to {
            let sources = rules.sources_of(step.to, NodeId(target)).ok()?;
            let mut merged: Vec<NodeId> =
                sources.iter().flat_map(|source| origin[source.index()].iter().copied()).collect();
            merged.sort_unstable();
            merged.dedup();
            next.push(merged);
        }
        origin = next;
        sharder = rules.resized(step.to).ok()?;
    }
    Some(origin)
}

/// Of all keys there can be, those that end outside the lineage of their shard, where both answer with
/// periods whose common one is small enough to be gone through.
pub(super) fn exact_left_parent(before: &dyn Sharder, after: &dyn Sharder, lineage: &[Vec<NodeId>]) -> Option<f64> {
    let (one, other) = (before.period()?, after.period()?);
    if one.signed != other.signed {
        return None;
    }
    let common = least_common_multiple(one.modulus, other.modulus).filter(|&common| common <= MOST_RESIDUES)?;
    let mut left: u128 = 0;
    for residue in 0..common {
        if lineage[after.shard(residue).index()].binary_search(&before.shard(residue)).is_err() {
            left += Period { modulus: common, signed: one.signed }.keys_of(residue);
        }
    }
    Some(left as f64 / one.keys() as f64)
}
