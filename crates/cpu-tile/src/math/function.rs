//! The functions of routines.

use std::marker::PhantomData;

use super::{angle, double, single, special};
use crate::element::{Bool, Brain, Element, Float, Half};
use crate::map::{Function1, Function2, Map1, Map2};

/// Declares functions that are computed for many numbers at a time.
macro_rules! functions {
    ($($name:ident: $($ty:ty = $function:expr),+;)*) => {$(
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        $(impl Function1 for $name<$ty> {
            type T = $ty;

            #[inline(always)]
            fn usual(x: $ty) -> $ty {
                $function(x)
            }
        })+
    )*};
}

/// A function of `f32` by one of `f64`.
macro_rules! wide {
    ($function:expr) => {
        |x: f32| $function(f64::from(x)) as f32
    };
}

functions! {
    Exp: f32 = single::exp, f64 = double::exp;
    ExpM1: f32 = wide!(double::exp_m1), f64 = double::exp_m1;
    Ln: f32 = single::ln, f64 = double::ln;
    Ln1p: f32 = wide!(double::ln_1p), f64 = double::ln_1p;
    Logistic: f32 = single::logistic, f64 = double::logistic;
    Tanh: f32 = single::tanh, f64 = double::tanh;
    Cbrt: f32 = wide!(special::cbrt);
    Erf: f32 = wide!(special::erf);
    Erfc: f32 = wide!(special::erfc);
    ErfInv: f32 = wide!(special::erf_inv);
    Atan: f32 = wide!(angle::atan), f64 = angle::atan;
    Asin: f32 = wide!(angle::asin), f64 = angle::asin;
    Acos: f32 = wide!(angle::acos), f64 = angle::acos;
    Asinh: f32 = wide!(double::asinh), f64 = double::asinh;
    Acosh: f32 = wide!(double::acosh), f64 = double::acosh;
    Atanh: f32 = wide!(double::atanh), f64 = double::atanh;
    Sinh: f32 = sinh_single, f64 = sinh_double;
    Cosh: f32 = cosh_single, f64 = cosh_double;
}

/// e^x / 2 as XLA has it for `f32` and `f64`: the logarithm of one half is added to the argument, in its own precision.
#[inline(always)]
fn half_exp_single(x: f32) -> f32 {
    double::exp(f64::from(x - std::f32::consts::LN_2)) as f32
}

#[inline(always)]
fn cosh_single(x: f32) -> f32 {
    half_exp_single(x) + half_exp_single(-x)
}

#[inline(always)]
fn sinh_single(x: f32) -> f32 {
    let power = double::exp_m1(f64::from(x));
    let near = 0.5 * (power + power / (power + 1.0));
    let far = half_exp_single(x) - half_exp_single(-x);
    if x.abs() < 1.0 { near as f32 } else { far }
}

#[inline(always)]
fn cosh_double(x: f64) -> f64 {
    double::exp(x - std::f64::consts::LN_2) + double::exp(-x - std::f64::consts::LN_2)
}

#[inline(always)]
fn sinh_double(x: f64) -> f64 {
    let power = double::exp_m1(x);
    let near = 0.5 * (power + power / (power + 1.0));
    let far = double::exp(x - std::f64::consts::LN_2) - double::exp(-x - std::f64::consts::LN_2);
    if x.abs() < 1.0 { near } else { far }
}

/// Declares functions of an angle, by their functions of a remainder.
macro_rules! angles {
    ($($name:ident = $single:expr, $double:expr;)*) => {$(
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        impl Function1 for $name<f32> {
            type T = f32;

            #[inline(always)]
            fn usual(x: f32) -> f32 {
                let value = $single(angle::near(f64::from(x))) as f32;
                // The sign of a zero is lost on the way.
                if x == 0.0 && value == 0.0 { x } else { value }
            }

            #[inline(always)]
            fn is_rare(x: f32) -> bool {
                angle::is_far(f64::from(x))
            }

            fn rare(x: f32) -> f32 {
                $single(angle::far(f64::from(x))) as f32
            }
        }

        impl Function1 for $name<f64> {
            type T = f64;

            #[inline(always)]
            fn usual(x: f64) -> f64 {
                let value = $double(angle::near(x));
                if x == 0.0 && value == 0.0 { x } else { value }
            }

            #[inline(always)]
            fn is_rare(x: f64) -> bool {
                angle::is_far(x)
            }

            fn rare(x: f64) -> f64 {
                $double(angle::far(x))
            }
        }
    )*};
}

angles! {
    Sin = angle::sin_single, angle::sin;
    Cos = angle::cos_single, angle::cos;
    Tan = angle::tan_single, angle::tan;
}

