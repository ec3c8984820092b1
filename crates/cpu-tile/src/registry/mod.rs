//! The list of routines, and their functions by level.
//!
//! Each family of routines is compiled in its own module, with [`compile_here`], so that they are compiled in parallel and one at
//! a time when something changes.

mod arithmetic;
mod bits;
mod compare;
mod complex;
mod convert;
mod math;
mod movement;
mod reduce;

use std::num::NonZero;
use std::sync::LazyLock;

use artifact_ir::types::ElementType;

use crate::element::{Element, Float};
use crate::level::Level;
use crate::map::{Map1, Map2, Zip1, Zip2};
use crate::op::{BinaryOp, TileOp, UnaryOp, Width};
use crate::tile::{Routine, TileFn};

/// All routines. An id is an index.
pub(crate) struct Registry {
    ops: Vec<TileOp>,
    tables: [Vec<TileFn>; 3],
    /// The id of each routine, by [`TileOp::key`]: drivers look routines up for every rectangle.
    ids: Box<[Option<NonZero<u16>>]>,
}

/// The one registry.
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);
    &REGISTRY
}

/// The routines of a level, by [`TileOp::id`]. Every level has all of them.
///
/// A table can be had for any level, and its routines called where [`Level::is_supported`] says so. On other architectures than
/// x86-64 the tables of its levels hold portable routines, which no [`Level::detect`] will ask for.
#[must_use]
pub fn table(level: Level) -> &'static [TileFn] {
    &registry().tables[level as usize]
}

impl Registry {
    fn new() -> Self {
        let mut registry = Self {
            ops: Vec::new(),
            tables: Default::default(),
            ids: vec![None; TileOp::KEYS].into_boxed_slice(),
        };
        arithmetic::register(&mut registry);
        bits::register(&mut registry);
        complex::register(&mut registry);
        compare::register(&mut registry);
        convert::register(&mut registry);
        movement::register(&mut registry);
        reduce::register(&mut registry);
        math::register(&mut registry);
        registry
    }

    pub(crate) fn ops(&self) -> &[TileOp] {
        &self.ops
    }

    pub(crate) fn id(&self, op: TileOp) -> Option<u16> {
        // One more than the id, so that zero means none.
        self.ids[op.key()].map(|next| next.get() - 1)
    }

    /// Adds a routine. That none is added twice is tested, by their ids.
    fn add(&mut self, op: TileOp, functions: [TileFn; 3]) {
        self.ops.push(op);
        self.ids[op.key()] = NonZero::new(self.ops.len() as u16);
        for (table, function) in self.tables.iter_mut().zip(functions) {
            table.push(function);
        }
    }
}

/// What compiles a routine for each level, in the order of [`Level`]. Each family of routines has one of its own, made by
/// [`compile_here`].
trait Compile {
    /// A body a level.
    fn functions<R: Routine>() -> [TileFn; 3];

    /// The same body for both levels of x86-64: for routines that gain little from AVX-512, which are compiled once less.
    fn functions_without_v4<R: Routine>() -> [TileFn; 3];

    /// A body of its own for AVX-512.
    fn functions_with_v4<R: Routine, V4: Routine>() -> [TileFn; 3];

    /// A body of its own for both levels of x86-64.
    fn functions_with_v3<R: Routine, V3: Routine>() -> [TileFn; 3];

    /// A routine on a narrow float by one on `f32` (by `V4` for AVX-512), with `N` tiles.
    fn functions_through<T: Float<Wide = f32>, R: Routine, V4: Routine, const N: usize>() -> [TileFn; 3];
}

impl Registry {
    /// Adds a routine that moves bytes, or is seldom called.
    fn simple<C: Compile, R: Routine>(&mut self, op: TileOp) {
        self.add(op, C::functions_without_v4::<R>());
    }

    /// Adds any other routine.
    fn routine<C: Compile, R: Routine>(&mut self, op: TileOp) {
        self.add(op, C::functions::<R>());
    }

    /// Adds a routine on elements of type `T`, of which it depends what it gains from AVX-512.
    fn routine_of<C: Compile, T: Element, R: Routine>(&mut self, op: TileOp) {
        if const { T::HAS_V4 } {
            self.add(op, C::functions::<R>());
        } else {
            self.add(op, C::functions_without_v4::<R>());
        }
    }

    fn unary<C: Compile, F: Map1>(&mut self, op: UnaryOp, ty: ElementType) {
        self.routine_of::<C, F::In, Zip1<F>>(TileOp::Unary(op, ty));
    }

