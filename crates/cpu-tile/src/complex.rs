//! Complex arithmetic by the definitions of the specification. `complex<f32>` is computed in `f64`, in which its products are
//! exact, and rounded once.

use std::marker::PhantomData;

use crate::arithmetic::{Number, Signed};
use crate::element::{Complex, Element};
use crate::map::{Map1, Map2};

impl<T> Complex<T> {
    #[inline(always)]
    pub(crate) const fn new(re: T, im: T) -> Self {
        Self { re, im }
    }
}

/// Ordered by real part, then by imaginary part; unordered numbers are not above.
macro_rules! is_above {
    ($a:expr, $b:expr) => {
        if $a.re == $b.re {
            $a.im > $b.im
        } else {
            $a.re > $b.re
        }
    };
}

macro_rules! numbers {
    ($($part:ty: $divide:ident;)*) => {$(
        impl Number for Complex<$part> {
            const ADD: Self = Self::new(-0.0, -0.0);
            const MULTIPLY: Self = Self::new(1.0, 0.0);
            const MAXIMUM: Self = Self::new(<$part>::NEG_INFINITY, <$part>::NEG_INFINITY);
            const MINIMUM: Self = Self::new(<$part>::INFINITY, <$part>::INFINITY);

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::new(self.re + other.re, self.im + other.im)
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                let [a, b, c, d] = [self.re, self.im, other.re, other.im].map(f64::from);
                Self::new((a * c - b * d) as $part, (a * d + b * c) as $part)
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                if is_above!(self, other) { self } else { other }
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                if is_above!(other, self) { self } else { other }
            }
        }

        impl Signed for Complex<$part> {
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                Self::new(self.re - other.re, self.im - other.im)
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                $divide(self, other)
            }

            #[inline(always)]
            fn negate(self) -> Self {
                Self::new(-self.re, -self.im)
            }
        }

        impl Map1 for Magnitude<$part> {
            type In = Complex<$part>;
            type Out = $part;

            #[inline(always)]
            fn apply(z: Complex<$part>) -> $part {
                libm::hypot(f64::from(z.re), f64::from(z.im)) as $part
            }
        }

        impl Map1 for Conjugate<$part> {
            type In = Complex<$part>;
            type Out = Complex<$part>;

            #[inline(always)]
            fn apply(z: Complex<$part>) -> Complex<$part> {
                Complex::new(z.re, -z.im)
            }
        }
    )*};
}
numbers! {
    f32: divide_single;
    f64: divide;
}

/// The magnitude; infinite if a part is.
pub(crate) struct Magnitude<T>(PhantomData<T>);

/// The real part.
pub(crate) struct RealPart<T>(PhantomData<T>);

/// The imaginary part.
pub(crate) struct ImaginaryPart<T>(PhantomData<T>);

/// The number with the other sign of the imaginary part.
pub(crate) struct Conjugate<T>(PhantomData<T>);

/// A complex number from its parts.
pub(crate) struct FromParts<T>(PhantomData<T>);

impl<T: Element> Map1 for RealPart<T>
where
    Complex<T>: Element,
{
    type In = Complex<T>;
    type Out = T;

    #[inline(always)]
    fn apply(z: Complex<T>) -> T {
        z.re
    }
}

impl<T: Element> Map1 for ImaginaryPart<T>
where
    Complex<T>: Element,
{
    type In = Complex<T>;
    type Out = T;

    #[inline(always)]
    fn apply(z: Complex<T>) -> T {
        z.im
    }
}

impl<T: Element> Map2 for FromParts<T>
where
    Complex<T>: Element,
{
    type In = T;
    type Out = Complex<T>;

    #[inline(always)]
    fn apply(re: T, im: T) -> Complex<T> {
        Complex::new(re, im)
    }
}

