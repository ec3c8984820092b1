//! Numbers that systems are solved in.

use crate::number::{Number, c32, c64};
use crate::product::Arithmetic;

/// A real or complex number.
pub(super) trait Field: Number {
    /// Its products.
    const ARITHMETIC: Arithmetic;

    /// `self - a * b`.
    fn minus_product(self, a: Self, b: Self) -> Self;

    /// `self / divisor`.
    fn over(self, divisor: Self) -> Self;

    /// The complex conjugate.
    fn conjugate(self) -> Self;

    /// The root of the real part.
    fn real_root(self) -> Self;
}

macro_rules! real {
    ($($ty:ty = $arithmetic:ident;)*) => {$(
        impl Field for $ty {
            const ARITHMETIC: Arithmetic = Arithmetic::$arithmetic;

            #[inline(always)]
            fn minus_product(self, a: Self, b: Self) -> Self {
                self - a * b
            }

            #[inline(always)]
            fn over(self, divisor: Self) -> Self {
                self / divisor
            }

            #[inline(always)]
            fn conjugate(self) -> Self {
                self
            }

            #[inline(always)]
            fn real_root(self) -> Self {
                self.sqrt()
            }
        }
    )*};
}

real! {
    f32 = F32;
    f64 = F64;
}

macro_rules! complex {
    ($($ty:ident = $arithmetic:ident;)*) => {$(
        impl Field for $ty {
            const ARITHMETIC: Arithmetic = Arithmetic::$arithmetic;

            #[inline(always)]
            fn minus_product(self, a: Self, b: Self) -> Self {
                $ty {
                    re: self.re - (a.re * b.re - a.im * b.im),
                    im: self.im - (a.re * b.im + a.im * b.re),
                }
            }

            /// By the larger part of the divisor first, so that its square need not be representable.
            #[inline(always)]
            fn over(self, divisor: Self) -> Self {
                if divisor.re.abs() >= divisor.im.abs() {
                    let ratio = divisor.im / divisor.re;
                    let scale = divisor.re + divisor.im * ratio;
                    $ty {
                        re: (self.re + self.im * ratio) / scale,
                        im: (self.im - self.re * ratio) / scale,
                    }
                } else {
                    let ratio = divisor.re / divisor.im;
                    let scale = divisor.re * ratio + divisor.im;
                    $ty {
                        re: (self.re * ratio + self.im) / scale,
                        im: (self.im * ratio - self.re) / scale,
                    }
                }
            }

            #[inline(always)]
            fn conjugate(self) -> Self {
                $ty { re: self.re, im: -self.im }
            }

            #[inline(always)]
            fn real_root(self) -> Self {
                $ty { re: self.re.sqrt(), im: 0.0 }
            }
        }
    )*};
}

complex! {
    c32 = C64;
    c64 = C128;
}
