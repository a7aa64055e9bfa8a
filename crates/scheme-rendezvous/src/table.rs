//! The search for the best node, over arrays in the order of names.

use std::cmp::Ordering;

use crate::score::{Halves, cost_of, unit};

/// How many keys a pass over the seeds serves: eight 32-bit lanes fill one or two vector registers.
const LANES: usize = 8;

/// The position of the highest score, the first one of several.
///
/// There is no branch on the scores, which are as good as random and would be mispredicted.
#[inline(always)]
pub(crate) fn highest(scores: impl Iterator<Item = u32>) -> u32 {
    let (mut best, mut at) = (0, 0);
    for (position, score) in (0_u32..).zip(scores) {
        let better = score > best;
        best = if better { score } else { best };
        at = if better { position } else { at };
    }
    at
}

/// The seeds of nodes in the order of names, so that the first of equals is the smaller name.
#[derive(Clone, Debug)]
pub(crate) struct Seeds {
    low: Box<[u32]>,
    high: Box<[u32]>,
}

impl Seeds {
    pub(crate) fn new(seeds: impl Iterator<Item = Halves>) -> Self {
        let (low, high): (Vec<u32>, Vec<u32>) = seeds.map(|seed| (seed.low, seed.high)).unzip();
        Self { low: low.into_boxed_slice(), high: high.into_boxed_slice() }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.low) + size_of_val(&*self.high)
    }

    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = Halves> + '_ {
        self.low.iter().zip(&self.high).map(|(&low, &high)| Halves { low, high })
    }

    #[inline(always)]
    fn scores(&self, key: Halves) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(move |node| key.score(node))
    }

    /// The node of the highest score.
    pub(crate) fn best(&self, key: u64) -> u32 {
        highest(self.scores(Halves::of_key(key)))
    }

    /// The node of the highest score for each of several keys, one key a lane.
    fn best_of_lanes(&self, keys: &[u64; LANES]) -> [u32; LANES] {
        let keys = keys.map(Halves::of_key);
        let (mut best, mut at) = ([0_u32; LANES], [0_u32; LANES]);
        for (position, node) in (0_u32..).zip(self.iter()) {
            for lane in 0..LANES {
                let score = keys[lane].score(node);
                let better = score > best[lane];
                best[lane] = if better { score } else { best[lane] };
                at[lane] = if better { position } else { at[lane] };
            }
        }
        at
    }

    /// As [`best`](Self::best) for many keys; each pass over the seeds serves several of them.
    pub(crate) fn best_many(&self, keys: &[u64], mut found: impl FnMut(usize, u32)) {
        let (blocks, rest) = keys.as_chunks::<LANES>();
        for (block, keys) in blocks.iter().enumerate() {
            for (lane, at) in self.best_of_lanes(keys).into_iter().enumerate() {
                found(block * LANES + lane, at);
            }
        }
        for (i, &key) in rest.iter().enumerate() {
            found(blocks.len() * LANES + i, self.best(key));
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
        for ((position, score), &weight) in (0_u32..).zip(self.scores(Halves::of_key(key))).zip(weights) {
            if 1.0 - unit(score) > bound * weight {
                continue;
            }
            let cost = cost_of(score, weight);
            if cost < best {
                (best, bound, at) = (cost, cost * MARGIN, position);
            }
        }
        at
    }

    /// The `k` best nodes, best first: by score, or by cost where there are weights.
    pub(crate) fn top(&self, weights: Option<&[f64]>, key: u64, k: usize) -> Vec<u32> {
        let scores = self.scores(Halves::of_key(key));
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

    /// Scores cut to 4 bits tie all the time, and the smaller name must win in every order.
    #[test]
    fn ties_go_to_the_smaller_name_whatever_the_order_of_the_list() {
        let names = ["delta", "alpha", "echo", "bravo", "charlie"];
        let winner = |order: &mut dyn Iterator<Item = &'static str>, key: u64| {
            let mut sorted: Vec<&str> = order.collect();
            sorted.sort_unstable();
            sorted[highest(sorted.iter().map(|name| crate::score(key, name) >> 28)) as usize]
        };
        let mut ties = 0;
        for key in 0..2000 {
            let forward = winner(&mut names.into_iter(), key);
            assert_eq!(forward, winner(&mut names.into_iter().rev(), key));
            let cut = |name: &str| crate::score(key, name) >> 28;
            let best: Vec<&str> = names.into_iter().filter(|name| cut(name) == cut(forward)).collect();
            ties += usize::from(best.len() > 1);
            assert_eq!(best.iter().min(), Some(&forward));
            assert!(names.iter().all(|name| cut(name) <= cut(forward)));
        }
        assert!(ties > 100, "the test needs ties");
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
