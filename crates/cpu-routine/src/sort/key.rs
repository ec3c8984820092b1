//! Elements as unsigned numbers of the same order.

use std::ops::Range;

use artifact_ir::types::ElementType;

use super::item::Item;

/// How floating-point numbers are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOrder {
    /// IEEE 754's total order, NaNs of one sign being equal: -NaN, -inf, .., -0, 0, .., inf, NaN.
    Total,
    /// Zeros are equal, and so are NaNs of either sign, which come after infinity.
    NanLast,
}

/// One key of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Number of the operand whose elements are compared.
    pub operand: usize,
    /// Whether large ones come first. Equal elements keep their order all the same.
    pub descending: bool,
    /// How floats are ordered.
    pub order: FloatOrder,
}

/// The elements of one row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) data: *const u8,
    pub(super) step: isize,
    pub(super) element: ElementType,
}

pub(super) fn supports(element: ElementType) -> bool {
    element.is_integer()
        || element.is_boolean()
        || matches!(
            element,
            ElementType::BF16 | ElementType::F16 | ElementType::F32 | ElementType::F64
        )
}

/// An element that gives a key.
trait Ordered: Copy {
    fn key(self, order: FloatOrder) -> u64;
    /// All ones as wide as a key of this type.
    const MASK: u64;
}

macro_rules! integers {
    ($($ty:ty, $unsigned:ty, $flip:expr;)*) => {$(
        impl Ordered for $ty {
            const MASK: u64 = <$unsigned>::MAX as u64;

            #[inline(always)]
            fn key(self, _: FloatOrder) -> u64 {
                u64::from(self as $unsigned ^ $flip)
            }
        }
    )*};
}

integers! {
    u8, u8, 0;
    i8, u8, 1 << 7;
    i16, u16, 1 << 15;
    i32, u32, 1 << 31;
    i64, u64, 1 << 63;
}

/// Unsigned words: integers as they are.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Word<T>(T);

/// The bits of a float with exponents of so many ones at the top.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Float<T, const INFINITY: u64>(T);

macro_rules! words {
    ($($ty:ty)*) => {$(
        impl Ordered for Word<$ty> {
            const MASK: u64 = <$ty>::MAX as u64;

            #[inline(always)]
            fn key(self, _: FloatOrder) -> u64 {
                u64::from(self.0)
            }
        }

        impl<const INFINITY: u64> Ordered for Float<$ty, INFINITY> {
            const MASK: u64 = <$ty>::MAX as u64;

            #[inline(always)]
            fn key(self, order: FloatOrder) -> u64 {
                let sign = (Self::MASK >> 1) + 1;
                let bits = u64::from(self.0);
                let mut magnitude = bits & !sign;
                let mut negative = bits & sign != 0;
                let nan = magnitude > INFINITY;
                if nan {
                    magnitude = INFINITY + 1;
                }
                if order == FloatOrder::NanLast {
                    negative &= !nan && magnitude != 0;
                }
                if negative { sign - 1 - magnitude } else { sign + magnitude }
            }
        }
    )*};
}

words!(u16 u32 u64);

/// Writes a range of items: the keys of the elements, or of those at `order`, and their positions.
///
/// # Safety
/// The elements may be read and the items written; `order` holds positions of the row, if it is not null.
pub(super) unsafe fn load<T: Item>(
    column: Column,
    key: &Key,
    range: Range<usize>,
    order: *const u32,
    items: *mut T,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match column.element {
            ElementType::I1 | ElementType::UI2 | ElementType::UI4 | ElementType::UI8 => {
                each::<u8, T>(column, key, range, order, items);
            }
            ElementType::I2 | ElementType::I4 | ElementType::I8 => {
                each::<i8, T>(column, key, range, order, items)
            }
            ElementType::I16 => each::<i16, T>(column, key, range, order, items),
            ElementType::I32 => each::<i32, T>(column, key, range, order, items),
            ElementType::I64 => each::<i64, T>(column, key, range, order, items),
            ElementType::UI16 => each::<Word<u16>, T>(column, key, range, order, items),
            ElementType::UI32 => each::<Word<u32>, T>(column, key, range, order, items),
            ElementType::UI64 | ElementType::Index => each::<Word<u64>, T>(column, key, range, order, items),
            ElementType::BF16 => each::<Float<u16, 0x7F80>, T>(column, key, range, order, items),
            ElementType::F16 => each::<Float<u16, 0x7C00>, T>(column, key, range, order, items),
            ElementType::F32 => each::<Float<u32, 0x7F80_0000>, T>(column, key, range, order, items),
            ElementType::F64 => {
                each::<Float<u64, 0x7FF0_0000_0000_0000>, T>(column, key, range, order, items)
            }
            // Refused before.
            _ => {}
        }
    }
}

/// # Safety
/// As for [`load`].
unsafe fn each<E: Ordered, T: Item>(
    column: Column,
    key: &Key,
    range: Range<usize>,
    order: *const u32,
    items: *mut T,
) {
    let flip = if key.descending { E::MASK } else { 0 };
    for at in range {
        // SAFETY: the caller's promise.
        unsafe {
            let from = if order.is_null() {
                at
            } else {
                order.add(at).read() as usize
            };
            let element = column
                .data
                .offset(from as isize * column.step)
                .cast::<E>()
                .read_unaligned();
            items
                .add(at)
                .write(T::new(element.key(key.order) ^ flip, at as u32));
        }
    }
}
