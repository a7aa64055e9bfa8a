use std::fmt;
use std::num::NonZeroU64;

use crate::{Change, Members, Refusal, ResizeOperation, Step, Unsupported};

/// A handle for a node: its position in the [`Members`] of the sharder that answered.
///
/// It is a bare `u32` in memory, so that a batch of answers is a plain array of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::TransparentWrapper)]
#[repr(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position as an index into a list.
    #[must_use]
    pub const fn index(self) -> usize {
        // A u32 always fits the usize of the platforms that Rust's std supports beyond 16 bits.
        self.0 as usize
    }

    /// Handles as the numbers that they are.
    #[must_use]
    pub fn numbers(nodes: &[Self]) -> &[u32] {
        bytemuck::TransparentWrapper::peel_slice(nodes)
    }

    /// Handles as the numbers that they are, for a kernel to write.
    #[must_use]
    pub fn numbers_mut(nodes: &mut [Self]) -> &mut [u32] {
        bytemuck::TransparentWrapper::peel_slice_mut(nodes)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A built instance over hashed keys: maps every key to a node.
///
/// # Requirements
/// * Total: every `u64` has an owner; `shard` cannot fail and must not panic.
/// * Deterministic: the answer depends on the key, the scheme's options and the members alone.
/// * The answer is less than `members().len()`.
///
/// # Reproducibility
/// The mapping is an interface. Changing the answer for any key is a breaking change.
///
/// # Usage
/// The harness goes through `&dyn Sharder` and [`shard_many`](Sharder::shard_many), which costs the
/// same as a generic call for the cheapest scheme.
///
/// ```
/// use shardlab_core::{NodeId, Sharder};
///
/// /// The fraction of keys that two sharders place on the same node number.
/// fn agreement<A: Sharder + ?Sized, B: Sharder + ?Sized>(a: &A, b: &B, keys: &[u64]) -> f64 {
///     let (mut left, mut right) = (vec![NodeId(0); keys.len()], vec![NodeId(0); keys.len()]);
///     a.shard_many(keys, &mut left);
///     b.shard_many(keys, &mut right);
///     let same = left.iter().zip(&right).filter(|(a, b)| a == b).count();
///     same as f64 / keys.len() as f64
/// }
/// ```
///
/// # Implementing
/// Run `shardlab_core::conformance::check` (feature `conformance`) in the crate's tests: it holds
/// every promise of the scheme against what the sharder does.
pub trait Sharder: fmt::Debug + Send + Sync {
    /// The owner of a key.
    fn shard(&self, key: u64) -> NodeId;

    /// The owners of many keys, equal to calling [`shard`](Sharder::shard) for each.
    ///
    /// # Panics
    /// The two slices differ in length.
    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        assert_eq!(keys.len(), out.len(), "as many answers as keys");
        for (slot, &key) in out.iter_mut().zip(keys) {
            *slot = self.shard(key);
        }
    }

    /// The nodes it places keys on.
    fn members(&self) -> &Members;

    /// Bytes of heap that the lookup structure owns. The list of members, which is shared with
    /// whoever built it, is not counted.
    fn heap_bytes(&self) -> usize;

    /// Changes the membership in place.
    ///
    /// # Errors
    /// The scheme cannot do this change, or the change does not fit the members. On an error
    /// nothing has changed.
    fn apply(&mut self, change: &Change) -> Result<(), Unsupported>;

    /// What each node owns of all possible keys, where the scheme can say so exactly.
    fn exact_shares(&self) -> Option<Shares> {
        None
    }

    /// The period with which answers repeat from key to key, where they do: then the whole key space
    /// can be evaluated by going through the residues once.
    fn period(&self) -> Option<Period> {
        None
    }

    /// The working behind [`shard`](Sharder::shard), for people: from the key to the node.
    fn explain(&self, key: u64) -> Vec<Step> {
        let _ = key;
        Vec::new()
    }

    /// Several distinct owners for one key, where the scheme has them.
    fn as_top_k(&self) -> Option<&dyn TopK> {
        None
    }

    /// Split and shrink rules, where the scheme has them.
    fn as_resizable(&self) -> Option<&dyn Resizable> {
        None
    }

    /// A copy behind a new box.
    fn box_clone(&self) -> Box<dyn Sharder>;
}

/// A sharder that can name several distinct owners for a key, best first.
pub trait TopK {
    /// The first `k` owners of the key; the first is [`Sharder::shard`]. Fewer come back only if
    /// there are fewer nodes.
    fn top_k(&self, key: u64, k: usize) -> Vec<NodeId>;
}

/// A sharder whose number of shards changes by splitting and merging whole shards.
pub trait Resizable {
    /// Which single operation leads to `to` shards.
    ///
    /// # Errors
    /// A [`Refusal`] that says which rule fails and where the nearest legal counts are.
    fn operation_to(&self, to: u32) -> Result<ResizeOperation, Refusal>;

    /// The shards of this index from which shard `target` of the resized index takes its documents.
    ///
    /// # Errors
    /// The resize is refused, or there is no such target.
    fn sources_of(&self, to: u32, target: NodeId) -> Result<Vec<NodeId>, Refusal>;

    /// Whether the rule behind [`operation_to`](Resizable::operation_to) was checked against the
    /// modelled system for this count; false where it is taken over from an older generation.
    fn rule_verified(&self, to: u32) -> bool {
        let _ = to;
        true
    }

