#![doc = include_str!("../README.md")]

mod jump;
mod walk;

pub use jump::{Jump, JumpSharder};
pub use shardlab_kernels::jump::{Rounding, jump};
pub use walk::jumps;

/// The scheme with its default options, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Jump::default())
}
