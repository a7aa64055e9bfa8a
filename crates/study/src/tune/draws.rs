use shardlab_core::{Members, Node, Shares};
use shardlab_hash::mix64;

use crate::StudyError;

/// The increment of SplitMix64, 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The same nodes with other names, those of draw number `draw`: two words of the SplitMix64 sequence
/// of the seed, so that no two nodes ever have the same name.
pub(crate) fn renamed(members: &Members, seed: u64, draw: u32) -> Result<Members, StudyError> {
    let base = mix64(seed ^ mix64(u64::from(draw)));
    let nodes = members.iter().map(|(id, _, weight)| {
        let word = mix64(base.wrapping_add(u64::from(id.0).wrapping_mul(GOLDEN)));
        Node::new(format!("node-{word:016x}"), weight)
    });
    Ok(Members::listed(nodes.collect::<Result<_, _>>()?)?)
}

/// The largest share over the fair share, which is that of the weights.
pub(super) fn peak(shares: &Shares, members: &Members) -> f64 {
    let total = members.total_weight() as f64;
    let ratio = |(part, (_, _, weight)): (f64, (_, _, u32))| part * total / f64::from(weight);
    shares.fractions().zip(members.iter()).map(ratio).fold(0.0, f64::max)
}

/// Mean and quantile of samples: the quantile is the smallest sample that at least this part of all do
/// not exceed.
pub(super) fn mean_and_quantile(samples: &mut [f64], confidence: f64) -> (f64, f64) {
    samples.sort_unstable_by(f64::total_cmp);
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    // Rounding errors must not push 0.95 · 100 above 95.
    let needed = confidence * samples.len() as f64 - 1e-9;
    let at = (1..samples.len()).find(|&at| at as f64 >= needed).unwrap_or(samples.len());
    (mean, samples[at - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_the_sample_that_enough_do_not_exceed() {
        let mut samples: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(mean_and_quantile(&mut samples, 0.95), (50.5, 95.0));
        assert_eq!(mean_and_quantile(&mut samples, 0.951).1, 96.0);
        assert_eq!(mean_and_quantile(&mut samples, 1.0).1, 100.0);
        assert_eq!(mean_and_quantile(&mut [7.0], 0.5), (7.0, 7.0));
    }

    #[test]
    fn draws_keep_weights_and_change_every_name() {
        let nodes = [("a", 1), ("b", 3)].map(|(name, weight)| Node::new(name, weight).unwrap());
        let members = Members::listed(nodes.to_vec()).unwrap();
        let (one, other) = (renamed(&members, 42, 0).unwrap(), renamed(&members, 42, 1).unwrap());
        assert_eq!(one.iter().map(|(_, _, weight)| weight).collect::<Vec<_>>(), [1, 3]);
        assert!(one.iter().all(|(_, name, _)| other.find(&name).is_none()));
        assert_eq!(one, renamed(&members, 42, 0).unwrap());
    }
}
