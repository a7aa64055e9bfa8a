//! Worked examples and reports of what people saw, as exact numbers.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{counts, place, place_ids, placer};

fn ids(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

/// n and how often the shard of an id differs between two indices.
fn differing(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn ids_1_to_10_stand_where_the_published_examples_say() {
    assert_eq!(place_ids("created=8.15", 5, &ids(1..11)), [4, 3, 0, 1, 0, 3, 2, 2, 0, 2]);
    assert_eq!(place_ids("created=9.4", 5, &ids(1..11)), [3, 2, 4, 2, 1, 2, 3, 1, 1, 1]);
    assert_eq!(place_ids("created=8.15", 3, &ids(1..6)), [2, 1, 1, 1, 0]);
    assert_eq!(place_ids("created=8.15", 6, &["654321"]), [4]);
    assert_eq!(place_ids("created=8.15,routing_shards=6", 6, &["654321"]), [2]);
    assert_eq!(counts(5, &place_ids("created=8.15", 5, &ids(1..1001))), [221, 202, 185, 193, 199]);
    assert_eq!(counts(5, &place_ids("created=8.15", 5, &ids(0..1000))), [221, 202, 185, 194, 198]);
}

#[test]
fn text_is_hashed_as_utf_16_in_both_functions() {
    let ids = ["1", "2", "user-42", "Zoë", "吉星"];
    let hashes = ids.map(shardlab_hash::murmur3_utf16);
    assert_eq!(hashes, [-126_235_597, -303_927_213, -1_591_625_367, 1_280_953_131, 1_153_075_330]);
    assert_eq!(place_ids("created=8.x", 5, &ids), [4, 3, 1, 1, 1]);
    assert_eq!(place_ids("created=opensearch", 5, &ids), [4, 3, 1, 1, 1]);
    assert_eq!(place_ids("", 5, &ids), [3, 2, 3, 1, 0]);
}

#[test]
fn a_plain_remainder_and_routing_shards_disagree_on_most_ids() {
    let ids = ids(1..1001);
    for (n, expected) in [(3, 662), (5, 806), (7, 865), (8, 878), (12, 912), (16, 935)] {
        let (ranges, plain) = (place_ids("created=8.15", n, &ids), place_ids("created=9.4", n, &ids));
        assert_eq!(differing(&ranges, &plain), expected, "{n} shards");
        if n == 8 {
            assert_eq!((&ranges[..5], &plain[..5]), (&[0, 0, 1, 7, 3][..], &[3, 3, 2, 3, 7][..]));
        }
    }
}

#[test]
fn djb2_is_uneven_on_numeric_ids_and_murmur3_is_not() {
    let ids = ids(0..100_000);
    assert_eq!(counts(5, &place_ids("created=1.7", 5, &ids)), [20_000; 5]);
    assert_eq!(counts(3, &place_ids("created=0.90", 3, &ids)), [30_100, 30_000, 39_900]);
    let old = counts(33, &place_ids("created=1.x", 33, &ids));
    assert_eq!(old.iter().filter(|&&count| count == 0).count(), 17);
    assert_eq!(old.iter().filter(|&&count| count == 10_000).count(), 4);
    assert_eq!(old.iter().max(), Some(&10_000));
    for (options, least, most) in [("created=8.15", 2941, 3122), ("created=9.4", 2963, 3153)] {
        let new = counts(33, &place_ids(options, 33, &ids));
        assert_eq!((new.iter().min(), new.iter().max()), (Some(&least), Some(&most)), "{options}");
    }
}

#[test]
fn a_default_partition_leaves_a_tenant_on_one_shard_before_9_4() {
    let ids: Vec<String> = (0..1000).map(|i| format!("d{i}")).collect();
    let tenant = |options: &str| counts(20, &place(&placer(options, 20), ids.iter().map(|id| (&**id, "tenant-7"))));
    let stands_on_10: Vec<usize> = (0..20).map(|shard| if shard == 10 { 1000 } else { 0 }).collect();
    assert_eq!(tenant("created=8.15,partition=3"), stands_on_10);
    assert_eq!(tenant("created=8.15,partition=3,routing_shards=20")[2..7], [0, 332, 323, 345, 0]);
    assert_eq!(tenant("created=9.4,partition=3")[2..7], [0, 332, 323, 345, 0]);

    let searched = |options: &str| -> usize {
        let placer = placer(options, 20);
        let tenants = (0..1000).map(|i| format!("t{i}"));
        tenants.map(|tenant| shardlab_core::Placer::searched(&placer, tenant.as_bytes()).unwrap().unwrap().len()).sum()
    };
    assert_eq!(searched("created=8.15,partition=3").div_euclid(10), 108);
    assert_eq!(searched("created=9.4,partition=3"), 3000);
}

#[test]
fn few_routing_values_collide_and_must_be_enumerated() {
    for (n, expected) in
        [(3, [2, 1, 1]), (4, [0, 0, 0]), (5, [4, 3, 0]), (6, [4, 2, 3]), (7, [0, 3, 2]), (8, [0, 0, 1])]
    {
        let documents = [("a", "1"), ("b", "2"), ("c", "3")];
        assert_eq!(place(&placer("created=8.15", n), documents), expected, "{n} shards");
    }
}

#[test]
fn one_large_tenant_is_a_floor_that_only_partitions_lower() {
    let documents: Vec<(String, String)> = (0..400)
        .map(|i| (format!("d{i}"), "acme".to_owned()))
        .chain((0..600).map(|i| (format!("e{i}"), format!("t{i}"))))
        .collect();
    let hottest = |options: &str, n: u32| {
        let placed = place(&placer(options, n), documents.iter().map(|(id, routing)| (&**id, &**routing)));
        counts(n, &placed).into_iter().max().unwrap()
    };
    for (n, expected) in [(8, 472), (16, 436), (32, 418)] {
        assert_eq!(hottest("created=8.15", n), expected, "{n} shards");
    }
    assert_eq!(hottest("created=8.15,partition=2,routing_shards=8", 8), 278);
    assert_eq!(hottest("created=8.15,partition=4,routing_shards=8", 8), 186);
}

#[test]
fn reindexing_from_6_to_7_moves_routing_values_though_the_count_is_the_same() {
    let values: Vec<String> = (0..100).map(|i| format!("t{i}")).collect();
    let (six, seven) = (place_ids("created=6.8", 5, &values), place_ids("created=7.0", 5, &values));
    assert_eq!(differing(&six, &seven), 85);
}

#[test]
fn a_split_renumbers_documents_that_stay_with_their_parent() {
    let ids: Vec<String> = (0..20_000).map(|i| format!("doc-{i}")).collect();
    for (options, per_mille) in [("created=8.15", 956), ("created=9.4", 496)] {
        let (before, after) = (place_ids(options, 12, &ids), place_ids(options, 24, &ids));
        assert_eq!((differing(&before, &after) + 10) / 20, per_mille, "{options}");
        let index = common::build(options, 12);
        for (&from, &to) in before.iter().zip(&after) {
            let sources = index.as_resizable().unwrap().sources_of(24, shardlab_core::NodeId(to)).unwrap();
            assert_eq!(sources, [shardlab_core::NodeId(from)], "{options}");
        }
    }
}

#[test]
fn the_cluster_state_and_not_the_settings_says_which_routing_shards_route() {
    let index = shardlab_scheme_elastic::Index::new(common::generation("7.17"), 459, None, 1).unwrap();
    assert_eq!((index.routing_shards(), index.routing_factor()), (918, 2));
    assert_eq!(index.legal_splits(1024), [918]);
}
