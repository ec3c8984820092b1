//! Inverse trigonometric, hyperbolic and inverse hyperbolic functions of an `f32` or `f64`.
//!
//! The formulas lose nothing where the argument is near a zero or a singular point, and do not overflow before the result.

use std::f64::consts::LN_2;

use super::threshold;
use crate::term::Term;

/// `sqrt(1 - x^2)`; the product of the factors keeps what the square would lose near 1.
fn other_leg(x: Term<'_>) -> Term<'_> {
    ((1.0 - x) * (1.0 + x)).sqrt()
}

pub(super) fn acos(x: Term<'_>) -> Term<'_> {
    other_leg(x).atan2(x)
}

pub(super) fn asin(x: Term<'_>) -> Term<'_> {
    x.atan2(other_leg(x))
}

pub(super) fn atan(x: Term<'_>) -> Term<'_> {
    x.atan2(x.splat(1.0))
}

/// Above this 1 is too small to count beside a square.
fn huge(x: Term<'_>) -> f64 {
    threshold(x, 1e8, 1e16)
}

/// `ln(1 + t)` with `t = (x - 1) + sqrt((x - 1) (x + 1))`; not a number below 1.
pub(super) fn acosh(x: Term<'_>) -> Term<'_> {
    let above = x - 1.0;
    let near = (above + (above * (above + 2.0)).sqrt()).ln_1p();
    let far = x.ln() + LN_2;
    far.when(x.above(huge(x)), near).unless(x.below(1.0), f64::NAN)
}

/// `ln(1 + t)` with `t = x + x^2 / (1 + sqrt(1 + x^2))`, of the magnitude.
pub(super) fn asinh(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = (magnitude + square / (1.0 + (1.0 + square).sqrt())).ln_1p();
    let far = magnitude.ln() + LN_2;
    far.when(magnitude.above(huge(x)), near).with_sign_of(x)
}

/// `ln(1 + 2 x / (1 - x)) / 2`, of the magnitude; infinite at 1 and not a number beyond.
pub(super) fn atanh(x: Term<'_>) -> Term<'_> {
    let magnitude = x.abs();
    let value = 0.5 * (2.0 * magnitude / (1.0 - magnitude)).ln_1p();
    value.unless(magnitude.above(1.0), f64::NAN).with_sign_of(x)
}

/// `e^x / 2`, which overflows only where the result does: XLA's form, whose rounding is part of what programs expect.
fn half_exp(x: Term<'_>) -> Term<'_> {
    (x + -LN_2).exp()
}

pub(super) fn cosh(x: Term<'_>) -> Term<'_> {
    half_exp(x) + half_exp(-x)
}

pub(super) fn sinh(x: Term<'_>) -> Term<'_> {
    let large = half_exp(x) - half_exp(-x);
    small_sinh(x).when(x.abs().below(1.0), large)
}

/// For magnitudes below 1: with `t = e^x - 1`, half of `t + t / (t + 1)`.
fn small_sinh(x: Term<'_>) -> Term<'_> {
    let grown = x.exp_m1();
    0.5 * (grown + grown / (grown + 1.0))
}

/// Hyperbolic cosine and sine within two units in the last place, for complex functions; they overflow with `e^|x|`.
pub(super) fn cosh_and_sinh(x: Term<'_>) -> [Term<'_>; 2] {
    let power = x.abs().exp();
    let (half, rest) = (0.5 * power, 0.5 / power);
    let large = (half - rest).with_sign_of(x);
    [half + rest, small_sinh(x).when(x.abs().below(1.0), large)]
}

pub(super) fn tan(x: Term<'_>) -> Term<'_> {
    x.sin() / x.cos()
}
