//! A review: requirements, candidates that are held against them, and what follows.
//!
//! Everything here depends on the inputs alone but [`Review::timings`] and cells about time.

use serde::Serialize;

use super::{
    Balance, Comparison, KeySet, MoveFractions, PathRows, Scaling, SplitPlan, Timings, Tuning, WeightLoad, WhatIf,
    bytes, nanoseconds, percent, ratio, rounded, rounded_option,
};

/// The version of the form of a review as JSON. It goes up when a field changes its meaning or goes away.
pub const REVIEW_SCHEMA_VERSION: u32 = 1;

/// What was asked, what was measured, and what follows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    /// The name of this form: `shardlab-review`.
    pub schema: &'static str,
    /// Its version.
    pub schema_version: u32,
    /// The program and its version.
    pub tool: String,
    /// The title.
    pub title: String,
    /// What is to be decided, in words of its author.
    pub question: String,
    /// What surrounds the question, in words of its author.
    pub background: Vec<String>,
    /// Nodes, keys and what else was given.
    pub inputs: ReviewInputs,
    /// What a scheme must do.
    pub requirements: Vec<ReviewRequirement>,
    /// The changes that were studied, in words.
    pub changes: Vec<String>,
    /// Every scheme that was held against the requirements.
    pub candidates: Vec<Candidate>,
    /// What follows.
    pub decision: ReviewDecision,
    /// What the keys force on every scheme, where it was counted.
    pub keys_floor: Option<KeysFloor>,
    /// Paths of several changes, one a candidate, where one was asked for.
    pub paths: Vec<ReviewPath>,
    /// What a reader must be told.
    pub notes: Vec<String>,
    /// Machine, command line and times; null where timing is off.
    pub timings: Option<ReviewTimings>,
}

/// What a review is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewInputs {
    /// The review as its author wrote it.
    pub definition: String,
    /// The command that makes it again where its file stands, without times.
    pub command: String,
    /// How many nodes there are.
    pub nodes: u32,
    /// Whether they have different weights.
    pub weighted: bool,
    /// The hash that was asked for in front of every scheme; null where each has its own or the default.
    pub hash: Option<String>,
    /// The seed of synthetic keys and of draws.
    pub seed: u64,
    /// The documents.
    pub keys: KeySet,
    /// Bytes of all documents together, where they were given.
    pub bytes: Option<u64>,
    /// Bytes a second of one transfer, where that was given.
    pub bandwidth: Option<u64>,
    /// The scheme in use, as a canonical spec, where there is one.
    pub present: Option<String>,
}

/// Something that a scheme must do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewRequirement {
    /// Its name: `peak`, `moved`, `needless`, `disruption`, `any_node_leaves`, `weights`, `memory`,
    /// `compatible_with`, `constant_lookup` or `lookup_ns`.
    pub name: &'static str,
    /// The change that it is about, as a place in [`Review::changes`]; null where it is about none.
    pub change: Option<usize>,
    /// The largest value that is tolerable, where it is a number.
    #[serde(serialize_with = "rounded_option")]
    pub bound: Option<f64>,
    /// What its numbers count.
    pub unit: ReviewUnit,
    /// The requirement as a heading.
    pub heading: String,
    /// The requirement as a sentence.
    pub words: String,
}

/// What a number of a review counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewUnit {
    /// A load over the mean load.
    Ratio,
    /// A part of all keys.
    Fraction,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
    /// Nothing: it is met or not.
    None,
}

impl ReviewUnit {
    /// A number with its unit, as every text shows it.
    #[must_use]
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Ratio => ratio(value),
            Self::Fraction => percent(value),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is a whole number of bytes that fits into memory"
            )]
            Self::Bytes => bytes(value as u64),
            Self::Nanoseconds => nanoseconds(value),
            Self::None => String::new(),
        }
    }
}

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// By the measured number and by all of its interval.
    Met,
    /// By no part of its interval.
    NotMet,
    /// The bound lies within the interval.
    Uncertain,
    /// There is no number.
    NotMeasured,
}

