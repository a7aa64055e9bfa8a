use shardlab_core::{NodeId, Shares};
use shardlab_kernels::Simd;
use shardlab_kernels::ring::{Layout, Points, STRIDE};

use crate::sort::{Parts, Shape, count_before, sort};

/// The index stops growing at 2^24 cells (64 MiB); larger rings search a few more points in a cell.
const MAX_INDEX_BITS: u32 = 24;

/// Points on a circle of 2^width positions, sorted, with an index over the high bits of a position.
///
/// It knows nothing of names, weights or hashes, so that every way to make points can share it.
#[derive(Clone, Debug)]
pub struct RingTable {
    /// Positions in ascending order and without repetition, the index over them, and their owners, as
    /// a [`Layout`] has them.
    ///
    /// All is one allocation, since what is given back as a whole can be had again as a whole: whoever
    /// builds ring after ring, as studies do, would otherwise spend a quarter of the time on pages that
    /// the system takes back and hands out anew.
    words: Box<[u64]>,
    layout: Layout,
    width: u32,
    /// How many points there are, without those that were dropped, for which the layout has room.
    kept: usize,
    simd: Simd,
}

fn bytes(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The number of high bits that the index of so many points reads: a cell has three quarters of a point to
/// one and a half on average. More cells would find a point with less searching, but outgrow a cache sooner.
/// It is at least one bit, so that a shift by all bits, which is none, is never asked for.
fn index_bits(points: u64, width: u32) -> u32 {
    let cells = points - points / 3;
    let ceiling = u64::BITS - cells.saturating_sub(1).leading_zeros();
    ceiling.clamp(1, MAX_INDEX_BITS).min(width)
}

impl RingTable {
    /// The largest number of points: what a u32 counts.
    pub const MAX_POINTS: u64 = u32::MAX as u64;

    /// Places points on a circle of 2^`width` positions.
    ///
    /// Where two points share a position, the one that `points` gives first keeps it and the other
    /// is dropped. Whoever gives the points of each node in the order of names has a table that does
    /// not depend on how the list of nodes was written. The points are read three times.
    ///
    /// # Panics
    /// There is no point, there are more than [`MAX_POINTS`](Self::MAX_POINTS), `width` is not from
    /// 1 to 64, or a position is beyond the width.
    #[must_use]
    pub fn new<I>(width: u32, points: I) -> Self
    where
        I: Iterator<Item = (u64, NodeId)> + Clone,
    {
        assert!((1..=64).contains(&width), "a circle of 2^{width} positions");
        let (count, most) =
            points.clone().fold((0, 0), |(count, most): (usize, u32), (_, owner)| (count + 1, most.max(owner.0)));
        assert!((1..=Self::MAX_POINTS).contains(&bytes(count)), "a ring of {count} points");
        let bits = index_bits(bytes(count), width);
        let layout = Layout::new(count, 1 << bits, width - bits);
        let mut words = vec![0; layout.words()].into_boxed_slice();
        let (positions, index, owners) = layout.parts_mut(&mut words);
        let mut parts = Parts { positions: &mut positions[..count], owners: &mut owners[..count], index };
        sort(points, Shape { width, bits, most }, &mut parts);
        let kept = drop_repeated(&mut positions[..count], owners);
        if kept < count {
            count_before(&positions[..kept], index, width - bits);
        }
        positions[kept..].fill(u64::MAX);
        owners[kept] = owners[0];
        Self { words, layout, width, kept, simd: Simd::best() }
    }

    /// The bytes of heap that a table takes that was given so many points.
    #[must_use]
    pub fn expected_heap_bytes(points: u64, width: u32) -> u64 {
        let cells = 1_u64 << index_bits(points, width);
        let numbers = points.saturating_add(cells + 2).div_ceil(2);
        points.saturating_add(bytes(STRIDE)).saturating_add(numbers).saturating_mul(8)
    }

    #[inline]
    fn as_points(&self) -> Points<'_> {
        Points { words: &self.words, layout: self.layout }
    }

    fn positions(&self) -> &[u64] {
        &self.words[..self.len()]
    }

    /// The owner of each point.
    fn owners_in_order(&self) -> &[u32] {
        &self.layout.parts(&self.words).2[..self.len()]
    }

    /// The first point at or after the key, as an index that equals [`len`](Self::len) where the
    /// circle wraps.
    #[inline]
    fn successor(&self, key: u64) -> usize {
        self.as_points().successor(key)
    }

    /// The owner of the first point at or after the key; of the first point of all where there is none.
    #[inline]
    #[must_use]
    pub fn owner(&self, key: u64) -> NodeId {
        NodeId(self.as_points().owner(key))
    }

    /// As [`owner`](Self::owner) for many keys.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn owners(&self, keys: &[u64], out: &mut [NodeId]) {
        self.as_points().owners(self.simd, keys, NodeId::numbers_mut(out));
    }

    /// The point that decides for a key: its index in ascending order and its position.
    #[must_use]
    pub fn point(&self, key: u64) -> (usize, u64) {
        let at = self.successor(key) % self.len();
        (at, self.positions()[at])
    }

    /// Owners in the order in which the circle is walked from a key, once around, with repetition.
    pub fn walk(&self, key: u64) -> impl Iterator<Item = NodeId> + '_ {
        let at = self.successor(key) % self.len();
        let (before, after) = self.owners_in_order().split_at(at);
        after.iter().chain(before).copied().map(NodeId)
    }

    /// How many points there are, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a ring is never empty")]
    pub fn len(&self) -> usize {
        self.kept
    }

    /// How many points were dropped because another one had their position.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        bytes(self.layout.points() - self.kept)
    }

    /// Points in ascending order with their owners.
    pub fn points(&self) -> impl Iterator<Item = (u64, NodeId)> + '_ {
        self.positions().iter().copied().zip(self.owners_in_order().iter().copied().map(NodeId))
    }

    /// Bytes of heap that the table owns.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// The positions that each of `nodes` nodes owns, of 2^width.
    #[must_use]
    pub fn shares(&self, nodes: u32) -> Shares {
        let whole = 1_u128 << self.width;
        let mut parts = vec![0_u128; nodes as usize];
        // A point owns the positions after its predecessor up to itself; the first point's
        // predecessor is the last one, a whole turn earlier.
        let mut before = u128::from(self.positions()[self.len() - 1]);
        let mut turn = whole;
        for (position, owner) in self.points() {
            parts[owner.index()] += u128::from(position) + turn - before;
            (before, turn) = (u128::from(position), 0);
        }
        Shares { parts, whole }
    }
}

/// Moves the first point of each position to the front; how many there are comes back.
fn drop_repeated(positions: &mut [u64], owners: &mut [u32]) -> usize {
    // None are, as a rule: to stop early would gain nothing.
    let repeated = positions.iter().zip(&positions[1..]).fold(false, |found, (one, next)| found | (one == next));
    if !repeated {
        return positions.len();
    }
    let mut kept = 1;
    for at in 1..positions.len() {
        if positions[at] != positions[kept - 1] {
            (positions[kept], owners[kept]) = (positions[at], owners[at]);
            kept += 1;
        }
    }
    kept
}
