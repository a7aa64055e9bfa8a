#![doc = include_str!("../README.md")]

mod error;
mod maglev;
mod populate;
mod prime;
mod sharder;
mod targets;

pub use error::MaglevError;
pub use maglev::{DEFAULT_TABLE, MAX_TABLE, Maglev};
pub use populate::{Permutation, populate, turns};
pub use prime::{is_prime, next_prime};
pub use sharder::MaglevSharder;
pub use targets::targets;

/// The scheme with its default options, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Maglev::default())
}
