use std::error::Error;

use crate::{ChangeError, Refusal};

/// Why an option of a spec was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The scheme has no such option.
    #[error("{scheme} has no option {option:?}; it takes {known}")]
    UnknownOption {
        /// The scheme's name.
        scheme: &'static str,
        /// What was written.
        option: String,
        /// The options there are, for people.
        known: String,
    },
    /// The value is not one that the option takes.
    #[error("{option}={value:?} is not valid: {expected}")]
    BadValue {
        /// The option's name.
        option: String,
        /// What was written.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// Options that cannot stand together.
    #[error("{reason}")]
    Contradiction {
        /// Which ones, and why.
        reason: String,
    },
}

/// Why a scheme cannot be built for a membership. Found before anything is allocated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The options contradict each other.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// More nodes than the scheme or this configuration can serve.
    #[error("{scheme} takes at most {max} nodes here, not {nodes}")]
    TooManyNodes {
        /// The scheme's name.
        scheme: &'static str,
        /// How many were given.
        nodes: u64,
        /// How many it takes.
        max: u64,
    },
    /// The scheme places keys by position and cannot give a node more than another.
    #[error("{scheme} takes no weights, but node {node:?} has weight {weight}")]
    WeightsUnsupported {
        /// The scheme's name.
        scheme: &'static str,
        /// The first node with a weight other than 1.
        node: String,
        /// Its weight.
        weight: u32,
    },
    /// A rule of the scheme itself, with its own typed error inside.
    #[error(transparent)]
    Scheme(Box<dyn Error + Send + Sync>),
}

/// Why a sharder does not do a change. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// Owners are positions: only the last node can leave.
    #[error("only the last node ({last:?}) can leave")]
    TailOnly {
        /// The node that could leave.
        last: String,
    },
    /// The number of shards changes by factors only.
    #[error("{0}")]
    NotAFactor(Refusal),
    /// The scheme takes no weights.
    #[error("{scheme} takes no weights")]
    Weights {
        /// The scheme's name.
        scheme: &'static str,
    },
    /// The change does not fit the members.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The scheme cannot be built for the members after the change.
    #[error(transparent)]
    Build(#[from] BuildError),
}
