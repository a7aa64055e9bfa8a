//! The node on which a key scores highest, the first one of several.

use crate::{Level, Simd};

/// 64 bits as two numbers of 32, which a score takes apart so that it needs no wide product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halves {
    /// The low half.
    pub low: u32,
    /// The high half.
    pub high: u32,
}

/// The multipliers of MurmurHash3's finaliser.
const FIRST: u32 = 0x85EB_CA6B;
const SECOND: u32 = 0xC2B2_AE35;

impl Halves {
    /// The halves of a number.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
    pub const fn of(number: u64) -> Self {
        Self { low: number as u32, high: (number >> 32) as u32 }
    }

    /// The score of a key on a node, both well mixed already: two products of 32 bits, which vector
    /// units multiply in every lane, where products of 64 bits would be taken apart.
    #[inline]
    #[must_use]
    pub const fn score(self, node: Self) -> u32 {
        let first = (self.low ^ node.low).wrapping_mul(FIRST);
        let folded = (first ^ (first >> 15)).wrapping_add(self.high ^ node.high);
        folded.wrapping_mul(SECOND)
    }
}

/// The nodes, as columns of the halves of their seeds.
#[derive(Clone, Debug)]
pub struct Nodes {
    low: Box<[u32]>,
    high: Box<[u32]>,
}

impl Nodes {
    /// Nodes with these seeds, at positions from 0.
    #[must_use]
    pub fn new(seeds: impl Iterator<Item = Halves>) -> Self {
        let (low, high): (Vec<u32>, Vec<u32>) = seeds.map(|seed| (seed.low, seed.high)).unzip();
        Self { low: low.into_boxed_slice(), high: high.into_boxed_slice() }
    }

