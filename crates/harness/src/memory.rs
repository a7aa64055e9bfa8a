use shardlab_core::{Members, Scheme};

use crate::error::CompareError;

/// What one named node costs in a list: the string, its handle and the index by name.
const LISTED_NODE_BYTES: u128 = 64;

/// Refuses a comparison that needs more than `limit` bytes, before anything is built.
///
/// Each row is held in five versions (as it is, and after each of four changes, one of which
/// doubles the nodes) and each thread counts keys per node for all of them.
pub(crate) fn check(
    schemes: &[Box<dyn Scheme>],
    members: &Members,
    threads: usize,
    limit: u64,
) -> Result<(), CompareError> {
    let nodes = u128::from(members.len());
    let counters = 8 * 6 * nodes * (threads as u128 + 1);
    let doubled = Members::dense(members.len().saturating_mul(2).min(shardlab_core::MAX_NODES)).ok();
    let mut largest = (0, String::new());
    let mut needed = 4 * LISTED_NODE_BYTES * nodes;
    for scheme in schemes {
        let as_it_is = u128::from(scheme.expected_heap_bytes(members));
        // With weights the doubled membership adds nodes of weight 1 only.
        let twice = doubled.as_ref().map_or(0, |doubled| u128::from(scheme.expected_heap_bytes(doubled)));
        let bytes = 4 * as_it_is + twice.max(as_it_is) + counters;
        if bytes > largest.0 {
            largest = (bytes, scheme.spec());
        }
        needed += bytes;
    }
    if needed > u128::from(limit) {
        let (largest_bytes, largest) = largest;
        return Err(CompareError::Memory { needed, largest, largest_bytes, limit });
    }
    Ok(())
}