    /// All counts that one split reaches, ascending, the present count excluded.
    fn legal_splits(&self) -> Vec<u32>;

    /// All counts that one shrink reaches, ascending, the present count excluded.
    fn legal_shrinks(&self) -> Vec<u32>;

    /// The index after the operation that leads to `to` shards.
    ///
    /// # Errors
    /// The resize is refused.
    fn resized(&self, to: u32) -> Result<Box<dyn Sharder>, Refusal>;

    /// The number, fixed when the index is made, that the count after a split must divide, where there
    /// is such a number.
    fn routing_shards(&self) -> Option<u32> {
        None
    }

    /// The most documents that one shard can hold, where that is limited.
    fn most_documents(&self) -> Option<u64> {
        None
    }

    /// The least count to shrink to so that no shard exceeds `max_bytes`, taking `total_bytes` to be
    /// spread evenly; `None` where the system has no such search.
    fn least_shrink(&self, total_bytes: u64, max_bytes: NonZeroU64) -> Option<LeastShrink> {
        let _ = (total_bytes, max_bytes);
        None
    }

    /// What the system demands before it starts such an operation and what the counts do not show, a
    /// sentence each.
    fn preconditions(&self, operation: ResizeOperation) -> Vec<String> {
        let _ = operation;
        Vec::new()
    }

    /// The rules by which shard `shard` alone could be cut into `parts`, the others left as they are.
    fn splits_of_one(&self, shard: NodeId, parts: u32) -> Vec<RangeSplit> {
        let _ = (shard, parts);
        Vec::new()
    }

    /// How far the documents of one routing value spread, where an option of the index spreads them.
    fn routing_spread(&self) -> Option<RoutingSpread> {
        None
    }
}

/// A rule that cuts one shard: a number of each key falls into one of several consecutive ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeSplit {
    /// Its name for programs.
    pub rule: &'static str,
    /// What it does and who does so, for people.
    pub words: String,
    /// The number is the floor remainder by this of the low 32 bits of the key, read as a signed number;
    /// where there is none, it is that signed number itself.
    pub modulus: Option<u32>,
    /// The first and the last number of each part, ascending; or why the rule cannot cut this shard so.
    pub ranges: Result<Vec<(i64, i64)>, String>,
}

impl RangeSplit {
    /// The part that a key of the shard falls into.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the low 32 bits of a key are the number")]
    pub fn part_of(&self, key: u64) -> Option<usize> {
        let signed = i64::from((key as u32).cast_signed());
        let number = self.modulus.map_or(signed, |modulus| signed.rem_euclid(i64::from(modulus)));
        let ranges = self.ranges.as_ref().ok()?;
        ranges.iter().position(|(first, last)| (first..=last).contains(&&number))
    }
}

/// The answer to "how far can I shrink so that shards stay below a size".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastShrink {
    /// Shards needed by size alone: ceil(total / max), at least 1.
    pub needed: u64,
    /// The least legal count that is enough; `None` where even the present count is not.
    pub shards: Option<u32>,
    /// What the system's own search answers, which may be a larger legal count or one that is not enough.
    pub server: u32,
}

/// Over how many shards the documents of one routing value spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoutingSpread {
    /// Over how many neighbouring hashes a routing value is spread.
    pub size: u32,
    /// Shards of one routing value, as the mean over all hashes; a search for it asks as many.
    pub mean: f64,
    /// The same if the index had as many routing shards as shards; `None` where it cannot.
    pub mean_without_factor: Option<f64>,
}

/// Ownership of the whole key space as exact counts: node i owns `parts[i]` of `whole`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// What each node owns, in membership order.
    pub parts: Vec<u128>,
    /// What there is to own, the sum of the parts.
    pub whole: u128,
}

impl Shares {
    /// The largest share over the mean share.
    #[must_use]
    pub fn peak_to_average(&self) -> f64 {
        let largest = self.parts.iter().copied().max().unwrap_or(0);
        largest as f64 * self.parts.len() as f64 / self.whole as f64
    }

    /// Each share as a fraction of the whole.
    pub fn fractions(&self) -> impl Iterator<Item = f64> + '_ {
        self.parts.iter().map(|&part| part as f64 / self.whole as f64)
    }
}

/// Answers that depend on the remainder of the key alone. Keys below the modulus stand for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// What the key is divided by.
    pub modulus: u64,
    /// Whether the key is the low 32 bits as a signed number and the remainder that of the floor;
    /// else it is the unsigned number of 64 bits.
    pub signed: bool,
}

impl Period {
    /// How many keys there are.
    #[must_use]
    pub const fn keys(self) -> u128 {
        if self.signed { 1 << 32 } else { 1 << 64 }
    }

    /// How many keys have this remainder.
    #[must_use]
    pub fn keys_of(self, residue: u64) -> u128 {
        let (modulus, residue) = (u128::from(self.modulus), u128::from(residue));
        // The remainder of the first key, from which the residues are counted round and round.
        let first = if self.signed { (modulus - (1 << 31) % modulus) % modulus } else { 0 };
        let place = (residue + modulus - first) % modulus;
        self.keys() / modulus + u128::from(place < self.keys() % modulus)
    }
}
