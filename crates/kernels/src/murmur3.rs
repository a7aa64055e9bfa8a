//! MurmurHash3 x86_32 over the UTF-16 code units of many short texts of ASCII.

use std::ops::Range;

use crate::{Level, Simd};

const C1: u32 = 0xCC9E_2D51;
const C2: u32 = 0x1B87_3593;
const BLOCK: u32 = 0xE654_6B64;
const FINISH: [u32; 2] = [0x85EB_CA6B, 0xC2B2_AE35];

/// A block of four bytes as the hash takes it in.
#[inline]
#[must_use]
pub const fn scramble(block: u32) -> u32 {
    block.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2)
}

/// The hash after one more block.
#[inline]
#[must_use]
pub const fn absorb(hash: u32, block: u32) -> u32 {
    (hash ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(BLOCK)
}

/// The result, once all blocks and the tail are in, for a length in bytes modulo 2^32.
#[inline]
#[must_use]
pub const fn finish(mut hash: u32, length: u32) -> u32 {
    hash ^= length;
    hash = (hash ^ (hash >> 16)).wrapping_mul(FINISH[0]);
    hash = (hash ^ (hash >> 13)).wrapping_mul(FINISH[1]);
    hash ^ (hash >> 16)
}

/// How many texts go through the lanes together.
const LANES: usize = 16;

/// The hashes of a column of texts, stored back to back in `bytes`; `ends` says where each ends.
/// Hashes widen with zeros to the 64 bits of a key.
///
/// Vectors serve texts of ASCII of at least four bytes. `other` hashes any text, given its row and its
/// place in `bytes`, and is asked for the rest, in the order of rows.
///
/// # Errors
/// The first error of `other`; what follows it is not hashed.
///
/// # Panics
/// `ends` and `out` differ in length, or the ends do not ascend or leave the bytes.
pub fn utf16_many<E>(
    simd: Simd,
    bytes: &[u8],
    ends: &[usize],
    out: &mut [u64],
    mut other: impl FnMut(usize, Range<usize>) -> Result<u32, E>,
) -> Result<(), E> {
    assert_eq!(ends.len(), out.len(), "as many hashes as texts");
    let start_of = |row: usize| if row == 0 { 0 } else { ends[row - 1] };
    for (block, out) in out.chunks_mut(LANES).enumerate() {
        let first = block * LANES;
        let mut left = hash_block(simd, bytes, start_of(first), &ends[first..first + out.len()], out);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let row = first + lane;
            out[lane] = other(row, start_of(row)..ends[row])?.into();
        }
    }
    Ok(())
}

