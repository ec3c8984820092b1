//! Inverse trigonometric and hyperbolic functions.
//!
//! Arc sine and arc cosine follow Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using
//! exception handling" (1997). Their case distinctions against cancellation are kept; those against rounding are replaced by
//! arithmetic in twice the precision.

use super::Complex;
use super::exponential::ln_abs;
use crate::math::wide::Wide;

/// From here on one is too small to count beside a magnitude.
const HUGE: f64 = 1e140;

/// For `z` with magnitudes of parts `x` and `y`: `D` with `asin z = atan2(x, D) ..`, and the magnitude of the imaginary part.
///
/// `D = sqrt((a + x) (a - x))` where `2 a` is the sum of the distances of `z` from 1 and -1; the imaginary part is `acosh a`.
pub(in crate::math) fn asin_acos_kernel(z: Complex) -> Complex {
    let (x, y) = (z.re.abs(), z.im.abs());
    if z.is_infinite() || z.is_nan() || x.max(y) > HUGE {
        // asin z is about atan(x / y) + i ln (2 |z|). A scaled y would do for D; the quotient is what counts.
        let logarithm = ln_abs(x, y) + std::f64::consts::LN_2;
        return Complex::new(y, logarithm);
    }
    if x == 1.0 && y < 1e-30 {
        return Complex::new(y.sqrt(), y.sqrt());
    }
    let (one, wide_x, wide_y, half) = (Wide::ONE, Wide::from(x), Wide::from(y), Wide::from(0.5));
    let [above, below] = [Wide::sum(x, 1.0), Wide::sum(x, -1.0)];
    let r = above.hypot(wide_y);
    let s = below.hypot(wide_y);
    let a = (r + s) * half;
    let tail = one / (r + above);
    // `a - x` and `a - 1` as sums of terms that are not negative, y or its square taken out where both have it.
    let (distance, logarithm) = if x < 1.0 {
        let near = s - below;
        let distance = (half * (a + wide_x) * (wide_y * wide_y * tail + near)).sqrt();
        let quarter = half * (tail + one / near);
        let increment = wide_y * (wide_y * quarter + (quarter * (a + one)).sqrt());
        (distance.value(), increment.ln_1p())
    } else {
        let far = s + below;
        // x and y are both moderate or y is 0 only if x is over 1, so that `far` is not 0.
        let distance = wide_y * (half * (a + wide_x) * (tail + one / far)).sqrt();
        let excess = half * (wide_y * wide_y * tail + far);
        let increment = excess + (excess * (a + one)).sqrt();
        (distance.value(), increment.ln_1p())
    };
    Complex::new(distance, logarithm)
}

/// Arc sine; cuts on the real line outside [-1, 1].
pub(in crate::math) fn asin(z: Complex) -> Complex {
    if z.is_nan() {
        return asinh(z.times_i()).times_minus_i();
    }
    let kernel = asin_acos_kernel(z);
    Complex::new(z.re.atan2(kernel.re), kernel.im.copysign(z.im))
}

/// Arc cosine; cuts on the real line outside [-1, 1].
pub(in crate::math) fn acos(z: Complex) -> Complex {
    if z.is_nan() {
        let re = if z.re == 0.0 {
            std::f64::consts::FRAC_PI_2
        } else {
            f64::NAN
        };
        let im = if z.is_infinite() {
            f64::INFINITY.copysign(-z.im)
        } else {
            f64::NAN
        };
        return Complex::new(re, im);
    }
    let kernel = asin_acos_kernel(z);
    Complex::new(kernel.re.atan2(z.re), kernel.im.copysign(-z.im))
}

/// asinh z = -i asin (i z).
pub(in crate::math) fn asinh(z: Complex) -> Complex {
    if z.is_nan() {
        let re = if z.is_infinite() {
            f64::INFINITY.copysign(z.re)
        } else {
            f64::NAN
        };
        return Complex::new(re, if z.im == 0.0 { z.im } else { f64::NAN });
    }
    let kernel = asin_acos_kernel(z.times_i());
    Complex::new(kernel.im.copysign(z.re), z.im.atan2(kernel.re))
}

/// acosh z is i acos z or -i acos z, whichever has a positive real part.
pub(in crate::math) fn acosh(z: Complex) -> Complex {
    let Complex { re, im } = acos(z);
    Complex::new(im.abs(), re.copysign(z.im))
}

/// Inverse hyperbolic tangent: `ln(1 + 4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, (1 - x) (1 + x) - y^2) / 2`; cuts on the
/// real line outside [-1, 1].
pub(in crate::math) fn atanh(z: Complex) -> Complex {
    let (x, y) = (z.re.abs(), z.im.abs());
    let signed = |re: f64, im: f64| Complex::new(re.copysign(z.re), im.copysign(z.im));
    if z.is_infinite() {
        let im = if z.im.is_nan() {
            f64::NAN
        } else {
            std::f64::consts::FRAC_PI_2
        };
        return signed(0.0, im);
    }
    if z.is_nan() {
        return Complex::new(if z.re == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if x.max(y) > 1e30 {
        // About 1 / z, and the right angle: z^2 swallows 1.
        // Quarters, so that the length does not overflow.
        let [x, y] = [x, y].map(|part| Wide::from(part).scaled(-2));
        let length = x.hypot(y);
        let quotient = (x / length).value() / length.value();
        return signed(0.25 * quotient, std::f64::consts::FRAC_PI_2);
    }
    if x == 1.0 && y < 1e-30 {
        // ln (2 / y) / 2; the pole itself is infinite.
        let angle = if y == 0.0 { 0.0 } else { 0.5 * 2.0_f64.atan2(-y) };
        return signed(0.5 * (std::f64::consts::LN_2 - y.ln()), angle);
    }
    let nearness = Wide::sum(1.0, -x);
    let distance = nearness * nearness + Wide::product(y, y);
    let ratio = Wide::from(4.0 * x) / distance;
    let squares = [Wide::product(x, -x), Wide::product(y, -y)];
    let cosine = Wide::exact_sum(squares.into_iter().flat_map(Wide::parts).chain([1.0]));
    signed(0.25 * ratio.ln_1p(), 0.5 * (2.0 * y).atan2(cosine.value()))
}

/// atan z = -i atanh (i z).
pub(in crate::math) fn atan(z: Complex) -> Complex {
    atanh(z.times_i()).times_minus_i()
}
