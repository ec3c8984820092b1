//! Functions of complex numbers, by their parts.
//!
//! Inverse functions follow Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using
//! exception handling" (ACM TOMS 23, 1997): no term cancels, and what is large is scaled. Values at infinities and
//! not-a-number are those of C99's annex G.

use std::f64::consts::{FRAC_PI_2, LN_2};

use artifact_ir::op::Chlo;

use super::elementary::cosh_and_sinh;
use super::threshold;
use crate::term::Term;

/// A complex number by its parts.
#[derive(Clone, Copy)]
struct Complex<'g> {
    re: Term<'g>,
    im: Term<'g>,
}

impl<'g> Complex<'g> {
    fn times_i(self) -> Self {
        Self {
            re: -self.im,
            im: self.re,
        }
    }

    fn times_minus_i(self) -> Self {
        Self {
            re: self.im,
            im: -self.re,
        }
    }

    fn is_nan(self) -> Term<'g> {
        self.re.is_nan() | self.im.is_nan()
    }

    fn is_infinite(self) -> Term<'g> {
        self.re.is_infinite() | self.im.is_infinite()
    }

    fn when(self, condition: Term<'g>, other: Self) -> Self {
        Self {
            re: self.re.when(condition, other.re),
            im: self.im.when(condition, other.im),
        }
    }
}

/// A function of one complex number; `None` if it has no decomposition.
pub(super) fn function<'g>(op: &Chlo, operand: Term<'g>) -> Option<Term<'g>> {
    let z = Complex {
        re: operand.real(),
        im: operand.imag(),
    };
    let result = match op {
        Chlo::AsinAcosKernel => kernel(z),
        Chlo::Acos => acos(z),
        Chlo::Acosh => acosh(z),
        Chlo::Asin => asinh(z.times_i()).times_minus_i(),
        Chlo::Asinh => asinh(z),
        Chlo::Atan => atanh(z.times_i()).times_minus_i(),
        Chlo::Atanh => atanh(z),
        Chlo::Conj => Complex { re: z.re, im: -z.im },
        Chlo::Cosh => cosh(z),
        Chlo::Sinh => sinh(z),
        Chlo::Square => square(z),
        Chlo::Tan => tan(z),
        _ => return None,
    };
    Some(result.re.complex(result.im))
}

/// `sqrt(x^2 + y^2)` of magnitudes, without overflow before the result.
fn hypot<'g>(x: Term<'g>, y: Term<'g>) -> Term<'g> {
    let (large, small) = (x.max(y), x.min(y));
    let ratio = small / large;
    let length = large * (1.0 + ratio * ratio).sqrt();
    // Equal magnitudes are told apart for 0 and infinity, of which there is no quotient.
    (large * 2.0_f64.sqrt()).when(x.eq(y), length)
}

