//! Lookups in a table whose slots are taken by multiplication.

use crate::{Level, Simd};

/// 2^64 over the golden ratio, the multiplier of Fibonacci hashing (Knuth).
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The slot of a key among so many: the high half of a product, which needs no division. The key is
/// multiplied first, so that sequential keys and keys of 32 bits reach all slots.
#[inline]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a fraction of the slots is below their number")]
pub const fn slot_of(key: u64, slots: u32) -> u32 {
    ((key.wrapping_mul(GOLDEN) as u128 * slots as u128) >> 64) as u32
}

/// Slots of a table as the multiplication reads them.
fn slots_of<T>(table: &[T]) -> u32 {
    u32::try_from(table.len()).expect("a table of fewer than 2^32 slots")
}

/// The entries of keys in a table of 16-bit entries.
///
/// # Panics
/// The slices differ in length, or the table is empty or has 2^32 slots or more.
pub fn entries_16(simd: Simd, table: &[u16], keys: &[u64], out: &mut [u32]) {
    assert_eq!(keys.len(), out.len(), "as many entries as keys");
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        Level::Avx512 | Level::Avx512Ifma if table.len() > 1 => unsafe { avx512_16(table, keys, out) },
        _ => portable(table, keys, out),
    }
}

/// The entries of keys in a table of 32-bit entries.
///
/// # Panics
/// As for [`entries_16`].
pub fn entries_32(simd: Simd, table: &[u32], keys: &[u64], out: &mut [u32]) {
    assert_eq!(keys.len(), out.len(), "as many entries as keys");
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        Level::Avx512 | Level::Avx512Ifma => unsafe { avx512_32(table, keys, out) },
        _ => portable(table, keys, out),
    }
}

fn portable<T: Copy + Into<u32>>(table: &[T], keys: &[u64], out: &mut [u32]) {
    let slots = slots_of(table);
    for (entry, &key) in out.iter_mut().zip(keys) {
        *entry = table[slot_of(key, slots) as usize].into();
    }
}

/// Eight slots at once.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn slots(keys: &[u64; 8], slots: u32) -> std::arch::x86_64::__m512i {
    use std::arch::x86_64::*;

    let spread = _mm512_mullo_epi64(crate::x86::wide::load_u64(keys), _mm512_set1_epi64(GOLDEN.cast_signed()));
    crate::remainder::high_of_product(spread, _mm512_set1_epi64(u64::from(slots).cast_signed()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512_16(table: &[u16], keys: &[u64], out: &mut [u32]) {
    use std::arch::x86_64::*;

    use crate::x86::wide;

    let count = slots_of(table);
    // A gather reads two entries. That of the last slot starts one slot earlier and takes the upper.
    let last_pair = _mm512_set1_epi64(i64::from(count) - 2);
    let (keys, last_keys) = keys.as_chunks::<8>();
    let (out, last_out) = out.as_chunks_mut::<8>();
    for (keys, out) in keys.iter().zip(out) {
        let slot = slots(keys, count);
        let start = _mm512_min_epu64(slot, last_pair);
        let shift = _mm512_cvtepi64_epi32(_mm512_slli_epi64::<4>(_mm512_sub_epi64(slot, start)));
        let pair = _mm256_srlv_epi32(wide::gather_u16_pairs(table, start), shift);
        wide::store_u32_half(out, _mm256_and_si256(pair, _mm256_set1_epi32(0xFFFF)));
    }
    portable(table, last_keys, last_out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512_32(table: &[u32], keys: &[u64], out: &mut [u32]) {
    use crate::x86::wide;

    let count = slots_of(table);
    let (keys, last_keys) = keys.as_chunks::<8>();
    let (out, last_out) = out.as_chunks_mut::<8>();
    for (keys, out) in keys.iter().zip(out) {
        wide::store_u32_half(out, wide::gather_u32(table, slots(keys, count)));
    }
    portable(table, last_keys, last_out);
}
