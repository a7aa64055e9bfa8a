//! The searches in vectors of x86-64.

use super::LANES;

/// The highest of eight signed numbers.
#[inline]
#[target_feature(enable = "sse2")]
fn highest_of_eight(lanes: std::arch::x86_64::__m128i) -> i16 {
    use std::arch::x86_64::*;

    let four = _mm_max_epi16(lanes, _mm_srli_si128::<8>(lanes));
    let two = _mm_max_epi16(four, _mm_srli_si128::<4>(four));
    let one = _mm_max_epi16(two, _mm_srli_si128::<2>(two));
    #[expect(clippy::cast_possible_truncation, reason = "the lowest lane is what is wanted")]
    let lowest = _mm_cvtsi128_si32(one) as i16;
    lowest
}

/// The lanes of one vector among those of a block.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it has fewer instructions than whoever calls it, and is one of them")]
fn part_of<const WIDTH: usize>(column: &[u16; LANES], part: usize) -> &[u16; WIDTH] {
    &column.as_chunks().0[part]
}

/// One search for each width of vectors, by the names of its instructions. Loops stand where a method of
/// an iterator or an array would: a closure with instructions is not inlined into code without them.
macro_rules! define_search {
    (
        $(#[$attribute:meta])* vectors: $vector:ty, $width:literal, $load:path, $join:ident,
        splat: $splat:ident, xor: $xor:ident, add: $add:ident, max: $max:ident,
        low: $low:ident, high: $high:ident, lanes: $lanes:expr
    ) => {
        $(#[$attribute])*
        #[inline]
        pub(in crate::rendezvous) fn search(nodes: &Nodes, key: Words) -> u32 {
            let [a, b, c, d] = key.of_signed_key();
            let (a, b, c, d) = (
                $splat(a.cast_signed()),
                $splat(b.cast_signed()),
                $splat(c.cast_signed()),
                $splat(d.cast_signed()),
            );
            let scan = |blocks: &[Block]| {
                let mut top = [$splat(i16::MIN); LANES / $width];
                for Block([e, f, g, h]) in blocks {
                    for part in 0..LANES / $width {
                        let (a, b) = ($xor(a, $load(super::part_of(e, part))), $xor(b, $load(super::part_of(f, part))));
                        let (c, d) = ($xor(c, $load(super::part_of(g, part))), $xor(d, $load(super::part_of(h, part))));
                        let sum = $xor($add($low(a, b), c), $high(a, b));
                        top[part] = $max(top[part], $low(sum, d));
                    }
                }
                top
            };
            let highest = |tops: [$vector; LANES / $width]| {
                let mut most = tops[0];
                for &top in &tops[1..] {
                    most = $max(most, top);
                }
                highest_of_eight($join(most))
            };
            nodes.best_by(key, scan, highest, $lanes)
        }
    };
}

/// What every x86-64 has.
pub(super) mod sse2 {
    use std::arch::x86_64::*;

    use super::highest_of_eight;
    use crate::rendezvous::{Block, LANES, Nodes, Words};
    use crate::x86::quarter;

    #[inline]
    #[target_feature(enable = "sse2")]
    fn join(lanes: __m128i) -> __m128i {
        lanes
    }

    define_search! {
        #[target_feature(enable = "sse2")]
        vectors: __m128i, 8, quarter::load_u16, join,
        splat: _mm_set1_epi16, xor: _mm_xor_si128, add: _mm_add_epi16, max: _mm_max_epi16,
        low: _mm_mullo_epi16, high: _mm_mulhi_epu16,
        lanes: |top: [__m128i; 4], high| {
            let same = |part: usize| _mm_cmpeq_epi16(top[part], _mm_set1_epi16(high));
            // A byte of all ones for each lane, and then a bit.
            let bits = |a, b| _mm_movemask_epi8(_mm_packs_epi16(a, b)).cast_unsigned();
            bits(same(0), same(1)) | bits(same(2), same(3)) << 16
        }
    }
}

pub(super) mod avx2 {
    use std::arch::x86_64::*;

    use super::highest_of_eight;
    use crate::rendezvous::{Block, LANES, Nodes, Words};
    use crate::x86::half;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn join(lanes: __m256i) -> __m128i {
        _mm_max_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes))
    }

    define_search! {
        #[target_feature(enable = "avx2")]
        vectors: __m256i, 16, half::load_u16, join,
        splat: _mm256_set1_epi16, xor: _mm256_xor_si256, add: _mm256_add_epi16, max: _mm256_max_epi16,
        low: _mm256_mullo_epi16, high: _mm256_mulhi_epu16,
        lanes: |top: [__m256i; 2], high| {
            let same = |part: usize| _mm256_cmpeq_epi16(top[part], _mm256_set1_epi16(high));
            // A byte of all ones for each lane, in the order of the lanes, and then a bit.
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(same(0), same(1)));
            _mm256_movemask_epi8(bytes).cast_unsigned()
        }
    }
}

