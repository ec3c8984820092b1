//! Arithmetic on two and on one element (spec, each operation under its own name). Integers wrap; where the specification leaves a
//! result open it is XLA's. `f16` and `bf16` are computed in `f32` and rounded; `complex<f32>` in `f64`.

use std::marker::PhantomData;

use crate::element::{Bool, Brain, Element, Float, Half};
use crate::map::{Map1, Map2, Map3};

/// What booleans, integers, real and complex numbers have: for booleans a sum is `or`, a product `and`.
pub(crate) trait Number: Element {
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
    fn minimum(self, other: Self) -> Self;

    /// The identities of the four operations above: what changes no other operand.
    const ADD: Self;
    const MULTIPLY: Self;
    const MAXIMUM: Self;
    const MINIMUM: Self;
}

/// What integers, real and complex numbers have.
pub(crate) trait Signed: Number {
    fn subtract(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;
    fn negate(self) -> Self;
}

/// What integers and real numbers have.
pub(crate) trait Real: Signed {
    fn remainder(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
}

/// What booleans and integers have.
pub(crate) trait Bits: Element {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;

    /// The identities of `and`; those of the others are 0.
    const ONES: Self;
    const ZERO: Self;
}

/// What integers have.
pub(crate) trait Integer: Bits + Real {
    fn shift_left(self, amount: Self) -> Self;
    fn shift_right_arithmetic(self, amount: Self) -> Self;
    fn shift_right_logical(self, amount: Self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn high_product(self, other: Self) -> Self;
    fn count_leading_zeros(self) -> Self;
    fn count_ones(self) -> Self;
}

macro_rules! functions {
    ($trait:ident Map1: $($name:ident = $method:ident),* $(,)?) => {
        $(functions!(@one $trait Map1 $name $method (x));)*
    };
    ($trait:ident Map2: $($name:ident = $method:ident),* $(,)?) => {
        $(functions!(@one $trait Map2 $name $method (a, b));)*
    };
    (@one $trait:ident $Map:ident $name:ident $method:ident ($($argument:ident),*)) => {
        /// The function of a routine.
        pub(crate) struct $name<T>(PhantomData<T>);

        impl<T: $trait> $Map for $name<T> {
            type In = T;
            type Out = T;

            #[inline(always)]
            fn apply($($argument: T),*) -> T {
                $trait::$method($($argument),*)
            }
        }
    };
}

functions!(Number Map2: Add = add, Multiply = multiply, Maximum = maximum, Minimum = minimum);
functions!(Signed Map2: Subtract = subtract, Divide = divide);
functions!(Signed Map1: Negate = negate);
functions!(Real Map2: Remainder = remainder);
functions!(Real Map1: Abs = abs, Sign = sign);
functions!(Bits Map2: And = and, Or = or, Xor = xor);
functions!(Bits Map1: Not = not);
functions!(Integer Map2:
    ShiftLeft = shift_left, ShiftRightArithmetic = shift_right_arithmetic, ShiftRightLogical = shift_right_logical,
    IntegerPower = power, HighProduct = high_product,
);
functions!(Integer Map1: CountLeadingZeros = count_leading_zeros, CountOnes = count_ones);

/// `x * x`.
pub(crate) struct Square<T>(PhantomData<T>);

impl<T: Number> Map1 for Square<T> {
    type In = T;
    type Out = T;

