//! Exponential and logarithm in `f64`.

use super::polynomial;

/// 1.5 * 2^52: a small number plus this one is rounded to an integer, which the low bits then hold.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2 with 32 bits, so that its product with an exponent is exact, and the rest of it.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// `n`, and `x - n ln 2` next to 0.
#[inline(always)]
fn reduce(x: f64) -> (i64, f64) {
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = (-n).mul_add(LN_2[1], (-n).mul_add(LN_2[0], x));
    (
        (rounded.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64),
        r,
    )
}

/// `e^r - 1` for `|r|` up to half of ln 2.
#[inline(always)]
fn exp_m1_near_zero(r: f64) -> f64 {
    // 2^-57.9
    let q = polynomial!(r;
        0.500_000_000_000_001_1, 0.166_666_666_666_664_1, 0.041_666_666_666_529_12, 0.008_333_333_333_496_031,
        0.001_388_888_894_394_243_1, 0.000_198_412_695_042_213_13, 2.480_149_274_031_085_3e-5,
        2.755_758_758_912_561e-6, 2.763_038_719_798_734e-7, 2.499_994_633_079_201_7e-8,
    );
    (r * r).mul_add(q, r)
}

/// 2^n for `n` of a normal number.
#[inline(always)]
const fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

/// e^x. Within 1 unit in the last place.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Beyond these the result is infinite or 0.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (n, r) = reduce(x);
    let mantissa = 1.0 + exp_m1_near_zero(r);
    // In two steps, of which the first one is exact, because 2^n may not be a normal number.
    let half = ((n.wrapping_add(4096) as u64) >> 1) as i64 - 2048;
    mantissa * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// e^x - 1. Within 2 units in the last place.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    let bounded = if x > 710.0 { 710.0 } else { x };
    let bounded = if bounded < -40.0 { -40.0 } else { bounded };
    let (n, r) = reduce(bounded);
    // Half of the power, since 2^1024 is none.
    let half_power = power_of_two(n.wrapping_sub(1));
    let value = 2.0 * half_power.mul_add(exp_m1_near_zero(r), half_power - 0.5);
    // Exact for what is too small to be seen beside its square, and keeps the sign of 0.
    if x.abs() < 1e-17 { x } else { value }
}

/// The logarithm: `k` and `f` such that `x = 2^k (1 + f)`, then `k ln 2 + ln (1 + f)`.
#[inline(always)]
fn ln_positive(x: f64) -> f64 {
    const HALF_ROOT: u64 = 0x3FE6_A09E_667F_3BCD;
    const ONE: u64 = 0x3FF0_0000_0000_0000;
    const MANTISSA: u64 = (1 << 52) - 1;
    let is_subnormal = x < f64::MIN_POSITIVE;
    let scaled = if is_subnormal {
        x * 18_014_398_509_481_984.0
    } else {
        x
    };
    let bias = if is_subnormal { 1023.0 + 54.0 } else { 1023.0 };
    let bits = scaled.to_bits().wrapping_add(ONE - HALF_ROOT);
    // The biased exponent as a float: put below 2^52, which is then taken off.
    let k = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0 - bias;
    let f = f64::from_bits((bits & MANTISSA).wrapping_add(HALF_ROOT)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    // 2^-59.5
    let series = polynomial!(z;
        0.666_666_666_666_673_5, 0.399_999_999_994_110_96, 0.285_714_287_432_639_27, 0.222_221_984_757_398_93,
        0.181_835_697_560_483_4, 0.153_139_027_786_932_86, 0.147_975_127_247_150_12,
    );
    let half_square = 0.5 * f * f;
    let rest = s.mul_add(z.mul_add(series, half_square), k * LN_2[1]);
    k.mul_add(LN_2[0], f - (half_square - rest))
}

/// The natural logarithm. Within 1 unit in the last place.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let value = ln_positive(x);
    let value = if x < f64::INFINITY { value } else { x };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x < 0.0 { f64::NAN } else { value }
}

/// `ln (1 + x)`. Within 1 unit in the last place.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // What was rounded away.
    let other = sum - 1.0;
    let rest = (1.0 - (sum - other)) + (x - other);
    let value = ln_positive(sum) + rest / sum;
    let value = if x < f64::INFINITY { value } else { x };
    let value = if x.abs() < 1e-17 { x } else { value };
    let value = if x == -1.0 { f64::NEG_INFINITY } else { value };
    if x < -1.0 { f64::NAN } else { value }
}

/// The hyperbolic tangent. Within 4 units in the last place.
#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    let magnitude = if x.abs() > 40.0 { 40.0 } else { x.abs() };
    let power = exp_m1(2.0 * magnitude);
    (power / (power + 2.0)).copysign(x)
}

/// `1 / (1 + e^-x)`. Within 3 units in the last place.
#[inline(always)]
pub(crate) fn logistic(x: f64) -> f64 {
    let power = exp(-x.abs());
    let numerator = if x < 0.0 { power } else { 1.0 };
    numerator / (1.0 + power)
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub(crate) fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = ln_1p(magnitude + square / (1.0 + (1.0 + square).sqrt()));
    let far = ln(magnitude) + std::f64::consts::LN_2;
    (if magnitude > 1e9 { far } else { near }).copysign(x)
}

/// Inverse hyperbolic cosine; not a number below 1.
#[inline(always)]
pub(crate) fn acosh(x: f64) -> f64 {
    let above = x - 1.0;
    let near = ln_1p(above + (above * (above + 2.0)).sqrt());
    let far = ln(x) + std::f64::consts::LN_2;
    let value = if x > 1e9 { far } else { near };
    if x < 1.0 { f64::NAN } else { value }
}

/// Inverse hyperbolic tangent; infinite at 1 and -1 and not a number beyond.
#[inline(always)]
pub(crate) fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    (0.5 * ln_1p(2.0 * magnitude / (1.0 - magnitude))).copysign(x)
}
