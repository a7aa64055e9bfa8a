//! Properties of the walk, and the figures that the literature gives for it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::cast_possible_truncation, reason = "harmonic numbers and counts of a test")]

use proptest::prelude::*;
use shardlab_core::MAX_NODES;
use shardlab_scheme_jump::{Rounding, jump, jumps};

/// The definition, by growing one bucket at a time: at each n the key moves to bucket n−1 exactly if
/// its next jump lands there. The walk of the draws is that of the paper.
fn naive(key: u64, n: u32) -> u32 {
    let mut state = key;
    let mut bucket: u32 = 0;
    let mut target = -1.0;
    for count in 1..=n {
        if target <= f64::from(count - 1) {
            bucket = count - 1;
            state = state.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(1);
            let draw = ((state >> 33) + 1) as f64;
            target = ((f64::from(bucket) + 1.0) * (2_147_483_648.0 / draw)).trunc();
        }
    }
    bucket
}

proptest! {
    #[test]
    fn the_walk_equals_growing_one_bucket_at_a_time(key: u64, n in 1_u32..3000) {
        prop_assert_eq!(jump(key, n, Rounding::Paper), naive(key, n));
    }

    #[test]
    fn growing_moves_keys_only_to_new_buckets(key: u64, n in 1..MAX_NODES, more in 1_u32..100_000, guava: bool) {
        let rounding = if guava { Rounding::Guava } else { Rounding::Paper };
        let grown = n.saturating_add(more).min(MAX_NODES);
        let (before, after) = (jump(key, n, rounding), jump(key, grown, rounding));
        prop_assert!(before < n);
        prop_assert!(after == before || (n..grown).contains(&after));
    }

    #[test]
    fn the_last_jump_is_the_bucket(key: u64, n in 1..=MAX_NODES, guava: bool) {
        let rounding = if guava { Rounding::Guava } else { Rounding::Paper };
        prop_assert_eq!(jumps(key, n, rounding).last(), Some(jump(key, n, rounding)));
    }
}

/// SplitMix64 as a source of keys.
fn keys(count: u64) -> impl Iterator<Item = u64> {
    (1..=count).map(|i| shardlab_hash::mix64(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

#[test]
fn steps_per_lookup_follow_the_harmonic_numbers() {
    for (n, published) in [(10, 2.929), (100, 5.187), (1000, 7.485)] {
        let count = 200_000;
        let steps: usize = keys(count).map(|key| jumps(key, n, Rounding::Paper).count()).sum();
        let mean = steps as f64 / count as f64;
        println!("n = {n}: {mean:.3} steps, published {published}");
        assert!((mean / published - 1.0).abs() < 0.01, "n = {n}: {mean} steps");
    }
}

#[test]
fn growing_from_10_to_12_moves_a_sixth() {
    let count = 1_000_000;
    let moved = keys(count).filter(|&key| jump(key, 10, Rounding::Paper) != jump(key, 12, Rounding::Paper)).count();
    let (n, p) = (count as f64, 1.0 / 6.0);
    let fraction = moved as f64 / n;
    println!("10 to 12 shards: {fraction:.5} moved, published 1/6");
    assert!((fraction - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt(), "{fraction}");
}

#[test]
fn one_key_looks_as_if_everything_moved() {
    assert_eq!(jump(10_000, 10, Rounding::Paper), 6);
    assert_eq!(jump(10_000, 20, Rounding::Paper), 18);
    let moved = (0..10_000).filter(|&key| jump(key, 10, Rounding::Paper) != jump(key, 20, Rounding::Paper)).count();
    assert_eq!(moved, 5000);
}

#[test]
fn small_integers_balance_and_move_little() {
    let counts = |n: u32| {
        let mut counts = vec![0; n as usize];
        for key in 1..=97 {
            counts[jump(key, n, Rounding::Paper) as usize] += 1;
        }
        counts
    };
    assert_eq!(counts(2), [49, 48]);
    assert_eq!(counts(3), [34, 32, 31]);
    let moved = (1..=97).filter(|&key| jump(key, 2, Rounding::Paper) != jump(key, 3, Rounding::Paper));
    assert_eq!(moved.count(), 31);
    assert_eq!((1..=97).filter(|key| key % 2 != key % 3).count(), 64);
}
