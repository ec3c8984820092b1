//! Digamma.

use super::{STIRLING_FROM, bernoulli};
use crate::math::wide::Wide;

/// The logarithmic derivative of the gamma function; not a number at its poles, 0 and the negative integers, as in XLA.
pub(in crate::math) fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY || x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    if x.abs() < 1e-200 {
        return -1.0 / x;
    }
    if x > 0.0 {
        return positive(Wide::from(x)).value();
    }
    // psi(x) = psi(1 - x) - pi / tan(pi x), the angle taken from the nearest integer.
    let [sine, cosine] = Wide::from(x - x.round()).sin_cos_pi();
    (positive(Wide::sum(1.0, -x)) - Wide::PI * cosine / sine).value()
}

/// Stirling's series (Abramowitz and Stegun, 6.3.18) after steps up with psi(x) = psi(x + 1) - 1 / x.
fn positive(x: Wide) -> Wide {
    let mut from = x;
    let mut sum = Wide::ZERO;
    while from.value() < STIRLING_FROM {
        sum = sum - Wide::ONE / from;
        from = from + Wide::ONE;
    }
    sum = sum + from.ln() - Wide::from(0.5) / from;
    if from.value() > 1e30 {
        return sum;
    }
    let square = from * from;
    let mut power = Wide::ONE;
    for (index, number) in bernoulli() {
        power = power / square;
        sum = sum - number / Wide::from(index) * power;
    }
    sum
}
