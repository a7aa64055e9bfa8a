//! The population loop of the paper (NSDI 2016, Listing 1) and the order of turns for weights.

use shardlab_kernels::Simd;
use shardlab_kernels::walk::{FreeSlots, Walk, step};

use crate::is_prime;

/// The order in which a node prefers slots: offset, offset + skip, offset + 2 skip, … modulo the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// The first slot, less than the table.
    pub offset: u32,
    /// The step, at least 1 and without a common divisor with the table: any for a prime table.
    pub skip: u32,
}

/// Fills a table: at each turn the node takes the first slot of its permutation that is still free.
///
/// A node whose slot is taken does not lose its turn. The turns, numbers of permutations, end when
/// the table is full; `place` is told each slot and its node once. Memory beside the table is one bit
/// a slot and a few words a node, instead of the paper's n permutations.
///
/// # Panics
/// A permutation does not fit the table, or there are more turns of existing nodes than slots.
pub fn populate(
    permutations: &[Permutation],
    turns: impl Iterator<Item = u32>,
    table: u32,
    mut place: impl FnMut(u32, u32),
) {
    // A prime has no divisor in common with any smaller number.
    let prime = is_prime(table);
    for permutation in permutations {
        let (offset, skip) = (permutation.offset, permutation.skip);
        let reaches_all = if prime { (1..table).contains(&skip) } else { common_divisor(skip, table) == 1 };
        assert!(offset < table && reaches_all, "{permutation:?} in a table of {table} slots");
    }
    let walk = |&Permutation { offset, skip }: &Permutation| Walk { next: offset, skip: skip % table };
    let mut nodes: Vec<Walk> = permutations.iter().map(walk).collect();
    let mut free = FreeSlots::new(table);
    let mut turns = turns.fuse();
    // A walk meets as many taken slots as the table has slots for each free one. Once that is more
    // than a look at every free slot costs, the rest is shared out in the other way.
    let few = table.isqrt() / 2;
    free.take_turns(Simd::best(), &mut nodes, turns.by_ref().take((table - few) as usize), &mut place);
    share_out(nodes, free.slots(), turns, table, place);
}

/// Gives the last slots away: at each turn the node takes the one that stands first in its permutation
/// from where it is.
///
/// A slot stands d · skip⁻¹ modulo the table after the next one, with d the distance between the two.
/// Only the order counts. With f = floor(2^64 · skip⁻¹ / table), the wrapping product f · d is that
/// rank times 2^64 / table, to within d: less than 2^31, where ranks are more than 2^33 apart.
///
/// # Panics
/// There are more turns than slots.
fn share_out(
    mut nodes: Vec<Walk>,
    mut slots: Vec<u32>,
    turns: impl Iterator<Item = u32>,
    table: u32,
    mut place: impl FnMut(u32, u32),
) {
    let mut factors = vec![None; nodes.len()];
    for node in turns {
        let walk = &mut nodes[node as usize];
        let factor = *factors[node as usize].get_or_insert_with(|| rank_factor(walk.skip, table));
        let rank = |slot: u32| factor.wrapping_mul(u64::from(slot).wrapping_sub(walk.next.into()));
        let first = slots.iter().enumerate().map(|(at, &slot)| (rank(slot), at)).min();
        let (_, at) = first.unwrap_or_else(|| panic!("more turns than the {table} slots"));
        let slot = slots.swap_remove(at);
        walk.next = step(slot, walk.skip, table);
        place(slot, node);
    }
}

/// floor(2^64 · skip⁻¹ / table).
fn rank_factor(skip: u32, table: u32) -> u64 {
    let inverse = (u128::from(inverse(skip, table)) << 64) / u128::from(table);
    u64::try_from(inverse).unwrap_or_else(|_| unreachable!("an inverse is less than the table"))
}

/// The number below the table whose product with `skip` is 1 modulo the table, by Euclid's algorithm;
/// 0 for a table of one slot.
fn inverse(skip: u32, table: u32) -> u32 {
    let table = i64::from(table);
    let (mut rest, mut last) = (i64::from(skip), table);
    let (mut factor, mut last_factor) = (1_i64, 0_i64);
    while rest != 0 {
        let quotient = last / rest;
        (last, rest) = (rest, last - quotient * rest);
        (last_factor, factor) = (factor, last_factor - quotient * factor);
    }
    u32::try_from(last_factor.rem_euclid(table)).unwrap_or_else(|_| unreachable!("less than the table"))
}

fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whose turn it is, when node i is to get `targets[i]` slots.
///
/// With c the largest target, round t = 1, 2, … c gives a turn to each node, in order, that has had
/// fewer than ceil(t · target / c) turns. Where targets differ by one at most and the larger ones
/// stand first, that is the paper's loop: everybody in turn until the table is full.
///
/// Node i has its turn k = 0, 1, … in round floor(k · c / target) + 1, so that the turns are sorted
/// by round in one pass, whatever the weights.
#[must_use]
pub fn turns(targets: &[u32]) -> Vec<u32> {
    let longest = u64::from(targets.iter().copied().max().unwrap_or(0));
    let total: usize = targets.iter().map(|&target| target as usize).sum();
    let round = |k: u32, target: u32| {
        let before = u64::from(k) * longest / u64::from(target);
        usize::try_from(before).unwrap_or_else(|_| unreachable!("less than the largest target"))
    };
    let mut start = vec![0_u32; usize::try_from(longest).unwrap_or(0) + 1];
    for &target in targets {
        for k in 0..target {
            start[round(k, target) + 1] += 1;
        }
    }
    for i in 1..start.len() {
        start[i] += start[i - 1];
    }
    let mut turns = vec![0; total];
    for (node, &target) in (0_u32..).zip(targets) {
        for k in 0..target {
            let at = &mut start[round(k, target)];
            turns[*at as usize] = node;
            *at += 1;
        }
    }
    turns
}
