//! Functions of real numbers.

use artifact_ir::types::ElementType::{BF16, F16, F32, F64};

use super::{Compile, Registry, compile_here, each};
use crate::element::{Brain, Element, Half};
use crate::map::{Block1, Block2, Function1, Zip1, Zip2};
use crate::math::function as f;
use crate::movement::Copy;
use crate::op::{BinaryOp, TileOp, UnaryOp};
use crate::tile::Routine;

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    cheap(registry);
    functions(registry);
    rare(registry);
}

/// Adds a routine of `f32`, and those of the narrower types that call it.
fn single<R: Routine>(registry: &mut Registry, op: UnaryOp) {
    registry.add(TileOp::Unary(op, F32), Here::functions::<R>());
    registry.add(TileOp::Unary(op, F16), Here::functions_through::<Half, R, 2>());
    registry.add(TileOp::Unary(op, BF16), Here::functions_through::<Brain, R, 2>());
}

/// As [`single`], for a routine with two operands.
fn single_pair<R: Routine>(registry: &mut Registry, op: BinaryOp) {
    registry.add(TileOp::Binary(op, F32), Here::functions::<R>());
    registry.add(TileOp::Binary(op, F16), Here::functions_through::<Half, R, 3>());
    registry.add(TileOp::Binary(op, BF16), Here::functions_through::<Brain, R, 3>());
}

fn double<F: Function1<T = f64>>(registry: &mut Registry, op: UnaryOp) {
    registry.routine::<Here, Block1<F>>(TileOp::Unary(op, F64));
}

fn cheap(registry: &mut Registry) {
    macro_rules! cheap {
        ($ty:ty) => {
            let ty = <$ty>::TYPE;
            registry.unary::<Here, f::Ceil<$ty>>(UnaryOp::Ceil, ty);
            registry.unary::<Here, f::Floor<$ty>>(UnaryOp::Floor, ty);
            registry.unary::<Here, f::RoundAway<$ty>>(UnaryOp::RoundNearestAfz, ty);
            registry.unary::<Here, f::RoundEven<$ty>>(UnaryOp::RoundNearestEven, ty);
            registry.unary::<Here, f::Sqrt<$ty>>(UnaryOp::Sqrt, ty);
            registry.unary::<Here, f::Rsqrt<$ty>>(UnaryOp::Rsqrt, ty);
            registry.unary::<Here, f::IsFinite<$ty>>(UnaryOp::IsFinite, ty);
            registry.unary::<Here, f::IsInfinite<$ty>>(UnaryOp::IsInf, ty);
            registry.unary::<Here, f::IsNegativeInfinite<$ty>>(UnaryOp::IsNegInf, ty);
            registry.unary::<Here, f::IsPositiveInfinite<$ty>>(UnaryOp::IsPosInf, ty);
            registry.unary::<Here, crate::arithmetic::Square<$ty>>(UnaryOp::Square, ty);
            registry.simple::<Here, Zip1<Copy<$ty>>>(TileOp::Unary(UnaryOp::Conj, ty));
            registry.simple::<Here, Zip1<Copy<$ty>>>(TileOp::Unary(UnaryOp::Real, ty));
            registry.simple::<Here, Zip1<f::NoImaginaryPart<$ty>>>(TileOp::Unary(UnaryOp::Imag, ty));
        };
    }
    each!(cheap: Half, Brain, f32, f64);
}

fn functions(registry: &mut Registry) {
    macro_rules! both {
        ($($op:ident = $function:ident),* $(,)?) => {$(
            single::<Block1<f::$function<f32>>>(registry, UnaryOp::$op);
            double::<f::$function<f64>>(registry, UnaryOp::$op);
        )*};
    }
    both! {
        Exponential = Exp, ExponentialMinusOne = ExpM1, Log = Ln, LogPlusOne = Ln1p, Logistic = Logistic, Tanh = Tanh,
        Sine = Sin, Cosine = Cos, Tan = Tan, Atan = Atan, Asin = Asin, Acos = Acos,
        Asinh = Asinh, Acosh = Acosh, Atanh = Atanh, Sinh = Sinh, Cosh = Cosh,
    }
    single::<Block1<f::Cbrt<f32>>>(registry, UnaryOp::Cbrt);
    single::<Block1<f::Erf<f32>>>(registry, UnaryOp::Erf);
    single::<Block1<f::Erfc<f32>>>(registry, UnaryOp::Erfc);
    single::<Block1<f::ErfInv<f32>>>(registry, UnaryOp::ErfInv);
    single_pair::<Block2<f::Atan2<f32>>>(registry, BinaryOp::Atan2);
    single_pair::<Block2<f::Power<f32>>>(registry, BinaryOp::Power);
    registry.routine::<Here, Block2<f::Atan2<f64>>>(TileOp::Binary(BinaryOp::Atan2, F64));
}

/// Functions that are computed for one number at a time.
fn rare(registry: &mut Registry) {
    single::<Zip1<f::LnGamma<f32>>>(registry, UnaryOp::Lgamma);
    single::<Zip1<f::Digamma<f32>>>(registry, UnaryOp::Digamma);
    registry.simple::<Here, Zip1<f::Cbrt<f64>>>(TileOp::Unary(UnaryOp::Cbrt, F64));
    registry.simple::<Here, Zip1<f::Erf<f64>>>(TileOp::Unary(UnaryOp::Erf, F64));
    registry.simple::<Here, Zip1<f::Erfc<f64>>>(TileOp::Unary(UnaryOp::Erfc, F64));
    registry.simple::<Here, Zip2<f::Power<f64>>>(TileOp::Binary(BinaryOp::Power, F64));
}