/// The angle of a point.
pub(crate) struct Atan2<T>(PhantomData<T>);

/// The first number to the power of the second one.
pub(crate) struct Power<T>(PhantomData<T>);

impl Function2 for Atan2<f32> {
    type T = f32;

    #[inline(always)]
    fn usual(y: f32, x: f32) -> f32 {
        angle::atan2(f64::from(y), f64::from(x)) as f32
    }
}

impl Function2 for Atan2<f64> {
    type T = f64;

    #[inline(always)]
    fn usual(y: f64, x: f64) -> f64 {
        angle::atan2(y, x)
    }
}

impl Function2 for Power<f32> {
    type T = f32;

    #[inline(always)]
    fn usual(x: f32, y: f32) -> f32 {
        special::power(f64::from(x), f64::from(y)) as f32
    }
}

impl Map2 for Power<f64> {
    type In = f64;
    type Out = f64;

    #[inline(always)]
    fn apply(x: f64, y: f64) -> f64 {
        libm::pow(x, y)
    }
}

/// Declares functions that are cheap, or that are computed for one number at a time.
macro_rules! plain {
    ($($name:ident: $In:ty => $Out:ty = $function:expr;)*) => {$(
        impl Map1 for $name<$In> {
            type In = $In;
            type Out = $Out;

            #[inline(always)]
            fn apply(x: $In) -> $Out {
                $function(x)
            }
        }
    )*};
}

/// Logarithm of the magnitude of the gamma function.
pub(crate) struct LnGamma<T>(PhantomData<T>);

/// Logarithmic derivative of the gamma function.
pub(crate) struct Digamma<T>(PhantomData<T>);

plain! {
    LnGamma: f32 => f32 = wide!(special::ln_gamma);
    Digamma: f32 => f32 = wide!(special::digamma);
    Cbrt: f64 => f64 = libm::cbrt;
    Erf: f64 => f64 = libm::erf;
    Erfc: f64 => f64 = libm::erfc;
}

/// The quotient, and what Newton's method then gives with an exact product: the nearest number but for ties.
macro_rules! rsqrt {
    ($x:expr) => {{
        let root = 1.0 / $x.sqrt();
        let product = $x * root;
        let rest = $x.mul_add(root, -product);
        let error = (-product).mul_add(root, 1.0) - rest * root;
        let better = (0.5 * root).mul_add(error, root);
        // Zeros, infinities and what is not a number.
        if error.is_finite() { better } else { root }
    }};
}

/// Declares cheap functions of all floats, each an expression in the type that they are computed in.
macro_rules! roundings {
    ($($name:ident = |$x:ident| $value:expr;)*) => {$(
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        roundings!(@each $name |$x| $value; f32, f64, Half, Brain);
    )*};
    (@each $name:ident |$x:ident| $value:expr; $($ty:ty),*) => {
        $(impl Map1 for $name<$ty> {
            type In = $ty;
            type Out = $ty;

            #[inline(always)]
            fn apply(x: $ty) -> $ty {
                let $x = x.widen();
                <$ty>::narrow($value)
            }
        })*
    };
}

roundings! {
    Ceil = |x| x.ceil();
    Floor = |x| x.floor();
    RoundAway = |x| x.round();
    RoundEven = |x| x.round_ties_even();
    Sqrt = |x| x.sqrt();
    Rsqrt = |x| rsqrt!(x);
}

/// Declares tests of all floats.
macro_rules! tests {
    ($($name:ident = |$x:ident| $holds:expr;)*) => {$(
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        tests!(@each $name |$x| $holds; f32, f64, Half, Brain);
    )*};
    (@each $name:ident |$x:ident| $holds:expr; $($ty:ty),*) => {
        $(impl Map1 for $name<$ty> {
            type In = $ty;
            type Out = Bool;

            #[inline(always)]
            fn apply(x: $ty) -> Bool {
                let $x = x.widen();
                Bool(u8::from($holds))
            }
        })*
    };
}

tests! {
    IsFinite = |x| x.is_finite();
    IsInfinite = |x| x.is_infinite();
    IsNegativeInfinite = |x| x == -1.0 / 0.0;
    IsPositiveInfinite = |x| x == 1.0 / 0.0;
}

/// The imaginary part of a real number.
pub(crate) struct NoImaginaryPart<T>(PhantomData<T>);

impl<T: Element> Map1 for NoImaginaryPart<T> {
    type In = T;
    type Out = T;

    #[inline(always)]
    fn apply(_: T) -> T {
        // SAFETY: every element type has an element of zero bytes, which is 0.
        unsafe { std::mem::zeroed() }
    }
}
