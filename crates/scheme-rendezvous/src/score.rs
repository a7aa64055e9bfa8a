//! What a key scores on a node: the definition that never changes. The product itself stands in the
//! kernels, since vectors compute it as well.

use shardlab_hash::{mix64, name_hash};
use shardlab_kernels::Simd;
use shardlab_kernels::mix::mix64_many;
pub(crate) use shardlab_kernels::rendezvous::Words;

/// The increment of SplitMix64 (Steele, Lea and Flood 2014), 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The key as the score reads it: mixed once for all nodes, so that sequential keys and keys of 32 bits
/// differ in all bits.
#[inline]
pub(crate) const fn mixed(key: u64) -> u64 {
    mix64(key.wrapping_add(GOLDEN))
}

/// As [`mixed`], for many keys.
#[inline]
pub(crate) fn mixed_many(simd: Simd, keys: &[u64], out: &mut [u64]) {
    for (slot, &key) in out.iter_mut().zip(keys) {
        *slot = key.wrapping_add(GOLDEN);
    }
    mix64_many(simd, out);
}

/// The seed of a node.
pub(crate) fn seed(name: &str) -> Words {
    Words::of(mixed(name_hash(name)))
}

/// The score of a key on the node of that name; the highest wins where weights are equal.
#[must_use]
pub fn score(key: u64, name: &str) -> u32 {
    Words::of(mixed(key)).score(seed(name))
}

/// A score as a number strictly between 0 and 1, exact in a double.
#[inline]
pub(crate) fn unit(score: u32) -> f64 {
    (f64::from(score) + 0.5) / 4_294_967_296.0
}

/// −ln(u) / weight with u = (score + 1/2) / 2^32; the lowest wins where weights differ.
///
/// It is an exponential variable of rate `weight`, and the least of several falls on each in
/// proportion to its rate. It is positive and finite for every score. The logarithm is that of the
/// `libm` crate, so that every platform computes the same bits.
#[inline]
#[must_use]
pub fn cost(score: u32, weight: u32) -> f64 {
    cost_of(score, f64::from(weight))
}

/// As [`cost`], with the weight already converted, which loses nothing.
#[inline]
pub(crate) fn cost_of(score: u32, weight: f64) -> f64 {
    -libm::log(unit(score)) / weight
}
