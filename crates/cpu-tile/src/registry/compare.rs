//! Comparison and selection.

use artifact_ir::attribute::ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};

use super::{Registry, compile_here, each, each_integer, width_of};
use crate::compare;
use crate::element::{Bool, Brain, Complex, Element, Half};
use crate::map::{Zip2, Zip3};
use crate::op::{Order, TileOp};

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    macro_rules! compare {
        ($order:ident: $ty:ty, $as:ty, $same:ty) => {
            let ty = <$ty>::TYPE;
            registry.routine_of::<Here, $same, Zip2<compare::Equal<$same>>>(TileOp::Compare(
                Eq,
                Order::$order,
                ty,
            ));
            registry.routine_of::<Here, $same, Zip2<compare::NotEqual<$same>>>(TileOp::Compare(
                Ne,
                Order::$order,
                ty,
            ));
            registry.routine_of::<Here, $as, Zip2<compare::Less<$as>>>(TileOp::Compare(
                Lt,
                Order::$order,
                ty,
            ));
            registry.routine_of::<Here, $as, Zip2<compare::AtMost<$as>>>(TileOp::Compare(
                Le,
                Order::$order,
                ty,
            ));
            registry.routine_of::<Here, $as, Zip2<compare::Greater<$as>>>(TileOp::Compare(
                Gt,
                Order::$order,
                ty,
            ));
            registry.routine_of::<Here, $as, Zip2<compare::AtLeast<$as>>>(TileOp::Compare(
                Ge,
                Order::$order,
                ty,
            ));
        };
    }
    macro_rules! natural {
        ($ty:ty) => {
            compare!(Natural: $ty, $ty, $ty);
        };
    }
    macro_rules! integer {
        ($ty:ty, $same:ty) => {
            compare!(Natural: $ty, $ty, $same);
        };
    }
    macro_rules! total {
        ($ty:ty) => {
            compare!(Total: $ty, compare::Total<$ty>, compare::Total<$ty>);
        };
    }
    each_integer!(integer);
    each!(natural: Bool, Half, Brain, f32, f64, Complex<f32>, Complex<f64>);
    each!(total: Half, Brain, f32, f64);
    macro_rules! select {
        ($ty:ty) => {
            registry.routine::<Here, Zip3<compare::Select<$ty>>>(TileOp::Select(width_of::<$ty>()));
        };
    }
    each!(select: u8, u16, u32, u64, Complex<f64>);
}
