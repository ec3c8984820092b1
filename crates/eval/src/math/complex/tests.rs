//! Values computed with mpmath (`testdata/reference.py`), and the values at infinities.

use super::*;
use crate::math::testing::{Table, ulps};

fn evaluate(name: &str, z: Complex) -> Complex {
    match name {
        "acos" => acos(z),
        "acosh" => acosh(z),
        "asin" => asin(z),
        "asinh" => asinh(z),
        "atan" => atan(z),
        "atanh" => atanh(z),
        "exp" => exp(z),
        "exp_m1" => exp_m1(z),
        "ln" => ln(z),
        "ln_1p" => ln_1p(z),
        "sqrt" => sqrt(z),
        "rsqrt" => rsqrt(z),
        "square" => square(z),
        "sin" => sin(z),
        "cos" => cos(z),
        "tan" => tan(z),
        "sinh" => sinh(z),
        "cosh" => cosh(z),
        "tanh" => tanh(z),
        "logistic" => logistic(z),
        "cbrt" => cbrt(z),
        _ => panic!("{name}"),
    }
}

/// Units in the last place by which a part may be off. Where terms cancel in functions that StableHLO has no table for, the
/// error is relative to the larger term.
fn is_close(name: &str, actual: f64, expected: f64, largest: f64) -> bool {
    match name {
        "exp_m1" | "logistic" | "cbrt" | "rsqrt" => {
            ulps(actual, expected) <= 6 || (actual - expected).abs() <= 4.0 * f64::EPSILON * largest.min(1.0)
        }
        "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" => ulps(actual, expected) <= 6,
        _ => ulps(actual, expected) <= 2,
    }
}

#[test]
fn table() {
    let mut table = Table::default();
    for line in include_str!("../../../testdata/complex.txt").lines() {
        let (name, numbers) = Table::row(line);
        let [x, y, re, im] = numbers.try_into().unwrap();
        let actual = evaluate(name, Complex::new(x, y));
        let largest = re.abs().max(im.abs());
        table.check(
            is_close(name, actual.re, re, largest) && is_close(name, actual.im, im, largest),
            || {
                let off = [ulps(actual.re, re), ulps(actual.im, im)];
                format!("{name} ({x:e}, {y:e}): {actual:?}, not ({re:e}, {im:e}): {off:?} ulp")
            },
        );
    }
    table.finish();
}

#[test]
fn infinities() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let quarter = std::f64::consts::FRAC_PI_4;
    let half = std::f64::consts::FRAC_PI_2;
    for (name, z, expected) in [
        ("exp", [-inf, inf], [nan, nan]),
        ("exp", [inf, 0.0], [inf, 0.0]),
        ("exp", [-inf, 1.0], [0.0, 0.0]),
        (
            "exp",
            [1000.0, 5e-324],
            [inf, (1000.0 - 1074.0 * std::f64::consts::LN_2).exp()],
        ),
        ("square", [inf, inf], [nan, inf]),
        ("square", [f64::MAX, f64::MAX], [0.0, inf]),
        ("square", [0.0, -inf], [-inf, nan]),
        ("square", [f64::MAX, inf], [-inf, inf]),
        ("sqrt", [nan, -inf], [inf, -inf]),
        ("sqrt", [-inf, 1.0], [0.0, inf]),
        ("ln", [-inf, inf], [inf, 3.0 * quarter]),
        ("ln_1p", [-1.0, 0.0], [-inf, 0.0]),
        ("asinh", [-inf, -inf], [-inf, -quarter]),
        ("acosh", [0.0, -inf], [inf, -half]),
        ("acos", [nan, inf], [nan, -inf]),
        ("atan", [0.0, -inf], [half, 0.0]),
        ("atanh", [1.0, 0.0], [inf, 0.0]),
        ("atanh", [inf, nan], [0.0, nan]),
        ("tanh", [-inf, 1.0], [-1.0, 0.0]),
        ("sinh", [inf, 0.0], [inf, 0.0]),
        ("cosh", [inf, 5e-324], [inf, inf]),
    ] {
        let actual = evaluate(name, Complex::new(z[0], z[1]));
        for (actual_part, expected_part) in [(actual.re, expected[0]), (actual.im, expected[1])] {
            let same =
                ulps(actual_part, expected_part) <= 600 || actual_part.is_nan() && expected_part.is_nan();
            assert!(same, "{name} {z:?}: {actual:?}, not {expected:?}");
        }
    }
}

/// The sign of a zero tells the side of a cut.
#[test]
fn branch_cuts() {
    for (name, z, expected) in [
        ("sqrt", [-4.0, -0.0], [0.0, -2.0]),
        ("ln", [-1.0, -0.0], [0.0, -std::f64::consts::PI]),
        (
            "asin",
            [2.0, -0.0],
            [std::f64::consts::FRAC_PI_2, -(2.0 + 3.0_f64.sqrt()).ln()],
        ),
        ("acos", [2.0, 0.0], [0.0, -(2.0 + 3.0_f64.sqrt()).ln()]),
        (
            "atanh",
            [2.0, -0.0],
            [0.5 * 3.0_f64.ln(), -std::f64::consts::FRAC_PI_2],
        ),
        (
            "acosh",
            [-2.0, -0.0],
            [(2.0 + 3.0_f64.sqrt()).ln(), -std::f64::consts::PI],
        ),
    ] {
        let actual = evaluate(name, Complex::new(z[0], z[1]));
        assert!(
            ulps(actual.re, expected[0]) <= 2 && ulps(actual.im, expected[1]) <= 2,
            "{name} {z:?}: {actual:?}"
        );
    }
}

#[test]
fn arithmetic() {
    let z = Complex::new;
    let huge = f64::MAX;
    for (name, actual, expected) in [
        ("quotient", divide(z(huge, huge), z(huge, huge)), z(1.0, 0.0)),
        (
            "quotient",
            divide(z(5e-324, 0.0), z(5e-324, 5e-324)),
            z(0.5, -0.5),
        ),
        (
            "quotient",
            divide(z(1.0, 0.0), z(f64::INFINITY, 3.0)),
            z(0.0, -0.0),
        ),
        ("quotient", divide(z(3.0, 4.0), z(0.0, 2.0)), z(2.0, -1.5)),
        ("sign", sign(z(huge, 0.0)), z(1.0, 0.0)),
        ("sign", sign(z(0.0, -0.0)), z(0.0, 0.0)),
        ("power", powc(z(0.0, 0.0), z(2.0, 0.0)), z(0.0, 0.0)),
        ("power", powc(z(3.0, 0.0), z(0.0, 0.0)), z(1.0, 0.0)),
        ("power", powc(z(4.0, 0.0), z(0.5, 0.0)), z(2.0, 0.0)),
    ] {
        assert_eq!(actual, expected, "{name}");
    }
    assert_eq!(abs(z(3e300, 4e300)), 5e300);
}
