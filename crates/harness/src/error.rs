use shardlab_core::{BuildError, KeyError, rows::six_digits};
use shardlab_keys::ReadError;

/// Why a comparison has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A scheme that was asked for cannot serve the membership.
    #[error("{spec}: {source}")]
    Build {
        /// The scheme.
        spec: String,
        /// Why not.
        source: BuildError,
    },
    /// What was asked for needs more memory than it may take. Nothing was built.
    #[error(
        "this comparison would need about {needed} bytes of memory, of which {largest_bytes} for {largest}; \
         the limit is {limit} (raise --max-memory, or ask for fewer nodes, rows or threads; \
         large weights may be divided by what they have in common)"
    )]
    Memory {
        /// Bytes in all.
        needed: u128,
        /// The row that needs the most.
        largest: String,
        /// What that row needs.
        largest_bytes: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// The system does not give what is allowed and needed.
    #[error(
        "this needs about {needed} bytes of memory, and the system does not give them to this process (see ulimit -v)"
    )]
    NotAvailable {
        /// Bytes needed.
        needed: u128,
    },
    /// The documents cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A document cannot be placed.
    #[error("{hash}: {error}")]
    Key {
        /// The hash that refused it.
        hash: String,
        /// The document and the reason.
        error: KeyError,
    },
    /// There is nothing to place.
    #[error("there are no keys to place")]
    NoKeys,
    /// A measurement that cannot be right: a bug in a scheme or in the harness.
    #[error("{spec}: impossible result, please report it: {result}")]
    Impossible {
        /// The scheme.
        spec: String,
        /// What was measured.
        result: Impossible,
    },
}

/// A measurement that contradicts arithmetic or a scheme's promise.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Impossible {
    /// Fewer keys moved than the counts before and after allow.
    #[error("{change}: {moved} keys moved, but the counts need at least {minimum}")]
    BelowMinimum {
        /// The change.
        change: &'static str,
        /// Keys that moved.
        moved: u64,
        /// Keys that must have moved.
        minimum: u64,
    },
    /// Keys moved between survivors although the scheme promises that none does.
    #[error("{change}: {disrupted} keys moved between surviving nodes, against the scheme's promise")]
    BrokenPromise {
        /// The change.
        change: &'static str,
        /// Keys that moved between survivors.
        disrupted: u64,
    },
    /// Counts that do not add up to the number of keys.
    #[error("the nodes hold {counted} keys of {placed}")]
    LostKeys {
        /// Sum over the nodes.
        counted: u64,
        /// Keys placed.
        placed: u64,
    },
    /// Exact shares that do not add up to the whole.
    #[error("the exact shares add up to {sum} of {whole}")]
    Shares {
        /// Sum over the nodes.
        sum: u128,
        /// What there is.
        whole: u128,
    },
    /// Exact shares that differ by more than the scheme promises at equal weights.
    #[error("exact shares of {least} to {most} units at equal weights, which may differ by {gap} at most")]
    Uneven {
        /// The smallest share.
        least: u128,
        /// The largest share.
        most: u128,
        /// The promise.
        gap: u128,
    },
    /// A batch places a key elsewhere than a single lookup.
    #[error("key {key} is on node {single} when asked for alone and on node {batch} in a batch")]
    BatchDiffers {
        /// The key.
        key: u64,
        /// The node of a single lookup.
        single: u32,
        /// The node in a batch.
        batch: u32,
    },
    /// Lookups in less time than any processor needs: they were not done.
    #[error("{lookup_ns:.3} ns for a lookup that waits for the one before, less than {least_ns} ns")]
    TooFast {
        /// What was measured.
        lookup_ns: f64,
        /// What is possible.
        least_ns: f64,
    },
    /// More heap than the closed form says.
    #[error("{heap} bytes of heap, more than the closed form of {} bytes", six_digits(*expected as f64))]
    Heap {
        /// Bytes used.
        heap: u64,
        /// Bytes promised.
        expected: u64,
    },
}
