//! The search for the best node, over arrays in the order of names.

use std::cmp::Ordering;

use shardlab_core::NodeId;
use shardlab_kernels::Simd;
use shardlab_kernels::rendezvous::{LANES, Nodes};

use crate::score::{Words, cost_of, mixed, mixed_many, unit};

/// How many keys are mixed before a kernel takes them.
const BATCH: usize = 256;

/// The seeds of nodes in the order of names, so that the first of equals is the smaller name.
#[derive(Clone, Debug)]
pub(crate) struct Seeds {
    nodes: Nodes,
    simd: Simd,
}

impl Seeds {
    pub(crate) fn new(seeds: impl ExactSizeIterator<Item = Words>) -> Self {
        Self { nodes: Nodes::new(seeds), simd: Simd::best() }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.nodes.heap_bytes()
    }

    fn scores(&self, key: u64) -> impl Iterator<Item = [u32; LANES]> + '_ {
        self.nodes.scores(Words::of(mixed(key)))
    }

    /// The node of the highest score.
    pub(crate) fn best(&self, key: u64) -> u32 {
        self.nodes.best(self.simd, Words::of(mixed(key)))
    }

    /// As [`best`](Self::best) for many keys; each pass over the seeds serves several of them.
    pub(crate) fn best_many(&self, keys: &[u64], out: &mut [NodeId]) {
        assert_eq!(keys.len(), out.len(), "as many answers as keys");
        let mut batch = [0; BATCH];
        for (keys, out) in keys.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let batch = &mut batch[..keys.len()];
            mixed_many(self.simd, keys, batch);
            self.nodes.best_many(self.simd, batch, NodeId::numbers_mut(out));
        }
    }

    /// The node of the lowest cost.
    ///
    /// A logarithm costs as much as ten scores, but −ln(u) ≥ 1 − u: a node for which even such a bound
    /// is above the best cost cannot win. About ln n logarithms are left of n. The margin is far
    /// above the rounding errors on both sides, so that the answer is that of all logarithms.
    pub(crate) fn cheapest(&self, weights: &[f64], key: u64) -> u32 {
        const MARGIN: f64 = 1.0 + 1e-9;
        let (mut best, mut bound, mut at) = (f64::INFINITY, f64::INFINITY, 0);
        let mut position = 0;
        for (scores, weights) in self.scores(key).zip(weights.chunks(LANES)) {
            for (&score, &weight) in scores.iter().zip(weights) {
                if 1.0 - unit(score) <= bound * weight {
                    let cost = cost_of(score, weight);
                    if cost < best {
                        (best, bound, at) = (cost, cost * MARGIN, position);
                    }
                }
                position += 1;
            }
        }
        at
    }

    /// The `k` best nodes, best first: by score, or by cost where there are weights.
    pub(crate) fn top(&self, weights: Option<&[f64]>, key: u64, k: usize) -> Vec<u32> {
        let scores = self.scores(key).flatten().take(self.nodes.len());
        match weights {
            None => leading(scores.map(std::cmp::Reverse), k, Ord::cmp),
            Some(weights) => {
                leading(scores.zip(weights).map(|(score, &weight)| cost_of(score, weight)), k, f64::total_cmp)
            }
        }
    }
}

/// The positions of the `k` smallest values in ascending order, the earlier of equals first.
fn leading<T>(values: impl Iterator<Item = T>, k: usize, order: impl Fn(&T, &T) -> Ordering) -> Vec<u32> {
    let mut all: Vec<(T, u32)> = values.zip(0..).collect();
    let by = |a: &(T, u32), b: &(T, u32)| order(&a.0, &b.0).then(a.1.cmp(&b.1));
    if k == 0 {
        return Vec::new();
    }
    if k < all.len() {
        all.select_nth_unstable_by(k - 1, by);
        all.truncate(k);
    }
    all.sort_unstable_by(by);
    all.into_iter().map(|(_, position)| position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost;

    /// Nodes of one seed tie for every key, and the smaller name must win in every order of the list.
    #[test]
    fn ties_go_to_the_smaller_name_whatever_the_order_of_the_list() {
        let seeds = Seeds::new((0..5).map(|_| crate::score::seed("same")));
        let keys: Vec<u64> = (0..100).collect();
        let mut out = vec![NodeId(9); keys.len()];
        seeds.best_many(&keys, &mut out);
        assert!(out.iter().all(|&node| node == NodeId(0)));
        assert!(keys.iter().all(|&key| seeds.best(key) == 0 && seeds.top(None, key, 3) == [0, 1, 2]));
    }

    #[test]
    fn the_lowest_and_the_highest_score_have_finite_positive_costs() {
        for weight in [1, 2, 1_000_000, u32::MAX] {
            for score in [0, 1, u32::MAX - 1, u32::MAX] {
                let cost = cost(score, weight);
                assert!(cost.is_finite() && cost > 0.0, "score {score}, weight {weight}: {cost}");
            }
            assert!(cost(u32::MAX, weight) < cost(u32::MAX - 1, weight));
            assert!(cost(1, weight) < cost(0, weight));
        }
    }
}
