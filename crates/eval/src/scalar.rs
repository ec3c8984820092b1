//! One element, held wide.

use std::fmt;

use artifact_ir::float;
use artifact_ir::types::{ElementClass, ElementType};

/// One element of a tensor.
///
/// Integers hold any value of their type; floats are the exact `f64` of the narrower value; both parts of a complex number
/// likewise. A result is put into its type by [`Scalar::encode`], which wraps integers and rounds floats to nearest even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `i1`.
    Bool(bool),
    /// Any integer type.
    Int(i128),
    /// Any floating-point type.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl Scalar {
    /// Zero of a class of elements.
    #[must_use]
    pub const fn zero(class: ElementClass) -> Self {
        match class {
            ElementClass::Boolean => Self::Bool(false),
            ElementClass::SignedInteger | ElementClass::UnsignedInteger => Self::Int(0),
            ElementClass::Float => Self::Float(0.0),
            ElementClass::Complex => Self::Complex(0.0, 0.0),
        }
    }

    /// Reads an element from its little-endian bytes.
    #[must_use]
    pub fn decode(ty: ElementType, bytes: &[u8]) -> Self {
        let raw = |bytes: &[u8]| {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(wide)
        };
        match ty.class() {
            ElementClass::Boolean => Self::Bool(bytes[0] != 0),
            ElementClass::UnsignedInteger => Self::Int(i128::from(raw(bytes))),
            ElementClass::SignedInteger => {
                let unused = 64 - 8 * bytes.len() as u32;
                Self::Int(i128::from((raw(bytes) << unused) as i64 >> unused))
            }
            ElementClass::Float => Self::Float(float::decode(ty, raw(bytes)).unwrap_or(f64::NAN)),
            ElementClass::Complex => {
                let (real, imag) = bytes.split_at(bytes.len() / 2);
                let part = |bytes| float::decode(ty.part(), raw(bytes)).unwrap_or(f64::NAN);
                Self::Complex(part(real), part(imag))
            }
        }
    }

    /// Appends the element's little-endian bytes: integers wrap to the type's width, floats round to nearest even.
    pub fn encode(self, ty: ElementType, out: &mut Vec<u8>) {
        match self.cast_class(ty.class()) {
            Self::Bool(value) => out.push(u8::from(value)),
            Self::Int(value) => out.extend_from_slice(&wrap(ty, value).to_le_bytes()[..ty.bytes()]),
            Self::Float(value) => encode_float(ty, value, out),
            Self::Complex(real, imag) => {
                encode_float(ty.part(), real, out);
                encode_float(ty.part(), imag, out);
            }
        }
    }

    /// The value as the class of its destination has it: an operation's result is of its type's class already, so this is
    /// for booleans and reals that stand for others without loss.
    fn cast_class(self, class: ElementClass) -> Self {
        match (self, class) {
            (Self::Bool(value), ElementClass::SignedInteger | ElementClass::UnsignedInteger) => {
                Self::Int(i128::from(value))
            }
            (Self::Int(value), ElementClass::Boolean) => Self::Bool(value != 0),
            (Self::Int(value), ElementClass::Float) => Self::Float(value as f64),
            (Self::Float(value), ElementClass::Complex) => Self::Complex(value, 0.0),
            (other, _) => other,
        }
    }

    /// The integer, of an integer or boolean element.
    #[must_use]
    pub const fn as_int(self) -> Option<i128> {
        match self {
            Self::Int(value) => Some(value),
            Self::Bool(value) => Some(value as i128),
            Self::Float(_) | Self::Complex(..) => None,
        }
    }

    /// The truth value, of a boolean element.
    #[must_use]
    pub const fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, of a floating-point element.
    #[must_use]
    pub const fn as_float(self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(value),
            _ => None,
        }
    }
}

/// Numbers as Rust writes them with the digits that read back; a complex number as a pair.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Complex(real, imag) => write!(f, "({real:?}, {imag:?})"),
        }
    }
}

fn encode_float(ty: ElementType, value: f64, out: &mut Vec<u8>) {
    let bits = float::encode(ty, value).unwrap_or(0);
    out.extend_from_slice(&bits.to_le_bytes()[..ty.bytes()]);
}

/// `value` modulo 2 to the width of `ty`, sign-extended for signed types.
#[must_use]
pub fn wrap(ty: ElementType, value: i128) -> i128 {
    let unused = 128 - ty.bits();
    if ty.is_signed_integer() {
        value << unused >> unused
    } else {
        ((value as u128) << unused >> unused) as i128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ty: ElementType, value: Scalar, bytes: &[u8], back: Scalar) {
        let mut out = Vec::new();
        value.encode(ty, &mut out);
        assert_eq!(out, bytes, "{ty} {value:?}");
        assert_eq!(Scalar::decode(ty, &out), back, "{ty} {value:?}");
    }

    #[test]
    fn codes() {
        check(ElementType::I4, Scalar::Int(9), &[0xF9], Scalar::Int(-7));
        check(ElementType::UI4, Scalar::Int(-1), &[15], Scalar::Int(15));
        check(
            ElementType::I64,
            Scalar::Int(-2),
            &[0xFE, 255, 255, 255, 255, 255, 255, 255],
            Scalar::Int(-2),
        );
        check(
            ElementType::UI64,
            Scalar::Int(-1),
            &[255; 8],
            Scalar::Int(u64::MAX.into()),
        );
        check(ElementType::I1, Scalar::Bool(true), &[1], Scalar::Bool(true));
        check(
            ElementType::BF16,
            Scalar::Float(1.0),
            &[0x80, 0x3F],
            Scalar::Float(1.0),
        );
        let complex = [0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0];
        check(
            ElementType::C64,
            Scalar::Complex(1.0, -2.0),
            &complex,
            Scalar::Complex(1.0, -2.0),
        );
    }
}
