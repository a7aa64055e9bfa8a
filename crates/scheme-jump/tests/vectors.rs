//! Known answers from the programs that people run.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use shardlab_core::{Members, NodeId, Scheme};
use shardlab_kernels::Simd;
use shardlab_kernels::jump::jump_many;
use shardlab_scheme_jump::{Jump, Rounding, jump};

/// The rows of a file with a header line, without its comments.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split('\t').collect())
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Holds one column of a file against one rounding; empty cells are where a program refused.
fn check(text: &str, column: usize, rounding: Rounding) -> usize {
    let mut checked = 0;
    for row in rows(text).filter(|row| !row[column].is_empty()) {
        let (key, n, expected): (u64, u32, u32) = (number(row[0]), number(row[1]), number(row[column]));
        assert_eq!(jump(key, n, rounding), expected, "key {key}, n {n}, {rounding:?}");
        let sharder = Jump { rounding }.build(&Members::dense(n).unwrap()).unwrap();
        assert_eq!(sharder.shard(key), NodeId(expected));
        // Random keys hardly ever part the roundings, so that these must go through every kernel as well:
        // a whole vector of them, and what is left over.
        for simd in Simd::available() {
            let mut buckets = [u32::MAX; 19];
            jump_many(simd, &[key; 19], n, rounding, &mut buckets);
            assert_eq!(buckets, [expected; 19], "key {key}, n {n}, {rounding:?}, {simd:?}");
        }
        checked += 1;
    }
    checked
}

#[test]
fn ordinary_keys_agree_in_every_program() {
    let text = include_str!("data/jump.tsv");
    assert_eq!(check(text, 2, Rounding::Paper), 874);
    assert_eq!(check(text, 3, Rounding::Guava), 874);
    assert!(check(text, 4, Rounding::Paper) > 100);
}

#[test]
fn constructed_keys_part_the_two_roundings() {
    let text = include_str!("data/jump_divergence.tsv");
    assert_eq!(check(text, 2, Rounding::Paper), 298);
    assert_eq!(check(text, 3, Rounding::Guava), 298);
    let apart = rows(text).filter(|row| row[2] != row[3]).count();
    assert!(apart > 100, "only {apart} rows part the roundings");
}

#[test]
fn guava_stops_where_its_32_bit_draw_overflows() {
    let text = include_str!("data/guava_overflow.tsv");
    assert_eq!(check(text, 2, Rounding::Guava), 336);
    let apart =
        rows(text).filter(|row| jump(number(row[0]), number(row[1]), Rounding::Paper) != number(row[2])).count();
    assert!(apart > 100, "only {apart} rows show the overflow");
}

#[test]
fn published_pairs_for_guava_hold() {
    for (key, n, bucket) in [(1, 1, 0), (42, 57, 43), (0xDEAD_10CC, 1, 0), (0xDEAD_10CC, 666, 361), (256, 1024, 520)] {
        assert_eq!(jump(key, n, Rounding::Guava), bucket);
        assert_eq!(jump(key, n, Rounding::Paper), bucket);
    }
}
