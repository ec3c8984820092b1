//! Transposition in blocks.

use std::marker::PhantomData;

use crate::element::Element;
use crate::tile::{Routine, Tile, row_at};

/// `tiles[0][c][r] = tiles[1][r][c]`: the source has `rows` rows of `cols` elements, the destination `cols` rows of `rows`. In
/// blocks, so that both sides stay in the cache.
pub(crate) struct Transpose<B>(PhantomData<B>);

/// A square of elements that is transposed at once.
pub(crate) trait Square {
    type T: Element;

    /// Elements of a side.
    const SIDE: usize;

    /// Transposes it. Strides are in bytes.
    ///
    /// # Safety
    /// All elements of both sides are there, and do not overlap. The processor has the level that the square is for.
    unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize);
}

impl<B: Square> Routine for Transpose<B> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise; every index below is within the rows and columns that there are.
        unsafe {
            let [to, from] = tiles.cast::<[Tile; 2]>().read();
            let (full_rows, full_cols) = (rows - rows % B::SIDE, cols - cols % B::SIDE);
            for row in (0..full_rows).step_by(B::SIDE) {
                for col in (0..full_cols).step_by(B::SIDE) {
                    let to_block = row_at(to, col).add(row * size_of::<B::T>());
                    let from_block = row_at(from, row).add(col * size_of::<B::T>());
                    B::transpose(to_block, to.row_bytes, from_block, from.row_bytes);
                }
                move_each::<B::T>(to, from, row..row + B::SIDE, full_cols..cols);
            }
            move_each::<B::T>(to, from, full_rows..rows, 0..cols);
        }
    }
}

/// Transposes one element at a time.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn move_each<T: Element>(
    to: Tile,
    from: Tile,
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
) {
    for row in rows {
        for col in cols.clone() {
            // SAFETY: the caller's promise.
            unsafe {
                let value = row_at(from, row).cast::<T>().add(col).read_unaligned();
                row_at(to, col).cast::<T>().add(row).write_unaligned(value);
            }
        }
    }
}

/// A square of 8 by 8 elements of any width, moved one at a time.
pub(crate) struct Plain<T>(PhantomData<T>);

impl<T: Element> Square for Plain<T> {
    type T = T;
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize) {
        // SAFETY: the caller's promise.
        unsafe {
            for row in 0..8 {
                for col in 0..8 {
                    let value = from
                        .offset(from_stride * row)
                        .cast::<T>()
                        .offset(col)
                        .read_unaligned();
                    to.offset(to_stride * col)
                        .cast::<T>()
                        .offset(row)
                        .write_unaligned(value);
                }
            }
        }
    }
}

/// A square that fills vectors of 128 bits, or, of wider elements, of 256.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Vectors<T>(PhantomData<T>);

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;

    use super::{Square, Vectors};

    /// As many rows as there are elements in a vector of 128 bits: interleaving the rows of both halves, once for each bit of an
    /// index, takes every element to its place.
    macro_rules! interleaved {
        ($($ty:ty, $side:literal, $low:ident, $high:ident, $stages:literal;)*) => {$(
            impl Square for Vectors<$ty> {
                type T = $ty;
                const SIDE: usize = $side;

                #[inline(always)]
                unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize) {
                    // SAFETY: the caller's promise; every x86-64 processor has these instructions.
                    unsafe {
                        let mut rows = [_mm_setzero_si128(); $side];
                        for index in 0..$side {
                            rows[index] = _mm_loadu_si128(from.offset(from_stride * index as isize).cast());
                        }
                        for _ in 0..$stages {
                            let old = rows;
                            for index in 0..$side / 2 {
                                rows[2 * index] = $low(old[index], old[index + $side / 2]);
                                rows[2 * index + 1] = $high(old[index], old[index + $side / 2]);
                            }
                        }
                        for index in 0..$side {
                            _mm_storeu_si128(to.offset(to_stride * index as isize).cast(), rows[index]);
                        }
                    }
                }
            }
        )*};
    }

    interleaved! {
        u8, 16, _mm_unpacklo_epi8, _mm_unpackhi_epi8, 4;
        u16, 8, _mm_unpacklo_epi16, _mm_unpackhi_epi16, 3;
    }

    impl Square for Vectors<u32> {
        type T = u32;
        const SIDE: usize = 8;

        #[inline(always)]
        unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize) {
            // SAFETY: the caller's promise.
            unsafe {
                let mut rows = [_mm256_setzero_ps(); 8];
                for (index, row) in rows.iter_mut().enumerate() {
                    *row = _mm256_loadu_ps(from.offset(from_stride * index as isize).cast());
                }
                // Squares of 4 by 4 in each half of the vectors.
                let mut quarters = rows;
                for index in [0, 4] {
                    let [a, b, c, d] = [rows[index], rows[index + 1], rows[index + 2], rows[index + 3]];
                    let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
                    let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
                    quarters[index] = _mm256_shuffle_ps::<0x44>(ab, cd);
                    quarters[index + 1] = _mm256_shuffle_ps::<0xEE>(ab, cd);
                    quarters[index + 2] = _mm256_shuffle_ps::<0x44>(ab_high, cd_high);
                    quarters[index + 3] = _mm256_shuffle_ps::<0xEE>(ab_high, cd_high);
                }
                for index in 0..4 {
                    let [low, high] = [quarters[index], quarters[index + 4]];
                    let near = _mm256_permute2f128_ps::<0x20>(low, high);
                    let far = _mm256_permute2f128_ps::<0x31>(low, high);
                    _mm256_storeu_ps(to.offset(to_stride * index as isize).cast(), near);
                    _mm256_storeu_ps(to.offset(to_stride * (index + 4) as isize).cast(), far);
                }
            }
        }
    }

    impl Square for Vectors<u64> {
        type T = u64;
        const SIDE: usize = 4;

        #[inline(always)]
        unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize) {
            // SAFETY: the caller's promise.
            unsafe {
                let row = |index: isize| _mm256_loadu_pd(from.offset(from_stride * index).cast());
                let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
                let (ab, cd) = (_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
                let (ab_high, cd_high) = (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
                let columns = [
                    _mm256_permute2f128_pd::<0x20>(ab, cd),
                    _mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
                    _mm256_permute2f128_pd::<0x31>(ab, cd),
                    _mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
                ];
                for (index, column) in columns.into_iter().enumerate() {
                    _mm256_storeu_pd(to.offset(to_stride * index as isize).cast(), column);
                }
            }
        }
    }
}
