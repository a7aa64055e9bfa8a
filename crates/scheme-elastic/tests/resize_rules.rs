//! Split and shrink rules: what is refused and why, what is offered instead, and where documents go.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use std::num::NonZeroU64;

use common::build;
use proptest::prelude::*;
use shardlab_core::{Change, NodeId, Refusal, RefusalKind, ResizeOperation, Sharder, Unsupported};
use shardlab_scheme_elastic::{Generation, Index, IndexError, LeastShrink, ResizeRequest};

const MODERN: [Generation; 2] = [Generation::DefaultRoutingShards, Generation::ShardCount];

fn index(shards: u32) -> Index {
    Index::new(Generation::DefaultRoutingShards, shards, None, 1).unwrap()
}

fn refusal(sharder: &dyn Sharder, to: u32) -> Refusal {
    sharder.as_resizable().unwrap().operation_to(to).unwrap_err()
}

#[test]
fn a_refusal_names_the_rule_and_the_nearest_legal_counts() {
    use RefusalKind::{AboveMaxShards, NotADivisor, NotAMultiple, NotDividingRoutingShards, OneShardSource};
    for created in ["8.15", "9.4"] {
        let options = format!("created={created}");
        for (from, to, kind, bound, below, above) in [
            (6, 54, NotDividingRoutingShards, Some(768), Some(48), Some(96)),
            (12, 18, NotAMultiple, None, Some(6), Some(24)),
            (12, 36, NotDividingRoutingShards, Some(768), Some(24), Some(48)),
            (4, 3, NotADivisor, None, Some(2), Some(8)),
            (4, 0, NotADivisor, None, None, Some(1)),
            (1, 0, OneShardSource, None, None, Some(2)),
            (1, 1025, AboveMaxShards, Some(1024), Some(1024), None),
            (513, 1026, AboveMaxShards, Some(1024), Some(171), None),
            (1024, 2048, AboveMaxShards, Some(1024), Some(512), None),
            // Lifting the limit would not help here, so the routing shards are the reason.
            (5, 1280, NotDividingRoutingShards, Some(640), Some(640), None),
        ] {
            let expected = Refusal { kind, from, to, bound, nearest_below: below, nearest_above: above };
            assert_eq!(refusal(&*build(&options, from), to), expected);
        }
    }
    assert_eq!(
        refusal(&*build("created=7.13", 6), 54).to_string(),
        "54 does not divide the 768 routing shards (768 mod 54 = 12); nearest legal counts: 48 and 96"
    );
}

#[test]
fn chains_of_splits_follow_the_divisors_of_the_routing_shards() {
    let five = build("created=7.5,routing_shards=30", 5);
    assert_eq!(five.as_resizable().unwrap().legal_splits(), [10, 15, 30]);
    let ten = five.as_resizable().unwrap().resized(10).unwrap();
    assert_eq!(ten.as_resizable().unwrap().legal_splits(), [30]);
    let thirty = ten.as_resizable().unwrap().resized(30).unwrap();
    assert!(thirty.as_resizable().unwrap().legal_splits().is_empty());
}

#[test]
fn the_same_count_again_is_a_clone() {
    let six = build("created=8.15", 6);
    let rules = six.as_resizable().unwrap();
    assert_eq!(rules.operation_to(6), Ok(ResizeOperation::Clone));
    assert_eq!(rules.sources_of(6, NodeId(4)), Ok(vec![NodeId(4)]));
    assert_eq!(rules.operation_to(3), Ok(ResizeOperation::Shrink));
    assert_eq!(rules.operation_to(12), Ok(ResizeOperation::Split));
    assert_eq!(rules.sources_of(12, NodeId(12)), Ok(vec![]));
}

