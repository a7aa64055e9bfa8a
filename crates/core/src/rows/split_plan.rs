use serde::Serialize;

use super::{Balance, KeySet, rounded, rounded_option};
use crate::{RefusalKind, ResizeOperation};

/// How an index gets from one number of shards to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitPlan {
    /// The program and its version.
    pub tool: String,
    /// The index as a canonical spec.
    pub scheme: String,
    /// Shards now.
    pub from: u32,
    /// Shards asked for; without it the plan lists what is legal.
    pub to: Option<u32>,
    /// What split targets must divide, fixed when the index was made.
    pub routing_shards: Option<u32>,
    /// Whether one operation leads there; null where no count was asked for.
    pub legal: Option<bool>,
    /// Whether the rule was checked against the modelled system for this count, or for any split where
    /// no count was asked for.
    pub rule_verified: bool,
    /// The rule that forbids it.
    pub refused_by: Option<RefusalKind>,
    /// The same in words, with the numbers.
    pub refusal: Option<String>,
    /// The one operation.
    pub operation: Option<ResizeOperation>,
    /// The largest legal count below the one asked for, the present one excluded.
    pub nearest_below: Option<u32>,
    /// The smallest legal count above the one asked for, the present one excluded.
    pub nearest_above: Option<u32>,
    /// Every count that one split reaches, ascending.
    pub legal_splits: Vec<u32>,
    /// Whether the list of splits was cut for its length.
    pub legal_splits_cut: bool,
    /// Every count that one shrink reaches, ascending.
    pub legal_shrinks: Vec<u32>,
    /// Ways to the count asked for by splits and shrinks alone, cheapest first.
    pub chains: Vec<Vec<ResizeStep>>,
    /// More such ways, all dearer.
    pub chains_left_out: u64,
    /// What each way costs: the chains, the nearest legal counts of a refused one, a reindex.
    pub alternatives: Vec<ResizeAlternative>,
    /// For one legal operation, which shards each present shard turns into.
    pub children: Vec<ChildShards>,
    /// The least count whose shards stay below a size.
    pub fit: Option<ShardFit>,
    /// Where no count was asked for and the size of the index is known: what a shard holds now and at each
    /// legal count, if all are alike.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<ShardSize>,
    /// How one shard alone could be cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_shard: Option<OneShard>,
    /// How far the documents of one routing value spread.
    pub spread: Option<Spread>,
    /// Where the given documents would stand.
    pub documents: Option<PredictedDocuments>,
    /// Bytes of all primary shards together, where they are known.
    pub bytes: Option<u128>,
    /// How many documents there are, where that is known.
    pub docs: Option<u64>,
    /// Whether files are linked and not copied.
    pub hard_links: bool,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// What must hold before the operation can start.
    pub preconditions: Vec<String>,
    /// What a reader must be told.
    pub notes: Vec<String>,
    /// The plan in words.
    pub reading: Vec<String>,
}

/// One split, shrink or clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResizeStep {
    /// What is done.
    pub operation: ResizeOperation,
    /// Shards after it.
    pub to: u32,
}

/// What kind of alternative it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// By splits and shrinks to the count asked for.
    Chain,
    /// One operation to the nearest legal count.
    Nearest,
    /// Every document is written anew into another index.
    Reindex,
}

/// One way, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResizeAlternative {
    /// What kind of way.
    pub how: How,
    /// In words, such as "5 > 10 > 30".
    pub words: String,
    /// Shards at its end.
    pub to: u32,
    /// The operations; none for a reindex.
    pub steps: Vec<ResizeStep>,
    /// What it costs.
    #[serde(flatten)]
    pub costs: Costs,
    /// Of all documents that there can be, those whose shard number changes, where it is computable.
    #[serde(serialize_with = "rounded_option")]
    pub number_changed_fraction: Option<f64>,
    /// Of all documents that there can be, those that end outside the lineage of their shard; null for a
    /// reindex, which has no lineage.
    #[serde(serialize_with = "rounded_option")]
    pub left_parent_fraction: Option<f64>,
    /// Bytes, where the size is known.
    pub bytes: Option<ResizeBytes>,
}

/// What a way costs, counted in copies of the whole index.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Copies of all documents that are written before the last target can serve: 0 by hard links, 1 for
    /// a reindex; without hard links the files that are copied.
    pub documents_rewritten_fraction: f64,
    /// The same in documents, where their number is known.
    pub documents_rewritten: Option<u128>,
    /// Splits, shrinks and clones, one after another.
    pub operations: u32,
    /// Copies of the whole index that are written where files cannot be linked.
    pub copies_without_hard_links: u64,
    /// Source and target shards that are open together, at the most.
    pub open_shards: u64,
    /// Documents in a shard at the narrowest place, on average, where their number is known.
    pub most_documents_per_shard: Option<u64>,
    /// The part of the whole index that stands in one shard at the narrowest place, if all are alike: 1
    /// where everything is in one shard for a while.
    #[serde(serialize_with = "rounded")]
    pub fullest_shard_fraction: f64,
    /// Heap of all shards that are open together, where that of one shard is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transient_heap_bytes: Option<u128>,
}

