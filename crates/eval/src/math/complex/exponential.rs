//! Exponential and logarithm.

use super::Complex;
use super::arithmetic::{add, divide, negate};
use crate::math::scaling::{exponent, scale};
use crate::math::wide::Wide;

/// `factor * e^power`, which overflows only where the result does: `factor` may be tiny.
pub(super) fn times_exp(factor: f64, power: f64) -> f64 {
    /// e^700, rounded.
    const STEP: f64 = 1.014_232_054_735_004_5e304;
    if power > 700.0 && power < 2200.0 {
        // The subtraction is exact: both numbers are multiples of a unit in the last place of the larger.
        times_exp(factor, power - 700.0) * STEP
    } else {
        factor * power.exp()
    }
}

/// e to the power of `z`. An infinite imaginary part gives not a number in both parts, whatever the real part is, as
/// StableHLO's tables have it.
pub(in crate::math) fn exp(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(z.re.exp(), z.im);
    }
    if !z.im.is_finite() {
        return Complex::NAN;
    }
    Complex::new(times_exp(z.im.cos(), z.re), times_exp(z.im.sin(), z.re))
}

/// `e^z - 1`. The real part is `(e^x - 1) cos y - 2 sin^2 (y / 2)`; its error is relative to the larger term.
pub(in crate::math) fn exp_m1(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(z.re.exp_m1(), z.im);
    }
    let power = exp(z);
    if z.re > 700.0 || !z.im.is_finite() {
        return power;
    }
    let half = (0.5 * z.im).sin();
    let re = Wide::product(z.re.exp_m1(), z.im.cos()) - Wide::product(2.0 * half, half);
    Complex::new(re.value(), power.im)
}

/// 1 / (1 + e^-z) (spec, "logistic"), with e^-|x| alone, which does not overflow, and with sums of terms of one sign, which
/// do not cancel near the poles.
pub(in crate::math) fn logistic(z: Complex) -> Complex {
    if !z.re.is_finite() || !z.im.is_finite() {
        let one = Complex::new(1.0, 0.0);
        return if z.re < 0.0 {
            let power = exp(z);
            divide(power, add(one, power))
        } else {
            divide(one, add(one, exp(negate(z))))
        };
    }
    let shrunk = (-z.re.abs()).exp();
    let rest = -(-z.re.abs()).exp_m1();
    // 1 + cos y.
    let turn = 2.0 * (z.im / 2.0).cos().powi(2);
    let divisor = rest * rest + 2.0 * shrunk * turn;
    let re = if z.re < 0.0 {
        shrunk * (turn - rest)
    } else {
        rest + shrunk * turn
    };
    Complex::new(re / divisor, shrunk * z.im.sin() / divisor)
}

/// The natural logarithm.
pub(in crate::math) fn ln(z: Complex) -> Complex {
    Complex::new(ln_abs(z.re, z.im), z.im.atan2(z.re))
}

/// The logarithm of the magnitude.
pub(super) fn ln_abs(re: f64, im: f64) -> f64 {
    let largest = re.abs().max(im.abs());
    if re.is_infinite() || im.is_infinite() {
        return f64::INFINITY;
    }
    if re.is_nan() || im.is_nan() {
        return f64::NAN;
    }
    if largest == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Squares of numbers between these bounds are in range; others are scaled, and then the logarithm is far from 0.
    let shift = if (1e-140..1e140).contains(&largest) {
        0
    } else {
        exponent(largest)
    };
    let [re, im] = [re, im].map(|part| scale(part, -shift));
    let squares = [Wide::product(re, re), Wide::product(im, im)];
    let excess = Wide::exact_sum(squares.into_iter().flat_map(Wide::parts).chain([-1.0]));
    let half_logarithm = half_ln_of_one_plus(excess, squares[0] + squares[1]);
    if shift == 0 {
        half_logarithm
    } else {
        (Wide::LN_2 * Wide::from(f64::from(shift)) + Wide::from(half_logarithm)).value()
    }
}

/// Half the logarithm of `square`, which is one plus `excess`: of two forms the one that loses nothing.
fn half_ln_of_one_plus(excess: Wide, square: Wide) -> f64 {
    if excess.value() > -0.5 && excess.value() < 3.0 {
        0.5 * excess.ln_1p()
    } else {
        let [high, low] = square.parts();
        0.5 * (high.ln() + low / high)
    }
}

/// `ln (1 + z)`, accurate where `1 + z` rounds.
pub(in crate::math) fn ln_1p(z: Complex) -> Complex {
    let angle = z.im.atan2(1.0 + z.re);
    let largest = z.re.abs().max(z.im.abs());
    // From here on 1 is too small to count; up to there nothing overflows. In between, `1 + re` is exact near -1.
    let magnitude = if largest > 1e140 || z.is_nan() {
        ln_abs(z.re, z.im)
    } else if (-2.0..=-0.5).contains(&z.re) {
        ln_abs(1.0 + z.re, z.im)
    } else {
        let squares = [Wide::product(z.re, z.re), Wide::product(z.im, z.im)];
        let terms = squares.into_iter().flat_map(Wide::parts).chain([2.0 * z.re]);
        let excess = Wide::exact_sum(terms);
        half_ln_of_one_plus(excess, Wide::ONE + excess)
    };
    Complex::new(magnitude, angle)
}