/// What was found of one scheme about one requirement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Whether it is met.
    pub judgement: Judgement,
    /// What was measured, in the unit of the requirement.
    #[serde(serialize_with = "rounded_option")]
    pub value: Option<f64>,
    /// Where the number of another draw of names and keys lies with 95 % probability; null where the number
    /// is exact or nothing is known of others.
    #[serde(serialize_with = "rounded_option")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(serialize_with = "rounded_option")]
    pub high: Option<f64>,
    /// Where the number comes from, or why there is none.
    pub words: String,
}

/// How a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It meets every requirement.
    Remains,
    /// It misses none for sure, and meets not all of them for sure.
    Undecided,
    /// It misses one or more.
    Out,
}

/// A scheme that was held against the requirements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The canonical spec.
    pub scheme: String,
    /// The hash in front of it.
    pub hash: String,
    /// Whether it is the scheme in use.
    pub is_present: bool,
    /// The candidate that it is a larger table of, found because that one misses the largest peak.
    pub tuned_from: Option<String>,
    /// How it stands.
    pub standing: Standing,
    /// One for each requirement, in their order.
    pub judged: Vec<Judged>,
    /// What was measured; null where it cannot serve the nodes.
    pub measured: Option<Box<CandidateRows>>,
}

/// What was measured of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CandidateRows {
    /// A digest over all pairs of a document and the name of its node, whatever their order: another one
    /// means that the mapping changed.
    pub placement_digest: String,
    /// How evenly the keys lie.
    pub balance: Balance,
    /// The same by the weights of the documents, where they have any.
    pub weight_load: Option<WeightLoad>,
    /// The fullest node under other names of the nodes and other keys.
    pub peak_elsewhere: Option<PeakElsewhere>,
    /// Bytes of heap of the lookup structure.
    pub heap_bytes: u64,
    /// How the steps of a lookup grow with the nodes.
    pub lookup_growth: &'static str,
    /// Whether nodes may have different weights.
    pub takes_weights: bool,
    /// Whether any node may leave, and not the last of the list alone.
    pub any_node_leaves: bool,
    /// What each change costs, in the order of [`Review::changes`].
    pub changes: Vec<CandidateChange>,
    /// What going there from the scheme in use costs, the nodes staying as they are.
    pub switch: Option<ChangeCosts>,
}

/// Peak-to-average of a scheme under other names of nodes and other keys, as many as were given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakElsewhere {
    /// Memberships of other names behind it, each with keys of its own; 1 where names do not matter to the
    /// shares.
    pub memberships: u32,
    /// Draws of keys.
    pub draws: u32,
    /// The median.
    #[serde(serialize_with = "rounded")]
    pub median: f64,
    /// 95 % of the draws lie from here
    #[serde(serialize_with = "rounded")]
    pub low: f64,
    /// to here.
    #[serde(serialize_with = "rounded")]
    pub high: f64,
    /// Whether the measured peak is beyond all draws by so much that the keys themselves are uneven.
    pub keys_are_uneven: bool,
}

/// What one change costs with one candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CandidateChange {
    /// It was studied.
    Done(Box<ChangeCosts>),
    /// The scheme cannot do it.
    NotApplicable {
        /// The reason, for people.
        not_applicable: String,
        /// What people do in its place, and what it costs.
        instead: Vec<ChangeCosts>,
    },
}

/// What a change costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeCosts {
    /// What is done, in words.
    pub change: String,
    /// The scheme after it.
    pub to: String,
    /// Nodes after it.
    pub to_nodes: u32,
    /// What moved, and what had to.
    #[serde(flatten)]
    pub moves: MoveFractions,
    /// For splits and shrinks: documents that end outside the lineage of their shard.
    #[serde(serialize_with = "rounded_option")]
    pub left_parent_fraction: Option<f64>,
    /// What the same change moves under other names of the nodes and other keys.
    pub elsewhere: Option<MovesElsewhere>,
    /// Where the moved fraction of other draws lies with 95 % probability: of other names and keys where names
    /// matter, else of other keys like these (Wilson). Null where the keys are uneven, since nothing is known of
    /// others then, and for splits and shrinks.
    pub moved_interval: Option<[f64; 2]>,
    /// Keys whose owner changed.
    pub moved_keys: u64,
    /// Bytes that go elsewhere, where bytes are known.
    pub moved_bytes: Option<u128>,
    /// Bytes that are written anew, where bytes are known.
    pub rewritten_bytes: Option<u128>,
    /// Seconds of one transfer after another, where bytes and bandwidth are known.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_serial: Option<f64>,
    /// Seconds with all nodes at work at once.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_parallel: Option<f64>,
    /// Peak-to-average after it.
    #[serde(serialize_with = "rounded")]
    pub peak_after: f64,
}

