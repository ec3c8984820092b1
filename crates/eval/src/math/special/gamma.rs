//! Logarithm of the gamma function.

use super::{STIRLING_FROM, bernoulli};
use crate::math::wide::Wide;

/// Values of the zeta function at 2, 3, 4 and 5.
const ZETA: [f64; 4] = [
    1.644_934_066_848_226_4,
    1.202_056_903_159_594_2,
    1.082_323_233_711_138_1,
    1.036_927_755_143_37,
];

/// The logarithm of the magnitude of the gamma function; infinite at its poles and at both infinities.
pub(in crate::math) fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.is_infinite() || x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    if x.abs() < 1e-30 {
        return -x.abs().ln();
    }
    if x > 1e200 {
        return x * (x.ln() - 1.0);
    }
    if x > 0.0 {
        return positive(Wide::from(x)).value();
    }
    // |gamma(x) gamma(1 - x)| = pi / |sin pi x|, the angle taken from the nearest integer.
    let [sine, _] = Wide::from(x - x.round()).sin_cos_pi();
    (Wide::LN_PI - sine.abs().ln() - positive(Wide::sum(1.0, -x))).value()
}

fn positive(x: Wide) -> Wide {
    for (zero, at_two) in [(1.0, false), (2.0, true)] {
        let distance = x - Wide::from(zero);
        if distance.value().abs() < 1e-6 {
            return near_zero(distance, at_two);
        }
    }
    stirling(x)
}

/// The series around 1 or 2, where the logarithm is 0: `-gamma e + zeta(2) e^2 / 2 - ..` (Abramowitz and Stegun, 6.1.33).
fn near_zero(distance: Wide, at_two: bool) -> Wide {
    let base = if at_two { 1.0 } else { 0.0 };
    let mut power = distance;
    let mut sum = (Wide::from(base) - Wide::EULER_GAMMA) * distance;
    for (index, zeta) in (2_i32..).zip(ZETA) {
        power = -(power * distance);
        // The signs alternate with a plus at the square.
        sum = sum - power * Wide::from((zeta - base) / f64::from(index));
    }
    sum
}

/// Stirling's series (Abramowitz and Stegun, 6.1.40) after steps up with gamma(x + 1) = x gamma(x).
fn stirling(x: Wide) -> Wide {
    let mut from = x;
    let mut product = Wide::ONE;
    while from.value() < STIRLING_FROM {
        product = product * from;
        from = from + Wide::ONE;
    }
    let mut sum = (from - Wide::from(0.5)) * from.ln() - from + Wide::HALF_LN_TWO_PI - product.ln();
    if from.value() > 1e30 {
        return sum;
    }
    let square = from * from;
    let mut power = Wide::ONE / from;
    for (index, number) in bernoulli() {
        sum = sum + number / Wide::from(index * (index - 1.0)) * power;
        power = power / square;
    }
    sum
}
