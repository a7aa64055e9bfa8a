use serde::Serialize;

use super::{Balance, Busiest, Heirs, KeySet, LoadChange, MachineRows, MoveFractions, ReplicaRows, rounded_option};

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
    /// What moved, and what had to.
    #[serde(flatten)]
    pub moves: MoveFractions,
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
    /// Requests for the keys whose owner changed, where requests are known.
    pub moved_requests: Option<u128>,
    /// Whether requests are those of a second; null where none are known.
    pub requests_per_second: Option<bool>,
    /// Moved bytes over the bandwidth: one transfer after another.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_serial: Option<f64>,
    /// The bytes into or out of the busiest node over the bandwidth: all nodes at work at once.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_parallel: Option<f64>,
    /// Bytes that are written anew over the bandwidth: where an index is written into another one, this
    /// is the time of the reindex, and more than that of the bytes that go elsewhere.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_rewritten: Option<f64>,
    /// Whether growing moved keys only onto new nodes, or shrinking only off removed ones.
    pub monotone: bool,
    /// Balance before.
    pub before: Balance,
    /// Balance after.
    pub after: Balance,
    /// The busiest node by keys, bytes and requests, as far as they are known.
    pub busiest: Vec<Busiest>,
    /// Every node that is there before or after.
    pub per_node: Vec<NodeFlow>,
    /// From where to where, without what stays and without empty cells.
    pub matrix: Vec<Flow>,
    /// The same change seen from machines that hold the nodes, where they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineRows>,
    /// The same change seen from the copies of the keys, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicaRows>,
    /// Who takes over the keys of nodes that leave, where nodes leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heirs: Option<Heirs>,
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
    /// What it holds and what passes its door.
    #[serde(flatten)]
    pub load: LoadChange,
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
    /// Requests, where they are known.
    pub requests: Option<u128>,
    /// Whether the data goes elsewhere: false in a split or shrink, where documents get another number
    /// and stay in the lineage of their shard.
    pub data_moves: bool,
}

fn rounded_pair<S: serde::Serializer>(pair: &[f64; 2], serializer: S) -> Result<S::Ok, S::Error> {
    pair.map(super::six_digits).serialize(serializer)
}
