//! Element types (spec, "Types": `TensorElementType`).

use std::fmt;
use std::str::FromStr;

/// What kind of number an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementClass {
    /// `i1`.
    Boolean,
    /// `i2` to `i64`, two's complement.
    SignedInteger,
    /// `ui2` to `ui64`, and `index`.
    UnsignedInteger,
    /// Binary floating point of any format.
    Float,
    /// A pair of floats.
    Complex,
}

/// How a floating-point format encodes its values. `value = (-1)^sign * 1.mantissa * 2^(exponent - bias)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// Total width in bits.
    pub bits: u32,
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the stored mantissa.
    pub mantissa_bits: u32,
    /// Exponent bias.
    pub bias: i32,
    /// Whether there is a sign bit.
    pub signed: bool,
    /// Whether the format has infinities.
    pub infinities: bool,
    /// How not-a-number is encoded.
    pub nan: NanEncoding,
    /// Whether there is a zero, and with it subnormal numbers (`f8E8M0FNU` has neither).
    pub zero: bool,
}

/// Which bit patterns are not-a-number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NanEncoding {
    /// Exponent all ones, mantissa not zero (IEEE 754).
    Ieee,
    /// All bits but the sign are ones (the `FN` formats; also `f8E8M0FNU`).
    AllOnes,
    /// The pattern of negative zero (the `FNUZ` formats, which have no negative zero).
    NegativeZero,
    /// There is none (`f4E2M1FN` and the `f6` formats).
    None,
}

macro_rules! element_types {
    ($($variant:ident $name:literal $class:ident $bits:literal,)*) => {
        /// The type of one element of a tensor, quantization apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the variants are named as the specification names the types")]
        pub enum ElementType { $($variant,)* }

        impl ElementType {
            /// All element types.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// MLIR's spelling.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What kind of number it is.
            #[must_use]
            pub const fn class(self) -> ElementClass {
                match self { $(Self::$variant => ElementClass::$class,)* }
            }

            /// Width in bits of one element, both parts of a complex one included.
            #[must_use]
            pub const fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }
        }
    };
}

element_types! {
    I1 "i1" Boolean 1,
    I2 "i2" SignedInteger 2,
    I4 "i4" SignedInteger 4,
    I8 "i8" SignedInteger 8,
    I16 "i16" SignedInteger 16,
    I32 "i32" SignedInteger 32,
    I64 "i64" SignedInteger 64,
    UI2 "ui2" UnsignedInteger 2,
    UI4 "ui4" UnsignedInteger 4,
    UI8 "ui8" UnsignedInteger 8,
    UI16 "ui16" UnsignedInteger 16,
    UI32 "ui32" UnsignedInteger 32,
    UI64 "ui64" UnsignedInteger 64,
    Index "index" UnsignedInteger 64,
    F4E2M1FN "f4E2M1FN" Float 4,
    F6E2M3FN "f6E2M3FN" Float 6,
    F6E3M2FN "f6E3M2FN" Float 6,
    F8E3M4 "f8E3M4" Float 8,
    F8E4M3 "f8E4M3" Float 8,
    F8E4M3FN "f8E4M3FN" Float 8,
    F8E4M3FNUZ "f8E4M3FNUZ" Float 8,
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" Float 8,
    F8E5M2 "f8E5M2" Float 8,
    F8E5M2FNUZ "f8E5M2FNUZ" Float 8,
    F8E8M0FNU "f8E8M0FNU" Float 8,
    BF16 "bf16" Float 16,
    F16 "f16" Float 16,
    TF32 "tf32" Float 19,
    F32 "f32" Float 32,
    F64 "f64" Float 64,
    C64 "complex<f32>" Complex 64,
    C128 "complex<f64>" Complex 128,
}

