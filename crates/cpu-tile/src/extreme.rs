//! Larger and smaller `f32` with AVX-512, whose `vrange` knows the signs of zeros, but loses NaN.
//!
//! Of rows: which number is the largest does not depend on the order of comparisons, and NaN is noted aside, so that several vectors are
//! compared at once with the result of the order that [`crate::TileOp::Reduce`] promises.

use std::arch::x86_64::*;

use crate::tile::{Rectangle, Routine, Tile, row_at};

/// Vectors that are compared at once.
const STREAMS: usize = 4;

/// The larger number with the sign that it has, or the smaller one; 0 is larger than -0.
const LARGER: i32 = 0b0101;
const SMALLER: i32 = 0b0100;

/// `reduce` of `f32` for maximum or minimum.
pub(crate) struct Extreme<const IS_MAXIMUM: bool>;

/// # Safety
/// The processor has level x86-64-v4.
#[inline(always)]
unsafe fn extreme<const IS_MAXIMUM: bool>(a: __m512, b: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        if IS_MAXIMUM {
            _mm512_range_ps::<LARGER>(a, b)
        } else {
            _mm512_range_ps::<SMALLER>(a, b)
        }
    }
}

impl<const IS_MAXIMUM: bool> Routine for Extreme<IS_MAXIMUM> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise: 16 lanes and `cols` numbers a row.
        unsafe {
            let [lanes_tile, from] = tiles.cast::<[Tile; 2]>().read();
            for row in 0..rows {
                let home = row_at(lanes_tile, row).cast::<f32>();
                let from = row_at(from, row).cast::<f32>();
                let mut streams = [_mm512_loadu_ps(home); STREAMS];
                let mut has_nan = [_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(streams[0], streams[0]); STREAMS];
                let mut take = |stream: usize, x: __m512| {
                    streams[stream] = extreme::<IS_MAXIMUM>(streams[stream], x);
                    has_nan[stream] |= _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
                };
                let mut col = 0;
                while col + 16 * STREAMS <= cols {
                    for stream in 0..STREAMS {
                        take(stream, _mm512_loadu_ps(from.add(col + 16 * stream)));
                    }
                    col += 16 * STREAMS;
                }
                while col + 16 <= cols {
                    take(0, _mm512_loadu_ps(from.add(col)));
                    col += 16;
                }
                if col < cols {
                    // Lanes without a number compare with what they hold.
                    let mask = (1_u16 << (cols - col)) - 1;
                    let own = _mm512_loadu_ps(home);
                    take(0, _mm512_mask_loadu_ps(own, mask, from.add(col)));
                }
                let first = extreme::<IS_MAXIMUM>(streams[0], streams[1]);
                let second = extreme::<IS_MAXIMUM>(streams[2], streams[3]);
                let result = extreme::<IS_MAXIMUM>(first, second);
                let nan = has_nan[0] | has_nan[1] | has_nan[2] | has_nan[3];
                _mm512_storeu_ps(home, _mm512_mask_mov_ps(result, nan, _mm512_set1_ps(f32::NAN)));
            }
        }
    }
}

/// `maximum` or `minimum` of two `f32`.
pub(crate) struct Pair<const IS_MAXIMUM: bool>;

/// NaN where one of the numbers is NaN.
///
/// # Safety
/// The processor has level x86-64-v4.
#[inline(always)]
unsafe fn pair<const IS_MAXIMUM: bool>(a: __m512, b: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b);
        _mm512_mask_add_ps(extreme::<IS_MAXIMUM>(a, b), nan, a, b)
    }
}

impl<const IS_MAXIMUM: bool> Routine for Pair<IS_MAXIMUM> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise; loads and stores stay within `cols` numbers of a row.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, [4; 3]);
            for row in 0..rectangle.rows {
                let [to, a, b] = rectangle.row(row).map(|row| row.cast::<f32>());
                let full = rectangle.cols / 16 * 16;
                for col in (0..full).step_by(16) {
                    let (a, b) = (_mm512_loadu_ps(a.add(col)), _mm512_loadu_ps(b.add(col)));
                    _mm512_storeu_ps(to.add(col), pair::<IS_MAXIMUM>(a, b));
                }
                if full < rectangle.cols {
                    let mask = (1_u16 << (rectangle.cols - full)) - 1;
                    let a = _mm512_maskz_loadu_ps(mask, a.add(full));
                    let b = _mm512_maskz_loadu_ps(mask, b.add(full));
                    _mm512_mask_storeu_ps(to.add(full), mask, pair::<IS_MAXIMUM>(a, b));
                }
            }
        }
    }
}
