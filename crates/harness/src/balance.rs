use shardlab_core::rows::{Balance, Verdict, WeightLoad};
use shardlab_core::{Members, Shares};
use statrs::function::gamma::checked_gamma_ur;

/// Below this corrected upper-tail probability a spread is called structural.
const STRUCTURAL_BELOW: f64 = 0.001;

/// Below this expected count the chi-square distribution does not hold.
const LEAST_EXPECTED: f64 = 5.0;

/// What each node should own, as a fraction of everything.
#[derive(Clone, Debug, PartialEq)]
pub enum Fair {
    /// The same for each of so many nodes.
    Equal(usize),
    /// In proportion to weights.
    Weighted(Vec<f64>),
}

impl Fair {
    /// In proportion to the weights of the members.
    #[must_use]
    pub fn of(members: &Members) -> Self {
        if members.equal_weights() {
            return Self::Equal(members.len() as usize);
        }
        let total = members.total_weight() as f64;
        Self::Weighted(members.iter().map(|(_, _, weight)| f64::from(weight) / total).collect())
    }

    fn fraction(&self, node: usize) -> f64 {
        match self {
            Self::Equal(n) => 1.0 / *n as f64,
            Self::Weighted(fractions) => fractions[node],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Equal(n) => *n,
            Self::Weighted(fractions) => fractions.len(),
        }
    }

    fn fractions(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|node| self.fraction(node))
    }
}

/// Judges a distribution of keys over nodes. `rows` is the number of distributions that are judged
/// together, for which the probability is corrected (Bonferroni).
///
/// # Panics
/// There are no counts, or not as many as `fair` has nodes.
#[must_use]
pub fn balance(counts: &[u64], fair: &Fair, shares: Option<&Shares>, rows: usize) -> Balance {
    assert!(!counts.is_empty() && counts.len() == fair.len(), "one count a node");
    let nodes = counts.len() as f64;
    let total: u64 = counts.iter().sum();
    let keys = total as f64;
    let spread = loads(counts, fair);
    let chi_square = if total == 0 {
        0.0
    } else {
        counts.iter().zip(fair.fractions()).map(|(&count, p)| (count as f64 - keys * p).powi(2) / (keys * p)).sum()
    };
    let p_value = (upper_tail(chi_square, nodes - 1.0) * rows.max(1) as f64).min(1.0);
    let least_expected = fair.fractions().fold(f64::INFINITY, f64::min) * keys;
    let verdict = if least_expected < LEAST_EXPECTED {
        Verdict::TooFewKeys
    } else if p_value < STRUCTURAL_BELOW {
        Verdict::Structural
    } else {
        Verdict::Chance
    };
    let noise_floor_cv = expected_spread(fair, keys, fair.fractions());
    let expected_cv = shares.map_or(noise_floor_cv, |shares| expected_spread(fair, keys, shares.fractions()));
    Balance {
        counts: counts.to_vec(),
        peak_to_average: spread.largest,
        min_to_average: spread.smallest,
        cv: spread.cv,
        chi_square,
        p_value,
        noise_floor_cv,
        expected_cv,
        keys_per_node: keys / nodes,
        exact_peak_to_average: shares
            .map(|shares| shares.fractions().zip(fair.fractions()).map(|(share, p)| share / p).fold(0.0, f64::max)),
        empty_probability: match fair {
            Fair::Equal(nodes) => empty_probability(total, *nodes),
            Fair::Weighted(_) => None,
        },
        chance_peak: None,
        verdict,
    }
}

/// The largest load over the fair one, without the rest of a [`Balance`].
///
/// # Panics
/// As for [`balance`].
#[must_use]
pub fn peak_to_average(counts: &[u64], fair: &Fair) -> f64 {
    assert!(!counts.is_empty() && counts.len() == fair.len(), "one count a node");
    loads(counts, fair).largest
}

/// The loads over the fair ones. With no keys at all there is no load to compare, and every ratio is 0.
fn loads(counts: &[u64], fair: &Fair) -> Spread {
    let keys = counts.iter().sum::<u64>() as f64;
    Spread::of(counts.iter().zip(fair.fractions()).map(|(&count, p)| safe_ratio(count as f64, keys * p)))
}

/// The probability that independent, uniform keys leave at least one of the nodes empty; `None`
/// where it is below one in a million million or would take long.
///
/// Exact: the distribution of the number of occupied nodes, one key at a time.
fn empty_probability(keys: u64, nodes: usize) -> Option<f64> {
    const LONGEST: u128 = 20_000_000;
    let n = nodes as f64;
    // The union bound n (1 − 1/n)^K says when there is nothing to show.
    if nodes < 2 || n * (keys as f64 * libm::log1p(-1.0 / n)).exp() < 1e-12 {
        return None;
    }
    if u128::from(keys) * nodes as u128 > LONGEST {
        return None;
    }
    let mut occupied = vec![0.0; nodes + 1];
    occupied[0] = 1.0;
    for _ in 0..keys {
        for m in (0..=nodes).rev() {
            let stays = occupied[m] * m as f64 / n;
            let joins = if m == 0 { 0.0 } else { occupied[m - 1] * (nodes - m + 1) as f64 / n };
            occupied[m] = stays + joins;
        }
    }
    Some(occupied[..nodes].iter().sum())
}

