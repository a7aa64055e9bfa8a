//! Points into ascending order, and the index over them.

use std::hint::select_unpredictable;

use shardlab_core::NodeId;

/// Where the points of a ring are sorted. What there is beyond them is left alone.
pub(crate) struct Parts<'a> {
    /// The position of each point.
    pub(crate) positions: &'a mut [u64],
    /// The owner of each point.
    pub(crate) owners: &'a mut [u32],
    /// For each cell the number of points before it, and behind the last cell the number of all: zeros so
    /// far.
    pub(crate) index: &'a mut [u32],
}

/// What is known of points before they are sorted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Positions are less than 2^width.
    pub(crate) width: u32,
    /// The index reads so many high bits of a position.
    pub(crate) bits: u32,
    /// No owner has a larger number.
    pub(crate) most: u32,
}

/// Up to this many bits, the buckets of [`packed`] are few enough to be written side by side.
const MOST_PACKED_BITS: u32 = 21;

/// Sorts points by position, those of one position in the order given, and counts those before each cell.
pub(crate) fn sort<I>(points: I, shape: Shape, parts: &mut Parts<'_>)
where
    I: Iterator<Item = (u64, NodeId)> + Clone,
{
    let owner_bits = u32::BITS - shape.most.leading_zeros();
    let bucket_bits = owner_bits.max(shape.bits.saturating_sub(CELL_BITS)).max(1);
    if bucket_bits <= shape.bits && bucket_bits < shape.width && shape.bits <= MOST_PACKED_BITS {
        packed(points, shape, bucket_bits, parts);
    } else {
        apart(points, shape, parts);
    }
}

/// Turns counts into how many there are before each, and behind the last into that of all.
fn sum_up(counts: &mut [u32]) {
    let mut before = 0;
    for count in counts {
        (*count, before) = (before, before + *count);
    }
}

/// Writes the index anew for points that are sorted.
pub(crate) fn count_before(positions: &[u64], index: &mut [u32], cell_shift: u32) {
    index.fill(0);
    for &position in positions {
        index[high(position, cell_shift)] += 1;
    }
    sum_up(index);
}

/// What is left of a position without so many low bits, fewer than 64.
#[inline]
fn high(position: u64, shift: u32) -> usize {
    usize::try_from(position >> shift).unwrap_or(usize::MAX)
}

/// How many bits of a position tell the cells of one bucket apart, at most.
const CELL_BITS: u32 = 8;

/// How many points a bucket may have to be sorted by cells; one less than a power of two. It has at most 256
/// cells, with one and a half points each at most on average, so that hashed points hardly ever come near.
const ROOM: usize = 511;

/// The order of small rings. A bucket is what the first bits of a position say, which all of its points
/// share. So they need not be kept with a point, and an owner fits in their place: a point is a single
/// number while it is moved.
fn packed<I>(points: I, shape: Shape, bucket_bits: u32, parts: &mut Parts<'_>)
where
    I: Iterator<Item = (u64, NodeId)> + Clone,
{
    let (cell_bits, cell_shift) = (shape.bits - bucket_bits, shape.width - shape.bits);
    let (counts, _) = parts.index.split_at_mut(1 << shape.bits);
    points.clone().for_each(|(position, _)| counts[high(position, cell_shift)] += 1);
    sum_up(parts.index);
    let left = u64::BITS - shape.width;
    let (bucket_shift, item_shift) = (shape.width - bucket_bits, left + bucket_bits);
    let mut next: Vec<u32> = parts.index.iter().step_by(1 << cell_bits).copied().collect();
    let (positions, starts) = (&mut *parts.positions, &mut *next);
    points.for_each(|(position, owner)| {
        let at = &mut starts[high(position, bucket_shift)];
        positions[*at as usize] = position << item_shift | u64::from(owner.0);
        *at += 1;
    });
    let mut bucket = Bucket { items: [0; ROOM + 1], next: [0; 1 << CELL_BITS], bucket_bits, cell_bits };
    for (number, first) in (0..1_u64 << bucket_bits).zip((0..).step_by(1 << cell_bits)) {
        let index = &parts.index[first..=first + (1 << cell_bits)];
        let range = index[0] as usize..index[1 << cell_bits] as usize;
        let (positions, owners) = (&mut parts.positions[range.clone()], &mut parts.owners[range]);
        bucket.sort(positions, index);
        let high = number << (u64::BITS - bucket_bits);
        for (position, owner) in positions.iter_mut().zip(owners) {
            *owner = low_half(*position & ((1 << bucket_bits) - 1));
            *position = (*position >> bucket_bits | high) >> left;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn low_half(number: u64) -> u32 {
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a count of at most ROOM points")]
const fn low_quarter(count: u32) -> u16 {
    count as u16
}

/// Room to sort one bucket after another in the nearest cache.
struct Bucket {
    /// A zero, then the points.
    items: [u64; ROOM + 1],
    /// How many points of the bucket come before the next one of each cell.
    next: [u16; 1 << CELL_BITS],
    bucket_bits: u32,
    cell_bits: u32,
}

impl Bucket {
    /// Sorts the points of a bucket. The index tells how many points are before each of its cells.
    fn sort(&mut self, points: &mut [u64], index: &[u32]) {
        let count = points.len();
        if count > ROOM {
            // A stable sort keeps the order of those on one position.
            points.sort_by_key(|point| point >> self.bucket_bits);
            return;
        }
        for (next, &before) in self.next.iter_mut().zip(index) {
            *next = low_quarter(before - index[0]);
        }
        self.items[..=count].fill(0);
        // Owners do not count where points are compared.
        let owner = (1_u64 << self.bucket_bits) - 1;
        for &point in &*points {
            // The bits of the bucket are gone from a point, those of the cell come first. There is no shift
            // by 64, which one cell would need.
            let cell = usize::from((point >> 1 >> (u64::BITS - 1 - self.cell_bits)).to_le_bytes()[0]);
            let at = usize::from(self.next[cell]) & ROOM;
            self.next[cell] += 1;
            // Few cells have more than two points, and with two this is all it takes. What stands before
            // the first point of a cell is smaller, or a zero. A branch would often be foreseen wrongly.
            let before = self.items[at];
            let swap = before > point | owner;
            self.items[at] = select_unpredictable(swap, point, before);
            self.items[at + 1] = select_unpredictable(swap, before, point);
        }
        let items = &mut self.items[..=count];
        for next in 1..items.len() {
            let point = items[next];
            let mut at = next;
            while at > 0 && items[at - 1] > point | owner {
                items[at] = items[at - 1];
                at -= 1;
            }
            if at < next {
                items[at] = point;
            }
        }
        points.copy_from_slice(&items[1..]);
    }
}

/// The order of large rings, whose points are moved with their owners beside them.
///
/// Two rounds of counting and placing take linear time: by buckets of neighbouring cells, which are
/// few enough to be written side by side, then by cell within a bucket, which fits a near cache.
/// Hashed points fill the cells evenly, so that every point is then at most a few places from its own.
fn apart<I>(points: I, shape: Shape, parts: &mut Parts<'_>)
where
    I: Iterator<Item = (u64, NodeId)> + Clone,
{
    let bucket_bits = (shape.bits / 2).max(1);
    let cell_bits = shape.bits - bucket_bits;
    let (cell_shift, bucket_shift) = (shape.width - shape.bits, shape.width - bucket_bits);
    // Bucket by bucket, and one more for the end of the last.
    let mut next = vec![0_u32; (1 << bucket_bits) + 1];
    let (counts, _) = next.split_at_mut(1 << bucket_bits);
    points.clone().for_each(|(position, _)| counts[high(position, bucket_shift)] += 1);
    sum_up(&mut next);
    let starts = next.clone();
    let (positions, owners) = (&mut *parts.positions, &mut *parts.owners);
    points.for_each(|(position, owner)| {
        let at = &mut next[high(position, bucket_shift)];
        (positions[*at as usize], owners[*at as usize]) = (position, owner.0);
        *at += 1;
    });
    let (mut points, mut next) = (Vec::new(), Vec::new());
    for (range, index) in starts.windows(2).zip(parts.index.chunks_exact_mut(1 << cell_bits)) {
        let (before, range) = (range[0], range[0] as usize..range[1] as usize);
        let (positions, owners) = (&mut positions[range.clone()], &mut owners[range]);
        points.clear();
        points.extend(positions.iter().copied().zip(owners.iter().copied()));
        let cell_of = |position: u64| high(position, cell_shift) & ((1 << cell_bits) - 1);
        for &(position, _) in &points {
            index[cell_of(position)] += 1;
        }
        let crowded = index.iter().any(|&points| points > FEW);
        sum_up(index);
        if crowded {
            // A stable sort keeps the order of those on one position.
            points.sort_by_key(|&(position, _)| position);
            for (at, &(position, owner)) in points.iter().enumerate() {
                (positions[at], owners[at]) = (position, owner);
            }
        } else {
            next.clear();
            next.extend_from_slice(index);
            for &(position, owner) in &points {
                let at = &mut next[cell_of(position)];
                (positions[*at as usize], owners[*at as usize]) = (position, owner);
                *at += 1;
            }
            sort_neighbours(positions, owners);
        }
        // Counted from the start of the bucket so far.
        index.iter_mut().for_each(|points| *points += before);
    }
    parts.index[1 << shape.bits] = starts[starts.len() - 1];
}

/// How many points of one cell are sorted by moving each past its larger neighbours.
const FEW: u32 = 32;

/// Sorts points that are nearly sorted: each moves past the larger ones before it, and past no equal.
fn sort_neighbours(positions: &mut [u64], owners: &mut [u32]) {
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
