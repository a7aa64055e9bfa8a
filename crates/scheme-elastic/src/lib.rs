#![doc = include_str!("../README.md")]

mod created;
mod elastic;
mod error;
mod index;
mod notes;
mod one_shard;
mod placement;
mod request;
mod resize;
mod sharder;

pub use created::{Created, Generation};
pub use elastic::Elastic;
pub use error::{IndexError, MAX_DOCS};
pub use index::{DEFAULT_MAX_SHARDS, Index, check_shards, default_routing_shards};
pub use request::{ResizeRequest, alias_routing, check_alias_target, check_mapping};
pub use resize::routing_factor;
pub use sharder::ElasticSharder;
pub use shardlab_core::LeastShrink;

/// The scheme with its default options, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Elastic::default())
}