/// Judges sums of weights over nodes; sums have no distribution to test against.
#[must_use]
pub fn weight_load(sums: &[u128], fair: &Fair) -> WeightLoad {
    let total: u128 = sums.iter().sum();
    let spread =
        Spread::of(sums.iter().zip(fair.fractions()).map(|(&sum, p)| safe_ratio(sum as f64, total as f64 * p)));
    WeightLoad {
        sums: sums.iter().map(u128::to_string).collect(),
        peak_to_average: spread.largest,
        min_to_average: spread.smallest,
    }
}

fn safe_ratio(value: f64, mean: f64) -> f64 {
    if mean > 0.0 { value / mean } else { 0.0 }
}

struct Spread {
    smallest: f64,
    largest: f64,
    cv: f64,
}

impl Spread {
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let ratios: Vec<f64> = ratios.collect();
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / count;
        Self {
            smallest: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            largest: ratios.iter().copied().fold(0.0, f64::max),
            cv: safe_ratio(variance.sqrt(), mean),
        }
    }
}

/// The root mean square of the coefficient of variation of load over fair load, for independent keys
/// that fall on each node with the probability that `own` says.
///
/// With q = own / fair and v = own (1 − own) / (K fair²), the mean square of the loads around their own
/// mean is mean(q² + v) − E(mean²), where the loads of one key set are correlated by −q_i q_j / K.
fn expected_spread(fair: &Fair, keys: f64, own: impl Iterator<Item = f64>) -> f64 {
    if keys == 0.0 {
        return 0.0;
    }
    let n = fair.len() as f64;
    let (mut sum, mut squares, mut variances) = (0.0, 0.0, 0.0);
    for (p, s) in fair.fractions().zip(own) {
        let q = s / p;
        sum += q;
        squares += q * q;
        variances += s * (1.0 - s) / (keys * p * p);
    }
    let mean = sum / n;
    let variance_of_mean = (variances - (sum * sum - squares) / keys) / (n * n);
    let spread = (squares + variances) / n - mean * mean - variance_of_mean;
    // With far fewer keys than nodes the load of one node is all there is, and no spread is above that.
    (spread.max(0.0).sqrt() / mean).min((n - 1.0).sqrt())
}

