//! The one matrix product that the routines call, in one thread over strided operands.
//!
//! Everything that multiplies matrices comes here, so that another kernel needs to be written once. A product is cut along its
//! depth into pieces of [`DEPTH`] that are added in order. The `gemm` crate cuts along the depth by the sizes of the machine's
//! caches, but never into less than this: so bits depend on the level of the machine and on the sizes alone.

use artifact_ir::types::ElementType;
use gemm::Parallelism;

use crate::level::leveled;
use crate::number::{Number, Truth, c32, c64};

/// Depth of a product that is summed without storing. The `gemm` crate would cut a deeper one.
const DEPTH: usize = 512;

/// Products of no more multiplications are done by plain loops: the `gemm` crate takes longer to begin.
const PLAIN: usize = 1024;

/// The arithmetic of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    F32,
    F64,
    C64,
    C128,
    /// Modulo 2^8, 2^16, 2^32 or 2^64.
    Integer8,
    Integer16,
    Integer32,
    Integer64,
    /// `or` of `and`s.
    Boolean,
}

impl Arithmetic {
    /// The arithmetic in which sums of a type are made.
    pub(crate) const fn of(element: ElementType) -> Option<Self> {
        Some(match element {
            ElementType::F64 => Self::F64,
            ElementType::C64 => Self::C64,
            ElementType::C128 => Self::C128,
            ElementType::I1 => Self::Boolean,
            float if float.is_float() => Self::F32,
            integer if integer.is_integer() => match integer.bytes() {
                1 => Self::Integer8,
                2 => Self::Integer16,
                4 => Self::Integer32,
                _ => Self::Integer64,
            },
            _ => return None,
        })
    }

    /// The type that a number of it is held in.
    pub(crate) const fn element(self) -> ElementType {
        match self {
            Self::F32 => ElementType::F32,
            Self::F64 => ElementType::F64,
            Self::C64 => ElementType::C64,
            Self::C128 => ElementType::C128,
            Self::Integer8 => ElementType::UI8,
            Self::Integer16 => ElementType::UI16,
            Self::Integer32 => ElementType::UI32,
            Self::Integer64 => ElementType::UI64,
            Self::Boolean => ElementType::I1,
        }
    }
}

/// A factor of a product: its first element and the steps to the next row and column in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) data: *const u8,
    pub(crate) row_step: isize,
    pub(crate) column_step: isize,
}

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub(crate) data: *mut u8,
    pub(crate) row_step: isize,
    pub(crate) column_step: isize,
}

/// Sizes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) depth: usize,
}

/// What becomes of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Added to what is there, else put in its place.
    pub(crate) accumulate: bool,
    /// Subtracted instead of added. Floating-point and complex only.
    pub(crate) negate: bool,
    /// The left factor is conjugated, and the right one.
    pub(crate) conjugate: [bool; 2],
}

/// `out = lhs * rhs`, or as `mode` says.
///
/// # Safety
/// The factors may be read and the sum written, as far as `sizes` go; the sum overlaps neither and, if it is accumulated, is
/// initialised. All are of the arithmetic's element, and every step is a multiple of its width.
pub(crate) unsafe fn multiply(
    arithmetic: Arithmetic,
    sizes: Sizes,
    lhs: Factor,
    rhs: Factor,
    out: Sum,
    mode: Mode,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match arithmetic {
            Arithmetic::F32 => floating::<f32>(sizes, lhs, rhs, out, mode, [1.0, -1.0]),
            Arithmetic::F64 => floating::<f64>(sizes, lhs, rhs, out, mode, [1.0, -1.0]),
            Arithmetic::C64 => {
                floating::<c32>(
                    sizes,
                    lhs,
                    rhs,
                    out,
                    mode,
                    [1.0, -1.0].map(|re| c32 { re, im: 0.0 }),
                );
            }
            Arithmetic::C128 => {
                floating::<c64>(
                    sizes,
                    lhs,
                    rhs,
                    out,
                    mode,
                    [1.0, -1.0].map(|re| c64 { re, im: 0.0 }),
                );
            }
            Arithmetic::Integer8 => plain::<u8>(sizes, lhs, rhs, out, mode.accumulate),
            Arithmetic::Integer16 => plain::<u16>(sizes, lhs, rhs, out, mode.accumulate),
            Arithmetic::Integer32 => plain::<u32>(sizes, lhs, rhs, out, mode.accumulate),
            Arithmetic::Integer64 => plain::<u64>(sizes, lhs, rhs, out, mode.accumulate),
            Arithmetic::Boolean => plain::<Truth>(sizes, lhs, rhs, out, mode.accumulate),
        }
    }
}

