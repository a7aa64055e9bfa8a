//! The rows that results are made of: plain data, written by the harness and read by reports.
//!
//! Names carry units. Printed statistics are rounded to six significant digits by [`six_digits`],
//! so that the last bits of a platform's logarithm never show.

use serde::{Serialize, Serializer};

mod inspect;
mod machines;
mod moves;
mod path;
mod replicas;
mod review;
mod scaling;
mod split_plan;
mod tune;
mod units;
mod what_if;

pub use inspect::{
    Cardinality, ConstantBits, Finding, Floor, Inspection, LooksLike, NumberFacts, Order, PlacedValues, Placement,
    PlacementOutcome, Separation, Severity, TextFacts, TopValue, Trend, UuidCount, WeightFacts,
};
pub use machines::{MachineFlow, MachineRows, Removal, Removals};
pub use moves::{Busiest, BusyNode, LoadChange, MoveFractions};
pub use path::{PathRows, PathStep, StepOutcome, StepRows};
pub use replicas::{CopyLoad, Heir, Heirs, ReplicaRows};
pub use review::{
    BuildTime, Candidate, CandidateChange, CandidateRows, ChangeCosts, Judged, Judgement, KeysFloor, MovesElsewhere,
    PeakElsewhere, REVIEW_SCHEMA_VERSION, Review, ReviewDecision, ReviewInputs, ReviewPath, ReviewRequirement,
    ReviewStudies, ReviewTimings, ReviewUnit, Standing,
};
pub use scaling::{GrowthPoint, Scaling, SchemeGrowth};
pub use split_plan::{
    ChildShards, Costs, How, OneShard, OneShardPart, OneShardRule, PredictedDocuments, PredictedShard,
    ResizeAlternative, ResizeBytes, ResizeStep, ShardFit, ShardSize, SplitPlan, Spread,
};
pub use tune::{Answer, Loss, NodeCount, Tried, Tuning};
pub use units::{bytes, nanoseconds, percent, ratio};
pub use what_if::{Fate, Flow, NodeFlow, WhatIf};

/// Rounds to six significant digits.
#[must_use]
pub fn six_digits(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A count as it is shown, with its noun: "1 key", "2 keys".
#[must_use]
pub fn counted(count: impl std::fmt::Display, one: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {one}{plural}")
}

fn rounded<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    six_digits(*value).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde hands the field over by reference")]
fn rounded_option<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(six_digits).serialize(serializer)
}

/// What a distribution of keys looks like against chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Some node is expected to hold fewer than five keys: no test can speak.
    #[serde(rename = "too few keys")]
    TooFewKeys,
    /// The spread is more than chance gives: look at the scheme, the ids or the routing values.
    #[serde(rename = "structural")]
    Structural,
    /// The spread is what chance gives at this number of keys and nodes.
    #[serde(rename = "chance")]
    Chance,
}

impl Verdict {
    /// The word in every output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooFewKeys => "too few keys",
            Self::Structural => "structural",
            Self::Chance => "chance",
        }
    }
}

/// How evenly keys lie on nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// Keys per node, in membership order.
    pub counts: Vec<u64>,
    /// The largest load over the mean load; with weights, of load over expected load.
    #[serde(serialize_with = "rounded")]
    pub peak_to_average: f64,
    /// The smallest load over the mean load; with weights, of load over expected load.
    #[serde(serialize_with = "rounded")]
    pub min_to_average: f64,
    /// Population coefficient of variation; with weights, of load over expected load.
    #[serde(serialize_with = "rounded")]
    pub cv: f64,
    /// Pearson's statistic against the expected loads.
    #[serde(serialize_with = "rounded")]
    pub chi_square: f64,
    /// Upper tail of the statistic, corrected for the number of rows.
    #[serde(serialize_with = "rounded")]
    pub p_value: f64,
    /// The coefficient of variation that a perfectly fair random placement would show.
    #[serde(serialize_with = "rounded")]
    pub noise_floor_cv: f64,
    /// The coefficient of variation expected of this sharder: its exact shares plus chance; the
    /// noise floor where the shares are not computable.
    #[serde(serialize_with = "rounded")]
    pub expected_cv: f64,
    /// Mean keys per node.
    #[serde(serialize_with = "rounded")]
    pub keys_per_node: f64,
    /// The largest exact share over the mean share (with weights, over the fair share), where the
    /// scheme's whole key space can be evaluated.
    #[serde(serialize_with = "rounded_option")]
    pub exact_peak_to_average: Option<f64>,
    /// The probability that a perfectly fair random placement leaves at least one node empty, where
    /// nodes have equal weights and it is not too small to matter.
    #[serde(serialize_with = "rounded_option", skip_serializing_if = "Option::is_none")]
    pub empty_probability: Option<f64>,
    /// How full the fullest node gets by chance alone, where that was worked out: equal weights, several
    /// nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_peak: Option<ChancePeak>,
    /// What the spread means.
    pub verdict: Verdict,
}

