//! Hashes of keys that are numbers: XXH3 of the eight bytes of a `u64`, and the finaliser of SplitMix64.

use crate::{Level, Simd};

/// XXH3 reads inputs of 4 to 8 bytes with 16 bytes of its secret: the exclusive or of its bytes 8 to
/// 15 and 16 to 23 as little-endian numbers.
const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;

/// The number itself and two rotations of it are combined by exclusive or after the secret came to it,
/// which is the same as before: this is what becomes of the secret.
const ROTATED_SECRET: u64 = SECRET ^ SECRET.rotate_left(49) ^ SECRET.rotate_left(24);

/// XXH3's multiplier for short inputs.
const PRIME: u64 = 0x9FB2_1C65_1E98_DF25;

/// XXH3 with 64 bits and seed 0 (xxHash 0.8) of a number's eight bytes, low byte first.
#[inline]
#[must_use]
pub const fn xxh3_u64(number: u64) -> u64 {
    // XXH3 reads the halves in turned order and rotates the result by 49 and by 24.
    let rotated = number.rotate_left(32) ^ number.rotate_left(32 + 49) ^ number.rotate_left(32 + 24);
    let mut hash = (rotated ^ ROTATED_SECRET).wrapping_mul(PRIME);
    hash ^= (hash >> 35) + 8;
    hash = hash.wrapping_mul(PRIME);
    hash ^ (hash >> 28)
}

/// [`xxh3_u64`] of many numbers.
///
/// # Panics
/// The slices differ in length.
pub fn xxh3_u64_many(simd: Simd, numbers: &[u64], out: &mut [u64]) {
    assert_eq!(numbers.len(), out.len(), "as many hashes as numbers");
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        Level::Avx512 | Level::Avx512Ifma => unsafe { xxh3_avx512(numbers, out) },
        _ => portable(numbers, out),
    }
}

fn portable(numbers: &[u64], out: &mut [u64]) {
    for (hash, &number) in out.iter_mut().zip(numbers) {
        *hash = xxh3_u64(number);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn xxh3_avx512(numbers: &[u64], out: &mut [u64]) {
    use std::arch::x86_64::*;

    use crate::x86::wide;

    let secret = _mm512_set1_epi64(ROTATED_SECRET.cast_signed());
    let prime = _mm512_set1_epi64(PRIME.cast_signed());
    let (numbers, last_numbers) = numbers.as_chunks::<8>();
    let (out, last_out) = out.as_chunks_mut::<8>();
    for (numbers, out) in numbers.iter().zip(out) {
        let number = wide::load_u64(numbers);
        let (a, b, c) =
            (_mm512_rol_epi64::<32>(number), _mm512_rol_epi64::<17>(number), _mm512_rol_epi64::<56>(number));
        // The three-way exclusive or.
        let rotated = _mm512_ternarylogic_epi64::<0x96>(a, b, c);
        let mut hash = _mm512_mullo_epi64(_mm512_xor_si512(rotated, secret), prime);
        let folded = _mm512_add_epi64(_mm512_srli_epi64::<35>(hash), _mm512_set1_epi64(8));
        hash = _mm512_mullo_epi64(_mm512_xor_si512(hash, folded), prime);
        wide::store_u64(out, _mm512_xor_si512(hash, _mm512_srli_epi64::<28>(hash)));
    }
    portable(last_numbers, last_out);
}

const MIX: [u64; 2] = [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB];

/// The finaliser of SplitMix64 (Stafford's variant 13): a bijection of 64 bits in which every input
/// bit changes about half of the output bits.
#[inline]
#[must_use]
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(MIX[0]);
    z = (z ^ (z >> 27)).wrapping_mul(MIX[1]);
    z ^ (z >> 31)
}

/// [`mix64`] of many numbers, in their places.
pub fn mix64_many(simd: Simd, numbers: &mut [u64]) {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        Level::Avx512 | Level::Avx512Ifma => unsafe { mix64_avx512(numbers) },
        _ => numbers.iter_mut().for_each(|number| *number = mix64(*number)),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn mix64_avx512(numbers: &mut [u64]) {
    use std::arch::x86_64::*;

    use crate::x86::wide;

    let (first, second) = (_mm512_set1_epi64(MIX[0].cast_signed()), _mm512_set1_epi64(MIX[1].cast_signed()));
    let (numbers, last_numbers) = numbers.as_chunks_mut::<8>();
    for numbers in numbers {
        let mut z = wide::load_u64(numbers);
        z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64::<30>(z)), first);
        z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64::<27>(z)), second);
        wide::store_u64(numbers, _mm512_xor_si512(z, _mm512_srli_epi64::<31>(z)));
    }
    last_numbers.iter_mut().for_each(|number| *number = mix64(*number));
}
