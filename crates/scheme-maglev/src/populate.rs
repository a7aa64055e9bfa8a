//! The population loop of the paper (NSDI 2016, Listing 1) and the order of turns for weights.

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
/// a slot and one position a node, instead of the paper's n permutations.
///
/// # Panics
/// A permutation does not fit the table, or there are more turns of existing nodes than slots.
pub fn populate(
    permutations: &[Permutation],
    turns: impl Iterator<Item = u32>,
    table: u32,
    mut place: impl FnMut(u32, u32),
) {
    for permutation in permutations {
        let (offset, skip) = (permutation.offset, permutation.skip);
        assert!(offset < table && common_divisor(skip, table) == 1, "{permutation:?} in a table of {table} slots");
    }
    let mut next: Vec<u32> = permutations.iter().map(|permutation| permutation.offset).collect();
    let mut taken = vec![0_u64; (table as usize).div_ceil(64)];
    let mut free = table;
    for node in turns {
        assert!(free > 0, "more turns than the {table} slots");
        let skip = permutations[node as usize].skip;
        let mut slot = next[node as usize];
        while taken[slot as usize / 64] >> (slot % 64) & 1 == 1 {
            slot = step(slot, skip, table);
        }
        taken[slot as usize / 64] |= 1 << (slot % 64);
        next[node as usize] = step(slot, skip, table);
        free -= 1;
        place(slot, node);
    }
}

/// (slot + skip) mod table in 64 bits: in 32 the sum would wrap for tables above 2^31, and slot =
/// offset + j · skip, if it were multiplied, for tables above 2^16.
#[inline]
fn step(slot: u32, skip: u32, table: u32) -> u32 {
    let sum = u64::from(slot) + u64::from(skip);
    let wrapped = if sum >= u64::from(table) { sum - u64::from(table) } else { sum };
    u32::try_from(wrapped).unwrap_or_else(|_| unreachable!("less than the table"))
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
