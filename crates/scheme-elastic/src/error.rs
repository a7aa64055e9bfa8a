/// The most documents that one Lucene index, which is one shard, can hold.
pub const MAX_DOCS: u64 = 2_147_483_519;

/// A rule of the server that an index or a request breaks. Each variant carries the numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// `index.number_of_shards` below 1.
    #[error("an index needs at least one shard")]
    NoShards,
    /// `index.number_of_shards` above the limit of every node.
    #[error(
        "{shards} shards are above the limit of {max} per index; \
         max_shards={shards} lifts it, as -Des.index.max_number_of_shards does on every node"
    )]
    TooManyShards {
        /// Shards asked for.
        shards: u32,
        /// The limit.
        max: u32,
    },
    /// `index.number_of_routing_shards` below the number of shards.
    #[error("{routing_shards} routing shards are fewer than the {shards} shards; give a multiple of {shards}")]
    FewerRoutingShards {
        /// Shards of the index.
        shards: u32,
        /// Routing shards given.
        routing_shards: u32,
    },
    /// `index.number_of_routing_shards` is not a multiple of the number of shards.
    #[error(
        "{routing_shards} mod {shards} = {}; shard counts that divide {routing_shards}: {}",
        routing_shards % shards, list_divisors(*routing_shards)
    )]
    UnevenRoutingShards {
        /// Shards of the index, at least 1.
        shards: u32,
        /// Routing shards given.
        routing_shards: u32,
    },
    /// `index.number_of_routing_shards` does not fit the server's signed 32 bits.
    #[error("{routing_shards} routing shards are more than 2147483647, the largest setting")]
    RoutingShardsTooLarge {
        /// Routing shards given.
        routing_shards: u32,
    },
    /// The default number of routing shards does not fit the server's signed 32 bits.
    #[error("{shards} shards have no default number of routing shards below 2^31; give one, such as {shards}")]
    NoDefaultRoutingShards {
        /// Shards of the index.
        shards: u32,
    },
    /// `index.routing_partition_size` is 0, or not below the number of routing shards.
    #[error("routing_partition_size {partition} must be {}", partition_range(*routing_shards))]
    PartitionOutOfRange {
        /// The size given.
        partition: u32,
        /// Routing shards of the index.
        routing_shards: u32,
    },
    /// A shard number at or beyond the number of target shards.
    #[error("there is no shard {shard} among {target} target shards")]
    NoSuchTarget {
        /// The shard asked about.
        shard: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A larger target that is not a multiple.
    #[error("{target} is not a multiple of {source_shards}")]
    NotAMultiple {
        /// Shards of the source.
        source_shards: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A smaller target that is not a divisor.
    #[error("{target} does not divide {source_shards}; counts that do: {}", list_divisors(*source_shards))]
    NotADivisor {
        /// Shards of the source.
        source_shards: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A split to fewer shards.
    #[error("a split from {source_shards} shards must not have fewer, and {target} is fewer")]
    SplitDown {
        /// Shards of the source.
        source_shards: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A split to a count that does not divide the routing shards.
    #[error(
        "{target} does not divide the {routing_shards} routing shards ({routing_shards} mod {target} = {})",
        routing_shards % target
    )]
    NotDividingRoutingShards {
        /// Routing shards of the source.
        routing_shards: u32,
        /// Shards of the target, at least 1.
        target: u32,
    },
    /// A shrink to more shards.
    #[error("a shrink from {source_shards} shards must not have more, and {target} is more")]
    ShrinkUp {
        /// Shards of the source.
        source_shards: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A clone to another count.
    #[error("a clone has as many shards as its source: {source_shards}, not {target}")]
    CloneDiffers {
        /// Shards of the source.
        source_shards: u32,
        /// Shards of the target.
        target: u32,
    },
    /// A shrink of one shard.
    #[error("an index of one shard cannot shrink")]
    OneShardShrink,
    /// Merging the sources of a shrink target would exceed what Lucene can hold.
    #[error("shard {target_shard} would merge {documents} documents, more than the {MAX_DOCS} that a shard can hold")]
    TooManyDocuments {
        /// The target shard.
        target_shard: u32,
        /// Documents of its sources.
        documents: u64,
    },
    /// A shrink that names both a count and a size.
    #[error("a shrink takes number_of_shards ({shards}) or max_primary_shard_size ({bytes} bytes), not both")]
    CountAndSize {
        /// Shards asked for.
        shards: u32,
        /// Bytes per shard asked for.
        bytes: u64,
    },
    /// `max_primary_shard_size` is 0.
    #[error("max_primary_shard_size must be at least 1 byte")]
    ZeroShardSize,
    /// `max_primary_shard_size` on something else than a shrink.
    #[error("max_primary_shard_size ({bytes} bytes) belongs to a shrink alone")]
    SizeWithoutShrink {
        /// Bytes per shard asked for.
        bytes: u64,
    },
    /// A split without a number of shards.
    #[error("a split needs number_of_shards")]
    SplitWithoutCount,
    /// `index.routing_partition_size` among the settings of a resize.
    #[error("routing_partition_size {partition} cannot be given to a resize; the target inherits that of its source")]
    PartitionOnResize {
        /// The size given.
        partition: u32,
    },
    /// `index.number_of_routing_shards` among the settings of a resize from several shards.
    #[error(
        "number_of_routing_shards {routing_shards} cannot be given to this resize of {source_shards} shards; \
         only a split from one shard takes it"
    )]
    RoutingShardsOnResize {
        /// The setting given.
        routing_shards: u32,
        /// Shards of the source.
        source_shards: u32,
    },
    /// A setting that a resize must copy from its source.
    #[error("{setting} cannot be changed by a resize")]
    SettingOnResize {
        /// The setting's name.
        setting: String,
    },
    /// A split of an index that routes by fields of its documents.
    #[error("an index with routing_path cannot be split")]
    SplitByRoutingPath,
    /// A partitioned index that routes by fields of its documents.
    #[error("routing_partition_size {partition} and routing_path exclude each other")]
    PartitionedRoutingPath {
        /// The size given.
        partition: u32,
    },
    /// A partitioned index whose mapping lets documents come without a routing value.
    #[error("with routing_partition_size {partition} the mapping must say _routing.required: true")]
    RoutingNotRequired {
        /// The size given.
        partition: u32,
    },
    /// A partitioned index with a join field.
    #[error("with routing_partition_size {partition} the mapping must have no join field")]
    PartitionedJoin {
        /// The size given.
        partition: u32,
    },
    /// A request's routing value is not the one of its alias.
    #[error("the request routes by {request:?}, but its alias by {alias:?}")]
    AliasRouting {
        /// Routing value of the request.
        request: String,
        /// Index routing of the alias.
        alias: String,
    },
    /// An alias whose index routing is a list.
    #[error("the alias has index_routing {routing:?}, and a document takes a single value")]
    AliasRoutingList {
        /// Index routing of the alias.
        routing: String,
    },
    /// Writing through an alias of several indices without a write index.
    #[error("the alias stands for {indices} indices and none of them is its write index")]
    NoWriteIndex {
        /// Indices behind the alias.
        indices: usize,
    },
}

