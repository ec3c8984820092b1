//! Elements as numbers that loops compute with.

use artifact_ir::float;
use artifact_ir::types::ElementType;
pub(crate) use gemm::{c32, c64};

/// A number of which sums and products are made. Integers wrap.
pub(crate) trait Number: Copy + Send + Sync + 'static {
    /// Zero.
    const ZERO: Self;

    /// `self + other`; `or` for booleans.
    fn plus(self, other: Self) -> Self;

    /// `self * other`; `and` for booleans.
    fn times(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            const ZERO: Self = 0;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

wrapping!(u8 u16 u32 u64);

macro_rules! floating {
    ($($ty:ty = $zero:expr;)*) => {$(
        impl Number for $ty {
            const ZERO: Self = $zero;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }
    )*};
}

floating! {
    f32 = 0.0;
    f64 = 0.0;
    c32 = c32 { re: 0.0, im: 0.0 };
    c64 = c64 { re: 0.0, im: 0.0 };
}

/// A truth value as it lies in memory: 0 or 1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Truth(pub(crate) u8);

impl Number for Truth {
    const ZERO: Self = Self(0);

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Real numbers of 16 bits, computed with in `f32`.
pub(crate) trait Half: Copy + Send + Sync + 'static {
    /// The exact value.
    fn widen(self) -> f32;

    /// The nearest number, ties to even; NaN becomes the quiet one of its sign.
    fn narrow(value: f32) -> Self;
}

/// `bf16`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Bf16(u16);

impl Half for Bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        let bits = value.to_bits();
        let quiet = (bits >> 16) as u16 & 0x8000 | 0x7FC0;
        let rounded = (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16;
        Self(if value.is_nan() { quiet } else { rounded })
    }
}

/// `f16`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct F16(u16);

impl Half for F16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7FFF) << 13;
        // Moves the exponent from one bias to the other, and makes normal numbers of subnormal ones.
        let scaled = (f32::from_bits(magnitude) * f32::from_bits((254 - 15) << 23)).to_bits();
        let special = magnitude | 0x7F80_0000;
        let bits = if magnitude >= 0x0F80_0000 { special } else { scaled };
        f32::from_bits(bits | u32::from(self.0 & 0x8000) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> Self {
        let bits = value.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let magnitude = bits & 0x7FFF_FFFF;
        // In [0.5, 1) a unit in the last place is the smallest subnormal number of `f16`.
        let subnormal = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0x3F00_0000) as u16;
        let odd = magnitude >> 13 & 1;
        let normal = (magnitude.wrapping_add(0xFFF + odd).wrapping_sub(112 << 23) >> 13) as u16;
        let rounded = if magnitude < 0x3880_0000 {
            subnormal
        } else {
            normal
        };
        let finite = if magnitude >= 0x477F_F000 { 0x7C00 } else { rounded };
        Self(sign | if value.is_nan() { 0x7E00 } else { finite })
    }
}

macro_rules! half_numbers {
    ($($ty:ty)*) => {$(
        /// Rounded after every operation.
        impl Number for $ty {
            const ZERO: Self = Self(0);

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Self::narrow(self.widen() + other.widen())
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Self::narrow(self.widen() * other.widen())
            }
        }
    )*};
}

half_numbers!(Bf16 F16);

/// Calls `$work` with `$T` as the type that holds elements of an integer type or `i1`, signed or not as its arithmetic asks;
/// the value of `$other` for other types.
macro_rules! with_integer {
    ($element:expr, $T:ident => $work:expr, _ => $other:expr) => {
        match $element {
            ElementType::I2 | ElementType::I4 | ElementType::I8 => {
                type $T = i8;
                $work
            }
            ElementType::I16 => {
                type $T = i16;
                $work
            }
            ElementType::I32 => {
                type $T = i32;
                $work
            }
            ElementType::I64 => {
                type $T = i64;
                $work
            }
            ElementType::I1 | ElementType::UI2 | ElementType::UI4 | ElementType::UI8 => {
                type $T = u8;
                $work
            }
            ElementType::UI16 => {
                type $T = u16;
                $work
            }
            ElementType::UI32 => {
                type $T = u32;
                $work
            }
            ElementType::UI64 | ElementType::Index => {
                type $T = u64;
                $work
            }
            _ => $other,
        }
    };
}

pub(crate) use with_integer;

/// Reads an element of any integer type or `i1`.
///
/// # Safety
/// `at` holds an element of the type.
#[inline(always)]
pub(crate) unsafe fn read_integer(element: ElementType, at: *const u8) -> i128 {
    // SAFETY: the caller's promise.
    with_integer!(element, T => i128::from(unsafe { at.cast::<T>().read_unaligned() }), _ => 0)
}

/// Reads an index of any integer type; unsigned ones beyond `i64` become its largest.
///
/// # Safety
/// `at` holds an element of the type.
#[inline(always)]
pub(crate) unsafe fn read_index(element: ElementType, at: *const u8) -> i64 {
    // SAFETY: the caller's promise.
    let value = unsafe { read_integer(element, at) };
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Reads an element of a real floating-point type other than those with a loop of their own.
///
/// # Safety
/// `at` holds an element of the type.
pub(crate) unsafe fn read_float(element: ElementType, at: *const u8) -> f64 {
    // SAFETY: the caller's promise.
    let bits = unsafe {
        match element.bytes() {
            1 => u64::from(at.read()),
            2 => u64::from(at.cast::<u16>().read_unaligned()),
            4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        }
    };
    float::decode(element, bits).unwrap_or(f64::NAN)
}

/// Writes an element of a real floating-point type, rounded to it.
///
/// # Safety
/// `at` has room for an element of the type.
pub(crate) unsafe fn write_float(element: ElementType, at: *mut u8, value: f64) {
    let bits = float::encode(element, value).unwrap_or(0);
    // SAFETY: the caller's promise.
    unsafe {
        match element.bytes() {
            1 => at.write(bits as u8),
            2 => at.cast::<u16>().write_unaligned(bits as u16),
            4 => at.cast::<u32>().write_unaligned(bits as u32),
            _ => at.cast::<u64>().write_unaligned(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_agree_with_their_formats() {
        for bits in 0..=u16::MAX {
            let check = |element, wide: f32, back: u16| {
                let expected = float::decode(element, bits.into()).unwrap();
                assert!(
                    wide == expected as f32 || wide.is_nan() && expected.is_nan(),
                    "{element} {bits:#x}"
                );
                assert!(back == bits || wide.is_nan(), "{element} {bits:#x}");
            };
            check(
                ElementType::BF16,
                Bf16(bits).widen(),
                Bf16::narrow(Bf16(bits).widen()).0,
            );
            check(
                ElementType::F16,
                F16(bits).widen(),
                F16::narrow(F16(bits).widen()).0,
            );
        }
        for step in 0..1_u32 << 16 {
            // Around every boundary of rounding: high bits vary, low ones are near a half.
            for low in [0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF] {
                let value = f32::from_bits(step << 16 | low);
                let encoded = |element| float::encode(element, value.into()).unwrap() as u16;
                assert_eq!(Bf16::narrow(value).0, encoded(ElementType::BF16), "{value}");
                assert_eq!(F16::narrow(value).0, encoded(ElementType::F16), "{value}");
            }
        }
    }
}
