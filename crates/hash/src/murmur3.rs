//! MurmurHash3 x86_32 (Austin Appleby), over bytes and over UTF-16 without a buffer.

use shardlab_kernels::murmur3::{absorb, finish, scramble};

/// The length as the hash reads it: its low 32 bits, as in the reference code.
#[expect(clippy::cast_possible_truncation, reason = "the reference takes the length modulo 2^32")]
const fn low_length(bytes: usize) -> u32 {
    bytes as u32
}

/// MurmurHash3 x86_32 of bytes.
///
/// Known answers from PyPI mmh3 5.3.1 are in `tests/data/murmur3.tsv`.
#[must_use]
pub fn murmur3_x86_32(bytes: &[u8], seed: u32) -> u32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for block in blocks {
        hash = absorb(hash, u32::from_le_bytes(*block));
    }
    if !tail.is_empty() {
        let last = tail.iter().rev().fold(0, |block, &byte| block << 8 | u32::from(byte));
        hash ^= scramble(last);
    }
    finish(hash, low_length(bytes.len()))
}

/// The hash of Elasticsearch since 2.0 and of OpenSearch: MurmurHash3 x86_32 with seed 0 over the
/// UTF-16 code units of a string, two bytes each, low byte first. Nothing is allocated.
#[must_use]
pub fn murmur3_utf16(text: &str) -> i32 {
    if text.is_ascii() { murmur3_ascii(text.as_bytes()) } else { murmur3_utf16_units(text.encode_utf16()) }
}

/// As [`murmur3_utf16`] for letters of ASCII, whose code units are their bytes: four letters are two
/// blocks.
#[inline]
pub(crate) fn murmur3_ascii(letters: &[u8]) -> i32 {
    let first_two = |word: u32| word & 0xFF | (word & 0xFF00) << 8;
    let (words, tail) = letters.as_chunks::<4>();
    let mut hash = 0;
    for word in words {
        let word = u32::from_le_bytes(*word);
        hash = absorb(absorb(hash, first_two(word)), first_two(word >> 16));
    }
    let (pair, single) = tail.as_chunks::<2>();
    for pair in pair {
        hash = absorb(hash, first_two(u16::from_le_bytes(*pair).into()));
    }
    for &letter in single {
        hash ^= scramble(letter.into());
    }
    finish(hash, low_length(letters.len()).wrapping_mul(2)).cast_signed()
}

/// As [`murmur3_utf16`], over code units from anywhere, lone surrogates included.
#[must_use]
pub fn murmur3_utf16_units(units: impl IntoIterator<Item = u16>) -> i32 {
    let mut hash = 0;
    let mut length = 0_u32;
    let mut units = units.into_iter();
    // Every code unit has two bytes, so the only tail there can be is a single unit.
    while let Some(low) = units.next() {
        let Some(high) = units.next() else {
            hash ^= scramble(u32::from(low));
            length = length.wrapping_add(2);
            break;
        };
        hash = absorb(hash, u32::from(high) << 16 | u32::from(low));
        length = length.wrapping_add(4);
    }
    finish(hash, length).cast_signed()
}
