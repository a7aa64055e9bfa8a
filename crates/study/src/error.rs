use shardlab_core::{BuildError, ChangeError, KeyError, MembersError};
use shardlab_harness::{CompareError, Impossible, SweepError};
use shardlab_keys::ReadError;

use crate::MachinesError;

/// Why a study has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A scheme cannot serve the membership.
    #[error("{spec}: {source}")]
    Build {
        /// The scheme.
        spec: String,
        /// Why not.
        source: BuildError,
    },
    /// A change that does not fit the members.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Nodes that are no membership.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// The scheme cannot do what the study is about.
    #[error("{spec}: {reason}")]
    Refused {
        /// The scheme.
        spec: String,
        /// Its reason.
        reason: String,
    },
    /// A change names a node that is not there.
    #[error("there is no node {name:?}; {known}")]
    UnknownNode {
        /// What was written.
        name: String,
        /// The nodes there are, or the nearest of them, for people.
        known: String,
    },
    /// Nodes that stand on no machine.
    #[error(transparent)]
    Machines(#[from] MachinesError),
    /// Several owners of a key, from a scheme that knows one.
    #[error("{spec} names one owner for a key and no order of further ones, so that it has no place for copies")]
    NoCopies {
        /// The scheme.
        spec: String,
    },
    /// No copies, or more than anybody keeps.
    #[error("{copies} copies of each key; 1 to {most} can be studied")]
    Copies {
        /// Copies asked for.
        copies: u32,
        /// The most there can be.
        most: u32,
    },
    /// A scheme whose own shares are not computable.
    #[error("{spec} has no shares that could be computed without keys, so that nothing can be said about its own peak")]
    NoShares {
        /// The scheme.
        spec: String,
    },
    /// A shard that is not there.
    #[error("there is no shard {shard}; shards are numbered from 0 to {last}")]
    NoSuchShard {
        /// The number given.
        shard: u32,
        /// The last number.
        last: u32,
    },
    /// A shard that no rule cuts.
    #[error(
        "{spec} has no rule that cuts one shard into {parts}: its placement has no ranges that could be shared out"
    )]
    ShardNotCut {
        /// The scheme.
        spec: String,
        /// Parts asked for.
        parts: u32,
    },
    /// A review that names one scheme twice.
    #[error("the candidate {spec:?} is given twice")]
    CandidateTwice {
        /// The canonical spec.
        spec: String,
    },
    /// The comparison in a review has no result.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The sweep over numbers of nodes in a review has no result.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The documents cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A document cannot be placed.
    #[error("{spec}: {error}")]
    Key {
        /// The scheme whose hash refused it.
        spec: String,
        /// The document and the reason.
        error: KeyError,
    },
    /// Documents whose weights are all 0.
    #[error("all documents have weight 0, so that nothing can be said of load by weight; leave the weight field out")]
    NoWeight,
    /// There is nothing to place.
    #[error("there are no keys to place")]
    NoKeys,
    /// More memory than allowed, found before or while it is taken.
    #[error("{what} needs about {needed} bytes of memory; the limit is {limit} (raise --max-memory)")]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes.
        needed: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// The system does not give what is allowed and needed.
    #[error(
        "{what} needs about {needed} bytes of memory, and the system does not give them to this process (see ulimit -v)"
    )]
    NotAvailable {
        /// What needs it.
        what: String,
        /// Bytes needed.
        needed: u128,
    },
    /// A scheme that knows no splits and shrinks.
    #[error("{spec} has no rules for splits and shrinks; its number of nodes changes by other means, see what-if")]
    NotResizable {
        /// The scheme.
        spec: String,
    },
    /// A scheme whose balance no option sets, and no keys to try numbers of nodes on.
    #[error(
        "{spec} has no option that sets its balance; give keys (--keys or --synthetic) and a number of equal nodes to find \
         the numbers at which these keys lie evenly"
    )]
    NothingToTune {
        /// The scheme.
        spec: String,
    },
    /// A question about no shards.
    #[error("an index has at least one shard; the count to reach must be 1 or more")]
    ZeroShards,
    /// A size per shard without a size of the index.
    #[error("a limit of {max_shard_bytes} bytes a shard needs the bytes of the whole index")]
    SizeUnknown {
        /// The limit.
        max_shard_bytes: u64,
    },
    /// A measurement that cannot be right: a bug in a scheme or in the study.
    #[error("{spec}: impossible result, please report it: {result}")]
    Impossible {
        /// The scheme.
        spec: String,
        /// What was measured.
        result: Impossible,
    },
}
