use std::collections::BTreeSet;

use shardlab_core::MAX_NODES;

use crate::{Generation, IndexError};

/// The most shards of an index where every node runs with its defaults.
pub const DEFAULT_MAX_SHARDS: u32 = 1024;

/// The largest number of routing shards: the server keeps it in a signed 32-bit number.
pub(crate) const MAX_ROUTING_SHARDS: u32 = MAX_NODES;

/// What decides where the documents of an index stand. Everything here is arithmetic on four
/// numbers; nothing is allocated but the answers.
///
/// ```
/// use shardlab_scheme_elastic::{Generation, Index};
///
/// // "654321" hashes to 1424940152; on an index of 6 shards created on 8.15 it stands on shard 4.
/// let index = Index::new(Generation::DefaultRoutingShards, 6, None, 1)?;
/// assert_eq!(index.routing_shards(), 768);
/// assert_eq!(index.shard_of(1_424_940_152), 4);
/// # Ok::<(), shardlab_scheme_elastic::IndexError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub(crate) generation: Generation,
    pub(crate) shards: u32,
    pub(crate) routing_shards: u32,
    pub(crate) partition: u32,
}

/// The number of routing shards (`index.number_of_routing_shards`) that an index of `shards` shards
/// gets where nothing is said; `None` where it does not fit the server's signed 32 bits.
///
/// Since 7.0 it is n·2^k with k = max(1, 10 − ceil(log2 n)): the largest such number up to 1024, and
/// 2n above 512 shards. Before, it was n. 9.4 and later still take the default, for resize rules.
#[must_use]
pub fn default_routing_shards(shards: u32, generation: Generation) -> Option<u32> {
    let doublings = match generation {
        Generation::Djb2 | Generation::ShardsAsRoutingShards => 0,
        Generation::DefaultRoutingShards | Generation::ShardCount => {
            let ceil_log2 = 32 - shards.saturating_sub(1).leading_zeros();
            10_u32.saturating_sub(ceil_log2).max(1)
        }
    };
    let wide = u64::from(shards) << doublings;
    u32::try_from(wide).ok().filter(|&routing_shards| routing_shards <= MAX_ROUTING_SHARDS)
}

/// Refuses a number of shards that a server with this limit refuses.
///
/// # Errors
/// [`IndexError::NoShards`] or [`IndexError::TooManyShards`].
pub fn check_shards(shards: u32, max: u32) -> Result<(), IndexError> {
    match shards {
        0 => Err(IndexError::NoShards),
        _ if shards > max => Err(IndexError::TooManyShards { shards, max }),
        _ => Ok(()),
    }
}

/// floorMod as Java has it: the remainder that has the sign of the divisor.
pub(crate) fn floor_mod(hash: i32, modulus: u32) -> u32 {
    // A remainder by a u32 is below it, so it fits.
    u32::try_from(i64::from(hash).rem_euclid(i64::from(modulus))).unwrap_or(0)
}

impl Index {
    /// An index as the server would create it. A `partition` of 1 is none.
    ///
    /// # Errors
    /// The numbers break a rule of index creation, checked in the server's order: routing shards
    /// against shards, then the partition against routing shards. The limit of shards is another
    /// matter: see [`check_shards`].
    pub fn new(
        generation: Generation,
        shards: u32,
        routing_shards: Option<u32>,
        partition: u32,
    ) -> Result<Self, IndexError> {
        if shards == 0 {
            return Err(IndexError::NoShards);
        }
        let routing_shards = match routing_shards {
            None => default_routing_shards(shards, generation).ok_or(IndexError::NoDefaultRoutingShards { shards })?,
            Some(routing_shards) => routing_shards,
        };
        if routing_shards < shards {
            return Err(IndexError::FewerRoutingShards { shards, routing_shards });
        }
        if routing_shards > MAX_ROUTING_SHARDS {
            return Err(IndexError::RoutingShardsTooLarge { routing_shards });
        }
        if !routing_shards.is_multiple_of(shards) {
            return Err(IndexError::UnevenRoutingShards { shards, routing_shards });
        }
        if partition == 0 || (partition > 1 && partition >= routing_shards) {
            return Err(IndexError::PartitionOutOfRange { partition, routing_shards });
        }
        Ok(Self { generation, shards, routing_shards, partition })
    }

