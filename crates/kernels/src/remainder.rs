//! Remainders by a divisor that is known before the keys are, without a division.

use crate::{Level, Simd};

/// The remainder of 64-bit keys by one divisor.
///
/// With m = floor((2^64 − 1) / n), the high half of m · key is the quotient or one less: m is less
/// than 2^64 / n by at most 1, so that the product falls short of key / n by less than 1. One
/// conditional subtraction makes the remainder exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remainder {
    divisor: u32,
    inverse: u64,
}

impl Remainder {
    /// # Panics
    /// The divisor is 0 or above 2^31.
    #[must_use]
    pub const fn new(divisor: u32) -> Self {
        assert!(divisor > 0 && divisor <= 1 << 31, "a divisor from 1 to 2^31");
        Self { divisor, inverse: u64::MAX / divisor as u64 }
    }

    /// The remainder of one key.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the high half of 128 bits, and a remainder below 2^32")]
    pub const fn of(self, key: u64) -> u32 {
        let quotient = ((key as u128 * self.inverse as u128) >> 64) as u64;
        // Below twice the divisor, and so below 2^32: the low halves tell it.
        let rest = (key as u32).wrapping_sub((quotient as u32).wrapping_mul(self.divisor));
        let less = rest.wrapping_sub(self.divisor);
        if less < rest { less } else { rest }
    }

    /// The remainders of many keys.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn of_many(self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many remainders as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512Ifma => unsafe { self.avx512_ifma(keys, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx512 if self.divisor <= MOST_IN_DOUBLES => unsafe { self.avx512(keys, out) },
            _ => self.portable(keys, out),
        }
    }

    fn portable(self, keys: &[u64], out: &mut [u32]) {
        for (rest, &key) in out.iter_mut().zip(keys) {
            *rest = self.of(key);
        }
    }

    /// A key h · 2^32 + l has the remainder of t = h · (2^32 mod n) + l, which is below 2^52 + 2^32 for
    /// these divisors and so exact in a double. The factor is less than 1/n by more than two roundings
    /// can make up, hence the product is below t / n, and by less than 1: t / n is below 2^33, and the
    /// factor's relative error below 2^-49. The truncated product is the quotient or one less.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn avx512(self, keys: &[u64], out: &mut [u32]) {
        use std::arch::x86_64::*;

        let n = u64::from(self.divisor);
        let turn = _mm512_set1_epi64(((1_u64 << 32) % n).cast_signed());
        let divisor = _mm512_set1_epi64(n.cast_signed());
        let factor = _mm512_set1_pd(1.0 / f64::from(self.divisor) * (1.0 - 4.0 * f64::EPSILON));
        let low = _mm512_set1_epi64(0xFFFF_FFFF);
        // Less than twice the divisor, in the low half of each lane.
        let nearly = |key: __m512i| {
            let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(key), turn);
            let t = _mm512_add_epi64(high, _mm512_and_si512(key, low));
            let quotient = _mm512_cvttpd_epu64(_mm512_mul_pd(_mm512_cvtepu64_pd(t), factor));
            _mm512_sub_epi64(t, _mm512_mul_epu32(quotient, divisor))
        };
        self.in_vectors(keys, out, nearly);
    }

    /// With M the largest multiple of n up to 2^51, a key h · 2^51 + l has the remainder of
    /// t = l + h · (2^51 − M), which is below 2^51 + 2^13 · 2^31 and so below 2^52. The high 52 bits of
    /// t · floor((2^52 − 1) / n) are the quotient or one less, as for [`of`](Self::of). Products of IFMA
    /// read 52 bits and leave out the rest, so that neither l nor a negative number has to be cut out.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx2")]
    fn avx512_ifma(self, keys: &[u64], out: &mut [u32]) {
        use std::arch::x86_64::*;

        const BITS: u64 = 1 << 52;
        let n = u64::from(self.divisor);
        let everywhere = |number: u64| _mm512_set1_epi64(number.cast_signed());
        let less_multiple = everywhere(BITS - (BITS / 2 / n * n));
        let inverse = everywhere((BITS - 1) / n);
        let less_divisor = everywhere(BITS - n);
        self.in_vectors(keys, out, |key| {
            let t = _mm512_madd52lo_epu64(key, _mm512_srli_epi64::<51>(key), less_multiple);
            let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), t, inverse);
            _mm512_madd52lo_epu64(t, quotient, less_divisor)
        });
    }

    /// `nearly` makes of eight keys what is less than twice the divisor and has their remainders, in the
    /// low half of each lane.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn in_vectors(
        self,
        keys: &[u64],
        out: &mut [u32],
        nearly: impl Fn(std::arch::x86_64::__m512i) -> std::arch::x86_64::__m512i,
    ) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        let divisor = _mm512_set1_epi32(self.divisor.cast_signed());
        // Picks the low halves of two vectors, which is one instruction where narrowing each is two.
        let low_halves = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let (keys, last_keys) = keys.as_chunks::<16>();
        let (out, last_out) = out.as_chunks_mut::<16>();
        for (keys, out) in keys.iter().zip(out) {
            let (first, last) = (nearly(wide::load_at(keys, 0)), nearly(wide::load_at(keys, 8)));
            let rest = _mm512_permutex2var_epi32(first, low_halves, last);
            wide::store_u32(out, _mm512_min_epu32(rest, _mm512_sub_epi32(rest, divisor)));
        }
        self.portable(last_keys, last_out);
    }
}