/// For magnitudes `x` and `y` of the parts: `D` with `asin z = atan2(x, D) ..`, and the magnitude of the imaginary part.
///
/// `D = sqrt((a + x) (a - x))` where `2 a` is the sum of the distances of `z` from 1 and -1; the imaginary part is `acosh a`.
fn kernel(z: Complex<'_>) -> Complex<'_> {
    let (x, y) = (z.re.abs(), z.im.abs());
    let [above, below] = [x + 1.0, x - 1.0];
    let (r, s) = (hypot(above, y), hypot(below.abs(), y));
    let a = 0.5 * (r + s);
    let tail = 1.0 / (r + above);
    let [near, far] = [s - below, s + below];
    // `a - x` and `a - 1` as sums of terms that are not negative, y or its square taken out where both have it.
    let inside = (0.5 * (a + x) * (y * y * tail + near)).sqrt();
    let outside = y * (0.5 * (a + x) * (tail + 1.0 / far)).sqrt();
    let distance = inside.when(x.le(x.splat(1.0)), outside);
    let half = 0.5 * (tail + 1.0 / near);
    let increment_inside = y * (y * half + (half * (a + 1.0)).sqrt());
    let excess = y * y * tail + far;
    let increment_outside = 0.5 * excess + (excess * (0.5 * (a + 1.0))).sqrt();
    let logarithm = increment_inside.when(x.below(1.0), increment_outside).ln_1p();
    let value = Complex {
        re: distance,
        im: logarithm,
    };
    let largest = x.max(y);
    let huge = threshold(x, 1e15, 1e100);
    let is_far = largest.above(huge) | z.is_infinite() | z.is_nan();
    far_kernel(x, y, largest, z.is_infinite()).when(is_far, value)
}

/// Far away asin z is about atan(x / y) + i ln (2 |z|). A scaled y would do for D; the quotient is what counts.
fn far_kernel<'g>(x: Term<'g>, y: Term<'g>, largest: Term<'g>, is_infinite: Term<'g>) -> Complex<'g> {
    let ratio = x.min(y) / largest;
    let logarithm = largest.ln() + LN_2 + 0.5 * (ratio * ratio).ln_1p();
    Complex {
        re: y,
        im: logarithm.unless(is_infinite, f64::INFINITY),
    }
}

fn asinh(z: Complex<'_>) -> Complex<'_> {
    let kernel = kernel(z.times_i());
    let value = Complex {
        re: kernel.im.with_sign_of(z.re),
        im: z.im.atan2(kernel.re),
    };
    let nan = z.re.splat(f64::NAN);
    let infinity = z.re.splat(f64::INFINITY).with_sign_of(z.re);
    let undefined = Complex {
        re: infinity.when(z.is_infinite(), nan),
        im: z.im.when(z.im.is(0.0), nan),
    };
    undefined.when(z.is_nan(), value)
}

fn acos(z: Complex<'_>) -> Complex<'_> {
    let kernel = kernel(z);
    let turned = -z.im;
    let value = Complex {
        re: kernel.re.atan2(z.re),
        im: kernel.im.with_sign_of(turned),
    };
    let nan = z.re.splat(f64::NAN);
    let infinity = z.re.splat(f64::INFINITY).with_sign_of(turned);
    let undefined = Complex {
        re: nan.unless(z.re.is(0.0), FRAC_PI_2),
        im: infinity.when(z.is_infinite(), nan),
    };
    undefined.when(z.is_nan(), value)
}

/// i acos z or -i acos z, whichever has a positive real part.
fn acosh(z: Complex<'_>) -> Complex<'_> {
    let Complex { re, im } = acos(z);
    Complex {
        re: im.abs(),
        im: re.with_sign_of(z.im),
    }
}

/// `ln(1 + 4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, (1 - x) (1 + x) - y^2) / 2`.
fn atanh(z: Complex<'_>) -> Complex<'_> {
    let (x, y) = (z.re.abs(), z.im.abs());
    let nearness = 1.0 - x;
    let square = y * y;
    let value = Complex {
        re: 0.25 * (4.0 * x / (nearness * nearness + square)).ln_1p(),
        im: 0.5 * (2.0 * y).atan2(nearness * (1.0 + x) - square),
    };
    // Next to the poles the square of y may vanish: ln (2 / y) / 2.
    let at_pole = Complex {
        re: 0.5 * (LN_2 - y.ln()),
        im: (0.5 * y.splat(2.0).atan2(-y)).unless(y.is(0.0), 0.0),
    };
    let is_at_pole = x.is(1.0) & y.below(threshold(x, 1e-4, 1e-9));
    let right_angle = x.splat(FRAC_PI_2);
    // Far away: about 1 / z, and the right angle. The squares of scaled parts neither overflow nor vanish.
    let scale = 2.0_f64.powf(threshold(x, -66.0, -514.0));
    let [scaled_x, scaled_y] = [x, y].map(|part| part * scale);
    let quotient = scaled_x / (scaled_x * scaled_x + scaled_y * scaled_y) * scale;
    let far = Complex {
        re: quotient.unless(z.is_infinite(), 0.0),
        im: right_angle.unless(y.is_nan(), f64::NAN),
    };
    let is_far = x.max(y).above(threshold(x, 1e9, 1e18)) | z.is_infinite();
    let value = far.when(is_far, at_pole.when(is_at_pole, value));
    let signed = Complex {
        re: value.re.with_sign_of(z.re),
        im: value.im.with_sign_of(z.im),
    };
    let nan = x.splat(f64::NAN);
    let undefined = Complex {
        re: z.re.when(x.is(0.0), nan),
        im: nan,
    };
    undefined.when(z.is_nan() & !z.is_infinite(), signed)
}

/// `cosh x` and `sinh x`, each times a factor; they overflow only where the results do.
fn hyperbolic_times<'g>(x: Term<'g>, factors: [Term<'g>; 2]) -> [Term<'g>; 2] {
    let [cosh, sinh] = cosh_and_sinh(x);
    // For a large x both are half of an exponential, which is multiplied in three parts: a factor may be tiny. The subtractions
    // are exact.
    let magnitude = x.abs();
    let step = threshold(x, 80.0, 700.0);
    let part = |done: f64| {
        let rest = magnitude - done;
        rest.max(x.splat(0.0)).min(x.splat(step)).exp()
    };
    let [half, second, third] = [0.5 * part(0.0), part(step), part(2.0 * step)];
    let large = |factor: Term<'g>| factor * half * second * third;
    let is_large = magnitude.above(step);
    [
        large(factors[0]).when(is_large, cosh * factors[0]),
        (large(factors[1]) * x.sign()).when(is_large, sinh * factors[1]),
    ]
}

/// `sinh x cos y + i cosh x sin y`.
fn sinh(z: Complex<'_>) -> Complex<'_> {
    let (sine, cosine) = (z.im.sin(), z.im.cos());
    let [im, re] = hyperbolic_times(z.re, [sine, cosine]);
    let [_, real] = cosh_and_sinh(z.re);
    let imaginary = Complex { re: z.re, im: sine };
    let value = imaginary.when(z.re.is(0.0), Complex { re, im });
    Complex { re: real, im: z.im }.when(z.im.is(0.0), value)
}

/// `cosh x cos y + i sinh x sin y`.
fn cosh(z: Complex<'_>) -> Complex<'_> {
    let (sine, cosine) = (z.im.sin(), z.im.cos());
    let [re, im] = hyperbolic_times(z.re, [cosine, sine]);
    let [real, _] = cosh_and_sinh(z.re);
    let imaginary = Complex {
        re: cosine,
        im: z.re * sine,
    };
    let value = imaginary.when(z.re.is(0.0), Complex { re, im });
    // The product of the signs of two zeros.
    let zero = z.re.splat(0.0).with_sign_of(z.re);
    let real = Complex {
        re: real,
        im: (-zero).when(z.im.has_sign(), zero),
    };
    real.when(z.im.is(0.0), value)
}

/// `(x - y) (x + y) + 2 i x y`. Equal magnitudes cancel, even where their squares overflow; two infinities have no difference.
fn square(z: Complex<'_>) -> Complex<'_> {
    let product = z.re * z.im;
    let larger = z.re.abs() - z.im.abs();
    let factors = (z.re - z.im) * (z.re + z.im);
    let re = larger.when(z.is_infinite(), factors);
    let cancels = z.re.abs().eq(z.im.abs()) & z.re.is_finite();
    Complex {
        re: re.unless(cancels, 0.0),
        im: product + product,
    }
}

/// tan z = -i tanh (i z).
fn tan(z: Complex<'_>) -> Complex<'_> {
    let turned = z.times_i();
    let tanh = turned.re.complex(turned.im).tanh();
    Complex {
        re: tanh.real(),
        im: tanh.imag(),
    }
    .times_minus_i()
}
