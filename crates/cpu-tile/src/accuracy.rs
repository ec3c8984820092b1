//! How far results may be from the nearest value.

use artifact_ir::types::ElementType::{self, C64, C128, F32, F64};

use crate::op::{BinaryOp, TileOp, UnaryOp};

/// The largest distance of a result from the mathematical value, in units in the last place of the result's type, at any level:
/// half a unit where it is the nearest number. `None` for results that are no floats, for numbers that are moved or converted, and
/// for complex products, whose terms may cancel.
///
/// Tests check the bounds on samples, and on demand on every `f32` (`tests/routines/exhaustive.rs`).
#[must_use]
pub fn ulp_max(op: TileOp) -> Option<f32> {
    match op {
        TileOp::Unary(op, ty) => unary(op, ty),
        TileOp::Binary(op, ty) => binary(op, ty),
        TileOp::MultiplyAdd(_) => Some(0.5),
        _ => None,
    }
}

fn unary(op: UnaryOp, ty: ElementType) -> Option<f32> {
    if ty.is_complex() {
        return (op == UnaryOp::Abs).then_some(1.0);
    }
    if !ty.is_float() {
        return None;
    }
    Some(match op {
        UnaryOp::IsFinite | UnaryOp::IsInf | UnaryOp::IsNegInf | UnaryOp::IsPosInf => return None,
        UnaryOp::Abs
        | UnaryOp::Ceil
        | UnaryOp::Conj
        | UnaryOp::Floor
        | UnaryOp::Imag
        | UnaryOp::Negate
        | UnaryOp::Real
        | UnaryOp::RoundNearestAfz
        | UnaryOp::RoundNearestEven
        | UnaryOp::Sign
        | UnaryOp::Sqrt
        | UnaryOp::Square => 0.5,
        // XLA's expansion, which goes that far from the value, is followed.
        UnaryOp::Cosh | UnaryOp::Sinh if ty == F32 || ty == F64 => 8.0,
        op => match ty {
            F32 => single(op),
            F64 => double(op),
            // Of a narrower type, rounded from `f32`.
            _ => 0.6,
        },
    })
}

/// Functions of `f32`.
fn single(op: UnaryOp) -> f32 {
    match op {
        UnaryOp::Tanh => 1.7,
        UnaryOp::Logistic => 2.2,
        UnaryOp::Exponential => 1.0,
        UnaryOp::Log => 1.1,
        UnaryOp::Erf => 1.3,
        // Computed in `f64`.
        _ => 0.6,
    }
}

/// Functions of `f64`.
fn double(op: UnaryOp) -> f32 {
    match op {
        UnaryOp::Tanh => 4.0,
        UnaryOp::Exponential
        | UnaryOp::Log
        | UnaryOp::LogPlusOne
        | UnaryOp::Sine
        | UnaryOp::Cosine
        | UnaryOp::Rsqrt
        | UnaryOp::Cbrt => 1.0,
        _ => 3.0,
    }
}

fn binary(op: BinaryOp, ty: ElementType) -> Option<f32> {
    Some(match (op, ty) {
        (BinaryOp::Divide, C64 | C128) => 2.0,
        (BinaryOp::Multiply, C64 | C128) => return None,
        (BinaryOp::Power, F64) => 1.0,
        (BinaryOp::Atan2, F64) => 3.0,
        (BinaryOp::Power | BinaryOp::Atan2, _) if ty.is_float() => 0.6,
        (BinaryOp::Complex, _) => return None,
        _ if ty.is_float() || ty.is_complex() => 0.5,
        _ => return None,
    })
}
