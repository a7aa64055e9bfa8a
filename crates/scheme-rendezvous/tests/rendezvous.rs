//! The scheme against its definition, and what never moves.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers of a test")]

use proptest::prelude::*;
use shardlab_core::{Change, Members, Node, NodeId, Scheme, Sharder};
use shardlab_hash::mix64;
use shardlab_scheme_rendezvous::{Rendezvous, cost, score};

/// Weighted nodes "node-0", "node-1", …
fn numbered(weights: &[u32]) -> Members {
    let nodes = weights.iter().enumerate().map(|(i, &weight)| Node::new(format!("node-{i}"), weight).unwrap());
    Members::listed(nodes.collect()).unwrap()
}

fn build(members: &Members) -> Box<dyn Sharder> {
    Rendezvous.build(members).unwrap()
}

fn keys(seed: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(move |i| mix64(mix64(seed) ^ i))
}

/// All nodes, best first, by the README's definition: every cost, then the name.
fn ranking(members: &Members, key: u64) -> Vec<NodeId> {
    let mut all: Vec<_> = members
        .iter()
        .map(|(id, name, weight)| {
            let score = score(key, &name);
            let rank = if members.equal_weights() { -f64::from(score) } else { cost(score, weight) };
            (rank, name.into_owned(), id)
        })
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    all.into_iter().map(|(_, _, id)| id).collect()
}

fn counts(sharder: &dyn Sharder, keys: &[u64]) -> Vec<f64> {
    let mut out = vec![NodeId(0); keys.len()];
    sharder.shard_many(keys, &mut out);
    let mut counts = vec![0.0; sharder.members().len() as usize];
    for node in out {
        counts[node.index()] += 1.0;
    }
    counts
}

/// Chi-square against fair shares, in standard deviations from its mean.
fn surprise(counts: &[f64], fair: impl Fn(usize) -> f64) -> f64 {
    let chi: f64 = counts.iter().enumerate().map(|(i, count)| (count - fair(i)).powi(2) / fair(i)).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn keys_go_where_the_definition_says(
        weights in prop::collection::vec(prop_oneof![1_u32..5, any::<u32>().prop_map(|w| w.max(1))], 1..80),
        seed in any::<u64>(),
    ) {
        let members = numbered(&weights);
        let sharder = build(&members);
        let keys: Vec<u64> = keys(seed, 50).chain([0, u64::MAX]).collect();
        let mut batch = vec![NodeId(0); keys.len()];
        sharder.shard_many(&keys, &mut batch);
        for (&key, &node) in keys.iter().zip(&batch) {
            let ranking = ranking(&members, key);
            prop_assert_eq!(node, ranking[0]);
            prop_assert_eq!(sharder.shard(key), ranking[0]);
            for k in [0, 1, 2, 7, ranking.len(), ranking.len() + 5] {
                prop_assert_eq!(&sharder.as_top_k().unwrap().top_k(key, k), &ranking[..k.min(ranking.len())]);
            }
        }
    }

    #[test]
    fn equal_weights_of_any_size_equal_no_weights(
        n in 1_usize..100, weight in any::<u32>(), seed in any::<u64>()
    ) {
        let (plain, heavy) = (build(&numbered(&vec![1; n])), build(&numbered(&vec![weight.max(1); n])));
        for key in keys(seed, 200) {
            prop_assert_eq!(plain.shard(key), heavy.shard(key));
        }
    }

    #[test]
    fn a_node_that_leaves_takes_exactly_its_own_keys_along(
        weights in prop_oneof![
            prop::collection::vec(any::<u32>().prop_map(|w| w.max(1)), 2..60),
            (2_usize..60).prop_map(|n| vec![1; n]),
        ],
        leaver in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let leaver = leaver.index(weights.len());
        let before = build(&numbered(&weights));
        let mut after = before.box_clone();
        after.apply(&Change::Remove { name: format!("node-{leaver}") }).unwrap();
        for key in keys(seed, 300) {
            let owners = before.as_top_k().unwrap().top_k(key, 2);
            let heir = if owners[0].index() == leaver { owners[1] } else { owners[0] };
            prop_assert_eq!(after.members().name(after.shard(key)), before.members().name(heir));
        }
    }

    #[test]
    fn another_weight_moves_keys_only_to_or_from_its_node(
        weights in prop_oneof![
            prop::collection::vec(1_u32..50, 2..60),
            (2_usize..60).prop_map(|n| vec![7; n]),
        ],
        changed in any::<prop::sample::Index>(),
        weight in 1_u32..200,
        seed in any::<u64>(),
    ) {
        let changed = changed.index(weights.len());
        let before = build(&numbered(&weights));
        let mut after = before.box_clone();
        after.apply(&Change::Reweight { name: format!("node-{changed}"), weight }).unwrap();
        for key in keys(seed, 300) {
            let (old, new) = (before.shard(key), after.shard(key));
            let towards = if weight > weights[changed] { new } else { old };
            prop_assert!(old == new || towards.index() == changed);
        }
    }
}

#[test]
fn ten_thousand_nodes_with_absurd_weights_answer_as_defined() {
    let weights: Vec<u32> =
        keys(4, 10_000).map(|key| ((key >> 40) as u32).max(1) >> (key % 24)).map(|w| w.max(1)).collect();
    let members = numbered(&weights);
    let sharder = build(&members);
    for key in keys(5, 5).chain([0, u64::MAX]) {
        let ranking = ranking(&members, key);
        assert_eq!(sharder.shard(key), ranking[0]);
        assert_eq!(sharder.as_top_k().unwrap().top_k(key, 9), ranking[..9]);
    }
}

