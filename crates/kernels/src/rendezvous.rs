//! The node on which a key scores highest, the first one of several.

use crate::{Level, Simd};

#[cfg(target_arch = "x86_64")]
mod vectors;

/// 64 mixed bits as four numbers of 16, the lowest first.
///
/// Every vector unit multiplies numbers of 16 bits in all its lanes at once, both halves of the product;
/// wider ones it takes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words([u16; 4]);

impl Words {
    /// The words of a number.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the words are what is wanted")]
    pub const fn of(number: u64) -> Self {
        Self([number as u16, (number >> 16) as u16, (number >> 32) as u16, (number >> 48) as u16])
    }

    /// The score of a key on a node, both well mixed already.
    ///
    /// With a, b, c, d the words of key xor node, a and d made odd: high = ((a · b + c) xor (a · b >> 16)) · d
    /// and low = (b xor high) · a in 16 bits each, the score 2^16 · high + low. For any a, b and d the
    /// map from c to high is one to one, and for any a and high that from b to low; so over all keys a
    /// node's scores are all equally frequent. Two products with words of both sides keep the scores of
    /// two nodes apart.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a product")]
    pub const fn score(self, node: Self) -> u32 {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, node.0);
        let (a, b, c, d) = ((a ^ e) | 1, b ^ f, c ^ g, (d ^ h) | 1);
        let product = a as u32 * b as u32;
        let high = ((product as u16).wrapping_add(c) ^ (product >> 16) as u16).wrapping_mul(d);
        let low = (b ^ high).wrapping_mul(a);
        (high as u32) << 16 | low as u32
    }

    /// The words of a key as kernels read them beside those of a [`Block`]: a and d odd, and the top
    /// bit of c turned, which turns that of high and nothing else. So high halves compare as signed
    /// numbers, which is the one order that SSE2 knows.
    const fn of_signed_key(self) -> [u16; 4] {
        let [a, b, c, d] = self.0;
        [a | 1, b, c ^ SIGN, d | 1]
    }
}

const SIGN: u16 = 1 << 15;

/// How many nodes stand together.
pub const LANES: usize = 32;

/// The words of 32 nodes in columns; a and d are even, so that those of a key make them odd.
#[derive(Clone, Copy, Debug)]
struct Block([[u16; LANES]; 4]);

impl Block {
    fn node(&self, lane: usize) -> Words {
        Words(std::array::from_fn(|word| self.0[word][lane]))
    }

    /// [`Words::score`] of each node, column by column, which every compiler makes vectors of.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a product")]
    fn scores(&self, key: Words) -> [u32; LANES] {
        let ([a, b, c, d], Self([e, f, g, h])) = (key.0, self);
        let (a, d) = (a | 1, d | 1);
        let (mut highs, mut lows, mut scores) = ([0; LANES], [0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let product = u32::from(a ^ e[lane]) * u32::from(b ^ f[lane]);
            highs[lane] =
                ((product as u16).wrapping_add(c ^ g[lane]) ^ (product >> 16) as u16).wrapping_mul(d ^ h[lane]);
        }
        for lane in 0..LANES {
            lows[lane] = (b ^ f[lane] ^ highs[lane]).wrapping_mul(a ^ e[lane]);
        }
        for lane in 0..LANES {
            scores[lane] = u32::from(highs[lane]) << 16 | u32::from(lows[lane]);
        }
        scores
    }
}

/// The nodes.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The last block is filled up with the first node, which comes before its copies in every tie.
    blocks: Box<[Block]>,
    count: u32,
}

/// How many blocks share their highest high half in each lane: few enough that going through a lane
/// again is cheap, enough that it is rarely done.
const GROUP: usize = 8;

/// The low half of what [`Nodes::settled`] gives.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn from_here_of(rank: u64) -> u32 {
    rank as u32
}

