use shardlab_core::rows::{PlacedValues, Placement, PlacementOutcome, Separation, Verdict};
use shardlab_core::{KeyHasher, Members, NO_HASH, NodeId, Placer, Scheme};
use shardlab_harness::{Fair, balance};

use super::values::Values;
use crate::workers::in_parallel;
use crate::{Side, StudyError};

/// Up to so many values the node of each is shown.
const LISTED: usize = 16;

/// Up to so many values every number of nodes is tried.
const FEW: usize = 64;

/// Numbers of nodes that are tried whatever the number of values.
const TRIED: u32 = 32;

/// Below this corrected probability a spread is no chance, as in every verdict.
const STRUCTURAL_BELOW: f64 = 0.001;

/// A scheme with the hash in front of it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) scheme: Box<dyn Scheme>,
    pub(super) hasher: Box<dyn KeyHasher>,
    /// Whether the scheme reads remainders, so that patterns in numbers come through.
    pub(super) remainders: bool,
}

impl Row {
    fn side(&self, nodes: u32, max_memory: u64) -> Result<Side, StudyError> {
        Side::new(self.scheme.box_clone(), &Members::dense(nodes)?, Some(&*self.hasher), max_memory)
    }

    /// The name of the hash as results have it.
    fn hash(&self, values: &Values) -> String {
        if values.are_keys() {
            return NO_HASH.to_owned();
        }
        self.scheme.adapt_hasher(self.hasher.box_clone()).name()
    }

    /// Whether raw numbers are placed without any hash.
    pub(super) fn is_raw(&self) -> bool {
        self.hasher.name() == shardlab_hash::Identity.name()
    }
}

/// What lies on each node.
pub(crate) struct Loads {
    pub(crate) values: Vec<u64>,
    pub(crate) rows: Vec<u64>,
    pub(crate) weights: Vec<u128>,
    /// The node of each value, where there are few.
    pub(crate) nodes: Option<Vec<u32>>,
}

/// Places all values.
pub(crate) fn loads(values: &Values, side: &Side) -> Result<Loads, StudyError> {
    let nodes = side.members().len() as usize;
    let mut loads = Loads { values: vec![0; nodes], rows: vec![0; nodes], weights: vec![0; nodes], nodes: None };
    let mut listed = Vec::new();
    let mut out = Vec::new();
    values.batches(|first, batch| {
        out.resize(batch.len(), NodeId(0));
        let refused = |error| StudyError::Key { spec: side.scheme.spec(), error };
        side.placer.place_many(batch, &mut out).map_err(refused)?;
        for (value, node) in (first..).zip(&out) {
            loads.values[node.index()] += 1;
            loads.rows[node.index()] += values.rows(value);
            loads.weights[node.index()] += values.weight(value).unwrap_or(0);
            if value < LISTED {
                listed.push(node.0);
            }
        }
        Ok::<(), StudyError>(())
    })?;
    loads.nodes = (values.len() <= LISTED).then_some(listed);
    Ok(loads)
}

/// Places the values with every row at every number of nodes.
pub(super) fn place(
    values: &Values,
    rows: &[Row],
    nodes: &[u32],
    threads: usize,
    max_memory: u64,
) -> Result<Vec<Placement>, StudyError> {
    let cells: Vec<(&Row, u32)> = rows.iter().flat_map(|row| nodes.iter().map(move |&n| (row, n))).collect();
    let largest = nodes.iter().copied().max().unwrap_or(0);
    let needed = u128::from(largest) * 64 * threads as u128;
    if needed > u128::from(max_memory) {
        let what = format!("counting on {largest} nodes");
        return Err(StudyError::Memory { what, needed, limit: max_memory });
    }
    in_parallel(cells.len(), threads, |cell| {
        let (row, nodes) = cells[cell];
        let outcome = match row.side(nodes, max_memory) {
            Err(StudyError::Build { source, .. }) => {
                PlacementOutcome::NotApplicable { not_applicable: source.to_string() }
            }
            Err(error) => return Err(error),
            Ok(side) => PlacementOutcome::Placed(Box::new(judged(values, &side, cells.len())?)),
        };
        Ok(Placement { scheme: row.scheme.spec(), hash: row.hash(values), raw: row.is_raw(), nodes, outcome })
    })
}

