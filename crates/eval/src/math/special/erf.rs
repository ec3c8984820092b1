//! Error functions.

use crate::math::wide::Wide;

/// Up to here the series is used, from here on the continued fraction.
const SERIES_TO: f64 = 2.5;

/// Error function.
pub(in crate::math) fn erf(x: f64) -> f64 {
    if x.abs() < SERIES_TO {
        series(x).value()
    } else if x.is_nan() {
        x
    } else {
        (1.0 - tail(x.abs())).copysign(x)
    }
}

/// One minus the error function.
pub(in crate::math) fn erfc(x: f64) -> f64 {
    if x.abs() < SERIES_TO {
        (Wide::ONE - series(x)).value()
    } else if x.is_nan() {
        x
    } else if x > 0.0 {
        tail(x)
    } else {
        2.0 - tail(-x)
    }
}

/// The series of the error function (Abramowitz and Stegun, 7.1.5). Its terms reach `e^(x^2)`, which twice the precision bears.
fn series(x: f64) -> Wide {
    if x.abs() < 1e-150 {
        return Wide::from(x * std::f64::consts::FRAC_2_SQRT_PI);
    }
    let square = Wide::product(x, x);
    let mut power = Wide::from(x);
    let mut sum = power;
    for n in 1..=70 {
        power = -(power * square / Wide::from(f64::from(n)));
        sum = sum + power / Wide::from(f64::from(2 * n + 1));
    }
    sum * Wide::TWO_OVER_SQRT_PI
}

/// The complementary function of a large number: `e^(-x^2) / sqrt(pi)` times a continued fraction (Abramowitz and Stegun,
/// 7.1.14), from its end.
fn tail(x: f64) -> f64 {
    if x > 30.0 {
        return 0.0;
    }
    let fraction = (1..=100).rev().fold(x, |rest, k| x + 0.5 * f64::from(k) / rest);
    let [high, low] = Wide::product(x, x).parts();
    let quotient = (1.0 - low) * 0.5 * std::f64::consts::FRAC_2_SQRT_PI / fraction;
    if high < 700.0 {
        return (-high).exp() * quotient;
    }
    // The power may be subnormal where the result has not to be yet, so it is multiplied in halves.
    let half_power = (-0.5 * high).exp();
    half_power * quotient * half_power
}

/// The inverse of the error function; infinite at 1 and -1 and not a number beyond.
pub(in crate::math) fn erf_inv(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude.is_nan() || magnitude > 1.0 {
        return f64::NAN;
    }
    if magnitude == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if magnitude < 1e-10 {
        // The next term of the series is under the precision.
        return x / std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut root = inverse_estimate(magnitude);
    // Newton's method with Halley's correction triples the digits in each step; the estimate has two or three.
    for _ in 0..4 {
        let error = if magnitude < 0.5 || root < 0.5 {
            (series(root) - Wide::from(magnitude)).value()
        } else {
            (Wide::sum(1.0, -magnitude) - complement(root)).value()
        };
        let step = error / (std::f64::consts::FRAC_2_SQRT_PI * (-root * root).exp());
        root -= step / (1.0 + root * step);
    }
    root.copysign(x)
}

/// The complementary function in as much precision as there is.
fn complement(x: f64) -> Wide {
    if x < SERIES_TO {
        Wide::ONE - series(x)
    } else {
        Wide::from(tail(x))
    }
}

/// Winitzki's approximation of the inverse.
fn inverse_estimate(x: f64) -> f64 {
    const A: f64 = 0.147;
    let logarithm = (-x * x).ln_1p();
    let half = 1.0 / (std::f64::consts::FRAC_PI_2 * A) + 0.5 * logarithm;
    ((half * half - logarithm / A).sqrt() - half).sqrt()
}
