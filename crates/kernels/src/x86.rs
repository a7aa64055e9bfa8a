//! Vectors in and out of memory, the one place where kernels touch it.
//!
//! Every function here takes references whose length says how much may be read or written, and a
//! gather checks its positions first; so kernels themselves are safe code, which may call these
//! functions because they carry the same target features.

/// A double without its fraction, in one instruction; the smallest number where it fits no `i64`.
#[inline]
pub(crate) fn truncated(number: f64) -> i64 {
    use std::arch::x86_64::*;

    // SAFETY: SSE2 belongs to every x86-64.
    unsafe { _mm_cvttsd_si64(_mm_set_sd(number)) }
}

/// A load and a store of a whole vector.
macro_rules! move_vectors {
    ($features:literal, $load:ident, $store:ident, $word:ty, $lanes:literal, $vector:ty, $read:ident, $write:ident) => {
        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn $load(words: &[$word; $lanes]) -> $vector {
            // SAFETY: the array is as long as the vector, and this load needs no alignment.
            unsafe { $read(words.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        pub(crate) fn $store(words: &mut [$word; $lanes], vector: $vector) {
            // SAFETY: the array is as long as the vector, and this store needs no alignment.
            unsafe { $write(words.as_mut_ptr().cast(), vector) }
        }
    };
}

pub(crate) mod wide {
    //! 512 bits.

    use std::arch::x86_64::*;

    move_vectors!(
        "avx512f,avx512bw,avx512dq,avx512vl,avx2",
        load_u64,
        store_u64,
        u64,
        8,
        __m512i,
        _mm512_loadu_epi64,
        _mm512_storeu_epi64
    );
    move_vectors!(
        "avx512f,avx512bw,avx512dq,avx512vl,avx2",
        load_u32,
        store_u32,
        u32,
        16,
        __m512i,
        _mm512_loadu_epi32,
        _mm512_storeu_epi32
    );

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn load_u16(words: &[u16; 32]) -> __m512i {
        // SAFETY: the array is as long as the vector, and this load needs no alignment.
        unsafe { _mm512_loadu_epi16(words.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn store_u32_half(words: &mut [u32; 8], vector: __m256i) {
        super::half::store_u32(words, vector);
    }

    /// As [`load_u64`], of lengths and positions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn load_usize(words: &[usize; 8]) -> __m512i {
        // SAFETY: a usize of x86-64 has 64 bits; the array is as long as the vector, and this load needs
        // no alignment.
        unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) }
    }

    /// The eight words from `start` on.
    ///
    /// # Panics
    /// The slice ends before.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn load_at(words: &[u64], start: usize) -> __m512i {
        load_u64(words[start..].first_chunk().expect("eight words"))
    }

    /// Writes the eight words from `start` on.
    ///
    /// # Panics
    /// The slice ends before.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn store_at(words: &mut [u64], start: usize, vector: __m512i) {
        store_u64(words[start..].first_chunk_mut().expect("eight words"), vector);
    }

    /// How many entries a table has, in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn lengths(entries: usize) -> __m512i {
        _mm512_set1_epi64(entries.cast_signed() as i64)
    }

    /// The entries of a table of 32 bits at eight positions.
    ///
    /// # Panics
    /// A position is not in the table.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn gather_u32(table: &[u32], at: __m512i) -> __m256i {
        assert!(_mm512_cmplt_epu64_mask(at, lengths(table.len())) == u8::MAX, "a position beyond the table");
        // SAFETY: all eight positions were found to be in the table.
        unsafe { _mm512_i64gather_epi32::<4>(at, table.as_ptr().cast()) }
    }

    /// The entries of a table of 32 bits at sixteen positions.
    ///
    /// # Panics
    /// A position is not in the table, or the table has 2^31 entries or more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn gather_u32_by_u32(table: &[u32], at: __m512i) -> __m512i {
        // Positions of a gather are signed.
        let entries = i32::try_from(table.len()).expect("a table of fewer than 2^31 entries");
        assert!(_mm512_cmplt_epu32_mask(at, _mm512_set1_epi32(entries)) == u16::MAX, "a position beyond the table");
        // SAFETY: all sixteen positions were found to be in the table.
        unsafe { _mm512_i32gather_epi32::<4>(at, table.as_ptr().cast()) }
    }

    /// The entries of a table of 64 bits at eight positions.
    ///
    /// # Panics
    /// A position is not in the table.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn gather_u64(table: &[u64], at: __m512i) -> __m512i {
        assert!(_mm512_cmplt_epu64_mask(at, lengths(table.len())) == u8::MAX, "a position beyond the table");
        // SAFETY: all eight positions were found to be in the table.
        unsafe { _mm512_i64gather_epi64::<8>(at, table.as_ptr().cast()) }
    }

    /// 32 bits that start at each of eight entries of a table of 16 bits: the entry and, above it, the
    /// one after it.
    ///
    /// # Panics
    /// A position or the one after it is not in the table.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn gather_u16_pairs(table: &[u16], at: __m512i) -> __m256i {
        let last = table.len().saturating_sub(1);
        assert!(_mm512_cmplt_epu64_mask(at, lengths(last)) == u8::MAX, "a position beyond the table");
        // SAFETY: all eight positions and those after them were found to be in the table; the
        // instruction needs no alignment.
        unsafe { _mm512_i64gather_epi32::<2>(at, table.as_ptr().cast()) }
    }

    /// The sixteen bytes that start at each of 16 positions, transposed: the four vectors hold the
    /// first, second, third and fourth word of every position.
    ///
    /// # Panics
    /// One of the bytes is not there.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn columns(bytes: &[u8], starts: &[usize; 16]) -> [__m512i; 4] {
        let rows = [
            four_rows::<0>(bytes, starts),
            four_rows::<1>(bytes, starts),
            four_rows::<2>(bytes, starts),
            four_rows::<3>(bytes, starts),
        ];
        let (low, high) = (_mm512_unpacklo_epi32(rows[0], rows[1]), _mm512_unpacklo_epi32(rows[2], rows[3]));
        let (low_end, high_end) = (_mm512_unpackhi_epi32(rows[0], rows[1]), _mm512_unpackhi_epi32(rows[2], rows[3]));
        [
            _mm512_unpacklo_epi64(low, high),
            _mm512_unpackhi_epi64(low, high),
            _mm512_unpacklo_epi64(low_end, high_end),
            _mm512_unpackhi_epi64(low_end, high_end),
        ]
    }

    /// Sixteen bytes from each of the starts J, 4 + J, 8 + J and 12 + J: whoever holds all four vectors
    /// transposes within lanes of 128 bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn four_rows<const J: usize>(bytes: &[u8], starts: &[usize; 16]) -> __m512i {
        let first = _mm512_castsi128_si512(load_bytes(bytes, starts[J]));
        let two = _mm512_inserti32x4::<1>(first, load_bytes(bytes, starts[4 + J]));
        let three = _mm512_inserti32x4::<2>(two, load_bytes(bytes, starts[8 + J]));
        _mm512_inserti32x4::<3>(three, load_bytes(bytes, starts[12 + J]))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    fn load_bytes(bytes: &[u8], start: usize) -> __m128i {
        let bytes: &[u8; 16] = bytes[start..].first_chunk().expect("sixteen bytes");
        // SAFETY: the array is as long as the vector, and this load needs no alignment.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    /// Four bytes that start at each of 16 positions of which `mask` is on, and zeros elsewhere.
    ///
    /// # Panics
    /// A position whose bit is on, or one of the three after it, is not in the bytes, or there are
    /// 2^31 bytes or more.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2")]
    pub(crate) fn gather_bytes(bytes: &[u8], mask: __mmask16, at: __m512i) -> __m512i {
        // Positions of a gather are signed, so that the window ends where their sign would begin.
        let starts = i32::try_from(bytes.len()).expect("a window below 2^31 bytes").saturating_sub(3).max(0);
        assert!(
            _mm512_mask_cmplt_epu32_mask(mask, at, _mm512_set1_epi32(starts)) == mask,
            "a position beyond the bytes"
        );
        // SAFETY: where the mask is on, the position and the three after it were found to be in the
        // bytes; where it is off, nothing is read.
        unsafe { _mm512_mask_i32gather_epi32::<1>(_mm512_setzero_si512(), mask, at, bytes.as_ptr().cast()) }
    }
}

