use shardlab_core::rows::MachineRows;
use shardlab_core::{Members, NodeId};
use shardlab_harness::{Fair, balance};

/// Which machine each node stands on, before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    placement: String,
    names: Vec<String>,
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Why nodes cannot be placed on machines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachinesError {
    /// There must be a machine.
    #[error("there must be at least one machine")]
    None,
    /// The table does not say where a node stands.
    #[error("the table of machines does not say where node {node:?} stands")]
    Unplaced {
        /// The node.
        node: String,
    },
}

impl Machines {
    /// Node number i on machine i mod `count`, as clusters spread the shards of one index.
    ///
    /// # Errors
    /// `count` is 0.
    pub fn round_robin(count: u32, before: &Members, after: &Members) -> Result<Self, MachinesError> {
        if count == 0 {
            return Err(MachinesError::None);
        }
        let place = |members: &Members| (0..members.len()).map(|node| (node % count) as usize).collect();
        Ok(Self {
            placement: format!("node i on machine i mod {count}"),
            names: (0..count).map(|machine| machine.to_string()).collect(),
            before: place(before),
            after: place(after),
        })
    }

    /// Nodes where a table of (node name, machine name) puts them. Machines are in the order in which
    /// the table names them first.
    ///
    /// # Errors
    /// A node is missing from the table.
    pub fn table(rows: &[(String, String)], before: &Members, after: &Members) -> Result<Self, MachinesError> {
        let mut names: Vec<String> = Vec::new();
        let mut numbers = std::collections::BTreeMap::new();
        let mut places = std::collections::BTreeMap::new();
        for (node, machine) in rows {
            let number = *numbers.entry(machine.as_str()).or_insert_with(|| {
                names.push(machine.clone());
                names.len() - 1
            });
            places.insert(node.as_str(), number);
        }
        let place = |members: &Members| {
            let each = members.iter().map(|(_, name, _)| {
                places.get(&*name).copied().ok_or_else(|| MachinesError::Unplaced { node: name.into_owned() })
            });
            each.collect::<Result<Vec<usize>, _>>()
        };
        let (before, after) = (place(before)?, place(after)?);
        if names.is_empty() {
            return Err(MachinesError::None);
        }
        Ok(Self { placement: "as the table says".to_owned(), names, before, after })
    }

    /// What flows between nodes mean for their machines.
    pub(crate) fn rows(&self, cells: impl Iterator<Item = (NodeId, NodeId, u64, Option<u128>)>) -> MachineRows {
        let count = self.names.len();
        let (mut before, mut after) = (vec![0; count], vec![0; count]);
        let (mut moved, mut moved_bytes, mut total) = (0_u64, Some(0_u128), 0_u64);
        for (from, to, keys, bytes) in cells {
            let (from, to) = (self.before[from.index()], self.after[to.index()]);
            before[from] += keys;
            after[to] += keys;
            total += keys;
            if from != to {
                moved += keys;
                moved_bytes = moved_bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
            } else if bytes.is_none() {
                moved_bytes = None;
            }
        }
        let judged = |counts: &[u64]| balance(counts, &Fair::Equal(count), None, 2);
        MachineRows {
            placement: self.placement.clone(),
            machine_names: self.names.clone(),
            before: judged(&before),
            after: judged(&after),
            moved_fraction: moved as f64 / total.max(1) as f64,
            moved_bytes,
        }
    }
}