#[test]
fn several_shards_keep_their_routing_shards_and_a_single_one_gets_them_anew() {
    for generation in MODERN {
        let six = Index::new(generation, 6, None, 1).unwrap();
        let three = six.after_resize(3, None).unwrap();
        assert_eq!((three.routing_shards(), three.routing_factor()), (768, 256));
        assert_eq!(three.legal_splits(1024), [6, 12, 24, 48, 96, 192, 384, 768]);
        let one = three.after_resize(1, None).unwrap();
        assert_eq!(one.routing_shards(), 768);
        assert_eq!(one.after_resize(5, None).unwrap().routing_shards(), 640);
        assert_eq!(one.after_resize(5, Some(45)).unwrap().routing_shards(), 45);
        assert!(matches!(one.after_resize(5, Some(46)), Err(IndexError::UnevenRoutingShards { .. })));
        assert!(matches!(six.after_resize(12, Some(24)), Err(IndexError::RoutingShardsOnResize { .. })));
        // A partition must stay below the routing shards, so a default that is too small is doubled.
        let partitioned = Index::new(generation, 1, None, 1000).unwrap();
        assert_eq!(partitioned.after_resize(5, None).unwrap().routing_shards(), 1280);
    }
    let old = Index::new(Generation::ShardsAsRoutingShards, 1, None, 1).unwrap();
    let seven = old.after_resize(7, None).unwrap();
    assert_eq!(seven.routing_shards(), 7);
    assert!(seven.legal_splits(1024).is_empty());
    let twelve = Index::new(Generation::ShardsAsRoutingShards, 12, None, 1).unwrap();
    assert_eq!(twelve.after_resize(4, None).unwrap().legal_splits(1024), [12]);
}

#[test]
fn the_least_shrink_below_a_size_is_a_divisor() {
    let gigabytes = |size: u64| NonZeroU64::new(size * 1_000_000_000).unwrap();
    let found = index(12).least_shrink_for(480_000_000_000, gigabytes(100));
    assert_eq!(found, LeastShrink { needed: 5, shards: Some(6), server: 6 });
    // The server's own search leaves out 4 = floor(sqrt 16) when it starts from 3.
    let found = index(16).least_shrink_for(3_000_000_000, gigabytes(1));
    assert_eq!(found, LeastShrink { needed: 3, shards: Some(4), server: 16 });
    let found = index(30).least_shrink_for(4_000_000_000, gigabytes(1));
    assert_eq!(found, LeastShrink { needed: 4, shards: Some(5), server: 30 });
    let found = index(12).least_shrink_for(13_000_000_000, gigabytes(1));
    assert_eq!(found, LeastShrink { needed: 13, shards: None, server: 12 });
    assert_eq!(index(12).least_shrink_for(0, gigabytes(1)).shards, Some(1));
}

#[test]
fn a_shard_holds_no_more_documents_than_lucene_can() {
    let four = index(4);
    let most = 2_147_483_519;
    assert_eq!(four.check_merged_documents(2, &[most, 0, 1, most - 1]), Ok(()));
    assert_eq!(
        four.check_merged_documents(2, &[most, 0, 1, most]),
        Err(IndexError::TooManyDocuments { target_shard: 1, documents: most + 1 })
    );
    // By remainder, other shards are merged: 0 with 2, and 1 with 3.
    let four = Index::new(Generation::ShardCount, 4, None, 1).unwrap();
    assert!(four.check_merged_documents(2, &[most, 0, 1, 0]).is_err());
    assert!(four.check_merged_documents(3, &[]).is_err());
}