/// # Safety
/// As for [`multiply`], with `T` the type of the elements.
unsafe fn floating<T: Number>(
    sizes: Sizes,
    lhs: Factor,
    rhs: Factor,
    out: Sum,
    mode: Mode,
    [one, minus_one]: [T; 2],
) {
    let Sizes { rows, columns, depth } = sizes;
    let tiny = rows.saturating_mul(columns).saturating_mul(depth) <= PLAIN;
    // Of so few products `gemm` takes the first for the sum, so that -0 stays what it is, and does not become 0 as in a longer sum.
    let shallow = depth <= 2;
    if depth == 0 || (tiny || shallow) && !mode.negate && mode.conjugate == [false; 2] {
        // SAFETY: the caller's promise.
        return unsafe { plain::<T>(sizes, lhs, rhs, out, mode.accumulate) };
    }
    let width = size_of::<T>() as isize;
    let mut at = 0;
    while at < depth {
        let piece = DEPTH.min(depth - at);
        let offset = at as isize;
        // SAFETY: the caller's promise.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                piece,
                out.data.cast::<T>(),
                out.column_step / width,
                out.row_step / width,
                mode.accumulate || at > 0,
                lhs.data.wrapping_offset(offset * lhs.column_step).cast::<T>(),
                lhs.column_step / width,
                lhs.row_step / width,
                rhs.data.wrapping_offset(offset * rhs.row_step).cast::<T>(),
                rhs.column_step / width,
                rhs.row_step / width,
                one,
                if mode.negate { minus_one } else { one },
                false,
                mode.conjugate[0],
                mode.conjugate[1],
                Parallelism::None,
            );
        }
        at += piece;
    }
}

/// Plain loops over blocks whose sums stay in registers and the first cache.
///
/// # Safety
/// As for [`multiply`], with `T` the type of the elements.
unsafe fn plain<T: Number>(sizes: Sizes, lhs: Factor, rhs: Factor, out: Sum, accumulate: bool) {
    leveled! {
        fn blocks[T: Number](sizes: Sizes, lhs: Factor, rhs: Factor, out: Sum, accumulate: bool) {
            for row in (0..sizes.rows).step_by(BLOCK_ROWS) {
                for column in (0..sizes.columns).step_by(BLOCK_COLUMNS) {
                    let block = Sizes {
                        rows: BLOCK_ROWS.min(sizes.rows - row),
                        columns: BLOCK_COLUMNS.min(sizes.columns - column),
                        depth: sizes.depth,
                    };
                    let (row, column) = (row as isize, column as isize);
                    let lhs = Factor { data: lhs.data.wrapping_offset(row * lhs.row_step), ..lhs };
                    let rhs = Factor { data: rhs.data.wrapping_offset(column * rhs.column_step), ..rhs };
                    let start = row * out.row_step + column * out.column_step;
                    let out = Sum { data: out.data.wrapping_offset(start), ..out };
                    // SAFETY: a block within the sizes of the caller of `plain`.
                    unsafe { block_of::<T>(block, lhs, rhs, out, accumulate) };
                }
            }
        }
    }
    blocks::<T>(sizes, lhs, rhs, out, accumulate);
}

const BLOCK_ROWS: usize = 4;
const BLOCK_COLUMNS: usize = 32;

/// # Safety
/// As for [`multiply`], with `T` the type of the elements, and no more than a block of rows and columns.
#[inline(always)]
unsafe fn block_of<T: Number>(sizes: Sizes, lhs: Factor, rhs: Factor, out: Sum, accumulate: bool) {
    let mut sums = [[T::ZERO; BLOCK_COLUMNS]; BLOCK_ROWS];
    let width = size_of::<T>() as isize;
    let whole = sizes.rows == BLOCK_ROWS && sizes.columns == BLOCK_COLUMNS && rhs.column_step == width;
    for depth in 0..sizes.depth as isize {
        let left = lhs.data.wrapping_offset(depth * lhs.column_step);
        let right = rhs.data.wrapping_offset(depth * rhs.row_step);
        // SAFETY: the caller's promise.
        let at =
            |data: *const u8, step: isize| unsafe { data.wrapping_offset(step).cast::<T>().read_unaligned() };
        if whole {
            // Fixed sizes, which become vector code.
            for (row, sums) in sums.iter_mut().enumerate() {
                let factor = at(left, row as isize * lhs.row_step);
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.plus(factor.times(at(right, column as isize * width)));
                }
            }
            continue;
        }
        for (row, sums) in sums.iter_mut().enumerate().take(sizes.rows) {
            let factor = at(left, row as isize * lhs.row_step);
            for (column, sum) in sums.iter_mut().enumerate().take(sizes.columns) {
                *sum = sum.plus(factor.times(at(right, column as isize * rhs.column_step)));
            }
        }
    }
    for (row, sums) in sums.iter().enumerate().take(sizes.rows) {
        for (column, sum) in sums.iter().enumerate().take(sizes.columns) {
            let start = row as isize * out.row_step + column as isize * out.column_step;
            let to = out.data.wrapping_offset(start).cast::<T>();
            // SAFETY: the caller's promise.
            unsafe {
                let value = if accumulate {
                    to.read_unaligned().plus(*sum)
                } else {
                    *sum
                };
                to.write_unaligned(value);
            }
        }
    }
}
