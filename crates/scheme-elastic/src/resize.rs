//! Split, shrink and clone: which counts are legal, where shards come from, what becomes of the
//! routing shards.

use std::num::NonZeroU64;

use shardlab_core::{LeastShrink, Refusal, RefusalKind, ResizeOperation};

use crate::error::{MAX_DOCS, divisors};
use crate::index::{MAX_ROUTING_SHARDS, default_routing_shards};
use crate::{Index, IndexError};

/// How many shards of the larger index stand for one of the smaller (`getRoutingFactor`).
///
/// # Errors
/// Neither count is a multiple of the other.
pub fn routing_factor(source: u32, target: u32) -> Result<u32, IndexError> {
    if source == 0 {
        return Err(IndexError::NoShards);
    }
    match target.checked_rem(source) {
        Some(0) if target >= source => Ok(target / source),
        _ if target > source => Err(IndexError::NotAMultiple { source_shards: source, target }),
        _ if target > 0 && source.is_multiple_of(target) => Ok(source / target),
        _ => Err(IndexError::NotADivisor { source_shards: source, target }),
    }
}

impl Index {
    fn check_target(self, shard: u32, target: u32) -> Result<u32, IndexError> {
        if shard >= target {
            return Err(IndexError::NoSuchTarget { shard, target });
        }
        routing_factor(self.shards, target)
    }

    /// The shard from which shard `shard` of a split into `target` shards takes its documents
    /// (`selectSplitShard`). The same count passes, as it does on the server.
    ///
    /// # Errors
    /// In the server's order: no such target shard, not a multiple, fewer shards, and a count that
    /// does not divide the routing shards (which an index of one shard need not).
    pub fn split_source(self, shard: u32, target: u32) -> Result<u32, IndexError> {
        let factor = self.check_target(shard, target)?;
        if self.shards > target {
            return Err(IndexError::SplitDown { source_shards: self.shards, target });
        }
        if self.shards > 1 && !self.routing_shards.is_multiple_of(target) {
            return Err(IndexError::NotDividingRoutingShards { routing_shards: self.routing_shards, target });
        }
        Ok(if self.generation.is_modular() { shard % self.shards } else { shard / factor })
    }

    /// The shards that shard `shard` of a shrink to `target` shards merges, ascending
    /// (`selectShrinkShards`). The same count passes, as it does there.
    ///
    /// # Errors
    /// In the server's order: no such target shard, not a divisor, more shards.
    pub fn shrink_sources(self, shard: u32, target: u32) -> Result<Vec<u32>, IndexError> {
        let factor = self.check_target(shard, target)?;
        if target > self.shards {
            return Err(IndexError::ShrinkUp { source_shards: self.shards, target });
        }
        Ok(if self.generation.is_modular() {
            (0..factor).map(|i| shard + i * target).collect()
        } else {
            (shard * factor..(shard + 1) * factor).collect()
        })
    }

    /// The shard that shard `shard` of a clone copies (`selectCloneShard`).
    ///
    /// # Errors
    /// No such target shard, or another count.
    pub fn clone_source(self, shard: u32, target: u32) -> Result<u32, IndexError> {
        if shard >= target {
            return Err(IndexError::NoSuchTarget { shard, target });
        }
        if target != self.shards {
            return Err(IndexError::CloneDiffers { source_shards: self.shards, target });
        }
        Ok(shard)
    }

    /// Whether a shrink to `target` shards keeps every shard within what Lucene can hold, given the
    /// documents of each present shard; shards that are not listed count as empty.
    ///
    /// # Errors
    /// The shrink is illegal, or some target shard would hold more than 2,147,483,519 documents.
    pub fn check_merged_documents(self, target: u32, documents: &[u64]) -> Result<(), IndexError> {
        let at = |source: &u32| documents.get(*source as usize).copied().unwrap_or(0);
        self.shrink_sources(0, target)?;
        for target_shard in 0..target {
            let sources = self.shrink_sources(target_shard, target)?;
            let sum = sources.iter().map(at).fold(0_u64, u64::saturating_add);
            if sum > MAX_DOCS {
                return Err(IndexError::TooManyDocuments { target_shard, documents: sum });
            }
        }
        Ok(())
    }

