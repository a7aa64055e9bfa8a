use shardlab_core::{NodeId, Period, Sharder};

/// Beyond this many residues a sample is as good and faster.
pub(crate) const MOST_RESIDUES: u64 = 1 << 24;

/// The fraction of all keys that change their owner between two sharders whose answers repeat with a
/// period, by going through all residues of the common period; `None` where that is not possible.
///
/// `matched[i]` is the node after that is the same as node i before.
#[must_use]
pub fn exact_moved_fraction(before: &dyn Sharder, after: &dyn Sharder, matched: &[Option<NodeId>]) -> Option<f64> {
    let (one, other) = (before.period()?, after.period()?);
    if one.signed != other.signed {
        return None;
    }
    let common = least_common_multiple(one.modulus, other.modulus).filter(|&common| common <= MOST_RESIDUES)?;
    let mut moved: u128 = 0;
    for residue in 0..common {
        if matched[before.shard(residue).index()] != Some(after.shard(residue)) {
            moved += Period { modulus: common, signed: one.signed }.keys_of(residue);
        }
    }
    Some(moved as f64 / one.keys() as f64)
}

pub(crate) fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}
