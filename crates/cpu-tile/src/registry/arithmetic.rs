//! Arithmetic of integers and real numbers.

use artifact_ir::types::ElementType::{F32, F64};

use super::{Registry, compile_here, each, each_integer};
use crate::arithmetic as number;
use crate::element::{Brain, Element, Half};
use crate::map::Zip3;
use crate::op::{BinaryOp, TileOp, UnaryOp};

compile_here!();

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
            registry.binary::<Here, number::Maximum<$ty>>(BinaryOp::Maximum, <$ty>::TYPE);
            registry.binary::<Here, number::Minimum<$ty>>(BinaryOp::Minimum, <$ty>::TYPE);
            registry.binary::<Here, number::Remainder<$ty>>(BinaryOp::Remainder, <$ty>::TYPE);
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
    each!(signed: i8, i16, i32, i64, Half, Brain, f32, f64);
    registry.routine::<Here, Zip3<number::MultiplyAdd<f32>>>(TileOp::MultiplyAdd(F32));
    registry.routine::<Here, Zip3<number::MultiplyAdd<f64>>>(TileOp::MultiplyAdd(F64));
}