    fn binary<C: Compile, F: Map2>(&mut self, op: BinaryOp, ty: ElementType) {
        self.routine_of::<C, F::In, Zip2<F>>(TileOp::Binary(op, ty));
    }
}

/// The width of a type.
fn width_of<T>() -> Width {
    Width::ALL[size_of::<T>().ilog2() as usize]
}

/// Calls a macro once for each type of a list.
macro_rules! each {
    ($macro:ident: $($ty:ty),*) => {
        $($macro!($ty);)*
    };
}

/// As [`each`], for every integer and the signed one of its width, whose functions it may share where signs make no difference.
macro_rules! each_integer {
    ($macro:ident) => {
        $macro!(i8, i8);
        $macro!(i16, i16);
        $macro!(i32, i32);
        $macro!(i64, i64);
        $macro!(u8, i8);
        $macro!(u16, i16);
        $macro!(u32, i32);
        $macro!(u64, i64);
    };
}

/// Defines `Here`, with which routines are compiled where this stands.
macro_rules! compile_here {
    () => {
        /// Compiles routines in this module.
        struct Here;

        impl super::Compile for Here {
            fn functions<R: crate::tile::Routine>() -> [crate::tile::TileFn; 3] {
                [portable::<R>, v3::<R>, v4::<R>]
            }

            fn functions_without_v4<R: crate::tile::Routine>() -> [crate::tile::TileFn; 3] {
                [portable::<R>, v3::<R>, v3::<R>]
            }

            fn functions_with_v4<R: crate::tile::Routine, V4: crate::tile::Routine>()
            -> [crate::tile::TileFn; 3] {
                [portable::<R>, v3::<R>, v4::<V4>]
            }

            fn functions_with_v3<R: crate::tile::Routine, V3: crate::tile::Routine>()
            -> [crate::tile::TileFn; 3] {
                [portable::<R>, v3::<V3>, v3::<V3>]
            }

            fn functions_through<
                T: crate::element::Float<Wide = f32>,
                R: crate::tile::Routine,
                V4: crate::tile::Routine,
                const N: usize,
            >() -> [crate::tile::TileFn; 3] {
                [
                    portable_through::<T, R, N>,
                    v3_through::<T, R, N>,
                    v4_through::<T, V4, N>,
                ]
            }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn).
        unsafe extern "C" fn portable<R: crate::tile::Routine>(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { R::run::<true>(rows, cols, tiles) }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn), on a processor of level x86-64-v3.
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,movbe,popcnt")
        )]
        unsafe extern "C" fn v3<R: crate::tile::Routine>(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { R::run::<false>(rows, cols, tiles) }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn), on a processor of level x86-64-v4.
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,movbe,popcnt,avx512f,avx512bw"),
            target_feature(enable = "avx512cd,avx512dq,avx512vl")
        )]
        unsafe extern "C" fn v4<R: crate::tile::Routine>(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { R::run::<false>(rows, cols, tiles) }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn).
        unsafe extern "C" fn portable_through<
            T: crate::element::Float<Wide = f32>,
            R: crate::tile::Routine,
            const N: usize,
        >(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { crate::math::narrow::run::<T, N>(rows, cols, tiles, portable::<R>) }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn), on a processor of level x86-64-v3.
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,movbe,popcnt")
        )]
        unsafe extern "C" fn v3_through<
            T: crate::element::Float<Wide = f32>,
            R: crate::tile::Routine,
            const N: usize,
        >(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { crate::math::narrow::run::<T, N>(rows, cols, tiles, v3::<R>) }
        }

        /// # Safety
        /// As [`TileFn`](crate::TileFn), on a processor of level x86-64-v4.
        #[cfg_attr(
            target_arch = "x86_64",
            target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,movbe,popcnt,avx512f,avx512bw"),
            target_feature(enable = "avx512cd,avx512dq,avx512vl")
        )]
        unsafe extern "C" fn v4_through<
            T: crate::element::Float<Wide = f32>,
            R: crate::tile::Routine,
            const N: usize,
        >(
            rows: usize,
            cols: usize,
            tiles: *const crate::tile::Tile,
        ) {
            // SAFETY: the caller's promise.
            unsafe { crate::math::narrow::run::<T, N>(rows, cols, tiles, v4::<R>) }
        }
    };
}
use {compile_here, each, each_integer};
