//! Bits of booleans and integers, and what only integers have.

use super::{Registry, compile_here, each_integer};
use crate::arithmetic as number;
use crate::element::{Bool, Element};
use crate::op::{BinaryOp, UnaryOp};

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    macro_rules! logical {
        ($ty:ty, $same:ty) => {
            registry.binary::<Here, number::And<$same>>(BinaryOp::And, <$ty>::TYPE);
            registry.binary::<Here, number::Or<$same>>(BinaryOp::Or, <$ty>::TYPE);
            registry.binary::<Here, number::Xor<$same>>(BinaryOp::Xor, <$ty>::TYPE);
            registry.unary::<Here, number::Not<$same>>(UnaryOp::Not, <$ty>::TYPE);
        };
    }
    macro_rules! integer {
        ($ty:ty, $same:ty) => {
            registry.binary::<Here, number::ShiftLeft<$same>>(BinaryOp::ShiftLeft, <$ty>::TYPE);
            registry.binary::<Here, number::ShiftRightArithmetic<$same>>(
                BinaryOp::ShiftRightArithmetic,
                <$ty>::TYPE,
            );
            registry
                .binary::<Here, number::ShiftRightLogical<$same>>(BinaryOp::ShiftRightLogical, <$ty>::TYPE);
            registry.binary::<Here, number::IntegerPower<$ty>>(BinaryOp::Power, <$ty>::TYPE);
            registry.binary::<Here, number::HighProduct<$ty>>(BinaryOp::Mulhi, <$ty>::TYPE);
            registry.unary::<Here, number::CountLeadingZeros<$same>>(UnaryOp::CountLeadingZeros, <$ty>::TYPE);
            registry.unary::<Here, number::CountOnes<$same>>(UnaryOp::Popcnt, <$ty>::TYPE);
        };
    }
    logical!(Bool, Bool);
    each_integer!(logical);
    each_integer!(integer);
    let boolean = Bool::TYPE;
    registry.binary::<Here, number::Or<Bool>>(BinaryOp::Add, boolean);
    registry.binary::<Here, number::Or<Bool>>(BinaryOp::Maximum, boolean);
    registry.binary::<Here, number::And<Bool>>(BinaryOp::Multiply, boolean);
    registry.binary::<Here, number::And<Bool>>(BinaryOp::Minimum, boolean);
}
