use std::collections::BTreeMap;

use shardlab_core::Members;
use shardlab_core::rows::{MachineFlow, MachineRows};
use shardlab_harness::{Fair, balance};

use crate::load::{Cell, Door, Load, busiest_door, seconds};

/// Machines, and the rule by which nodes stand on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    names: Vec<String>,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// Node number i stands on machine i mod n.
    RoundRobin,
    /// By the name of the node.
    Table { source: String, places: BTreeMap<String, usize> },
}

/// Why nodes cannot be placed on machines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachinesError {
    /// There must be a machine.
    #[error("there must be at least one machine")]
    None,
    /// The table does not say where a node stands.
    #[error("{table}: the table of machines does not say where node {node:?} stands")]
    Unplaced {
        /// Where the table comes from.
        table: String,
        /// The node.
        node: String,
    },
}

impl Machines {
    /// Node number i on machine i mod `count`, as clusters spread the shards of one index.
    ///
    /// # Errors
    /// `count` is 0.
    pub fn round_robin(count: u32) -> Result<Self, MachinesError> {
        if count == 0 {
            return Err(MachinesError::None);
        }
        Ok(Self { names: (0..count).map(|machine| machine.to_string()).collect(), rule: Rule::RoundRobin })
    }

    /// Nodes where a table of (node name, machine name) puts them. Machines are in the order in which
    /// the table names them first. `source` says in errors where the table comes from.
    ///
    /// # Errors
    /// The table is empty.
    pub fn table(rows: &[(String, String)], source: String) -> Result<Self, MachinesError> {
        let mut names: Vec<String> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (node, machine) in rows {
            let number = *numbers.entry(machine.as_str()).or_insert_with(|| {
                names.push(machine.clone());
                names.len() - 1
            });
            places.insert(node.clone(), number);
        }
        if names.is_empty() {
            return Err(MachinesError::None);
        }
        Ok(Self { names, rule: Rule::Table { source, places } })
    }

    /// The machine of each node.
    pub(crate) fn places(&self, members: &Members) -> Result<Vec<usize>, MachinesError> {
        match &self.rule {
            Rule::RoundRobin => Ok((0..members.len()).map(|node| node as usize % self.names.len()).collect()),
            Rule::Table { source, places } => {
                let each = members.iter().map(|(_, name, _)| {
                    let unplaced =
                        || MachinesError::Unplaced { table: source.clone(), node: name.clone().into_owned() };
                    places.get(&*name).copied().ok_or_else(unplaced)
                });
                each.collect()
            }
        }
    }

    /// What flows between nodes mean for the machines on which these stand.
    pub(crate) fn rows(
        &self,
        from: &Members,
        to: &Members,
        cells: &[Cell],
        nothing: Load,
        bandwidth: Option<u64>,
    ) -> Result<MachineRows, MachinesError> {
        let (from_places, to_places) = (self.places(from)?, self.places(to)?);
        let mut doors = vec![Door::new(nothing); self.names.len()];
        let (mut moved, mut total) = (nothing, nothing);
        for cell in cells {
            let (source, target) = (from_places[cell.from.index()], to_places[cell.to.index()]);
            doors[source].before.add(&cell.load);
            doors[target].after.add(&cell.load);
            total.add(&cell.load);
            if source != target {
                moved.add(&cell.load);
                doors[source].send(&cell.load, true);
                doors[target].receive(&cell.load, true);
            }
        }
        let judged = |pick: fn(&Door) -> u64| {
            balance(&doors.iter().map(pick).collect::<Vec<_>>(), &Fair::Equal(doors.len()), None, 2)
        };
        let rows = self.names.iter().zip(&doors);
        Ok(MachineRows {
            placement: match self.rule {
                Rule::RoundRobin => format!("node i on machine i mod {}", self.names.len()),
                Rule::Table { .. } => "as the table says".to_owned(),
            },
            machine_names: self.names.clone(),
            before: judged(|door| door.before.keys),
            after: judged(|door| door.after.keys),
            moved_fraction: moved.keys as f64 / total.keys.max(1) as f64,
            moved_bytes: moved.bytes,
            seconds_serial: seconds(moved.bytes, bandwidth),
            seconds_parallel: seconds(busiest_door(&doors), bandwidth),
            per_machine: rows
                .map(|(name, door)| MachineFlow { machine_name: name.clone(), load: door.row() })
                .collect(),
        })
    }
}
