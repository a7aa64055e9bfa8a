//! What a server refuses about requests and mappings, as far as the numbers alone decide it.

use shardlab_core::ResizeOperation;

use crate::index::check_shards;
use crate::{Index, IndexError};

/// A resize request: the operation and the settings that it names for the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResizeRequest<'a> {
    /// `_split`, `_shrink` or `_clone`.
    pub operation: ResizeOperation,
    /// `index.number_of_shards`. A shrink without it goes to one shard, a clone to as many.
    pub shards: Option<u32>,
    /// `max_primary_shard_size` in bytes.
    pub max_primary_shard_size: Option<u64>,
    /// `index.number_of_routing_shards`.
    pub routing_shards: Option<u32>,
    /// `index.routing_partition_size`.
    pub partition: Option<u32>,
    /// The names of all other settings.
    pub other_settings: &'a [&'a str],
    /// Whether the source index routes by fields of its documents (`index.routing_path`).
    pub source_has_routing_path: bool,
}

impl ResizeRequest<'_> {
    /// A request for an operation that names nothing but a number of shards.
    #[must_use]
    pub const fn new(operation: ResizeOperation, shards: Option<u32>) -> Self {
        Self {
            operation,
            shards,
            max_primary_shard_size: None,
            routing_shards: None,
            partition: None,
            other_settings: &[],
            source_has_routing_path: false,
        }
    }

    /// The index that the request makes of `source`, whose shards hold `total_bytes` together, on
    /// servers that allow `max_shards`.
    ///
    /// What needs the state of a cluster (write blocks, copies on one node, free disk) is not asked.
    ///
    /// # Errors
    /// The first rule that a server would name.
    pub fn apply(&self, source: Index, total_bytes: u64, max_shards: u32) -> Result<Index, IndexError> {
        self.check_words()?;
        let target = self.target(source, total_bytes);
        check_shards(target, max_shards)?;
        match self.operation {
            ResizeOperation::Split => drop(source.split_source(0, target)?),
            ResizeOperation::Shrink => drop(source.shrink_sources(0, target)?),
            ResizeOperation::Clone => drop(source.clone_source(0, target)?),
        }
        if let Some(partition) = self.partition {
            return Err(IndexError::PartitionOnResize { partition });
        }
        let from_one = self.operation == ResizeOperation::Split && source.shards() == 1;
        if let Some(routing_shards) = self.routing_shards
            && !from_one
        {
            return Err(IndexError::RoutingShardsOnResize { routing_shards, source_shards: source.shards() });
        }
        match self.operation {
            ResizeOperation::Shrink if source.shards() == 1 => Err(IndexError::OneShardShrink),
            ResizeOperation::Split if self.source_has_routing_path => Err(IndexError::SplitByRoutingPath),
            ResizeOperation::Split if from_one && self.routing_shards.is_some() => {
                Index::new(source.generation(), target, self.routing_shards, source.partition())
            }
            _ => source.after_resize(target, None),
        }
    }

    /// What is wrong with the request whatever its source.
    fn check_words(&self) -> Result<(), IndexError> {
        if self.operation == ResizeOperation::Split && self.shards.is_none() {
            return Err(IndexError::SplitWithoutCount);
        }
        match (self.shards, self.max_primary_shard_size) {
            (_, Some(0)) => return Err(IndexError::ZeroShardSize),
            (_, Some(bytes)) if self.operation != ResizeOperation::Shrink => {
                return Err(IndexError::SizeWithoutShrink { bytes });
            }
            (Some(shards), Some(bytes)) => return Err(IndexError::CountAndSize { shards, bytes }),
            _ => {}
        }
        let copied = |setting: &&&str| {
            setting.starts_with("index.sort.") || ["index.mode", "index.mapping.source.mode"].contains(setting)
        };
        match self.other_settings.iter().find(copied) {
            Some(setting) => Err(IndexError::SettingOnResize { setting: (*setting).to_owned() }),
            None => Ok(()),
        }
    }

    fn target(&self, source: Index, total_bytes: u64) -> u32 {
        match (self.shards, self.operation) {
            (Some(shards), _) => shards,
            (None, ResizeOperation::Clone | ResizeOperation::Split) => source.shards(),
            (None, ResizeOperation::Shrink) => self
                .max_primary_shard_size
                .and_then(std::num::NonZeroU64::new)
                .map_or(1, |bytes| source.least_shrink_for(total_bytes, bytes).server),
        }
    }
}

/// Whether a mapping fits a partitioned index.
///
/// # Errors
/// Routing is not required, there is a join field, or documents route by their fields.
pub fn check_mapping(index: Index, routing_required: bool, join: bool, routing_path: bool) -> Result<(), IndexError> {
    let partition = index.partition();
    match () {
        () if partition == 1 => Ok(()),
        () if routing_path => Err(IndexError::PartitionedRoutingPath { partition }),
        () if !routing_required => Err(IndexError::RoutingNotRequired { partition }),
        () if join => Err(IndexError::PartitionedJoin { partition }),
        () => Ok(()),
    }
}

/// The routing value of a document written through an alias. An empty value is none, and a comma
/// has no meaning in the value of a request.
///
/// # Errors
/// The alias names a list, or another value than the request.
pub fn alias_routing<'a>(request: Option<&'a str>, alias: Option<&'a str>) -> Result<Option<&'a str>, IndexError> {
    let request = request.filter(|value| !value.is_empty());
    match (request, alias.filter(|value| !value.is_empty())) {
        (request, None) => Ok(request),
        (_, Some(alias)) if alias.contains(',') => Err(IndexError::AliasRoutingList { routing: alias.to_owned() }),
        (Some(request), Some(alias)) if request != alias => {
            Err(IndexError::AliasRouting { request: request.to_owned(), alias: alias.to_owned() })
        }
        (_, alias) => Ok(alias),
    }
}

/// Whether documents can be written through an alias of several indices.
///
/// # Errors
/// There is more than one index, and none is the write index.
pub const fn check_alias_target(indices: usize, has_write_index: bool) -> Result<(), IndexError> {
    if indices > 1 && !has_write_index { Err(IndexError::NoWriteIndex { indices }) } else { Ok(()) }
}
