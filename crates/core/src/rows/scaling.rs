use serde::{Deserialize, Serialize};

/// How the cost of schemes grows with the number of nodes: each built and asked at several sizes, on one
/// machine at one moment. It is read back from the records that were stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The most bytes that a table was allowed to take while it was built.
    pub max_memory: u64,
    /// Random 64-bit keys that lookups were timed with, in turn.
    pub keys: u64,
    /// The seed of these keys.
    pub seed: u64,
    /// Where and when this was measured, for people, where somebody who knows has said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_on: Option<String>,
    /// One entry a scheme, in the order of a comparison.
    pub schemes: Vec<SchemeGrowth>,
}

/// One scheme from its smallest number of nodes to its largest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchemeGrowth {
    /// The canonical spec.
    pub scheme: String,
    /// What its documentation says of a lookup.
    pub lookup_cost: String,
    /// What its documentation says of the heap, in bytes.
    pub heap_cost: String,
    /// What was measured, by ascending number of nodes.
    pub sizes: Vec<GrowthPoint>,
    /// Where it stops and why, unless it goes to the end.
    pub stops: Option<String>,
}

/// One scheme at one number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthPoint {
    /// How many nodes.
    pub nodes: u32,
    /// The spec that was built: a table may have to grow.
    pub spec: String,
    /// Nanoseconds for one independent lookup, asked one by one: the median.
    pub single_ns: f64,
    /// Nanoseconds for one independent lookup in a batch: the median.
    pub many_ns: f64,
    /// Nanoseconds of one build, which was the first.
    pub build_ns: f64,
    /// Bytes of heap of the lookup structure.
    pub heap_bytes: u64,
}
