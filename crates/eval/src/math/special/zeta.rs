//! Hurwitz zeta function and polygamma.

use super::gamma::ln_gamma;
use super::{bernoulli, digamma};

/// The sum of `(q + k)^-x` over `k` from 0. Infinite at its poles; not a number for `x` under 1 and, as in XLA, for negative `q`
/// unless `x` is an integer.
pub(in crate::math) fn zeta(x: f64, q: f64) -> f64 {
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if x == 1.0 {
        return f64::INFINITY;
    }
    if q > 0.0 {
        return positive(x, q);
    }
    if q == q.floor() {
        // One of the terms is infinite: the sign is that of 0 to an odd power where there is one.
        return f64::INFINITY;
    }
    if x != x.floor() {
        return f64::NAN;
    }
    // The terms before 0 are those of the series from `1 - f` up to `-q`, where `f` is the first positive `q + k`.
    let fraction = q - q.floor();
    let sign = if x % 2.0 == 0.0 { 1.0 } else { -1.0 };
    let before = positive(x, 1.0 - fraction) - positive(x, 1.0 - q);
    positive(x, fraction) + sign * before
}

/// Euler and Maclaurin's formula after some terms of the sum.
fn positive(x: f64, q: f64) -> f64 {
    const TERMS: i32 = 20;
    let mut sum = 0.0;
    for k in (0..TERMS).rev() {
        sum += (q + f64::from(k)).powf(-x);
    }
    let from = q + f64::from(TERMS);
    let power = from.powf(-x);
    if power == 0.0 || from.is_infinite() {
        return sum;
    }
    let mut rest = from * power / (x - 1.0) + 0.5 * power;
    // B2k x (x + 1) .. (x + 2k - 2) / (2k)! (q + n)^-(x + 2k - 1)
    let mut factor = x * power / from / 2.0;
    for (index, number) in bernoulli() {
        let term = number.value() * factor;
        rest += term;
        if term.abs() < 1e-18 * rest.abs() {
            break;
        }
        factor *= (x + index - 1.0) * (x + index) / ((index + 1.0) * (index + 2.0) * from * from);
    }
    sum + rest
}

/// The derivative of order `n` of digamma; not a number unless `n` is an integer that is not negative.
pub(in crate::math) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n < 0.0 || n != n.floor() || n.is_nan() {
        return f64::NAN;
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * factorial(n) * zeta(n + 1.0, x)
}

fn factorial(n: f64) -> f64 {
    if n <= 170.0 {
        (1..=n as i32).fold(1.0, |product, k| product * f64::from(k))
    } else {
        ln_gamma(n + 1.0).exp()
    }
}
