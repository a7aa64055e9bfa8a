//! The circle against a linear scan, on wide and on crowded circles.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]

use proptest::prelude::*;
use shardlab_core::NodeId;
use shardlab_hash::{mix64, name_hash};
use shardlab_scheme_ring::RingTable;

/// The definition, read literally: the first point at or after the key, else the first of all;
/// where points share a position, the one that was given first.
fn owner_by_scan(points: &[(u64, NodeId)], key: u64) -> NodeId {
    let best = |from: u64| {
        let mut best: Option<(u64, NodeId)> = None;
        for &(position, owner) in points.iter().filter(|point| point.0 >= from) {
            if best.is_none_or(|(nearest, _)| position < nearest) {
                best = Some((position, owner));
            }
        }
        best
    };
    best(key).or_else(|| best(0)).unwrap().1
}

/// Keys on, just before and just behind every point, and both ends of the circle.
fn telling_keys(points: &[(u64, NodeId)], width: u32) -> Vec<u64> {
    let end = u64::MAX >> (64 - width);
    let around = points.iter().flat_map(|&(p, _)| [p.wrapping_sub(1) & end, p, p.wrapping_add(1) & end]);
    around.chain([0, 1, end, end - 1]).collect()
}

fn agrees_with_a_scan(width: u32, points: &[(u64, NodeId)]) {
    let table = RingTable::new(width, points.iter().copied());
    let positions: Vec<u64> = table.points().map(|(position, _)| position).collect();
    assert!(positions.windows(2).all(|pair| pair[0] < pair[1]), "ascending and distinct");
    assert_eq!(u64::try_from(table.len()).unwrap() + table.dropped(), u64::try_from(points.len()).unwrap());
    let mut counted = vec![0_u128; 256];
    for key in telling_keys(points, width) {
        assert_eq!(table.owner(key), owner_by_scan(points, key), "key {key}");
        assert_eq!(table.walk(key).next(), Some(table.owner(key)), "key {key}");
    }
    if width <= 8 {
        for key in 0..1_u64 << width {
            counted[table.owner(key).index()] += 1;
        }
        assert_eq!(table.shares(256).parts, counted);
    }
}

proptest! {
    #[test]
    fn a_wide_circle_agrees_with_a_linear_scan(
        positions in prop::collection::vec(any::<u64>(), 1..200)
    ) {
        let points: Vec<_> = positions.into_iter().zip((0..256).map(NodeId)).collect();
        agrees_with_a_scan(64, &points);
    }

    #[test]
    fn points_that_crowd_in_a_corner_agree_with_a_linear_scan(
        positions in prop::collection::vec(0_u64..500, 1..200),
        high in any::<bool>(),
    ) {
        let base = if high { u64::MAX - 499 } else { 0 };
        let points: Vec<_> = positions.into_iter().map(|p| base + p).zip((0..256).map(NodeId)).collect();
        agrees_with_a_scan(64, &points);
    }

    #[test]
    fn a_narrow_circle_full_of_collisions_agrees_with_a_linear_scan(
        width in 1_u32..=8,
        positions in prop::collection::vec(any::<u64>(), 1..100),
    ) {
        let points: Vec<_> =
            positions.into_iter().map(|p| p & (u64::MAX >> (64 - width))).zip((0..256).map(NodeId)).collect();
        agrees_with_a_scan(width, &points);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Small and large numbers of owners are sorted in different ways, hashed points and crowded ones too.
    #[test]
    fn a_table_holds_what_a_stable_sort_keeps_of_the_points(
        seed in any::<u64>(),
        count in prop_oneof![1_u64..50, 1_u64..6000],
        width in prop_oneof![Just(64_u32), 1_u32..=64],
        crowd in prop_oneof![Just(0_u32), 0_u32..64],
        // The first owner has this number, and there are at most so many.
        first in prop_oneof![Just(0_u32), any::<u32>().prop_map(|first| first >> 1)],
        owners in prop_oneof![Just(1_u32), 1_u32..5000],
    ) {
        let position = |i: u64| {
            let mixed = mix64(seed ^ mix64(i)) >> (64 - width);
            // Every other point lies in a corner of the circle.
            if i.is_multiple_of(2) { mixed } else { mixed >> crowd.min(width - 1) }
        };
        let points: Vec<(u64, NodeId)> =
            (0..count).map(|i| (position(i), NodeId(first + u32::try_from(mix64(i) % u64::from(owners)).unwrap()))).collect();
        let mut expected = points.clone();
        expected.sort_by_key(|&(position, _)| position);
        expected.dedup_by_key(|&mut (position, _)| position);
        let table = RingTable::new(width, points.into_iter());
        prop_assert_eq!(table.dropped(), count - u64::try_from(expected.len()).unwrap());
        prop_assert!(table.points().eq(expected.iter().copied()));
        prop_assert_eq!(
            u64::try_from(table.heap_bytes()).unwrap(),
            RingTable::expected_heap_bytes(count, width)
        );
        // The index leads to them: the owner of a point's own position is its own.
        for (at, &(position, owner)) in expected.iter().enumerate() {
            prop_assert_eq!(table.owner(position), owner);
            let next = expected.get(at + 1).unwrap_or(&expected[0]);
            if let Some(behind) = position.checked_add(1) {
                prop_assert_eq!(table.owner(behind), next.1);
            }
        }
    }
}

/// A ring of 8 bits on which each name has so many points, given in the order of names.
fn narrow(names: &[&str], points: u64) -> (RingTable, Vec<String>) {
    let mut sorted: Vec<(&str, NodeId)> = names.iter().copied().zip((0..).map(NodeId)).collect();
    sorted.sort_unstable();
    let all: Vec<(u64, NodeId)> = sorted
        .iter()
        .flat_map(|&(name, id)| (1..=points).map(move |i| (mix64(name_hash(name).wrapping_add(i)) & 0xFF, id)))
        .collect();
    let table = RingTable::new(8, all.iter().copied());
    let owners = (0..256).map(|key| names[table.owner(key).index()].to_owned()).collect();
    (table, owners)
}

#[test]
fn colliding_points_give_the_same_circle_for_every_order_of_the_nodes() {
    let (table, expected) = narrow(&["a", "b", "c"], 60);
    assert!(table.dropped() > 10, "the test needs collisions, and has {}", table.dropped());
    for order in [["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"]] {
        let (again, owners) = narrow(&order, 60);
        assert_eq!(owners, expected, "{order:?}");
        assert_eq!(again.dropped(), table.dropped());
    }
}

#[test]
fn adding_and_removing_a_node_whose_points_collide_is_the_identity() {
    let (_, before) = narrow(&["b", "c"], 60);
    let (_, with) = narrow(&["b", "c", "a"], 60);
    let (_, without) = narrow(&["c", "b"], 60);
    assert_ne!(before, with);
    assert_eq!(before, without);
    // Nobody but the new node has gained a key.
    for (old, new) in before.iter().zip(&with) {
        assert!(old == new || new == "a");
    }
}

#[test]
fn eight_hundred_nodes_on_a_circle_of_32_bits_build_whatever_collides() {
    let points =
        (0..806_u32).flat_map(|node| (0..128_u64).map(move |i| (mix64(u64::from(node) << 32 | i) >> 32, NodeId(node))));
    let table = RingTable::new(32, points);
    assert_eq!(u64::try_from(table.len()).unwrap() + table.dropped(), 103_168);
    assert!(table.dropped() < 10, "1.24 are expected, not {}", table.dropped());
    // A key beyond the circle wraps as one behind the last point does.
    assert_eq!(table.owner(u64::MAX), table.owner(0));
}
