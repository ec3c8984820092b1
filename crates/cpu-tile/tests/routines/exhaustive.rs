//! Functions of one `f32`, against functions of `f64` from elsewhere: the platform's, or libm's where it has none.
//!
//! A sample always runs. All of `f32`, for every function and level, in some minutes a function:
//!
//! ```text
//! cargo test -p artifact-cpu-tile --test routines -- --ignored exhaustive --nocapture --test-threads 1
//! ```

use artifact_cpu_tile::{Level, TileOp, UnaryOp, ulp_max};
use artifact_ir::types::ElementType::F32;

use crate::call;
use crate::levels;
use artifact_cpu_tile::Tile;

/// Numbers that are computed at once.
const PART: usize = 1 << 12;

/// The distance of `got` from `exact`, in units in the last place of the `f32` next to `exact`; infinite where one is a number
/// and the other is not, or the sign of a zero is wrong.
fn error(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got.to_bits() == nearest.to_bits() || got.is_nan() && nearest.is_nan() {
        // What rounds to the same number is at most half a unit off; how much is not asked of infinite ones.
        return if nearest.is_finite() {
            (f64::from(got) - exact).abs() / unit(nearest)
        } else {
            0.0
        };
    }
    if got.is_nan()
        || nearest.is_nan()
        || got.is_infinite() && f64::from(f32::MAX) * 1.1 > exact.abs() && exact.abs() < 3.3e38
    {
        return f64::INFINITY;
    }
    let finite = |x: f32| {
        if x.is_infinite() {
            2.0_f64.powi(128).copysign(f64::from(x))
        } else {
            f64::from(x)
        }
    };
    let exact = if nearest.is_infinite() {
        finite(nearest)
    } else {
        exact
    };
    let distance = (finite(got) - exact).abs() / unit(nearest);
    // Zeros of different sign.
    if distance == 0.0 { f64::INFINITY } else { distance }
}

/// A unit in the last place of a number.
fn unit(x: f32) -> f64 {
    let exponent = (x.abs().to_bits() >> 23).clamp(1, 254) as i32;
    2.0_f64.powi(exponent - 127 - 23)
}

/// The largest error, and where, over every `step`th number from `from` on, up to `to`.
fn worst(level: Level, op: TileOp, exact: fn(f64) -> f64, from: u64, to: u64, step: u64) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    let mut next = from;
    while next < to {
        let bits = (0..PART as u64).map(|index| next + index * step);
        let x: Vec<f32> = bits.map(|bits| f32::from_bits(bits.min(to - 1) as u32)).collect();
        let mut y = vec![0.0_f32; PART];
        let tile = |data: *const f32| Tile {
            data: data.cast_mut().cast(),
            row_bytes: 0,
        };
        call(level, op, 1, PART, &[tile(y.as_mut_ptr()), tile(x.as_ptr())]);
        for (x, y) in x.iter().zip(&y) {
            let error = error(*y, exact(f64::from(*x)));
            if error > worst.0 {
                worst = (error, *x);
            }
        }
        next += PART as u64 * step;
    }
    worst
}

/// The function may not be further off than is promised, over every `step`th number.
fn check(op: UnaryOp, exact: fn(f64) -> f64, step: u64) {
    let op = TileOp::Unary(op, F32);
    let promised = f64::from(ulp_max(op).unwrap());
    // Portable functions are compiled from the same lines as those of x86-64-v3, without vectors; they are sampled only.
    for level in levels().filter(|level| step > 1 || *level != Level::Portable) {
        let half = 1 << 31;
        let (first, second) = std::thread::scope(|scope| {
            let negative = scope.spawn(move || worst(level, op, exact, half, 2 * half, step));
            (worst(level, op, exact, 0, half, step), negative.join().unwrap())
        });
        let (error, x) = if first.0 > second.0 { first } else { second };
        println!(
            "{op} at {level}: {error:.3} ulp at {x:e} ({:#x}), {promised} are promised",
            x.to_bits()
        );
        assert!(
            error <= promised,
            "{op} at {level}: {error} ulp at {x:e} ({:#x}), not {promised}",
            x.to_bits()
        );
    }
}

macro_rules! functions {
    ($($name:ident: $op:ident = $exact:expr;)*) => {$(
        mod $name {
            #[test]
            fn sampled() {
                super::check(super::UnaryOp::$op, $exact, 4093);
            }

            #[test]
            #[ignore = "takes minutes; see the module"]
            fn exhaustive() {
                super::check(super::UnaryOp::$op, $exact, 1);
            }
        }
    )*};
}

functions! {
    acos: Acos = f64::acos;
    acosh: Acosh = f64::acosh;
    asin: Asin = f64::asin;
    asinh: Asinh = |x| x.asinh();
    atan: Atan = f64::atan;
    atanh: Atanh = f64::atanh;
    cbrt: Cbrt = f64::cbrt;
    cosine: Cosine = f64::cos;
    erf: Erf = libm::erf;
    erfc: Erfc = libm::erfc;
    exponential: Exponential = f64::exp;
    exponential_minus_one: ExponentialMinusOne = f64::exp_m1;
    lgamma: Lgamma = |x| if x.is_infinite() { f64::INFINITY } else { libm::lgamma(x) };
    log: Log = f64::ln;
    log_plus_one: LogPlusOne = f64::ln_1p;
    logistic: Logistic = |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
    rsqrt: Rsqrt = |x| 1.0 / x.sqrt();
    sine: Sine = f64::sin;
    sqrt: Sqrt = f64::sqrt;
    tan: Tan = f64::tan;
    tanh: Tanh = f64::tanh;
}
