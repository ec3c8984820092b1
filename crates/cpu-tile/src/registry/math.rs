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

/// Adds a routine of `f32`, and those of the narrower types that call it; `V4` is what it is with AVX-512.
fn single<R: Routine, V4: Routine>(registry: &mut Registry, op: UnaryOp) {
    registry.add(TileOp::Unary(op, F32), Here::functions_with_v4::<R, V4>());
    registry.add(
        TileOp::Unary(op, F16),
        Here::functions_through::<Half, R, V4, 2>(),
    );
    registry.add(
        TileOp::Unary(op, BF16),
        Here::functions_through::<Brain, R, V4, 2>(),
    );
}

/// As [`single`], for a routine with two operands.
fn single_pair<R: Routine>(registry: &mut Registry, op: BinaryOp) {
    registry.add(TileOp::Binary(op, F32), Here::functions::<R>());
    registry.add(
        TileOp::Binary(op, F16),
        Here::functions_through::<Half, R, R, 3>(),
    );
    registry.add(
        TileOp::Binary(op, BF16),
        Here::functions_through::<Brain, R, R, 3>(),
    );
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
    macro_rules! singles {
        ($($op:ident = $function:ident),* $(,)?) => {
            $(single::<Block1<f::$function<f32>>, Block1<f::$function<f32>>>(registry, UnaryOp::$op);)*
        };
    }
    macro_rules! doubles {
        ($($op:ident = $function:ident),* $(,)?) => {
            $(double::<f::$function<f64>>(registry, UnaryOp::$op);)*
        };
    }
    hot(registry);
    singles! {
        ExponentialMinusOne = ExpM1, LogPlusOne = Ln1p, Sine = Sin, Cosine = Cos, Tan = Tan, Cbrt = Cbrt,
        Atan = Atan, Asin = Asin, Acos = Acos, Asinh = Asinh, Acosh = Acosh, Atanh = Atanh, Sinh = Sinh, Cosh = Cosh,
        Erfc = Erfc, ErfInv = ErfInv,
    }
    doubles! {
        Exponential = Exp, ExponentialMinusOne = ExpM1, Log = Ln, LogPlusOne = Ln1p, Logistic = Logistic, Tanh = Tanh,
        Sine = Sin, Cosine = Cos, Tan = Tan, Atan = Atan, Asin = Asin, Acos = Acos,
        Asinh = Asinh, Acosh = Acosh, Atanh = Atanh, Sinh = Sinh, Cosh = Cosh,
    }
    single_pair::<Block2<f::Atan2<f32>>>(registry, BinaryOp::Atan2);
    single_pair::<Block2<f::Power<f32>>>(registry, BinaryOp::Power);
    registry.routine::<Here, Block2<f::Atan2<f64>>>(TileOp::Binary(BinaryOp::Atan2, F64));
}

/// Functions that have bodies of their own for AVX-512.
fn hot(registry: &mut Registry) {
    single::<Block1<f::Exp<f32>>, hot_v4::Exp>(registry, UnaryOp::Exponential);
    single::<Block1<f::Ln<f32>>, hot_v4::Ln>(registry, UnaryOp::Log);
    single::<Block1<f::Logistic<f32>>, hot_v4::Logistic>(registry, UnaryOp::Logistic);
    single::<Block1<f::Tanh<f32>>, hot_v4::Tanh>(registry, UnaryOp::Tanh);
    single::<Block1<f::Erf<f32>>, hot_v4::Erf>(registry, UnaryOp::Erf);
}

#[cfg(target_arch = "x86_64")]
mod hot_v4 {
    use crate::math::avx512::{Block16, Erf16, Exp16, Ln16, Logistic16, Tanh16};

    pub(super) type Exp = Block16<Exp16>;
    pub(super) type Ln = Block16<Ln16>;
    pub(super) type Logistic = Block16<Logistic16>;
    pub(super) type Tanh = Block16<Tanh16>;
    pub(super) type Erf = Block16<Erf16>;
}

/// Elsewhere no table but the portable one is ever called.
#[cfg(not(target_arch = "x86_64"))]
mod hot_v4 {
    use crate::map::Block1;
    use crate::math::function as f;

    pub(super) type Exp = Block1<f::Exp<f32>>;
    pub(super) type Ln = Block1<f::Ln<f32>>;
    pub(super) type Logistic = Block1<f::Logistic<f32>>;
    pub(super) type Tanh = Block1<f::Tanh<f32>>;
    pub(super) type Erf = Block1<f::Erf<f32>>;
}

/// Functions that are computed for one number at a time.
fn rare(registry: &mut Registry) {
    single::<Zip1<f::LnGamma<f32>>, Zip1<f::LnGamma<f32>>>(registry, UnaryOp::Lgamma);
    single::<Zip1<f::Digamma<f32>>, Zip1<f::Digamma<f32>>>(registry, UnaryOp::Digamma);
    registry.simple::<Here, Zip1<f::Cbrt<f64>>>(TileOp::Unary(UnaryOp::Cbrt, F64));
    registry.simple::<Here, Zip1<f::Erf<f64>>>(TileOp::Unary(UnaryOp::Erf, F64));
    registry.simple::<Here, Zip1<f::Erfc<f64>>>(TileOp::Unary(UnaryOp::Erfc, F64));
    registry.simple::<Here, Zip2<f::Power<f64>>>(TileOp::Binary(BinaryOp::Power, F64));
}
