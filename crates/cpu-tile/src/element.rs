//! Element types as they lie in memory.

use artifact_ir::types::ElementType;

/// A type of elements.
pub(crate) trait Element: Copy + 'static {
    /// Which one.
    const TYPE: ElementType;

    /// Whether routines are worth compiling for AVX-512: those of the types that programs compute with.
    const HAS_V4: bool;
}

/// `i1`: a byte, 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Bool(pub(crate) u8);

/// `f16`, computed in `f32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Half(pub(crate) u16);

/// `bf16`, computed in `f32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Brain(pub(crate) u16);

/// A complex number.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Complex<T> {
    pub(crate) re: T,
    pub(crate) im: T,
}

macro_rules! elements {
    ($($rust:ty => $ty:ident $has_v4:literal),* $(,)?) => {
        $(impl Element for $rust {
            const TYPE: ElementType = ElementType::$ty;
            const HAS_V4: bool = $has_v4;
        })*
    };
}

elements! {
    Bool => I1 false, i8 => I8 false, i16 => I16 false, i32 => I32 true, i64 => I64 true,
    u8 => UI8 false, u16 => UI16 false, u32 => UI32 true, u64 => UI64 true,
    Half => F16 true, Brain => BF16 true, f32 => F32 true, f64 => F64 true,
    Complex<f32> => C64 false, Complex<f64> => C128 false,
}

/// A real floating-point type.
pub(crate) trait Float: Element {
    /// The type that its operations are computed in.
    type Wide: Element;

    /// Exact.
    fn widen(self) -> Self::Wide;

    /// Rounded to nearest, ties to even.
    fn narrow(wide: Self::Wide) -> Self;

    /// A number that orders encodings: -NaN, -inf, .., -0, 0, .., inf, NaN (IEEE 754, `totalOrder`; NaN counts as quiet, and in
    /// the narrow types as the one NaN of its sign).
    fn total_key(self) -> i64;
}

impl Float for f32 {
    type Wide = Self;

    #[inline(always)]
    fn widen(self) -> Self {
        self
    }

    #[inline(always)]
    fn narrow(wide: Self) -> Self {
        wide
    }

    #[inline(always)]
    fn total_key(self) -> i64 {
        let bits = self.to_bits() | if self.is_nan() { 0x0040_0000 } else { 0 };
        let magnitude = (bits & 0x7FFF_FFFF) as i32;
        i64::from(if bits >> 31 == 1 { !magnitude } else { magnitude })
    }
}

impl Float for f64 {
    type Wide = Self;

    #[inline(always)]
    fn widen(self) -> Self {
        self
    }

    #[inline(always)]
    fn narrow(wide: Self) -> Self {
        wide
    }

    #[inline(always)]
    fn total_key(self) -> i64 {
        let bits = self.to_bits() | if self.is_nan() { 0x0008_0000_0000_0000 } else { 0 };
        let magnitude = (bits & !(1 << 63)) as i64;
        if bits >> 63 == 1 { !magnitude } else { magnitude }
    }
}

impl Float for Half {
    type Wide = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        let bits = u32::from(self.0);
        let magnitude = (bits & 0x7FFF) << 13;
        // 2^112 is the difference of the biases; the product is exact, and normal where the operand is subnormal.
        let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000);
        let is_finite = magnitude < 0x0F80_0000;
        let wide = if is_finite {
            scaled.to_bits()
        } else {
            magnitude | 0x7F80_0000
        };
        f32::from_bits(wide | (bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn narrow(wide: f32) -> Self {
        let bits = wide.to_bits();
        let magnitude = bits & 0x7FFF_FFFF;
        let half_unit_and_odd = 0xFFF + (magnitude >> 13 & 1);
        let normal = magnitude
            .wrapping_sub(0x3800_0000)
            .wrapping_add(half_unit_and_odd)
            >> 13;
        // The last place of one half is that of the subnormal numbers.
        let subnormal = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(0x3F00_0000);
        let finite = if magnitude < 0x3880_0000 {
            subnormal
        } else {
            normal
        };
        let ordered = if magnitude >= 0x4780_0000 { 0x7C00 } else { finite };
        let rounded = if magnitude > 0x7F80_0000 { 0x7E00 } else { ordered };
        Self((rounded | (bits >> 16 & 0x8000)) as u16)
    }

    #[inline(always)]
    fn total_key(self) -> i64 {
        narrow_key(self.widen())
    }
}

impl Float for Brain {
    type Wide = f32;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn narrow(wide: f32) -> Self {
        let bits = wide.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1));
        let is_nan = bits & 0x7FFF_FFFF > 0x7F80_0000;
        let bits = if is_nan {
            bits & 0x8000_0000 | 0x7FC0_0000
        } else {
            rounded
        };
        Self((bits >> 16) as u16)
    }

    #[inline(always)]
    fn total_key(self) -> i64 {
        narrow_key(self.widen())
    }
}

/// The key of a narrow number, whose NaN is one.
#[inline(always)]
fn narrow_key(x: f32) -> i64 {
    let nan = f32::from_bits(x.to_bits() & 0xFFC0_0000);
    if x.is_nan() { nan } else { x }.total_key()
}
