//! How far results may be from the nearest value.

use artifact_ir::types::ElementType::{self, C64, C128, F32, F64};

use crate::op::{BinaryOp, TileOp, UnaryOp};

/// The largest distance of a result from the mathematical value, in units in the last place of the result's type: half a unit
/// where it is the nearest one. `None` for results that are no floats, and for moved ones.
#[must_use]
pub fn ulp_max(op: TileOp) -> Option<f32> {
    match op {
        TileOp::Unary(UnaryOp::Abs, C64 | C128) => Some(1.0),
        TileOp::Binary(BinaryOp::Divide, C64 | C128) => Some(2.0),
        TileOp::Unary(UnaryOp::Sqrt, _) => Some(0.5),
        TileOp::Unary(UnaryOp::Tanh, F32) => Some(2.2),
        TileOp::Unary(_, F32) => Some(2.0),
        TileOp::Unary(_, F64) => Some(3.0),
        TileOp::Unary(_, _) => Some(1.0),
        TileOp::Binary(BinaryOp::Power | BinaryOp::Atan2, F32) => Some(2.0),
        TileOp::Binary(BinaryOp::Power | BinaryOp::Atan2, F64) => Some(3.0),
        TileOp::Binary(BinaryOp::Power | BinaryOp::Atan2, ElementType::F16 | ElementType::BF16) => Some(1.0),
        _ => None,
    }
}
