//! How far results may be from the nearest value.

use artifact_ir::types::ElementType::{C64, C128};

use crate::op::{BinaryOp, TileOp, UnaryOp};

/// The largest distance of a result from the mathematical value, in units in the last place of the result's type: half a unit
/// where it is the nearest one. `None` for results that are no floats, and for moved ones.
#[must_use]
pub fn ulp_max(op: TileOp) -> Option<f32> {
    match op {
        TileOp::Unary(UnaryOp::Abs, C64 | C128) => Some(1.0),
        TileOp::Binary(BinaryOp::Divide, C64 | C128) => Some(2.0),
        _ => None,
    }
}
