use shardlab_core::rows::{CopyLoad, Heir, Heirs, ReplicaRows};
use shardlab_core::{Members, NodeId, RawBatch};

use crate::load::Totals;
use crate::matching::Matching;
use crate::{Columns, Flows, Side, StudyError};

/// Checks that a side can name several owners for a key.
pub(crate) fn check(side: &Side, copies: u32) -> Result<(), StudyError> {
    if side.placer.sharder.as_top_k().is_none() {
        return Err(StudyError::NoCopies { spec: side.scheme.spec() });
    }
    if copies == 0 || copies > MOST_COPIES {
        return Err(StudyError::Copies { copies, most: MOST_COPIES });
    }
    Ok(())
}

/// Nobody keeps more copies of a key, and every copy is looked for among all others.
const MOST_COPIES: u32 = 100;

/// What is counted of the copies of the keys; sums of integers.
#[derive(Clone, Debug)]
pub(crate) struct CopyTally {
    before: Vec<u64>,
    after: Vec<u64>,
    /// Copies that are made, and their weight.
    made: (u64, u128),
    /// Keys whose first owner leaves.
    lost_first_owner: u64,
    /// Keys whose owners all leave, and their weight.
    lost_every_copy: (u64, u128),
    /// Keys that each node after takes over as the first owner that is left.
    heirs: Vec<u64>,
}

impl CopyTally {
    pub(crate) fn new(before: &Members, after: &Members) -> Self {
        let zeros = |members: &Members| vec![0; members.len() as usize];
        Self {
            before: zeros(before),
            after: zeros(after),
            made: (0, 0),
            lost_first_owner: 0,
            lost_every_copy: (0, 0),
            heirs: zeros(after),
        }
    }

