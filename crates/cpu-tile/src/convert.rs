//! Conversion between element types (spec, "convert"), rounded once and otherwise as XLA does: floats saturate and NaN becomes
//! 0 on the way to an integer, integers wrap, anything but 0 is true, and of a complex number the real part counts.

use std::marker::PhantomData;

use crate::element::{Bool, Brain, Complex, Element, Float, Half};
use crate::map::Map1;

/// Conversion to another type.
pub(crate) trait ConvertTo<To> {
    fn convert(self) -> To;
}

/// A routine's function.
pub(crate) struct Convert<From, To>(PhantomData<(From, To)>);

impl<From: Element + ConvertTo<To>, To: Element> Map1 for Convert<From, To> {
    type In = From;
    type Out = To;

    #[inline(always)]
    fn apply(x: From) -> To {
        x.convert()
    }
}

/// A number as an `f32` that rounds to a narrower format as the number itself would: what is inexact has its last bit set
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
trait RoundToOdd {
    fn round_to_odd(self) -> f32;
}

impl RoundToOdd for f64 {
    #[inline(always)]
    fn round_to_odd(self) -> f32 {
        let nearest = self as f32;
        let back = Self::from(nearest);
        let bits = nearest.to_bits();
        let towards_zero = bits.wrapping_sub(u32::from(back.abs() > self.abs()));
        let odd = towards_zero | u32::from(back != self);
        f32::from_bits(if self.is_nan() { bits } else { odd })
    }
}

macro_rules! narrow_integers {
    ($($int:ty),*) => {$(
        impl RoundToOdd for $int {
            #[inline(always)]
            fn round_to_odd(self) -> f32 {
                f64::from(self).round_to_odd()
            }
        }
    )*};
}
narrow_integers!(i8, i16, i32, u8, u16, u32);

macro_rules! wide_integers {
    ($($int:ty),*) => {$(
        impl RoundToOdd for $int {
            #[inline(always)]
            fn round_to_odd(self) -> f32 {
                let high = (self >> 32) as f64 * 4_294_967_296.0;
                let low = (self & 0xFFFF_FFFF) as f64;
                let sum = high + low;
                // What was rounded away, exactly, since `high` is 0 or the larger one.
                let rest = low - (sum - high);
                let is_over = rest != 0.0 && (rest < 0.0) != (sum < 0.0);
                let odd = sum.to_bits().wrapping_sub(u64::from(is_over)) | u64::from(rest != 0.0);
                f64::from_bits(odd).round_to_odd()
            }
        }
    )*};
}
wide_integers!(i64, u64);

macro_rules! integer_to {
    ($from:ty: $($to:ty),*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                self as $to
            }
        })*
        impl ConvertTo<Bool> for $from {
            #[inline(always)]
            fn convert(self) -> Bool {
                Bool(u8::from(self != 0))
            }
        }
        narrow_to!($from: Half, Brain);
    };
}

macro_rules! narrow_to {
    ($from:ty: $($to:ty),*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                <$to>::narrow(self.round_to_odd())
            }
        })*
    };
}

macro_rules! integers_to_all {
    ($($from:ty),*) => {
        $(integer_to!($from: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);)*
    };
}
integers_to_all!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! through {
    ($from:ty, $x:ident => $wide:expr; $($to:ty),*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                let $x = self;
                $wide.convert()
            }
        })*
    };
}

through!(Bool, x => x.0; Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Half, Brain);
through!(Half, x => x.widen(); Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Brain);
through!(Brain, x => x.widen(); Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Half);

/// Floats to integers. Written so that the compiler makes vectors of it, which it does not of `as`.
macro_rules! float_to_integer {
    ($from:ty: $($to:ty),*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                /// The largest float that is an integer of the type.
                const LAST: $from = if (<$to>::MAX as $from) as u128 > <$to>::MAX as u128 {
                    (<$to>::MAX as $from).next_down()
                } else {
                    <$to>::MAX as $from
                };
                let number = if self.is_nan() { 0.0 } else { self };
                let number = if number < <$to>::MIN as $from { <$to>::MIN as $from } else { number };
                let bounded = if number > LAST { LAST } else { number };
                // SAFETY: the number is within the bounds of the type.
                let integer = unsafe { bounded.to_int_unchecked::<$to>() };
                if number > LAST { <$to>::MAX } else { integer }
            }
        })*
        impl ConvertTo<Bool> for $from {
            #[inline(always)]
            fn convert(self) -> Bool {
                Bool(u8::from(self != 0.0))
            }
        }
    };
}
float_to_integer!(f32: i8, i16, i32, i64, u8, u16, u32, u64);
float_to_integer!(f64: i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_to {
    ($from:ty: $($to:ty),*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                self as $to
            }
        })*
    };
}
float_to!(f32: f32, f64);
float_to!(f64: f32, f64);
narrow_to!(f64: Half, Brain);

macro_rules! narrow_floats {
    ($($to:ty),*) => {
        $(
            impl ConvertTo<$to> for f32 {
                #[inline(always)]
                fn convert(self) -> $to {
                    <$to>::narrow(self)
                }
            }
        )*
    };
}
narrow_floats!(Half, Brain);

macro_rules! complex {
    ($part:ty: $($other:ty),*) => {
        $(
            impl ConvertTo<$other> for Complex<$part> {
                #[inline(always)]
                fn convert(self) -> $other {
                    self.re.convert()
                }
            }

            impl ConvertTo<Complex<$part>> for $other {
                #[inline(always)]
                fn convert(self) -> Complex<$part> {
                    Complex { re: self.convert(), im: 0.0 }
                }
            }
        )*
    };
}
complex!(f32: Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Half, Brain);
complex!(f64: Bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, Half, Brain);

impl ConvertTo<Complex<f64>> for Complex<f32> {
    #[inline(always)]
    fn convert(self) -> Complex<f64> {
        Complex {
            re: f64::from(self.re),
            im: f64::from(self.im),
        }
    }
}

impl ConvertTo<Complex<f32>> for Complex<f64> {
    #[inline(always)]
    fn convert(self) -> Complex<f32> {
        Complex {
            re: self.re as f32,
            im: self.im as f32,
        }
    }
}

macro_rules! same {
    ($($ty:ty),*) => {
        $(impl ConvertTo<$ty> for $ty {
            #[inline(always)]
            fn convert(self) -> $ty {
                self
            }
        })*
    };
}
same!(Half, Brain, Complex<f32>, Complex<f64>);
