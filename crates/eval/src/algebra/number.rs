//! The arithmetics that products are computed in.

use artifact_ir::types::{ElementClass, ElementType, TensorType};

pub(crate) use crate::complex::Complex;
use crate::error::EvalError;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// A kind of number that products are accumulated in: wide, and rounded only when it is stored. The one exception is
/// [`SingleComplex`].
pub(crate) trait Number: Copy {
    /// Zero.
    const ZERO: Self;

    /// The number that an element holds; `None` when this kind cannot hold it.
    fn from_scalar(scalar: Scalar) -> Option<Self>;

    /// The element that holds the number.
    fn to_scalar(self) -> Scalar;

    /// `self + other`; `or` for booleans.
    fn add(self, other: Self) -> Self;

    /// `self * other`; `and` for booleans.
    fn multiply(self, other: Self) -> Self;
}

impl Number for bool {
    const ZERO: Self = false;

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        scalar.as_bool()
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self)
    }

    fn add(self, other: Self) -> Self {
        self | other
    }

    fn multiply(self, other: Self) -> Self {
        self & other
    }
}

/// Modulo 2^128, of which every integer type's arithmetic is a part.
impl Number for i128 {
    const ZERO: Self = 0;

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        scalar.as_int()
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Int(self)
    }

    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn multiply(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
}

impl Number for f64 {
    const ZERO: Self = 0.0;

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        match scalar {
            Scalar::Bool(value) => Some(Self::from(u8::from(value))),
            Scalar::Int(value) => Some(value as Self),
            Scalar::Float(value) => Some(value),
            Scalar::Complex(..) => None,
        }
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Float(self)
    }

    fn add(self, other: Self) -> Self {
        self + other
    }

    fn multiply(self, other: Self) -> Self {
        self * other
    }
}

impl Complex {
    /// The number of length 1 at an angle, in radians.
    pub(super) fn unit(angle: f64) -> Self {
        Self::new(angle.cos(), angle.sin())
    }

    /// The number times a real one.
    pub(super) fn scale(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}

impl Number for Complex {
    const ZERO: Self = Self::new(0.0, 0.0);

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        match scalar {
            Scalar::Complex(re, im) => Some(Self::new(re, im)),
            real => f64::from_scalar(real).map(|re| Self::new(re, 0.0)),
        }
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Complex(self.re, self.im)
    }

    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }

    fn multiply(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

/// A complex number of single precision, rounded after every step as XLA does. Its products are differences, in which what
/// was rounded away before shows, so that a wider sum would be another result by more than a few units in the last place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SingleComplex {
    re: f32,
    im: f32,
}

impl Number for SingleComplex {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };

    fn from_scalar(scalar: Scalar) -> Option<Self> {
        let Complex { re, im } = Complex::from_scalar(scalar)?;
        Some(Self {
            re: re as f32,
            im: im as f32,
        })
    }

    fn to_scalar(self) -> Scalar {
        Scalar::Complex(self.re.into(), self.im.into())
    }

    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }

    fn multiply(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

/// A kind of number that linear systems are solved in.
pub(crate) trait Field: Number {
    /// `self - other`.
    fn subtract(self, other: Self) -> Self;

    /// `self / other`.
    fn divide(self, other: Self) -> Self;

    /// The complex conjugate.
    fn conjugate(self) -> Self;

    /// The real part.
    fn real(self) -> f64;

    /// A real number.
    fn from_real(real: f64) -> Self;
}

impl Field for f64 {
    fn subtract(self, other: Self) -> Self {
        self - other
    }

    fn divide(self, other: Self) -> Self {
        self / other
    }

    fn conjugate(self) -> Self {
        self
    }

    fn real(self) -> f64 {
        self
    }

    fn from_real(real: f64) -> Self {
        real
    }
}

impl Field for Complex {
    fn subtract(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }

    /// By the larger part of the divisor first (Smith), so that its square need not be representable.
    fn divide(self, other: Self) -> Self {
        if other.re.abs() >= other.im.abs() {
            let ratio = other.im / other.re;
            let scale = other.re + other.im * ratio;
            Self::new(
                (self.re + self.im * ratio) / scale,
                (self.im - self.re * ratio) / scale,
            )
        } else {
            let ratio = other.re / other.im;
            let scale = other.re * ratio + other.im;
            Self::new(
                (self.re * ratio + self.im) / scale,
                (self.im * ratio - self.re) / scale,
            )
        }
    }

    fn conjugate(self) -> Self {
        Self::new(self.re, -self.im)
    }

    fn real(self) -> f64 {
        self.re
    }

    fn from_real(real: f64) -> Self {
        Self::new(real, 0.0)
    }
}

/// All elements of a tensor as numbers of one kind.
///
/// # Errors
/// Unsupported when the kind cannot hold the tensor's elements.
pub(super) fn numbers<T: Number>(tensor: &Tensor) -> Result<Vec<T>, EvalError> {
    tensor
        .scalars()
        .map(T::from_scalar)
        .collect::<Option<_>>()
        .ok_or_else(|| {
            EvalError::unsupported(format!(
                "{} cannot be converted to the result's type",
                tensor.ty()
            ))
        })
}

/// Work that is the same for every kind of number.
pub(super) trait Arithmetic {
    /// Does it.
    fn run<T: Number>(&self) -> Result<Vec<Scalar>, EvalError>;
}

/// Does `work` in the arithmetic of the elements of `ty`.
pub(super) fn in_arithmetic_of(ty: &TensorType, work: &impl Arithmetic) -> Result<Vec<Scalar>, EvalError> {
    let element = ty.element.storage();
    match element.class() {
        ElementClass::Complex if element == ElementType::C64 => work.run::<SingleComplex>(),
        ElementClass::Boolean => work.run::<bool>(),
        ElementClass::SignedInteger | ElementClass::UnsignedInteger => work.run::<i128>(),
        ElementClass::Float => work.run::<f64>(),
        ElementClass::Complex => work.run::<Complex>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_division() {
        let check = |a: Complex, b: Complex| {
            let back = a.divide(b).multiply(b);
            assert!(
                (back.re - a.re).abs() < 1e-12 && (back.im - a.im).abs() < 1e-12,
                "{a:?} / {b:?}"
            );
        };
        check(Complex::new(1.0, 2.0), Complex::new(3.0, -4.0));
        check(Complex::new(1.0, 2.0), Complex::new(0.5, 4.0));
        check(Complex::new(-1.0, 0.0), Complex::new(0.0, 2.0));
        let huge = Complex::new(1e300, 1e300);
        assert_eq!(huge.divide(huge), Complex::new(1.0, 0.0));
    }
}
