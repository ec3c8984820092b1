//! Reduction in a fixed order. The elements of a segment go to 16 lanes in turn, and the lanes are combined as a tree, so that a
//! result does not depend on how the work was cut into tiles, on the level, or on what the processor likes best.

use std::marker::PhantomData;

use crate::arithmetic::{Bits, Number};
use crate::element::Element;
use crate::tile::{Routine, Tile, element_boundary, row_at};

/// Lanes of a segment.
pub const LANES: usize = 16;

/// An associative operation on elements, in name at least.
pub(crate) trait Combine {
    type T: Element;

    /// What changes no element.
    const IDENTITY: Self::T;

    fn combine(a: Self::T, b: Self::T) -> Self::T;
}

macro_rules! combiners {
    ($($trait:ident: $name:ident = $method:ident, $identity:ident;)*) => {$(
        /// The operation of a reduction.
        pub(crate) struct $name<T>(PhantomData<T>);

        impl<T: $trait> Combine for $name<T> {
            type T = T;
            const IDENTITY: T = T::$identity;

            #[inline(always)]
            fn combine(a: T, b: T) -> T {
                $trait::$method(a, b)
            }
        }
    )*};
}

combiners! {
    Number: Sum = add, ADD;
    Number: Product = multiply, MULTIPLY;
    Number: Greatest = maximum, MAXIMUM;
    Number: Least = minimum, MINIMUM;
    Bits: All = and, ONES;
    Bits: Any = or, ZERO;
    Bits: Parity = xor, ZERO;
}

/// `tiles[0][r]` are the 16 lanes of a row; column `c` of `tiles[1][r]` goes to lane `c` mod 16.
pub(crate) struct Reduce<C>(PhantomData<C>);

/// `tiles[0][r]` are the 16 lanes of a row, which become the identity. Columns are not looked at.
pub(crate) struct LanesInit<C>(PhantomData<C>);

/// `tiles[0][r]` is one element, of the 16 lanes `tiles[1][r]` combined. Columns are not looked at.
pub(crate) struct LanesCombine<C>(PhantomData<C>);

/// Asks for what comes some cache lines later, which the processor itself does not where a page ends.
#[inline(always)]
fn fetch_ahead(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const AHEAD_BYTES: usize = 4 << 10;
        // SAFETY: every x86-64 processor has the instruction, and no address is wrong for it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(AHEAD_BYTES).cast()) };
    }
}

impl<C: Combine> Routine for Reduce<C> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise: 16 lanes and `cols` elements a row.
        unsafe {
            let [lanes_tile, from] = tiles.cast::<[Tile; 2]>().read();
            for row in 0..rows {
                let home = row_at(lanes_tile, row).cast::<[C::T; LANES]>();
                let from = row_at(from, row).cast::<C::T>();
                let mut lanes = home.read_unaligned();
                let full = cols / LANES * LANES;
                for col in (0..full).step_by(LANES) {
                    // One step of all lanes at a time: to take several steps of one lane instead costs many times as much.
                    element_boundary::<true>();
                    let elements = from.add(col).cast::<[C::T; LANES]>().read_unaligned();
                    fetch_ahead(from.add(col).cast());
                    for lane in 0..LANES {
                        element_boundary::<PLAIN>();
                        lanes[lane] = C::combine(lanes[lane], elements[lane]);
                    }
                }
                for col in full..cols {
                    lanes[col - full] = C::combine(lanes[col - full], from.add(col).read_unaligned());
                }
                home.write_unaligned(lanes);
            }
        }
    }
}

impl<C: Combine> Routine for LanesInit<C> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, _cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise.
        unsafe {
            let lanes = tiles.read();
            for row in 0..rows {
                row_at(lanes, row)
                    .cast::<[C::T; LANES]>()
                    .write_unaligned([C::IDENTITY; LANES]);
            }
        }
    }
}

impl<C: Combine> Routine for LanesCombine<C> {
    #[inline(always)]
    unsafe fn run<const PLAIN: bool>(rows: usize, _cols: usize, tiles: *const Tile) {
        // SAFETY: the caller's promise.
        unsafe {
            let [to, lanes] = tiles.cast::<[Tile; 2]>().read();
            for row in 0..rows {
                let mut lanes = row_at(lanes, row).cast::<[C::T; LANES]>().read_unaligned();
                let mut width = LANES / 2;
                while width > 0 {
                    for lane in 0..width {
                        element_boundary::<PLAIN>();
                        lanes[lane] = C::combine(lanes[lane], lanes[lane + width]);
                    }
                    width /= 2;
                }
                row_at(to, row).cast::<C::T>().write_unaligned(lanes[0]);
            }
        }
    }
}
