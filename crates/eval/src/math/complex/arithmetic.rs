//! The four operations, magnitude and sign.

use super::Complex;
use crate::math::scaling::{exponent, scale};
use crate::math::wide::Wide;

/// Part by part.
pub(in crate::math) fn add(a: Complex, b: Complex) -> Complex {
    Complex::new(a.re + b.re, a.im + b.im)
}

/// Part by part.
pub(in crate::math) fn subtract(a: Complex, b: Complex) -> Complex {
    Complex::new(a.re - b.re, a.im - b.im)
}

/// Part by part.
pub(in crate::math) const fn negate(a: Complex) -> Complex {
    Complex::new(-a.re, -a.im)
}

/// The product by its definition, without recovery of infinities (spec, "multiply": IEEE-754 arithmetic on the parts).
pub(in crate::math) fn multiply(a: Complex, b: Complex) -> Complex {
    Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/// The quotient (C99 Annex G.5.1): scaled so that nothing overflows on the way, with infinities recovered.
pub(in crate::math) fn divide(a: Complex, b: Complex) -> Complex {
    let is_zero = |z: Complex| z.re == 0.0 && z.im == 0.0;
    if a.is_nan() || b.is_nan() || a.is_infinite() || b.is_infinite() || is_zero(b) {
        return divide_special(a, b);
    }
    if is_zero(a) {
        let quotient = multiply(a, Complex::new(b.re, -b.im));
        return Complex::new(0.0_f64.copysign(quotient.re), 0.0_f64.copysign(quotient.im));
    }
    let shift_a = exponent(a.re.abs().max(a.im.abs()));
    let shift_b = exponent(b.re.abs().max(b.im.abs()));
    let [ar, ai] = [a.re, a.im].map(|part| scale(part, -shift_a));
    let [br, bi] = [b.re, b.im].map(|part| scale(part, -shift_b));
    let denominator = Wide::product(br, br) + Wide::product(bi, bi);
    let re = (Wide::product(ar, br) + Wide::product(ai, bi)) / denominator;
    let im = (Wide::product(ai, br) - Wide::product(ar, bi)) / denominator;
    Complex::new(
        scale(re.value(), shift_a - shift_b),
        scale(im.value(), shift_a - shift_b),
    )
}

fn divide_special(a: Complex, b: Complex) -> Complex {
    let magnitude = b.re.abs().max(b.im.abs());
    if b.re == 0.0 && b.im == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        return Complex::new(infinity * a.re, infinity * a.im);
    }
    let boxed = |part: f64| {
        if part.is_infinite() {
            1.0_f64.copysign(part)
        } else {
            0.0_f64.copysign(part)
        }
    };
    let finite = |z: Complex| z.re.is_finite() && z.im.is_finite();
    if a.is_infinite() && finite(b) {
        let (re, im) = (boxed(a.re), boxed(a.im));
        return Complex::new(
            f64::INFINITY * (re * b.re + im * b.im),
            f64::INFINITY * (im * b.re - re * b.im),
        );
    }
    if magnitude.is_infinite() && finite(a) {
        let (re, im) = (boxed(b.re), boxed(b.im));
        return Complex::new(0.0 * (a.re * re + a.im * im), 0.0 * (a.im * re - a.re * im));
    }
    Complex::NAN
}

/// The magnitude; infinite if a part is infinite (spec, "abs").
pub(in crate::math) fn abs(z: Complex) -> f64 {
    z.re.hypot(z.im)
}

/// `z / |z|`; 0 for 0, not a number in both parts if one is (spec, "sign").
pub(in crate::math) fn sign(z: Complex) -> Complex {
    if z.is_nan() || z.is_infinite() {
        return Complex::NAN;
    }
    let largest = z.re.abs().max(z.im.abs());
    if largest == 0.0 {
        return Complex::new(0.0, 0.0);
    }
    let shift = exponent(largest);
    let [re, im] = [z.re, z.im].map(|part| Wide::from(scale(part, -shift)));
    let length = re.hypot(im);
    Complex::new((re / length).value(), (im / length).value())
}
