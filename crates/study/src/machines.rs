use std::collections::BTreeMap;

use shardlab_core::rows::{MachineFlow, MachineRows};
use shardlab_core::{Members, NodeId};
use shardlab_harness::{Fair, balance};

use crate::StudyError;
use crate::load::{Cell, Door, Load, busiest_door, seconds};
use crate::matching::Matching;

/// Machines, and the rule by which nodes stand on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    count: usize,
    rule: Rule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// A node that is new as number i stands on machine i mod n, and stays there.
    RoundRobin,
    /// By the name of the node.
    Table { source: String, names: Vec<String>, places: BTreeMap<String, usize> },
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
    /// Node number i on machine i mod `count`, as clusters spread the shards of one index. A node that
    /// stays in a change stays on its machine, whatever its number is then.
    ///
    /// # Errors
    /// `count` is 0.
    pub fn round_robin(count: u32) -> Result<Self, MachinesError> {
        if count == 0 {
            return Err(MachinesError::None);
        }
        Ok(Self { count: count as usize, rule: Rule::RoundRobin })
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
        Ok(Self { count: names.len(), rule: Rule::Table { source, names, places } })
    }

    /// Refuses more machines than there is memory for, in so many steps of a study.
    pub(crate) fn check_memory(&self, steps: usize, limit: u64) -> Result<(), StudyError> {
        // Beside its rows a machine has its name twice and its count before and after.
        let each = size_of::<Door>() + size_of::<MachineFlow>() + 2 * size_of::<String>() + 2 * size_of::<u64>();
        let needed = self.count as u128 * each as u128 * steps as u128;
        if needed > u128::from(limit) {
            let what = format!("the rows of {} machines", self.count);
            return Err(StudyError::Memory { what, needed, limit });
        }
        Ok(())
    }

    fn names(&self) -> Vec<String> {
        match &self.rule {
            Rule::RoundRobin => (0..self.count).map(|machine| machine.to_string()).collect(),
            Rule::Table { names, .. } => names.clone(),
        }
    }

    /// The machine of each node at the beginning.
    pub(crate) fn places(&self, members: &Members) -> Result<Vec<usize>, MachinesError> {
        match &self.rule {
            Rule::RoundRobin => Ok((0..members.len()).map(|node| node as usize % self.count).collect()),
            Rule::Table { source, places, .. } => {
                let each = members.iter().map(|(_, name, _)| {
                    let unplaced =
                        || MachinesError::Unplaced { table: source.clone(), node: name.clone().into_owned() };
                    places.get(&*name).copied().ok_or_else(unplaced)
                });
                each.collect()
            }
        }
    }

    /// The machine of each node after a change, from those of the nodes before it.
    pub(crate) fn places_after(
        &self,
        before: &[usize],
        matching: &Matching,
        to: &Members,
    ) -> Result<Vec<usize>, MachinesError> {
        let mut places = self.places(to)?;
        if self.rule == Rule::RoundRobin {
            // The loss of a node renumbers those behind it in the list; it carries no data between machines.
            for (place, node) in places.iter_mut().zip((0..).map(NodeId)) {
                if let Some(was) = matching.was(node) {
                    *place = before[was.index()];
                }
            }
        }
        Ok(places)
    }

    /// What flows between nodes mean for the machines on which these stand.
    pub(crate) fn rows(
        &self,
        (from_places, to_places): (&[usize], &[usize]),
        cells: &[Cell],
        nothing: Load,
        bandwidth: Option<u64>,
    ) -> MachineRows {
        let mut doors = vec![Door::new(nothing); self.count];
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
        let machine_names = self.names();
        let per_machine = machine_names.iter().zip(&doors);
        let per_machine =
            per_machine.map(|(name, door)| MachineFlow { machine_name: name.clone(), load: door.row() }).collect();
        MachineRows {
            placement: match self.rule {
                Rule::RoundRobin => {
                    format!("node i on machine i mod {}; a node that stays keeps its machine", self.count)
                }
                Rule::Table { .. } => "as the table says".to_owned(),
            },
            machine_names,
            before: judged(|door| door.before.keys),
            after: judged(|door| door.after.keys),
            moved_fraction: moved.keys as f64 / total.keys.max(1) as f64,
            moved_bytes: moved.bytes,
            seconds_serial: seconds(moved.bytes, bandwidth),
            seconds_parallel: seconds(busiest_door(&doors), bandwidth),
            per_machine,
        }
    }
}
