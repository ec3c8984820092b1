//! Encoding and decoding of every floating-point format through `f64`, which holds each of them exactly.

use crate::types::{ElementType, FloatFormat, NanEncoding};

/// The value of an encoding, `bits` in the low bits; `None` if `ty` is not a floating-point type.
#[must_use]
pub fn decode(ty: ElementType, bits: u64) -> Option<f64> {
    match ty {
        ElementType::F64 => Some(f64::from_bits(bits)),
        ElementType::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        other => other.float_format().map(|format| decode_format(format, bits)),
    }
}

/// The encoding nearest to `value`, ties to even; `None` if `ty` is not a floating-point type.
///
/// Values beyond the largest finite one become infinity, or NaN in a format without infinities, or the largest finite value
/// in a format without either (LLVM's `APFloat` does the same). NaN keeps its sign and becomes the format's NaN; in a format
/// without one, negative zero or zero as `APFloat` has it.
#[must_use]
pub fn encode(ty: ElementType, value: f64) -> Option<u64> {
    match ty {
        ElementType::F64 => Some(value.to_bits()),
        // A conversion of the hardware, which rounds to nearest even.
        ElementType::F32 => Some(u64::from((value as f32).to_bits())),
        other => other.float_format().map(|format| encode_format(format, value)),
    }
}

/// `value` rounded to the format of `ty` and back.
#[must_use]
pub fn round_to(ty: ElementType, value: f64) -> f64 {
    encode(ty, value)
        .and_then(|bits| decode(ty, bits))
        .unwrap_or(value)
}

const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn decode_format(format: FloatFormat, bits: u64) -> f64 {
    let magnitude = bits & mask(format.exponent_bits + format.mantissa_bits);
    let negative = format.signed && bits >> (format.bits - 1) & 1 == 1;
    let sign = if negative { -1.0 } else { 1.0 };
    let exponent = (magnitude >> format.mantissa_bits) as i32;
    let mantissa = magnitude & mask(format.mantissa_bits);
    let exponent_max = mask(format.exponent_bits) as i32;
    match format.nan {
        NanEncoding::Ieee if exponent == exponent_max => {
            return if mantissa == 0 {
                sign * f64::INFINITY
            } else {
                f64::NAN.copysign(sign)
            };
        }
        NanEncoding::AllOnes if magnitude == mask(format.exponent_bits + format.mantissa_bits) => {
            return f64::NAN.copysign(sign);
        }
        NanEncoding::NegativeZero if negative && magnitude == 0 => return f64::NAN,
        _ => {}
    }
    let scale = |steps: u64, exponent: i32| sign * steps as f64 * 2.0_f64.powi(exponent);
    let unit = format.mantissa_bits as i32;
    if exponent == 0 && format.zero {
        scale(mantissa, 1 - format.bias - unit)
    } else {
        scale(
            mantissa | 1 << format.mantissa_bits,
            exponent - format.bias - unit,
        )
    }
}

fn encode_format(format: FloatFormat, value: f64) -> u64 {
    let negative = value.is_sign_negative();
    let magnitude_bits = format.exponent_bits + format.mantissa_bits;
    let sign = if negative && format.signed {
        1 << magnitude_bits
    } else {
        0
    };
    if value.is_nan() {
        return nan_bits(format, sign);
    }
    if value == 0.0 && format.zero {
        // The FNUZ formats have no negative zero: its pattern is NaN.
        return if format.nan == NanEncoding::NegativeZero {
            0
        } else {
            sign
        };
    }
    if !format.signed && (negative || value == 0.0) {
        // Nothing below the smallest value can be had; LLVM answers NaN for negative values.
        return if value == 0.0 { 0 } else { nan_bits(format, sign) };
    }
    let steps = round_to_steps(format, value.abs());
    let largest = largest_finite(format);
    if steps <= largest {
        // A negative value that rounds to zero has no negative zero to go to in FNUZ formats.
        return if steps == 0 && format.nan == NanEncoding::NegativeZero {
            0
        } else {
            sign | steps
        };
    }
    if format.infinities {
        sign | mask(format.exponent_bits) << format.mantissa_bits
    } else if format.nan == NanEncoding::None {
        sign | largest
    } else {
        nan_bits(format, sign)
    }
}

fn nan_bits(format: FloatFormat, sign: u64) -> u64 {
    let magnitude_bits = format.exponent_bits + format.mantissa_bits;
    match format.nan {
        // Quiet: the highest bit of the mantissa.
        NanEncoding::Ieee => {
            sign | mask(format.exponent_bits) << format.mantissa_bits | 1 << (format.mantissa_bits - 1)
        }
        NanEncoding::AllOnes => sign | mask(magnitude_bits),
        NanEncoding::NegativeZero => 1 << magnitude_bits,
        NanEncoding::None => 1 << magnitude_bits,
    }
}

