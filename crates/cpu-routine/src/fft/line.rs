//! Transforms of single lines: complex, from real, to real.

use artifact_ir::types::ElementType;

use super::lanes::{LANES, Numbers, Part, Real, Root};
use super::pass::Shape;
use super::{bluestein, radix};

/// A transform of lines of one length.
#[derive(Debug)]
pub(super) struct Plan {
    /// Length in real numbers, or in complex ones of a complex transform.
    pub(super) length: usize,
    pub(super) shape: Shape,
    pub(super) roots: Typed,
}

/// Roots of unity of a precision.
#[derive(Debug)]
pub(super) enum Typed {
    F32(Steps<f32>),
    F64(Steps<f64>),
}

#[derive(Debug)]
pub(super) struct Steps<T> {
    core: Core<T>,
    /// For real transforms of even length, which are complex ones of half the length: roots of the whole length.
    halves: Vec<Root<T>>,
}

#[derive(Debug)]
enum Core<T> {
    Trivial,
    Radix(radix::Plan<T>),
    Bluestein(bluestein::Plan),
}

impl<T> Core<T> {
    fn convolution(length: usize) -> Self {
        // A power of two has no large prime factor.
        bluestein::Plan::new(length).map_or(Self::Trivial, Self::Bluestein)
    }
}

impl Plan {
    pub(super) fn new(part: ElementType, length: usize, shape: Shape) -> Self {
        Self {
            length,
            shape,
            roots: match part {
                ElementType::F32 => Typed::F32(Steps::new(length, shape)),
                _ => Typed::F64(Steps::new(length, shape)),
            },
        }
    }

    /// Bytes that a task needs.
    pub(super) fn scratch_bytes(&self) -> usize {
        match &self.roots {
            Typed::F32(steps) => steps.scratch_bytes(self.numbers()),
            Typed::F64(steps) => steps.scratch_bytes(self.numbers()),
        }
    }

    /// Complex numbers of the transform at the core.
    pub(super) const fn numbers(&self) -> usize {
        if self.is_halved() {
            self.length / 2
        } else {
            self.length
        }
    }

    /// Whether pairs of real numbers are taken as complex ones.
    pub(super) const fn is_halved(&self) -> bool {
        !matches!(self.shape, Shape::Complex { .. }) && self.length.is_multiple_of(2)
    }
}

impl<T: Real> Steps<T> {
    fn new(length: usize, shape: Shape) -> Self {
        let halved = !matches!(shape, Shape::Complex { .. }) && length.is_multiple_of(2);
        let core = if halved { length / 2 } else { length };
        let halves = if halved && length > 0 {
            0..length / 2 + 1
        } else {
            0..0
        };
        Self {
            core: match core {
                0 | 1 => Core::Trivial,
                _ => radix::Plan::new(core)
                    .map(Core::Radix)
                    .unwrap_or_else(|| Core::convolution(core)),
            },
            halves: halves.map(|index| Root::new(index, length)).collect(),
        }
    }

    /// The numbers and their transform, half a spectrum, as many pairs on their way in or out, and what a convolution needs.
    fn scratch_bytes(&self, numbers: usize) -> usize {
        let convolved = match &self.core {
            Core::Bluestein(plan) => 2 * plan.padded() * size_of::<Numbers<f64>>(),
            Core::Trivial | Core::Radix(_) => 0,
        };
        4 * (numbers + 1) * size_of::<Numbers<T>>() + convolved
    }

    /// Transforms the first of two slices, of as many numbers each; the result is in the one that is returned first. `memory` is
    /// for a convolution.
    pub(super) fn complex<'a>(
        &self,
        values: &'a mut [Numbers<T>],
        other: &'a mut [Numbers<T>],
        memory: &mut [Numbers<f64>],
    ) -> (&'a mut [Numbers<T>], &'a mut [Numbers<T>]) {
        match &self.core {
            Core::Trivial => (values, other),
            Core::Radix(plan) => plan.run(values, other),
            Core::Bluestein(plan) => {
                plan.run(values, memory);
                (values, other)
            }
        }
    }

    /// Numbers of `f64` that [`Self::complex`] needs.
    pub(super) const fn convolved(&self) -> usize {
        match &self.core {
            Core::Bluestein(plan) => 2 * plan.padded(),
            Core::Trivial | Core::Radix(_) => 0,
        }
    }

    /// The half spectrum of real numbers from the transform of their pairs. `to` has one number more.
    pub(super) fn split(&self, pairs: &[Numbers<T>], to: &mut [Numbers<T>]) {
        split::<T>(&self.halves, pairs, to);
    }

    /// The pairs, conjugated and times the length, from half a spectrum, whose first and last numbers are real.
    pub(super) fn join(&self, half: &[Numbers<T>], pairs: &mut [Numbers<T>]) {
        join::<T>(&self.halves, half, pairs);
    }
}

crate::level::leveled! {
    fn split[T: Real](roots: &[Root<T>], pairs: &[Numbers<T>], to: &mut [Numbers<T>]) {
        let length = pairs.len();
        let half = T::of(0.5);
        let one = |a: Numbers<T>, b: Numbers<T>, root: Root<T>| {
            let b = b.conjugate();
            let (even, odd) = ((a + b).scaled(half), (a - b).scaled(half).turned());
            even + odd.by(root)
        };
        to[0] = one(pairs[0], pairs[0], roots[0]);
        to[length] = one(pairs[0], pairs[0], roots[length]);
        for index in 1..length {
            to[index] = one(pairs[index], pairs[length - index], roots[index]);
        }
    }
}

crate::level::leveled! {
    fn join[T: Real](roots: &[Root<T>], half: &[Numbers<T>], pairs: &mut [Numbers<T>]) {
        let length = pairs.len();
        let zero = Part([T::default(); LANES]);
        let real = |index: usize| {
            let value = half[index];
            if index == 0 || index == length { Numbers { re: value.re, im: zero } } else { value }
        };
        for (index, pair) in pairs.iter_mut().enumerate() {
            let (a, b) = (real(index), real(length - index).conjugate());
            let root = Root { re: roots[index].re, im: -roots[index].im };
            // Times i: three times -i.
            let odd = (a - b).by(root).turned().turned().turned();
            *pair = (a + b + odd).conjugate();
        }
    }
}
