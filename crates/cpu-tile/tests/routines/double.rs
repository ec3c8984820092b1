//! Functions of one `f64`, against the platform's, or libm's where it has none or a rough one; on numbers of any size and on
//! moderate ones.

use artifact_cpu_tile::{Tile, TileOp, UnaryOp, ulp_max};
use artifact_ir::types::ElementType::F64;

use crate::oracle::distance;
use crate::values::Random;
use crate::{call, levels};

const COUNT: usize = 200_000;

/// Half of them any bits, half of them up to 40 either way, of which half are small.
fn numbers() -> Vec<f64> {
    let mut random = Random(11);
    let mut number = |index: usize| {
        let bits = random.next();
        let fraction = (random.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        match index % 4 {
            0 | 1 => f64::from_bits(bits),
            2 => fraction * 40.0,
            _ => fraction,
        }
    };
    (0..COUNT).map(&mut number).collect()
}

/// The function may be as far off as is promised, and the other one half a unit.
fn check(op: UnaryOp, other: fn(f64) -> f64) {
    let op = TileOp::Unary(op, F64);
    let promised = ulp_max(op).unwrap();
    let x = numbers();
    for level in levels() {
        let mut y = vec![0.0_f64; COUNT];
        let tile = |data: *const f64| Tile {
            data: data.cast_mut().cast(),
            row_bytes: 0,
        };
        call(level, op, 1, COUNT, &[tile(y.as_mut_ptr()), tile(x.as_ptr())]);
        let distances = x.iter().zip(&y).map(|(x, y)| {
            let want = other(*x);
            (distance(F64, y.to_bits(), want.to_bits()), *x, *y, want)
        });
        let (ulps, x, y, want) = distances.max_by_key(|(distance, ..)| *distance).unwrap();
        println!("{op} at {level}: {ulps} ulp at {x:e}, {promised} are promised");
        let is_kept = ulps as f64 <= f64::from(promised) + 0.5;
        assert!(
            is_kept,
            "{op} at {level}: {x:e} gives {y:e}, not {want:e}: {ulps} ulp"
        );
    }
}

macro_rules! functions {
    ($($name:ident: $op:ident = $other:expr;)*) => {
        $(#[test]
        fn $name() {
            check(UnaryOp::$op, $other);
        })*
    };
}

functions! {
    acos: Acos = f64::acos;
    // libm has numbers for some that are far below 1.
    acosh: Acosh = |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) };
    asin: Asin = f64::asin;
    asinh: Asinh = libm::asinh;
    atan: Atan = f64::atan;
    atanh: Atanh = libm::atanh;
    cbrt: Cbrt = f64::cbrt;
    cosine: Cosine = f64::cos;
    exponential: Exponential = f64::exp;
    exponential_minus_one: ExponentialMinusOne = f64::exp_m1;
    log: Log = f64::ln;
    log_plus_one: LogPlusOne = f64::ln_1p;
    logistic: Logistic = |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
    rsqrt: Rsqrt = |x| 1.0 / x.sqrt();
    sine: Sine = f64::sin;
    sqrt: Sqrt = f64::sqrt;
    tan: Tan = f64::tan;
    tanh: Tanh = f64::tanh;
}
