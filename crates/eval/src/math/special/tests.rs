//! Values computed with mpmath (`testdata/reference.py`).

use super::*;
use crate::math::testing::{Table, ulps};

fn evaluate(name: &str, x: &[f64]) -> f64 {
    match (name, x) {
        ("erf", [x]) => erf(*x),
        ("erfc", [x]) => erfc(*x),
        ("erf_inv", [x]) => erf_inv(*x),
        ("ln_gamma", [x]) => ln_gamma(*x),
        ("digamma", [x]) => digamma(*x),
        ("bessel_i1e", [x]) => bessel_i1e(*x),
        ("acosh", [x]) => acosh(*x),
        ("asinh", [x]) => asinh(*x),
        ("atanh", [x]) => atanh(*x),
        ("zeta", [x, q]) => zeta(*x, *q),
        ("polygamma", [n, x]) => polygamma(*n, *x),
        _ => panic!("{name} of {x:?}"),
    }
}

/// Units in the last place by which a value may be off. Digamma is so next to its root only, and zeta for negative numbers,
/// where its terms cancel.
fn tolerance(name: &str) -> u64 {
    match name {
        "ln_gamma" | "erf" => 1,
        "digamma" | "polygamma" => 8,
        "zeta" => 50,
        _ => 3,
    }
}

#[test]
fn table() {
    let mut table = Table::default();
    for line in include_str!("../../../testdata/special.txt").lines() {
        let (name, numbers) = Table::row(line);
        let (expected, arguments) = numbers.split_last().unwrap();
        let actual = evaluate(name, arguments);
        table.check(ulps(actual, *expected) <= tolerance(name), || {
            format!(
                "{name} {arguments:?}: {actual:e}, not {expected:e}: {} ulp",
                ulps(actual, *expected)
            )
        });
    }
    table.finish();
}

#[test]
fn singular_values() {
    let nan = f64::NAN;
    let infinity = f64::INFINITY;
    for (name, arguments, expected) in [
        ("erf", &[infinity][..], 1.0),
        ("erfc", &[-infinity], 2.0),
        ("erfc", &[40.0], 0.0),
        ("erf_inv", &[-1.0], -infinity),
        ("erf_inv", &[1.5], nan),
        ("ln_gamma", &[0.0], infinity),
        ("ln_gamma", &[-3.0], infinity),
        ("ln_gamma", &[1.0], 0.0),
        ("ln_gamma", &[-infinity], infinity),
        ("digamma", &[-2.0], nan),
        ("digamma", &[infinity], infinity),
        ("bessel_i1e", &[-infinity], -0.0),
        ("bessel_i1e", &[f64::MAX], 2.975_447_459_315_9e-155),
        ("acosh", &[0.5], nan),
        ("acosh", &[1.0], 0.0),
        ("asinh", &[-infinity], -infinity),
        ("atanh", &[-1.0], -infinity),
        ("atanh", &[1.5], nan),
        ("zeta", &[1.0, 2.0], infinity),
        ("zeta", &[0.5, 2.0], nan),
        ("zeta", &[2.5, -0.5], nan),
        ("polygamma", &[0.5, 1.0], nan),
    ] {
        let actual = evaluate(name, arguments);
        assert!(
            actual == expected || actual.is_nan() && expected.is_nan(),
            "{name} {arguments:?}: {actual}"
        );
    }
}

/// XLA's results, which are up to seven units in the last place from the nearest value.
#[test]
fn hyperbolic_functions_follow_xla() {
    use artifact_ir::types::ElementType::{F16, F32};
    for (actual, expected) in [
        (cosh(F32, f64::from(9.164_727_f32)), 4_777.059_570_312_5_f64),
        (sinh(F32, f64::from(-10.285_651_f32)), -14_654.525_390_625),
    ] {
        let unit = f64::from(f32::EPSILON) * expected.abs();
        assert!((actual - expected).abs() <= 3.0 * unit, "{actual} {expected}");
    }
    assert_eq!(sinh(F16, 2.0), 2.0_f64.sinh());
}
