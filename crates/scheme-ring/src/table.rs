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
        let (mut positions, mut owners, mut index) = sort_by_cell(points, count, bits, shift);
        let kept = drop_repeated(&mut positions, &mut owners);
        if kept < count {
            index = count_before(&positions[..kept], bits, shift);
        }
        positions.truncate(kept + STRIDE);
        positions[kept..].fill(u64::MAX);
        owners.truncate(kept + 1);
        owners[kept] = owners[0];
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

/// How many points of one cell are sorted by moving each past its larger neighbours.
const FEW: u32 = 32;

/// The points in ascending order of position, those of one position in the order given, with room for
/// the sentinels and the first owner behind them; and the number of points before each cell.
///
/// Two rounds of counting and placing take linear time: by buckets of neighbouring cells, which are
/// few enough to be written side by side, then by cell within a bucket, which fits the nearest cache.
/// Hashed points fill the cells evenly, so that every point is then at most a few places from its own.
fn sort_by_cell<I>(points: I, count: usize, bits: u32, shift: u32) -> (Vec<u64>, Vec<NodeId>, Vec<u32>)
where
    I: Iterator<Item = (u64, NodeId)> + Clone,
{
    let cell_bits = bits - bits / 2;
    // The mask only matters where there is one cell, whose shift would be that of the whole number.
    let (shift, cells) = (shift.min(63), (1_u64 << bits) - 1);
    let cell_of = |position: u64| usize::try_from((position >> shift) & cells).unwrap_or(usize::MAX);
    let bucket_of = |position| cell_of(position) >> cell_bits;
    // Counts stand two buckets late. Summed up, entry b + 1 is then the start of bucket b; placing its
    // points advances it to the start of bucket b + 1, where it belongs.
    let mut starts = vec![0_usize; (1 << (bits / 2)) + 2];
    points.clone().for_each(|(position, _)| starts[bucket_of(position) + 2] += 1);
    for bucket in 2..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    let mut positions = vec![0; count + STRIDE];
    let mut owners = vec![NodeId(0); count + 1];
    points.for_each(|(position, owner)| {
        let at = &mut starts[bucket_of(position) + 1];
        positions[*at] = position;
        owners[*at] = owner;
        *at += 1;
    });

    let mut index = vec![0_u32; (1 << bits) + 1];
    let mut bucket = Bucket::default();
    for (range, index) in starts.windows(2).zip(index.chunks_exact_mut(1 << cell_bits)) {
        let (positions, owners) = (&mut positions[range[0]..range[1]], &mut owners[range[0]..range[1]]);
        bucket.sort(positions, owners, index, |position| cell_of(position) & ((1 << cell_bits) - 1));
        // Counted from the start of the bucket so far.
        let before = u32::try_from(range[0]).unwrap_or_else(|_| unreachable!("a ring holds fewer than 2^32 points"));
        index.iter_mut().for_each(|points| *points += before);
    }
    index[1 << bits] = u32::try_from(count).unwrap_or_else(|_| unreachable!("a ring holds fewer than 2^32 points"));
    (positions, owners, index)
}

/// Room to sort one bucket after another.
#[derive(Default)]
struct Bucket {
    points: Vec<(u64, NodeId)>,
    next: Vec<u32>,
}

impl Bucket {
    /// Sorts the points of a bucket by position, and writes how many stand before each of its cells.
    fn sort(
        &mut self,
        positions: &mut [u64],
        owners: &mut [NodeId],
        index: &mut [u32],
        cell_of: impl Fn(u64) -> usize,
    ) {
        self.points.clear();
        self.points.extend(positions.iter().copied().zip(owners.iter().copied()));
        index.fill(0);
        for &(position, _) in &self.points {
            index[cell_of(position)] += 1;
        }
        let crowded = index.iter().any(|&points| points > FEW);
        let mut before = 0;
        for cell in index.iter_mut() {
            (*cell, before) = (before, before + *cell);
        }
        if crowded {
            // A stable sort keeps the order of those on one position.
            self.points.sort_by_key(|&(position, _)| position);
            for (at, &(position, owner)) in self.points.iter().enumerate() {
                (positions[at], owners[at]) = (position, owner);
            }
            return;
        }
        self.next.clear();
        self.next.extend_from_slice(index);
        for &(position, owner) in &self.points {
            let at = &mut self.next[cell_of(position)];
            (positions[*at as usize], owners[*at as usize]) = (position, owner);
            *at += 1;
        }
        sort_neighbours(positions, owners);
    }
}

/// Sorts points that are nearly sorted: each moves past the larger ones before it, and past no equal.
fn sort_neighbours(positions: &mut [u64], owners: &mut [NodeId]) {
    for next in 1..positions.len() {
        let (position, owner) = (positions[next], owners[next]);
        let mut at = next;
        while at > 0 && positions[at - 1] > position {
            (positions[at], owners[at]) = (positions[at - 1], owners[at - 1]);
            at -= 1;
        }
        if at < next {
            (positions[at], owners[at]) = (position, owner);
        }
    }
}

/// Moves the first point of each position to the front; how many there are comes back. Behind the
/// points are the sentinels.
fn drop_repeated(positions: &mut [u64], owners: &mut [NodeId]) -> usize {
    let count = positions.len() - STRIDE;
    let Some(first) = (1..count).find(|&at| positions[at] == positions[at - 1]) else { return count };
    let mut kept = first;
    for at in first..count {
        if positions[at] != positions[kept - 1] {
            (positions[kept], owners[kept]) = (positions[at], owners[at]);
            kept += 1;
        }
    }
    kept
}

/// The number of sorted points before each cell, and behind the last cell that of all.
fn count_before(positions: &[u64], bits: u32, shift: u32) -> Vec<u32> {
    let mut index = vec![0_u32; (1 << bits) + 1];
    for &position in positions {
        index[cell_of(position, shift) + 1] += 1;
    }
    for cell in 1..index.len() {
        index[cell] += index[cell - 1];
    }
    index
}
