//! Operations on real numbers, computed in `f64`. Results are rounded to their type by the caller.

use artifact_ir::float;
use artifact_ir::op::{Binary, Unary};
use artifact_ir::types::ElementType;

/// One operand; `None` if the operation does not give a number of the operand's type.
pub(super) fn unary(op: &Unary, x: f64) -> Option<f64> {
    Some(match op {
        Unary::Abs => x.abs(),
        Unary::Cbrt(_) => x.cbrt(),
        Unary::Ceil => x.ceil(),
        Unary::Cosine(_) => x.cos(),
        Unary::Exponential(_) => x.exp(),
        Unary::ExponentialMinusOne(_) => x.exp_m1(),
        Unary::Floor => x.floor(),
        Unary::Imag => 0.0,
        Unary::Log(_) => x.ln(),
        Unary::LogPlusOne(_) => x.ln_1p(),
        Unary::Logistic(_) => logistic(x),
        Unary::Negate => -x,
        Unary::Real => x,
        Unary::RoundNearestAfz => x.round(),
        Unary::RoundNearestEven => x.round_ties_even(),
        Unary::Rsqrt(_) => 1.0 / x.sqrt(),
        Unary::Sign => sign(x),
        Unary::Sine(_) => x.sin(),
        Unary::Sqrt(_) => x.sqrt(),
        Unary::Tan(_) => x.tan(),
        Unary::Tanh(_) => x.tanh(),
        Unary::CountLeadingZeros | Unary::IsFinite | Unary::Not | Unary::Popcnt => return None,
    })
}

/// Two operands; `None` if the operation is not defined for real numbers.
pub(super) fn binary(op: &Binary, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        Binary::Add => a + b,
        Binary::Atan2 => a.atan2(b),
        Binary::Divide => a / b,
        Binary::Maximum => maximum(a, b),
        Binary::Minimum => minimum(a, b),
        Binary::Multiply => a * b,
        Binary::Power => a.powf(b),
        // The sign of the dividend, and exact (C's `fmod`).
        Binary::Remainder => a % b,
        Binary::Subtract => a - b,
        Binary::And
        | Binary::Or
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => return None,
    })
}

/// Without the overflow of `e^-x`, which would make a result of 0 from a subnormal one.
fn logistic(x: f64) -> f64 {
    if x < 0.0 {
        let power = x.exp();
        power / (1.0 + power)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// -1, 1, or the zero or the NaN that came.
fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        x
    } else {
        1.0_f64.copysign(x)
    }
}

/// The larger number; NaN wins, and 0 is larger than -0.
pub(super) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        // Equal numbers differ in the sign of a zero at most.
        if a.is_sign_positive() { a } else { b }
    } else if a > b {
        a
    } else {
        b
    }
}

/// The smaller number; NaN wins, and -0 is smaller than 0.
pub(super) fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}

/// The neighbour of `x` in the direction of `y` in the format of `ty` (CHLO, "next_after").
pub(super) fn next_after(ty: ElementType, x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        return y;
    }
    let (Some(bits), Some(format)) = (float::encode(ty, x), ty.float_format()) else {
        return f64::NAN;
    };
    let sign_bit = if format.signed {
        1_u64 << (format.bits - 1)
    } else {
        0
    };
    let next = if x == 0.0 {
        // The smallest magnitude on the side of `y`.
        1 | if y < 0.0 { sign_bit } else { 0 }
    } else if (y > x) == (x > 0.0) {
        bits + 1
    } else {
        bits - 1
    };
    float::decode(ty, next).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes() {
        assert!(maximum(f64::NAN, 1.0).is_nan() && minimum(1.0, f64::NAN).is_nan());
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(maximum(a, b).is_sign_positive(), "{a} {b}");
            assert!(minimum(a, b).is_sign_negative(), "{a} {b}");
        }
    }

    #[test]
    fn functions() {
        let transcendental = || artifact_ir::op::Transcendental {
            result_accuracy: Default::default(),
        };
        for (op, x, expected) in [
            (Unary::Logistic(transcendental()), -740.0, (-740.0_f64).exp()),
            (Unary::RoundNearestAfz, 2.5, 3.0),
            (Unary::RoundNearestEven, 2.5, 2.0),
            (Unary::Sign, -0.0, -0.0),
            (Unary::Rsqrt(transcendental()), 0.0, f64::INFINITY),
        ] {
            assert_eq!(
                unary(&op, x).map(f64::to_bits),
                Some(expected.to_bits()),
                "{op:?} {x}"
            );
        }
    }

    #[test]
    fn neighbours() {
        for (ty, x, y, expected) in [
            (ElementType::F32, 1.0, 2.0, f64::from(1.0_f32.next_up())),
            (ElementType::F32, -1.0, 2.0, f64::from((-1.0_f32).next_up())),
            (ElementType::F64, 0.0, -1.0, -5e-324),
            (ElementType::BF16, 1.0, 0.0, 0.996_093_75),
            (ElementType::F16, 65504.0, f64::INFINITY, f64::INFINITY),
            (ElementType::F32, 5.0, 5.0, 5.0),
        ] {
            assert_eq!(next_after(ty, x, y), expected, "{ty} {x} {y}");
        }
    }
}