    #[inline(always)]
    fn apply(x: T) -> T {
        x.multiply(x)
    }
}

/// `a * b + c`, rounded once.
pub(crate) struct MultiplyAdd<T>(PhantomData<T>);

macro_rules! multiply_add {
    ($($ty:ty),*) => {$(
        impl Map3 for MultiplyAdd<$ty> {
            type First = $ty;
            type In = $ty;
            type Out = $ty;

            #[inline(always)]
            fn apply(a: $ty, b: $ty, c: $ty) -> $ty {
                a.mul_add(b, c)
            }
        }
    )*};
}
multiply_add!(f32, f64);

impl Number for Bool {
    const ADD: Self = Self(0);
    const MULTIPLY: Self = Self(1);
    const MAXIMUM: Self = Self(0);
    const MINIMUM: Self = Self(1);

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Bits for Bool {
    const ONES: Self = Self(1);
    const ZERO: Self = Self(0);

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// The quotient of narrow integers by a division of floats, of which there is a vector instruction. Both numbers are exact; the
/// quotient is further below the next integer than it is rounded, so that its integer part is right. Any number for a quotient by 0.
macro_rules! quotient {
    ($int:ty, $float:ty) => {
        |a: $int, b: $int| {
            let is_minus_one = <$int>::MIN != 0 && b == !0;
            let divisor = if b == 0 || is_minus_one { 1 } else { b };
            // SAFETY: the quotient is no larger than the dividend.
            let quotient = unsafe { (a as $float / divisor as $float).to_int_unchecked::<$int>() };
            if is_minus_one { a.wrapping_neg() } else { quotient }
        }
    };
}

macro_rules! integers {
    ($($int:ty: $unsigned:ty, $signed:ty, $wide:ty, $abs:expr, $sign:expr, $is_negative:expr, $quotient:expr;)*) => {$(
        impl Number for $int {
            const ADD: Self = 0;
            const MULTIPLY: Self = 1;
            const MAXIMUM: Self = Self::MIN;
            const MINIMUM: Self = Self::MAX;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                if self > other { self } else { other }
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
        }

        impl Signed for $int {
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                let quotient = $quotient(self, other);
                if other == 0 { !0 } else { quotient }
            }

            #[inline(always)]
            fn negate(self) -> Self {
                self.wrapping_neg()
            }
        }

        impl Real for $int {
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let quotient: Self = $quotient(self, other);
                let rest = self.wrapping_sub(quotient.wrapping_mul(other));
                if other == 0 { self } else { rest }
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $abs(self)
            }

            #[inline(always)]
            fn sign(self) -> Self {
                $sign(self)
            }
        }

        impl Bits for $int {
            const ONES: Self = !0;
            const ZERO: Self = 0;

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }

        impl Integer for $int {
            #[inline(always)]
            fn shift_left(self, amount: Self) -> Self {
                let shifted = self.wrapping_shl(amount as u32);
                if (amount as $unsigned) < Self::BITS as $unsigned { shifted } else { 0 }
            }

            #[inline(always)]
            fn shift_right_arithmetic(self, amount: Self) -> Self {
                // The sign bit of the pattern counts, whether the type is signed or not.
                let greatest = Self::BITS as $unsigned - 1;
                let amount = if (amount as $unsigned) < greatest { amount as $unsigned } else { greatest };
                (self as $signed).wrapping_shr(amount as u32) as Self
            }

            #[inline(always)]
            fn shift_right_logical(self, amount: Self) -> Self {
                let shifted = (self as $unsigned).wrapping_shr(amount as u32) as Self;
                if (amount as $unsigned) < Self::BITS as $unsigned { shifted } else { 0 }
            }

            /// By squaring. A negative power of anything but 1 and -1 is 0.
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                if $is_negative(exponent) {
                    let sign = if exponent & 1 == 1 { self } else { 1 };
                    return if self == 1 || self == !0 { sign } else { 0 };
                }
                let (mut result, mut base, mut rest) = (1 as Self, self, exponent);
                while rest > 0 {
                    if rest & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    rest >>= 1;
                }
                result
            }

            #[inline(always)]
            fn high_product(self, other: Self) -> Self {
                ((self as $wide).wrapping_mul(other as $wide) >> Self::BITS) as Self
            }

            #[inline(always)]
            fn count_leading_zeros(self) -> Self {
                self.leading_zeros() as Self
            }

            #[inline(always)]
            fn count_ones(self) -> Self {
                (self as $unsigned).count_ones() as Self
            }
        }
    )*};
}

integers! {
    i8: u8, i8, i16, i8::wrapping_abs, i8::signum, |x| x < 0, quotient!(i8, f32);
    i16: u16, i16, i32, i16::wrapping_abs, i16::signum, |x| x < 0, quotient!(i16, f32);
    i32: u32, i32, i64, i32::wrapping_abs, i32::signum, |x| x < 0, quotient!(i32, f64);
    i64: u64, i64, i128, i64::wrapping_abs, i64::signum, |x| x < 0, |a: i64, b: i64| a.wrapping_div(if b == 0 { 1 } else { b });
    u8: u8, i8, u16, |x| x, |x| u8::from(x > 0), |_| false, quotient!(u8, f32);
    u16: u16, i16, u32, |x| x, |x| u16::from(x > 0), |_| false, quotient!(u16, f32);
    u32: u32, i32, u64, |x| x, |x| u32::from(x > 0), |_| false, quotient!(u32, f64);
    u64: u64, i64, u128, |x| x, |x| u64::from(x > 0), |_| false, |a: u64, b: u64| a / if b == 0 { 1 } else { b };
}

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Number for $float {
            const ADD: Self = -0.0;
            const MULTIPLY: Self = 1.0;
            const MAXIMUM: Self = Self::NEG_INFINITY;
            const MINIMUM: Self = Self::INFINITY;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self * other
            }

