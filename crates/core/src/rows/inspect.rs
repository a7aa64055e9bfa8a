use serde::Serialize;

use super::{KeySet, Verdict, rounded, rounded_option};

/// What is good and bad about keys on their own, whatever places them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The program and its version.
    pub tool: String,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// The documents.
    pub keys: KeySet,
    /// What was found, the most harmful first.
    pub findings: Vec<Finding>,
    /// How many different documents and values there are.
    pub cardinality: Cardinality,
    /// The values that are decimal numbers; null where none is.
    pub numbers: Option<NumberFacts>,
    /// The values as texts; null for keys that need no hashing.
    pub texts: Option<TextFacts>,
    /// The values against the order in which they arrive.
    pub order: Order,
    /// The most common values, the most common first.
    pub top_values: Vec<TopValue>,
    /// The weights of the documents, where they have some.
    pub weights: Option<WeightFacts>,
    /// What the most common value and the heaviest one force on every scheme, for each number of nodes.
    pub floors: Vec<Floor>,
    /// Where the values fall, for each scheme, hash and number of nodes.
    pub placements: Vec<Placement>,
    /// For few values: the numbers of nodes at which a scheme spreads them as evenly as they allow.
    pub separations: Vec<Separation>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Something has to change, or load will be uneven or data lost.
    Harmful,
    /// It hurts in some uses, which the sentence names.
    Watch,
    /// It looks odd and does no harm.
    Harmless,
}

impl Severity {
    /// The word in every output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Harmful => "harmful",
            Self::Watch => "watch",
            Self::Harmless => "harmless",
        }
    }
}

/// Something that was found about the keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A word for programs, such as `constant_bits`.
    pub kind: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What it is, with the number.
    pub sentence: String,
    /// What to do.
    pub advice: String,
}

/// How many there are of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cardinality {
    /// Documents.
    pub rows: u64,
    /// Different documents: id and routing value together.
    pub distinct_documents: u64,
    /// Rows less different documents.
    pub duplicates: u64,
    /// What decides the place: "ids", "routing values", "routing values and ids" or "keys".
    pub placed_by: &'static str,
    /// Different values among those.
    pub distinct_values: u64,
    /// Bytes of memory that counting them took.
    pub heap_bytes: u64,
}

/// Different values that are decimal numbers below 2^64. Numbers are decimal text, since JSON numbers
/// end at 2^53.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NumberFacts {
    /// Values that are numbers.
    pub count: u64,
    /// Values in all.
    pub of: u64,
    /// The smallest.
    pub min: String,
    /// The largest.
    pub max: String,
    /// Bits that do not vary, up to the highest one that does, in ascending order.
    pub constant_bits: Vec<ConstantBits>,
    /// How many of the lowest bits are the same in every number.
    pub low_constant_bits: u32,
    /// How many of the lowest bits are the same in nearly all numbers.
    pub low_nearly_constant_bits: u32,
    /// The greatest common divisor of all differences; "0" where there is one number alone.
    pub divisor_of_differences: String,
    /// The greatest common divisor of all numbers.
    pub divisor: String,
    /// Numbers above 2^53.
    pub beyond_double: u64,
    /// Of those, numbers that a double holds exactly.
    pub held_by_a_double: u64,
    /// Numbers that are written with zeros in front.
    pub leading_zeros: u64,
    /// What the numbers may be.
    pub looks_like: Vec<LooksLike>,
}

/// A run of neighbouring bits that are the same in every number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConstantBits {
    /// The lowest of them, counted from 0.
    pub from: u32,
    /// The highest of them.
    pub to: u32,
    /// Their value as a number, in decimal.
    pub value: String,
}

/// A guess at what numbers are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LooksLike {
    /// `unix seconds`, `unix milliseconds`, `unix microseconds`, `unix nanoseconds` or `snowflake`.
    pub kind: &'static str,
    /// The time of the smallest.
    pub from: String,
    /// The time of the largest.
    pub to: String,
}

/// Different values as texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TextFacts {
    /// Bytes of the shortest.
    pub shortest_bytes: u64,
    /// Bytes of the longest.
    pub longest_bytes: u64,
    /// What all begin with.
    pub common_prefix: String,
    /// What all end with, beside the beginning.
    pub common_suffix: String,
    /// UUIDs by version; empty where none is one.
    pub uuids: Vec<UuidCount>,
    /// Texts of 20 letters of URL-safe base64, the form of automatic ids of Elasticsearch.
    pub auto_ids: u64,
}

