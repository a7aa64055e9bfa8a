use std::collections::BTreeMap;

use shardlab_core::{NodeId, RawBatch};

/// Up to so many cells a matrix is a plain table; beyond, only cells that are used are kept.
const DENSE_CELLS: usize = 1 << 22;

/// What one used cell of a sparse matrix costs, with its share of the tree around it.
const SPARSE_CELL_BYTES: usize = 80;

/// Which columns of the documents are added up beside their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The weights, in bytes.
    pub weights: bool,
    /// The requests.
    pub requests: bool,
}

/// What is added up in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Documents.
    pub keys: u64,
    /// Their weights; 0 where these are not added up.
    pub weight: u128,
    /// The requests for them; 0 where these are not added up.
    pub requests: u128,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.keys += other.keys;
        self.weight += other.weight;
        self.requests += other.requests;
    }
}

/// How many documents, and how much weight and how many requests, go from each node before to each node
/// after.
#[derive(Clone, Debug)]
pub struct Flows {
    from: usize,
    to: usize,
    columns: Columns,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// Columns that are not added up have no table.
    Dense {
        keys: Vec<u64>,
        weights: Vec<u128>,
        requests: Vec<u128>,
    },
    Sparse(BTreeMap<(u32, u32), Sums>),
}

impl Flows {
    /// An empty matrix between so many nodes before and after.
    #[must_use]
    pub fn new(from: u32, to: u32, columns: Columns) -> Self {
        let (from, to) = (from as usize, to as usize);
        let cells = match from.checked_mul(to) {
            Some(cells) if cells <= DENSE_CELLS => Cells::Dense {
                keys: vec![0; cells],
                weights: vec![0; if columns.weights { cells } else { 0 }],
                requests: vec![0; if columns.requests { cells } else { 0 }],
            },
            _ => Cells::Sparse(BTreeMap::new()),
        };
        Self { from, to, columns, cells }
    }

    /// Bytes of memory it takes now, about.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.cells {
            Cells::Dense { keys, weights, requests } => {
                size_of_val(&**keys) + size_of_val(&**weights) + size_of_val(&**requests)
            }
            Cells::Sparse(cells) => cells.len() * SPARSE_CELL_BYTES,
        }
    }

    /// Adds the placements of a batch with its columns.
    pub fn add_batch(&mut self, before: &[NodeId], after: &[NodeId], batch: &RawBatch<'_>) {
        self.add(before, after, batch.weights(), batch.requests());
    }

    /// Adds placements with their columns; a column that is not there counts as 0.
    pub(crate) fn add(
        &mut self,
        before: &[NodeId],
        after: &[NodeId],
        weights: Option<&[u64]>,
        requests: Option<&[u64]>,
    ) {
        let weight_of = |row: usize| weights.map_or(0, |weights| u128::from(weights[row]));
        let requests_of = |row: usize| requests.map_or(0, |requests| u128::from(requests[row]));
        match &mut self.cells {
            Cells::Dense { keys, weights, requests } => {
                for (row, (from, to)) in before.iter().zip(after).enumerate() {
                    let cell = from.index() * self.to + to.index();
                    keys[cell] += 1;
                    if self.columns.weights {
                        weights[cell] += weight_of(row);
                    }
                    if self.columns.requests {
                        requests[cell] += requests_of(row);
                    }
                }
            }
            Cells::Sparse(cells) => {
                for (row, (from, to)) in before.iter().zip(after).enumerate() {
                    let one = Sums { keys: 1, weight: weight_of(row), requests: requests_of(row) };
                    cells.entry((from.0, to.0)).or_default().add(&one);
                }
            }
        }
    }

    /// Adds the cells of a matrix of the same shape.
    pub fn merge(&mut self, other: &Self) {
        for (from, to, more) in other.iter() {
            match &mut self.cells {
                Cells::Dense { keys, weights, requests } => {
                    let cell = from.index() * self.to + to.index();
                    keys[cell] += more.keys;
                    if self.columns.weights {
                        weights[cell] += more.weight;
                    }
                    if self.columns.requests {
                        requests[cell] += more.requests;
                    }
                }
                Cells::Sparse(cells) => cells.entry((from.0, to.0)).or_default().add(&more),
            }
        }
    }

    /// The cells that hold keys, by node before and then by node after.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (NodeId, NodeId, Sums)> + '_> {
        let node = |place: usize| NodeId(u32::try_from(place).unwrap_or(u32::MAX));
        match &self.cells {
            Cells::Dense { keys, weights, requests } => {
                Box::new(keys.iter().enumerate().filter(|(_, keys)| **keys > 0).map(move |(cell, &keys)| {
                    let of = |column: &Vec<u128>| column.get(cell).copied().unwrap_or(0);
                    let sums = Sums { keys, weight: of(weights), requests: of(requests) };
                    (node(cell / self.to), node(cell % self.to), sums)
                }))
            }
            Cells::Sparse(cells) => Box::new(cells.iter().map(|(&(from, to), &sums)| (NodeId(from), NodeId(to), sums))),
        }
    }

    /// Which columns are added up.
    #[must_use]
    pub const fn columns(&self) -> Columns {
        self.columns
    }

    /// Everything together.
    #[must_use]
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.iter().for_each(|(.., sums)| total.add(&sums));
        total
    }

    /// Keys of each node before: the sums of the rows.
    #[must_use]
    pub fn before(&self) -> Vec<u64> {
        let mut sums = vec![0; self.from];
        for (from, _, cell) in self.iter() {
            sums[from.index()] += cell.keys;
        }
        sums
    }

    /// Keys of each node after: the sums of the columns.
    #[must_use]
    pub fn after(&self) -> Vec<u64> {
        let mut sums = vec![0; self.to];
        for (_, to, cell) in self.iter() {
            sums[to.index()] += cell.keys;
        }
        sums
    }
}