/// The quotient of numbers whose products are exact in `f64` and far from its limits.
#[inline(always)]
fn divide_single(a: Complex<f32>, b: Complex<f32>) -> Complex<f32> {
    let [a, b] = [a, b].map(|z| Complex::new(f64::from(z.re), f64::from(z.im)));
    let denominator = b.re * b.re + b.im * b.im;
    let re = (a.re * b.re + a.im * b.im) / denominator;
    let im = (a.im * b.re - a.re * b.im) / denominator;
    // An operand that is infinite or not a number, or a divisor of 0, makes a part so, or a denominator.
    let quotient = if re.is_finite() && im.is_finite() && denominator.is_finite() && (re != 0.0 || im != 0.0)
    {
        Complex::new(re, im)
    } else {
        divide(a, b)
    };
    Complex::new(quotient.re as f32, quotient.im as f32)
}

/// The quotient (C99 Annex G.5.1): scaled so that nothing overflows on the way, with infinities recovered.
fn divide(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let is_finite = |z: Complex<f64>| z.re.is_finite() && z.im.is_finite();
    let is_zero = |z: Complex<f64>| z.re == 0.0 && z.im == 0.0;
    if !is_finite(a) || !is_finite(b) || is_zero(b) {
        return divide_special(a, b);
    }
    if is_zero(a) {
        let quotient = product_with_conjugate(a, b);
        return Complex::new(0.0_f64.copysign(quotient.re), 0.0_f64.copysign(quotient.im));
    }
    let (shift_a, shift_b) = (exponent(a), exponent(b));
    let [a, b] = [(a, shift_a), (b, shift_b)]
        .map(|(z, shift)| Complex::new(libm::scalbn(z.re, -shift), libm::scalbn(z.im, -shift)));
    let denominator = b.re.mul_add(b.re, b.im * b.im);
    // What was rounded away from it.
    let square = b.im * b.im;
    let rest = b.im.mul_add(b.im, -square) + (b.re.mul_add(b.re, square - denominator));
    let quotient = |numerator: f64| {
        let quotient = numerator / denominator;
        let error = (-quotient).mul_add(denominator, numerator) - quotient * rest;
        libm::scalbn(quotient + error / denominator, shift_a - shift_b)
    };
    let numerator = product_with_conjugate(a, b);
    Complex::new(quotient(numerator.re), quotient(numerator.im))
}

/// `a` times the conjugate of `b`, each part within two units in the last place (Kahan's difference of products).
fn product_with_conjugate(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let sum_of_products = |a: f64, b: f64, c: f64, d: f64| {
        let product = c * d;
        let error = c.mul_add(d, -product);
        a.mul_add(b, product) + error
    };
    Complex::new(
        sum_of_products(a.re, b.re, a.im, b.im),
        sum_of_products(a.im, b.re, -a.re, b.im),
    )
}

/// The exponent of the larger part of a finite number that is not 0.
fn exponent(z: Complex<f64>) -> i32 {
    let larger = if z.re.abs() > z.im.abs() {
        z.re.abs()
    } else {
        z.im.abs()
    };
    libm::ilogb(larger)
}

fn divide_special(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let is_finite = |z: Complex<f64>| z.re.is_finite() && z.im.is_finite();
    let is_infinite = |z: Complex<f64>| z.re.is_infinite() || z.im.is_infinite();
    let direction = |part: f64| if part.is_infinite() { 1.0_f64 } else { 0.0 }.copysign(part);
    let directions = |z: Complex<f64>| Complex::new(direction(z.re), direction(z.im));
    let times_conjugate =
        |a: Complex<f64>, b: Complex<f64>| Complex::new(a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im);
    if b.re == 0.0 && b.im == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        return Complex::new(infinity * a.re, infinity * a.im);
    }
    if is_infinite(a) && is_finite(b) {
        let product = times_conjugate(directions(a), b);
        return Complex::new(f64::INFINITY * product.re, f64::INFINITY * product.im);
    }
    if is_infinite(b) && is_finite(a) {
        let product = times_conjugate(a, directions(b));
        return Complex::new(0.0 * product.re, 0.0 * product.im);
    }
    Complex::new(f64::NAN, f64::NAN)
}