    /// The index after a split, shrink or clone to `target` shards. Several shards keep their number
    /// of routing shards. A single one gets it anew: the explicit number of the split request, or the
    /// default, doubled until it is above the partition size, as the request would have to ask for.
    ///
    /// # Errors
    /// The operation is illegal, or an explicit number was given where none is taken.
    pub fn after_resize(self, target: u32, explicit: Option<u32>) -> Result<Self, IndexError> {
        if self.shards > 1 || target <= 1 {
            if let Some(routing_shards) = explicit {
                return Err(IndexError::RoutingShardsOnResize { routing_shards, source_shards: self.shards });
            }
            if target > self.shards {
                self.split_source(0, target)?;
            } else if target < self.shards {
                self.shrink_sources(0, target)?;
            }
            return Ok(Self { shards: target, ..self });
        }
        if explicit.is_some() {
            return Self::new(self.generation, target, explicit, self.partition);
        }
        let mut routing_shards = default_routing_shards(target, self.generation);
        while let Some(number) = routing_shards
            && self.partition > 1
            && number <= self.partition
        {
            routing_shards = number.checked_mul(2).filter(|&doubled| doubled <= MAX_ROUTING_SHARDS);
        }
        let routing_shards = routing_shards.ok_or(IndexError::NoDefaultRoutingShards { shards: target })?;
        Self::new(self.generation, target, Some(routing_shards), self.partition)
    }

    /// All counts up to `max` that one split reaches, ascending, the present one excluded.
    #[must_use]
    pub fn legal_splits(self, max: u32) -> Vec<u32> {
        if self.shards == 1 {
            return (2..=max).filter(|&target| self.after_resize(target, None).is_ok()).collect();
        }
        let multiples = divisors(self.routing_factor()).into_iter().skip(1);
        multiples.map(|factor| factor * self.shards).take_while(|&target| target <= max).collect()
    }

    /// All counts that one shrink reaches, ascending, the present one excluded.
    #[must_use]
    pub fn legal_shrinks(self) -> Vec<u32> {
        let mut legal = divisors(self.shards);
        legal.pop();
        legal
    }

    /// Which single operation leads to `target` shards where at most `max` are allowed.
    ///
    /// Rules are asked in the order of what a person can do about them: the counts themselves, then
    /// the routing shards, which are fixed for life, then the limit, which can be lifted.
    ///
    /// # Errors
    /// The first rule that fails, and the nearest legal counts.
    pub fn operation_to(self, target: u32, max: u32) -> Result<ResizeOperation, Refusal> {
        let n = self.shards;
        let refuse = |kind, bound| Err(self.refusal(kind, bound, target, max));
        if target == n {
            return Ok(ResizeOperation::Clone);
        }
        if target < n {
            return match routing_factor(n, target) {
                Ok(_) => Ok(ResizeOperation::Shrink),
                Err(_) if n == 1 => refuse(RefusalKind::OneShardSource, None),
                Err(_) => refuse(RefusalKind::NotADivisor, None),
            };
        }
        if !target.is_multiple_of(n) {
            return refuse(RefusalKind::NotAMultiple, None);
        }
        if n > 1 && !self.routing_shards.is_multiple_of(target) {
            return refuse(RefusalKind::NotDividingRoutingShards, Some(self.routing_shards));
        }
        if target > max {
            return refuse(RefusalKind::AboveMaxShards, Some(max));
        }
        if self.after_resize(target, None).is_err() {
            return refuse(RefusalKind::NotDividingRoutingShards, None);
        }
        Ok(ResizeOperation::Split)
    }

    fn refusal(self, kind: RefusalKind, bound: Option<u32>, to: u32, max: u32) -> Refusal {
        // From one shard nearly every count is legal, and a list of them could be long.
        let candidates = match (self.shards, to) {
            (1, 0) => self.legal_splits(2),
            (1, _) => vec![max.min(to - 1)],
            _ => self.legal_shrinks().into_iter().chain(self.legal_splits(max)).collect(),
        };
        Refusal {
            kind,
            from: self.shards,
            to,
            bound,
            nearest_below: candidates.iter().copied().filter(|&count| count < to && count != self.shards).max(),
            nearest_above: candidates.iter().copied().filter(|&count| count > to).min(),
        }
    }

    /// The least number of shards to shrink to so that no shard exceeds `max_bytes`, taking the
    /// documents to be spread evenly.
    ///
    /// The server's own search for `max_primary_shard_size` stops below floor(sqrt n) where it began
    /// below, and then stays at n; and it stays at n where n itself is not enough.
    #[must_use]
    pub fn least_shrink_for(self, total_bytes: u64, max_bytes: NonZeroU64) -> LeastShrink {
        let needed = total_bytes.div_ceil(max_bytes.get()).max(1);
        let shards = divisors(self.shards).into_iter().find(|&count| u64::from(count) >= needed);
        let root = self.shards.isqrt();
        let server = match shards {
            Some(least) if needed >= u64::from(root) || needed == u64::from(least) || least < root => least,
            _ => self.shards,
        };
        LeastShrink { needed, shards, server }
    }
}
