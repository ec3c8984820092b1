//! Conversion.

use artifact_ir::types::ElementType;

use super::{Registry, compile_here, each};
use crate::convert::{Convert, ConvertTo};
use crate::element::{Bool, Brain, Complex, Element, Half};
use crate::map::Zip1;
use crate::op::TileOp;

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    /// Converts as `From` to `To` does, to a type of the same bits.
    fn one<From: Element + ConvertTo<To>, To: Element>(
        registry: &mut Registry,
        from: ElementType,
        to: ElementType,
    ) {
        let op = TileOp::Convert { from, to };
        if from == to {
            // Elements of one type are copied.
        } else if const { From::HAS_V4 && To::HAS_V4 } {
            registry.routine::<Here, Zip1<Convert<From, To>>>(op);
        } else {
            registry.simple::<Here, Zip1<Convert<From, To>>>(op);
        }
    }
    // An integer becomes the same bits as a signed and as an unsigned one; a boolean becomes what a byte does.
    macro_rules! integer {
        ($from:ty, $same:ty) => {
            integer!($from, $same: i8, i8; i16, i16; i32, i32; i64, i64; u8, i8; u16, i16; u32, i32; u64, i64);
            integer!($from, $same: Bool, Bool; Half, Half; Brain, Brain; f32, f32; f64, f64);
            integer!($from, $same: Complex<f32>, Complex<f32>; Complex<f64>, Complex<f64>);
        };
        ($from:ty, $same:ty: $($to:ty, $as:ty);*) => {
            $(one::<$same, $as>(registry, <$from>::TYPE, <$to>::TYPE);)*
        };
    }
    macro_rules! float {
        ($from:ty) => {
            float!($from: Bool, i8, i16, i32, i64, u8, u16, u32, u64, Half, Brain, f32, f64, Complex<f32>, Complex<f64>);
        };
        ($from:ty: $($to:ty),*) => {
            $(one::<$from, $to>(registry, <$from>::TYPE, <$to>::TYPE);)*
        };
    }
    macro_rules! integer_alone {
        ($from:ty) => {
            integer!($from, $from);
        };
    }
    integer!(Bool, u8);
    each!(integer_alone: i8, i16, i32, i64, u8, u16, u32, u64);
    each!(float: Half, Brain, f32, f64, Complex<f32>, Complex<f64>);
}
