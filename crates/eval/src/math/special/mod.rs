//! Special functions of real numbers (CHLO).
//!
//! Those that cancel are summed in twice the precision of `f64`, so that every result is within a few units in the last place
//! of `f64`; `reference.txt` holds values computed with mpmath, against which they are tested.

mod bessel;
mod digamma;
mod erf;
mod gamma;
mod hyperbolic;
mod zeta;

pub(super) use bessel::bessel_i1e;
pub(super) use digamma::digamma;
pub(super) use erf::{erf, erf_inv, erfc};
pub(super) use gamma::ln_gamma;
pub(super) use hyperbolic::{acosh, asinh, atanh, cosh, sinh};
pub(super) use zeta::{polygamma, zeta};

use super::wide::Wide;

/// Numerators and denominators of the Bernoulli numbers of index 2, 4, .. 30.
const BERNOULLI: [[f64; 2]; 15] = [
    [1.0, 6.0],
    [-1.0, 30.0],
    [1.0, 42.0],
    [-1.0, 30.0],
    [5.0, 66.0],
    [-691.0, 2730.0],
    [7.0, 6.0],
    [-3617.0, 510.0],
    [43867.0, 798.0],
    [-174_611.0, 330.0],
    [854_513.0, 138.0],
    [-236_364_091.0, 2730.0],
    [8_553_103.0, 6.0],
    [-23_749_461_029.0, 870.0],
    [8_615_841_276_005.0, 14322.0],
];

/// From here on Stirling's series with [`BERNOULLI`] is exact to twice the precision of `f64`.
const STIRLING_FROM: f64 = 30.0;

/// Pairs of `2 k` and the Bernoulli number of that index.
fn bernoulli() -> impl Iterator<Item = (f64, Wide)> {
    BERNOULLI.iter().enumerate().map(|(k, [numerator, denominator])| {
        (
            2.0 * (k as f64 + 1.0),
            Wide::from(*numerator) / Wide::from(*denominator),
        )
    })
}

#[cfg(test)]
mod tests;
