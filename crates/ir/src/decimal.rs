//! Floating-point numbers as text that reads back to the same bits.

use std::fmt;

use crate::float::{decode, encode};
use crate::types::ElementType;

/// Digits after the point that MLIR always writes.
const FRACTION_DIGITS_MIN: usize = 6;
/// Digits after the point with which every `f64`, and so every narrower number, is told from its neighbours.
const FRACTION_DIGITS_MAX: usize = 16;

/// A floating-point number in MLIR's spelling: `1.000000e+00`, with more digits where six after the point do not read back, or
/// the bits in hexadecimal (`0x7FC00000`) where no decimal does: infinities and NaN.
///
/// Readers go from the text to `f64` and from there to the type, both to nearest, as MLIR's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// A floating-point type.
    pub ty: ElementType,
    /// The encoding, in the low bits.
    pub bits: u64,
}

impl Decimal {
    /// An `f64`.
    #[must_use]
    pub const fn of_f64(value: f64) -> Self {
        Self {
            ty: ElementType::F64,
            bits: value.to_bits(),
        }
    }

    /// The decimal that reads back, if there is one.
    fn scientific(self) -> Option<String> {
        let value = decode(self.ty, self.bits).filter(|value| value.is_finite())?;
        let shortest = shortest_fraction_digits(self.ty, value).max(FRACTION_DIGITS_MIN);
        [shortest, FRACTION_DIGITS_MAX].into_iter().find_map(|digits| {
            let text = format!("{value:.digits$e}");
            let read: f64 = text.parse().ok()?;
            (encode(self.ty, read) == Some(self.bits)).then_some(text)
        })
    }
}

/// Digits after the point of the shortest text for `value`; narrow types never need more than six.
fn shortest_fraction_digits(ty: ElementType, value: f64) -> usize {
    let text = match ty {
        ElementType::F64 => format!("{value:e}"),
        ElementType::F32 => format!("{:e}", value as f32),
        _ => return FRACTION_DIGITS_MIN,
    };
    let significand = text.split('e').next().unwrap_or_default();
    let (_, fraction) = significand.split_once('.').unwrap_or_default();
    fraction.len().min(FRACTION_DIGITS_MAX)
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.scientific();
        let parts = text.as_deref().and_then(|text| text.split_once('e'));
        match parts {
            Some((significand, exponent)) => {
                // Rust writes `e0` and `e-5`, MLIR `e+00` and `e-05`.
                let (sign, digits) = match exponent.strip_prefix('-') {
                    Some(digits) => ('-', digits),
                    None => ('+', exponent),
                };
                write!(f, "{significand}e{sign}{digits:0>2}")
            }
            None => {
                let width = self.ty.bits().div_ceil(4) as usize;
                write!(f, "0x{:0width$X}", self.bits)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: ElementType, bits: u64, text: &str) {
        assert_eq!(Decimal { ty, bits }.to_string(), text, "{ty} {bits:#x}");
    }

    fn check_f32(value: f32, text: &str) {
        check(ElementType::F32, u64::from(value.to_bits()), text);
    }

    #[test]
    fn spelling() {
        check_f32(1.0, "1.000000e+00");
        check_f32(-0.0, "-0.000000e+00");
        check_f32(0.1, "1.000000e-01");
        check_f32(std::f32::consts::PI, "3.1415927e+00");
        check_f32(f32::MIN_POSITIVE / 8388608.0, "1.401298e-45");
        check_f32(f32::NAN, "0x7FC00000");
        check_f32(f32::NEG_INFINITY, "0xFF800000");
        check(ElementType::F64, 0.1_f64.to_bits(), "1.000000e-01");
        check(
            ElementType::F64,
            (1.0_f64 / 3.0).to_bits(),
            "3.333333333333333e-01",
        );
        check(ElementType::F64, 1e300_f64.to_bits(), "1.000000e+300");
        check(ElementType::BF16, 0x3DCD, "1.000977e-01");
        check(ElementType::F16, 0x7C00, "0x7C00");
        check(ElementType::F8E4M3FN, 0x7F, "0x7F");
        check(ElementType::F4E2M1FN, 0x8, "-0.000000e+00");
    }

    /// Readers other than ours see only the text, so it must say the bits by itself.
    #[test]
    fn narrow_formats_never_need_hexadecimal_for_finite_values() {
        for ty in ElementType::ALL
            .iter()
            .copied()
            .filter(|ty| ty.is_float() && ty.bits() <= 19)
        {
            for bits in 0..1_u64 << ty.bits() {
                let finite = decode(ty, bits).is_some_and(f64::is_finite);
                let text = Decimal { ty, bits }.to_string();
                assert_eq!(text.starts_with("0x"), !finite, "{ty} {bits:#x}: {text}");
            }
        }
    }
}
