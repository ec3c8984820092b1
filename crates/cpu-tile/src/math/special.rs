//! Error functions, roots, powers, and gamma functions in `f64`, precise enough to be rounded to `f32`.

use super::{double, polynomial};

/// Error function, within 2^-34 of its value.
#[inline(always)]
pub(crate) fn erf(x: f64) -> f64 {
    let magnitude = if x.abs() > 4.0 { 4.0 } else { x };
    let magnitude = magnitude.abs();
    // erf x / x of a number between -1 and 1 in place of x^2 between 0 and 16; 2^-34.1
    let u = (magnitude * magnitude).mul_add(0.125, -1.0);
    let quotient = polynomial!(u;
        0.353_530_995_624_851_2, -0.176_576_233_395_699_58, 0.131_675_120_746_801_8, -0.107_710_437_411_033_45,
        0.090_208_862_926_389_72, -0.074_727_940_403_080_59, 0.059_888_627_026_711_47, -0.045_764_697_645_357_316,
        0.033_049_226_569_332_42, -0.022_474_188_071_842_347, 0.014_392_687_161_068_115, -0.008_609_033_399_707_445,
        0.004_755_327_235_588_079, -0.002_563_550_377_782_447_6, 0.001_429_422_164_189_004_3,
        -0.000_642_004_630_338_131_2, 0.000_163_018_186_499_745_8, -8.819_320_317_552_957e-5,
        9.629_394_170_972_547e-5, -3.330_691_302_651_586e-5,
    );
    let value = (magnitude * quotient).copysign(x);
    // Beyond, the value is 1 to the precision that is promised.
    if x.abs() > 4.0 { 1.0_f64.copysign(x) } else { value }
}

/// One minus the error function, within 2^-36 of its value, up to where an `f32` would be 0.
#[inline(always)]
pub(crate) fn erfc(x: f64) -> f64 {
    let magnitude = if x.abs() > 10.2 { 10.2 } else { x.abs() };
    // e^(x^2) erfc x; 2^-36.5
    let t = (magnitude - 2.0) / (magnitude + 2.0);
    let scaled = polynomial!(t;
        0.255_395_676_313_091_07, -0.427_185_847_421_197_53, 0.241_658_193_808_892_86, -0.078_978_580_265_038_94,
        0.003_732_904_251_340_88, 0.006_997_446_935_898_601, -0.000_847_268_413_593_172_7, -0.000_981_872_756_757_872_3,
        4.421_767_402_357_412_4e-5, 0.000_174_069_898_648_508_77, 2.560_666_407_711_132_6e-5,
        -2.742_832_047_083_486_2e-5, -1.095_023_578_808_306_7e-5, 2.112_519_627_014_547e-6, 1.520_538_779_369_601e-6,
    );
    let value = double::exp(-(magnitude * magnitude)) * scaled;
    let value = if x.is_nan() { x } else { value };
    if x < 0.0 { 2.0 - value } else { value }
}

/// The inverse of the error function, within 2^-29 of its value for an `f32`; infinite at 1 and -1 and not a number beyond.
#[inline(always)]
pub(crate) fn erf_inv(x: f64) -> f64 {
    let w = -double::ln((1.0 - x) * (1.0 + x));
    // 2^-31.2
    let v = w.mul_add(0.4, -1.0);
    let near = polynomial!(v;
        1.501_409_351_692_325_5, 0.616_600_689_470_518_5, -0.026_108_278_986_313_904, -0.019_573_513_754_540_57,
        0.008_525_920_303_096_382, -0.000_488_159_955_471_700_7, -0.000_836_428_990_865_726_8,
        0.000_292_784_650_842_057_64, 2.511_200_735_640_138_6e-5, -4.204_997_999_628_834e-5,
        4.167_748_126_439_457e-6, 3.167_523_039_363_844_7e-6,
    );
    // 2^-29.2
    let v = w.sqrt() - 3.2;
    let far = polynomial!(v;
        3.033_636_569_446_733_8, 1.004_692_439_031_092_3, 0.005_973_505_633_444_574, -0.004_294_074_733_484_265,
        0.002_947_117_057_355_095, -0.001_993_353_329_122_095_3, 0.001_093_458_269_027_714_9,
        -0.000_358_832_306_661_742_8, -3.978_080_411_229_462e-5, 0.000_100_090_445_834_493_35,
        -3.076_308_585_911_139_6e-5,
    );
    let value = x * if w < 5.0 { near } else { far };
    let value = if x.abs() == 1.0 {
        f64::INFINITY.copysign(x)
    } else {
        value
    };
    if x.abs() > 1.0 { f64::NAN } else { value }
}

/// The cube root of a number with the exponent of an `f32`, within 2^-44 of its value.
#[inline(always)]
pub(crate) fn cbrt(x: f64) -> f64 {
    // A third of the exponent, and then some: within a thirtieth.
    let high = (x.abs().to_bits() >> 32) as u32 / 3 + 715_094_163;
    let guess = f64::from_bits(u64::from(high) << 32);
    // The guess over the root is the cube root of this; 2^-22.6
    let r = guess * guess * (guess / x.abs());
    let guess = guess
        * polynomial!(r;
            1.873_657_648_679_049, -1.875_283_157_719_305, 1.606_124_234_732_326_4, -0.747_703_063_005_937_7,
            0.143_204_313_459_166_1,
        );
    let root = guess - (guess - x.abs() / (guess * guess)) * (1.0 / 3.0);
    let value = root.copysign(x);
    if x == 0.0 || x.is_nan() || x.is_infinite() {
        x
    } else {
        value
    }
}

/// `x` to the power of `y`, both of them numbers of an `f32` (C99, 7.12.7.4, with its values at infinities).
#[inline(always)]
pub(crate) fn power(x: f64, y: f64) -> f64 {
    let magnitude = double::exp(y * double::ln(x.abs()));
    let is_integer = y.floor() == y;
    let half = 0.5 * y;
    let is_odd = is_integer && half.floor() != half;
    let magnitude = if x.abs() == 1.0 {
        if y.is_nan() { y } else { 1.0 }
    } else {
        magnitude
    };
    let is_negative = x.is_sign_negative() && is_odd;
    let value = if is_negative { -magnitude } else { magnitude };
    let has_no_value = x < 0.0 && x > f64::NEG_INFINITY && !is_integer;
    let value = if has_no_value { f64::NAN } else { value };
    if y == 0.0 || x == 1.0 { 1.0 } else { value }
}

/// The logarithmic derivative of the gamma function; not a number at its poles, 0 and the negative integers.
pub(crate) fn digamma(x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY || x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        // psi(x) = psi(1 - x) - pi / tan(pi x), the angle taken from the nearest integer.
        let angle = std::f64::consts::PI * (x - x.round());
        return digamma(1.0 - x) - std::f64::consts::PI / libm::tan(angle);
    }
    // Stirling's series (Abramowitz and Stegun, 6.3.18) after steps up with psi(x) = psi(x + 1) - 1 / x.
    let (mut from, mut sum) = (x, 0.0);
    while from < 10.0 {
        sum -= 1.0 / from;
        from += 1.0;
    }
    let z = 1.0 / (from * from);
    let series = polynomial!(z;
        1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0,
    );
    sum + double::ln(from) - 0.5 / from - z * series
}

/// The logarithm of the magnitude of the gamma function; infinite at its poles and at both infinities.
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x.is_infinite() {
        f64::INFINITY
    } else {
        libm::lgamma(x)
    }
}