    /// Bytes of heap: eight a node.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.low) + size_of_val(&*self.high)
    }

    /// The score of a key on every node, by position.
    #[inline]
    pub fn scores(&self, key: Halves) -> impl Iterator<Item = u32> + '_ {
        self.low.iter().zip(&self.high).map(move |(&low, &high)| key.score(Halves { low, high }))
    }

    /// The position of the highest score of a key, the first of several; 0 where there are no nodes.
    #[must_use]
    pub fn best(&self, simd: Simd, key: Halves) -> u32 {
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 => unsafe { avx512::best(self, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { avx2::best(self, key) },
            _ => self.portable_best(key),
        }
    }

    /// As [`best`](Self::best) for many keys, given as whole mixed numbers.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn best_many(&self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many positions as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 => unsafe { avx512::best_many(self, keys, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { avx2::best_many(self, keys, out) },
            _ => {
                for (position, &key) in out.iter_mut().zip(keys) {
                    *position = self.portable_best(Halves::of(key));
                }
            }
        }
    }

    /// A higher score than all before is rare, about ln n times. A block of scores is asked at once
    /// whether it holds one, without a branch for each, which the compiler does in the vectors that every
    /// machine has.
    fn portable_best(&self, key: Halves) -> u32 {
        const BLOCK: usize = 8;
        let (low, last_low) = self.low.as_chunks::<BLOCK>();
        let (high, last_high) = self.high.as_chunks::<BLOCK>();
        let (mut best, mut at) = (0, 0);
        for (block, (low, high)) in low.iter().zip(high).enumerate() {
            let scores: [u32; BLOCK] = std::array::from_fn(|i| key.score(Halves { low: low[i], high: high[i] }));
            if scores.iter().fold(false, |higher, &score| higher | (score > best)) {
                for (position, score) in (block * BLOCK..).zip(scores) {
                    if score > best {
                        (best, at) = (score, position);
                    }
                }
            }
        }
        for (position, (&low, &high)) in (low.len() * BLOCK..).zip(last_low.iter().zip(last_high)) {
            let score = key.score(Halves { low, high });
            if score > best {
                (best, at) = (score, position);
            }
        }
        u32::try_from(at).expect("fewer than 2^32 nodes")
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{FIRST, Halves, Nodes, SECOND};
    use crate::x86::wide;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn scores(key: (__m512i, __m512i), node: (__m512i, __m512i)) -> __m512i {
        let first = _mm512_mullo_epi32(_mm512_xor_si512(key.0, node.0), _mm512_set1_epi32(FIRST.cast_signed()));
        let folded = _mm512_xor_si512(first, _mm512_srli_epi32::<15>(first));
        let sum = _mm512_add_epi32(folded, _mm512_xor_si512(key.1, node.1));
        _mm512_mullo_epi32(sum, _mm512_set1_epi32(SECOND.cast_signed()))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn everywhere(halves: Halves) -> (__m512i, __m512i) {
        (_mm512_set1_epi32(halves.low.cast_signed()), _mm512_set1_epi32(halves.high.cast_signed()))
    }

    /// Sixteen nodes in the lanes. A lane keeps its first highest score; of the lanes that share the
    /// highest of all, the smallest position is the first.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn best(nodes: &Nodes, key: Halves) -> u32 {
        let key = everywhere(key);
        let (mut best, mut at) = (_mm512_setzero_si512(), _mm512_setzero_si512());
        let mut position = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let (low, last_low) = nodes.low.as_chunks::<16>();
        let (high, last_high) = nodes.high.as_chunks::<16>();
        for (low, high) in low.iter().zip(high) {
            let scores = scores(key, (wide::load_u32(low), wide::load_u32(high)));
            let better = _mm512_cmpgt_epu32_mask(scores, best);
            best = _mm512_max_epu32(best, scores);
            at = _mm512_mask_mov_epi32(at, better, position);
            position = _mm512_add_epi32(position, _mm512_set1_epi32(16));
        }
        let scores = scores(key, (wide::load_some_u32(last_low), wide::load_some_u32(last_high)));
        let better = _mm512_mask_cmpgt_epu32_mask(wide::first_lanes(last_low.len()), scores, best);
        best = _mm512_mask_mov_epi32(best, better, scores);
        at = _mm512_mask_mov_epi32(at, better, position);
        let most = _mm512_reduce_max_epu32(best).cast_signed();
        let lanes = _mm512_cmpeq_epi32_mask(best, _mm512_set1_epi32(most));
        // A lane with no score above 0 stands at position 0, where the score is then 0 as well.
        _mm512_mask_reduce_min_epu32(lanes, at)
    }

    /// The halves of sixteen keys, in two vectors.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn split(keys: &[u64; 16]) -> (__m512i, __m512i) {
        let (first, last) = (wide::load_at(keys, 0), wide::load_at(keys, 8));
        let join = |a: __m512i, b: __m512i| {
            let half = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(a));
            _mm512_inserti64x4::<1>(half, _mm512_cvtepi64_epi32(b))
        };
        (join(first, last), join(_mm512_srli_epi64::<32>(first), _mm512_srli_epi64::<32>(last)))
    }

    /// How many vectors of keys go through the nodes together.
    const VECTORS: usize = 4;

    /// Sixteen keys in the lanes of each vector; all meet one node after the other.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn best_many(nodes: &Nodes, keys: &[u64], out: &mut [u32]) {
        let (keys, last_keys) = keys.as_chunks::<16>();
        let (out, last_out) = out.as_chunks_mut::<16>();
        let (keys, more_keys) = keys.as_chunks::<VECTORS>();
        let (out, more_out) = out.as_chunks_mut::<VECTORS>();
        for (keys, out) in keys.iter().zip(out) {
            best_of_vectors(nodes, keys, out);
        }
        for (keys, out) in more_keys.iter().zip(more_out) {
            best_of_vectors(nodes, std::array::from_ref(keys), std::array::from_mut(out));
        }
        for (position, &key) in last_out.iter_mut().zip(last_keys) {
            *position = best(nodes, Halves::of(key));
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn best_of_vectors<const N: usize>(nodes: &Nodes, keys: &[[u64; 16]; N], out: &mut [[u32; 16]; N]) {
        let keys: [_; N] = std::array::from_fn(|vector| split(&keys[vector]));
        let mut best = [_mm512_setzero_si512(); N];
        let mut at = [_mm512_setzero_si512(); N];
        let mut position = _mm512_setzero_si512();
        for (&low, &high) in nodes.low.iter().zip(&nodes.high) {
            let node = everywhere(Halves { low, high });
            for vector in 0..N {
                let scores = scores(keys[vector], node);
                let better = _mm512_cmpgt_epu32_mask(scores, best[vector]);
                best[vector] = _mm512_max_epu32(best[vector], scores);
                at[vector] = _mm512_mask_mov_epi32(at[vector], better, position);
            }
            position = _mm512_add_epi32(position, _mm512_set1_epi32(1));
        }
        for (out, at) in out.iter_mut().zip(at) {
            wide::store_u32(out, at);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{FIRST, Halves, Nodes, SECOND};
    use crate::x86::half;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn scores(key: (__m256i, __m256i), node: (__m256i, __m256i)) -> __m256i {
        let first = _mm256_mullo_epi32(_mm256_xor_si256(key.0, node.0), _mm256_set1_epi32(FIRST.cast_signed()));
        let folded = _mm256_xor_si256(first, _mm256_srli_epi32::<15>(first));
        let sum = _mm256_add_epi32(folded, _mm256_xor_si256(key.1, node.1));
        _mm256_mullo_epi32(sum, _mm256_set1_epi32(SECOND.cast_signed()))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn everywhere(halves: Halves) -> (__m256i, __m256i) {
        (_mm256_set1_epi32(halves.low.cast_signed()), _mm256_set1_epi32(halves.high.cast_signed()))
    }

    /// The highest scores and where they stand, lane by lane, after some more scores. There is no
    /// unsigned comparison here: a score that is not above the best leaves the maximum as it was.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn keep(best: &mut __m256i, at: &mut __m256i, scores: __m256i, position: __m256i) {
        let most = _mm256_max_epu32(*best, scores);
        let same = _mm256_cmpeq_epi32(most, *best);
        *at = _mm256_blendv_epi8(position, *at, same);
        *best = most;
    }

    /// Eight nodes in the lanes, and the last few one by one.
    #[target_feature(enable = "avx2")]
    pub(super) fn best(nodes: &Nodes, key: Halves) -> u32 {
        let lanes = everywhere(key);
        let (mut best, mut at) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let mut position = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let (low, last_low) = nodes.low.as_chunks::<8>();
        let (high, last_high) = nodes.high.as_chunks::<8>();
        for (low, high) in low.iter().zip(high) {
            keep(&mut best, &mut at, scores(lanes, (half::load_u32(low), half::load_u32(high))), position);
            position = _mm256_add_epi32(position, _mm256_set1_epi32(8));
        }
        let (mut lane_best, mut lane_at) = ([0; 8], [0; 8]);
        half::store_u32(&mut lane_best, best);
        half::store_u32(&mut lane_at, at);
        let (mut most, mut first) = (0, 0);
        for (score, at) in lane_best.into_iter().zip(lane_at) {
            if score > most || (score == most && at < first) {
                (most, first) = (score, at);
            }
        }
        let last = last_low.iter().zip(last_high).map(|(&low, &high)| key.score(Halves { low, high }));
        for (at, score) in (low.len() * 8..).zip(last) {
            if score > most {
                (most, first) = (score, u32::try_from(at).expect("fewer than 2^32 nodes"));
            }
        }
        first
    }

    /// How many vectors of keys go through the nodes together.
    const VECTORS: usize = 2;

    /// Eight keys in the lanes of each vector; all meet one node after the other.
    #[target_feature(enable = "avx2")]
    pub(super) fn best_many(nodes: &Nodes, keys: &[u64], out: &mut [u32]) {
        let (keys, last_keys) = keys.as_chunks::<8>();
        let (out, last_out) = out.as_chunks_mut::<8>();
        let (keys, more_keys) = keys.as_chunks::<VECTORS>();
        let (out, more_out) = out.as_chunks_mut::<VECTORS>();
        for (keys, out) in keys.iter().zip(out) {
            best_of_vectors(nodes, keys, out);
        }
        for (keys, out) in more_keys.iter().zip(more_out) {
            best_of_vectors(nodes, std::array::from_ref(keys), std::array::from_mut(out));
        }
        for (position, &key) in last_out.iter_mut().zip(last_keys) {
            *position = best(nodes, Halves::of(key));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn best_of_vectors<const N: usize>(nodes: &Nodes, keys: &[[u64; 8]; N], out: &mut [[u32; 8]; N]) {
        let keys: [_; N] = std::array::from_fn(|vector| {
            let halves = keys[vector].map(Halves::of);
            (half::load_u32(&halves.map(|key| key.low)), half::load_u32(&halves.map(|key| key.high)))
        });
        let mut best = [_mm256_setzero_si256(); N];
        let mut at = [_mm256_setzero_si256(); N];
        let mut position = _mm256_setzero_si256();
        for (&low, &high) in nodes.low.iter().zip(&nodes.high) {
            let node = everywhere(Halves { low, high });
            for vector in 0..N {
                keep(&mut best[vector], &mut at[vector], scores(keys[vector], node), position);
            }
            position = _mm256_add_epi32(position, _mm256_set1_epi32(1));
        }
        for (out, at) in out.iter_mut().zip(at) {
            half::store_u32(out, at);
        }
    }
}
