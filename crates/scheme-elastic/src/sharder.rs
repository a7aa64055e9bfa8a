use std::num::NonZeroU64;

use shardlab_core::{
    BuildError, Change, LeastShrink, Members, NodeId, Period, RangeSplit, Refusal, Resizable, ResizeOperation,
    RoutingSpread, Sharder, Shares, Step, Unsupported,
};
use shardlab_kernels::Simd;
use shardlab_kernels::remainder::SignedRemainder;

use crate::placement::{owned, placement};
use crate::{Generation, Index, MAX_DOCS};

/// A built index. Shards are its nodes: shard i is member i.
#[derive(Clone, Debug)]
pub struct ElasticSharder {
    index: Index,
    max_shards: u32,
    members: Members,
    placement: SignedRemainder,
    simd: Simd,
}

impl ElasticSharder {
    /// The members must be as many as the index has shards.
    pub(crate) fn new(index: Index, max_shards: u32, members: Members) -> Self {
        debug_assert_eq!(index.shards(), members.len(), "a member for every shard");
        Self { index, max_shards, members, placement: placement(index), simd: Simd::best() }
    }

    /// The numbers behind it.
    #[must_use]
    pub const fn index(&self) -> Index {
        self.index
    }

    /// The index after a resize, for members that the caller has brought up to date.
    fn after(&self, members: Members) -> Result<Self, Refusal> {
        let to = members.len();
        self.index.operation_to(to, self.max_shards)?;
        // A legal operation cannot fail here; keeping the rest of the numbers is what it does.
        let index = self.index.after_resize(to, None).unwrap_or(Index { shards: to, ..self.index });
        Ok(Self::new(index, self.max_shards, members))
    }
}

/// The low 32 bits as the signed number that the server hashes to.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits of a key are the hash")]
const fn signed(key: u64) -> i32 {
    (key as u32).cast_signed()
}

impl Sharder for ElasticSharder {
    fn shard(&self, key: u64) -> NodeId {
        NodeId(self.placement.of(key))
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        self.placement.of_many(self.simd, keys, NodeId::numbers_mut(out));
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        let members = change.at_the_tail("elastic", &self.members)?;
        BuildError::refuse_weights("elastic", &members)?;
        *self = self.after(members).map_err(Unsupported::NotAFactor)?;
        Ok(())
    }

    fn exact_shares(&self) -> Option<Shares> {
        Some(Shares { parts: owned(self.index), whole: 1 << 32 })
    }

    fn period(&self) -> Option<Period> {
        let modulus = match self.index.generation() {
            // The truncating remainder depends on the sign as well.
            Generation::Djb2 => return None,
            Generation::ShardsAsRoutingShards | Generation::DefaultRoutingShards => self.index.routing_shards(),
            Generation::ShardCount => self.index.shards(),
        };
        Some(Period { modulus: modulus.into(), signed: true })
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let hash = signed(key);
        let (n, routing_shards) = (self.index.shards(), self.index.routing_shards());
        let shard = self.index.shard_of(hash);
        match self.index.generation() {
            Generation::Djb2 => {
                let rest = i64::from(hash) % i64::from(n);
                vec![
                    Step::new("remainder", format!("{hash} rem {n} = {rest}")),
                    Step::new("shard", format!("|{rest}| = {shard}")),
                ]
            }
            Generation::ShardCount => {
                vec![Step::new("floorMod", format!("{hash} mod {n} = {shard}")), Step::new("shard", shard.to_string())]
            }
            Generation::ShardsAsRoutingShards | Generation::DefaultRoutingShards => {
                let rest = crate::index::floor_mod(hash, routing_shards);
                let factor = self.index.routing_factor();
                vec![
                    Step::new("floorMod", format!("{hash} mod {routing_shards} = {rest}")),
                    Step::new("routing factor", format!("{routing_shards} / {n} = {factor}")),
                    Step::new("shard", format!("{rest} / {factor} = {shard}")),
                ]
            }
        }
    }

    fn as_resizable(&self) -> Option<&dyn Resizable> {
        Some(self)
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}

impl Resizable for ElasticSharder {
    fn operation_to(&self, to: u32) -> Result<ResizeOperation, Refusal> {
        self.index.operation_to(to, self.max_shards)
    }

    /// The lineage of a target shard. A target beyond the last has no sources.
    fn sources_of(&self, to: u32, target: NodeId) -> Result<Vec<NodeId>, Refusal> {
        let sources = match self.operation_to(to)? {
            ResizeOperation::Split => self.index.split_source(target.0, to).map(|source| vec![source]),
            ResizeOperation::Shrink => self.index.shrink_sources(target.0, to),
            ResizeOperation::Clone => self.index.clone_source(target.0, to).map(|source| vec![source]),
        };
        Ok(sources.unwrap_or_default().into_iter().map(NodeId).collect())
    }

    fn legal_splits(&self) -> Vec<u32> {
        self.index.legal_splits(self.max_shards)
    }

    fn legal_shrinks(&self) -> Vec<u32> {
        self.index.legal_shrinks()
    }

    fn resized(&self, to: u32) -> Result<Box<dyn Sharder>, Refusal> {
        self.operation_to(to)?;
        let change = if to < self.index.shards() { Change::Shrink { to } } else { Change::Grow { to } };
        // Both directions fit any membership: names of new shards are chosen so that they are free.
        let members = self.members.after(&change).unwrap_or_else(|_| self.members.clone());
        Ok(Box::new(self.after(members)?))
    }

    fn rule_verified(&self, to: u32) -> bool {
        // No server of 9.4 or later was asked whether it still compares a split with R.
        !(self.index.generation() == Generation::ShardCount && to > self.index.shards())
    }

    fn routing_shards(&self) -> Option<u32> {
        Some(self.index.routing_shards())
    }

    fn most_documents(&self) -> Option<u64> {
        Some(MAX_DOCS)
    }

    fn least_shrink(&self, total_bytes: u64, max_bytes: NonZeroU64) -> Option<LeastShrink> {
        Some(self.index.least_shrink_for(total_bytes, max_bytes))
    }

    fn preconditions(&self, operation: ResizeOperation) -> Vec<String> {
        crate::notes::preconditions(operation)
    }

    fn splits_of_one(&self, shard: NodeId, parts: u32) -> Vec<RangeSplit> {
        crate::one_shard::splits_of_one(self.index, shard.0, parts)
    }

    fn routing_spread(&self) -> Option<RoutingSpread> {
        let (n, size) = (self.index.shards(), self.index.partition());
        let without_factor = Index::new(self.index.generation(), n, Some(n), size);
        (size > 1).then(|| RoutingSpread {
            size,
            mean: self.index.mean_searched(),
            mean_without_factor: without_factor.ok().map(Index::mean_searched),
        })
    }
}
