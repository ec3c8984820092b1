//! Loops over elements: a function of the elements at one place of the sources gives the one of the destination.
//!
//! [`Zip1`], [`Zip2`] and [`Zip3`] leave it to the compiler how many elements to take at once, which pays for cheap functions.
//! [`Block1`] and [`Block2`] always take [`BLOCK`] elements, padded at the end of a row, so that an expensive function is never
//! computed one element at a time; they are for branch-free functions.

use std::marker::PhantomData;

use crate::element::Element;
use crate::tile::{Copied, Rectangle, Routine, Tile, element_boundary};

/// A function of one element.
pub(crate) trait Map1 {
    type In: Element;
    type Out: Element;

    fn apply(x: Self::In) -> Self::Out;
}

/// A function of two elements.
pub(crate) trait Map2 {
    type In: Element;
    type Out: Element;

    fn apply(a: Self::In, b: Self::In) -> Self::Out;
}

/// A function of three elements.
pub(crate) trait Map3 {
    type First: Element;
    type In: Element;
    type Out: Element;

    fn apply(a: Self::First, b: Self::In, c: Self::In) -> Self::Out;
}

/// `tiles[0][r][c] = apply(tiles[1][r][c])`.
pub(crate) struct Zip1<F>(PhantomData<F>);

/// `tiles[0][r][c] = apply(tiles[1][r][c], tiles[2][r][c])`.
pub(crate) struct Zip2<F>(PhantomData<F>);

/// `tiles[0][r][c] = apply(tiles[1][r][c], tiles[2][r][c], tiles[3][r][c])`.
pub(crate) struct Zip3<F>(PhantomData<F>);

/// Reads the element at `index` of a row.
///
/// # Safety
/// It is there.
#[inline(always)]
unsafe fn read<T: Copy>(row: *const u8, index: usize) -> T {
    // SAFETY: the caller's promise.
    unsafe { row.cast::<T>().add(index).read_unaligned() }
}

/// Writes the element at `index` of a row.
///
/// # Safety
/// There is room for it.
#[inline(always)]
unsafe fn write<T: Copy>(row: *mut u8, index: usize, value: T) {
    // SAFETY: the caller's promise.
    unsafe { row.cast::<T>().add(index).write_unaligned(value) }
}

/// Goes through a row in parts: all of it at once, or, where the destination is also a source, as much as is copied first. `part`
/// gets the number of elements, the destination and the sources, none of which is the destination.
///
/// # Safety
/// The rows are as [`TileFn`](crate::TileFn) says, of `cols` elements of `widths` bytes.
#[inline(always)]
unsafe fn in_parts<const N: usize>(
    cols: usize,
    rows: [*mut u8; N],
    widths: [usize; N],
    part: impl Fn(usize, [*mut u8; N]),
) {
    let is_in_place = (1..N).any(|index| rows[index] == rows[0]);
    let widest = widths.into_iter().fold(1, usize::max);
    let step = if is_in_place { Copied::BYTES / widest } else { cols };
    let mut buffers = [const { Copied::new() }; N];
    let mut from = 0;
    while from < cols {
        let count = step.min(cols - from);
        let mut at = rows;
        for index in 0..N {
            at[index] = rows[index].wrapping_add(from * widths[index]);
        }
        for index in 1..N {
            if rows[index] == rows[0] {
                // SAFETY: the elements are there, and `step` of them fit.
                at[index] = unsafe { buffers[index].copy(at[index], count * widths[index]) };
            }
        }
        part(count, at);
        from += count;
    }
}

impl<F: Map1> Routine for Zip1<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        let widths = [size_of::<F::Out>(), size_of::<F::In>()];
        // SAFETY: the caller's promise, for this and the accesses below, which stay within `cols` elements of a row.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, widths);
            for row in 0..rectangle.rows {
                in_parts(rectangle.cols, rectangle.row(row), widths, |count, [to, a]| {
                    for index in 0..count {
                        element_boundary::<PLAIN>();
                        write(to, index, F::apply(read(a, index)));
                    }
                });
            }
        }
    }
}

impl<F: Map2> Routine for Zip2<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        let width = size_of::<F::In>();
        let widths = [size_of::<F::Out>(), width, width];
        // SAFETY: as in `Zip1`.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, widths);
            for row in 0..rectangle.rows {
                in_parts(rectangle.cols, rectangle.row(row), widths, |count, [to, a, b]| {
                    for index in 0..count {
                        element_boundary::<PLAIN>();
                        write(to, index, F::apply(read(a, index), read(b, index)));
                    }
                });
            }
        }
    }
}