/// The largest divisor for which a key folded by 2^32 is exact in a double.
#[cfg(target_arch = "x86_64")]
const MOST_IN_DOUBLES: u32 = 1 << 20;

/// The remainder of signed 32-bit hashes by one modulus M, scaled to n parts that divide M.
///
/// The low 32 bits of a key are the hash. It becomes a distance a ≥ 0 with the remainder that is
/// asked for. With magic = ceil(2^64 / M), the low 64 bits of magic · a are the fraction (a mod M) / M,
/// too large by less than 1 / M while a < 2^33 and M < 2^31; n times that fraction, rounded down, is
/// (a mod M) / (M / n). This is the method of Lemire, Kaser and Kurz, "Faster remainder by direct
/// computation" (2019), with the division by M / n folded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedRemainder {
    magic: u64,
    parts: u32,
    /// What is added to the hash with its sign bit flipped; unused where the sign is dropped.
    bias: u64,
    absolute: bool,
}

const SIGN: u32 = 1 << 31;

impl SignedRemainder {
    /// floorMod(hash, modulus) / (modulus / parts): the remainder that is never negative.
    ///
    /// # Panics
    /// The modulus is 0, is 2^31 or more, or is no multiple of the parts.
    #[must_use]
    pub const fn floored(modulus: u32, parts: u32) -> Self {
        let bias = (i32::MIN as i64).rem_euclid(modulus as i64).cast_unsigned();
        Self { bias, ..Self::new(modulus, parts, false) }
    }

    /// |hash| mod modulus, scaled in the same way: equal to the magnitude of the truncating remainder.
    ///
    /// # Panics
    /// As for [`floored`](Self::floored).
    #[must_use]
    pub const fn of_magnitude(modulus: u32, parts: u32) -> Self {
        Self::new(modulus, parts, true)
    }

    const fn new(modulus: u32, parts: u32, absolute: bool) -> Self {
        assert!(modulus > 0 && modulus < SIGN, "a modulus from 1 to 2^31 - 1");
        assert!(parts > 0 && modulus.is_multiple_of(parts), "the parts divide the modulus");
        // Wraps to 0 for a modulus of 1, where every fraction is 0.
        Self { magic: (u64::MAX / modulus as u64).wrapping_add(1), parts, bias: 0, absolute }
    }

    /// The part of one key.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are the hash; a fraction of n is below n")]
    pub const fn of(self, key: u64) -> u32 {
        let hash = key as u32;
        let distance =
            if self.absolute { hash.cast_signed().unsigned_abs() as u64 } else { (hash ^ SIGN) as u64 + self.bias };
        let fraction = self.magic.wrapping_mul(distance);
        ((fraction as u128 * self.parts as u128) >> 64) as u32
    }

    /// The parts of many keys.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn of_many(self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many parts as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 | Level::Avx512Ifma => unsafe { self.avx512(keys, out) },
            _ => self.portable(keys, out),
        }
    }

    fn portable(self, keys: &[u64], out: &mut [u32]) {
        for (part, &key) in out.iter_mut().zip(keys) {
            *part = self.of(key);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn avx512(self, keys: &[u64], out: &mut [u32]) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        let magic = _mm512_set1_epi64(self.magic.cast_signed());
        let parts = _mm512_set1_epi64(u64::from(self.parts).cast_signed());
        let bias = _mm512_set1_epi64(self.bias.cast_signed());
        let sign = _mm256_set1_epi32(i32::MIN);
        let (keys, last_keys) = keys.as_chunks::<8>();
        let (out, last_out) = out.as_chunks_mut::<8>();
        for (keys, out) in keys.iter().zip(out) {
            let hash = _mm512_cvtepi64_epi32(wide::load_u64(keys));
            let distance = if self.absolute {
                _mm512_cvtepu32_epi64(_mm256_abs_epi32(hash))
            } else {
                _mm512_add_epi64(_mm512_cvtepu32_epi64(_mm256_xor_si256(hash, sign)), bias)
            };
            let fraction = _mm512_mullo_epi64(distance, magic);
            wide::store_u32_half(out, _mm512_cvtepi64_epi32(high_of_product(fraction, parts)));
        }
        self.portable(last_keys, last_out);
    }
}

/// The bits from 64 on of the product of a 64-bit number and one below 2^32, in each lane.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
pub(crate) fn high_of_product(
    wide: std::arch::x86_64::__m512i,
    narrow: std::arch::x86_64::__m512i,
) -> std::arch::x86_64::__m512i {
    use std::arch::x86_64::*;

    let low = _mm512_srli_epi64::<32>(_mm512_mul_epu32(wide, narrow));
    let high = _mm512_mul_epu32(_mm512_srli_epi64::<32>(wide), narrow);
    _mm512_srli_epi64::<32>(_mm512_add_epi64(high, low))
}
