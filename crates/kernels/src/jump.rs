//! Jump consistent hash (Lamping and Veach 2014), in the two roundings that are in use.

use crate::{Level, Simd};

/// How the next bucket is rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// `(b+1) * (2^31 / x)`: the listing of the paper, with two roundings.
    #[default]
    Paper,
    /// `(b+1) / (x / 2^31)`: Guava's `Hashing.consistentHash`, with one.
    Guava,
}

const TWO_31: f64 = (1_u64 << 31) as f64;

/// The multiplier of the paper's linear congruential generator.
const MULTIPLIER: u64 = 2_862_933_555_777_941_757;

/// The next state of the paper's generator.
#[inline]
#[must_use]
pub const fn next_state(state: u64) -> u64 {
    state.wrapping_mul(MULTIPLIER).wrapping_add(1)
}

impl Rounding {
    /// Where the walk goes from a bucket, not yet cut to a whole number; infinity where Guava's walk
    /// ends early.
    ///
    /// A step never leads down, so a walk below n visits whole numbers below 2^31, and `from` =
    /// bucket + 1 is exact.
    #[inline]
    #[must_use]
    pub const fn step(self, from: f64, state: u64) -> f64 {
        // At most 2^31, so that the conversion is exact.
        let x = ((state >> 33) + 1) as f64;
        match self {
            Self::Paper => from * (TWO_31 / x),
            // Guava adds 1 in 32 bits: 2^31 becomes negative there, the next bucket is below 0, and
            // the walk ends where it stands.
            Self::Guava if x == TWO_31 => f64::INFINITY,
            Self::Guava => from / (x / TWO_31),
        }
    }
}

/// A position on the walk as a whole number, or anything from 2^62 on or below 0 where Guava's walk
/// ends.
///
/// The cast of the language also bounds what is beyond 64 bits, on the path from one step to the next;
/// the instruction alone gives the smallest number there.
#[cfg(target_arch = "x86_64")]
use crate::x86::truncated as whole;

/// As above, on other machines.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a walk reaches 2^62 at most; infinity becomes the largest number")]
const fn whole(position: f64) -> i64 {
    position as i64
}

/// Whether a walk goes on to a whole position: one from 0 to below the end. As an unsigned number a
/// position below 0 is beyond every end.
#[inline]
const fn is_inside(next: i64, end: i64) -> bool {
    next.cast_unsigned() < end.cast_unsigned()
}

/// A bucket below n.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below n, which is a u32")]
const fn narrow(bucket: i64) -> u32 {
    bucket as u32
}

/// A number of at most 2^31 as a double.
#[inline]
const fn exact(number: i64) -> f64 {
    number as f64
}

/// The bucket of a key among `n`; 0 where n is 0.
#[inline]
#[must_use]
pub fn jump(key: u64, n: u32, rounding: Rounding) -> u32 {
    let end = i64::from(n);
    let mut state = key;
    let mut at = 0;
    loop {
        state = next_state(state);
        let next = whole(rounding.step(exact(at + 1), state));
        if !is_inside(next, end) {
            return narrow(at);
        }
        at = next;
    }
}

/// The buckets of many keys among `n`.
///
/// # Panics
/// The slices differ in length.
pub fn jump_many(simd: Simd, keys: &[u64], n: u32, rounding: Rounding, out: &mut [u32]) {
    assert_eq!(keys.len(), out.len(), "as many buckets as keys");
    match (simd.level(), rounding) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level proves that this machine has these instructions.
        (Level::Avx512 | Level::Avx512Ifma, Rounding::Paper) => unsafe { avx512::<false>(keys, n, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Level::Avx512 | Level::Avx512Ifma, Rounding::Guava) => unsafe { avx512::<true>(keys, n, out) },
        _ => portable(keys, n, rounding, out),
    }
}

/// How many walks go side by side, so that each hides the division of the others.
const WALKS: usize = 4;

fn portable(keys: &[u64], n: u32, rounding: Rounding, out: &mut [u32]) {
    let (keys, last_keys) = keys.as_chunks::<WALKS>();
    let (out, last_out) = out.as_chunks_mut::<WALKS>();
    for (keys, out) in keys.iter().zip(out) {
        let mut states = *keys;
        let mut at = [0; WALKS];
        // A walk that has ended stands still before an end that no step stays below.
        let mut ends = [i64::from(n); WALKS];
        let mut walking = true;
        while walking {
            walking = false;
            for walk in 0..WALKS {
                states[walk] = next_state(states[walk]);
                let next = whole(rounding.step(exact(at[walk] + 1), states[walk]));
                let inside = is_inside(next, ends[walk]);
                at[walk] = if inside { next } else { at[walk] };
                ends[walk] = if inside { ends[walk] } else { 0 };
                walking |= inside;
            }
        }
        *out = at.map(narrow);
    }
    for (bucket, &key) in last_out.iter_mut().zip(last_keys) {
        *bucket = jump(key, n, rounding);
    }
}

/// Keys that walk together; what is left of them is pressed together after each step.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 512;

/// Room for the vector that starts at the last walk.
#[cfg(target_arch = "x86_64")]
const ROOM: usize = BLOCK + 8;

