use serde::Serialize;

use super::{KeySet, rounded, rounded_option};

/// The smallest value of an option that meets a target of balance, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuning {
    /// The program and its version.
    pub tool: String,
    /// The scheme as it was given, as a canonical spec.
    pub scheme: String,
    /// How many nodes.
    pub nodes: u32,
    /// Whether nodes have different weights.
    pub weighted: bool,
    /// What is tuned: the name of an option, or `nodes` where the scheme has none.
    pub option: String,
    /// The largest peak-to-average that is wanted.
    #[serde(serialize_with = "rounded")]
    pub peak: f64,
    /// The part of all node names for which it must hold.
    #[serde(serialize_with = "rounded")]
    pub confidence: f64,
    /// The most memberships of differently named nodes behind a mean or quantile.
    pub draws: u32,
    /// The seed of the names, and of synthetic keys.
    pub seed: u64,
    /// The documents, where some were given.
    pub keys: Option<KeySet>,
    /// The smallest value that meets the target with the confidence asked for; null where none does.
    pub value: Option<u32>,
    /// The scheme with that value.
    pub spec: Option<String>,
    /// Why no value can meet the target on the given keys, where none can.
    pub impossible: Option<String>,
    /// The answer to each form of the question.
    pub answers: Vec<Answer>,
    /// The values that were tried, ascending.
    pub tried: Vec<Tried>,
    /// The numbers of nodes that were tried, for a scheme without such an option.
    pub node_counts: Vec<NodeCount>,
    /// What a reader must be told.
    pub notes: Vec<String>,
}

/// The smallest value for one form of the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// `mean`, `quantile`, `these_names`, `these_keys` or `advised`.
    pub question: &'static str,
    /// The value; null where none was found.
    pub value: Option<u32>,
    /// Why none was found.
    pub not_reached: Option<String>,
    /// The scheme with it.
    pub spec: Option<String>,
    /// Bytes of heap.
    pub heap_bytes: Option<u64>,
    /// Nanoseconds to build it, if timed.
    #[serde(serialize_with = "rounded_option")]
    pub build_ns: Option<f64>,
    /// What losing one node moves.
    pub loss: Option<Loss>,
}

/// What losing one node moves, as the median of several memberships.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Keys whose owner changed.
    #[serde(serialize_with = "rounded")]
    pub moved: f64,
    /// Keys that moved between two nodes which both survive.
    #[serde(serialize_with = "rounded")]
    pub disruption: f64,
    /// Memberships that lost a node.
    pub draws: u32,
    /// Keys that were placed in each.
    pub keys: u32,
}

/// What came out at one value. All are peak-to-average, of exact shares where nothing else is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The value.
    pub value: u32,
    /// Memberships of differently named nodes behind mean and quantile; 1 where names do not matter.
    pub draws: u32,
    /// The mean over the draws.
    #[serde(serialize_with = "rounded")]
    pub mean: f64,
    /// The quantile of the confidence asked for.
    #[serde(serialize_with = "rounded")]
    pub quantile: f64,
    /// With the very names given.
    #[serde(serialize_with = "rounded")]
    pub these_names: f64,
    /// What the scheme promises at this value and at every larger one, where it does.
    #[serde(serialize_with = "rounded_option")]
    pub promised: Option<f64>,
    /// With the very names and keys given, by weight where keys have weights.
    #[serde(serialize_with = "rounded_option")]
    pub these_keys: Option<f64>,
    /// Bytes of heap.
    pub heap_bytes: u64,
}

/// What came out at one number of nodes on the given keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeCount {
    /// Nodes.
    pub nodes: u32,
    /// The lowest peak-to-average that any scheme can have there.
    #[serde(serialize_with = "rounded")]
    pub floor: f64,
    /// The peak-to-average; null where the scheme cannot serve so many nodes.
    #[serde(serialize_with = "rounded_option")]
    pub these_keys: Option<f64>,
    /// Why it cannot.
    pub not_applicable: Option<String>,
}
