//! Conversion of one element to another type (spec, "convert").
//!
//! Where the specification leaves a result open, it is XLA's: a float that does not fit an integer becomes the nearest value
//! that does, and NaN becomes 0. Whatever becomes a float is rounded once, from its exact value.

use artifact_ir::float::encode;
use artifact_ir::types::{ElementClass, ElementType};

use crate::scalar::Scalar;

/// The value in type `to`, not yet rounded or wrapped where encoding does that.
pub(super) fn convert(value: Scalar, to: ElementType) -> Scalar {
    match to.class() {
        ElementClass::Boolean => Scalar::Bool(to_bool(value)),
        ElementClass::SignedInteger | ElementClass::UnsignedInteger => Scalar::Int(to_integer(value, to)),
        ElementClass::Float => Scalar::Float(to_float(value, to)),
        ElementClass::Complex => match value {
            Scalar::Complex(..) => value,
            real => Scalar::Complex(to_float(real, to.part()), 0.0),
        },
    }
}

/// Whether it is not 0; of a complex number, the real part counts.
fn to_bool(value: Scalar) -> bool {
    match value {
        Scalar::Bool(value) => value,
        Scalar::Int(value) => value != 0,
        Scalar::Float(value) | Scalar::Complex(value, _) => value != 0.0,
    }
}

fn to_integer(value: Scalar, to: ElementType) -> i128 {
    match value {
        Scalar::Bool(value) => i128::from(value),
        Scalar::Int(value) => value,
        Scalar::Float(value) | Scalar::Complex(value, _) => {
            let bits = to.bits();
            let (least, greatest) = if to.is_signed_integer() {
                (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
            } else {
                (0, (1_i128 << bits) - 1)
            };
            // The cast truncates, saturates far outside, and makes 0 of NaN.
            (value as i128).clamp(least, greatest)
        }
    }
}

fn to_float(value: Scalar, to: ElementType) -> f64 {
    match value {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) if to == ElementType::F64 => value as f64,
        Scalar::Int(value) => round_to_odd(value),
        Scalar::Float(value) | Scalar::Complex(value, _) => value,
    }
}

/// The `f64` next to an integer towards 0 whose last bit is set if it is not exact. To round it again to a format at least two
/// bits narrower gives what rounding the integer itself would give (Boldo and Melquiond, 2008).
fn round_to_odd(value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let extra = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> extra;
    let odd = if kept << extra == magnitude {
        kept
    } else {
        kept | 1
    };
    let result = (odd << extra) as f64;
    if value < 0 { -result } else { result }
}

/// `value` rounded to a format with some exponent and mantissa bits, and then to `ty` (spec, "reduce_precision").
///
/// The mantissa is rounded to nearest, ties to even; then what is beyond the largest exponent becomes infinite and what is
/// below the smallest becomes 0: the format has no subnormal numbers. Without mantissa bits, NaN becomes infinite.
pub(super) fn reduce_precision(ty: ElementType, value: f64, exponent_bits: u32, mantissa_bits: u32) -> f64 {
    let Some(format) = ty.float_format() else {
        return value;
    };
    if value.is_nan() {
        return if mantissa_bits > 0 { value } else { f64::INFINITY };
    }
    if value.is_infinite() || value == 0.0 {
        return value;
    }
    let rounded = if mantissa_bits < format.mantissa_bits {
        round_mantissa(ty, value, format.mantissa_bits - mantissa_bits)
    } else {
        value
    };
    if exponent_bits >= format.exponent_bits {
        return rounded;
    }
    let largest_exponent = (1_i32 << (exponent_bits.max(1) - 1)) - 1;
    if rounded.abs() >= exp2(largest_exponent + 1) {
        f64::INFINITY.copysign(value)
    } else if rounded.abs() < exp2(1 - largest_exponent) {
        0.0_f64.copysign(value)
    } else {
        rounded
    }
}

/// Rounds the lowest bits of an encoding away. A carry into the exponent is right by itself.
fn round_mantissa(ty: ElementType, value: f64, dropped: u32) -> f64 {
    let Some(bits) = encode(ty, value) else {
        return value;
    };
    let unit = 1_u64 << dropped;
    let odd = u64::from(bits & unit != 0);
    let rounded = (bits + (unit / 2 - 1) + odd) & !(unit - 1);
    artifact_ir::float::decode(ty, rounded).unwrap_or(value)
}

fn exp2(exponent: i32) -> f64 {
    super::scaling::scale(1.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::{BF16, C64, F8E4M3FN, F16, F32, F64, I1, I8, I64, UI4, UI8};

    fn check(value: Scalar, to: ElementType, expected: Scalar) {
        let mut bytes = Vec::new();
        convert(value, to).encode(to, &mut bytes);
        assert_eq!(Scalar::decode(to, &bytes), expected, "{value:?} to {to}");
    }

    #[test]
    fn conversions() {
        check(Scalar::Float(300.0), I8, Scalar::Int(127));
        check(Scalar::Float(-1.0), UI8, Scalar::Int(0));
        check(Scalar::Float(f64::NAN), I64, Scalar::Int(0));
        check(Scalar::Float(f64::INFINITY), I64, Scalar::Int(i64::MAX.into()));
        check(Scalar::Float(-2.9), I8, Scalar::Int(-2));
        check(Scalar::Int(300), I8, Scalar::Int(44));
        check(Scalar::Int(-1), UI4, Scalar::Int(15));
        check(Scalar::Complex(0.0, 1.0), I1, Scalar::Bool(false));
        check(Scalar::Float(f64::NAN), I1, Scalar::Bool(true));
        check(Scalar::Bool(true), C64, Scalar::Complex(1.0, 0.0));
        check(Scalar::Complex(2.5, 7.0), BF16, Scalar::Float(2.5));
    }

    /// Values just over a tie, which rounding to `f64` first would make a tie.
    #[test]
    fn integers_are_rounded_once() {
        check(
            Scalar::Int((1 << 60) + (1 << 36) + 1),
            F32,
            Scalar::Float((1_u64 << 60) as f64 + (1_u64 << 37) as f64),
        );
        check(
            Scalar::Int((1 << 60) + (1 << 52) + 1),
            BF16,
            Scalar::Float((1_u64 << 60) as f64 + (1_u64 << 53) as f64),
        );
        check(
            Scalar::Int(i64::MAX.into()),
            F64,
            Scalar::Float(9_223_372_036_854_775_807.0),
        );
        check(Scalar::Int(-65519), F16, Scalar::Float(-65504.0));
        check(Scalar::Int(-449), F8E4M3FN, Scalar::Float(-448.0));
    }

    #[test]
    fn reduced_precision() {
        let check = |value: f64, expected: f64| {
            assert_eq!(reduce_precision(F64, value, 5, 10), expected, "{value}");
        };
        check(65505.0, 65504.0);
        check(65520.0, f64::INFINITY);
        check(-65520.0, f64::NEG_INFINITY);
        check(5e-324, 0.0);
        check(1.0 + 1.0 / 2048.0, 1.0);
        check(1.0 + 3.0 / 2048.0, 1.0 + 2.0 / 1024.0);
        assert_eq!(reduce_precision(F32, f64::NAN, 5, 0), f64::INFINITY);
        assert!(reduce_precision(F32, f64::NAN, 5, 2).is_nan());
    }
}
