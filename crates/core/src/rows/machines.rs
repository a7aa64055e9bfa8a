use serde::Serialize;

use super::{Balance, LoadChange, rounded, rounded_option};

/// The same change seen from the machines that hold the nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineRows {
    /// How nodes are placed on machines, in words.
    pub placement: String,
    /// Names of the machines.
    pub machine_names: Vec<String>,
    /// Balance over machines before.
    pub before: Balance,
    /// Balance over machines after.
    pub after: Balance,
    /// Keys that go from one machine to another; what changes its node alone stays where it is.
    #[serde(serialize_with = "rounded")]
    pub moved_fraction: f64,
    /// Bytes of these keys, where bytes are known.
    pub moved_bytes: Option<u128>,
    /// These bytes over the bandwidth: one transfer after another.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_serial: Option<f64>,
    /// The bytes into or out of the busiest machine over the bandwidth: all machines at work at once.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_parallel: Option<f64>,
    /// Every machine.
    pub per_machine: Vec<MachineFlow>,
}

/// What a change means for one machine. What goes from node to node on the same machine stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineFlow {
    /// Its name.
    pub machine_name: String,
    /// What it holds and what passes its door.
    #[serde(flatten)]
    pub load: LoadChange,
}

/// What each single removal would cost, one node at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Removals {
    /// The program and its version.
    pub tool: String,
    /// The scheme.
    pub scheme: String,
    /// What is done about each loss, in words.
    pub change: String,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// The documents.
    pub keys: super::KeySet,
    /// One row a node, in membership order.
    pub rows: Vec<Removal>,
    /// The mean over the nodes.
    #[serde(serialize_with = "rounded")]
    pub mean_moved_fraction: f64,
    /// The worst node.
    #[serde(serialize_with = "rounded")]
    pub worst_moved_fraction: f64,
    /// The node whose loss moves the most.
    pub worst_moved_node: String,
    /// The mean over the nodes of the fullest survivor's load over its fair load.
    #[serde(serialize_with = "rounded")]
    pub mean_peak_after: f64,
    /// The worst of them.
    #[serde(serialize_with = "rounded")]
    pub worst_peak_after: f64,
    /// The node whose loss leaves the worst.
    pub worst_peak_node: String,
    /// The largest growth of a survivor by any single loss: keys after over keys before, less 1. Null
    /// where no survivor had keys.
    #[serde(serialize_with = "rounded_option")]
    pub worst_growth: Option<f64>,
    /// The node whose loss lets a survivor grow the most.
    pub worst_growth_node: Option<String>,
}

/// What the removal of one node costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Removal {
    /// The node that leaves.
    pub node_name: String,
    /// Keys whose owner changed.
    #[serde(serialize_with = "rounded")]
    pub moved_fraction: f64,
    /// Moved less the least that these counts allow.
    #[serde(serialize_with = "rounded")]
    pub excess_fraction: f64,
    /// The fullest survivor's load over its fair load.
    #[serde(serialize_with = "rounded")]
    pub peak_after: f64,
    /// Who inherits the most of the lost node's keys.
    pub heir: String,
    /// How much of them.
    #[serde(serialize_with = "rounded")]
    pub heir_fraction: f64,
    /// The largest growth of a survivor: keys after over keys before, less 1. Null where no survivor had
    /// keys.
    #[serde(serialize_with = "rounded_option")]
    pub largest_growth: Option<f64>,
    /// The survivor that grows the most.
    pub largest_growth_node: Option<String>,
}
