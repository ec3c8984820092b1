//! Reductions.

use artifact_ir::types::ElementType;

use super::{Registry, compile_here, each, each_integer};
use crate::element::{Bool, Brain, Complex, Element, Half};
use crate::op::{CombineOp, TileOp};
use crate::reduce;

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    fn one<C: reduce::Combine>(registry: &mut Registry, op: CombineOp, ty: ElementType) {
        registry.routine_of::<Here, C::T, reduce::Reduce<C>>(TileOp::Reduce(op, ty));
        registry.simple::<Here, reduce::LanesInit<C>>(TileOp::LanesInit(op, ty));
        registry.simple::<Here, reduce::LanesCombine<C>>(TileOp::LanesCombine(op, ty));
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
    each!(ordered: Bool, i8, i16, i32, i64, u8, u16, u32, u64, Half, Brain, f32, f64);
    logical!(Bool, Bool);
    each_integer!(logical);
}
