//! Functions of complex numbers.
//!
//! Each function gives the value of its mathematical definition on the principal branch (Kahan, "Branch cuts for complex
//! elementary functions", 1987), with the sign of a zero telling the side of a cut. Infinities follow C99 Annex G, except
//! where StableHLO's own tables of expected values differ; the function says so. Parts are within a few units in the last
//! place of `f64` each, so that a result for `complex<f32>` is rounded once.

mod arithmetic;
mod exponential;
mod hyperbolic;
mod inverse;
mod power;

pub(super) use crate::complex::Complex;
pub(super) use arithmetic::{abs, add, divide, multiply, negate, sign, subtract};
pub(super) use exponential::{exp, exp_m1, ln, ln_1p, logistic};
pub(super) use hyperbolic::{cos, cosh, sin, sinh, tan, tanh};
pub(super) use inverse::{acos, acosh, asin, asin_acos_kernel, asinh, atan, atanh};
pub(super) use power::{atan2, cbrt, powc, rsqrt, sqrt, square};

impl Complex {
    /// Not a number in both parts.
    const NAN: Self = Self::new(f64::NAN, f64::NAN);

    const fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }

    const fn is_infinite(self) -> bool {
        self.re.is_infinite() || self.im.is_infinite()
    }

    /// The number times i.
    const fn times_i(self) -> Self {
        Self::new(-self.im, self.re)
    }

    /// The number times -i.
    const fn times_minus_i(self) -> Self {
        Self::new(self.im, -self.re)
    }
}

#[cfg(test)]
mod tests;
