//! Hurwitz zeta function and polygamma of `f32` and `f64`.

use super::special::{BERNOULLI, digamma, ln_gamma};
use crate::term::Term;

/// Terms of the series before the rest is taken from Euler and Maclaurin's formula.
const TERMS: u32 = 9;

/// The sum of `(q + k)^-x` over `k` from 0. Infinite at its poles; not a number for `x` under 1 and for negative `q` unless `x`
/// is an integer.
pub(super) fn zeta<'g>(x: Term<'g>, q: Term<'g>) -> Term<'g> {
    // For negative q the terms before 0 are those of the series from `1 - f` up to `-q`, where `f` is the first positive q + k.
    let fraction = q - q.floor();
    let is_negative = q.below(0.0);
    let first = positive(x, fraction.when(is_negative, q));
    let before = positive(x, 1.0 - fraction) - positive(x, 1.0 - q);
    let is_even = (x - 2.0 * (0.5 * x).floor()).is(0.0);
    let negative = (first + before).when(is_even, first - before);
    let value = negative.when(is_negative, first);
    let value = value.unless(is_negative & x.ne(x.floor()), f64::NAN);
    let is_pole = q.le(q.splat(0.0)) & q.eq(q.floor());
    let value = value.unless(is_pole | x.is(1.0), f64::INFINITY);
    value.unless(x.below(1.0) | x.is_nan() | q.is_nan(), f64::NAN)
}

/// Euler and Maclaurin's formula (Abramowitz and Stegun, 23.1.30) after some terms of the sum.
fn positive<'g>(x: Term<'g>, q: Term<'g>) -> Term<'g> {
    let from = q + f64::from(TERMS);
    let power = from.pow(-x);
    let integral = from.pow(1.0 - x) / (x - 1.0);
    // B(2 k) / (2 k)! x (x + 1) .. (x + 2 k - 2) from^(1 - x - 2 k)
    let mut factor = x * power / from;
    let mut factorial = 2.0;
    let mut rest = x.splat(0.0);
    for (k, [numerator, denominator]) in BERNOULLI.into_iter().enumerate() {
        let index = 2.0 * (k as f64 + 1.0);
        rest = rest + factor * (numerator / denominator / factorial);
        factor = factor * ((x + (index - 1.0)) / from) * ((x + index) / from);
        factorial *= (index + 1.0) * (index + 2.0);
    }
    // Where the power vanishes its factors may be infinite.
    let rest = rest.unless(power.is(0.0), 0.0);
    let mut sum = integral + (0.5 * power + rest);
    for k in (0..TERMS).rev() {
        sum = (q + f64::from(k)).pow(-x) + sum;
    }
    sum
}

/// The derivative of order `n` of digamma; not a number unless `n` is an integer that is not negative.
pub(super) fn polygamma<'g>(n: Term<'g>, x: Term<'g>) -> Term<'g> {
    // The factorial in two equal factors, since it may overflow where the result does not.
    let half = (0.5 * ln_gamma(n + 1.0)).exp();
    let magnitude = half * zeta(n + 1.0, x) * half;
    let is_even = (n - 2.0 * (0.5 * n).floor()).is(0.0);
    let value = (-magnitude).when(is_even, magnitude);
    let value = value.unless(n.below(0.0) | n.ne(n.floor()), f64::NAN);
    digamma(x).when(n.is(0.0), value)
}
