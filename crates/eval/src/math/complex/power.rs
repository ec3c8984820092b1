//! Roots, powers and the angle of two complex numbers.

use super::Complex;
use super::arithmetic::{add, divide, multiply};
use super::exponential::ln;
use crate::math::wide::Wide;

/// The square root with a real part that is not negative (C99 G.6.4.2); cut on the negative real line.
pub(in crate::math) fn sqrt(z: Complex) -> Complex {
    if z.im.is_infinite() {
        return Complex::new(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        let zero_or_nan = if z.im.is_nan() { f64::NAN } else { 0.0 };
        return if z.re > 0.0 {
            Complex::new(f64::INFINITY, zero_or_nan.copysign(z.im))
        } else {
            Complex::new(zero_or_nan, f64::INFINITY.copysign(z.im))
        };
    }
    if z.is_nan() {
        return Complex::NAN;
    }
    if z.re == 0.0 && z.im == 0.0 {
        return Complex::new(0.0, z.im);
    }
    let larger = larger_part_of_root(z);
    let smaller = Wide::from(z.im.abs()) / (larger * Wide::from(2.0));
    if z.re >= 0.0 {
        Complex::new(larger.value(), smaller.value().copysign(z.im))
    } else {
        Complex::new(smaller.value(), larger.value().copysign(z.im))
    }
}

/// The larger part of the root, by magnitude: half the sum of the larger part of `z` and its length, of which the root is
/// taken. Near the ends of the range it is that of a scaled number, so that nothing on the way overflows or is subnormal.
fn larger_part_of_root(z: Complex) -> Wide {
    let shift = match z.re.abs().max(z.im.abs()) {
        largest if largest < 1e-290 => 200,
        largest if largest > 1e290 => -200,
        _ => 0,
    };
    let [re, im] = [z.re.abs(), z.im].map(|part| Wide::from(part).scaled(2 * shift));
    ((re + re.hypot(im)) * Wide::from(0.5)).sqrt().scaled(-shift)
}

/// 1 / sqrt z.
pub(in crate::math) fn rsqrt(z: Complex) -> Complex {
    divide(Complex::new(1.0, 0.0), sqrt(z))
}

/// `(x - y) (x + y) + 2 i x y`.
pub(in crate::math) fn square(z: Complex) -> Complex {
    let im = 2.0 * (z.re * z.im);
    // Equal magnitudes cancel, even where their squares overflow; two infinities have no difference.
    if z.re.abs() == z.im.abs() && z.re.is_finite() {
        return Complex::new(0.0, im);
    }
    let re = if z.is_infinite() {
        z.re.abs() - z.im.abs()
    } else {
        (z.re - z.im) * (z.re + z.im)
    };
    Complex::new(re, im)
}

/// The cube root with the smallest angle: magnitude and angle apart (spec, "cbrt").
pub(in crate::math) fn cbrt(z: Complex) -> Complex {
    // A length among the subnormal numbers has few digits: that of 2^60 times the number is taken.
    const SHIFT: i32 = 20;
    let small = z.re.abs().max(z.im.abs()) < f64::MIN_POSITIVE * 4.0;
    let length = if small {
        let up = 2.0_f64.powi(3 * SHIFT);
        (z.re * up).hypot(z.im * up).cbrt() * 2.0_f64.powi(-SHIFT)
    } else {
        z.re.hypot(z.im).cbrt()
    };
    if length == 0.0 {
        return z;
    }
    let angle = z.im.atan2(z.re) / 3.0;
    Complex::new(length * angle.cos(), length * angle.sin())
}

/// `base` to the power of `power` on the principal branch. 0 to a positive real power is 0, and anything to the power 0 is 1.
pub(in crate::math) fn powc(base: Complex, power: Complex) -> Complex {
    let is_zero = base.re == 0.0 && base.im == 0.0;
    if power.re == 0.0 && power.im == 0.0 {
        return Complex::new(1.0, 0.0);
    }
    if is_zero && power.re > 0.0 && power.im == 0.0 {
        return Complex::new(0.0, 0.0);
    }
    let Complex {
        re: logarithm,
        im: angle,
    } = ln(base);
    let length = base.re.hypot(base.im).powf(power.re) * (-power.im * angle).exp();
    let turn = (Wide::product(power.re, angle) + Wide::product(power.im, logarithm)).value();
    Complex::new(length * turn.cos(), length * turn.sin())
}

/// The angle of the point (`x`, `y`): `-i ln ((x + i y) / sqrt(x^2 + y^2))` (spec, "atan2").
pub(in crate::math) fn atan2(y: Complex, x: Complex) -> Complex {
    let length = sqrt(add(multiply(x, x), multiply(y, y)));
    ln(divide(add(x, y.times_i()), length)).times_minus_i()
}
