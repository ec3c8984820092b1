//! Routines that move elements.

use super::{Compile, Registry, compile_here, each, each_integer, width_of};
use crate::element::{Brain, Complex, Element, Half};
use crate::map::Zip1;
use crate::movement;
use crate::op::TileOp;
use crate::transpose::{Plain, Transpose};

compile_here!();

pub(super) fn register(registry: &mut Registry) {
    macro_rules! width {
        ($ty:ty) => {
            let width = width_of::<$ty>();
            registry.routine::<Here, Zip1<movement::Copy<$ty>>>(TileOp::Copy(width));
            registry.simple::<Here, movement::Fill<$ty>>(TileOp::Fill(width));
            registry.simple::<Here, movement::GatherStrided<$ty>>(TileOp::GatherStrided(width));
            registry.simple::<Here, movement::ScatterStrided<$ty>>(TileOp::ScatterStrided(width));
        };
    }
    macro_rules! affine {
        ($ty:ty) => {
            registry.routine::<Here, movement::AffineFill<$ty>>(TileOp::Affine(<$ty>::TYPE));
        };
    }
    macro_rules! affine_integer {
        ($ty:ty, $same:ty) => {
            registry.routine::<Here, movement::AffineFill<$same>>(TileOp::Affine(<$ty>::TYPE));
        };
    }
    each!(width: u8, u16, u32, u64, Complex<f64>);
    each!(affine: Half, Brain, f32, f64, Complex<f32>, Complex<f64>);
    each_integer!(affine_integer);
    transposes(registry);
}

/// What transposes a square on x86-64.
#[cfg(target_arch = "x86_64")]
type Block<T> = crate::transpose::Vectors<T>;
#[cfg(not(target_arch = "x86_64"))]
type Block<T> = Plain<T>;

fn transposes(registry: &mut Registry) {
    macro_rules! transpose {
        ($ty:ty) => {
            let functions = Here::functions_with_v3::<Transpose<Plain<$ty>>, Transpose<Block<$ty>>>();
            registry.add(TileOp::Transpose(width_of::<$ty>()), functions);
        };
    }
    each!(transpose: u8, u16, u32, u64);
    registry.simple::<Here, Transpose<Plain<Complex<f64>>>>(TileOp::Transpose(width_of::<Complex<f64>>()));
}