impl IndexError {
    /// The class of the exception that the server throws, for comparison with its logs.
    #[must_use]
    pub const fn exception(&self) -> &'static str {
        match self {
            Self::NotDividingRoutingShards { .. } | Self::TooManyDocuments { .. } => "IllegalStateException",
            Self::ZeroShardSize | Self::SplitWithoutCount => "ActionRequestValidationException",
            _ => "IllegalArgumentException",
        }
    }
}

/// The divisors of a number, ascending.
pub(crate) fn divisors(number: u32) -> Vec<u32> {
    let small: Vec<u32> = (1..=number.isqrt()).filter(|&divisor| number.is_multiple_of(divisor)).collect();
    let large = small.iter().rev().map(|&divisor| number / divisor).filter(|&divisor| divisor > number.isqrt());
    small.iter().copied().chain(large).collect()
}

/// The legal partition sizes for a message.
fn partition_range(routing_shards: u32) -> String {
    match routing_shards.saturating_sub(1) {
        0 | 1 => format!("1 (off): a size has to be below the number of routing shards, here {routing_shards}"),
        most => format!("1 (off) or from 2 to {most}, below the {routing_shards} routing shards"),
    }
}

/// The divisors for a message, cut where nobody would read on.
fn list_divisors(number: u32) -> String {
    const SHOWN: usize = 40;
    let all = divisors(number);
    let shown: Vec<String> = all.iter().take(SHOWN).map(u32::to_string).collect();
    let more = if all.len() > SHOWN { format!(" and {} more", all.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_complete_and_ascending() {
        for number in 1..=2000 {
            let naive: Vec<u32> = (1..=number).filter(|divisor| number % divisor == 0).collect();
            assert_eq!(divisors(number), naive);
        }
        assert_eq!(divisors(0), Vec::<u32>::new());
        assert_eq!(divisors(2_147_483_647), [1, 2_147_483_647]);
    }
}
