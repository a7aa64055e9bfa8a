//! The first of some sorted points at or after a key, found through an index over the high bits.

use crate::{Level, Simd};

/// How many points a lookup compares without a branch. With about one point in a cell of the index,
/// a key needs more in fewer than one of a hundred lookups.
pub const STRIDE: usize = 4;

/// Sorted positions on a circle of up to 2^64, and where each cell of the index begins.
///
/// Invariants, which the maker keeps and a lookup trusts for its answer, not for its soundness:
/// positions ascend and end with [`STRIDE`] sentinels that no key is greater than; `index` has one
/// entry for each value of the bits from `shift` on, the number of points before the cell, and after
/// them the number of all points.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a> {
    /// The positions with their sentinels.
    pub positions: &'a [u64],
    /// The first point of each cell, then the number of points.
    pub index: &'a [u32],
    /// How many low bits of a position are not in the number of its cell; 64 for a single cell.
    pub shift: u32,
}

impl Points<'_> {
    /// The cell of a position.
    #[inline]
    fn cell(&self, position: u64) -> usize {
        // The shift is 64 for a single point on the full circle: all positions are in cell 0.
        usize::try_from(position.checked_shr(self.shift).unwrap_or(0)).unwrap_or(usize::MAX)
    }

    /// The first point at or after the key; the number of all points where there is none.
    #[inline]
    #[must_use]
    pub fn successor(&self, key: u64) -> usize {
        let cell = self.cell(key);
        let Some(&first) = self.index.get(cell) else { return self.positions.len() - STRIDE };
        let first = first as usize;
        // The count of smaller points is right even where they end, since those of the next cell
        // and the sentinels are not smaller than any key of this one.
        let window = &self.positions[first..first + STRIDE];
        let smaller = window.iter().map(|&position| usize::from(position < key)).sum::<usize>();
        if smaller < STRIDE { first + smaller } else { self.successor_after(key, cell, first + STRIDE) }
    }

    #[cold]
    fn successor_after(&self, key: u64, cell: usize, from: usize) -> usize {
        let to = self.index.get(cell + 1).map_or(self.positions.len() - STRIDE, |&next| next as usize);
        from + self.positions[from..to.max(from)].partition_point(|&position| position < key)
    }

    /// The owners of the first points at or after many keys. There is an owner for each point, and
    /// that of the first point again behind them.
    ///
    /// # Panics
    /// `keys` and `out` differ in length, or there are fewer owners.
    pub fn owners(&self, simd: Simd, owners: &[u32], keys: &[u64], out: &mut [u32]) {
        assert_eq!(keys.len(), out.len(), "as many owners as keys");
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level proves that this machine has these instructions.
            Level::Avx512 => unsafe { self.avx512(owners, keys, out) },
            _ => self.portable(owners, keys, out),
        }
    }

    fn portable(&self, owners: &[u32], keys: &[u64], out: &mut [u32]) {
        for (owner, &key) in out.iter_mut().zip(keys) {
            *owner = owners[self.successor(key)];
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn avx512(&self, owners: &[u32], keys: &[u64], out: &mut [u32]) {
        use std::arch::x86_64::*;

        use crate::x86::wide;

        // Shifting by 64 gives 0 in vectors, and so the only cell.
        let shift = _mm512_set1_epi64(i64::from(self.shift));
        let last_cell = _mm512_set1_epi64((self.index.len() - 1).cast_signed() as i64);
        let (keys, last_keys) = keys.as_chunks::<8>();
        let (out, last_out) = out.as_chunks_mut::<8>();
        for (keys, out) in keys.iter().zip(out) {
            let key = wide::load_u64(keys);
            // A key beyond a circle of fewer than 64 bits has the cell behind the last, whose first
            // point is the number of points.
            let cell = _mm512_min_epu64(_mm512_srlv_epi64(key, shift), last_cell);
            let mut at = _mm512_cvtepu32_epi64(wide::gather_u32(self.index, cell));
            let mut smaller = u8::MAX;
            for _ in 0..STRIDE {
                smaller = _mm512_mask_cmplt_epu64_mask(smaller, wide::gather_u64(self.positions, at), key);
                at = _mm512_mask_add_epi64(at, smaller, at, _mm512_set1_epi64(1));
                if smaller == 0 {
                    break;
                }
            }
            if smaller == 0 {
                wide::store_u32_half(out, wide::gather_u32(owners, at));
            } else {
                self.portable(owners, keys, out);
            }
        }
        self.portable(owners, last_keys, last_out);
    }
}
