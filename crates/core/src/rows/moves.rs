use serde::Serialize;

use super::rounded;

/// What a change moved, as fractions of the keys: the numbers that every study of a change has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MoveFractions {
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
}

/// What one place, a node or a machine, holds before and after a change, and what passes its door:
/// keys, bytes and requests side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadChange {
    /// Keys before.
    pub keys_before: u64,
    /// Keys after.
    pub keys_after: u64,
    /// Keys whose owner it becomes.
    pub keys_in: u64,
    /// Keys whose owner it was.
    pub keys_out: u64,
    /// Keys after less keys before.
    pub keys_net: i128,
    /// Keys while the change runs: old copies stay until everything has arrived.
    pub keys_peak: u64,
    /// Keys whose data arrives from elsewhere: those of `keys_in`; in a split or shrink, those of them
    /// that come from outside the lineage.
    pub keys_moved_in: u64,
    /// Keys whose data departs to elsewhere.
    pub keys_moved_out: u64,
    /// Bytes before, where bytes are known.
    pub bytes_before: Option<u128>,
    /// Bytes after.
    pub bytes_after: Option<u128>,
    /// Bytes of the keys whose owner it becomes.
    pub bytes_in: Option<u128>,
    /// Bytes of the keys whose owner it was.
    pub bytes_out: Option<u128>,
    /// Bytes after less bytes before.
    pub bytes_net: Option<i128>,
    /// Bytes while the change runs.
    pub bytes_peak: Option<u128>,
    /// Bytes that arrive from elsewhere.
    pub bytes_moved_in: Option<u128>,
    /// Bytes that depart to elsewhere.
    pub bytes_moved_out: Option<u128>,
    /// Requests before, where requests are known.
    pub requests_before: Option<u128>,
    /// Requests after.
    pub requests_after: Option<u128>,
    /// Requests for the keys whose owner it becomes.
    pub requests_in: Option<u128>,
    /// Requests for the keys whose owner it was.
    pub requests_out: Option<u128>,
    /// Requests after less requests before.
    pub requests_net: Option<i128>,
}

/// The busiest node by one measure of load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Busiest {
    /// The measure: `keys`, `bytes` or `requests`.
    pub measure: &'static str,
    /// The busiest node before.
    pub before: BusyNode,
    /// The busiest node after.
    pub after: BusyNode,
}

/// A node and its part of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyNode {
    /// Its name.
    pub node_name: String,
    /// What it holds or serves, in the unit of the measure.
    pub load: u128,
    /// That over the load that is fair by its weight.
    #[serde(serialize_with = "rounded")]
    pub over_fair: f64,
}
