//! Trigonometric and hyperbolic functions.

use super::Complex;
use super::exponential::times_exp;

/// Above this magnitude `sinh` and `cosh` are half of an exponential.
const LARGE: f64 = 700.0;

/// `e^x / 2 * factor` of a large `x`: half of a factor may be 0 where the factor is not, so that half of e is taken.
fn half_exp_times(x: f64, factor: f64) -> f64 {
    times_exp(factor, x - 1.0) * (0.5 * std::f64::consts::E)
}

/// `cosh(x) * factor`, which overflows only where the result does.
fn cosh_times(x: f64, factor: f64) -> f64 {
    if x.abs() > LARGE {
        half_exp_times(x.abs(), factor)
    } else {
        x.cosh() * factor
    }
}

/// `sinh(x) * factor`, which overflows only where the result does.
fn sinh_times(x: f64, factor: f64) -> f64 {
    if x.abs() > LARGE {
        half_exp_times(x.abs(), factor) * 1.0_f64.copysign(x)
    } else {
        x.sinh() * factor
    }
}

/// `sinh x cos y + i cosh x sin y`.
pub(in crate::math) fn sinh(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(z.re.sinh(), z.im);
    }
    if z.re == 0.0 {
        return Complex::new(z.re, z.im.sin());
    }
    Complex::new(sinh_times(z.re, z.im.cos()), cosh_times(z.re, z.im.sin()))
}

/// `cosh x cos y + i sinh x sin y`.
pub(in crate::math) fn cosh(z: Complex) -> Complex {
    if z.im == 0.0 {
        let zero = 0.0_f64.copysign(z.re) * 1.0_f64.copysign(z.im);
        return Complex::new(z.re.cosh(), zero);
    }
    if z.re == 0.0 {
        return Complex::new(z.im.cos(), z.re * z.im.sin());
    }
    Complex::new(cosh_times(z.re, z.im.cos()), sinh_times(z.re, z.im.sin()))
}

/// `(sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)`: no term cancels.
pub(in crate::math) fn tanh(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(z.re.tanh(), z.im);
    }
    if z.re.abs() > 20.0 {
        // sinh^2 x is e^2x / 4 to full precision, and swallows cos^2 y.
        let double = if z.im.is_finite() {
            2.0 * z.im.sin() * z.im.cos()
        } else {
            0.0
        };
        let decay = (-2.0 * z.re.abs()).exp();
        return Complex::new(1.0_f64.copysign(z.re), 2.0 * double * decay);
    }
    let (sinh, cosh) = (z.re.sinh(), z.re.cosh());
    let (sine, cosine) = z.im.sin_cos();
    let denominator = sinh.mul_add(sinh, cosine * cosine);
    if sinh == 0.0 {
        // sin y / cos y, and a signed zero.
        return Complex::new(z.re / (cosine * cosine), z.im.tan());
    }
    Complex::new(sinh * cosh / denominator, sine * cosine / denominator)
}

/// sin z = -i sinh (i z).
pub(in crate::math) fn sin(z: Complex) -> Complex {
    sinh(z.times_i()).times_minus_i()
}

/// cos z = cosh (i z).
pub(in crate::math) fn cos(z: Complex) -> Complex {
    cosh(z.times_i())
}

/// tan z = -i tanh (i z).
pub(in crate::math) fn tan(z: Complex) -> Complex {
    tanh(z.times_i()).times_minus_i()
}
