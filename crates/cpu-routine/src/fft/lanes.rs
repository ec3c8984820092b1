//! Numbers of several lines side by side.

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

/// The parts of complex numbers.
pub(super) trait Real:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;

    fn wide(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// Lines that are transformed side by side: two cache lines of `f64`.
pub(super) const LANES: usize = 16;

/// One part of a number of each line.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Part<T>(pub(super) [T; LANES]);

impl<T: Real> Part<T> {
    #[inline(always)]
    pub(super) fn map(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    pub(super) fn times(self, factor: T) -> Self {
        Self(self.0.map(|value| value * factor))
    }
}

impl<T: Real> Add for Part<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.map(other, |a, b| a + b)
    }
}

impl<T: Real> Sub for Part<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.map(other, |a, b| a - b)
    }
}

/// A complex number of each line.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Numbers<T> {
    pub(super) re: Part<T>,
    pub(super) im: Part<T>,
}

/// A complex factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Root<T> {
    pub(super) re: T,
    pub(super) im: T,
}

impl<T: Real> Root<T> {
    /// `exp(-2 pi i index / length)`, computed in `f64`.
    pub(super) fn new(index: usize, length: usize) -> Self {
        let angle = -2.0 * std::f64::consts::PI * ((index % length) as f64 / length as f64);
        Self {
            re: T::of(angle.cos()),
            im: T::of(angle.sin()),
        }
    }
}

impl<T: Real> Numbers<T> {
    pub(super) fn zero() -> Self {
        let zero = Part([T::default(); LANES]);
        Self { re: zero, im: zero }
    }

    #[inline(always)]
    pub(super) fn by(self, root: Root<T>) -> Self {
        Self {
            re: self.re.times(root.re) - self.im.times(root.im),
            im: self.re.times(root.im) + self.im.times(root.re),
        }
    }

    #[inline(always)]
    pub(super) fn scaled(self, factor: T) -> Self {
        Self {
            re: self.re.times(factor),
            im: self.im.times(factor),
        }
    }

    /// Times `-i`.
    #[inline(always)]
    pub(super) fn turned(self) -> Self {
        Self {
            re: self.im,
            im: self.re.times(T::of(-1.0)),
        }
    }

    #[inline(always)]
    pub(super) fn conjugate(self) -> Self {
        Self {
            re: self.re,
            im: self.im.times(T::of(-1.0)),
        }
    }
}

impl<T: Real> Add for Numbers<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl<T: Real> Sub for Numbers<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
}
