//! The first of some sorted points at or after a key, found through an index over the high bits.

use crate::{Level, Simd};

/// How many points a lookup compares without a branch. With up to one and a half points in a cell of the
/// index, a key needs more in fewer than two of a hundred lookups.
pub const STRIDE: usize = 4;

/// Where the parts of a ring are in one run of words:
///
/// 1. the positions, ascending, and [`STRIDE`] sentinels that no key is greater than;
/// 2. from there on two numbers in a word: for each cell, which is a value of the bits from the shift on, the
///    number of points before it, and behind the last cell the number of all points;
/// 3. the owner of each point, and that of the first one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the index begins, counted in numbers of 32 bits.
    index: usize,
    /// Where the owners begin, counted likewise.
    owners: usize,
    shift: u32,
}

impl Layout {
    /// For so many points and cells. So many low bits of a position are not in the number of its cell.
    ///
    /// # Panics
    /// `shift` is 64 or more.
    #[must_use]
    pub const fn new(points: usize, cells: usize, shift: u32) -> Self {
        assert!(shift < u64::BITS, "a cell is told by one bit at least");
        let index = 2 * (points + STRIDE);
        Self { index, owners: index + cells + 1, shift }
    }

    /// How many points there are.
    #[inline]
    #[must_use]
    pub const fn points(self) -> usize {
        self.index / 2 - STRIDE
    }

    /// How many words the parts take.
    #[must_use]
    pub const fn words(self) -> usize {
        (self.owners + self.points() + 1).div_ceil(2)
    }

    /// The parts: positions with their sentinels, the index, and the owners.
    ///
    /// # Panics
    /// There are fewer [`words`](Self::words).
    #[must_use]
    pub fn parts(self, words: &[u64]) -> (&[u64], &[u32], &[u32]) {
        let (positions, numbers) = words.split_at(self.index / 2);
        let (index, owners) = bytemuck::cast_slice(numbers).split_at(self.owners - self.index);
        (positions, index, &owners[..=self.points()])
    }

    /// As [`parts`](Self::parts), to be written.
    ///
    /// # Panics
    /// As there.
    #[must_use]
    pub fn parts_mut(self, words: &mut [u64]) -> (&mut [u64], &mut [u32], &mut [u32]) {
        let (positions, numbers) = words.split_at_mut(self.index / 2);
        let (index, owners) = bytemuck::cast_slice_mut(numbers).split_at_mut(self.owners - self.index);
        (positions, index, &mut owners[..=self.points()])
    }
}

/// Sorted points on a circle of up to 2^64 positions.
///
/// The maker fills the parts as the layout says, and a lookup trusts that for its answer, not for its
/// soundness.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// The parts.
    pub words: &'a [u64],
    /// Where they are.
    pub layout: Layout,
}

/// The first point at or after a key behind the first few of its cell, which are smaller; the number at
/// `end` tells where the cell ends.
fn successor_after(words: &[u64], from: usize, end: usize, key: u64) -> usize {
    let to = bytemuck::cast_slice::<u64, u32>(words)[end] as usize;
    from + words[from..to.max(from)].partition_point(|&position| position < key)
}

/// The owner of that. A call of this is the last that a lookup does, so that only it pays for the call.
#[cold]
fn owner_after(words: &[u64], from: usize, end: usize, owners: usize, key: u64) -> u32 {
    bytemuck::cast_slice(words)[owners + successor_after(words, from, end, key)]
}

impl Points<'_> {
    /// The first point of the key's cell, how many points from there on are smaller than the key, up to
    /// [`STRIDE`], and where the index tells the end of the cell.
    #[inline]
    fn nearby(&self, key: u64) -> (usize, usize, usize) {
        let Layout { index, owners, shift } = self.layout;
        // A key beyond a circle of fewer than 64 bits has the cell behind the last, whose first point is
        // the number of points.
        let cell = usize::try_from(key >> shift).unwrap_or(usize::MAX).min(owners - 1 - index);
        let at = index + cell;
        let numbers: &[u32] = bytemuck::cast_slice(self.words);
        let first = numbers[at] as usize;
        // The count of smaller points is right even where they end, since those of the next cell
        // and the sentinels are not smaller than any key of this one.
        let window = &self.words[first..first + STRIDE];
        (first, window.iter().map(|&position| usize::from(position < key)).sum(), at + 1)
    }

    /// The first point at or after the key; the number of all points where there is none.
    #[inline]
    #[must_use]
    pub fn successor(&self, key: u64) -> usize {
        let (first, smaller, end) = self.nearby(key);
        if smaller < STRIDE { first + smaller } else { successor_after(self.words, first + STRIDE, end, key) }
    }

    /// The owner of the first point at or after the key; of the first point of all where there is none.
    #[inline]
    #[must_use]
    pub fn owner(&self, key: u64) -> u32 {
        let (first, smaller, end) = self.nearby(key);
        if smaller == STRIDE {
            return owner_after(self.words, first + STRIDE, end, self.layout.owners, key);
        }
        bytemuck::cast_slice(self.words)[self.layout.owners + first + smaller]
    }

    /// As [`owner`](Self::owner) for many keys.
    ///
    /// # Panics
    /// `keys` and `out` differ in length, or there are fewer words than the points and cells take.
    pub fn owners(&self, simd: Simd, keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many owners as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 | Level::Avx512Ifma => unsafe { self.avx512(keys, out) },
            _ => self.portable(keys, out),
        }
    }

    fn portable(&self, keys: &[u64], out: &mut [u32]) {
        for (owner, &key) in out.iter_mut().zip(keys) {
            *owner = self.owner(key);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn avx512(&self, keys: &[u64], out: &mut [u32]) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        let (positions, index, owners) = self.layout.parts(self.words);
        let shift = _mm512_set1_epi64(i64::from(self.layout.shift));
        let last_cell = _mm512_set1_epi64((index.len() - 1).cast_signed() as i64);
        let (keys, last_keys) = keys.as_chunks::<8>();
        let (out, last_out) = out.as_chunks_mut::<8>();
        for (keys, out) in keys.iter().zip(out) {
            let key = wide::load_u64(keys);
            // A key beyond the circle has the cell behind the last.
            let cell = _mm512_min_epu64(_mm512_srlv_epi64(key, shift), last_cell);
            let mut at = _mm512_cvtepu32_epi64(wide::gather_u32(index, cell));
            let mut smaller = u8::MAX;
            for _ in 0..STRIDE {
                smaller = _mm512_mask_cmplt_epu64_mask(smaller, wide::gather_u64(positions, at), key);
                at = _mm512_mask_add_epi64(at, smaller, at, _mm512_set1_epi64(1));
                if smaller == 0 {
                    break;
                }
            }
            if smaller == 0 {
                wide::store_u32_half(out, wide::gather_u32(owners, at));
            } else {
                self.portable(keys, out);
            }
        }
        self.portable(last_keys, last_out);
    }
}
