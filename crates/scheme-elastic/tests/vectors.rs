//! Every reference answer, through the whole way from spec to shard.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::{build, number, numbers, place, placer, rows, string};
use shardlab_core::{Hashed, Placer};
use shardlab_scheme_elastic::{
    DEFAULT_MAX_SHARDS, Generation, Index, IndexError, check_shards, default_routing_shards, routing_factor,
};

/// A placer of the given age; routing shards are named only where they are not the default.
fn index(created: &str, shards: u32, routing_shards: u32, partition: u32) -> Hashed {
    let mut options = format!("created={created},partition={partition}");
    let generation = common::generation(created);
    if default_routing_shards(shards, generation) != Some(routing_shards) {
        options += &format!(",routing_shards={routing_shards}");
    }
    placer(&options, shards)
}

/// The versions whose function is floorMod(hash, R) / (R / n), and 9.4 where R is n.
fn versions(shards: u32, routing_shards: u32, partition: u32) -> Vec<&'static str> {
    let mut versions = vec!["5.3", "6.8", "7.0", "8.15", "9.3.4", "opensearch"];
    if routing_shards == shards {
        versions.push("9.4");
        if partition == 1 {
            versions.extend(["2.4", "5.0"]);
        }
    }
    versions
}

fn searched(placer: &Hashed, routing: &str) -> Vec<u32> {
    match placer.searched(routing.as_bytes()).unwrap() {
        Some(nodes) => nodes.into_iter().map(|node| node.0).collect(),
        None => place(placer, [(routing, "")]),
    }
}

#[test]
fn documents_stand_where_elasticsearch_7_puts_them() {
    for row in rows(include_str!("data/shard.tsv")) {
        let [n, routing_shards, _, partition, id, routing, shard] = row[..] else { panic!("{row:?}") };
        let (n, routing_shards, partition) = (number(n), number(routing_shards), number(partition));
        for created in versions(n, routing_shards, partition) {
            let placed = place(&index(created, n, routing_shards, partition), [(&*string(id), &*string(routing))]);
            assert_eq!(placed, [number(shard)], "created {created}: {row:?}");
        }
    }
}

#[test]
fn searches_ask_the_shards_that_elasticsearch_7_asks() {
    for row in rows(include_str!("data/search_shards.tsv")) {
        let [n, routing_shards, _, partition, routing, shards] = row[..] else { panic!("{row:?}") };
        let (n, routing_shards, partition) = (number(n), number(routing_shards), number(partition));
        for created in versions(n, routing_shards, partition) {
            let placer = index(created, n, routing_shards, partition);
            assert_eq!(searched(&placer, &string(routing)), numbers(shards), "created {created}: {row:?}");
        }
    }
}

#[test]
fn sums_of_hash_and_offset_wrap_at_32_bits() {
    for row in rows(include_str!("data/partition_overflow.tsv")) {
        let [n, routing_shards, partition, id, routing, routing_hash, id_hash, shard, shards] = row[..] else {
            panic!("{row:?}")
        };
        let (n, routing_shards, partition) = (number(n), number(routing_shards), number(partition));
        let (id, routing) = (string(id), string(routing));
        let placer = index("8.15", n, routing_shards, partition);
        assert_eq!(shardlab_hash::murmur3_utf16(&routing).to_string(), routing_hash);
        assert_eq!(shardlab_hash::murmur3_utf16(&id).to_string(), id_hash);
        assert_eq!(place(&placer, [(&*id, &*routing)]), [number(shard)], "{row:?}");
        assert_eq!(searched(&placer, &routing), numbers(shards), "{row:?}");
        let numbers_alone = Index::new(Generation::DefaultRoutingShards, n, Some(routing_shards), partition).unwrap();
        assert_eq!(numbers_alone.searched(routing_hash.parse().unwrap()), numbers(shards), "{row:?}");
    }
}

#[test]
fn partitions_may_be_larger_than_the_number_of_shards() {
    for row in rows(include_str!("data/partition_large.tsv")) {
        let [n, routing_shards, partition, id, routing, shard, shards] = row[..] else { panic!("{row:?}") };
        let placer = index("8.15", number(n), number(routing_shards), number(partition));
        assert_eq!(place(&placer, [(id, routing)]), [number(shard)], "{row:?}");
        assert_eq!(searched(&placer, routing), numbers(shards), "{row:?}");
    }
}

#[test]
fn answers_that_elasticsearch_publishes_hold() {
    for row in rows(include_str!("data/public_shards.tsv")) {
        let [kind, n, routing_shards, partition, id, routing, shard, _] = row[..] else { panic!("{row:?}") };
        let (n, routing_shards, partition) = (number(n), number(routing_shards), number(partition));
        let versions = if kind == "mod" { vec!["9.4", "10.0"] } else { versions(n, routing_shards, partition) };
        for created in versions {
            let placed = place(&index(created, n, routing_shards, partition), [(&*string(id), &*string(routing))]);
            assert_eq!(placed, [number(shard)], "created {created}: {row:?}");
        }
    }
}

