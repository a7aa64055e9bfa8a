//! Scores and formulas that people use in place of ours, and what comes of them.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]
#![allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers of a test")]

use shardlab_core::{Members, Node, Scheme};
use shardlab_hash::{mix64, name_hash};
use shardlab_scheme_rendezvous::{Rendezvous, cost, score};

fn members(nodes: &[(&str, u32)]) -> Members {
    Members::listed(nodes.iter().map(|&(name, weight)| Node::new(name, weight).unwrap()).collect()).unwrap()
}

fn ours(nodes: &[(&str, u32)], keys: impl Iterator<Item = u64>) -> Vec<u32> {
    let sharder = Rendezvous.build(&members(nodes)).unwrap();
    let mut counts = vec![0; nodes.len()];
    for key in keys {
        counts[sharder.shard(key).index()] += 1;
    }
    counts
}

const SIX: [(&str, u32); 6] = [("NODE1", 1), ("NODE2", 1), ("NODE3", 1), ("NODE4", 1), ("NODE5", 1), ("NODE6", 1)];

/// The raw 32-bit FNV-1a of key and name as the score gives the first and the last of six nodes double
/// shares. A score that is mixed does not.
#[test]
fn an_unmixed_score_favours_nodes_by_their_last_letter() {
    let fnv = |text: &str| {
        text.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    };
    let mut raw = vec![0_u32; 6];
    for key in 0..12_000 {
        let best = (0..6).max_by_key(|&node| fnv(&format!("id{key}{}", SIX[node].0))).unwrap();
        raw[best] += 1;
    }
    assert_eq!(raw, [2984, 1498, 1520, 1504, 1501, 2993]);
    let mixed = ours(&SIX, (0..12_000).map(|key| name_hash(&format!("id{key}"))));
    assert!(mixed.iter().all(|&count| (1855..=2150).contains(&count)), "{mixed:?}");
}

/// The nearest node by exclusive or is no fair choice: of the ids 000, 001 and 100 the last owns half.
#[test]
fn the_nearest_by_exclusive_or_is_biased_by_the_leading_bit_and_scores_are_not() {
    let ids = [0b000_u32, 0b001, 0b100];
    let mut nearest = [0; 3];
    for key in 0..8_u32 {
        nearest[(0..3).min_by_key(|&node| key ^ ids[node]).unwrap()] += 1;
    }
    assert_eq!(nearest, [2, 2, 4]);
    let counts = ours(&[("000", 1), ("001", 1), ("100", 1)], (0..12_000).map(mix64));
    assert!(counts.iter().all(|&count| (3790..=4210).contains(&count)), "{counts:?}");
}

/// Weights 1 to 4: the logarithm gives 10, 20, 30 and 40 %, weight times number 1.04, 10.76, 31.60 and
/// 56.60 %.
#[test]
fn weight_times_number_is_the_wrong_formula() {
    let nodes = [("a", 1), ("b", 2), ("c", 3), ("d", 4)];
    let keys = || (0..12_000_u64).map(mix64);
    let mut products = vec![0_u32; 4];
    for key in keys() {
        let product = |node: usize| f64::from(nodes[node].1) * f64::from(score(key, nodes[node].0));
        products[(0..4).max_by(|&a, &b| product(a).total_cmp(&product(b))).unwrap()] += 1;
    }
    let near = |count: u32, share: f64| {
        let sigma = (12_000.0 * share * (1.0 - share)).sqrt();
        (f64::from(count) - 12_000.0 * share).abs() < 4.0 * sigma
    };
    let right = ours(&nodes, keys());
    println!("by logarithm {right:?}, by product {products:?}");
    assert!(right.iter().zip([0.1, 0.2, 0.3, 0.4]).all(|(&count, share)| near(count, share)), "{right:?}");
    let wrong = [0.010_4, 0.107_6, 0.316, 0.566];
    assert!(products.iter().zip(wrong).all(|(&count, share)| near(count, share)), "{products:?}");
}

/// Whatever a key and a name hash to, a cost is a number that can be compared.
#[test]
fn the_smallest_and_the_largest_score_have_finite_costs() {
    for weight in [1, 2, 1000, u32::MAX] {
        for score in [0, 1, u32::MAX - 1, u32::MAX] {
            let cost = cost(score, weight);
            assert!(cost.is_finite() && cost >= 0.0, "{score} {weight}: {cost}");
        }
    }
    for nodes in [&SIX[..], &[("a", 1), ("b", 3)]] {
        let sharder = Rendezvous.build(&members(nodes)).unwrap();
        for key in [0, u64::MAX] {
            assert!(sharder.shard(key).index() < nodes.len());
            let score = score(key, nodes[0].0);
            assert!(cost(score, nodes[0].1).is_finite());
        }
    }
}

/// Ties are settled by names. With scores of 32 bits they are rare, so two nodes are looked for whose scores
/// agree, and listed both ways round.
#[test]
fn equal_scores_go_to_the_same_node_in_any_order() {
    let names: Vec<String> = (0..40_000).map(|i| format!("node-{i}")).collect();
    let mut found = 0;
    for key in 0..8_u64 {
        let key = mix64(key);
        let mut scores: Vec<(u32, &str)> = names.iter().map(|name| (score(key, name), name.as_str())).collect();
        scores.sort_unstable();
        for pair in scores.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let (a, b) = (pair[0].1, pair[1].1);
            for weight in [1, 7] {
                let winner = |nodes: [(&str, u32); 2]| {
                    let sharder = Rendezvous.build(&members(&nodes)).unwrap();
                    sharder.members().name(sharder.shard(key)).into_owned()
                };
                let expected = a.min(b);
                assert_eq!(winner([(a, weight), (b, weight)]), expected);
                assert_eq!(winner([(b, weight), (a, weight)]), expected);
            }
            found += 1;
        }
    }
    assert!(found > 0, "no two names of so many have equal scores, so nothing was tested");
}
