//! The node on which a key scores highest, the first one of several.

use crate::{Level, Simd};

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
            Level::Avx512 | Level::Avx512Ifma => unsafe { avx512::best(self, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Level::Avx2 => unsafe { avx2::search(self, key) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: SSE2 belongs to every x86-64.
            Level::Portable => unsafe { sse2::search(self, key) },
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
            Level::Avx512 | Level::Avx512Ifma => unsafe { avx512::best_many(self, keys, out) },
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
        u32::try_from(u64::from(self.count) - (best & u64::from(u32::MAX))).unwrap_or(0)
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

/// The highest of eight signed numbers.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn highest_of_eight(lanes: std::arch::x86_64::__m128i) -> i16 {
    use std::arch::x86_64::*;

    let four = _mm_max_epi16(lanes, _mm_srli_si128::<8>(lanes));
    let two = _mm_max_epi16(four, _mm_srli_si128::<4>(four));
    let one = _mm_max_epi16(two, _mm_srli_si128::<2>(two));
    #[expect(clippy::cast_possible_truncation, reason = "the lowest lane is what is wanted")]
    let lowest = _mm_cvtsi128_si32(one) as i16;
    lowest
}

/// The lanes of one vector among those of a block.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it has fewer instructions than whoever calls it, and is one of them")]
fn part_of<const WIDTH: usize>(column: &[u16; LANES], part: usize) -> &[u16; WIDTH] {
    &column.as_chunks().0[part]
}

/// One search for each width of vectors, by the names of its instructions. Loops stand where a method of
/// an iterator or an array would: a closure with instructions is not inlined into code without them.
#[cfg(target_arch = "x86_64")]
macro_rules! define_search {
    (
        $(#[$attribute:meta])* vectors: $vector:ty, $width:literal, $load:path, $join:ident,
        splat: $splat:ident, xor: $xor:ident, add: $add:ident, max: $max:ident,
        low: $low:ident, high: $high:ident, lanes: $lanes:expr
    ) => {
        $(#[$attribute])*
        #[inline]
        pub(super) fn search(nodes: &Nodes, key: Words) -> u32 {
            let [a, b, c, d] = key.of_signed_key();
            let (a, b, c, d) = (
                $splat(a.cast_signed()),
                $splat(b.cast_signed()),
                $splat(c.cast_signed()),
                $splat(d.cast_signed()),
            );
            let scan = |blocks: &[Block]| {
                let mut top = [$splat(i16::MIN); LANES / $width];
                for Block([e, f, g, h]) in blocks {
                    for part in 0..LANES / $width {
                        let (a, b) = ($xor(a, $load(super::part_of(e, part))), $xor(b, $load(super::part_of(f, part))));
                        let (c, d) = ($xor(c, $load(super::part_of(g, part))), $xor(d, $load(super::part_of(h, part))));
                        let sum = $xor($add($low(a, b), c), $high(a, b));
                        top[part] = $max(top[part], $low(sum, d));
                    }
                }
                top
            };
            let highest = |tops: [$vector; LANES / $width]| {
                let mut most = tops[0];
                for &top in &tops[1..] {
                    most = $max(most, top);
                }
                highest_of_eight($join(most))
            };
            nodes.best_by(key, scan, highest, $lanes)
        }
    };
}

/// What every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    use super::{Block, LANES, Nodes, Words, highest_of_eight};
    use crate::x86::quarter;

    #[inline]
    #[target_feature(enable = "sse2")]
    fn join(lanes: __m128i) -> __m128i {
        lanes
    }

    define_search! {
        #[target_feature(enable = "sse2")]
        vectors: __m128i, 8, quarter::load_u16, join,
        splat: _mm_set1_epi16, xor: _mm_xor_si128, add: _mm_add_epi16, max: _mm_max_epi16,
        low: _mm_mullo_epi16, high: _mm_mulhi_epu16,
        lanes: |top: [__m128i; 4], high| {
            let same = |part: usize| _mm_cmpeq_epi16(top[part], _mm_set1_epi16(high));
            // A byte of all ones for each lane, and then a bit.
            let bits = |a, b| _mm_movemask_epi8(_mm_packs_epi16(a, b)).cast_unsigned();
            bits(same(0), same(1)) | bits(same(2), same(3)) << 16
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Block, LANES, Nodes, Words, highest_of_eight};
    use crate::x86::half;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn join(lanes: __m256i) -> __m128i {
        _mm_max_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes))
    }

    define_search! {
        #[target_feature(enable = "avx2")]
        vectors: __m256i, 16, half::load_u16, join,
        splat: _mm256_set1_epi16, xor: _mm256_xor_si256, add: _mm256_add_epi16, max: _mm256_max_epi16,
        low: _mm256_mullo_epi16, high: _mm256_mulhi_epu16,
        lanes: |top: [__m256i; 2], high| {
            let same = |part: usize| _mm256_cmpeq_epi16(top[part], _mm256_set1_epi16(high));
            // A byte of all ones for each lane, in the order of the lanes, and then a bit.
            let bytes = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(same(0), same(1)));
            _mm256_movemask_epi8(bytes).cast_unsigned()
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::{Block, LANES, Nodes, Words, highest_of_eight};
    use crate::x86::wide;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn join(lanes: __m512i) -> __m128i {
        let half = _mm256_max_epi16(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64::<1>(lanes));
        _mm_max_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
    }

    define_search! {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
        vectors: __m512i, 32, wide::load_u16, join,
        splat: _mm512_set1_epi16, xor: _mm512_xor_si512, add: _mm512_add_epi16, max: _mm512_max_epi16,
        low: _mm512_mullo_epi16, high: _mm512_mulhi_epu16,
        lanes: |top: [__m512i; 1], high| _mm512_cmpeq_epi16_mask(top[0], _mm512_set1_epi16(high))
    }

    /// Up to this many nodes the searches below are worth it, which keep a position beside each highest high
    /// half. Beyond, more and more keys meet two nodes of one high half, about one of 2^16 / n, and are
    /// searched for again.
    const FEW: u32 = 1 << 12;

    /// The high halves of scores from the words of keys, made odd and signed, and of nodes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn high_halves([a, b, c, d]: [__m512i; 4], [e, f, g, h]: [__m512i; 4]) -> __m512i {
        let (a, b, c, d) =
            (_mm512_xor_si512(a, e), _mm512_xor_si512(b, f), _mm512_xor_si512(c, g), _mm512_xor_si512(d, h));
        let sum = _mm512_add_epi16(_mm512_mullo_epi16(a, b), c);
        _mm512_mullo_epi16(_mm512_xor_si512(sum, _mm512_mulhi_epu16(a, b)), d)
    }

    /// As [`search`], which for few nodes takes longer to find a node in its lane than to reach the lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn best(nodes: &Nodes, key: Words) -> u32 {
        let Some((Block(last), others)) = nodes.blocks.split_last() else { return 0 };
        if nodes.count > FEW {
            return search(nodes, key);
        }
        let [a, b, c, d] = key.of_signed_key();
        let everywhere = |word: u16| _mm512_set1_epi16(word.cast_signed());
        let key_words = [everywhere(a), everywhere(b), everywhere(c), everywhere(d)];
        let highs = |[e, f, g, h]: &[[u16; LANES]; 4]| {
            high_halves(key_words, [wide::load_u16(e), wide::load_u16(f), wide::load_u16(g), wide::load_u16(h)])
        };
        let (mut top, mut at, mut number) =
            (_mm512_set1_epi16(i16::MIN), _mm512_setzero_si512(), _mm512_setzero_si512());
        let mut tied = 0;
        for Block(block) in others {
            let high = highs(block);
            tied |= _mm512_cmpeq_epi16_mask(high, top);
            at = _mm512_mask_mov_epi16(at, _mm512_cmpgt_epi16_mask(high, top), number);
            top = _mm512_max_epi16(top, high);
            number = _mm512_add_epi16(number, _mm512_set1_epi16(1));
        }
        // The last block has copies of the first node in its last lanes.
        let in_use = u32::MAX >> (others.len() * LANES + LANES - nodes.count as usize);
        let high = highs(last);
        tied |= _mm512_mask_cmpeq_epi16_mask(in_use, high, top);
        at = _mm512_mask_mov_epi16(at, _mm512_mask_cmpgt_epi16_mask(in_use, high, top), number);
        top = _mm512_mask_max_epi16(top, in_use, top, high);
        let highest = highest_of_eight(join(top));
        let lanes = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(highest));
        if lanes & (tied | (lanes - 1)) != 0 {
            return search(nodes, key);
        }
        let blocks = highest_of_eight(join(_mm512_maskz_mov_epi16(lanes, at)));
        // There are as many lanes as a mask has bits.
        u32::from(blocks.cast_unsigned()) * u32::BITS + lanes.trailing_zeros()
    }

    /// How many vectors of keys go through the nodes together.
    const VECTORS: usize = 2;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(super) fn best_many(nodes: &Nodes, keys: &[u64], out: &mut [u32]) {
        let (lanes, last) = if nodes.count <= FEW { keys.as_chunks::<LANES>() } else { (&[][..], keys) };
        let (out, last_out) = out.split_at_mut(lanes.as_flattened().len());
        let (pairs, single) = lanes.as_chunks::<VECTORS>();
        let (pairs_out, single_out) = out.as_chunks_mut::<LANES>().0.as_chunks_mut::<VECTORS>();
        for (keys, out) in pairs.iter().zip(pairs_out) {
            best_of_lanes(nodes, keys, out);
        }
        for (keys, out) in single.iter().zip(single_out) {
            best_of_lanes(nodes, std::array::from_ref(keys), std::array::from_mut(out));
        }
        for (position, &key) in last_out.iter_mut().zip(last) {
            *position = best(nodes, Words::of(key));
        }
    }

    /// One word of 32 numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn word<const SHIFT: u32>(keys: &[u64; LANES]) -> __m512i {
        let part = |start| _mm512_cvtepi64_epi16(_mm512_srli_epi64::<SHIFT>(wide::load_at(keys, start)));
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(part(0)), part(8));
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(part(16)), part(24));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }

    /// Keys in the lanes, nodes one after the other. Where a high half is as high as another, the low
    /// halves would have to tell: those few keys are searched for again, each for itself.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn best_of_lanes<const N: usize>(nodes: &Nodes, keys: &[[u64; LANES]; N], out: &mut [[u32; LANES]; N]) {
        let (one, sign) = (_mm512_set1_epi16(1), _mm512_set1_epi16(i16::MIN));
        let mut words = [[one; 4]; N];
        for (words, keys) in words.iter_mut().zip(keys) {
            *words = [
                _mm512_or_si512(word::<0>(keys), one),
                word::<16>(keys),
                _mm512_xor_si512(word::<32>(keys), sign),
                _mm512_or_si512(word::<48>(keys), one),
            ];
        }
        let mut best = [_mm512_set1_epi16(i16::MIN); N];
        let mut at = [_mm512_setzero_si512(); N];
        let mut tied = [0; N];
        let mut position = _mm512_setzero_si512();
        let mut left = nodes.count as usize;
        for Block([e, f, g, h]) in &nodes.blocks {
            for lane in 0..left.min(LANES) {
                let everywhere = |column: &[u16; LANES]| _mm512_set1_epi16(column[lane].cast_signed());
                let node = [everywhere(e), everywhere(f), everywhere(g), everywhere(h)];
                for vector in 0..N {
                    let high = high_halves(words[vector], node);
                    tied[vector] |= _mm512_cmpeq_epi16_mask(high, best[vector]);
                    let better = _mm512_cmpgt_epi16_mask(high, best[vector]);
                    best[vector] = _mm512_max_epi16(best[vector], high);
                    at[vector] = _mm512_mask_mov_epi16(at[vector], better, position);
                }
                position = _mm512_add_epi16(position, one);
            }
            left = left.saturating_sub(LANES);
        }
        for (vector, out) in out.iter_mut().enumerate() {
            let (halves, _) = out.as_chunks_mut::<16>();
            wide::store_u32(&mut halves[0], _mm512_cvtepu16_epi32(_mm512_castsi512_si256(at[vector])));
            wide::store_u32(&mut halves[1], _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(at[vector])));
            let mut again = tied[vector];
            while again != 0 {
                let lane = again.trailing_zeros() as usize;
                again &= again - 1;
                out[lane] = best_position(nodes, keys[vector][lane]);
            }
        }
    }

    /// The search for one key, not copied into the loop that needs it rarely.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn best_position(nodes: &Nodes, key: u64) -> u32 {
        search(nodes, Words::of(key))
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