/// The walks of a block. Each has the state of its generator, and in one word its row in the high
/// half and the bucket where it stands in the low half.
///
/// Nearly all walks take the first steps, which they do where they are; then those that still walk are
/// pressed together.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512<const GUAVA: bool>(keys: &[u64], n: u32, out: &mut [u32]) {
    let mut walks = Walks { states: [0; ROOM], places: [0; ROOM] };
    let mut ended = [0_u64; ROOM];
    for (keys, out) in keys.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let mut left = walks.begin::<GUAVA>(n, keys, out);
        let mut done = 0;
        while left > 0 {
            (left, done) = walks.go_on::<GUAVA>(n, left, &mut ended, done);
        }
        for place in &ended[..done] {
            out[(place >> 32) as usize] = low_half(*place);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn low_half(word: u64) -> u32 {
    word as u32
}

#[cfg(target_arch = "x86_64")]
struct Walks {
    states: [u64; ROOM],
    places: [u64; ROOM],
}

#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::*;

    use super::{MULTIPLIER, TWO_31};

    /// One step of eight walks: the next states and positions, and which walks go on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn step<const GUAVA: bool>(
        end: __m512d,
        state: __m512i,
        place: __m512i,
    ) -> (__m512i, __m512d, __mmask8) {
        let one = _mm512_set1_epi64(1);
        let two_31 = _mm512_set1_pd(TWO_31);
        let state = _mm512_add_epi64(_mm512_mullo_epi64(state, _mm512_set1_epi64(MULTIPLIER.cast_signed())), one);
        let x = _mm512_cvtepu64_pd(_mm512_add_epi64(_mm512_srli_epi64::<33>(state), one));
        let from = _mm512_cvtepu64_pd(_mm512_add_epi64(_mm512_and_si512(place, low_halves()), one));
        let next = if GUAVA {
            // The division by 2^31 is exact, and so is the product by its inverse.
            let scaled = _mm512_mul_pd(x, _mm512_set1_pd(1.0 / TWO_31));
            let stops = _mm512_cmpeq_pd_mask(x, two_31);
            _mm512_mask_mov_pd(_mm512_div_pd(from, scaled), stops, _mm512_set1_pd(f64::INFINITY))
        } else {
            _mm512_mul_pd(from, _mm512_div_pd(two_31, x))
        };
        // Whole or cut, a position is below n or it is not, since n is whole.
        (state, next, _mm512_cmplt_pd_mask(next, end))
    }

    /// The places of walks that have gone on to these positions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn moved(place: __m512i, next: __m512d) -> __m512i {
        _mm512_or_si512(_mm512_andnot_si512(low_halves(), place), _mm512_cvttpd_epu64(next))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn low_halves() -> __m512i {
        _mm512_set1_epi64(0xFFFF_FFFF)
    }
}

#[cfg(target_arch = "x86_64")]
impl Walks {
    /// The first steps of a block of keys. The bucket of a walk that has ended is in `out`; those that
    /// still walk stand at the front, and their number comes back.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn begin<const GUAVA: bool>(&mut self, n: u32, keys: &[u64], out: &mut [u32]) -> usize {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        // A walk takes about ln n steps. After half of log2 n steps most walks still go on.
        let steps = n.checked_ilog2().unwrap_or(0) / 2;
        let end = _mm512_set1_pd(f64::from(n));
        let mut rows = _mm512_slli_epi64::<32>(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        let mut left = 0;
        for (keys, out) in keys.chunks(8).zip(out.chunks_mut(8)) {
            let mut padded = [0; 8];
            padded[..keys.len()].copy_from_slice(keys);
            let (mut state, mut place) = (wide::load_u64(&padded), rows);
            let mut walking = u8::MAX >> (8 - keys.len());
            for _ in 0..steps {
                let (next_state, next, inside) = lanes::step::<GUAVA>(end, state, place);
                walking &= inside;
                state = next_state;
                place = _mm512_mask_mov_epi64(place, walking, lanes::moved(place, next));
            }
            let mut buckets = [0; 8];
            wide::store_u32_half(&mut buckets, _mm512_cvtepi64_epi32(place));
            out.copy_from_slice(&buckets[..out.len()]);
            wide::store_at(&mut self.states, left, _mm512_maskz_compress_epi64(walking, state));
            wide::store_at(&mut self.places, left, _mm512_maskz_compress_epi64(walking, place));
            left += walking.count_ones() as usize;
            rows = _mm512_add_epi64(rows, _mm512_set1_epi64(8 << 32));
        }
        left
    }

    /// One step of each of the first `count` walks. Those that go on move to the front, those that
    /// ended behind the first `done` of `ended`; both counts after it come back.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn go_on<const GUAVA: bool>(
        &mut self,
        n: u32,
        count: usize,
        ended: &mut [u64; ROOM],
        mut done: usize,
    ) -> (usize, usize) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        let end = _mm512_set1_pd(f64::from(n));
        let mut left = 0;
        for start in (0..count).step_by(8) {
            let real = u8::MAX >> (8 - (count - start).min(8));
            let place = wide::load_at(&self.places, start);
            let (state, next, inside) = lanes::step::<GUAVA>(end, wide::load_at(&self.states, start), place);
            let (going, ending) = (inside & real, !inside & real);
            wide::store_at(ended, done, _mm512_maskz_compress_epi64(ending, place));
            done += ending.count_ones() as usize;
            wide::store_at(&mut self.states, left, _mm512_maskz_compress_epi64(going, state));
            wide::store_at(&mut self.places, left, _mm512_maskz_compress_epi64(going, lanes::moved(place, next)));
            left += going.count_ones() as usize;
        }
        (left, done)
    }
}
