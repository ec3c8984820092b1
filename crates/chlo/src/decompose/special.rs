//! Special functions of an `f32` or `f64`.
//!
//! Each splits its domain so that no two large terms cancel, and uses the polynomials of [`super::coefficients`] between.

use std::f64::consts::PI;

use artifact_ir::types::ElementType;

use super::coefficients as c;
use super::{table, threshold};
use crate::term::Term;

/// From here on the error function is one minus its complement.
const COMPLEMENT_FROM: f64 = 0.5;

pub(super) fn erf(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let far = (1.0 - erfc_tail(magnitude)).with_sign_of(x);
    erf_near(x).when(magnitude.below(COMPLEMENT_FROM), far)
}

pub(super) fn erfc(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let tail = erfc_tail(magnitude);
    let far = (2.0 - tail).when(x.below(0.0), tail);
    (1.0 - erf_near(x)).when(magnitude.below(COMPLEMENT_FROM), far)
}

fn erf_near(x: Term<'_>) -> Term<'_> {
    let square = x * x;
    x * (8.0 * square - 1.0).polynomial(table(x, c::ERF_F32, c::ERF_F64))
}

/// The complementary function of a number from 1/2 on.
fn erfc_tail(magnitude: Term<'_>) -> Term<'_> {
    // The result is 0 from before these on, and the square stays finite.
    let x = magnitude.min(magnitude.splat(threshold(magnitude, 12.0, 30.0)));
    let ratio = ((x - 3.0) / (x + 2.0)).polynomial(table(x, c::ERFC_F32, c::ERFC_F64));
    // The square in two parts, the first of which is exact: the exponential of a rounded square is off by the square's size.
    let short = match x.element() {
        ElementType::F64 => x.reduce_precision(11, 25),
        _ => x.reduce_precision(8, 11),
    };
    let power = (-(short * short)).exp() * (-((x - short) * (x + short))).exp();
    power * ratio / (1.0 + 2.0 * x)
}

/// The inverse of the error function, by `w = -ln(1 - x^2)`; infinite at 1 and -1 and not a number beyond.
pub(super) fn erf_inv(x: Term<'_>) -> Term<'_> {
    let w = -((1.0 - x) * (1.0 + x)).ln();
    let root = w.sqrt();
    let ratio = if x.element() == ElementType::F64 {
        let near = (w / 3.0 - 1.0).polynomial(c::ERF_INV_NEAR_F64);
        let middle = ((root - 3.3) / 0.9).polynomial(c::ERF_INV_MIDDLE_F64);
        let far = (root - 5.2).polynomial(c::ERF_INV_FAR_F64);
        let beyond = middle.when(root.below(4.2), far);
        near.when(w.below(6.0), beyond)
    } else {
        let near = (w / 2.5 - 1.0).polynomial(c::ERF_INV_NEAR_F32);
        let far = (root - 3.2).polynomial(c::ERF_INV_FAR_F32);
        near.when(w.below(5.0), far)
    };
    (x * f64::INFINITY).when(x.abs().is(1.0), x * ratio)
}

/// From here on Stirling's series is used.
const STIRLING_FROM: f64 = 8.0;

/// Steps from there down to numbers under 2.
const STEPS: usize = 6;

/// `B(2 k)` for `k` from 1, as fractions.
pub(super) const BERNOULLI: [[f64; 2]; 12] = [
    [1.0, 6.0],
    [-1.0, 30.0],
    [1.0, 42.0],
    [-1.0, 30.0],
    [5.0, 66.0],
    [-691.0, 2730.0],
    [7.0, 6.0],
    [-3617.0, 510.0],
    [43867.0, 798.0],
    [-174_611.0, 330.0],
    [854_513.0, 138.0],
    [-236_364_091.0, 2730.0],
];

/// Coefficients of Stirling's series for the precision at hand: `B(2 k)` times a weight of `2 k`.
fn stirling(x: Term<'_>, weight: impl Fn(f64) -> f64) -> Vec<f64> {
    let count = if x.element() == ElementType::F64 { 10 } else { 4 };
    let terms = BERNOULLI.iter().take(count).enumerate();
    terms
        .map(|(k, [numerator, denominator])| numerator / denominator * weight(2.0 * (k as f64 + 1.0)))
        .collect()
}

/// `sin(pi x)` and `cos(pi x)` up to a common sign: the angle is taken from the nearest integer.
fn sin_cos_pi(x: Term<'_>) -> [Term<'_>; 2] {
    let angle = PI * (x - x.round());
    [angle.sin(), angle.cos()]
}

/// The logarithm of the magnitude of the gamma function; infinite at its poles and at both infinities.
pub(super) fn ln_gamma(x: Term<'_>) -> Term<'_> {
    let is_negative = x.below(0.0);
    let positive = ln_gamma_of_positive((1.0 - x).when(is_negative, x));
    // |gamma(x) gamma(1 - x)| = pi / |sin pi x|, which is 1 / |x| where the angle would be subnormal.
    let [sine, _] = sin_cos_pi(x);
    let sine = PI.recip() * sine.abs();
    let sine = x.abs().when(x.abs().below(threshold(x, 1e-6, 1e-12)), sine);
    let reflected = -sine.ln() - positive;
    let is_pole = x.le(x.splat(0.0)) & x.eq(x.floor());
    let value = reflected.when(is_negative, positive);
    value.unless(is_pole | x.is_infinite(), f64::INFINITY)
}

fn ln_gamma_of_positive(x: Term<'_>) -> Term<'_> {
    // Up to Stirling's range: gamma(x) = (x - 1) gamma(x - 1) down to below 2, or gamma(x) = gamma(x + 1) / x from below 1.
    let (mut rest, mut product) = (x, x.splat(1.0));
    for _ in 0..STEPS {
        let goes_on = rest.ge(rest.splat(2.0));
        let next = rest - 1.0;
        product = (product * next).when(goes_on, product);
        rest = next.when(goes_on, rest);
    }
    let is_small = x.below(1.0);
    let logarithm = x.when(is_small, product).ln();
    let u = x.when(is_small, rest - 1.0);
    let reduced = u * (u - 1.0) * (2.0 * u - 1.0).polynomial(table(x, c::LN_GAMMA_F32, c::LN_GAMMA_F64));
    let near = reduced + (-logarithm).when(is_small, logarithm);

    let logarithm = x.ln();
    let reciprocal = 1.0 / x;
    let series = (reciprocal * reciprocal).polynomial(&stirling(x, |index| 1.0 / (index * (index - 1.0))));
    let half_ln_two_pi = 0.5 * (2.0 * PI).ln();
    let far = x * (logarithm - 1.0) - 0.5 * logarithm + half_ln_two_pi + series * reciprocal;
    near.when(x.below(STIRLING_FROM), far)
}

/// The logarithmic derivative of the gamma function; not a number at its poles.
pub(super) fn digamma(x: Term<'_>) -> Term<'_> {
    let is_reflected = x.le(x.splat(0.0));
    let positive = digamma_of_positive((1.0 - x).when(is_reflected, x));
    // psi(x) = psi(1 - x) - pi / tan(pi x).
    let [sine, cosine] = sin_cos_pi(x);
    let reflected = positive - PI * cosine / sine;
    let is_pole = is_reflected & x.eq(x.floor());
    reflected.when(is_reflected, positive).unless(is_pole, f64::NAN)
}

fn digamma_of_positive(x: Term<'_>) -> Term<'_> {
    // psi(x) = psi(x - 1) + 1 / (x - 1) down to below 2, or psi(x) = psi(x + 1) - 1 / x from below 1.
    let (mut rest, mut sum) = (x, x.splat(0.0));
    for _ in 0..STEPS {
        let goes_on = rest.ge(rest.splat(2.0));
        let next = rest - 1.0;
        sum = (sum + 1.0 / next).when(goes_on, sum);
        rest = next.when(goes_on, rest);
    }
    let is_small = x.below(1.0);
    let u = x.when(is_small, rest - 1.0);
    let sum = (-1.0 / x).when(is_small, sum);
    let [root, rest_of_root] = if x.element() == ElementType::F64 {
        c::DIGAMMA_ROOT
    } else {
        let root = f64::from(c::DIGAMMA_ROOT[0] as f32);
        [root, c::DIGAMMA_ROOT[0] - root]
    };
    let distance = u - root - rest_of_root;
    let near = distance * (2.0 * u - 1.0).polynomial(table(x, c::DIGAMMA_F32, c::DIGAMMA_F64)) + sum;

    let reciprocal = 1.0 / x;
    let square = reciprocal * reciprocal;
    let series = square.polynomial(&stirling(x, f64::recip));
    let far = x.ln() - 0.5 * reciprocal - square * series;
    near.when(x.below(STIRLING_FROM), far)
}

/// `e^-|x| I1(x)`, the modified Bessel function of the first kind of order 1.
pub(super) fn bessel_i1e(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let ratio = (magnitude / 4.0 - 1.0).chebyshev(table(x, c::BESSEL_SMALL_F32, c::BESSEL_SMALL_F64));
    let near = x * (ratio / (1.0 + magnitude));
    let ratio = (16.0 / magnitude - 1.0).chebyshev(table(x, c::BESSEL_LARGE_F32, c::BESSEL_LARGE_F64));
    let far = (ratio / magnitude.sqrt()).with_sign_of(x);
    far.when(magnitude.above(8.0), near)
}