/// Ranges over memberships of other names with keys of their own: smallest and largest of 39 draws, between
/// which the next draw lies with 95 % probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MovesElsewhere {
    /// Memberships.
    pub draws: u32,
    /// Keys in each.
    pub keys: u32,
    /// Keys that moved.
    pub moved: [f64; 2],
    /// Keys that moved needlessly.
    pub needless: [f64; 2],
    /// Keys that moved between survivors.
    pub disruption: [f64; 2],
}

/// What the requirements leave.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReviewDecision {
    /// The answer in one sentence.
    pub headline: String,
    /// The one scheme that the numbers single out; null where they do not.
    pub recommended: Option<String>,
    /// Schemes that meet every requirement.
    pub remaining: Vec<String>,
    /// Schemes that may meet every requirement.
    pub undecided: Vec<String>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What each remaining scheme is better at than the others.
    pub trade_offs: Vec<String>,
    /// What would change the answer.
    pub would_change: Vec<String>,
}

/// What the keys force on every scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeysFloor {
    /// Different values by which documents are placed.
    pub distinct: u64,
    /// The most common value, or the heaviest where documents have weights; as shown.
    pub value: String,
    /// Its part of all documents, or of all weight.
    #[serde(serialize_with = "rounded")]
    pub share: f64,
    /// Whether that is a part of the weight.
    pub by_weight: bool,
    /// The lowest peak-to-average that any scheme can have.
    #[serde(serialize_with = "rounded")]
    pub peak: f64,
}

/// A path of several changes with one candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewPath {
    /// The candidate.
    pub scheme: String,
    /// The steps in words.
    pub steps: Vec<String>,
    /// Why it stops, where it does.
    pub not_applicable: Option<String>,
    /// All moves of all steps over the keys.
    #[serde(serialize_with = "rounded")]
    pub cumulative_fraction: f64,
    /// What going straight to the end moves.
    #[serde(serialize_with = "rounded")]
    pub straight_fraction: f64,
    /// Keys that moved more than once.
    #[serde(serialize_with = "rounded")]
    pub moved_more_than_once_fraction: f64,
    /// Bytes of all moves, where bytes are known.
    pub cumulative_bytes: Option<u128>,
    /// The worst peak-to-average on the way.
    #[serde(serialize_with = "rounded")]
    pub worst_peak: f64,
}

/// What may differ from run to run and from machine to machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewTimings {
    /// Machine, command line and the times of lookups.
    #[serde(flatten)]
    pub lookups: Timings,
    /// Nanoseconds to build each candidate that could be built, in their order.
    pub build_ns: Vec<BuildTime>,
    /// Which schemes that are not out are faster than which others, where the times can be trusted.
    pub faster: Vec<String>,
}

/// How long a candidate takes to build.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuildTime {
    /// The canonical spec.
    pub scheme: String,
    /// Nanoseconds.
    #[serde(serialize_with = "rounded")]
    pub build_ns: f64,
}

/// The studies behind a review, whole, for pictures and tables.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewStudies {
    /// All candidates on the present nodes.
    pub comparison: Comparison,
    /// One change of the scheme in use and of the best one, from where to where.
    pub flows: Vec<WhatIf>,
    /// The path, one a candidate.
    pub paths: Vec<PathRows>,
    /// What it takes to stay below the largest peak.
    pub tunings: Vec<Tuning>,
    /// Splits and shrinks of the scheme in use.
    pub split_plans: Vec<SplitPlan>,
    /// How lookups, memory and building grow with the nodes, where times are measured.
    pub growth: Option<Scaling>,
}
