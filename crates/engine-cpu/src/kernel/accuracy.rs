//! The accuracy that operations ask for (spec, `result_accuracy`), and the one that routines have.

use artifact_cpu_tile::{TileOp, ulp_max};
use artifact_ir::attribute::{ResultAccuracy, ResultAccuracyMode};
use artifact_ir::op::{Op, Transcendental, Unary};
use artifact_ir::types::ElementType;

/// Whether a routine is as accurate as an operation asks. Any of its tolerances will do. What asks for the highest accuracy gets
/// the routine too: there is none that is quicker and less accurate.
pub(super) fn is_accurate(op: &Op, routine: TileOp, result: ElementType) -> bool {
    let Some(Transcendental { result_accuracy }) = transcendental(op) else {
        return true;
    };
    let ResultAccuracy {
        atol_bits: _,
        rtol_bits,
        ulps,
        mode,
    } = result_accuracy;
    if *mode != ResultAccuracyMode::Tolerance {
        return true;
    }
    let Some(bound) = ulp_max(routine).map(f64::from) else {
        // Nothing is promised of it.
        return false;
    };
    // A unit in the last place is at most so much of a number.
    let unit = match result.part() {
        ElementType::F64 => f64::EPSILON,
        ElementType::F32 => f64::from(f32::EPSILON),
        ElementType::F16 => 2_f64.powi(-10),
        ElementType::BF16 => 2_f64.powi(-7),
        _ => return false,
    };
    bound <= *ulps as f64 || bound * unit <= f64::from_bits(*rtol_bits)
}

const fn transcendental(op: &Op) -> Option<&Transcendental> {
    let Op::Unary(op) = op else { return None };
    match op {
        Unary::Cbrt(own)
        | Unary::Cosine(own)
        | Unary::Exponential(own)
        | Unary::ExponentialMinusOne(own)
        | Unary::Log(own)
        | Unary::LogPlusOne(own)
        | Unary::Logistic(own)
        | Unary::Rsqrt(own)
        | Unary::Sine(own)
        | Unary::Sqrt(own)
        | Unary::Tan(own)
        | Unary::Tanh(own) => Some(own),
        _ => None,
    }
}