/// Hashes what it can of up to 16 texts, the first of which begins at `start`; the lanes that are
/// left come back as bits.
#[inline]
fn hash_block(simd: Simd, bytes: &[u8], start: usize, ends: &[usize], out: &mut [u64]) -> u16 {
    match (simd.level(), ends.as_array(), out.as_mut_array()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        (Level::Avx512, Some(ends), Some(out)) => unsafe { avx512(bytes, start, ends, out) },
        _ => u16::MAX >> (LANES - ends.len()),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512(bytes: &[u8], start: usize, ends: &[usize; LANES], out: &mut [u64; LANES]) -> u16 {
    use std::arch::x86_64::*;

    use crate::x86::wide;

    let window = &bytes[start..ends[LANES - 1]];
    // Positions in a gather are signed numbers of 32 bits.
    let Ok(span) = i32::try_from(window.len()) else { return u16::MAX };

    // Each text begins where the one before it ends.
    let from = _mm512_set1_epi64(start.cast_signed() as i64);
    let relative = |ends: &[usize]| _mm512_sub_epi64(wide::load_usize(ends.first_chunk().expect("eight ends")), from);
    let (low, high) = (relative(ends), relative(&ends[8..]));
    let most = _mm512_reduce_max_epu64(_mm512_max_epu64(low, high));
    let end = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)), _mm512_cvtepi64_epi32(high));
    let begin = _mm512_alignr_epi32::<15>(end, _mm512_setzero_si512());
    let ascending = _mm512_cmple_epu32_mask(begin, end) == u16::MAX;
    assert!(ascending && most == u64::from(span.cast_unsigned()), "the ends of texts ascend");

    let length = _mm512_sub_epi32(end, begin);
    let words = _mm512_srli_epi32::<2>(length);
    let mut hash = _mm512_setzero_si512();
    let mut letters = _mm512_setzero_si512();
    let mut done = 0;
    // Whole texts are loaded and transposed in less time than their words are gathered.
    if _mm512_reduce_min_epu32(words) >= 4 {
        let mut starts = [start; LANES];
        starts[1..].copy_from_slice(&ends[..LANES - 1]);
        for text in wide::columns(bytes, &starts) {
            letters = _mm512_or_si512(letters, text);
            hash = lanes::absorb_word(hash, u16::MAX, text);
        }
        done = 4;
    }
    for word in done..i32::try_from(_mm512_reduce_max_epu32(words)).expect("below 2^31") {
        let there = _mm512_cmpgt_epi32_mask(words, _mm512_set1_epi32(word));
        let at = _mm512_add_epi32(begin, _mm512_set1_epi32(4 * word));
        let text = wide::gather_bytes(window, there, at);
        letters = _mm512_or_si512(letters, text);
        hash = lanes::absorb_word(hash, there, text);
    }

    // The last one to three letters, out of the last four.
    let long = _mm512_cmpge_epu32_mask(length, _mm512_set1_epi32(4));
    let rest = _mm512_and_si512(length, _mm512_set1_epi32(3));
    let odd = _mm512_mask_test_epi32_mask(long, rest, rest);
    if odd != 0 {
        let last = wide::gather_bytes(window, odd, _mm512_sub_epi32(end, _mm512_set1_epi32(4)));
        letters = _mm512_or_si512(letters, last);
        let missing = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_slli_epi32::<3>(rest));
        // Where no letter is left, a shift by 32 gives 0.
        let text = _mm512_srlv_epi32(last, missing);
        let two = _mm512_cmpge_epu32_mask(rest, _mm512_set1_epi32(2));
        hash = lanes::absorb(hash, two, lanes::first_units(text));
        // A single unit is the tail, which is scrambled without the rest of a round: 0 leaves the hash.
        let single = _mm512_mask_mov_epi32(lanes::first_units(text), two, lanes::last_units(text));
        hash = _mm512_xor_si512(hash, lanes::scramble(single));
    }

    hash = lanes::finish(hash, _mm512_slli_epi32::<1>(length));
    let (first, second) = out.split_at_mut(8);
    wide::store_at(first, 0, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(hash)));
    wide::store_at(second, 0, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(hash)));

    let ascii = _mm512_testn_epi32_mask(letters, _mm512_set1_epi32(0x8080_8080_u32.cast_signed()));
    !(ascii & long)
}

/// The steps of the hash in sixteen lanes.
#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::*;

    use super::{BLOCK, C1, C2, FINISH};

    /// The first two of four letters as UTF-16.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn first_units(text: __m512i) -> __m512i {
        // In each 32 bits: byte 0, nothing, byte 1, nothing. A position with the high bit gives 0.
        let pick = _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
        _mm512_shuffle_epi8(text, _mm512_broadcast_i32x4(pick))
    }

    /// The last two of four letters as UTF-16.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn last_units(text: __m512i) -> __m512i {
        let pick = _mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1);
        _mm512_shuffle_epi8(text, _mm512_broadcast_i32x4(pick))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn scramble(block: __m512i) -> __m512i {
        let spread = _mm512_mullo_epi32(block, _mm512_set1_epi32(C1.cast_signed()));
        _mm512_mullo_epi32(_mm512_rol_epi32::<15>(spread), _mm512_set1_epi32(C2.cast_signed()))
    }

    /// The hash after four letters, which are two blocks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn absorb_word(hash: __m512i, mask: __mmask16, text: __m512i) -> __m512i {
        absorb(absorb(hash, mask, first_units(text)), mask, last_units(text))
    }

    /// The hash after a block in the lanes of the mask, as it was in the others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn absorb(hash: __m512i, mask: __mmask16, block: __m512i) -> __m512i {
        let turned = _mm512_rol_epi32::<13>(_mm512_xor_si512(hash, scramble(block)));
        // Five times as a shift and two sums, which take less time than a product.
        let shifted = _mm512_add_epi32(_mm512_slli_epi32::<2>(turned), _mm512_set1_epi32(BLOCK.cast_signed()));
        _mm512_mask_add_epi32(hash, mask, shifted, turned)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn finish(hash: __m512i, length: __m512i) -> __m512i {
        let [first, second] = FINISH.map(u32::cast_signed);
        let mut hash = _mm512_xor_si512(hash, length);
        hash = _mm512_xor_si512(hash, _mm512_srli_epi32::<16>(hash));
        hash = _mm512_mullo_epi32(hash, _mm512_set1_epi32(first));
        hash = _mm512_xor_si512(hash, _mm512_srli_epi32::<13>(hash));
        hash = _mm512_mullo_epi32(hash, _mm512_set1_epi32(second));
        _mm512_xor_si512(hash, _mm512_srli_epi32::<16>(hash))
    }
}