    /// How it routes.
    #[must_use]
    pub const fn generation(self) -> Generation {
        self.generation
    }

    /// `index.number_of_shards`, n.
    #[must_use]
    pub const fn shards(self) -> u32 {
        self.shards
    }

    /// The effective `index.number_of_routing_shards`, R: what the cluster state calls
    /// `routing_num_shards`.
    #[must_use]
    pub const fn routing_shards(self) -> u32 {
        self.routing_shards
    }

    /// `index.routing_partition_size`, 1 for none.
    #[must_use]
    pub const fn partition(self) -> u32 {
        self.partition
    }

    /// The routing factor R / n.
    #[must_use]
    pub const fn routing_factor(self) -> u32 {
        self.routing_shards / self.shards
    }

    /// How many neighbouring hashes share a shard: the routing factor, or 1 where the function is
    /// modular.
    pub(crate) const fn run(self) -> u32 {
        if self.generation.is_modular() { 1 } else { self.routing_factor() }
    }

    /// The shard of a document with this hash: of its routing value or id, or the combined hash of a
    /// partitioned index.
    #[must_use]
    pub fn shard_of(self, hash: i32) -> u32 {
        match self.generation {
            // Java's remainder truncates and its sign is that of the hash; abs comes after it.
            Generation::Djb2 => hash.unsigned_abs() % self.shards,
            Generation::ShardsAsRoutingShards | Generation::DefaultRoutingShards => {
                floor_mod(hash, self.routing_shards) / self.routing_factor()
            }
            Generation::ShardCount => floor_mod(hash, self.shards),
        }
    }

    /// The shards that a search for a routing value with this hash must ask, ascending. The sum of
    /// hash and offset wraps at 32 bits, as the server's does.
    #[must_use]
    pub fn searched(self, routing_hash: i32) -> Vec<u32> {
        let mut found = BTreeSet::new();
        for offset in 0..self.partition {
            found.insert(self.shard_of(routing_hash.wrapping_add_unsigned(offset)));
            if found.len() >= self.shards as usize {
                break;
            }
        }
        found.into_iter().collect()
    }

    /// How many shards the documents of one routing value stand on, as the mean over all places
    /// where its hash can fall in the routing shards.
    ///
    /// p neighbouring hashes cross (p − 1) / f borders of runs of f hashes, where f is the routing
    /// factor. A default factor is large, so that the mean stays near 1 until 9.4.
    #[must_use]
    pub fn mean_searched(self) -> f64 {
        let (run, shards) = (f64::from(self.run()), f64::from(self.shards));
        let whole = f64::from((self.partition - 1) / self.run());
        let rest = f64::from((self.partition - 1) % self.run()) / run;
        (whole + 1.0).min(shards) * (1.0 - rest) + (whole + 2.0).min(shards) * rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_number_of_searched_shards_is_that_of_an_enumeration() {
        for (shards, routing_shards, partition) in [(5, 640, 2), (20, 640, 3), (48, 768, 8), (3, 12, 11), (6, 6, 4)] {
            for generation in [Generation::DefaultRoutingShards, Generation::ShardCount] {
                let index = Index::new(generation, shards, Some(routing_shards), partition).unwrap();
                let hashes = 0..i32::try_from(routing_shards).unwrap();
                let total: usize = hashes.map(|hash| index.searched(hash).len()).sum();
                #[expect(clippy::cast_precision_loss, reason = "small counts")]
                let mean = total as f64 / f64::from(routing_shards);
                assert!((index.mean_searched() - mean).abs() < 1e-12, "{index:?}: {mean}");
            }
        }
    }

    #[test]
    fn a_default_that_overflows_is_refused_and_an_explicit_number_taken() {
        let generation = Generation::DefaultRoutingShards;
        assert_eq!(default_routing_shards(1 << 30, generation), None);
        assert!(Index::new(generation, 1 << 30, None, 1).is_err());
        assert!(Index::new(generation, MAX_NODES, Some(MAX_NODES), 1).is_ok());
        assert_eq!(default_routing_shards((1 << 30) - 1, generation), Some(MAX_NODES - 1));
    }
}
