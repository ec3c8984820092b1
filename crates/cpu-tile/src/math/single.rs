//! Functions of `f32` computed in `f32`.

use super::polynomial;

/// 1.5 * 2^23: a small number plus this one is rounded to an integer, which the low bits then hold.
const ROUNDER: f32 = 12_582_912.0;

/// ln 2 in two parts: nearest, and the rest.
pub(crate) const LN_2: [f32; 2] = [std::f32::consts::LN_2, -1.904_654_2e-9];

/// The coefficients of `(e^r - 1 - r) / r^2` for `|r|` up to half of ln 2; 2^-28.3 of e^r.
pub(crate) const EXP: [f32; 5] = [
    0.499_999_94,
    0.166_665_2,
    0.041_668_393,
    0.008_368_781,
    0.001_381_446_7,
];

/// The coefficients of `(ln (1 + f) - f + f^2 / 2) / f^3` from sqrt 1/2 to sqrt 2; 2^-27.3.
const LN: [f32; 8] = [
    0.333_333_16,
    -0.250_008_1,
    0.200_022_86,
    -0.166_245_56,
    0.141_811_88,
    -0.131_287_28,
    0.128_816_66,
    -0.078_597_03,
];

/// `n`, and `x - n ln 2` next to 0.
#[inline(always)]
fn reduce(x: f32) -> (i32, f32) {
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = (-n).mul_add(LN_2[1], (-n).mul_add(LN_2[0], x));
    (
        (rounded.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32),
        r,
    )
}

/// `e^r - 1` for `|r|` up to half of ln 2.
#[inline(always)]
fn exp_m1_near_zero(r: f32) -> f32 {
    let [a, b, c, d, e] = EXP;
    let q = polynomial!(r; a, b, c, d, e);
    (r * r).mul_add(q, r)
}

/// 2^n for `n` of a normal number.
#[inline(always)]
const fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// e^x.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Beyond these the result is infinite or 0.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -105.0 { -105.0 } else { x };
    let (n, r) = reduce(x);
    let [a, b, c, d, e] = EXP;
    let mantissa = polynomial!(r; 1.0, 1.0, a, b, c, d, e);
    // In two steps, of which the first one is exact, because 2^n may not be a normal number.
    let half = n >> 1;
    mantissa * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    const HALF_ROOT: u32 = 0x3F35_04F3;
    let is_subnormal = x < f32::MIN_POSITIVE;
    let scaled = if is_subnormal { x * 33_554_432.0 } else { x };
    let bias = if is_subnormal { 127.0 + 25.0 } else { 127.0 };
    let bits = scaled.to_bits().wrapping_add(0x3F80_0000 - HALF_ROOT);
    let k = f32::from_bits((bits >> 23) | 0x4B00_0000) - 8_388_608.0 - bias;
    let f = f32::from_bits((bits & 0x7F_FFFF).wrapping_add(HALF_ROOT)) - 1.0;
    let [a, b, c, d, e, g, h, i] = LN;
    let series = polynomial!(f; a, b, c, d, e, g, h, i);
    let square = f * f;
    let rest = (square * f).mul_add(series, k * LN_2[1]);
    let value = k.mul_add(LN_2[0], (-0.5_f32).mul_add(square, rest) + f);
    let value = if x < f32::INFINITY { value } else { x };
    let value = if x == 0.0 { f32::NEG_INFINITY } else { value };
    if x < 0.0 { f32::NAN } else { value }
}

/// The hyperbolic tangent: a polynomial next to 0, from there on `1 - 2 / (e^2x + 1)`.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let magnitude = if x.abs() > 10.0 { 10.0 } else { x.abs() };
    let z = magnitude * magnitude;
    // (tanh x - x) / x^3 up to 0.56; 2^-29.6
    let series = polynomial!(z; -0.333_333_16, 0.133_325, -0.053_842_276, 0.021_027_219, -0.006_207_428);
    let near = (magnitude * z).mul_add(series, magnitude);
    let (n, r) = reduce(2.0 * magnitude);
    let power = power_of_two(n);
    let far = 1.0 - 2.0 / power.mul_add(exp_m1_near_zero(r), 1.0 + power);
    (if magnitude < 0.55 { near } else { far }).copysign(x)
}

/// `1 / (1 + e^-x)`: with `e^-|x|` as `2^n + 2^n p`, in which only sums are rounded.
#[inline(always)]
pub(crate) fn logistic(x: f32) -> f32 {
    let magnitude = if x.abs() > 105.0 { 105.0 } else { x.abs() };
    let (n, r) = reduce(-magnitude);
    let p = exp_m1_near_zero(r);
    let half = n >> 1;
    let [first, second] = [power_of_two(half), power_of_two(n.wrapping_sub(half))];
    let power = first * second;
    let inverse = 1.0 / power.mul_add(p, 1.0 + power);
    let below = p.mul_add(inverse, inverse) * first * second;
    if x < 0.0 { below } else { inverse }
}
