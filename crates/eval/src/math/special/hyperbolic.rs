//! Hyperbolic functions of real numbers and their inverses, without overflow or cancellation.

use artifact_ir::float::round_to;
use artifact_ir::types::ElementType;

/// Inverse hyperbolic cosine; not a number below 1.
pub(in crate::math) fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if x > 1e9 {
        x.ln() + std::f64::consts::LN_2
    } else {
        let above = x - 1.0;
        (above + (above * (above + 2.0)).sqrt()).ln_1p()
    }
}

/// Inverse hyperbolic sine.
pub(in crate::math) fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let value = if magnitude > 1e9 {
        magnitude.ln() + std::f64::consts::LN_2
    } else {
        let square = magnitude * magnitude;
        (magnitude + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    value.copysign(x)
}

/// Inverse hyperbolic tangent; infinite at 1 and -1 and not a number beyond.
pub(in crate::math) fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    (0.5 * (2.0 * magnitude / (1.0 - magnitude)).ln_1p()).copysign(x)
}

/// How far XLA's expansion of hyperbolic sine and cosine goes from the nearest value: it adds the logarithm of one half to the
/// argument, in the argument's own precision. Its results are kept for `f32` and `f64`; narrower types are computed wide.
fn half_exp(ty: ElementType, x: f64) -> f64 {
    let round = |value| round_to(ty, value);
    round(round(x + round(-std::f64::consts::LN_2)).exp())
}

const fn is_expanded(ty: ElementType) -> bool {
    matches!(ty, ElementType::F32 | ElementType::F64)
}

/// Hyperbolic cosine: half of `e^x` plus half of `e^-x`, each rounded to `ty`.
pub(in crate::math) fn cosh(ty: ElementType, x: f64) -> f64 {
    if is_expanded(ty) {
        half_exp(ty, x) + half_exp(ty, -x)
    } else {
        x.cosh()
    }
}

/// Hyperbolic sine: as [`cosh`] from 1 on, and by `e^x - 1` below.
pub(in crate::math) fn sinh(ty: ElementType, x: f64) -> f64 {
    if is_expanded(ty) && x.abs() >= 1.0 {
        half_exp(ty, x) - half_exp(ty, -x)
    } else {
        x.sinh()
    }
}