pub(super) mod avx512 {
    use std::arch::x86_64::*;

    use super::highest_of_eight;
    use crate::rendezvous::{Block, LANES, Nodes, Words};
    use crate::x86::wide;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn join(lanes: __m512i) -> __m128i {
        let half = _mm256_max_epi16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
        _mm_max_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }

    define_search! {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
        vectors: __m512i, 32, wide::load_u16, join,
        splat: _mm512_set1_epi16, xor: _mm512_xor_si512, add: _mm512_add_epi16, max: _mm512_max_epi16,
        low: _mm512_mullo_epi16, high: _mm512_mulhi_epu16,
        lanes: |top: [__m512i; 1], high| _mm512_cmpeq_epi16_mask(top[0], _mm512_set1_epi16(high))
    }

    /// Up to this many nodes the searches below are worth it, which keep a position beside each highest high
    /// half. Beyond, more and more keys meet two nodes of one high half, about one of 2^16 / n, and are
    /// searched for again.
    const FEW: u32 = 1 << 12;

    /// The high halves of scores from the words of keys, made odd and signed, and of nodes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn high_halves([a, b, c, d]: [__m512i; 4], [e, f, g, h]: [__m512i; 4]) -> __m512i {
        let (a, b, c, d) =
            (_mm512_xor_si512(a, e), _mm512_xor_si512(b, f), _mm512_xor_si512(c, g), _mm512_xor_si512(d, h));
        let sum = _mm512_add_epi16(_mm512_mullo_epi16(a, b), c);
        _mm512_mullo_epi16(_mm512_xor_si512(sum, _mm512_mulhi_epu16(a, b)), d)
    }

    /// As [`search`], which for few nodes takes longer to find a node in its lane than to reach the lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(in crate::rendezvous) fn best(nodes: &Nodes, key: Words) -> u32 {
        let Some((Block(last), others)) = nodes.blocks.split_last() else { return 0 };
        if nodes.count > FEW {
            return search(nodes, key);
        }
        let [a, b, c, d] = key.of_signed_key();
        let everywhere = |word: u16| _mm512_set1_epi16(word.cast_signed());
        let key_words = [everywhere(a), everywhere(b), everywhere(c), everywhere(d)];
        let highs = |[e, f, g, h]: &[[u16; LANES]; 4]| {
            high_halves(key_words, [wide::load_u16(e), wide::load_u16(f), wide::load_u16(g), wide::load_u16(h)])
        };
        let (mut top, mut at, mut number) =
            (_mm512_set1_epi16(i16::MIN), _mm512_setzero_si512(), _mm512_setzero_si512());
        let mut tied = 0;
        for Block(block) in others {
            let high = highs(block);
            tied |= _mm512_cmpeq_epi16_mask(high, top);
            at = _mm512_mask_mov_epi16(at, _mm512_cmpgt_epi16_mask(high, top), number);
            top = _mm512_max_epi16(top, high);
            number = _mm512_add_epi16(number, _mm512_set1_epi16(1));
        }
        // The last block has copies of the first node in its last lanes.
        let in_use = u32::MAX >> (others.len() * LANES + LANES - nodes.count as usize);
        let high = highs(last);
        tied |= _mm512_mask_cmpeq_epi16_mask(in_use, high, top);
        at = _mm512_mask_mov_epi16(at, _mm512_mask_cmpgt_epi16_mask(in_use, high, top), number);
        top = _mm512_mask_max_epi16(top, in_use, top, high);
        let highest = highest_of_eight(join(top));
        let lanes = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(highest));
        if lanes & (tied | (lanes - 1)) != 0 {
            return search(nodes, key);
        }
        let blocks = highest_of_eight(join(_mm512_maskz_mov_epi16(lanes, at)));
        // There are as many lanes as a mask has bits.
        u32::from(blocks.cast_unsigned()) * u32::BITS + lanes.trailing_zeros()
    }

    /// How many vectors of keys go through the nodes together.
    const VECTORS: usize = 2;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(in crate::rendezvous) fn best_many(nodes: &Nodes, keys: &[u64], out: &mut [u32]) {
        let (lanes, last) = if nodes.count <= FEW { keys.as_chunks::<LANES>() } else { (&[][..], keys) };
        let (out, last_out) = out.split_at_mut(lanes.as_flattened().len());
        let (pairs, single) = lanes.as_chunks::<VECTORS>();
        let (pairs_out, single_out) = out.as_chunks_mut::<LANES>().0.as_chunks_mut::<VECTORS>();
        for (keys, out) in pairs.iter().zip(pairs_out) {
            best_of_lanes(nodes, keys, out);
        }
        for (keys, out) in single.iter().zip(single_out) {
            best_of_lanes(nodes, std::array::from_ref(keys), std::array::from_mut(out));
        }
        for (position, &key) in last_out.iter_mut().zip(last) {
            *position = best(nodes, Words::of(key));
        }
    }

    /// One word of 32 numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn word<const SHIFT: u32>(keys: &[u64; LANES]) -> __m512i {
        let part = |start| _mm512_cvtepi64_epi16(_mm512_srli_epi64::<SHIFT>(wide::load_at(keys, start)));
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(part(0)), part(8));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(part(16)), part(24));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }

    /// Keys in the lanes, nodes one after the other. Where a high half is as high as another, the low
    /// halves would have to tell: those few keys are searched for again, each for itself.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn best_of_lanes<const N: usize>(nodes: &Nodes, keys: &[[u64; LANES]; N], out: &mut [[u32; LANES]; N]) {
        let (one, sign) = (_mm512_set1_epi16(1), _mm512_set1_epi16(i16::MIN));
        let mut words = [[one; 4]; N];
        for (words, keys) in words.iter_mut().zip(keys) {
            *words = [
                _mm512_or_si512(word::<0>(keys), one),
                word::<16>(keys),
                _mm512_xor_si512(word::<32>(keys), sign),
                _mm512_or_si512(word::<48>(keys), one),
            ];
        }
        let mut best = [_mm512_set1_epi16(i16::MIN); N];
        let mut at = [_mm512_setzero_si512(); N];
        let mut tied = [0; N];
        let mut position = _mm512_setzero_si512();
        let mut left = nodes.count as usize;
        for Block([e, f, g, h]) in &nodes.blocks {
            for lane in 0..left.min(LANES) {
                let everywhere = |column: &[u16; LANES]| _mm512_set1_epi16(column[lane].cast_signed());
                let node = [everywhere(e), everywhere(f), everywhere(g), everywhere(h)];
                for vector in 0..N {
                    let high = high_halves(words[vector], node);
                    tied[vector] |= _mm512_cmpeq_epi16_mask(high, best[vector]);
                    let better = _mm512_cmpgt_epi16_mask(high, best[vector]);
                    best[vector] = _mm512_max_epi16(best[vector], high);
                    at[vector] = _mm512_mask_mov_epi16(at[vector], better, position);
                }
                position = _mm512_add_epi16(position, one);
            }
            left = left.saturating_sub(LANES);
        }
        for (vector, out) in out.iter_mut().enumerate() {
            let (halves, _) = out.as_chunks_mut::<16>();
            wide::store_u32(&mut halves[0], _mm512_cvtepu16_epi32(_mm512_castsi512_si256(at[vector])));
            wide::store_u32(&mut halves[1], _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(at[vector])));
            let mut again = tied[vector];
            while again != 0 {
                let lane = again.trailing_zeros() as usize;
                again &= again - 1;
                out[lane] = best_position(nodes, keys[vector][lane]);
            }
        }
    }

    /// The search for one key, not copied into the loop that needs it rarely.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn best_position(nodes: &Nodes, key: u64) -> u32 {
        search(nodes, Words::of(key))
    }
}