/// The probability that a chi-square variable with so many degrees of freedom is at least this large.
fn upper_tail(chi_square: f64, freedom: f64) -> f64 {
    if freedom < 1.0 || chi_square <= 0.0 {
        return 1.0;
    }
    checked_gamma_ur(freedom / 2.0, chi_square / 2.0).unwrap_or(0.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(counts: &[u64]) -> Balance {
        balance(counts, &Fair::Equal(counts.len()), None, 1)
    }

    #[test]
    fn nine_shards_of_numeric_ids_are_skewed_beyond_chance() {
        let judged = judge(&[414_182, 388_317, 362_089, 342_782, 324_263, 318_252, 304_890, 297_171, 288_496]);
        assert_eq!(judged.counts.iter().sum::<u64>(), 3_040_442);
        assert!((judged.peak_to_average - 1.226).abs() < 0.0005, "{}", judged.peak_to_average);
        assert!((judged.chi_square - 43_605.0).abs() < 1.0, "{}", judged.chi_square);
        assert_eq!(judged.verdict, Verdict::Structural);
        let sigma = judged.noise_floor_cv * judged.keys_per_node;
        assert!((sigma - 548.0).abs() < 1.0, "a fair hash gives ±{sigma}");
    }

    #[test]
    fn three_nodes_with_few_points_are_skewed_beyond_chance() {
        let judged = judge(&[58_856, 18_389, 22_755]);
        assert!((judged.peak_to_average - 1.77).abs() < 0.005);
        assert!((judged.chi_square - 29_599.0).abs() < 1.0);
        assert_eq!(judged.verdict, Verdict::Structural);
    }

    #[test]
    fn six_nearly_equal_counts_are_chance() {
        let judged = judge(&[1663, 1706, 1650, 1713, 1629, 1639]);
        assert!((judged.chi_square - 3.70).abs() < 0.005, "{}", judged.chi_square);
        assert_eq!(judged.verdict, Verdict::Chance);
    }

    #[test]
    fn the_tail_has_its_textbook_values() {
        // The 0.1 % points of the chi-square distribution.
        for (freedom, point) in [(1.0, 10.828), (4.0, 18.467), (7.0, 24.322), (11.0, 31.264), (100.0, 149.449)] {
            assert!((upper_tail(point, freedom) - 0.001).abs() < 2e-6, "{freedom}: {}", upper_tail(point, freedom));
        }
        assert_eq!(upper_tail(0.0, 5.0), 1.0);
        assert_eq!(upper_tail(1e9, 5.0), 0.0);
        assert!(upper_tail(1e6, 1e6) > 0.49 && upper_tail(1e6, 1e6) < 0.51);
    }

    #[test]
    fn a_perfectly_even_distribution_is_no_alarm() {
        let judged = judge(&[1000; 7]);
        assert_eq!((judged.chi_square, judged.p_value, judged.cv), (0.0, 1.0, 0.0));
        assert_eq!(judged.verdict, Verdict::Chance);
    }

    #[test]
    fn few_keys_get_no_verdict() {
        assert_eq!(judge(&[10, 0, 0]).verdict, Verdict::TooFewKeys);
        assert_eq!(judge(&[0, 0]).verdict, Verdict::TooFewKeys);
        assert_eq!(judge(&[5]).verdict, Verdict::Chance);
        let rare = Fair::Weighted(vec![0.999, 0.001]);
        assert_eq!(balance(&[1000, 1], &rare, None, 1).verdict, Verdict::TooFewKeys);
    }

    #[test]
    fn empty_shards_are_expected_with_few_documents() {
        for (keys, nodes, probability) in [(10, 5, 0.4775), (100, 20, 0.1135), (1000, 100, 0.0043)] {
            let computed = empty_probability(keys, nodes).unwrap();
            assert!((computed - probability).abs() < 0.00005, "{keys} on {nodes}: {computed}");
        }
        assert_eq!(empty_probability(1_000_000, 10), None);
        assert_eq!(empty_probability(3, 1), None);
        assert_eq!(empty_probability(0, 2), Some(1.0));
    }

    #[test]
    fn rows_judged_together_need_a_smaller_probability() {
        let counts = [1100, 1000, 950, 950];
        let (alone, together) = (judge(&counts).p_value, balance(&counts, &Fair::Equal(4), None, 7).p_value);
        assert!((together / alone - 7.0).abs() < 1e-9);
    }

    #[test]
    fn weights_divide_load_by_what_is_fair() {
        let judged = balance(&[100, 300], &Fair::Weighted(vec![0.25, 0.75]), None, 1);
        assert_eq!((judged.peak_to_average, judged.cv, judged.chi_square), (1.0, 0.0, 0.0));
        let load = weight_load(&[u128::from(u64::MAX), u128::from(u64::MAX) * 3], &Fair::Weighted(vec![0.25, 0.75]));
        assert!((load.peak_to_average - 1.0).abs() < 1e-12);
    }

    /// Draws keys one by one and takes the root mean square of the coefficient of variation.
    fn simulated(weights: &[f64], keys: u32) -> f64 {
        let total: f64 = weights.iter().sum();
        let fair: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let mut state = 0_u64;
        let mut uniform = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            (shardlab_hash::mix64(state) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let rounds = 4000;
        let squares: f64 = (0..rounds)
            .map(|_| {
                let mut counts = vec![0; fair.len()];
                for _ in 0..keys {
                    let mut u = uniform();
                    let node = fair.iter().position(|p| {
                        u -= p;
                        u < 0.0
                    });
                    counts[node.unwrap_or(fair.len() - 1)] += 1;
                }
                balance(&counts, &Fair::Weighted(fair.clone()), None, 1).cv.powi(2)
            })
            .sum();
        (squares / f64::from(rounds)).sqrt()
    }

    #[test]
    fn the_noise_floor_is_what_draws_show_with_weights_too() {
        for (weights, keys) in [(vec![1.0, 1.0, 1.0], 300), (vec![1.0, 3.0], 1000), (vec![1.0, 2.0, 3.0], 600)] {
            let total: f64 = weights.iter().sum();
            let fair = Fair::Weighted(weights.iter().map(|weight| weight / total).collect());
            let floor = balance(&vec![u64::from(keys); weights.len()], &fair, None, 1);
            let at_keys = expected_spread(&fair, f64::from(keys), fair.fractions());
            assert!(floor.noise_floor_cv < at_keys, "more keys, less noise");
            let drawn = simulated(&weights, keys);
            assert!((at_keys / drawn - 1.0).abs() < 0.04, "{weights:?}: {at_keys}, drawn {drawn}");
        }
        let lopsided = Fair::Weighted(vec![0.999_999_999_9, 0.000_000_000_1]);
        assert!(expected_spread(&lopsided, 2e6, lopsided.fractions()) <= 1.0);
    }

    #[test]
    fn exact_shares_raise_what_is_expected_above_the_floor() {
        let shares = Shares { parts: vec![2, 1, 1], whole: 4 };
        let judged = balance(&[500, 250, 250], &Fair::Equal(3), Some(&shares), 1);
        assert_eq!(judged.exact_peak_to_average, Some(1.5));
        assert!((judged.cv - 0.353_553).abs() < 1e-6);
        assert!(judged.expected_cv > 0.353_553 && judged.expected_cv < 0.36, "{}", judged.expected_cv);
        assert!((judged.noise_floor_cv - (2.0_f64 / 1000.0).sqrt()).abs() < 1e-12);
    }
}
