//! The numbers of a matrix: real or complex, both held wide, with operators.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::algebra::number::{Complex, Field, Number};

/// An element of a matrix. Precisions differ only in how results are stored.
pub(super) trait Entry:
    Field
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The imaginary part.
    fn imaginary(self) -> f64;

    /// The number times a real one.
    fn times(self, factor: f64) -> Self;

    /// The distance to zero, computed without overflow.
    fn modulus(self) -> f64;

    /// LAPACK's cheaper measure of a pivot: the sum of what both parts measure.
    fn magnitude(self) -> f64 {
        self.real().abs() + self.imaginary().abs()
    }

    /// The square of the modulus.
    fn square(self) -> f64 {
        self.real() * self.real() + self.imaginary() * self.imaginary()
    }

    /// Whether both parts are numbers, infinity not being one.
    fn is_finite(self) -> bool {
        self.real().is_finite() && self.imaginary().is_finite()
    }
}

impl Entry for f64 {
    fn imaginary(self) -> f64 {
        0.0
    }

    fn times(self, factor: f64) -> Self {
        self * factor
    }

    fn modulus(self) -> f64 {
        self.abs()
    }
}

impl Entry for Complex {
    fn imaginary(self) -> f64 {
        self.im
    }

    fn times(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }

    fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Number::add(self, other)
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.subtract(other)
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.multiply(other)
    }
}

impl Div for Complex {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        // By a real number part by part: real matrices in complex arithmetic stay real.
        if other.im == 0.0 {
            Self::new(self.re / other.re, self.im / other.re)
        } else {
            self.divide(other)
        }
    }
}

impl Neg for Complex {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

/// The Euclidean norm, without overflow or underflow of the squares; NaN where an element is.
pub(super) fn norm<T: Entry>(values: &[T]) -> f64 {
    let moduli = || values.iter().map(|value| value.modulus());
    let largest = moduli().fold(0.0, f64::max);
    let total: f64 = moduli().sum();
    if total.is_nan() || largest == 0.0 || largest.is_infinite() {
        return total;
    }
    let squares: f64 = moduli().map(|modulus| (modulus / largest).powi(2)).sum();
    largest * squares.sqrt()
}

/// The inner product of two vectors, the first conjugated.
pub(super) fn inner<T: Entry>(left: &[T], right: &[T]) -> T {
    left.iter()
        .zip(right)
        .fold(T::ZERO, |sum, (a, b)| sum + a.conjugate() * *b)
}
