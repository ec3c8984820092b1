//! Functions of real numbers.
//!
//! `double` and `angle` compute in `f64`, within about one unit in the last place; most functions of `f32` are those, rounded. The
//! ones of `f32` that programs spend their time in are computed in `f32` (`single`) or with AVX-512 (`avx512`). All of them are
//! written for one number and without branches, so that the compiler can compute many at a time.
//!
//! Coefficients of polynomials are minimax fits of our own (Remez's algorithm in 50 digits); the error that a comment gives is
//! that of the polynomial before its coefficients were rounded.

pub(crate) mod angle;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
pub(crate) mod double;
pub(crate) mod function;
pub(crate) mod narrow;
#[cfg(target_arch = "x86_64")]
mod pieces;
pub(crate) mod single;
pub(crate) mod special;

/// A polynomial by Horner's rule, coefficients of low powers first.
macro_rules! polynomial {
    ($x:ident; $first:expr $(,)?) => { $first };
    ($x:ident; $first:expr, $($rest:expr),+ $(,)?) => {
        $x.mul_add(crate::math::polynomial!($x; $($rest),+), $first)
    };
}
use polynomial;
