//! Arithmetic of integers and real numbers.

use artifact_ir::types::ElementType::{F32, F64};

use super::{Compile as _, Registry, compile_here, each, each_integer};
use crate::arithmetic as number;
use crate::element::{Brain, Element, Half};
use crate::map::{Zip2, Zip3};
use crate::op::{BinaryOp, TileOp, UnaryOp};

compile_here!();

#[cfg(target_arch = "x86_64")]
type LargerV4 = crate::extreme::Pair<true>;
#[cfg(target_arch = "x86_64")]
type SmallerV4 = crate::extreme::Pair<false>;
#[cfg(not(target_arch = "x86_64"))]
type LargerV4 = Zip2<number::Maximum<f32>>;
#[cfg(not(target_arch = "x86_64"))]
type SmallerV4 = Zip2<number::Minimum<f32>>;

pub(super) fn register(registry: &mut Registry) {
    // Where signs make no difference, unsigned integers share the functions of signed ones.
    macro_rules! shared {
        ($ty:ty, $same:ty) => {
            registry.binary::<Here, number::Add<$same>>(BinaryOp::Add, <$ty>::TYPE);
            registry.binary::<Here, number::Multiply<$same>>(BinaryOp::Multiply, <$ty>::TYPE);
            registry.binary::<Here, number::Subtract<$same>>(BinaryOp::Subtract, <$ty>::TYPE);
            registry.unary::<Here, number::Negate<$same>>(UnaryOp::Negate, <$ty>::TYPE);
        };
    }
    macro_rules! shared_floats {
        ($ty:ty) => {
            shared!($ty, $ty)
        };
    }
    macro_rules! real {
        ($ty:ty) => {
            registry.binary::<Here, number::Divide<$ty>>(BinaryOp::Divide, <$ty>::TYPE);
            registry.binary::<Here, number::Remainder<$ty>>(BinaryOp::Remainder, <$ty>::TYPE);
        };
    }
    macro_rules! ordered {
        ($ty:ty) => {
            registry.binary::<Here, number::Maximum<$ty>>(BinaryOp::Maximum, <$ty>::TYPE);
            registry.binary::<Here, number::Minimum<$ty>>(BinaryOp::Minimum, <$ty>::TYPE);
        };
    }
    // The dialect does not have these for unsigned integers.
    macro_rules! signed {
        ($ty:ty) => {
            registry.unary::<Here, number::Abs<$ty>>(UnaryOp::Abs, <$ty>::TYPE);
            registry.unary::<Here, number::Sign<$ty>>(UnaryOp::Sign, <$ty>::TYPE);
        };
    }
    each_integer!(shared);
    each!(shared_floats: Half, Brain, f32, f64);
    each!(real: i8, i16, i32, i64, u8, u16, u32, u64, Half, Brain, f32, f64);
    each!(ordered: i8, i16, i32, i64, u8, u16, u32, u64, Half, Brain, f64);
    let larger = Here::functions_with_v4::<Zip2<number::Maximum<f32>>, LargerV4>();
    let smaller = Here::functions_with_v4::<Zip2<number::Minimum<f32>>, SmallerV4>();
    registry.add(TileOp::Binary(BinaryOp::Maximum, F32), larger);
    registry.add(TileOp::Binary(BinaryOp::Minimum, F32), smaller);
    each!(signed: i8, i16, i32, i64, Half, Brain, f32, f64);
    registry.routine::<Here, Zip3<number::MultiplyAdd<f32>>>(TileOp::MultiplyAdd(F32));
    registry.routine::<Here, Zip3<number::MultiplyAdd<f64>>>(TileOp::MultiplyAdd(F64));
}