/// What a perfectly fair random placement does to the fullest node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChancePeak {
    /// The expected peak-to-average.
    #[serde(serialize_with = "rounded")]
    pub mean: f64,
    /// The peak-to-average that is exceeded in at most one of a hundred cases.
    #[serde(serialize_with = "rounded")]
    pub p99: f64,
    /// The probability that all nodes get exactly the same; 0 where the keys cannot be shared out so.
    #[serde(serialize_with = "rounded")]
    pub even_probability: f64,
}

/// Load by the weight column of the key set, beside the count of keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightLoad {
    /// Sum of weights per node, as decimal text, since sums have 128 bits.
    pub sums: Vec<String>,
    /// The largest sum over the mean; with node weights, of sum over expected sum.
    #[serde(serialize_with = "rounded")]
    pub peak_to_average: f64,
    /// The smallest sum over the mean; with node weights, of sum over expected sum.
    #[serde(serialize_with = "rounded")]
    pub min_to_average: f64,
}

/// What a change of membership moved, or why the scheme cannot do it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ChangeOutcome {
    /// Measured.
    Moved(Movement),
    /// The scheme cannot do this change.
    NotApplicable {
        /// The reason, for people.
        not_applicable: String,
    },
}

/// What a change of membership moved, as fractions of the keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Movement {
    /// Keys whose owner changed.
    #[serde(serialize_with = "rounded")]
    pub moved: f64,
    /// The least that must move between these very counts.
    #[serde(serialize_with = "rounded")]
    pub minimum: f64,
    /// Moved less minimum.
    #[serde(serialize_with = "rounded")]
    pub excess: f64,
    /// Keys that moved between two nodes which both survive.
    #[serde(serialize_with = "rounded")]
    pub disruption: f64,
    /// What a perfectly balanced scheme would have to move. Not an error bound.
    #[serde(serialize_with = "rounded")]
    pub ideal: f64,
    /// For splits and shrinks: documents that end outside the lineage of their shard.
    #[serde(serialize_with = "rounded_option", skip_serializing_if = "Option::is_none")]
    pub left_parent: Option<f64>,
}

/// The four changes that every comparison measures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Movements {
    /// A new node at the end.
    pub add_one: ChangeOutcome,
    /// The last node of the list leaves.
    pub remove_last: ChangeOutcome,
    /// The node at position floor(n/2) leaves.
    pub remove_middle: ChangeOutcome,
    /// As many new nodes as there are.
    pub double: ChangeOutcome,
}

/// What was measured of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// How evenly the keys lie.
    pub balance: Balance,
    /// The same for the weight column, where the key set has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_load: Option<WeightLoad>,
    /// What changes of membership cost.
    pub movement: Movements,
    /// Bytes of heap of the lookup structure.
    pub heap_bytes: u64,
    /// The closed form that the heap should follow.
    pub expected_heap_bytes: u64,
    /// Nanoseconds to build the sharder, if timed.
    #[serde(serialize_with = "rounded_option")]
    pub build_ns: Option<f64>,
    /// Nanoseconds for one lookup in a chain where each key depends on the answer before, if timed.
    #[serde(serialize_with = "rounded_option")]
    pub lookup_ns: Option<f64>,
    /// Nanoseconds for one independent lookup in a batch, if timed.
    #[serde(serialize_with = "rounded_option")]
    pub throughput_ns: Option<f64>,
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The canonical spec.
    pub scheme: String,
    /// The hash in front of it.
    pub hash: String,
    /// What was measured, or why there is nothing.
    #[serde(flatten)]
    pub outcome: RowOutcome,
}

