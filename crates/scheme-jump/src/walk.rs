//! The walk itself, in both roundings.

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

/// The next state of the paper's linear congruential generator.
const fn next_state(state: u64) -> u64 {
    state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1)
}

impl Rounding {
    /// Where the walk goes from a bucket, or `None` where Guava's walk ends early.
    #[expect(clippy::cast_possible_truncation, reason = "b+1 <= 2^31 and 2^31/x <= 2^31, so the product is below 2^63")]
    fn next(self, bucket: u32, state: u64) -> Option<i64> {
        let x = (state >> 33) + 1;
        let from = f64::from(bucket) + 1.0;
        match self {
            Self::Paper => Some((from * (TWO_31 / x as f64)) as i64),
            // Guava adds 1 in 32 bits: 2^31 becomes negative there, the next bucket is below 0, and
            // the walk ends where it stands.
            Self::Guava if x == 1 << 31 => None,
            Self::Guava => Some((from / (x as f64 / TWO_31)) as i64),
        }
    }
}

/// The buckets that a key visits below `n`, the last of which is its bucket.
pub fn jumps(key: u64, n: u32, rounding: Rounding) -> impl Iterator<Item = u32> {
    let mut state = key;
    std::iter::successors((n > 0).then_some(0), move |&bucket| {
        state = next_state(state);
        let next = u32::try_from(rounding.next(bucket, state)?).ok()?;
        (next < n).then_some(next)
    })
}

/// The bucket of a key among `n`; 0 where n is 0.
#[must_use]
pub fn jump(key: u64, n: u32, rounding: Rounding) -> u32 {
    let mut state = key;
    let mut bucket = 0;
    loop {
        state = next_state(state);
        match rounding.next(bucket, state) {
            // The walk only ever goes up, so what is below n fits a u32.
            Some(next) if next < i64::from(n) => bucket = u32::try_from(next).unwrap_or(bucket),
            _ => return bucket,
        }
    }
}