/// The largest finite magnitude, as exponent and mantissa bits.
const fn largest_finite(format: FloatFormat) -> u64 {
    let all = mask(format.exponent_bits + format.mantissa_bits);
    match format.nan {
        NanEncoding::Ieee => all - mask(format.mantissa_bits) - 1,
        NanEncoding::AllOnes => all - 1,
        NanEncoding::NegativeZero | NanEncoding::None => all,
    }
}

/// Exponent and mantissa bits of the nearest magnitude, ties to even, as if the exponent had no upper end. Adjacent
/// magnitudes have adjacent encodings, so a carry out of the mantissa is right by itself.
fn round_to_steps(format: FloatFormat, magnitude: f64) -> u64 {
    if magnitude.is_infinite() {
        return u64::MAX >> 1;
    }
    let bits = magnitude.to_bits();
    let raw_exponent = (bits >> 52) as i32;
    let (mantissa, exponent) = if raw_exponent == 0 {
        (bits & mask(52), -1022)
    } else {
        (bits & mask(52) | 1 << 52, raw_exponent - 1023)
    };
    let exponent_min = if format.zero {
        1 - format.bias
    } else {
        -format.bias
    };
    // Bits of `mantissa` below the last one that the format keeps.
    let extra = 52 - format.mantissa_bits as i32 + (exponent_min - exponent).max(0);
    let kept = round_shift(mantissa, extra);
    let exponent = exponent.max(exponent_min);
    if format.zero {
        // `kept` carries the implicit bit, which counts as one exponent step; subnormals have none.
        kept + (((exponent - exponent_min) as u64) << format.mantissa_bits)
    } else {
        (kept.max(1) - 1) + ((exponent - exponent_min) as u64)
    }
}

/// `value >> shift`, rounded to nearest, ties to even.
const fn round_shift(value: u64, shift: i32) -> u64 {
    if shift <= 0 {
        return value;
    }
    if shift > 62 {
        return 0;
    }
    let kept = value >> shift;
    let rest = value & mask(shift as u32);
    let half = 1 << (shift - 1);
    if rest > half || rest == half && kept & 1 == 1 {
        kept + 1
    } else {
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: ElementType, value: f64, bits: u64) {
        assert_eq!(encode(ty, value), Some(bits), "{ty} {value}");
    }

    /// Every encoding of up to 19 bits decodes to a value that encodes to it again, NaN payloads apart.
    #[test]
    fn narrow_formats_round_trip() {
        for ty in ElementType::ALL
            .iter()
            .copied()
            .filter(|ty| ty.is_float() && ty.bits() <= 19)
        {
            for bits in 0..1_u64 << ty.bits() {
                let value = decode(ty, bits).unwrap();
                if !value.is_nan() {
                    assert_eq!(encode(ty, value), Some(bits), "{ty} {bits:#x} is {value}");
                }
            }
        }
    }

    #[test]
    fn rounding() {
        check(ElementType::F16, 65519.0, 0x7BFF);
        check(ElementType::F16, 65520.0, 0x7C00);
        check(ElementType::F16, 5.960_464_477_539_063e-8 / 2.0, 0);
        check(ElementType::F16, 5.960_464_477_539_063e-8 * 0.51, 1);
        check(ElementType::BF16, 1.003_906_25, 0x3F80);
        check(ElementType::BF16, 1.011_718_75, 0x3F82);
        check(ElementType::F8E4M3FN, 448.0, 0x7E);
        check(ElementType::F8E4M3FN, 1000.0, 0x7F);
        check(ElementType::F8E5M2, 1e9, 0x7C);
        check(ElementType::F8E4M3FNUZ, -0.0, 0);
        check(ElementType::F8E4M3FNUZ, f64::NAN, 0x80);
        check(ElementType::F4E2M1FN, 100.0, 7);
        check(ElementType::F4E2M1FN, -0.0, 8);
        check(ElementType::F8E8M0FNU, 1.0, 127);
        check(ElementType::F8E8M0FNU, f64::NAN, 255);
        check(ElementType::F6E3M2FN, 0.1, 0x02);
    }

    #[test]
    fn wide_formats() {
        check(ElementType::F32, 0.1, u64::from(0.1_f32.to_bits()));
        check(ElementType::F64, 0.1, 0.1_f64.to_bits());
        assert_eq!(encode(ElementType::I32, 1.0), None);
    }
}
