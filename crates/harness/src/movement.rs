use shardlab_core::rows::Movement;
use shardlab_core::{Members, NodeId, Sharder};

use crate::error::Impossible;

/// A sharder after a change, with what is needed to compare it with the one before, by name.
#[derive(Debug)]
pub(crate) struct After {
    pub(crate) change: &'static str,
    pub(crate) sharder: Box<dyn Sharder>,
    /// For each node before: where it stands after, or [`GONE`].
    matched: Vec<u32>,
    /// For each node after: whether it was there before.
    survivor: Vec<bool>,
    ideal: f64,
    /// For splits and shrinks: the shards before from which each shard after takes its documents.
    sources: Option<Vec<Vec<NodeId>>>,
}

/// No node has this number: memberships end at 2^31 − 1.
const GONE: u32 = u32::MAX;

impl After {
    pub(crate) fn new(change: &'static str, before: &dyn Sharder, sharder: Box<dyn Sharder>) -> Self {
        let (from, to) = (before.members(), sharder.members());
        let matched = from.matched_in(to).into_iter().map(|id| id.map_or(GONE, |id| id.0)).collect();
        let survivor = to.matched_in(from).into_iter().map(|id| id.is_some()).collect();
        let ideal = ideal_fraction(from, to);
        let sources = before.as_resizable().and_then(|rules| {
            (0..to.len()).map(|target| rules.sources_of(to.len(), NodeId(target)).ok()).collect::<Option<Vec<_>>>()
        });
        Self { change, sharder, matched, survivor, ideal, sources }
    }

    /// Adds a batch of placements before and after.
    pub(crate) fn tally(&self, before: &[NodeId], after: &[NodeId], tally: &mut MoveTally) {
        // Without a branch on what is as good as random: a change that doubles the nodes moves half the keys.
        let (mut moved, mut disrupted) = (0, 0);
        for (from, to) in before.iter().zip(after) {
            tally.counts[to.index()] += 1;
            let stays_on = self.matched[from.index()];
            let moves = stays_on != to.0;
            moved += u64::from(moves);
            disrupted += u64::from(moves & (stays_on != GONE) & self.survivor[to.index()]);
        }
        tally.moved += moved;
        tally.disrupted += disrupted;
        if let Some(sources) = &self.sources {
            let left = before.iter().zip(after).filter(|(from, to)| !sources[to.index()].contains(from));
            tally.left_parent += left.count() as u64;
        }
    }

    /// The row for what was tallied.
    pub(crate) fn outcome(
        &self,
        before: &[u64],
        tally: &MoveTally,
        promised_none: bool,
    ) -> Result<Movement, Impossible> {
        let change = self.change;
        let total: u64 = before.iter().sum();
        let counted: u64 = tally.counts.iter().sum();
        if counted != total {
            return Err(Impossible::LostKeys { counted, placed: total });
        }
        let minimum = minimum_keys(before, &tally.counts, &self.matched);
        if tally.moved < minimum {
            return Err(Impossible::BelowMinimum { change, moved: tally.moved, minimum });
        }
        if promised_none && tally.disrupted > 0 {
            return Err(Impossible::BrokenPromise { change, disrupted: tally.disrupted });
        }
        let fraction = |keys: u64| keys as f64 / total as f64;
        Ok(Movement {
            moved: fraction(tally.moved),
            minimum: fraction(minimum),
            excess: fraction(tally.moved - minimum),
            disruption: fraction(tally.disrupted),
            ideal: self.ideal,
            left_parent: self.sources.as_ref().map(|_| fraction(tally.left_parent)),
        })
    }
}

/// What was counted of one change; sums of integers, so that the order of batches never matters.
#[derive(Clone, Debug)]
pub(crate) struct MoveTally {
    counts: Vec<u64>,
    moved: u64,
    disrupted: u64,
    left_parent: u64,
}

impl MoveTally {
    pub(crate) fn new(nodes: u32) -> Self {
        Self { counts: vec![0; nodes as usize], moved: 0, disrupted: 0, left_parent: 0 }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        add_counts(&mut self.counts, &other.counts);
        self.moved += other.moved;
        self.disrupted += other.disrupted;
        self.left_parent += other.left_parent;
    }
}

pub(crate) fn add_counts<T: std::ops::AddAssign + Copy>(sums: &mut [T], more: &[T]) {
    for (sum, &count) in sums.iter_mut().zip(more) {
        *sum += count;
    }
}

/// The least number of keys that must move between these counts: Σ max(0, before − after), where a
/// node is looked up by name and a node that left holds nothing after.
///
/// `matched[i]` is the position after the change of node i, or any number beyond the list.
#[must_use]
pub fn minimum_keys(before: &[u64], after: &[u64], matched: &[u32]) -> u64 {
    let held = |node: u32| after.get(node as usize).copied().unwrap_or(0);
    before.iter().zip(matched).map(|(&count, &node)| count.saturating_sub(held(node))).sum()
}

/// What a perfectly balanced scheme would have to move: Σ max(0, p_before − p_after) over nodes by
/// name, where p is weight over total weight.
#[must_use]
pub fn ideal_fraction(before: &Members, after: &Members) -> f64 {
    let (total_before, total_after) = (u128::from(before.total_weight()), u128::from(after.total_weight()));
    // In whole numbers over the common denominator, so that equal shares cancel exactly.
    let lost: u128 = before
        .iter()
        .zip(before.matched_in(after))
        .map(|((_, _, weight), id)| {
            let had = u128::from(weight) * total_after;
            let has = id.map_or(0, |id| u128::from(after.weight(id)) * total_before);
            had.saturating_sub(has)
        })
        .sum();
    lost as f64 / (total_before * total_after) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use shardlab_core::{Change, Node};

    #[test]
    fn ideal_fractions_are_the_textbook_ones() {
        let ten = Members::dense(10).unwrap();
        for (change, ideal) in [
            (Change::Grow { to: 11 }, 1.0 / 11.0),
            (Change::Grow { to: 20 }, 0.5),
            (Change::Shrink { to: 9 }, 0.1),
            (Change::Remove { name: "5".into() }, 0.1),
            (Change::Reweight { name: "3".into(), weight: 3 }, 0.15),
            (Change::Add(Node::new("big", 10).unwrap()), 0.5),
        ] {
            let measured = ideal_fraction(&ten, &ten.after(&change).unwrap());
            assert!((measured - ideal).abs() < 1e-12, "{change:?}: {measured}");
        }
    }

    #[test]
    fn the_minimum_counts_what_every_node_must_give_away() {
        assert_eq!(minimum_keys(&[50, 50], &[34, 33, 33], &[0, 1]), 33);
        assert_eq!(minimum_keys(&[40, 30, 30], &[55, 45], &[0, GONE, 1]), 30);
        assert_eq!(minimum_keys(&[10, 90], &[90, 10], &[0, 1]), 80);
    }
}
