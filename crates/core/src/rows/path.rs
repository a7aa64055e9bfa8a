use serde::Serialize;

use super::{Balance, KeySet, MachineRows, MoveFractions, rounded, rounded_option};

/// A path of several changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathRows {
    /// The program and its version.
    pub tool: String,
    /// The scheme at the beginning, as a canonical spec.
    pub start: String,
    /// Nodes at the beginning.
    pub start_nodes: u32,
    /// The seed of synthetic keys.
    pub seed: u64,
    /// The documents.
    pub keys: KeySet,
    /// The steps.
    pub steps: Vec<PathStep>,
    /// The first step, counted from 1, that cannot be done; null where all can. The numbers below are
    /// then those of the steps before it.
    pub stops_at: Option<usize>,
    /// All moves of all steps over the keys; above 1 where keys move more than once.
    #[serde(serialize_with = "rounded")]
    pub cumulative_fraction: f64,
    /// Keys that going straight from the first to the last stage would move.
    #[serde(serialize_with = "rounded")]
    pub straight_fraction: f64,
    /// Cumulative less straight: what the detour costs.
    #[serde(serialize_with = "rounded")]
    pub detour_fraction: f64,
    /// Keys that moved at all.
    #[serde(serialize_with = "rounded")]
    pub moved_once_or_more_fraction: f64,
    /// Keys that moved more than once.
    #[serde(serialize_with = "rounded")]
    pub moved_more_than_once_fraction: f64,
    /// How many keys moved 0, 1, 2, … times.
    pub times_moved: Vec<u64>,
    /// Bytes of all moves, where bytes are known.
    pub cumulative_bytes: Option<u128>,
    /// All moves between machines over the keys, where machines are given.
    #[serde(serialize_with = "rounded_option", skip_serializing_if = "Option::is_none")]
    pub cumulative_between_machines_fraction: Option<f64>,
    /// Bytes of going straight.
    pub straight_bytes: Option<u128>,
    /// Whether the last stage has the nodes of the first.
    pub returns_to_the_first_nodes: bool,
    /// Whether every key is then where it was; null where the nodes are others.
    pub restores_the_first_mapping: Option<bool>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    /// What is done, in words.
    pub change: String,
    /// What it moved, or why it cannot be done.
    #[serde(flatten)]
    pub outcome: StepOutcome,
}

impl From<(String, StepOutcome)> for PathStep {
    fn from((change, outcome): (String, StepOutcome)) -> Self {
        Self { change, outcome }
    }
}

/// What a step led to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StepOutcome {
    /// It was done.
    Done(Box<StepRows>),
    /// It cannot be done, or comes after one that cannot.
    NotApplicable {
        /// The reason, for people.
        not_applicable: String,
    },
}

/// What a step moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRows {
    /// The scheme after it.
    pub to: String,
    /// Nodes after it.
    pub nodes: u32,
    /// What moved, and what had to.
    #[serde(flatten)]
    pub moves: MoveFractions,
    /// All moves up to here over the keys.
    #[serde(serialize_with = "rounded")]
    pub cumulative_fraction: f64,
    /// Bytes of the keys that moved, where bytes are known.
    pub moved_bytes: Option<u128>,
    /// Moved bytes over the bandwidth.
    #[serde(serialize_with = "rounded_option")]
    pub seconds_serial: Option<f64>,
    /// Balance after it.
    pub after: Balance,
    /// The step seen from the machines that hold the nodes, where they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachineRows>,
}
