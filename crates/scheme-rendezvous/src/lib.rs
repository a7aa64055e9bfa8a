#![doc = include_str!("../README.md")]

mod rendezvous;
mod score;
mod table;

pub use rendezvous::{Rendezvous, RendezvousSharder};
pub use score::{cost, score};

/// The scheme, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Rendezvous)
}
