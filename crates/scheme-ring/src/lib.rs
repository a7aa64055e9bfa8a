#![doc = include_str!("../README.md")]

mod error;
mod ring;
mod sharder;
mod sort;
mod table;

pub use error::RingError;
pub use ring::{DEFAULT_VNODES, MAX_VNODES, Ring};
pub use sharder::RingSharder;
pub use table::RingTable;

/// The scheme with its default options, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Ring::default())
}