impl ElementType {
    /// Bytes that one element takes in memory: dense, but `i1` and sub-byte types take a whole byte each.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::TF32 => 4,
            other => other.bits().div_ceil(8) as usize,
        }
    }

    /// `i2` to `i64`.
    #[must_use]
    pub const fn is_signed_integer(self) -> bool {
        matches!(self.class(), ElementClass::SignedInteger)
    }

    /// `ui2` to `ui64`, `index`.
    #[must_use]
    pub const fn is_unsigned_integer(self) -> bool {
        matches!(self.class(), ElementClass::UnsignedInteger)
    }

    /// Any integer, `i1` apart.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// `i1`.
    #[must_use]
    pub const fn is_boolean(self) -> bool {
        matches!(self, Self::I1)
    }

    /// Any floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.class(), ElementClass::Float)
    }

    /// `complex<f32>` or `complex<f64>`.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), ElementClass::Complex)
    }

    /// The type of the real and the imaginary part; a real type is its own part.
    #[must_use]
    pub const fn part(self) -> Self {
        match self {
            Self::C64 => Self::F32,
            Self::C128 => Self::F64,
            other => other,
        }
    }

    /// The complex type with parts of this type.
    #[must_use]
    pub const fn complex_of(self) -> Option<Self> {
        match self {
            Self::F32 => Some(Self::C64),
            Self::F64 => Some(Self::C128),
            _ => None,
        }
    }

    /// How the format encodes its values, for floating-point types.
    #[must_use]
    pub fn float_format(self) -> Option<FloatFormat> {
        use NanEncoding::{AllOnes, Ieee, NegativeZero, None as NoNan};
        let format = |bits, exponent_bits, mantissa_bits, bias, infinities, nan| FloatFormat {
            bits,
            exponent_bits,
            mantissa_bits,
            bias,
            signed: true,
            infinities,
            nan,
            zero: true,
        };
        Some(match self {
            Self::F4E2M1FN => format(4, 2, 1, 1, false, NoNan),
            Self::F6E2M3FN => format(6, 2, 3, 1, false, NoNan),
            Self::F6E3M2FN => format(6, 3, 2, 3, false, NoNan),
            Self::F8E3M4 => format(8, 3, 4, 3, true, Ieee),
            Self::F8E4M3 => format(8, 4, 3, 7, true, Ieee),
            Self::F8E4M3FN => format(8, 4, 3, 7, false, AllOnes),
            Self::F8E4M3FNUZ => format(8, 4, 3, 8, false, NegativeZero),
            Self::F8E4M3B11FNUZ => format(8, 4, 3, 11, false, NegativeZero),
            Self::F8E5M2 => format(8, 5, 2, 15, true, Ieee),
            Self::F8E5M2FNUZ => format(8, 5, 2, 16, false, NegativeZero),
            Self::F8E8M0FNU => FloatFormat {
                signed: false,
                zero: false,
                ..format(8, 8, 0, 127, false, AllOnes)
            },
            Self::BF16 => format(16, 8, 7, 127, true, Ieee),
            Self::F16 => format(16, 5, 10, 15, true, Ieee),
            Self::TF32 => format(19, 8, 10, 127, true, Ieee),
            Self::F32 => format(32, 8, 23, 127, true, Ieee),
            Self::F64 => format(64, 11, 52, 1023, true, Ieee),
            _ => return None,
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Text that names no element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownElementType(String);

impl fmt::Display for UnknownElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an element type", self.0)
    }
}

impl std::error::Error for UnknownElementType {}

impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|element| element.name() == text);
        found.copied().ok_or_else(|| UnknownElementType(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for element in ElementType::ALL {
            assert_eq!(element.name().parse(), Ok(*element));
        }
        assert!("i3".parse::<ElementType>().is_err());
    }

    #[test]
    fn formats_add_up() {
        for element in ElementType::ALL {
            let Some(format) = element.float_format() else {
                continue;
            };
            let sign = u32::from(format.signed);
            assert_eq!(
                format.bits,
                sign + format.exponent_bits + format.mantissa_bits,
                "{element}"
            );
            assert_eq!(format.bits, element.bits(), "{element}");
        }
    }
}