/// Bytes of a way. Replicas come on top.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResizeBytes {
    /// Bytes of a shard at the end, on average, rounded up.
    pub per_shard_after: u128,
    /// Bytes of a shard at the narrowest place, on average, rounded up.
    pub fullest_shard: u128,
    /// Bytes written on local disks before the last target can serve, where files are linked.
    pub written_with_hard_links: u128,
    /// The same where they are copied.
    pub written_without_hard_links: u128,
    /// Bytes on disk while it runs, the source with it, where files are linked.
    pub peak_with_hard_links: u128,
    /// The same where they are copied and every copy is still whole.
    pub peak_without_hard_links: u128,
    /// Bytes that merges and deletions of what other shards own write later, at the most, where files are
    /// linked.
    pub merged_later_at_most: u128,
    /// Bytes that cross the network because a shrink wants a copy of every shard on one node, at the most.
    pub relocated_at_most: u128,
    /// Bytes that cross the network because documents go to another shard.
    pub over_network: u128,
    /// What is relocated and written, by the chosen kind of links, over the bandwidth.
    #[serde(serialize_with = "rounded_option")]
    pub seconds: Option<f64>,
}

/// Which shards a present shard turns into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChildShards {
    /// The present shard.
    pub shard: u32,
    /// The shards that take its documents, ascending.
    pub children: Vec<u32>,
}

/// The least count whose shards stay below a size, all shards being alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardFit {
    /// The size that no shard may exceed.
    pub max_shard_bytes: u64,
    /// Shards needed by size alone.
    pub needed: u64,
    /// The least legal count that is enough, the present one among them.
    pub shards: Option<u32>,
    /// What leads there.
    pub operation: Option<ResizeOperation>,
    /// Bytes of a shard then, rounded up.
    pub bytes_per_shard: Option<u128>,
    /// What the server's own search answers to a shrink by size.
    pub server_shards: Option<u32>,
    /// Whether the server's answer is another.
    pub server_differs: bool,
}

/// What a shard holds at a legal count, if all are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShardSize {
    /// The count.
    pub shards: u32,
    /// What leads there; null for the present count.
    pub operation: Option<ResizeOperation>,
    /// Bytes of a shard, rounded up, where the size is known.
    pub bytes_per_shard: Option<u128>,
    /// Documents of a shard, rounded up, where their number is known.
    pub documents_per_shard: Option<u64>,
}

/// How one shard alone could be cut, the others left as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneShard {
    /// The shard.
    pub shard: u32,
    /// Into how many.
    pub parts: u32,
    /// Documents of the shard, where documents are given.
    pub keys: Option<u64>,
    /// Each rule by which it could be done.
    pub rules: Vec<OneShardRule>,
}

/// A rule that cuts one shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneShardRule {
    /// Its name.
    pub rule: String,
    /// What it does and who does so.
    pub words: String,
    /// Why it cannot cut this shard into so many parts.
    pub refused: Option<String>,
    /// What the floor remainder of the hash is taken by; null where the hash itself is compared.
    pub modulus: Option<u32>,
    /// The parts, ascending.
    pub parts: Vec<OneShardPart>,
}

/// What falls into one part of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OneShardPart {
    /// The first number of its range.
    pub from: i64,
    /// The last.
    pub to: i64,
    /// Documents of the given set.
    pub keys: Option<u64>,
    /// Bytes, where they are known.
    pub bytes: Option<u128>,
}

/// How far the documents of one routing value spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The partition size.
    pub partition: u32,
    /// Shards that a search for one routing value asks, and its documents stand on, on average.
    #[serde(serialize_with = "rounded")]
    pub shards_per_routing_value: f64,
    /// The same after the change, where it is legal.
    #[serde(serialize_with = "rounded_option")]
    pub shards_per_routing_value_after: Option<f64>,
    /// The same with as many routing shards as shards.
    #[serde(serialize_with = "rounded_option")]
    pub with_routing_shards_equal_to_shards: Option<f64>,
    /// Whether the partition does next to nothing.
    pub almost_no_effect: bool,
}

/// Where given documents would stand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedDocuments {
    /// What is done, in words.
    pub change: String,
    /// The documents.
    pub keys: KeySet,
    /// Balance now.
    pub before: Balance,
    /// Balance after it.
    pub after: Balance,
    /// Of these documents, those whose shard number changes.
    #[serde(serialize_with = "rounded")]
    pub number_changed_fraction: f64,
    /// Of these documents, those that end outside the lineage of their shard; null for a reindex.
    #[serde(serialize_with = "rounded_option")]
    pub left_parent_fraction: Option<f64>,
    /// Balance after it if every document were placed by its id alone, where some have a routing value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_id: Option<Balance>,
    /// Each shard after it.
    pub per_shard: Vec<PredictedShard>,
}

/// What one shard would hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PredictedShard {
    /// Its number.
    pub shard: u32,
    /// Documents of the given set.
    pub keys: u64,
    /// Bytes, where they are known.
    pub bytes: Option<u128>,
    /// Documents if every one were placed by its id alone, where some have a routing value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys_by_id: Option<u64>,
    /// Their bytes, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_by_id: Option<u128>,
}