            /// NaN wins, and 0 is larger than -0.
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                let larger = if self > other { self } else { other };
                let positive = Self::from_bits(self.to_bits() & other.to_bits());
                let larger = if self == other { positive } else { larger };
                if self.is_nan() { self } else { larger }
            }

            /// NaN wins, and -0 is smaller than 0.
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                let smaller = if self < other { self } else { other };
                let negative = Self::from_bits(self.to_bits() | other.to_bits());
                let smaller = if self == other { negative } else { smaller };
                if self.is_nan() { self } else { smaller }
            }
        }

        impl Signed for $float {
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                self / other
            }

            #[inline(always)]
            fn negate(self) -> Self {
                -self
            }
        }

        impl Real for $float {
            /// With the sign of the dividend, and exact.
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                self % other
            }

            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }

            /// -1, 1, or the zero or the NaN that came.
            #[inline(always)]
            fn sign(self) -> Self {
                let sign = (1.0 as $float).copysign(self);
                if self == 0.0 || self.is_nan() { self } else { sign }
            }
        }
    )*};
}
floats!(f32, f64);

macro_rules! narrow_floats {
    ($($float:ty: $one:literal, $infinity:literal;)*) => {$(
        impl Number for $float {
            const ADD: Self = Self(0x8000);
            const MULTIPLY: Self = Self($one);
            const MAXIMUM: Self = Self(0x8000 | $infinity);
            const MINIMUM: Self = Self($infinity);

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::narrow(self.widen() + other.widen())
            }

            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                Self::narrow(self.widen() * other.widen())
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                Self::narrow(Number::maximum(self.widen(), other.widen()))
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                Self::narrow(Number::minimum(self.widen(), other.widen()))
            }
        }

        impl Signed for $float {
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                Self::narrow(self.widen() - other.widen())
            }

            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                Self::narrow(self.widen() / other.widen())
            }

            #[inline(always)]
            fn negate(self) -> Self {
                Self(self.0 ^ 0x8000)
            }
        }

        impl Real for $float {
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                Self::narrow(self.widen() % other.widen())
            }

            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0 & 0x7FFF)
            }

            #[inline(always)]
            fn sign(self) -> Self {
                Self::narrow(Real::sign(self.widen()))
            }
        }
    )*};
}
narrow_floats! {
    Half: 0x3C00, 0x7C00;
    Brain: 0x3F80, 0x7F80;
}