impl<F: Map3> Routine for Zip3<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        let width = size_of::<F::In>();
        let widths = [size_of::<F::Out>(), size_of::<F::First>(), width, width];
        // SAFETY: as in `Zip1`.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, widths);
            for row in 0..rectangle.rows {
                in_parts(
                    rectangle.cols,
                    rectangle.row(row),
                    widths,
                    |count, [to, a, b, c]| {
                        for index in 0..count {
                            element_boundary::<PLAIN>();
                            write(
                                to,
                                index,
                                F::apply(read(a, index), read(b, index), read(c, index)),
                            );
                        }
                    },
                );
            }
        }
    }
}

/// Elements that are computed together by [`Block1`] and [`Block2`].
pub(crate) const BLOCK: usize = 32;

/// A branch-free function of one number, which the compiler is meant to turn into vector instructions. Arguments that would cost
/// all others too much may be left to `rare`, which is called for one of them at a time.
pub(crate) trait Function1 {
    type T: Element;

    /// The value for any argument that is not rare; anything for a rare one.
    fn usual(x: Self::T) -> Self::T;

    /// Whether `rare` is to be asked.
    #[inline(always)]
    fn is_rare(_x: Self::T) -> bool {
        false
    }

    /// The value for a rare argument.
    #[inline(always)]
    fn rare(x: Self::T) -> Self::T {
        x
    }
}

/// As [`Function1`], of two numbers.
pub(crate) trait Function2 {
    type T: Element;

    /// The value for any arguments.
    fn usual(a: Self::T, b: Self::T) -> Self::T;
}

/// As [`Zip1`], for expensive functions.
pub(crate) struct Block1<F>(PhantomData<F>);

/// As [`Zip2`], for expensive functions.
pub(crate) struct Block2<F>(PhantomData<F>);

/// Reads `count` elements, at most a block; what is missing is 0.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn read_block<T: Element>(row: *const u8, from: usize, count: usize) -> [T; BLOCK] {
    let row = row.cast::<T>().wrapping_add(from);
    if count == BLOCK {
        // SAFETY: the caller's promise.
        unsafe { row.cast::<[T; BLOCK]>().read_unaligned() }
    } else {
        // SAFETY: every element type has an element of zero bytes; the rest is the caller's promise.
        unsafe {
            let mut block = std::mem::zeroed::<[T; BLOCK]>();
            block
                .as_mut_ptr()
                .cast::<u8>()
                .copy_from_nonoverlapping(row.cast(), count * size_of::<T>());
            block
        }
    }
}

/// Writes the first `count` elements of a block.
///
/// # Safety
/// There is room for them.
#[inline(always)]
unsafe fn write_block<T: Element>(row: *mut u8, from: usize, count: usize, block: &[T; BLOCK]) {
    let row = row.cast::<T>().wrapping_add(from);
    // SAFETY: the caller's promise.
    unsafe {
        if count == BLOCK {
            row.cast::<[T; BLOCK]>().write_unaligned(*block);
        } else {
            row.cast::<u8>()
                .copy_from_nonoverlapping(block.as_ptr().cast(), count * size_of::<T>());
        }
    }
}

impl<F: Function1> Routine for Block1<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        let width = size_of::<F::T>();
        // SAFETY: as in `Zip1`.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, [width; 2]);
            for row in 0..rectangle.rows {
                let [to, a] = rectangle.row(row);
                let mut from = 0;
                while from < rectangle.cols {
                    let count = BLOCK.min(rectangle.cols - from);
                    let x = read_block::<F::T>(a, from, count);
                    let mut y = x;
                    for index in 0..BLOCK {
                        element_boundary::<PLAIN>();
                        y[index] = F::usual(x[index]);
                    }
                    let rare = x.iter().fold(false, |any, x| any | F::is_rare(*x));
                    if rare {
                        for index in 0..BLOCK {
                            if F::is_rare(x[index]) {
                                y[index] = F::rare(x[index]);
                            }
                        }
                    }
                    write_block(to, from, count, &y);
                    from += count;
                }
            }
        }
    }
}

impl<F: Function2> Routine for Block2<F> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        let width = size_of::<F::T>();
        // SAFETY: as in `Zip1`.
        unsafe {
            let rectangle = Rectangle::new(rows, cols, tiles, [width; 3]);
            for row in 0..rectangle.rows {
                let [to, a, b] = rectangle.row(row);
                let mut from = 0;
                while from < rectangle.cols {
                    let count = BLOCK.min(rectangle.cols - from);
                    let a = read_block::<F::T>(a, from, count);
                    let b = read_block::<F::T>(b, from, count);
                    let mut y = a;
                    for index in 0..BLOCK {
                        element_boundary::<PLAIN>();
                        y[index] = F::usual(a[index], b[index]);
                    }
                    write_block(to, from, count, &y);
                    from += count;
                }
            }
        }
    }
}
