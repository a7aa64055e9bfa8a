//! Hashes of bytes, and the mixing that schemes use for names and scores.

use shardlab_core::{KeyError, KeyFault, KeyForm, KeyHasher, KeyRules, RawBatch, RawKey};
use shardlab_kernels::Simd;
use xxhash_rust::xxh3::xxh3_64;

use crate::murmur3_x86_32;

/// The hash of a node's name from which ring, rendezvous and Maglev derive everything about the
/// node: XXH3 of its bytes, seed 0. `--hash` never changes it.
#[must_use]
pub fn name_hash(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// XXH3 with seed 0 of many numbers, each as its eight bytes, low byte first: what [`Xxh3`] makes of
/// keys that are numbers in memory.
///
/// # Panics
/// The slices differ in length.
pub fn xxh3_u64_many(numbers: &[u64], out: &mut [u64]) {
    shardlab_kernels::mix::xxh3_u64_many(Simd::best(), numbers, out);
}

/// 64-bit FNV-1a (Fowler, Noll and Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Hashes what decides the place of each document, where no document can be refused.
fn hash_placed(batch: &RawBatch<'_>, out: &mut [u64], hash: impl Fn(&[u8]) -> u64) {
    assert_eq!(batch.ids().len(), out.len(), "as many keys as documents");
    match batch.routing() {
        None => out.iter_mut().zip(batch.ids().iter()).for_each(|(slot, id)| *slot = hash(id)),
        Some(_) => out.iter_mut().zip(batch.iter()).for_each(|(slot, key)| *slot = hash(key.placed())),
    }
}

macro_rules! byte_hasher {
    ($(#[$doc:meta])* $type:ident, $name:literal, $bits:literal, $form:ident, $hash:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $type;

        impl KeyHasher for $type {
            fn name(&self) -> String {
                $name.to_owned()
            }

            fn bits(&self) -> u32 {
                $bits
            }

            fn form(&self) -> KeyForm {
                KeyForm::$form
            }

            fn rules(&self) -> KeyRules {
                KeyRules::default()
            }

            fn hash(&self, key: &RawKey<'_>) -> Result<u64, KeyFault> {
                Ok($hash(key.placed()))
            }

            fn hash_many(&self, batch: &RawBatch<'_>, out: &mut [u64]) -> Result<(), KeyError> {
                hash_placed(batch, out, $hash);
                Ok(())
            }

            fn box_clone(&self) -> Box<dyn KeyHasher> {
                Box::new(*self)
            }
        }
    };
}

byte_hasher! {
    /// XXH3 with 64 bits and seed 0, the default.
    Xxh3, "xxh3", 64, Unsigned64, xxh3_64
}
byte_hasher! {
    /// MurmurHash3 x86_32 with seed 0, unsigned; see [`murmur3_x86_32`].
    Murmur3, "murmur3", 32, Unsigned32, |bytes| u64::from(murmur3_x86_32(bytes, 0))
}
byte_hasher! {
    /// 64-bit FNV-1a.
    Fnv1a, "fnv1a", 64, Unsigned64, fnv1a
}

/// No hash: the raw key is a decimal number below 2^64 and is the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity;

impl KeyHasher for Identity {
    fn name(&self) -> String {
        "identity".to_owned()
    }

    fn bits(&self) -> u32 {
        64
    }

    fn form(&self) -> KeyForm {
        KeyForm::Unsigned64
    }

    fn rules(&self) -> KeyRules {
        KeyRules { decimal: true, ..KeyRules::default() }
    }

    fn hash(&self, key: &RawKey<'_>) -> Result<u64, KeyFault> {
        KeyFault::decimal(key.placed())
    }

    fn box_clone(&self) -> Box<dyn KeyHasher> {
        Box::new(*self)
    }
}
