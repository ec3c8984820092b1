//! Trigonometric functions and their inverses in `f64`.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

use super::polynomial;

/// 1.5 * 2^52, as in `double`.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Up to here the remainder by pi / 2 is taken with [`HALF_PI`].
const NEAR: f64 = 1e6;

/// pi / 2 in three parts. The first one has 33 bits, so that its product with a quotient of up to 20 is exact.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_506_192e-11,
    3.521_559_865_183_2e-27,
];

/// The remainder of an angle by pi / 2: the low bits of the quotient, and the remainder in two parts.
#[derive(Clone, Copy)]
pub(crate) struct Remainder {
    quadrant: u64,
    high: f64,
    low: f64,
}

impl Remainder {
    /// That of an angle larger by a quarter of a turn.
    #[inline(always)]
    const fn turned(self) -> Self {
        Self {
            quadrant: self.quadrant.wrapping_add(1),
            ..self
        }
    }
}

/// Whether [`near`] does not hold.
#[inline(always)]
pub(crate) fn is_far(x: f64) -> bool {
    // What is not a number is far too.
    let is_near = x.abs() < NEAR;
    !is_near
}

/// The remainder of an angle that is not far.
#[inline(always)]
pub(crate) fn near(x: f64) -> Remainder {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    let first = (-n).mul_add(HALF_PI[0], x);
    let high = (-n).mul_add(HALF_PI[1], first);
    let low = (-n).mul_add(HALF_PI[2], (-n).mul_add(HALF_PI[1], first - high));
    Remainder {
        quadrant: rounded.to_bits(),
        high,
        low,
    }
}

/// 2 / pi as 64 bits before the point, which are 0, and those after it (Payne and Hanek, "Radian reduction for trigonometric
/// functions", 1983).
const TWO_OVER_PI: [u64; 21] = [
    0,
    0xA2F9_836E_4E44_1529,
    0xFC27_57D1_F534_DDC0,
    0xDB62_9599_3C43_9041,
    0xFE51_63AB_DEBB_C561,
    0xB724_6E3A_424D_D2E0,
    0x0649_2EEA_09D1_921C,
    0xFE1D_EB1C_B129_A73E,
    0xE882_35F5_2EBB_4484,
    0xE99C_7026_B45F_7E41,
    0x3991_D639_8353_39F4,
    0x9C84_5F8B_BDF9_283B,
    0x1FF8_97FF_DE05_980F,
    0xEF2F_118B_5A0A_6D1F,
    0x6D36_7ECF_27CB_09B7,
    0x4F46_3F66_9E5F_EA2D,
    0x7527_BAC7_EBE5_F17B,
    0x3D07_39F7_8A52_92EA,
    0x6BFB_5FB1_1F8D_5D08,
    0x5603_3046_FC7B_6BAB,
    0xF0CF_BC20_9AF4_361D,
];

/// The remainder of any angle; not a number for infinite ones.
pub(crate) fn far(x: f64) -> Remainder {
    if !x.is_finite() {
        return Remainder {
            quadrant: 0,
            high: f64::NAN,
            low: 0.0,
        };
    }
    if !is_far(x) {
        return near(x);
    }
    // x = mantissa * 2^exponent. The bits of 2 / pi from `from` on give the product from its bit worth 2 on: what is left out
    // makes multiples of 4. `x` is large enough for `from` not to be negative.
    let exponent = (x.to_bits() >> 52 & 0x7FF) as i32 - 1075;
    let mantissa = (x.to_bits() & ((1 << 52) - 1)) | 1 << 52;
    let from = (exponent - 2 + 64) as usize;
    let word = |index: usize| u128::from(TWO_OVER_PI.get(index).copied().unwrap_or(0));
    let window = |from: usize| ((word(from / 64) << 64 | word(from / 64 + 1)) >> (64 - from % 64)) as u64;
    let product = |word: u64| u128::from(word) * u128::from(mantissa);
    let middle = product(window(from + 64)) + (product(window(from + 128)) >> 64);
    let high = (product(window(from)) + (middle >> 64)) as u64;
    let fixed = (u128::from(high) << 64) | (middle & u128::from(u64::MAX));
    // Two bits before the point, and a fraction that counts as negative from a half on, for the nearest quotient.
    let fraction = (fixed << 2) as i128;
    let quadrant = ((fixed >> 126) as u64).wrapping_add(u64::from(fraction < 0));
    let unit = 2.0_f64.powi(-128);
    let top = fraction as f64;
    let (top, rest) = (top * unit, fraction.wrapping_sub(top as i128) as f64 * unit);
    let high = top * FRAC_PI_2;
    let low = top.mul_add(FRAC_PI_2, -high) + top * 6.123_233_995_736_766e-17 + rest * FRAC_PI_2;
    if x < 0.0 {
        Remainder {
            quadrant: quadrant.wrapping_neg(),
            high: -high,
            low: -low,
        }
    } else {
        Remainder { quadrant, high, low }
    }
}

/// As [`sin`], within 2^-28 of the value: for an `f32`, whose remainder needs no second part.
#[inline(always)]
pub(crate) fn sin_single(remainder: Remainder) -> f64 {
    let (sine, cosine) = parts_single(remainder);
    let value = if remainder.quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (remainder.quadrant & 2) << 62)
}

/// As [`cos`], within 2^-28 of the value.
#[inline(always)]
pub(crate) fn cos_single(remainder: Remainder) -> f64 {
    sin_single(remainder.turned())
}

