//! The walk, bucket by bucket, for people.

use shardlab_kernels::jump::{Rounding, next_state};

/// The buckets that a key visits below `n`, the last of which is its bucket.
pub fn jumps(key: u64, n: u32, rounding: Rounding) -> impl Iterator<Item = u32> {
    let mut state = key;
    std::iter::successors((n > 0).then_some(0), move |&bucket| {
        state = next_state(state);
        let next = rounding.step(f64::from(bucket) + 1.0, state);
        (next < f64::from(n)).then(|| whole(next))
    })
}

/// A position on the walk as its bucket.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to below n, which is a u32")]
const fn whole(position: f64) -> u32 {
    position as u32
}
