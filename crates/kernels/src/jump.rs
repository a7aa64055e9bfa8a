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

/// The bucket that a position on the walk belongs to.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below 2^31")]
const fn bucket(position: f64) -> u32 {
    position as u32
}

/// The bucket of a key among `n`; 0 where n is 0.
#[inline]
#[must_use]
pub fn jump(key: u64, n: u32, rounding: Rounding) -> u32 {
    let end = f64::from(n);
    let mut state = key;
    let mut at = 0_u32;
    loop {
        state = next_state(state);
        let next = rounding.step(f64::from(at) + 1.0, state);
        // Whole or cut, a position is below n or it is not, since n is whole.
        if next >= end {
            return at;
        }
        at = bucket(next);
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
        (Level::Avx512, Rounding::Paper) => unsafe { avx512::<false>(keys, n, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Level::Avx512, Rounding::Guava) => unsafe { avx512::<true>(keys, n, out) },
        _ => portable(keys, n, rounding, out),
    }
}

/// How many walks go side by side, so that each hides the division of the others.
const WALKS: usize = 4;

fn portable(keys: &[u64], n: u32, rounding: Rounding, out: &mut [u32]) {
    let end = f64::from(n);
    let (keys, last_keys) = keys.as_chunks::<WALKS>();
    let (out, last_out) = out.as_chunks_mut::<WALKS>();
    for (keys, out) in keys.iter().zip(out) {
        let mut states = *keys;
        let mut at = [0_u32; WALKS];
        // A walk that has ended stands still behind an end that no step stays below.
        let mut ends = [end; WALKS];
        loop {
            let mut walking = false;
            for walk in 0..WALKS {
                states[walk] = next_state(states[walk]);
                let next = rounding.step(f64::from(at[walk]) + 1.0, states[walk]);
                let inside = next < ends[walk];
                at[walk] = if inside { bucket(next) } else { at[walk] };
                ends[walk] = if inside { ends[walk] } else { 0.0 };
                walking |= inside;
            }
            if !walking {
                break;
            }
        }
        *out = at;
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
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn avx512<const GUAVA: bool>(keys: &[u64], n: u32, out: &mut [u32]) {
    let mut states = [0_u64; ROOM];
    let mut places = [0_u64; ROOM];
    let mut ended = [0_u64; ROOM];
    for (keys, out) in keys.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        states[..keys.len()].copy_from_slice(keys);
        for (row, place) in (0_u64..).zip(&mut places[..keys.len()]) {
            *place = row << 32;
        }
        let (mut walks, mut done) = (keys.len(), 0);
        while walks > 0 {
            (walks, done) = step_all::<GUAVA>(n, walks, done, &mut states, &mut places, &mut ended);
        }
        for place in &ended[..keys.len()] {
            out[(place >> 32) as usize] = low_half(*place);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_possible_truncation, reason = "the half that is wanted")]
const fn low_half(word: u64) -> u32 {
    word as u32
}

/// One step of each of the first `walks` walks. Those that go on move to the front, those that ended
/// behind the first `done` of `ended`; both counts after it come back.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
fn step_all<const GUAVA: bool>(
    n: u32,
    walks: usize,
    mut done: usize,
    states: &mut [u64; ROOM],
    places: &mut [u64; ROOM],
    ended: &mut [u64; ROOM],
) -> (usize, usize) {
    use std::arch::x86_64::*;

    use crate::x86::wide;

    let end = _mm512_set1_pd(f64::from(n));
    let two_31 = _mm512_set1_pd(TWO_31);
    let multiplier = _mm512_set1_epi64(MULTIPLIER.cast_signed());
    let one = _mm512_set1_epi64(1);
    let low = _mm512_set1_epi64(0xFFFF_FFFF);
    let mut left = 0;
    for start in (0..walks).step_by(8) {
        let real = u8::MAX >> (8 - (walks - start).min(8));
        let state = _mm512_add_epi64(_mm512_mullo_epi64(wide::load_at(states, start), multiplier), one);
        let place = wide::load_at(places, start);
        let x = _mm512_cvtepu64_pd(_mm512_add_epi64(_mm512_srli_epi64::<33>(state), one));
        let from = _mm512_cvtepu64_pd(_mm512_add_epi64(_mm512_and_si512(place, low), one));
        let next = if GUAVA {
            // The division by 2^31 is exact, and so is the product by its inverse.
            let scaled = _mm512_mul_pd(x, _mm512_set1_pd(1.0 / TWO_31));
            let stops = _mm512_cmpeq_pd_mask(x, two_31);
            _mm512_mask_mov_pd(_mm512_div_pd(from, scaled), stops, _mm512_set1_pd(f64::INFINITY))
        } else {
            _mm512_mul_pd(from, _mm512_div_pd(two_31, x))
        };
        let goes_on = _mm512_cmplt_pd_mask(next, end);
        let (going, ending) = (goes_on & real, !goes_on & real);
        let moved = _mm512_or_si512(_mm512_andnot_si512(low, place), _mm512_cvttpd_epu64(next));
        wide::store_at(ended, done, _mm512_maskz_compress_epi64(ending, place));
        done += ending.count_ones() as usize;
        wide::store_at(states, left, _mm512_maskz_compress_epi64(going, state));
        wide::store_at(places, left, _mm512_maskz_compress_epi64(going, moved));
        left += going.count_ones() as usize;
    }
    (left, done)
}
