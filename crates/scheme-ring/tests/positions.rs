//! Circles whose points are placed by other hashes: what a weak hash and a narrow circle do.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]

use shardlab_core::{NodeId, RawKey};
use shardlab_hash::mix64;
use shardlab_scheme_ring::RingTable;

fn fnv1a(text: &str) -> u64 {
    shardlab_hash::by_name("fnv1a").unwrap().hash(&RawKey::id(text.as_bytes())).unwrap()
}

/// Five caches with 160 labelled points each, and keys on the same circle, both through one hash.
fn counts(position: impl Fn(&str) -> u64) -> Vec<u64> {
    let points = (0..5_u32).flat_map(|node| (0..160).map(move |i| (format!("cache-{node}#{i}"), NodeId(node))));
    let points: Vec<(u64, NodeId)> = points.map(|(label, node)| (position(&label), node)).collect();
    let table = RingTable::new(64, points.into_iter());
    let mut counts = vec![0; 5];
    for key in 0..20_000 {
        counts[table.owner(position(&format!("item:{key}"))).index()] += 1;
    }
    counts
}

/// A hash whose high bits hardly depend on the last letters leaves a ring uneven at any number of points;
/// a finaliser behind it mends that. So the quality of the hash is a factor apart from the points.
#[test]
fn a_weak_hash_of_labels_is_uneven_and_a_finaliser_mends_it() {
    assert_eq!(counts(fnv1a), [1800, 4590, 6560, 5400, 1650]);
    let mixed = counts(|text| mix64(fnv1a(text)));
    assert!(mixed.iter().all(|&count| (3200..=4880).contains(&count)), "{mixed:?}");
}

/// On a circle of 65,536 positions points meet: of N points N − m (1 − (1 − 1/m)^N) are expected to be lost.
#[test]
fn a_circle_of_16_bits_loses_points_and_counts_them() {
    for (nodes, expected) in [(30_u32, 68.0_f64), (60, 266.0)] {
        let points = (0..nodes)
            .flat_map(|node| (0..100_u64).map(move |i| (mix64(u64::from(node) << 32 | i) >> 48, NodeId(node))));
        let table = RingTable::new(16, points);
        let dropped = f64::from(u32::try_from(table.dropped()).unwrap());
        println!("{nodes} nodes with 100 points on 16 bits: {dropped} points met another; expected {expected}");
        assert!((dropped - expected).abs() < 4.0 * expected.sqrt(), "{dropped}");
        assert_eq!(u64::try_from(table.len()).unwrap() + table.dropped(), u64::from(nodes) * 100);
        assert!(table.shares(nodes).parts.iter().all(|&part| part > 0), "nobody starves silently");
    }
}
