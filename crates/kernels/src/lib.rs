#![doc = include_str!("../README.md")]

pub mod jump;
pub mod mix;
pub mod murmur3;
pub mod remainder;
pub mod rendezvous;
pub mod ring;
mod simd;
pub mod table;
pub mod walk;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use simd::{Level, Simd, SimdError, VARIABLE};
