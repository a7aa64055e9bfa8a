//! How full the fullest node gets by chance alone.

use shardlab_core::rows::{Balance, ChancePeak};
use statrs::function::gamma::{checked_gamma_ur, ln_gamma};

use crate::Fair;

/// Up to so many steps the distribution is worked out exactly.
const EXACT_STEPS: u128 = 30_000_000;

/// Beyond this mean load only the scale changes: deviations go with the root of the mean.
const LARGEST_MEAN: f64 = 10_000.0;

/// What independent, uniform keys do to the fullest of so many nodes; `None` for a single node or
/// without keys.
///
/// Exact where that is quick. Else by Levin's representation of the multinomial distribution: the loads
/// are independent Poisson variables under the condition that they add up to the keys, the probability
/// of which comes from an Edgeworth expansion.
#[must_use]
pub fn chance_peak(keys: u64, nodes: usize) -> Option<ChancePeak> {
    if nodes < 2 || keys == 0 {
        return None;
    }
    let mean = keys as f64 / nodes as f64;
    // Convolving so many loads, for perhaps a dozen largest ones.
    let steps = u128::from(keys).saturating_pow(2).saturating_mul(12 * nodes as u128);
    let (modelled, distribution) = if steps <= EXACT_STEPS {
        (mean, exact(keys, nodes))
    } else {
        let modelled = mean.min(LARGEST_MEAN);
        (modelled, approximate(modelled, nodes))
    };
    // A load of the model, as a ratio to the mean at the real one.
    let ratio = |load: f64| 1.0 + (load / modelled - 1.0) * (modelled / mean).sqrt();
    let expected = distribution.expected();
    Some(ChancePeak {
        mean: ratio(expected),
        p99: ratio(distribution.quantile(0.99)),
        even_probability: even_probability(keys, nodes),
    })
}

/// The same distribution, with what chance alone does to its fullest node.
#[must_use]
pub fn with_chance_peak(judged: Balance, fair: &Fair) -> Balance {
    let chance_peak = match fair {
        Fair::Equal(nodes) => chance_peak(judged.counts.iter().sum(), *nodes),
        Fair::Weighted(_) => None,
    };
    Balance { chance_peak, ..judged }
}

/// The probability that every node gets exactly the same.
fn even_probability(keys: u64, nodes: usize) -> f64 {
    let n = nodes as u64;
    if !keys.is_multiple_of(n) {
        return 0.0;
    }
    let each = (keys / n) as f64;
    let (keys, n) = (keys as f64, nodes as f64);
    (ln_gamma(keys + 1.0) - n * ln_gamma(each + 1.0) - keys * libm::log(n)).exp().min(1.0)
}

/// The probabilities that the largest load is at most `first`, `first + step`, and so on.
struct Distribution {
    first: f64,
    step: f64,
    at_most: Vec<f64>,
}

impl Distribution {
    fn expected(&self) -> f64 {
        // The load is at least the first one less a step, and each step beyond counts as often as it is
        // exceeded. Between two steps the middle of both stands for what was left out.
        let exceeded: f64 = self.at_most.iter().map(|at_most| 1.0 - at_most).sum();
        let within = if self.step > 1.0 { (self.step - 1.0) / 2.0 } else { 0.0 };
        self.first + exceeded * self.step - within
    }

    fn quantile(&self, part: f64) -> f64 {
        let place = self.at_most.iter().position(|&at_most| at_most >= part).unwrap_or(self.at_most.len());
        self.first + place as f64 * self.step
    }
}

/// One node after another, each with at most so many keys: Poisson loads, then the condition on their sum.
fn exact(keys: u64, nodes: usize) -> Distribution {
    let total = usize::try_from(keys).unwrap_or(usize::MAX);
    let mean = keys as f64 / nodes as f64;
    let least = total.div_ceil(nodes);
    let poisson = |load: usize, mean: f64| (load as f64 * libm::log(mean) - mean - ln_gamma(load as f64 + 1.0)).exp();
    let single: Vec<f64> = (0..=total).map(|load| poisson(load, mean)).collect();
    let condition = poisson(total, keys as f64);
    let mut at_most = Vec::new();
    for most in least..=total {
        let mut sums = vec![0.0; total + 1];
        sums[0] = 1.0;
        for _ in 0..nodes {
            let mut next = vec![0.0; total + 1];
            for (load, probability) in single[..=most].iter().enumerate() {
                for (sum, before) in sums[..=total - load].iter().enumerate() {
                    next[sum + load] += before * probability;
                }
            }
            sums = next;
        }
        let probability = (sums[total] / condition).min(1.0);
        at_most.push(probability);
        if probability > 1.0 - 1e-9 {
            break;
        }
    }
    Distribution { first: least as f64, step: 1.0, at_most }
}