/// As [`tan`], within 2^-27 of the value.
#[inline(always)]
pub(crate) fn tan_single(remainder: Remainder) -> f64 {
    let (sine, cosine) = parts_single(remainder);
    let is_even = remainder.quadrant & 1 == 0;
    if is_even { sine / cosine } else { -cosine / sine }
}

#[inline(always)]
fn parts_single(Remainder { high, .. }: Remainder) -> (f64, f64) {
    let z = high * high;
    // 2^-28.1 and 2^-33.3
    let sine =
        polynomial!(z; -0.166_666_549_363_888, 0.008_332_177_671_916_562, -0.000_195_172_330_890_735_2);
    let cosine =
        polynomial!(z; 0.041_666_646_858_586_38, -0.001_388_736_709_399_676_2, 2.443_839_848_477_008_2e-5);
    (
        (z * high).mul_add(sine, high),
        (z * z).mul_add(cosine, (-0.5_f64).mul_add(z, 1.0)),
    )
}

/// The sine of a remainder as it stands.
#[inline(always)]
fn sin_part(Remainder { high, low, .. }: Remainder) -> f64 {
    let z = high * high;
    // 2^-58
    let series = polynomial!(z;
        -0.166_666_666_666_666_32, 0.008_333_333_333_322_413, -0.000_198_412_698_298_078_65,
        2.755_731_369_194_153_4e-6, -2.505_075_811_915_293_5e-8, 1.589_679_587_377_597_4e-10,
    );
    high + (z * high).mul_add(series, low * (-0.5_f64).mul_add(z, 1.0))
}

/// The cosine of a remainder as it stands.
#[inline(always)]
fn cos_part(Remainder { high, low, .. }: Remainder) -> f64 {
    let z = high * high;
    // 2^-64.2
    let series = polynomial!(z;
        0.041_666_666_666_666_6, -0.001_388_888_888_887_412_5, 2.480_158_728_948_262e-5,
        -2.755_731_435_244_552e-7, 2.087_572_328_669_872_4e-9, -1.135_964_840_813_972_4e-11,
    );
    let half = 0.5 * z;
    let top = 1.0 - half;
    top + ((1.0 - top - half) + (z * z).mul_add(series, -(high * low)))
}

/// The sine of an angle of that remainder. Within 1 unit in the last place.
#[inline(always)]
pub(crate) fn sin(remainder: Remainder) -> f64 {
    let (sine, cosine) = (sin_part(remainder), cos_part(remainder));
    let value = if remainder.quadrant & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (remainder.quadrant & 2) << 62)
}

/// The cosine of an angle of that remainder. Within 1 unit in the last place.
#[inline(always)]
pub(crate) fn cos(remainder: Remainder) -> f64 {
    sin(remainder.turned())
}

/// The tangent of an angle of that remainder. Within 3 units in the last place.
#[inline(always)]
pub(crate) fn tan(remainder: Remainder) -> f64 {
    let (sine, cosine) = (sin_part(remainder), cos_part(remainder));
    let is_even = remainder.quadrant & 1 == 0;
    let (numerator, denominator) = if is_even { (sine, cosine) } else { (-cosine, sine) };
    numerator / denominator
}

/// The angle of the point (`x`, `y`). Within 3 units in the last place.
#[inline(always)]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let scale = if x.abs() > 1e300 || y.abs() > 1e300 {
        0.25
    } else {
        1.0
    };
    let (ax, ay) = (x.abs() * scale, y.abs() * scale);
    let is_steep = ay > ax;
    let (larger, smaller) = if is_steep { (ay, ax) } else { (ax, ay) };
    // Two infinities are as two ones, and two zeros have an angle of 0.
    let are_infinite = smaller == f64::INFINITY;
    let (larger, smaller) = if are_infinite {
        (1.0, 1.0)
    } else {
        (larger, smaller)
    };
    let larger = if larger == 0.0 { 1.0 } else { larger };
    // Beyond tan pi / 8 from pi / 4 down: atan q = pi / 4 + atan ((q - 1) / (q + 1)).
    let is_wide = smaller > 0.414_213_562_373_095 * larger;
    let numerator = if is_wide { smaller - larger } else { smaller };
    let denominator = if is_wide { smaller + larger } else { larger };
    let t = numerator / denominator;
    let z = t * t;
    // 2^-59.5
    let series = polynomial!(z;
        -0.333_333_333_333_332, 0.199_999_999_999_540_02, -0.142_857_142_802_398_75, 0.111_111_107_856_832_4,
        -0.090_908_978_228_014_68, 0.076_920_613_852_766_09, -0.066_631_174_282_484_87, 0.058_479_867_926_679_53,
        -0.050_397_432_587_670_02, 0.038_075_662_323_134_75, -0.017_919_305_499_445_176,
    );
    let angle = (t * z).mul_add(series, t);
    let angle = if is_wide { FRAC_PI_4 + angle } else { angle };
    let angle = if is_steep { FRAC_PI_2 - angle } else { angle };
    let angle = if x.is_sign_negative() { PI - angle } else { angle };
    let value = angle.copysign(y);
    if x.is_nan() || y.is_nan() { x + y } else { value }
}

/// Arc tangent.
#[inline(always)]
pub(crate) fn atan(x: f64) -> f64 {
    atan2(x, 1.0)
}

/// Arc sine; not a number beyond 1 and -1.
#[inline(always)]
pub(crate) fn asin(x: f64) -> f64 {
    atan2(x, ((1.0 - x) * (1.0 + x)).sqrt())
}

/// Arc cosine; not a number beyond 1 and -1.
#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    atan2(((1.0 - x) * (1.0 + x)).sqrt(), x)
}