fn judged(values: &Values, side: &Side, cells: usize) -> Result<PlacedValues, StudyError> {
    let Loads { values: counts, rows, weights, nodes: node_of_values } = loads(values, side)?;
    let nodes = counts.len();
    let over_mean = |peak: f64, total: f64| if total > 0.0 { peak * nodes as f64 / total } else { 0.0 };
    let peak_keys = rows.iter().copied().max().unwrap_or(0);
    let own: Option<Vec<f64>> = side.placer.sharder.exact_shares().map(|shares| shares.fractions().collect());
    let own = own.filter(|own| own.iter().all(|&share| share > 0.0));
    let fair = own.unwrap_or_else(|| vec![1.0 / nodes as f64; nodes]);
    let empty: f64 = fair.iter().map(|&p| (values.len() as f64 * libm::log1p(-p)).exp()).sum();
    let unused = counts.iter().filter(|&&count| count == 0).count();
    let judged = balance(&counts, &Fair::Weighted(fair), None, cells);
    let by_empty = (empty_tail(unused as f64, empty) * cells as f64).min(1.0);
    let structural = by_empty < STRUCTURAL_BELOW || judged.verdict == Verdict::Structural;
    let p_value = if judged.verdict == Verdict::TooFewKeys { by_empty } else { by_empty.min(judged.p_value) };
    Ok(PlacedValues {
        nodes_used: u32::try_from(nodes - unused).unwrap_or(u32::MAX),
        expected_nodes_used: nodes as f64 - empty,
        peak_values: counts.iter().copied().max().unwrap_or(0),
        peak_keys,
        peak_to_average: over_mean(peak_keys as f64, values.total_rows() as f64),
        weight_peak_to_average: values
            .total_weight()
            .map(|total| over_mean(weights.iter().copied().max().unwrap_or(0) as f64, total as f64)),
        verdict: if structural { Verdict::Structural } else { judged.verdict },
        p_value,
        node_of_values,
    })
}

/// A bound on the probability of so many empty nodes or more where so many are expected (Chernoff): it
/// holds although the nodes are not independent, since a key on one is a key less on the others.
fn empty_tail(observed: f64, expected: f64) -> f64 {
    if observed <= expected {
        return 1.0;
    }
    if expected <= 0.0 {
        return 0.0;
    }
    libm::exp(observed - expected - observed * libm::log(observed / expected))
}

/// The numbers of nodes at which few values lie as evenly as can be, for each row.
pub(super) fn separations(
    values: &Values,
    rows: &[Row],
    asked: &[u32],
    threads: usize,
    max_memory: u64,
) -> Result<Vec<Separation>, StudyError> {
    if values.len() > FEW || values.len() < 2 {
        return Ok(Vec::new());
    }
    let few = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let tried_to = asked.iter().copied().max().unwrap_or(0).min(TRIED).max(2 * few + 2);
    in_parallel(rows.len(), threads, |row| {
        let row = &rows[row];
        let mut nodes = Vec::new();
        for n in 2..=tried_to {
            let side = match row.side(n, max_memory) {
                Err(StudyError::Build { .. }) => continue,
                side => side?,
            };
            let fullest = loads(values, &side)?.values.into_iter().max().unwrap_or(0);
            if fullest == u64::from(few.div_ceil(n)) {
                nodes.push(n);
            }
        }
        Ok(Separation { scheme: row.scheme.spec(), hash: row.hash(values), tried_to, nodes })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_nodes_are_a_surprise_only_where_few_are_expected() {
        // Ten documents on five shards: 0.54 empty ones are expected.
        assert!(empty_tail(2.0, 0.54) > 0.1);
        // A hundred keys on 31 slots of which 21 stay empty.
        assert!(empty_tail(21.0, 1.17) < 1e-15);
        assert_eq!((empty_tail(0.0, 0.0), empty_tail(1.0, 0.0), empty_tail(3.0, 3.0)), (1.0, 0.0, 1.0));
    }
}
