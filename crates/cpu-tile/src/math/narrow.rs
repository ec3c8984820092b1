//! Functions of `f16` and `bf16` by those of `f32`, which are called, so that they are compiled once.

use std::mem::MaybeUninit;

use crate::element::{Element, Float};
use crate::tile::{Rectangle, Tile, TileFn};

/// Numbers that are converted at once.
const PART: usize = 256;

/// Calls `inner`, a routine of `f32` with `N - 1` sources of one row, on numbers of type `T`.
///
/// # Safety
/// As [`TileFn`], for `T`; `inner` may be called.
#[inline(always)]
pub(crate) unsafe fn run<T: Float<Wide = f32> + Element, const N: usize>(
    rows: usize,
    cols: usize,
    tiles: *const Tile,
    inner: TileFn,
) {
    let mut buffers = [const { MaybeUninit::<[f32; PART]>::uninit() }; N];
    // SAFETY: the caller's promise; a part has at most as many numbers as a buffer has room for.
    unsafe {
        let rectangle = Rectangle::new(rows, cols, tiles, [size_of::<T>(); N]);
        for row in 0..rectangle.rows {
            let narrow = rectangle.row(row);
            for from in (0..rectangle.cols).step_by(PART) {
                let count = PART.min(rectangle.cols - from);
                let mut wide = [Tile {
                    data: std::ptr::null_mut(),
                    row_bytes: 0,
                }; N];
                for index in 0..N {
                    let buffer = buffers[index].as_mut_ptr().cast::<f32>();
                    wide[index].data = buffer.cast();
                    if index > 0 {
                        let source = narrow[index].cast::<T>().add(from);
                        for position in 0..count {
                            buffer
                                .add(position)
                                .write(source.add(position).read_unaligned().widen());
                        }
                    }
                }
                inner(1, count, wide.as_ptr());
                let (result, to) = (wide[0].data.cast::<f32>(), narrow[0].cast::<T>().add(from));
                for position in 0..count {
                    to.add(position)
                        .write_unaligned(T::narrow(result.add(position).read()));
                }
            }
        }
    }
}
