//! Loads of nodes under a placement by chance with given shares.

use std::f64::consts::TAU;

use shardlab_hash::mix64;

/// The increment of SplitMix64, 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Up to this mean a binomial draw is exact, by inversion; above it the normal distribution with a correction for
/// skewness is near enough for the tails that are looked at.
const EXACT_MEAN: f64 = 40.0;

/// Numbers that look random, the same on every machine.
pub(super) struct Draws(u64);

impl Draws {
    /// The sequence of one draw.
    pub(super) fn new(seed: u64, draw: u64) -> Self {
        Self(mix64(seed ^ mix64(draw ^ 0x7265_7669_6577)))
    }

    /// Between 0 and 1, neither of them.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        ((mix64(self.0) >> 12) as f64 + 0.5) / 2_f64.powi(52)
    }

    /// With mean 0 and variance 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.uniform(), self.uniform());
        (-2.0 * libm::log(radius)).sqrt() * libm::cos(TAU * angle)
    }

    /// How many of `keys` fall into a part.
    fn binomial(&mut self, keys: u64, part: f64) -> u64 {
        if keys == 0 || part <= 0.0 {
            return 0;
        }
        if part >= 1.0 {
            return keys;
        }
        if part > 0.5 {
            return keys - self.binomial(keys, 1.0 - part);
        }
        let mean = keys as f64 * part;
        if mean <= EXACT_MEAN { self.by_inversion(keys, part) } else { self.by_normal(keys, part, mean) }
    }

    fn by_inversion(&mut self, keys: u64, part: f64) -> u64 {
        let odds = part / (1.0 - part);
        let mut probability = libm::exp(keys as f64 * libm::log1p(-part));
        let mut left = self.uniform() - probability;
        let mut count = 0;
        while left > 0.0 && count < keys {
            probability *= (keys - count) as f64 / (count + 1) as f64 * odds;
            // What rounding leaves over at the end of the tail is no reason to go on.
            if probability < f64::MIN_POSITIVE {
                break;
            }
            count += 1;
            left -= probability;
        }
        count
    }

    fn by_normal(&mut self, keys: u64, part: f64, mean: f64) -> u64 {
        let deviation = (mean * (1.0 - part)).sqrt();
        let skewness = (1.0 - 2.0 * part) / deviation;
        let z = self.normal();
        // The first term of Cornish and Fisher.
        let drawn = mean + deviation * (z + skewness * (z * z - 1.0) / 6.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 0 and the number of keys"
        )]
        let count = drawn.round().clamp(0.0, keys as f64) as u64;
        count.min(keys)
    }

    /// The loads of `keys` independent keys on nodes with these shares, which add up to 1.
    pub(super) fn loads(&mut self, keys: u64, shares: &[f64]) -> Vec<u64> {
        let (mut keys_left, mut share_left) = (keys, 1.0);
        let mut loads = Vec::with_capacity(shares.len());
        for (place, &share) in shares.iter().enumerate() {
            let is_last = place + 1 == shares.len();
            let load = if is_last { keys_left } else { self.binomial(keys_left, share / share_left) };
            keys_left -= load;
            share_left = (share_left - share).max(f64::MIN_POSITIVE);
            loads.push(load);
        }
        loads
    }
}

#[cfg(test)]
mod tests {
    use shardlab_harness::chance_peak;

    use super::*;

    fn peaks(keys: u64, nodes: usize, draws: u64) -> Vec<f64> {
        let shares = vec![1.0 / nodes as f64; nodes];
        let mut peaks: Vec<f64> = (0..draws)
            .map(|draw| {
                let loads = Draws::new(3, draw).loads(keys, &shares);
                assert_eq!(loads.iter().sum::<u64>(), keys);
                *loads.iter().max().unwrap() as f64 * nodes as f64 / keys as f64
            })
            .collect();
        peaks.sort_unstable_by(f64::total_cmp);
        peaks
    }

    #[test]
    fn drawn_peaks_agree_with_the_distribution_of_the_fullest_node() {
        for (keys, nodes) in [(50_000, 10), (200, 10), (3000, 100), (1_000_000, 1000)] {
            let draws = 4000;
            let peaks = peaks(keys, nodes, draws);
            let chance = chance_peak(keys, nodes).unwrap();
            let mean = peaks.iter().sum::<f64>() / draws as f64;
            let deviation = (peaks.iter().map(|peak| (peak - mean).powi(2)).sum::<f64>() / draws as f64).sqrt();
            assert!(
                (mean - chance.mean).abs() < 5.0 * deviation / (draws as f64).sqrt(),
                "{keys} keys on {nodes}: mean {mean}, expected {}",
                chance.mean
            );
            let beyond = peaks.iter().filter(|peak| **peak > chance.p99).count();
            assert!((10..=70).contains(&beyond), "{keys} keys on {nodes}: {beyond} of {draws} beyond the 99 % point");
        }
    }

    #[test]
    fn unequal_shares_get_their_parts() {
        let shares = [0.5, 0.3, 0.2];
        let mut sums = [0_u64; 3];
        for draw in 0..2000 {
            for (sum, load) in sums.iter_mut().zip(Draws::new(9, draw).loads(1000, &shares)) {
                *sum += load;
            }
        }
        for (sum, share) in sums.iter().zip(shares) {
            let keys = 2_000_000.0_f64;
            let deviation = (keys * share * (1.0 - share)).sqrt();
            assert!((*sum as f64 - keys * share).abs() < 5.0 * deviation, "{sums:?}");
        }
    }
}