pub(crate) mod half {
    //! 256 bits.

    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn load_u16(words: &[u16; 16]) -> __m256i {
        // SAFETY: the array is as long as the vector, and this load needs no alignment.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    move_vectors!("avx2", load_u32, store_u32, u32, 8, __m256i, _mm256_loadu_si256, _mm256_storeu_si256);

    /// Four bytes that start at each of eight positions where the lanes of `mask` are all ones, and zeros
    /// where they are all zeros.
    ///
    /// # Panics
    /// A position whose lane is on, or one of the three after it, is not in the bytes, or there are
    /// 2^31 bytes or more.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn gather_bytes(bytes: &[u8], mask: __m256i, at: __m256i) -> __m256i {
        // Positions of a gather are signed, and so are comparisons here: a position from 0 to the last.
        let last = i32::try_from(bytes.len()).expect("a window below 2^31 bytes") - 4;
        let below = _mm256_cmpgt_epi32(_mm256_setzero_si256(), at);
        let beyond = _mm256_or_si256(below, _mm256_cmpgt_epi32(at, _mm256_set1_epi32(last)));
        assert!(_mm256_testz_si256(beyond, mask) == 1, "a position beyond the bytes");
        // SAFETY: where the mask is on, the position and the three after it were found to be in the
        // bytes; where it is off, nothing is read.
        unsafe { _mm256_mask_i32gather_epi32::<1>(_mm256_setzero_si256(), bytes.as_ptr().cast(), at, mask) }
    }
}

pub(crate) mod quarter {
    //! 128 bits, which every x86-64 has.

    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(crate) fn load_u16(words: &[u16; 8]) -> __m128i {
        // SAFETY: the array is as long as the vector, and this load needs no alignment.
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    }
}