/// Keys as people have them: counted, counted in the high half, and random.
#[test]
fn sequential_keys_and_keys_of_32_bits_are_balanced() {
    for n in [2, 3, 10, 100, 1000] {
        let sharder = build(&Members::dense(n).unwrap());
        let count: u64 = if n == 1000 { 100_000 } else { 300_000 };
        for (what, keys) in [
            ("sequential", (0..count).collect::<Vec<u64>>()),
            ("32 bits", keys(1, count).map(|key| key >> 32).collect()),
            ("high half", (0..count).map(|key| key << 40).collect()),
            ("multiples", (0..count).map(|key| key * 1000).collect()),
            ("random", keys(2, count).collect()),
        ] {
            let surprise = surprise(&counts(&*sharder, &keys), |_| count as f64 / f64::from(n));
            println!("n={n}, {what}: chi-square {surprise:.2} standard deviations from its mean");
            assert!(surprise.abs() < 5.0);
        }
    }
}

/// Scores are made of numbers of 16 bits. Two nodes whose seeds agree in too much would win together, or
/// never, which shows in few of many memberships and then far beyond chance.
#[test]
fn no_membership_of_many_has_nodes_whose_scores_depend_on_each_other() {
    const NODES: usize = 6;
    let keys: Vec<u64> = (0..150_000).collect();
    let fair = keys.len() as f64 / NODES as f64;
    let mut all = Vec::new();
    for set in 0..400 {
        let names = |node| Node::new(format!("{set}-{node}"), 1).unwrap();
        let mut sharder = build(&Members::listed((0..NODES).map(names).collect()).unwrap());
        let before = counts(&*sharder, &keys);
        all.push(surprise(&before, |_| fair));
        sharder.apply(&Change::Remove { name: format!("{set}-{}", NODES - 1) }).unwrap();
        let after = counts(&*sharder, &keys);
        let heirs: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
        all.push(surprise(&heirs, |_| before[NODES - 1] / (NODES - 1) as f64));
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let most = all.iter().copied().fold(f64::MIN, f64::max);
    println!("chi-square of {} tables: {mean:.3} standard deviations from its mean, at most {most:.1}", all.len());
    // The mean of 800 has a standard deviation of 0.035; chance reaches 9 in 6 of a million tables.
    assert!(mean.abs() < 0.15 && most < 9.0);
}

/// The keys of a lost node spread evenly over the rest, and so do those that a new one takes.
#[test]
fn the_keys_of_a_lost_node_spread_over_all_others() {
    let sharder = build(&Members::dense(20).unwrap());
    let mut heirs = vec![0.0; 20];
    let mut lost = 0.0;
    for key in 0..400_000 {
        let owners = sharder.as_top_k().unwrap().top_k(key, 2);
        if owners[0] == NodeId(7) {
            heirs[owners[1].index()] += 1.0;
            lost += 1.0;
        }
    }
    heirs.remove(7);
    let surprise = surprise(&heirs, |_| lost / 19.0);
    println!("{lost} keys over 19 heirs: {surprise:.2} standard deviations");
    assert!(surprise.abs() < 5.0);
}

#[test]
fn weights_one_to_four_get_ten_to_forty_percent() {
    for (what, keys) in [
        ("sequential", (0..12_000).collect::<Vec<u64>>()),
        ("random", keys(8, 12_000).collect()),
        ("32 bits", keys(9, 12_000).map(|key| key >> 32).collect()),
    ] {
        let counts = counts(&*build(&numbered(&[1, 2, 3, 4])), &keys);
        println!("{what}: {counts:?} of 12,000");
        for (count, share) in counts.into_iter().zip([0.1, 0.2, 0.3, 0.4_f64]) {
            let sigma = (12_000.0 * share * (1.0 - share)).sqrt();
            assert!((count - 12_000.0 * share).abs() < 4.0 * sigma);
        }
    }
}

#[test]
fn one_of_a_hundred_nodes_with_a_thousandth_of_the_weight_gets_its_thousandth() {
    let mut weights = vec![1000; 100];
    weights[42] = 100;
    let keys: Vec<u64> = (0..1_000_000).collect();
    let got = counts(&*build(&numbered(&weights)), &keys)[42];
    let fair: f64 = 1_000_000.0 * 100.0 / 99_100.0;
    println!("{got} keys, fair is {fair:.0}");
    assert!((got - fair).abs() < 4.0 * fair.sqrt());
}

#[test]
fn the_order_of_the_list_never_matters() {
    for weights in [[1, 1, 1, 1, 1], [1, 2, 3, 4, 5]] {
        let nodes: Vec<Node> =
            ["d", "a", "e", "b", "c"].iter().zip(weights).map(|(name, w)| Node::new(*name, w).unwrap()).collect();
        let forward = build(&Members::listed(nodes.clone()).unwrap());
        let backward = build(&Members::listed(nodes.into_iter().rev().collect()).unwrap());
        for key in keys(11, 2000) {
            let owners = |sharder: &dyn Sharder| -> Vec<String> {
                let ids = sharder.as_top_k().unwrap().top_k(key, 3);
                ids.into_iter().map(|id| sharder.members().name(id).into_owned()).collect()
            };
            assert_eq!(owners(&*forward), owners(&*backward));
        }
    }
}

#[test]
fn explaining_shows_the_best_nodes() {
    let steps = build(&numbered(&[1, 2])).explain(5);
    assert_eq!(steps.len(), 3);
    assert!(steps[1].value.contains("cost"));
}
