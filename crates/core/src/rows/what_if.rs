use serde::Serialize;

use super::{Balance, KeySet, MachineRows, rounded, rounded_option};

/// What it costs to go from one sharding to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The program and its version.
    pub tool: String,
    /// The scheme before, as a canonical spec.
    pub from: String,
    /// The scheme after.
    pub to: String,
    /// What is done, in words.
    pub change: String,
    /// Nodes before.
    pub from_nodes: u32,
    /// Nodes after.
    pub to_nodes: u32,
    /// The hash before.
    pub from_hash: String,
    /// The hash after.
    pub to_hash: String,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// The documents.
    pub keys: KeySet,
    /// Keys whose owner changed.
    #[serde(serialize_with = "rounded")]
    pub moved_fraction: f64,
    /// The least that must move between these very counts.
    #[serde(serialize_with = "rounded")]
    pub minimum_fraction: f64,
    /// Moved less minimum.
    #[serde(serialize_with = "rounded")]
    pub excess_fraction: f64,
    /// Keys that moved between two nodes which both survive.
    #[serde(serialize_with = "rounded")]
    pub disruption_fraction: f64,
    /// What a perfectly balanced scheme would have to move.
    #[serde(serialize_with = "rounded")]
    pub ideal_fraction: f64,
    /// Documents that end outside the lineage of their shard; for splits and shrinks alone.
    #[serde(serialize_with = "rounded_option")]
    pub left_parent_fraction: Option<f64>,
    /// What moves of all keys that there can be, where the whole key space can be evaluated.
    #[serde(serialize_with = "rounded_option")]
    pub exact_moved_fraction: Option<f64>,
    /// The 95 % interval (Wilson) of the moved fraction, if the keys are a sample of more like them.
    #[serde(serialize_with = "rounded_pair")]
    pub moved_interval: [f64; 2],
    /// Keys whose owner changed.
    pub moved_keys: u64,
    /// Bytes that go elsewhere, where bytes are known: those of the keys whose owner changed; in a split
    /// or shrink, those that leave the lineage of their shard.
    pub moved_bytes: Option<u128>,
    /// Bytes that are written anew: those that moved, and all of them for a reindex. A split or a shrink
    /// by hard links writes none.
    pub rewritten_bytes: Option<u128>,
    /// Moved bytes over the bandwidth: one transfer after another.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_serial: Option<f64>,
    /// The bytes into or out of the busiest node over the bandwidth: all nodes at work at once.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_parallel: Option<f64>,
    /// Whether growing moved keys only onto new nodes, or shrinking only off removed ones.
    pub monotone: bool,
    /// Balance before.
    pub before: Balance,
    /// Balance after.
    pub after: Balance,
    /// Every node that is there before or after.
    pub per_node: Vec<NodeFlow>,
    /// From where to where, without what stays and without empty cells.
    pub matrix: Vec<Flow>,
    /// The same change seen from machines that hold the nodes, where they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineRows>,
    /// What a reader must be told.
    pub notes: Vec<String>,
    /// The numbers in words.
    pub reading: Vec<String>,
}

/// What a change means for one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeFlow {
    /// Its number after the change; before it, for a node that leaves.
    pub node: u32,
    /// Its name.
    pub node_name: String,
    /// Whether it joins, stays or leaves.
    pub fate: Fate,
    /// Keys before.
    pub keys_before: u64,
    /// Keys after.
    pub keys_after: u64,
    /// Keys that arrive.
    pub keys_in: u64,
    /// Keys that depart.
    pub keys_out: u64,
    /// Bytes before.
    pub bytes_before: Option<u128>,
    /// Bytes after.
    pub bytes_after: Option<u128>,
    /// Bytes that arrive.
    pub bytes_in: Option<u128>,
    /// Bytes that depart.
    pub bytes_out: Option<u128>,
    /// Bytes while the change runs: old copies stay until everything has arrived.
    pub bytes_peak: Option<u128>,
    /// Keys while the change runs.
    pub keys_peak: u64,
}

/// What becomes of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is there before and after.
    Stays,
    /// It is new.
    Joins,
    /// It is gone after.
    Leaves,
}

/// Keys that go from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// The node's number before.
    pub from: u32,
    /// The node's number after.
    pub to: u32,
    /// The name before.
    pub from_name: String,
    /// The name after.
    pub to_name: String,
    /// Keys.
    pub keys: u64,
    /// Bytes, where they are known.
    pub bytes: Option<u128>,
}

fn rounded_pair<S: serde::Serializer>(pair: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    pair.map(super::six_digits).serialize(serializer)
}
