//! Where modulo puts keys that share something, and what it moves: known situations with their
//! right answers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use shardlab_core::{KeyHasher, Members, NodeId, RawKey, Scheme, Sharder};
use shardlab_hash::{Java, mix64};
use shardlab_scheme_modulo::Modulo;

fn modulo(n: u32) -> Box<dyn Sharder> {
    Modulo::default().build(&Members::dense(n).unwrap()).unwrap()
}

fn signed(n: u32) -> Box<dyn Sharder> {
    Modulo { signed: true }.build(&Members::dense(n).unwrap()).unwrap()
}

fn counts(sharder: &dyn Sharder, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut counts = vec![0; sharder.members().len() as usize];
    for key in keys {
        counts[sharder.shard(key).index()] += 1;
    }
    counts
}

fn used(counts: &[u64]) -> usize {
    counts.iter().filter(|&&count| count > 0).count()
}

/// Ids made 37 ms apart: milliseconds above 22 low bits in which only the machine number is set.
fn snowflakes(count: u64) -> impl Iterator<Item = u64> + Clone {
    (0..count).map(|i| (1_000_000 + 37 * i) << 22 | 1 << 12)
}

#[test]
fn snowflake_ids_at_a_low_rate_fall_into_one_bucket_of_every_power_of_two() {
    for n in [4, 8, 16, 1024] {
        assert_eq!(counts(&*modulo(n), snowflakes(1000)).into_iter().max(), Some(1000), "n = {n}");
    }
    assert_eq!(used(&counts(&*modulo(12), snowflakes(1000))), 3);
    assert_eq!(used(&counts(&*modulo(1000), snowflakes(1000))), 125);
    for n in [5, 7] {
        let even = 1000 / u64::from(n);
        assert!(counts(&*modulo(n), snowflakes(1000)).iter().all(|&count| count.abs_diff(even) <= 1), "n = {n}");
    }
    let mixed = counts(&*modulo(16), snowflakes(1000).map(mix64)).into_iter().max();
    assert!(mixed.is_some_and(|most| (66..=96).contains(&most)), "{mixed:?}");
}

#[test]
fn a_sequence_that_toggles_uses_two_buckets() {
    for n in [4, 16, 256] {
        let spread = counts(&*modulo(n), snowflakes(1000).zip(0..).map(|(id, i)| id | (i & 1)));
        assert_eq!(used(&spread), 2, "n = {n}");
        assert_eq!(spread.into_iter().max(), Some(500));
    }
}

#[test]
fn multiples_of_ten_use_n_over_gcd_buckets() {
    for (n, buckets) in [(4, 2), (5, 1), (6, 3), (7, 7), (8, 4), (10, 1), (12, 6)] {
        assert_eq!(used(&counts(&*modulo(n), (0..1000).map(|i| 10 * i))), buckets, "n = {n}");
    }
}

#[test]
fn dense_integers_are_perfectly_even() {
    assert_eq!(counts(&*modulo(10), 0..10_000_000), [1_000_000; 10]);
}

#[test]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the mistake that the test shows")]
fn ids_that_went_through_a_double_repeat_and_crowd() {
    let ids = (0..1000).map(|i| 1_610_521_604_143_693_812_u64 + i);
    let rounded: Vec<u64> = ids.clone().map(|id| (id as f64) as u64).collect();
    let mut distinct = rounded.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 5);
    assert_eq!(used(&counts(&*modulo(8), rounded)), 1);
    assert_eq!(counts(&*modulo(8), ids), [125; 8]);
}

#[test]
fn java_hash_codes_take_the_floor_modulus() {
    let hash = Java.hash(&RawKey::id(b"polygenelubricants")).unwrap();
    assert_eq!(Java.form().show(hash), "-2147483648");
    for (n, bucket) in [(2, 0), (3, 1), (4, 0), (5, 2), (7, 5), (8, 0)] {
        assert_eq!(signed(n).shard(hash), NodeId(bucket), "n = {n}");
    }
}

#[test]
fn java_hash_codes_of_short_ids_leave_buckets_empty() {
    let keys: Vec<u64> = (0..100).map(|i| Java.hash(&RawKey::id(format!("k{i:02}").as_bytes())).unwrap()).collect();
    let of_31 = counts(&*signed(31), keys.clone());
    assert_eq!((used(&of_31), of_31.into_iter().max()), (10, Some(10)));
    assert_eq!(used(&counts(&*signed(32), keys)), 19);
}

#[test]
fn resizing_moves_what_the_residues_say() {
    let count = 1_000_000_u64;
    for (from, to, moved, least) in [
        (12, 18, 2.0 / 3.0, 1.0 / 3.0),
        (4, 8, 0.5, 0.5),
        (8, 12, 2.0 / 3.0, 1.0 / 3.0),
        (3, 4, 0.75, 0.25),
        (10, 11, 10.0 / 11.0, 1.0 / 11.0),
    ] {
        let (before, after) = (modulo(from), modulo(to));
        let keys = (1..=count).map(|i| mix64(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        let changed = keys.filter(|&key| before.shard(key) != after.shard(key)).count();
        let measured = changed as f64 / count as f64;
        let sigma = (moved * (1.0 - moved) / count as f64).sqrt();
        println!("{from} to {to}: {measured:.4} moved, the residues say {moved:.4}, at least {least:.4} must");
        assert!((measured - moved).abs() < 4.0 * sigma, "{from} to {to}: {measured}");
    }
}

#[test]
fn growing_by_one_moves_n_of_n_plus_one() {
    for n in 1..10_u32 {
        // All residues of the two counts together, so the fraction is exact.
        let whole = u64::from(n) * u64::from(n + 1);
        let moved = (0..whole).filter(|key| key % u64::from(n) != key % u64::from(n + 1)).count();
        assert_eq!(moved as u64 * u64::from(n + 1), whole * u64::from(n), "n = {n}");
        let (before, after) = (modulo(n), modulo(n + 1));
        assert_eq!((0..whole).filter(|&key| before.shard(key) != after.shard(key)).count(), moved);
    }
}

proptest! {
    #[test]
    fn the_bucket_is_the_remainder(key: u64, n in 1_u32..=i32::MAX as u32) {
        prop_assert_eq!(u64::from(modulo(n).shard(key).0), key % u64::from(n));
    }

    #[test]
    fn the_signed_bucket_is_the_floor_modulus(hash: i32, high: u32, n in 1_u32..=i32::MAX as u32) {
        let key = u64::from(high) << 32 | u64::from(hash.cast_unsigned());
        let bucket = i64::from(signed(n).shard(key).0);
        let n = i64::from(n);
        prop_assert!((0..n).contains(&bucket));
        prop_assert_eq!((i64::from(hash) - bucket) % n, 0);
    }
}
