//! Tile routines of the CPU engine: functions over a small rectangle of elements, which compiled kernels call through a table, and
//! the engine's driver directly.
//!
//! Invariants:
//! * A routine is a [`TileFn`]: rows, columns, tiles. It reads and writes its rectangles and nothing beside them, tails included.
//! * Every routine exists at every [`Level`], under the same id ([`TileOp::id`]).
//! * At one level, an element's bits depend on its operands alone: not on where it lies, nor on the shape of the tile.
//! * Reductions have a fixed order ([`TileOp::Reduce`]); nothing else is reassociated.
//! * Subnormal numbers are kept: no routine changes the processor's floating-point modes, and none may run with them changed.
//! * Functions are written once, for one element and without branches; the compiler turns them into vector instructions for each
//!   level. Instructions that it does not find by itself are written out in `avx512`.
//!
//! Entry points: [`TileOp::of`] for the routine of an operation, [`table`] for the functions.

#![expect(
    unsafe_code,
    reason = "routines work on memory that compiled code points to, and use instructions of named processors"
)]

mod accuracy;
mod arithmetic;
mod compare;
mod complex;
mod convert;
mod element;
#[cfg(target_arch = "x86_64")]
mod extreme;
mod level;
mod map;
mod math;
mod movement;
mod op;
mod reduce;
mod registry;
mod tile;
mod transpose;

pub use accuracy::ulp_max;
pub use level::Level;
pub use movement::{Affine, ColumnStride};
pub use op::{BinaryOp, CombineOp, Order, TileOp, UnaryOp, Width};
pub use reduce::LANES;
pub use registry::table;
pub use tile::{Tile, TileFn};