/// What stands behind the name of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RowOutcome {
    /// The scheme was measured.
    Measured(Box<Measured>),
    /// The scheme cannot serve this membership.
    NotApplicable {
        /// The reason, for people.
        not_applicable: String,
    },
}

/// The documents of a run: where they came from and what was counted while reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeySet {
    /// The file or the synthetic spec.
    pub description: String,
    /// Digest over all accepted documents in order, in hex.
    pub digest: String,
    /// Records seen.
    pub read: u64,
    /// Records used.
    pub accepted: u64,
    /// Records left out, by reason.
    pub skipped: Vec<Skipped>,
    /// Accepted records whose id and routing value equal those of the record before.
    pub consecutive_duplicates: u64,
    /// Different documents, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Bytes of memory that counting different documents took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_heap_bytes: Option<u64>,
    /// Accepted records that have a routing value.
    pub with_routing: u64,
    /// Things that were done to the input and that its owner should know.
    pub notes: Vec<String>,
}

/// Records that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The reason, for people.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// Where the first one stands, as file and line.
    pub first_at: String,
}

/// What may differ from run to run and from machine to machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timings {
    /// The command line.
    pub command: String,
    /// Operating system, processor architecture and processor name.
    pub machine: String,
    /// Threads used.
    pub threads: usize,
    /// Seconds for the pass over the keys.
    #[serde(serialize_with = "rounded")]
    pub pass_seconds: f64,
    /// Nanoseconds per lookup that the measuring loop itself costs, in the dependent chain.
    #[serde(serialize_with = "rounded")]
    pub floor_lookup_ns: f64,
    /// Nanoseconds per lookup that the measuring loop itself costs, in a batch.
    #[serde(serialize_with = "rounded")]
    pub floor_throughput_ns: f64,
    /// Keys that lookups were timed with.
    pub timed_keys: u64,
    /// How far rounds of the typical row differ: the distance of the quartiles over the median.
    #[serde(serialize_with = "rounded")]
    pub noise_fraction: f64,
    /// Whether something else used the machine so much that the times cannot be trusted.
    pub too_noisy: bool,
    /// More about the times of each measured row, in the order of the rows.
    pub latency: Vec<Latency>,
}

/// What lookups of one row took, in nanoseconds for one lookup. Keys are in random order unless a
/// name says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// The canonical spec.
    pub scheme: String,
    /// Median of a chain in which each key depends on the answer before.
    #[serde(serialize_with = "rounded")]
    pub lookup_ns: f64,
    /// The 99th percentile over the timed runs of such a chain.
    #[serde(serialize_with = "rounded")]
    pub lookup_p99_ns: f64,
    /// The chain with keys in the order of their documents.
    #[serde(serialize_with = "rounded")]
    pub lookup_in_order_ns: f64,
    /// Median of independent lookups in batches.
    #[serde(serialize_with = "rounded")]
    pub throughput_ns: f64,
    /// The 99th percentile over the timed runs of batches.
    #[serde(serialize_with = "rounded")]
    pub throughput_p99_ns: f64,
    /// Batches with keys in the order of their documents.
    #[serde(serialize_with = "rounded")]
    pub throughput_in_order_ns: f64,
    /// Batches with hashing of the documents included; none where the keys were numbers already.
    #[serde(serialize_with = "rounded_option")]
    pub throughput_with_hash_ns: Option<f64>,
    /// The sum of the node numbers of the first 1024 keys, so that two measurements can be seen to be
    /// of the same thing.
    pub answers_sum: u64,
}

/// A comparison of schemes on one key set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The program and its version.
    pub tool: String,
    /// How many nodes.
    pub nodes: u32,
    /// Whether nodes have different weights.
    pub weighted: bool,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// The documents.
    pub keys: KeySet,
    /// One row a scheme, in the order asked.
    pub rows: Vec<ComparisonRow>,
    /// What a reader must be told.
    pub notes: Vec<String>,
    /// The table in words.
    pub reading: Vec<String>,
    /// Machine, thread count, command line and times; null where timing is off.
    pub timings: Option<Timings>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_keeps_tiny_and_large_numbers() {
        assert_eq!(six_digits(1.234_567_89), 1.234_57);
        assert_eq!(six_digits(1.234_567_89e-200), 1.234_57e-200);
        assert_eq!(six_digits(0.0), 0.0);
        assert_eq!(six_digits(43_605.123), 43_605.1);
    }
}
