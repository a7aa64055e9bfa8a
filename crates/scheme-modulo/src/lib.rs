#![doc = include_str!("../README.md")]

mod modulo;

pub use modulo::Modulo;

/// The scheme with its default options, for the registry.
#[must_use]
pub fn scheme() -> Box<dyn shardlab_core::Scheme> {
    Box::new(Modulo::default())
}
