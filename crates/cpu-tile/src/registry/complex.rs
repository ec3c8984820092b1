//! Complex numbers.

use artifact_ir::types::ElementType::{C64, C128};

use super::{Registry, compile_here};
use crate::arithmetic as number;
use crate::complex;
use crate::element::{Complex, Element};
use crate::op::{BinaryOp, UnaryOp};

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    macro_rules! complex {
        ($part:ty, $ty:ident) => {
            registry.binary::<Here, number::Add<Complex<$part>>>(BinaryOp::Add, $ty);
            registry.binary::<Here, number::Subtract<Complex<$part>>>(BinaryOp::Subtract, $ty);
            registry.binary::<Here, number::Multiply<Complex<$part>>>(BinaryOp::Multiply, $ty);
            registry.binary::<Here, number::Divide<Complex<$part>>>(BinaryOp::Divide, $ty);
            registry.binary::<Here, number::Maximum<Complex<$part>>>(BinaryOp::Maximum, $ty);
            registry.binary::<Here, number::Minimum<Complex<$part>>>(BinaryOp::Minimum, $ty);
            registry.binary::<Here, complex::FromParts<$part>>(BinaryOp::Complex, <$part>::TYPE);
            registry.unary::<Here, number::Negate<Complex<$part>>>(UnaryOp::Negate, $ty);
            registry.unary::<Here, complex::Magnitude<$part>>(UnaryOp::Abs, $ty);
            registry.unary::<Here, complex::RealPart<$part>>(UnaryOp::Real, $ty);
            registry.unary::<Here, complex::ImaginaryPart<$part>>(UnaryOp::Imag, $ty);
            registry.unary::<Here, complex::Conjugate<$part>>(UnaryOp::Conj, $ty);
        };
    }
    complex!(f32, C64);
    complex!(f64, C128);
}
