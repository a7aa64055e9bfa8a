use serde::Serialize;

use super::{rounded, rounded_option};

/// A change seen from the copies of the keys, where each key has several owners.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicaRows {
    /// Copies of each key that were asked for, the first included: its first distinct owners.
    pub copies: u32,
    /// Copies before: as many, or one on each node where there are fewer nodes.
    pub copies_before: u32,
    /// Copies after, likewise.
    pub copies_after: u32,
    /// How evenly copies lie before.
    pub before: CopyLoad,
    /// How evenly copies lie after.
    pub after: CopyLoad,
    /// Copies that a node gets of a key of which it had none. Owners that change places make none.
    pub made: u64,
    /// `made` over the copies before.
    #[serde(serialize_with = "rounded")]
    pub made_fraction: f64,
    /// The least that these counts allow, over the copies before.
    #[serde(serialize_with = "rounded")]
    pub made_minimum_fraction: f64,
    /// Made less minimum.
    #[serde(serialize_with = "rounded")]
    pub made_excess_fraction: f64,
    /// Bytes of the copies that are made, where bytes are known.
    pub made_bytes: Option<u128>,
    /// Keys whose first owner leaves.
    pub lost_first_owner: u64,
    /// Those of them that have a copy on a node that stays.
    pub kept_a_copy: u64,
    /// Keys of which every copy is on nodes that leave.
    pub lost_every_copy: u64,
    /// Bytes of these keys, where bytes are known.
    pub lost_bytes: Option<u128>,
}

/// How evenly the copies of the keys lie on nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyLoad {
    /// Copies per node, in membership order.
    pub counts: Vec<u64>,
    /// The largest load over the fair one, which is in proportion to the weight.
    #[serde(serialize_with = "rounded")]
    pub peak_to_average: f64,
    /// The smallest load over the fair one.
    #[serde(serialize_with = "rounded")]
    pub min_to_average: f64,
    /// Population coefficient of variation of load over fair load.
    #[serde(serialize_with = "rounded")]
    pub cv: f64,
    /// The coefficient of variation if every set of so many nodes were as likely for every key; null
    /// where nodes have different weights.
    #[serde(serialize_with = "rounded_option")]
    pub noise_floor_cv: Option<f64>,
}

/// Who takes over the keys of nodes that leave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heirs {
    /// Names of the nodes that leave.
    pub lost: Vec<String>,
    /// Keys that had a node that leaves as their first owner and have an heir.
    pub keys: u64,
    /// The heirs in membership order, without those that get nothing.
    pub rows: Vec<Heir>,
    /// The largest part that one heir takes over.
    #[serde(serialize_with = "rounded")]
    pub largest_fraction: f64,
    /// The node that takes over the most.
    pub largest_node: String,
    /// What that node would take over if all heirs took over by weight.
    #[serde(serialize_with = "rounded")]
    pub even_fraction: f64,
    /// The largest growth of a node that stays: keys after over keys before, less 1. Null where no node
    /// that stays had keys.
    #[serde(serialize_with = "rounded_option")]
    pub largest_growth: Option<f64>,
    /// The node that grows the most.
    pub largest_growth_node: Option<String>,
}

/// One node that takes over keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heir {
    /// Its number after the change.
    pub node: u32,
    /// Its name.
    pub node_name: String,
    /// Keys that it takes over.
    pub keys: u64,
    /// Their part of all keys that are taken over.
    #[serde(serialize_with = "rounded")]
    pub fraction: f64,
}
