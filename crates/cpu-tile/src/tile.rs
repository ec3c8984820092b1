//! What a routine is: its arguments, and the same body compiled for each level.

use std::mem::MaybeUninit;

/// A rectangle of elements in memory. Elements of a row lie next to each other; no alignment is promised.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// The first element of the first row.
    pub data: *mut u8,
    /// Distance between the beginnings of rows, in bytes; 0 for the same row each time.
    pub row_bytes: isize,
}

/// A routine. `tiles[0]` is the destination; sources follow, in the order in which the [`TileOp`](crate::TileOp) names them.
///
/// # Safety
/// * `tiles` points to as many tiles as the routine takes, each of `rows` rows of `cols` elements of the type that the routine
///   has for it, readable (the destination: writable), unless the routine's documentation says otherwise.
/// * The destination is exactly the same memory as a source with elements of the same width, or overlaps none.
/// * The processor has the [`Level`](crate::Level) of the table that the routine is from.
pub type TileFn = unsafe extern "C" fn(rows: usize, cols: usize, tiles: *const Tile);

/// A body, compiled once a level (`compile_here`).
pub(crate) trait Routine {
    /// Runs it; `PLAIN` as in [`element_boundary`]. Implementations are `#[inline(always)]`, so that they are compiled with the features of their caller.
    ///
    /// # Safety
    /// As [`TileFn`].
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile);
}

/// What stands in a loop over elements, for the compiler to take its steps one at a time if `PLAIN` says so. Portable
/// routines are plain on x86-64, where hardly any processor needs them, because compiling them takes half the time then.
#[inline(always)]
pub(crate) fn element_boundary<const PLAIN: bool>() {
    #[cfg(target_arch = "x86_64")]
    if PLAIN {
        // SAFETY: there is no instruction.
        unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) };
    }
}

/// The beginning of a row.
#[inline(always)]
pub(crate) fn row_at(tile: Tile, row: usize) -> *mut u8 {
    tile.data
        .wrapping_offset(tile.row_bytes.wrapping_mul(row as isize))
}

/// The tiles of a call, as one row if all of them are contiguous. `widths` are the sizes of their elements in bytes.
pub(crate) struct Rectangle<const N: usize> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    tiles: [Tile; N],
}

impl<const N: usize> Rectangle<N> {
    /// # Safety
    /// `tiles` points to `N` tiles.
    #[inline(always)]
    pub(crate) unsafe fn new(rows: usize, cols: usize, tiles: *const Tile, widths: [usize; N]) -> Self {
        // SAFETY: the caller's promise.
        let tiles = unsafe { tiles.cast::<[Tile; N]>().read() };
        let contiguous =
            (0..N).all(|index| tiles[index].row_bytes == (cols.wrapping_mul(widths[index])) as isize);
        let (rows, cols) = if contiguous {
            (rows.min(1), rows.wrapping_mul(cols))
        } else {
            (rows, cols)
        };
        Self { rows, cols, tiles }
    }

    /// The beginnings of a row in each tile.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize) -> [*mut u8; N] {
        self.tiles.map(|tile| row_at(tile, row))
    }
}

/// Room for a part of a source, from which a loop reads when its destination is the same memory: the compiler can then tell
/// that its writes do not change what it reads later.
pub(crate) struct Copied(MaybeUninit<[u8; Self::BYTES]>);

impl Copied {
    pub(crate) const BYTES: usize = 1024;

    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// A copy of `bytes` bytes at `source`.
    ///
    /// # Safety
    /// They are readable, and at most [`Self::BYTES`].
    #[inline(always)]
    pub(crate) unsafe fn copy(&mut self, source: *const u8, bytes: usize) -> *mut u8 {
        let buffer = self.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise; the buffer is ours.
        unsafe { buffer.copy_from_nonoverlapping(source, bytes) };
        buffer
    }
}
