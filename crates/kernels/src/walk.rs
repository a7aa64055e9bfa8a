//! Walks with steps of their own over the slots of a table, each of which takes the first free slot
//! whenever it is its turn.

use crate::{Level, Simd};

/// Where a walk stands, and how far it steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The slot that it looks at next, less than the table.
    pub next: u32,
    /// The step, less than the table.
    pub skip: u32,
}

/// (slot + skip) mod table, for both below the table, without their sum, which would wrap for tables
/// above 2^31.
#[inline]
#[must_use]
pub const fn step(slot: u32, skip: u32, table: u32) -> u32 {
    let back = table - skip;
    if slot >= back { slot - back } else { slot + skip }
}

/// The slots of a table that are free, one bit each.
#[derive(Clone, Debug)]
pub struct FreeSlots {
    words: Vec<u32>,
    table: u32,
}

impl FreeSlots {
    /// A table of free slots.
    #[must_use]
    pub fn new(table: u32) -> Self {
        let mut words = vec![u32::MAX; (table as usize).div_ceil(32)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), table % 32) {
            *last = (1 << rest) - 1;
        }
        Self { words, table }
    }

    /// How many slots the table has.
    #[must_use]
    pub const fn table(&self) -> u32 {
        self.table
    }

    #[inline]
    fn bit(&self, slot: u32) -> u32 {
        self.words[slot as usize / 32] >> (slot % 32) & 1
    }

    #[inline]
    fn take(&mut self, slot: u32) {
        self.words[slot as usize / 32] &= !(1 << (slot % 32));
    }

    /// The free slots, ascending.
    #[must_use]
    pub fn slots(&self) -> Vec<u32> {
        (0..self.table).filter(|&slot| self.bit(slot) == 1).collect()
    }

    /// Lets each walk that a turn names take its first free slot, which `place` is told with the turn,
    /// and step on from there.
    ///
    /// # Panics
    /// A turn names no walk, or a walk does not fit the table. A walk must reach a free slot: otherwise
    /// this never ends.
    pub fn take_turns(
        &mut self,
        simd: Simd,
        walks: &mut [Walk],
        turns: impl Iterator<Item = u32>,
        place: impl FnMut(u32, u32),
    ) {
        assert!(walks.iter().all(|walk| walk.next < self.table && walk.skip < self.table), "walks fit the table");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 | Level::Avx512Ifma if self.table <= MOST_IN_LANES => unsafe {
                self.avx512(walks, turns, place)
            },
            _ => self.portable(walks, turns, place),
        }
    }

    fn portable(&mut self, walks: &mut [Walk], turns: impl Iterator<Item = u32>, mut place: impl FnMut(u32, u32)) {
        for turn in turns {
            let walk = &mut walks[turn as usize];
            let slot = self.first(*walk);
            self.take(slot);
            walk.next = step(slot, walk.skip, self.table);
            place(slot, turn);
        }
    }

    /// The first free slot of a walk. Four slots are looked at together, since a branch for each would
    /// be foreseen wrongly at nearly every turn.
    #[inline]
    fn first(&self, walk: Walk) -> u32 {
        let table = self.table;
        let twice = step(walk.skip, walk.skip, table);
        let (mut a, mut b) = (walk.next, step(walk.next, walk.skip, table));
        loop {
            let (c, d) = (step(a, twice, table), step(b, twice, table));
            let first_two = self.bit(a) | self.bit(b) << 1;
            let found = first_two | self.bit(c) << 2 | self.bit(d) << 3;
            if found != 0 {
                let (early, late) = (if found & 1 == 1 { a } else { b }, if found & 4 == 4 { c } else { d });
                return if first_two == 0 { late } else { early };
            }
            (a, b) = (step(c, twice, table), step(d, twice, table));
        }
    }

    /// Sixteen slots at a look. What a walk adds to reach each of them is computed once.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn avx512(&mut self, walks: &mut [Walk], turns: impl Iterator<Item = u32>, mut place: impl FnMut(u32, u32)) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        let table = self.table;
        let multiples: Vec<[u32; 16]> = walks
            .iter()
            .map(|walk| {
                let mut multiples = [0; 16];
                for at in 1..16 {
                    multiples[at] = step(multiples[at - 1], walk.skip, table);
                }
                multiples
            })
            .collect();
        let end = _mm512_set1_epi32(table.cast_signed());
        let low_bits = _mm512_set1_epi32(31);
        for turn in turns {
            let (walk, multiples) = (&mut walks[turn as usize], &multiples[turn as usize]);
            let far = wide::load_u32(multiples);
            let slot = loop {
                // Below twice the table and so below 2^32; what is beyond the table wraps to the smaller.
                let reached = _mm512_add_epi32(_mm512_set1_epi32(walk.next.cast_signed()), far);
                let slots = _mm512_min_epu32(reached, _mm512_sub_epi32(reached, end));
                let words = wide::gather_u32_by_u32(&self.words, _mm512_srli_epi32::<5>(slots));
                let bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(slots, low_bits));
                let found = _mm512_test_epi32_mask(words, bit);
                if found != 0 {
                    break step(walk.next, multiples[found.trailing_zeros() as usize & 15], table);
                }
                walk.next = step(step(walk.next, multiples[15], table), walk.skip, table);
            };
            self.take(slot);
            walk.next = step(slot, walk.skip, table);
            place(slot, turn);
        }
    }
}

/// The largest table in which a slot and a step add up in 32 bits, and positions of a gather, which are
/// signed, reach all words.
#[cfg(target_arch = "x86_64")]
const MOST_IN_LANES: u32 = (1 << 31) - 1;
