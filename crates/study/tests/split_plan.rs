//! Chains against a search that tries everything.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use shardlab_core::rows::{How, SplitPlan};
use shardlab_core::{Members, ResizeOperation, Sharder};
use shardlab_study::{Side, SplitRequest, split_plan};

fn request(spec: &str, shards: u32, to: u32, hard_links: bool) -> SplitRequest {
    let scheme = shardlab_schemes::parse(spec).unwrap().scheme;
    SplitRequest {
        before: Side::new(scheme, &Members::dense(shards).unwrap(), None, 1 << 30).unwrap(),
        to: Some(to),
        reindex: Vec::new(),
        bytes: Some(1000),
        docs: None,
        max_shard_bytes: None,
        shard_heap: None,
        one_shard: None,
        bandwidth: None,
        hard_links,
        seed: 42,
        threads: 1,
        max_memory: 1 << 30,
    }
}

/// Every way in one direction, found by asking each index for all of its operations.
fn all_straight(start: &dyn Sharder, to: u32) -> Vec<Vec<u32>> {
    let rules = start.as_resizable().unwrap();
    let up = to > start.members().len();
    let stops = if up { rules.legal_splits() } else { rules.legal_shrinks() };
    let mut found = Vec::new();
    for stop in stops {
        if stop == to {
            found.push(vec![to]);
        } else if (up && stop < to) || (!up && stop > to) {
            let rest = all_straight(&*rules.resized(stop).unwrap(), to);
            found.extend(rest.into_iter().map(|rest| [vec![stop], rest].concat()));
        }
    }
    found
}

fn stops(plan: &SplitPlan) -> Vec<Vec<u32>> {
    plan.chains.iter().map(|chain| chain.iter().map(|step| step.to).collect()).collect()
}

/// Copies of the index that a way writes where files cannot be linked.
fn copies(from: u32, stops: &[u32]) -> u32 {
    let mut at = from;
    let each = stops.iter().map(|&to| {
        let copies = (to / at).max(1);
        at = to;
        copies
    });
    each.sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn straight_chains_are_all_there_are_and_the_cheapest_are_listed(
        shards in 1_u32..=40,
        factor in 1_u32..=36,
        goal in 1_u32..=120,
        modular in any::<bool>(),
        hard_links in any::<bool>(),
    ) {
        let created = if modular { "9.4" } else { "8.15" };
        let spec = format!("elastic:created={created},routing_shards={},max_shards=200", shards * factor);
        let request = request(&spec, shards, goal, hard_links);
        let plan = split_plan(&request, None, false, &|_| {}).unwrap();
        let start = &*request.before.placer.sharder;
        let mut all = all_straight(start, goal);
        if plan.legal == Some(true) && goal != shards {
            prop_assert_eq!(u64::try_from(all.len()).unwrap(), u64::try_from(plan.chains.len()).unwrap() + plan.chains_left_out);
            all.sort_by_key(|stops| {
                let written = if hard_links { 0 } else { copies(shards, stops) };
                (written, stops.len(), copies(shards, stops), stops.clone())
            });
            // Shrinks outrank operations, but along one direction both say the same.
            all.truncate(plan.chains.len());
            prop_assert_eq!(stops(&plan), all);
        } else if goal != shards {
            prop_assert_eq!(all.len(), 0);
        }
    }

    #[test]
    fn no_chain_takes_a_document_out_of_its_lineage(
        shards in 1_u32..=24,
        factor in 1_u32..=24,
        goal in 1_u32..=48,
        modular in any::<bool>(),
    ) {
        let created = if modular { "9.4" } else { "8.15" };
        let spec = format!("elastic:created={created},routing_shards={}", shards * factor);
        let request = request(&spec, shards, goal, true);
        let plan = split_plan(&request, None, false, &|_| {}).unwrap();
        // Through one shard every count can be reached.
        prop_assert!(!plan.chains.is_empty());
        for way in &plan.alternatives {
            prop_assert_eq!(way.left_parent_fraction, Some(0.0), "{}", way.words.clone());
            prop_assert!(way.how != How::Reindex);
            let bytes = way.bytes.as_ref().unwrap();
            prop_assert_eq!(bytes.written_without_hard_links, 1000 * u128::from(way.costs.copies_without_hard_links));
        }
    }

    #[test]
    fn every_child_has_the_parents_that_its_documents_come_from(
        shards in 1_u32..=24,
        factor in 1_u32..=24,
        modular in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        keys in prop::collection::vec(any::<u64>(), 50),
    ) {
        let created = if modular { "9.4" } else { "8.15" };
        let spec = format!("elastic:created={created},routing_shards={},max_shards=100", shards * factor);
        let any_goal = request(&spec, shards, shards, true);
        let start = &*any_goal.before.placer.sharder;
        let rules = start.as_resizable().unwrap();
        let legal: Vec<u32> = rules.legal_shrinks().into_iter().chain(rules.legal_splits()).collect();
        prop_assume!(!legal.is_empty());
        let goal = legal[pick.index(legal.len())];
        let plan = split_plan(&request(&spec, shards, goal, true), None, false, &|_| {}).unwrap();
        let expected = if goal > shards { ResizeOperation::Split } else { ResizeOperation::Shrink };
        prop_assert_eq!(plan.operation, Some(expected));
        let after = rules.resized(goal).unwrap();
        for key in keys {
            let parent = &plan.children[start.shard(key).index()];
            prop_assert!(parent.children.contains(&after.shard(key).0));
        }
    }
}
