//! Modified Bessel function of the first kind.

use crate::math::wide::Wide;

/// `e^-|x| I1(x)` (Abramowitz and Stegun, 9.6.10 and 9.7.1).
pub(in crate::math) fn bessel_i1e(x: f64) -> f64 {
    let magnitude = x.abs();
    let value = if magnitude.is_infinite() {
        0.0
    } else if magnitude < 25.0 {
        power_series(magnitude) * (-magnitude).exp()
    } else {
        asymptotic_series(magnitude)
    };
    value.copysign(x)
}

/// `I1(x)`: a sum of positive terms, of which there are too many to round each to `f64`.
fn power_series(x: f64) -> f64 {
    let quarter_square = Wide::product(0.5 * x, 0.5 * x);
    let mut term = Wide::from(0.5 * x);
    let mut sum = term;
    let mut k = 1.0;
    while term.value() > sum.value() * 1e-18 {
        term = term * quarter_square / Wide::from(k * (k + 1.0));
        sum = sum + term;
        k += 1.0;
    }
    sum.value()
}

/// `e^-x I1(x)` for large `x`. The smallest term comes after about `2 x` others, far below the precision.
fn asymptotic_series(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..=30 {
        let odd = f64::from(2 * k - 1);
        term *= -(4.0 - odd * odd) / (8.0 * f64::from(k) * x);
        sum += term;
    }
    // The product under the root would overflow before the root does.
    sum / (2.0 * std::f64::consts::PI).sqrt() / x.sqrt()
}
