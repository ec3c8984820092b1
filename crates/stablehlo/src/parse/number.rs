//! Integers and floating-point numbers of attributes and pretty forms.

use artifact_ir::float;
use artifact_ir::types::ElementType;

use super::cursor::{Parser, Read};
use crate::lex::Kind;

/// An integer as it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenInteger {
    pub(super) value: i128,
    /// Whether it was hexadecimal, which for a floating-point type means its bits.
    pub(super) hexadecimal: bool,
    pub(super) offset: usize,
}

/// Reads digits, `0x` included.
pub(super) fn digits_to_i128(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `value` as `ty` holds it: types without a sign take both readings of their bits. `None` when it does not fit.
pub(super) fn fit_integer(ty: ElementType, value: i128) -> Option<i128> {
    let bits = ty.bits();
    let unsigned = 1_i128 << bits;
    match ty {
        ElementType::I1 => (-1..=1).contains(&value).then_some(value & 1),
        ElementType::Index => (-(unsigned >> 1)..unsigned).contains(&value).then_some(value),
        _ if ty.is_unsigned_integer() => (0..unsigned).contains(&value).then_some(value),
        _ => {
            let half = unsigned >> 1;
            if !(-half..unsigned).contains(&value) {
                None
            } else if value >= half {
                Some(value - unsigned)
            } else {
                Some(value)
            }
        }
    }
}

/// The bits of the number nearest to the decimal `text`, sign included.
pub(super) fn float_bits(ty: ElementType, text: &str) -> Option<u64> {
    match ty {
        // Directly: by way of `f64` a few numbers would be rounded twice.
        ElementType::F32 => text.parse::<f32>().ok().map(|value| u64::from(value.to_bits())),
        _ => float::encode(ty, text.parse().ok()?),
    }
}

impl Parser<'_> {
    /// An integer with an optional sign; `true` is 1 and `false` is 0.
    pub(super) fn written_integer(&mut self) -> Read<WrittenInteger> {
        let offset = self.token.start();
        if self.at(Kind::Word) {
            let value = match self.slice(self.token) {
                "true" => 1,
                "false" => 0,
                _ => return Err(self.unexpected("integer value")),
            };
            self.bump();
            return Ok(WrittenInteger {
                value,
                hexadecimal: false,
                offset,
            });
        }
        let negative = self.take(Kind::Minus);
        if !self.at(Kind::Integer) {
            return Err(self.unexpected("integer value"));
        }
        let token = self.bump();
        let text = self.slice(token);
        let magnitude = digits_to_i128(text).ok_or_else(|| self.error(offset, "the integer is too large"))?;
        Ok(WrittenInteger {
            value: if negative { -magnitude } else { magnitude },
            hexadecimal: text.starts_with("0x"),
            offset,
        })
    }

    /// An integer that must fit `T`.
    pub(super) fn integer<T: TryFrom<i128>>(&mut self) -> Read<T> {
        let written = self.written_integer()?;
        T::try_from(written.value).map_err(|_| {
            self.error(
                written.offset,
                format!("the integer {} is out of range", written.value),
            )
        })
    }

    pub(super) fn i64_value(&mut self) -> Read<i64> {
        self.integer()
    }

    /// `[1, 2]`.
    pub(super) fn i64_list(&mut self) -> Read<Vec<i64>> {
        let mut values = Vec::new();
        self.list(Kind::LeftSquare, |parser| {
            values.push(parser.i64_value()?);
            Ok(())
        })?;
        Ok(values)
    }

    /// A floating-point number, or an integer.
    pub(super) fn f64_value(&mut self) -> Read<f64> {
        let start = self.token.start();
        self.take(Kind::Minus);
        if !self.at(Kind::Float) && !self.at(Kind::Integer) {
            return Err(self.unexpected("a floating-point number"));
        }
        self.bump();
        let text = self.slice_from(start);
        let number = match text.strip_prefix("0x") {
            Some(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
            None => text.parse().ok(),
        };
        number.ok_or_else(|| self.error(start, "not a floating-point number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_fit_either_reading_of_their_bits() {
        let check = |ty, value, expected| assert_eq!(fit_integer(ty, value), expected, "{value} : {ty}");
        check(ElementType::I8, 255, Some(-1));
        check(ElementType::I8, -128, Some(-128));
        check(ElementType::I8, 256, None);
        check(ElementType::I8, -129, None);
        check(ElementType::UI8, 255, Some(255));
        check(ElementType::UI8, -1, None);
        check(ElementType::I1, 1, Some(1));
        check(ElementType::I1, 2, None);
        check(ElementType::I64, u64::MAX.into(), Some(-1));
        check(ElementType::UI64, u64::MAX.into(), Some(u64::MAX.into()));
    }

    #[test]
    fn floats_are_rounded_once() {
        assert_eq!(
            float_bits(ElementType::F32, "0.1"),
            Some(u64::from(0.1_f32.to_bits()))
        );
        assert_eq!(float_bits(ElementType::BF16, "-1.0"), Some(0xBF80));
        assert_eq!(float_bits(ElementType::I32, "1.0"), None);
        // Halfway between two f32 in f64, above it in decimal.
        assert_eq!(
            float_bits(ElementType::F32, "1.00000005960464477539062500000001"),
            Some(0x3F80_0001)
        );
    }
}
