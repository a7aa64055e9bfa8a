use std::collections::BTreeMap;

use shardlab_core::NodeId;

/// Up to so many cells a matrix is a plain table; beyond, only cells that are used are kept.
const DENSE_CELLS: usize = 1 << 22;

/// What one used cell of a sparse matrix costs, with its share of the tree around it.
const SPARSE_CELL_BYTES: usize = 64;

/// How many documents, and how much weight, go from each node before to each node after.
#[derive(Clone, Debug)]
pub struct Flows {
    from: usize,
    to: usize,
    weighted: bool,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    Dense { keys: Vec<u64>, weights: Vec<u128> },
    Sparse(BTreeMap<(u32, u32), (u64, u128)>),
}

impl Flows {
    /// An empty matrix between so many nodes before and after.
    #[must_use]
    pub fn new(from: u32, to: u32, weighted: bool) -> Self {
        let (from, to) = (from as usize, to as usize);
        let cells = match from.checked_mul(to) {
            Some(cells) if cells <= DENSE_CELLS => {
                Cells::Dense { keys: vec![0; cells], weights: vec![0; if weighted { cells } else { 0 }] }
            }
            _ => Cells::Sparse(BTreeMap::new()),
        };
        Self { from, to, weighted, cells }
    }

    /// Bytes of memory it takes now, about.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.cells {
            Cells::Dense { keys, weights } => size_of_val(&**keys) + size_of_val(&**weights),
            Cells::Sparse(cells) => cells.len() * SPARSE_CELL_BYTES,
        }
    }

    /// Adds a batch of placements.
    pub fn add(&mut self, before: &[NodeId], after: &[NodeId], batch_weights: Option<&[u64]>) {
        let weight = |row: usize| batch_weights.map_or(0, |weights| u128::from(weights[row]));
        match &mut self.cells {
            Cells::Dense { keys, weights } => {
                for (row, (from, to)) in before.iter().zip(after).enumerate() {
                    let cell = from.index() * self.to + to.index();
                    keys[cell] += 1;
                    if self.weighted {
                        weights[cell] += weight(row);
                    }
                }
            }
            Cells::Sparse(cells) => {
                for (row, (from, to)) in before.iter().zip(after).enumerate() {
                    let cell = cells.entry((from.0, to.0)).or_default();
                    cell.0 += 1;
                    cell.1 += weight(row);
                }
            }
        }
    }

    /// Adds the cells of a matrix of the same shape.
    pub fn merge(&mut self, other: &Self) {
        for (from, to, more, weight) in other.iter() {
            match &mut self.cells {
                Cells::Dense { keys, weights } => {
                    let cell = from.index() * self.to + to.index();
                    keys[cell] += more;
                    if self.weighted {
                        weights[cell] += weight;
                    }
                }
                Cells::Sparse(cells) => {
                    let cell = cells.entry((from.0, to.0)).or_default();
                    cell.0 += more;
                    cell.1 += weight;
                }
            }
        }
    }

    /// The cells that hold keys, by node before and then by node after: keys and weight.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (NodeId, NodeId, u64, u128)> + '_> {
        let node = |place: usize| NodeId(u32::try_from(place).unwrap_or(u32::MAX));
        match &self.cells {
            Cells::Dense { keys, weights } => {
                Box::new(keys.iter().enumerate().filter(|(_, keys)| **keys > 0).map(move |(cell, &keys)| {
                    let weight = weights.get(cell).copied().unwrap_or(0);
                    (node(cell / self.to), node(cell % self.to), keys, weight)
                }))
            }
            Cells::Sparse(cells) => {
                Box::new(cells.iter().map(|(&(from, to), &(keys, weight))| (NodeId(from), NodeId(to), keys, weight)))
            }
        }
    }

    /// Whether weights were added.
    #[must_use]
    pub const fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// Keys of each node before: the sums of the rows.
    #[must_use]
    pub fn before(&self) -> Vec<u64> {
        let mut sums = vec![0; self.from];
        for (from, _, keys, _) in self.iter() {
            sums[from.index()] += keys;
        }
        sums
    }

    /// Keys of each node after: the sums of the columns.
    #[must_use]
    pub fn after(&self) -> Vec<u64> {
        let mut sums = vec![0; self.to];
        for (_, to, keys, _) in self.iter() {
            sums[to.index()] += keys;
        }
        sums
    }
}