#[test]
fn default_routing_shards_are_those_of_the_server_for_every_count() {
    let table = rows(include_str!("data/routing_num_shards.tsv"));
    assert_eq!(table.len(), 1024);
    for row in table {
        let [n, since_7, factor, before_7] = row[..] else { panic!("{row:?}") };
        let n = number(n);
        for generation in [Generation::DefaultRoutingShards, Generation::ShardCount] {
            let index = Index::new(generation, n, None, 1).unwrap();
            assert_eq!(index.routing_shards(), number(since_7), "{row:?}");
            assert_eq!(index.routing_factor(), number(factor), "{row:?}");
        }
        for generation in [Generation::Djb2, Generation::ShardsAsRoutingShards] {
            assert_eq!(default_routing_shards(n, generation), Some(number(before_7)), "{row:?}");
        }
    }
}

#[test]
fn legal_targets_are_those_that_the_server_takes() {
    for row in rows(include_str!("data/resize_legal.tsv")) {
        let [n, routing_shards, splits, shrinks] = row[..] else { panic!("{row:?}") };
        let (n, routing_shards) = (number(n), number(routing_shards));
        let (splits, shrinks) = (numbers(splits), numbers(shrinks));
        for generation in [Generation::DefaultRoutingShards, Generation::ShardCount] {
            let index = Index::new(generation, n, Some(routing_shards), 1).unwrap();
            let passes = |target: &u32| (0..*target).all(|shard| index.split_source(shard, *target).is_ok());
            assert_eq!((1..=2048).filter(passes).collect::<Vec<u32>>(), splits, "{n}");
            let passes = |target: &u32| (0..*target).all(|shard| index.shrink_sources(shard, *target).is_ok());
            assert_eq!((1..=n).filter(passes).collect::<Vec<u32>>(), shrinks, "{n}");
        }
        // The count itself passes the server's arithmetic, but is no resize.
        let resizable = build(&format!("created=8.15,max_shards=2048,routing_shards={routing_shards}"), n);
        let rules = resizable.as_resizable().unwrap();
        let others = |counts: &[u32]| counts.iter().copied().filter(|&count| count != n).collect::<Vec<u32>>();
        assert_eq!(rules.legal_splits(), others(&splits), "{n}");
        assert_eq!(rules.legal_shrinks(), others(&shrinks), "{n}");
    }
}

#[test]
fn shards_of_a_resized_index_come_from_where_the_server_takes_them() {
    for row in rows(include_str!("data/resize_map.tsv")) {
        let [operation, n, routing_shards, target, shard, sources] = row[..] else { panic!("{row:?}") };
        let index = Index::new(Generation::DefaultRoutingShards, number(n), Some(number(routing_shards)), 1).unwrap();
        let found = match operation {
            "split" => vec![index.split_source(number(shard), number(target)).unwrap()],
            _ => index.shrink_sources(number(shard), number(target)).unwrap(),
        };
        assert_eq!(found, numbers(sources), "{row:?}");
    }
}

#[test]
fn what_the_server_refuses_is_refused_with_the_same_class_of_error() {
    let legacy = Generation::DefaultRoutingShards;
    for row in rows(include_str!("data/errors.tsv")) {
        let [operation, arguments, outcome, result] = row[..] else { panic!("{row:?}") };
        let found: Result<String, IndexError> = match (operation, arguments.split_once(',')) {
            ("routing_setting", Some((n, "(unset)"))) => {
                // Read alone, the setting falls back to the number of shards; the default comes later.
                Ok(Index::new(Generation::ShardsAsRoutingShards, number(n), None, 1)
                    .unwrap()
                    .routing_shards()
                    .to_string())
            }
            ("shards_setting", _) => check_shards(number(arguments), DEFAULT_MAX_SHARDS).map(|()| arguments.to_owned()),
            _ => match (operation, &numbers(arguments)[..]) {
                ("factor", &[source, target]) => routing_factor(source, target).map(|factor| factor.to_string()),
                ("routing_setting", &[n, routing_shards]) => {
                    Index::new(legacy, n, Some(routing_shards), 1).map(|index| index.routing_shards().to_string())
                }
                ("partition_build", &[n, routing_shards, partition]) => {
                    Index::new(legacy, n, Some(routing_shards), partition)
                        .map(|index| format!("{}/partitioned={}", index.partition(), index.partition() > 1))
                }
                ("split", &[shard, n, routing_shards, target]) => {
                    let index = Index::new(legacy, n, Some(routing_shards), 1).unwrap();
                    index.split_source(shard, target).map(|source| source.to_string())
                }
                ("shrink", &[shard, n, routing_shards, target]) => {
                    let index = Index::new(legacy, n, Some(routing_shards), 1).unwrap();
                    index.shrink_sources(shard, target).map(|sources| format!("{sources:?}"))
                }
                _ => panic!("{row:?}"),
            },
        };
        match found {
            Ok(found) => assert_eq!(("ok", &*found), (outcome, result), "{row:?}"),
            Err(error) => assert_eq!(error.exception(), outcome, "{row:?}: {error}"),
        }
    }
}
