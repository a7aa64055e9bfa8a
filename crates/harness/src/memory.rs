use shardlab_core::{Change, Members, Scheme};

use crate::error::CompareError;

/// What one named node costs in a list: the string, its handle and the index by name.
const LISTED_NODE: u128 = 64;

/// What a thread needs for a chunk of documents: its text, keys, answers and buffers.
const CHUNK: u128 = 12 << 20;

/// Refuses a comparison that needs more than `limit` bytes, before anything is built.
///
/// Each row is held in five versions: as it is, and after each of four changes, one of which doubles
/// the nodes. Each thread counts keys per node for all of them.
pub(crate) fn check(
    schemes: &[Box<dyn Scheme>],
    members: &Members,
    threads: usize,
    limit: u64,
) -> Result<(), CompareError> {
    let nodes = u128::from(members.len());
    let threads = threads as u128;
    // Names of the memberships after the changes, of which only one or none is without a list.
    let lists = LISTED_NODE * nodes * if members.is_dense() { 1 } else { 5 };
    // Six times the nodes for counters of keys, two words a node for sums of weights.
    let counters = (threads + 1) * (6 * 8 + 16) * nodes;
    // Who is the same as whom after each change, and exact shares.
    let matching = (5 * (4 + 1 + 8) + 2 * 16) * nodes;
    let fixed = lists + counters + matching;
    // A list of twice as many nodes is made only if there is room for it.
    let affordable = LISTED_NODE * 2 * nodes <= u128::from(limit);
    let doubled = Change::Grow { to: members.len().saturating_mul(2) };
    let doubled = if affordable { members.after(&doubled).ok() } else { None };
    let mut largest = (0, String::new());
    let mut needed = threads * CHUNK;
    let mut building: u128 = 0;
    for scheme in schemes {
        let heap = u128::from(scheme.expected_heap_bytes(members));
        let twice = doubled.as_ref().map_or(2 * heap, |doubled| u128::from(scheme.expected_heap_bytes(doubled)));
        let build = doubled.as_ref().map_or(4 * heap, |doubled| u128::from(scheme.expected_build_bytes(doubled)));
        let bytes = 4 * heap + twice + fixed;
        building = building.max(build.saturating_sub(twice));
        if bytes > largest.0 {
            largest = (bytes, scheme.spec());
        }
        needed += bytes;
    }
    needed += building;
    let (largest_bytes, largest) = largest;
    if needed > u128::from(limit) {
        return Err(CompareError::Memory { needed, largest, largest_bytes, limit });
    }
    if !is_available(needed) {
        return Err(CompareError::NotAvailable { needed });
    }
    Ok(())
}

/// Whether the system gives so much memory to this process, by asking for it once. A limit of the
/// process is met here, and not in the middle of the work where it would abort.
#[must_use]
pub fn is_available(bytes: u128) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}