impl Nodes {
    /// Nodes with these seeds, at positions from 0.
    ///
    /// # Panics
    /// There are 2^32 nodes or more.
    #[must_use]
    pub fn new(seeds: impl ExactSizeIterator<Item = Words>) -> Self {
        let count = u32::try_from(seeds.len()).expect("fewer than 2^32 nodes");
        let mut blocks: Vec<Block> = Vec::with_capacity(seeds.len().div_ceil(LANES));
        for (position, Words([a, b, c, d])) in seeds.enumerate() {
            let seed = [a & !1, b, c, d & !1];
            if position % LANES == 0 {
                let first = blocks.first().map_or(Words(seed), |block| block.node(0));
                blocks.push(Block(first.0.map(|word| [word; LANES])));
            }
            if let Some(Block(columns)) = blocks.last_mut() {
                columns.iter_mut().zip(seed).for_each(|(column, word)| column[position % LANES] = word);
            }
        }
        Self { blocks: blocks.into_boxed_slice(), count }
    }

    /// How many nodes there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "nobody asks it of none")]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Bytes of heap for so many nodes: eight for each, in whole blocks of 32.
    #[must_use]
    pub const fn heap_bytes_of(count: u64) -> u64 {
        count.div_ceil(LANES as u64) * size_of::<Block>() as u64
    }

    /// Bytes of heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }

    /// The scores of a key on all nodes, by position, 32 at a time. Behind the last node follows that of the
    /// first, as often as the last 32 have room.
    #[inline]
    pub fn scores(&self, key: Words) -> impl Iterator<Item = [u32; LANES]> + '_ {
        self.blocks.iter().map(move |block| block.scores(key))
    }

    /// The position of the highest score of a key, the first of several; 0 where there are no nodes.
    #[must_use]
    pub fn best(&self, simd: Simd, key: Words) -> u32 {
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 | Level::Avx512Ifma => unsafe { vectors::avx512::best(self, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { vectors::avx2::search(self, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: SSE2 belongs to every x86-64.
            Level::Portable => unsafe { vectors::sse2::search(self, key) },
            #[cfg(not(target_arch = "x86_64"))]
            _ => self.plain_best(key),
        }
    }

    /// As [`best`](Self::best) for many keys, given as whole mixed numbers.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn best_many(&self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many positions as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 | Level::Avx512Ifma => unsafe { vectors::avx512::best_many(self, keys, out) },
            _ => {
                for (position, &key) in out.iter_mut().zip(keys) {
                    *position = self.best(simd, Words::of(key));
                }
            }
        }
    }

    /// The search where no vectors are written out.
    #[cfg(any(not(target_arch = "x86_64"), test))]
    fn plain_best(&self, key: Words) -> u32 {
        let (mut best, mut at) = (0, 0);
        for (number, scores) in self.scores(key).enumerate() {
            let highest = scores.into_iter().max().unwrap_or(0);
            if highest > best {
                let lane = scores.iter().position(|&score| score == highest).unwrap_or(0);
                (best, at) = (highest, number * LANES + lane);
            }
        }
        u32::try_from(at).expect("fewer than 2^32 nodes")
    }

    /// The search, the same for every set of instructions: `scan` gives the highest high halves of up to
    /// [`GROUP`] blocks in each lane, `highest` the highest of these, and `lanes` tells where a high half
    /// stands, a bit for each lane. Only these lanes of the best group are scored in full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is given has more instructions than it has itself")]
    fn best_by<V: Copy>(
        &self,
        key: Words,
        scan: impl Fn(&[Block]) -> V,
        highest: impl Fn(V) -> i16,
        lanes: impl Fn(V, i16) -> u32,
    ) -> u32 {
        let mut groups = self.blocks.chunks(GROUP).enumerate();
        let Some((mut number, first)) = groups.next() else { return 0 };
        let (mut best, mut tops) = (0, scan(first));
        let mut high = highest(tops);
        for (next, group) in groups {
            let next_tops = scan(group);
            let next_high = highest(next_tops);
            if next_high < high {
                continue;
            }
            best = if next_high == high { best.max(self.settled(key, number, lanes(tops, high))) } else { 0 };
            (number, tops, high) = (next, next_tops, next_high);
        }
        best = best.max(self.settled(key, number, lanes(tops, high)));
        self.count - from_here_of(best)
    }

    /// The highest score in these lanes of a group and, below it, how many nodes there are from its own on:
    /// of equals the first is the highest.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "its caller has more instructions")]
    fn settled(&self, key: Words, group: usize, mut lanes: u32) -> u64 {
        let blocks = self.blocks.chunks(GROUP).nth(group).unwrap_or_default();
        let left = u64::from(self.count) - (group * GROUP * LANES) as u64;
        if left < LANES as u64 {
            // Leaves out the copies of the first node, which are many beside so few others.
            lanes &= (1 << left) - 1;
        }
        let mut best = 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            let mut from_here = left - u64::from(lane);
            for block in blocks {
                best = best.max(u64::from(key.score(block.node(lane as usize))) << 32 | from_here);
                from_here = from_here.saturating_sub(LANES as u64);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_high_half_comes_from_one_third_word() {
        for salt in 0..8 {
            let (node, others) = (Words::of(crate::mix::xxh3_u64(salt)), crate::mix::xxh3_u64(!salt) & !(0xFFFF << 32));
            let high = |c: u16| Words::of(others | u64::from(c) << 32).score(node) >> 16;
            let mut highs: Vec<u32> = (0..=u16::MAX).map(high).collect();
            highs.sort_unstable();
            assert!(highs.into_iter().eq(0..1 << 16), "salt {salt}");
        }
    }

    /// A high half that two nodes share is rare among hashes, so that it is made here: in the same lane, in
    /// another one, and in another group of blocks.
    #[test]
    fn nodes_of_one_high_half_are_told_apart_by_the_low_half() {
        for (count, apart) in [(64, 32), (64, 1), (300, 256), (5000, 32), (5000, 4096)] {
            let mut second_wins = 0;
            for salt in 0..20_u64 {
                let key = crate::mix::xxh3_u64(1 << 40 | salt);
                let score = |seed: u64| Words::of(key).score(Words::of(seed));
                let mut seeds: Vec<u64> = (0..count).map(|i| crate::mix::xxh3_u64(salt << 20 | i)).collect();
                let best = (0..seeds.len()).max_by_key(|&at| score(seeds[at])).unwrap_or(0);
                let twin = (best + apart) % seeds.len();
                let others = crate::mix::xxh3_u64(!salt) & !(0xFFFF << 32);
                let with = |c: u16| others | u64::from(c) << 32;
                let same_high = |&seed: &u64| score(seed) >> 16 == score(seeds[best]) >> 16;
                seeds[twin] = (0..=u16::MAX).map(with).find(same_high).expect("one third word for each high half");
                let expected = if score(seeds[twin]) > score(seeds[best]) { twin } else { best };
                second_wins += usize::from(expected > best.min(twin));
                let nodes = Nodes::new(seeds.iter().map(|&seed| Words::of(seed)));
                for simd in Simd::available() {
                    let mut batch = [0; 33];
                    nodes.best_many(simd, &[key; 33], &mut batch);
                    let found = [nodes.best(simd, Words::of(key)), batch[0], batch[32]].map(|at| at as usize);
                    assert_eq!(found, [expected; 3], "{simd:?}, {count} nodes, {apart} apart, salt {salt}");
                }
            }
            assert!((1..20).contains(&second_wins), "{second_wins} of 20");
        }
    }

    #[test]
    fn the_search_in_plain_rust_finds_what_every_other_does() {
        let number = |i: u64| crate::mix::xxh3_u64(i);
        for count in [0_u32, 1, 2, 31, 32, 33, 64, 100, 257, 2049, 4096, 4097] {
            let nodes = Nodes::new((0..count).map(|i| Words::of(number(i.into()))));
            let keys: Vec<u64> = (0..100).map(|i| number(1 << 40 | i)).collect();
            let expected: Vec<u32> = keys.iter().map(|&key| nodes.plain_best(Words::of(key))).collect();
            for simd in Simd::available() {
                let singly: Vec<u32> = keys.iter().map(|&key| nodes.best(simd, Words::of(key))).collect();
                assert_eq!(singly, expected, "{simd:?}, {count} nodes");
                let mut batch = vec![0; keys.len()];
                nodes.best_many(simd, &keys, &mut batch);
                assert_eq!(batch, expected, "{simd:?}, {count} nodes");
            }
        }
    }
}
