//! Reductions.

use artifact_ir::types::ElementType::{self, F32};

use super::{Compile, Registry, compile_here, each, each_integer};
use crate::element::{Bool, Brain, Complex, Element, Half};
use crate::op::{CombineOp, TileOp};
use crate::reduce;

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    fn one<C: reduce::Combine>(registry: &mut Registry, op: CombineOp, ty: ElementType) {
        registry.routine_of::<Here, C::T, reduce::Reduce<C>>(TileOp::Reduce(op, ty));
        lanes::<C>(registry, op, ty);
    }
    macro_rules! number {
        ($ty:ty, $same:ty) => {
            one::<reduce::Sum<$same>>(registry, CombineOp::Add, <$ty>::TYPE);
            one::<reduce::Product<$same>>(registry, CombineOp::Multiply, <$ty>::TYPE);
        };
    }
    macro_rules! ordered {
        ($ty:ty) => {
            one::<reduce::Greatest<$ty>>(registry, CombineOp::Maximum, <$ty>::TYPE);
            one::<reduce::Least<$ty>>(registry, CombineOp::Minimum, <$ty>::TYPE);
        };
    }
    macro_rules! logical {
        ($ty:ty, $same:ty) => {
            one::<reduce::All<$same>>(registry, CombineOp::And, <$ty>::TYPE);
            one::<reduce::Any<$same>>(registry, CombineOp::Or, <$ty>::TYPE);
            one::<reduce::Parity<$same>>(registry, CombineOp::Xor, <$ty>::TYPE);
        };
    }
    macro_rules! number_alone {
        ($ty:ty) => {
            number!($ty, $ty);
        };
    }
    each_integer!(number);
    each!(number_alone: Bool, Half, Brain, f32, f64, Complex<f32>, Complex<f64>);
    each!(ordered: Bool, i8, i16, i32, i64, u8, u16, u32, u64, Half, Brain, f64);
    extremes(registry);
    logical!(Bool, Bool);
    each_integer!(logical);
}

type Greatest = reduce::Greatest<f32>;
type Least = reduce::Least<f32>;

#[cfg(target_arch = "x86_64")]
type GreatestV4 = crate::extreme::Extreme<true>;
#[cfg(target_arch = "x86_64")]
type LeastV4 = crate::extreme::Extreme<false>;
#[cfg(not(target_arch = "x86_64"))]
type GreatestV4 = reduce::Reduce<Greatest>;
#[cfg(not(target_arch = "x86_64"))]
type LeastV4 = reduce::Reduce<Least>;

/// Maximum and minimum of `f32`, which have bodies of their own for AVX-512.
fn extremes(registry: &mut Registry) {
    let greatest = Here::functions_with_v4::<reduce::Reduce<Greatest>, GreatestV4>();
    let least = Here::functions_with_v4::<reduce::Reduce<Least>, LeastV4>();
    registry.add(TileOp::Reduce(CombineOp::Maximum, F32), greatest);
    registry.add(TileOp::Reduce(CombineOp::Minimum, F32), least);
    lanes::<Greatest>(registry, CombineOp::Maximum, F32);
    lanes::<Least>(registry, CombineOp::Minimum, F32);
}

/// The routines around that of a reduction.
fn lanes<C: reduce::Combine>(registry: &mut Registry, op: CombineOp, ty: ElementType) {
    registry.simple::<Here, reduce::LanesInit<C>>(TileOp::LanesInit(op, ty));
    registry.simple::<Here, reduce::LanesCombine<C>>(TileOp::LanesCombine(op, ty));
}
