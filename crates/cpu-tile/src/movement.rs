//! Routines that move elements without looking at them, and the one that counts. `T` is any type of the elements' width.

use std::marker::PhantomData;

use crate::convert::ConvertTo;
use crate::element::Element;
use crate::map::Map1;
use crate::tile::{Routine, Tile, element_boundary};

/// The element itself.
pub(crate) struct Copy<T>(PhantomData<T>);

impl<T: Element> Map1 for Copy<T> {
    type In = T;
    type Out = T;

    #[inline(always)]
    fn apply(x: T) -> T {
        x
    }
}

/// `tiles[0][r][c] = tiles[1][r][0]`: the source has one column.
pub(crate) struct Fill<T>(PhantomData<T>);

impl<T: Element> Routine for Fill<T> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise. No row is joined with the next, which has another element, unless all are the same.
        unsafe {
            let [to, from] = tiles.cast::<[Tile; 2]>().read();
            let is_one_row =
                from.row_bytes == 0 && to.row_bytes == (cols.wrapping_mul(size_of::<T>())) as isize;
            let (rows, cols) = if is_one_row {
                (rows.min(1), rows.wrapping_mul(cols))
            } else {
                (rows, cols)
            };
            for row in 0..rows {
                let value = at(from, row).cast::<T>();
                if cols > 0 {
                    let value = value.read_unaligned();
                    let to = at(to, row).cast::<T>();
                    for col in 0..cols {
                        element_boundary::<PLAIN>();
                        to.add(col).write_unaligned(value);
                    }
                }
            }
        }
    }
}

/// The beginning of a row.
#[inline(always)]
fn at(tile: Tile, row: usize) -> *mut u8 {
    tile.data
        .wrapping_offset(tile.row_bytes.wrapping_mul(row as isize))
}

/// The numbers of [`TileOp::Affine`](crate::TileOp::Affine): `start + row * row_step + col * col_step`, wrapping.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// The first element.
    pub start: i64,
    /// From a row to the next.
    pub row_step: i64,
    /// From a column to the next.
    pub col_step: i64,
}

/// `tiles[0][r][c]` is a number of the [`Affine`] at `tiles[1].data`, converted to `T`.
pub(crate) struct AffineFill<T>(PhantomData<T>);

impl<T: Element> Routine for AffineFill<T>
where
    i64: ConvertTo<T>,
{
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise.
        unsafe {
            let [to, numbers] = tiles.cast::<[Tile; 2]>().read();
            let numbers = numbers.data.cast::<Affine>().read_unaligned();
            for row in 0..rows {
                let start = numbers
                    .start
                    .wrapping_add(numbers.row_step.wrapping_mul(row as i64));
                let to = at(to, row).cast::<T>();
                for col in 0..cols {
                    element_boundary::<PLAIN>();
                    let number = start.wrapping_add(numbers.col_step.wrapping_mul(col as i64));
                    to.add(col).write_unaligned(number.convert());
                }
            }
        }
    }
}

/// The distance between columns of the side of a strided routine that has one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnStride {
    /// Distance between the beginnings of elements of a row, in bytes; any sign.
    pub bytes: isize,
}

/// `tiles[0][r][c] = tiles[1][r][c * stride]`, with the [`ColumnStride`] at `tiles[2].data`.
pub(crate) struct GatherStrided<T>(PhantomData<T>);

/// `tiles[0][r][c * stride] = tiles[1][r][c]`, with the [`ColumnStride`] at `tiles[2].data`.
pub(crate) struct ScatterStrided<T>(PhantomData<T>);

impl<T: Element> Routine for GatherStrided<T> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise.
        unsafe {
            let [to, from, stride] = tiles.cast::<[Tile; 3]>().read();
            let ColumnStride { bytes } = stride.data.cast::<ColumnStride>().read_unaligned();
            for row in 0..rows {
                let (to, mut from) = (at(to, row).cast::<T>(), at(from, row));
                for col in 0..cols {
                    to.add(col).write_unaligned(from.cast::<T>().read_unaligned());
                    from = from.wrapping_offset(bytes);
                }
            }
        }
    }
}

impl<T: Element> Routine for ScatterStrided<T> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise.
        unsafe {
            let [to, from, stride] = tiles.cast::<[Tile; 3]>().read();
            let ColumnStride { bytes } = stride.data.cast::<ColumnStride>().read_unaligned();
            for row in 0..rows {
                let (mut to, from) = (at(to, row), at(from, row).cast::<T>());
                for col in 0..cols {
                    to.cast::<T>().write_unaligned(from.add(col).read_unaligned());
                    to = to.wrapping_offset(bytes);
                }
            }
        }
    }
}

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
    /// All elements of both sides are there, and do not overlap.
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
                    let to_block = at(to, col).add(row * size_of::<B::T>());
                    let from_block = at(from, row).add(col * size_of::<B::T>());
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
                let value = at(from, row).cast::<T>().add(col).read_unaligned();
                at(to, col).cast::<T>().add(row).write_unaligned(value);
            }
        }
    }
}

/// A square of 8 by 8 elements of any width, as the compiler sees fit.
pub(crate) struct Plain<T>(PhantomData<T>);

impl<T: Element> Square for Plain<T> {
    type T = T;
    const SIDE: usize = 8;

    #[inline(always)]
    unsafe fn transpose(to: *mut u8, to_stride: isize, from: *const u8, from_stride: isize) {
        // SAFETY: the caller's promise.
        unsafe {
            let rows: [[T; 8]; 8] = std::array::from_fn(|row| {
                from.offset(from_stride * row as isize)
                    .cast::<[T; 8]>()
                    .read_unaligned()
            });
            for col in 0..8 {
                let column: [T; 8] = std::array::from_fn(|row| rows[row][col]);
                to.offset(to_stride * col as isize)
                    .cast::<[T; 8]>()
                    .write_unaligned(column);
            }
        }
    }
}