fn approximate(mean: f64, nodes: usize) -> Distribution {
    let n = nodes as f64;
    let keys = (mean * n).round();
    let sigma = mean.sqrt();
    let step = (sigma / 25.0).floor().max(1.0);
    let first = mean.ceil();
    // The probability of the condition itself.
    let condition = ln_gamma(keys + 1.0) - keys * libm::log(keys) + keys;
    let mut at_most: Vec<f64> = Vec::new();
    loop {
        let most = first + at_most.len() as f64 * step;
        let below = |less: f64| {
            let load = most - less;
            if load < 0.0 { 0.0 } else { checked_gamma_ur(load + 1.0, mean).unwrap_or(1.0) }
        };
        let all = below(0.0);
        // Factorial moments of a Poisson load that is at most `most`, then central ones.
        let factorial = [1, 2, 3, 4].map(|order: i32| mean.powi(order) * below(f64::from(order)) / all);
        let raw = [
            factorial[0],
            factorial[1] + factorial[0],
            factorial[2] + 3.0 * factorial[1] + factorial[0],
            factorial[3] + 6.0 * factorial[2] + 7.0 * factorial[1] + factorial[0],
        ];
        let centre = raw[0];
        let variance = (raw[1] - centre.powi(2)).max(f64::MIN_POSITIVE);
        let third = raw[2] - 3.0 * centre * raw[1] + 2.0 * centre.powi(3);
        let fourth = raw[3] - 4.0 * centre * raw[2] + 6.0 * centre.powi(2) * raw[1] - 3.0 * centre.powi(4);
        let skew = third / (variance.powf(1.5) * n.sqrt());
        let excess = (fourth / variance.powi(2) - 3.0) / n;
        let spread = (n * variance).sqrt();
        let x = (keys - n * centre) / spread;
        let edgeworth = 1.0
            + skew / 6.0 * (x.powi(3) - 3.0 * x)
            + excess / 24.0 * (x.powi(4) - 6.0 * x.powi(2) + 3.0)
            + skew.powi(2) / 72.0 * (x.powi(6) - 15.0 * x.powi(4) + 45.0 * x.powi(2) - 15.0);
        let normal = (-x * x / 2.0).exp() / (std::f64::consts::TAU.sqrt() * spread);
        let density = (condition + n * libm::log(all)).exp() * normal * edgeworth.max(0.0);
        // An expansion may overshoot far from the middle; a distribution only rises.
        let probability = density.clamp(0.0, 1.0).max(at_most.last().copied().unwrap_or(0.0));
        at_most.push(probability);
        if most > mean + 3.0 * sigma && (1.0 - all) * n < 1e-7 {
            return Distribution { first, step, at_most };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest_loads(keys: u64, nodes: u64, rounds: u64) -> Vec<u64> {
        let mut state = 7_u64;
        let mut all: Vec<u64> = (0..rounds)
            .map(|_| {
                let mut counts = vec![0_u64; usize::try_from(nodes).unwrap()];
                for _ in 0..keys {
                    state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                    let node = (u128::from(shardlab_hash::mix64(state)) * u128::from(nodes)) >> 64;
                    counts[usize::try_from(node).unwrap()] += 1;
                }
                counts.into_iter().max().unwrap()
            })
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn the_fullest_node_is_as_full_as_draws_show() {
        for (keys, nodes) in [(120, 3), (10, 5), (1000, 100), (10_000, 6), (5000, 2), (3000, 30)] {
            let rounds = 4000;
            let drawn = largest_loads(keys, nodes, rounds);
            let mean = keys as f64 / nodes as f64;
            let of_drawn = drawn.iter().sum::<u64>() as f64 / rounds as f64 / mean;
            let at = usize::try_from(rounds * 99 / 100).unwrap();
            let peak = chance_peak(keys, usize::try_from(nodes).unwrap()).unwrap();
            assert!((peak.mean / of_drawn - 1.0).abs() < 0.005, "{keys} on {nodes}: {peak:?}, drawn {of_drawn}");
            let tail = drawn[at] as f64 / mean;
            let tolerance = 0.012 + 1.01 / mean;
            assert!((peak.p99 - tail).abs() < tolerance, "{keys} on {nodes}: {peak:?}, drawn {tail}");
        }
    }

    #[test]
    fn the_quick_way_agrees_with_the_exact_one() {
        for (keys, nodes) in [(120, 3), (200, 4), (300, 2), (60, 12), (40, 5)] {
            let (slow, quick) = (exact(keys, nodes), approximate(keys as f64 / nodes as f64, nodes));
            let (a, b) = (slow.expected(), quick.expected());
            assert!((a / b - 1.0).abs() < 0.004, "{keys} on {nodes}: {a} and {b}");
            assert!((slow.quantile(0.99) - quick.quantile(0.99)).abs() <= 1.0);
        }
    }

    #[test]
    fn known_answers_come_out() {
        let peak = chance_peak(120, 3).unwrap();
        assert!((peak.mean - 1.135).abs() < 0.0005, "{peak:?}");
        assert!((peak.p99 - 1.35).abs() < 1e-9, "{peak:?}");
        assert!((peak.even_probability - 0.0069).abs() < 0.00005, "{peak:?}");
        let peak = chance_peak(10_000, 6).unwrap();
        assert!((peak.mean - 1.03).abs() < 0.003 && (peak.p99 - 1.07).abs() < 0.006, "{peak:?}");
        assert_eq!(peak.even_probability, 0.0, "10,000 is no multiple of 6");
        assert_eq!((chance_peak(5, 1), chance_peak(0, 3)), (None, None));
    }

    #[test]
    fn huge_numbers_are_answered_at_once_and_go_with_the_root() {
        let (large, larger) = (chance_peak(1_000_000_000, 12).unwrap(), chance_peak(100_000_000_000, 12).unwrap());
        assert!(((large.mean - 1.0) / (larger.mean - 1.0) - 10.0).abs() < 0.01, "{large:?} {larger:?}");
        let many = chance_peak(50_000_000, 100_000).unwrap();
        assert!(many.mean > 1.19 && many.mean < 1.21 && many.p99 > many.mean, "{many:?}");
        assert!(chance_peak(u64::MAX, 1000).unwrap().mean > 1.0);
    }
}