/// UUIDs of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UuidCount {
    /// The version.
    pub version: u32,
    /// How many.
    pub count: u64,
}

/// Values against the order of their first arrival.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Order {
    /// Pearson's correlation of a value with its place in the order of arrival; null below three values.
    #[serde(serialize_with = "rounded_option")]
    pub correlation: Option<f64>,
    /// Neighbours of which the later one is larger.
    pub ascents: u64,
    /// Neighbours of which the later one is smaller.
    pub descents: u64,
    /// What that means.
    pub trend: Trend,
}

/// Which way values go as they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// The correlation is at least 0.7.
    Increasing,
    /// The correlation is at most −0.7.
    Decreasing,
    /// Neither.
    Neither,
}

/// A common value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopValue {
    /// The value, cut where it is long.
    pub value: String,
    /// Documents with it.
    pub rows: u64,
    /// Their part of all documents.
    #[serde(serialize_with = "rounded")]
    pub share: f64,
    /// Their part of all weight, where documents have weights.
    #[serde(serialize_with = "rounded_option")]
    pub weight_share: Option<f64>,
}

/// The weights of documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeightFacts {
    /// Their sum, as decimal text.
    pub sum: String,
    /// The value with the most weight.
    pub heaviest_value: String,
    /// Its part of all weight.
    #[serde(serialize_with = "rounded")]
    pub heaviest_value_share: f64,
    /// The heaviest document, which no scheme can divide.
    pub heaviest_document: String,
    /// Its part of all weight.
    #[serde(serialize_with = "rounded")]
    pub heaviest_document_share: f64,
}

/// What the keys force on every scheme at one number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Floor {
    /// Nodes.
    pub nodes: u32,
    /// No scheme has a lower peak-to-average of documents: the share of the most common value times the
    /// nodes, at least 1.
    #[serde(serialize_with = "rounded")]
    pub rows_floor: f64,
    /// What a fair hash has: the most common value, and on the same node its fair part of the rest.
    #[serde(serialize_with = "rounded")]
    pub rows_expected: f64,
    /// The lowest peak-to-average of weight, where documents have weights.
    #[serde(serialize_with = "rounded_option")]
    pub weight_floor: Option<f64>,
    /// The nodes beyond which the most common value (or the heaviest) keeps the fullest node from
    /// getting smaller; null where no value repeats.
    pub useless_beyond: Option<u64>,
}

/// Where the values fall with one scheme, hash and number of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// The canonical spec.
    pub scheme: String,
    /// The hash in front of it.
    pub hash: String,
    /// Whether raw numbers are placed without any hash.
    pub raw: bool,
    /// Nodes.
    pub nodes: u32,
    /// What came out, or why there is nothing.
    #[serde(flatten)]
    pub outcome: PlacementOutcome,
}

/// What stands behind a placement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PlacementOutcome {
    /// Placed.
    Placed(Box<PlacedValues>),
    /// The scheme cannot serve so many nodes.
    NotApplicable {
        /// The reason, for people.
        not_applicable: String,
    },
}

/// How values and documents lie on nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacedValues {
    /// Nodes that hold at least one value.
    pub nodes_used: u32,
    /// How many a fair hash would use for so many values.
    #[serde(serialize_with = "rounded")]
    pub expected_nodes_used: f64,
    /// Different values on the fullest node.
    pub peak_values: u64,
    /// Documents on the fullest node.
    pub peak_keys: u64,
    /// Documents on the fullest node over the mean.
    #[serde(serialize_with = "rounded")]
    pub peak_to_average: f64,
    /// The same for weight, where documents have weights.
    #[serde(serialize_with = "rounded_option")]
    pub weight_peak_to_average: Option<f64>,
    /// Whether the different values lie as chance would lay them, by the scheme's own exact shares
    /// where it has some; corrected for the number of placements.
    pub verdict: Verdict,
    /// The probability behind the verdict.
    #[serde(serialize_with = "rounded")]
    pub p_value: f64,
    /// The node of each value in the order of arrival, where there are 16 values or fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_of_values: Option<Vec<u32>>,
}

/// Numbers of nodes at which a scheme spreads few values as evenly as can be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Separation {
    /// The canonical spec.
    pub scheme: String,
    /// The hash in front of it.
    pub hash: String,
    /// The numbers of nodes that were tried: from 2 to this one.
    pub tried_to: u32,
    /// Those at which no node holds more values than it must.
    pub nodes: Vec<u32>,
}