#[test]
fn resize_requests_are_refused_as_a_server_refuses_them() {
    let (split, shrink, clone) = (ResizeOperation::Split, ResizeOperation::Shrink, ResizeOperation::Clone);
    let apply = |request: ResizeRequest<'_>, shards: u32| request.apply(index(shards), 480, 1024);
    let shards = |request, from| apply(request, from).map(Index::shards);
    assert_eq!(shards(ResizeRequest::new(split, Some(24)), 12), Ok(24));
    assert_eq!(shards(ResizeRequest::new(shrink, None), 12), Ok(1));
    assert_eq!(shards(ResizeRequest::new(clone, None), 12), Ok(12));
    assert_eq!(
        shards(ResizeRequest { max_primary_shard_size: Some(100), ..ResizeRequest::new(shrink, None) }, 12),
        Ok(6)
    );
    assert_eq!(
        apply(ResizeRequest { routing_shards: Some(45), ..ResizeRequest::new(split, Some(5)) }, 1)
            .map(Index::routing_shards),
        Ok(45)
    );
    let mut refused = [
        (ResizeRequest::new(split, None), 12, IndexError::SplitWithoutCount),
        (ResizeRequest::new(split, Some(1200)), 12, IndexError::TooManyShards { shards: 1200, max: 1024 }),
        (ResizeRequest::new(split, Some(18)), 12, IndexError::NotAMultiple { source_shards: 12, target: 18 }),
        (ResizeRequest::new(shrink, Some(24)), 12, IndexError::ShrinkUp { source_shards: 12, target: 24 }),
        (ResizeRequest::new(clone, Some(24)), 12, IndexError::CloneDiffers { source_shards: 12, target: 24 }),
        (ResizeRequest::new(shrink, Some(1)), 1, IndexError::OneShardShrink),
        (
            ResizeRequest { max_primary_shard_size: Some(9), ..ResizeRequest::new(shrink, Some(6)) },
            12,
            IndexError::CountAndSize { shards: 6, bytes: 9 },
        ),
        (
            ResizeRequest { max_primary_shard_size: Some(0), ..ResizeRequest::new(shrink, None) },
            12,
            IndexError::ZeroShardSize,
        ),
        (
            ResizeRequest { max_primary_shard_size: Some(9), ..ResizeRequest::new(split, Some(24)) },
            12,
            IndexError::SizeWithoutShrink { bytes: 9 },
        ),
        (
            ResizeRequest { partition: Some(3), ..ResizeRequest::new(split, Some(24)) },
            12,
            IndexError::PartitionOnResize { partition: 3 },
        ),
        (
            ResizeRequest { routing_shards: Some(24), ..ResizeRequest::new(split, Some(24)) },
            12,
            IndexError::RoutingShardsOnResize { routing_shards: 24, source_shards: 12 },
        ),
        (
            ResizeRequest { other_settings: &["index.sort.field"], ..ResizeRequest::new(split, Some(24)) },
            12,
            IndexError::SettingOnResize { setting: "index.sort.field".to_owned() },
        ),
        (
            ResizeRequest { source_has_routing_path: true, ..ResizeRequest::new(split, Some(24)) },
            12,
            IndexError::SplitByRoutingPath,
        ),
    ];
    for (request, from, expected) in &mut refused {
        assert_eq!(apply(*request, *from).as_ref(), Err(&*expected), "{request:?}");
    }
}

#[test]
fn a_middle_shard_cannot_leave_and_the_last_one_only_by_a_shrink() {
    let mut two = build("created=8.15", 2);
    assert!(matches!(two.apply(&Change::Remove { name: "0".into() }), Err(Unsupported::TailOnly { .. })));
    two.apply(&Change::Remove { name: "1".into() }).unwrap();
    assert_eq!(two.members().len(), 1);
    let mut three = build("created=8.15", 3);
    let outcome = three.apply(&Change::Remove { name: "2".into() });
    assert!(matches!(outcome, Err(Unsupported::NotAFactor(Refusal { kind: RefusalKind::NotADivisor, .. }))));
}

#[test]
fn only_the_split_rule_of_9_4_is_taken_over_unverified() {
    for (created, splits) in [("8.15", true), ("9.4", false)] {
        let six = build(&format!("created={created}"), 6);
        let rules = six.as_resizable().unwrap();
        assert_eq!((rules.rule_verified(12), rules.rule_verified(3)), (splits, true), "{created}");
    }
}

fn any_generation() -> impl Strategy<Value = Generation> {
    prop::sample::select(vec![
        Generation::Djb2,
        Generation::ShardsAsRoutingShards,
        Generation::DefaultRoutingShards,
        Generation::ShardCount,
    ])
}