    /// Adds a batch of documents.
    pub(crate) fn add(
        &mut self,
        (before, after): (&Side, &Side),
        matching: &Matching,
        copies: u32,
        batch: &RawBatch<'_>,
    ) -> Result<(), StudyError> {
        let (from_keys, to_keys) = (keys(before, batch)?, keys(after, batch)?);
        let none = |side: &Side| StudyError::NoCopies { spec: side.scheme.spec() };
        let from = before.placer.sharder.as_top_k().ok_or_else(|| none(before))?;
        let to = after.placer.sharder.as_top_k().ok_or_else(|| none(after))?;
        for (row, (&from_key, &to_key)) in from_keys.iter().zip(&to_keys).enumerate() {
            let weight = batch.weights().map_or(0, |weights| u128::from(weights[row]));
            let owners = from.top_k(from_key, copies as usize);
            let owners_after = to.top_k(to_key, copies as usize);
            owners.iter().for_each(|node| self.before[node.index()] += 1);
            for node in &owners_after {
                self.after[node.index()] += 1;
                if matching.was(*node).is_none_or(|was| !owners.contains(&was)) {
                    self.made.0 += 1;
                    self.made.1 += weight;
                }
            }
            if owners.first().is_none_or(|first| matching.stays_as(*first).is_some()) {
                continue;
            }
            self.lost_first_owner += 1;
            match owners.iter().find_map(|owner| matching.stays_as(*owner)) {
                Some(heir) => self.heirs[heir.index()] += 1,
                None => {
                    self.lost_every_copy.0 += 1;
                    self.lost_every_copy.1 += weight;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let add = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.before, &other.before);
        add(&mut self.after, &other.after);
        add(&mut self.heirs, &other.heirs);
        self.lost_first_owner += other.lost_first_owner;
        for (sum, more) in [(&mut self.made, other.made), (&mut self.lost_every_copy, other.lost_every_copy)] {
            sum.0 += more.0;
            sum.1 += more.1;
        }
    }

    /// Keys that each node after takes over.
    pub(crate) fn heirs(&self) -> &[u64] {
        &self.heirs
    }

    pub(crate) fn rows(
        &self,
        (from, to): (&Members, &Members),
        matching: &Matching,
        copies: u32,
        totals: &Totals,
        flows: &Flows,
    ) -> ReplicaRows {
        let all = flows.total();
        let columns: Columns = flows.columns();
        let bytes = |part: (u64, u128)| totals.bytes_of(part, (all.keys, all.weight), columns);
        let held: u64 = self.before.iter().sum();
        let fraction = |made: u64| made as f64 / held.max(1) as f64;
        // What a node has more after than before must have been made.
        let minimum: u64 = (0..)
            .map(NodeId)
            .zip(&self.after)
            .map(|(node, &has)| has.saturating_sub(matching.was(node).map_or(0, |was| self.before[was.index()])))
            .sum();
        ReplicaRows {
            copies,
            copies_before: copies.min(from.len()),
            copies_after: copies.min(to.len()),
            before: copy_load(&self.before, from, all.keys),
            after: copy_load(&self.after, to, all.keys),
            made: self.made.0,
            made_fraction: fraction(self.made.0),
            made_minimum_fraction: fraction(minimum),
            made_excess_fraction: fraction(self.made.0.saturating_sub(minimum)),
            made_bytes: bytes(self.made),
            lost_first_owner: self.lost_first_owner,
            kept_a_copy: self.lost_first_owner - self.lost_every_copy.0,
            lost_every_copy: self.lost_every_copy.0,
            lost_bytes: bytes(self.lost_every_copy),
        }
    }
}

/// The keys of a batch of documents on one side.
fn keys(side: &Side, batch: &RawBatch<'_>) -> Result<Vec<u64>, StudyError> {
    if let Some(keys) = batch.hashed() {
        return Ok(keys.to_vec());
    }
    let mut keys = vec![0; batch.len()];
    let refused = |error| StudyError::Key { spec: side.scheme.spec(), error };
    side.placer.hasher.hash_many(batch, &mut keys).map_err(refused)?;
    Ok(keys)
}

fn copy_load(counts: &[u64], members: &Members, keys: u64) -> CopyLoad {
    let held: u64 = counts.iter().sum();
    let fair = |weight: u32| held as f64 * f64::from(weight) / members.total_weight() as f64;
    let ratios: Vec<f64> =
        members.iter().zip(counts).map(|((_, _, weight), &count)| count as f64 / fair(weight).max(1e-300)).collect();
    let n = ratios.len() as f64;
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / n;
    // Every key puts c of its copies on c different nodes, so that a node's count is binomial with c/n:
    // its variance over the square of its mean is (n − c) / (K c).
    let copies = held as f64 / keys.max(1) as f64;
    let noise = (((n - copies) / (held.max(1) as f64)).max(0.0)).sqrt();
    CopyLoad {
        counts: counts.to_vec(),
        peak_to_average: ratios.iter().copied().fold(0.0, f64::max),
        min_to_average: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        cv: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
        noise_floor_cv: members.equal_weights().then_some(noise),
    }
}

/// Who takes over, from the keys that each node after takes over and the counts before and after;
/// `None` where no node leaves or nothing is taken over.
pub(crate) fn heirs(
    (from, to): (&Members, &Members),
    matching: &Matching,
    taken_over: &[u64],
    before: &[u64],
    after: &[u64],
) -> Option<Heirs> {
    if !matching.loses_nodes() {
        return None;
    }
    let keys: u64 = taken_over.iter().sum();
    let fraction = |taken: u64| taken as f64 / keys.max(1) as f64;
    let taking = || to.iter().zip(taken_over).filter(|(_, taken)| **taken > 0);
    // The first of several equal ones, so that the answer does not depend on anything else.
    let (largest, &taken) = taking().max_by_key(|((node, ..), taken)| (**taken, std::cmp::Reverse(*node)))?;
    let node = largest.0;
    let growth = largest_growth(matching, before, after);
    Some(Heirs {
        lost: from
            .iter()
            .filter(|(node, ..)| matching.stays_as(*node).is_none())
            .map(|(_, name, _)| name.into_owned())
            .collect(),
        keys,
        rows: taking()
            .map(|((node, name, _), &taken)| Heir {
                node: node.0,
                node_name: name.into_owned(),
                keys: taken,
                fraction: fraction(taken),
            })
            .collect(),
        largest_fraction: fraction(taken),
        largest_node: to.name(node).into_owned(),
        even_fraction: f64::from(to.weight(node)) / to.total_weight() as f64,
        largest_growth: growth.map(|(_, growth)| growth),
        largest_growth_node: growth.map(|(node, _)| to.name(node).into_owned()),
    })
}

/// The node after that grows the most of those that were there with keys, and by how much.
pub(crate) fn largest_growth(matching: &Matching, before: &[u64], after: &[u64]) -> Option<(NodeId, f64)> {
    let mut largest: Option<(NodeId, f64)> = None;
    for (node, &has) in (0..).map(NodeId).zip(after) {
        let Some(had) = matching.was(node).map(|was| before[was.index()]).filter(|&had| had > 0) else { continue };
        let growth = has as f64 / had as f64 - 1.0;
        if largest.is_none_or(|(_, most)| growth > most) {
            largest = Some((node, growth));
        }
    }
    largest
}
