#![doc = include_str!("../README.md")]

mod bytes;
mod murmur3;
mod partitioned;
mod registry;
mod text;

pub use bytes::{Fnv1a, Identity, Murmur3, Xxh3, name_hash, xxh3_u64_many};
pub use murmur3::{murmur3_utf16, murmur3_utf16_units, murmur3_x86_32};
pub use partitioned::Partitioned;
pub use registry::{DEFAULT, NAMES, UnknownHash, by_name};
pub use shardlab_kernels::mix::mix64;
pub use shardlab_kernels::mix::xxh3_u64;
pub use text::{Djb2, EsMurmur3, Java, djb2, java_hash_code};