/// An index with any legal routing shards, and two of the factors between them.
fn any_index() -> impl Strategy<Value = (Index, u32, u32)> {
    (any_generation(), 1_u32..=60, 1_u32..=6, 1_u32..=6, 1_u32..=6)
        .prop_map(|(generation, n, a, b, c)| (Index::new(generation, n * a, Some(n * a * b * c), 1).unwrap(), a, b))
}

proptest! {
    #[test]
    fn a_document_of_a_split_comes_from_the_selected_source((before, _, factor) in any_index(), hash in any::<i32>()) {
        let after = before.after_resize(before.shards() * factor, Some(before.routing_shards()).filter(|_| before.shards() == 1 && factor > 1)).unwrap();
        let target = after.shard_of(hash);
        prop_assert_eq!(before.split_source(target, after.shards()), Ok(before.shard_of(hash)));
    }

    #[test]
    fn a_document_of_a_shrink_comes_from_a_selected_source((before, factor, _) in any_index(), hash in any::<i32>()) {
        let after = before.after_resize(before.shards() / factor, None).unwrap();
        let sources = before.shrink_sources(after.shard_of(hash), after.shards()).unwrap();
        prop_assert_eq!(sources.len(), usize::try_from(factor).unwrap());
        prop_assert!(sources.contains(&before.shard_of(hash)));
    }

    #[test]
    fn a_shrink_and_a_split_back_restore_every_place((before, factor, _) in any_index(), hash in any::<i32>()) {
        let shrunk = before.after_resize(before.shards() / factor, None).unwrap();
        // One shard would get its routing shards anew, and with them another order of places.
        prop_assume!(shrunk.shards() > 1);
        let back = shrunk.after_resize(before.shards(), None).unwrap();
        prop_assert_eq!(back, before);
        prop_assert_eq!(back.shard_of(hash), before.shard_of(hash));
    }

    #[test]
    fn legal_counts_are_those_whose_operation_is_taken((index, _, _) in any_index(), max in 1_u32..3000) {
        let max = max.max(index.shards());
        let taken = |to: &u32| index.operation_to(*to, max).is_ok();
        let n = index.shards();
        prop_assert_eq!(index.legal_splits(max), (n + 1..=max + 5).filter(taken).collect::<Vec<u32>>());
        prop_assert_eq!(index.legal_shrinks(), (0..n).filter(taken).collect::<Vec<u32>>());
    }

    #[test]
    fn nearest_counts_are_legal_and_nothing_legal_lies_between((index, _, _) in any_index(), to in 0_u32..3000) {
        let max = index.shards().max(1024);
        let Err(refusal) = index.operation_to(to, max) else { return Ok(()) };
        let legal: Vec<u32> = index.legal_shrinks().into_iter().chain(index.legal_splits(max)).collect();
        prop_assert_eq!(refusal.nearest_below, legal.iter().copied().filter(|&count| count < to).max());
        prop_assert_eq!(refusal.nearest_above, legal.iter().copied().find(|&count| count > to));
    }

    #[test]
    fn a_searched_set_holds_every_document_of_its_routing_value(
        (index, _, _) in any_index(), partition in 2_u32..50, hash in any::<i32>(), id in any::<u32>(),
    ) {
        prop_assume!(partition < index.routing_shards());
        let index = Index::new(index.generation(), index.shards(), Some(index.routing_shards()), partition).unwrap();
        let searched = index.searched(hash);
        prop_assert!(searched.is_sorted());
        prop_assert!(searched.contains(&index.shard_of(hash.wrapping_add_unsigned(id % partition))));
    }

    #[test]
    fn the_servers_answer_to_a_shard_size_is_legal_and_enough(n in 1_u32..2000, needed in 1_u64..3000) {
        let found = index(n).least_shrink_for(needed, NonZeroU64::new(1).unwrap());
        prop_assert!(n % found.server == 0);
        if let Some(least) = found.shards {
            prop_assert!(n % least == 0 && u64::from(least) >= needed && found.server >= least);
            prop_assert!((1..least).all(|count| n % count != 0 || u64::from(count) < needed));
        }
    }
}
