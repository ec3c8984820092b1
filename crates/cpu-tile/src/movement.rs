//! Routines that move elements without looking at them, and the one that counts. `T` is any type of the elements' width.

use std::marker::PhantomData;

use crate::convert::ConvertTo;
use crate::element::Element;
use crate::map::Map1;
use crate::tile::{Routine, Tile, element_boundary, row_at};

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
                let value = row_at(from, row).cast::<T>();
                if cols > 0 {
                    let value = value.read_unaligned();
                    let to = row_at(to, row).cast::<T>();
                    for col in 0..cols {
                        element_boundary::<PLAIN>();
                        to.add(col).write_unaligned(value);
                    }
                }
            }
        }
    }
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
                let to = row_at(to, row).cast::<T>();
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
                let (to, mut from) = (row_at(to, row).cast::<T>(), row_at(from, row));
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
                let (mut to, from) = (row_at(to, row), row_at(from, row).cast::<T>());
                for col in 0..cols {
                    to.cast::<T>().write_unaligned(from.add(col).read_unaligned());
                    to = to.wrapping_offset(bytes);
                }
            }
        }
    }
}
