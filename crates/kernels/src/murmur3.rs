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
        (Level::Avx512 | Level::Avx512Ifma, Some(ends), Some(out)) => unsafe { avx512(bytes, start, ends, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Level::Avx2, Some(ends), Some(out)) => unsafe { avx2::block(bytes, start, ends, out) },
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

/// The same in eight lanes, twice.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{BLOCK, C1, C2, FINISH, LANES};
    use crate::x86::half;

    #[target_feature(enable = "avx2")]
    pub(super) fn block(bytes: &[u8], start: usize, ends: &[usize; LANES], out: &mut [u64; LANES]) -> u16 {
        let (low, high) = out.split_at_mut(8);
        let middle = ends[7];
        let first = eight(bytes, start, ends[..8].first_chunk().expect("eight ends"), low);
        let second = eight(bytes, middle, ends[8..].first_chunk().expect("eight ends"), high);
        u16::from(first) | u16::from(second) << 8
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn eight(bytes: &[u8], start: usize, ends: &[usize; 8], out: &mut [u64]) -> u8 {
        let window = &bytes[start..ends[7]];
        // Positions in a gather are signed numbers of 32 bits.
        if i32::try_from(window.len()).is_err() {
            return u8::MAX;
        }
        assert!(start <= ends[0] && ends.is_sorted(), "the ends of texts ascend");
        let relative = ends.map(|end| u32::try_from(end - start).expect("within the window"));
        let end = half::load_u32(&relative);
        // Each text begins where the one before it ends.
        let shifted = _mm256_permutevar8x32_epi32(end, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
        let begin = _mm256_blend_epi32::<1>(shifted, _mm256_setzero_si256());
        let length = _mm256_sub_epi32(end, begin);
        let words = _mm256_srli_epi32::<2>(length);

        let mut hash = _mm256_setzero_si256();
        let mut letters = _mm256_setzero_si256();
        let mut word = 0;
        loop {
            let there = _mm256_cmpgt_epi32(words, _mm256_set1_epi32(word));
            if _mm256_testz_si256(there, there) == 1 {
                break;
            }
            let at = _mm256_add_epi32(begin, _mm256_set1_epi32(4 * word));
            let text = half::gather_bytes(window, there, at);
            letters = _mm256_or_si256(letters, text);
            hash = absorb(hash, there, first_units(text));
            hash = absorb(hash, there, last_units(text));
            word += 1;
        }

        // The last one to three letters, out of the last four.
        let long = _mm256_cmpgt_epi32(length, _mm256_set1_epi32(3));
        let last = half::gather_bytes(window, long, _mm256_sub_epi32(end, _mm256_set1_epi32(4)));
        letters = _mm256_or_si256(letters, last);
        let rest = _mm256_and_si256(length, _mm256_set1_epi32(3));
        let missing = _mm256_sub_epi32(_mm256_set1_epi32(32), _mm256_slli_epi32::<3>(rest));
        // Where no letter is left, a shift by 32 gives 0.
        let text = _mm256_srlv_epi32(last, missing);
        let two = _mm256_cmpgt_epi32(rest, _mm256_set1_epi32(1));
        hash = absorb(hash, two, first_units(text));
        // A single unit is the tail, which is scrambled without the rest of a round: 0 leaves the hash.
        let single = _mm256_blendv_epi8(first_units(text), last_units(text), two);
        hash = finish(_mm256_xor_si256(hash, scramble(single)), _mm256_slli_epi32::<1>(length));

        let mut hashes = [0; 8];
        half::store_u32(&mut hashes, hash);
        for (out, hash) in out.iter_mut().zip(hashes) {
            *out = hash.into();
        }
        let high_bits = _mm256_and_si256(letters, _mm256_set1_epi32(0x8080_8080_u32.cast_signed()));
        let ascii = _mm256_cmpeq_epi32(high_bits, _mm256_setzero_si256());
        let done = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_and_si256(ascii, long)));
        !u8::try_from(done).expect("eight lanes")
    }

    /// The first two of four letters as UTF-16: in each 32 bits byte 0, nothing, byte 1, nothing. A
    /// position with the high bit gives 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn first_units(text: __m256i) -> __m256i {
        let pick = _mm_setr_epi8(0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1);
        _mm256_shuffle_epi8(text, _mm256_broadcastsi128_si256(pick))
    }

    /// The last two of four letters as UTF-16.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn last_units(text: __m256i) -> __m256i {
        let pick = _mm_setr_epi8(2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1);
        _mm256_shuffle_epi8(text, _mm256_broadcastsi128_si256(pick))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn turn<const BITS: i32, const REST: i32>(number: __m256i) -> __m256i {
        const { assert!(BITS + REST == 32, "a whole turn has 32 bits") };
        _mm256_or_si256(_mm256_slli_epi32::<BITS>(number), _mm256_srli_epi32::<REST>(number))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn scramble(block: __m256i) -> __m256i {
        let spread = _mm256_mullo_epi32(block, _mm256_set1_epi32(C1.cast_signed()));
        _mm256_mullo_epi32(turn::<15, 17>(spread), _mm256_set1_epi32(C2.cast_signed()))
    }

    /// The hash after a block in the lanes of the mask, as it was in the others.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn absorb(hash: __m256i, mask: __m256i, block: __m256i) -> __m256i {
        let turned = turn::<13, 19>(_mm256_xor_si256(hash, scramble(block)));
        let five = _mm256_add_epi32(turned, _mm256_slli_epi32::<2>(turned));
        _mm256_blendv_epi8(hash, _mm256_add_epi32(five, _mm256_set1_epi32(BLOCK.cast_signed())), mask)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish(hash: __m256i, length: __m256i) -> __m256i {
        let [first, second] = FINISH.map(u32::cast_signed);
        let mut hash = _mm256_xor_si256(hash, length);
        hash = _mm256_xor_si256(hash, _mm256_srli_epi32::<16>(hash));
        hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(first));
        hash = _mm256_xor_si256(hash, _mm256_srli_epi32::<13>(hash));
        hash = _mm256_mullo_epi32(hash, _mm256_set1_epi32(second));
        _mm256_xor_si256(hash, _mm256_srli_epi32::<16>(hash))
    }
}
