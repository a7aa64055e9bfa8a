//! What a key scores on a node: the definition that never changes.

use shardlab_hash::{mix64, name_hash};

/// The increment of SplitMix64 (Steele, Lea and Flood 2014), 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// 64 bits as two numbers of 32, which the score takes apart so that it needs no wide product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halves {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

impl Halves {
    #[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
    const fn of(value: u64) -> Self {
        Self { low: value as u32, high: (value >> 32) as u32 }
    }

    /// The key as the score reads it: mixed once for all nodes, so that sequential keys and keys of
    /// 32 bits differ in all bits.
    #[inline]
    pub(crate) const fn of_key(key: u64) -> Self {
        Self::of(mix64(key.wrapping_add(GOLDEN)))
    }

    /// The seed of a node.
    pub(crate) fn of_name(name: &str) -> Self {
        Self::of(mix64(name_hash(name).wrapping_add(GOLDEN)))
    }

    /// The score of a key on a node: two products of 32 bits (the multipliers of MurmurHash3's
    /// finaliser), which vector units multiply in every lane, where products of 64 bits would be
    /// taken apart. Both sides are well mixed already, so that two rounds suffice.
    #[inline(always)]
    pub(crate) const fn score(self, node: Self) -> u32 {
        let first = (self.low ^ node.low).wrapping_mul(0x85EB_CA6B);
        let folded = (first ^ (first >> 15)).wrapping_add(self.high ^ node.high);
        folded.wrapping_mul(0xC2B2_AE35)
    }
}

/// The score of a key on the node of that name; the highest wins where weights are equal.
#[must_use]
pub fn score(key: u64, name: &str) -> u32 {
    Halves::of_key(key).score(Halves::of_name(name))
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
