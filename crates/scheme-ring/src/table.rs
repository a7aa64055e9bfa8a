use shardlab_core::{NodeId, Shares};
use shardlab_kernels::Simd;
use shardlab_kernels::ring::{Points, STRIDE};

/// The index stops growing at 2^24 cells (64 MiB); larger rings search a few more points in a cell.
const MAX_INDEX_BITS: u32 = 24;

/// Points on a circle of 2^width positions, sorted, with an index over the high bits of a position.
///
/// It knows nothing of names, weights or hashes, so that every way to make points can share it.
#[derive(Clone, Debug)]
pub struct RingTable {
    /// The positions in ascending order and without repetition, then [`STRIDE`] sentinels that no
    /// key is greater than, so that a lookup near the end needs no bounds of its own.
    positions: Box<[u64]>,
    /// The owner of each point, then the owner of the first one again: the wrap of the circle.
    owners: Box<[NodeId]>,
    /// For each value of the high bits, the first point at or after the start of its cell; then the
    /// number of points.
    index: Box<[u32]>,
    width: u32,
    shift: u32,
    dropped: u64,
    simd: Simd,
}

/// An index into memory. Sizes were checked against what a u32 can number.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or_else(|_| unreachable!("a ring holds fewer than 2^32 points"))
}

fn bytes(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// The number of high bits that the index of so many points reads.
fn index_bits(points: u64, width: u32) -> u32 {
    let ceiling = u64::BITS - points.saturating_sub(1).leading_zeros();
    ceiling.min(MAX_INDEX_BITS).min(width)
}

impl RingTable {
    /// The largest number of points: what a u32 counts.
    pub const MAX_POINTS: u64 = u32::MAX as u64;

    /// Places points on a circle of 2^`width` positions.
    ///
    /// Where two points share a position, the one that `points` gives first keeps it and the other
    /// is dropped. Whoever gives the points of each node in the order of names has a table that does
    /// not depend on how the list of nodes was written. The points are read twice.
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
        let count = points.clone().count();
        assert!((1..=Self::MAX_POINTS).contains(&bytes(count)), "a ring of {count} points");
        let bits = index_bits(bytes(count), width);
        let shift = width - bits;
        let sorted = sort_by_cell(points, count, bits, shift);

        let mut positions = Vec::with_capacity(count + STRIDE);
        let mut owners = Vec::with_capacity(count + 1);
        for (position, owner) in sorted {
            if positions.last() != Some(&position) {
                positions.push(position);
                owners.push(owner);
            }
        }
        let kept = positions.len();
        let mut index = vec![0_u32; (1 << bits) + 1];
        let mut at = 0;
        for (cell, first) in index.iter_mut().enumerate().take(1 << bits) {
            while at < kept && cell_of(positions[at], shift) < cell {
                at += 1;
            }
            *first = narrow(at);
        }
        index[1 << bits] = narrow(kept);
        positions.extend([u64::MAX; STRIDE]);
        owners.push(owners[0]);
        Self {
            positions: positions.into_boxed_slice(),
            owners: owners.into_boxed_slice(),
            index: index.into_boxed_slice(),
            width,
            shift,
            dropped: bytes(count - kept),
            simd: Simd::best(),
        }
    }

    /// The bytes of heap that a table of so many points takes if none of them is dropped.
    #[must_use]
    pub fn expected_heap_bytes(points: u64, width: u32) -> u64 {
        let cells = (1_u64 << index_bits(points, width)) + 1;
        let stride = bytes(STRIDE);
        points
            .saturating_add(stride)
            .saturating_mul(8)
            .saturating_add(points.saturating_add(1 + cells).saturating_mul(4))
    }

    #[inline]
    fn as_points(&self) -> Points<'_> {
        Points { positions: &self.positions, index: &self.index, shift: self.shift }
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
        self.owners[self.successor(key)]
    }

    /// As [`owner`](Self::owner) for many keys.
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn owners(&self, keys: &[u64], out: &mut [NodeId]) {
        self.as_points().owners(self.simd, NodeId::numbers(&self.owners), keys, NodeId::numbers_mut(out));
    }

    /// The point that decides for a key: its index in ascending order and its position.
    #[must_use]
    pub fn point(&self, key: u64) -> (usize, u64) {
        let at = self.successor(key) % self.len();
        (at, self.positions[at])
    }

    /// Owners in the order in which the circle is walked from a key, once around, with repetition.
    pub fn walk(&self, key: u64) -> impl Iterator<Item = NodeId> + '_ {
        let at = self.successor(key) % self.len();
        self.owners[at..self.len()].iter().chain(&self.owners[..at]).copied()
    }

    /// How many points there are, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a ring is never empty")]
    pub fn len(&self) -> usize {
        self.owners.len() - 1
    }

    /// How many points were dropped because another one had their position.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Points in ascending order with their owners.
    pub fn points(&self) -> impl Iterator<Item = (u64, NodeId)> + '_ {
        self.positions.iter().copied().zip(self.owners[..self.len()].iter().copied())
    }

    /// Bytes of heap that the table owns.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.positions) + size_of_val(&*self.owners) + size_of_val(&*self.index)
    }

    /// The positions that each of `nodes` nodes owns, of 2^width.
    #[must_use]
    pub fn shares(&self, nodes: u32) -> Shares {
        let whole = 1_u128 << self.width;
        let mut parts = vec![0_u128; nodes as usize];
        // A point owns the positions after its predecessor up to itself; the first point's
        // predecessor is the last one, a whole turn earlier.
        let mut before = u128::from(self.positions[self.len() - 1]);
        let mut turn = whole;
        for (position, owner) in self.points() {
            parts[owner.index()] += u128::from(position) + turn - before;
            (before, turn) = (u128::from(position), 0);
        }
        Shares { parts, whole }
    }
}

/// The cell of a position. On a circle of one cell per position and 64 bits nothing is shifted out.
#[inline]
fn cell_of(position: u64, shift: u32) -> usize {
    // The shift is 64 for a single point on the full circle: all positions are in cell 0.
    usize::try_from(position.checked_shr(shift).unwrap_or(0)).unwrap_or(usize::MAX)
}

/// The points in ascending order of position, those of one position in the order given.
///
/// Hashed points fill the cells of the index evenly, so that one pass by cell and a sort of the one
/// or two points in each take linear time; points that crowd in a few cells cost a normal sort.
fn sort_by_cell<I>(points: I, count: usize, bits: u32, shift: u32) -> Vec<(u64, NodeId)>
where
    I: Iterator<Item = (u64, NodeId)> + Clone,
{
    let mut next = vec![0_u32; (1 << bits) + 1];
    for (position, _) in points.clone() {
        next[cell_of(position, shift) + 1] += 1;
    }
    for cell in 1..next.len() {
        next[cell] += next[cell - 1];
    }
    let mut sorted = vec![(0, NodeId(0)); count];
    for (position, owner) in points {
        let at = &mut next[cell_of(position, shift)];
        sorted[*at as usize] = (position, owner);
        *at += 1;
    }
    // Each entry has advanced to the end of its cell.
    let mut start = 0;
    for &end in &next[..1 << bits] {
        // A stable sort keeps the order of those on one position.
        sorted[start..end as usize].sort_by_key(|&(position, _)| position);
        start = end as usize;
    }
    sorted
}
